/* Bounding against a plain model, over random small tables of every kind of unit, key and value:
 * the result is the sum of what each unit gives alone, and what it gives is what it may. */
#include "check.h"

#include <stdlib.h>

#include "query/collect/bound.h"
#include "random/tape.h"

enum { ROWS = 60, UNITS = 6, KEYS = 3, VALUES = 3, GROUPS = 128, NAME = 96, DECLARED = 4 };

/* A cell of a unit or a key: one of a few, or NULL. */
enum { CELLS = 6 };
static const int64_t integers[CELLS] = {0, 1, -1, 4096, 4097, INT64_MIN}; /* recent keys collide */
static const double reals[CELLS] = {0.0, 1.5, -1.5, 1e300, 0x1p-1074, 2};
static const brume_text texts[CELLS] = {{"", 0},    {"a", 1}, {"ab", 2},
                                        {"a\0", 2}, {"b", 1}, {"aa", 2}};

typedef struct table {
    brume_bound_plan plan;
    brume_wire unit_wire, wires[KEYS];
    brume_bound_value values[VALUES];
    size_t rows;
    int unit[ROWS], key[ROWS][KEYS]; /* which cell; -1: NULL */
    int64_t value[ROWS][VALUES];
    bool there[ROWS][VALUES];
    int declared[DECLARED][KEYS];
} table;

typedef struct group {
    char name[NAME];
    uint64_t units, rows, count[VALUES], listed[VALUES];
    int64_t sum[VALUES], squares[VALUES], kept_sum[VALUES];
} group;

typedef struct result {
    size_t count;
    group groups[GROUPS];
} result;

static uint64_t seed = 1;

static uint64_t below(uint64_t n)
{
    return brume_tape_splitmix(&seed) % n;
}

static int random_cell(uint64_t nulls)
{
    return below(10) < nulls ? -1 : (int)below(CELLS);
}

static brume_wire random_wire(void)
{
    static const brume_wire wires[] = {BRUME_WIRE_INTEGER, BRUME_WIRE_REAL, BRUME_WIRE_TEXT};
    return wires[below(3)];
}

static void make_table(table *data)
{
    memset(data, 0, sizeof *data);
    data->unit_wire = random_wire();
    data->plan = (brume_bound_plan){.max_groups = 1 + below(5),
                                    .key_count = below(KEYS + 1),
                                    .value_count = below(VALUES + 1),
                                    .closed = below(3) == 0};
    for (size_t i = 0; i < KEYS; i++)
        data->wires[i] = random_wire();
    for (size_t i = 0; i < VALUES; i++)
        data->values[i] = (brume_bound_value){.low = -(int64_t)below(20),
                                              .high = (int64_t)below(20),
                                              .centre = (int64_t)below(5),
                                              .squares = below(2),
                                              .keep = below(2)};
    data->rows = below(ROWS + 1);
    uint64_t nulls = below(4), units = 1 + below(UNITS);
    for (size_t i = 0; i < data->rows; i++) {
        data->unit[i] = below(12) == 0 ? -1 : (int)below(units);
        for (size_t k = 0; k < KEYS; k++)
            data->key[i][k] = random_cell(nulls);
        for (size_t v = 0; v < VALUES; v++) {
            data->value[i][v] = (int64_t)below(61) - 30;
            data->there[i][v] = below(4) > 0;
        }
    }
    for (size_t i = 0; i < DECLARED; i++)
        for (size_t k = 0; k < KEYS; k++)
            data->declared[i][k] = random_cell(nulls);
}

/* ---- what the bounder says ---- */

static brume_key_value cell_of(brume_wire wire, int cell)
{
    brume_key_value value = {.wire = wire, .null = cell < 0};
    if (cell < 0)
        return value;
    value.integer = integers[cell];
    value.real = reals[cell];
    value.text = texts[cell];
    return value;
}

/* A column of cells; every other zero is the negative one, and what stands where NULL is must not
 * be looked at. */
static void fill(brume_wire wire, const int *cells, size_t stride, size_t count, void *room,
                 uint64_t *valid, brume_chunk_column *out)
{
    int64_t *whole = room;
    double *real = room;
    brume_text *text = room;
    *valid = ~UINT64_C(0) << count; /* what lies behind is nobody's, and not NULL either */
    for (size_t i = 0; i < count; i++) {
        int cell = cells[i * stride], at = cell < 0 ? 0 : cell;
        *valid |= (uint64_t)(cell >= 0) << i;
        if (wire == BRUME_WIRE_INTEGER)
            whole[i] = integers[at];
        else if (wire == BRUME_WIRE_REAL)
            real[i] = reals[at] == 0 && i % 2 ? -0.0 : reals[at];
        else
            text[i] = cell < 0 ? (brume_text){(const char *)1, SIZE_MAX / 2} : texts[at];
    }
    *out = (brume_chunk_column){
        .wire = wire, .integers = whole, .reals = real, .texts = text, .valid = valid};
}

static void take(brume_bounder *bounder, const table *data, size_t first, size_t count)
{
    brume_error error = {0};
    brume_text *room[1 + KEYS]; /* of one kind or another, just as long as the chunk */
    int64_t *cells[VALUES];
    for (size_t i = 0; i <= KEYS; i++) {
        brume_wire wire = i ? data->wires[i - 1] : data->unit_wire;
        room[i] = malloc(count * (wire == BRUME_WIRE_TEXT ? sizeof **room : sizeof(int64_t)));
    }
    for (size_t i = 0; i < VALUES; i++)
        cells[i] = malloc(count * sizeof **cells);
    uint64_t valid[1 + KEYS + VALUES] = {0};
    brume_chunk_column columns[1 + KEYS + VALUES];
    size_t keys = data->plan.key_count, values = data->plan.value_count;
    fill(data->unit_wire, &data->unit[first], 1, count, room[0], &valid[0], &columns[0]);
    for (size_t k = 0; k < keys; k++)
        fill(data->wires[k], &data->key[first][k], KEYS, count, room[1 + k], &valid[1 + k],
             &columns[1 + k]);
    for (size_t v = 0; v < values; v++) {
        uint64_t *own = &valid[1 + KEYS + v];
        for (size_t i = 0; i < count; i++) {
            cells[v][i] = data->value[first + i][v];
            *own |= (uint64_t)data->there[first + i][v] << i;
        }
        columns[1 + keys + v] =
            (brume_chunk_column){.wire = BRUME_WIRE_INTEGER, .integers = cells[v], .valid = own};
    }
    brume_chunk chunk = {count, 1 + keys + values, columns};
    assert_ok(brume_bounder_take(bounder, &chunk, &error));
    for (size_t i = 0; i <= KEYS; i++)
        free(room[i]);
    for (size_t i = 0; i < VALUES; i++)
        free(cells[i]);
}

static void name_group(const brume_key_value *keys, size_t count, char name[NAME])
{
    size_t used = 0;
    name[0] = 0;
    for (size_t k = 0; k < count; k++) {
        char *to = name + used;
        if (keys[k].null)
            used += (size_t)snprintf(to, NAME - used, "null;");
        else if (keys[k].wire == BRUME_WIRE_INTEGER)
            used += (size_t)snprintf(to, NAME - used, "%lld;", (long long)keys[k].integer);
        else if (keys[k].wire == BRUME_WIRE_REAL)
            used += (size_t)snprintf(to, NAME - used, "%a;", keys[k].real);
        else
            used += (size_t)snprintf(to, NAME - used, "%zu%.*s;", keys[k].text.length,
                                     (int)keys[k].text.length, keys[k].text.data);
    }
    assert_holds(used < NAME);
}

static group *find(result *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->groups[i].name, name) == 0)
            return &all->groups[i];
    group *new = &all->groups[all->count++];
    assert_holds(all->count <= GROUPS);
    *new = (group){.units = 0};
    strcpy(new->name, name);
    return new;
}

/* Add what the bounder gives of the rows of `unit` (or -1: of all), in pieces of `piece` rows. */
static void add_bounded(const table *data, int unit, size_t piece, result *out)
{
    static table own;
    own = *data;
    own.rows = 0;
    for (size_t i = 0; i < data->rows; i++)
        if (unit < 0 || data->unit[i] == unit) {
            own.unit[own.rows] = data->unit[i];
            memcpy(own.key[own.rows], data->key[i], sizeof *own.key);
            memcpy(own.value[own.rows], data->value[i], sizeof *own.value);
            memcpy(own.there[own.rows++], data->there[i], sizeof *own.there);
        }
    brume_error error = {0};
    brume_bits *bits = brume_tape_open_seeded(7);
    brume_bounder *bounder = NULL;
    own.plan.key_wires = own.wires;
    own.plan.values = own.values;
    assert_ok(brume_bounder_open(&own.plan, bits, &bounder, &error));
    for (size_t i = 0; own.plan.closed && i < DECLARED; i++) {
        brume_key_value keys[KEYS];
        for (size_t k = 0; k < KEYS; k++)
            keys[k] = cell_of(own.wires[k], own.declared[i][k]);
        assert_ok(brume_bounder_declare(bounder, keys, &error));
    }
    for (size_t first = 0; first < own.rows; first += piece)
        take(bounder, &own, first, own.rows - first < piece ? own.rows - first : piece);
    const brume_bounded_group *groups = NULL;
    size_t count = 0;
    assert_ok(brume_bounder_finish(bounder, &groups, &count, &error));
    for (size_t i = 0; i < count; i++) {
        char name[NAME];
        name_group(groups[i].keys, own.plan.key_count, name);
        assert_holds(i == 0 || brume_keys_compare(groups[i - 1].keys, groups[i].keys,
                                                  own.plan.key_count) < 0);
        group *one = find(out, name);
        one->units += groups[i].units;
        one->rows += groups[i].rows;
        for (size_t v = 0; v < own.plan.value_count; v++) {
            const brume_bounded_value *value = &groups[i].values[v];
            one->count[v] += value->count;
            one->sum[v] += (int64_t)value->sum;
            one->squares[v] += (int64_t)value->squares;
            for (size_t j = 0; own.values[v].keep && j < value->count; j++) {
                uint64_t item = (uint64_t)value->kept[j] << 32 ^ value->breaker[j];
                one->listed[v] += brume_tape_splitmix(&item); /* a sum knows no order */
                one->kept_sum[v] += value->kept[j] - own.values[v].centre;
            }
        }
    }
    brume_bounder_close(bounder);
    brume_bits_close(bits);
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(((const group *)left)->name, ((const group *)right)->name);
}

static void assert_same(result *a, result *b)
{
    qsort(a->groups, a->count, sizeof *a->groups, compare_names);
    qsort(b->groups, b->count, sizeof *b->groups, compare_names);
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->groups, b->groups, a->count * sizeof *a->groups);
}

/* ---- what it should say of one unit ---- */

static bool is_declared(const table *data, const char *name)
{
    for (size_t i = 0; i < DECLARED; i++) {
        brume_key_value keys[KEYS];
        char own[NAME];
        for (size_t k = 0; k < KEYS; k++)
            keys[k] = cell_of(data->wires[k], data->declared[i][k]);
        name_group(keys, data->plan.key_count, own);
        if (strcmp(own, name) == 0)
            return true;
    }
    return false;
}

/* All that the unit has, in the groups that there may be. */
static void add_model(const table *data, int unit, result *out)
{
    for (size_t i = 0; i < data->rows; i++) {
        brume_key_value keys[KEYS];
        char name[NAME];
        if (data->unit[i] != unit)
            continue;
        for (size_t k = 0; k < KEYS; k++)
            keys[k] = cell_of(data->wires[k], data->key[i][k]);
        name_group(keys, data->plan.key_count, name);
        if (data->plan.closed && !is_declared(data, name))
            continue;
        group *one = find(out, name);
        one->units = 1;
        one->rows++;
        for (size_t v = 0; v < data->plan.value_count; v++) {
            const brume_bound_value *bounds = &data->values[v];
            int64_t x = data->value[i][v];
            x = x < bounds->low ? bounds->low : x > bounds->high ? bounds->high : x;
            x -= bounds->centre;
            one->count[v] += data->there[i][v];
            one->sum[v] += data->there[i][v] ? x : 0;
            one->squares[v] += data->there[i][v] && bounds->squares ? x * x : 0;
        }
    }
}

static void check_unit(const table *data, result *got, result *all)
{
    size_t kept = 0, most = data->plan.max_groups;
    for (size_t i = 0; i < got->count; i++) {
        const group *one = &got->groups[i], *whole = find(all, one->name);
        assert_holds(data->plan.closed || one->units == 1);
        if (one->units == 0)
            continue;
        kept++;
        assert_int_equal(one->units, whole->units); /* it has rows there */
        const uint64_t rows = 1;
        assert_int_equal(one->rows, rows);
        for (size_t v = 0; v < data->plan.value_count; v++) {
            if (data->values[v].keep)
                assert_int_equal(one->kept_sum[v], one->sum[v]);
            assert_holds(one->count[v] <= rows);
            /* what is left out is of rows that are left out */
            assert_holds(whole->count[v] - one->count[v] <= whole->rows - rows);
            if (rows < whole->rows)
                continue;
            assert_int_equal(one->sum[v], whole->sum[v]);
            assert_int_equal(one->squares[v], whole->squares[v]);
        }
    }
    size_t has = 0;
    for (size_t i = 0; i < all->count; i++)
        has += all->groups[i].rows > 0;
    assert_int_equal(kept, has < most ? has : most);
}

static void shuffle(table *data)
{
    table from = *data;
    size_t by = 1 + below(data->rows + 1);
    for (size_t i = 0; i < data->rows; i++) { /* turned and mirrored */
        size_t at = data->rows - 1 - (i + by) % data->rows;
        data->unit[i] = from.unit[at];
        memcpy(data->key[i], from.key[at], sizeof *data->key);
        memcpy(data->value[i], from.value[at], sizeof *data->value);
        memcpy(data->there[i], from.there[at], sizeof *data->there);
    }
}

static void the_result_is_the_sum_of_what_each_unit_may_give(void **state)
{
    (void)state;
    static table data;
    static result all, again, sum, own, model;
    for (size_t round = 0; round < 200; round++) {
        make_table(&data);
        all.count = again.count = sum.count = 0;
        add_bounded(&data, -1, 1 + below(ROWS), &all);
        for (int unit = 0; unit < CELLS; unit++) {
            own.count = model.count = 0;
            add_bounded(&data, unit, ROWS, &own);
            add_model(&data, unit, &model);
            check_unit(&data, &own, &model);
            add_bounded(&data, unit, ROWS, &sum);
        }
        assert_same(&all, &sum);
        shuffle(&data);
        add_bounded(&data, -1, 1 + below(ROWS), &again);
        assert_same(&all, &again);
    }
}

/* ---- sizes ---- */

static brume_status open_sizes(uint64_t max_groups, size_t value_count)
{
    static const brume_bound_value values[BRUME_BOUND_VALUES + 1];
    brume_error error = {0};
    brume_bits *bits = brume_tape_open_seeded(7);
    brume_bounder *bounder = NULL;
    brume_bound_plan plan = {
        .max_groups = max_groups, .value_count = value_count, .values = values};
    brume_status status = brume_bounder_open(&plan, bits, &bounder, &error);
    brume_bounder_close(bounder);
    brume_bits_close(bits);
    return status;
}

static void only_plans_within_the_promised_sizes_are_bounded(void **state)
{
    (void)state;
    const uint64_t groups = UINT64_C(1) << 26;
    assert_int_equal(open_sizes(groups, BRUME_BOUND_VALUES), BRUME_OK);
    assert_int_equal(open_sizes(1, 0), BRUME_OK);
    assert_int_equal(open_sizes(groups + 1, 0), BRUME_EINTERNAL);
    assert_int_equal(open_sizes(0, 0), BRUME_EINTERNAL);
    assert_int_equal(open_sizes(1, BRUME_BOUND_VALUES + 1), BRUME_EINTERNAL);
}

/* Every unit once in each of two groups, far apart in the table: it is found again. */
static void thousands_of_units_are_each_found_again(void **state)
{
    (void)state;
    enum { MANY = 9000 };
    static int64_t units[2 * MANY], keys[2 * MANY];
    static char names[2 * MANY][16];
    static brume_text unit_texts[2 * MANY];
    static const brume_wire wire = BRUME_WIRE_INTEGER;
    for (size_t i = 0; i < 2 * MANY; i++) {
        units[i] = (int64_t)(i % MANY * 1000003);
        keys[i] = i >= MANY;
        int length = snprintf(names[i], sizeof names[i], "%zu", i % MANY);
        unit_texts[i] = (brume_text){names[i], (size_t)length};
    }
    for (int text = 0; text <= 1; text++)
        for (uint64_t most = 1; most <= 2; most++) {
            brume_error error = {0};
            brume_bits *bits = brume_tape_open_seeded(7);
            brume_bounder *bounder = NULL;
            brume_bound_plan plan = {.max_groups = most, .key_count = 1, .key_wires = &wire};
            assert_ok(brume_bounder_open(&plan, bits, &bounder, &error));
            brume_chunk_column columns[] = {{.wire = BRUME_WIRE_INTEGER, .integers = units},
                                            {.wire = BRUME_WIRE_INTEGER, .integers = keys}};
            if (text)
                columns[0] = (brume_chunk_column){.wire = BRUME_WIRE_TEXT, .texts = unit_texts};
            brume_chunk chunk = {2 * MANY, 2, columns};
            assert_ok(brume_bounder_take(bounder, &chunk, &error));
            const brume_bounded_group *groups = NULL;
            size_t count = 0;
            assert_ok(brume_bounder_finish(bounder, &groups, &count, &error));
            assert_int_equal(count, 2);
            assert_int_equal(groups[0].units + groups[1].units, most * MANY);
            brume_bounder_close(bounder);
            brume_bits_close(bits);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_result_is_the_sum_of_what_each_unit_may_give),
        cmocka_unit_test(only_plans_within_the_promised_sizes_are_bounded),
        cmocka_unit_test(thousands_of_units_are_each_found_again),
    };
    return cmocka_run_group_tests_name("bounding and its model", tests, NULL, NULL);
}
