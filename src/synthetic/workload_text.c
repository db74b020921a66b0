/* Workloads as text: one statement a line.
 *
 * Promises: what is accepted is a workload whose queries are all in [0, 1]; what is refused is
 * refused with its line and column. Nothing but the text and the schema is looked at. */
#include <brume/synthetic/workload_text.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "synthetic/schema.h"
#include "synthetic/workload_condition.h"

#define DENSE_CELLS (UINT64_C(1) << 30)
enum { MOST_BRACKETS = 16 }; /* within each other: each takes a byte for every cell */

typedef struct reader {
    brume_line line;
    brume_universe universe;
    brume_workload *workload;
    uint64_t dense; /* cells of all dense queries so far */
    size_t boxes;
    int depth; /* brackets that are open */
    brume_token statement;
} reader;

static brume_status too_many(const reader *all, const char *what, double count, double most,
                             brume_error *error)
{
    return brume_fail(error, BRUME_EOVERFLOW, "ask for less",
                      "line %zu, column %zu: %.15g %s, at most %.15g are possible",
                      all->statement.line, all->statement.place, count, what, most);
}

/* Room for `boxes` more boxes? */
static brume_status check_boxes(reader *all, double boxes, brume_error *error)
{
    double count = (double)all->boxes + boxes;
    if (count > BRUME_WORKLOAD_TEXT_BOXES)
        return too_many(all, "queries outside marginals", count, BRUME_WORKLOAD_TEXT_BOXES, error);
    all->boxes = (size_t)count;
    return BRUME_OK;
}

/* ---- marginals ---- */

static brume_status add_marginal(reader *all, const size_t *columns, size_t count,
                                 brume_error *error)
{
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

static brume_status read_marginal(reader *all, brume_error *error)
{
    size_t columns[BRUME_UNIVERSE_COLUMNS], count = 0;
    do {
        if (count > 0)
            BRUME_TRY(brume_line_step(&all->line, error)); /* over the comma */
        brume_token name = all->line.next;
        size_t column;
        BRUME_TRY(brume_line_column(&all->line, &column, error));
        for (size_t i = 0; i < count; i++)
            if (columns[i] == column)
                return brume_fail(error, BRUME_EARGUMENT, NULL,
                                  "line %zu, column %zu: '%s' is there twice", name.line,
                                  name.place, name.text);
        columns[count++] = column;
    } while (brume_token_is(&all->line.next, ","));
    return add_marginal(all, columns, count, error);
}

static brume_status read_marginals(reader *all, brume_error *error)
{
    size_t columns = all->universe.columns, chosen[BRUME_UNIVERSE_COLUMNS];
    const brume_token *token = &all->line.next;
    double number, count = 1;
    if (!(token->kind == BRUME_TOKEN_WORD && brume_schema_number(token->text, &number) &&
          number == floor(number) && number >= 0))
        return brume_line_expected(&all->line, "how many columns", error);
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
            return brume_line_step(&all->line, error);
        chosen[i - 1]++;
        for (size_t j = i; j < way; j++)
            chosen[j] = chosen[j - 1] + 1;
    }
}

static brume_status read_histogram(reader *all, brume_error *error)
{
    size_t columns[BRUME_UNIVERSE_COLUMNS];
    for (size_t i = 0; i < all->universe.columns; i++)
        columns[i] = i;
    return add_marginal(all, columns, all->universe.columns, error);
}

/* ---- ranges ---- */

static brume_status read_ranges(reader *all, bool prefixes, brume_error *error)
{
    size_t column;
    BRUME_TRY(brume_line_column(&all->line, &column, error));
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

static brume_status make_mask(reader *all, uint8_t **mask, brume_error *error)
{
    if (all->universe.cells > DENSE_CELLS)
        return too_many(all, "cells of one sum or condition that is no box",
                        (double)all->universe.cells, (double)DENSE_CELLS, error);
    *mask = calloc(all->universe.cells, 1);
    return *mask ? BRUME_OK : brume_no_memory(error, "a workload");
}

static brume_status read_condition(reader *all, brume_box *box, uint8_t **hits, bool keep_box,
                                   brume_error *error);

/* `not` ..., or a condition in brackets: what is left of *mask, NULL for all cells, after it. */
static brume_status read_factor(reader *all, uint8_t **mask, brume_error *error)
{
    brume_box box = {{NULL}};
    uint8_t *inner = NULL;
    bool negated = false;
    for (; brume_token_is(&all->line.next, "not"); negated = !negated)
        BRUME_TRY(brume_line_step(&all->line, error));
    brume_status status = BRUME_OK;
    if (!brume_token_is(&all->line.next, "(")) {
        status = brume_line_comparison(&all->line, &box, error);
        if (status == BRUME_OK && (status = make_mask(all, &inner, error)) == BRUME_OK)
            mark(&all->universe, &box, inner);
    } else if (++all->depth > MOST_BRACKETS) {
        status = brume_line_expected(&all->line, "fewer brackets", error);
    } else {
        status = brume_line_step(&all->line, error);
        if (status == BRUME_OK)
            status = read_condition(all, &box, &inner, false, error);
        if (status == BRUME_OK && !brume_token_is(&all->line.next, ")"))
            status = brume_line_expected(&all->line, "')'", error);
        if (status == BRUME_OK)
            status = brume_line_step(&all->line, error);
        all->depth--;
    }
    if (status == BRUME_OK && !inner)
        status = brume_fail(error, BRUME_EINTERNAL, NULL, "a condition without cells");
    for (uint64_t i = 0; status == BRUME_OK && i < all->universe.cells; i++)
        inner[i] = (inner[i] != negated) && (!*mask || (*mask)[i]);
    brume_box_clear(&box);
    if (status != BRUME_OK) {
        free(inner);
        return status;
    }
    free(*mask);
    *mask = inner;
    return BRUME_OK;
}

/* Factors joined by `and`: comparisons make a box, all others a mask (NULL: all cells). */
static brume_status read_conjunction(reader *all, brume_box *box, uint8_t **mask,
                                     brume_error *error)
{
    for (;;) {
        if (brume_token_is(&all->line.next, "not") || brume_token_is(&all->line.next, "("))
            BRUME_TRY(read_factor(all, mask, error));
        else if (brume_token_is(&all->line.next, "true"))
            BRUME_TRY(brume_line_step(&all->line, error));
        else
            BRUME_TRY(brume_line_comparison(&all->line, box, error));
        if (!brume_token_is(&all->line.next, "and"))
            return BRUME_OK;
        BRUME_TRY(brume_line_step(&all->line, error));
    }
}

/* A condition: conjunctions joined by `or`. A single box, where it may stay one, is left in *box;
 * else hits[cell] is made (*hits NULL before). */
static brume_status read_condition(reader *all, brume_box *box, uint8_t **hits, bool keep_box,
                                   brume_error *error)
{
    for (;;) {
        uint8_t *mask = NULL, *marked = NULL;
        brume_status status = read_conjunction(all, box, &mask, error);
        bool more = brume_token_is(&all->line.next, "or");
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
        brume_box_clear(box);
        if (status != BRUME_OK || !more)
            return status;
        BRUME_TRY(brume_line_step(&all->line, error)); /* over or */
    }
}

static brume_status check_dense(reader *all, brume_error *error)
{
    all->dense += all->universe.cells;
    if (all->dense > DENSE_CELLS)
        return too_many(all, "cells of sums and conditions that are no box", (double)all->dense,
                        (double)DENSE_CELLS, error);
    return BRUME_OK;
}

static brume_status add_dense(reader *all, const uint8_t *hits, brume_error *error)
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

static brume_status read_count(reader *all, brume_error *error)
{
    brume_box box = {{NULL}};
    uint8_t *hits = NULL;
    BRUME_TRY(check_boxes(all, 1, error));
    brume_status status = read_condition(all, &box, &hits, true, error);
    if (status == BRUME_OK && !hits)
        status = brume_workload_add_box(all->workload, (const uint8_t *const *)box.allowed, error);
    else if (status == BRUME_OK && (status = check_dense(all, error)) == BRUME_OK)
        status = add_dense(all, hits, error);
    brume_box_clear(&box);
    free(hits);
    return status;
}

/* One `NUMBER [where CONDITION]` of a sum. */
static brume_status read_term(reader *all, double *sums, brume_error *error)
{
    const brume_token *token = &all->line.next;
    double number;
    if (!(token->kind == BRUME_TOKEN_WORD && brume_schema_number(token->text, &number)))
        return brume_line_expected(&all->line, "a number", error);
    if (!(fabs(number) <= 1e6))
        return brume_fail(error, BRUME_EARGUMENT, "a linear query maps each record to [0, 1]",
                          "line %zu, column %zu: %s is far outside [0, 1]", token->line,
                          token->place, token->text);
    BRUME_TRY(brume_line_step(&all->line, error));
    brume_box box = {{NULL}};
    uint8_t *hits = NULL;
    brume_status status = BRUME_OK;
    if (brume_token_is(&all->line.next, "where")) {
        status = brume_line_step(&all->line, error);
        if (status == BRUME_OK)
            status = read_condition(all, &box, &hits, false, error);
    }
    for (uint64_t i = 0; status == BRUME_OK && i < all->universe.cells; i++)
        sums[i] += !hits || hits[i] ? number : 0;
    brume_box_clear(&box);
    free(hits);
    return status;
}

/* "where sex = f, age in [20, 30)": the record of a cell. */
static void describe_cell(const reader *all, uint64_t cell, char *text, size_t size)
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

static brume_status read_sum(reader *all, brume_error *error)
{
    BRUME_TRY(check_boxes(all, 1, error));
    BRUME_TRY(check_dense(all, error));
    double *sums = calloc(all->universe.cells, sizeof *sums);
    float *values = malloc(all->universe.cells * sizeof *values);
    brume_status status = sums && values ? BRUME_OK : brume_no_memory(error, "a workload");
    if (status == BRUME_OK)
        status = read_term(all, sums, error);
    while (status == BRUME_OK && brume_token_is(&all->line.next, ",")) {
        status = brume_line_step(&all->line, error);
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

static brume_status read_statement(reader *all, brume_error *error)
{
    brume_token word = all->line.next;
    all->statement = word;
    if (word.kind != BRUME_TOKEN_WORD)
        return brume_line_expected(&all->line, "a statement", error);
    BRUME_TRY(brume_line_step(&all->line, error));
    if (brume_token_is(&word, "total"))
        return add_marginal(all, NULL, 0, error);
    if (brume_token_is(&word, "histogram"))
        return read_histogram(all, error);
    if (brume_token_is(&word, "marginal"))
        return read_marginal(all, error);
    if (brume_token_is(&word, "marginals"))
        return read_marginals(all, error);
    if (brume_token_is(&word, "prefixes") || brume_token_is(&word, "ranges"))
        return read_ranges(all, brume_token_is(&word, "prefixes"), error);
    if (brume_token_is(&word, "count"))
        return read_count(all, error);
    if (brume_token_is(&word, "sum"))
        return read_sum(all, error);
    all->line.next = word;
    return brume_line_expected(
        &all->line, "total, histogram, marginal, marginals, prefixes, ranges, count or sum", error);
}

static brume_status read_lines(reader *all, brume_error *error)
{
    do {
        BRUME_TRY(brume_line_step(&all->line, error));
        if (all->line.next.kind == BRUME_TOKEN_END)
            continue;
        BRUME_TRY(read_statement(all, error));
        if (all->line.next.kind != BRUME_TOKEN_END)
            return brume_line_expected(&all->line, "the end of the line", error);
    } while (brume_token_next_line(all->line.tokens));
    if (brume_workload_size(all->workload) == 0)
        return brume_fail(error, BRUME_EARGUMENT, "for example: marginals 2",
                          "a workload without queries");
    return BRUME_OK;
}

brume_status brume_workload_parse(const brume_schema *schema, const char *text,
                                  brume_workload **out, brume_error *error)
{
    brume_tokens tokens = {.text = text, .line = 1};
    reader all = {.line = {.schema = schema, .tokens = &tokens}};
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
