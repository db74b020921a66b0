/* Opening a law from its public description, and what the families share. */
#include "accountant/law/family.h"

#include <stdlib.h>

#include "base/error.h"

static const double unit = BRUME_UNIT;

static brume_status refuse(brume_error *error, const char *what, double value, const char *range)
{
    return brume_fail(error, BRUME_EARGUMENT, NULL, "loss law: '%s' is %.17g, must be %s", what,
                      value, range);
}

/* What a description is made of, and the family of its law. */
static const struct kind {
    bool shifted, sampled;
    brume_loss_kind inner; /* on a sample of everybody it is this one */
    brume_law_opener *open;
} kinds[] = {
    [BRUME_LOSS_GAUSSIAN] = {.open = brume_gaussian_open},
    [BRUME_LOSS_LAPLACE] = {.open = brume_laplace_open},
    [BRUME_LOSS_PURE] = {.open = brume_pure_open},
    [BRUME_LOSS_KARY] = {.shifted = true, .open = brume_table_law_open},
    [BRUME_LOSS_DISCRETE_LAPLACE] = {.shifted = true, .open = brume_discrete_laplace_open},
    [BRUME_LOSS_DISCRETE_GAUSSIAN] = {.shifted = true, .open = brume_discrete_gaussian_open},
    [BRUME_LOSS_POISSON_GAUSSIAN] = {.sampled = true,
                                     .inner = BRUME_LOSS_GAUSSIAN,
                                     .open = brume_sampled_gaussian_open},
    [BRUME_LOSS_POISSON_PURE] = {.sampled = true,
                                 .inner = BRUME_LOSS_PURE,
                                 .open = brume_sampled_pure_open},
    [BRUME_LOSS_POISSON_LAPLACE] = {.sampled = true,
                                    .inner = BRUME_LOSS_LAPLACE,
                                    .open = brume_sampled_laplace_open},
    [BRUME_LOSS_POISSON_DISCRETE_LAPLACE] = {.sampled = true,
                                             .shifted = true,
                                             .inner = BRUME_LOSS_DISCRETE_LAPLACE,
                                             .open = brume_table_law_open},
    [BRUME_LOSS_POISSON_GAUSSIAN_GROUP] = {.sampled = true,
                                           .shifted = true,
                                           .open = brume_sampled_group_open},
};

/* The same law by the simplest description there is. */
static brume_loss simplified(brume_loss loss)
{
    if (loss.rate == 1 &&
        kinds[loss.kind].inner != BRUME_LOSS_NONE) { /* everybody is in the sample */
        if (loss.kind == BRUME_LOSS_POISSON_GAUSSIAN)
            loss.a = 1 / loss.a; /* mu of sigma */
        loss.kind = kinds[loss.kind].inner;
        loss.rate = 0;
    }
    /* two possible answers, and the discrete Laplace of shift 1, are the worst pure mechanism
     * itself */
    if ((loss.kind == BRUME_LOSS_KARY && loss.shift == 2) ||
        (loss.kind == BRUME_LOSS_DISCRETE_LAPLACE && loss.shift == 1))
        return (brume_loss){.kind = BRUME_LOSS_PURE, .a = loss.a};
    if (loss.kind == BRUME_LOSS_POISSON_DISCRETE_LAPLACE && loss.shift == 1)
        return (brume_loss){.kind = BRUME_LOSS_POISSON_PURE, .a = loss.a, .rate = loss.rate};
    return loss;
}

brume_status brume_law_open(const brume_loss *loss, double count, uint64_t come, brume_law *out,
                            brume_error *error)
{
    if ((size_t)loss->kind >= sizeof kinds / sizeof *kinds || !kinds[loss->kind].open)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "this cost has no loss law");
    const struct kind *kind = &kinds[loss->kind];
    if (!(loss->a >= 1e-300 && loss->a <= 1e300))
        return refuse(error, "a", loss->a, "a number from 1e-300 to 1e300");
    if (kind->sampled && !(loss->rate > 0 && loss->rate <= 1))
        return refuse(error, "rate", loss->rate, "in (0, 1]");
    uint64_t least = loss->kind == BRUME_LOSS_KARY ? 2 : 1;
    if (kind->shifted && (loss->shift < least || loss->shift > (UINT64_C(1) << 53)))
        return refuse(error, "shift", (double)loss->shift, "an integer from 1 (k-ary: 2) to 2^53");
    brume_law law = {.source = simplified(*loss), .multiple = 1, .count = count, .c = -1};
    law.a = law.source.a;
    law.rate = law.source.rate;
    law.shift = (double)law.source.shift;
    law.come = come;
    law.reversed = come > 0;
    law.members = 1;
    brume_status status = kinds[law.source.kind].open(&law, error);
    if (status != BRUME_OK) {
        brume_law_close(&law);
        return status;
    }
    *out = law;
    return BRUME_OK;
}

brume_status brume_law_allocate(brume_law *law, size_t size, brume_error *error)
{
    law->state = calloc(1, size);
    if (!law->state)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for a loss law");
    return BRUME_OK;
}

void brume_law_close(brume_law *law)
{
    if (law->state && law->family->close)
        law->family->close(law);
    free(law->state);
    law->state = NULL;
}

long double brume_law_cumulant(brume_law *law, double c, double *slope, double *error)
{
    return law->family->cumulant(law, c, slope, error);
}

bool brume_law_settle(brume_law *law, double c)
{
    if (law->c == c)
        return true;
    law->c = c;
    law->tilt = c + 0.5;
    return !law->family->settle || law->family->settle(law);
}

brume_log_psi brume_law_node(brume_law *law, long index, double h)
{
    return law->family->node(law, index, h);
}

double brume_law_envelope(brume_law *law, double low, double high)
{
    return law->family->envelope(law, low, high);
}

double brume_law_node_cost(const brume_law *law)
{
    return law->family->node_cost ? law->family->node_cost(law) : 200;
}

bool brume_top_atom(const brume_law *laws, size_t count, double *top, double *log_mass)
{
    double sum = 0, mass = 0;
    for (size_t i = 0; i < count; i++) {
        if (!laws[i].bounded)
            return false;
        sum += laws[i].count * laws[i].top;
        mass += laws[i].count * laws[i].log_top_mass;
    }
    *top = sum;
    *log_mass = mass;
    return true;
}

brume_log_psi brume_log_psi_of(double z_re, double z_im, double z_error)
{
    brume_log_psi out;
    double square = 2 * z_re + z_re * z_re + z_im * z_im; /* |psi|^2 - 1 */
    double modulus = brume_modulus(1 + z_re, z_im);
    if (modulus < 1e-150)
        modulus = 1e-150;
    out.re = square > -0.75 ? 0.5 * log1p(square) : log(modulus);
    out.im = atan2(z_im, 1 + z_re);
    /* |log(psi + d) - log psi| <= 1.1 |d/psi| for |d/psi| <= 0.15; the square costs 4 roundings of
     * its terms, halved, over |psi|^2; log1p and atan2 cost 2 ulp of their values. */
    double rounding = 2 * unit * (2 * fabs(z_re) + z_re * z_re + z_im * z_im) /
                          (modulus * modulus) +
                      4 * unit * (fabs(out.re) + fabs(out.im));
    if (square <= -0.75)
        rounding += 8 * unit / modulus;
    double ratio = z_error / modulus;
    out.error = ratio <= 0.15 ? 1.1 * ratio + 1.1 * rounding : 1;
    /* log(modulus + z_error) <= log modulus + ratio, of which re is a rounding */
    out.ceiling = fmin(0, out.error <= 0.15 ? out.re + ratio + 1.1 * rounding
                                            : log(modulus + z_error) + 8 * unit);
    return out;
}

/* Is there a zero of the sine in [low, high], or next to it? */
static bool passes_zero(double low, double high)
{
    return !(high < 1e12) || floor(low / M_PI - 1e-9) < floor(high / M_PI + 1e-9);
}

double brume_smallest_sine_square(double low, double high)
{
    if (passes_zero(low, high))
        return 0;
    double least = fmin(fabs(sin(low)), fabs(sin(high))) - 4e-15 * high;
    return least > 0 ? least * least * (1 - 1e-12) : 0;
}

/* Within 8 long units, relative: q expm1(l) by 3, and log1p or log there by 1.5 of that and 2. */
long double brume_sampled_log_ratio(long double loss, long double rate)
{
    if (loss > 11000) /* beyond a long double; log q > -745 */
        return loss + logl(rate);
    long double rest = rate * expm1l(loss);
    if (rest < -0.5L) /* 1 - q is exact here, and nothing cancels */
        return logl((1 - rate) + rate * expl(loss));
    return log1pl(rest);
}

/* e^{cx} - 1 + c (e^{-x} - 1) >= 0, of which nothing is left at x = 0 to first order. */
long double brume_moment_term(long double c, long double x, bool series)
{
    if (!series)
        return expm1l(c * x) + c * expm1l(-x);
    /* sum over n >= 2 of x^n (c^n + c (-1)^n)/n!; the first term is c (c+1) x^2/2, the others are
     * below half of it together */
    long double sum = 0, grown = c * x, turned = -x, factor = 1;
    for (int n = 2; n < 20; n++) {
        grown *= c * x;
        turned *= -x;
        factor /= n;
        sum += (grown + c * turned) * factor;
    }
    return sum;
}

/* --- what is a cost at all: a formula does not notice a negative rho, nor a shift of 0 --- */

static brume_status refuse_cost(const char *what, double value, const char *range,
                                brume_error *error)
{
    return brume_fail(error, BRUME_EARGUMENT, NULL, "a cost's '%s' is %.17g, must be %s", what,
                      value, range);
}

static brume_status check_law(const brume_loss *law, brume_error *error)
{
    bool sampled = law->kind == BRUME_LOSS_POISSON_GAUSSIAN ||
                   law->kind == BRUME_LOSS_POISSON_PURE ||
                   law->kind == BRUME_LOSS_POISSON_LAPLACE ||
                   law->kind == BRUME_LOSS_POISSON_DISCRETE_LAPLACE ||
                   law->kind == BRUME_LOSS_POISSON_GAUSSIAN_GROUP;
    bool shifted = law->kind == BRUME_LOSS_DISCRETE_LAPLACE ||
                   law->kind == BRUME_LOSS_DISCRETE_GAUSSIAN ||
                   law->kind == BRUME_LOSS_POISSON_DISCRETE_LAPLACE ||
                   law->kind == BRUME_LOSS_POISSON_GAUSSIAN_GROUP;
    if (!(law->a >= 0))
        return refuse_cost("law.a", law->a, "at least 0", error);
    if (sampled && !(law->rate >= 0 && law->rate <= 1))
        return refuse_cost("law.rate", law->rate, "in [0, 1]", error);
    if ((shifted && law->shift < 1) || (law->kind == BRUME_LOSS_KARY && law->shift < 2))
        return refuse_cost("law.shift", (double)law->shift, "at least 1 (k-ary: 2)", error);
    return BRUME_OK;
}

brume_status brume_cost_check(const brume_cost *cost, brume_error *error)
{
    if (cost->pure != BRUME_ABSENT && !(cost->epsilon >= 0))
        return refuse_cost("epsilon", cost->epsilon, "at least 0", error);
    if (cost->concentrated != BRUME_ABSENT && !(cost->rho >= 0))
        return refuse_cost("rho", cost->rho, "at least 0", error);
    if (!(cost->delta_failure >= 0 && cost->delta_failure <= 1))
        return refuse_cost("delta_failure", cost->delta_failure, "in [0, 1]", error);
    return cost->loss != BRUME_ABSENT ? check_law(&cost->law, error) : BRUME_OK;
}
