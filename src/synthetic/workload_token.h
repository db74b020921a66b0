/* Tokens of a workload's text. */
#ifndef BRUME_SYNTHETIC_WORKLOAD_TOKEN_H
#define BRUME_SYNTHETIC_WORKLOAD_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#include <brume/status.h>

enum { BRUME_TOKEN_BYTES = 256 };

typedef enum brume_token_kind {
    BRUME_TOKEN_WORD,   /* bare: a keyword, a name or a value */
    BRUME_TOKEN_QUOTED, /* a name or a value */
    BRUME_TOKEN_SYMBOL, /* = != <> < <= > >= ( ) , .. */
    BRUME_TOKEN_END,    /* of the line */
} brume_token_kind;

typedef struct brume_token {
    brume_token_kind kind;
    char text[BRUME_TOKEN_BYTES];
    size_t line, place; /* from 1, in bytes */
} brume_token;

typedef struct brume_tokens {
    const char *text;
    size_t at, line, line_start;
} brume_tokens;

/* The next token; at the end of a line BRUME_TOKEN_END again and again.
 * BRUME_ESYNTAX for a character that begins no token, a quote that is not closed in its line, a
 * token that is too long. */
BRUME_MUST_USE brume_status brume_token_next(brume_tokens *all, brume_token *out,
                                             brume_error *error);

/* Step to the next line; false after the last. */
bool brume_token_next_line(brume_tokens *all);

/* Is it this keyword, in any case, or symbol? Quoted texts never are. */
bool brume_token_is(const brume_token *token, const char *word);

#endif
