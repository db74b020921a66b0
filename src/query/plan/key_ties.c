/* Which combinations of public keys can occur. */
#include "query/plan/key_cells.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/expression/arena.h"
#include "query/plan/key_range.h"

enum {
    MOST_DAYS = 150000,  /* 410 years */
    MOST_ROWS = 1 << 20, /* of a tie, in all grouping sets together */
    MOST_KEYS = 64,
};

/* ---- places of values ---- */

typedef struct listed {
    const char *text; /* NULL for NULL */
    size_t place;
} listed;

static int compare_listed(const void *a, const void *b)
{
    const char *one = ((const listed *)a)->text, *other = ((const listed *)b)->text;
    if (!one || !other)
        return (one != NULL) - (other != NULL);
    return strcmp(one, other);
}

/* The values of a domain in the order of their texts; NULL if memory is out. The caller frees. */
static listed *list_values(const brume_key_domain *domain)
{
    listed *list = malloc((domain->count + 1) * sizeof *list);
    for (size_t i = 0; list && i < domain->count; i++)
        list[i] = (listed){domain->values[i], i};
    if (list)
        qsort(list, domain->count, sizeof *list, compare_listed);
    return list;
}

/* ---- rows of places ---- */

typedef struct place_rows {
    size_t width, count, room;
    size_t *places; /* the caller's, to free */
} place_rows;

static brume_status add_row(place_rows *rows, const size_t *row, brume_error *error)
{
    if (rows->count == rows->room) {
        size_t room = rows->room ? 2 * rows->room : 256;
        size_t *grown = realloc(rows->places, room * rows->width * sizeof *grown);
        if (!grown)
            return brume_no_memory(error, "a plan");
        rows->places = grown;
        rows->room = room;
    }
    memcpy(&rows->places[rows->count++ * rows->width], row, rows->width * sizeof *row);
    return BRUME_OK;
}

static int compare_rows(const size_t *a, const size_t *b, size_t width)
{
    for (size_t i = 0; i < width; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* Sort by merging, so that the width needs no global; equal rows stay once. */
static brume_status sort_rows(place_rows *rows, brume_error *error)
{
    size_t width = rows->width, count = rows->count, kept = 0;
    size_t *other = malloc((count * width + 1) * sizeof *other);
    if (!other)
        return brume_no_memory(error, "a plan");
    for (size_t step = 1; step < count; step *= 2) {
        for (size_t low = 0; low < count; low += 2 * step) {
            size_t middle = low + step < count ? low + step : count;
            size_t high = low + 2 * step < count ? low + 2 * step : count;
            for (size_t a = low, b = middle, to = low; to < high; to++) {
                bool first = b == high ||
                             (a < middle && compare_rows(&rows->places[a * width],
                                                         &rows->places[b * width], width) <= 0);
                size_t from = first ? a++ : b++;
                memcpy(&other[to * width], &rows->places[from * width], width * sizeof *other);
            }
        }
        memcpy(rows->places, other, count * width * sizeof *other);
    }
    for (size_t i = 0; i < count; i++)
        if (kept == 0 ||
            compare_rows(&rows->places[(kept - 1) * width], &rows->places[i * width], width) != 0)
            memmove(&rows->places[kept++ * width], &rows->places[i * width],
                    width * sizeof *rows->places);
    rows->count = kept;
    free(other);
    return BRUME_OK;
}

/* ---- a tie ---- */

/* In the grouping sets that have not all of the keys the others are NULL, which is the last place
 * of a key that is optional. */
static brume_status add_sets(const brume_plan *plan, const brume_key_tie *tie, place_rows *rows,
                             brume_error *error)
{
    const brume_query *query = plan->query;
    size_t row[MOST_KEYS], plain = rows->count;
    for (size_t set = 0; query->set_count > 1 && set < query->set_count; set++)
        for (size_t i = 0; i < plain; i++) {
            for (size_t k = 0; k < tie->key_count; k++) {
                size_t key = tie->keys[k];
                bool has = (query->keys[key].sets >> set & 1) != 0;
                row[k] = has ? rows->places[i * rows->width + k] : plan->domain_size[key] - 1;
            }
            BRUME_TRY(add_row(rows, row, error));
        }
    return BRUME_OK;
}

/* The rows of a tie all of whose values are in the domains. */
static brume_status find_places(const brume_key_tie *tie, listed *const *lists,
                                const brume_key_domain *domains, place_rows *rows,
                                brume_error *error)
{
    size_t row[MOST_KEYS];
    for (size_t i = 0; i < tie->row_count; i++) {
        bool all = true;
        for (size_t k = 0; all && k < tie->key_count; k++) {
            listed wanted = {.text = tie->texts[i * tie->key_count + k]};
            const listed *found = bsearch(&wanted, lists[k], domains[tie->keys[k]].count,
                                          sizeof wanted, compare_listed);
            all = found != NULL;
            row[k] = found ? found->place : 0;
        }
        if (all)
            BRUME_TRY(add_row(rows, row, error));
    }
    return BRUME_OK;
}

static brume_status keep_tie(brume_plan *plan, const brume_key_tie *tie, const place_rows *rows,
                             brume_cell_tie *out, brume_error *error)
{
    brume_arena *arena = plan->query->arena;
    size_t size = rows->count * rows->width;
    size_t *places = brume_arena_allocate(arena, (size + 1) * sizeof *places);
    size_t *keys = brume_arena_copy(arena, tie->keys, tie->key_count * sizeof *keys);
    if (!places || !keys)
        return brume_no_memory(error, "a plan");
    if (size)
        memcpy(places, rows->places, size * sizeof *places);
    *out = (brume_cell_tie){tie->key_count, keys, rows->count, places};
    plan->tie_count++;
    return BRUME_OK;
}

static brume_status add_tie(brume_plan *plan, const brume_key_tie *tie,
                            const brume_key_domain *domains, brume_cell_tie *ties,
                            brume_error *error)
{
    size_t sets = plan->query->set_count > 1 ? plan->query->set_count + 1 : 1;
    listed *lists[MOST_KEYS] = {NULL};
    place_rows rows = {.width = tie->key_count};
    brume_status status = BRUME_OK;
    if (tie->key_count > MOST_KEYS || tie->row_count > MOST_ROWS / sets)
        return BRUME_OK; /* then all combinations are answered */
    for (size_t k = 0; status == BRUME_OK && k < tie->key_count; k++)
        if (!(lists[k] = list_values(&domains[tie->keys[k]])))
            status = brume_no_memory(error, "a plan");
    if (status == BRUME_OK)
        status = find_places(tie, lists, domains, &rows, error);
    if (status == BRUME_OK)
        status = add_sets(plan, tie, &rows, error);
    if (status == BRUME_OK)
        status = sort_rows(&rows, error);
    if (status == BRUME_OK)
        status = keep_tie(plan, tie, &rows, &ties[plan->tie_count], error);
    for (size_t k = 0; k < tie->key_count; k++)
        free(lists[k]);
    free(rows.places);
    return status;
}

/* ---- parts of one date ---- */

/* The date or timestamp that the key is a function of, by its day alone; NULL: it is none. */
static const brume_expression *date_of(const brume_key *key)
{
    static const char fields[] = " year quarter month day dow isodow doy ";
    static const char units[] = " year quarter month week day ";
    const brume_expression *plain = brume_key_without_widening(key->plain);
    char word[24];
    snprintf(word, sizeof word, " %.20s ", plain->text ? plain->text : "");
    if (plain->operation == BRUME_OPERATION_EXTRACT && strstr(fields, word))
        return brume_key_without_widening(plain->arguments[0]);
    if (plain->operation == BRUME_OPERATION_DATE_TRUNC && strstr(units, word))
        return brume_key_without_widening(plain->arguments[0]);
    return plain->type.kind == BRUME_TYPE_DATE ? plain : NULL;
}

/* What the key is on a day, as texts of domains are written. */
static void value_on(const brume_expression *plain, int64_t day, char *text, size_t size)
{
    char date[48];
    int64_t next, years = 0, months = 0, days = 0, first = 0, value = 0;
    const brume_type type = {BRUME_TYPE_DATE, 0, 0};
    brume_integer_text(type, day, date, sizeof date);
    if (plain->operation == BRUME_OPERATION_DATE_TRUNC) {
        brume_integer_text(type, brume_key_start_of(plain->text, day, &next), date, sizeof date);
        snprintf(text, size, "%s 00:00:00", date);
        return;
    }
    if (plain->operation != BRUME_OPERATION_EXTRACT) {
        snprintf(text, size, "%s", date);
        return;
    }
    years = strtoll(date, NULL, 10);
    months = strtoll(date + 5, NULL, 10);
    days = strtoll(date + 8, NULL, 10);
    first = brume_key_start_of("year", day, &next);
    int64_t weekday = ((day + 4) % 7 + 7) % 7; /* from Sunday, 0; day 0 was a Thursday */
    if (strcmp(plain->text, "year") == 0)
        value = years;
    else if (strcmp(plain->text, "quarter") == 0)
        value = (months + 2) / 3;
    else if (strcmp(plain->text, "month") == 0)
        value = months;
    else if (strcmp(plain->text, "day") == 0)
        value = days;
    else if (strcmp(plain->text, "dow") == 0)
        value = weekday;
    else if (strcmp(plain->text, "isodow") == 0)
        value = weekday ? weekday : 7;
    else
        value = day - first + 1;
    snprintf(text, size, "%lld", (long long)value);
}

/* What the keys are on each day from low to high, as a tie in the arena; days in a row on which all
 * are the same stand there once. */
static brume_status tie_days(const brume_plan *plan, const size_t *keys, size_t count, int64_t low,
                             int64_t high, brume_key_tie *out, brume_error *error)
{
    brume_arena *arena = plan->query->arena;
    const char **texts =
        brume_arena_allocate(arena, (size_t)(high - low + 1) * count * sizeof *texts);
    size_t rows = 0;
    if (!texts)
        return brume_no_memory(error, "a plan");
    for (int64_t day = low; day <= high; day++) {
        bool same = rows > 0;
        for (size_t k = 0; k < count; k++) {
            char text[80];
            const char **to = &texts[rows * count + k];
            value_on(brume_key_without_widening(plan->query->keys[keys[k]].plain), day, text,
                     sizeof text);
            bool again = rows > 0 && strcmp(*(to - count), text) == 0;
            same = same && again;
            *to = again ? *(to - count) : brume_arena_text(arena, text);
            if (!*to)
                return brume_no_memory(error, "a plan");
        }
        rows += !same;
    }
    *out = (brume_key_tie){count, keys, rows, texts};
    return BRUME_OK;
}

/* The keys from `first` on that are functions of the day of the same date; none that is tied. */
static size_t find_same_date(const brume_query *query, size_t first, const bool *is_tied,
                             size_t *keys)
{
    const brume_expression *date = date_of(&query->keys[first]);
    size_t count = 0;
    for (size_t i = first; date && i < query->key_count && count < MOST_KEYS; i++) {
        const brume_expression *other = is_tied[i] ? NULL : date_of(&query->keys[i]);
        if (other && brume_expression_equal(date, other))
            keys[count++] = i;
    }
    return count;
}

static brume_status tie_dates(brume_plan *plan, const brume_key_domain *domains, bool *is_tied,
                              brume_cell_tie *ties, brume_error *error)
{
    const brume_query *query = plan->query;
    for (size_t i = 0; i < query->key_count; i++) {
        size_t keys[MOST_KEYS];
        size_t count = is_tied[i] ? 0 : find_same_date(query, i, is_tied, keys);
        int64_t low, high;
        brume_key_tie tie;
        if (count < 2 ||
            !brume_key_limits(brume_query_scope(query), date_of(&query->keys[i]), &low, &high) ||
            low < BRUME_FIRST_DAY || high > BRUME_LAST_DAY || high - low >= MOST_DAYS)
            continue;
        BRUME_TRY(tie_days(plan, keys, count, low, high, &tie, error));
        for (size_t k = 0; k < count; k++)
            is_tied[keys[k]] = true;
        BRUME_TRY(add_tie(plan, &tie, domains, ties, error));
    }
    return BRUME_OK;
}

brume_status brume_plan_tie_keys(brume_plan *plan, const brume_key_domain *domains,
                                 brume_error *error)
{
    const brume_query *query = plan->query;
    brume_cell_tie *ties = brume_arena_allocate(
        query->arena, (query->tie_count + query->key_count + 1) * sizeof *ties);
    bool *is_tied = brume_arena_allocate(query->arena, (query->key_count + 1) * sizeof *is_tied);
    if (!ties || !is_tied)
        return brume_no_memory(error, "a plan");
    memset(is_tied, 0, (query->key_count + 1) * sizeof *is_tied);
    for (size_t i = 0; i < query->tie_count; i++) {
        for (size_t k = 0; k < query->ties[i].key_count; k++)
            is_tied[query->ties[i].keys[k]] = true;
        BRUME_TRY(add_tie(plan, &query->ties[i], domains, ties, error));
    }
    BRUME_TRY(tie_dates(plan, domains, is_tied, ties, error));
    plan->ties = ties;
    return BRUME_OK;
}
