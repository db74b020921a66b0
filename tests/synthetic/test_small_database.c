/* SmallDB: its whole law by definition, its privacy by enumeration, its bound, its refusals. */
#include "check.h"

#include <stdlib.h>

#include "chance.h"
#include "random/tape.h"
#include "small_world.h"
#include "synthetic/small_database.h"

enum { SIZE = 3, CANDIDATES = 20, RECORDS = 4 }; /* C(4 + 3 - 1, 3) */

/* Candidate number i in lexicographic order. */
static void candidate(int number, int *place)
{
    for (int a = 0; a < SMALL_CELLS; a++)
        for (int b = a; b < SMALL_CELLS; b++)
            for (int c = b; c < SMALL_CELLS; c++)
                if (number-- == 0) {
                    place[0] = a;
                    place[1] = b;
                    place[2] = c;
                }
}

/* The badness from the definition, for one candidate. */
static int badness_of(const brume_workload *workload, const double *counts, int number)
{
    brume_error error = {0};
    double small[SMALL_CELLS] = {0}, x[4], y[4], worst = 0;
    int place[SIZE] = {0};
    candidate(number, place);
    for (int i = 0; i < SIZE; i++)
        small[place[i]] += 1;
    assert_ok(brume_workload_answer(workload, counts, x, &error));
    assert_ok(brume_workload_answer(workload, small, y, &error));
    for (size_t q = 0; q < brume_workload_size(workload); q++)
        worst = fmax(worst, fabs(fmin(floor(x[q]), RECORDS) * SIZE - RECORDS * y[q]));
    return (int)floor(worst / SIZE);
}

static void law_of(const brume_workload *workload, const double *counts, double epsilon,
                   double *law)
{
    double total = 0;
    for (int i = 0; i < CANDIDATES; i++)
        total += law[i] = exp(-epsilon / 2 * badness_of(workload, counts, i));
    for (int i = 0; i < CANDIDATES; i++)
        law[i] /= total;
}

static brume_small_database_options options_for(brume_adjacency adjacency, double epsilon)
{
    return (brume_small_database_options){adjacency, epsilon, SIZE, RECORDS, 1000};
}

static void candidates_are_counted_by_their_badness(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_workload *workload = small_world(true);
    brume_small_database_options options = options_for(BRUME_ADD_REMOVE, 1);
    for (int code = 0; code < SMALL_HISTOGRAMS; code++) {
        double counts[SMALL_CELLS];
        uint64_t lengths[RECORDS + 1], expected[RECORDS + 1] = {0};
        small_histogram(code, counts);
        assert_ok(brume_small_database_classes(workload, &options, counts, lengths, &error));
        for (int i = 0; i < CANDIDATES; i++)
            expected[badness_of(workload, counts, i)]++;
        assert_memory_equal(lengths, expected, sizeof expected);
    }
    brume_workload_close(workload);
}

static void the_whole_law_is_private_in_both_directions(void **state)
{
    (void)state;
    const double epsilon = 1.5;
    brume_workload *workload = small_world(true);
    static double law[SMALL_HISTOGRAMS][CANDIDATES];
    for (int code = 0; code < SMALL_HISTOGRAMS; code++) {
        double counts[SMALL_CELLS];
        small_histogram(code, counts);
        law_of(workload, counts, epsilon, law[code]);
    }
    for (int replace = 0; replace < 2; replace++) {
        double worst = 0;
        for (int i = 0; i < SMALL_HISTOGRAMS; i++)
            for (int j = 0; j < SMALL_HISTOGRAMS; j++) {
                double a[SMALL_CELLS], b[SMALL_CELLS];
                small_histogram(i, a);
                small_histogram(j, b);
                if (!small_neighbours(a, b, replace ? BRUME_REPLACE : BRUME_ADD_REMOVE))
                    continue;
                for (int k = 0; k < CANDIDATES; k++)
                    worst = fmax(worst, log(law[i][k] / law[j][k]));
            }
        assert_holds(worst <= epsilon + 1e-12);
        assert_holds(worst >= epsilon / 2);
    }
    brume_workload_close(workload);
}

static void draws_follow_the_law_and_not_the_law_of_another_epsilon(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    brume_error error = {0};
    brume_workload *workload = small_world(true);
    const double counts[SMALL_CELLS] = {3, 0, 0, 1};
    brume_small_database_options options = options_for(BRUME_REPLACE, 1.5);
    double law[CANDIDATES], wrong[CANDIDATES];
    uint64_t seen[CANDIDATES] = {0}, refuted = 0;
    law_of(workload, counts, 1.5, law);
    law_of(workload, counts, 1, wrong);
    brume_bits *bits = brume_tape_open_seeded(11);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t out[SIZE];
        assert_ok(brume_small_database(workload, &options, counts, bits, out, &error));
        for (int k = 0; k < CANDIDATES; k++) {
            int place[SIZE] = {0};
            candidate(k, place);
            seen[k] += out[0] == (uint64_t)place[0] && out[1] == (uint64_t)place[1] &&
                       out[2] == (uint64_t)place[2];
        }
    }
    uint64_t all = 0;
    for (int k = 0; k < CANDIDATES; k++) { /* seeded: no chance is left; 1e-9 is for the reader */
        all += seen[k];
        assert_holds(binomial_plausible(DRAWS, seen[k], law[k], law[k], 1e-9));
        refuted += !binomial_plausible(DRAWS, seen[k], wrong[k], wrong[k], 1e-9);
    }
    assert_int_equal(all, DRAWS);
    assert_holds(refuted > 0);
    brume_bits_close(bits);
    brume_workload_close(workload);
}

static void sizes_and_numbers_of_candidates_are_the_reference_ones(void **state)
{
    (void)state;
    brume_error error = {0};
    const struct {
        uint64_t queries;
        double alpha;
        uint64_t size;
    } vectors[] = {{1, .1, 35}, {2, .1, 70}, {100, .1, 265}, {1000, .05, 1521}};
    for (int i = 0; i < 4; i++) {
        uint64_t size;
        assert_ok(brume_small_database_size(vectors[i].queries, vectors[i].alpha, &size, &error));
        assert_int_equal(size, vectors[i].size);
    }
    assert_holds(brume_small_database_candidates(4, 3) == 20);
    assert_holds(brume_small_database_candidates(1, 9) == 1);
    assert_holds(brume_small_database_candidates(16, 8) == 490314);
    assert_holds(isinf(brume_small_database_candidates(1 << 20, 1000)));
}

static void errors_stay_within_the_bound(void **state)
{
    (void)state;
    enum { RUNS = 100, PEOPLE = 3000 };
    brume_error error = {0};
    brume_workload *workload = small_world(false);
    const double counts[SMALL_CELLS] = {1800, 100, 300, 800};
    brume_small_database_options options = {BRUME_REPLACE, 0.2, 24, PEOPLE, 1 << 20};
    double alpha, truth[3], answers[3];
    int beyond = 0, far = 0;
    assert_ok(brume_small_database_alpha(workload, &options, 0.1, &alpha, &error));
    assert_holds(alpha < PEOPLE / 2);
    assert_ok(brume_workload_answer(workload, counts, truth, &error));
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        brume_bits *bits = brume_tape_open_seeded(seed);
        uint64_t out[24];
        double small[SMALL_CELLS] = {0}, worst = 0;
        assert_ok(brume_small_database(workload, &options, counts, bits, out, &error));
        for (int i = 0; i < 24; i++)
            small[out[i]] += PEOPLE / 24.;
        assert_ok(brume_workload_answer(workload, small, answers, &error));
        for (int q = 0; q < 3; q++)
            worst = fmax(worst, fabs(answers[q] - truth[q]));
        beyond += worst > alpha;
        far += worst > alpha / 40;
        brume_bits_close(bits);
    }
    assert_holds(beyond <= RUNS / 10);
    assert_holds(far > RUNS / 10);
    brume_workload_close(workload);
}

static void the_infeasible_is_refused_with_the_number_of_candidates(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_workload *workload = small_world(false);
    const double counts[SMALL_CELLS] = {3, 0, 0, 1};
    brume_small_database_options options = options_for(BRUME_REPLACE, 1);
    uint64_t out[SIZE] = {77};
    brume_bits *bits = brume_tape_open(NULL, 0, NULL, 0);
    options.most_candidates = 19;
    assert_fails(brume_small_database(workload, &options, counts, bits, out, &error),
                 BRUME_EOVERFLOW);
    assert_non_null(strstr(error.message, "20 candidates"));
    options = options_for(BRUME_REPLACE, 1);
    options.records = 5;
    assert_fails(brume_small_database(workload, &options, counts, bits, out, &error),
                 BRUME_EARGUMENT);
    options = options_for(BRUME_REPLACE, 0);
    assert_fails(brume_small_database(workload, &options, counts, bits, out, &error),
                 BRUME_EARGUMENT);
    options = options_for(BRUME_REPLACE, 1);
    assert_fails(brume_small_database(workload, &options, counts, bits, out, &error),
                 BRUME_ERANDOM);
    assert_int_equal(out[0], 77);
    brume_bits_close(bits);
    brume_workload_close(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(candidates_are_counted_by_their_badness),
        cmocka_unit_test(the_whole_law_is_private_in_both_directions),
        cmocka_unit_test(draws_follow_the_law_and_not_the_law_of_another_epsilon),
        cmocka_unit_test(sizes_and_numbers_of_candidates_are_the_reference_ones),
        cmocka_unit_test(errors_stay_within_the_bound),
        cmocka_unit_test(the_infeasible_is_refused_with_the_number_of_candidates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
