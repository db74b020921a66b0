/* query --plot FILE.svg: an answer as bars with whiskers. */
#ifndef BRUME_COMMAND_PLOT_ANSWER_H
#define BRUME_COMMAND_PLOT_ANSWER_H

#include "command/command.h"
#include "query/release/answer.h"

typedef struct brume_plot_file {
    const char *path; /* NULL: no picture is asked for */
    FILE *file;
    bool is_new;
    const char *question; /* that is drawn */
} brume_plot_file;

/* Open the file that --plot names, before anything is spent; what is in it stays for now.
 * BRUME_EDISK if it cannot be written. */
BRUME_MUST_USE brume_status brume_plot_open(const brume_call *call, brume_plot_file *out,
                                            brume_error *error);

/* Draw the answer of `sql`, a panel for each numeric column: a bar for each row, grouped by the
 * first of two keys; or lines where a key is a time. EUNSUPPORTED if it has
 * no numbers. */
BRUME_MUST_USE brume_status brume_plot_answer(brume_plot_file *plot,
                                              const brume_query_answer *answer, const char *sql,
                                              brume_error *error);

/* Close it; a file that is new and was not drawn is removed. */
void brume_plot_close(brume_plot_file *plot);

#endif
