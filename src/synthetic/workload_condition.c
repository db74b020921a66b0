/* Conditions over the columns of a schema. */
#include "synthetic/workload_condition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "synthetic/schema.h"

brume_status brume_line_step(brume_line *line, brume_error *error)
{
    return brume_token_next(line->tokens, &line->next, error);
}

brume_status brume_line_expected(const brume_line *line, const char *what, brume_error *error)
{
    const brume_token *token = &line->next;
    if (token->kind == BRUME_TOKEN_END)
        return brume_fail(error, BRUME_ESYNTAX, NULL,
                          "line %zu, column %zu: expected %s, found the end of the line",
                          token->line, token->place, what);
    return brume_fail(error, BRUME_ESYNTAX, NULL, "line %zu, column %zu: expected %s, found '%s'",
                      token->line, token->place, what, token->text);
}

static bool is_text(const brume_token *token)
{
    return token->kind == BRUME_TOKEN_WORD || token->kind == BRUME_TOKEN_QUOTED;
}

brume_status brume_line_column(brume_line *line, size_t *column, brume_error *error)
{
    const brume_schema *schema = line->schema;
    const brume_token *token = &line->next;
    if (!is_text(token))
        return brume_line_expected(line, "a column", error);
    size_t found = brume_schema_find(schema, token->text);
    if (found == SIZE_MAX) {
        const char *names[BRUME_UNIVERSE_COLUMNS];
        size_t count = brume_schema_columns(schema);
        for (size_t i = 0; i < count; i++)
            names[i] = brume_schema_name(schema, i);
        const char *nearest = brume_text_nearest(token->text, names, count);
        char hint[120] = "it must be one of the columns asked for";
        if (nearest)
            snprintf(hint, sizeof hint, "did you mean '%.80s'?", nearest);
        return brume_fail(error, BRUME_EUNKNOWN, hint, "line %zu, column %zu: no column '%s'",
                          token->line, token->place, token->text);
    }
    *column = found;
    return brume_line_step(line, error);
}

void brume_box_clear(brume_box *box)
{
    for (size_t c = 0; c < BRUME_UNIVERSE_COLUMNS; c++)
        free(box->allowed[c]);
    *box = (brume_box){{NULL}};
}

/* ---- values ---- */

/* How many values a column has without `other`. */
static uint32_t plain_size(const brume_schema *schema, size_t column)
{
    return brume_schema_size(schema, column) - brume_schema_has_other(schema, column);
}

static brume_status read_label(brume_line *line, size_t column, uint32_t *value, brume_error *error)
{
    const brume_token *token = &line->next;
    uint32_t found = 0;
    if (!is_text(token))
        return brume_line_expected(line, "a value", error);
    if (brume_schema_has_bins(line->schema, column))
        return brume_fail(error, BRUME_EARGUMENT, "compare it with <, >= or in LO .. HI",
                          "line %zu, column %zu: '%s' is cut into bins and has no single values",
                          token->line, token->place, brume_schema_name(line->schema, column));
    if (!brume_schema_value(line->schema, column, token->text, &found) ||
        found >= plain_size(line->schema, column))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "line %zu, column %zu: '%s' is not in the domain of '%s'", token->line,
                          token->place, token->text, brume_schema_name(line->schema, column));
    *value = found;
    return brume_line_step(line, error);
}

/* An edge of a bin, 0 .. bins, or the place of a label. */
static brume_status read_edge(brume_line *line, size_t column, uint32_t *edge, brume_error *error)
{
    const brume_schema *schema = line->schema;
    const brume_token *token = &line->next;
    double number;
    if (!brume_schema_has_bins(schema, column))
        return read_label(line, column, edge, error);
    if (!is_text(token) || !brume_schema_number(token->text, &number))
        return brume_line_expected(line, "a number", error);
    uint32_t bins = plain_size(schema, column);
    double low = brume_schema_edge(schema, column, 0),
           high = brume_schema_edge(schema, column, bins);
    double guess = rint((number - low) / (high - low) * bins);
    double slack = (high / bins - low / bins) * 1e-9; /* 0.3 of 10 bins of 0 .. 1 */
    uint32_t nearest = guess >= 0 ? (uint32_t)fmin(guess, bins) : 0;
    if (!(fabs(brume_schema_edge(schema, column, nearest) - number) <= slack)) {
        char hint[120];
        snprintf(hint, sizeof hint, "the nearest edge is %.15g",
                 brume_schema_edge(schema, column, nearest));
        return brume_fail(error, BRUME_EARGUMENT, hint,
                          "line %zu, column %zu: %s is no edge of the %u bins of '%s'", token->line,
                          token->place, token->text, bins, brume_schema_name(schema, column));
    }
    *edge = nearest;
    return brume_line_step(line, error);
}

/* ---- one comparison ---- */

static void allow(uint8_t *allowed, uint32_t from, uint32_t to)
{
    for (uint32_t v = from; v < to; v++)
        allowed[v] = 1;
}

/* After `in (`. */
static brume_status read_set(brume_line *line, size_t column, uint8_t *allowed, brume_error *error)
{
    do {
        uint32_t value = 0;
        BRUME_TRY(brume_line_step(line, error)); /* over ( or , */
        BRUME_TRY(read_label(line, column, &value, error));
        allowed[value] = 1;
    } while (brume_token_is(&line->next, ","));
    if (!brume_token_is(&line->next, ")"))
        return brume_line_expected(line, "',' or ')'", error);
    return brume_line_step(line, error);
}

/* After `in`: V .. W. */
static brume_status read_range(brume_line *line, size_t column, uint8_t *allowed,
                               brume_error *error)
{
    uint32_t from = 0, to = 0;
    brume_token first = line->next;
    BRUME_TRY(read_edge(line, column, &from, error));
    if (!brume_token_is(&line->next, ".."))
        return brume_line_expected(line, "'..'", error);
    BRUME_TRY(brume_line_step(line, error));
    BRUME_TRY(read_edge(line, column, &to, error));
    bool bins = brume_schema_has_bins(line->schema, column);
    if (from > to || (bins && from == to))
        return brume_fail(error, BRUME_EARGUMENT, "write the lower first",
                          "line %zu, column %zu: an empty range", first.line, first.place);
    allow(allowed, from, bins ? to : to + 1);
    return BRUME_OK;
}

static brume_status read_other(brume_line *line, size_t column, uint8_t *allowed,
                               brume_error *error)
{
    const brume_schema *schema = line->schema;
    uint32_t plain = plain_size(schema, column);
    bool negated = false;
    BRUME_TRY(brume_line_step(line, error)); /* over is */
    if (brume_token_is(&line->next, "not")) {
        negated = true;
        BRUME_TRY(brume_line_step(line, error));
    }
    if (!brume_token_is(&line->next, "other"))
        return brume_line_expected(line, "'other'", error);
    if (!brume_schema_has_other(schema, column))
        return brume_fail(error, BRUME_EARGUMENT, "say --other NAME to count what is outside",
                          "line %zu, column %zu: '%s' has no value for what is outside its domain",
                          line->next.line, line->next.place, brume_schema_name(schema, column));
    if (negated)
        allow(allowed, 0, plain);
    else
        allow(allowed, plain, plain + 1);
    return brume_line_step(line, error);
}

/* After `between`: V and W, both included. Of bins the upper end would cut one. */
static brume_status read_between(brume_line *line, size_t column, uint8_t *allowed,
                                 brume_error *error)
{
    uint32_t from = 0, to = 0;
    if (brume_schema_has_bins(line->schema, column))
        return brume_fail(error, BRUME_EARGUMENT, "write NAME >= LO and NAME < HI",
                          "line %zu, column %zu: 'between' includes its upper end, which '%s', cut "
                          "into bins, cannot",
                          line->next.line, line->next.place,
                          brume_schema_name(line->schema, column));
    BRUME_TRY(brume_line_step(line, error)); /* over between */
    BRUME_TRY(read_label(line, column, &from, error));
    if (!brume_token_is(&line->next, "and"))
        return brume_line_expected(line, "'and'", error);
    BRUME_TRY(brume_line_step(line, error));
    BRUME_TRY(read_label(line, column, &to, error));
    allow(allowed, from, to + 1);
    return BRUME_OK;
}

/* < <= > >= and what is compared with: below or above a place, which is included or not. */
static brume_status read_order(brume_line *line, size_t column, uint8_t *allowed,
                               brume_error *error)
{
    uint32_t plain = plain_size(line->schema, column), place = 0;
    bool below = line->next.text[0] == '<', equal = line->next.text[1] == '=';
    if (brume_schema_has_bins(line->schema, column) && below == equal)
        return brume_fail(
            error, BRUME_EARGUMENT, "a bin has its lower end, not its upper one",
            "line %zu, column %zu: '%s' is cut into bins: compare it with < or >=", line->next.line,
            line->next.place, brume_schema_name(line->schema, column));
    BRUME_TRY(brume_line_step(line, error));
    BRUME_TRY(read_edge(line, column, &place, error));
    uint32_t cut = place + (below == equal); /* what is allowed begins or ends here */
    allow(allowed, below ? 0 : cut, below ? cut : plain);
    return BRUME_OK;
}

static bool is_order(const brume_token *token)
{
    return brume_token_is(token, "<") || brume_token_is(token, "<=") ||
           brume_token_is(token, ">") || brume_token_is(token, ">=");
}

/* After the column: which values are meant. */
static brume_status read_values(brume_line *line, size_t column, uint8_t *allowed,
                                brume_error *error)
{
    uint32_t size = brume_schema_size(line->schema, column), place = 0;
    bool negated = false;
    if (brume_token_is(&line->next, "not")) {
        negated = true;
        BRUME_TRY(brume_line_step(line, error));
        if (!brume_token_is(&line->next, "in") && !brume_token_is(&line->next, "between"))
            return brume_line_expected(line, "'in' or 'between'", error);
    }
    if (brume_token_is(&line->next, "in")) {
        BRUME_TRY(brume_line_step(line, error));
        if (brume_token_is(&line->next, "("))
            BRUME_TRY(read_set(line, column, allowed, error));
        else
            BRUME_TRY(read_range(line, column, allowed, error));
    } else if (brume_token_is(&line->next, "between")) {
        BRUME_TRY(read_between(line, column, allowed, error));
    } else if (brume_token_is(&line->next, "=") || brume_token_is(&line->next, "!=") ||
               brume_token_is(&line->next, "<>")) {
        negated = !brume_token_is(&line->next, "=");
        BRUME_TRY(brume_line_step(line, error));
        BRUME_TRY(read_label(line, column, &place, error));
        allowed[place] = 1;
    } else if (is_order(&line->next)) {
        BRUME_TRY(read_order(line, column, allowed, error));
    } else if (brume_token_is(&line->next, "is")) {
        BRUME_TRY(read_other(line, column, allowed, error));
    } else {
        return brume_line_expected(line, "=, <>, <, <=, >, >=, in, between, not in or is", error);
    }
    for (uint32_t v = 0; negated && v < size; v++)
        allowed[v] = !allowed[v];
    return BRUME_OK;
}

brume_status brume_line_comparison(brume_line *line, brume_box *box, brume_error *error)
{
    size_t column;
    BRUME_TRY(brume_line_column(line, &column, error));
    uint32_t size = brume_schema_size(line->schema, column);
    uint8_t *allowed = calloc(size, 1);
    if (!allowed)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for a condition");
    brume_status status = read_values(line, column, allowed, error);
    if (status == BRUME_OK && !box->allowed[column]) {
        box->allowed[column] = allowed;
        return BRUME_OK;
    }
    for (uint32_t v = 0; status == BRUME_OK && v < size; v++)
        box->allowed[column][v] &= allowed[v];
    free(allowed);
    return status;
}
