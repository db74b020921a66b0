/* A table that is registered in a ledger of its own, for tests of the release path. */
#ifndef BRUME_TESTS_QUERY_REGISTERED_H
#define BRUME_TESTS_QUERY_REGISTERED_H

#include <stdio.h>

#include <brume/bits.h>

#include "ledger/ledger.h"
#include "query/plan/policy.h"

/* A folder with a CSV file and a ledger, and a seeded tape. */
typedef struct registered {
    char folder[64], csv[96], path[96];
    brume_ledger *ledger;
    brume_bits *bits;
} registered;

/* Make the folder; the CSV is open for writing. Then close it, open the ledger and the tape. */
FILE *registered_begin(registered *all);
void registered_open(registered *all, FILE *csv, uint64_t seed);

/* Close the ledger and the tape, and remove the files and the folder. */
void registered_close(registered *all);

/* Only the files of a ledger. */
void registered_remove_ledger(const char *path);

/* The policy of a source as an engine describes it; without unit, bounds and domains yet. And of a
 * file with declared columns (columns.h). */
brume_policy *registered_policy(const brume_source *source);
brume_policy *registered_file(const char *location, const char *declared);

typedef struct registered_terms {
    const char *name;
    brume_rule rule;
    const char *epsilon, *delta; /* delta NULL: none */
    brume_adjacency adjacency;
} registered_terms;

/* Register it; takes over the policy. */
void registered_enter(brume_ledger *ledger, brume_policy *policy, const registered_terms *terms);

#endif
