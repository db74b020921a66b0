/* A question: SQL against the datasets of a ledger, parsed and checked, before any price. */
#ifndef BRUME_QUERY_QUESTION_H
#define BRUME_QUERY_QUESTION_H

#include "ledger/ledger.h"
#include "query/plan/plan.h"
#include "query/plan/touched.h"
#include "query/plan/words.h"
#include "query/sql/public.h"

typedef struct brume_question {
    size_t table_count;
    brume_dataset *
        *datasets; /* of the catalog's tables, in its order; one may stand several times */
    brume_policy **policies;
    brume_plan_table *tables; /* the same, as the planner wants them */
    brume_catalog_table *catalog_tables;
    brume_catalog_column **catalog_columns;
    brume_catalog catalog;
    brume_query *query;
    brume_public_query *open_query; /* of public tables only, and `query` is NULL; else NULL */
    char *typed;                    /* the SQL as it was typed */
    brume_touched *touched;         /* windows of growing tables; NULL until brume_prepare */
    size_t read_count;
    char **read_bounds; /* texts of the catalog that were read (public_bounds.h) */
    size_t loaded_count;
    struct brume_loaded *loaded; /* what owns the datasets and policies */
} brume_question;

/* Parse the SQL, load the tables that it names and those that their links lead to, and check it
 * against them. A table is DATASET.TABLE, or its own name where one dataset alone has it. Reads no
 * row and changes nothing. Errors: those of brume_sql_parse and brume_sql_check; EUNKNOWN for a
 * dataset that is not registered. */
BRUME_MUST_USE brume_status brume_question_open(brume_ledger *ledger, const char *text,
                                                brume_question **out, brume_error *error);
void brume_question_close(brume_question *question);

/* The same, also for a query of public tables only. */
BRUME_MUST_USE brume_status brume_question_open_any(brume_ledger *ledger, const char *text,
                                                    brume_question **out, brume_error *error);

/* N where the name is answer_N, which means the recorded answer of charge N, and 0 elsewhere. A
 * dataset, or a table of one, that is called so comes first. */
uint64_t brume_answer_number(brume_ledger *ledger, const brume_sql_name *name);

/* Its tables alone, unchecked: `query` and `open_query` are NULL. Recorded answers are not among
 * them. */
BRUME_MUST_USE brume_status brume_question_tables(brume_ledger *ledger, const brume_sql *sql,
                                                  brume_question **out, brume_error *error);

/* The same for one table that no ledger has: `policy`, which is taken over also on failure, under
 * the name that `sql` calls it by. For audits only: it has no ledger and cannot be charged. */
BRUME_MUST_USE brume_status brume_question_alone(brume_policy *policy, const char *name,
                                                 const char *sql, brume_question **out,
                                                 brume_error *error);

/* The key under which an answer to this question at this payment is recorded: everything a free
 * re-read may depend on, all of it public. */
BRUME_MUST_USE brume_status brume_question_key(const brume_question *question,
                                               const brume_plan *plan, char key[65],
                                               brume_error *error);

/* What texts call its units, and the rows where they are of one table. */
brume_words brume_question_words(const brume_question *question);

#endif
