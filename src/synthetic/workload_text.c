/* Workloads as text: one statement a line.
 *
 * Promises: what is accepted is a workload whose queries are all in [0, 1]; what is refused is
 * refused with its line and column. Nothing but the text and the schema is looked at. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <brume/status.h>
#include <brume/synthetic/schema.h>
#include <brume/synthetic/workload_text.h>

#include "base/error.h"
#include "base/text.h"
#include "synthetic/schema.h"

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

/* One line while it is read: the token that comes next, and where the rest is. */
typedef struct statement_line {
    const brume_schema *schema;
    brume_tokens *tokens;
    brume_token next;
} statement_line;

/* A box: allowed[c][v], NULL: any value. */
typedef struct brume_box {
    uint8_t *allowed[BRUME_UNIVERSE_COLUMNS];
} brume_box;

/* Tokens of a workload's text: never reads beyond a line's end, never moves backwards. */

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

/* The next token; at the end of a line BRUME_TOKEN_END again and again.
 * BRUME_ESYNTAX for a character that begins no token, a quote that is not closed in its line, a
 * token that is too long. */
static brume_status token_next(brume_tokens *all, brume_token *out, brume_error *error)
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

/* Step to the next line; false after the last. */
static bool token_next_line(brume_tokens *all)
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

/* Is it this keyword, in any case, or symbol? Quoted texts never are. */
static bool token_is(const brume_token *token, const char *word)
{
    return (token->kind == BRUME_TOKEN_WORD || token->kind == BRUME_TOKEN_SYMBOL) &&
           strcasecmp(token->text, word) == 0;
}

/* ---- conditions over the columns of a schema ---- */

static brume_status line_step(statement_line *line, brume_error *error)
{
    return token_next(line->tokens, &line->next, error);
}

/* BRUME_ESYNTAX at the next token: "expected ..., found ...". */
static brume_status line_expected(const statement_line *line, const char *what, brume_error *error)
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

/* A column's name, and step. BRUME_EUNKNOWN with the nearest. */
static brume_status line_column(statement_line *line, size_t *column, brume_error *error)
{
    const brume_schema *schema = line->schema;
    const brume_token *token = &line->next;
    if (!is_text(token))
        return line_expected(line, "a column", error);
    size_t found = brume_schema_find(schema, token->text);
    if (found == SIZE_MAX) {
        const char *names[BRUME_SCHEMA_COLUMNS];
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
    return line_step(line, error);
}

static void box_clear(brume_box *box)
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

static brume_status read_label(statement_line *line, size_t column, uint32_t *value,
                               brume_error *error)
{
    const brume_token *token = &line->next;
    uint32_t found = 0;
    if (!is_text(token))
        return line_expected(line, "a value", error);
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
    return line_step(line, error);
}

/* An edge of a bin, 0 .. bins, or the place of a label. */
static brume_status read_edge(statement_line *line, size_t column, uint32_t *edge,
                              brume_error *error)
{
    const brume_schema *schema = line->schema;
    const brume_token *token = &line->next;
    double number;
    if (!brume_schema_has_bins(schema, column))
        return read_label(line, column, edge, error);
    if (!is_text(token) || !brume_schema_number(token->text, &number))
        return line_expected(line, "a number", error);
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
    return line_step(line, error);
}

/* ---- one comparison ---- */

static void allow(uint8_t *allowed, uint32_t from, uint32_t to)
{
    for (uint32_t v = from; v < to; v++)
        allowed[v] = 1;
}

/* After `in (`. */
static brume_status read_set(statement_line *line, size_t column, uint8_t *allowed,
                             brume_error *error)
{
    do {
        uint32_t value = 0;
        BRUME_TRY(line_step(line, error)); /* over ( or , */
        BRUME_TRY(read_label(line, column, &value, error));
        allowed[value] = 1;
    } while (token_is(&line->next, ","));
    if (!token_is(&line->next, ")"))
        return line_expected(line, "',' or ')'", error);
    return line_step(line, error);
}

/* After `in`: V .. W. */
static brume_status read_range(statement_line *line, size_t column, uint8_t *allowed,
                               brume_error *error)
{
    uint32_t from = 0, to = 0;
    brume_token first = line->next;
    BRUME_TRY(read_edge(line, column, &from, error));
    if (!token_is(&line->next, ".."))
        return line_expected(line, "'..'", error);
    BRUME_TRY(line_step(line, error));
    BRUME_TRY(read_edge(line, column, &to, error));
    bool bins = brume_schema_has_bins(line->schema, column);
    if (from > to || (bins && from == to))
        return brume_fail(error, BRUME_EARGUMENT, "write the lower first",
                          "line %zu, column %zu: an empty range", first.line, first.place);
    allow(allowed, from, bins ? to : to + 1);
    return BRUME_OK;
}

static brume_status read_other(statement_line *line, size_t column, uint8_t *allowed,
                               brume_error *error)
{
    const brume_schema *schema = line->schema;
    uint32_t plain = plain_size(schema, column);
    bool negated = false;
    BRUME_TRY(line_step(line, error)); /* over is */
    if (token_is(&line->next, "not")) {
        negated = true;
        BRUME_TRY(line_step(line, error));
    }
    if (!token_is(&line->next, "other"))
        return line_expected(line, "'other'", error);
    if (!brume_schema_has_other(schema, column))
        return brume_fail(error, BRUME_EARGUMENT, "say --other NAME to count what is outside",
                          "line %zu, column %zu: '%s' has no value for what is outside its domain",
                          line->next.line, line->next.place, brume_schema_name(schema, column));
    if (negated)
        allow(allowed, 0, plain);
    else
        allow(allowed, plain, plain + 1);
    return line_step(line, error);
}

/* After `between`: V and W, both included. For bins the upper end would cut one. */
static brume_status read_between(statement_line *line, size_t column, uint8_t *allowed,
                                 brume_error *error)
{
    uint32_t from = 0, to = 0;
    if (brume_schema_has_bins(line->schema, column))
        return brume_fail(error, BRUME_EARGUMENT, "write NAME >= LO and NAME < HI",
                          "line %zu, column %zu: 'between' includes its upper end, which '%s', cut "
                          "into bins, cannot",
                          line->next.line, line->next.place,
                          brume_schema_name(line->schema, column));
    BRUME_TRY(line_step(line, error)); /* over between */
    BRUME_TRY(read_label(line, column, &from, error));
    if (!token_is(&line->next, "and"))
        return line_expected(line, "'and'", error);
    BRUME_TRY(line_step(line, error));
    BRUME_TRY(read_label(line, column, &to, error));
    allow(allowed, from, to + 1);
    return BRUME_OK;
}

/* < <= > >= and what is compared with: below or above a place, which is included or not. */
static brume_status read_order(statement_line *line, size_t column, uint8_t *allowed,
                               brume_error *error)
{
    uint32_t plain = plain_size(line->schema, column), place = 0;
    bool below = line->next.text[0] == '<', equal = line->next.text[1] == '=';
    if (brume_schema_has_bins(line->schema, column) && below == equal)
        return brume_fail(
            error, BRUME_EARGUMENT, "a bin has its lower end, not its upper one",
            "line %zu, column %zu: '%s' is cut into bins: compare it with < or >=", line->next.line,
            line->next.place, brume_schema_name(line->schema, column));
    BRUME_TRY(line_step(line, error));
    BRUME_TRY(read_edge(line, column, &place, error));
    uint32_t cut = place + (below == equal); /* what is allowed begins or ends here */
    allow(allowed, below ? 0 : cut, below ? cut : plain);
    return BRUME_OK;
}

static bool is_order(const brume_token *token)
{
    return token_is(token, "<") || token_is(token, "<=") || token_is(token, ">") ||
           token_is(token, ">=");
}

/* After the column: which values are meant. */
static brume_status read_values(statement_line *line, size_t column, uint8_t *allowed,
                                brume_error *error)
{
    uint32_t size = brume_schema_size(line->schema, column), place = 0;
    bool negated = false;
    if (token_is(&line->next, "not")) {
        negated = true;
        BRUME_TRY(line_step(line, error));
        if (!token_is(&line->next, "in") && !token_is(&line->next, "between"))
            return line_expected(line, "'in' or 'between'", error);
    }
    if (token_is(&line->next, "in")) {
        BRUME_TRY(line_step(line, error));
        if (token_is(&line->next, "("))
            BRUME_TRY(read_set(line, column, allowed, error));
        else
            BRUME_TRY(read_range(line, column, allowed, error));
    } else if (token_is(&line->next, "between")) {
        BRUME_TRY(read_between(line, column, allowed, error));
    } else if (token_is(&line->next, "=") || token_is(&line->next, "!=") ||
               token_is(&line->next, "<>")) {
        negated = !token_is(&line->next, "=");
        BRUME_TRY(line_step(line, error));
        BRUME_TRY(read_label(line, column, &place, error));
        allowed[place] = 1;
    } else if (is_order(&line->next)) {
        BRUME_TRY(read_order(line, column, allowed, error));
    } else if (token_is(&line->next, "is")) {
        BRUME_TRY(read_other(line, column, allowed, error));
    } else {
        return line_expected(line, "=, <>, <, <=, >, >=, in, between, not in or is", error);
    }
    for (uint32_t v = 0; negated && v < size; v++)
        allowed[v] = !allowed[v];
    return BRUME_OK;
}

/* A comparison, after which the box allows less. On error it is to be cleared all the same. */
static brume_status line_comparison(statement_line *line, brume_box *box, brume_error *error)
{
    size_t column = 0;
    BRUME_TRY(line_column(line, &column, error));
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

/* ---- statements ---- */

#define DENSE_CELLS (UINT64_C(1) << 30)
enum { MOST_BRACKETS = 16 }; /* within each other: each takes a byte for every cell */

typedef struct text_reader {
    statement_line line;
    brume_universe universe;
    brume_workload *workload; /* NULL: tables are read */
    brume_tree_table *tables;
    size_t table_count, table_room;
    uint64_t dense; /* cells of all dense queries so far */
    size_t boxes;
    int depth; /* brackets that are open */
    brume_token statement;
} text_reader;

static brume_status too_many(const text_reader *all, const char *what, double count, double most,
                             brume_error *error)
{
    return brume_fail(error, BRUME_EOVERFLOW, "ask for less",
                      "line %zu, column %zu: %.15g %s, at most %.15g are possible",
                      all->statement.line, all->statement.place, count, what, most);
}

/* Room for `boxes` more boxes? */
static brume_status check_boxes(text_reader *all, double boxes, brume_error *error)
{
    double count = (double)all->boxes + boxes;
    if (count > BRUME_WORKLOAD_TEXT_BOXES)
        return too_many(all, "queries outside marginals", count, BRUME_WORKLOAD_TEXT_BOXES, error);
    all->boxes = (size_t)count;
    return BRUME_OK;
}

/* ---- marginals ---- */

/* A table of the workload; `columns` in any order. */
static brume_status add_table(text_reader *all, const size_t *columns, size_t count,
                              brume_error *error)
{
    if (count < 1 || count > BRUME_TREE_WIDEST)
        return brume_fail(error, BRUME_EUNSUPPORTED, "take the method mwem",
                          "line %zu, column %zu: a table of %zu columns, the method tree takes 1 "
                          "to %d",
                          all->statement.line, all->statement.place, count, BRUME_TREE_WIDEST);
    if (all->table_count == all->table_room) {
        size_t room = all->table_room ? 2 * all->table_room : 16;
        brume_tree_table *tables = realloc(all->tables, room * sizeof *tables);
        if (!tables)
            return brume_no_memory(error, "a workload");
        all->tables = tables;
        all->table_room = room;
    }
    brume_tree_table *one = &all->tables[all->table_count++];
    *one = (brume_tree_table){.columns = count, .weight = 1};
    for (size_t i = 0; i < count; i++) { /* in their order */
        size_t at = i;
        for (; at > 0 && one->column[at - 1] > columns[i]; at--)
            one->column[at] = one->column[at - 1];
        one->column[at] = (uint16_t)columns[i];
    }
    return BRUME_OK;
}

static brume_status add_marginal(text_reader *all, const size_t *columns, size_t count,
                                 brume_error *error)
{
    if (!all->workload)
        return add_table(all, columns, count, error);
    double cells = 1, queries = (double)brume_workload_size(all->workload);
    for (size_t i = 0; i < count; i++)
        cells *= all->universe.size[columns[i]];
    if (queries + cells > BRUME_WORKLOAD_TEXT_QUERIES)
        return too_many(all, "queries", queries + cells, BRUME_WORKLOAD_TEXT_QUERIES, error);
    brume_error inner = {0};
    brume_status status = brume_workload_add_marginal(all->workload, columns, count, &inner);
    if (status != BRUME_OK)
        return brume_fail(error, status, inner.hint[0] ? inner.hint : NULL,
                          "line %zu, column %zu: %s", all->statement.line, all->statement.place,
                          inner.message);
    return BRUME_OK;
}

static brume_status read_marginal(text_reader *all, brume_error *error)
{
    size_t columns[BRUME_SCHEMA_COLUMNS], count = 0;
    do {
        if (count > 0)
            BRUME_TRY(line_step(&all->line, error)); /* over the comma */
        brume_token name = all->line.next;
        size_t column = 0;
        BRUME_TRY(line_column(&all->line, &column, error));
        for (size_t i = 0; i < count; i++)
            if (columns[i] == column)
                return brume_fail(error, BRUME_EARGUMENT, NULL,
                                  "line %zu, column %zu: '%s' is there twice", name.line,
                                  name.place, name.text);
        columns[count++] = column;
    } while (token_is(&all->line.next, ","));
    return add_marginal(all, columns, count, error);
}

static brume_status read_marginals(text_reader *all, brume_error *error)
{
    size_t columns = all->universe.columns, chosen[BRUME_SCHEMA_COLUMNS];
    const brume_token *token = &all->line.next;
    double number, count = 1;
    if (!(token->kind == BRUME_TOKEN_WORD && brume_schema_number(token->text, &number) &&
          number == floor(number) && number >= 0))
        return line_expected(&all->line, "how many columns", error);
    if (number > (double)columns)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "line %zu, column %zu: marginals of %s columns, there are %zu",
                          token->line, token->place, token->text, columns);
    size_t way = (size_t)number;
    for (size_t i = 0; i < way; i++)
        count = count * (double)(columns - i) / (double)(i + 1);
    if (count > BRUME_WORKLOAD_TEXT_MARGINALS)
        return too_many(all, "marginals", count, BRUME_WORKLOAD_TEXT_MARGINALS, error);
    for (size_t i = 0; i < way; i++)
        chosen[i] = i;
    for (;;) {
        BRUME_TRY(add_marginal(all, chosen, way, error));
        size_t i = way; /* next combination in lexicographic order */
        while (i > 0 && chosen[i - 1] == columns - way + i - 1)
            i--;
        if (i == 0)
            return line_step(&all->line, error);
        chosen[i - 1]++;
        for (size_t j = i; j < way; j++)
            chosen[j] = chosen[j - 1] + 1;
    }
}

static brume_status read_histogram(text_reader *all, brume_error *error)
{
    size_t columns[BRUME_UNIVERSE_COLUMNS];
    for (size_t i = 0; i < all->universe.columns; i++)
        columns[i] = i;
    return add_marginal(all, columns, all->universe.columns, error);
}

/* ---- ranges ---- */

static brume_status read_ranges(text_reader *all, bool prefixes, brume_error *error)
{
    size_t column = 0;
    BRUME_TRY(line_column(&all->line, &column, error));
    const brume_schema *schema = all->line.schema;
    uint32_t size = brume_schema_size(schema, column);
    uint32_t plain = size - brume_schema_has_other(schema, column);
    double count = prefixes ? plain - 1.0 : plain * (plain + 1.0) / 2;
    BRUME_TRY(check_boxes(all, count, error));
    uint8_t *values = malloc(size);
    if (!values)
        return brume_no_memory(error, "a workload");
    const uint8_t *allowed[BRUME_UNIVERSE_COLUMNS] = {NULL};
    allowed[column] = values;
    brume_status status = BRUME_OK;
    for (uint32_t from = 0; status == BRUME_OK && from < (prefixes ? 1 : plain); from++) {
        memset(values, 0, size);
        for (uint32_t to = from; status == BRUME_OK && to < plain - prefixes; to++) {
            values[to] = 1;
            status = brume_workload_add_box(all->workload, allowed, error);
        }
    }
    free(values);
    return status;
}

/* ---- conditions and sums ---- */

/* hits[cell] = 1 where the box allows the cell. */
static void mark(const brume_universe *universe, const brume_box *box, uint8_t *hits)
{
    uint32_t record[BRUME_UNIVERSE_COLUMNS] = {0};
    for (uint64_t cell = 0; cell < universe->cells; cell++) {
        bool good = true;
        for (size_t c = 0; good && c < universe->columns; c++)
            good = !box->allowed[c] || box->allowed[c][record[c]];
        hits[cell] |= good;
        for (size_t c = universe->columns; c-- > 0;) {
            if (++record[c] < universe->size[c])
                break;
            record[c] = 0;
        }
    }
}

static brume_status make_mask(text_reader *all, uint8_t **mask, brume_error *error)
{
    if (all->universe.cells > DENSE_CELLS)
        return too_many(all, "cells of one sum or condition that is no box",
                        (double)all->universe.cells, (double)DENSE_CELLS, error);
    *mask = calloc(all->universe.cells, 1);
    return *mask ? BRUME_OK : brume_no_memory(error, "a workload");
}

static brume_status read_condition(text_reader *all, brume_box *box, uint8_t **hits, bool keep_box,
                                   brume_error *error);

/* `not` ..., or a condition in brackets: what is left of *mask, NULL for all cells, after it. */
static brume_status read_factor(text_reader *all, uint8_t **mask, brume_error *error)
{
    brume_box box = {{NULL}};
    uint8_t *inner = NULL;
    bool negated = false;
    for (; token_is(&all->line.next, "not"); negated = !negated)
        BRUME_TRY(line_step(&all->line, error));
    brume_status status = BRUME_OK;
    if (!token_is(&all->line.next, "(")) {
        status = line_comparison(&all->line, &box, error);
        if (status == BRUME_OK && (status = make_mask(all, &inner, error)) == BRUME_OK)
            mark(&all->universe, &box, inner);
    } else if (++all->depth > MOST_BRACKETS) {
        status = line_expected(&all->line, "fewer brackets", error);
    } else {
        status = line_step(&all->line, error);
        if (status == BRUME_OK)
            status = read_condition(all, &box, &inner, false, error);
        if (status == BRUME_OK && !token_is(&all->line.next, ")"))
            status = line_expected(&all->line, "')'", error);
        if (status == BRUME_OK)
            status = line_step(&all->line, error);
        all->depth--;
    }
    if (status == BRUME_OK && !inner)
        status = brume_fail(error, BRUME_EINTERNAL, NULL, "a condition without cells");
    for (uint64_t i = 0; status == BRUME_OK && i < all->universe.cells; i++)
        inner[i] = (inner[i] != negated) && (!*mask || (*mask)[i]);
    box_clear(&box);
    if (status != BRUME_OK) {
        free(inner);
        return status;
    }
    free(*mask);
    *mask = inner;
    return BRUME_OK;
}

/* Factors joined by `and`: comparisons make a box, all others a mask (NULL: all cells). */
static brume_status read_conjunction(text_reader *all, brume_box *box, uint8_t **mask,
                                     brume_error *error)
{
    for (;;) {
        if (token_is(&all->line.next, "not") || token_is(&all->line.next, "("))
            BRUME_TRY(read_factor(all, mask, error));
        else if (token_is(&all->line.next, "true"))
            BRUME_TRY(line_step(&all->line, error));
        else
            BRUME_TRY(line_comparison(&all->line, box, error));
        if (!token_is(&all->line.next, "and"))
            return BRUME_OK;
        BRUME_TRY(line_step(&all->line, error));
    }
}

/* A condition: conjunctions joined by `or`. A single box, where it may stay one, is left in *box;
 * else hits[cell] is made (*hits NULL before). */
static brume_status read_condition(text_reader *all, brume_box *box, uint8_t **hits, bool keep_box,
                                   brume_error *error)
{
    for (;;) {
        uint8_t *mask = NULL, *marked = NULL;
        brume_status status = read_conjunction(all, box, &mask, error);
        bool more = token_is(&all->line.next, "or");
        if (status == BRUME_OK && keep_box && !mask && !more && !*hits)
            return BRUME_OK;
        if (status == BRUME_OK)
            status = make_mask(all, &marked, error);
        if (status == BRUME_OK && !*hits)
            status = make_mask(all, hits, error);
        if (status == BRUME_OK)
            mark(&all->universe, box, marked);
        for (uint64_t i = 0; status == BRUME_OK && i < all->universe.cells; i++)
            (*hits)[i] |= marked[i] && (!mask || mask[i]);
        free(mask);
        free(marked);
        box_clear(box);
        if (status != BRUME_OK || !more)
            return status;
        BRUME_TRY(line_step(&all->line, error)); /* over or */
    }
}

static brume_status check_dense(text_reader *all, brume_error *error)
{
    all->dense += all->universe.cells;
    if (all->dense > DENSE_CELLS)
        return too_many(all, "cells of sums and conditions that are no box", (double)all->dense,
                        (double)DENSE_CELLS, error);
    return BRUME_OK;
}

static brume_status add_dense(text_reader *all, const uint8_t *hits, brume_error *error)
{
    float *values = malloc(all->universe.cells * sizeof *values);
    if (!values)
        return brume_no_memory(error, "a workload");
    for (uint64_t i = 0; i < all->universe.cells; i++)
        values[i] = hits[i];
    brume_status status = brume_workload_add_dense(all->workload, values, error);
    free(values);
    return status;
}

static brume_status read_count(text_reader *all, brume_error *error)
{
    brume_box box = {{NULL}};
    uint8_t *hits = NULL;
    BRUME_TRY(check_boxes(all, 1, error));
    brume_status status = read_condition(all, &box, &hits, true, error);
    if (status == BRUME_OK && !hits)
        status = brume_workload_add_box(all->workload, (const uint8_t *const *)box.allowed, error);
    else if (status == BRUME_OK && (status = check_dense(all, error)) == BRUME_OK)
        status = add_dense(all, hits, error);
    box_clear(&box);
    free(hits);
    return status;
}

/* One `NUMBER [where CONDITION]` of a sum. */
static brume_status read_term(text_reader *all, double *sums, brume_error *error)
{
    const brume_token *token = &all->line.next;
    double number;
    if (!(token->kind == BRUME_TOKEN_WORD && brume_schema_number(token->text, &number)))
        return line_expected(&all->line, "a number", error);
    if (!(fabs(number) <= 1e6))
        return brume_fail(error, BRUME_EARGUMENT, "a linear query maps each record to [0, 1]",
                          "line %zu, column %zu: %s is far outside [0, 1]", token->line,
                          token->place, token->text);
    BRUME_TRY(line_step(&all->line, error));
    brume_box box = {{NULL}};
    uint8_t *hits = NULL;
    brume_status status = BRUME_OK;
    if (token_is(&all->line.next, "where")) {
        status = line_step(&all->line, error);
        if (status == BRUME_OK)
            status = read_condition(all, &box, &hits, false, error);
    }
    for (uint64_t i = 0; status == BRUME_OK && i < all->universe.cells; i++)
        sums[i] += !hits || hits[i] ? number : 0;
    box_clear(&box);
    free(hits);
    return status;
}

/* "where sex = f, age in [20, 30)": the record of a cell. */
static void describe_cell(const text_reader *all, uint64_t cell, char *text, size_t size)
{
    uint32_t record[BRUME_UNIVERSE_COLUMNS];
    size_t used = 0;
    text[0] = 0;
    brume_universe_record(&all->universe, cell, record);
    for (size_t c = 0; c < all->universe.columns && used < size; c++) {
        char room[BRUME_SCHEMA_TEXT];
        const char *value = brume_schema_text(all->line.schema, c, record[c], room);
        int length = snprintf(text + used, size - used, "%s%s %s %s", c ? " and " : "",
                              brume_schema_name(all->line.schema, c),
                              brume_schema_has_bins(all->line.schema, c) ? "about" : "=",
                              *value ? value : "other");
        used += length > 0 ? (size_t)length : 0;
    }
}

static brume_status read_sum(text_reader *all, brume_error *error)
{
    BRUME_TRY(check_boxes(all, 1, error));
    BRUME_TRY(check_dense(all, error));
    double *sums = calloc(all->universe.cells, sizeof *sums);
    float *values = malloc(all->universe.cells * sizeof *values);
    brume_status status = sums && values ? BRUME_OK : brume_no_memory(error, "a workload");
    if (status == BRUME_OK)
        status = read_term(all, sums, error);
    while (status == BRUME_OK && token_is(&all->line.next, ",")) {
        status = line_step(&all->line, error);
        if (status == BRUME_OK)
            status = read_term(all, sums, error);
    }
    for (uint64_t i = 0; status == BRUME_OK && i < all->universe.cells; i++) {
        /* to the grid that queries live on, so that ten times 0.1 is 1 */
        values[i] = (float)(rint(sums[i] * 0x1p20) * 0x1p-20);
        if (values[i] >= 0 && values[i] <= 1)
            continue;
        char where[160];
        describe_cell(all, i, where, sizeof where);
        status = brume_fail(error, BRUME_EARGUMENT, "a linear query maps each record to [0, 1]",
                            "line %zu, column %zu: the sum is %.6g where %s", all->statement.line,
                            all->statement.place, sums[i], where);
    }
    if (status == BRUME_OK)
        status = brume_workload_add_dense(all->workload, values, error);
    free(sums);
    free(values);
    return status;
}

/* ---- lines ---- */

static brume_status read_statement(text_reader *all, brume_error *error)
{
    brume_token word = all->line.next;
    all->statement = word;
    if (word.kind != BRUME_TOKEN_WORD)
        return line_expected(&all->line, "a statement", error);
    BRUME_TRY(line_step(&all->line, error));
    if (token_is(&word, "total"))
        return add_marginal(all, NULL, 0, error);
    if (token_is(&word, "histogram"))
        return read_histogram(all, error);
    if (token_is(&word, "marginal"))
        return read_marginal(all, error);
    if (token_is(&word, "marginals"))
        return read_marginals(all, error);
    if (token_is(&word, "prefixes") || token_is(&word, "ranges"))
        return read_ranges(all, token_is(&word, "prefixes"), error);
    if (token_is(&word, "count"))
        return read_count(all, error);
    if (token_is(&word, "sum"))
        return read_sum(all, error);
    all->line.next = word;
    return line_expected(
        &all->line, "total, histogram, marginal, marginals, prefixes, ranges, count or sum", error);
}

static brume_status read_tables(text_reader *all, brume_error *error);

static brume_status read_lines(text_reader *all, brume_error *error)
{
    do {
        BRUME_TRY(line_step(&all->line, error));
        if (all->line.next.kind == BRUME_TOKEN_END)
            continue;
        BRUME_TRY(all->workload ? read_statement(all, error) : read_tables(all, error));
        if (all->line.next.kind != BRUME_TOKEN_END)
            return line_expected(&all->line, "the end of the line", error);
    } while (token_next_line(all->line.tokens));
    if (all->workload ? brume_workload_size(all->workload) == 0 : all->table_count == 0)
        return brume_fail(error, BRUME_EARGUMENT, "for example: marginals 2",
                          "a workload without queries");
    return BRUME_OK;
}

/* ---- tables ---- */

static int by_columns(const void *a, const void *b)
{
    const brume_tree_table *x = a, *y = b;
    if (x->columns != y->columns)
        return x->columns < y->columns ? -1 : 1;
    for (size_t i = 0; i < x->columns; i++)
        if (x->column[i] != y->column[i])
            return x->column[i] < y->column[i] ? -1 : 1;
    return 0;
}

/* `marginal A, B weight 2`: the tables and, behind them, what they count for. */
static brume_status read_tables(text_reader *all, brume_error *error)
{
    brume_token word = all->line.next;
    size_t first = all->table_count;
    double weight;
    all->statement = word;
    BRUME_TRY(line_step(&all->line, error));
    if (token_is(&word, "marginal"))
        BRUME_TRY(read_marginal(all, error));
    else if (token_is(&word, "marginals"))
        BRUME_TRY(read_marginals(all, error));
    else
        return brume_fail(error, BRUME_EUNSUPPORTED, "take the method mwem",
                          "line %zu, column %zu: the method tree takes marginal and marginals, "
                          "not '%s'",
                          word.line, word.place, word.text);
    if (!token_is(&all->line.next, "weight"))
        return BRUME_OK;
    BRUME_TRY(line_step(&all->line, error));
    const brume_token *number = &all->line.next;
    if (number->kind != BRUME_TOKEN_WORD || !brume_schema_number(number->text, &weight) ||
        !(weight >= 1e-6 && weight <= 1e6))
        return line_expected(&all->line, "a weight from 1e-6 to 1e6", error);
    for (size_t i = first; i < all->table_count; i++)
        all->tables[i].weight = weight;
    return line_step(&all->line, error);
}

brume_status brume_workload_parse_tables(const brume_schema *schema, const char *text,
                                         brume_tree_table **out, size_t *count, brume_error *error)
{
    brume_tokens tokens = {.text = text, .line = 1};
    text_reader all = {.line = {.schema = schema, .tokens = &tokens}};
    all.universe.columns = brume_schema_columns(schema);
    brume_status status = read_lines(&all, error);
    if (status != BRUME_OK) {
        free(all.tables);
        return status;
    }
    qsort(all.tables, all.table_count, sizeof *all.tables, by_columns);
    size_t kept = 0;
    for (size_t i = 0; i < all.table_count; i++)
        if (kept > 0 && by_columns(&all.tables[kept - 1], &all.tables[i]) == 0)
            all.tables[kept - 1].weight += all.tables[i].weight;
        else
            all.tables[kept++] = all.tables[i];
    *out = all.tables;
    *count = kept;
    return BRUME_OK;
}

brume_status brume_workload_parse(const brume_schema *schema, const char *text,
                                  brume_workload **out, brume_error *error)
{
    brume_tokens tokens = {.text = text, .line = 1};
    text_reader all = {.line = {.schema = schema, .tokens = &tokens}};
    BRUME_TRY(brume_schema_universe(schema, &all.universe, error));
    BRUME_TRY(brume_workload_open(&all.universe, &all.workload, error));
    brume_status status = read_lines(&all, error);
    if (status != BRUME_OK) {
        brume_workload_close(all.workload);
        return status;
    }
    *out = all.workload;
    return BRUME_OK;
}
