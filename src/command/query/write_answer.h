/* An answer on the terminal or in a file: a table with notes below it, Markdown,
 * CSV, HTML, JSON. */
#ifndef BRUME_COMMAND_WRITE_ANSWER_H
#define BRUME_COMMAND_WRITE_ANSWER_H

#include "command/command.h"
#include "ledger/ledger.h"
#include "query/release/answer.h"

/* In the format that --format or --json names, to call->out. */
BRUME_MUST_USE brume_status brume_write_answer(brume_call *call, const brume_query_answer *answer,
                                               brume_error *error);

/* Answers of one question, each of a window: one table with the windows in its first column, and
 * what is to be kept in mind, once; of JSON a line for each. */
BRUME_MUST_USE brume_status brume_write_each(brume_call *call,
                                             const char (*windows)[BRUME_WINDOW_LABEL],
                                             const brume_query_answer *const *answers, size_t count,
                                             brume_error *error);

/* Values with full precision, each value column followed by its error bar, that of tables: the
 * noise alone would look like all of the error in a file that is passed on. */
void brume_answer_csv(FILE *out, const brume_query_answer *answer);

/* A table with its notes below it, to be put into a page. */
BRUME_MUST_USE brume_status brume_answer_html(FILE *out, const brume_query_answer *answer,
                                              brume_error *error);

/* A cell as text; NULL, or no memory: NULL. The caller frees it. The month 2024-01, the total of a
 * margin and a value of too few people are said so; a number has six digits and, in a column of
 * values, commas between thousands; or, `exactly`, all of its digits. */
char *brume_cell_text(const brume_query_answer *answer, size_t cell, const char *null,
                      bool exactly);

#endif
