/* SQL over released tables: see the header. Which bars it gives is in proofs/released.md.
 *
 * Every table has its rows once for each draw: draw 0 is what was released, DRAWS more have one
 * more noise on each number, then come those that move all numbers by what limits may have cut, and
 * one that moves what has no known error. The statement names a draw by a variable of DuckDB. */
#include "query/release/outer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "engine/memory.h"
#include "query/release/ask.h"
#include "query/release/linear.h"

enum {
    DRAWS = 200,
    CUTS = 10, /* up, down, and eight with signs that are drawn */
    WILD = 1 + DRAWS + CUTS,
    ALL = WILD + 1,
    MOST_CELLS = 1 << 22, /* of all draws together; more have no bars */
    MOST_ROWS = 1 << 20,
    CANDIDATES = 8,
};
static const double seconds_most = 10, draw_seconds_most = 10;

void brume_outer_source(size_t index, bool is_public, char text[BRUME_OUTER_SOURCE])
{
    snprintf(text, BRUME_OUTER_SOURCE,
             is_public ? "brume_data_%zu"
                       : "brume_data_%zu WHERE brume_draw = getvariable('brume_draw')",
             index);
}

/* ---- what the noise may have been ---- */

/* A generator with a fixed seed: it hides nothing (proofs/released.md). [splitmix64] */
static uint64_t next_bits(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* In (0, 1). */
static double uniform(uint64_t *state)
{
    return ((double)(next_bits(state) >> 11) + 0.5) * 0x1p-53;
}

static const double normal_95 = 1.959963984540054, laplace_95 = 2.995732273553991;

static double draw_normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(uniform(state)));
    return radius * cos(6.283185307179586 * uniform(state));
}

static double draw_laplace(uint64_t *state)
{
    double size = -log(uniform(state));
    return next_bits(state) >> 63 ? size : -size;
}

typedef struct known {
    bool noisy;              /* a number of a column of values */
    bool is_open;            /* no error of it is known, or it was too few to be shown */
    double error, low, high; /* at 95 %; or the ends of an interval: error is NaN */
    double cut;
    bool laplace;
} known;

static known know(const brume_query_answer *answer, size_t cell)
{
    const brume_answer_column *column = &answer->columns[cell % answer->column_count];
    const brume_value *value = &answer->values[cell];
    const brume_value *ends = brume_query_answer_interval(answer, cell);
    known out = {.error = NAN};
    if (column->is_key || answer->is_public)
        return out;
    out.noisy = true;
    double bar = brume_query_answer_bar(answer, cell);
    if (ends && value->kind == BRUME_VALUE_NUMBER && ends[0].kind == BRUME_VALUE_NUMBER &&
        ends[1].kind == BRUME_VALUE_NUMBER) {
        out.low = fmax(0, value->number - ends[0].number);
        out.high = fmax(0, ends[1].number - value->number);
        return out;
    }
    out.is_open = value->kind != BRUME_VALUE_NUMBER || !isfinite(bar);
    out.error = answer->errors[cell] * answer->joint_factor;
    out.cut = out.is_open ? 0 : bar - answer->errors[cell];
    out.laplace = column->mechanism && strstr(column->mechanism, "laplace");
    return out;
}

/* The number in draw `draw` > 0. */
static double move(const known *of, double value, size_t draw, bool whole, uint64_t *state)
{
    double moved = value;
    if (draw <= DRAWS && !of->is_open) {
        double normal = draw_normal(state), laplace = draw_laplace(state);
        if (isnan(of->error))
            moved += normal / normal_95 * (normal > 0 ? of->high : of->low);
        else
            moved += of->error * (of->laplace ? laplace / laplace_95 : normal / normal_95);
    } else if (draw > DRAWS && draw < WILD) {
        bool up = draw == DRAWS + 1 || (draw > DRAWS + 2 && next_bits(state) >> 63);
        moved += up ? of->cut : -of->cut;
    } else if (draw == WILD && of->is_open) {
        moved = 2 * value + 1000;
    }
    if (!whole)
        return moved;
    moved = round(moved);
    return value >= 0 && moved < 0 ? 0 : moved; /* a count */
}

/* ---- tables ---- */

static bool is_whole(brume_type type)
{
    return type.kind == BRUME_TYPE_INTEGER || type.kind == BRUME_TYPE_BIGINT;
}

static brume_memory_cell number_cell(double number, brume_type type)
{
    if (is_whole(type) && fabs(number) < 0x1p63)
        return (brume_memory_cell){.kind = BRUME_MEMORY_INTEGER, .integer = (int64_t)number};
    return (brume_memory_cell){.kind = BRUME_MEMORY_REAL, .real = number};
}

static brume_memory_cell make_cell(const brume_query_answer *answer, size_t cell, brume_type type,
                                   size_t draw, uint64_t *state)
{
    const brume_value *value = &answer->values[cell];
    const known of = know(answer, cell);
    switch (value->kind) {
    case BRUME_VALUE_BOOLEAN:
        return (brume_memory_cell){.kind = BRUME_MEMORY_BOOLEAN, .integer = value->boolean};
    case BRUME_VALUE_TEXT:
        return (brume_memory_cell){.kind = BRUME_MEMORY_TEXT,
                                   .text = {.data = value->text, .length = value->length}};
    case BRUME_VALUE_NUMBER:
        if (value->text)
            return (brume_memory_cell){.kind = BRUME_MEMORY_INTEGER,
                                       .integer = brume_value_whole(value)};
        return number_cell(of.noisy && draw > 0
                               ? move(&of, value->number, draw, is_whole(type), state)
                               : value->number,
                           type);
    case BRUME_VALUE_NULL:
    case BRUME_VALUE_DATE: /* in an answer times are texts */
    case BRUME_VALUE_TIMESTAMP:
        break;
    }
    if (draw == WILD && of.noisy && (brume_type_is_number(type)))
        return number_cell(1000, type);
    return (brume_memory_cell){.kind = BRUME_MEMORY_NULL};
}

/* One state for each draw of a table, so that a draw can be made again by itself. */
static uint64_t state_of(size_t table, size_t draw)
{
    return (uint64_t)table * UINT64_C(0x100000001) + (uint64_t)draw * UINT64_C(0x632be59bd9b4e019);
}

static brume_status put_rows(const brume_outer_table *table, const char *name, size_t draw,
                             uint64_t *state, brume_memory *memory, brume_error *error)
{
    const brume_query_answer *answer = table->answer;
    size_t own = answer->column_count, count = own + !answer->is_public, at = 0;
    brume_memory_cell *cells = calloc(count * answer->row_count + 1, sizeof *cells);
    if (!cells)
        return brume_no_memory(error, "the answer");
    for (size_t i = 0; i < answer->row_count; i++) {
        for (size_t j = 0; j < own; j++)
            cells[at++] = make_cell(answer, i * own + j, table->types[j], draw, state);
        if (!answer->is_public)
            cells[at++] =
                (brume_memory_cell){.kind = BRUME_MEMORY_INTEGER, .integer = (int64_t)draw};
    }
    brume_status status = brume_memory_add(memory, name, cells, count, answer->row_count, error);
    free(cells);
    return status;
}

static brume_status put_table(const brume_outer_table *table, size_t index, size_t draws,
                              brume_memory *memory, brume_error *error)
{
    const brume_query_answer *answer = table->answer;
    size_t own = answer->column_count;
    char name[40];
    brume_memory_column *columns = calloc(own + 1, sizeof *columns);
    if (!columns)
        return brume_no_memory(error, "the answer");
    for (size_t i = 0; i < own; i++)
        columns[i] = (brume_memory_column){answer->columns[i].name, table->types[i]};
    columns[own] = (brume_memory_column){"brume_draw", {BRUME_TYPE_BIGINT, 0, 0}};
    snprintf(name, sizeof name, "brume_data_%zu", index);
    brume_status status =
        brume_memory_table(memory, name, columns, own + !answer->is_public, error);
    free(columns);
    for (size_t draw = 0; status == BRUME_OK && draw < (answer->is_public ? 1 : draws); draw++) {
        uint64_t state = state_of(index, draw);
        status = put_rows(table, name, draw, &state, memory, error);
    }
    return status;
}

/* ---- rows of the result ---- */

typedef struct result {
    brume_value *values; /* their texts are its own */
    size_t columns, rows, room;
    json_t *types; /* of the first row, as DuckDB calls them; NULL: nobody asks */
} result;

static void clear_result(result *all)
{
    for (size_t i = 0; i < all->rows * all->columns; i++)
        free((char *)all->values[i].text);
    free(all->values);
    all->values = NULL;
    all->rows = all->room = 0;
}

static brume_status take_row(void *context, const brume_text *row, size_t columns,
                             brume_error *error)
{
    result *all = context;
    if (columns != 2 * all->columns)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "the result has other columns");
    if (all->rows == MOST_ROWS)
        return brume_fail(error, BRUME_EUNSUPPORTED, "aggregate, or write LIMIT",
                          "the answer has more than %d rows", MOST_ROWS);
    if (all->rows == all->room) {
        size_t room = 2 * all->room + 16;
        brume_value *grown = realloc(all->values, room * (all->columns + 1) * sizeof *grown);
        if (!grown)
            return brume_no_memory(error, "the answer");
        all->values = grown;
        all->room = room;
    }
    brume_value *to = &all->values[all->rows++ * all->columns];
    memset(to, 0, all->columns * sizeof *to);
    for (size_t i = 0; i < all->columns; i++) {
        if (all->types && all->rows == 1)
            json_array_append_new(all->types,
                                  json_stringn(row[2 * i + 1].data, row[2 * i + 1].length));
        if (row[2 * i].data)
            BRUME_TRY(brume_public_cell(&row[2 * i], &row[2 * i + 1], &to[i], error));
    }
    return BRUME_OK;
}

/* ---- bars ---- */

/* What becomes of a cell in the draws. */
typedef struct followed {
    double changes[DRAWS]; /* NULL in a draw: infinite */
    size_t count;
    double cut; /* the largest distance where numbers are moved by what was cut */
    bool is_open;
    struct {
        size_t table, cell;
    } same[CANDIDATES]; /* released numbers that it was equal to in all draws so far */
    size_t same_count;
} followed;

typedef struct row_key {
    char *text;
    size_t row;
    bool repeated;
    size_t seen; /* 1 + the last draw that has it */
} row_key;

typedef struct follow {
    const brume_outer *outer;
    const result *base;
    followed *cells;
    row_key *keys;
    double *drawn; /* of the current draw: all numbers of all answers, one table after the other */
    size_t numbers;
    double *moves;        /* of all draws of noise: drawn, less what was released */
    brume_linear *linear; /* NULL: too many numbers */
} follow;

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const row_key *)a)->text, ((const row_key *)b)->text);
}

/* The keys of a row as one text; NULL: no memory. */
static char *key_text(const brume_outer *outer, const brume_value *row)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    for (size_t i = 0; out && i < outer->count; i++) {
        if (!outer->keys[i])
            continue;
        const brume_value *value = &row[i];
        if (value->kind == BRUME_VALUE_NUMBER && !value->text)
            fprintf(out, "n%.17g;", value->number);
        else if (value->kind == BRUME_VALUE_BOOLEAN)
            fprintf(out, "b%d;", value->boolean);
        else if (value->text)
            fprintf(out, "t%zu:%s;", value->length, value->text);
        else
            fputs("0;", out);
    }
    if (!out || fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static brume_status make_keys(follow *all, brume_error *error)
{
    const result *base = all->base;
    all->keys = calloc(base->rows + 1, sizeof *all->keys);
    if (!all->keys)
        return brume_no_memory(error, "the answer");
    for (size_t i = 0; i < base->rows; i++) {
        all->keys[i].row = i;
        all->keys[i].text = key_text(all->outer, &base->values[i * base->columns]);
        if (!all->keys[i].text)
            return brume_no_memory(error, "the answer");
    }
    qsort(all->keys, base->rows, sizeof *all->keys, compare_keys);
    for (size_t i = 1; i < base->rows; i++)
        if (strcmp(all->keys[i].text, all->keys[i - 1].text) == 0)
            all->keys[i].repeated = all->keys[i - 1].repeated = true;
    return BRUME_OK;
}

/* Released numbers that a cell is equal to: it may be one of them. */
static void find_same(follow *all)
{
    const result *base = all->base;
    for (size_t cell = 0; cell < base->rows * base->columns; cell++) {
        followed *of = &all->cells[cell];
        const brume_value *value = &base->values[cell];
        for (size_t t = 0; t < all->outer->table_count; t++) {
            const brume_query_answer *answer = all->outer->tables[t].answer;
            size_t cells = answer->row_count * answer->column_count;
            for (size_t i = 0; value->kind == BRUME_VALUE_NUMBER && !answer->is_public && i < cells;
                 i++)
                if (of->same_count < CANDIDATES && answer->values[i].kind == BRUME_VALUE_NUMBER &&
                    answer->values[i].number == value->number && know(answer, i).noisy) {
                    of->same[of->same_count].table = t;
                    of->same[of->same_count++].cell = i;
                }
        }
    }
}

static void follow_cell(followed *of, const follow *all, const size_t *first,
                        const brume_value *base, const brume_value *now, size_t draw)
{
    double distance = base->kind != BRUME_VALUE_NUMBER  ? 0
                      : now->kind != BRUME_VALUE_NUMBER ? INFINITY
                                                        : fabs(now->number - base->number);
    if (isnan(distance))
        distance = INFINITY;
    if (distance < 1e-11 * fabs(base->number)) /* the rounding of sums in doubles */
        distance = 0;
    if (draw > DRAWS && draw < WILD) {
        of->cut = fmax(of->cut, distance);
        return;
    }
    if (draw == WILD) {
        of->is_open = base->kind == BRUME_VALUE_NUMBER ? distance != 0 : of->is_open;
        of->is_open = of->is_open || base->kind != now->kind;
        return;
    }
    of->changes[of->count++] = isfinite(distance) && now->number < base->number ? -distance
                                                                                : distance;
    for (size_t i = of->same_count; i-- > 0;)
        if (!(all->drawn[first[of->same[i].table] + of->same[i].cell] == now->number))
            of->same[i] = of->same[--of->same_count];
}

static brume_status follow_draw(follow *all, const size_t *first, const result *now, size_t draw,
                                brume_error *error)
{
    const result *base = all->base;
    size_t columns = base->columns;
    for (size_t i = 0; i < now->rows; i++) {
        row_key wanted = {.text = key_text(all->outer, &now->values[i * columns])};
        if (!wanted.text)
            return brume_no_memory(error, "the answer");
        row_key *found = bsearch(&wanted, all->keys, base->rows, sizeof wanted, compare_keys);
        free(wanted.text);
        if (!found || found->repeated)
            continue;
        if (found->seen == draw + 1) {
            found->repeated = true;
            continue;
        }
        found->seen = draw + 1;
        for (size_t j = 0; j < columns; j++)
            follow_cell(&all->cells[found->row * columns + j], all, first,
                        &base->values[found->row * columns + j], &now->values[i * columns + j],
                        draw);
    }
    for (size_t i = 0; draw > DRAWS && i < base->rows; i++) /* a row that is gone in a bad case */
        for (size_t j = 0; all->keys[i].seen != draw + 1 && j < columns; j++) {
            followed *of = &all->cells[all->keys[i].row * columns + j];
            of->is_open = of->is_open || draw == WILD;
        }
    return BRUME_OK;
}

static int compare_distances(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static const char *why_not(const followed *of, const row_key *key, const brume_value *value)
{
    if (value->kind == BRUME_VALUE_NULL)
        return "there is no number";
    if (value->kind != BRUME_VALUE_NUMBER)
        return "it is no number";
    if (key->repeated)
        return "its rows cannot be told apart by keys";
    if (of->is_open)
        return "it depends on a number that has no bar itself";
    if (of->count < DRAWS / 2)
        return "noise decides whether the row is there";
    return NULL;
}

/* The bar of a cell, into the answer; or why it has none. */
static const char *put_bar(const follow *all, followed *of, const row_key *key, size_t cell,
                           brume_query_answer *answer)
{
    const char *why = why_not(of, key, &answer->values[cell]);
    if (why)
        return why;
    if (of->same_count > 0) {
        const brume_query_answer *from = all->outer->tables[of->same[0].table].answer;
        double bar = brume_query_answer_bar(from, of->same[0].cell);
        if (isfinite(bar)) {
            answer->errors[cell] = from->errors[of->same[0].cell];
            answer->cuts[cell] = bar - answer->errors[cell];
            return NULL;
        }
    }
    double exact = all->linear && of->count == DRAWS
                       ? brume_linear_bar(all->linear, of->changes, answer->values[cell].number)
                       : NAN;
    for (size_t i = 0; i < of->count; i++)
        of->changes[i] = fabs(of->changes[i]);
    qsort(of->changes, of->count, sizeof *of->changes, compare_distances);
    size_t place = (39 * of->count + 39) /
                   40; /* 195 of 200: 0.975, so that few draws do not fool */
    double noise = isfinite(exact) ? exact : of->changes[place - 1];
    if (!isfinite(noise) || !isfinite(of->cut))
        return "it is no number in too many draws of the noise";
    answer->errors[cell] = noise;
    answer->cuts[cell] = of->cut;
    return NULL;
}

static brume_status put_bars(follow *all, brume_query_answer *answer, brume_error *error)
{
    size_t columns = answer->column_count;
    answer->cuts = calloc(answer->row_count * columns + 1, sizeof *answer->cuts);
    if (!answer->cuts)
        return brume_no_memory(error, "the answer");
    for (size_t i = 0; i < answer->row_count * columns; i++)
        answer->cuts[i] = NAN;
    for (size_t i = 0; i < answer->row_count; i++) {
        const row_key *key = &all->keys[i];
        for (size_t j = 0; j < columns; j++) {
            size_t cell = key->row * columns + j;
            brume_answer_column *column = &answer->columns[j];
            if (column->is_key)
                continue;
            const char *why = put_bar(all, &all->cells[cell], key, cell, answer);
            if (why && !column->bar_why && !(column->bar_why = strdup(why)))
                return brume_no_memory(error, "the answer");
            column->error_95 = fmax(column->error_95, answer->errors[cell]); /* skips NaN */
            column->cut_allowance = fmax(column->cut_allowance, answer->cuts[cell]);
        }
    }
    for (size_t j = 0; j < columns; j++) /* said where no row has one */
        if (isfinite(answer->columns[j].error_95)) {
            free(answer->columns[j].bar_why);
            answer->columns[j].bar_why = NULL;
        }
    answer->errors_vary = answer->row_count > 1;
    return BRUME_OK;
}

/* ---- draws ---- */

/* The numbers of a draw again, in the order in which put_table drew them. */
static size_t numbers_of(const brume_outer *outer, size_t *first)
{
    size_t count = 0;
    for (size_t t = 0; t < outer->table_count; t++) {
        const brume_query_answer *answer = outer->tables[t].answer;
        first[t] = count;
        count += answer->is_public ? 0 : answer->row_count * answer->column_count;
    }
    return count;
}

static void draw_again(const brume_outer *outer, const size_t *first, size_t draw, double *drawn)
{
    for (size_t t = 0; t < outer->table_count; t++) {
        const brume_outer_table *table = &outer->tables[t];
        const brume_query_answer *answer = table->answer;
        uint64_t state = state_of(t, draw);
        for (size_t i = 0; !answer->is_public && i < answer->row_count * answer->column_count;
             i++) {
            brume_memory_cell cell =
                make_cell(answer, i, table->types[i % answer->column_count], draw, &state);
            drawn[first[t] + i] = cell.kind == BRUME_MEMORY_INTEGER ? (double)cell.integer
                                  : cell.kind == BRUME_MEMORY_REAL  ? cell.real
                                                                    : NAN;
        }
    }
}

typedef struct running {
    const brume_outer *outer;
    brume_memory *memory;
    double left; /* seconds for draws */
} running;

static brume_status run_draw(const running *with, size_t draw, double seconds, result *out,
                             brume_error *error)
{
    char set[60];
    snprintf(set, sizeof set, "SET VARIABLE brume_draw = %zu", draw);
    if (!brume_memory_set(with->memory, set))
        return brume_fail(error, BRUME_EENGINE, NULL, "DuckDB failed");
    return brume_memory_select(with->memory, with->outer->sql, seconds, take_row, out, error);
}

/* The laws of all numbers that draws move. */
static brume_status find_factors(follow *all, brume_error *error)
{
    double *widths = calloc(all->numbers + 1, sizeof *widths);
    bool *laplace = calloc(all->numbers + 1, sizeof *laplace);
    size_t at = 0;
    for (size_t t = 0; widths && laplace && t < all->outer->table_count; t++) {
        const brume_query_answer *answer = all->outer->tables[t].answer;
        for (size_t i = 0; !answer->is_public && i < answer->row_count * answer->column_count;
             i++, at++) {
            const known of = know(answer, i);
            widths[at] = of.noisy && isfinite(of.error) ? of.error : INFINITY;
            laplace[at] = of.laplace;
        }
    }
    brume_status status = widths && laplace
                              ? brume_linear_open(all->moves, DRAWS, all->numbers, widths, laplace,
                                                  &all->linear, error)
                              : brume_no_memory(error, "the answer");
    free(widths);
    free(laplace);
    return status;
}

static brume_status follow_all(running *with, follow *all, brume_error *error)
{
    size_t *first = calloc(with->outer->table_count + 1, sizeof *first);
    size_t count = first ? numbers_of(with->outer, first) : 0;
    all->drawn = calloc(count + 1, sizeof *all->drawn);
    brume_status status = first && all->drawn ? make_keys(all, error)
                                              : brume_no_memory(error, "the answer");
    all->numbers = count;
    all->moves = calloc(count * DRAWS + 1, sizeof *all->moves);
    double *released = calloc(count + 1, sizeof *released);
    if (status == BRUME_OK && (!all->moves || !released))
        status = brume_no_memory(error, "the answer");
    if (status == BRUME_OK) {
        find_same(all);
        draw_again(with->outer, first, 0, released);
    }
    for (size_t draw = 1; status == BRUME_OK && draw < ALL; draw++) {
        result now = {.columns = with->outer->count};
        brume_error why;
        double before = brume_memory_clock();
        draw_again(with->outer, first, draw, all->drawn);
        for (size_t i = 0; draw <= DRAWS && i < count; i++) {
            double move = all->drawn[i] - released[i];
            all->moves[(draw - 1) * count + i] = isfinite(move) ? move : 0;
        }
        brume_status ran = run_draw(with, draw, with->left, &now, &why);
        with->left -= brume_memory_clock() - before;
        if (ran == BRUME_ECANCELLED || ran == BRUME_EMEMORY || ran == BRUME_EENGINE)
            status = brume_fail(error, ran, NULL, "%s", why.message);
        else if (ran == BRUME_OK) /* one that fails has no rows */
            status = follow_draw(all, first, &now, draw, error);
        clear_result(&now);
    }
    if (status == BRUME_OK)
        status = find_factors(all, error);
    free(released);
    free(first);
    return status;
}

static brume_status add_bars(running *with, const result *base, brume_query_answer *answer,
                             brume_error *error)
{
    follow all = {.outer = with->outer, .base = base};
    all.cells = calloc(base->rows * base->columns + 1, sizeof *all.cells);
    brume_status status = all.cells ? follow_all(with, &all, error)
                                    : brume_no_memory(error, "the answer");
    if (status == BRUME_OK)
        status = put_bars(&all, answer, error);
    for (size_t i = 0; all.keys && i < base->rows; i++)
        free(all.keys[i].text);
    free(all.keys);
    free(all.cells);
    free(all.drawn);
    free(all.moves);
    brume_linear_close(all.linear);
    return status;
}

/* ---- the answer ---- */

static bool has_room(const brume_outer *outer)
{
    size_t cells = 0;
    for (size_t i = 0; i < outer->table_count; i++)
        if (!outer->tables[i].answer->is_public)
            cells += outer->tables[i].answer->row_count * outer->tables[i].answer->column_count;
    return cells * ALL <= MOST_CELLS;
}

static bool is_biased(const brume_outer *outer)
{
    for (size_t i = 0; i < outer->table_count; i++)
        for (size_t j = 0; j < outer->tables[i].answer->column_count; j++)
            if (outer->tables[i].answer->columns[j].biased)
                return true;
    return false;
}

static brume_status make_answer(const brume_outer *outer, const result *base,
                                brume_query_answer **out, brume_error *error)
{
    brume_query_answer *made = NULL;
    BRUME_TRY(brume_query_answer_open(outer->count, base->rows, &made, error));
    brume_status status = BRUME_OK;
    made->post_processed = true;
    for (size_t i = 0; status == BRUME_OK && i < outer->count; i++) {
        made->columns[i].is_key = outer->keys[i];
        made->columns[i].biased = !outer->keys[i] && is_biased(outer);
        if (!(made->columns[i].name = strdup(outer->names[i])))
            status = brume_no_memory(error, "the answer");
    }
    for (size_t i = 0; status == BRUME_OK && i < base->rows * outer->count; i++)
        status = brume_query_answer_set(made, i / outer->count, i % outer->count, &base->values[i],
                                        error);
    if (status == BRUME_OK)
        *out = made;
    else
        brume_query_answer_close(made);
    return status;
}

static brume_status say_why(brume_query_answer *answer, const char *why, brume_error *error)
{
    for (size_t i = 0; i < answer->column_count; i++)
        if (!answer->columns[i].is_key && !(answer->columns[i].bar_why = strdup(why)))
            return brume_no_memory(error, "the answer");
    return BRUME_OK;
}

/* The types of a result without rows: of one row of NULLs. */
static brume_status find_types(const running *with, result *base, brume_error *error)
{
    static const char from[] = " FROM (WITH ",
                      joined[] = " FROM (SELECT 1) AS one LEFT JOIN (WITH ";
    const char *at = strstr(with->outer->sql, from); /* before it there are names of brume's */
    result none = {.columns = base->columns, .types = base->types};
    char *sql = NULL;
    if (!at || asprintf(&sql, "%.*s%s%s ON true LIMIT 1", (int)(at - with->outer->sql),
                        with->outer->sql, joined, at + sizeof from - 1) < 0)
        return brume_no_memory(error, "the answer");
    brume_status status =
        brume_memory_select(with->memory, sql, seconds_most, take_row, &none, error);
    clear_result(&none);
    free(sql);
    return status;
}

static brume_status run_all(running *with, bool bars, result *base, brume_query_answer **out,
                            brume_error *error)
{
    const brume_outer *outer = with->outer;
    bool fits = bars && has_room(outer);
    for (size_t i = 0; i < outer->table_count; i++)
        BRUME_TRY(put_table(&outer->tables[i], i, fits ? ALL : 1, with->memory, error));
    BRUME_TRY(run_draw(with, 0, seconds_most, base, error));
    if (base->rows == 0 && !bars) /* bars: nobody asks for types */
        BRUME_TRY(find_types(with, base, error));
    brume_query_answer *made = NULL;
    BRUME_TRY(make_answer(outer, base, &made, error));
    bool follows = fits && base->rows * base->columns * DRAWS <= MOST_CELLS;
    brume_status status = !bars     ? BRUME_OK
                          : follows ? add_bars(with, base, made, error)
                                    : say_why(made, "there are too many rows for it", error);
    if (status == BRUME_OK)
        *out = made;
    else
        brume_query_answer_close(made);
    return status;
}

static bool is_stopped(void *context)
{
    const brume_watch *watch = context;
    return watch && watch->stopped(watch->context);
}

/* DuckDB's names of types as brume's: what does not fit a double exactly is one all the same. */
static void translate(json_t *types)
{
    static const char *const names[][2] = {
        {"BOOLEAN", "boolean"}, {"TINYINT", "bigint"},     {"SMALLINT", "bigint"},
        {"INTEGER", "bigint"},  {"BIGINT", "bigint"},      {"HUGEINT", "double"},
        {"FLOAT", "double"},    {"DOUBLE", "double"},      {"DATE", "date"},
        {"DECIMAL", "double"},  {"TIMESTAMP", "timestamp"}};
    for (size_t i = 0; i < json_array_size(types); i++) {
        const char *word = json_string_value(json_array_get(types, i)), *found = "text";
        size_t length = word ? strcspn(word, "(") : 0;
        for (size_t j = 0; word && j < sizeof names / sizeof *names; j++)
            if (strlen(names[j][0]) == length && strncmp(names[j][0], word, length) == 0 &&
                !strchr(word, '['))
                found = names[j][1];
        json_array_set_new(types, i, json_string(found));
    }
}

brume_status brume_outer_run(const brume_outer *outer, bool bars, const brume_watch *watch,
                             brume_query_answer **answer, json_t **types, brume_error *error)
{
    running with = {.outer = outer, .left = draw_seconds_most};
    result base = {.columns = outer->count, .types = json_array()};
    if (!base.types)
        return brume_no_memory(error, "the answer");
    brume_status status =
        brume_memory_open(watch ? is_stopped : NULL, (void *)watch, &with.memory, error);
    if (status == BRUME_OK)
        status = run_all(&with, bars, &base, answer, error);
    if (status == BRUME_OK && types) {
        translate(base.types);
        *types = json_incref(base.types);
    }
    json_decref(base.types);
    clear_result(&base);
    brume_memory_close(with.memory);
    return status;
}

/* ---- as JSON ---- */

brume_status brume_outer_write(const brume_outer *outer, bool bars, char **work, brume_error *error)
{
    char room[BRUME_TYPE_NAME_SIZE];
    json_t *names = json_array(), *keys = json_array(), *tables = json_array();
    brume_status status = BRUME_OK;
    for (size_t i = 0; i < outer->count; i++) {
        json_array_append_new(names, json_string(outer->names[i]));
        json_array_append_new(keys, json_boolean(outer->keys[i]));
    }
    for (size_t i = 0; status == BRUME_OK && i < outer->table_count; i++) {
        const brume_outer_table *table = &outer->tables[i];
        json_t *record = NULL, *types = json_array();
        status = brume_query_answer_record(table->answer, &record, error);
        for (size_t j = 0; j < table->answer->column_count; j++)
            json_array_append_new(types, json_string(brume_type_name(table->types[j], room)));
        json_array_append_new(tables, json_pack("{s:o?,s:o,s:b}", "answer", record, "types", types,
                                                "public", table->answer->is_public));
    }
    json_t *made = json_pack("{s:s,s:o,s:o,s:b,s:o}", "sql", outer->sql, "names", names, "keys",
                             keys, "bars", bars, "tables", tables);
    if (status == BRUME_OK && !(*work = made ? json_dumps(made, JSON_COMPACT) : NULL))
        status = brume_no_memory(error, "the answer");
    json_decref(made);
    return status;
}

static brume_status read_table(const json_t *json, brume_outer_table *out, brume_error *error)
{
    const json_t *types = json_object_get(json, "types");
    BRUME_TRY(brume_query_answer_recorded(json_object_get(json, "answer"), &out->answer, error));
    out->answer->is_public = json_is_true(json_object_get(json, "public"));
    out->types = calloc(out->answer->column_count + 1, sizeof *out->types);
    if (!out->types)
        return brume_no_memory(error, "the answer");
    for (size_t i = 0; i < out->answer->column_count; i++) {
        const char *name = json_string_value(json_array_get(types, i));
        if (!name || !brume_type_parse(name, &out->types[i]))
            out->types[i] = (brume_type){BRUME_TYPE_TEXT, 0, 0};
    }
    return BRUME_OK;
}

brume_status brume_outer_call(const char *work, char **json, brume_error *error)
{
    json_t *given = json_loads(work, JSON_ALLOW_NUL, NULL), *record = NULL, *types = NULL;
    const json_t *tables = json_object_get(given, "tables"),
                 *names = json_object_get(given, "names"), *keys = json_object_get(given, "keys");
    size_t count = json_array_size(names), table_count = json_array_size(tables);
    const char **name_list = calloc(count + 1, sizeof *name_list);
    bool *key_list = calloc(count + 1, sizeof *key_list);
    brume_outer_table *table_list = calloc(table_count + 1, sizeof *table_list);
    brume_query_answer *answer = NULL;
    const char *sql = json_string_value(json_object_get(given, "sql"));
    brume_status status = !name_list || !key_list || !table_list
                              ? brume_no_memory(error, "the answer")
                          : !sql ? brume_fail(error, BRUME_EARGUMENT, NULL, "this is no work")
                                 : BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < count; i++) {
        name_list[i] = json_string_value(json_array_get(names, i));
        key_list[i] = json_is_true(json_array_get(keys, i));
        if (!name_list[i])
            status = brume_fail(error, BRUME_EARGUMENT, NULL, "this is no work");
    }
    for (size_t i = 0; status == BRUME_OK && i < table_count; i++)
        status = read_table(json_array_get(tables, i), &table_list[i], error);
    const brume_outer outer = {(char *)sql, (char *const *)name_list, key_list, count, table_list,
                               table_count};
    if (status == BRUME_OK)
        status = brume_outer_run(&outer, json_is_true(json_object_get(given, "bars")), NULL,
                                 &answer, &types, error);
    if (status == BRUME_OK)
        status = brume_query_answer_record(answer, &record, error);
    if (status == BRUME_OK && (json_object_set(record, "types", types) != 0 ||
                               !(*json = json_dumps(record, JSON_COMPACT))))
        status = brume_no_memory(error, "the answer");
    brume_query_answer_close(answer);
    for (size_t i = 0; table_list && i < table_count; i++) {
        brume_query_answer_close(table_list[i].answer);
        free(table_list[i].types);
    }
    free(name_list);
    free(key_list);
    free(table_list);
    json_decref(types);
    json_decref(record);
    json_decref(given);
    return status;
}

brume_status brume_outer_read(const char *json, brume_query_answer **answer, json_t **types,
                              brume_error *error)
{
    json_t *record = json_loads(json, JSON_ALLOW_NUL, NULL);
    brume_status status = brume_query_answer_recorded(record, answer, error);
    if (status == BRUME_OK) {
        (*answer)->post_processed = true;
        if (types)
            *types = json_incref(json_object_get(record, "types"));
    }
    json_decref(record);
    return status;
}
