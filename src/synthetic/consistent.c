/* Tables that add up: the fit by least squares, and whole numbers near it.
 *
 * Promise: everything here is a function of the tables that come in; where they agree already, the
 * fit changes nothing but the last bits of a double, and after rounding every total is the sum of
 * its parts exactly. */
#include "synthetic/consistent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { MOST_TABLES = 1 << 16 };
static const double most_work = 0x1p28;   /* additions of a fit */
static const double most_search = 0x1p21; /* looks at a cell in one pass of the search */

/* A set of columns: one of those that were asked for, or contained in one. */
typedef struct table {
    uint64_t mask;
    size_t cells;
    double precision; /* 1/sigma^2 of the part that no smaller table tells */
    int wanted;       /* number of the set that was asked for, or -1 */
} table;

struct brume_consistent {
    size_t columns;
    size_t sizes[BRUME_CONSISTENT_COLUMNS];
    table *tables; /* all of them; those with fewer columns first */
    size_t count;
    size_t set_count;
    size_t *sets;      /* place of each set in `tables` */
    double *weights;   /* of each set */
    double *variances; /* of each set */
    int base;          /* the set that has all columns of all sets; -1: there is none */
};

static int columns_in(uint64_t mask)
{
    return __builtin_popcountll(mask);
}

/* Product of the sizes. */
static double cells_of(const brume_consistent *all, uint64_t mask)
{
    double cells = 1;
    for (size_t i = 0; i < all->columns; i++)
        if (mask >> i & 1)
            cells *= (double)all->sizes[i];
    return cells;
}

/* The next larger submask of `of`; 0 after the last one, which is `of`. */
static uint64_t next_within(uint64_t of, uint64_t mask)
{
    return (mask - of) & of;
}

static int compare_tables(const void *left, const void *right)
{
    const table *a = left, *b = right;
    if (columns_in(a->mask) != columns_in(b->mask))
        return columns_in(a->mask) - columns_in(b->mask);
    return (a->mask > b->mask) - (a->mask < b->mask);
}

static const table *find(const brume_consistent *all, uint64_t mask)
{
    table wanted = {.mask = mask};
    return bsearch(&wanted, all->tables, all->count, sizeof wanted, compare_tables);
}

/* ---- making ---- */

void brume_consistent_close(brume_consistent *all)
{
    if (!all)
        return;
    free(all->tables);
    free(all->sets);
    free(all->weights);
    free(all->variances);
    free(all);
}

/* The sets and all that they contain, in order, each once. */
static brume_status list_tables(brume_consistent *all, const uint64_t *sets, brume_error *error)
{
    size_t room = 0, kept = 0;
    double work = 0;
    for (size_t s = 0; s < all->set_count; s++) {
        int in = columns_in(sets[s]);
        work += ldexp(cells_of(all, sets[s]), in < 60 ? in : 60);
        room += (size_t)1 << (in < 17 ? in : 17);
    }
    if (!(work <= most_work) || room > MOST_TABLES)
        return brume_fail(error, BRUME_EUNSUPPORTED, "fewer columns or sets",
                          "the tables are too large to be made to add up");
    all->tables = calloc(room + 1, sizeof *all->tables);
    if (!all->tables)
        return brume_no_memory(error, "tables");
    for (size_t s = 0; s < all->set_count; s++) {
        uint64_t mask = 0;
        do
            all->tables[all->count++] = (table){.mask = mask, .wanted = -1};
        while ((mask = next_within(sets[s], mask)) != 0);
    }
    qsort(all->tables, all->count, sizeof *all->tables, compare_tables);
    for (size_t i = 0; i < all->count; i++)
        if (i == 0 || all->tables[i].mask != all->tables[kept - 1].mask)
            all->tables[kept++] = all->tables[i];
    all->count = kept;
    return BRUME_OK;
}

/* Precisions of the parts, and the variances that follow (consistent.h). */
static void find_variances(brume_consistent *all)
{
    for (size_t s = 0; s < all->set_count; s++) {
        uint64_t whole = all->tables[all->sets[s]].mask, mask = 0;
        do {
            table *part = (table *)find(all, mask);
            part->precision += all->weights[s] / cells_of(all, whole & ~mask);
        } while ((mask = next_within(whole, mask)) != 0);
    }
    for (size_t s = 0; s < all->set_count; s++) {
        uint64_t whole = all->tables[all->sets[s]].mask, mask = 0;
        do {
            double share = 1;
            for (size_t i = 0; i < all->columns; i++) {
                double n = (double)all->sizes[i];
                if (mask >> i & 1)
                    share *= (n - 1) / n;
                else if (whole >> i & 1)
                    share /= n * n;
            }
            all->variances[s] += share / find(all, mask)->precision;
        } while ((mask = next_within(whole, mask)) != 0);
    }
}

static brume_status fill(brume_consistent *all, const uint64_t *sets, const double *weights,
                         brume_error *error)
{
    uint64_t any = 0;
    BRUME_TRY(list_tables(all, sets, error));
    for (size_t i = 0; i < all->count; i++)
        all->tables[i].cells = (size_t)cells_of(all, all->tables[i].mask);
    all->sets = calloc(all->set_count + 1, sizeof *all->sets);
    all->weights = calloc(all->set_count + 1, sizeof *all->weights);
    all->variances = calloc(all->set_count + 1, sizeof *all->variances);
    if (!all->sets || !all->weights || !all->variances)
        return brume_no_memory(error, "tables");
    all->base = -1;
    for (size_t s = 0; s < all->set_count; s++)
        any |= sets[s];
    for (size_t s = 0; s < all->set_count; s++) {
        table *one = (table *)find(all, sets[s]);
        if (one->wanted >= 0 || (weights && !(weights[s] > 0 && isfinite(weights[s]))))
            return brume_fail(error, BRUME_EARGUMENT, NULL,
                              "a set of columns stands twice, or has no weight");
        one->wanted = (int)s;
        all->sets[s] = (size_t)(one - all->tables);
        all->weights[s] = weights ? weights[s] : 1;
        if (sets[s] == any)
            all->base = (int)s;
    }
    find_variances(all);
    return BRUME_OK;
}

brume_status brume_consistent_open(const size_t *sizes, size_t columns, const uint64_t *sets,
                                   const double *weights, size_t set_count, brume_consistent **out,
                                   brume_error *error)
{
    if (columns > BRUME_CONSISTENT_COLUMNS || set_count == 0 || set_count > MOST_TABLES)
        return brume_fail(error, BRUME_EUNSUPPORTED, "fewer columns or sets",
                          "the tables are too many to be made to add up");
    for (size_t i = 0; i < columns; i++)
        if (sizes[i] == 0)
            return brume_fail(error, BRUME_EARGUMENT, NULL, "a column without values");
    brume_consistent *all = calloc(1, sizeof *all);
    if (!all)
        return brume_no_memory(error, "tables");
    all->columns = columns;
    all->set_count = set_count;
    memcpy(all->sizes, sizes, columns * sizeof *sizes);
    brume_status status = fill(all, sets, weights, error);
    if (status != BRUME_OK) {
        brume_consistent_close(all);
        return status;
    }
    *out = all;
    return BRUME_OK;
}

size_t brume_consistent_cells(const brume_consistent *all, size_t set)
{
    return all->tables[all->sets[set]].cells;
}

double brume_consistent_variance(const brume_consistent *all, size_t set)
{
    return all->variances[set];
}

double brume_consistent_least(const brume_consistent *all)
{
    double least = all->variances[0];
    for (size_t s = 1; s < all->set_count; s++)
        least = fmin(least, all->variances[s]);
    return least;
}

/* ---- walking over cells ---- */

/* Over the cells of a table, with the place of each in a smaller table. */
typedef struct walk {
    size_t count, at;                        /* columns of the table; the cell of the smaller one */
    size_t size[BRUME_CONSISTENT_COLUMNS];   /* of each column, the last one first */
    size_t stride[BRUME_CONSISTENT_COLUMNS]; /* in the smaller table; 0: it is not in it */
    size_t place[BRUME_CONSISTENT_COLUMNS];
} walk;

static walk walk_over(const brume_consistent *all, uint64_t whole, uint64_t part)
{
    walk over = {0};
    size_t stride = 1;
    for (size_t i = all->columns; i-- > 0;) {
        if (!(whole >> i & 1))
            continue;
        over.size[over.count] = all->sizes[i];
        over.stride[over.count++] = part >> i & 1 ? stride : 0;
        if (part >> i & 1)
            stride *= all->sizes[i];
    }
    return over;
}

static void step(walk *over)
{
    for (size_t i = 0; i < over->count; i++) {
        over->at += over->stride[i];
        if (++over->place[i] < over->size[i])
            return;
        over->at -= over->stride[i] * over->size[i];
        over->place[i] = 0;
    }
}

/* The place of the cell in the order of the column with this number, and how far apart its values
 * are in the table. */
static size_t stride_of(const brume_consistent *all, uint64_t mask, size_t column)
{
    size_t stride = 1;
    for (size_t i = all->columns; i-- > column + 1;)
        if (mask >> i & 1)
            stride *= all->sizes[i];
    return stride;
}

/* ---- the fit ---- */

/* Take the mean along each column from the cells. */
static void take_means(const brume_consistent *all, uint64_t mask, double *cells, size_t count)
{
    for (size_t i = 0; i < all->columns; i++) {
        size_t size = all->sizes[i], stride = stride_of(all, mask, i);
        if (!(mask >> i & 1))
            continue;
        for (size_t at = 0; at < count; at++) {
            double mean = 0;
            if (at / stride % size != 0) /* the first cell of each line */
                continue;
            for (size_t k = 0; k < size; k++)
                mean += cells[at + k * stride];
            mean /= (double)size;
            for (size_t k = 0; k < size; k++)
                cells[at + k * stride] -= mean;
        }
    }
}

/* The part of the table that no smaller one tells, from all that contain it. */
static void find_part(const brume_consistent *all, const table *of, double *const *numbers,
                      double *part)
{
    memset(part, 0, of->cells * sizeof *part);
    for (size_t s = 0; s < all->set_count; s++) {
        const table *from = &all->tables[all->sets[s]];
        if (of->mask & ~from->mask)
            continue;
        double weight = all->weights[s] / cells_of(all, from->mask & ~of->mask) / of->precision;
        walk over = walk_over(all, from->mask, of->mask);
        for (size_t i = 0; i < from->cells; i++, step(&over))
            part[over.at] += weight * numbers[s][i];
    }
    take_means(all, of->mask, part, of->cells);
}

static void add_part(const brume_consistent *all, const table *of, const double *part,
                     double *const *fitted)
{
    for (size_t s = 0; s < all->set_count; s++) {
        const table *to = &all->tables[all->sets[s]];
        if (of->mask & ~to->mask)
            continue;
        double each = 1 / cells_of(all, to->mask & ~of->mask);
        walk over = walk_over(all, to->mask, of->mask);
        for (size_t i = 0; i < to->cells; i++, step(&over))
            fitted[s][i] += part[over.at] * each;
    }
}

static void free_tables(double **tables, size_t count)
{
    for (size_t i = 0; tables && i < count; i++)
        free(tables[i]);
    free(tables);
}

/* A table of zeros for each set; NULL: no memory. */
static double **open_tables(const brume_consistent *all)
{
    double **made = calloc(all->set_count + 1, sizeof *made);
    for (size_t s = 0; made && s < all->set_count; s++) {
        made[s] = calloc(brume_consistent_cells(all, s) + 1, sizeof **made);
        if (!made[s]) {
            free_tables(made, all->set_count);
            return NULL;
        }
    }
    return made;
}

brume_status brume_consistent_fit(const brume_consistent *all, double *const *numbers,
                                  brume_error *error)
{
    size_t most = 0;
    for (size_t i = 0; i < all->count; i++)
        most = all->tables[i].cells > most ? all->tables[i].cells : most;
    double **fitted = open_tables(all), *part = calloc(most + 1, sizeof *part);
    brume_status status = fitted && part ? BRUME_OK : brume_no_memory(error, "tables");
    for (size_t i = 0; status == BRUME_OK && i < all->count; i++) {
        find_part(all, &all->tables[i], numbers, part);
        add_part(all, &all->tables[i], part, fitted);
    }
    for (size_t s = 0; status == BRUME_OK && s < all->set_count; s++)
        memcpy(numbers[s], fitted[s], brume_consistent_cells(all, s) * sizeof **fitted);
    free_tables(fitted, all->set_count);
    free(part);
    return status;
}

/* ---- whole numbers ---- */

/* Cells as sums of all cells that are not beyond them in any column. */
static void add_up(const brume_consistent *all, uint64_t mask, double *cells, size_t count)
{
    for (size_t i = 0; i < all->columns; i++) {
        size_t size = all->sizes[i], stride = stride_of(all, mask, i);
        for (size_t at = 0; mask >> i & 1 && at < count; at++)
            if (at / stride % size != 0)
                cells[at] += cells[at - stride];
    }
}

/* The other way round. */
static void take_apart(const brume_consistent *all, uint64_t mask, double *cells, size_t count)
{
    for (size_t i = 0; i < all->columns; i++) {
        size_t size = all->sizes[i], stride = stride_of(all, mask, i);
        for (size_t at = count; mask >> i & 1 && at-- > 0;)
            if (at / stride % size != 0)
                cells[at] -= cells[at - stride];
    }
}

/* The cell without a column in which it is the last; true: there is one. */
static bool without_last(const brume_consistent *all, uint64_t mask, size_t at, uint64_t *left,
                         size_t *place)
{
    for (size_t i = 0; i < all->columns; i++) {
        size_t size = all->sizes[i], stride = stride_of(all, mask, i);
        if (!(mask >> i & 1) || at / stride % size + 1 != size)
            continue;
        *left = mask & ~(UINT64_C(1) << i);
        *place = at / (stride * size) * stride + at % stride;
        return true;
    }
    return false;
}

/* sums[t] of every table: its cells added up, rounded. A sum that goes to the end of a column is
 * that of the table without it, so that the tables agree whatever is rounded. */
static brume_status round_sums(const brume_consistent *all, double *const *numbers, double **sums,
                               brume_error *error)
{
    for (size_t t = 0; t < all->count; t++) {
        const table *of = &all->tables[t], *from = of;
        for (size_t s = 0; s < all->set_count && (of->mask & ~from->mask || from->wanted < 0); s++)
            from = &all->tables[all->sets[s]];
        sums[t] = calloc(of->cells + 1, sizeof **sums);
        if (!sums[t])
            return brume_no_memory(error, "tables");
        walk over = walk_over(all, from->mask, of->mask);
        for (size_t i = 0; i < from->cells; i++, step(&over))
            sums[t][over.at] += numbers[from->wanted][i];
        add_up(all, of->mask, sums[t], of->cells);
        for (size_t i = 0; i < of->cells; i++) {
            uint64_t left = 0;
            size_t place = 0;
            sums[t][i] = without_last(all, of->mask, i, &left, &place)
                             ? sums[find(all, left) - all->tables][place]
                             : rint(sums[t][i]);
        }
    }
    return BRUME_OK;
}

/* ---- nearer whole numbers, where one table has all columns ---- */

/* Whole numbers and what they are rounded from, and where each cell of the base is in each table.
 */
typedef struct search {
    const brume_consistent *all;
    double *const *whole, *const *wanted;
    uint32_t **places;
} search;

/* By how much the sum of squares grows if `by` is added in the cell of the base. */
static double growth(const search *of, size_t cell, double by)
{
    double grows = 0;
    for (size_t s = 0; s < of->all->set_count; s++) {
        size_t at = of->places[s][cell];
        grows += 1 + 2 * by * (of->whole[s][at] - of->wanted[s][at]);
    }
    return grows;
}

static void add(const search *of, size_t cell, double by)
{
    for (size_t s = 0; s < of->all->set_count; s++)
        of->whole[s][of->places[s][cell]] += by;
}

static bool improve_one(const search *of, size_t cell)
{
    for (double by = -1; by <= 1; by += 2)
        if (growth(of, cell, by) < -1e-9) {
            add(of, cell, by);
            return true;
        }
    return false;
}

/* One from a cell to another in the same line. */
static bool improve_pair(const search *of, size_t from, size_t to)
{
    double before = growth(of, from, -1);
    add(of, from, -1);
    if (before + growth(of, to, 1) < -1e-9) {
        add(of, to, 1);
        return true;
    }
    add(of, from, 1);
    return false;
}

static bool improve_lines(const search *of, size_t cell)
{
    const brume_consistent *all = of->all;
    uint64_t mask = all->tables[all->sets[all->base]].mask;
    bool any = false;
    for (size_t i = 0; i < all->columns; i++) {
        size_t size = all->sizes[i], stride = stride_of(all, mask, i);
        size_t own = cell / stride % size;
        for (size_t k = 0; mask >> i & 1 && k < size; k++)
            if (k != own && improve_pair(of, cell, cell - own * stride + k * stride))
                any = true;
    }
    return any;
}

static double pass_of(const brume_consistent *all)
{
    double lines = 1;
    for (size_t i = 0; i < all->columns; i++)
        lines += (double)all->sizes[i];
    return (double)brume_consistent_cells(all, (size_t)all->base) * lines * (double)all->set_count;
}

static bool is_searched(const brume_consistent *all)
{
    return all->base >= 0 && pass_of(all) <= most_search;
}

static void improve(const search *of)
{
    size_t cells = brume_consistent_cells(of->all, (size_t)of->all->base);
    bool any = true;
    for (int pass = 0; any && pass < 32; pass++) {
        any = false;
        for (size_t i = 0; i < cells; i++) {
            bool moved = improve_one(of, i);
            any = improve_lines(of, i) || moved || any;
        }
    }
}

static brume_status search_near(const brume_consistent *all, double *const *whole,
                                double *const *wanted, brume_error *error)
{
    search of = {all, whole, wanted, calloc(all->set_count + 1, sizeof *of.places)};
    const table *base = &all->tables[all->sets[all->base]];
    brume_status status = of.places ? BRUME_OK : brume_no_memory(error, "tables");
    for (size_t s = 0; status == BRUME_OK && s < all->set_count; s++) {
        of.places[s] = calloc(base->cells + 1, sizeof **of.places);
        if (!of.places[s])
            status = brume_no_memory(error, "tables");
        walk over = walk_over(all, base->mask, all->tables[all->sets[s]].mask);
        for (size_t i = 0; status == BRUME_OK && i < base->cells; i++, step(&over))
            of.places[s][i] = (uint32_t)over.at;
    }
    if (status == BRUME_OK)
        improve(&of);
    for (size_t s = 0; of.places && s < all->set_count; s++)
        free(of.places[s]);
    free(of.places);
    return status;
}

static double moved(const double *whole, const double *from, size_t cells)
{
    double sum = 0;
    for (size_t i = 0; i < cells; i++)
        sum += (whole[i] - from[i]) * (whole[i] - from[i]);
    return sum / (double)cells;
}

brume_status brume_consistent_round(const brume_consistent *all, double *const *numbers,
                                    double *mean_square, brume_error *error)
{
    double **sums = calloc(all->count + 1, sizeof *sums),
           **whole = calloc(all->set_count + 1, sizeof *whole);
    brume_status status = sums && whole ? round_sums(all, numbers, sums, error)
                                        : brume_no_memory(error, "tables");
    for (size_t s = 0; status == BRUME_OK && s < all->set_count; s++) {
        whole[s] = sums[all->sets[s]];
        take_apart(all, all->tables[all->sets[s]].mask, whole[s], brume_consistent_cells(all, s));
    }
    if (status == BRUME_OK && is_searched(all))
        status = search_near(all, whole, numbers, error);
    for (size_t s = 0; status == BRUME_OK && s < all->set_count; s++) {
        size_t cells = brume_consistent_cells(all, s);
        if (mean_square)
            mean_square[s] = moved(whole[s], numbers[s], cells);
        memcpy(numbers[s], whole[s], cells * sizeof **whole);
    }
    free_tables(sums, all->count);
    free(whole);
    return status;
}

double brume_consistent_rounding(const brume_consistent *all, size_t set)
{
    int columns = columns_in(all->tables[all->sets[set]].mask);
    return is_searched(all) ? (2 + columns) / 12.0 : ldexp(1.0 / 12, columns);
}
