/* Ball arithmetic beside the doubles. See the header. Slow and plain on purpose: the forms here are
 * the textbook ones, not those of law_*.c. */
#include "accountant/audit.h"

#include <math.h>

#include "accountant/closed.h"
#include "accountant/lattice.h"
#include "accountant/peaks.h"
#include "accountant/sampled_balls.h"
#include "number/ball.h"

#if __has_include(<flint/acb.h>)
#include <flint/acb.h>
#else
#include <acb.h>
#endif

enum { BITS = 160 };

static void exp_real(arb_t out, double x)
{
    arb_set_d(out, x);
    arb_exp(out, out, BITS);
}

/* e^{-a/2} [cosh(sigma a) + sinh(sigma a)/(2 sigma)] */
static void laplace(acb_t out, double a, const acb_t sigma)
{
    acb_t x, y;
    arb_t r;
    acb_init(x);
    acb_init(y);
    arb_init(r);
    arb_set_d(r, a);
    acb_mul_arb(x, sigma, r, BITS);
    acb_sinh_cosh(y, out, x, BITS);
    acb_mul_2exp_si(x, sigma, 1);
    acb_div(y, y, x, BITS);
    acb_add(out, out, y, BITS);
    exp_real(r, -0.5 * a);
    acb_mul_arb(out, out, r, BITS);
    acb_clear(x);
    acb_clear(y);
    arb_clear(r);
}

/* sum_j mass_j e^{s l_j} for k-ary (3 atoms), discrete Laplace of shift D, or a stored table */
static void atoms(acb_t out, const brume_law *law, const acb_t s)
{
    acb_t term;
    arb_t a, mass, q;
    acb_init(term);
    arb_init(a);
    arb_init(mass);
    arb_init(q);
    acb_zero(out);
    arb_set_d(a, law->a);
    bool kary = law->shift > 2 && law->unit == law->a;
    slong shift = law->unit > 0 ? (slong)round(2 * law->top / law->unit) : 0;
    slong count = law->unit == 0 ? (slong)law->points.count : kary ? 3 : shift + 1;
    for (slong j = 0; j < count; j++) {
        if (law->unit == 0) {
            arb_set_d(a, law->points.loss[j]);
            exp_real(mass, law->points.log_mass[j]);
            acb_mul_arb(term, s, a, BITS);
        } else if (kary) { /* truth, lie, the other lies: e^a, 1, k - 2 over e^a + k - 1 */
            exp_real(q, law->a);
            arb_add_ui(mass, q, (ulong)law->shift - 1, BITS);
            arb_inv(mass, mass, BITS);
            if (j == 0)
                arb_mul(mass, mass, q, BITS);
            if (j == 2)
                arb_mul_ui(mass, mass, (ulong)law->shift - 2, BITS);
            acb_mul_arb(term, s, a, BITS);
            acb_mul_si(term, term, j == 0 ? 1 : j == 1 ? -1 : 0, BITS);
        } else {
            exp_real(q, -law->a);
            arb_pow_ui(mass, q, (ulong)j, BITS);
            if (j > 0 && j < shift) {
                arb_t rest;
                arb_init(rest);
                arb_sub_ui(rest, q, 1, BITS);
                arb_neg(rest, rest);
                arb_mul(mass, mass, rest, BITS);
                arb_clear(rest);
            }
            arb_add_ui(q, q, 1, BITS);
            arb_div(mass, mass, q, BITS);
            acb_mul_arb(term, s, a, BITS);
            acb_mul_si(term, term, shift - 2 * j, BITS);
        }
        acb_exp(term, term, BITS);
        acb_addmul_arb(out, term, mass, BITS);
    }
    acb_clear(term);
    arb_clear(a);
    arb_clear(mass);
    arb_clear(q);
}

/* sum over x of e^{s l_x} e^{-x^2/(2 sigma^2)} over the same at s = 0; tails beyond 15 sigma of the
 * tilted centre are below e^{-110} of phi(c) */
static void discrete_gaussian(acb_t out, const brume_law *law, const acb_t s)
{
    acb_t term, loss;
    arb_t square, weight, norm, x;
    acb_init(term);
    acb_init(loss);
    arb_init(square);
    arb_init(weight);
    arb_init(norm);
    arb_init(x);
    arb_set_d(square, law->a);
    arb_mul(square, square, square, BITS);
    arb_mul_2exp_si(square, square, 1);
    acb_zero(out);
    double centre = round(-law->c * law->shift), reach = ceil(15 * law->a) + 15;
    for (int pass = 0; pass < 2; pass++)
        for (double k = -reach; k <= reach; k++) {
            double place = pass ? k : centre + k;
            arb_set_d(x, place);
            arb_mul(weight, x, x, BITS);
            arb_neg(weight, weight);
            arb_div(weight, weight, square, BITS);
            if (pass) {
                arb_exp(weight, weight, BITS);
                arb_add(norm, norm, weight, BITS);
                continue;
            }
            arb_mul_2exp_si(x, x, 1); /* l_x = (D^2 - 2 x D)/(2 sigma^2) */
            arb_neg(x, x);
            arb_t d;
            arb_init(d);
            arb_set_d(d, law->shift);
            arb_add(x, x, d, BITS);
            arb_mul(x, x, d, BITS);
            arb_clear(d);
            arb_div(x, x, square, BITS);
            acb_mul_arb(term, s, x, BITS);
            acb_add_arb(term, term, weight, BITS);
            acb_exp(term, term, BITS);
            acb_add(out, out, term, BITS);
        }
    acb_div_arb(out, out, norm, BITS);
    acb_clear(term);
    acb_clear(loss);
    arb_clear(square);
    arb_clear(weight);
    arb_clear(norm);
    arb_clear(x);
}

/* The shifted trapezoid sum itself, on the table's places; its quadrature error is the law's stated
 * one, relative to phi(c). */
static void sampled(acb_t out, const brume_law *law, const acb_t s)
{
    acb_t x, r, term, power;
    arb_t square, one;
    acb_init(x);
    acb_init(r);
    acb_init(term);
    acb_init(power);
    arb_init(square);
    arb_init(one);
    arb_set_d(square, law->a);
    arb_mul(square, square, square, BITS);
    arb_mul_2exp_si(square, square, 1); /* 2 sigma^2 */
    acb_zero(out);
    if (law->reversed)
        acb_neg(power, s);
    else
        acb_add_ui(power, s, 1, BITS);
    for (size_t j = 0; j < law->shifted.count; j++) {
        acb_set_d_d(x, law->shifted.place[j],
                    law->reversed ? -law->shift_height : law->shift_height);
        acb_mul_2exp_si(r, x, 1);
        acb_sub_ui(r, r, 1, BITS);
        acb_div_arb(r, r, square, BITS);
        acb_exp(r, r, BITS);
        arb_set_d(one, law->rate);
        acb_sub_ui(r, r, 1, BITS);
        acb_mul_arb(r, r, one, BITS);
        acb_add_ui(r, r, 1, BITS); /* 1 + q (e^t - 1) */
        acb_log(r, r, BITS);
        acb_mul(r, r, power, BITS);
        acb_mul(term, x, x, BITS);
        acb_div_arb(term, term, square, BITS);
        acb_sub(term, r, term, BITS);
        acb_exp(term, term, BITS);
        acb_add(out, out, term, BITS);
    }
    arb_set_d(one, law->shift_step); /* step / (sigma sqrt(2 pi)) */
    acb_mul_arb(out, out, one, BITS);
    arb_const_pi(one, BITS);
    arb_mul(one, one, square, BITS);
    arb_sqrt(one, one, BITS);
    acb_div_arb(out, out, one, BITS);
    acb_clear(x);
    acb_clear(r);
    acb_clear(term);
    acb_clear(power);
    arb_clear(square);
    arb_clear(one);
}

/* On a Poisson sample: sum over the inner atoms of Q r^{s+1}, added: Q r^{-s}. */
static void sampled_atoms(acb_t out, const brume_law *law, const acb_t s)
{
    acb_t term, power;
    arb_t mass, log_ratio;
    acb_init(term);
    acb_init(power);
    arb_init(mass);
    arb_init(log_ratio);
    slong shift = law->source.kind == BRUME_LOSS_POISSON_DISCRETE_LAPLACE ? (slong)law->source.shift
                                                                          : 1;
    acb_add_ui(power, s, 1, BITS);
    if (law->reversed)
        acb_neg(power, s);
    acb_zero(out);
    for (slong j = 0; j <= shift; j++) {
        brume_sampled_atom(mass, log_ratio, &law->source, j, BITS);
        acb_mul_arb(term, power, log_ratio, BITS);
        acb_exp(term, term, BITS);
        acb_addmul_arb(out, term, mass, BITS);
    }
    acb_clear(term);
    acb_clear(power);
    arb_clear(mass);
    arb_clear(log_ratio);
}

static void binary_places(arb_t spread, arb_t centre, const brume_law *law)
{
    brume_sampled_places(spread, centre, law->source.a, law->source.rate, law->reversed, BITS);
}

/* The Laplace on a Poisson sample: its two atoms, and the rest by adaptive quadrature in balls. */
static void thinned(acb_t out, const brume_law *law, const acb_t s)
{
    acb_t power;
    acb_init(power);
    acb_add_ui(power, s, 1, BITS);
    if (law->reversed)
        acb_neg(power, s);
    brume_sampled_laplace(out, law->source.a, law->source.rate, power, BITS);
    acb_clear(power);
}

/* The unit of a folded line. */
static void lattice_unit(arb_t unit, const brume_line *line)
{
    arb_set_d(unit, line->unit);
    if (line->laws[0].kind == BRUME_LAW_BINARY) { /* then it is alone */
        arb_t centre;
        arb_init(centre);
        binary_places(unit, centre, &line->laws[0]);
        arb_mul_2exp_si(unit, unit, 1);
        arb_clear(centre);
    }
}

static void transform(acb_t out, const brume_law *law, const acb_t s)
{
    acb_t sigma;
    arb_t a;
    acb_init(sigma);
    arb_init(a);
    acb_set_d(sigma, 0.5);
    acb_add(sigma, sigma, s, BITS);
    arb_set_d(a, law->a);
    switch (law->kind) {
    case BRUME_LAW_GAUSSIAN:
        acb_add_ui(out, s, 1, BITS);
        acb_mul(out, out, s, BITS);
        acb_mul_arb(out, out, a, BITS);
        acb_mul_arb(out, out, a, BITS);
        acb_mul_2exp_si(out, out, -1);
        acb_exp(out, out, BITS);
        break;
    case BRUME_LAW_LAPLACE:
        laplace(out, law->a, sigma);
        break;
    case BRUME_LAW_PURE:
        acb_mul_arb(out, sigma, a, BITS);
        acb_cosh(out, out, BITS);
        arb_mul_2exp_si(a, a, -1);
        arb_cosh(a, a, BITS);
        acb_div_arb(out, out, a, BITS);
        break;
    case BRUME_LAW_THETA:
        discrete_gaussian(out, law, s);
        break;
    case BRUME_LAW_SAMPLED:
        sampled(out, law, s);
        break;
    case BRUME_LAW_THINNED:
        thinned(out, law, s);
        break;
    case BRUME_LAW_BINARY:
        sampled_atoms(out, law, s);
        break;
    case BRUME_LAW_TABLE:
    case BRUME_LAW_COMB:
    default:
        if (law->source.kind == BRUME_LOSS_POISSON_DISCRETE_LAPLACE)
            sampled_atoms(out, law, s);
        else
            atoms(out, law, s);
    }
    acb_clear(sigma);
    arb_clear(a);
}

/* log(mu/(1 - e^{-mu})), or without the logarithm */
static void quotient(arb_t out, const arb_t mu, bool logarithm)
{
    arb_t x;
    arb_init(x);
    arb_neg(x, mu);
    arb_expm1(x, x, 2 * BITS);
    arb_neg(x, x);
    arb_div(out, mu, x, 2 * BITS);
    if (logarithm)
        arb_log(out, out, 2 * BITS);
    arb_clear(x);
}

/* w (1 + iz/2 pi) e^{-az}/(1 - e^{-z}), z = sw */
static void band_part(acb_t out, double width, const arb_t offset, const acb_t s)
{
    acb_t z, x;
    arb_t w;
    acb_init(z);
    acb_init(x);
    arb_init(w);
    arb_set_d(w, width);
    acb_mul_arb(z, s, w, BITS);
    acb_neg(x, z);
    acb_exp(x, x, BITS);
    acb_sub_ui(x, x, 1, BITS);
    acb_neg(x, x);
    acb_mul_arb(out, z, offset, BITS);
    acb_neg(out, out);
    acb_exp(out, out, BITS);
    acb_div(out, out, x, BITS);
    acb_mul_onei(x, z);
    acb_div_arb(x, x, w, BITS); /* is, then isw/2 pi */
    arb_const_pi(w, BITS);
    arb_mul_2exp_si(w, w, 1);
    acb_div_arb(x, x, w, BITS);
    arb_set_d(w, width);
    acb_mul_arb(x, x, w, BITS);
    acb_add_ui(x, x, 1, BITS);
    acb_mul(out, out, x, BITS);
    acb_mul_arb(out, out, w, BITS);
    acb_clear(z);
    acb_clear(x);
    arb_clear(w);
}

/* The transform of the band-limited function above f, or below it. */
static void band_kernel(acb_t out, const brume_line *line, const acb_t s, bool lower)
{
    acb_t more, x;
    arb_t offset, low, high, w;
    acb_init(more);
    acb_init(x);
    arb_init(offset);
    arb_init(low);
    arb_init(high);
    arb_init(w);
    arb_set_d(w, line->band.width);
    arb_set_d(low, line->c);
    arb_add_ui(high, low, 1, 2 * BITS);
    arb_mul(low, low, w, 2 * BITS);
    arb_mul(high, high, w, 2 * BITS);
    quotient(low, low, !lower);
    quotient(high, high, !lower);
    arb_sub(high, high, low, 2 * BITS); /* of logarithms: a w; else: the slope */
    if (!lower)
        arb_div(offset, high, w, 2 * BITS);
    acb_add_ui(more, s, 1, BITS);
    band_part(out, line->band.width, offset, s);
    band_part(x, line->band.width, offset, more);
    acb_sub(out, out, x, BITS);
    if (lower) { /* + (i w/2 pi) slope */
        arb_mul(high, high, w, BITS);
        arb_const_pi(low, BITS);
        arb_mul_2exp_si(low, low, 1);
        arb_div(high, high, low, BITS);
        arb_add(acb_imagref(out), acb_imagref(out), high, BITS);
    }
    acb_clear(more);
    acb_clear(x);
    arb_clear(offset);
    arb_clear(low);
    arb_clear(high);
    arb_clear(w);
}

/* The kernel times e^{-s x}: 1/(s(s+1)), or one of a band, or the folded one with its first loss
 * above eps. */
static void kernel(acb_t out, const brume_line *line, const acb_t s, double epsilon, bool lower)
{
    acb_t x, y;
    arb_t a, start, above;
    acb_init(x);
    acb_init(y);
    arb_init(a);
    arb_init(start);
    arb_init(above);
    if (line->unit == 0) {
        arb_set_d(start, epsilon);
        acb_mul_arb(x, s, start, BITS);
        acb_neg(x, x);
        acb_exp(out, x, BITS);
        if (line->band.width > 0) {
            band_kernel(y, line, s, lower);
            acb_mul(out, out, y, BITS);
        } else {
            acb_div(out, out, s, BITS);
            acb_add_ui(x, s, 1, BITS);
            acb_div(out, out, x, BITS);
        }
    } else {
        double offset = line->half ? 0.5 : 0,
               place = floor((epsilon - line->centre) / line->unit - offset) + 1 + offset;
        lattice_unit(a, line);
        arb_set_d(start, place);
        arb_mul(start, start, a, BITS);
        if (line->laws[0].kind == BRUME_LAW_BINARY) {
            binary_places(above, acb_realref(x), &line->laws[0]);
            arb_set_d(above, line->laws[0].count);
            arb_addmul(start, acb_realref(x), above, BITS);
        }
        arb_set_d(above, epsilon);
        arb_sub(above, above, start, BITS); /* eps - x0 */
        arb_exp(above, above, BITS);
        acb_mul_arb(x, s, a, BITS);
        acb_neg(x, x);
        acb_exp(x, x, BITS);
        acb_sub_ui(x, x, 1, BITS);
        acb_neg(x, x);
        acb_inv(out, x, BITS);
        acb_add_ui(y, s, 1, BITS);
        acb_mul_arb(y, y, a, BITS);
        acb_neg(y, y);
        acb_exp(y, y, BITS);
        acb_sub_ui(y, y, 1, BITS);
        acb_neg(y, y);
        acb_inv(y, y, BITS);
        acb_mul_arb(y, y, above, BITS);
        acb_sub(out, out, y, BITS);
        acb_mul_arb(x, s, start, BITS);
        acb_neg(x, x);
        acb_exp(x, x, BITS);
        acb_mul(out, out, x, BITS);
    }
    acb_clear(x);
    acb_clear(y);
    arb_clear(a);
    arb_clear(start);
    arb_clear(above);
}

static void ball_sum(arb_t sum, const brume_line *line, double epsilon, bool lower, size_t *nodes)
{
    acb_t s, f, g;
    arb_t y;
    acb_init(s);
    acb_init(f);
    acb_init(g);
    arb_init(y);
    arb_zero(sum);
    for (size_t i = 0; i < line->count; i++) {
        double index;
        if (line->dense.count > 0) {
            index = (double)(line->dense.start[i / BRUME_DENSE_BLOCK] + i % BRUME_DENSE_BLOCK);
            if (index * line->h >= line->band.end)
                break; /* the last block's nodes beyond the end are nothing */
        } else {
            const brume_node *node = &line->nodes[i];
            if (node->first_re == 0 && node->first_im == 0)
                continue; /* not summed: its bound is in the error */
            index = round(node->y / line->h);
        }
        arb_set_d(y, index);
        if (line->unit > 0) { /* 2 pi n/(a M) */
            arb_t pi;
            arb_init(pi);
            arb_const_pi(pi, BITS);
            arb_mul(y, y, pi, BITS);
            arb_mul_2exp_si(y, y, 1);
            lattice_unit(pi, line);
            arb_div(y, y, pi, BITS);
            arb_set_d(pi, line->fold);
            arb_div(y, y, pi, BITS);
            arb_clear(pi);
        } else {
            arb_t h;
            arb_init(h);
            arb_set_d(h, line->h);
            arb_mul(y, y, h, BITS);
            arb_clear(h);
        }
        acb_set_d(s, line->c);
        arb_set(acb_imagref(s), y);
        kernel(f, line, s, epsilon, lower);
        for (size_t j = 0; j < line->law_count; j++) {
            transform(g, &line->laws[j], s);
            acb_pow_ui(g, g, (ulong)line->laws[j].count, BITS);
            acb_mul(f, f, g, BITS);
        }
        if (i == 0)
            acb_mul_2exp_si(f, f, -1);
        arb_add(sum, sum, acb_realref(f), BITS);
        ++*nodes;
    }
    if (line->unit > 0) {
        arb_mul_2exp_si(sum, sum, 1);
        arb_set_d(y, line->fold);
    } else {
        arb_set_d(y, line->h);
        arb_mul(sum, sum, y, BITS);
        arb_const_pi(y, BITS);
    }
    arb_div(sum, sum, y, BITS);
    acb_clear(s);
    acb_clear(f);
    acb_clear(g);
    arb_clear(y);
}

/* The line over all peaks against the sum over sign patterns, which is in balls. False if either
 * does not apply. */
static bool audit_peaks(brume_law *law, double epsilon, brume_audit *out)
{
    brume_peaks *peaks = brume_peaks_open(law, epsilon);
    brume_pattern *pattern = peaks ? brume_pattern_open(law, 1, epsilon, 1e6) : NULL;
    if (pattern) {
        brume_closed line = brume_peaks_form(peaks), balls = brume_pattern_form(pattern);
        double upper = line.delta(line.context, epsilon, BRUME_UPPER_SIDE);
        double lower = line.delta(line.context, epsilon, BRUME_LOWER_SIDE);
        double ball_upper = balls.delta(balls.context, epsilon, BRUME_UPPER_SIDE);
        double ball_lower = balls.delta(balls.context, epsilon, BRUME_LOWER_SIDE);
        /* the line's ends hold for every parameter within 8 units, the balls' for one 9 away: what
         * lies between the balls is inside */
        double between = 0.5 * (ball_upper + ball_lower), half = 0.5 * (upper - lower);
        out->agrees = lower <= between && between <= upper;
        out->ratio = fabs(between - (lower + half)) / fmax(half, 1e-300);
        out->nodes = (size_t)law->count + 1; /* the places of the patterns */
    }
    bool done = pattern != NULL;
    brume_pattern_close(pattern);
    brume_peaks_close(peaks);
    return done;
}

static bool audit_laws(brume_law *laws, size_t count, double epsilon, brume_audit *out)
{
    brume_line line = {.laws = laws, .law_count = count};
    brume_line_aim(&line, epsilon);
    bool alive = true;
    for (size_t i = 0; i < count && alive; i++)
        alive = brume_law_settle(&laws[i], line.c);
    double goal = brume_line_size(&line, epsilon);
    if (alive && line.unit == 0 && !brume_line_decays(&line, epsilon, goal)) {
        if (count == 1 && audit_peaks(laws, epsilon, out))
            return true;
        alive = brume_law_settle(&laws[0], line.c);
        line.width = 0.2 / fmax(line.c, 0.5);
    }
    alive = alive && brume_line_lay(&line, epsilon, goal);
    if (alive) {
        brume_audit audit = {.agrees = true};
        arb_t ball, gap;
        arb_init(ball);
        arb_init(gap);
        for (int lower = 0; lower < (line.band.width > 0 ? 2 : 1); lower++) {
            brume_line_sum at = lower ? brume_line_evaluate_lower(&line, epsilon)
                                      : brume_line_evaluate(&line, epsilon);
            ball_sum(ball, &line, epsilon, lower, &audit.nodes);
            arb_set_d(gap, at.value);
            arb_sub(gap, gap, ball, BITS);
            arb_abs(gap, gap);
            double ratio = brume_ball_upper(gap) / at.error;
            audit.agrees = audit.agrees && ratio <= 1; /* not if it is not a number */
            audit.ratio = ratio <= audit.ratio ? audit.ratio : ratio;
        }
        arb_clear(ball);
        arb_clear(gap);
        *out = audit;
    }
    brume_line_close(&line);
    return alive;
}

bool brume_audit_delta(brume_law *laws, size_t count, double epsilon, brume_audit *out)
{
    brume_joined joined;
    if (!brume_lattice_join(laws, count, &joined))
        return audit_laws(laws, count, epsilon, out);
    bool alive = audit_laws(joined.upper, count, epsilon, out);
    brume_joined_close(&joined);
    return alive;
}
