/* What a bundle says of itself: release.json, and the texts and tables that follow from it.
 *
 * release.json is made first, from the ledger alone; README.md, the page, the metadata and the
 * entry for the registry are functions of it, so that none can say what another does not.
 * docs/release.schema.json describes it. */
#ifndef BRUME_COMMAND_RELEASE_H
#define BRUME_COMMAND_RELEASE_H

#include <stdio.h>

#include <jansson.h>

#include "command/command.h"
#include "ledger/ledger.h"
#include "query/release/answer.h"

/* What only the owner knows. Each is a key of the file that --about names. */
typedef struct brume_about_key {
    const char *name, *help;
    bool required; /* the registry asks for it */
} brume_about_key;

extern const brume_about_key brume_about_keys[]; /* a NULL name ends */

/* Read the file (NULL: nothing is said): {key: text}. EUNKNOWN: a key that is none. */
BRUME_MUST_USE brume_status brume_published_about(const char *path, json_t **out,
                                                  brume_error *error);

/* The names of required keys that it does not have; NULL: no memory. */
json_t *brume_published_missing(const json_t *about);

typedef struct brume_published_table {
    uint64_t id;
    brume_query_answer *answer;
    json_t *recorded; /* word by word as the ledger has it: brume_ledger_recorded */
} brume_published_table;

typedef struct brume_published {
    json_t *document; /* release.json */
    brume_published_table *tables;
    size_t count;
} brume_published;

/* Collect what the ledger knows of these answers of a dataset; the charges ascend.
 * EUNKNOWN: no such dataset or charge, or a charge without an answer; EPOLICY: it is of another
 * dataset, or of several. */
BRUME_MUST_USE brume_status brume_published_open(brume_ledger *ledger, const char *dataset,
                                                 const uint64_t *answers, size_t count,
                                                 const json_t *about, brume_published **out,
                                                 brume_error *error);
void brume_published_close(brume_published *release);

/* What a dataset promises as it is registered: {"name","rule","adjacency","unit", ...,"spent"}; the
 * part of release.json that `brume card` prints. */
BRUME_MUST_USE brume_status brume_published_dataset(const brume_dataset *dataset, json_t **out,
                                                    brume_error *error);

/* What a filter has summed, as one charge in its exact text. */
BRUME_MUST_USE brume_status brume_published_spent(const brume_filter *filter,
                                                  char out[BRUME_CHARGE_TEXT], brume_error *error);

/* ---- texts that follow from release.json ---- */

void brume_published_readme(FILE *out, const json_t *document);
BRUME_MUST_USE brume_status brume_published_page(FILE *out, const brume_published *release,
                                                 brume_error *error);
void brume_published_registry(FILE *out, const json_t *document);

/* Metadata for catalogues; NULL: no memory. */
json_t *brume_published_csvw(const json_t *document);
json_t *brume_published_dcat(const json_t *document);
json_t *brume_published_croissant(const json_t *document, const json_t *files);

/* One sentence on whose data two neighbouring databases differ by; the same at every place. */
void brume_published_neighbours(FILE *out, const json_t *dataset);

/* What all answers about a dataset can do to what somebody believes, in sentences; nothing where
 * nothing was answered. */
void brume_published_belief(FILE *out, const json_t *dataset);

#endif
