/* Every method errs less than its bound in at least the stated share of runs.
 *
 * The claim: P[error > alpha(beta)] <= beta. Over independent runs the number of those beyond is at
 * most binomial with beta; the test alarms where a tail of it is below the method's share of false
 * alarms. Mutants are releases with the noise of a far smaller price than the bound is for: each
 * must alarm. The draws are fixed. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include <brume/synthetic/direct.h>
#include <brume/synthetic/multiplicative_weights.h>
#include <brume/synthetic/mwem.h>
#include <brume/synthetic/small_database.h>

#include "chance.h"
#include "random/tape.h"

enum { CELLS = 8, QUERIES = 20, RECORDS = 200000, RUNS = 80, METHODS = 10 };

static const double BETA = 0.1;

typedef struct world {
    brume_workload *workload;
    double counts[CELLS], truth[QUERIES];
    size_t queries;
} world;

/* Three columns of two values: all 2-way marginals, a few dense queries. */
static void open_world(world *w)
{
    brume_error error = {0};
    const uint32_t sizes[] = {2, 2, 2};
    brume_universe universe;
    uint64_t state = 12;
    assert_ok(brume_universe_make(sizes, 3, &universe, &error));
    assert_ok(brume_workload_open(&universe, &w->workload, &error));
    assert_ok(brume_workload_add_marginals(w->workload, 2, &error));
    while (brume_workload_size(w->workload) < QUERIES) {
        float values[CELLS];
        for (int cell = 0; cell < CELLS; cell++)
            values[cell] = (float)(brume_tape_splitmix(&state) >> 40) * 0x1p-24f;
        assert_ok(brume_workload_add_dense(w->workload, values, &error));
    }
    w->queries = brume_workload_size(w->workload);
    assert_int_equal(w->queries, QUERIES);
    memset(w->counts, 0, sizeof w->counts);
    for (int i = 0; i < RECORDS; i++)
        w->counts[i % 8 < 7 ? 2 : brume_tape_splitmix(&state) % CELLS]++;
    assert_ok(brume_workload_answer(w->workload, w->counts, w->truth, &error));
}

static double worst(const world *w, const double *answers, double scale)
{
    double most = 0;
    for (size_t i = 0; i < w->queries; i++)
        most = fmax(most, fabs(scale * answers[i] - w->truth[i]));
    return most;
}

/* With `bits`: the error of one release; without: the bound. Both in records, `price` is epsilon or
 * rho. */
typedef double method(const world *w, int kind, double price, brume_bits *bits);

static double direct(const world *w, int kind, double price, brume_bits *bits)
{
    brume_error error = {0};
    brume_direct_options options = {.way = kind / 2 ? BRUME_DIRECT_HISTOGRAM : BRUME_DIRECT_QUERIES,
                                    .adjacency = BRUME_REPLACE,
                                    .epsilon = kind % 2 ? 0 : price,
                                    .rho = kind % 2 ? price : 0};
    double answers[QUERIES], histogram[CELLS];
    if (!bits) {
        double alpha;
        assert_ok(brume_direct_alpha(w->workload, &options, BETA, &alpha, &error));
        return alpha;
    }
    assert_ok(
        brume_direct_release(w->workload, &options, w->counts, bits, answers, histogram, &error));
    return worst(w, answers, 1);
}

static double mwem(const world *w, int kind, double price, brume_bits *bits)
{
    brume_error error = {0};
    brume_mwem_options options = {.adjacency = BRUME_REPLACE,
                                  .epsilon = kind ? 0 : price,
                                  .rho = kind ? price : 0,
                                  .rounds = 100,
                                  .records = RECORDS};
    if (kind == 2) { /* pure, with all that is free: answers used again, half of the average */
        options.epsilon = price;
        options.rho = 0;
        options.replays = 2;
        options.average = 50;
        options.whole_marginals = true;
    }
    double answers[QUERIES], histogram[CELLS];
    if (!bits) {
        double alpha;
        assert_ok(brume_mwem_alpha(w->workload, &options, BETA, &alpha, &error));
        return alpha;
    }
    assert_ok(brume_mwem(w->workload, &options, w->counts, bits, histogram, &error));
    assert_ok(brume_workload_answer(w->workload, histogram, answers, &error));
    return worst(w, answers, 1);
}

static double weights(const world *w, int kind, double price, brume_bits *bits)
{
    brume_error error = {0};
    brume_multiplicative_weights_options options = {.adjacency = BRUME_REPLACE,
                                                    .epsilon = kind ? 0 : price,
                                                    .rho = kind ? price : 0,
                                                    .alpha = 0.08,
                                                    .records = RECORDS};
    brume_multiplicative_weights *stream = NULL;
    brume_bits *any = bits ? bits : brume_tape_open_seeded(1);
    assert_ok(
        brume_multiplicative_weights_open(w->workload, &options, w->counts, any, &stream, &error));
    double answers[QUERIES], result = 0;
    if (!bits) {
        assert_ok(brume_multiplicative_weights_alpha(stream, w->queries, BETA, &result, &error));
        brume_bits_close(any);
    }
    bool was_free, halted = false;
    for (size_t i = 0; bits && i < w->queries && !halted; i++) {
        brume_status status =
            brume_multiplicative_weights_ask(stream, bits, i, &answers[i], &was_free, &error);
        halted = status == BRUME_EHALTED;
        assert_true(halted || status == BRUME_OK);
    }
    if (bits)
        result = halted ? INFINITY : worst(w, answers, 1); /* that it halts is a failure too */
    brume_multiplicative_weights_close(stream);
    return result;
}

static double small_database(const world *w, int kind, double price, brume_bits *bits)
{
    (void)kind;
    enum { SIZE = 11 };
    brume_error error = {0};
    brume_small_database_options options = {.adjacency = BRUME_REPLACE,
                                            .epsilon = price,
                                            .size = SIZE,
                                            .records = RECORDS,
                                            .most_candidates = 1 << 20};
    if (!bits) {
        double alpha;
        assert_ok(brume_small_database_alpha(w->workload, &options, BETA, &alpha, &error));
        return alpha;
    }
    uint64_t cells[SIZE];
    double histogram[CELLS] = {0}, answers[QUERIES];
    assert_ok(brume_small_database(w->workload, &options, w->counts, bits, cells, &error));
    for (int i = 0; i < SIZE; i++)
        histogram[cells[i]]++;
    assert_ok(brume_workload_answer(w->workload, histogram, answers, &error));
    return worst(w, answers, (double)RECORDS / SIZE);
}

static const struct {
    const char *name;
    method *run;
    int kind;
    double price, mutant; /* what the bound is for, and what a mutant pays */
} methods[METHODS] = {
    {"Laplace on answers", direct, 0, 0.5, 0.2},
    {"Gaussian on answers", direct, 1, 0.02, 0.004},
    {"Laplace on the histogram", direct, 2, 0.5, 0.05},
    {"Gaussian on the histogram", direct, 3, 0.02, 0.0002},
    {"MWEM, pure", mwem, 0, 1, 1e-5},
    {"MWEM, concentrated", mwem, 1, 0.05, 1e-8},
    {"MWEM, with replays", mwem, 2, 1, 1e-5},
    {"private multiplicative weights", weights, 0, 2, 0.01},
    {"private multiplicative weights, concentrated", weights, 1, 0.1, 1e-6},
    {"SmallDB", small_database, 0, 1, 1e-7},
};

/* Runs beyond the bound, of RUNS. */
static uint64_t beyond(const world *w, size_t which, double price, double bound)
{
    uint64_t count = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        brume_bits *bits = brume_tape_open_seeded(1000 * which + run);
        count += methods[which].run(w, methods[which].kind, price, bits) > bound;
        brume_bits_close(bits);
    }
    return count;
}

static void every_method_stays_within_its_bound_as_often_as_stated(void **state)
{
    (void)state;
    double alarm = false_alarm_share(false_alarm_many_query_bounds) / METHODS;
    world w;
    open_world(&w);
    for (size_t i = 0; i < METHODS; i++) {
        double bound = methods[i].run(&w, methods[i].kind, methods[i].price, NULL);
        if (!(bound < RECORDS))
            fail_msg("%s: a bound of %g of %d records says nothing", methods[i].name, bound,
                     RECORDS);
        uint64_t count = beyond(&w, i, methods[i].price, bound);
        if (binomial_tail_above(RUNS, BETA, count) < alarm)
            fail_msg("%s: %d of %d runs are beyond the bound", methods[i].name, (int)count, RUNS);
    }
    brume_workload_close(w.workload);
}

static void the_noise_of_a_smaller_price_is_found_out(void **state)
{
    (void)state;
    double alarm = false_alarm_share(false_alarm_many_query_bounds) / METHODS;
    world w;
    open_world(&w);
    for (size_t i = 0; i < METHODS; i++) {
        double bound = methods[i].run(&w, methods[i].kind, methods[i].price, NULL);
        uint64_t count = beyond(&w, i, methods[i].mutant, bound);
        if (!(binomial_tail_above(RUNS, BETA, count) < alarm))
            fail_msg("%s: the mutant is beyond the bound in %d of %d runs only", methods[i].name,
                     (int)count, RUNS);
    }
    brume_workload_close(w.workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_stays_within_its_bound_as_often_as_stated),
        cmocka_unit_test(the_noise_of_a_smaller_price_is_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
