/* What an audit of somebody else's program draws: its answers, on two neighbouring tables that are
 * made for it.
 *
 * The command is run by the shell as `COMMAND FILE COUNT`: it reads the CSV file, whose one column
 * "value" has numbers within bounds, and prints COUNT independent answers, a line each. A line that
 * is a number is an outcome by its value, any other by its text. Nothing is known of the program
 * but what it claims. */
#ifndef BRUME_AUDIT_PROGRAM_SUBJECT_H
#define BRUME_AUDIT_PROGRAM_SUBJECT_H

#include <brume/adjacency.h>

#include "audit/epsilon.h"
#include "audit/floating_point.h"

typedef struct brume_program_subject brume_program_subject;

/* How many pairs of tables there are. */
size_t brume_program_pairs(void);

/* One of them; the files are in a folder of their own, which closing removes. Errors: BRUME_EDISK,
 * BRUME_EMEMORY; BRUME_EARGUMENT for bounds that are not finite and in order. */
BRUME_MUST_USE brume_status brume_program_subject_open(const char *command, double low, double high,
                                                       brume_adjacency adjacency, size_t pair,
                                                       brume_program_subject **out,
                                                       brume_error *error);
void brume_program_subject_close(brume_program_subject *subject);

/* Where the first table is, or the second. */
const char *brume_program_subject_path(const brume_program_subject *subject, bool second);

/* A line that was printed. */
typedef struct brume_program_answer {
    double number; /* NaN where it is a text */
    int64_t text;  /* a hash of it */
} brume_program_answer;

/* n answers on the first table or the second. BRUME_EARGUMENT: the program failed, or printed fewer
 * lines. */
BRUME_MUST_USE brume_status brume_program_subject_run(const brume_program_subject *subject,
                                                      bool second, brume_program_answer *out,
                                                      size_t n, brume_error *error);

/* What is looked at in an answer. All are functions of what was printed, so that a bound found with
 * any of them holds. The textbook's noise is looked for on the sum, the mean and the number of rows
 * of either table, with the scale that `epsilon` has there. */
typedef enum brume_program_view {
    BRUME_VIEW_VALUE,
    BRUME_VIEW_PRECISION, /* the lowest bit that is set: brume_precision_of */
    BRUME_VIEW_TEXTBOOK,  /* from which true answers is it reachable: brume_textbook_reaches */
    BRUME_VIEWS,
} brume_program_view;

void brume_program_subject_look(brume_program_subject *subject, brume_program_view view,
                                double epsilon);
int64_t brume_program_subject_outcome(const brume_program_subject *subject,
                                      const brume_program_answer *answer);

/* Draw: a brume_audit_draw of these outcomes. */
brume_status brume_program_subject_draw(const void *context, bool second, brume_bits *bits,
                                        int64_t *out, size_t n, brume_error *error);

/* Outcomes are in steps of this; what they are, in words. */
double brume_program_subject_step(const brume_program_subject *subject);
const char *brume_program_subject_words(const brume_program_subject *subject);
const char *brume_program_subject_neighbours(const brume_program_subject *subject);

/* Copy both tables into the folder, which exists: 1.csv and 2.csv. BRUME_EDISK: they are there. */
BRUME_MUST_USE brume_status brume_program_subject_save(const brume_program_subject *subject,
                                                       const char *folder, brume_error *error);

#endif
