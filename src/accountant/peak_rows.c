/* One place of all peaks: nodes, then a power series. See the header.
 *
 * psi^k/(s(s+1)) at y_r + mP, all signs left out, with C, S and D as in peaks.c. */
#include "accountant/peak_rows.h"

#include <math.h>

static const double unit = BRUME_UNIT;
enum { TERMS = BRUME_PEAK_TERMS, MOST_FIRST = 600, FEW_FIRST = 150 };

/* C_r, S_r and log C_r */
typedef struct turn {
    double c_re, c_im, s_re, s_im, c_size, sine;
    brume_log_psi log;
} turn;

static turn turn_at(const brume_law *law, double theta)
{
    double s, co, t = law->tanh_a, half = sin(0.5 * theta);
    sincos(theta, &s, &co);
    turn out = {.c_re = co, .c_im = t * s, .s_re = t * co, .s_im = s, .sine = fabs(s)};
    out.c_size = hypot(out.c_re, out.c_im);
    double z_re = -2 * half * half, z_im = t * s;
    /* theta 4 units, t 14 units, sine 4 units, products */
    out.log = brume_log_psi_of(z_re, z_im, 32 * unit * (fabs(z_re) + fabs(z_im)));
    return out;
}

brume_peak_place brume_peak_place_at(double c, double y, double re, double im, double error)
{
    double below_re = c * (c + 1) - y * y, below_im = (2 * c + 1) * y;
    double square = (c * c + y * y) * ((c + 1) * (c + 1) + y * y), s, co, size = exp(re);
    sincos(im, &s, &co);
    brume_peak_place out = {.y = y};
    out.re = size * (co * below_re + s * below_im) / square;
    out.im = size * (s * below_re - co * below_im) / square;
    /* s(s+1): y's 12 units twice, 20 of rounding; exp and sincos: 4 units of their arguments */
    out.error = size / sqrt(square) * (1.1 * error + unit * (64 + 6 * (fabs(re) + fabs(im))));
    return out;
}

double brume_peak_bound(const brume_peak_frame *frame, double sine, double y)
{
    const brume_law *law = frame->law;
    double lost = law->sech2 * sine * sine * (1 - 1e-12);
    return exp(frame->draws * brume_laplace_bound(law, lost, y * (1 - 1e-13)));
}

/* The first peak from which on nothing matters at the place r: what lies beyond is below `limit`,
 * all m >= 1 together. Infinite if the atoms' own part is above it. */
static double last_peak(const brume_peak_frame *frame, const turn *at, double y, double limit)
{
    const brume_law *law = frame->law;
    double p = frame->period, most = exp(log(limit * p * p / 5) / frame->draws);
    double left = law->denominator * most - at->c_size;
    if (!(left > 0))
        return INFINITY;
    double sigma = 0.505 * fmin(1, hypot(at->s_re, at->s_im)) / left;
    double far = sqrt(fmax(0, sigma * sigma - law->tilt * law->tilt));
    return fmax(1, ceil((far - y) / p));
}

/* The moduli that decide about a series: k, |kappa| + |q|/2, |kappa|, |tau q/2|. */
typedef struct spread {
    double k, wide, kappa, p;
} spread;

static spread spread_of(const brume_peak_frame *frame, double y, double tau)
{
    const brume_law *law = frame->law;
    double q = 1 / (frame->period * frame->first), kappa = hypot(y, law->tilt) * q;
    return (spread){frame->draws, kappa + 0.5 * q, kappa, 0.5 * tau * q * (1 + 1e-12) + q * 1e-12};
}

/* Cauchy: the coefficients are at most q^2 M(rho) rho^{-n}; sum over m of x^2 is <= first + 1. A
 * bound of all after the first `terms`, over q^2. Every rho > 1 with wide rho < 1 serves. */
static double series_rest(const brume_peak_frame *frame, const spread *of, int terms)
{
    double rho = 1 / (1.25 * of->wide + of->k * of->p / terms);
    if (!(rho > 1.2 && of->wide * rho < 0.9))
        return INFINITY;
    double most = of->k * log1p(of->p * rho / (1 - of->kappa * rho)) - 2 * log1p(-of->wide * rho);
    return 1.01 * (frame->first + 1) * exp(most - terms * log(rho)) / (1 - 1 / rho);
}

/* The power series in x = first/m of psi^k/(s(s+1)) at y_r + mP, all signs left out:
 *   (qx)^2 (1 + alpha x)^k (1 + kappa x)^{-k} / ((1 + (kappa-q/2)x)(1 + (kappa+q/2)x)),
 * q = 1/(i P first), kappa = sigma_r q, alpha = kappa + tau q/2, tau = S/C; times C^k/D^k. As many
 * terms as leave less than `limit`. */
static bool lay_series(const brume_peak_frame *frame, brume_peak_row *row, const turn *at,
                       double limit, double log_re, double log_im, double log_error)
{
    const brume_law *law = frame->law;
    double k = frame->draws, y = row->y, q = 1 / (frame->period * frame->first);
    /* times q = -iq': (x + iy)(-i) = y - ix */
    double kappa_re = y * q, kappa_im = -law->tilt * q, square = at->c_size * at->c_size;
    double tau_re = (at->s_re * at->c_re + at->s_im * at->c_im) / square;
    double tau_im = (at->s_im * at->c_re - at->s_re * at->c_im) / square;
    double p_re = 0.5 * tau_im * q, p_im = -0.5 * tau_re * q; /* tau q/2 */
    spread of = spread_of(frame, y, hypot(tau_re, tau_im));
    double s, co, size = exp(log_re) * q * q, kappa = of.kappa, p = of.p, wide = of.wide;
    int terms = 4;
    while (!((row->rest = size * series_rest(frame, &of, terms)) < limit) && terms < TERMS)
        terms += 4;
    double alpha_re = kappa_re + p_re, alpha_im = kappa_im + p_im;
    double sum_re = alpha_re + kappa_re, sum_im = alpha_im + kappa_im;
    double both_re = alpha_re * kappa_re - alpha_im * kappa_im;
    double both_im = alpha_re * kappa_im + alpha_im * kappa_re;
    double re[TERMS] = {1}, im[TERMS] = {0}, major[TERMS] = {1};
    for (int n = 0; n + 1 < terms; n++) {
        /* (n+1) w' = [k p - n (alpha + kappa)] w - (n-1) alpha kappa w_before */
        double f_re = k * p_re - n * sum_re, f_im = k * p_im - n * sum_im, over = 1.0 / (n + 1);
        double w_re = f_re * re[n] - f_im * im[n], w_im = f_re * im[n] + f_im * re[n];
        double w = (k * p + n * (2 * kappa + p)) * major[n];
        if (n > 0) {
            w_re -= (n - 1) * (both_re * re[n - 1] - both_im * im[n - 1]);
            w_im -= (n - 1) * (both_re * im[n - 1] + both_im * re[n - 1]);
            w += (n - 1) * (kappa + p) * kappa * major[n - 1];
        }
        re[n + 1] = w_re * over;
        im[n + 1] = w_im * over;
        major[n + 1] = w * over;
    }
    for (int sign = -1; sign <= 1; sign += 2) { /* divide by 1 + (kappa +- q/2) x, q = -iq' */
        double d_re = kappa_re, d_im = kappa_im - sign * 0.5 * q;
        for (int n = 1; n < terms; n++) {
            double old = re[n - 1];
            re[n] -= d_re * old - d_im * im[n - 1];
            im[n] -= d_re * im[n - 1] + d_im * old;
            major[n] += wide * major[n - 1];
        }
    }
    /* times (qx)^2 = -q'^2 and C^k/D^k */
    double tau_error = 128 / at->c_size + 64;
    sincos(log_im, &s, &co);
    double rounding = 1.1 * log_error + unit * (64 + 6 * (fabs(log_re) + fabs(log_im)));
    for (int n = 0; n < terms; n++) {
        row->tail[2 * n] = -size * (re[n] * co - im[n] * s);
        row->tail[2 * n + 1] = -size * (re[n] * s + im[n] * co);
        /* each product of the recurrence has at most n factors, each within tau_error units of the
         * majorant's: the errors add up to (n + 2) of them, relative to the majorant */
        row->slack[n] = 1.01 * size * major[n] * (rounding + unit * tau_error * (n + 2));
    }
    row->terms = terms;
    return isfinite(row->rest);
}

/* The nodes of one row. */
static bool lay_nodes(const brume_peak_frame *frame, brume_peak_row *row, const turn *at,
                      double log_re, double log_im, double log_error)
{
    const brume_law *law = frame->law;
    double k = frame->draws, t = law->tanh_a, square = at->c_size * at->c_size;
    double tau_re = (at->s_re * at->c_re + at->s_im * at->c_im) / square;
    double tau_im = (at->s_im * at->c_re - at->s_re * at->c_im) / square;
    for (size_t m = 1; m <= row->length; m++) {
        double y = row->y + (double)m * frame->period, rho = law->tilt * law->tilt + y * y;
        double w_re = 0.5 * (tau_re * law->tilt + tau_im * y) / rho;
        double w_im = 0.5 * (tau_im * law->tilt - tau_re * y) / rho;
        /* C and S err by 32 units of 1 and of t + |sin|; y by 12 units of itself */
        double error = unit * (hypot(w_re, w_im) * (64 / at->c_size + 48) +
                               32 * (t + at->sine) / (at->c_size * sqrt(rho)));
        brume_log_psi more = brume_log_psi_of(w_re, w_im, error);
        double total = log_error + k * more.error;
        if (!(total <= 0.1))
            return false;
        row->node[m - 1] = brume_peak_place_at(
            law->c, y, log_re + k * more.re, log_im + k * more.im,
            total +
                4 * unit * (fabs(log_re) + fabs(log_im) + k * fabs(more.re) + k * fabs(more.im)));
    }
    return true;
}

bool brume_peak_first(brume_peak_frame *frame, double far, double limit)
{
    const brume_law *law = frame->law;
    double p = frame->period, step = M_PI / (2 * frame->half + 1);
    double most = frame->draws < 60 ? FEW_FIRST : MOST_FIRST; /* few draws have few patterns */
    turn edge = turn_at(law, step * far);
    if (!(edge.c_size >= 0.25)) /* |C| falls and |tau| = |S/C| is at most 1/|C| */
        return false;
    frame->first = fmax(8, ceil(3 * (law->tilt + far * frame->h) / p));
    for (int i = 0; i < 3; i++) { /* at the places 0, R/2 and R */
        double r = i == 0 ? 0 : i == 1 ? floor(0.5 * far) : far;
        turn at = turn_at(law, step * r);
        double tau = hypot(at.s_re, at.s_im) / at.c_size;
        double size = frame->draws * log(at.c_size / law->denominator);
        while (frame->first <= most) {
            spread of = spread_of(frame, r * frame->h, tau);
            double q = 1 / (p * frame->first);
            if (series_rest(frame, &of, TERMS) * exp(size) * q * q < limit)
                break;
            frame->first = ceil(1.2 * frame->first);
        }
    }
    return frame->first <= most;
}

bool brume_peak_row_lay(const brume_peak_frame *frame, double r, double limit, brume_peak_row *row,
                        double *skipped)
{
    const brume_law *law = frame->law;
    double k = frame->draws, p = frame->period, log_d = log1p(law->tanh_a / (2 * law->tilt));
    turn at = turn_at(law, M_PI / (2 * frame->half + 1) * r);
    row->y = r * frame->h;
    double last = last_peak(frame, &at, row->y, limit);
    row->length = (size_t)fmin(last, frame->first) - 1;
    row->terms = 0;
    row->rest = 0;
    double log_re = k * (at.log.re - log_d), log_im = k * at.log.im;
    /* D: t 14 units, sum and logarithm */
    double log_error = k * (at.log.error + 32 * unit * log_d);
    if (!(log_error <= 0.05) || !lay_nodes(frame, row, &at, log_re, log_im, log_error))
        return false;
    if (last > frame->first)
        return lay_series(frame, row, &at, limit, log_re, log_im, log_error);
    /* all beyond: the sum over m >= 1 of 1/y^2 is at most pi^2/(2 P^2) */
    *skipped += 1.0001 * 4.935 / (p * p) * brume_peak_bound(frame, at.sine, row->y + last * p);
    return true;
}
