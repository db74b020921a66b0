/* One or two subsampled Gaussians beside laws without a Gaussian: the closed form in doubles
 * against MPFR, cells against quadratures of the definition, both orders; the certified ends of the
 * public composition, and bounds with a fault built in, which the same comparison must reject. */
#include "check.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

#include "accountant/draws.h"
#include "accountant/once.h"
#include "accountant/terms.h"

/* --- the closed form, by the threshold of x beyond which the loss exceeds epsilon --- */
enum { BITS = 600 };

/* The probability that N(mean, sigma^2) is above x, or below. */
static void tail(mpfr_t out, const mpfr_t x, int mean, double sigma, bool above)
{
    mpfr_sub_si(out, x, mean, MPFR_RNDN);
    mpfr_div_d(out, out, sigma, MPFR_RNDN);
    mpfr_t root;
    mpfr_init2(root, BITS);
    mpfr_sqrt_ui(root, 2, MPFR_RNDN);
    mpfr_div(out, out, root, MPFR_RNDN);
    mpfr_clear(root);
    if (!above)
        mpfr_neg(out, out, MPFR_RNDN);
    mpfr_erfc(out, out, MPFR_RNDN);
    mpfr_div_ui(out, out, 2, MPFR_RNDN);
}

static void exact_sampled(mpfr_t out, const brume_sampled_draw *draw, double epsilon)
{
    mpfr_t u, x, zero, one, mixed;
    mpfr_inits2(BITS, u, x, zero, one, mixed, (mpfr_ptr)0);
    double q = draw->rate, sigma = draw->sigma;
    mpfr_set_d(u, epsilon, MPFR_RNDN);
    mpfr_exp(u, u, MPFR_RNDN);
    if (draw->reversed)
        mpfr_ui_div(x, 1, u, MPFR_RNDN); /* r below 1/u counts */
    else
        mpfr_set(x, u, MPFR_RNDN); /* r above u counts */
    mpfr_sub_ui(x, x, 1, MPFR_RNDN);
    mpfr_add_d(x, x, q, MPFR_RNDN);
    if (mpfr_sgn(x) <= 0) {
        mpfr_ui_sub(out, 1, u, MPFR_RNDN);
        if (draw->reversed)
            mpfr_set_zero(out, 1);
    } else {
        mpfr_div_d(x, x, q, MPFR_RNDN);
        mpfr_log(x, x, MPFR_RNDN);
        mpfr_mul_d(x, x, sigma, MPFR_RNDN);
        mpfr_mul_d(x, x, sigma, MPFR_RNDN);
        mpfr_add_d(x, x, 0.5, MPFR_RNDN);
        tail(zero, x, 0, sigma, !draw->reversed);
        tail(one, x, 1, sigma, !draw->reversed);
        mpfr_mul_d(mixed, one, q, MPFR_RNDN); /* (1 - q) N0 + q N1 */
        mpfr_add(mixed, mixed, zero, MPFR_RNDN);
        mpfr_mul_d(out, zero, q, MPFR_RNDN);
        mpfr_sub(mixed, mixed, out, MPFR_RNDN);
        mpfr_ptr first = draw->reversed ? zero : mixed, second = draw->reversed ? mixed : zero;
        mpfr_mul(second, second, u, MPFR_RNDN);
        mpfr_sub(out, first, second, MPFR_RNDN);
    }
    mpfr_clears(u, x, zero, one, mixed, (mpfr_ptr)0);
}

static brume_sampled_draw random_draw(double least_sigma, double most_sigma)
{
    brume_sampled_draw draw = {.sigma = between(least_sigma, most_sigma)};
    double choice = uniform();
    draw.rate = choice < 0.1 ? 1 - 0x1p-53 : choice < 0.2 ? 1 - between(1e-9, 0.5) : 0;
    if (draw.rate == 0)
        draw.rate = between(1e-9, 0.999);
    draw.reversed = uniform() < 0.5;
    return draw;
}

static void closed_form_in_doubles_is_within_its_error(void **state)
{
    (void)state;
    draws_state = 3;
    unsigned sharp = 0, trials = 1500;
    mpfr_t exact, off;
    mpfr_inits2(BITS, exact, off, (mpfr_ptr)0);
    for (unsigned i = 0; i < trials; i++) {
        brume_sampled_draw draw = random_draw(0.05, 1000);
        double scale = log1p(draw.rate * expm1(fmin(3 / draw.sigma + 1, 600)));
        double epsilon = (uniform() < 0.3 ? -1 : 1) * scale * between(1e-6, 8), error;
        if (uniform() < 0.1) /* about where a side ends */
            epsilon = (draw.reversed ? -1 : 1) * log1p(-draw.rate) * (1 + 1e-9 * (uniform() - 0.5));
        double value = brume_sampled_value(&draw, -epsilon, &error);
        exact_sampled(exact, &draw, epsilon);
        mpfr_sub_d(off, exact, value, MPFR_RNDN);
        if (!(fabs(mpfr_get_d(off, MPFR_RNDA)) <= error))
            fail_msg("rate %.17g sigma %.17g epsilon %.17g: off by %g, error %g", draw.rate,
                     draw.sigma, epsilon, mpfr_get_d(off, MPFR_RNDA), error);
        sharp += error <= 1e-9 * value || error < 1e-290;
    }
    mpfr_clears(exact, off, (mpfr_ptr)0);
    print_message("# %u of %u sharp\n", sharp, trials);
    assert_true(sharp >= trials * 3 / 4);
}

/* --- quadrature of the definition, in long doubles --- */
typedef struct setting {
    brume_sampled_draw first, second; /* the second's sigma 0: none */
    double laplace, pure;             /* epsilons; 0: none */
    double pure_rate;                 /* the pure law is of a Poisson sample; 0: it is not */
} setting;

static long double loss_at(const brume_sampled_draw *d, long double x)
{
    long double sigma = d->sigma;
    long double l = log1pl((long double)d->rate * expm1l((2 * x - 1) / (2 * sigma * sigma)));
    return d->reversed ? -l : l;
}

/* The place of a loss; NAN if there is none. */
static long double place_of(const brume_sampled_draw *d, long double loss)
{
    long double v = (expm1l(d->reversed ? -loss : loss) + d->rate) / d->rate, sigma = d->sigma;
    return v > 0 ? sigma * sigma * logl(v) + 0.5L : NAN;
}

static long double closed_delta(const brume_sampled_draw *d, long double epsilon)
{
    long double x = place_of(d, epsilon), q = d->rate, u = expl(epsilon);
    if (isnan(x))
        return d->reversed ? 0 : -expm1l(epsilon);
    long double sign = d->reversed ? -1 : 1, root = sqrtl(2) * d->sigma;
    long double zero = erfcl(sign * x / root) / 2, one = erfcl(sign * (x - 1) / root) / 2;
    long double value = d->reversed ? zero * (q - expm1l(epsilon) * (1 - q)) - u * q * one
                                    : q * one - (expm1l(epsilon) + q) * zero;
    return fmaxl(value, 0);
}

/* What is beside the first draw. */
static long double rest_delta(const setting *s, long double epsilon)
{
    if (s->second.sigma > 0)
        return closed_delta(&s->second, epsilon);
    long double a = s->laplace;
    if (epsilon >= a)
        return 0;
    return epsilon <= -a ? -expm1l(epsilon) : -expm1l((epsilon - a) / 2);
}

static int by_size(const void *a, const void *b)
{
    long double x = *(const long double *)a, y = *(const long double *)b;
    return (x > y) - (x < y);
}

static const long double nodes[5] = {0.1488743389816312108848L, 0.4333953941292471907993L,
                                     0.6794095682990244062343L, 0.8650633666889845107321L,
                                     0.9739065285171717200780L};
static const long double weights[5] = {0.2955242247147528701739L, 0.2692667193099963550912L,
                                       0.2190863625159820439955L, 0.1494513491505805931458L,
                                       0.0666713443086881375936L};

static long double density(const brume_sampled_draw *d, long double x)
{
    long double two = 2 * (long double)d->sigma * d->sigma, zero = expl(-x * x / two);
    long double one = expl(-(x - 1) * (x - 1) / two), q = d->rate;
    return (d->reversed ? zero : (1 - q) * zero + q * one) / (d->sigma * sqrtl(2 * M_PIl));
}

/* The first draw's loss over its x, cut at every kink, the rest known. */
static long double reference_without_pure(const setting *s, long double epsilon)
{
    enum { PANELS = 12, CUTS = 64 };
    const brume_sampled_draw *d = &s->first;
    long double reach = 14 * (long double)d->sigma, cut[CUTS];
    size_t count = 0;
    for (int i = -14; i <= 14; i++)
        cut[count++] = (long double)i * d->sigma + (i > 0 ? 1 : 0);
    for (int i = -14; i <= 15; i++) { /* where what is beside the draw turns */
        long double at = i == 0 ? s->laplace : -s->laplace;
        if (s->second.sigma > 0)
            at = loss_at(&s->second, (long double)i * s->second.sigma);
        long double x = place_of(d, epsilon - at);
        if ((s->second.sigma > 0 || i == 0 || i == 1) && x > -reach && x < 1 + reach)
            cut[count++] = x;
    }
    qsort(cut, count, sizeof *cut, by_size);
    long double sum = 0;
    for (size_t i = 0; i + 1 < count; i++)
        for (size_t p = 0; p < PANELS; p++) {
            long double half = (cut[i + 1] - cut[i]) / (2 * PANELS);
            long double middle = cut[i] + half * (2 * (long double)p + 1);
            for (size_t j = 0; j < 10; j++) {
                long double x = middle + (j < 5 ? half : -half) * nodes[j % 5];
                sum += half * weights[j % 5] * density(d, x) *
                       rest_delta(s, epsilon - loss_at(d, x));
            }
        }
    return sum;
}

static long double reference(const setting *s, long double epsilon)
{
    if (s->pure == 0)
        return reference_without_pure(s, epsilon);
    long double a = s->pure, p = 1 / (1 + expl(-a)), high = a, low = -a;
    if (s->pure_rate > 0) { /* Q has 1 - p at a and p at -a; the ratio of the sample there */
        high = log1pl(s->pure_rate * expm1l(a));
        low = log1pl(s->pure_rate * expm1l(-a));
        if (!s->first.reversed)
            p = (1 - p) * expl(high);
        else {
            high = -high;
            low = -low;
            p = 1 - p;
        }
    }
    return p * reference_without_pure(s, epsilon - high) +
           (1 - p) * reference_without_pure(s, epsilon - low);
}

static size_t terms_of(const setting *s, brume_term *terms)
{
    size_t count = 0;
    terms[count++] = poisson_gaussian(s->first.rate, s->first.sigma, 1);
    if (s->second.sigma > 0)
        terms[count++] = poisson_gaussian(s->second.rate, s->second.sigma, 1);
    if (s->laplace > 0)
        terms[count++] = laplace(s->laplace, 1);
    if (s->pure > 0)
        terms[count++] = s->pure_rate > 0
                             ? term_of(BRUME_LOSS_POISSON_PURE, s->pure, s->pure_rate, 0, 1)
                             : pure(s->pure, 1);
    return count;
}

static size_t laws_of(const setting *s, bool reversed, brume_law *laws)
{
    brume_term terms[4];
    size_t count = terms_of(s, terms);
    brume_error error;
    for (size_t i = 0; i < count; i++)
        assert_ok(brume_law_open(&terms[i].cost.law, 1, reversed, &laws[i], &error));
    return count;
}

static setting random_setting(void)
{
    setting s = {.first = {.sigma = between(0.4, 20), .rate = between(1e-3, 0.7)}};
    s.first.reversed = uniform() < 0.5;
    if (uniform() < 0.4) {
        s.second = (brume_sampled_draw){.sigma = s.first.sigma * between(0.5, 2),
                                        .rate = between(1e-3, 0.7),
                                        .reversed = s.first.reversed};
    } else {
        s.laplace = between(0.01, 2);
    }
    if (uniform() < 0.4)
        s.pure = between(0.001, 0.5);
    if (s.pure > 0 && uniform() < 0.5)
        s.pure_rate = between(0.01, 0.99);
    return s;
}

/* A reference is off by its quadrature and rounding: about 1e-13 at most. */
static bool below_reference(double value, long double exact)
{
    return value <= exact * (1 + 1e-12L) + 1e-25L;
}

static bool above_reference(double value, long double exact)
{
    return value >= exact * (1 - 1e-12L) - 1e-25L;
}

/* delta at epsilon from cells of one side, whatever they are used for. */
static long double cell_sum(const setting *s, const brume_cells *cells, size_t count,
                            double epsilon)
{
    long double sum = cells->missed;
    for (size_t i = 0; i < count; i++)
        sum += cells->mass[i] * rest_delta(s, (long double)epsilon - cells->loss[i]);
    return sum;
}

static void cells_enclose_quadratures_and_faults_do_not(void **state)
{
    (void)state;
    draws_state = 5;
    unsigned exchanged = 0, swapped = 0, trials = 60, checked = 0, sharp = 0;
    for (unsigned i = 0; i < trials; i++) {
        setting s = random_setting();
        brume_law laws[4];
        size_t count = laws_of(&s, s.first.reversed, laws);
        double scale = s.laplace + s.pure + (double)fabsl(loss_at(&s.first, 1 + s.first.sigma * 2));
        double epsilon = scale * (uniform() * 1.4 - 0.2);
        long double exact = reference(&s, epsilon);
        brume_once *once = exact > 1e-14L ? brume_once_open(laws, count, (double)exact) : NULL;
        if (once) {
            brume_closed closed = brume_once_form(once);
            for (int round = 0; round < 3; round++) {
                double upper = closed.delta(closed.context, epsilon, BRUME_UPPER_SIDE);
                double lower = closed.delta(closed.context, epsilon, BRUME_LOWER_SIDE);
                if (!above_reference(upper, exact) || !below_reference(lower, exact))
                    fail_msg("trial %u, round %d: %.17Lg not in [%.17g, %.17g]", i, round, exact,
                             lower, upper);
                sharp += round == 2 && upper - lower <= 1e-6 * upper;
                assert_true(round == 2 || brume_once_refine(once, epsilon, round ? 4000 : 600));
            }
            checked++;
            brume_once_close(once);
        }
        if (once && s.pure == 0) { /* the faults */
            double edge[65], low, high;
            brume_cells cells;
            brume_cells_range(&s.first, 60, &low, &high);
            for (size_t j = 0; j <= 64; j++)
                edge[j] = low + (high - low) * (double)j / 64;
            assert_true(brume_cells_open(&s.first, BRUME_LOWER_SIDE, edge, 64, &cells));
            bool mean_is_above = above_reference((double)cell_sum(&s, &cells, 64, epsilon), exact);
            brume_cells_close(&cells);
            assert_true(brume_cells_open(&s.first, BRUME_UPPER_SIDE, edge, 64, &cells));
            bool chord_is_below = below_reference((double)cell_sum(&s, &cells, 65, epsilon), exact);
            brume_cells_close(&cells);
            exchanged += !mean_is_above && !chord_is_below;
            setting other = s;
            other.first.reversed = other.second.reversed = !s.first.reversed;
            long double wrong = reference(&other, epsilon);
            swapped += !above_reference((double)wrong, exact) ||
                       !below_reference((double)wrong, exact);
        }
        for (size_t j = 0; j < count; j++)
            brume_law_close(&laws[j]);
    }
    print_message("# %u checked, %u sharp, %u exchanged and %u swapped rejected\n", checked, sharp,
                  exchanged, swapped);
    assert_true(checked >= trials / 2 && sharp >= checked * 8 / 10);
    assert_true(exchanged >= checked / 3 && swapped >= checked / 3);
}

/* The whole way: the larger order's epsilon. */
static void epsilons_of_both_orders_enclose_quadratures(void **state)
{
    (void)state;
    draws_state = 6;
    double widest = 0;
    for (unsigned i = 0; i < 24; i++) {
        setting s = random_setting();
        brume_term terms[4];
        size_t count = terms_of(&s, terms);
        double delta = between(1e-12, 1e-3);
        brume_composition out;
        brume_error error;
        assert_ok(brume_compose_epsilon(terms, count, delta, NULL, &out, &error));
        long double upper = 0, lower = 0;
        for (int order = 0; order < 2; order++) {
            s.first.reversed = s.second.reversed = order == 1;
            upper = fmaxl(upper, reference(&s, out.value.upper));
            lower = fmaxl(lower, reference(&s, out.value.lower));
        }
        if (!above_reference(delta, upper) ||
            (out.value.lower > 0 && !below_reference(delta, lower)))
            fail_msg("trial %u: %g at [%.17g, %.17g] is [%.17Lg, %.17Lg] by %s", i, delta,
                     out.value.lower, out.value.upper, lower, upper, out.route);
        widest = fmax(widest, (out.value.upper - out.value.lower) / fmax(out.value.upper, 1e-300));
    }
    print_message("# widest %g\n", widest);
    assert_true(widest <= 1e-8);
}

static void few_draws_beside_others_have_eight_digits(void **state)
{
    (void)state;
    const struct {
        brume_term terms[3];
        size_t count;
        double delta, epsilon;
    } cases[] = {
        {{poisson_gaussian(0.0238, 3.16, 1), pure(0.001, 50)}, 2, 1e-5, 0.0372350388809},
        {{poisson_gaussian(0.091, 5.496, 1), laplace(1 / 4.696, 1)}, 2, 1e-5, 0.269998539},
        {{poisson_gaussian(0.01, 1, 1), laplace(1, 1)}, 2, 1e-6, 1.311863765},
        {{poisson_gaussian(0.00233, 0.308, 1), pure(0.0553, 1)}, 2, 5.95e-9, 13.3966701},
        {{poisson_gaussian(0.01, 1, 1), poisson_gaussian(0.02, 2, 1)}, 2, 1e-6, 0.3648530243},
        {{poisson_gaussian(0.01, 1, 1), laplace(1, 6)}, 2, 1e-6, 6.11192773},
        {{poisson_gaussian(0.01, 1, 1), kary(0.3, 5, 4), discrete_gaussian(2, 1, 2)}, 3, 1e-8, 0},
        {{poisson_gaussian(1e-6, 10, 1), laplace(1e-5, 1)}, 2, 1e-6, 7.9999990025e-6},
        {{poisson_gaussian(0.1, 0.05, 1), laplace(1, 1)}, 2, 1e-6, 282.523949},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_composition out;
        brume_error error;
        brume_compose_options audit = {.audit = i < 5};
        assert_ok(brume_compose_epsilon(cases[i].terms, cases[i].count, cases[i].delta, &audit,
                                        &out, &error));
        double width = out.value.upper - out.value.lower;
        if (!(width <= 1e-8 * out.value.upper) ||
            (cases[i].epsilon > 0 &&
             !(fabs(out.value.upper - cases[i].epsilon) <= 3e-8 * cases[i].epsilon)))
            fail_msg("case %zu: [%.17g, %.17g] by %s", i, out.value.lower, out.value.upper,
                     out.route);
    }
}

/* Whatever route answers: ends in order, and delta at them on their sides. */
static void extremes_are_answered(void **state)
{
    (void)state;
    const double rates[] = {1e-9, 1e-4, 0.5, 1 - 0x1p-53}, sigmas[] = {0.05, 1, 1000},
                 deltas[] = {1e-3, 1e-12, 1e-30};
    unsigned narrow = 0, all = 0;
    for (size_t i = 0; i < 4 * 3 * 3; i++) {
        brume_law laws[2];
        brume_error error;
        const brume_term terms[] = {poisson_gaussian(rates[i % 4], sigmas[i / 4 % 3], 1),
                                    laplace(0.3, 1)};
        double delta = deltas[i / 12];
        for (int order = 0; order < 2; order++) {
            for (size_t j = 0; j < 2; j++)
                assert_ok(brume_law_open(&terms[j].cost.law, 1, order == 1, &laws[j], &error));
            brume_answer answer = {.value = {0, INFINITY}};
            assert_true(
                brume_once_epsilon(laws, 2, delta, BRUME_UNIT, 1e-8, BRUME_ONCE_LONG, &answer));
            assert_true(answer.value.lower <= answer.value.upper);
            brume_answer at = {.value = {0, 1}};
            if (answer.value.upper < INFINITY) {
                assert_true(
                    brume_once_delta(laws, 2, answer.value.upper, 1e-8, BRUME_ONCE_LONG, &at));
                assert_true(at.value.lower <= delta);
            }
            at = (brume_answer){.value = {0, 1}};
            if (answer.value.lower > 0) {
                assert_true(
                    brume_once_delta(laws, 2, answer.value.lower, 1e-8, BRUME_ONCE_LONG, &at));
                assert_true(at.value.upper >= delta);
            }
            narrow += answer.value.upper - answer.value.lower <= 1e-8 * answer.value.upper;
            all++;
            for (size_t j = 0; j < 2; j++)
                brume_law_close(&laws[j]);
        }
    }
    print_message("# %u of %u narrow\n", narrow, all);
    assert_true(narrow >= all * 8 / 10);
}

static void other_laws_are_left_to_other_routes(void **state)
{
    (void)state;
    const struct {
        brume_term terms[3];
        size_t count;
    } cases[] = {{{poisson_gaussian(0.1, 1, 3)}, 1},
                 {{poisson_gaussian(0.1, 1, 2), laplace(1, 1)}, 2},
                 {{poisson_gaussian(0.1, 1, 1), gaussian(1, 1)}, 2},
                 {{poisson_gaussian(0.1, 1, 1), laplace(1, 13)}, 2},
                 {{pure(0.1, 1), laplace(1, 1)}, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_law laws[3];
        brume_error error;
        for (size_t j = 0; j < cases[i].count; j++)
            assert_ok(brume_law_open(&cases[i].terms[j].cost.law, (double)cases[i].terms[j].count,
                                     false, &laws[j], &error));
        assert_null(brume_once_open(laws, cases[i].count, 1e-6));
        for (size_t j = 0; j < cases[i].count; j++)
            brume_law_close(&laws[j]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_form_in_doubles_is_within_its_error),
        cmocka_unit_test(cells_enclose_quadratures_and_faults_do_not),
        cmocka_unit_test(epsilons_of_both_orders_enclose_quadratures),
        cmocka_unit_test(few_draws_beside_others_have_eight_digits),
        cmocka_unit_test(extremes_are_answered),
        cmocka_unit_test(other_laws_are_left_to_other_routes),
    };
    return cmocka_run_group_tests_name("accountant once", tests, NULL, NULL);
}
