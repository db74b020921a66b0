/* The sums of doubles computed again in ball arithmetic. See the header. Slow and plain on purpose:
 * the forms here are the textbook ones, not those of src/accountant/law. */
#include "balls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#include "accountant/contour/line.h"
#include "accountant/exact/delta_bounds.h"
#include "accountant/exact/one_sampled.h"
#include "accountant/law/law.h"
#include "accountant/law/points.h"
#include "accountant/law/sampled_gaussian.h"
#include "accountant/law/shift_parameters.h"
#include "accountant/ray/solve.h"
#include "accountant/solve/solve.h"
#include "number/ball.h"

enum { BITS = 160, MOST_AUDITED = 16 };

/* ---- the transforms of laws ---- */

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
    const brume_points *table = brume_table_points(law);
    bool kary = law->source.kind == BRUME_LOSS_KARY;
    bool stored = law->unit == 0 || law->source.kind == BRUME_LOSS_POISSON_GAUSSIAN_GROUP;
    slong shift = law->unit > 0 ? (slong)round(2 * law->top / law->unit) : 0;
    slong count = stored ? (slong)table->count : kary ? 3 : shift + 1;
    for (slong j = 0; j < count; j++) {
        if (stored) {
            arb_set_d(a, table->loss[j]);
            exp_real(mass, table->log_mass[j]);
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
    const brume_sampled_tables *tables = brume_sampled_tables_of(law);
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
    for (size_t j = 0; j < tables->moved.count; j++) {
        acb_set_d_d(x, tables->moved.place[j], law->reversed ? -tables->height : tables->height);
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
    arb_set_d(one, tables->moved_step); /* step / (sigma sqrt(2 pi)) */
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

static void law_places(arb_t spread, arb_t centre, const brume_law *law)
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

static void law_transform(acb_t out, const brume_law *law, const acb_t s)
{
    acb_t sigma;
    arb_t a;
    acb_init(sigma);
    arb_init(a);
    acb_set_d(sigma, 0.5);
    acb_add(sigma, sigma, s, BITS);
    arb_set_d(a, law->a);
    switch (law->source.kind) {
    case BRUME_LOSS_GAUSSIAN:
        acb_add_ui(out, s, 1, BITS);
        acb_mul(out, out, s, BITS);
        acb_mul_arb(out, out, a, BITS);
        acb_mul_arb(out, out, a, BITS);
        acb_mul_2exp_si(out, out, -1);
        acb_exp(out, out, BITS);
        break;
    case BRUME_LOSS_LAPLACE:
        laplace(out, law->a, sigma);
        break;
    case BRUME_LOSS_PURE:
        acb_mul_arb(out, sigma, a, BITS);
        acb_cosh(out, out, BITS);
        arb_mul_2exp_si(a, a, -1);
        arb_cosh(a, a, BITS);
        acb_div_arb(out, out, a, BITS);
        break;
    case BRUME_LOSS_DISCRETE_GAUSSIAN:
        discrete_gaussian(out, law, s);
        break;
    case BRUME_LOSS_POISSON_GAUSSIAN:
        sampled(out, law, s);
        break;
    case BRUME_LOSS_POISSON_LAPLACE:
        thinned(out, law, s);
        break;
    case BRUME_LOSS_POISSON_PURE:
    case BRUME_LOSS_POISSON_DISCRETE_LAPLACE:
        sampled_atoms(out, law, s);
        break;
    default:
        atoms(out, law, s);
    }
    acb_clear(sigma);
    arb_clear(a);
}

/* ---- lines ---- */

/* The unit of a folded line. */
static void lattice_unit(arb_t unit, const brume_line *line)
{
    arb_set_d(unit, line->unit);
    if (line->laws[0].unit_is_rounded) { /* then it is alone */
        arb_t centre;
        arb_init(centre);
        law_places(unit, centre, &line->laws[0]);
        arb_mul_2exp_si(unit, unit, 1);
        arb_clear(centre);
    }
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
        double place = brume_line_place(line, epsilon);
        lattice_unit(a, line);
        arb_set_d(start, place);
        arb_mul(start, start, a, BITS);
        if (line->laws[0].unit_is_rounded) {
            law_places(above, acb_realref(x), &line->laws[0]);
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
        const brume_line_node *node = &line->nodes[i];
        if (node->first_re == 0 && node->first_im == 0)
            continue; /* not summed: its bound is in the error */
        double index = round(node->y / line->h);
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
            law_transform(g, &line->laws[j], s);
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

static bool audit_laws(brume_law *laws, size_t count, double epsilon, ball_audit *out)
{
    brume_line line = {.laws = laws, .law_count = count};
    brume_line_aim(&line, epsilon);
    bool alive = true;
    for (size_t i = 0; i < count && alive; i++)
        alive = brume_law_settle(&laws[i], line.c);
    double goal = brume_line_size(&line, epsilon);
    if (alive && line.unit == 0 && !brume_line_decays(&line, epsilon, goal, BRUME_LINE_LONG)) {
        line.width = 0.2 / fmax(line.c, 0.5);
    }
    alive = alive && brume_line_lay(&line, epsilon, goal);
    if (alive) {
        ball_audit audit = {.agrees = true};
        arb_t ball, gap;
        arb_init(ball);
        arb_init(gap);
        for (int lower = 0; lower < (line.band.width > 0 ? 2 : 1); lower++) {
            brume_line_sum below, at = brume_line_evaluate_both(&line, epsilon, &below);
            at = lower ? below : at;
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

bool balls_audit_delta(brume_law *laws, size_t count, double epsilon, ball_audit *out)
{
    brume_joined joined;
    if (!brume_lattice_join(laws, count, &joined))
        return audit_laws(laws, count, epsilon, out);
    bool alive = audit_laws(joined.upper, count, epsilon, out);
    brume_joined_close(&joined);
    return alive;
}

/* ---- rays ---- */

/* m = log(q/(1-q)) - 1/(2 sigma^2) */
static void mean_of(arb_t out, const brume_law *law)
{
    arb_t x;
    arb_init(x);
    arb_set_d(out, law->rate);
    arb_sub_ui(x, out, 1, BITS);
    arb_neg(x, x);
    arb_div(out, out, x, BITS);
    arb_log(out, out, BITS);
    arb_set_d(x, law->a);
    arb_mul(x, x, x, BITS);
    arb_mul_2exp_si(x, x, 1);
    arb_inv(x, x, BITS);
    arb_sub(out, out, x, BITS);
    arb_clear(x);
}

/* P(T < cut) under N0 */
static void mass_below(arb_t out, const brume_law *law, double cut)
{
    arb_t sigma;
    if (isinf(cut)) {
        arb_one(out);
        return;
    }
    arb_init(sigma);
    mean_of(out, law);
    arb_set_d(sigma, cut);
    arb_sub(out, sigma, out, BITS);
    arb_set_d(sigma, law->a);
    arb_mul(out, out, sigma, BITS);
    brume_ball_normal_cdf(out, out, BITS);
    arb_clear(sigma);
}

/* The sum of the rules, sum w sigma/sqrt(2 pi) exp(-sigma^2 (T-m)^2/2 - base) (1+e^T)^z; or, if the
 * contour has an offset, with (1+e^T)^z - 1, and P(T < cut) added. */
static void contour_sum(acb_t out, const brume_contour *contour, const brume_law *law, double cut,
                        const acb_t z)
{
    bool from_one = brume_transform_offset(contour) > 0;
    acb_t t, l, g, w;
    arb_t mean, square;
    acb_init(t);
    acb_init(l);
    acb_init(g);
    acb_init(w);
    arb_init(mean);
    arb_init(square);
    mean_of(mean, law);
    arb_set_d(square, law->a);
    arb_mul(square, square, square, BITS);
    acb_zero(out);
    double t_re, t_im, w_re, w_im;
    for (size_t i = 0; brume_transform_node(contour, i, &t_re, &t_im, &w_re, &w_im); i++) {
        acb_set_d_d(t, t_re, t_im);
        acb_set_d_d(w, w_re, w_im);
        if (t_re > 0) { /* T + log(1 + e^{-T}) */
            acb_neg(l, t);
            acb_exp(l, l, BITS);
            acb_log1p(l, l, BITS);
            acb_add(l, l, t, BITS);
        } else {
            acb_exp(l, t, BITS);
            acb_log1p(l, l, BITS);
        }
        acb_sub_arb(g, t, mean, BITS);
        acb_mul(g, g, g, BITS);
        acb_mul_arb(g, g, square, BITS);
        acb_mul_2exp_si(g, g, -1);
        acb_mul(l, l, z, BITS);
        if (from_one) {
            acb_neg(g, g);
            acb_exp(g, g, BITS);
            acb_expm1(l, l, BITS);
            acb_mul(g, g, l, BITS);
        } else {
            acb_sub(g, l, g, BITS);
            acb_exp(g, g, BITS);
        }
        acb_addmul(out, g, w, BITS);
    }
    arb_set_d(mean, brume_transform_base(contour));
    arb_neg(mean, mean);
    arb_exp(mean, mean, BITS);
    acb_mul_arb(out, out, mean, BITS);
    arb_const_pi(mean, BITS);
    arb_mul_2exp_si(mean, mean, 1);
    arb_div(square, square, mean, BITS);
    arb_sqrt(square, square, BITS);
    acb_mul_arb(out, out, square, BITS);
    if (from_one) {
        mass_below(mean, law, cut);
        acb_add_arb(out, out, mean, BITS);
    }
    acb_clear(t);
    acb_clear(l);
    acb_clear(g);
    acb_clear(w);
    arb_clear(mean);
    arb_clear(square);
}

void balls_audit_ray(const brume_ray *ray, const brume_ray_parts *parts, size_t most,
                     ball_audit *out)
{
    acb_t z, value, factor;
    arb_t gap;
    acb_init(z);
    acb_init(value);
    acb_init(factor);
    arb_init(gap);
    brume_ray_node node;
    size_t stride = brume_ray_nodes(ray) / most + 1;
    for (size_t i = 0; brume_ray_probe(ray, i, &node); i += stride) {
        if (node.re == 0 && node.im == 0)
            continue; /* not summed: its bound is in the error */
        acb_set_d_d(z, node.a, node.b);
        acb_set_d(factor, node.start);
        acb_add(z, z, factor, BITS);
        acb_sub_ui(factor, z, 1, BITS);
        acb_mul(factor, factor, z, BITS);
        acb_set_d_d(value, node.weight_re, node.weight_im);
        acb_div(value, value, factor, BITS);
        for (size_t j = 0; j < parts->count; j++) {
            contour_sum(factor, brume_ray_contour(ray, j), parts->part[j].law, parts->part[j].cut,
                        z);
            acb_pow_ui(factor, factor, (ulong)parts->part[j].count, BITS);
            acb_mul(value, value, factor, BITS);
        }
        acb_set_d(factor, -node.scale);
        acb_exp(factor, factor, BITS);
        acb_mul(value, value, factor, BITS);
        acb_set_d_d(factor, node.re, node.im);
        acb_sub(value, value, factor, BITS);
        acb_abs(gap, value, BITS);
        double ratio = brume_ball_upper(gap) / node.error;
        out->ratio = fmax(out->ratio, ratio);
        out->agrees &= ratio <= 1;
        out->nodes++;
    }
    acb_clear(z);
    acb_clear(value);
    acb_clear(factor);
    arb_clear(gap);
}

/* --- what the rules miss --- */

typedef struct integrand {
    const brume_law *law;
    double base;
    acb_t z;
} integrand;

/* exp(-sigma^2 (T-m)^2/2 - base) (1 + e^T)^z, analytic where |Im T| < pi */
static int density_times_power(acb_ptr out, const acb_t t, void *context, slong order, slong bits)
{
    const integrand *f = context;
    acb_t l, g;
    arb_t x;
    acb_init(l), acb_init(g);
    arb_init(x);
    acb_get_mid(g, t);
    bool right = arb_is_positive(acb_realref(g));
    acb_set(g, t);
    if (right)
        acb_neg(g, g);
    acb_exp(g, g, bits);
    acb_add_ui(g, g, 1, bits);
    acb_log_analytic(l, g, order > 0, bits);
    if (right)
        acb_add(l, l, t, bits);
    acb_mul(l, l, f->z, bits);
    mean_of(x, f->law);
    acb_sub_arb(g, t, x, bits);
    acb_mul(g, g, g, bits);
    arb_set_d(x, f->law->a);
    arb_mul(x, x, x, bits);
    arb_mul_2exp_si(x, x, -1);
    acb_mul_arb(g, g, x, bits);
    acb_sub(l, l, g, bits);
    arb_set_d(x, f->base);
    acb_sub_arb(l, l, x, bits);
    acb_exp(out, l, bits);
    acb_clear(l), acb_clear(g);
    arb_clear(x);
    return 0;
}

/* exp(-base) Phi(z), T confined as in the part; tails beyond 16 deviations, of 1e-55, are left out
 */
static void transform(acb_t out, const brume_ray_part *part, double base, const acb_t z,
                      double real)
{
    double mean, sigma;
    brume_transform_normal(part->law, &mean, &sigma);
    double low = fmin(mean, mean + fmin(real, 0) / (sigma * sigma)) - 16 / sigma;
    double high = fmax(fmax(mean, mean + fmax(real, 0) / (sigma * sigma)), 0) + 16 / sigma;
    integrand f = {.law = part->law, .base = base};
    acb_t a, b;
    arb_t x;
    mag_t tiny;
    acb_init(f.z), acb_init(a), acb_init(b);
    arb_init(x);
    mag_init(tiny);
    acb_set(f.z, z);
    acb_set_d(a, fmax(low, part->from));
    acb_set_d(b, fmin(high, part->cut));
    mag_set_ui_2exp_si(tiny, 1, -90);
    acb_calc_integrate(out, density_times_power, &f, a, b, 80, tiny, NULL, BITS);
    arb_const_pi(x, BITS);
    arb_mul_2exp_si(x, x, 1);
    arb_rsqrt(x, x, BITS);
    acb_mul_arb(out, out, x, BITS);
    arb_set_d(x, part->law->a);
    acb_mul_arb(out, out, x, BITS);
    acb_clear(f.z), acb_clear(a), acb_clear(b);
    arb_clear(x);
    mag_clear(tiny);
}

/* The ray's integrand with its contours' sums, at z - start. */
static void ray_integrand(acb_t out, const brume_ray *ray, const brume_ray_parts *parts,
                          const brume_ray_span *span, const acb_t place, double x)
{
    acb_t z, factor;
    acb_init(z), acb_init(factor);
    acb_set_d(factor, span->start);
    acb_add(z, place, factor, BITS);
    acb_sub_ui(factor, z, 1, BITS);
    acb_mul(factor, factor, z, BITS);
    acb_inv(out, factor, BITS);
    for (size_t j = 0; j < parts->count; j++) {
        contour_sum(factor, brume_ray_contour(ray, j), parts->part[j].law, parts->part[j].cut, z);
        acb_pow_ui(factor, factor, (ulong)parts->part[j].count, BITS);
        acb_mul(out, out, factor, BITS);
    }
    acb_set_d(factor, -x);
    acb_mul(factor, factor, place, BITS);
    acb_set_d(z, span->scale);
    acb_sub(factor, factor, z, BITS);
    acb_exp(factor, factor, BITS);
    acb_mul(out, out, factor, BITS);
    acb_clear(z), acb_clear(factor);
}

/* The rule of 24 nodes on the part of the span from middle - half to middle + half, in [-1, 1]. */
static void rule(acb_t out, const brume_ray *ray, const brume_ray_parts *parts,
                 const brume_ray_span *span, double x, double middle, double half)
{
    acb_t place, value, direction;
    arb_t node, weight;
    acb_init(place), acb_init(value), acb_init(direction);
    arb_init(node), arb_init(weight);
    acb_zero(out);
    for (ulong i = 0; i < BRUME_GAUSS_NODES; i++) {
        arb_hypgeom_legendre_p_ui_root(node, weight, BRUME_GAUSS_NODES, i, BITS);
        acb_set_d_d(direction, span->half_re, span->half_im);
        acb_set_arb(value, node);
        acb_set_d(place, half);
        acb_mul(value, value, place, BITS);
        acb_mul_arb(place, place, weight, BITS);
        acb_mul(place, place, direction, BITS); /* the weight */
        acb_swap(place, value);                 /* place is half * node now */
        acb_t shift;
        acb_init(shift);
        acb_set_d(shift, middle);
        acb_add(place, place, shift, BITS);
        acb_mul(place, place, direction, BITS);
        acb_set_d_d(shift, span->middle_re, span->middle_im);
        acb_add(place, place, shift, BITS);
        ray_integrand(shift, ray, parts, span, place, x);
        acb_addmul(out, shift, value, BITS);
        acb_clear(shift);
    }
    acb_clear(place), acb_clear(value), acb_clear(direction);
    arb_clear(node), arb_clear(weight);
}

static void compare(const acb_t one, const acb_t other, double allowed, ball_audit *out)
{
    acb_t gap;
    arb_t size;
    acb_init(gap);
    arb_init(size);
    acb_sub(gap, one, other, BITS);
    acb_abs(size, gap, BITS);
    double ratio = brume_ball_upper(size) / allowed;
    out->ratio = fmax(out->ratio, ratio);
    out->agrees &= ratio <= 1;
    out->nodes++;
    acb_clear(gap);
    arb_clear(size);
}

void balls_audit_transforms(const brume_ray *ray, const brume_ray_parts *parts, size_t most,
                            ball_audit *out)
{
    acb_t z, value, other;
    acb_init(z), acb_init(value), acb_init(other);
    brume_ray_node node;
    size_t stride = brume_ray_nodes(ray) / most + 1;
    for (size_t i = 0; brume_ray_probe(ray, i, &node); i += stride) {
        acb_set_d_d(z, node.a, node.b);
        acb_set_d(value, node.start);
        acb_add(z, z, value, BITS);
        for (size_t j = 0; j < parts->count; j++) {
            const brume_contour *contour = brume_ray_contour(ray, j);
            double real = node.start + node.a;
            if (brume_ray_log_sum(&parts->part[j], real) - brume_transform_base(contour) > 30)
                continue; /* on the real line too much would cancel */
            contour_sum(value, contour, parts->part[j].law, parts->part[j].cut, z);
            transform(other, &parts->part[j], brume_transform_base(contour), z, real);
            /* the places of its nodes are rounded */
            double re, im, rounding;
            brume_transform_sum(contour, real, node.b, &re, &im, &rounding);
            compare(value, other, exp(brume_transform_missed(contour, real, node.b)) + rounding,
                    out);
        }
    }
    acb_clear(z), acb_clear(value), acb_clear(other);
}

void balls_audit_panels(const brume_ray *ray, const brume_ray_parts *parts, double x, size_t most,
                        ball_audit *out)
{
    acb_t z, value, other;
    acb_init(z), acb_init(value), acb_init(other);
    brume_ray_span span;
    size_t panels = brume_ray_nodes(ray) / BRUME_GAUSS_NODES;
    for (size_t i = 0; brume_ray_span_at(ray, i, x, &span); i += panels / most + 1) {
        rule(value, ray, parts, &span, x, 0, 1);
        rule(other, ray, parts, &span, x, -0.5, 0.5);
        rule(z, ray, parts, &span, x, 0.5, 0.5);
        acb_add(other, other, z, BITS);
        compare(value, other, exp(span.log_missed), out);
    }
    acb_clear(z), acb_clear(value), acb_clear(other);
}

static bool balls_audit_rays(const brume_law *laws, size_t count, double epsilon, ball_audit *out)
{
    brume_ray_split *p = calloc(1, sizeof *p);
    double delta =
        fmin(fmax(count > 0 ? brume_one_large_draw_delta(&laws[0], epsilon) : 0, 1e-300), 1e-3);
    ball_audit audit = {.agrees = true};
    if (p && brume_parts_gather(laws, count, &p->whole))
        for (int way = 0; way < 3; way++)
            if (brume_ray_split_make(p, epsilon, delta, way)) {
                double x = p->whole.origin + (p->whole.reversed ? -epsilon : epsilon);
                for (size_t i = 0; i < p->term_count; i++) {
                    if (!p->rays[i])
                        continue;
                    bool first = audit.nodes == 0; /* the rules of one ray are enough */
                    balls_audit_ray(p->rays[i], &p->parts[i], MOST_AUDITED, &audit);
                    if (first) {
                        balls_audit_transforms(p->rays[i], &p->parts[i], 2, &audit);
                        balls_audit_panels(p->rays[i], &p->parts[i], x, 1, &audit);
                    }
                }
                brume_ray_split_close(p);
            }
    free(p);
    if (audit.nodes > 0)
        *out = audit;
    return audit.nodes > 0;
}

/* ---- one sampled Gaussian in doubles ---- */

static void audit_doubles(brume_law *law, double epsilon, ball_audit *out)
{
    enum { PLACES = 64 };
    ball_audit audit = {.agrees = true};
    brume_delta_bounds balls;
    if (!brume_one_sampled_bounds(law, &balls)) {
        *out = (ball_audit){.agrees = false, .ratio = INFINITY};
        return;
    }
    for (int j = 0; j < PLACES; j++) { /* moved to either side, as the sums take them */
        brume_side side = j % 2 ? BRUME_UPPER_SIDE : BRUME_LOWER_SIDE;
        brume_sampled_draw draw = brume_sampled_draw_of(law, side);
        double error, at = epsilon * (j - PLACES / 4) * (2.0 / PLACES);
        double value = brume_sampled_value(&draw, -at, &error);
        double ball = balls.delta(balls.context, at, side);
        double ratio = fabs(value - ball) / (error + 8 * BRUME_UNIT * ball + 1e-300);
        audit.agrees = audit.agrees && ratio <= 1; /* not if it is not a number */
        audit.ratio = ratio <= audit.ratio ? audit.ratio : ratio;
        audit.nodes++;
    }
    *out = audit;
}

/* ---- compositions ---- */

/* What was solved at an epsilon for one order of the neighbours. */
static bool audit_order(const brume_merged *merged, const brume_certified *solved, double epsilon,
                        ball_audit *audit)
{
    bool rays = brume_rays_suit(merged->laws, merged->law_count) ||
                strncmp(solved->route, "integral along a ray", 20) == 0;
    if (strcmp(solved->route, "closed form of one subsampled Gaussian") == 0) {
        audit_doubles(merged->laws, epsilon, audit);
        return true;
    }
    return (rays && balls_audit_rays(merged->laws, merged->law_count, epsilon, audit)) ||
           balls_audit_delta(merged->laws, merged->law_count, epsilon, audit);
}

static brume_status visit_order(void *context, bool again, brume_merged *merged, bool *done,
                                brume_error *error)
{
    (void)again, (void)done, (void)error;
    const brume_asked asked = {.at = *(const double *)context, .width = 1e-10};
    brume_certified solved;
    ball_audit audit;
    if (merged->law_count == 0)
        return BRUME_OK;
    assert_true(brume_solve(merged->laws, merged->law_count, &asked, &solved));
    assert_false(solved.contradictory);
    if (solved.balls || solved.nodes == 0)
        return BRUME_OK;
    assert_true(audit_order(merged, &solved, asked.at, &audit));
    if (!audit.agrees)
        fail_msg("%s: %.3g of the claimed error", solved.route, audit.ratio);
    return BRUME_OK;
}

void balls_agree(const brume_term *terms, size_t count, double epsilon)
{
    brume_error error;
    assert_ok(brume_each_order(terms, count, visit_order, &epsilon, &error));
}
