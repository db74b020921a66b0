/* Opening a law from its public description, and sending each question to its family. */
#include "accountant/law/law.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static brume_status refuse(brume_error *error, const char *what, double value, const char *range)
{
    return brume_fail(error, BRUME_EARGUMENT, NULL, "loss law: '%s' is %.17g, must be %s", what,
                      value, range);
}

static void open_sampled(brume_law *law)
{
    if (law->rate == 1) { /* every record is in the sample: the plain Gaussian */
        law->kind = BRUME_LAW_GAUSSIAN;
        law->a = 1 / law->a;
        return;
    }
    law->kind = BRUME_LAW_SAMPLED_GAUSSIAN;
    if (law->reversed) {
        law->bounded = true;
        law->top = -log1p(-law->rate);
        law->log_top_mass = -INFINITY;
    }
}

brume_status brume_law_open(const brume_loss *loss, double count, bool reversed, brume_law *out,
                            brume_error *error)
{
    if (loss->rate == 1 && loss->kind == BRUME_LOSS_POISSON_PURE) { /* everybody is in the sample */
        brume_loss inner = {.kind = BRUME_LOSS_PURE, .a = loss->a};
        return brume_law_open(&inner, count, reversed, out, error);
    }
    if (loss->rate == 1 && loss->kind == BRUME_LOSS_POISSON_LAPLACE) {
        brume_loss inner = {.kind = BRUME_LOSS_LAPLACE, .a = loss->a};
        return brume_law_open(&inner, count, reversed, out, error);
    }
    if (loss->rate == 1 && loss->kind == BRUME_LOSS_POISSON_DISCRETE_LAPLACE) {
        brume_loss inner = {
            .kind = BRUME_LOSS_DISCRETE_LAPLACE, .a = loss->a, .shift = loss->shift};
        return brume_law_open(&inner, count, reversed, out, error);
    }
    brume_law law = {.a = loss->a, .rate = loss->rate, .shift = (double)loss->shift};
    law.source = *loss;
    law.multiple = 1;
    law.count = count;
    law.reversed = reversed;
    law.c = -1;
    law.wave_index = -1;
    if (!(law.a >= 1e-300 && law.a <= 1e300))
        return refuse(error, "a", law.a, "a number from 1e-300 to 1e300");
    bool shifted = loss->kind == BRUME_LOSS_DISCRETE_LAPLACE ||
                   loss->kind == BRUME_LOSS_POISSON_DISCRETE_LAPLACE ||
                   loss->kind == BRUME_LOSS_DISCRETE_GAUSSIAN || loss->kind == BRUME_LOSS_KARY;
    bool sampled = loss->kind == BRUME_LOSS_POISSON_GAUSSIAN ||
                   loss->kind == BRUME_LOSS_POISSON_PURE ||
                   loss->kind == BRUME_LOSS_POISSON_LAPLACE ||
                   loss->kind == BRUME_LOSS_POISSON_DISCRETE_LAPLACE;
    if (sampled && !(loss->rate > 0 && loss->rate <= 1))
        return refuse(error, "rate", law.rate, "in (0, 1]");
    uint64_t least = loss->kind == BRUME_LOSS_KARY ? 2 : 1;
    if (shifted && (loss->shift < least || loss->shift > (UINT64_C(1) << 53)))
        return refuse(error, "shift", law.shift, "an integer from 1 (k-ary: 2) to 2^53");
    /* two answers, and the discrete Laplace of shift 1, are the worst pure mechanism itself */
    if ((loss->kind == BRUME_LOSS_KARY && loss->shift == 2) ||
        (loss->kind == BRUME_LOSS_DISCRETE_LAPLACE && loss->shift == 1))
        law.source = (brume_loss){.kind = BRUME_LOSS_PURE, .a = loss->a};
    brume_status status = BRUME_OK;
    switch (law.source.kind) {
    case BRUME_LOSS_GAUSSIAN:
        law.kind = BRUME_LAW_GAUSSIAN;
        break;
    case BRUME_LOSS_LAPLACE:
    case BRUME_LOSS_PURE:
        law.kind = law.source.kind == BRUME_LOSS_PURE ? BRUME_LAW_PURE : BRUME_LAW_LAPLACE;
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
        law.kind = BRUME_LAW_DISCRETE_GAUSSIAN;
        law.unit = law.shift / (law.a * law.a);
        law.half = fmod(law.shift, 2) != 0;
        break;
    case BRUME_LOSS_POISSON_GAUSSIAN:
        open_sampled(&law);
        break;
    case BRUME_LOSS_POISSON_LAPLACE:
        status = brume_sampled_laplace_law_open(&law, error);
        break;
    case BRUME_LOSS_POISSON_DISCRETE_LAPLACE:
        if (loss->shift > 1) {
            status = brume_atoms_open(loss, &law, error);
            break;
        } /* of shift 1 it is the worst pure law */
        /* fall through */
    case BRUME_LOSS_POISSON_PURE:
        status = brume_sampled_pure_law_open(&law, error);
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
    free(law->shifted.memory);
    free(law->panels);
    law->panels = NULL;
    law->points.memory = law->shifted.memory = NULL;
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
    case BRUME_LAW_SAMPLED_LAPLACE:
        return brume_sampled_laplace_law_cumulant(law, c, slope, error);
    case BRUME_LAW_SAMPLED_PURE:
        return brume_sampled_pure_law_cumulant(law, c, slope, error);
    case BRUME_LAW_DISCRETE_LAPLACE:
        return brume_discrete_laplace_law_cumulant(law, c, slope, error);
    case BRUME_LAW_DISCRETE_GAUSSIAN:
        return brume_discrete_gaussian_law_cumulant(law, c, slope, error);
    case BRUME_LAW_SAMPLED_GAUSSIAN:
        if (!brume_sampled_gaussian_law_cover(law, c)) {
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
        if (law->source.kind == BRUME_LOSS_KARY && c * law->a < 1 && law->a < 50)
            return brume_kary_cumulant(law, c, error);
        if (error && law->kind == BRUME_LAW_SAMPLED_GAUSSIAN)
            *error += 1.1 * brume_sampled_gaussian_law_real_error(law, c);
        return value;
    }
    }
}

double brume_law_cumulant_rough(brume_law *law, double c, double *slope)
{
    if (law->kind == BRUME_LAW_LAPLACE || law->kind == BRUME_LAW_PURE)
        return brume_laplace_cumulant_rough(law, c, slope);
    if (law->kind == BRUME_LAW_SAMPLED_LAPLACE)
        return brume_sampled_laplace_law_cumulant_rough(law, c, slope);
    if (law->kind == BRUME_LAW_DISCRETE_GAUSSIAN)
        return brume_discrete_gaussian_law_cumulant_rough(law, c, slope);
    return (double)brume_law_cumulant(law, c, slope, NULL);
}

bool brume_law_factor(const brume_law *law, double y, double *re, double *im, double *error)
{
    if (law->kind == BRUME_LAW_LAPLACE) {
        brume_laplace_rest(law, y, re, im, error);
        *re += 1;
    } else if (law->kind == BRUME_LAW_PURE) {
        double s, c, size = fabs(y * law->a);
        sincos(y * law->a, &s, &c);
        *re = c;
        *im = law->tanh_a * s;
        /* sine and cosine by 12 units of theta and 4 beside, tanh by 14 units */
        *error = BRUME_UNIT * (17 * size * fmax(fabs(s), law->tanh_a) + 24 * fabs(*im) + 6);
    } else {
        return false;
    }
    double square = *re * *re + *im * *im;
    *error = square > 1e-200 ? *error / sqrt(square) + 2 * BRUME_UNIT : 1;
    return true;
}

bool brume_law_settle(brume_law *law, double c)
{
    if (law->c == c)
        return true;
    law->c = c;
    law->tilt = c + 0.5;
    law->band_low = NAN;
    switch (law->kind) {
    case BRUME_LAW_GAUSSIAN:
        break;
    case BRUME_LAW_LAPLACE:
    case BRUME_LAW_PURE:
        brume_laplace_settle(law);
        break;
    case BRUME_LAW_SAMPLED_LAPLACE:
        return brume_sampled_laplace_law_settle(law);
    case BRUME_LAW_SAMPLED_PURE:
        brume_sampled_pure_law_settle(law);
        break;
    case BRUME_LAW_DISCRETE_LAPLACE:
        brume_discrete_laplace_law_settle(law);
        break;
    case BRUME_LAW_DISCRETE_GAUSSIAN:
        return brume_discrete_gaussian_law_settle(law);
    case BRUME_LAW_SAMPLED_GAUSSIAN:
        return brume_sampled_gaussian_law_settle(law);
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
    case BRUME_LAW_SAMPLED_LAPLACE:
        return brume_sampled_laplace_law_node(law, y);
    case BRUME_LAW_SAMPLED_PURE:
        return brume_sampled_pure_law_node(law, y);
    case BRUME_LAW_DISCRETE_LAPLACE:
        return brume_discrete_laplace_law_node(law, y);
    case BRUME_LAW_DISCRETE_GAUSSIAN:
        if (law->a >= 1)
            return brume_discrete_gaussian_law_node(law, y);
        /* fall through */
    case BRUME_LAW_TABLE:
    default:
        return brume_points_node(law, index, h);
    case BRUME_LAW_SAMPLED_GAUSSIAN:
        return brume_sampled_gaussian_law_node(law, index, h);
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
    case BRUME_LAW_SAMPLED_LAPLACE:
        return brume_sampled_laplace_law_envelope(law, low, high);
    case BRUME_LAW_SAMPLED_PURE:
        return brume_sampled_pure_law_envelope(law, low, high);
    case BRUME_LAW_DISCRETE_LAPLACE:
        return brume_discrete_laplace_law_envelope(law, low, high);
    case BRUME_LAW_DISCRETE_GAUSSIAN:
        return brume_discrete_gaussian_law_envelope(law, low, high);
    case BRUME_LAW_SAMPLED_GAUSSIAN:
        return brume_sampled_gaussian_law_envelope(law, low, high);
    case BRUME_LAW_TABLE:
    default:
        return brume_points_band(law, low, high);
    }
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
