/* JSON as the commands print it. */
#ifndef BRUME_COMMAND_JSON_TEXT_H
#define BRUME_COMMAND_JSON_TEXT_H

#include <stdio.h>

#include <jansson.h>

/* Any value on one line, as {"name": 1.5, "list": [1, 2]}. A real is the shortest decimal that
 * reads back as the same double, with a point or an exponent: 1.0, 0.05, 1e-6. (The ledger keeps
 * the text it wrote, of 17 digits; it is never printed but as a string.)   Returns 0, or -1 if
 * writing failed. */
int brume_json_write(const json_t *value, FILE *out);

/* The same for a file that people read too: a line for each member. */
int brume_json_write_lines(const json_t *value, FILE *out);

#endif
