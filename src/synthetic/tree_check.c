/* Is a question of the method tree one that can be asked? Only public numbers are looked at, but in
 * the check of data, whose caller has made them so that it does not fail. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "synthetic/junction.h"
#include "synthetic/tree.h"

brume_status brume_tree_check_columns(const brume_tree_question *question, brume_error *error)
{
    if (question->columns > BRUME_TREE_COLUMNS)
        return brume_fail(error, BRUME_EUNSUPPORTED, "leave some out",
                          "%zu columns, at most %d are possible", question->columns,
                          BRUME_TREE_COLUMNS);
    if (question->columns < 2)
        return brume_fail(error, BRUME_EARGUMENT, "take the method gaussian",
                          "the method tree needs two columns");
    for (size_t c = 0; c < question->columns; c++)
        if (question->column[c].values < 1 || question->column[c].values > BRUME_TREE_VALUES)
            return brume_fail(error, BRUME_EUNSUPPORTED, "take coarser bins",
                              "column %zu has %u values, must have 1 to %d", c + 1,
                              question->column[c].values, BRUME_TREE_VALUES);
    return BRUME_OK;
}

/* Is a cell of the condition's columns excluded by it, or by another one on some of them? */
static bool is_never(const brume_tree_question *question, const brume_tree_zero *zero, size_t cell)
{
    uint32_t value[BRUME_TREE_COLUMNS] = {0};
    bool known[BRUME_TREE_COLUMNS] = {false};
    size_t rest = cell;
    for (size_t k = zero->columns; k-- > 0;) {
        uint32_t values = question->column[zero->column[k]].values;
        value[zero->column[k]] = (uint32_t)(rest % values);
        known[zero->column[k]] = true;
        rest /= values;
    }
    for (size_t i = 0; i < question->zeros; i++) {
        const brume_tree_zero *other = &question->zero[i];
        size_t at = 0;
        bool inside = true;
        for (size_t k = 0; inside && k < other->columns; k++) {
            inside = known[other->column[k]];
            at = at * question->column[other->column[k]].values + value[other->column[k]];
        }
        if (inside && other->never[at])
            return true;
    }
    return false;
}

static brume_status check_tables(const brume_tree_question *question, brume_error *error)
{
    bool pairs = false;
    for (size_t i = 0; i < question->tables; i++) {
        const brume_tree_table *table = &question->table[i];
        double cells = 1;
        bool good = table->columns >= 1 && table->columns <= BRUME_TREE_WIDEST &&
                    table->weight > 0 && isfinite(table->weight);
        for (size_t k = 0; good && k < table->columns; k++) {
            good = table->column[k] < question->columns &&
                   (k == 0 || table->column[k] > table->column[k - 1]);
            if (good)
                cells *= fmin(question->column[table->column[k]].values, BRUME_TREE_MODEL_VALUES);
        }
        if (!good)
            return brume_fail(error, BRUME_EARGUMENT, NULL,
                              "a table of the workload must have 1 to %d different columns and a "
                              "weight above 0",
                              BRUME_TREE_WIDEST);
        pairs = pairs || table->columns > 1;
        if (cells > BRUME_TREE_CELLS)
            return brume_fail(error, BRUME_EOVERFLOW, "take coarser bins",
                              "a table of the workload has %.3g cells, at most %d are possible",
                              cells, BRUME_TREE_CELLS);
    }
    if (!pairs)
        return brume_fail(error, BRUME_EARGUMENT, "take the method gaussian",
                          "the method tree needs a workload with tables of two columns or more");
    for (size_t i = 0; i < question->zeros; i++) {
        const brume_tree_zero *zero = &question->zero[i];
        size_t cells = 1, excluded = 0;
        for (size_t k = 0; k < zero->columns; k++) {
            uint32_t values = question->column[zero->column[k]].values;
            if (values > BRUME_TREE_MODEL_VALUES)
                return brume_fail(error, BRUME_EUNSUPPORTED, "take coarser bins",
                                  "a condition on a column of %u values, at most %d are possible",
                                  values, BRUME_TREE_MODEL_VALUES);
            cells *= values;
        }
        for (size_t x = 0; x < cells; x++)
            excluded += is_never(question, zero, x);
        if (excluded == cells)
            return brume_fail(error, BRUME_EARGUMENT, NULL, "the conditions exclude every row");
    }
    return BRUME_OK;
}

static brume_status check_options(const brume_tree_options *options, brume_error *error)
{
    bool gaussian = options->sigma > 0 && isfinite(options->sigma) && options->epsilon == 0;
    bool pure = options->epsilon > 0 && isfinite(options->epsilon) && options->sigma == 0;
    if (options->adjacency != BRUME_ADD_REMOVE && options->adjacency != BRUME_REPLACE)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'adjacency' must be add-remove or replace");
    if (!gaussian && !pure)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "the price must be a sigma or an epsilon, above 0");
    if (options->rows_per_unit < 1 || options->rows_per_unit > 1 << 20)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'rows_per_unit' is %llu, must be from 1 to %d",
                          (unsigned long long)options->rows_per_unit, 1 << 20);
    if (options->rows < 1 || options->rows > BRUME_TREE_ROWS)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'rows' is %llu, must be from 1 to %d",
                          (unsigned long long)options->rows, BRUME_TREE_ROWS);
    if (pure && options->rounds)
        return brume_fail(error, BRUME_EARGUMENT, "leave 'rounds' out",
                          "a pure price has two rounds");
    if (options->rounds > BRUME_TREE_ROUNDS)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'rounds' must be from 1 to %d",
                          BRUME_TREE_ROUNDS);
    if (!(options->error_share >= 0 && options->error_share <= 0.5))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'error_share' is %g, must be from 0 to 0.5", options->error_share);
    if (!(options->beta > 0 && options->beta < 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'beta' must be above 0 and below 1");
    return BRUME_OK;
}

/* Conditions alone make a model that keeps to the limit: they stand in it whatever is chosen. */
static brume_status check_zeros(const brume_tree_question *question, double limit,
                                brume_error *error)
{
    uint32_t values[BRUME_TREE_COLUMNS];
    brume_junction *model = NULL;
    if (question->zeros == 0)
        return BRUME_OK;
    for (size_t c = 0; c < question->columns; c++)
        values[c] = question->column[c].values < BRUME_TREE_MODEL_VALUES
                        ? question->column[c].values
                        : BRUME_TREE_MODEL_VALUES;
    BRUME_TRY(brume_junction_open(values, question->columns, &model, error));
    for (size_t i = 0; i < question->zeros; i++) {
        brume_column_set set = 0;
        for (size_t k = 0; k < question->zero[i].columns; k++)
            set |= brume_column_bit(question->zero[i].column[k]);
        brume_junction_join(model, set);
    }
    double cells = brume_junction_cells_with(model, 0);
    brume_junction_close(model);
    return cells <= limit ? BRUME_OK
                          : brume_fail(error, BRUME_EOVERFLOW, "fewer conditions, or coarser bins",
                                       "the conditions need a model of %.0f cells, the limit is "
                                       "%.0f",
                                       cells, limit);
}

/* A model without tables, to see what the limit must hold at least. */
static brume_status check_limit(const brume_tree_question *question, brume_error *error)
{
    double cells = (double)question->options.model_cells;
    uint32_t least = 0;
    for (size_t c = 0; c < question->columns; c++) {
        uint32_t values = question->column[c].values;
        least = values > least ? values : least;
    }
    if (least > BRUME_TREE_MODEL_VALUES)
        least = BRUME_TREE_MODEL_VALUES;
    if (cells > BRUME_TREE_CELLS)
        return brume_fail(error, BRUME_EOVERFLOW, NULL,
                          "'model_cells' is %.0f, at most %d are possible", cells,
                          BRUME_TREE_CELLS);
    if (cells > 0 && cells < least)
        return brume_fail(error, BRUME_EOVERFLOW, NULL,
                          "'model_cells' is %.0f, less than the largest column, of %u values",
                          cells, least);
    return check_zeros(question, cells > 0 ? cells : BRUME_TREE_MODEL_CELLS, error);
}

brume_status brume_tree_check(const brume_tree_question *question, brume_error *error)
{
    BRUME_TRY(brume_tree_check_columns(question, error));
    BRUME_TRY(check_tables(question, error));
    BRUME_TRY(check_options(&question->options, error));
    return check_limit(question, error);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double brume_tree_median_pair(const brume_tree_question *question)
{
    size_t pairs = question->columns * (question->columns - 1) / 2, count = 0;
    double *cells = malloc(pairs * sizeof *cells), median = 0;
    if (!cells)
        return 0;
    for (size_t a = 0; a < question->columns; a++)
        for (size_t b = a + 1; b < question->columns; b++)
            cells[count++] = fmin(question->column[a].values, BRUME_TREE_MODEL_VALUES) *
                             fmin(question->column[b].values, BRUME_TREE_MODEL_VALUES);
    qsort(cells, pairs, sizeof *cells, by_size);
    median = pairs ? cells[pairs / 2] : 1;
    free(cells);
    return median;
}

brume_status brume_tree_check_data(const brume_tree_question *question, const uint16_t *const *data,
                                   uint64_t n, brume_error *error)
{
    if (question->options.adjacency == BRUME_REPLACE && n == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "an empty dataset");
    if (n > UINT32_MAX)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "more than 2^32 - 1 rows");
    for (size_t c = 0; c < question->columns; c++)
        for (uint64_t r = 0; r < n; r++)
            if (data[c][r] >= question->column[c].values)
                return brume_fail(error, BRUME_EARGUMENT, NULL,
                                  "a value of column %zu is outside its domain", c + 1);
    return BRUME_OK;
}
