/* Renyi curves three ways: in balls, in doubles with a bound, in doubles without. */
#include "check.h"

#include "accountant/renyi/renyi.h"
#include "number/ball.h"

static uint64_t seed;

static double uniform(void)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (double)(seed >> 11) * 0x1p-53;
}

static double between(double low, double high)
{
    return low * pow(high / low, uniform());
}

static brume_cost kary(double epsilon, uint64_t k)
{
    return (brume_cost){.pure = BRUME_EXACT,
                        .epsilon = epsilon,
                        .concentrated = BRUME_UPPER,
                        .rho = epsilon, /* anything above */
                        .renyi = BRUME_EXACT,
                        .renyi_upper = brume_renyi_kary_upper,
                        .loss = BRUME_EXACT,
                        .law = {.kind = BRUME_LOSS_KARY, .a = epsilon, .shift = k}};
}

static brume_cost discrete_laplace(double a, uint64_t shift)
{
    return (brume_cost){.pure = BRUME_EXACT,
                        .epsilon = nextafter(a * (double)shift, INFINITY),
                        .concentrated = BRUME_UPPER,
                        .rho = 2 * a * (double)shift,
                        .renyi = BRUME_EXACT,
                        .renyi_upper = brume_renyi_discrete_laplace_upper,
                        .loss = BRUME_EXACT,
                        .law = {.kind = BRUME_LOSS_DISCRETE_LAPLACE, .a = a, .shift = shift}};
}

/* The largest D_alpha/alpha of the curve in balls, over a fine grid: not above the supremum by more
 * than the last place. */
static double largest_ratio(const brume_cost *cost)
{
    double largest = 0;
    for (double less = 0x1p-16; less < 1e5 + 1e3 / cost->epsilon; less *= 1.02)
        largest = fmax(largest, cost->renyi_upper(cost, 1 + less) / (1 + less));
    return largest;
}

static void rho_by_doubles_is_not_below_the_curve_in_balls(void **state)
{
    (void)state;
    seed = 5;
    for (int i = 0; i < 120; i++) {
        brume_cost cost = i % 2 ? discrete_laplace(between(1e-3, 3), (uint64_t)between(2, 100))
                                : kary(between(1e-4, 40), (uint64_t)between(3, 1e9));
        double truth = largest_ratio(&cost), rho = brume_rho_of_renyi_upper(&cost);
        if (!(rho >= truth * (1 - 1e-15) && rho <= truth * (1 + 3e-4)))
            fail_msg("a %.17g shift %llu: rho %.17g, the curve says %.17g", cost.law.a,
                     (unsigned long long)cost.law.shift, rho, truth);
    }
}

static void rho_is_found_where_doubles_do_not_reach(void **state)
{
    (void)state;
    const brume_cost costs[] = {kary(1e-120, 5), kary(900, 5), discrete_laplace(20, 60),
                                discrete_laplace(1, 1000)};
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        double rho = brume_rho_of_renyi_upper(&costs[i]);
        double some = costs[i].renyi_upper(&costs[i], 3) / 3;
        assert_true(rho >= some * (1 - 1e-15) && rho <= costs[i].epsilon);
    }
}

/* A rough curve may be off, but where a law is known it should not be. */
static void rough_curves_are_near_the_curves_in_balls(void **state)
{
    (void)state;
    seed = 7;
    static const brume_loss_kind kinds[] = {BRUME_LOSS_GAUSSIAN,
                                            BRUME_LOSS_LAPLACE,
                                            BRUME_LOSS_PURE,
                                            BRUME_LOSS_KARY,
                                            BRUME_LOSS_DISCRETE_LAPLACE,
                                            BRUME_LOSS_DISCRETE_GAUSSIAN,
                                            BRUME_LOSS_POISSON_GAUSSIAN,
                                            BRUME_LOSS_POISSON_PURE,
                                            BRUME_LOSS_POISSON_DISCRETE_LAPLACE};
    for (int i = 0; i < 900; i++) {
        brume_loss law = {.kind = kinds[i % 9], .a = between(1e-3, 20)};
        if (law.kind == BRUME_LOSS_DISCRETE_LAPLACE || law.kind == BRUME_LOSS_DISCRETE_GAUSSIAN)
            law.shift = (uint64_t)between(1, 30);
        if (law.kind == BRUME_LOSS_KARY)
            law.shift = (uint64_t)between(3, 1e6);
        if (law.kind == BRUME_LOSS_POISSON_GAUSSIAN)
            law.rate = between(1e-3, 1), law.a = between(0.5, 20);
        if (law.kind >= BRUME_LOSS_POISSON_PURE) /* of shift 30 and a 20 its balls take long */
            law.rate = between(1e-3, 0.9), law.a = between(1e-2, 3),
            law.shift = (uint64_t)between(1, 6);
        brume_cost cost = {.loss = BRUME_EXACT, .law = law};
        double alpha = 1 + between(1e-3, 1e3);
        double rough = brume_renyi_rough(&cost, alpha), upper = brume_renyi_upper(&cost, alpha);
        if (!(fabs(rough / upper - 1) < (law.kind < BRUME_LOSS_POISSON_PURE ? 1e-8 : 1e-3)))
            fail_msg("kind %d a %g rate %g shift %llu alpha %.9g: %.12g, in balls %.12g",
                     (int)law.kind, law.a, law.rate, (unsigned long long)law.shift, alpha, rough,
                     upper);
    }
}

/* Integer Gaussian noise on a Poisson sample, summed over its outputs: both directions are covered
 * at every order, and a record removed is met at whole ones. */
static void sampled_integer_noise_has_the_curve_of_real_noise(void **state)
{
    (void)state;
    static const double sigmas[] = {0.4, 0.7, 1.5, 6}, rates[] = {1e-9, 0.003, 0.1, 0.5, 0.97};
    static const double orders[] = {1.001, 1.5, 2, 2.5, 3, 4.2, 7, 12, 12.5, 30, 61.3};
    for (size_t s = 0; s < 4; s++)
        for (size_t q = 0; q < 5; q++)
            for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
                for (int shift = 1; shift < 4; shift += 2) {
                    double sigma = sigmas[s], alpha = orders[i];
                    brume_cost cost = {.law = {.kind = BRUME_LOSS_POISSON_GAUSSIAN,
                                               .a = sigma / shift * (1 - 0x1p-50),
                                               .rate = rates[q]}};
                    long double all = 0, removed = 0, added = 0,
                                square = sigma * (long double)sigma;
                    int reach = (int)(alpha * shift + 20 * sigma + 3);
                    if (alpha * alpha * shift * shift > 15000 * square)
                        continue;                           /* beyond the range of these sums */
                    for (int k = -reach; k <= reach; k++) { /* sums of R^a - 1 - a (R - 1) */
                        long double mass = expl(-k * (long double)k / (2 * square));
                        long double l = (2 * k * shift - shift * (long double)shift) / (2 * square);
                        long double change = rates[q] * expm1l(l), log_ratio = log1pl(change);
                        all += mass;
                        removed += mass * (expm1l(alpha * log_ratio) - alpha * change);
                        added += mass * (expm1l((1 - alpha) * log_ratio) + (alpha - 1) * change);
                    }
                    double upper = brume_renyi_sampled_gaussian_upper(&cost, alpha);
                    double there = (double)(log1pl(removed / all) / (alpha - 1));
                    double back = (double)(log1pl(added / all) / (alpha - 1));
                    bool sharp = alpha == floor(alpha) && rates[q] > 1e-6;
                    if (!(upper >= there * (1 - 1e-9) && upper >= back * (1 - 1e-9)) ||
                        (sharp && !(upper <= there * (1 + 1e-9) + 1e-13)))
                        fail_msg("sigma %g shift %d rate %g alpha %g: %.12g, removed %.12g, added "
                                 "%.12g",
                                 sigma, shift, rates[q], alpha, upper, there, back);
                }
}

/* --- the curve of a Gaussian on a Poisson sample in balls --- */

enum { PRECISION = 128, MOST_WHOLE_ORDER = 256 };

/* out = alpha / (2 sigma^2), times the square of the shift */
static void gaussian_divergence(arb_t out, double sigma, uint64_t shift, double alpha)
{
    arb_t term;
    arb_init(term);
    arb_set_d(out, alpha);
    arb_mul_ui(out, out, shift, PRECISION);
    arb_mul_ui(out, out, shift, PRECISION);
    arb_set_d(term, sigma);
    arb_sqr(term, term, PRECISION);
    arb_mul_2exp_si(term, term, 1);
    arb_div(out, out, term, PRECISION);
    arb_clear(term);
}

/* out = ln sum_j C(n,j) (1-q)^{n-j} q^j e^{j(j-1)/(2 sigma^2)}, n a whole order >= 1.
 *                                                                            [MTZ19, Sec. 3.3] */
static void poisson_log_moment(arb_t out, double sigma, double rate, uint64_t n)
{
    arb_t term, odds, tilt, step, stay;
    arb_init(term), arb_init(odds), arb_init(tilt), arb_init(step), arb_init(stay);
    arb_set_d(odds, rate);
    arb_sub_ui(stay, odds, 1, PRECISION);
    arb_neg(stay, stay);
    arb_pow_ui(term, stay, n, PRECISION);
    arb_div(odds, odds, stay, PRECISION);
    arb_set_d(step, sigma);
    arb_sqr(step, step, PRECISION);
    arb_inv(step, step, PRECISION);
    arb_exp(step, step, PRECISION); /* e^{1/sigma^2} */
    arb_one(tilt);                  /* e^{j/sigma^2} */
    arb_set(out, term);
    for (uint64_t j = 0; j < n; j++) {
        arb_mul_ui(term, term, n - j, PRECISION);
        arb_div_ui(term, term, j + 1, PRECISION);
        arb_mul(term, term, odds, PRECISION);
        arb_mul(term, term, tilt, PRECISION);
        arb_add(out, out, term, PRECISION);
        arb_mul(tilt, tilt, step, PRECISION);
    }
    arb_log(out, out, PRECISION);
    arb_clear(term), arb_clear(odds), arb_clear(tilt), arb_clear(step), arb_clear(stay);
}

/* Never more than the Gaussian without sampling: the divergence is quasi-convex. */
static void poisson_divergence(arb_t out, double sigma, double rate, double alpha)
{
    gaussian_divergence(out, sigma, 1, alpha);
    if (rate >= 1 || alpha > MOST_WHOLE_ORDER)
        return;
    arb_t low, high, share;
    arb_init(low), arb_init(high), arb_init(share);
    double below = floor(alpha);
    arb_set_d(share, alpha);
    arb_sub_ui(share, share, (ulong)below, PRECISION);
    if (below > 1)
        poisson_log_moment(low, sigma, rate, (uint64_t)below);
    if (alpha > below) { /* chord of the convex log-moment between two whole orders */
        poisson_log_moment(high, sigma, rate, (uint64_t)below + 1);
        arb_sub(high, high, low, PRECISION);
        arb_addmul(low, high, share, PRECISION);
    }
    arb_set_d(share, alpha);
    arb_sub_ui(share, share, 1, PRECISION);
    arb_div(low, low, share, PRECISION);
    arb_min(out, out, low, PRECISION);
    arb_clear(low), arb_clear(high), arb_clear(share);
}

static double sampled_in_balls(const brume_loss *law, double alpha)
{
    arb_t out;
    arb_init(out);
    poisson_divergence(out, law->a, law->rate, alpha);
    double result = brume_ball_upper(out);
    arb_clear(out);
    return result;
}

/* That curve in long doubles is the one in balls. */
static void the_curve_of_sampled_noise_is_that_in_balls(void **state)
{
    (void)state;
    seed = 11;
    for (int i = 0; i < 300; i++) {
        brume_cost cost = {.loss = BRUME_EXACT,
                           .law = {.kind = BRUME_LOSS_POISSON_GAUSSIAN,
                                   .a = between(0.2, 50),
                                   .rate = between(1e-8, 1)}};
        double alpha = 1 + between(1e-3, 400);
        double balls = sampled_in_balls(&cost.law, alpha);
        double quick = brume_renyi_sampled_gaussian_upper(&cost, alpha);
        bool far = alpha * alpha > 20000 * cost.law.a * cost.law.a; /* there it does not sample */
        if (!(quick >= balls * (1 - 1e-15) && (far || quick <= balls * (1 + 1e-12))))
            fail_msg("a %g rate %g alpha %g: %.17g, in balls %.17g", cost.law.a, cost.law.rate,
                     alpha, quick, balls);
    }
    /* what is too small for a double is not nothing */
    for (double rate = 1e-140; rate > 0; rate *= 1e-13) {
        brume_cost cost = {.law = {.kind = BRUME_LOSS_POISSON_GAUSSIAN, .a = 1, .rate = rate}};
        long double q = rate, pairs = 9.99L * q * q * expm1l(1) / 4; /* j = 2 at order 5 */
        assert_true(brume_renyi_sampled_gaussian_upper(&cost, 5) > pairs);
    }
}

/* A curve of somebody's own, below all that the rest of the cost says. */
static double own_curve(const brume_cost *cost, double alpha)
{
    return cost->rho * alpha / 8;
}

static void an_own_curve_chooses_the_order_itself(void **state)
{
    (void)state;
    brume_cost cost = {.pure = BRUME_UPPER,
                       .epsilon = 1,
                       .concentrated = BRUME_UPPER,
                       .rho = 0.4,
                       .renyi = BRUME_UPPER,
                       .renyi_upper = own_curve};
    assert_close(brume_renyi_rough(&cost, 3), 0.15, 1e-12);
    brume_term term = {cost, 10};
    brume_term_list list = {&term, 1};
    brume_curve quick = brume_renyi_total(&list), slow = {quick.at, quick.context, NULL};
    assert_close(brume_renyi_epsilon_upper(&quick, 1e-6),
                 brume_concentrated_epsilon_upper(0.5, 1e-6), 1e-9);
    assert_close(brume_renyi_epsilon_upper(&quick, 1e-6), brume_renyi_epsilon_upper(&slow, 1e-6),
                 1e-13);
}

static void the_rough_order_is_as_good_as_the_slow_one(void **state)
{
    (void)state;
    seed = 11;
    for (int i = 0; i < 60; i++) {
        brume_term terms[3] = {
            {kary(between(1e-3, 1), (uint64_t)between(3, 1e3)), (uint64_t)between(1, 1e3)},
            {discrete_laplace(between(1e-3, 0.3), (uint64_t)between(1, 9)),
             (uint64_t)between(1, 1e3)},
            {{.loss = BRUME_EXACT, .law = {.kind = BRUME_LOSS_LAPLACE, .a = between(1e-4, 1)}},
             (uint64_t)between(1, 1e6)}};
        brume_term_list list = {terms, 3};
        brume_curve quick = brume_renyi_total(&list), slow = {quick.at, quick.context, NULL};
        double delta = between(1e-12, 1e-2);
        double by_quick = brume_renyi_epsilon_upper(&quick, delta);
        double by_slow = brume_renyi_epsilon_upper(&slow, delta);
        if (!(fabs(by_quick / by_slow - 1) < 1e-9))
            fail_msg("case %d: epsilon %.15g by the rough order, %.15g by the slow one", i,
                     by_quick, by_slow);
    }
}

/* ---- from a divergence to epsilon and delta ---- */

enum { FINER = 500 };

/* out += b ln x */
static void add_logarithm(arb_t out, const arb_t b, const arb_t x)
{
    arb_t logarithm;
    arb_init(logarithm);
    arb_log(logarithm, x, FINER);
    arb_addmul(out, b, logarithm, FINER);
    arb_clear(logarithm);
}

/* The four formulas, each in its own order of operations: rho + 2 sqrt(rho ln(1/delta)),
 * exp(-(epsilon - rho)^2/(4 rho)), and those at an order alpha with the divergence d. */
static void formula(int which, double d, double target, double alpha, arb_t out)
{
    arb_t x, y, a, less;
    arb_init(x), arb_init(y), arb_init(a), arb_init(less);
    arb_set_d(x, d);
    arb_set_d(y, target);
    arb_set_d(a, alpha);
    arb_sub_ui(less, a, 1, FINER);
    if (which == 0) {
        arb_log(out, y, FINER);
        arb_mul(out, out, x, FINER);
        arb_mul_si(out, out, -4, FINER);
        arb_sqrt(out, out, FINER);
        arb_add(out, out, x, FINER);
    } else if (which == 1) {
        arb_div(out, y, x, FINER);
        arb_sub_ui(out, out, 1, FINER);
        arb_sqr(out, out, FINER);
        arb_mul(out, out, x, FINER);
        arb_div_si(out, out, -4, FINER);
        arb_exp(out, out, FINER);
    } else if (which == 2) { /* d + ln(1 - 1/alpha) - ln(alpha delta)/(alpha - 1) */
        arb_set(out, x);
        arb_inv(x, less, FINER);
        arb_neg(x, x);
        arb_mul(y, y, a, FINER);
        add_logarithm(out, x, y);
        arb_div(y, less, a, FINER);
        arb_one(x);
        add_logarithm(out, x, y);
    } else { /* exp((alpha - 1)(d - epsilon)) (1 - 1/alpha)^alpha / (alpha - 1) */
        arb_sub(out, x, y, FINER);
        arb_mul(out, out, less, FINER);
        arb_div(y, less, a, FINER);
        add_logarithm(out, a, y);
        arb_exp(out, out, FINER);
        arb_div(out, out, less, FINER);
    }
    arb_clear(x), arb_clear(y), arb_clear(a), arb_clear(less);
}

/* Rejects: one of them rounded down, or to nearest. */
static void conversions_are_rounded_up_by_a_place_at_most(void **state)
{
    (void)state;
    seed = 13;
    int compared[4] = {0};
    for (int i = 0; i < 4000; i++) {
        int which = i % 4;
        bool to_epsilon = which % 2 == 0;
        double d = between(1e-6, 20), alpha = 1 + between(1e-3, 1e3);
        double target = to_epsilon ? between(1e-15, 0.9) : d * between(1, 30), found;
        arb_t truth, most;
        arb_init(truth), arb_init(most);
        formula(which, d, target, alpha, truth);
        switch (which) {
        case 0:
            found = brume_concentrated_epsilon_closed_upper(d, target);
            break;
        case 1:
            found = brume_concentrated_delta_closed_upper(d, target);
            break;
        case 2:
            found = brume_renyi_epsilon_at_upper(alpha, d, target);
            break;
        default:
            found = brume_renyi_delta_at_upper(alpha, d, target);
        }
        arb_set_d(most, to_epsilon ? 0 : 1);
        bool inside = to_epsilon ? arb_gt(truth, most) : arb_lt(truth, most);
        if (inside && found > 0x1p-1000) { /* else it is the end itself */
            compared[which]++;
            arb_set_d(most, found);
            if (arb_lt(most, truth))
                fail_msg("formula %d of %.17g, %.17g, %.17g is rounded down: %.17g", which, d,
                         target, alpha, found);
            arb_set_d(most, nextafter(found, 0));
            assert_true(arb_lt(most, truth));
        }
        arb_clear(truth), arb_clear(most);
    }
    for (int i = 0; i < 4; i++)
        assert_true(compared[i] > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rho_by_doubles_is_not_below_the_curve_in_balls),
        cmocka_unit_test(rho_is_found_where_doubles_do_not_reach),
        cmocka_unit_test(rough_curves_are_near_the_curves_in_balls),
        cmocka_unit_test(sampled_integer_noise_has_the_curve_of_real_noise),
        cmocka_unit_test(the_curve_of_sampled_noise_is_that_in_balls),
        cmocka_unit_test(an_own_curve_chooses_the_order_itself),
        cmocka_unit_test(the_rough_order_is_as_good_as_the_slow_one),
        cmocka_unit_test(conversions_are_rounded_up_by_a_place_at_most),
    };
    return cmocka_run_group_tests_name("renyi", tests, NULL, NULL);
}
