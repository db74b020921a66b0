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

/* Draw: a brume_audit_draw. BRUME_EARGUMENT: the program failed, or printed fewer lines. */
brume_status brume_program_subject_draw(const void *context, bool second, brume_bits *bits,
                                        int64_t *out, size_t n, brume_error *error);

/* Outcomes are in steps of this. */
double brume_program_subject_step(void);
const char *brume_program_subject_neighbours(const brume_program_subject *subject);

/* The path of a table. */
const char *brume_program_subject_table(const brume_program_subject *subject, bool second);

#endif
