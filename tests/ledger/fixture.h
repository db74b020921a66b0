/* A ledger in a temporary folder, and short ways to fill it. Where BRUME_TEST_POSTGRESQL names a
 * server it is in a schema of that, so that the same tests try both. */
#ifndef BRUME_TESTS_LEDGER_FIXTURE_H
#define BRUME_TESTS_LEDGER_FIXTURE_H

#include "check.h"

#include "ledger/ledger.h"

typedef struct place {
    char folder[64];
    char path[256];  /* of the ledger: a file, or the URL of a schema */
    char schema[32]; /* "": a file */
} place;

/* Not every test is one of a server: what happens to a file happens to none there. */
bool is_on_server(void);

void make_place(place *where);
void remove_place(const place *where);

brume_ledger *open_ledger(const place *where);

/* A test that is handed an empty ledger, which is removed whether the test passes or not. */
#define with_fresh_ledger(test)                                                                    \
    cmocka_unit_test_setup_teardown(test, make_fresh_ledger, remove_fresh_ledger)
int make_fresh_ledger(void **state);
int remove_fresh_ledger(void **state);
brume_ledger *fresh_ledger(void **state);

/* Register `name` with source "source of <name>" and mark "path:/<name>", rule approximate (or pure
 * where delta is NULL). */
void register_dataset(brume_ledger *ledger, const char *name, const char *epsilon,
                      const char *delta);

brume_charge price_of(const char *epsilon, const char *delta);

/* Reserve on one dataset. */
brume_status reserve(brume_ledger *ledger, const char *dataset, const char *epsilon,
                     const char *key, uint64_t *id, brume_error *error);

/* Run SQL on the file behind the ledger's back. */
void tamper(const place *where, const char *sql);

/* The first column of what SQL gives on the file, at most `most` rows; the caller frees the texts.
 */
size_t read_texts(const place *where, const char *sql, char **texts, size_t most);

#endif
