/* A policy file: a dataset of one or several tables, with one unit and one budget.
 *
 *   budget: epsilon=4,delta=1e-6
 *   tables:
 *     customer:
 *       source: customer.csv
 *       unit: c_custkey
 *       columns: c_custkey integer, c_nation text
 *     orders:
 *       source: orders.csv
 *       link: o_custkey = customer.c_custkey
 *
 * 1. Every option of `register` is a key: those of a source and its columns of a table, the others
 *    of the dataset; its text is that of the option. Beside them a table has `source` (a path is
 *    relative to the file), `link` and `identifier`.
 * 2. A table has exactly one of `unit`, `link` and `public: true`.
 * 3. A dataset with windows has `window: {length, budget, offset, close-after}`, and each protected
 *    table `window: COLUMN`, `link` or `none`.
 * 4. Whatever is unknown, missing, twice or wrong is an error that names line and column. */
#ifndef BRUME_COMMAND_POLICY_FILE_H
#define BRUME_COMMAND_POLICY_FILE_H

#include "command/command.h"
#include "command/owner/declare.h"
#include "query/plan/tables.h"

typedef struct brume_policy_file {
    brume_call call; /* the keys of the dataset, as if they had been typed */
    brume_tables *tables;
    brume_found_source *found;                                         /* of each table */
    char *window_budget, *window_length, *window_offset, *close_after; /* of `window:`, or NULL */
    char **words; /* what the call's texts point into */
    size_t word_count;
} brume_policy_file;

/* Read the file, and look at the sources of its tables as it declares them; finding their marks
 * reads files. `command` is `register`; `dataset` is the name in it. */
BRUME_MUST_USE brume_status brume_policy_file_open(const brume_command *command,
                                                   const char *dataset, const char *path,
                                                   brume_policy_file **out, brume_error *error);
void brume_policy_file_close(brume_policy_file *file);

/* The file that says what a dataset's policy says, for `show --policy`. `dataset` is as the ledger
 * has it. */
BRUME_MUST_USE brume_status brume_policy_file_write(FILE *out, const brume_dataset *dataset,
                                                    brume_error *error);

#endif
