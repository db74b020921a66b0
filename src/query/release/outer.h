/* The outer SQL of a statement over released tables (proofs/released.md): run on their rows, with
 * error bars. Post-processing: it reads recorded answers and public tables, and nothing else is in
 * reach (engine/memory.h). */
#ifndef BRUME_QUERY_OUTER_H
#define BRUME_QUERY_OUTER_H

#include "base/type.h"
#include "query/release/answer.h"
#include "query/release/spend.h"

/* A table that it reads: an answer with the types of its columns. One of a public table is_public
 * and has no noise. */
typedef struct brume_outer_table {
    brume_query_answer *answer;
    brume_type *types;
} brume_outer_table;

typedef struct brume_outer {
    char *sql;          /* a column is a text, and behind it the name of its type */
    char *const *names; /* of its outputs */
    const bool *keys;   /* which of them tell rows apart */
    size_t count;       /* of them */
    brume_outer_table *tables;
    size_t table_count;
} brume_outer;

/* What follows FROM for table `index` in brume_outer.sql. */
enum { BRUME_OUTER_SOURCE = 96 };
void brume_outer_source(size_t index, bool is_public, char text[BRUME_OUTER_SOURCE]);

/* Run it; with bars unless it is a rehearsal. The answer has columns, rows, bars and why there are
 * none, and no cost; *types (or NULL) has a name of brume's for the type of each output, as a JSON
 * array. EUNSUPPORTED: DuckDB does not take it, or it takes too long; ECANCELLED. */
BRUME_MUST_USE brume_status brume_outer_run(const brume_outer *outer, bool bars,
                                            const brume_watch *watch, brume_query_answer **answer,
                                            json_t **types, brume_error *error);

/* The same as JSON, for processes that can be killed: {"sql","names","keys","bars","tables"} in,
 * the record of an answer out, with "types". The caller frees *json. */
BRUME_MUST_USE brume_status brume_outer_write(const brume_outer *outer, bool bars, char **work,
                                              brume_error *error);
BRUME_MUST_USE brume_status brume_outer_call(const char *work, char **json, brume_error *error);
BRUME_MUST_USE brume_status brume_outer_read(const char *json, brume_query_answer **answer,
                                             json_t **types, brume_error *error);

#endif
