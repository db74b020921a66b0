/* The groups of public keys, one after the other. */
#include "query/plan/key_cells.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/expression/expression.h"
#include "query/plan/key_domain.h"
#include "query/plan/plan_parts.h"
#include "query/print/statement.h"

/* Is it a group of one of the grouping sets: a value for every key that the set has, and NULL for
 * the others? `places` says which of its key's values each is; NULL for the others is the last. */
static bool in_a_set(const brume_collection *collection, const size_t *places)
{
    const brume_query *query = collection->query;
    if (query->set_count < 2)
        return true;
    size_t set = places[query->key_count - 1]; /* its values are 0, 1, 2, ... */
    for (size_t k = 0; k + 1 < query->key_count; k++) {
        bool optional = brume_key_is_optional(query, k);
        bool has = (query->keys[k].sets >> set & 1) != 0;
        bool last = places[k] + 1 == collection->domain_size[k];
        if (optional && has == last)
            return false;
    }
    return true;
}

/* The rows of a tie that agree with the values that its keys have so far. */
typedef struct tied {
    const brume_cell_tie *tie; /* NULL: the key has none */
    size_t at;                 /* which of the tie's keys it is */
} tied;

typedef struct cell_walk {
    const brume_collection *collection;
    brume_cell_visitor visit;
    void *context;
    brume_key_value *cell;
    size_t *places, *first; /* first[k]: where the values of key k begin */
    tied *ties;             /* of each key */
} cell_walk;

static size_t place_in(const tied *of, size_t row)
{
    return of->tie->places[row * of->tie->key_count + of->at];
}

/* The first row from `from` on, before `end`, whose place is not below `place`. */
static size_t first_row(const tied *of, size_t from, size_t end, size_t place)
{
    while (from < end) {
        size_t middle = from + (end - from) / 2;
        if (place_in(of, middle) < place)
            from = middle + 1;
        else
            end = middle;
    }
    return from;
}

/* The rows of the key's tie that agree with the keys before it. */
static void find_rows(const cell_walk *all, const tied *of, size_t *from, size_t *end)
{
    *from = 0;
    *end = of->tie->row_count;
    for (size_t i = 0; i < of->at; i++) {
        tied earlier = {of->tie, i};
        size_t place = all->places[of->tie->keys[i]];
        *from = first_row(&earlier, *from, *end, place);
        *end = first_row(&earlier, *from, *end, place + 1);
    }
}

static brume_status visit_from(cell_walk *all, size_t key, brume_error *error);

static brume_status visit_place(cell_walk *all, size_t key, size_t place, brume_error *error)
{
    all->places[key] = place;
    all->cell[key] = all->collection->domain[all->first[key] + place];
    return visit_from(all, key + 1, error);
}

/* All groups whose first `key` keys have the values that they have now. */
static brume_status visit_from(cell_walk *all, size_t key, brume_error *error)
{
    const brume_collection *collection = all->collection;
    if (key == collection->query->key_count)
        return in_a_set(collection, all->places) ? all->visit(all->context, all->cell, error)
                                                 : BRUME_OK;
    const tied *of = &all->ties[key];
    if (!of->tie) {
        for (size_t i = 0; i < collection->domain_size[key]; i++)
            BRUME_TRY(visit_place(all, key, i, error));
        return BRUME_OK;
    }
    size_t row, end;
    for (find_rows(all, of, &row, &end); row < end;) {
        size_t place = place_in(of, row);
        BRUME_TRY(visit_place(all, key, place, error));
        row = first_row(of, row, end, place + 1);
    }
    return BRUME_OK;
}

brume_status brume_cells_visit(const brume_collection *collection, brume_cell_visitor visit,
                               void *context, brume_error *error)
{
    size_t keys = collection->query->key_count;
    cell_walk all = {.collection = collection,
                     .visit = visit,
                     .context = context,
                     .cell = calloc(keys + 1, sizeof *all.cell),
                     .places = calloc(keys + 1, sizeof *all.places),
                     .first = calloc(keys + 1, sizeof *all.first),
                     .ties = calloc(keys + 1, sizeof *all.ties)};
    brume_status status = all.cell && all.places && all.first && all.ties
                              ? BRUME_OK
                              : brume_no_memory(error, "the groups");
    for (size_t k = 0; status == BRUME_OK && k < keys; k++)
        all.first[k + 1] = all.first[k] + collection->domain_size[k];
    for (size_t i = 0; status == BRUME_OK && i < collection->tie_count; i++)
        for (size_t j = 0; j < collection->ties[i].key_count; j++)
            all.ties[collection->ties[i].keys[j]] = (tied){&collection->ties[i], j};
    if (status == BRUME_OK)
        status = visit_from(&all, 0, error);
    free(all.cell);
    free(all.places);
    free(all.first);
    free(all.ties);
    return status;
}

/* Which combinations of public keys can occur. */

enum {
    MOST_DAYS = 150000,  /* 410 years; of hours 17 */
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

/* What the keys are in each hour from low to high (of days: at midnight, where `step` is a day), as
 * a tie in the arena; hours in a row in which all are the same stand there once. */
static brume_status tie_hours(const brume_plan *plan, const size_t *keys, size_t count, int64_t low,
                              int64_t high, int64_t step, brume_key_tie *out, brume_error *error)
{
    brume_arena *arena = plan->query->arena;
    const char **texts =
        brume_arena_allocate(arena, (size_t)((high - low) / step + 1) * count * sizeof *texts);
    size_t rows = 0;
    if (!texts)
        return brume_no_memory(error, "a plan");
    for (int64_t hour = low; hour <= high; hour += step) {
        bool same = rows > 0;
        for (size_t k = 0; k < count; k++) {
            char text[80];
            const char **to = &texts[rows * count + k];
            brume_key_value_at(plan->query->keys[keys[k]].plain, hour, text, sizeof text);
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

/* The keys from `first` on that are functions of the day, or hour, of the same date; none that is
 * tied. */
static size_t find_same_date(const brume_query *query, size_t first, const bool *is_tied,
                             size_t *keys, bool *by_hour)
{
    const brume_expression *date = brume_key_date_of(query->keys[first].plain, by_hour);
    size_t count = 0;
    for (size_t i = first; date && i < query->key_count && count < MOST_KEYS; i++) {
        bool is_hour = false;
        const brume_expression *other =
            is_tied[i] ? NULL : brume_key_date_of(query->keys[i].plain, &is_hour);
        if (other && brume_expression_equal(date, other)) {
            keys[count++] = i;
            *by_hour = *by_hour || is_hour;
        }
    }
    return count;
}

/* The hours that the keys' date can be in, by conditions; false: too many, or not said. */
static bool find_hours(const brume_query *query, const brume_expression *date, bool by_hour,
                       int64_t *low, int64_t *high, int64_t *step)
{
    static const int64_t hour = INT64_C(3600000000);
    bool found = by_hour ? brume_key_moments(brume_query_scope(query), date, low, high)
                         : brume_key_limits(brume_query_scope(query), date, low, high);
    if (!found)
        return false;
    *step = by_hour ? 1 : 24;
    if (by_hour) {
        *low = *low / hour - (*low % hour < 0);
        *high = *high / hour - (*high % hour < 0);
    } else if (*low >= BRUME_FIRST_DAY && *high <= BRUME_LAST_DAY) {
        *low *= 24;
        *high *= 24;
    }
    return *low >= INT64_C(24) * BRUME_FIRST_DAY && *high < INT64_C(24) * (BRUME_LAST_DAY + 1) &&
           (*high - *low) / *step < MOST_DAYS;
}

static brume_status tie_dates(brume_plan *plan, const brume_key_domain *domains, bool *is_tied,
                              brume_cell_tie *ties, brume_error *error)
{
    const brume_query *query = plan->query;
    for (size_t i = 0; i < query->key_count; i++) {
        size_t keys[MOST_KEYS];
        bool by_hour = false;
        size_t count = is_tied[i] ? 0 : find_same_date(query, i, is_tied, keys, &by_hour);
        int64_t low, high, step;
        brume_key_tie tie;
        if (count < 2 || !find_hours(query, brume_key_date_of(query->keys[i].plain, &by_hour),
                                     by_hour, &low, &high, &step))
            continue;
        BRUME_TRY(tie_hours(plan, keys, count, low, high, step, &tie, error));
        for (size_t k = 0; k < count; k++)
            is_tied[keys[k]] = true;
        BRUME_TRY(add_tie(plan, &tie, domains, ties, error));
    }
    return BRUME_OK;
}

/* The ties of the plan's keys, among the values of their domains: one for each key. */
static brume_status plan_tie_keys(brume_plan *plan, const brume_key_domain *domains,
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

/* The keys of a plan: public, with every group of their values, or private; and one key more. */

enum { DOMAIN_CELLS = 1000000 };

/* A value as an engine sends it. Timestamps are midnights: microseconds since 1970. */
static brume_status read_value(brume_type type, const char *text, brume_key_value *value,
                               brume_error *error)
{
    char day[11];
    if (type.kind != BRUME_TYPE_TIMESTAMP)
        return brume_policy_domain_value(type, text, value, error);
    snprintf(day, sizeof day, "%.10s", text);
    type.kind = BRUME_TYPE_DATE;
    BRUME_TRY(brume_policy_domain_value(type, day, value, error));
    value->integer *= INT64_C(86400000000);
    return BRUME_OK;
}

/* The values of all keys, one after the other, as an engine sends them. */
static brume_status fill_domains(brume_plan *plan, const brume_key_domain *domains,
                                 brume_error *error)
{
    size_t at = 0;
    for (size_t i = 0; i < plan->query->key_count; i++) {
        brume_type type = plan->query->keys[i].expression->type;
        if (type.kind == BRUME_TYPE_DECIMAL) /* without decimals, which travels as an integer */
            type.kind = BRUME_TYPE_BIGINT;
        bool optional = brume_key_is_optional(plan->query, i);
        plan->domain_size[i] = domains[i].count + optional;
        for (size_t j = 0; j < domains[i].count; j++) {
            brume_key_value *value = &plan->domain[at++];
            if (domains[i].values[j])
                BRUME_TRY(read_value(type, domains[i].values[j], value, error));
            else
                *value = (brume_key_value){.null = true, .wire = brume_type_wire(type)};
        }
        if (optional) /* NULL in the sets without it, beside a NULL that may be one of its values */
            plan->domain[at++] = (brume_key_value){.null = true, .wire = brume_type_wire(type)};
    }
    return BRUME_OK;
}

static brume_status count_cell(void *context, const brume_key_value *cell, brume_error *error)
{
    uint64_t *count = context;
    (void)cell;
    if (++*count > DOMAIN_CELLS)
        return brume_fail(error, BRUME_EOVERFLOW, "group by fewer columns",
                          "the public keys have more than %d combinations, which is the most that "
                          "is answered",
                          DOMAIN_CELLS);
    return BRUME_OK;
}

/* How many groups there are: of all grouping sets together. */
static brume_status count_cells(brume_plan *plan, brume_error *error)
{
    brume_collection groups = {.query = plan->query,
                               .domain = plan->domain,
                               .domain_size = plan->domain_size,
                               .tie_count = plan->tie_count,
                               .ties = plan->ties};
    uint64_t count = 0;
    BRUME_TRY(brume_cells_visit(&groups, count_cell, &count, error));
    if (count == 0) /* conditions on public tables leave nothing */
        return brume_fail(error, BRUME_EARGUMENT, "",
                          "the conditions leave no combination of the keys' values");
    plan->shape.cells = count;
    return BRUME_OK;
}

/* A private key is shown only if many units have it: one that each unit has for itself never is. */
static brume_status check_shared(const brume_query *query, const brume_plan_table *tables,
                                 brume_error *error)
{
    static const char hint[] = "group by something that many have in common; nothing was spent";
    for (size_t i = 0; i < query->key_count; i++) {
        const brume_key *key = &query->keys[i];
        const brume_policy_column *column =
            key->is_column ? &tables[key->table].policy->columns[key->column] : NULL;
        if (key->tells_units)
            return brume_fail(error, BRUME_EUNSUPPORTED, hint,
                              "grouping by the unit can only give an empty answer: a group is "
                              "shown if many units are in it");
        if (column && column->is_identifier)
            return brume_fail(error, BRUME_EUNSUPPORTED, hint,
                              "grouping by '%s' can only give an empty answer: its owner says that "
                              "hardly two units share a value",
                              column->name);
    }
    return BRUME_OK;
}

brume_status brume_plan_keys(brume_plan *plan, const brume_plan_table *tables, brume_error *error)
{
    const brume_query *query = plan->query;
    size_t count = 0;
    brume_key_domain *domains = calloc(query->key_count + 1, sizeof *domains);
    brume_status status = domains ? BRUME_OK : brume_no_memory(error, "a plan");
    for (size_t i = 0; status == BRUME_OK && i < query->key_count; i++) {
        status = brume_key_domain_find(query, i, tables, &domains[i], error);
        plan->shape.private_keys = plan->shape.private_keys || !domains[i].is_known;
        count += domains[i].count + 1;
    }
    if (status == BRUME_OK && plan->shape.private_keys)
        status = check_shared(query, tables, error);
    if (status == BRUME_OK && !plan->shape.private_keys) {
        plan->domain = calloc(count + 1, sizeof *plan->domain);
        plan->domain_size = calloc(query->key_count + 1, sizeof *plan->domain_size);
        status = plan->domain && plan->domain_size ? fill_domains(plan, domains, error)
                                                   : brume_no_memory(error, "a plan");
        if (status == BRUME_OK)
            status = plan_tie_keys(plan, domains, error);
        if (status == BRUME_OK)
            status = count_cells(plan, error);
    }
    free(domains);
    return status;
}

/* ---- groups parted by values ---- */

/* The rows that are answered and have a value. */
static brume_node answered_values(brume_builder *builder, const brume_plan *plan,
                                  const brume_expression *argument)
{
    brume_node rows = brume_plan_answered_rows(plan, builder);
    brume_node both[] = {rows, brume_build_test(builder, BRUME_OPERATION_IS_NOT_NULL, argument)};
    if (builder->status != BRUME_OK || !rows)
        return both[1];
    return brume_build_logic(builder, BRUME_OPERATION_AND, both, 2);
}

brume_status brume_plan_pairs(const brume_plan *plan, const brume_expression *argument,
                              const char *what, brume_query **out, brume_error *error)
{
    const brume_query *query = plan->query;
    brume_builder builder = {.arena = query->arena, .error = error};
    brume_key *keys = brume_arena_allocate(query->arena, (query->key_count + 1) * sizeof *keys);
    brume_query *pairs = brume_arena_copy(query->arena, query, sizeof *query);
    if (!keys || !pairs)
        return brume_no_memory(error, what);
    if (query->key_count)
        memcpy(keys, query->keys, query->key_count * sizeof *keys);
    keys[query->key_count] = (brume_key){.expression = argument};
    pairs->keys = keys;
    pairs->key_count = query->key_count + 1;
    pairs->aggregate_count = 0;
    pairs->set_count = 1;
    pairs->where = answered_values(&builder, plan, argument);
    if (!pairs->where || builder.status != BRUME_OK)
        return builder.status;
    *out = pairs;
    return BRUME_OK;
}
