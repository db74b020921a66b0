/* The sums of doubles computed again in ball arithmetic. See the header. Slow and plain on purpose:
 * the forms here are the textbook ones, not those of law/. */
#include "accountant/check/audit.h"

#include <math.h>

#include "accountant/exact/delta_bounds.h"
#include "accountant/law/shift_parameters.h"
#include "accountant/exact/sampled_balls.h"
#include "number/ball.h"

enum { BITS = BRUME_AUDIT_BITS };

/* The unit of a folded line. */
static void lattice_unit(arb_t unit, const brume_line *line)
{
    arb_set_d(unit, line->unit);
    if (line->laws[0].unit_is_rounded) { /* then it is alone */
        arb_t centre;
        arb_init(centre);
        brume_audit_places(unit, centre, &line->laws[0]);
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
            brume_audit_places(above, acb_realref(x), &line->laws[0]);
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
        const brume_node *node = &line->nodes[i];
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
            brume_audit_transform(g, &line->laws[j], s);
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

static bool audit_laws(brume_law *laws, size_t count, double epsilon, brume_audit *out)
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
        brume_audit audit = {.agrees = true};
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

bool brume_audit_delta(brume_law *laws, size_t count, double epsilon, brume_audit *out)
{
    brume_joined joined;
    if (!brume_lattice_join(laws, count, &joined))
        return audit_laws(laws, count, epsilon, out);
    bool alive = audit_laws(joined.upper, count, epsilon, out);
    brume_joined_close(&joined);
    return alive;
}
