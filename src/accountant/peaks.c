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

#include "accountant/peak_rows.h"

static const double unit = BRUME_UNIT;
static const double most_draws = 1e7;
static const double least_draws = 9; /* fewer: the sum over patterns is quick and sharper */
static const char route_peaks[] = "contour integral over all peaks of a Laplace loss";

enum { MOST_CENTRE = 20000, MOST_PEAK_NODES = 20000 };

struct brume_peaks {
    brume_line line; /* c, h and the cumulant only */
    brume_peak_frame frame;
    brume_peak_place *centre; /* psi^k/(s(s+1)) at n = 0, 1, .. */
    size_t centre_count;
    brume_peak_row *rows;    /* r = -R .. R */
    brume_peak_place *nodes; /* of all rows */
    size_t places;           /* 2R + 1 */
    size_t node_count;
    int terms; /* the most of all rows */
    brume_peak_rule rule;
    double skipped; /* bound of all nodes left out */
    double asked;   /* the epsilon of `answered`; NAN: none yet */
    brume_line_sum answered;
};

/* The nodes |y| < P/2, as on any line. False: too many. */
static bool lay_centre(brume_peaks *peaks, double limit)
{
    const brume_peak_frame *frame = &peaks->frame;
    const brume_law *law = frame->law;
    double k = frame->draws, half = frame->half;
    size_t capacity = (size_t)fmin(half + 1, MOST_CENTRE);
    peaks->centre = malloc(capacity * sizeof *peaks->centre);
    if (!peaks->centre)
        return false;
    for (double n = 0; n <= half; n++) {
        if (peaks->centre_count >= capacity)
            return false;
        double y = n * frame->h, theta = M_PI * n / (2 * half + 1), z_re, z_im, error;
        brume_laplace_rest(law, y, &z_re, &z_im, &error);
        /* y at a fixed angle, 12 units: moves S/(2 sigma D) by as much at most */
        error += 16 * unit * (law->tanh_a + fmin(1, theta)) / (2 * hypot(law->tilt, y));
        brume_log_psi psi = brume_log_psi_of(z_re, z_im, error);
        if (!(k * psi.error <= 0.1))
            return false;
        peaks->centre[peaks->centre_count++] =
            brume_peak_place_at(law->c, y, k * psi.re, k * psi.im, k * psi.error);
        if (n == 0)
            continue;
        /* sin theta grows up to P/2, and 1/y^2 falls */
        double rest = (half - n) / (y * y) * brume_peak_bound(frame, sin(theta), y);
        if (rest < limit) {
            peaks->skipped += 1.0001 * rest;
            break;
        }
    }
    return true;
}

/* How far from a peak nodes matter: R; what lies beyond is bounded. The sum over m >= 1 of
 * ((m-1/2)P)^{-2} is pi^2/(2 P^2), for r and for -r. */
static double reach(brume_peaks *peaks, double limit)
{
    const brume_peak_frame *frame = &peaks->frame;
    double half = frame->half, p = frame->period, each = 2 * 4.935 / (p * p),
           step = M_PI / (2 * half + 1), r, rest = 0;
    for (r = 0; r <= half; r++) { /* r and all beyond: sines grow, y >= P/2 */
        rest = (half - r + 1) * each * brume_peak_bound(frame, sin(step * r), 0.5 * p);
        if (rest < 0.5 * limit)
            break;
        if (r > MOST_PEAK_NODES)
            return INFINITY;
    }
    rest = r <= half ? rest : 0;
    for (r = fmin(r - 1, half); r >= 0; r--) { /* one by one, y >= P - rh */
        double more = each * brume_peak_bound(frame, sin(step * r), p - r * frame->h);
        if (!(rest + more < limit))
            break;
        rest += more;
    }
    peaks->skipped += 1.0001 * rest;
    return r;
}

/* All peaks but the first, at 2R + 1 places each. False: not worth it, or no memory. */
static bool lay_peaks(brume_peaks *peaks, double far, double limit)
{
    brume_peak_frame *frame = &peaks->frame;
    peaks->places = (size_t)(2 * far + 1);
    peaks->rows = malloc(peaks->places * sizeof *peaks->rows);
    if (!peaks->rows)
        return false;
    double each = limit / (double)peaks->places;
    if (!brume_peak_first(frame, far, each) ||
        !(frame->first * (double)peaks->places < MOST_PEAK_NODES))
        return false; /* next to the largest loss: few patterns are left */
    peaks->nodes = malloc(peaks->places * (size_t)frame->first * sizeof *peaks->nodes);
    if (!peaks->nodes)
        return false;
    for (size_t i = 0; i < peaks->places; i++) {
        brume_peak_row *row = &peaks->rows[i];
        row->node = peaks->nodes + peaks->node_count;
        if (!brume_peak_row_lay(frame, (double)i - far, each, row, &peaks->skipped))
            return false;
        peaks->node_count += row->length;
        peaks->terms = row->terms > peaks->terms ? row->terms : peaks->terms;
    }
    if (peaks->terms > 0)
        brume_peak_rule_open(frame->first, &peaks->rule);
    return true;
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
    double period = M_PI / law->a, half = fmax(ceil(0.5 * (period / line->h - 1)), 1);
    line->h = period / (2 * half + 1);
    peaks->frame =
        (brume_peak_frame){.law = law, .draws = k, .period = period, .h = line->h, .half = half};
    /* of T, which is near 1/(c(c+1)) here, and falls like e^{-c eps} */
    double c = line->c, limit = 1e-15 * fmax(1, c * epsilon) / (c * (c + 1));
    peaks->asked = NAN;
    bool good = half < 1e9 && line->unit == 0 && brume_law_settle(law, c) &&
                lay_centre(peaks, limit);
    double far = good ? reach(peaks, limit) : INFINITY;
    good = good && far < MOST_PEAK_NODES && (far < 0 || lay_peaks(peaks, far, limit));
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
    if (fmod(peaks->frame.draws, 2) != 0)
        full += acosl(-1.0L);
    double omega = (double)-remainderl(full, 2 * acosl(-1.0L));
    double moved = 16 * unit * (peaks->frame.period * epsilon + 4);
    double z_re = cos(omega), z_im = sin(omega), sign = omega < 0 ? -1 : 1;
    double re[BRUME_PEAK_TERMS] = {0}, im[BRUME_PEAK_TERMS] = {0}, error_of[BRUME_PEAK_TERMS] = {0};
    if (peaks->terms > 0)
        brume_peak_sums(&peaks->rule, fmin(fabs(omega), M_PI), peaks->terms, re, im, error_of);
    /* |z^m - z'^m| <= min(2, m moved): sum of (first/m)^2 times that */
    double turned =
        moved < 1 ? peaks->frame.first * peaks->frame.first * moved * (log(2 / moved) + 3) : 1e300;
    for (const brume_peak_row *row = peaks->rows; row < peaks->rows + peaks->places; row++) {
        double s, co, turn_re = 1, turn_im = 0, part_re = 0, part_im = 0;
        double absolute = 0, length = (double)row->length;
        for (size_t m = 1; m <= row->length; m++) {
            const brume_peak_place *node = &row->node[m - 1];
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
            double size = fabs(v_re) + fabs(v_im), most = 1 + peaks->frame.first / (i + 1);
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
        const brume_peak_place *node = &peaks->centre[i];
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
