/* Sensitivities: every documented number is attained and never passed, by brute force. */
#include "check.h"

#include <stdlib.h>

#include <gmp.h>

#include <brume/mechanism/sensitivity.h>

#include "random/tape.h"

static brume_error error;
enum { MOST = 6 };

typedef struct change {
    double l1, l2;
} change;

static void widen(change *most, const double *a, const double *b, size_t n)
{
    double l1 = 0, l2 = 0;
    for (size_t i = 0; i < n; i++) {
        double d = fabs(a[i] - b[i]);
        l1 += d;
        l2 += d * d;
    }
    most->l1 = fmax(most->l1, l1);
    most->l2 = fmax(most->l2, sqrt(l2));
}

#define assert_attained(found, stated)                                                             \
    do {                                                                                           \
        assert_close((found).l1, (stated).l1, 1e-12);                                              \
        assert_close((found).l2, (stated).l2, 1e-12);                                              \
    } while (0)

static brume_sensitivity histogram(brume_adjacency adjacency)
{
    brume_sensitivity s = {0, 0};
    assert_ok(brume_sensitivity_histogram(adjacency, &s, &error));
    return s;
}

static void histograms_of_all_small_databases(void **state)
{
    (void)state;
    /* three cells, databases of three records; neighbours differ in the last record */
    change removed = {0, 0}, replaced = {0, 0};
    for (int code = 0; code < 81; code++) {
        double full[3] = {0}, less[3] = {0}, other[3] = {0};
        int records[4] = {code % 3, code / 3 % 3, code / 9 % 3, code / 27};
        for (int i = 0; i < 3; i++)
            full[records[i]]++;
        for (int i = 0; i < 2; i++)
            less[records[i]]++, other[records[i]]++;
        other[records[3]]++;
        widen(&removed, full, less, 3);
        widen(&replaced, full, other, 3);
    }
    assert_attained(removed, histogram(BRUME_ADD_REMOVE));
    assert_attained(replaced, histogram(BRUME_REPLACE));
}

static int bits_of(unsigned x)
{
    return __builtin_popcount(x);
}

static void votes_of_all_small_ballots(void **state)
{
    (void)state;
    for (unsigned m = 1; m <= MOST; m++)
        for (unsigned k = 1; k <= m; k++)
            for (int exactly = 0; exactly < 2; exactly++) {
                change removed = {0, 0}, replaced = {0, 0};
                const double none[MOST] = {0};
                for (unsigned a = 0; a < 1u << m; a++) {
                    if (exactly ? bits_of(a) != (int)k : bits_of(a) > (int)k)
                        continue;
                    double first[MOST];
                    for (unsigned i = 0; i < m; i++)
                        first[i] = a >> i & 1;
                    widen(&removed, first, none, m);
                    for (unsigned b = 0; b < 1u << m; b++) {
                        if (exactly ? bits_of(b) != (int)k : bits_of(b) > (int)k)
                            continue;
                        double second[MOST];
                        for (unsigned i = 0; i < m; i++)
                            second[i] = b >> i & 1;
                        widen(&replaced, first, second, m);
                    }
                }
                brume_ballot ballot = exactly ? BRUME_BALLOT_EXACTLY : BRUME_BALLOT_AT_MOST;
                brume_sensitivity s;
                assert_ok(brume_sensitivity_votes(BRUME_ADD_REMOVE, ballot, m, k, &s, &error));
                assert_attained(removed, s);
                assert_ok(brume_sensitivity_votes(BRUME_REPLACE, ballot, m, k, &s, &error));
                assert_attained(replaced, s);
            }
    /* m = 3, k = 2: at most gives 3, exactly gives 2 */
    brume_sensitivity s;
    assert_ok(brume_sensitivity_votes(BRUME_REPLACE, BRUME_BALLOT_AT_MOST, 3, 2, &s, &error));
    assert_true(s.l1 == 3);
    assert_ok(brume_sensitivity_votes(BRUME_REPLACE, BRUME_BALLOT_EXACTLY, 3, 2, &s, &error));
    assert_true(s.l1 == 2);
}

static void stacked_votes_of_all_small_ballots(void **state)
{
    (void)state;
    for (int m = 1; m <= 3; m++)
        for (int k = 1; k <= 3; k++) {
            change removed = {0, 0}, replaced = {0, 0};
            int ballots = 1;
            for (int i = 0; i < k; i++)
                ballots *= m;
            const double none[3] = {0};
            for (int a = 0; a < ballots; a++)
                for (int b = 0; b < ballots; b++) {
                    double first[3] = {0}, second[3] = {0};
                    for (int i = 0, x = a, y = b; i < k; i++, x /= m, y /= m)
                        first[x % m]++, second[y % m]++;
                    widen(&removed, first, none, 3);
                    widen(&replaced, first, second, 3);
                }
            brume_sensitivity s;
            assert_ok(brume_sensitivity_votes(BRUME_ADD_REMOVE, BRUME_BALLOT_STACKED, (uint64_t)m,
                                              (uint64_t)k, &s, &error));
            assert_attained(removed, s);
            assert_ok(brume_sensitivity_votes(BRUME_REPLACE, BRUME_BALLOT_STACKED, (uint64_t)m,
                                              (uint64_t)k, &s, &error));
            assert_attained(replaced, s);
        }
}

static void sums_means_and_quantiles_of_clamped_values(void **state)
{
    (void)state;
    static const double bounds[][2] = {{0, 10}, {-3, 2}, {2, 5}, {-7, -1}, {4, 4}};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        double lo = bounds[i][0], hi = bounds[i][1];
        change removed = {0, 0}, replaced = {0, 0};
        const double zero = 0;
        for (int a = 0; a <= 8; a++)
            for (int b = 0; b <= 8; b++) {
                double x = lo + (hi - lo) * a / 8, y = lo + (hi - lo) * b / 8;
                widen(&removed, &x, &zero, 1);
                widen(&replaced, &x, &y, 1);
            }
        brume_sensitivity s;
        assert_ok(brume_sensitivity_sum(BRUME_ADD_REMOVE, lo, hi, &s, &error));
        assert_attained(removed, s);
        assert_ok(brume_sensitivity_sum(BRUME_REPLACE, lo, hi, &s, &error));
        assert_attained(replaced, s);
        assert_ok(brume_sensitivity_mean(BRUME_REPLACE, lo, hi, 7, &s, &error));
        assert_close(s.l1, replaced.l1 / 7, 1e-15);
        assert_fails(brume_sensitivity_mean(BRUME_ADD_REMOVE, lo, hi, 7, &s, &error),
                     BRUME_EARGUMENT);
        assert_ok(brume_sensitivity_quantile(BRUME_REPLACE, lo, hi, &s, &error));
        assert_true(s.l1 == hi - lo);
    }
    /* the median of one value in [0, 10] can move from one end to the other */
    brume_sensitivity s;
    assert_ok(brume_sensitivity_mean(BRUME_REPLACE, 0, 1, 1000000, &s, &error));
    assert_holds(s.l1 >= 1e-6 && s.l1 <= 1e-6 * (1 + 1e-15));
    assert_fails(brume_sensitivity_mean(BRUME_REPLACE, 0, 1, 0, &s, &error), BRUME_EARGUMENT);
    assert_fails(brume_sensitivity_sum(BRUME_REPLACE, 1, 0, &s, &error), BRUME_EARGUMENT);
    assert_fails(brume_sensitivity_sum(BRUME_REPLACE, NAN, 0, &s, &error), BRUME_EARGUMENT);
    assert_fails(brume_sensitivity_sum(BRUME_REPLACE, 0, INFINITY, &s, &error), BRUME_EARGUMENT);
    assert_fails(brume_sensitivity_sum(BRUME_EDGE, 0, 1, &s, &error), BRUME_EARGUMENT);
}

static double uniform(uint64_t *seed)
{
    return (double)(brume_tape_splitmix(seed) >> 11) * 0x1p-53 * 2 - 1;
}

static void random_row(uint64_t *seed, int d, double length, double *out)
{
    double norm = 0;
    for (int i = 0; i < d; i++) {
        out[i] = uniform(seed);
        norm += out[i] * out[i];
    }
    double scale = length / sqrt(norm);
    if (brume_tape_splitmix(seed) % 4 == 0) /* some shorter ones, some on an axis */
        scale *= fabs(uniform(seed));
    for (int i = 0; i < d; i++)
        out[i] *= scale;
}

static void gram(const double *x, int d, bool triangle, double *out)
{
    int n = 0;
    for (int i = 0; i < d; i++)
        for (int j = triangle ? i : 0; j < d; j++)
            out[n++] = x[i] * x[j];
}

static void gram_matrices_never_move_further_and_some_do(void **state)
{
    (void)state;
    uint64_t seed = 1;
    const double length = 1.5, none[16] = {0};
    for (int d = 1; d <= 4; d++)
        for (int triangle = 0; triangle < 2; triangle++) {
            int entries = triangle ? d * (d + 1) / 2 : d * d;
            change removed = {0, 0}, replaced = {0, 0};
            for (int trial = 0; trial < 20000; trial++) {
                double x[4], y[4], a[16], b[16];
                random_row(&seed, d, length, x);
                random_row(&seed, d, length, y);
                if (trial == 0) /* all coordinates alike: the largest L1 */
                    for (int i = 0; i < d; i++)
                        x[i] = length / sqrt(d), y[i] = i == 0 ? length : 0;
                if (trial == 1) /* two axes: the largest L2 of a replacement */
                    for (int i = 0; i < d; i++)
                        x[i] = i == 0 ? length : 0, y[i] = i == 1 ? length : 0;
                gram(x, d, triangle, a);
                gram(y, d, triangle, b);
                widen(&removed, a, none, (size_t)entries);
                widen(&replaced, a, b, (size_t)entries);
            }
            brume_sensitivity s;
            brume_status (*function)(brume_adjacency, double, uint64_t, brume_sensitivity *,
                                     brume_error *) = triangle ? brume_sensitivity_gram_triangle
                                                               : brume_sensitivity_gram;
            assert_ok(function(BRUME_ADD_REMOVE, length, (uint64_t)d, &s, &error));
            assert_attained(removed, s);
            assert_ok(function(BRUME_REPLACE, length, (uint64_t)d, &s, &error));
            assert_close(replaced.l2, s.l2, 1e-12);
            assert_holds(replaced.l1 <= s.l1 * (1 + 1e-12));
        }
}

/* sum of (x - mean)(x - mean)^T */
static void scatter(const double rows[][2], int n, double *out)
{
    double mean[2] = {0, 0};
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 2; j++)
            mean[j] += rows[i][j] / n;
    for (int j = 0; j < 4; j++)
        out[j] = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 4; j++)
            out[j] += (rows[i][j / 2] - mean[j / 2]) * (rows[i][j % 2] - mean[j % 2]);
}

static void scatter_matrices_never_move_further_and_come_close(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int n = 1; n <= 5; n++) {
        change removed = {0, 0}, replaced = {0, 0};
        for (int trial = 0; trial < 40000; trial++) {
            double rows[6][2], a[4], b[4];
            for (int i = 0; i <= n; i++)
                random_row(&seed, 2, 1, rows[i]);
            if (trial == 0) /* all at one end, the last moves to the other end */
                for (int i = 0; i <= n; i++)
                    rows[i][0] = i == n ? -1 : 1, rows[i][1] = 0;
            scatter((const double(*)[2])rows, n, a);
            scatter((const double(*)[2])rows, n + 1, b);
            widen(&removed, a, b, 4);
            for (int j = 0; j < 2; j++)
                rows[n - 1][j] = rows[n][j];
            scatter((const double(*)[2])rows, n, b);
            widen(&replaced, a, b, 4);
        }
        brume_sensitivity s;
        assert_ok(brume_sensitivity_scatter(BRUME_REPLACE, 1, 2, (uint64_t)n, &s, &error));
        assert_holds(replaced.l2 <= s.l2 * (1 + 1e-12) && replaced.l1 <= s.l1 * (1 + 1e-12));
        assert_holds(replaced.l2 >= s.l2 * (1 - 1e-12)); /* attained */
        assert_ok(brume_sensitivity_scatter(BRUME_ADD_REMOVE, 1, 2, 0, &s, &error));
        assert_holds(removed.l2 <= s.l2);
        assert_close(removed.l2, 4. * n / (n + 1), 1e-12); /* tends to 4 */
    }
}

static void triangles_of_a_complete_graph_lose_n_minus_2(void **state)
{
    (void)state;
    brume_sensitivity s;
    for (uint64_t n = 2; n < 10; n++) {
        assert_ok(brume_sensitivity_triangles(BRUME_EDGE, n, &s, &error));
        assert_true(s.l1 == (double)(n - 2) && s.l2 == s.l1);
    }
    assert_fails(brume_sensitivity_triangles(BRUME_REPLACE, 5, &s, &error), BRUME_EARGUMENT);
    assert_fails(brume_sensitivity_triangles(BRUME_EDGE, 1, &s, &error), BRUME_EARGUMENT);
}

static void refusals_leave_the_output(void **state)
{
    (void)state;
    brume_sensitivity s = {42, 43};
    assert_fails(brume_sensitivity_histogram(BRUME_EDGE, &s, &error), BRUME_EARGUMENT);
    assert_fails(brume_sensitivity_votes(BRUME_REPLACE, BRUME_BALLOT_EXACTLY, 2, 3, &s, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_sensitivity_votes(BRUME_REPLACE, BRUME_BALLOT_AT_MOST, 2, 0, &s, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_sensitivity_votes(BRUME_REPLACE, (brume_ballot)9, 2, 1, &s, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_sensitivity_gram(BRUME_REPLACE, 0, 2, &s, &error), BRUME_EARGUMENT);
    assert_fails(brume_sensitivity_gram(BRUME_REPLACE, NAN, 2, &s, &error), BRUME_EARGUMENT);
    assert_fails(brume_sensitivity_gram_triangle(BRUME_REPLACE, 1, 0, &s, &error), BRUME_EARGUMENT);
    assert_fails(brume_sensitivity_scatter(BRUME_REPLACE, 1, 2, 0, &s, &error), BRUME_EARGUMENT);
    const brume_adjacency edge = BRUME_EDGE, one = BRUME_ADD_REMOVE, other = BRUME_REPLACE;
    assert_fails(brume_sensitivity_votes(edge, BRUME_BALLOT_AT_MOST, 3, 2, &s, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_sensitivity_sum(edge, 0, 1, &s, &error), BRUME_EARGUMENT);
    assert_fails(brume_sensitivity_mean(edge, 0, 1, 3, &s, &error), BRUME_EARGUMENT);
    assert_fails(brume_sensitivity_quantile(edge, 0, 1, &s, &error), BRUME_EARGUMENT);
    assert_fails(brume_sensitivity_gram(edge, 1, 2, &s, &error), BRUME_EARGUMENT);
    assert_fails(brume_sensitivity_gram_triangle(edge, 1, 2, &s, &error), BRUME_EARGUMENT);
    assert_fails(brume_sensitivity_scatter(edge, 1, 2, 3, &s, &error), BRUME_EARGUMENT);
    assert_fails(brume_sensitivity_sum(one, 1, 0, &s, &error), BRUME_EARGUMENT);
    assert_fails(brume_sensitivity_mean(other, 1, 0, 3, &s, &error), BRUME_EARGUMENT);
    assert_fails(brume_sensitivity_quantile(one, 1, 0, &s, &error), BRUME_EARGUMENT);
    assert_fails(brume_sensitivity_scatter(one, INFINITY, 2, 3, &s, &error), BRUME_EARGUMENT);
    assert_true(s.l1 == 42 && s.l2 == 43);
    assert_ok(brume_sensitivity_mean(other, 0, 1, 1, &s, &error)); /* of one record */
}

/* ---- roundings ---- */

/* `told`^2 is not below `square`, and above it by a few units in the last place at most. */
static void is_root(double told, const mpq_t square)
{
    mpq_t x, y;
    mpq_inits(x, y, NULL);
    mpq_set_d(x, told);
    mpq_mul(x, x, x);
    assert_holds(mpq_cmp(x, square) >= 0);
    mpq_set_d(y, 1 + 0x1p-48);
    mpq_mul(y, y, square);
    assert_holds(mpq_cmp(x, y) <= 0);
    mpq_clears(x, y, NULL);
}

/* What is told of both norms, against the first and the square of the second. */
static void check_norms(brume_sensitivity told, const mpq_t l1, const mpq_t l2_squared)
{
    mpq_t square;
    mpq_init(square);
    mpq_mul(square, l1, l1);
    is_root(told.l1, square);
    is_root(told.l2, l2_squared);
    mpq_clear(square);
}

/* factor * length^2 / divisor */
static void scaled_square(mpq_t out, double length, uint64_t factor, uint64_t divisor)
{
    mpq_t x;
    mpq_init(x);
    mpq_set_d(out, length);
    mpq_mul(out, out, out);
    mpq_set_ui(x, factor, divisor);
    mpq_canonicalize(x);
    mpq_mul(out, out, x);
    mpq_clear(x);
}

/* Rejects: any rounding of a sensitivity turned. Lengths and bounds have all their bits in use. */
static void sensitivities_are_rounded_up_and_by_little(void **state)
{
    (void)state;
    brume_sensitivity told;
    uint64_t seed = 7;
    mpq_t one, two, x;
    mpq_inits(one, two, x, NULL);
    for (int i = 0; i < 400; i++) {
        double length = 1 + (double)(brume_tape_splitmix(&seed) >> 12) * 0x1p-52;
        double upper = ldexp(length, i % 7), lower = -ldexp(length - 0.5, 40 * (i % 3) - 40);
        uint64_t d = 2 + brume_tape_splitmix(&seed) % 50, n = 2 + brume_tape_splitmix(&seed) % 99;
        /* a range, and the n-th part of it */
        mpq_set_d(one, upper);
        mpq_set_d(x, lower);
        mpq_sub(one, one, x);
        mpq_mul(two, one, one);
        assert_ok(brume_sensitivity_sum(BRUME_REPLACE, lower, upper, &told, &error));
        check_norms(told, one, two);
        assert_ok(brume_sensitivity_quantile(BRUME_ADD_REMOVE, lower, upper, &told, &error));
        check_norms(told, one, two);
        assert_ok(brume_sensitivity_mean(BRUME_REPLACE, lower, upper, n, &told, &error));
        mpq_set_ui(x, 1, n);
        mpq_mul(one, one, x);
        mpq_mul(two, one, one);
        check_norms(told, one, two);
        /* matrices: d B^2 and B^2, twice and sqrt(2) times as much under replace */
        for (int replace = 0; replace <= 1; replace++) {
            brume_adjacency adjacency = replace ? BRUME_REPLACE : BRUME_ADD_REMOVE;
            scaled_square(two, length, 1, 1);
            mpq_mul(two, two, two);
            mpq_mul_2exp(two, two, (mp_bitcnt_t)replace);
            scaled_square(one, length, d << replace, 1);
            assert_ok(brume_sensitivity_gram(adjacency, length, d, &told, &error));
            check_norms(told, one, two);
            scaled_square(one, length, (d + 1) << replace, 2);
            assert_ok(brume_sensitivity_gram_triangle(adjacency, length, d, &told, &error));
            check_norms(told, one, two);
            scaled_square(one, length, 4 * d * (replace ? n - 1 : 1), replace ? n : 1);
            scaled_square(two, length, 4 * (replace ? n - 1 : 1), replace ? n : 1);
            mpq_mul(two, two, two);
            assert_ok(brume_sensitivity_scatter(adjacency, length, d, n, &told, &error));
            check_norms(told, one, two);
        }
        /* votes: the root of the changes, or sqrt(2) times the stack */
        mpq_set_ui(one, n, 1);
        assert_ok(
            brume_sensitivity_votes(BRUME_ADD_REMOVE, BRUME_BALLOT_AT_MOST, 100, n, &told, &error));
        check_norms(told, one, one);
        mpq_set_ui(one, 2 * n, 1);
        mpq_set_ui(two, 2 * n * n, 1);
        assert_ok(
            brume_sensitivity_votes(BRUME_REPLACE, BRUME_BALLOT_STACKED, 9, n, &told, &error));
        check_norms(told, one, two);
    }
    mpq_set_ui(one, 2, 1);
    assert_ok(brume_sensitivity_histogram(BRUME_REPLACE, &told, &error));
    check_norms(told, one, one);
    mpq_clears(one, two, x, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(histograms_of_all_small_databases),
        cmocka_unit_test(votes_of_all_small_ballots),
        cmocka_unit_test(stacked_votes_of_all_small_ballots),
        cmocka_unit_test(sums_means_and_quantiles_of_clamped_values),
        cmocka_unit_test(gram_matrices_never_move_further_and_some_do),
        cmocka_unit_test(scatter_matrices_never_move_further_and_come_close),
        cmocka_unit_test(triangles_of_a_complete_graph_lose_n_minus_2),
        cmocka_unit_test(refusals_leave_the_output),
        cmocka_unit_test(sensitivities_are_rounded_up_and_by_little),
    };
    return cmocka_run_group_tests_name("sensitivity", tests, NULL, NULL);
}
