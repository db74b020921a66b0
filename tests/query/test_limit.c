/* Limits: the grid of a histogram, and looks: how they are pooled, what they show, where the tail
 * begins, and how many units may be above a limit.
 *
 * No draw is fresh. Where shares of draws are compared with a bound of probability, a right program
 * would fail with the probability that stands there if the seed were drawn. */
#include "check.h"

#include "query/limit/clip.h"
#include "query/limit/looks.h"
#include "sequence.h"

/* ---- the grid ---- */

static void edges_are_powers_of_two_and_their_halves_again(void **state)
{
    (void)state;
    const uint64_t first[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
    for (size_t i = 0; i < 12; i++)
        assert_int_equal(brume_limit_edge(i), first[i]);
    assert_true(brume_limit_edge(BRUME_LIMIT_BINS - 1) == UINT64_C(1) << 63);
    for (size_t i = 1; i < BRUME_LIMIT_BINS; i++)
        assert_true(brume_limit_edge(i) > brume_limit_edge(i - 1));
    assert_int_equal(brume_limit_bins(0), BRUME_LIMIT_BINS);
    assert_int_equal(brume_limit_bins(1), 1);
    assert_int_equal(brume_limit_bins(5), 5); /* up to 6 */
    assert_int_equal(brume_limit_bins(6), 5);
}

static void a_unit_is_in_the_bin_whose_edge_is_next_above(void **state)
{
    (void)state;
    for (int p = 1; p <= 2; p++) {
        assert_int_equal(brume_limit_bin(0, p, 126), BRUME_LIMIT_NO_BIN);
        for (size_t i = 0; i < 100; i++) {
            brume_u128 edge = brume_limit_edge(i), at = p == 1 ? edge : edge * edge;
            assert_int_equal(brume_limit_bin(at, p, 126), i);
            assert_int_equal(brume_limit_bin(at + 1, p, 126), i + 1);
            assert_int_equal(brume_limit_bin(at + 1, p, i + 1), i); /* the last bin is open */
        }
        assert_int_equal(brume_limit_bin(~(brume_u128)0, p, 126), 125);
    }
    assert_true(brume_limit_part((brume_i128)-7, 1) == 7);
    assert_true(brume_limit_part((brume_i128)-7, 2) == 49);
    assert_true(brume_limit_part((brume_i128)1 << 100, 1) == (brume_u128)1 << 80);
    assert_true(brume_limit_part((brume_i128)1 << 100, 2) == (brume_u128)1 << 106);
}

/* 2^22 groups with 2^53 or more each: their squares add up to 2^128, which is 0 in 128 bits. */
static void a_norm_that_does_not_fit_leaves_nothing(void **state)
{
    (void)state;
    const brume_i128 large = (brume_i128)1 << 53;
    brume_u128 norm = 0, wrapped = 0;
    for (size_t i = 0; i < 1 << 22; i++) {
        norm = brume_limit_add(norm, brume_limit_part(large, 2));
        wrapped += brume_limit_part(large, 2);
    }
    assert_true(wrapped == 0 && !brume_limit_factor_of(wrapped, 8, 2).cuts);
    assert_true(norm == BRUME_LIMIT_ENDLESS);
    assert_true(brume_limit_add(norm, 1) == BRUME_LIMIT_ENDLESS);
    assert_true(brume_limit_add(0, 49) == 49 && brume_limit_add(49, 0) == 49);
    const brume_limit_factor factors[] = {brume_limit_factor_of(norm, UINT64_C(1) << 63, 2),
                                          brume_limit_factor_within(norm, UINT64_MAX)};
    for (size_t i = 0; i < 2; i++) {
        assert_true(factors[i].cuts);
        assert_int_equal(brume_limit_clip(-large, &factors[i], UINT64_C(1) << 63, -20, 2), 0);
        assert_int_equal(brume_limit_follow(large, &factors[i], 0), 0);
    }
    /* one step below it, the factor is that of the norm */
    brume_limit_factor last = brume_limit_factor_of(norm - 1, UINT64_C(1) << 63, 2);
    assert_true(last.cuts && last.factor > 0.49);
}

/* ---- pooled numbers ---- */

enum { BINS = BRUME_LIMIT_BINS };

/* Weighted by the inverse of their variances, in any order. */
static void numbers_are_pooled_by_their_variances(void **state)
{
    (void)state;
    brume_noisy one = {0}, other = {0};
    brume_noisy_pool(&one, 10, 2);
    assert_holds(one.value == 10 && one.deviation == 2);
    brume_noisy_pool(&one, 20, 4); /* weights 4 : 1 */
    assert_close(one.value, 12, 1e-15);
    assert_close(one.deviation, sqrt(16.0 / 5), 1e-15);
    brume_noisy_pool(&other, 20, 4);
    brume_noisy_pool(&other, 10, 2);
    assert_close(other.value, one.value, 1e-15);
    for (int i = 0; i < 3; i++) /* four of one price: a quarter of the variance */
        brume_noisy_pool(&other, 12, one.deviation);
    assert_close(other.deviation, one.deviation / 2, 1e-15);
}

static brume_looks looks_with(double value, double deviation, size_t tail, bool gaussian)
{
    brume_looks looks = {.gaussian = gaussian, .tail = tail, .first = {value, deviation}};
    for (size_t i = 0; i < BINS; i++)
        looks.bin[i] = (brume_noisy){value, deviation};
    for (size_t p = 0; tail > 0 && p < BRUME_LIMIT_PARTS; p++)
        looks.part[p] = (brume_noisy){value, deviation};
    return looks;
}

/* All numbers; of two tails with other parts the newer one, of the same parts both. */
static void looks_are_pooled_where_they_count_the_same(void **state)
{
    (void)state;
    const brume_looks none = {0}, one = looks_with(10, 2, 5, false);
    brume_looks all = none;
    brume_looks_pool(&all, &one);
    brume_looks_pool(&all, &none);
    assert_memory_equal(&all, &one, sizeof all);
    brume_looks same = looks_with(20, 2, 5, true), else_where = looks_with(20, 2, 6, false);
    brume_looks_pool(&all, &same);
    assert_close(all.first.value, 15, 1e-15);
    assert_close(all.bin[BINS - 1].deviation, sqrt(2), 1e-15);
    assert_close(all.part[3].value, 15, 1e-15);
    assert_false(all.gaussian); /* unless all are */
    brume_looks_pool(&all, &else_where);
    assert_close(all.bin[0].deviation, 2 / sqrt(3), 1e-15);
    assert_holds(all.tail == 6 && all.part[0].value == 20 && all.part[0].deviation == 2);
    all = none;
    brume_looks_pool(&all, &same);
    assert_true(all.gaussian);
}

/* ---- evidence ---- */

/* P[the sum of `count` Laplace noises of scale 1 is x or more], numerically: the density of the sum
 * on a grid, by repeated convolution. */
static double laplace_tail(int count, double x)
{
    enum { STEPS = 4000 };
    static double sum[2 * STEPS + 1], next[2 * STEPS + 1];
    const double step = 0.015, ratio = exp(-step);
    for (int i = -STEPS; i <= STEPS; i++)
        sum[i + STEPS] = exp(-fabs(i * step)) * (1 - ratio) / (1 + ratio); /* discrete Laplace */
    for (int n = 1; n < count; n++) {
        double up = 0, down = 0; /* convolution with a two-sided exponential, by two recursions */
        memset(next, 0, sizeof next);
        for (int i = 0; i <= 2 * STEPS; i++)
            next[i] += up = up * ratio + sum[i];
        for (int i = 2 * STEPS; i >= 0; i--) {
            next[i] += down;
            down = (down + sum[i]) * ratio;
        }
        for (int i = 0; i <= 2 * STEPS; i++)
            sum[i] = next[i] * (1 - ratio) / (1 + ratio);
    }
    double tail = 0;
    for (int i = (int)ceil(x / step); i <= STEPS; i++)
        tail += sum[i + STEPS];
    return tail;
}

/* The grid of `laplace_tail` is known to half a step: 0.008 of the logarithm. */
static void evidence_is_what_noise_says_or_less(void **state)
{
    (void)state;
    for (double x = 0.3; x < 15; x += 0.9) {
        for (int count = 1; count <= 8; count *= 2) {
            double exact = -log(laplace_tail(count, x));
            double said = brume_noise_evidence(false, x, sqrt(2), count);
            if (count < 8)
                assert_close(said, exact, 0.02 + 0.01 / exact);
            else if (said > 3) /* of eight: heavier tails than they have */
                assert_holds(said <= exact + 0.02);
        }
        double t = x / 3, exact = -log(erfc(t * M_SQRT1_2) / 2);
        double said = brume_noise_evidence(true, x, 1.5, 4); /* deviation 3 together */
        assert_holds(said <= exact && said >= exact - 0.7);
    }
    assert_holds(brume_noise_evidence(false, 0, 1, 1) == 0);
    assert_holds(brume_noise_evidence(true, -5, 1, 1) == 0);
}

/* Of a first count: noise alone says 2.3 in one of ten draws. */
static void a_small_first_count_is_quiet(void **state)
{
    (void)state;
    brume_looks looks = {.first = {0, sqrt(2) * 20}};
    assert_false(brume_looks_are_quiet(&(brume_looks){0})); /* nobody counted */
    looks.first.value = 20 * (2.3 - log(2)) - 0.01;
    assert_true(brume_looks_are_quiet(&looks));
    assert_close(brume_looks_hidden(&looks, 0), looks.first.value + 20 * log(20), 1e-4);
    assert_holds(brume_looks_hidden(&looks, 1) == 0);
    looks.first.value += 0.02;
    assert_false(brume_looks_are_quiet(&looks));
    looks.gaussian = true;
    looks.first = (brume_noisy){1.29 * 20, 20};
    assert_true(brume_looks_are_quiet(&looks));
    assert_close(brume_looks_hidden(&looks, 0), (1.29 + 1.96) * 20, 1e-12);
    looks.first.value = 1.5 * 20;
    assert_false(brume_looks_are_quiet(&looks));
    looks.first.value = -1000;
    assert_holds(brume_looks_hidden(&looks, 0) == 0);
}

/* ---- the last bin that is seen, and the tail ---- */

static size_t top_of(const double *counts, size_t given, size_t base, bool gaussian)
{
    brume_looks looks = {.gaussian = gaussian, .base = base};
    for (size_t i = 0; i < BINS; i++)
        looks.bin[i] = (brume_noisy){i < given ? counts[i] : 0, (gaussian ? 1 : sqrt(2)) * 10};
    return brume_looks_top(&looks);
}

/* Scales of noise that a bin must show: ln 200 for the next one, ln 2 more for each bin of a gap,
 * at most 9.5 and 0.15 for each; ln 8 more while none is seen, 1.5 more for several bins together;
 * a number says ln 2 more than its scales. */
static void bins_must_show_more_the_further_above_they_are(void **state)
{
    (void)state;
    const double next = 10 * log(100);
    assert_int_equal(top_of((const double[]){10000, next - 0.1}, 2, 0, false), 0);
    assert_int_equal(top_of((const double[]){10000, next + 0.1}, 2, 0, false), 1);
    const double gap = next + 20 * log(2); /* two bins between */
    assert_int_equal(top_of((const double[]){10000, 0, 0, gap - 0.1}, 4, 0, false), 0);
    assert_int_equal(top_of((const double[]){10000, 0, 0, gap + 0.1}, 4, 0, false), 3);
    double far[40] = {10000, [30] = 10 * (9.5 + 0.15 * 29 - log(2)) - 0.1};
    assert_int_equal(top_of(far, 40, 0, false), 0);
    far[30] += 0.2;
    assert_int_equal(top_of(far, 40, 0, false), 30);
    const double first = next + 10 * log(8);
    assert_int_equal(top_of(&(double){first - 0.1}, 1, 0, false), BRUME_LIMIT_NO_BIN);
    assert_int_equal(top_of(&(double){first + 0.1}, 1, 0, false), 0);
    /* a row adds 64: the gap begins there */
    double base[20] = {[11] = first + 0.1};
    assert_int_equal(top_of(base, 20, 11, false), 11);
    assert_int_equal(top_of(base, 20, 0, false), BRUME_LIMIT_NO_BIN);
    /* two together, of which the last one ends the window */
    assert_int_equal(top_of((const double[]){10000, 43, 43}, 3, 0, false), 2);
    assert_int_equal(top_of((const double[]){10000, 45, 45, 4}, 4, 0, false), 2);
    /* Gaussian noise: t^2/2 + ln(2.5066 t) = ln 200 at t = 2.613 */
    assert_int_equal(top_of((const double[]){10000, 26.0}, 2, 0, true), 0);
    assert_int_equal(top_of((const double[]){10000, 26.3}, 2, 0, true), 1);
}

static void a_tail_begins_above_what_is_seen(void **state)
{
    (void)state;
    const size_t starts[] = {7, 9, 13, 19, BINS};
    for (size_t i = 0; i <= BRUME_LIMIT_PARTS; i++)
        assert_int_equal(brume_looks_part(7, i), starts[i]);
    assert_int_equal(brume_looks_part(BINS - 3, 1), BINS - 1); /* bins end, parts are empty */
    assert_int_equal(brume_looks_part(BINS - 3, 2), BINS);
    brume_looks looks = looks_with(0, 1, 0, false);
    for (size_t top = 0; top < BINS; top++) {
        for (size_t i = 0; i <= top; i++)
            looks.bin[i].value = 1000;
        size_t at = top < BINS - 1 ? top + 1 : BINS - 1;
        looks.tail = 0;
        assert_int_equal(brume_looks_next_tail(&looks), at);
        for (size_t had = 1; had < BINS; had += 1 + top / 8) { /* one that is near stays */
            bool near = had <= at + 2 && at <= had + 2;
            looks.tail = had;
            assert_int_equal(brume_looks_next_tail(&looks), near ? had : at);
        }
    }
}

/* ---- drawn looks ---- */

static uint64_t random_state;

static double uniform(void)
{
    return ((double)(sequence_next(&random_state) >> 11) + 0.5) * 0x1p-53;
}

static double noise(bool gaussian, double scale)
{
    if (gaussian)
        return scale * sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
    double u = uniform();
    return u < 0.5 ? scale * log(2 * u) : -scale * log(2 - 2 * u);
}

static void count_again(brume_noisy *number, double truth, bool gaussian, double scale)
{
    brume_noisy_pool(number, truth + noise(gaussian, scale), (gaussian ? 1 : sqrt(2)) * scale);
}

/* Histogram and tail, as they are bought; false: nothing is seen. */
static bool draw_looks(const double *counts, size_t given, size_t base, bool gaussian,
                       brume_looks *looks)
{
    *looks = (brume_looks){.gaussian = gaussian, .base = base};
    for (size_t i = 0; i < BINS; i++)
        count_again(&looks->bin[i], i < given ? counts[i] : 0, gaussian, 10);
    if (brume_looks_top(looks) == BRUME_LIMIT_NO_BIN)
        return false;
    looks->tail = brume_looks_next_tail(looks);
    for (size_t i = 0; i < looks->tail; i++)
        count_again(&looks->bin[i], i < given ? counts[i] : 0, gaussian, 20.0 / 3);
    for (size_t p = 0; p < BRUME_LIMIT_PARTS; p++) {
        double units = 0;
        for (size_t i = brume_looks_part(looks->tail, p);
             i < brume_looks_part(looks->tail, p + 1) && i < given; i++)
            units += counts[i];
        count_again(&looks->part[p], units, gaussian, 20.0 / 3);
    }
    return true;
}

static const double few[] = {30, 25, 20, 15, 10, 8}, many[] = {9000, 700, 200, 50, 30};

/* In how many draws is the last bin seen `far` bins or more above the last that has a unit? */
static size_t far_tops(const double *counts, size_t given, size_t base, size_t far, bool gaussian)
{
    size_t found = 0;
    random_state = 7;
    for (size_t d = 0; d < 20000; d++) {
        brume_looks looks;
        if (draw_looks(counts, given, base, gaussian, &looks)) {
            size_t top = brume_looks_top(&looks);
            found += top != BRUME_LIMIT_NO_BIN && top >= given - 1 + far;
        }
    }
    return found;
}

/* Too few units for any bin to pass by itself, and many. A bin 24 above the last one passes with a
 * probability of e^-13.1 at most, alone or in one of three windows with e^-14.6; so do all of them
 * together in less than 2e-5 of draws, 20,000 draws in 0.4: 12 or more have less than 1e-9. */
static void noise_alone_is_hardly_seen_far_above(void **state)
{
    (void)state;
    for (int gaussian = 0; gaussian < 2; gaussian++) {
        assert_true(far_tops(few, 6, 0, 24, gaussian) < 12);
        assert_true(far_tops(many, 5, 0, 24, gaussian) < 12);
        assert_true(far_tops(many, 1, 0, 24, gaussian) < 12);
    }
    /* a control: with a base far up the tests are lax there */
    assert_true(far_tops(few, 6, 110, 24, false) > 12);
}

/* H >= the units above an edge, in 97.5 % of draws and more, for edges fixed beforehand. 20,000
 * draws with 0.025 have more than 500 + 6.5 * sqrt(487.5) with a probability below 1e-9
 * (Bernstein).
 */
static void hidden_units_are_as_many_as_there_are(void **state)
{
    (void)state;
    const double crowd[24] = {9000, 700, 200, 50, 30, [20] = 40, [23] = 10};
    for (int gaussian = 0; gaussian < 2; gaussian++)
        for (size_t bin = 0; bin < 24; bin += 3) {
            double units = 0;
            size_t more = 0, mutant = 0;
            for (size_t i = bin + 1; i < 24; i++)
                units += crowd[i];
            random_state = 11 + bin;
            for (size_t d = 0; d < 20000; d++) {
                brume_looks looks;
                assert_true(draw_looks(crowd, 24, 0, gaussian, &looks));
                more += units > brume_looks_hidden(&looks, bin);
                for (size_t i = 0; i < BINS; i++) /* a control: less room for noise */
                    looks.bin[i].deviation *= 0.7;
                for (size_t p = 0; p < BRUME_LIMIT_PARTS; p++)
                    looks.part[p].deviation *= 0.7;
                mutant += units > brume_looks_hidden(&looks, bin) && units > 0;
            }
            assert_true(more <= 500 + 144);
            if (bin < 21) /* there the part has the units of bin 22 and below too */
                assert_true(mutant > 500 + 144);
        }
}

static void parts_say_how_many_are_above(void **state)
{
    (void)state;
    brume_looks looks = looks_with(0, 10, 3, false);
    const double parts[] = {30, 20, 1, 5};
    for (size_t p = 0; p < BRUME_LIMIT_PARTS; p++)
        looks.part[p] = (brume_noisy){parts[p], 5};
    looks.bin[2].value = 100;
    assert_close(brume_looks_hidden(&looks, 2), 56 + 2.15 * 5 * 2, 1e-12);
    /* a bin further down comes from the histogram; further up whole parts */
    assert_close(brume_looks_hidden(&looks, 1), 156 + 2.15 * sqrt(100 + 4 * 25), 1e-12);
    assert_close(brume_looks_hidden(&looks, 3), 56 + 2.15 * 5 * 2, 1e-12);
    assert_close(brume_looks_hidden(&looks, 4), 26 + 2.15 * 5 * sqrt(3), 1e-12);
    looks.gaussian = true;
    assert_close(brume_looks_hidden(&looks, 4), 26 + 1.96 * 5 * sqrt(3), 1e-12);
    looks.part[0].value = -1000;
    assert_holds(brume_looks_hidden(&looks, 2) == 0);
    looks.tail = 0;
    assert_true(isnan(brume_looks_hidden(&looks, 2))); /* nobody counted */
    assert_close(brume_looks_units(&looks), 100, 1e-12);
    assert_true(isnan(brume_looks_units(&(brume_looks){0})));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_are_powers_of_two_and_their_halves_again),
        cmocka_unit_test(a_unit_is_in_the_bin_whose_edge_is_next_above),
        cmocka_unit_test(a_norm_that_does_not_fit_leaves_nothing),
        cmocka_unit_test(numbers_are_pooled_by_their_variances),
        cmocka_unit_test(looks_are_pooled_where_they_count_the_same),
        cmocka_unit_test(evidence_is_what_noise_says_or_less),
        cmocka_unit_test(a_small_first_count_is_quiet),
        cmocka_unit_test(bins_must_show_more_the_further_above_they_are),
        cmocka_unit_test(a_tail_begins_above_what_is_seen),
        cmocka_unit_test(noise_alone_is_hardly_seen_far_above),
        cmocka_unit_test(hidden_units_are_as_many_as_there_are),
        cmocka_unit_test(parts_say_how_many_are_above),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
