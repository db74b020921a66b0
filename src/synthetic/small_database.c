/* SmallDB: the exponential mechanism over all small databases.
 *
 * Promises: the law of the header, exactly. Badness is a whole number, computed in integers: with
 * t = 2^20, floor(max_f |floor(f(B)) size t - n t f(y)| / (size t)), where t f(y) is whole. One
 * unit moves floor(f(B)) by at most 1, hence the maximum of the distances by at most 1, hence its
 * floor.
 *
 * The candidates are walked through in lexicographic order, ascending cells; the sums t f(y) of
 * each prefix are kept, so that one step costs one addition a query. */
#include "synthetic/small_database.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <brume/mechanism/mechanism.h>
#include <brume/noise/primitive.h>
#include <brume/noise/select.h>

#include "base/error.h"
#include "number/rounding.h"
#include "synthetic/exact.h"

#define UNIT            (INT64_C(1) << 20)
#define MOST_CANDIDATES (UINT64_C(1) << 40)

brume_status brume_small_database_size(uint64_t queries, double alpha, uint64_t *size,
                                       brume_error *error)
{
    if (queries == 0 || !(alpha > 0 && alpha <= 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'queries' must be at least 1 and 'alpha' in (0, 1]");
    /* up: a size too large by one is right as well */
    double logarithm = brume_log_up(2 * brume_count_up(queries));
    double least = brume_divide_up(brume_divide_up(logarithm, alpha), 2 * alpha);
    if (!(least < 0x1p53))
        return brume_fail(error, BRUME_EOVERFLOW, NULL, "'alpha' is %g: too small", alpha);
    *size = (uint64_t)least + 1;
    return BRUME_OK;
}

double brume_small_database_candidates(uint64_t cells, uint64_t size)
{
    /* C(cells - 1 + i, i) for i = 1 .. size: whole at every step, exact while below 2^53 */
    long double product = 1;
    uint64_t chosen = size < cells - 1 ? size : cells - 1, rest = cells - 1 + size - chosen;
    for (uint64_t i = 1; i <= chosen; i++) {
        product = product * (long double)(rest + i) / (long double)i;
        if (product > (long double)1e300)
            return INFINITY;
    }
    return (double)product;
}

brume_status brume_small_database_event(const brume_small_database_options *options,
                                        brume_event *event, brume_error *error)
{
    BRUME_TRY(brume_exact_price("SmallDB", options->adjacency, options->epsilon, 0, error));
    if (options->size < 1 || options->size > BRUME_SMALL_DATABASE_SIZE)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'size' must be from 1 to %d",
                          BRUME_SMALL_DATABASE_SIZE);
    if (options->records < 1 || options->records > BRUME_SMALL_DATABASE_RECORDS)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'records' must be from 1 to 2^26");
    brume_event made = {.mechanism = brume_card_by_name("exponential")->id,
                        .adjacency = options->adjacency,
                        .sensitivity = 1,
                        .parameter = {options->epsilon},
                        .count = 1};
    BRUME_TRY(brume_event_check(&made, error));
    *event = made;
    return BRUME_OK;
}

/* A walk over all candidates. */
typedef struct database_walk {
    size_t queries, size;
    uint64_t cells;
    int64_t records;
    uint32_t *value; /* value[cell * queries + q] = t f_q(cell) */
    int64_t *target; /* floor(f_q(B)) size t, f_q(B) clamped to the records: private */
    int64_t *sums;   /* sums[depth * queries + q] = t f_q of the first `depth` records */
    uint64_t *place; /* the candidate: cells, ascending */
} database_walk;

static void close_walk(database_walk *all)
{
    if (all->target)
        explicit_bzero(all->target, all->queries * sizeof *all->target);
    free(all->value);
    free(all->target);
    free(all->sums);
    free(all->place);
}

static brume_status fill_values(database_walk *all, const brume_workload *workload,
                                double *cell_weights, double *answers, brume_error *error)
{
    for (uint64_t cell = 0; cell < all->cells; cell++) {
        cell_weights[cell] = 1;
        BRUME_TRY(brume_workload_answer(workload, cell_weights, answers, error));
        cell_weights[cell] = 0;
        for (size_t q = 0; q < all->queries; q++)
            all->value[cell * all->queries + q] = (uint32_t)(answers[q] * (double)UNIT);
    }
    return BRUME_OK;
}

static brume_status fill_walk(database_walk *all, const brume_workload *workload,
                              const double *counts, brume_error *error)
{
    double *cell_weights = calloc(all->cells, sizeof *cell_weights);
    double *answers = calloc(all->queries, sizeof *answers);
    all->value = malloc(all->cells * all->queries * sizeof *all->value);
    all->target = malloc(all->queries * sizeof *all->target);
    all->sums = calloc((all->size + 1) * all->queries, sizeof *all->sums);
    all->place = calloc(all->size, sizeof *all->place);
    brume_status status = BRUME_OK;
    if (!cell_weights || !answers || !all->value || !all->target || !all->sums || !all->place)
        status = brume_fail(error, BRUME_EMEMORY, NULL, "no memory for the candidates of SmallDB");
    if (status == BRUME_OK)
        status = fill_values(all, workload, cell_weights, answers, error);
    if (status == BRUME_OK)
        status = brume_exact_answers(workload, counts, answers, error);
    for (size_t q = 0; q < all->queries && status == BRUME_OK; q++)
        /* the clamp moves by at most what the answer does; 2^26 2^12 2^20 fits */
        all->target[q] = (int64_t)fmin(answers[q], (double)all->records) * (int64_t)all->size *
                         UNIT;
    free(cell_weights);
    free(answers);
    return status;
}

static brume_status open_walk(const brume_workload *workload,
                              const brume_small_database_options *options, const double *counts,
                              database_walk *all, brume_error *error)
{
    const brume_universe *universe = brume_workload_universe(workload);
    brume_event event;
    double records;
    BRUME_TRY(brume_small_database_event(options, &event, error));
    if (brume_workload_size(workload) == 0)
        return brume_fail(error, BRUME_EARGUMENT, "add queries first", "an empty workload");
    if (options->most_candidates < 1 || options->most_candidates > MOST_CANDIDATES)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'most_candidates' must be from 1 to 2^40");
    double candidates = brume_small_database_candidates(universe->cells, options->size);
    if (candidates > (double)options->most_candidates ||
        universe->cells > BRUME_SMALL_DATABASE_CELLS)
        return brume_fail(error, BRUME_EOVERFLOW,
                          "take fewer cells or a smaller 'size', or MWEM, which has no such limit",
                          "SmallDB has %.6g candidates here, over %llu cells", candidates,
                          (unsigned long long)universe->cells);
    BRUME_TRY(brume_exact_records(universe, counts, &records, error));
    if (options->adjacency == BRUME_REPLACE && records != (double)options->records)
        return brume_fail(error, BRUME_EARGUMENT,
                          "under replace the number of records is public: give it",
                          "'records' is not the sum of the histogram");
    *all = (database_walk){.queries = brume_workload_size(workload),
                           .size = options->size,
                           .cells = universe->cells,
                           .records = (int64_t)options->records};
    brume_status status = fill_walk(all, workload, counts, error);
    if (status != BRUME_OK)
        close_walk(all);
    return status;
}

static uint64_t badness(const database_walk *all)
{
    const int64_t *sums = all->sums + all->size * all->queries;
    int64_t worst = 0;
    for (size_t q = 0; q < all->queries; q++) {
        /* n t f(y) <= 2^26 2^20 2^12 */
        int64_t distance = all->target[q] - all->records * sums[q];
        distance = distance < 0 ? -distance : distance;
        worst = distance > worst ? distance : worst;
    }
    return (uint64_t)(worst / ((int64_t)all->size * UNIT));
}

/* Bring the sums of every depth above `from` up to date. */
static void add_up(database_walk *all, size_t from)
{
    for (size_t depth = from; depth < all->size; depth++) {
        const int64_t *before = all->sums + depth * all->queries;
        const uint32_t *value = all->value + all->place[depth] * all->queries;
        int64_t *after = all->sums + (depth + 1) * all->queries;
        for (size_t q = 0; q < all->queries; q++)
            after[q] = before[q] + (int64_t)value[q];
    }
}

static void first_candidate(database_walk *all)
{
    memset(all->place, 0, all->size * sizeof *all->place);
    add_up(all, 0);
}

static bool next_candidate(database_walk *all)
{
    size_t at = all->size;
    while (at > 0 && all->place[at - 1] == all->cells - 1)
        at--;
    if (at == 0)
        return false;
    uint64_t cell = all->place[at - 1] + 1;
    for (size_t i = at - 1; i < all->size; i++)
        all->place[i] = cell;
    add_up(all, at - 1);
    return true;
}

static void count_classes(database_walk *all, uint64_t *lengths)
{
    first_candidate(all);
    do
        lengths[badness(all)]++;
    while (next_candidate(all));
}

brume_status brume_small_database_classes(const brume_workload *workload,
                                          const brume_small_database_options *options,
                                          const double *counts, uint64_t *lengths,
                                          brume_error *error)
{
    database_walk all;
    BRUME_TRY(open_walk(workload, options, counts, &all, error));
    memset(lengths, 0, (options->records + 1) * sizeof *lengths);
    count_classes(&all, lengths);
    close_walk(&all);
    return BRUME_OK;
}

/* Go to candidate number `rank` of those with this badness. */
static void find_candidate(database_walk *all, uint64_t class, uint64_t rank)
{
    first_candidate(all);
    while (badness(all) != class || rank-- > 0)
        if (!next_candidate(all))
            return; /* cannot be: rank is below the length of the class */
}

brume_status brume_small_database(const brume_workload *workload,
                                  const brume_small_database_options *options, const double *counts,
                                  brume_bits *bits, uint64_t *out, brume_error *error)
{
    database_walk all;
    BRUME_TRY(open_walk(workload, options, counts, &all, error));
    size_t classes = options->records + 1, class;
    uint64_t *lengths = calloc(classes, sizeof *lengths), rank;
    int64_t *utilities = malloc(classes * sizeof *utilities);
    brume_status status = BRUME_OK;
    if (!lengths || !utilities)
        status = brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu scores", classes);
    if (status == BRUME_OK) {
        for (size_t i = 0; i < classes; i++)
            utilities[i] = -(int64_t)i;
        count_classes(&all, lengths);
        /* epsilon/2 is exact */
        status = brume_select_run(bits, options->epsilon / 2, lengths, utilities, 1, classes,
                                  &class, error);
    }
    if (status == BRUME_OK)
        status = brume_sample_below(bits, lengths[class], &rank, error);
    if (status == BRUME_OK) {
        find_candidate(&all, class, rank);
        memcpy(out, all.place, all.size * sizeof *out);
    }
    if (lengths) /* how many candidates are how bad is private */
        explicit_bzero(lengths, classes * sizeof *lengths);
    free(lengths);
    free(utilities);
    close_walk(&all);
    return status;
}

brume_status brume_small_database_alpha(const brume_workload *workload,
                                        const brume_small_database_options *options, double beta,
                                        double *alpha, brume_error *error)
{
    brume_event event;
    BRUME_TRY(brume_small_database_event(options, &event, error));
    size_t queries = brume_workload_size(workload);
    if (!(beta > 0 && beta < 1) || queries == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "the bound needs queries and 'beta' in (0, 1)");
    double cells = (double)brume_workload_universe(workload)->cells, size = (double)options->size;
    double candidates =
        brume_small_database_candidates(brume_workload_universe(workload)->cells, options->size);
    /* ln C <= size ln(cells) always; 1e-9 covers the rounding of C */
    double logarithm = brume_multiply_up(size, brume_log_up(cells));
    if (isfinite(candidates))
        logarithm = fmin(logarithm, brume_add_up(brume_log_up(candidates), 1e-9));
    logarithm = brume_add_up(logarithm, brume_log_up(brume_divide_up(1, beta)));
    double drawn = brume_divide_up(logarithm, options->epsilon / 2);
    /* some candidate is within n sqrt(ln(2|Q|)/(2 size)) */
    double best = brume_divide_up(brume_log_up(2 * (double)queries), 2 * size);
    best = brume_multiply_up((double)options->records, brume_sqrt_up(best));
    /* the floor of a badness hides less than 1; floors of dense sums 1 in each of two badnesses */
    double slack = brume_workload_whole(workload) ? 1 : 3;
    *alpha = brume_add_up(brume_add_up(best, drawn), slack);
    return BRUME_OK;
}
