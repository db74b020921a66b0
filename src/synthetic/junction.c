/* A model of a wide table as a junction tree: graph, propagation, fit, rows. Promises: junction.h.
 *
 * Sums run over cells in their order, on one thread: the same tables give the same model. */
#include "synthetic/junction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { MOST_COLUMNS = BRUME_TREE_COLUMNS, HISTORY = 12, SEARCH_STEPS = 25 };

#define HISTORY_BYTES ((size_t)64 << 20)
static const double LAMBDA = 0.3;
static const double DECREASE = 1e-5; /* of the records: when a fit is done */

/* A table with its potentials. */
typedef struct model_table {
    brume_noisy_table as_measured; /* its `noisy` is of this model */
    size_t cells, first;           /* place of its potentials in theta */
    size_t carrier;
    uint32_t *cell_of; /* a cell of the carrier -> a cell of the table */
} model_table;

/* Cells that are excluded: a mask over the values of a few columns. */
typedef struct model_mask {
    size_t columns;
    uint16_t column[BRUME_TREE_WIDEST];
    uint8_t *never;
    size_t carrier;
    uint32_t *cell_of;
} model_mask;

/* A largest set of columns among tables and masks. What they add to the log of p is added up here,
 * so that a clique is read a few times an evaluation and not once for each table. */
typedef struct carrier {
    brume_column_set set;
    size_t columns, cells, clique;
    uint16_t column[BRUME_TREE_WIDEST];
    uint32_t *cell_of; /* a cell of the clique -> a cell of the carrier */
    double *sum;
} carrier;

typedef struct tree_clique {
    brume_column_set set, separator;
    size_t columns, cells, parent, separator_cells;
    uint16_t column[MOST_COLUMNS];
    uint32_t *own, *of_parent; /* a cell of the clique, of its parent -> of the separator */
    double *belief, *message, *sums;
} tree_clique;

struct brume_junction {
    size_t columns;
    uint32_t values[MOST_COLUMNS];
    brume_column_set neighbours[MOST_COLUMNS];
    bool is_built; /* cliques, carriers and maps are those of the tables */
    double records;
    model_table *tables;
    size_t table_count;
    model_mask *masks;
    size_t mask_count;
    carrier *carriers;
    size_t carrier_count;
    tree_clique cliques[MOST_COLUMNS]; /* a parent stands before its children */
    size_t clique_count;
    double *theta, *gradient;
    size_t parameters;
};

static brume_column_set set_of(const uint16_t *column, size_t columns)
{
    brume_column_set set = 0;
    for (size_t i = 0; i < columns; i++)
        set |= brume_column_bit(column[i]);
    return set;
}

static double cells_of(const brume_junction *model, brume_column_set set)
{
    double cells = 1;
    for (size_t c = 0; c < model->columns; c++)
        if (set & brume_column_bit(c))
            cells *= model->values[c];
    return cells;
}

/* ---- the graph ---- */

static void join_in(brume_column_set *neighbours, size_t columns, brume_column_set set)
{
    for (size_t c = 0; c < columns; c++)
        if (set & brume_column_bit(c))
            neighbours[c] |= set & ~brume_column_bit(c);
}

/* Eliminate the columns by least clique size, ties by their order. The cliques, those that others
 * contain left out, go to `out`; returned is how many, *cells is their size. */
static size_t triangulate(const brume_junction *model, brume_column_set *neighbours,
                          brume_column_set *out, double *cells)
{
    double size[MOST_COLUMNS];
    bool done[MOST_COLUMNS] = {false};
    size_t count = 0;
    *cells = 0;
    for (size_t c = 0; c < model->columns; c++)
        size[c] = cells_of(model, neighbours[c] | brume_column_bit(c));
    for (size_t step = 0; step < model->columns; step++) {
        size_t best = SIZE_MAX;
        for (size_t c = 0; c < model->columns; c++)
            if (!done[c] && (best == SIZE_MAX || size[c] < size[best]))
                best = c;
        brume_column_set clique = neighbours[best] | brume_column_bit(best);
        done[best] = true;
        join_in(neighbours, model->columns, clique);
        for (size_t c = 0; c < model->columns; c++)
            if (!done[c] && (clique & brume_column_bit(c))) {
                neighbours[c] &= ~brume_column_bit(best);
                size[c] = cells_of(model, neighbours[c] | brume_column_bit(c));
            }
        bool inside = false; /* an earlier clique cannot be inside a later one: it has a column
                              * that is eliminated by then */
        for (size_t i = 0; i < count; i++)
            inside = inside || (clique & ~out[i]) == 0;
        if (!inside) {
            out[count++] = clique;
            *cells += cells_of(model, clique);
        }
    }
    return count;
}

double brume_junction_cells_with(const brume_junction *model, brume_column_set columns)
{
    brume_column_set neighbours[MOST_COLUMNS], cliques[MOST_COLUMNS];
    double cells;
    memcpy(neighbours, model->neighbours, sizeof neighbours);
    join_in(neighbours, model->columns, columns);
    triangulate(model, neighbours, cliques, &cells);
    return cells;
}

void brume_junction_join(brume_junction *model, brume_column_set columns)
{
    join_in(model->neighbours, model->columns, columns);
    model->is_built = false;
}

/* ---- tables ---- */

brume_status brume_junction_open(const uint32_t *values, size_t columns, brume_junction **out,
                                 brume_error *error)
{
    brume_junction *model = calloc(1, sizeof *model);
    if (!model)
        return brume_no_memory(error, "a model");
    model->columns = columns;
    memcpy(model->values, values, columns * sizeof *values);
    *out = model;
    return BRUME_OK;
}

static void clear_built(brume_junction *model)
{
    for (size_t i = 0; i < model->clique_count; i++) {
        tree_clique *one = &model->cliques[i];
        free(one->own);
        free(one->of_parent);
        free(one->belief);
        free(one->message);
        free(one->sums);
    }
    for (size_t i = 0; i < model->carrier_count; i++) {
        free(model->carriers[i].cell_of);
        free(model->carriers[i].sum);
    }
    for (size_t i = 0; i < model->table_count; i++) {
        free(model->tables[i].cell_of);
        model->tables[i].cell_of = NULL;
    }
    for (size_t i = 0; i < model->mask_count; i++) {
        free(model->masks[i].cell_of);
        model->masks[i].cell_of = NULL;
    }
    free(model->carriers);
    model->carriers = NULL;
    model->clique_count = model->carrier_count = 0;
}

void brume_junction_close(brume_junction *model)
{
    if (!model)
        return;
    clear_built(model);
    for (size_t i = 0; i < model->table_count; i++)
        free((void *)(uintptr_t)model->tables[i].as_measured.noisy);
    for (size_t i = 0; i < model->mask_count; i++)
        free(model->masks[i].never);
    free(model->tables);
    free(model->masks);
    free(model->theta);
    free(model->gradient);
    free(model);
}

brume_status brume_junction_add(brume_junction *model, const brume_noisy_table *table,
                                brume_error *error)
{
    size_t cells = 1;
    for (size_t i = 0; i < table->columns; i++)
        cells *= table->bins[i];
    size_t parameters = model->parameters + cells;
    model_table *tables = realloc(model->tables, (model->table_count + 1) * sizeof *tables);
    if (tables)
        model->tables = tables;
    double *theta = realloc(model->theta, parameters * sizeof *theta);
    if (theta)
        model->theta = theta;
    double *gradient = realloc(model->gradient, parameters * sizeof *gradient);
    if (gradient)
        model->gradient = gradient;
    int64_t *noisy = malloc(cells * sizeof *noisy);
    if (!tables || !theta || !gradient || !noisy) {
        free(noisy);
        return brume_no_memory(error, "a model");
    }
    memcpy(noisy, table->noisy, cells * sizeof *noisy);
    memset(theta + model->parameters, 0, cells * sizeof *theta);
    model_table *made = &tables[model->table_count++];
    *made = (model_table){.as_measured = *table, .cells = cells, .first = model->parameters};
    made->as_measured.noisy = noisy;
    model->parameters = parameters;
    brume_junction_join(model, set_of(table->column, table->columns));
    return BRUME_OK;
}

brume_status brume_junction_exclude(brume_junction *model, const uint16_t *column, size_t columns,
                                    const uint8_t *never, brume_error *error)
{
    brume_column_set set = set_of(column, columns);
    size_t cells = (size_t)cells_of(model, set);
    model_mask *masks = realloc(model->masks, (model->mask_count + 1) * sizeof *masks);
    if (masks)
        model->masks = masks;
    uint8_t *copy = malloc(cells);
    if (!masks || !copy) {
        free(copy);
        return brume_no_memory(error, "a model");
    }
    memcpy(copy, never, cells);
    masks[model->mask_count] = (model_mask){.columns = columns, .never = copy};
    memcpy(masks[model->mask_count++].column, column, columns * sizeof *column);
    brume_junction_join(model, set);
    return BRUME_OK;
}

/* ---- maps from the cells of one set of columns to those of a part of it ---- */

/* Row-major both; the columns of `to` are among those of `from`. `bins` and `bin_of` NULL: values.
 * NULL: out of memory. */
static uint32_t *make_map(const brume_junction *model, const uint16_t *from, size_t from_count,
                          const uint16_t *to, size_t to_count, const uint32_t *bins,
                          const uint16_t *const *bin_of)
{
    size_t cells = 1, stride[MOST_COLUMNS] = {0}, step = 1, part = 0;
    const uint16_t *bin[MOST_COLUMNS] = {NULL};
    uint32_t value[MOST_COLUMNS] = {0};
    for (size_t i = 0; i < from_count; i++)
        cells *= model->values[from[i]];
    for (size_t i = to_count; i-- > 0;) {
        size_t place = 0;
        while (from[place] != to[i])
            place++;
        stride[place] = step;
        bin[place] = bin_of ? bin_of[i] : NULL;
        part += bin[place] ? stride[place] * bin[place][0] : 0; /* value 0 need not be in bin 0 */
        step *= bins ? bins[i] : model->values[to[i]];
    }
    uint32_t *map = malloc(cells * sizeof *map);
    for (size_t cell = 0; map && cell < cells; cell++) {
        map[cell] = (uint32_t)part;
        for (size_t i = from_count; i-- > 0;) {
            size_t before = bin[i] ? bin[i][value[i]] : value[i];
            bool wraps = ++value[i] == model->values[from[i]];
            if (wraps)
                value[i] = 0;
            size_t after = bin[i] ? bin[i][value[i]] : value[i];
            part += stride[i] * after; /* modulo 2^64: the sum is right */
            part -= stride[i] * before;
            if (!wraps)
                break;
        }
    }
    return map;
}

static size_t list_columns(brume_column_set set, size_t columns, uint16_t *out)
{
    size_t count = 0;
    for (size_t c = 0; c < columns; c++)
        if (set & brume_column_bit(c))
            out[count++] = (uint16_t)c;
    return count;
}

/* ---- cliques and carriers ---- */

static size_t count_bits(brume_column_set set)
{
    int low = __builtin_popcountll((unsigned long long)set);
    int high = __builtin_popcountll((unsigned long long)(set >> 64));
    return (size_t)low + (size_t)high;
}

static bool fill_clique(const brume_junction *model, tree_clique *one, const tree_clique *parent)
{
    uint16_t separator[MOST_COLUMNS];
    one->columns = list_columns(one->set, model->columns, one->column);
    one->cells = (size_t)cells_of(model, one->set);
    one->belief = malloc(one->cells * sizeof *one->belief);
    if (!parent)
        return one->belief != NULL;
    one->separator = one->set & parent->set;
    size_t shared = list_columns(one->separator, model->columns, separator);
    one->separator_cells = (size_t)cells_of(model, one->separator);
    one->message = malloc(one->separator_cells * sizeof *one->message);
    one->sums = malloc(one->separator_cells * sizeof *one->sums);
    one->own = make_map(model, one->column, one->columns, separator, shared, NULL, NULL);
    one->of_parent =
        make_map(model, parent->column, parent->columns, separator, shared, NULL, NULL);
    return one->belief && one->message && one->sums && one->own && one->of_parent;
}

/* The spanning tree with the largest separators. */
static bool build_cliques(brume_junction *model)
{
    brume_column_set neighbours[MOST_COLUMNS], found[MOST_COLUMNS];
    size_t parent[MOST_COLUMNS] = {0}, shared[MOST_COLUMNS] = {0};
    bool is_in[MOST_COLUMNS] = {false};
    double cells;
    memcpy(neighbours, model->neighbours, sizeof neighbours);
    size_t count = triangulate(model, neighbours, found, &cells);
    for (size_t step = 0; step < count; step++) {
        size_t next = SIZE_MAX;
        for (size_t i = 0; i < count; i++)
            if (!is_in[i] && (next == SIZE_MAX || shared[i] > shared[next]))
                next = i;
        is_in[next] = true;
        tree_clique *one = &model->cliques[model->clique_count++];
        *one = (tree_clique){.set = found[next], .parent = parent[next]};
        if (!fill_clique(model, one, step ? &model->cliques[one->parent] : NULL))
            return false;
        for (size_t i = 0; i < count; i++) {
            size_t common = count_bits(found[i] & found[next]);
            if (!is_in[i] && common > shared[i]) {
                shared[i] = common;
                parent[i] = step;
            }
        }
    }
    return true;
}

/* Keep the set if no other contains it, and drop those that it contains. */
static void add_carrier(brume_junction *model, const uint16_t *column, size_t columns)
{
    brume_column_set set = set_of(column, columns);
    size_t kept = 0;
    for (size_t i = 0; i < model->carrier_count; i++)
        if ((set & ~model->carriers[i].set) == 0)
            return;
    for (size_t i = 0; i < model->carrier_count; i++)
        if (model->carriers[i].set & ~set)
            model->carriers[kept++] = model->carriers[i];
    carrier *one = &model->carriers[kept];
    *one = (carrier){.set = set};
    one->columns = list_columns(set, model->columns, one->column);
    model->carrier_count = kept + 1;
}

static size_t smallest_carrier(const brume_junction *model, brume_column_set set)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < model->carrier_count; i++)
        if ((set & ~model->carriers[i].set) == 0 &&
            (best == SIZE_MAX || model->carriers[i].cells < model->carriers[best].cells))
            best = i;
    return best;
}

static bool build_carriers(brume_junction *model)
{
    size_t most = model->table_count + model->mask_count;
    model->carriers = calloc(most + 1, sizeof *model->carriers);
    if (!model->carriers)
        return false;
    for (size_t i = 0; i < model->table_count; i++)
        add_carrier(model, model->tables[i].as_measured.column,
                    model->tables[i].as_measured.columns);
    for (size_t i = 0; i < model->mask_count; i++)
        add_carrier(model, model->masks[i].column, model->masks[i].columns);
    for (size_t i = 0; i < model->carrier_count; i++) {
        carrier *one = &model->carriers[i];
        size_t best = SIZE_MAX;
        for (size_t c = 0; c < model->clique_count; c++)
            if ((one->set & ~model->cliques[c].set) == 0 &&
                (best == SIZE_MAX || model->cliques[c].cells < model->cliques[best].cells))
                best = c;
        const tree_clique *at = &model->cliques[best]; /* there is one: its columns were joined */
        one->clique = best;
        one->cells = (size_t)cells_of(model, one->set);
        one->sum = malloc(one->cells * sizeof *one->sum);
        one->cell_of =
            make_map(model, at->column, at->columns, one->column, one->columns, NULL, NULL);
        if (!one->sum || !one->cell_of)
            return false;
    }
    return true;
}

static brume_status build(brume_junction *model, brume_error *error)
{
    if (model->is_built)
        return BRUME_OK;
    clear_built(model);
    bool good = build_cliques(model) && build_carriers(model);
    for (size_t i = 0; good && i < model->table_count; i++) {
        model_table *one = &model->tables[i];
        const brume_noisy_table *table = &one->as_measured;
        one->carrier = smallest_carrier(model, set_of(table->column, table->columns));
        const carrier *on = &model->carriers[one->carrier];
        one->cell_of = make_map(model, on->column, on->columns, table->column, table->columns,
                                table->bins, table->bin_of);
        good = one->cell_of != NULL;
    }
    for (size_t i = 0; good && i < model->mask_count; i++) {
        model_mask *one = &model->masks[i];
        one->carrier = smallest_carrier(model, set_of(one->column, one->columns));
        const carrier *on = &model->carriers[one->carrier];
        one->cell_of =
            make_map(model, on->column, on->columns, one->column, one->columns, NULL, NULL);
        good = one->cell_of != NULL;
    }
    if (!good)
        return brume_no_memory(error, "a model");
    model->is_built = true;
    return BRUME_OK;
}

/* ---- belief propagation, in the linear domain ---- */

/* The log of p up to a constant, in the carriers. */
static void add_potentials(brume_junction *model)
{
    for (size_t i = 0; i < model->carrier_count; i++)
        memset(model->carriers[i].sum, 0, model->carriers[i].cells * sizeof(double));
    for (size_t i = 0; i < model->table_count; i++) {
        const model_table *table = &model->tables[i];
        const carrier *on = &model->carriers[table->carrier];
        const double *theta = model->theta + table->first;
        for (size_t x = 0; x < on->cells; x++)
            on->sum[x] += theta[table->cell_of[x]];
    }
    for (size_t i = 0; i < model->mask_count; i++) {
        const model_mask *mask = &model->masks[i];
        const carrier *on = &model->carriers[mask->carrier];
        for (size_t x = 0; x < on->cells; x++)
            if (mask->never[mask->cell_of[x]])
                on->sum[x] = -INFINITY;
    }
}

/* The cliques' potentials, each scaled by its largest; the sum of the logs of the scales. */
static double fill_beliefs(brume_junction *model)
{
    double log_z = 0;
    for (size_t c = 0; c < model->clique_count; c++) {
        double *belief = model->cliques[c].belief, largest = -INFINITY;
        size_t cells = model->cliques[c].cells;
        memset(belief, 0, cells * sizeof *belief);
        for (size_t i = 0; i < model->carrier_count; i++) {
            const carrier *on = &model->carriers[i];
            if (on->clique != c)
                continue;
            for (size_t x = 0; x < cells; x++)
                belief[x] += on->sum[on->cell_of[x]];
        }
        for (size_t x = 0; x < cells; x++)
            largest = belief[x] > largest ? belief[x] : largest;
        if (largest == -INFINITY) /* every cell is excluded: refused before, by the caller */
            largest = 0;
        log_z += largest;
        for (size_t x = 0; x < cells; x++)
            belief[x] = exp(belief[x] - largest);
    }
    return log_z;
}

/* Afterwards the beliefs are the counts of the cliques. Returns log Z. */
static double propagate(brume_junction *model)
{
    add_potentials(model);
    double log_z = fill_beliefs(model), sum = 0;
    for (size_t c = model->clique_count; c-- > 1;) { /* up */
        tree_clique *one = &model->cliques[c], *parent = &model->cliques[one->parent];
        memset(one->message, 0, one->separator_cells * sizeof(double));
        for (size_t x = 0; x < one->cells; x++)
            one->message[one->own[x]] += one->belief[x];
        sum = 0;
        for (size_t s = 0; s < one->separator_cells; s++) {
            one->sums[s] = one->message[s];
            sum += one->message[s];
        }
        sum = sum > 0 ? sum : 1;
        log_z += log(sum);
        for (size_t s = 0; s < one->separator_cells; s++)
            one->message[s] /= sum;
        for (size_t x = 0; x < parent->cells; x++)
            parent->belief[x] *= one->message[one->of_parent[x]];
    }
    tree_clique *root = &model->cliques[0];
    sum = 0;
    for (size_t x = 0; x < root->cells; x++)
        sum += root->belief[x];
    sum = sum > 0 ? sum : 1;
    log_z += log(sum);
    for (size_t x = 0; x < root->cells; x++)
        root->belief[x] *= model->records / sum;
    for (size_t c = 1; c < model->clique_count; c++) { /* down */
        tree_clique *one = &model->cliques[c], *parent = &model->cliques[one->parent];
        memset(one->message, 0, one->separator_cells * sizeof(double));
        for (size_t x = 0; x < parent->cells; x++)
            one->message[one->of_parent[x]] += parent->belief[x];
        for (size_t s = 0; s < one->separator_cells; s++)
            one->message[s] = one->sums[s] > 0 ? one->message[s] / one->sums[s] : 0;
        for (size_t x = 0; x < one->cells; x++)
            one->belief[x] *= one->message[one->own[x]];
    }
    return log_z;
}

/* The function that is minimised, and its gradient. */
static double evaluate(brume_junction *model)
{
    double value = model->records * propagate(model);
    memset(model->gradient, 0, model->parameters * sizeof(double));
    for (size_t i = 0; i < model->carrier_count; i++) {
        const carrier *on = &model->carriers[i];
        const tree_clique *at = &model->cliques[on->clique];
        memset(on->sum, 0, on->cells * sizeof(double));
        for (size_t x = 0; x < at->cells; x++)
            on->sum[on->cell_of[x]] += at->belief[x];
    }
    for (size_t i = 0; i < model->table_count; i++) {
        const model_table *table = &model->tables[i];
        const carrier *on = &model->carriers[table->carrier];
        const double *theta = model->theta + table->first;
        double *gradient = model->gradient + table->first;
        double ridge = LAMBDA * table->as_measured.sigma;
        for (size_t x = 0; x < on->cells; x++)
            gradient[table->cell_of[x]] += on->sum[x];
        for (size_t x = 0; x < table->cells; x++) {
            double noisy = (double)table->as_measured.noisy[x];
            value += theta[x] * (ridge / 2 * theta[x] - noisy);
            gradient[x] += ridge * theta[x] - noisy;
        }
    }
    return value;
}

/* ---- the fit: L-BFGS ---- */

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

typedef struct descent {
    size_t n, room, kept; /* pairs there is room for, pairs made so far */
    double *space;
    double *step[HISTORY], *change[HISTORY], inverse[HISTORY]; /* of theta, of the gradient */
    double *direction, *theta, *gradient, *diagonal;
} descent;

static bool open_descent(const brume_junction *model, descent *all)
{
    size_t n = model->parameters, room = HISTORY_BYTES / (2 * n * sizeof(double) + 1);
    *all = (descent){.n = n, .room = room < 3 ? 3 : room > HISTORY ? HISTORY : room};
    all->space = malloc((2 * all->room + 4) * n * sizeof(double));
    if (!all->space)
        return false;
    for (size_t i = 0; i < all->room; i++) {
        all->step[i] = all->space + n * i;
        all->change[i] = all->space + n * (all->room + i);
    }
    all->direction = all->space + n * 2 * all->room;
    all->theta = all->direction + n;
    all->gradient = all->theta + n;
    all->diagonal = all->gradient + n;
    for (size_t i = 0; i < model->table_count; i++) {
        const model_table *table = &model->tables[i];
        for (size_t x = 0; x < table->cells; x++)
            all->diagonal[table->first + x] = 1 / (fmax((double)table->as_measured.noisy[x], 1) +
                                                   LAMBDA * table->as_measured.sigma);
    }
    return true;
}

/* direction = - H gradient, by the two loops; returns its slope. */
static double find_direction(descent *all, const double *gradient)
{
    double weight[HISTORY], scale = 1, *d = all->direction;
    size_t n = all->n, oldest = all->kept > all->room ? all->kept - all->room : 0;
    for (size_t i = 0; i < n; i++)
        d[i] = -gradient[i];
    for (size_t k = all->kept; k-- > oldest;) {
        size_t at = k % all->room;
        weight[at] = all->inverse[at] * dot(all->step[at], d, n);
        for (size_t i = 0; i < n; i++)
            d[i] -= weight[at] * all->change[at][i];
    }
    if (all->kept > 0) {
        size_t last = (all->kept - 1) % all->room;
        const double *change = all->change[last];
        double curved = 0;
        for (size_t i = 0; i < n; i++)
            curved += change[i] * all->diagonal[i] * change[i];
        scale = dot(all->step[last], change, n) / curved;
    }
    for (size_t i = 0; i < n; i++)
        d[i] *= scale * all->diagonal[i];
    for (size_t k = oldest; k < all->kept; k++) {
        size_t at = k % all->room;
        double part = weight[at] - all->inverse[at] * dot(all->change[at], d, n);
        for (size_t i = 0; i < n; i++)
            d[i] += part * all->step[at][i];
    }
    double slope = dot(gradient, d, n);
    if (slope < 0)
        return slope;
    all->kept = 0;
    for (size_t i = 0; i < n; i++)
        d[i] = -all->diagonal[i] * gradient[i];
    return dot(gradient, d, n);
}

/* Keep the pair of the step that was taken, if it curves. */
static void keep_pair(descent *all, const brume_junction *model)
{
    size_t at = all->kept % all->room, n = all->n;
    for (size_t i = 0; i < n; i++) {
        all->step[at][i] = model->theta[i] - all->theta[i];
        all->change[at][i] = model->gradient[i] - all->gradient[i];
    }
    double curved = dot(all->step[at], all->change[at], n);
    if (curved > 1e-12) {
        all->inverse[at] = 1 / curved;
        all->kept++;
    }
}

static void descend(brume_junction *model, descent *all, size_t steps, brume_junction_fit *report)
{
    size_t n = all->n;
    double value = evaluate(model);
    *report = (brume_junction_fit){.evaluations = 1};
    for (size_t step = 0; step < steps; step++) {
        double slope = find_direction(all, model->gradient);
        report->converged = -slope < DECREASE * model->records;
        if (report->converged)
            return;
        memcpy(all->theta, model->theta, n * sizeof(double));
        memcpy(all->gradient, model->gradient, n * sizeof(double));
        double length = all->kept > 0 ? 1 : 0.25, next = INFINITY;
        bool found = false;
        for (int i = 0; i < SEARCH_STEPS && !found; i++, length /= 2) { /* Armijo */
            for (size_t x = 0; x < n; x++)
                model->theta[x] = all->theta[x] + length * all->direction[x];
            next = evaluate(model);
            report->evaluations++;
            found = next <= value + 1e-4 * length * slope;
        }
        if (!found) {
            memcpy(model->theta, all->theta, n * sizeof(double));
            evaluate(model);
            return;
        }
        keep_pair(all, model);
        value = next;
    }
}

brume_status brume_junction_solve(brume_junction *model, double records, size_t steps,
                                  brume_junction_fit *report, brume_error *error)
{
    descent all;
    BRUME_TRY(build(model, error));
    model->records = records;
    if (!open_descent(model, &all))
        return brume_no_memory(error, "a model");
    descend(model, &all, steps, report);
    free(all.space);
    return BRUME_OK;
}

/* ---- rows ---- */

/* Things grouped by a key: those of group g are at item[start[g] .. start[g + 1]). */
typedef struct grouping {
    size_t *start;
    uint32_t *item;
} grouping;

static bool group_by(const uint32_t *key, size_t items, size_t groups, grouping *out)
{
    *out =
        (grouping){calloc(groups + 2, sizeof *out->start), malloc((items + 1) * sizeof(uint32_t))};
    if (!out->start || !out->item)
        return false;
    for (size_t i = 0; i < items; i++)
        out->start[(key ? key[i] : 0) + 2]++;
    for (size_t g = 0; g < groups; g++)
        out->start[g + 2] += out->start[g + 1];
    for (size_t i = 0; i < items; i++)
        out->item[out->start[(key ? key[i] : 0) + 1]++] = (uint32_t)i;
    return true;
}

static void clear_grouping(grouping *all)
{
    free(all->start);
    free(all->item);
}

static brume_status shuffle(brume_words *words, uint32_t *item, size_t count, brume_error *error)
{
    for (size_t i = count; i > 1; i--) {
        uint64_t other = 0;
        BRUME_TRY(brume_words_below(words, i, &other, error));
        uint32_t kept = item[i - 1];
        item[i - 1] = item[other];
        item[other] = kept;
    }
    return BRUME_OK;
}

/* `rows` agree on the separator and get the columns of the clique: its `cells` are those that agree
 * with it. Each gets the floor or the ceiling of its expected number. */
static brume_status round_group(const brume_junction *model, const tree_clique *one,
                                brume_words *words, uint32_t *cells, size_t cell_count,
                                uint32_t *rows, size_t row_count, uint16_t *const *out,
                                brume_error *error)
{
    double sum = 0, reached = 0;
    uint64_t place = 0;
    size_t used = 0, last = 0;
    BRUME_TRY(shuffle(words, rows, row_count, error));
    BRUME_TRY(shuffle(words, cells, cell_count, error));
    BRUME_TRY(brume_words_below(words, UINT64_C(1) << 53, &place, error));
    for (size_t i = 0; i < cell_count; i++) {
        sum += one->belief[cells[i]];
        if (one->belief[cells[i]] > 0)
            last = i;
    }
    bool known = sum > 0; /* else every cell alike */
    last = known ? last : cell_count - 1;
    for (size_t i = 0; i < cell_count && i <= last && used < row_count; i++) {
        double share = known ? one->belief[cells[i]] / sum : 1 / (double)cell_count;
        reached += share * (double)row_count;
        double below = floor(reached + (double)place * 0x1p-53);
        size_t upto = i == last || below >= (double)row_count ? row_count : (size_t)below;
        size_t cell = cells[i];
        uint16_t value[MOST_COLUMNS] = {0};
        for (size_t c = one->columns; upto > used && c-- > 0;) {
            value[c] = (uint16_t)(cell % model->values[one->column[c]]);
            cell /= model->values[one->column[c]];
        }
        for (; used < upto; used++)
            for (size_t c = 0; c < one->columns; c++)
                out[one->column[c]][rows[used]] = value[c];
    }
    return BRUME_OK;
}

static brume_status draw_clique(const brume_junction *model, const tree_clique *one, bool is_root,
                                brume_words *words, uint64_t rows, uint32_t *key,
                                uint16_t *const *out, brume_error *error)
{
    size_t groups = is_root ? 1 : one->separator_cells;
    grouping cells = {0}, of_rows = {0};
    memset(key, 0, rows * sizeof *key);
    for (size_t i = 0; !is_root && i < one->columns; i++) {
        size_t c = one->column[i];
        if (one->separator & brume_column_bit(c))
            for (uint64_t r = 0; r < rows; r++)
                key[r] = key[r] * model->values[c] + out[c][r];
    }
    bool good = group_by(is_root ? NULL : one->own, one->cells, groups, &cells) &&
                group_by(key, rows, groups, &of_rows);
    brume_status status = good ? BRUME_OK : brume_no_memory(error, "rows");
    for (size_t g = 0; status == BRUME_OK && g < groups; g++)
        if (of_rows.start[g + 1] > of_rows.start[g])
            status = round_group(model, one, words, cells.item + cells.start[g],
                                 cells.start[g + 1] - cells.start[g],
                                 of_rows.item + of_rows.start[g],
                                 of_rows.start[g + 1] - of_rows.start[g], out, error);
    clear_grouping(&cells);
    clear_grouping(&of_rows);
    return status;
}

brume_status brume_junction_rows(const brume_junction *model, brume_bits *bits, uint64_t rows,
                                 uint16_t *const *out, brume_error *error)
{
    brume_words words = {.bits = bits};
    uint32_t *key = malloc((rows + 1) * sizeof *key);
    if (!key)
        return brume_no_memory(error, "rows");
    brume_status status = BRUME_OK;
    for (size_t c = 0; status == BRUME_OK && c < model->clique_count; c++)
        status = draw_clique(model, &model->cliques[c], c == 0, &words, rows, key, out, error);
    free(key);
    return status;
}

/* ---- for the tests ---- */

double brume_junction_count(const brume_junction *model, const uint16_t *column, size_t columns,
                            const uint32_t *value)
{
    brume_column_set set = set_of(column, columns);
    for (size_t c = 0; c < model->clique_count; c++) {
        const tree_clique *one = &model->cliques[c];
        double count = 0;
        if (set & ~one->set)
            continue;
        for (size_t x = 0; x < one->cells; x++) {
            size_t rest = x;
            bool same = true;
            for (size_t i = one->columns; i-- > 0;) {
                uint32_t here = (uint32_t)(rest % model->values[one->column[i]]);
                rest /= model->values[one->column[i]];
                for (size_t k = 0; k < columns; k++)
                    same = same && (column[k] != one->column[i] || value[k] == here);
            }
            count += same ? one->belief[x] : 0;
        }
        return count;
    }
    return NAN;
}

size_t brume_junction_cliques(const brume_junction *model)
{
    return model->clique_count;
}

brume_column_set brume_junction_clique(const brume_junction *model, size_t clique)
{
    return model->cliques[clique].set;
}
