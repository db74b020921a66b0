/* Conditions over the columns of a schema, for the texts of workloads. */
#ifndef BRUME_SYNTHETIC_WORKLOAD_CONDITION_H
#define BRUME_SYNTHETIC_WORKLOAD_CONDITION_H

#include <stdint.h>

#include <brume/synthetic/schema.h>

#include "synthetic/workload_token.h"

/* One line while it is read: the token that comes next, and where the rest is. */
typedef struct brume_line {
    const brume_schema *schema;
    brume_tokens *tokens;
    brume_token next;
} brume_line;

BRUME_MUST_USE brume_status brume_line_step(brume_line *line, brume_error *error);

/* BRUME_ESYNTAX at the next token: "expected ..., found ...". */
brume_status brume_line_expected(const brume_line *line, const char *what, brume_error *error);

/* A column's name, and step. BRUME_EUNKNOWN with the nearest. */
BRUME_MUST_USE brume_status brume_line_column(brume_line *line, size_t *column, brume_error *error);

/* A box: allowed[c][v], NULL: any value. */
typedef struct brume_box {
    uint8_t *allowed[BRUME_UNIVERSE_COLUMNS];
} brume_box;

void brume_box_clear(brume_box *box);

/* A comparison, after which the box allows less. On error it is to be cleared all the same. */
BRUME_MUST_USE brume_status brume_line_comparison(brume_line *line, brume_box *box,
                                                  brume_error *error);

#endif
