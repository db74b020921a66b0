/* The rows of a question as a CSV file in memory: what a statistic that is not SQL reads.
 *
 * So many rows of each unit count as the caller says, those with the smallest keyed hashes; where a
 * row is a unit, all do. Rows never touch a disk. */
#ifndef BRUME_QUERY_UNIT_ROWS_H
#define BRUME_QUERY_UNIT_ROWS_H

#include <stdio.h>

#include <brume/bits.h>

#include "query/plan/question.h"
#include "reader/format.h"

/* SELECT COUNT("a"), COUNT("b") ... FROM "dataset": the question whose rows hold every column that
 * can be read, clamped as everywhere. The caller frees *out. */
BRUME_MUST_USE brume_status brume_rows_question(const brume_policy *policy, const char *dataset,
                                                char **out, brume_error *error);

/* SELECT COUNT("a"), ... FROM (view): the same of the named columns of a view. */
BRUME_MUST_USE brume_status brume_rows_question_of(const char *view, const char *const *names,
                                                   size_t count, char **out, brume_error *error);

/* How the file is read: texts may hold line ends. */
extern const brume_text_format brume_rows_format;

typedef struct brume_rows_file {
    FILE *file;
    char path[48]; /* to be opened while `file` is open */
} brume_rows_file;

/* What is read: at most `each` rows of a unit, and how the columns are called; NULL: as in their
 * table. */
typedef struct brume_rows_of {
    const brume_question *question;
    uint64_t each;
    const char *const *names;
} brume_rows_of;

/* A header line with the names of the columns, then the rows: none of them, or those that the
 * engine finds. Close with brume_rows_file_close. */
BRUME_MUST_USE brume_status brume_rows_none(const brume_rows_of *of, brume_rows_file *out,
                                            brume_error *error);
BRUME_MUST_USE brume_status brume_rows_read(const brume_rows_of *of, brume_engine *engine,
                                            brume_bits *bits, brume_rows_file *out,
                                            brume_error *error);
void brume_rows_file_close(brume_rows_file *file);

/* BRUME_EARGUMENT if there is no row, or more than `most` of them (0: any number). Only for where
 * the number of rows is public. */
BRUME_MUST_USE brume_status brume_rows_check(const brume_question *question, brume_engine *engine,
                                             uint64_t most, brume_error *error);

/* The rows of a file that no ledger has, as a CSV file in memory: for releases that nobody accounts
 * for. Every row is a unit. */

/* Does an engine have to read it: a Parquet or JSON file? Anything else is taken as CSV. */
bool brume_file_needs_engine(const char *location);

/* Read it. A JSON file gives the named fields, as text; a Parquet file has its own columns. Close
 * with brume_rows_file_close. Errors: those of brume_engine_open; EARGUMENT if no column of it can
 * be read. */
BRUME_MUST_USE brume_status brume_file_rows(const char *location, const char *const *names,
                                            size_t name_count, brume_bits *bits,
                                            brume_rows_file *out, brume_error *error);

#endif
