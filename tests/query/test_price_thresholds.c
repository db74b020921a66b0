/* Thresholds of keys and of the values of modes: what plans say they use of delta is what their
 * tests of keys may let through, computed again with 300 bits or added up in rationals, and no test
 * is stricter than its part of delta asks for. Nothing here draws fresh bits. */
#include "check.h"

#include <gmp.h>
#include <mpfr.h>

#include "number/rounding.h"
#include "query/price/key_threshold.h"
#include "query/price/price.h"
#include "random_doubles.h"

enum { BITS = 300 };

static brume_error error;

/* truth <= told <= truth (1 + slack) */
static void is_up(const mpfr_t truth, double told, double slack, const char *what)
{
    mpfr_t most;
    mpfr_init2(most, BITS);
    mpfr_mul_d(most, truth, 1 + slack, MPFR_RNDU);
    if (mpfr_cmp_d(truth, told) > 0)
        fail_msg("%s: %.17g is below the truth", what, told);
    if (mpfr_cmp_d(most, told) < 0)
        fail_msg("%s: %.17g is far above %.17g", what, told, mpfr_get_d(truth, MPFR_RNDN));
    mpfr_clear(most);
}

/* ---- one of several keys ---- */

static double place_asked;

/* A tail that is what the scale says, and keeps where it was asked for. */
static double told_tail(double scale, double m)
{
    place_asked = m;
    return scale;
}

/* Rejects: any of the three roundings turned; another place than one below the threshold; an
 * integer that is no double rounded up, or one that is a double rounded at all. */
static void one_of_several_keys_shows_as_often_as_told(void **state)
{
    (void)state;
    state_of_draws = 31;
    mpfr_t truth;
    mpfr_init2(truth, BITS);
    for (int i = 0; i < 6000; i++) {
        double p = some_double(-40, 0) / 2;
        uint64_t groups = 1 + below(i % 2 ? 6 : 1 << 20);
        mpfr_set_d(truth, -p, MPFR_RNDN);
        mpfr_log1p(truth, truth, MPFR_RNDN);
        mpfr_mul_ui(truth, truth, groups, MPFR_RNDN);
        mpfr_expm1(truth, truth, MPFR_RNDN);
        mpfr_neg(truth, truth, MPFR_RNDN);
        is_up(truth, brume_key_shown_upper(told_tail, p, groups, 2), 0x1p-48, "keys shown");
    }
    assert_true(brume_key_shown_upper(told_tail, 1, 3, 2) == 1);
    static const uint64_t near[] = {2, 3, 1000, (UINT64_C(1) << 53), (UINT64_C(1) << 53) + 1};
    for (size_t i = 0; i < 5; i++) {
        brume_key_shown_upper(told_tail, .25, 1, near[i]);
        assert_true(place_asked == (double)(near[i] - 1));
    }
    for (int i = 0; i < 1000; i++) {
        uint64_t threshold = (UINT64_C(1) << 53) + 2 + below(UINT64_C(1) << 60);
        brume_key_shown_upper(told_tail, .25, 1, threshold);
        assert_true((uint64_t)place_asked < threshold);
        assert_true((uint64_t)place_asked >= threshold - 1 - (threshold >> 51));
    }
    mpfr_clear(truth);
}

/* Rejects: thresholds beyond 2^61, which the sums of counts do not reach. */
static void thresholds_end_at_two_to_the_61(void **state)
{
    (void)state;
    uint64_t m = 0;
    double used = 0, cell = 0x1p-60;
    assert_fails(brume_key_threshold_laplace(0x1p60, 1, .01, &m, &used, &error), BRUME_EOVERFLOW);
    assert_ok(brume_key_threshold_laplace(0x1p60, 1, .1, &m, &used, &error));
    assert_fails(brume_key_threshold_gaussian(0x1p60, 1, cell, 0, 0, 1, .01, &m, &used, &error),
                 BRUME_EOVERFLOW);
    assert_ok(brume_key_threshold_gaussian(0x1p60, 1, cell, 0, 0, 1, .1, &m, &used, &error));
}

/* ---- rounded Gaussian: the sum over all that one unit may change ---- */

typedef struct query {
    uint64_t groups;
    double cell, stay, epsilon, sigma;
    bool replace;
} query;

/* P[N(0,1) <= x] */
static void normal(mpfr_t x)
{
    mpfr_t root;
    mpfr_init2(root, BITS);
    mpfr_sqrt_ui(root, 2, MPFR_RNDN);
    mpfr_div(x, x, root, MPFR_RNDN);
    mpfr_neg(x, x, MPFR_RNDN);
    mpfr_erfc(x, x, MPFR_RNDN);
    mpfr_div_2ui(x, x, 1, MPFR_RNDN);
    mpfr_clear(root);
}

/* delta_mu(epsilon) of the Gaussian mechanism, mu^2 = squares.  [BW18, Thm 8] */
static void profile(mpfr_t out, const mpfr_t squares, const mpfr_t epsilon)
{
    mpfr_t mu, ratio, second;
    mpfr_inits2(BITS, mu, ratio, second, (mpfr_ptr)NULL);
    if (mpfr_zero_p(squares)) {
        mpfr_expm1(out, epsilon, MPFR_RNDN);
        mpfr_neg(out, out, MPFR_RNDN);
        if (mpfr_sgn(out) < 0)
            mpfr_set_zero(out, 1);
    } else {
        mpfr_sqrt(mu, squares, MPFR_RNDN);
        mpfr_div(ratio, epsilon, mu, MPFR_RNDN);
        mpfr_div_2ui(mu, mu, 1, MPFR_RNDN);
        mpfr_sub(out, mu, ratio, MPFR_RNDN);
        normal(out);
        mpfr_add(second, mu, ratio, MPFR_RNDN);
        mpfr_neg(second, second, MPFR_RNDN);
        normal(second);
        mpfr_exp(ratio, epsilon, MPFR_RNDN);
        mpfr_mul(second, second, ratio, MPFR_RNDN);
        mpfr_sub(out, out, second, MPFR_RNDN);
    }
    mpfr_clears(mu, ratio, second, (mpfr_ptr)NULL);
}

/* most = max(most, 1 - p^j + delta(epsilon + hidden ln p)) where `cells` moved and b stayed. */
static void take(mpfr_t most, const query *q, uint64_t cells, uint64_t b, uint64_t j,
                 uint64_t hidden, const mpfr_t log_hidden)
{
    mpfr_t squares, x, y;
    mpfr_inits2(BITS, squares, x, y, (mpfr_ptr)NULL);
    mpfr_set_d(squares, q->cell, MPFR_RNDN);
    mpfr_mul_ui(squares, squares, cells, MPFR_RNDN);
    mpfr_set_d(x, q->stay, MPFR_RNDN);
    mpfr_mul_ui(x, x, b, MPFR_RNDN);
    mpfr_add(squares, squares, x, MPFR_RNDN);
    mpfr_mul_ui(x, log_hidden, hidden, MPFR_RNDN);
    mpfr_add_d(x, x, q->epsilon, MPFR_RNDN);
    profile(y, squares, x);
    mpfr_mul_ui(x, log_hidden, j, MPFR_RNDN);
    mpfr_expm1(x, x, MPFR_RNDN);
    mpfr_sub(y, y, x, MPFR_RNDN);
    mpfr_max(most, most, y, MPFR_RNDN);
    mpfr_clears(squares, x, y, (mpfr_ptr)NULL);
}

/* The bound of key_threshold.c without its roundings: over all cases for few keys, else one sum. */
static void formula(mpfr_t most, const query *q, uint64_t m)
{
    uint64_t g = q->groups;
    mpfr_t log_hidden;
    mpfr_init2(log_hidden, BITS);
    mpfr_set_d(log_hidden, .5 - (double)m, MPFR_RNDN);
    mpfr_div_d(log_hidden, log_hidden, q->sigma, MPFR_RNDN);
    normal(log_hidden);
    mpfr_neg(log_hidden, log_hidden, MPFR_RNDN);
    mpfr_log1p(log_hidden, log_hidden, MPFR_RNDN);
    mpfr_set_zero(most, 1);
    if (g > (q->replace ? 8 : 256)) {
        take(most, q, q->replace ? 2 * g : g, 0, g, g, log_hidden);
        if (q->replace)
            take(most, q, 0, g, g, g, log_hidden);
    } else if (q->replace) {
        for (uint64_t b = 0; b <= g; b++)
            for (uint64_t j = 0; j <= g - b; j++)
                for (uint64_t k = 0; k <= g - b; k++)
                    take(most, q, 2 * (g - b) - j - k, b, j, k > j ? k - j : 0, log_hidden);
    } else {
        for (uint64_t j = 0; j <= g; j++) {
            take(most, q, g - j, 0, j, 0, log_hidden);
            take(most, q, g - j, 0, 0, j, log_hidden);
        }
    }
    mpfr_clear(log_hidden);
}

/* Most of delta is for what moves, or nearly all of it for new keys: in the middle of their tail,
 * where nothing is lost in it. */
static void check_query(uint64_t groups, bool replace, bool moves)
{
    query q = {groups, 0, 0, some_double(-4, 1), some_double(-2, 2), replace};
    double mu = some_double(-2, 1), cells = (double)groups * (replace ? 2 : 1);
    if (!moves) {
        q.epsilon = some_double(-1, 1);
        q.sigma = some_double(2, 6);
        mu = .5;
    }
    uint64_t m = 0, same = 0;
    double used = 0, again = 0;
    mpfr_t truth;
    mpfr_init2(truth, BITS);
    q.cell = mu * mu / cells;
    q.stay = replace && below(2) ? q.cell * some_double(0, 3) : 0;
    formula(truth, &q, UINT64_C(1) << 20); /* no new key shows */
    double least = mpfr_get_d(truth, MPFR_RNDU);
    double delta = least * (1 + some_double(-12, 0));
    if (!moves)
        delta = .5 - some_double(-14, -2);
    if (delta > 1e-16 && delta < .5) {
        assert_ok(brume_key_threshold_gaussian(q.sigma, groups, q.cell, q.stay, replace, q.epsilon,
                                               delta, &m, &used, &error));
        formula(truth, &q, m);
        is_up(truth, used, 0x1p-40, "delta of all cases");
        assert_holds(used <= delta);
        if (m > 1) { /* the least that will do */
            formula(truth, &q, m - 1);
            mpfr_mul_d(truth, truth, 1 + 0x1p-40, MPFR_RNDU);
            assert_holds(mpfr_cmp_d(truth, delta) > 0);
        }
        /* what is used is enough */
        assert_ok(brume_key_threshold_gaussian(q.sigma, groups, q.cell, q.stay, replace, q.epsilon,
                                               used, &same, &again, &error));
        assert_true(same == m && again == used);
    }
    mpfr_clear(truth);
}

/* Rejects: any rounding of the sum turned; the profile's lower bound; a threshold that is refused
 * where delta is just enough; cells counted twice in the bound for many keys. */
static void gaussian_keys_use_what_the_formula_says(void **state)
{
    (void)state;
    state_of_draws = 32;
    for (int i = 0; i < 150; i++)
        check_query(1, i % 2, true);
    for (int i = 0; i < 1000; i++)
        check_query(1, i % 2, false);
    for (int i = 0; i < 500; i++)
        check_query(i % 2 ? 9 + below(30) : 257 + below(99), i % 2, true);
    for (int i = 0; i < 60; i++)
        check_query(3, false, true);
    for (int i = 0; i < 100; i++)
        check_query(3, true, true);
    for (int i = 0; i < 4; i++)
        check_query(9 + below(4), false, true); /* by all cases here, where replace has one sum */
}

/* ---- plans ---- */

typedef struct plan {
    brume_measure measures[5]; /* and one behind the end, which nobody may touch */
    size_t count, parts;
    brume_shape shape;
    brume_noise_kind noise;
    brume_price price;
} plan;

static plan make_plan(size_t modes, bool keys, bool replace, brume_noise_kind noise)
{
    plan p = {.shape = {.max_groups = 1 + below(4),
                        .max_rows = 1 + below(3),
                        .cells = keys ? 0 : 1 + below(5),
                        .replace = replace,
                        .private_keys = keys},
              .noise = noise,
              .parts = modes + keys};
    p.measures[p.count++] = (brume_measure){.kind = BRUME_MEASURE_UNITS};
    for (size_t i = 0; i < modes; i++)
        p.measures[p.count++] =
            (brume_measure){.kind = BRUME_MEASURE_PRIVATE_MODE, .expression = i};
    p.measures[p.count] = (brume_measure){.kind = BRUME_MEASURE_PRIVATE_MODE, .scale = 1};
    return p;
}

static void pay(plan *p, double price, double delta)
{
    const brume_measure behind = p->measures[p->count];
    assert_ok(
        p->noise == BRUME_NOISE_DISCRETE_LAPLACE
            ? brume_price_laplace(p->measures, p->count, &p->shape, price, delta, &p->price, &error)
            : brume_price_concentrated(p->measures, p->count, &p->shape, price, delta, &p->price,
                                       &error));
    const brume_measure *after = &p->measures[p->count];
    assert_true(after->scale == behind.scale && after->sensitivity == behind.sensitivity &&
                after->threshold == behind.threshold);
    assert_holds(p->price.delta <= delta);
}

/* Adds up what the tests of the plan let through; returns the least that one of them would let
 * through with a threshold one less. */
static double add_parts(const plan *p, mpq_t sum)
{
    brume_noise_tail_upper tail = p->noise == BRUME_NOISE_DISCRETE_LAPLACE
                                      ? brume_noise_tail_laplace_upper
                                      : brume_noise_tail_discrete_gaussian_upper;
    double lowest = 1;
    mpq_t one;
    mpq_init(one);
    mpq_set_ui(sum, 0, 1);
    for (size_t i = p->shape.private_keys ? 0 : 1; i < p->count; i++) {
        uint64_t threshold = i == 0 ? p->price.threshold : p->measures[i].threshold;
        uint64_t cells = i == 0 ? p->shape.max_groups : brume_shape_pairs(&p->shape);
        mpq_set_d(one, brume_key_shown_upper(tail, p->measures[i].scale, cells, threshold));
        mpq_add(sum, sum, one);
        if (threshold > 2)
            lowest = fmin(lowest,
                          brume_key_shown_upper(tail, p->measures[i].scale, cells, threshold - 1));
    }
    mpq_clear(one);
    return lowest;
}

/* Rejects: a threshold one less; the tail of another noise; parts of delta that are more than the
 * whole, or less than its equal shares; a sum rounded down; a measure behind the end of the list.
 */
static void keys_and_modes_share_delta_and_use_it(void **state)
{
    (void)state;
    state_of_draws = 33;
    mpq_t sum, told;
    mpq_inits(sum, told, NULL);
    for (int i = 0; i < 1200; i++) {
        plan p =
            make_plan(below(4), i % 2, i % 3 == 0,
                      i % 5 < 3 ? BRUME_NOISE_DISCRETE_LAPLACE : BRUME_NOISE_DISCRETE_GAUSSIAN);
        double price = some_double(-3, 4), delta = some_double(-40, -2);
        if (p.parts == 0)
            continue;
        pay(&p, price, delta);
        double lowest = add_parts(&p, sum);
        mpq_set_d(told, p.price.delta);
        assert_holds(mpq_cmp(sum, told) <= 0);
        assert_holds(mpq_get_d(sum) >= p.price.delta * (1 - 1e-12));
        assert_holds(lowest > delta / (double)p.parts * (1 - 1e-12));
        /* three tests that use delta up to its last place */
        if (p.parts == 3 && !p.shape.private_keys) {
            double one = mpq_get_d(sum) / 3;
            delta = brume_down(3 * one);
            for (int step = 0; step < 4 && delta < .5; step++, delta = brume_down(delta))
                pay(&p, price, delta);
        }
    }
    mpq_clears(sum, told, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_several_keys_shows_as_often_as_told),
        cmocka_unit_test(thresholds_end_at_two_to_the_61),
        cmocka_unit_test(gaussian_keys_use_what_the_formula_says),
        cmocka_unit_test(keys_and_modes_share_delta_and_use_it),
    };
    return cmocka_run_group_tests_name("thresholds of plans", tests, NULL, NULL);
}
