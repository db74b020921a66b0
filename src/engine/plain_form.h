/* Texts in the plain forms that both engines' casts read alike, recognised in one pass.
 *
 *   integer     a sign or none, at most 30 zeros, 1 to 19 digits
 *   decimal N   a sign or none; 1 to N digits, then nothing or a point and at most 30 digits; or a
 * point and 1 to 30 digits real        the same with 20 and 20, and nothing or e, a sign or none
 * and 1 or 2 digits date        YYYY-MM-DD, a day that exists in the years 0001 to 9999 timestamp
 * a date, then nothing or a blank or T and HH:MM, HH:MM:SS or HH:MM:SS.f to .ffffff
 *
 * with blanks on both sides (space, tab, line feed, vertical tab, form feed, carriage return).
 * print_expression.c has the same forms as regular expressions, for PostgreSQL. */
#ifndef BRUME_ENGINE_PLAIN_FORM_H
#define BRUME_ENGINE_PLAIN_FORM_H

#include <stdbool.h>
#include <stddef.h>

typedef enum brume_plain_form {
    BRUME_PLAIN_INTEGER,
    BRUME_PLAIN_DECIMAL,
    BRUME_PLAIN_REAL,
    BRUME_PLAIN_DATE,
    BRUME_PLAIN_TIMESTAMP,
} brume_plain_form;

/* Whether the text is of that form; then what is between its blanks. `whole`: the N of a decimal.
 */
bool brume_plain_match(brume_plain_form form, size_t whole, const char *text, size_t length,
                       const char **from, size_t *matched);

#endif
