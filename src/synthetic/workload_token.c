/* Tokens of a workload's text: never reads beyond a line's end, never moves backwards. */
#include "synthetic/workload_token.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"

static bool is_word(const char *at)
{
    unsigned char x = (unsigned char)*at;
    if (x == '.')
        return at[1] != '.';
    return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || (x >= '0' && x <= '9') || x == '_' ||
           x == '-' || x == '+' || x >= 0x80;
}

static bool is_line_end(char x)
{
    return x == 0 || x == '\n' || x == '#';
}

static brume_status too_long(const brume_token *token, brume_error *error)
{
    return brume_fail(error, BRUME_ESYNTAX, NULL,
                      "line %zu, column %zu: a name or value of more than %d bytes", token->line,
                      token->place, BRUME_TOKEN_BYTES - 1);
}

/* 'it''s' or "so ""called""" */
static brume_status read_quoted(brume_tokens *all, brume_token *token, brume_error *error)
{
    const char *text = all->text;
    char quote = text[all->at++];
    size_t length = 0;
    token->kind = BRUME_TOKEN_QUOTED;
    for (;;) {
        char x = text[all->at];
        if (x == 0 || x == '\n')
            return brume_fail(error, BRUME_ESYNTAX, NULL,
                              "line %zu, column %zu: a quote that is not closed", token->line,
                              token->place);
        all->at++;
        if (x == quote && text[all->at] != quote)
            break;
        if (x == quote)
            all->at++;
        if (length + 1 == BRUME_TOKEN_BYTES)
            return too_long(token, error);
        token->text[length++] = x;
    }
    token->text[length] = 0;
    return BRUME_OK;
}

static brume_status read_word(brume_tokens *all, brume_token *token, brume_error *error)
{
    size_t length = 0;
    token->kind = BRUME_TOKEN_WORD;
    while (is_word(all->text + all->at)) {
        if (length + 1 == BRUME_TOKEN_BYTES)
            return too_long(token, error);
        token->text[length++] = all->text[all->at++];
    }
    token->text[length] = 0;
    return BRUME_OK;
}

brume_status brume_token_next(brume_tokens *all, brume_token *out, brume_error *error)
{
    static const char *const symbols[] = {"..", "!=", "<>", ">=", "<=", "=",
                                          "<",  ">",  "(",  ")",  ","};
    const char *text = all->text;
    while (text[all->at] == ' ' || text[all->at] == '\t' || text[all->at] == '\r')
        all->at++;
    brume_token token = {
        .kind = BRUME_TOKEN_END, .line = all->line, .place = all->at - all->line_start + 1};
    const char *here = text + all->at;
    if (*here == '\'' || *here == '"') {
        BRUME_TRY(read_quoted(all, &token, error));
    } else if (is_word(here) && !is_line_end(*here)) {
        BRUME_TRY(read_word(all, &token, error));
    } else if (!is_line_end(*here)) {
        size_t i = 0, count = sizeof symbols / sizeof *symbols;
        while (i < count && strncmp(here, symbols[i], strlen(symbols[i])) != 0)
            i++;
        if (i == count)
            return brume_fail(error, BRUME_ESYNTAX, "write such a name or value in quotes",
                              "line %zu, column %zu: unexpected '%c'", token.line, token.place,
                              *here >= ' ' && *here < 127 ? *here : '?');
        token.kind = BRUME_TOKEN_SYMBOL;
        memcpy(token.text, symbols[i], strlen(symbols[i]) + 1);
        all->at += strlen(symbols[i]);
    }
    *out = token;
    return BRUME_OK;
}

bool brume_token_next_line(brume_tokens *all)
{
    const char *text = all->text;
    while (text[all->at] && text[all->at] != '\n')
        all->at++;
    if (!text[all->at])
        return false;
    all->line_start = ++all->at;
    all->line++;
    return true;
}

bool brume_token_is(const brume_token *token, const char *word)
{
    return (token->kind == BRUME_TOKEN_WORD || token->kind == BRUME_TOKEN_SYMBOL) &&
           strcasecmp(token->text, word) == 0;
}
