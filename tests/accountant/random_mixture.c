/* See the header. The generator is a fixed splitmix64, so that a failure can be repeated. */
#include "accountant/random_mixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "accountant/reference.h"
#include "accountant/terms.h"
#include "number/ball.h"

typedef struct generator {
    uint64_t state;
} generator;

static uint64_t next(generator *g)
{
    uint64_t z = g->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double uniform(generator *g)
{
    return (double)(next(g) >> 11) * 0x1p-53;
}

static uint64_t below(generator *g, uint64_t n)
{
    return next(g) % n;
}

static void judge(mixture_report *report, const brume_composition *out, bool inside, double goal,
                  const char *what)
{
    brume_interval value = out->value;
    report->checked++;
    if (out->contradictory) {
        report->contradictory++;
        printf("# contradictory: %s [%.17g, %.17g]\n", what, value.lower, value.upper);
    }
    double width = value.upper > 0 ? (value.upper - value.lower) / value.upper : 0;
    if (!inside) {
        report->outside++;
        printf("# outside: %s [%.17g, %.17g]\n", what, value.lower, value.upper);
    }
    report->widest = fmax(report->widest, width);
    report->wide += width > goal;
}

/* epsilon at delta is right iff reference(upper) <= delta and (lower is 0 or reference(lower) >=
 * delta), because the profile falls. */
static bool epsilon_holds(const reference *law, double failure, double delta, brume_interval value)
{
    mpfr_t d, goal;
    mpfr_inits2(REFERENCE_BITS, d, goal, (mpfr_ptr)0);
    mpfr_set_d(goal, delta, MPFR_RNDN); /* (delta - failure)/(1 - failure) */
    mpfr_sub_d(goal, goal, failure, MPFR_RNDN);
    mpfr_set_d(d, failure, MPFR_RNDN);
    mpfr_ui_sub(d, 1, d, MPFR_RNDN);
    mpfr_div(goal, goal, d, MPFR_RNDN);
    reference_delta(d, law, value.upper);
    bool holds = mpfr_cmp(d, goal) <= 0;
    if (value.lower > 0) {
        reference_delta(d, law, value.lower);
        holds = holds && mpfr_cmp(d, goal) >= 0;
    }
    mpfr_clears(d, goal, (mpfr_ptr)0);
    return holds;
}

static bool delta_holds(const reference *law, double failure, double epsilon, brume_interval value)
{
    mpfr_t d, scale;
    mpfr_inits2(REFERENCE_BITS, d, scale, (mpfr_ptr)0);
    reference_delta(d, law, epsilon);
    mpfr_set_d(scale, failure, MPFR_RNDN);
    mpfr_ui_sub(scale, 1, scale, MPFR_RNDN);
    mpfr_mul(d, d, scale, MPFR_RNDN);
    mpfr_add_d(d, d, failure, MPFR_RNDN);
    bool holds = mpfr_cmp_d(d, value.upper) <= 0 && mpfr_cmp_d(d, value.lower) >= 0;
    mpfr_clears(d, scale, (mpfr_ptr)0);
    return holds;
}

mixture_report check_lattice_mixtures(uint64_t seed, unsigned count)
{
    mixture_report report = {0};
    generator g = {seed};
    for (unsigned i = 0; i < count; i++) {
        double step = exp2(-(double)below(&g, 9)) * (0.5 + uniform(&g));
        if (below(&g, 2)) /* an exact lattice: epsilons m * step are exact doubles */
            step = (double)(1 + below(&g, 64)) * 0x1p-8;
        else
            step = ldexp(floor(ldexp(step, 30)), -30);
        reference law = reference_zero(step);
        brume_term terms[4];
        size_t parts = 1 + below(&g, 4), used = 0;
        double failure = 0;
        for (size_t j = 0; j < parts; j++) {
            long m = 1 + (long)below(&g, below(&g, 2) ? 1 : 4);
            uint64_t draws = 1 + below(&g, 24);
            double a = step * (double)m;
            if (a > 8)
                continue;
            switch (below(&g, 4)) {
            case 0:
                terms[used++] = pure(a, draws);
                reference_pure(&law, m, draws);
                break;
            case 1: {
                uint64_t k = 2 + below(&g, 9);
                terms[used++] = kary(a, k, draws);
                reference_kary(&law, m, k, draws);
                break;
            }
            case 2: {
                long shift = 1 + (long)below(&g, 5);
                terms[used++] = discrete_laplace(a, (uint64_t)shift, draws);
                reference_discrete_laplace(&law, m, shift, draws);
                break;
            }
            default:
                if (failure > 0 || below(&g, 3)) {
                    terms[used++] = pure(a, draws);
                    reference_pure(&law, m, draws);
                } else { /* one failure, so that the reference's arithmetic is plain */
                    failure = exp2(-10 - (double)below(&g, 60));
                    terms[used++] = approximate(a, failure, 1);
                    reference_pure(&law, m, 1);
                }
            }
        }
        if (used == 0) {
            terms[used++] = pure(step, 1);
            reference_pure(&law, 1, 1);
        }
        char what[80];
        snprintf(what, sizeof what, "lattice seed %llu number %u", (unsigned long long)seed, i);
        brume_composition out;
        brume_error error;
        double top = step * (double)(law.first + (long)law.count - 1), epsilon = top * uniform(&g);
        if (below(&g, 8) == 0) /* sit on an atom */
            epsilon = step * (double)(law.first + (long)below(&g, law.count));
        if (!(epsilon > 0))
            epsilon = 0;
        if (brume_compose_delta(terms, used, epsilon, NULL, &out, &error) != BRUME_OK)
            report.outside++;
        else
            judge(&report, &out, delta_holds(&law, failure, epsilon, out.value), 1e-6, what);
        double delta = exp10(-3 - 27 * uniform(&g));
        if (delta > failure * 1.001) {
            if (brume_compose_epsilon(terms, used, delta, NULL, &out, &error) != BRUME_OK)
                report.outside++;
            else
                judge(&report, &out, epsilon_holds(&law, failure, delta, out.value), 1e-9, what);
        }
        reference_clear(&law);
    }
    return report;
}

/* --- continuous: the trapezoid rule at 256 bits on lines of our own, with a Gaussian in the mix
 * --- */

typedef struct continuous {
    double laplace[4], pure[4], square; /* square: mu^2 of the Gaussian */
    uint64_t laplace_draws[4], pure_draws[4];
    size_t laplace_count, pure_count;
} continuous;

enum { BITS = 224 };

/* prod phi at s; textbook forms. */
static void transform(acb_t out, const continuous *m, const acb_t s)
{
    acb_t x, y, z;
    arb_t half;
    acb_init(x);
    acb_init(y);
    acb_init(z);
    arb_init(half);
    acb_add_ui(x, s, 1, BITS); /* mu^2 s (s+1)/2 */
    acb_mul(x, x, s, BITS);
    arb_set_d(half, m->square);
    acb_mul_arb(x, x, half, BITS);
    acb_mul_2exp_si(x, x, -1);
    acb_exp(out, x, BITS);
    for (size_t i = 0; i < m->laplace_count; i++) {
        /* [(s+1) e^{se} + s e^{-(s+1)e}]/(2s+1) */
        arb_set_d(half, m->laplace[i]);
        acb_mul_arb(x, s, half, BITS);
        acb_exp(y, x, BITS);
        acb_add_ui(z, s, 1, BITS);
        acb_mul(y, y, z, BITS);
        acb_mul_arb(z, z, half, BITS);
        acb_neg(z, z);
        acb_exp(z, z, BITS);
        acb_addmul(y, z, s, BITS);
        acb_mul_2exp_si(z, s, 1);
        acb_add_ui(z, z, 1, BITS);
        acb_div(y, y, z, BITS);
        acb_pow_ui(y, y, m->laplace_draws[i], BITS);
        acb_mul(out, out, y, BITS);
    }
    for (size_t i = 0; i < m->pure_count; i++) {
        /* [e^{(s+1)e} + e^{-se}]/(1 + e^e) */
        arb_set_d(half, m->pure[i]);
        acb_mul_arb(x, s, half, BITS);
        acb_neg(y, x);
        acb_exp(y, y, BITS);
        acb_add_arb(x, x, half, BITS);
        acb_exp(x, x, BITS);
        acb_add(y, y, x, BITS);
        arb_exp(half, half, BITS);
        arb_add_ui(half, half, 1, BITS);
        acb_div_arb(y, y, half, BITS);
        acb_pow_ui(y, y, m->pure_draws[i], BITS);
        acb_mul(out, out, y, BITS);
    }
    acb_clear(x);
    acb_clear(y);
    acb_clear(z);
    arb_clear(half);
}

/* (h/2 pi) sum over all n of e^{-s eps} phi(s)/(s(s+1)), until 1e-60 of the first term. */
static double trapezoid(const continuous *m, double epsilon, double c, double h)
{
    acb_t s, f, t;
    arb_t sum, e;
    acb_init(s);
    acb_init(f);
    acb_init(t);
    arb_init(sum);
    arb_init(e);
    arb_set_d(e, epsilon);
    double first = 0;
    for (int n = 0; n < 30000; n++) {
        acb_set_d_d(s, c, h * n);
        transform(f, m, s);
        acb_mul_arb(t, s, e, BITS);
        acb_neg(t, t);
        acb_exp(t, t, BITS);
        acb_mul(f, f, t, BITS);
        acb_add_ui(t, s, 1, BITS);
        acb_mul(t, t, s, BITS);
        acb_div(f, f, t, BITS);
        if (n == 0)
            acb_mul_2exp_si(f, f, -1);
        arb_add(sum, sum, acb_realref(f), BITS);
        acb_abs(e, f, BITS);
        double size = brume_ball_upper(e);
        arb_set_d(e, epsilon);
        if (n == 0)
            first = size;
        /* the Gaussian: |phi(c+iy)| <= phi(c) e^{-mu^2 y^2/2}; past this nothing is left */
        if (size < 1e-60 * first && m->square * h * n * (h * n) > 300)
            break;
    }
    arb_const_pi(e, BITS);
    arb_div(sum, sum, e, BITS);
    double value = arf_get_d(arb_midref(sum), ARF_RND_NEAR) * h;
    acb_clear(s);
    acb_clear(f);
    acb_clear(t);
    arb_clear(sum);
    arb_clear(e);
    return value;
}

mixture_report check_continuous_mixtures(uint64_t seed, unsigned count)
{
    mixture_report report = {0};
    generator g = {seed};
    for (unsigned i = 0; i < count; i++) {
        continuous m = {.laplace_count = 1 + below(&g, 3), .pure_count = below(&g, 3)};
        brume_term terms[8];
        size_t used = 0;
        double mu = exp2(-1.5 + 3 * uniform(&g)), mean = 0.5 * mu * mu, spread = mu * mu;
        m.square = mu * mu; /* rounded: within the parameter's units */
        terms[used++] = gaussian(1 / mu, 1);
        for (size_t j = 0; j < m.laplace_count; j++) {
            m.laplace[j] = exp2(-6 + 6 * uniform(&g));
            m.laplace_draws[j] = 1 + below(&g, 9);
            double e = m.laplace[j], n = (double)m.laplace_draws[j];
            terms[used++] = laplace(e, m.laplace_draws[j]);
            mean += n * (e + expm1(-e));
            spread += n * e * e;
        }
        for (size_t j = 0; j < m.pure_count; j++) {
            m.pure[j] = exp2(-6 + 5 * uniform(&g));
            m.pure_draws[j] = 1 + below(&g, 9);
            double e = m.pure[j], n = (double)m.pure_draws[j];
            terms[used++] = pure(e, m.pure_draws[j]);
            mean += n * e * tanh(e / 2);
            spread += n * e * e;
        }
        double deviation = sqrt(spread), z = 5 * uniform(&g);
        double epsilon = fmax(0, mean + z * deviation);
        /* our own line: c = z/deviation-ish, aliases e^{-2 pi c/h} below 1e-60 */
        double c = z / deviation + 0.3, h = fmin(2 * M_PI * c / 150, 2 * M_PI / (40 * deviation));
        h = (double)(float)h; /* so that n h is exact */
        double truth = trapezoid(&m, epsilon, c, h);
        if (truth < 1e-45) /* this reference's own aliases, of 1e-60, would show */
            continue;
        brume_composition out;
        brume_error error;
        char what[80];
        snprintf(what, sizeof what, "continuous seed %llu number %u truth %.17g",
                 (unsigned long long)seed, i, truth);
        if (brume_compose_delta(terms, used, epsilon, NULL, &out, &error) != BRUME_OK) {
            report.outside++;
            continue;
        }
        /* the truth is rounded to a double: allow that one rounding */
        bool inside = truth * (1 + 4e-16) >= out.value.lower &&
                      truth * (1 - 4e-16) <= out.value.upper;
        judge(&report, &out, inside, 1e-9, what);
    }
    return report;
}
