/* Private quantiles: the law of one against its definition, privacy of one by enumeration. */
#include "check.h"

#include <malloc.h>
#include <stdlib.h>

#include "query/release/rank.h"
#include "random/tape.h"

enum { LOW = 0, HIGH = 4, POINTS = HIGH - LOW + 1 };

/* exp(rate * u(v)), u(v) = -max(0, #{x<v} - qN, qN - #{x<=v}), normalised. */
static void define_law(const int64_t *values, size_t count, double q, double rate, double *law)
{
    double total = 0;
    for (int64_t v = LOW; v <= HIGH; v++) {
        double below = 0, upto = 0, n = (double)count;
        for (size_t i = 0; i < count; i++) {
            below += values[i] < v;
            upto += values[i] <= v;
        }
        law[v] = exp(-rate * fmax(0, fmax(below - q * n, q * n - upto)));
        total += law[v];
    }
    for (int v = 0; v < POINTS; v++)
        law[v] /= total;
}

/* 20000 draws of each of 4 cases and 5 points: |count - n p| <= 700 fails with probability below
 * 2 exp(-2 * 700^2 / 20000) = 1e-21 each (Hoeffding). A mutant that ignores ties misses by 2000. */
static void one_quantile_has_the_stated_law(void **state)
{
    (void)state;
    brume_error error = {0};
    const int64_t data[][5] = {{0, 0, 2, 4, 4}, {3, 3, 3, 3, 3}, {1, 2, 3, 4, 0}, {0, 4, 0, 4, 1}};
    const size_t counts[] = {5, 5, 4, 0};
    brume_bits *bits = brume_tape_open_seeded(99);
    for (size_t c = 0; c < 4; c++) {
        double law[POINTS];
        long seen[POINTS] = {0};
        define_law(data[c], counts[c], 0.25, 0.8, law);
        for (int i = 0; i < 20000; i++) {
            int64_t values[5], v = 0;
            memcpy(values, data[c], sizeof values);
            assert_ok(
                brume_rank_one(bits, values, NULL, counts[c], LOW, HIGH, 1, 4, 0.8, &v, &error));
            assert_in_range(v, LOW, HIGH);
            seen[v]++;
        }
        for (int v = 0; v < POINTS; v++)
            assert_holds(fabs((double)seen[v] - 20000 * law[v]) <= 700);
    }
    brume_bits_close(bits);
}

/* Largest less smallest log-ratio of two laws: the range that a concentrated price counts; the loss
 * is at most that. */
static double range_of(const double *p, const double *q)
{
    double least = INFINITY, most = -INFINITY;
    for (int v = 0; v < POINTS; v++) {
        least = fmin(least, log(p[v] / q[v]));
        most = fmax(most, log(p[v] / q[v]));
    }
    return most - least;
}

/* Over all neighbours: a gained value moves the law by at most 2 rate max(q, 1-q), a replaced one
 * by 2 rate, and both are attained. */
static void neighbours_lose_no_more_than_the_price_counts(void **state)
{
    (void)state;
    const double fractions[] = {0, 0.25, 0.5, 0.9, 1};
    for (size_t f = 0; f < 5; f++) {
        double q = fractions[f], kappa = fmax(q, 1 - q), worst_gain = 0, worst_stay = 0;
        for (int code = 0; code < POINTS * POINTS * POINTS; code++)
            for (int64_t extra = LOW; extra <= HIGH; extra++)
                for (int64_t other = LOW; other <= HIGH; other++) {
                    int64_t with[4] = {code % POINTS, code / POINTS % POINTS,
                                       code / POINTS / POINTS, extra};
                    int64_t changed[4] = {with[0], with[1], with[2], other};
                    double p[POINTS], less[POINTS], replaced[POINTS];
                    define_law(with, 4, q, 0.5, p);
                    define_law(with, 3, q, 0.5, less);
                    define_law(changed, 4, q, 0.5, replaced);
                    worst_gain = fmax(worst_gain, range_of(p, less));
                    worst_stay = fmax(worst_stay, range_of(p, replaced));
                }
        assert_holds(worst_gain <= 2 * 0.5 * kappa + 1e-9);
        assert_holds(worst_stay <= 2 * 0.5 + 1e-9);
        if (q == 0.5) {
            assert_holds(worst_gain >= 2 * 0.5 * kappa - 1e-9);
            assert_holds(worst_stay >= 2 * 0.5 - 1e-9);
        }
    }
}

static void several_quantiles_are_ordered_and_near_where_they_belong(void **state)
{
    (void)state;
    brume_error error = {0};
    const int64_t fractions[][2] = {{1, 4}, {1, 2}, {3, 4}};
    int64_t values[1000], out[3];
    uint32_t breaker[1000];
    uint64_t seed = 5;
    brume_bits *bits = brume_tape_open_seeded(7);
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 1000; i++) {
            values[i] = i * 10 - 5000;
            breaker[i] = (uint32_t)brume_tape_splitmix(&seed);
        }
        assert_ok(brume_rank_many(bits, values, NULL, breaker, 1000, -5000, 5000, fractions, 3, 1,
                                  out, &error));
        assert_holds(out[0] <= out[1] && out[1] <= out[2]);
        /* rank error beyond 150 of 1000 has probability below 2^32 * 10^4 * e^-75 */
        for (int q = 0; q < 3; q++)
            assert_holds(llabs(out[q] - (2500 * (q + 1) - 5000)) <= 1500);
    }
    /* At a rate of nearly 0 the values say nothing: the middle one is uniform, and the others are
     * uniform on their side of it. */
    double share = 0;
    for (int round = 0; round < 400; round++) {
        assert_ok(brume_rank_many(bits, values, NULL, breaker, 1000, -5000, 5000, fractions, 3,
                                  1e-9, out, &error));
        assert_holds(-5000 <= out[0] && out[0] <= out[1] && out[1] <= out[2] && out[2] <= 5000);
        share += (double)(out[0] + 5000) / (double)(out[1] + 5001) / 400;
    }
    assert_holds(fabs(share - 0.5) < 0.2); /* Hoeffding: beyond it with 2 e^-32, on a seeded tape */
    /* All values equal: every quantile is that value, thanks to the breakers. */
    for (int i = 0; i < 1000; i++)
        values[i] = 5;
    assert_ok(
        brume_rank_many(bits, values, NULL, breaker, 1000, 0, 10, fractions, 3, 1, out, &error));
    for (int q = 0; q < 3; q++)
        assert_int_equal(out[q], 5);
    /* An empty list answers something in range. */
    assert_ok(brume_rank_many(bits, values, NULL, breaker, 0, 3, 3, fractions, 3, 1, out, &error));
    assert_int_equal(out[1], 3);
    brume_bits_close(bits);
}

static void extreme_bounds_do_not_overflow(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_bits *bits = brume_tape_open_seeded(3);
    int64_t values[] = {INT64_MAX / 2, -(INT64_MAX / 2), 0}, v = 0;
    assert_ok(brume_rank_one(bits, values, NULL, 3, -(INT64_MAX / 2), INT64_MAX / 2, 1, 2, 50, &v,
                             &error));
    assert_holds(llabs(v) <= INT64_MAX / 2);
    /* Weights and a fraction of nine decimals: steps beyond 2^62, which saturate and do not wrap
     * around. One value has nearly all of the weight, and every fraction chosen is its place. */
    static int64_t many[200000];
    static uint32_t weights[200000];
    for (size_t i = 0; i < 200000; i++) {
        many[i] = i < 10 ? 0 : 7;
        weights[i] = 1 << 16;
    }
    assert_ok(
        brume_rank_one(bits, many, weights, 200000, 0, 100, 123456789, 1000000000, 1, &v, &error));
    assert_int_equal(v, 7);
    /* All values are the least one, and the bounds leave no bits to break ties: nothing is below
     * what the middle fraction chose, and the other fractions choose it too. */
    const int64_t fractions[][2] = {{1, 4}, {1, 2}, {3, 4}};
    const int64_t low = -(INT64_C(1) << 61);
    int64_t least[300], out[3];
    uint32_t breaker[300];
    for (size_t i = 0; i < 300; i++) {
        least[i] = low;
        breaker[i] = UINT32_MAX - (uint32_t)i; /* no bit of them has room */
    }
    for (int round = 0; round < 20; round++) {
        assert_ok(brume_rank_many(bits, least, NULL, breaker, 300, low, -low - 1, fractions, 3, 5,
                                  out, &error));
        for (int q = 0; q < 3; q++)
            assert_true(out[q] >= low && out[q] < low + 4);
    }
    /* All of them in the middle: what equals the choice of the middle fraction goes to its right,
     * and what is left of it is chosen below it. */
    for (size_t i = 0; i < 300; i++)
        least[i] = 1000;
    for (int round = 0; round < 20; round++) {
        assert_ok(brume_rank_many(bits, least, NULL, breaker, 300, low, -low - 1, fractions, 3, 5,
                                  out, &error));
        assert_true(out[1] == 1000 && low <= out[0] && out[0] < 1000 && out[2] == 1000);
    }
    /* Between narrow and extreme bounds some bits break ties: quartiles are where they belong. */
    for (int width = 20; width < 61; width++) {
        const int64_t wide = INT64_C(1) << width;
        for (size_t i = 0; i < 300; i++) {
            least[i] = wide / 300 * (int64_t)i;
            breaker[i] = UINT32_MAX - (uint32_t)i;
        }
        assert_ok(brume_rank_many(bits, least, NULL, breaker, 300, 0, wide, fractions, 3, 5, out,
                                  &error));
        for (int q = 0; q < 3; q++)
            assert_true(llabs(out[q] - wide / 4 * (q + 1)) <= wide / 10);
    }
    /* Nothing is answered beyond the bounds, though every point of them is. */
    for (int64_t high = 0; high < 4; high++) {
        int seen = 0;
        for (size_t i = 0; i < 300; i++)
            least[i] = high;
        for (int round = 0; round < 200; round++) {
            assert_ok(brume_rank_many(bits, least, NULL, breaker, 300, 0, high, fractions, 3, 1e-9,
                                      out, &error));
            for (int q = 0; q < 3; q++) {
                assert_true(0 <= out[q] && out[q] <= high);
                seen |= 1 << out[q];
            }
        }
        assert_int_equal(seen, (1 << (high + 1)) - 1);
        assert_ok(brume_rank_many(bits, least, NULL, breaker, 300, 0, high, fractions, 3, 5, out,
                                  &error));
        assert_true(out[0] == high && out[1] == high && out[2] == high);
    }
    brume_bits_close(bits);
}

/* A weight of n rows is n equal rows: the same draws give the same answers. Half a row is half: the
 * law is that of twice as many rows at half the rate (20000 draws, as above). */
static void weights_stand_for_rows(void **state)
{
    (void)state;
    brume_error error = {0};
    const int64_t fractions[][2] = {{1, 4}, {1, 2}, {3, 4}};
    const int64_t once[] = {0, 2, 4}, twice[] = {0, 2, 2, 4, 4, 4};
    const uint32_t rows[] = {1 << 16, 2 << 16, 3 << 16}, half[] = {1 << 15, 1 << 15, 1 << 15};
    const uint32_t ones[] = {1 << 16, 1 << 16, 1 << 16, 1 << 16, 1 << 16, 1 << 16};
    const uint32_t breaker[] = {1u << 31, 1u << 30, 3u << 30, 7, 9, 11};
    for (uint64_t seed = 0; seed < 200; seed++) {
        brume_bits *a = brume_tape_open_seeded(seed), *b = brume_tape_open_seeded(seed);
        int64_t v = 0, w = 0, many[3], same[3];
        assert_ok(brume_rank_one(a, once, rows, 3, LOW, HIGH, 2, 5, 0.6, &v, &error));
        assert_ok(brume_rank_one(b, twice, NULL, 6, LOW, HIGH, 2, 5, 0.6, &w, &error));
        assert_int_equal(v, w);
        assert_ok(brume_rank_many(a, twice, ones, breaker, 6, LOW, HIGH, fractions, 3, 0.6, many,
                                  &error));
        assert_ok(brume_rank_many(b, twice, NULL, breaker, 6, LOW, HIGH, fractions, 3, 0.6, same,
                                  &error));
        assert_memory_equal(many, same, sizeof many);
        brume_bits_close(a);
        brume_bits_close(b);
    }
    double law[POINTS], unweighted[POINTS];
    long seen[POINTS] = {0};
    define_law(once, 3, 0.4, 1.5, law);
    define_law(once, 3, 0.4, 3, unweighted); /* a control: weights that are not read */
    brume_bits *bits = brume_tape_open_seeded(31);
    for (int i = 0; i < 20000; i++) {
        int64_t v = 0;
        assert_ok(brume_rank_one(bits, once, half, 3, LOW, HIGH, 2, 5, 3, &v, &error));
        seen[v]++;
    }
    double off = 0;
    for (int v = 0; v < POINTS; v++) {
        assert_holds(fabs((double)seen[v] - 20000 * law[v]) <= 700);
        off = fmax(off, fabs((double)seen[v] - 20000 * unweighted[v]));
    }
    assert_holds(off > 1400);
    brume_bits_close(bits);
}

/* Whether values are counted or sorted shows nowhere but in time; which it is follows from the
 * bounds and the plan alone. Some weigh nothing, some lie at the bounds. */
static void counting_and_sorting_give_the_same(void **state)
{
    (void)state;
    enum { VALUES = 500, LAST = 20000 };
    brume_error error = {0};
    int64_t values[VALUES];
    uint32_t weights[VALUES];
    for (size_t count = 0; count <= VALUES; count += 125)
        for (int weighted = 0; weighted < 2; weighted++) {
            for (int64_t i = 0; i < VALUES; i++) {
                values[i] = i == 9 ? LAST - 100 : i == 7 ? -100 : i * i * i % 4001 - 50;
                weights[i] = i % 7 ? (uint32_t)(20000 + i * 100) : 0;
            }
            brume_ranked counted, sorted;
            const uint32_t *beside = weighted ? weights : NULL;
            assert_ok(brume_ranked_open(values, beside, count, -100, LAST - 100, LAST + 1, &counted,
                                        &error));
            assert_ok(
                brume_ranked_open(values, beside, count, -100, LAST - 100, LAST, &sorted, &error));
            assert_int_equal(counted.count, sorted.count);
            assert_int_equal(counted.weighted, weighted);
            assert_int_equal(sorted.weighted, weighted);
            for (size_t i = 0; i < sorted.count; i++)
                assert_int_equal(counted.values[i], sorted.values[i]);
            for (size_t i = 0; i <= sorted.count; i++)
                assert_int_equal(counted.upto[i], sorted.upto[i]);
            assert_true(count == 0 || sorted.count > count / 2);
            brume_ranked_close(&counted);
            brume_ranked_close(&sorted);
        }
}

/* Memory that was never written holds, here, what ends the list: it must not be taken for one more
 * value. At this rate another value than the largest has a chance below 1e-80. */
static void what_memory_held_before_does_not_show(void **state)
{
    (void)state;
    enum { COUNT = 20 };
    static const int64_t filled[] = {0x0707070707070707, -0x0707070707070708}; /* or after use */
    const int64_t wide = INT64_C(1) << 61;
    brume_error error = {0};
    brume_bits *bits = brume_tape_open_seeded(3);
    (void)mallopt(M_PERTURB, 0xf8); /* a sanitizer has its own memory */
    for (int round = 0; round < 20; round++) {
        int64_t values[COUNT], v = 0;
        uint32_t weights[COUNT];
        for (int i = 0; i < COUNT; i++) {
            values[i] = filled[round % 2] - (COUNT - 1 - i) * 1000;
            weights[i] = i < COUNT - 1 ? 1 << 16 : 1 << 24;
        }
        assert_ok(brume_rank_one(bits, values, weights, COUNT - (size_t)(round / 2 % 2), -wide,
                                 wide, 9, 10, 200, &v, &error));
        assert_true(v == values[COUNT - 1] || round / 2 % 2);
    }
    (void)mallopt(M_PERTURB, 0);
    brume_bits_close(bits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_quantile_has_the_stated_law),
        cmocka_unit_test(neighbours_lose_no_more_than_the_price_counts),
        cmocka_unit_test(several_quantiles_are_ordered_and_near_where_they_belong),
        cmocka_unit_test(extreme_bounds_do_not_overflow),
        cmocka_unit_test(weights_stand_for_rows),
        cmocka_unit_test(counting_and_sorting_give_the_same),
        cmocka_unit_test(what_memory_held_before_does_not_show),
    };
    return cmocka_run_group_tests_name("quantiles of a query", tests, NULL, NULL);
}
