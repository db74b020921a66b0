/* The band-limited functions around f. See the header and proofs/accountant/contour.md, section
 * contour.2.
 *
 * With z = sw, z1 = (s+1)w, Q(z) = e^{-az}/(1 - e^{-z}):
 *   M^ = w {(1 + iz/2 pi) [Q(z) - Q(z1)] - (iw/2 pi) Q(z1)},
 *   Q(z) - Q(z1) = e^{-az} [(1 - e^{-aw}) + e^{-z} (e^{-aw} - e^{-w})]/((1-e^{-z})(1-e^{-z1})),
 * m^ the same with a = 0 and + (i/2 pi) `slope` in the braces. Promise: `error` bounds the error of
 * both for the exact a and slope. */
#include "accountant/contour/band.h"

#include <math.h>

#include "accountant/law/law.h"
#include "number/elementary.h"
#include "number/paths.h"

static const double unit = BRUME_UNIT;

/* log(sinh x / x) and x coth x - 1 for 0 <= x <= 1/2, to a few units of a long double. */
static void hyperbolic_rests(long double x, long double *log_rest, long double *coth_rest)
{
    long double q = x * x, term = 1, sum = 0, moment = 0;
    for (int k = 1; k < 12; k++) { /* x^{2k}/(2k+1)! */
        term *= q / (long double)(2 * k * (2 * k + 1));
        sum += term;
        moment += 2 * k * term;
    }
    *log_rest = log1pl(sum);
    *coth_rest = moment / (1 + sum);
}

void brume_band_open(double width, double c, brume_band *out)
{
    double w = (double)(float)fmin(width, 0.999999 / (c + 1));
    brume_band band = {.width = w, .c = c, .end = 2 * M_PI / w};
    long double low = (long double)c * w, high = ((long double)c + 1) * w;
    long double log_low, log_high, coth_low, coth_high;
    hyperbolic_rests(low / 2, &log_low, &coth_low);
    hyperbolic_rests(high / 2, &log_high, &coth_high);
    band.offset = (double)(0.5L + (log_low - log_high) / w);
    band.slope = (double)(0.5L * w + coth_high - coth_low);
    /* differences of numbers up to high^2/12 known to 8 units of 2^-64; rounded to doubles */
    band.doubt = 1 + 0x1p-8 * (c + 1) * (c + 1) * w;
    band.decay = (double)expl(-low);
    band.decay_more = (double)expl(-high);
    band.rest = (double)-expm1l(-low);
    band.rest_more = (double)-expm1l(-high);
    band.near = -expm1(-band.offset * w);
    band.whole = exp(-band.offset * w);
    band.far = -band.whole * expm1(-(1 - band.offset) * w);
    band.offset_decay = exp(-band.offset * (double)low);
    band.step = -expm1(-w);
    *out = band;
}

/* From y and the sines: sin(theta/2), sin(theta), and those of -a theta. */
BRUME_BODY void band_body(const brume_band *band, const double *restrict y,
                          const double *restrict halves, const double *restrict sines,
                          const double *restrict offset_sines,
                          const double *restrict offset_cosines, size_t count,
                          brume_band_block *restrict out)
{
    double w = band->width, share = w * (0.5 * M_1_PI);
    for (size_t j = 0; j < count; j++) {
        double theta = y[j] * w, half = halves[j], sine = sines[j];
        double versine = 2 * half * half; /* 1 - cos */
        double turn_re = offset_cosines[j] * band->offset_decay;
        double turn_im = offset_sines[j] * band->offset_decay;
        double one_re = band->rest + band->decay * versine, one_im = band->decay * sine;
        double two_re = band->rest_more + band->decay_more * versine,
               two_im = band->decay_more * sine;
        double one = one_re * one_re + one_im * one_im, two = two_re * two_re + two_im * two_im;
        /* 1/((1-e^{-z})(1-e^{-z1})), and 1/(1-e^{-z1}) */
        double below_re = one_re * two_re - one_im * two_im;
        double below_im = one_re * two_im + one_im * two_re;
        double both = 1 / (one * two), alone = one * both;
        double inverse_re = below_re * both, inverse_im = -below_im * both;
        double more_re = two_re * alone, more_im = -two_im * alone;
        double wave_re = band->decay - band->decay * versine, wave_im = -one_im; /* e^{-z} */
        /* 1 + iz/2 pi: z = cw + i theta */
        double ramp_re = 1 - theta * (0.5 * M_1_PI), ramp_im = band->c * w * (0.5 * M_1_PI);

        double top_re = band->near + band->far * wave_re, top_im = band->far * wave_im;
        double q_re = top_re * inverse_re - top_im * inverse_im;
        double q_im = top_re * inverse_im + top_im * inverse_re;
        double sum_re = ramp_re * q_re - ramp_im * q_im + share * band->whole * more_im;
        double sum_im = ramp_re * q_im + ramp_im * q_re - share * band->whole * more_re;
        out->upper_re[j] = w * (sum_re * turn_re - sum_im * turn_im);
        out->upper_im[j] = w * (sum_re * turn_im + sum_im * turn_re);

        q_re = band->step * (wave_re * inverse_re - wave_im * inverse_im);
        q_im = band->step * (wave_re * inverse_im + wave_im * inverse_re);
        out->lower_re[j] = w * (ramp_re * q_re - ramp_im * q_im + share * more_im);
        out->lower_im[j] =
            w * (ramp_re * q_im + ramp_im * q_re - share * more_re + band->slope * (0.5 * M_1_PI));

        /* In units. theta: one of itself; waves: 4 and theta's; 1 - e^{-z}: 12 of itself and 2
         * theta; near + far e^{-z}: 16 + theta of near + far <= step; ramp: 4 and its factors'
         * own; a by `doubt`: |z| <= 8 of the brackets and w of Q(z1). Rounded up. */
        double one_size = sqrt(two * both), two_size = sqrt(alone);
        double ramp = fabs(ramp_re) + ramp_im;
        double q_error =
            band->step * one_size * two_size *
            ((140 + 6 * theta + 3 * theta * (one_size + two_size) + 10 * band->doubt) * ramp + 10);
        double more_error = share * two_size *
                            (100 + 6 * theta + 3 * theta * two_size + band->doubt * (8 + 7 * ramp));
        double slope_error = (8 * band->slope + 2 * w * band->doubt) * (0.5 * M_1_PI);
        out->error[j] = 1.1 * unit * w * (q_error + more_error + slope_error);
    }
}
BRUME_PATHS(static, band,
            (const brume_band *band, const double *y, const double *halves, const double *sines,
             const double *offset_sines, const double *offset_cosines, size_t count,
             brume_band_block *out),
            (band, y, halves, sines, offset_sines, offset_cosines, count, out))

void brume_band_at_block(const brume_band *of, const double *y, size_t count, brume_band_block *out)
{
    enum { BLOCK = BRUME_PSI_BLOCK };
    double angle[BLOCK] = {0}, half[BLOCK], sine[BLOCK], offset_sine[BLOCK], offset_cosine[BLOCK],
           unused[BLOCK];
    for (size_t j = 0; j < count; j++)
        angle[j] = 0.5 * (y[j] * of->width);
    brume_vector_sincos(angle, half, unused, count);
    for (size_t j = 0; j < count; j++)
        angle[j] = y[j] * of->width;
    brume_vector_sincos(angle, sine, unused, count);
    for (size_t j = 0; j < count; j++)
        angle[j] = -of->offset * (y[j] * of->width);
    brume_vector_sincos(angle, offset_sine, offset_cosine, count);
    band(of, y, half, sine, offset_sine, offset_cosine, count, out);
}

brume_band_pair brume_band_at(const brume_band *of, double y)
{
    brume_band_block out;
    brume_band_at_block(of, &y, 1, &out);
    return (brume_band_pair){out.upper_re[0], out.upper_im[0], out.lower_re[0], out.lower_im[0],
                             out.error[0]};
}

double brume_band_weight(const brume_band *band, double low, double high)
{
    double plain = 1 / low - (high < INFINITY ? 1 / high : 0); /* |s(s+1)| >= y^2 */
    if (band->width > 0) /* |M^ - f^| <= the integral of M - f <= 1.05 w^2/24; f - m: w^2/12 */
        plain += (fmin(high, band->end) - low) * band->width * band->width / 12;
    return plain * (M_1_PI * 1.0001);
}
