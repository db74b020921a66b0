/* Standard output and standard error of the command line. */
#ifndef BRUME_CLI_OUTPUT_H
#define BRUME_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <brume/status.h>

/* Refuse to start without a standard output: a file opened later would take its number, and work
 * paid for by a budget would be lost. Missing standard input and error become /dev/null. A closed
 * pipe is from here on an error of the write, not a signal. */
BRUME_MUST_USE brume_status brume_output_ready(brume_error *error);

/* Part of an answer, now. BRUME_EDISK if standard output does not take all of it. */
BRUME_MUST_USE brume_status brume_output_write(void *context, const char *text, size_t length,
                                               brume_error *error);

/* After a success: the answer, through a pager where that was asked for and it is long. */
BRUME_MUST_USE brume_status brume_output_commit(const char *text, size_t length,
                                                brume_error *error);

/* From now on an answer with more lines than the terminal has goes through $PAGER, else less. */
void brume_output_page_long_answers(void);

/* The error on standard error, as text or as {"error":{...}}; returns the exit code. `line` is that
 * of a stream's input, 0 for none. */
int brume_output_error(const char *command, bool json, uint64_t line, const brume_error *error);

/* A text with names of data in it, on stdout or stderr. */
void brume_output_say(FILE *file, const char *text);

/* Is colour wanted: standard output is a terminal, NO_COLOR is not set and TERM is not dumb. */
bool brume_terminal_wants_colour(void);

/* So much of `total` is done (0: a counter without a bar); a label that is NULL: it is over, and
 * the bar is wiped. `context` is not used. */
void brume_bar_show(void *context, const char *label, uint64_t done, uint64_t total);

/* So many seconds have passed. From another thread, often: it is drawn once a second, and not while
 * there is a bar. Waits for nothing, neither a lock nor the terminal. */
void brume_bar_time(const char *label, double seconds);

/* Before anything else is written to the terminal. */
void brume_bar_wipe(void);

/* What wipes it, "" if nothing is shown: for a process that is about to end. */
const char *brume_bar_eraser(void);

#endif
