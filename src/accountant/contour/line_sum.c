/* Summing the nodes of a line, and what the sum certifies. See line.h and
 * proofs/accountant/contour.md, section contour.1 and contour.2. */
#include "accountant/contour/line.h"

#include <math.h>

#include "number/elementary.h"

static const double unit = BRUME_UNIT;

static const double chernoff_factors[BRUME_CHERNOFF_POINTS] = {1.03, 1.06, 1.12, 1.25, 1.5, 2, 3};

double brume_chernoff_point(double c, int i)
{
    return c * chernoff_factors[i] + (i > 3 ? fmin(0.5, c) : 0);
}

/* How far a loss of the lattice, or eps - centre, may be from where it is computed: 12 units of a,
 * sums and the quotient below. */
static double displacement(const brume_line *line, double inside)
{
    return 18 * unit * (fabs(inside) + 2 * line->unit) + line->centre_error;
}

double brume_line_place(const brume_line *line, double epsilon)
{
    double offset = line->half ? 0.5 : 0, inside = epsilon - line->centre; /* one unit */
    return floor((inside - displacement(line, inside)) / line->unit - offset) + 1 + offset;
}

/* Sines and cosines of y * by for the nodes of a block. */
enum { BLOCK = 64 };

static void phases(const brume_line *line, size_t from, double by, double *s, double *co)
{
    double angle[BLOCK] = {0};
    size_t count = line->count - from < BLOCK ? line->count - from : BLOCK;
    for (size_t j = 0; j < count; j++)
        angle[j] = line->nodes[from + j].y * by;
    brume_vector_sincos(angle, s, co, count);
}

static brume_line_sum evaluate_folded(const brume_line *line, double epsilon)
{
    double a = line->unit, c = line->c, inside = epsilon - line->centre;
    /* `start`, from the centre: the smallest loss that may be above eps. The loss before it is
     * surely not; if eps is beyond `start`, then by no more than it may have moved, and delta is
     * convex: the slope before `start`, which the lever bounds, is the steeper one. */
    double start = brume_line_place(line, epsilon) * a;
    double above = fmin(fmax(start - inside, 0), a);
    double near = -expm1(-above), far = expm1(a - above), decay = exp(-above);
    double moved = displacement(line, inside);
    if (above == 0)
        moved *= 2.5; /* eps may lie beyond it */
    double sum = 0, slope = 0, error = 0, absolute = 0, whole = exp(a);
    double sines[BLOCK], cosines[BLOCK];
    for (size_t i = 0; i < line->count; i++) {
        if (i % BLOCK == 0)
            phases(line, i, start, sines, cosines);
        const brume_node *node = &line->nodes[i];
        double half = i ? 1 : 0.5, s = sines[i % BLOCK], co = cosines[i % BLOCK];
        if (node->first_re == 0 && node->first_im == 0) { /* not summed */
            error += (node->error * near + node->second_error * far) * (1 + 1e-9);
            continue;
        }
        double first = node->first_re * co + node->first_im * s;
        double second = node->second_re * co + node->second_im * s;
        double term = half * (near * first + far * second);
        sum += term;
        slope -= half * decay * (first - second * whole);
        absolute += fabs(near * first) + fabs(far * second);
        double size = near * (fabs(node->first_re) + fabs(node->first_im)) +
                      far * (fabs(node->second_re) + fabs(node->second_im));
        /* the node's own; a in e^{a-t}; the phase y start; t, through d/dt = e^{-t} psi beta */
        error += node->error * near + node->second_error * far +
                 size * (16 * unit + 14 * unit * a + node->y * moved) + 1.1 * node->lever * moved;
    }
    absolute *= 1.1;
    error += unit * ((double)line->count + 4) * absolute;
    long double exponent = line->cumulant - (long double)c * ((long double)start + line->centre);
    /* the lattice, 12 units */
    double shift = line->cumulant_error + c * (14 * unit * fabs(start) + line->centre_error);
    double scale = exp((double)exponent) * (1 + 8 * unit * (1 + (double)fabsl(exponent)));
    double weight = 2 / line->fold;
    brume_line_sum out = {.value = scale * weight * sum, .slope = scale * weight * slope};
    out.error =
        scale *
            ((weight * error + line->skipped) * (1 + expm1(shift)) +
             weight * fabs(sum) * (expm1(shift) + 16 * unit * (1 + (double)fabsl(exponent)))) *
            1.0001 +
        1e-300;
    return out;
}

/* The plain sum, over the nodes' second parts if `second`. */
static brume_line_sum evaluate_plain(const brume_line *line, double epsilon, bool second)
{
    double c = line->c, x = epsilon, turn = x - line->centre;
    double away = line->centre == 0 ? 0 : unit * fabs(x) + line->centre_error; /* error of turn */
    double sum = 0, slope = 0, error = 0, absolute = 0;
    double sines[BLOCK], cosines[BLOCK];
    for (size_t i = 0; i < line->count; i++) {
        if (i % BLOCK == 0)
            phases(line, i, turn, sines, cosines);
        const brume_node *node = &line->nodes[i];
        double node_re = second ? node->second_re : node->first_re;
        double node_im = second ? node->second_im : node->first_im;
        double half = i ? 1 : 0.5, s = sines[i % BLOCK], co = cosines[i % BLOCK];
        double re = half * (node_re * co + node_im * s);
        double im = half * (node_im * co - node_re * s);
        sum += re;
        slope -= c * re - node->y * im; /* d/d eps multiplies by -s */
        absolute += fabs(re);
        double size = fabs(node_re) + fabs(node_im);
        error += (second ? node->second_error : node->error) +
                 size * (unit * (12 + 4 * node->y * fabs(turn)) + node->y * away);
    }
    error += unit * ((double)line->count + 4) * absolute;
    long double exponent = line->cumulant - (long double)c * x;
    double shift = line->cumulant_error + 2 * unit * c * fabs(x);
    double scale = exp((double)exponent), weight = line->h / M_PI;
    double size = 16 * unit * (1 + (double)fabsl(exponent));
    brume_line_sum out = {.value = scale * weight * sum, .slope = scale * weight * slope};
    out.error = scale *
                    ((weight * error + line->skipped) * (1 + expm1(shift) + size) +
                     weight * fabs(sum) * (expm1(shift) + size)) *
                    1.0001 +
                1e-300;
    return out;
}

brume_line_sum brume_line_evaluate(const brume_line *line, double epsilon)
{
    if (line->unit > 0)
        return evaluate_folded(line, epsilon);
    return evaluate_plain(line, epsilon, false);
}

brume_line_sum brume_line_evaluate_lower(const brume_line *line, double epsilon)
{
    if (line->unit > 0)
        return evaluate_folded(line, epsilon);
    return evaluate_plain(line, epsilon, line->band.width > 0);
}

/* A bound of the part of the error of the rough cumulant that does not shrink with it: 1e-14 a
 * draw.
 */
static double rough_slack(const brume_line *line)
{
    double slack = 0;
    for (size_t i = 0; i < line->law_count; i++)
        slack += 1e-14 * line->laws[i].count;
    return slack;
}

double brume_line_aliases(brume_line *line, double epsilon)
{
    double spacing = 2 * M_PI / line->h, c = line->c, best = INFINITY;
    double below = 1 / expm1(c * spacing); /* sum over n < 0, delta <= 1 */
    for (int i = 0; i < BRUME_CHERNOFF_POINTS; i++) {
        double other = brume_chernoff_point(c, i), ratio = exp(-(other - c) * spacing);
        if (ratio > 0.99)
            continue;
        double slack = rough_slack(line);
        bool many = slack > 1e-6; /* then the careful sum */
        double k =
            (double)brume_cumulant(line->laws, line->law_count, other, NULL, many ? &slack : NULL);
        double bound = k - other * epsilon + other * log(other / (other + 1)) - log1p(other);
        slack += BRUME_ROUGH * (1 + fabs(k) + other * fabs(epsilon));
        bound = exp(bound + slack) * ratio / (1 - ratio);
        best = fmin(best, bound);
    }
    return (below + best) * 1.0001;
}

void brume_line_certify(brume_line *line, double epsilon, double *lower, double *upper)
{
    if (upper) {
        brume_line_sum at = brume_line_evaluate(line, epsilon);
        *upper = at.value + at.error; /* T >= delta */
    }
    if (lower) {
        brume_line_sum at = brume_line_evaluate_lower(line, epsilon);
        *lower = at.value - at.error - brume_line_aliases(line, epsilon);
    }
}
