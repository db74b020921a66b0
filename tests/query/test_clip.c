/* The clip of a unit's totals: against its test vectors; the ball, the distances of two units and
 * the histogram by enumeration, with controls that must fail. */
#include "check.h"

#include "query/limit/clip.h"
#include "query/limit/grid.h"
#include "query/price/limited.h"
#include "random/tape.h"

enum { MOST_CELLS = 3 };

static brume_u128 norm_of(const int64_t *v, size_t cells, int p)
{
    brume_u128 norm = 0;
    for (size_t k = 0; k < cells; k++)
        norm += brume_limit_part(v[k], p);
    return norm;
}

static void clip(const int64_t *v, size_t cells, uint64_t limit, int p, int shift, int64_t *y)
{
    brume_limit_factor factor = brume_limit_factor_of(norm_of(v, cells, p), limit, p);
    for (size_t k = 0; k < cells; k++)
        y[k] = brume_limit_clip(v[k], &factor, limit, shift, p);
}

static void the_clip_gives_its_test_vectors(void **state)
{
    (void)state;
    int64_t y[3];
    clip((const int64_t[]){5, 1, 0}, 3, 2, 1, 3, y);
    assert_true(y[0] == 13 && y[1] == 2 && y[2] == 0);
    clip((const int64_t[]){5, 1, 0}, 3, 2, 2, 3, y);
    assert_true(y[0] == 15 && y[1] == 3 && y[2] == 0);
    clip((const int64_t[]){-5, 1, 0}, 3, 2, 1, 3, y);
    assert_true(y[0] == -13 && y[1] == 2); /* towards zero */
    clip((const int64_t[]){-3, 2, 1}, 3, 6, 1, 3, y);
    assert_true(y[0] == -24 && y[1] == 16 && y[2] == 8); /* nothing is cut */
    clip((const int64_t[]){1000, 24, 0}, 3, 512, 1, -5, y);
    assert_true(y[0] == 15 && y[1] == 0); /* steps of 32: 512 is 16 of them */
    assert_int_equal(brume_limit_shift(1, true, 3), 20);
    assert_int_equal(brume_limit_shift(3, true, 3), 19);
    assert_int_equal(brume_limit_shift(3, false, 3), 0);
    assert_int_equal(brume_limit_shift(0x1p50, false, 3), -6);
    assert_int_equal(brume_limit_shift(1, true, 0x1p40), 9); /* the samplers' range */
}

/* Every vector of `cells` totals from `low` to `high`, in turn; false after the last. */
static bool next(int64_t *v, size_t cells, int64_t low, int64_t high)
{
    for (size_t k = 0; k < cells; k++) {
        if (++v[k] <= high)
            return true;
        v[k] = low;
    }
    return false;
}

static double distance(const int64_t *y, const int64_t *z, size_t cells, int p)
{
    double sum = 0;
    for (size_t k = 0; k < cells; k++) {
        double d = (double)(y[k] - (z ? z[k] : 0));
        sum += p == 1 ? fabs(d) : d * d;
    }
    return sum;
}

/* |y - z|_p^p / t^p at its largest over all pairs of units; `alone`: over single units. */
static double worst_pair(size_t cells, bool negative, uint64_t limit, int p, int shift, bool alone)
{
    enum { MOST = 400 };
    static int64_t clipped[MOST][MOST_CELLS];
    int64_t low = negative ? -3 : 0, high = negative ? 3 : cells < 3 ? 5 : 4;
    int64_t v[MOST_CELLS];
    size_t count = 0;
    for (size_t k = 0; k < cells; k++)
        v[k] = low;
    do
        clip(v, cells, limit, p, shift, clipped[count++]);
    while (next(v, cells, low, high));
    double t = ldexp((double)limit, shift), worst = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < (alone ? 1 : count); j++)
            worst = fmax(worst, distance(clipped[i], alone ? NULL : clipped[j], cells, p));
    return worst / (p == 1 ? t : t * t);
}

/* A limit whose square alone is a whole number: nobody leaves the ball, and some reach its edge. */
static void a_limit_may_be_the_root_of_a_whole_number(void **state)
{
    (void)state;
    for (uint64_t square = 2; square <= 12; square++) {
        double t = sqrt((double)square) * 0x1p20, most = 0;
        int64_t v[3] = {-4, -4, -4};
        do {
            brume_u128 norm = norm_of(v, 3, 2);
            brume_limit_factor factor = brume_limit_factor_within(norm, square);
            double sum = 0;
            assert_true(factor.cuts == (norm > square));
            for (size_t k = 0; k < 3; k++) {
                double y = (double)brume_limit_clip(v[k], &factor, 0, 20, 2);
                sum += y * y;
                assert_true(factor.cuts || y == ldexp((double)v[k], 20));
            }
            most = fmax(most, sqrt(sum));
        } while (next(v, 3, -4, 4));
        assert_holds(most <= t);
        assert_holds(most > t * (1 - 1e-5));
    }
    /* a control: the whole number above lets more through */
    brume_limit_factor loose = brume_limit_factor_of(4, 2, 2);
    assert_holds(!loose.cuts && brume_limit_factor_within(4, 3).cuts);
}

/* What a replaced unit moves at most, as it is priced: the table of proofs/limits.md. */
static double replaced(int p, bool negative, size_t cells)
{
    brume_measure sum = {.kind = BRUME_MEASURE_DIRECT, .low = negative ? -3 : 0, .high = 3};
    brume_measure centred = {.kind = BRUME_MEASURE_CENTRED, .low = -3, .high = 3};
    brume_limited_shape shape = {.cells = cells, .replace = true};
    double distance = brume_limited_distance(&sum, &shape, p);
    if (negative)
        assert_true(brume_limited_distance(&centred, &shape, p) == distance);
    return distance;
}

/* |y - z|_p^p / t^p at its largest over all units that are in some of the cells and hold a value in
 * some of these; digit k of a unit says what it has in cell k: nothing, rows, a value. A broken
 * measure counts the values, of which a unit has two. */
static double worst_holders(size_t cells, uint64_t limit, int p, int64_t each, bool alone)
{
    enum { MOST = 81 };
    int64_t y[MOST][MOST_CELLS], has[MOST_CELLS] = {0};
    size_t count = 0;
    double t = ldexp((double)limit, 20), worst = 0;
    assert_true(cells <= 4);
    do {
        brume_u128 norm = 0;
        for (size_t k = 0; k < cells; k++)
            norm += has[k] > 0;
        brume_limit_factor factor = brume_limit_factor_of(norm, limit, p);
        for (size_t k = 0; k < cells; k++)
            y[count][k] = brume_limit_follow(has[k] == 2 ? each : 0, &factor, 20);
        count++;
    } while (next(has, cells, 0, 2));
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < (alone ? 1 : count); j++)
            worst = fmax(worst, distance(y[i], alone ? NULL : y[j], cells, p));
    return worst / (p == 1 ? t : t * t);
}

static void units_with_a_value_stay_within_the_ball_of_those_present(void **state)
{
    (void)state;
    brume_measure holders = {.kind = BRUME_MEASURE_HOLDERS};
    for (size_t cells = 1; cells <= 4 && cells <= MOST_CELLS; cells++)
        for (int p = 1; p <= 2; p++) {
            brume_limited_shape shape = {.cells = cells, .replace = true};
            double pair = brume_limited_distance(&holders, &shape, p), worst = 0, alone = 0;
            for (uint64_t limit = 1; limit <= 3; limit++) {
                worst = fmax(worst, worst_holders(cells, limit, p, 1, false));
                alone = fmax(alone, worst_holders(cells, limit, p, 1, true));
            }
            assert_holds(alone <= 1 && worst <= pair);
            assert_holds(alone > 0.999 && worst > 0.999 * pair);     /* tight */
            assert_holds(worst_holders(cells, 1, p, 2, true) > 1.5); /* the broken one */
        }
}

static void no_unit_leaves_the_ball_and_no_two_are_further_apart(void **state)
{
    (void)state;
    for (size_t cells = 1; cells <= MOST_CELLS; cells++)
        for (int negative = 0; negative < 2; negative++)
            for (int p = 1; p <= 2; p++) {
                double alone = 0, pair = 0;
                for (uint64_t limit = 1; limit <= 3; limit++)
                    for (int shift = 0; shift <= 18; shift += 3) {
                        alone = fmax(alone, worst_pair(cells, negative, limit, p, shift, true));
                        pair = fmax(pair, worst_pair(cells, negative, limit, p, shift, false));
                    }
                assert_holds(alone <= 1 && alone > 0.999999); /* attained */
                assert_holds(pair <= replaced(p, negative, cells));
                assert_holds(pair > 0.999 * replaced(p, negative, cells));
            }
}

/* Is y_1^2 + y_2^2 <= square 4^shift, in integers? */
static bool is_in_ball(brume_i128 y, brume_i128 z, brume_u128 square, int shift)
{
    brume_u128 sum = (brume_u128)(y * y) + (brume_u128)(z * z);
    return shift >= 0 ? sum <= square << 2 * shift : sum << -2 * shift <= square;
}

/* Totals that fill all bits of a double, so that each step of the factor is rounded: here the ball
 * is left by what a factor without its 2^-40 lets through. The last are limits whose root rounds to
 * the whole number above. */
static void large_totals_stay_in_the_ball_however_the_factor_is_rounded(void **state)
{
    (void)state;
    uint64_t draws = 17;
    for (int i = 0; i < 60000; i++) {
        uint64_t large = brume_tape_splitmix(&draws) >> 11, other = brume_tape_splitmix(&draws);
        uint64_t limit = brume_tape_splitmix(&draws) >> (i % 2 ? 20 : 24);
        other = i % 2 ? other >> 11 : other % 50;
        int shift = brume_limit_shift((double)limit, false, 1);
        const int64_t v[2] = {(int64_t)large, (int64_t)other};
        brume_limit_factor factor = brume_limit_factor_of(norm_of(v, 2, 2), limit, 2);
        assert_true(is_in_ball(brume_limit_clip(v[0], &factor, limit, shift, 2),
                               brume_limit_clip(v[1], &factor, limit, shift, 2),
                               (brume_u128)limit * limit, shift));
        assert_true(is_in_ball(brume_limit_follow(v[0], &factor, shift),
                               brume_limit_follow(v[1], &factor, shift), (brume_u128)limit * limit,
                               shift));
        uint64_t square = (UINT64_C(1) << 26) + limit % (UINT64_C(1) << 24);
        square = square * square - 1; /* below 2^53 */
        factor = brume_limit_factor_within(norm_of(v, 1, 2), square);
        assert_true(is_in_ball(brume_limit_clip(v[0], &factor, 0, 0, 2), 0, square, 0));
    }
}

/* Sums of x and of its squares follow the factor of the number of values: joint cost of all three
 * under equal shares, for all units of up to four rows in two cells. */
static void sums_that_follow_their_count_stay_in_its_ball(void **state)
{
    (void)state;
    const int64_t values[] = {-3, -1, 0, 3};
    enum { REACH = 3, HALF = 4, MOST_SQUARE = 5 }; /* k = floor(9/2), at most ceil(9/2) from it */
    for (int p = 1; p <= 2; p++)
        for (uint64_t limit = 1; limit <= 3; limit++)
            for (int code = 0; code < 9 * 9 * 9 * 9; code++) {
                int64_t n[2] = {0}, s[2] = {0}, q[2] = {0};
                for (int row = 0, rest = code; row < 4; row++, rest /= 9)
                    if (rest % 9 < 8) {
                        int cell = rest % 9 / 4;
                        int64_t x = values[rest % 9 % 4];
                        n[cell]++;
                        s[cell] += x;
                        q[cell] += x * x - HALF;
                    }
                brume_limit_factor factor = brume_limit_factor_of(norm_of(n, 2, p), limit, p);
                double sums = 0, squares = 0, t = ldexp((double)limit, 9);
                for (int k = 0; k < 2; k++) {
                    double a = (double)brume_limit_follow(s[k], &factor, 9);
                    double b = (double)brume_limit_follow(q[k], &factor, 9);
                    sums += p == 1 ? fabs(a) : a * a;
                    squares += p == 1 ? fabs(b) : b * b;
                }
                assert_holds(sums <= pow(REACH * t, p));
                assert_holds(squares <= pow(MOST_SQUARE * t, p));
            }
}

/* ---- the histogram ---- */

static void one_unit_moves_the_histogram_by_one_and_a_replaced_one_by_two(void **state)
{
    (void)state;
    double add_remove = 0, replace = 0;
    for (size_t cells = 1; cells <= MOST_CELLS; cells++)
        for (int p = 1; p <= 2; p++) {
            size_t bins[125], count = 0;
            int64_t v[MOST_CELLS] = {0};
            do
                bins[count++] = brume_limit_bin(norm_of(v, cells, p), p, 5);
            while (next(v, cells, 0, 4));
            for (size_t i = 0; i < count; i++) {
                assert_true(bins[i] < 5 || bins[i] == BRUME_LIMIT_NO_BIN);
                add_remove = fmax(add_remove, bins[i] != BRUME_LIMIT_NO_BIN);
                for (size_t j = 0; j < count; j++)
                    replace = fmax(replace, bins[i] == bins[j]
                                                ? 0
                                                : (bins[i] != BRUME_LIMIT_NO_BIN) +
                                                      (bins[j] != BRUME_LIMIT_NO_BIN));
            }
        }
    assert_holds(add_remove == 1 && replace == 2);
}

/* ---- controls: what the checks above must reject ---- */

static void broken_variants_are_rejected(void **state)
{
    (void)state;
    double up = 0, laplace_on_ball_2 = 0;
    int64_t v[MOST_CELLS] = {0};
    do {
        int64_t n = v[0] + v[1] + v[2], rounded_up = 0, y[3];
        for (size_t k = 0; k < 3 && n > 2; k++)
            rounded_up += (v[k] * 2 + n - 1) / n;
        up = fmax(up, (double)rounded_up / 2);
        clip(v, 3, 4, 2, 4, y);
        laplace_on_ball_2 = fmax(laplace_on_ball_2, distance(y, NULL, 3, 1) / 64);
    } while (next(v, 3, 0, 5));
    assert_holds(up > 1);                  /* rounded up: outside the ball */
    assert_holds(laplace_on_ball_2 > 1.6); /* a limit on the 2-norm does not limit the 1-norm */
    /* the add-remove price under replacement, and a left join's histogram charged once */
    assert_holds(worst_pair(2, false, 2, 1, 18, false) > 1.9);
    assert_true(brume_limit_bin(1, 1, 5) != brume_limit_bin(4, 1, 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_may_be_the_root_of_a_whole_number),
        cmocka_unit_test(the_clip_gives_its_test_vectors),
        cmocka_unit_test(units_with_a_value_stay_within_the_ball_of_those_present),
        cmocka_unit_test(no_unit_leaves_the_ball_and_no_two_are_further_apart),
        cmocka_unit_test(large_totals_stay_in_the_ball_however_the_factor_is_rounded),
        cmocka_unit_test(sums_that_follow_their_count_stay_in_its_ball),
        cmocka_unit_test(one_unit_moves_the_histogram_by_one_and_a_replaced_one_by_two),
        cmocka_unit_test(broken_variants_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
