/* Synthetic rows of wide tables: the mechanism. Promises: brume/synthetic/tree.h; proofs/tree.md.
 *
 * True numbers are in `truth` of candidates and in the arrays that are handed to draw(), nowhere
 * else; what is drawn next depends on what came out of it and on public numbers. */
#include "synthetic/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <brume/mechanism/mechanism.h>

#include "base/error.h"
#include "number/rounding.h"
#include "synthetic/junction.h"
#include "synthetic/tree_count.h"
#include "synthetic/tree_levels.h"

/* The shares of the price, and the constants of the choice: fixed, and not to be taken from data.
 */
static const double SHARE_ONE = 0.15;      /* the columns alone */
static const double SHARE_SCORES = 0.09;   /* of a round */
static const double SHARE_CHOICES = 0.15;  /* pure: of the price */
static const double SHARE_MEAN = 0.1;      /* of the bars */
static const double TABLES_A_COLUMN = 1.2; /* expected in a round, for levels */
static const double MOST_A_COLUMN = 1.5;   /* that a round may choose */
static const double FINE = 0.02;

enum {
    ROUNDS = 4,
    ROUNDS_FINE = 6,
    ROUNDS_PURE = 2,
    CELLS = BRUME_TREE_MODEL_CELLS,
    CELLS_FINE = 1 << 20,
    TRIPLE_CELLS = 1000000,
    MODEL_ROWS = 100000,       /* rows that stand for the model, at least */
    MODEL_ROWS_MOST = 1 << 19, /* and at most */
    KEPT_CELLS = 1 << 23,      /* true counts that are kept from round to round */
    BAR_CELLS = 1 << 22,       /* a bar is of all values up to here, else of the model's bins */
};

typedef struct candidate {
    size_t columns;
    uint16_t column[3];
    brume_column_set set;
    double weight;
    size_t cells;    /* with all values of the model */
    uint32_t *truth; /* private: its counts; NULL: they are counted again each time */
    double excess;   /* noisy error above what data scatter */
    double gain;     /* by which it is ranked; <= 0: not to be chosen */
    uint8_t level[3];
    double bins; /* cells at these levels */
    bool chosen;
} candidate;

typedef struct tree_run {
    const brume_tree_question *question;
    const brume_tree_options *options;
    size_t columns;
    const uint16_t *const *data; /* private; NULL when rows are drawn again */
    uint64_t n;                  /* private under add-remove */
    const brume_tree_source *source;
    brume_bits *bits;
    double budget, spent; /* mu^2, or epsilon */
    bool is_pure, is_fine;
    uint64_t rounds;
    double limit; /* cells of the model */
    brume_tree_levels levels[BRUME_TREE_COLUMNS];
    brume_junction *model;
    uint16_t *row[BRUME_TREE_COLUMNS]; /* rows of the model, for it */
    uint64_t row_count;
    candidate *candidates;
    size_t pairs, candidate_count; /* pairs stand first */
    brume_tree_result result;
} tree_run;

/* ---- sensitivities: proofs/tree.md has one line for each ---- */

/* A table, at any levels: a row is in one cell of it. Under replace it leaves one and enters
 * another: the squared L2 norm is 2 m^2, the L1 norm 2 m. */
static double table_sensitivity(const tree_run *all)
{
    double rows = (double)all->options->rows_per_unit;
    double both = all->options->adjacency == BRUME_REPLACE ? 2 : 1;
    return all->is_pure ? both * rows : both * rows * rows;
}

/* A score, in steps: the L1 distance of a table to fixed numbers moves by as much as the table. The
 * factor that monotone scores would save is not taken: a row may bring one table nearer to the
 * model and another further from it. test_tree's twin `monotone` fails without it. */
static double score_sensitivity(const tree_run *all)
{
    double both = all->options->adjacency == BRUME_REPLACE ? 2 : 1;
    return BRUME_TREE_GRID * both * (double)all->options->rows_per_unit;
}

/* ---- drawing: the one door ---- */

static brume_status draw(tree_run *all, bool is_score, double sensitivity, double scale,
                         int64_t *values, size_t n, brume_error *error)
{
    brume_tree_draw one = {.is_score = is_score,
                           .is_laplace = all->is_pure,
                           .scale = scale,
                           .sensitivity = sensitivity};
    /* up: a cost */
    one.cost_upper =
        brume_divide_up(sensitivity, all->is_pure ? scale : brume_multiply_down(scale, scale));
    double spent = brume_add_up(all->spent, one.cost_upper);
    if (!(spent <= all->budget))
        return brume_fail(error, BRUME_EINTERNAL, NULL, "a draw would exceed the price");
    all->spent = spent;
    return all->source->add(all->source->context, &one, values, n, error);
}

/* The scale that costs at most `price`. */
static double scale_for(const tree_run *all, double sensitivity, double price)
{
    double ratio = brume_divide_up(sensitivity, price);
    return all->is_pure ? ratio : brume_up(brume_sqrt_up(ratio)); /* up: its square, rounded down,
                                                                   * is not below the ratio */
}

/* What may be planned with: a little less than the price, for the roundings. */
static double share_of(const tree_run *all, double share)
{
    return all->budget * (1 - 0x1p-30) * share;
}

/* The table of columns at levels, of the model's values (SIZE_MAX columns never occur): from the
 * data, or from the rows of the model. */
static brume_status count_columns(const tree_run *all, bool of_data, size_t columns,
                                  const uint16_t *column, const uint8_t *level, uint32_t *counts,
                                  brume_error *error)
{
    const uint16_t *data[BRUME_TREE_WIDEST], *map[BRUME_TREE_WIDEST];
    uint16_t *made[BRUME_TREE_WIDEST] = {NULL};
    uint32_t bins[BRUME_TREE_WIDEST], most[BRUME_TREE_WIDEST];
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < columns; i++) {
        const brume_tree_levels *levels = &all->levels[column[i]];
        size_t at = level ? level[i] : 0;
        data[i] = of_data ? all->data[column[i]] : all->row[column[i]];
        bins[i] = levels->bins[at];
        map[i] = levels->map[at];
        most[i] = levels->values;
        if (of_data && levels->of_value) { /* data have all values */
            most[i] = all->question->column[column[i]].values;
            if (!levels->map[at]) {
                map[i] = levels->of_value;
                continue;
            }
            made[i] = malloc(most[i] * sizeof *made[i]);
            if (!made[i])
                status = brume_no_memory(error, "counts");
            for (uint32_t v = 0; made[i] && v < most[i]; v++)
                made[i][v] = levels->map[at][levels->of_value[v]];
            map[i] = made[i];
        }
    }
    if (status == BRUME_OK)
        status = brume_tree_count(columns, data, map, bins, most, of_data ? all->n : all->row_count,
                                  counts, error);
    for (size_t i = 0; i < columns; i++)
        free(made[i]);
    return status;
}

static void wipe(void *space, size_t bytes)
{
    if (space)
        explicit_bzero(space, bytes);
    free(space);
}

/* ---- measuring ---- */

static brume_status add_to_model(tree_run *all, const brume_tree_measured *one,
                                 const int64_t *counts, brume_error *error)
{
    brume_noisy_table table = {.columns = one->columns, .sigma = one->sigma, .noisy = counts};
    for (size_t i = 0; i < one->columns; i++) {
        const brume_tree_levels *levels = &all->levels[one->column[i]];
        table.column[i] = one->column[i];
        table.bins[i] = levels->bins[one->level[i]];
        table.bin_of[i] = levels->map[one->level[i]];
    }
    return brume_junction_add(all->model, &table, error);
}

/* Keep a measurement in the result; its `noisy` is then the result's. */
static brume_status keep(tree_run *all, const brume_tree_measured *one, brume_error *error)
{
    brume_tree_measured *list =
        realloc(all->result.measured, (all->result.measured_count + 1) * sizeof *list);
    if (!list)
        return brume_no_memory(error, "measurements");
    list[all->result.measured_count++] = *one;
    all->result.measured = list;
    return BRUME_OK;
}

/* Count, add noise for the price, keep. `one` says which table; of_values: of one column, with all
 * its values. */
static brume_status measure(tree_run *all, brume_tree_measured *one, double price, bool of_values,
                            brume_error *error)
{
    one->cells = 1;
    for (size_t i = 0; i < one->columns; i++) {
        one->bins[i] = of_values ? all->question->column[one->column[i]].values
                                 : all->levels[one->column[i]].bins[one->level[i]];
        one->cells *= one->bins[i];
    }
    double scale = scale_for(all, table_sensitivity(all), price);
    one->sigma = all->is_pure ? sqrt(2) * scale : scale;
    one->noisy = malloc(one->cells * sizeof *one->noisy);
    uint32_t *counts = malloc(one->cells * sizeof *counts);
    brume_status status = one->noisy && counts ? BRUME_OK : brume_no_memory(error, "a table");
    if (status == BRUME_OK && of_values)
        status = brume_tree_count(1, &all->data[one->column[0]], NULL, one->bins, one->bins, all->n,
                                  counts, error);
    else if (status == BRUME_OK)
        status = count_columns(all, true, one->columns, one->column, one->level, counts, error);
    for (size_t x = 0; status == BRUME_OK && x < one->cells; x++)
        one->noisy[x] = counts[x];
    wipe(counts, one->cells * sizeof *counts);
    if (status == BRUME_OK)
        status = draw(all, false, table_sensitivity(all), scale, one->noisy, one->cells, error);
    if (status == BRUME_OK)
        status = keep(all, one, error);
    if (status != BRUME_OK) /* true numbers may still be there */
        wipe(one->noisy, one->noisy ? one->cells * sizeof *one->noisy : 0);
    return status;
}

/* ---- the columns alone ---- */

/* Levels and the model's first tables from measurements of round 0, one per column, which stand
 * first. */
static brume_status begin_model(tree_run *all, brume_error *error)
{
    uint32_t values[BRUME_TREE_COLUMNS];
    int64_t *counts = malloc((BRUME_TREE_VALUES + 1) * sizeof *counts);
    brume_status status = counts ? BRUME_OK : brume_no_memory(error, "levels");
    for (size_t c = 0; status == BRUME_OK && c < all->columns; c++) {
        status = brume_tree_make_levels(&all->levels[c], &all->question->column[c],
                                        all->result.measured[c].noisy, counts, error);
        values[c] = all->levels[c].values;
    }
    if (status == BRUME_OK)
        status = brume_junction_open(values, all->columns, &all->model, error);
    for (size_t c = 0; status == BRUME_OK && c < all->columns; c++) {
        brume_tree_measured one = all->result.measured[c];
        const brume_tree_levels *levels = &all->levels[c];
        memcpy(counts, one.noisy, one.cells * sizeof *counts);
        if (levels->of_value) {
            memset(counts, 0, levels->values * sizeof *counts);
            for (uint32_t v = 0; v < one.cells; v++)
                counts[levels->of_value[v]] += one.noisy[v];
            /* of a bin, about: of a few bins of halves at its ends, or of all its values */
            bool halved = brume_tree_halvings(&all->question->column[c]) > 1;
            one.sigma *= halved ? 1.5 : sqrt((double)one.cells / levels->values);
        }
        status = add_to_model(all, &one, counts, error);
    }
    for (size_t i = 0; status == BRUME_OK && i < all->question->zeros; i++) {
        const brume_tree_zero *zero = &all->question->zero[i];
        status =
            brume_junction_exclude(all->model, zero->column, zero->columns, zero->never, error);
    }
    free(counts);
    return status;
}

/* The total that all columns' sums tell together: a sum of c counts has c times the variance. In a
 * column in halves the coarsest level tells it, at the noise of a part of the price. */
static double total_of(const tree_run *all)
{
    double sum = 0, weight = 0;
    if (all->options->adjacency == BRUME_REPLACE)
        return (double)all->n; /* public */
    for (size_t c = 0; c < all->columns; c++) {
        const brume_tree_measured *one = &all->result.measured[c];
        double total = 0;
        for (size_t x = 0; x < one->cells; x++)
            total += (double)one->noisy[x];
        size_t levels = brume_tree_halvings(&all->question->column[c]);
        double counts = (double)levels * brume_tree_halved((uint32_t)one->cells, levels - 1);
        sum += total / counts;
        weight += 1 / counts;
    }
    return fmax(rint(sum / weight), 1);
}

/* The share of a round, tables and scores together. */
static double round_share(const tree_run *all, uint64_t rounds)
{
    double taken = SHARE_ONE + all->options->error_share + (all->is_pure ? SHARE_CHOICES : 0);
    return share_of(all, (1 - taken) / (double)rounds);
}

static double tables_share(const tree_run *all, uint64_t rounds)
{
    return round_share(all, rounds) * (all->is_pure ? 1 : 1 - SHARE_SCORES);
}

/* The noise of a count where 1.2 tables a column share the price: a standard deviation; pure: so
 * that BRUME_TREE_ABSOLUTE times it is what Laplace noise adds. */
static double round_noise(const tree_run *all, double price)
{
    double tables = TABLES_A_COLUMN * (double)all->columns;
    double ratio = table_sensitivity(all) * tables / price;
    return all->is_pure ? ratio / BRUME_TREE_ABSOLUTE : sqrt(ratio);
}

static void decide_rounds(tree_run *all, double records, double median)
{
    double noise = round_noise(all, tables_share(all, ROUNDS));
    all->is_fine = !all->is_pure && BRUME_TREE_ABSOLUTE * noise * median < FINE * records;
    all->rounds = all->is_pure           ? ROUNDS_PURE
                  : all->options->rounds ? all->options->rounds
                  : all->is_fine         ? ROUNDS_FINE
                                         : ROUNDS;
    all->limit = all->options->model_cells ? (double)all->options->model_cells
                 : all->is_fine            ? CELLS_FINE
                                           : CELLS;
}

/* ---- the model and its rows ---- */

static void free_rows(tree_run *all)
{
    for (size_t c = 0; c < all->columns; c++) {
        free(all->row[c]);
        all->row[c] = NULL;
    }
}

static brume_status draw_rows(tree_run *all, uint64_t rows, brume_error *error)
{
    free_rows(all);
    for (size_t c = 0; c < all->columns; c++) {
        all->row[c] = malloc(rows * sizeof *all->row[c]);
        if (!all->row[c])
            return brume_no_memory(error, "rows");
    }
    all->row_count = rows;
    return brume_junction_rows(all->model, all->bits, rows, all->row, error);
}

static brume_status refit(tree_run *all, bool is_last, brume_error *error)
{
    size_t steps = all->is_fine ? 250 : 100;
    brume_junction_fit report;
    BRUME_TRY(brume_junction_solve(all->model, all->result.records, is_last ? 2 * steps : steps,
                                   &report, error));
    all->result.converged = report.converged;
    double most = fmin(fmax(all->result.records, MODEL_ROWS), MODEL_ROWS_MOST);
    if (all->source && all->source->model_rows > 0)
        most = (double)all->source->model_rows;
    return draw_rows(all, is_last ? all->options->rows : (uint64_t)most, error);
}

/* ---- candidates ---- */

/* The largest weight of a table of the workload with all these columns; 0: there is none. */
static double weight_of(const brume_tree_question *question, const uint16_t *column, size_t columns)
{
    double weight = 0;
    for (size_t i = 0; i < question->tables; i++) {
        const brume_tree_table *table = &question->table[i];
        size_t found = 0;
        for (size_t k = 0; k < columns; k++)
            for (size_t j = 0; j < table->columns; j++)
                found += table->column[j] == column[k];
        if (found == columns)
            weight = fmax(weight, table->weight);
    }
    return weight;
}

/* Does the workload have a table of three columns? */
static bool has_triples(const brume_tree_question *question)
{
    for (size_t i = 0; i < question->tables; i++)
        if (question->table[i].columns > 2)
            return true;
    return false;
}

static bool add_candidate(tree_run *all, size_t *room, const uint16_t *column, size_t columns,
                          double weight)
{
    double cells = 1;
    for (size_t i = 0; i < columns; i++)
        cells *= all->levels[column[i]].values;
    if (columns == 3 && cells > TRIPLE_CELLS)
        return true;
    if (all->candidate_count == *room) {
        size_t wanted = *room ? 2 * *room : 64;
        candidate *list = realloc(all->candidates, wanted * sizeof *list);
        if (!list)
            return false;
        all->candidates = list;
        *room = wanted;
    }
    candidate *one = &all->candidates[all->candidate_count++];
    *one = (candidate){.columns = columns, .weight = weight, .cells = (size_t)cells};
    for (size_t i = 0; i < columns; i++) {
        one->column[i] = column[i];
        one->set |= brume_column_bit(column[i]);
    }
    return true;
}

/* Pairs that some table of the workload has, then triples where noise is fine. */
static brume_status list_candidates(tree_run *all, brume_error *error)
{
    const brume_tree_question *question = all->question;
    size_t room = 0, d = all->columns;
    bool good = true;
    for (size_t a = 0; a < d; a++)
        for (size_t b = a + 1; good && b < d; b++) {
            const uint16_t pair[] = {(uint16_t)a, (uint16_t)b};
            double weight = weight_of(question, pair, 2);
            good = weight == 0 || add_candidate(all, &room, pair, 2, weight);
        }
    all->pairs = all->candidate_count;
    bool triples = all->is_fine && has_triples(question);
    for (size_t a = 0; triples && a < d; a++)
        for (size_t b = a + 1; good && b < d; b++)
            for (size_t c = b + 1; good && c < d; c++) {
                const uint16_t triple[] = {(uint16_t)a, (uint16_t)b, (uint16_t)c};
                double weight = weight_of(question, triple, 3);
                good = weight == 0 || add_candidate(all, &room, triple, 3, weight);
            }
    size_t kept = 0;
    for (size_t i = 0; good && i < all->candidate_count; i++) {
        candidate *one = &all->candidates[i];
        if (kept + one->cells > KEPT_CELLS)
            break;
        kept += one->cells;
        one->truth = malloc(one->cells * sizeof *one->truth);
        good = one->truth != NULL;
        if (good)
            BRUME_TRY(count_columns(all, true, one->columns, one->column, NULL, one->truth, error));
    }
    return good ? BRUME_OK : brume_no_memory(error, "scores");
}

/* Distances of the first `count` candidates: private, to be drawn with or chosen by. */
static brume_status measure_distances(tree_run *all, size_t count, double noise, int64_t *steps,
                                      double *floors, brume_error *error)
{
    size_t room = 0;
    for (size_t i = 0; i < count; i++)
        room = all->candidates[i].cells > room ? all->candidates[i].cells : room;
    uint32_t *truth = malloc(room * sizeof *truth), *rows = malloc(room * sizeof *rows);
    brume_status status = truth && rows ? BRUME_OK : brume_no_memory(error, "scores");
    double scale = all->result.records / (double)all->row_count;
    for (size_t i = 0; status == BRUME_OK && i < count; i++) {
        const candidate *one = &all->candidates[i];
        double rounding;
        if (!one->truth)
            status = count_columns(all, true, one->columns, one->column, NULL, truth, error);
        if (status == BRUME_OK)
            status = count_columns(all, false, one->columns, one->column, NULL, rows, error);
        if (status == BRUME_OK)
            steps[i] = brume_tree_distance(one->truth ? one->truth : truth, rows, one->cells, scale,
                                           BRUME_TREE_ABSOLUTE * noise, &floors[i], &rounding);
    }
    wipe(truth, truth ? room * sizeof *truth : 0);
    free(rows);
    return status;
}

/* ---- levels of a candidate ---- */

/* Coarsen the column with the most bins until the table has at most `most` cells; false: even the
 * coarsest has more. */
static bool coarsen(const tree_run *all, candidate *one, double most)
{
    memset(one->level, 0, sizeof one->level);
    for (;;) {
        size_t widest = SIZE_MAX;
        uint32_t bins = 0;
        one->bins = 1;
        for (size_t i = 0; i < one->columns; i++) {
            const brume_tree_levels *levels = &all->levels[one->column[i]];
            uint32_t here = levels->bins[one->level[i]];
            one->bins *= here;
            if (one->level[i] + 1U < levels->count && here > bins) {
                widest = i;
                bins = here;
            }
        }
        if (one->bins <= most)
            return true;
        if (widest == SIZE_MAX)
            return false;
        one->level[widest]++;
    }
}

/* ---- the choice ---- */

static int by_gain(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->gain != y->gain)
        return x->gain < y->gain ? 1 : -1;
    return memcmp(x->column, y->column, sizeof x->column);
}

/* Columns that are connected by what was chosen: a forest. */
typedef struct forest {
    uint16_t of[BRUME_TREE_COLUMNS];
} forest;

static bool connects(forest *trees, const candidate *one, size_t columns)
{
    uint16_t a = trees->of[one->column[0]], b = trees->of[one->column[1]];
    for (size_t c = 0; a != b && c < columns; c++)
        if (trees->of[c] == b)
            trees->of[c] = a;
    return a != b;
}

static bool is_covered(const candidate *list, size_t count, brume_column_set set)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].chosen && (set & ~list[i].set) == 0)
            return true;
    return false;
}

static bool fits(tree_run *all, const candidate *one, uint64_t round)
{
    double limit = all->limit * (double)(round + 1) / (double)all->rounds;
    if (brume_junction_cells_with(all->model, one->set) <= limit)
        return true;
    all->result.passed_over++;
    if (all->result.best_passed_columns == 0) {
        all->result.best_passed_columns = one->columns;
        memcpy(all->result.best_passed, one->column, sizeof one->column);
    }
    return false;
}

/* Choose down the ranking of `count` candidates, which have noisy scores. */
static size_t choose_by_rank(tree_run *all, size_t count, uint64_t round, double price,
                             double noise)
{
    candidate *list = all->candidates;
    forest trees;
    double sum = 0, reward = 0, best = -INFINITY;
    double root = sqrt(price / table_sensitivity(all));
    size_t chosen = 0;
    for (size_t c = 0; c < all->columns; c++)
        trees.of[c] = (uint16_t)c;
    for (size_t i = 0; i < count; i++) {
        candidate *one = &list[i];
        one->chosen = false;
        one->gain = -1;
        if (one->excess > 0 && coarsen(all, one, one->excess / (BRUME_TREE_ABSOLUTE * noise)))
            one->gain = one->weight * (one->excess - BRUME_TREE_ABSOLUTE * noise * one->bins);
    }
    qsort(list, count, sizeof *list, by_gain);
    for (size_t i = 0; i < count && list[i].gain > 0; i++) {
        candidate *one = &list[i];
        if (round == 0 ? !connects(&trees, one, all->columns)
                       : is_covered(list, i, one->set) || !fits(all, one, round))
            continue;
        double share = pow(BRUME_TREE_ABSOLUTE * one->bins, 2.0 / 3);
        reward += one->excess;
        double value = reward - pow(sum + share, 1.5) / root;
        if (round > 0 && value <= best) {
            reward -= one->excess;
            continue;
        }
        best = value;
        sum += share;
        one->chosen = true;
        chosen++;
        brume_junction_join(all->model, one->set);
        if (round > 0 && (double)chosen >= MOST_A_COLUMN * (double)all->columns)
            break;
    }
    return chosen;
}

/* Scores with noise, then the choice: as one Gaussian draw of all of them. */
static brume_status choose_by_scores(tree_run *all, size_t count, uint64_t round, double price,
                                     double tables_price, size_t *chosen, brume_error *error)
{
    double sensitivity = score_sensitivity(all);
    sensitivity *= sensitivity * (double)count; /* L2, squared: exact in a double */
    double noise = round_noise(all, tables_price);
    int64_t *steps = malloc(count * sizeof *steps);
    double *floors = malloc(count * sizeof *floors);
    brume_status status = steps && floors ? BRUME_OK : brume_no_memory(error, "scores");
    if (status == BRUME_OK)
        status = measure_distances(all, count, noise, steps, floors, error);
    if (status == BRUME_OK)
        status =
            draw(all, true, sensitivity, scale_for(all, sensitivity, price), steps, count, error);
    for (size_t i = 0; status == BRUME_OK && i < count; i++)
        all->candidates[i].excess = (double)steps[i] / BRUME_TREE_GRID - floors[i];
    if (status == BRUME_OK)
        *chosen = choose_by_rank(all, count, round, tables_price, noise);
    wipe(steps, steps ? count * sizeof *steps : 0);
    free(floors);
    return status;
}

/* Pure: one after the other, by permute-and-flip. Nothing is released but which. */
static brume_status choose_one_by_one(tree_run *all, uint64_t round, double tables_price,
                                      size_t *chosen, brume_error *error)
{
    enum { FINER = 1 << 10 }; /* so that the floor below costs next to nothing */
    size_t count = all->pairs, d = all->columns, times = round == 0 ? d - 1 : d;
    double epsilon = share_of(all, SHARE_CHOICES) / (double)(2 * d - 1), heaviest = 0;
    double noise = round_noise(all, tables_price);
    forest trees;
    int64_t *steps = malloc(count * sizeof *steps);
    double *floors = malloc(count * sizeof *floors), *scores = malloc(count * sizeof *scores);
    size_t *place = malloc(count * sizeof *place);
    brume_status status = steps && floors && scores && place ? BRUME_OK
                                                             : brume_no_memory(error, "scores");
    if (status == BRUME_OK)
        status = measure_distances(all, count, noise, steps, floors, error);
    for (size_t c = 0; c < d; c++)
        trees.of[c] = (uint16_t)c;
    for (size_t i = 0; i < count; i++) {
        candidate *one = &all->candidates[i];
        one->chosen = false;
        heaviest = fmax(heaviest, one->weight);
        /* without a score, what noise may cost of all records says how fine a table may be */
        one->gain =
            coarsen(all, one, 0.1 * all->result.records / (BRUME_TREE_ABSOLUTE * noise)) ? 1 : -1;
    }
    /* for w <= 1: |w d/16 F - w d'/16 F| <= F D/16, and flooring and rounding add less than 2: that
     * they do is why weights are divided by the largest, since large ones would round more */
    double sensitivity = FINER * score_sensitivity(all) / BRUME_TREE_GRID + 2;
    *chosen = 0;
    for (size_t time = 0; status == BRUME_OK && time < times; time++) {
        size_t left = 0, index = 0;
        for (size_t i = 0; i < count; i++) {
            const candidate *one = &all->candidates[i];
            forest tried = trees;
            if (one->chosen || one->gain < 0 ||
                (round == 0 ? !connects(&tried, one, d)
                            : brume_junction_cells_with(all->model, one->set) > all->limit))
                continue;
            scores[left] = floor(one->weight / heaviest * FINER *
                                 ((double)steps[i] / BRUME_TREE_GRID - floors[i] -
                                  BRUME_TREE_ABSOLUTE * noise * one->bins));
            place[left++] = i;
        }
        if (left == 0)
            break;
        double spent = brume_add_up(all->spent, epsilon);
        if (!(spent <= all->budget))
            status = brume_fail(error, BRUME_EINTERNAL, NULL, "a choice would exceed the price");
        all->spent = spent;
        if (status == BRUME_OK)
            status = all->source->choose(all->source->context, epsilon, sensitivity, scores, left,
                                         &index, error);
        if (status != BRUME_OK)
            break;
        candidate *one = &all->candidates[place[index]];
        connects(&trees, one, d);
        one->chosen = true;
        brume_junction_join(all->model, one->set);
        ++*chosen;
    }
    wipe(steps, steps ? count * sizeof *steps : 0);
    wipe(scores, scores ? count * sizeof *scores : 0);
    free(floors);
    free(place);
    return status;
}

/* ---- measuring what was chosen ---- */

/* The least sum of absolute noise, cells_i scale_i, for a price: shares in proportion to
 * cells_i^(2/3) under Gaussian noise, to its root under Laplace noise. */
static double appetite(const tree_run *all, const candidate *one)
{
    return pow(one->bins, all->is_pure ? 0.5 : 2.0 / 3);
}

static brume_status measure_chosen(tree_run *all, size_t count, uint64_t round, double price,
                                   brume_error *error)
{
    double sum = 0;
    for (int pass = 0; pass < 4; pass++) {
        sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += all->candidates[i].chosen ? appetite(all, &all->candidates[i]) : 0;
        for (size_t i = 0; pass < 3 && !all->is_pure && i < count; i++) {
            candidate *one = &all->candidates[i];
            double sigma = sqrt(table_sensitivity(all) * sum / (price * appetite(all, one)));
            if (one->chosen) /* one that is too large even at its coarsest stays so */
                coarsen(all, one, one->excess / (BRUME_TREE_ABSOLUTE * sigma));
        }
    }
    for (size_t i = 0; i < count; i++) {
        const candidate *one = &all->candidates[i];
        if (!one->chosen)
            continue;
        brume_tree_measured made = {
            .columns = one->columns, .round = round + 1, .score = all->is_pure ? NAN : one->excess};
        memcpy(made.column, one->column, sizeof one->column);
        memcpy(made.level, one->level, sizeof one->level);
        BRUME_TRY(
            measure(all, &made, price * appetite(all, one) / sum * (1 - 0x1p-40), false, error));
        BRUME_TRY(add_to_model(all, &all->result.measured[all->result.measured_count - 1],
                               made.noisy, error));
        all->result.chosen++;
    }
    return BRUME_OK;
}

/* ---- the rounds ---- */

static bool goes_on(const tree_run *all, uint64_t round)
{
    const brume_tree_options *options = all->options;
    return !options->progress || options->progress(options->progress_context, round, all->rounds);
}

static brume_status stopped(brume_error *error)
{
    return brume_fail(error, BRUME_ECANCELLED, NULL, "stopped by the caller");
}

/* What no round has used measures the columns again. */
static brume_status spend_rest(tree_run *all, double price, brume_error *error)
{
    for (size_t c = 0; c < all->columns; c++) {
        brume_tree_measured one = {
            .columns = 1, .column = {(uint16_t)c}, .round = all->rounds, .score = NAN};
        BRUME_TRY(measure(all, &one, price / (double)all->columns * (1 - 0x1p-40), false, error));
        BRUME_TRY(add_to_model(all, &all->result.measured[all->result.measured_count - 1],
                               one.noisy, error));
    }
    return BRUME_OK;
}

static brume_status run_rounds(tree_run *all, brume_error *error)
{
    double carried = 0;
    BRUME_TRY(list_candidates(all, error));
    for (uint64_t round = 0; round < all->rounds; round++) {
        bool is_last = round + 1 == all->rounds;
        bool triples = round >= all->rounds / 2;
        size_t count = triples ? all->candidate_count : all->pairs, chosen = 0;
        double price = tables_share(all, all->rounds) + carried;
        double for_scores = round_share(all, all->rounds) * SHARE_SCORES;
        if (!goes_on(all, round))
            return stopped(error);
        if (count > 0 && all->is_pure)
            BRUME_TRY(choose_one_by_one(all, round, price, &chosen, error));
        else if (count > 0)
            BRUME_TRY(choose_by_scores(all, count, round, for_scores, price, &chosen, error));
        if (chosen > 0)
            BRUME_TRY(measure_chosen(all, count, round, price, error));
        else if (is_last)
            BRUME_TRY(spend_rest(all, price, error));
        carried = chosen > 0 ? 0 : price;
        if (chosen > 0 || is_last)
            BRUME_TRY(refit(all, is_last, error));
    }
    return BRUME_OK;
}

/* A column of many ordered values, in halves: each level with a part of the price. Its measurement
 * in the result has the counts of the values that all of them tell. */
static brume_status measure_halved(tree_run *all, brume_tree_measured *one, double price,
                                   brume_error *error)
{
    uint32_t values = all->question->column[one->column[0]].values;
    size_t levels = brume_tree_halvings(&all->question->column[one->column[0]]), room = 0;
    double scale = scale_for(all, table_sensitivity(all), price / (double)levels * (1 - 0x1p-40));
    int64_t *level[32] = {NULL};
    uint32_t *counts = malloc(values * sizeof *counts);
    one->cells = one->bins[0] = values;
    one->sigma = all->is_pure ? sqrt(2) * scale : scale;
    one->noisy = malloc(values * sizeof *one->noisy);
    for (size_t k = 0; k < levels; k++)
        room += brume_tree_halved(values, k);
    int64_t *space = calloc(room, sizeof *space);
    brume_status status = counts && space && one->noisy ? BRUME_OK
                                                        : brume_no_memory(error, "a column");
    if (status == BRUME_OK)
        status = brume_tree_count(1, &all->data[one->column[0]], NULL, one->bins, one->bins, all->n,
                                  counts, error);
    for (size_t k = 0, used = 0; status == BRUME_OK && k < levels; k++) {
        level[k] = space + used;
        used += brume_tree_halved(values, k);
        for (uint32_t v = 0; v < values; v++) /* a row is in one bin of each level */
            level[k][v >> k] += counts[v];
        status = draw(all, false, table_sensitivity(all), scale, level[k],
                      brume_tree_halved(values, k), error);
    }
    if (status == BRUME_OK)
        status = brume_tree_split(values, level, levels, one->sigma, one->noisy, error);
    wipe(counts, counts ? values * sizeof *counts : 0);
    wipe(space, space ? room * sizeof *space : 0);
    if (status == BRUME_OK)
        status = keep(all, one, error);
    if (status != BRUME_OK)
        free(one->noisy);
    return status;
}

static brume_status measure_columns(tree_run *all, brume_error *error)
{
    double price = share_of(all, SHARE_ONE) / (double)all->columns * (1 - 0x1p-40);
    for (size_t c = 0; c < all->columns; c++) {
        brume_tree_measured one = {.columns = 1, .column = {(uint16_t)c}, .score = NAN};
        BRUME_TRY(brume_tree_halvings(&all->question->column[c]) > 1
                      ? measure_halved(all, &one, price, error)
                      : measure(all, &one, price, true, error));
    }
    return BRUME_OK;
}

/* The model's rows become those that are written. */
static brume_status finish_rows(tree_run *all, brume_error *error)
{
    brume_words words = {.bits = all->bits};
    for (size_t c = 0; c < all->columns; c++)
        if (all->levels[c].of_value)
            BRUME_TRY(brume_tree_fill_values(&all->levels[c], all->question->column[c].values,
                                             all->row[c], all->row_count, &words, error));
    return BRUME_OK;
}

/* ---- bars ---- */

static double bars_price(const tree_run *all)
{
    return share_of(all, all->options->error_share * (all->is_pure ? 0 : 1 - SHARE_MEAN));
}

static double mean_price(const tree_run *all)
{
    return share_of(all, all->options->error_share * (all->is_pure ? 1 : SHARE_MEAN));
}

/* What is added to a measured error: all `tables` hold at once. In records. */
static double bar_of(const tree_run *all, size_t tables, double scale)
{
    double z = brume_tree_normal_upper(brume_divide_down(all->options->beta / 2, (double)tables));
    /* half a step: the noise is rounded to the grid */
    return brume_divide_up(brume_add_up(brume_multiply_up(z, scale), 0.5), BRUME_TREE_GRID);
}

/* How far the mean may be off, at half of beta. */
static double mean_off(const tree_run *all, size_t tables, double scale)
{
    double steps;
    if (all->is_pure) /* P[|noise| >= t] <= 2 exp(-t/scale) for the discrete law too, t >= 1 */
        steps = brume_multiply_up(scale, brume_log_up(brume_divide_up(4, all->options->beta)));
    else
        steps = brume_multiply_up(scale, brume_tree_normal_upper(all->options->beta / 4));
    return brume_divide_up(brume_add_up(steps, 1), (double)(BRUME_TREE_GRID * tables));
}

/* The distance of a table of the workload, of the data to the rows that are written. */
static brume_status bar_distance(const tree_run *all, const brume_tree_table *table, int64_t *steps,
                                 double *rounding, double *cells, brume_error *error)
{
    const uint16_t *data[BRUME_TREE_WIDEST], *rows[BRUME_TREE_WIDEST], *map[BRUME_TREE_WIDEST];
    uint32_t bins[BRUME_TREE_WIDEST], most[BRUME_TREE_WIDEST];
    double all_values = 1, floor;
    for (size_t i = 0; i < table->columns; i++)
        all_values *= all->question->column[table->column[i]].values;
    bool is_coarse = all_values > BAR_CELLS;
    *cells = 1;
    for (size_t i = 0; i < table->columns; i++) {
        size_t c = table->column[i];
        most[i] = all->question->column[c].values;
        map[i] = is_coarse ? all->levels[c].of_value : NULL;
        bins[i] = map[i] ? all->levels[c].values : most[i];
        data[i] = all->data[c];
        rows[i] = all->row[c];
        *cells *= bins[i];
    }
    size_t count = (size_t)*cells;
    uint32_t *truth = malloc(count * sizeof *truth), *made = malloc(count * sizeof *made);
    brume_status status = truth && made ? BRUME_OK : brume_no_memory(error, "the bars");
    if (status == BRUME_OK)
        status = brume_tree_count(table->columns, data, map, bins, most, all->n, truth, error);
    if (status == BRUME_OK)
        status =
            brume_tree_count(table->columns, rows, map, bins, most, all->row_count, made, error);
    if (status == BRUME_OK)
        *steps = brume_tree_distance(
            truth, made, count, all->result.records / (double)all->row_count, 0, &floor, rounding);
    wipe(truth, truth ? count * sizeof *truth : 0);
    free(made);
    return status;
}

static brume_status measure_bars(tree_run *all, int64_t *steps, double *rounding,
                                 brume_error *error)
{
    size_t tables = all->question->tables;
    int64_t sum = 0;
    double rounded = 0, one = score_sensitivity(all);
    for (size_t i = 0; i < tables; i++) {
        BRUME_TRY(bar_distance(all, &all->question->table[i], &steps[i], &rounding[i],
                               &all->result.bars[i].cells, error));
        sum += steps[i];
        rounded += rounding[i];
    }
    /* the sum of all: each moves by at most `one` */
    double of_sum = one * (double)tables;
    double sensitivity = all->is_pure ? of_sum : of_sum * of_sum;
    double scale = scale_for(all, sensitivity, mean_price(all));
    BRUME_TRY(draw(all, true, sensitivity, scale, &sum, 1, error));
    all->result.mean = (double)sum / BRUME_TREE_GRID / (double)tables;
    all->result.mean_off = brume_add_up(
        mean_off(all, tables, scale), brume_divide_up(rounded, (double)(BRUME_TREE_GRID * tables)));
    if (all->is_pure)
        return BRUME_OK;
    sensitivity = one * one * (double)tables;
    scale = scale_for(all, sensitivity, bars_price(all));
    BRUME_TRY(draw(all, true, sensitivity, scale, steps, tables, error));
    double bar = bar_of(all, tables, scale);
    for (size_t i = 0; i < tables; i++) {
        brume_tree_bar *one_bar = &all->result.bars[i];
        one_bar->measured = (double)steps[i] / BRUME_TREE_GRID;
        one_bar->most = fmax(one_bar->measured + bar + rounding[i] / BRUME_TREE_GRID, 0);
    }
    return BRUME_OK;
}

static brume_status buy_bars(tree_run *all, brume_error *error)
{
    size_t tables = all->question->tables;
    all->result.mean = all->result.mean_off = NAN;
    all->result.bars = malloc(tables * sizeof *all->result.bars);
    if (!all->result.bars)
        return brume_no_memory(error, "the bars");
    for (size_t i = 0; i < tables; i++)
        all->result.bars[i] = (brume_tree_bar){NAN, NAN, NAN};
    if (all->options->error_share == 0)
        return BRUME_OK;
    int64_t *steps = calloc(tables, sizeof *steps);
    double *rounding = malloc(tables * sizeof *rounding);
    brume_status status = steps && rounding ? measure_bars(all, steps, rounding, error)
                                            : brume_no_memory(error, "the bars");
    wipe(steps, steps ? tables * sizeof *steps : 0);
    free(rounding);
    return status;
}

/* ---- the question ---- */

static void begin(const brume_tree_question *question, tree_run *all)
{
    const brume_tree_options *options = &question->options;
    *all = (tree_run){.question = question,
                      .options = options,
                      .columns = question->columns,
                      .is_pure = options->epsilon > 0};
    /* down: what may be spent */
    all->budget = all->is_pure
                      ? options->epsilon
                      : brume_divide_down(1, brume_multiply_up(options->sigma, options->sigma));
    all->result.columns = question->columns;
    all->result.mean = all->result.mean_off = NAN;
}

brume_status brume_tree_plan_make(const brume_tree_question *question, double records,
                                  brume_tree_plan *plan, brume_error *error)
{
    tree_run all;
    BRUME_TRY(brume_tree_check(question, error));
    begin(question, &all);
    const brume_tree_options *options = &question->options;
    uint64_t rounds = all.is_pure ? ROUNDS_PURE : options->rounds ? options->rounds : ROUNDS;
    double score = score_sensitivity(&all), tables = (double)question->tables;
    *plan = (brume_tree_plan){.mu = all.is_pure ? 0 : 1 / options->sigma,
                              .score_noise = NAN,
                              .bar_noise = NAN,
                              .bar = NAN,
                              .mean_noise = NAN};
    plan->event =
        (brume_event){.mechanism = brume_card_by_name(all.is_pure ? "pure" : "gaussian")->id,
                      .adjacency = options->adjacency,
                      .sensitivity = 1,
                      .parameter = {all.is_pure ? options->epsilon : options->sigma, !all.is_pure},
                      .count = 1};
    BRUME_TRY(brume_event_check(&plan->event, error));
    double factor = all.is_pure ? sqrt(2) : 1;
    plan->one_noise = factor * scale_for(&all, table_sensitivity(&all),
                                         share_of(&all, SHARE_ONE) / (double)all.columns);
    plan->round_noise = round_noise(&all, tables_share(&all, rounds));
    for (size_t a = 0; a < all.columns; a++)
        for (size_t b = a + 1; b < all.columns; b++) {
            const uint16_t pair[] = {(uint16_t)a, (uint16_t)b};
            plan->scored += weight_of(question, pair, 2) > 0;
        }
    if (!all.is_pure)
        plan->score_noise = scale_for(&all, score * score * (double)plan->scored,
                                      round_share(&all, rounds) * SHARE_SCORES) /
                            BRUME_TREE_GRID;
    if (options->error_share > 0) {
        double sum = score * tables;
        plan->mean_noise = factor *
                           scale_for(&all, all.is_pure ? sum : sum * sum, mean_price(&all)) /
                           BRUME_TREE_GRID / tables;
    }
    if (options->error_share > 0 && !all.is_pure) {
        double scale = scale_for(&all, score * score * tables, bars_price(&all));
        plan->bar_noise = scale / BRUME_TREE_GRID;
        plan->bar = bar_of(&all, question->tables, scale);
    }
    /* before anything is charged: beyond this sums of noisy counts may leave 64 bits */
    double largest = fmax(fmax(plan->one_noise, plan->round_noise), plan->score_noise);
    largest =
        fmax(largest, fmax(plan->bar_noise, plan->mean_noise * tables)); /* NaN: passed over */
    if (!(largest < 0x1p36))
        return brume_fail(error, BRUME_EARGUMENT, "pay more",
                          "the price is so small that the noise would be %.3g records", largest);
    plan->model_cells = options->model_cells ? (double)options->model_cells
                        : all.is_pure        ? CELLS
                                             : CELLS_FINE;
    double columns = (double)all.columns;
    double rows = fmin(fmax(records, MODEL_ROWS), MODEL_ROWS_MOST);
    plan->bytes = (8 + 4 * 8) * plan->model_cells + 64.0 * (1 << 20) + 4.0 * KEPT_CELLS +
                  2 * columns * (records + fmax(rows, (double)options->rows)) +
                  12 * fmax(rows, (double)options->rows);
    return BRUME_OK;
}

/* ---- all together ---- */

static void end(tree_run *all)
{
    for (size_t i = 0; i < all->candidate_count; i++)
        wipe(all->candidates[i].truth,
             all->candidates[i].truth ? all->candidates[i].cells * sizeof(uint32_t) : 0);
    free(all->candidates);
    for (size_t c = 0; c < all->columns; c++) {
        free(all->levels[c].of_value);
        free(all->levels[c].weight);
        for (size_t i = 0; i < BRUME_TREE_LEVELS; i++)
            free(all->levels[c].map[i]);
    }
    brume_junction_close(all->model);
    free_rows(all);
}

/* Hand the rows over, or clean up. */
static brume_status hand_over(tree_run *all, brume_status status, brume_tree_result *result)
{
    if (status == BRUME_OK) {
        all->result.rows = all->row_count;
        all->result.rounds = all->rounds;
        all->result.model_cells = brume_junction_cells_with(all->model, 0);
        for (size_t c = 0; c < all->columns; c++) {
            all->result.column[c] = all->row[c];
            all->row[c] = NULL;
        }
        *result = all->result;
    } else {
        brume_tree_result_clear(&all->result);
    }
    end(all);
    return status;
}

static brume_status run_all(tree_run *all, brume_error *error)
{
    double median = brume_tree_median_pair(all->question);
    if (median == 0)
        return brume_no_memory(error, "a plan");
    BRUME_TRY(brume_tree_check_data(all->question, all->data, all->n, error));
    BRUME_TRY(measure_columns(all, error));
    BRUME_TRY(begin_model(all, error));
    all->result.records = total_of(all);
    decide_rounds(all, all->result.records, median);
    BRUME_TRY(refit(all, false, error));
    BRUME_TRY(run_rounds(all, error));
    BRUME_TRY(finish_rows(all, error));
    if (!goes_on(all, all->rounds))
        return stopped(error);
    return buy_bars(all, error);
}

brume_status brume_tree_run_on(const brume_tree_question *question, const uint16_t *const *data,
                               uint64_t n, const brume_tree_source *source, brume_bits *bits,
                               brume_tree_result *result, brume_error *error)
{
    tree_run all;
    brume_tree_own own = {bits, question->options.adjacency};
    brume_tree_source used = *source;
    BRUME_TRY(brume_tree_check(question, error));
    if (!used.add)
        used = (brume_tree_source){source->model_rows, &own, brume_tree_own_add,
                                   brume_tree_own_choose};
    begin(question, &all);
    all.data = data;
    all.n = n;
    all.source = &used;
    all.bits = bits;
    return hand_over(&all, run_all(&all, error), result);
}

brume_status brume_tree_run(const brume_tree_question *question, const uint16_t *const *data,
                            uint64_t n, brume_bits *bits, brume_tree_result *result,
                            brume_error *error)
{
    const brume_tree_source source = {0};
    return brume_tree_run_on(question, data, n, &source, bits, result, error);
}

static brume_status redraw_all(tree_run *all, const brume_tree_result *from, brume_error *error)
{
    for (size_t i = 0; i < from->measured_count; i++) {
        brume_tree_measured one = from->measured[i];
        one.noisy = malloc(one.cells * sizeof *one.noisy);
        if (!one.noisy)
            return brume_no_memory(error, "measurements");
        memcpy(one.noisy, from->measured[i].noisy, one.cells * sizeof *one.noisy);
        brume_status status = keep(all, &one, error);
        if (status != BRUME_OK)
            free(one.noisy);
        BRUME_TRY(status);
    }
    BRUME_TRY(begin_model(all, error));
    all->result.records = from->records;
    all->is_fine = true; /* as many steps as any run takes */
    all->rounds = from->rounds;
    for (size_t i = all->columns; i < from->measured_count; i++) {
        const brume_tree_measured *one = &from->measured[i];
        for (size_t k = 0; k < one->columns; k++)
            if (one->column[k] >= all->columns ||
                one->level[k] >= all->levels[one->column[k]].count ||
                all->levels[one->column[k]].bins[one->level[k]] != one->bins[k])
                return brume_fail(error, BRUME_EARGUMENT, NULL,
                                  "measurement %zu does not fit its columns", i + 1);
        BRUME_TRY(add_to_model(all, one, one->noisy, error));
    }
    if (brume_junction_cells_with(all->model, 0) > BRUME_TREE_CELLS)
        return brume_fail(error, BRUME_EOVERFLOW, NULL, "the measurements make too large a model");
    BRUME_TRY(refit(all, true, error));
    return finish_rows(all, error);
}

brume_status brume_tree_redraw(const brume_tree_question *question, const brume_tree_result *from,
                               brume_bits *bits, brume_tree_result *result, brume_error *error)
{
    tree_run all;
    BRUME_TRY(brume_tree_check_columns(question, error));
    for (size_t c = 0; c < question->columns; c++)
        if (c >= from->measured_count || from->measured[c].columns != 1 ||
            from->measured[c].column[0] != c ||
            from->measured[c].cells != question->column[c].values)
            return brume_fail(error, BRUME_EARGUMENT, NULL, "column %zu was not measured alone",
                              c + 1);
    if (question->options.rows < 1 || question->options.rows > BRUME_TREE_ROWS ||
        !(from->records >= 1 && from->records <= 0x1p40))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'rows' or the records are out of range");
    begin(question, &all);
    all.bits = bits;
    return hand_over(&all, redraw_all(&all, from, error), result);
}

void brume_tree_result_clear(brume_tree_result *result)
{
    for (size_t c = 0; c < BRUME_TREE_COLUMNS; c++)
        free(result->column[c]);
    for (size_t i = 0; i < result->measured_count; i++)
        free(result->measured[i].noisy);
    free(result->measured);
    free(result->bars);
    *result = (brume_tree_result){0};
}
