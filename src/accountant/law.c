/* Opening a law from its public description, and sending each question to its family. */
#include "accountant/law.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static brume_status refuse(brume_error *error, const char *what, double value, const char *range)
{
    return brume_fail(error, BRUME_EARGUMENT, NULL, "loss law: '%s' is %.17g, must be %s", what,
                      value, range);
}

static brume_status open_sampled(brume_law *law, brume_error *error)
{
    if (!(law->rate > 0 && law->rate <= 1))
        return refuse(error, "rate", law->rate, "in (0, 1]");
    if (law->rate == 1) { /* every record is in the sample: the plain Gaussian */
        law->kind = BRUME_LAW_GAUSSIAN;
        law->a = 1 / law->a;
        return BRUME_OK;
    }
    law->kind = BRUME_LAW_SAMPLED;
    if (law->reversed) {
        law->bounded = true;
        law->top = -log1p(-law->rate);
        law->log_top_mass = -INFINITY;
    }
    /* nodes reach to some 45 standard deviations' inverse of the composed loss */
    double sigma = law->a, mass = 0, mean = 0, second = 0;
    for (double x = -8 * sigma; x < 9 * sigma + 1; x += sigma / 20) {
        double weight = exp(-x * x / (2 * sigma * sigma));
        double t = fmin((2 * x - 1) / (2 * sigma * sigma), 600);
        double l = log1p(law->rate * expm1(t));
        mass += weight;
        mean += weight * l;
        second += weight * l * l;
    }
    double variance = second / mass - (mean / mass) * (mean / mass);
    law->reach = fmin(45 / sqrt(fmax(variance, 1e-300) * law->count) + 5, 600);
    return BRUME_OK;
}

brume_status brume_law_open(const brume_loss *loss, double count, bool reversed, brume_law *out,
                            brume_error *error)
{
    brume_law law = {.a = loss->a, .rate = loss->rate, .shift = (double)loss->shift};
    law.count = count;
    law.reversed = reversed;
    law.c = -1;
    law.wave_index = -1;
    if (!(law.a >= 1e-300 && law.a <= 1e300))
        return refuse(error, "a", law.a, "a number from 1e-300 to 1e300");
    bool shifted = loss->kind == BRUME_LOSS_DISCRETE_LAPLACE ||
                   loss->kind == BRUME_LOSS_DISCRETE_GAUSSIAN || loss->kind == BRUME_LOSS_KARY;
    uint64_t least = loss->kind == BRUME_LOSS_KARY ? 2 : 1;
    if (shifted && (loss->shift < least || loss->shift > (UINT64_C(1) << 53)))
        return refuse(error, "shift", law.shift, "an integer from 1 (k-ary: 2) to 2^53");
    brume_status status = BRUME_OK;
    switch (loss->kind) {
    case BRUME_LOSS_GAUSSIAN:
        law.kind = BRUME_LAW_GAUSSIAN;
        break;
    case BRUME_LOSS_LAPLACE:
    case BRUME_LOSS_PURE:
        law.kind = loss->kind == BRUME_LOSS_PURE ? BRUME_LAW_PURE : BRUME_LAW_LAPLACE;
        law.bounded = true;
        law.top = law.a;
        law.log_top_mass = law.kind == BRUME_LAW_PURE ? -log1p(exp(-law.a)) : -M_LN2;
        law.unit = law.kind == BRUME_LAW_PURE ? 2 * law.a : 0;
        law.half = true;
        break;
    case BRUME_LOSS_KARY:
    case BRUME_LOSS_DISCRETE_LAPLACE:
        status = brume_atoms_open(loss, &law, error);
        break;
    case BRUME_LOSS_DISCRETE_GAUSSIAN:
        law.kind = BRUME_LAW_THETA;
        law.unit = law.shift / (law.a * law.a);
        law.half = fmod(law.shift, 2) != 0;
        break;
    case BRUME_LOSS_POISSON_GAUSSIAN:
        status = open_sampled(&law, error);
        break;
    case BRUME_LOSS_NONE:
    default:
        status = brume_fail(error, BRUME_EUNSUPPORTED, NULL, "this cost has no loss law");
    }
    if (status != BRUME_OK) {
        brume_law_close(&law);
        return status;
    }
    *out = law;
    return BRUME_OK;
}

brume_status brume_law_open_table(const double *loss, const double *log_mass, size_t atoms,
                                  double mass_error, double count, brume_law *out,
                                  brume_error *error)
{
    brume_law law = {.kind = BRUME_LAW_TABLE, .count = count, .c = -1, .wave_index = -1};
    if (!brume_points_allocate(&law.points, atoms))
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for a loss table");
    memcpy(law.points.loss, loss, atoms * sizeof *loss);
    memcpy(law.points.log_mass, log_mass, atoms * sizeof *log_mass);
    law.points.mass_error = mass_error;
    law.bounded = true;
    law.top = -INFINITY;
    for (size_t j = 0; j < atoms; j++) {
        law.points.place[j] = 0;
        if (loss[j] > law.top) {
            law.top = loss[j];
            law.log_top_mass = log_mass[j];
        }
    }
    *out = law;
    return BRUME_OK;
}

void brume_law_close(brume_law *law)
{
    free(law->points.memory);
    law->points.memory = NULL;
}

long double brume_law_cumulant(brume_law *law, double c, double *slope, double *error)
{
    switch (law->kind) {
    case BRUME_LAW_GAUSSIAN: {
        long double square = (long double)law->a * law->a, value = square * c * (c + 1.0L) / 2;
        if (slope)
            *slope = (double)(square * (c + 0.5L));
        if (error) /* the parameter twice, the long doubles' own */
            *error = 17 * BRUME_UNIT * (double)value;
        return value;
    }
    case BRUME_LAW_LAPLACE:
    case BRUME_LAW_PURE:
        return brume_laplace_cumulant(law, c, slope, error);
    case BRUME_LAW_COMB:
        return brume_comb_cumulant(law, c, slope, error);
    case BRUME_LAW_THETA:
        return brume_theta_cumulant(law, c, slope, error);
    case BRUME_LAW_SAMPLED:
        if (!brume_sampled_cover(law, c)) {
            if (slope)
                *slope = law->bounded ? law->top : INFINITY;
            if (error)
                *error = INFINITY;
            return law->bounded ? c * law->top : INFINITY;
        }
        /* fall through */
    case BRUME_LAW_TABLE:
    default: {
        long double value = brume_points_cumulant(law, c, slope, error);
        if (error && law->kind == BRUME_LAW_SAMPLED)
            *error += 1.1 * (brume_sampled_quadrature(law, c, 0) + 1e-18);
        return value;
    }
    }
}

bool brume_law_settle(brume_law *law, double c)
{
    if (law->c == c && !(law->kind == BRUME_LAW_SAMPLED))
        return true;
    law->c = c;
    law->tilt = c + 0.5;
    switch (law->kind) {
    case BRUME_LAW_GAUSSIAN:
        break;
    case BRUME_LAW_LAPLACE:
    case BRUME_LAW_PURE:
        brume_laplace_settle(law);
        break;
    case BRUME_LAW_COMB:
        brume_comb_settle(law);
        break;
    case BRUME_LAW_THETA:
        return brume_theta_settle(law);
    case BRUME_LAW_SAMPLED:
        law->tail = 2e-18;
        if (!brume_sampled_cover(law, c))
            law->tail = 1; /* no table reaches this line: nothing is claimed of psi */
        if (!law->points.memory)
            return false;
        brume_points_settle(law);
        brume_sampled_layers(law);
        break;
    case BRUME_LAW_TABLE:
        brume_points_settle(law);
        break;
    }
    return true;
}

brume_log_psi brume_law_node(brume_law *law, long index, double h)
{
    double y = (double)index * h;
    switch (law->kind) {
    case BRUME_LAW_GAUSSIAN:
        return brume_gaussian_node(law, y);
    case BRUME_LAW_LAPLACE:
        return brume_laplace_node(law, y);
    case BRUME_LAW_PURE:
        return brume_pure_node(law, y);
    case BRUME_LAW_COMB:
        return brume_comb_node(law, y);
    case BRUME_LAW_THETA:
        if (law->a >= 1)
            return brume_theta_node(law, y);
        /* fall through */
    case BRUME_LAW_TABLE:
    case BRUME_LAW_SAMPLED:
    default:
        return brume_points_node(law, index, h);
    }
}

double brume_law_envelope(brume_law *law, double low, double high)
{
    switch (law->kind) {
    case BRUME_LAW_GAUSSIAN:
        return -0.5 * (law->a * low) * (law->a * low) * (1 - 1e-12);
    case BRUME_LAW_LAPLACE:
    case BRUME_LAW_PURE:
        return brume_laplace_envelope(law, low, high);
    case BRUME_LAW_COMB:
        return brume_comb_envelope(law, low, high);
    case BRUME_LAW_THETA:
        return brume_theta_envelope(law, low, high);
    case BRUME_LAW_SAMPLED: {
        double bound = brume_sampled_envelope(law, low);
        if (bound < -0.7 || !(high < 1e12))
            return bound;
        return fmin(bound, brume_points_band(law, low, high));
    }
    case BRUME_LAW_TABLE:
    default:
        return brume_points_band(law, low, high);
    }
}
