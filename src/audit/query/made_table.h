/* A table that an audit makes, of texts that fit its columns: for a dataset of files a CSV file,
 * read by the engine that reads registered files, with the recorded types; for a dataset of a
 * server a list of VALUES with types that the printed SQL takes for the recorded ones, which stands
 * in the query where the table stands, so that the server's own SQL runs and nothing is written
 * there. */
#ifndef BRUME_AUDIT_MADE_TABLE_H
#define BRUME_AUDIT_MADE_TABLE_H

#include <stdio.h>

#include "query/plan/policy.h"

enum { BRUME_MADE_PATH = 3100 }; /* the longest name of a file, with its end */

typedef struct brume_made_table {
    const brume_policy *policy;
    FILE *out;                  /* while it is written */
    char path[BRUME_MADE_PATH]; /* of the file; empty for a server */
    char *relation;             /* for a server: what follows FROM */
    size_t length, rows;
} brume_made_table;

/* Start it; `path` is the file's name, where it will be one. Errors: BRUME_EDISK, BRUME_EMEMORY.
 * Whatever happened, brume_made_table_clear frees it. */
BRUME_MUST_USE brume_status brume_made_table_begin(brume_made_table *made,
                                                   const brume_policy *policy, const char *path,
                                                   brume_error *error);

/* The next row: a text for each column, "" where the value is missing. */
void brume_made_table_row(brume_made_table *made, const char *const *texts);

/* That was the last one. */
BRUME_MUST_USE brume_status brume_made_table_end(brume_made_table *made, brume_error *error);

/* As a source of an engine; it lives as long as the table, and *columns is the caller's to free. */
BRUME_MUST_USE brume_status brume_made_table_source(const brume_made_table *made, brume_source *out,
                                                    brume_column **columns, brume_error *error);

/* Copy its file to a new one. BRUME_EUNSUPPORTED: it has none; BRUME_EDISK. */
BRUME_MUST_USE brume_status brume_made_table_save(const brume_made_table *made, const char *to,
                                                  brume_error *error);

/* Free it and remove its file. */
void brume_made_table_clear(brume_made_table *made);

#endif
