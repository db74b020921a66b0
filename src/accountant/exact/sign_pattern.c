/* The profile of few draws, as a finite sum over sign patterns, in balls.
 *
 * With sigma = s + 1/2 every law here has a transform that is a sum of exponentials exp(sigma a):
 *   Laplace          e^{-e/2}/2 [e^{sigma e}(1 + 1/(2 sigma)) + e^{-sigma e}(1 - 1/(2 sigma))]
 *   pure             [e^{sigma e} + e^{-sigma e}] / (2 cosh(e/2))
 *   k-ary            [e^{sigma e} + (k-2) e^{-e/2} + e^{-sigma e}] e^{e/2}/(e^e + k - 1)
 *   binary           P[h] e^{-h/2} e^{sigma h} + P[-g] e^{g/2} e^{-sigma g}
 *   discrete Laplace [e^{sigma aD} + (1-q) sum e^{sigma a(D-2x)} + e^{-sigma aD}] e^{-aD/2}/(1+q)
 * A product of them is a sum over patterns of w e^{sigma a} (1+1/(2 sigma))^A (1-1/(2 sigma))^B
 * with A + B = K, the number of Laplace draws. Dividing by s(s+1) = sigma^2 - 1/4 and inverting,
 *   delta(eps) = e^{eps/2} N sum_{a > eps} w F_{A,B}((a - eps)/2),
 *   F_{A,B}(x) = 2 [tau^{K-1}] e^{tau x} (tau+1)^{A-1} (tau-1)^{B-1}        for A, B >= 1,
 * a polynomial; for B = 0 or A = 0 there is another pole, at +-1, and for K = 0 it is 2 sinh x.
 * Promise: the ball contains delta for the exact parameters of the chosen side; precision is raised
 * until it is sharp. Monotone in every parameter: proofs/accountant/exact.md, section exact.1. */
#include <math.h>
#include <stdlib.h>

#include "accountant/exact/delta_bounds.h"
#include "accountant/exact/one_sampled.h"
#include "accountant/law/law.h"
#include "accountant/law/shift_parameters.h"
#include "number/ball.h"
#include "number/flint.h"

/* One draw of a law with atoms, as a polynomial of exponentials. See the header, and the list of
 * transforms that opens sign_pattern.c. */

/* The shifts of one draw are top - j unit, j = 0 .. steps, and unit is `step` times its e (or w,
 * half the distance of the atoms on a sample). False if the law is not of this kind. */
static bool pattern_shape(const brume_law *law, double *unit, slong *step, double *steps)
{
    *unit = law->unit;
    *step = 2; /* in multiples of e, or of w */
    *steps = 1;
    switch (law->source.kind) {
    case BRUME_LOSS_LAPLACE:
        *unit = 2 * law->a;
        return true;
    case BRUME_LOSS_PURE:
    case BRUME_LOSS_POISSON_PURE:
        return true;
    case BRUME_LOSS_KARY:
        *step = 1;
        *steps = 2;
        return true;
    case BRUME_LOSS_DISCRETE_LAPLACE:
        *steps = law->shift;
        return true;
    default:
        return false;
    }
}

/* The worst pure law on a Poisson sample. */
static void sampled_pure_draw(arb_poly_t poly, arb_t normal, arb_t scale, arb_t centre,
                              const brume_law *law, int direction, slong precision)
{
    arb_t log_odds, x;
    arb_init(log_odds);
    arb_init(x);
    double e = brume_parameter_moved(law->source.a, direction);
    double rate = fmin(1, brume_parameter_moved(law->source.rate, direction));
    brume_sampled_places(scale, centre, e, rate, law->reversed, precision);
    arb_set_d(log_odds, e); /* twice the log_odds: e, or 2w - e */
    if (!law->reversed) {
        arb_sub(log_odds, scale, log_odds, precision);
        arb_add(log_odds, log_odds, scale, precision);
    }
    arb_neg(log_odds, log_odds);
    arb_exp(x, log_odds, precision); /* the upper atom has mass 1/(1 + e^{-2 log_odds}), */
    arb_add_ui(x, x, 1, precision);
    arb_add(normal, scale, centre, precision);
    arb_mul_2exp_si(normal, normal, -1);
    arb_neg(normal, normal);
    arb_exp(normal, normal, precision);
    arb_div(normal, normal, x, precision); /* and the weight P[h] e^{-h/2}; */
    arb_add(log_odds, log_odds, scale, precision);
    arb_exp(x, log_odds, precision); /* the other's over it is e^{-2 log_odds + w} */
    arb_poly_zero(poly);
    arb_poly_set_coeff_si(poly, 0, 1);
    arb_poly_set_coeff_arb(poly, 1, x);
    arb_clear(log_odds);
    arb_clear(x);
}

/* The discrete Laplace of 1/scale `scale`. */
static void discrete_laplace_draw(arb_poly_t poly, arb_t normal, const arb_t scale, slong shift,
                                  slong precision)
{
    arb_t x, y;
    arb_init(x);
    arb_init(y);
    arb_neg(x, scale);
    arb_expm1(y, x, precision);
    arb_neg(y, y); /* 1 - q */
    for (slong j = 1; j < shift; j++)
        arb_poly_set_coeff_arb(poly, j, y);
    arb_poly_set_coeff_si(poly, 0, 1);
    arb_poly_set_coeff_si(poly, shift, 1);
    arb_mul_si(normal, scale, -shift, precision);
    arb_mul_2exp_si(normal, normal, -1);
    arb_exp(normal, normal, precision);
    arb_exp(x, x, precision);
    arb_add_ui(x, x, 1, precision);
    arb_div(normal, normal, x, precision);
    arb_clear(x);
    arb_clear(y);
}

/* For one with atoms alone. `scale` is its e, moved in `direction`; of the pure law on a sample
 * half the distance and the middle of the atoms are put into `scale` and `centre`. */
static void pattern_draw(arb_poly_t poly, arb_t normal, arb_t scale, arb_t centre,
                         const brume_law *law, int direction, slong precision)
{
    arb_t x, y;
    arb_init(x);
    arb_init(y);
    arb_poly_zero(poly);
    switch (law->source.kind) {
    case BRUME_LOSS_POISSON_PURE:
        sampled_pure_draw(poly, normal, scale, centre, law, direction, precision);
        break;
    case BRUME_LOSS_PURE:
        arb_poly_set_coeff_si(poly, 0, 1);
        arb_poly_set_coeff_si(poly, 1, 1);
        arb_mul_2exp_si(x, scale, -1);
        arb_cosh(normal, x, precision);
        arb_mul_2exp_si(normal, normal, 1);
        arb_inv(normal, normal, precision);
        break;
    case BRUME_LOSS_KARY:
        arb_poly_set_coeff_si(poly, 0, 1);
        arb_poly_set_coeff_si(poly, 2, 1);
        arb_mul_2exp_si(x, scale, -1);
        arb_exp(x, x, precision); /* e^{e/2} */
        arb_inv(y, x, precision);
        arb_mul_ui(y, y, (ulong)law->shift - 2, precision);
        arb_poly_set_coeff_arb(poly, 1, y);
        arb_mul(y, x, x, precision);
        arb_add_ui(y, y, (ulong)law->shift - 1, precision);
        arb_div(normal, x, y, precision);
        break;
    default: /* the discrete Laplace */
        discrete_laplace_draw(poly, normal, scale, (slong)law->shift, precision);
    }
    arb_clear(x);
    arb_clear(y);
}

/* 2^K e^x - 2 sum_{j<K} S_{K-1-j} x^j/j! (sign +1), or with alternating signs and e^{-x} (sign -1):
 * F for B = 0 and for A = 0 (see sign_pattern.c). S_m = sum_{i<=m} C(K-1, i). */
static void pattern_end(arb_t out, const arb_t x, slong k, int sign, slong precision)
{
    arb_t power, term, sum;
    arb_init(power);
    arb_init(term);
    arb_init(sum);
    arb_one(power);
    fmpz_t partial, binomial;
    fmpz_init(partial);
    fmpz_init(binomial);
    fmpz_one_2exp(partial, (ulong)(k - 1)); /* S_{K-1} */
    /* small x: sign +1 is sum_{j>=1} T_j x^j/j!, T_j = 2^{K-1} - S_{K-1-j}, all positive */
    bool series = sign > 0 && arf_cmpabs_2exp_si(arb_midref(x), 1) < 0 && arb_is_finite(x);
    fmpz_t whole;
    fmpz_init(whole);
    fmpz_set(whole, partial);
    slong last = series ? precision + k + 8 : k - 1;
    for (slong j = 0; j <= last; j++) {
        if (series) {
            fmpz_sub(binomial, whole, partial);
            arb_mul_fmpz(term, power, binomial, precision);
        } else {
            arb_mul_fmpz(term, power, partial, precision);
        }
        arb_add(sum, sum, term, precision);
        if (j < k) { /* S_{K-1-j} -> S_{K-2-j} */
            fmpz_bin_uiui(binomial, (ulong)(k - 1), (ulong)(k - 1 - j));
            fmpz_sub(partial, partial, binomial);
        }
        arb_mul(power, power, x, precision);
        arb_div_si(power, power, sign * (j + 1), precision);
        /* x < 2: after term j >= 4 the rest is below twice the next power times 2^{K-1} */
        if (series && j >= k && j >= 4 &&
            arf_cmpabs_2exp_si(arb_midref(power), -precision - 8) < 0) {
            mag_t rest;
            mag_init(rest);
            arb_get_mag(rest, power);
            mag_mul_2exp_si(rest, rest, k);
            /* relative to the first term the rest is tiny only if x is not; scale by x below */
            arb_add_error_mag(sum, rest);
            mag_clear(rest);
            break;
        }
    }
    fmpz_clear(whole);
    if (series) {
        arb_mul_2exp_si(out, sum, 1);
    } else {
        arb_mul_2exp_si(sum, sum, 1);
        if (sign > 0)
            arb_exp(term, x, precision);
        else {
            arb_neg(term, x);
            arb_exp(term, term, precision);
        }
        arb_mul_2exp_si(term, term, k);
        if (sign > 0)
            arb_sub(out, term, sum, precision);
        else
            arb_sub(out, sum, term, precision);
    }
    fmpz_clear(partial);
    fmpz_clear(binomial);
    arb_clear(power);
    arb_clear(term);
    arb_clear(sum);
}

enum { MOST_GROUPS = 128, MOST_LAPLACE = 300, MOST_OPTIONS = 4096 };

typedef struct group {
    const brume_law *law;
    bool laplace;
    double unit; /* shifts are top - j * unit, j = 0 .. options - 1 */
    double top;  /* the largest shift */
    double rest; /* the sum of the tops of this group and those after it */
    size_t options;
    slong most, step; /* shifts are centre + a (most - j step) */
} group;

/* Everything that depends on the side and the precision. */
typedef struct tables {
    bool ready;
    slong precision;
    arb_t scale[MOST_GROUPS];                     /* the law's e (or a), moved to the side */
    arb_t centre[MOST_GROUPS];                    /* of all draws of the law; binary only, else 0 */
    arb_ptr weight[MOST_GROUPS];                  /* w_j */
    arb_ptr grow[MOST_GROUPS], fade[MOST_GROUPS]; /* w_j e^{+-shift_j/2}; K = 0 only */
    arb_t normal;
} tables;

struct brume_pattern {
    group groups[MOST_GROUPS];
    size_t group_count;
    size_t laplace_draws; /* K */
    tables side[2];
    arb_ptr coefficient[MOST_LAPLACE + 1]; /* of F_{A,K-A} in x; index A; NULL until asked for */
    slong coefficient_precision;
    fmpz *quotient, *factorial; /* (tau+1)^{A-1} (tau-1)^{K-A-1} for A = `reached`; j! */
    size_t reached;
};

static tables *side_tables(brume_pattern *pattern, brume_side side)
{
    return &pattern->side[side == BRUME_UPPER_SIDE];
}

static bool describe(const brume_law *law, group *out)
{
    double count = law->count;
    double steps; /* of one draw */
    *out = (group){.law = law, .laplace = brume_law_is_laplace(law)};
    if (!(count < MOST_OPTIONS) || !pattern_shape(law, &out->unit, &out->step, &steps))
        return false;
    out->top = count * law->top;
    out->options = (size_t)(count * steps) + 1;
    out->most = (slong)(count * steps * (double)out->step / 2);
    return out->options <= MOST_OPTIONS;
}

/* How many patterns lie above epsilon; stops counting at `limit`. */
static double count_leaves(const brume_pattern *pattern, size_t depth, double epsilon, double limit)
{
    if (depth == pattern->group_count)
        return 1;
    const group *g = &pattern->groups[depth];
    double leaves = 0, below = g->rest - g->top;
    for (size_t j = 0; j < g->options && leaves < limit; j++) {
        double shift = g->top - (double)j * g->unit;
        if (shift + below <= epsilon)
            break;
        leaves += count_leaves(pattern, depth + 1, epsilon - shift, limit - leaves);
    }
    return leaves;
}

brume_pattern *brume_pattern_open(const brume_law *laws, size_t count, double epsilon,
                                  double effort)
{
    if (count > MOST_GROUPS)
        return NULL;
    brume_pattern *pattern = calloc(1, sizeof *pattern);
    if (!pattern)
        return NULL;
    double draws = 0, rest = 0;
    bool able = true;
    for (size_t i = 0; i < count && able; i++) {
        able = describe(&laws[i], &pattern->groups[i]);
        if (pattern->groups[i].laplace)
            draws += laws[i].count;
    }
    pattern->group_count = count;
    able = able && draws <= MOST_LAPLACE;
    if (able) {
        for (size_t i = count; i-- > 0;) {
            rest += pattern->groups[i].top;
            pattern->groups[i].rest = rest;
        }
        pattern->laplace_draws = (size_t)draws;
        double limit = effort / (draws + 0.5 * (double)count + 6);
        able = count_leaves(pattern, 0, epsilon, limit) < limit;
    }
    if (!able) {
        free(pattern);
        return NULL;
    }
    return pattern;
}

static void tables_clear(const brume_pattern *pattern, tables *t)
{
    if (!t->ready)
        return;
    for (size_t i = 0; i < pattern->group_count; i++) {
        _arb_vec_clear(t->weight[i], (slong)pattern->groups[i].options);
        _arb_vec_clear(t->grow[i], (slong)pattern->groups[i].options);
        _arb_vec_clear(t->fade[i], (slong)pattern->groups[i].options);
        arb_clear(t->scale[i]);
        arb_clear(t->centre[i]);
    }
    arb_clear(t->normal);
    *t = (tables){0};
}

static void clear_coefficients(brume_pattern *pattern)
{
    slong k = (slong)pattern->laplace_draws;
    for (slong a = 0; a <= k; a++)
        if (pattern->coefficient[a])
            _arb_vec_clear(pattern->coefficient[a], k + 1);
    if (pattern->quotient) {
        _fmpz_vec_clear(pattern->quotient, k);
        _fmpz_vec_clear(pattern->factorial, k + 1);
    }
    for (slong a = 0; a <= k; a++)
        pattern->coefficient[a] = NULL;
    pattern->quotient = pattern->factorial = NULL;
}

/* Coefficients of x^j in F_{A,K-A}, 1 <= A <= K-1: 2 q_{K-1-j}/j!, q = (tau+1)^{A-1}(tau-1)^{B-1}.
 * Rows are made from A = K-1 downwards, as far as they are asked for. */
static arb_srcptr coefficients(brume_pattern *pattern, size_t ups, slong precision)
{
    slong k = (slong)pattern->laplace_draws;
    if (pattern->quotient && pattern->coefficient_precision < precision)
        clear_coefficients(pattern);
    if (!pattern->quotient) {
        pattern->coefficient_precision = precision;
        pattern->reached = (size_t)k;
        pattern->quotient = _fmpz_vec_init(k);
        pattern->factorial = _fmpz_vec_init(k + 1);
        fmpz_one(pattern->factorial);
        for (slong j = 1; j <= k; j++)
            fmpz_mul_si(pattern->factorial + j, pattern->factorial + j - 1, j);
        for (slong i = 0; i <= k - 2; i++)
            fmpz_bin_uiui(pattern->quotient + i, (ulong)(k - 2), (ulong)i);
    }
    fmpz *q = pattern->quotient;
    while (pattern->reached > ups) {
        if (pattern->reached < (size_t)k) { /* to A-1, B+1: divide by tau + 1, exactly, ... */
            for (slong i = k - 3; i >= 0; i--)
                fmpz_sub(q + i, q + i, q + i + 1);
            for (slong i = 0; i <= k - 3; i++)
                fmpz_swap(q + i, q + i + 1);
            fmpz_zero(q + (k - 2));
            for (slong i = k - 2; i >= 1; i--) /* ... and multiply by tau - 1 */
                fmpz_sub(q + i, q + i - 1, q + i);
            fmpz_neg(q, q);
        }
        arb_ptr row = _arb_vec_init(k + 1);
        for (slong j = 1; j <= k - 1; j++) {
            arb_set_fmpz(row + j, q + (k - 1 - j));
            arb_mul_2exp_si(row + j, row + j, 1);
            arb_div_fmpz(row + j, row + j, pattern->factorial + j, precision);
        }
        pattern->coefficient[--pattern->reached] = row;
    }
    return pattern->coefficient[ups];
}

void brume_pattern_close(brume_pattern *pattern)
{
    if (!pattern)
        return;
    tables_clear(pattern, &pattern->side[0]);
    tables_clear(pattern, &pattern->side[1]);
    clear_coefficients(pattern);
    free(pattern);
}

static void fill_group(const group *g, tables *t, size_t i, int direction)
{
    slong precision = t->precision, options = (slong)g->options;
    ulong draws = (ulong)g->law->count;
    arb_t x, y;
    arb_init(x);
    arb_init(y);
    arb_set_d(t->scale[i], brume_parameter_moved(g->law->a, direction));
    if (g->laplace) {
        for (slong j = 0; j < options; j++)
            arb_bin_uiui(&t->weight[i][j], draws, (ulong)j, precision);
        arb_mul_ui(x, t->scale[i], draws, precision); /* (e^{-e/2}/2)^k */
        arb_mul_2exp_si(x, x, -1);
        arb_neg(x, x);
        arb_exp(x, x, precision);
        arb_mul_2exp_si(x, x, -(slong)draws);
    } else {
        arb_poly_t poly;
        arb_poly_init(poly);
        pattern_draw(poly, x, t->scale[i], t->centre[i], g->law, direction, precision);
        arb_mul_ui(t->centre[i], t->centre[i], draws, precision);
        arb_poly_pow_ui(poly, poly, draws, precision);
        for (slong j = 0; j < options; j++)
            arb_poly_get_coeff_arb(&t->weight[i][j], poly, j);
        arb_pow_ui(x, x, draws, precision);
        arb_poly_clear(poly);
    }
    arb_mul(t->normal, t->normal, x, precision);
    /* shift_j = (top - j unit): in multiples of scale: top/a - j unit/a, both integers */
    for (slong j = 0; j < options; j++) {
        arb_mul_si(y, t->scale[i], g->most - j * g->step, precision);
        arb_add(y, y, t->centre[i], precision);
        arb_mul_2exp_si(y, y, -1);
        arb_exp(&t->grow[i][j], y, precision);
        arb_inv(&t->fade[i][j], &t->grow[i][j], precision);
        arb_mul(&t->grow[i][j], &t->grow[i][j], &t->weight[i][j], precision);
        arb_mul(&t->fade[i][j], &t->fade[i][j], &t->weight[i][j], precision);
    }
    arb_clear(x);
    arb_clear(y);
}

static void tables_build(brume_pattern *pattern, brume_side side, slong precision)
{
    tables *t = side_tables(pattern, side);
    if (t->ready && t->precision >= precision)
        return;
    tables_clear(pattern, t);
    t->precision = precision;
    arb_init(t->normal);
    arb_one(t->normal);
    for (size_t i = 0; i < pattern->group_count; i++) {
        arb_init(t->scale[i]);
        arb_init(t->centre[i]);
        t->weight[i] = _arb_vec_init((slong)pattern->groups[i].options);
        t->grow[i] = _arb_vec_init((slong)pattern->groups[i].options);
        t->fade[i] = _arb_vec_init((slong)pattern->groups[i].options);
        fill_group(&pattern->groups[i], t, i, side);
    }
    t->ready = true;
}

typedef struct walk {
    brume_pattern *pattern;
    const tables *t;
    double epsilon, slack; /* for pruning: what is surely below */
    arb_t half_epsilon, e_up, e_down, sum, x, value;
    arb_t weight[MOST_GROUPS + 1], grow[MOST_GROUPS + 1], fade[MOST_GROUPS + 1];
    arb_t half_shift[MOST_GROUPS + 1];
} walk;

static void leaf(walk *w, size_t ups)
{
    slong precision = w->t->precision, k = (slong)w->pattern->laplace_draws;
    size_t depth = w->pattern->group_count;
    arb_sub(w->x, w->half_shift[depth], w->half_epsilon, precision);
    if (arb_is_nonpositive(w->x))
        return;
    if (k == 0) { /* w (e^x - e^{-x}), from products */
        arb_mul(w->value, w->grow[depth], w->e_down, precision);
        arb_submul(w->value, w->fade[depth], w->e_up, precision);
    } else {
        if (ups == (size_t)k)
            pattern_end(w->value, w->x, k, 1, precision);
        else if (ups == 0)
            pattern_end(w->value, w->x, k, -1, precision);
        else
            _arb_poly_evaluate_horner(w->value, coefficients(w->pattern, ups, precision), k, w->x,
                                      precision);
        arb_mul(w->value, w->value, w->weight[depth], precision);
    }
    if (!arb_is_positive(w->x)) { /* epsilon is on this pattern: it may count or not */
        arb_zero(w->x);
        arb_union(w->value, w->value, w->x, precision);
    }
    arb_add(w->sum, w->sum, w->value, precision);
}

static void walk_down(walk *w, size_t depth, double above, size_t ups)
{
    if (depth == w->pattern->group_count) {
        leaf(w, ups);
        return;
    }
    const group *g = &w->pattern->groups[depth];
    slong precision = w->t->precision;
    double below = g->rest - g->top;
    for (size_t j = 0; j < g->options; j++) {
        double shift = g->top - (double)j * g->unit;
        if (above + shift + below <= w->epsilon - w->slack)
            break; /* surely below epsilon, and so are all that follow */
        if (w->pattern->laplace_draws == 0) {
            arb_mul(w->grow[depth + 1], w->grow[depth], &w->t->grow[depth][j], precision);
            arb_mul(w->fade[depth + 1], w->fade[depth], &w->t->fade[depth][j], precision);
        } else {
            arb_mul(w->weight[depth + 1], w->weight[depth], &w->t->weight[depth][j], precision);
        }
        arb_mul_si(w->value, w->t->scale[depth], g->most - (slong)j * g->step, precision);
        arb_add(w->value, w->value, w->t->centre[depth], precision);
        arb_mul_2exp_si(w->value, w->value, -1);
        arb_add(w->half_shift[depth + 1], w->half_shift[depth], w->value, precision);
        walk_down(w, depth + 1, above + shift, ups + (g->laplace ? g->options - 1 - j : 0));
    }
}

static void evaluate(arb_t out, brume_pattern *pattern, double epsilon, brume_side side,
                     slong precision)
{
    tables_build(pattern, side, precision);
    walk w = {.pattern = pattern, .t = side_tables(pattern, side), .epsilon = epsilon};
    w.slack = 1e-12 * (pattern->groups[0].rest + fabs(epsilon));
    for (size_t i = 0; i < pattern->group_count; i++) /* its lowest shift may be the largest */
        if (pattern->groups[i].law->centre != 0)
            w.slack += 1e-12 * pattern->groups[i].law->count * pattern->groups[i].unit;
    arb_init(w.half_epsilon);
    arb_init(w.e_up);
    arb_init(w.e_down);
    arb_init(w.sum);
    arb_init(w.x);
    arb_init(w.value);
    for (size_t i = 0; i <= pattern->group_count; i++) {
        arb_init(w.weight[i]);
        arb_init(w.grow[i]);
        arb_init(w.fade[i]);
        arb_init(w.half_shift[i]);
    }
    arb_one(w.weight[0]);
    arb_one(w.grow[0]);
    arb_one(w.fade[0]);
    arb_set_d(w.half_epsilon, 0.5 * epsilon);
    arb_exp(w.e_up, w.half_epsilon, precision);
    arb_inv(w.e_down, w.e_up, precision);
    walk_down(&w, 0, 0, 0);
    arb_mul(out, w.e_up, w.t->normal, precision);
    arb_mul(out, out, w.sum, precision);
    for (size_t i = 0; i <= pattern->group_count; i++) {
        arb_clear(w.weight[i]);
        arb_clear(w.grow[i]);
        arb_clear(w.fade[i]);
        arb_clear(w.half_shift[i]);
    }
    arb_clear(w.half_epsilon);
    arb_clear(w.e_up);
    arb_clear(w.e_down);
    arb_clear(w.sum);
    arb_clear(w.x);
    arb_clear(w.value);
}

static double pattern_delta(void *context, double epsilon, brume_side side)
{
    brume_pattern *pattern = context;
    slong precision = 96 + 2 * (slong)pattern->laplace_draws;
    for (int i = 0; i < 2; i++)
        if (pattern->side[i].ready && pattern->side[i].precision > precision)
            precision = pattern->side[i].precision;
    arb_t ball;
    arb_init(ball);
    double best = side == BRUME_UPPER_SIDE ? 1 : 0;
    for (; precision <= 8192; precision += precision / 2) {
        evaluate(ball, pattern, epsilon, side, precision);
        if (side == BRUME_UPPER_SIDE)
            best = fmin(best, fmax(brume_ball_upper(ball), 0));
        else
            best = fmax(best, brume_ball_lower(ball));
        if (brume_ball_is_sharp(ball, 56) || (arb_is_zero(ball)))
            break;
    }
    arb_clear(ball);
    return best;
}

brume_delta_bounds brume_pattern_bounds(brume_pattern *pattern)
{
    return (brume_delta_bounds){.delta = pattern_delta,
                                .context = pattern,
                                .route = "closed form, a sum over sign patterns"};
}
