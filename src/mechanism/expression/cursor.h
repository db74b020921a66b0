/* The words of expressions, read off a text from left to right; blanks before them are skipped. */
#ifndef BRUME_MECHANISM_EXPRESSION_CURSOR_H
#define BRUME_MECHANISM_EXPRESSION_CURSOR_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

enum { BRUME_NAME_BYTES = 64 };

typedef struct brume_cursor {
    const char *text;
    size_t at;       /* index of the next character */
    locale_t locale; /* "C": a decimal point is a point */
    brume_error *error;
} brume_cursor;

/* What a person calls the place of the next character: the first is 1. */
size_t brume_cursor_position(const brume_cursor *c);

bool brume_is_letter(char x);

/* The next character that is no blank; 0 at the end. */
char brume_cursor_peek(brume_cursor *c);

/* Where that character is. */
size_t brume_cursor_start(brume_cursor *c);

/* Whether it is `wanted`: then it is passed. */
bool brume_cursor_take(brume_cursor *c, char wanted);

/* Letters, digits and '_', a letter first; `wanted` is what the refusal says was expected, and
 * `if_number` its hint where a digit is found. */
brume_status brume_cursor_name(brume_cursor *c, const char *wanted, const char *if_number,
                               char name[BRUME_NAME_BYTES]);

/* A decimal number: sign, digits with at most one point, exponent. No hexadecimal, no words. */
brume_status brume_cursor_number(brume_cursor *c, double *value);

/* A whole number from 1 to 2^63 - 1, in digits. */
brume_status brume_cursor_count(brume_cursor *c, uint64_t *count);

/* BRUME_ESYNTAX: "expected WANTED at position 7, found '?'", or "found the end". */
brume_status brume_cursor_unexpected(brume_cursor *c, const char *wanted, const char *hint);

#endif
