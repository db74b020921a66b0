/* The peaks of a Laplace line. See the header and proofs/accountant.md, section 11.
 *
 * Relative to phi(c)^k e^{-c eps}: with A = (c+1/2)e, t = tanh A, theta_r = pi r/M, |r| <= (M-1)/2,
 *   psi(y_r + mP) = (-1)^m [C_r + S_r/(2 sigma_m)]/D,  C = cos theta + i t sin theta,
 *   S = t cos theta + i sin theta,  D = 1 + t/(2c+1),  sigma_m = c + 1/2 + i(y_r + mP).
 * Promise: value + error >= T >= delta, value - error - aliases <= delta, for every parameter
 * within its 8 units. The places y = n pi/(eM) are those of the exact parameter: computed ones are
 * within 12 units of them, the angles theta do not depend on it. */
#include "accountant/peaks.h"

#include <math.h>
#include <stdlib.h>

static const double unit = BRUME_UNIT;
static const double most_draws = 1e7;
static const double least_draws = 9; /* fewer: the sum over patterns is quick and sharper */
static const char route_peaks[] = "contour integral over all peaks of a Laplace loss";

enum { TERMS = 32, MOST_CENTRE = 20000, MOST_PEAK_NODES = 20000, MOST_FIRST = 600 };

typedef struct place {
    double re, im, y, error;
} place;

/* One place of all peaks but the central one. */
typedef struct peak_row {
    double y;               /* y_r */
    place *node;            /* psi^k/(s(s+1)) at y_r + mP for m = 1 .. length, signs left out */
    size_t length;          /* first - 1, unless what follows is nothing */
    int terms;              /* of the series for m >= first; 0: none */
    double tail[2 * TERMS]; /* coefficients of (first/m)^{i+2}, re and im */
    double slack[TERMS];    /* bounds of their errors */
    double rest;            /* a bound of what the series leaves out, for all m together */
} peak_row;

struct brume_peaks {
    brume_line line; /* c, h and the cumulant only */
    double draws, period;
    place *centre; /* psi^k/(s(s+1)) at n = 0, 1, .. */
    size_t centre_count;
    peak_row *rows; /* r = -R .. R */
    place *nodes;   /* of all rows */
    size_t places;  /* 2R + 1 */
    size_t node_count;
    double first; /* the first peak that is not summed node by node */
    int terms;    /* the most of all rows */
    brume_peak_rule rule;
    double skipped; /* bound of all nodes left out */
    double asked;   /* the epsilon of `answered`; NAN: none yet */
    brume_line_sum answered;
};

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

/* exp(re + i im)/(s(s+1)) at y; `error` is that of the exponent */
static place make_place(double c, double y, double re, double im, double error)
{
    double below_re = c * (c + 1) - y * y, below_im = (2 * c + 1) * y;
    double square = (c * c + y * y) * ((c + 1) * (c + 1) + y * y), s, co, size = exp(re);
    sincos(im, &s, &co);
    place out = {.y = y};
    out.re = size * (co * below_re + s * below_im) / square;
    out.im = size * (s * below_re - co * below_im) / square;
    /* s(s+1): y's 12 units twice, 20 of rounding; exp and sincos: 4 units of their arguments */
    out.error = size / sqrt(square) * (1.1 * error + unit * (64 + 6 * (fabs(re) + fabs(im))));
    return out;
}

/* A bound of |psi|^k at the place r, its sine given, of every peak from the one at `y` on. */
static double place_bound(const brume_peaks *peaks, const brume_law *law, double sine, double y)
{
    double lost = law->sech2 * sine * sine * (1 - 1e-12);
    return exp(peaks->draws * brume_laplace_bound(law, lost, y * (1 - 1e-13)));
}

/* The nodes |y| < P/2, as on any line. False: too many. */
static bool lay_centre(brume_peaks *peaks, const brume_law *law, double half, double limit)
{
    double k = peaks->draws, h = peaks->line.h, c = peaks->line.c;
    size_t capacity = (size_t)fmin(half + 1, MOST_CENTRE);
    peaks->centre = malloc(capacity * sizeof *peaks->centre);
    if (!peaks->centre)
        return false;
    for (double n = 0; n <= half; n++) {
        if (peaks->centre_count >= capacity)
            return false;
        double y = n * h, theta = M_PI * n / (2 * half + 1), z_re, z_im, error;
        brume_laplace_rest(law, y, &z_re, &z_im, &error);
        /* y at a fixed angle, 12 units: moves S/(2 sigma D) by as much at most */
        error += 16 * unit * (law->tanh_a + fmin(1, theta)) / (2 * hypot(law->tilt, y));
        brume_log_psi psi = brume_log_psi_of(z_re, z_im, error);
        if (!(k * psi.error <= 0.1))
            return false;
        peaks->centre[peaks->centre_count++] =
            make_place(c, y, k * psi.re, k * psi.im, k * psi.error);
        if (n == 0)
            continue;
        /* sin theta grows up to P/2, and 1/y^2 falls */
        double rest = (half - n) / (y * y) * place_bound(peaks, law, sin(theta), y);
        if (rest < limit) {
            peaks->skipped += 1.0001 * rest;
            break;
        }
    }
    return true;
}

/* How far from a peak nodes matter: R; what lies beyond is bounded. The sum over m >= 1 of
 * ((m-1/2)P)^{-2} is pi^2/(2 P^2), for r and for -r. */
static double reach(brume_peaks *peaks, const brume_law *law, double half, double limit)
{
    double p = peaks->period, each = 2 * 4.935 / (p * p), step = M_PI / (2 * half + 1), r, rest = 0;
    for (r = 0; r <= half; r++) { /* r and all beyond: sines grow, y >= P/2 */
        rest = (half - r + 1) * each * place_bound(peaks, law, sin(step * r), 0.5 * p);
        if (rest < 0.5 * limit)
            break;
        if (r > MOST_PEAK_NODES)
            return INFINITY;
    }
    rest = r <= half ? rest : 0;
    for (r = fmin(r - 1, half); r >= 0; r--) { /* one by one, y >= P - rh */
        double more = each * place_bound(peaks, law, sin(step * r), p - r * peaks->line.h);
        if (!(rest + more < limit))
            break;
        rest += more;
    }
    peaks->skipped += 1.0001 * rest;
    return r;
}

/* The first peak from which on nothing matters at the place r: what lies beyond is below `limit`,
 * for m >= 1 as above. Infinite if the atoms' own part is above it. */
static double last_peak(const brume_peaks *peaks, const brume_law *law, const turn *at, double y,
                        double limit)
{
    double p = peaks->period, most = exp(log(limit * p * p / 5) / peaks->draws);
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

static spread spread_of(const brume_peaks *peaks, const brume_law *law, double y, double tau)
{
    double q = 1 / (peaks->period * peaks->first), kappa = hypot(y, law->tilt) * q;
    return (spread){peaks->draws, kappa + 0.5 * q, kappa, 0.5 * tau * q * (1 + 1e-12) + q * 1e-12};
}

/* Cauchy: the coefficients are at most q^2 M(rho) rho^{-n}; sum over m of x^2 is <= first + 1. A
 * bound of all after the first `terms`, over q^2. Every rho > 1 with wide rho < 1 serves. */
static double series_rest(const brume_peaks *peaks, const spread *of, int terms)
{
    double rho = 1 / (1.25 * of->wide + of->k * of->p / terms);
    if (!(rho > 1.2 && of->wide * rho < 0.9))
        return INFINITY;
    double most = of->k * log1p(of->p * rho / (1 - of->kappa * rho)) - 2 * log1p(-of->wide * rho);
    return 1.01 * (peaks->first + 1) * exp(most - terms * log(rho)) / (1 - 1 / rho);
}

/* The power series in x = first/m of psi^k/(s(s+1)) at y_r + mP, all signs left out:
 *   (qx)^2 (1 + alpha x)^k (1 + kappa x)^{-k} / ((1 + (kappa-q/2)x)(1 + (kappa+q/2)x)),
 * q = 1/(i P first), kappa = sigma_r q, alpha = kappa + tau q/2, tau = S/C; times C^k/D^k. As many
 * terms as leave less than `limit`. */
static bool lay_series(brume_peaks *peaks, const brume_law *law, peak_row *row, const turn *at,
                       double limit, double log_re, double log_im, double log_error)
{
    double k = peaks->draws, y = row->y, q = 1 / (peaks->period * peaks->first);
    /* times q = -iq': (x + iy)(-i) = y - ix */
    double kappa_re = y * q, kappa_im = -law->tilt * q, square = at->c_size * at->c_size;
    double tau_re = (at->s_re * at->c_re + at->s_im * at->c_im) / square;
    double tau_im = (at->s_im * at->c_re - at->s_re * at->c_im) / square;
    double p_re = 0.5 * tau_im * q, p_im = -0.5 * tau_re * q; /* tau q/2 */
    spread of = spread_of(peaks, law, y, hypot(tau_re, tau_im));
    double s, co, size = exp(log_re) * q * q, kappa = of.kappa, p = of.p, wide = of.wide;
    int terms = 4;
    while (!((row->rest = size * series_rest(peaks, &of, terms)) < limit) && terms < TERMS)
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
static bool lay_nodes(const brume_peaks *peaks, const brume_law *law, peak_row *row, const turn *at,
                      double log_re, double log_im, double log_error)
{
    double k = peaks->draws, t = law->tanh_a, square = at->c_size * at->c_size;
    double tau_re = (at->s_re * at->c_re + at->s_im * at->c_im) / square;
    double tau_im = (at->s_im * at->c_re - at->s_re * at->c_im) / square;
    for (size_t m = 1; m <= row->length; m++) {
        double y = row->y + (double)m * peaks->period, rho = law->tilt * law->tilt + y * y;
        double w_re = 0.5 * (tau_re * law->tilt + tau_im * y) / rho;
        double w_im = 0.5 * (tau_im * law->tilt - tau_re * y) / rho;
        /* C and S err by 32 units of 1 and of t + |sin|; y by 12 units of itself */
        double error = unit * (hypot(w_re, w_im) * (64 / at->c_size + 48) +
                               32 * (t + at->sine) / (at->c_size * sqrt(rho)));
        brume_log_psi more = brume_log_psi_of(w_re, w_im, error);
        double total = log_error + k * more.error;
        if (!(total <= 0.1))
            return false;
        row->node[m - 1] = make_place(
            peaks->line.c, y, log_re + k * more.re, log_im + k * more.im,
            total +
                4 * unit * (fabs(log_re) + fabs(log_im) + k * fabs(more.re) + k * fabs(more.im)));
    }
    return true;
}

/* Where the series may begin: at the places 0, R/2 and R it must leave less than `limit`. */
static double choose_first(brume_peaks *peaks, const brume_law *law, double half, double far,
                           double limit)
{
    double p = peaks->period, h = peaks->line.h;
    peaks->first = fmax(8, ceil(3 * (law->tilt + far * h) / p));
    for (int i = 0; i < 3; i++) {
        double r = i == 0 ? 0 : i == 1 ? floor(0.5 * far) : far;
        turn at = turn_at(law, M_PI * r / (2 * half + 1));
        double tau = hypot(at.s_re, at.s_im) / at.c_size;
        double size = peaks->draws * log(at.c_size / law->denominator);
        while (peaks->first <= MOST_FIRST) {
            spread of = spread_of(peaks, law, r * h, tau);
            double q = 1 / (p * peaks->first);
            if (series_rest(peaks, &of, TERMS) * exp(size) * q * q < limit)
                break;
            peaks->first = ceil(1.2 * peaks->first);
        }
    }
    return peaks->first;
}

/* All peaks but the first, at 2R + 1 places each. False: not worth it, or no memory. */
static bool lay_peaks(brume_peaks *peaks, const brume_law *law, double half, double far,
                      double limit)
{
    double k = peaks->draws, h = peaks->line.h, total = 0, step = M_PI / (2 * half + 1);
    turn edge = turn_at(law, step * far);
    if (!(edge.c_size >= 0.25)) /* |C| falls and |tau| = |S/C| is at most 1/|C| */
        return false;
    peaks->places = (size_t)(2 * far + 1);
    peaks->rows = malloc(peaks->places * sizeof *peaks->rows);
    if (!peaks->rows)
        return false;
    double each = limit / (double)peaks->places, first = choose_first(peaks, law, half, far, each);
    if (!(first <= MOST_FIRST && first * (double)peaks->places < MOST_PEAK_NODES))
        return false; /* next to the largest loss: few patterns are left */
    peaks->nodes = malloc(peaks->places * (size_t)first * sizeof *peaks->nodes);
    if (!peaks->nodes)
        return false;
    double log_d = log1p(law->tanh_a / (2 * law->tilt));
    for (size_t i = 0; i < peaks->places; i++) {
        double r = (double)i - far;
        peak_row *row = &peaks->rows[i];
        turn at = turn_at(law, step * r);
        row->y = r * h;
        row->node = peaks->nodes + peaks->node_count;
        double last = last_peak(peaks, law, &at, row->y, each);
        row->length = (size_t)fmin(last, first) - 1;
        row->terms = 0;
        row->rest = 0;
        double log_re = k * (at.log.re - log_d), log_im = k * at.log.im;
        /* D: t 14 units, sum and logarithm */
        double log_error = k * (at.log.error + 32 * unit * log_d);
        if (!(log_error <= 0.05) || !lay_nodes(peaks, law, row, &at, log_re, log_im, log_error))
            return false;
        peaks->node_count += row->length;
        if (last <= first) { /* all beyond */
            double y = row->y + last * peaks->period;
            peaks->skipped += 1.0001 * 4.935 / (peaks->period * peaks->period) *
                              place_bound(peaks, law, at.sine, y);
        } else if (!lay_series(peaks, law, row, &at, each, log_re, log_im, log_error)) {
            return false;
        }
        peaks->terms = row->terms > peaks->terms ? row->terms : peaks->terms;
        total += (double)row->length;
    }
    if (peaks->terms > 0)
        brume_peak_rule_open(first, &peaks->rule);
    return total < MOST_PEAK_NODES;
}

brume_peaks *brume_peaks_open(brume_law *law, double epsilon)
{
    double k = law->count;
    if (law->kind != BRUME_LAW_LAPLACE || !(k >= least_draws && k <= most_draws) ||
        !(k * law->a < 1200) || !(epsilon >= 0))
        return NULL;
    brume_peaks *peaks = calloc(1, sizeof *peaks);
    if (!peaks)
        return NULL;
    brume_line *line = &peaks->line;
    line->laws = law;
    line->law_count = 1;
    brume_line_aim(line, epsilon);
    peaks->draws = k;
    peaks->period = M_PI / law->a;
    double half = ceil(0.5 * (peaks->period / line->h - 1));
    half = fmax(half, 1);
    line->h = peaks->period / (2 * half + 1);
    /* of T, which is near 1/(c(c+1)) here, and falls like e^{-c eps} */
    double c = line->c, limit = 1e-15 * fmax(1, c * epsilon) / (c * (c + 1));
    peaks->asked = NAN;
    bool good = half < 1e9 && line->unit == 0 && brume_law_settle(law, c) &&
                lay_centre(peaks, law, half, limit);
    double far = good ? reach(peaks, law, half, limit) : INFINITY;
    good = good && far < MOST_PEAK_NODES && (far < 0 || lay_peaks(peaks, law, half, far, limit));
    if (!good) {
        brume_peaks_close(peaks);
        return NULL;
    }
    return peaks;
}

void brume_peaks_close(brume_peaks *peaks)
{
    if (!peaks)
        return;
    free(peaks->centre);
    free(peaks->rows);
    free(peaks->nodes);
    free(peaks);
}

/* The sum over all m >= 1 of all places: value, and the bound of its error. */
static double sum_peaks(const brume_peaks *peaks, double epsilon, double *error)
{
    double sum = 0, bound = 0;
    /* z = (-1)^k e^{-i P eps} = e^{i omega}; P by 12 units, and the reduction's own */
    long double full = acosl(-1.0L) / (long double)peaks->line.laws->a * (long double)epsilon;
    if (fmod(peaks->draws, 2) != 0)
        full += acosl(-1.0L);
    double omega = (double)-remainderl(full, 2 * acosl(-1.0L));
    double moved = 16 * unit * (peaks->period * epsilon + 4);
    double z_re = cos(omega), z_im = sin(omega), sign = omega < 0 ? -1 : 1;
    double re[TERMS], im[TERMS], error_of[TERMS];
    if (peaks->terms > 0)
        brume_peak_sums(&peaks->rule, fmin(fabs(omega), M_PI), peaks->terms, re, im, error_of);
    /* |z^m - z'^m| <= min(2, m moved): sum of (first/m)^2 times that */
    double turned = moved < 1 ? peaks->first * peaks->first * moved * (log(2 / moved) + 3) : 1e300;
    for (const peak_row *row = peaks->rows; row < peaks->rows + peaks->places; row++) {
        double s, co, turn_re = 1, turn_im = 0, part_re = 0, part_im = 0;
        double absolute = 0, length = (double)row->length;
        for (size_t m = 1; m <= row->length; m++) {
            const place *node = &row->node[m - 1];
            double old = turn_re;
            turn_re = old * z_re - turn_im * z_im;
            turn_im = old * z_im + turn_im * z_re;
            part_re += node->re * turn_re - node->im * turn_im;
            part_im += node->re * turn_im + node->im * turn_re;
            double size = fabs(node->re) + fabs(node->im);
            absolute += size;
            bound += node->error + size * (double)m * (moved + 16 * unit);
        }
        for (int i = 0; i < row->terms; i++) {
            double v_re = row->tail[2 * i], v_im = row->tail[2 * i + 1];
            double size = fabs(v_re) + fabs(v_im), most = 1 + peaks->first / (i + 1);
            part_re += v_re * re[i] - v_im * sign * im[i];
            part_im += v_re * sign * im[i] + v_im * re[i];
            absolute += size * most;
            bound += size * (error_of[i] + turned) + row->slack[i] * (most + error_of[i] + turned);
        }
        sincos(row->y * epsilon, &s, &co);
        sum += part_re * co + part_im * s;
        bound += row->rest + absolute * unit *
                                 (16 * fabs(row->y) * epsilon + 4 * length + 4 * row->terms + 32 +
                                  2 * (double)peaks->places);
    }
    *error = 1.01 * bound;
    return sum;
}

static brume_line_sum evaluate(const brume_peaks *peaks, double epsilon)
{
    double sum = 0, error = 0, absolute = 0, c = peaks->line.c;
    for (size_t i = 0; i < peaks->centre_count; i++) {
        const place *node = &peaks->centre[i];
        double half = i ? 1 : 0.5, s, co, size = fabs(node->re) + fabs(node->im);
        sincos(node->y * epsilon, &s, &co);
        sum += half * (node->re * co + node->im * s);
        absolute += size;
        error += node->error + size * unit * (12 + 16 * node->y * epsilon);
    }
    error += unit * ((double)peaks->centre_count + 4) * absolute;
    if (peaks->places > 0) {
        double peaks_error, more = sum_peaks(peaks, epsilon, &peaks_error);
        sum += more;
        error += peaks_error + 2 * unit * (fabs(sum) + fabs(more));
    }
    error += peaks->skipped;
    long double exponent = peaks->line.cumulant - (long double)c * epsilon;
    /* the cumulant; exp; h/pi by 12 units */
    double shift = peaks->line.cumulant_error + 16 * unit * (2 + (double)fabsl(exponent));
    double scale = exp((double)exponent) * peaks->line.h / M_PI;
    brume_line_sum out = {.value = scale * sum};
    out.error = scale * (error * (1 + expm1(shift)) + fabs(sum) * expm1(shift)) * 1.0001 + 1e-300;
    return out;
}

static double peaks_delta(void *context, double epsilon, brume_side side)
{
    brume_peaks *peaks = context;
    if (peaks->asked != epsilon) { /* both sides are asked for at one place, mostly */
        peaks->answered = evaluate(peaks, epsilon);
        peaks->asked = epsilon;
    }
    brume_line_sum at = peaks->answered;
    if (side == BRUME_UPPER_SIDE)
        return fmin(at.value + at.error, 1); /* T >= delta; 1 where a far aim overflowed */
    return fmax(at.value - at.error - brume_line_aliases(&peaks->line, epsilon), 0);
}

brume_closed brume_peaks_form(brume_peaks *peaks)
{
    return (brume_closed){.delta = peaks_delta, .context = peaks, .route = route_peaks};
}

bool brume_peaks_delta(brume_law *law, double epsilon, brume_answer *answer)
{
    brume_peaks *peaks = brume_peaks_open(law, epsilon);
    if (!peaks)
        return false;
    brume_closed closed = brume_peaks_form(peaks);
    brume_closed_delta(&closed, epsilon, answer);
    answer->balls = false;
    answer->nodes += peaks->centre_count + peaks->node_count;
    brume_peaks_close(peaks);
    return true;
}

bool brume_peaks_epsilon(brume_law *law, double delta, double delta_error, double guess,
                         brume_answer *answer)
{
    brume_peaks *peaks = NULL;
    double epsilon = fmax(guess, 0), asked = epsilon, value = 0;
    for (int moves = 0; moves < 4; moves++) { /* d log T/d eps is near -c */
        brume_peaks_close(peaks);
        peaks = brume_peaks_open(law, epsilon);
        if (!peaks)
            return false;
        answer->nodes += peaks->centre_count + peaks->node_count;
        asked = epsilon;
        value = peaks_delta(peaks, epsilon, BRUME_UPPER_SIDE);
        double c = peaks->line.c;
        double next = value > 0 ? epsilon + log(value / delta) / c : epsilon / 2;
        next = fmin(fmax(next, answer->value.lower), answer->value.upper);
        bool near = fabs(next - epsilon) * c < 2; /* the line serves for a while */
        epsilon = next;
        if (near)
            break;
    }
    brume_closed closed = brume_peaks_form(peaks);
    closed.slope = peaks->line.c;
    closed.known_epsilon = asked;
    closed.known_delta = value;
    brume_closed_epsilon(&closed, delta, delta_error, epsilon, answer);
    answer->balls = false;
    brume_peaks_close(peaks);
    return true;
}
