/* The sparse vector stream against its exact law, and mutants of the law that it must reject. */
#include "check.h"

#include <brume/mechanism/sparse_vector.h>

#include "chance.h"
#include "mechanism/threshold/threshold.h"
#include "random/tape.h"
#include "stream_law.h"

static brume_error error;

static stream_noise standard(double epsilon, int hits, bool monotone, bool even)
{
    brume_split split = {.hits = hits, .monotone = monotone, .even = even};
    stream_noise s = {.hits = hits};
    brume_split_scales(&split, epsilon, &s.threshold_scale, &s.query_scale);
    return s;
}

/* Run the stream `runs` times on seeded bits and count its patterns. */
static void count_patterns(const brume_sparse_vector_options *options, const int *values, int n,
                           int runs, uint64_t seed, uint64_t *counts)
{
    brume_bits *bits = brume_tape_open_seeded(seed);
    assert_non_null(bits);
    memset(counts, 0, ((size_t)1 << n) * sizeof *counts);
    for (int run = 0; run < runs; run++) {
        brume_sparse_vector *stream = NULL;
        assert_ok(brume_sparse_vector_open(options, bits, &stream, &error));
        unsigned pattern = 0;
        for (int i = 0; i < n && brume_sparse_vector_left(stream) > 0; i++) {
            bool above;
            assert_ok(brume_sparse_vector_ask(stream, bits, values[i] + 100, &above, NULL, &error));
            pattern |= (unsigned)above << i;
        }
        counts[pattern]++;
        brume_sparse_vector_close(stream);
    }
    brume_bits_close(bits);
}

static bool meets(const uint64_t *counts, const double *law, int n, int runs, double alarm)
{
    int patterns = 1 << n;
    for (int i = 0; i < patterns; i++)
        if (!binomial_plausible((uint64_t)runs, counts[i], law[i] * (1 - 1e-9), law[i] * (1 + 1e-9),
                                alarm / patterns))
            return false;
    return true;
}

static void the_stream_has_its_law(void **state)
{
    (void)state;
    enum { N = 4, RUNS = 40000, CASES = 4 };
    static const int values[N] = {0, 3, -2, 1};
    double alarm = false_alarm_share(false_alarm_sparse_vector_patterns) / CASES;
    for (int c = 0; c < CASES; c++) {
        brume_sparse_vector_options options = {.adjacency = BRUME_ADD_REMOVE,
                                               .sensitivity = c == 3 ? 2 : 1,
                                               .epsilon = 2,
                                               .hits = c < 2 ? 1 : 2};
        options.threshold = 100;
        options.even_split = c == 0;
        options.monotone = c == 1;
        uint64_t counts[1 << N];
        double law[1 << N];
        count_patterns(&options, values, N, RUNS, (uint64_t)c + 1, counts);
        stream_noise s = standard(2, (int)options.hits, options.monotone, options.even_split);
        s.threshold_scale *= (double)options.sensitivity;
        s.query_scale *= (double)options.sensitivity;
        stream_law(&s, values, N, law);
        assert_true(meets(counts, law, N, RUNS, alarm));
        /* mutants: another scale, another cut-off, strictly above */
        stream_noise wrong = s;
        wrong.query_scale *= 1.25;
        stream_law(&wrong, values, N, law);
        assert_false(meets(counts, law, N, RUNS, alarm));
        wrong = s;
        wrong.hits++;
        stream_law(&wrong, values, N, law);
        assert_false(meets(counts, law, N, RUNS, alarm));
        int lower[N];
        for (int i = 0; i < N; i++)
            lower[i] = values[i] - 1;
        stream_law(&s, lower, N, law);
        assert_false(meets(counts, law, N, RUNS, alarm));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_stream_has_its_law)};
    return cmocka_run_group_tests_name("sparse_vector_stream", tests, NULL, NULL);
}
