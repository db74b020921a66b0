/* What a query's measurements cost together, and how much noise a price buys.
 *
 * Promise: for the scales written, the law of all noised measures on two neighbouring tables is
 * within the price returned. Every double below is rounded so that noise grows: costs and
 * sensitivities up, rates and what a price allows down. */
#include "query/price/price.h"

#include <gmp.h>
#include <math.h>

#include "accountant/exact/delta_bounds.h"
#include "base/error.h"
#include "number/rounding.h"
#include "query/price/key_threshold.h"

/* What one unit may change: sensitivities, and the constants B and C of price.h.
 *
 * Promise: every number is rounded up, so that what is bought with it is never too little noise. */

enum { LEVELS = 64 }; /* of halving a list of quantiles */

uint64_t brume_shape_groups(const brume_shape *shape)
{
    return shape->cells && shape->cells < shape->max_groups ? shape->cells : shape->max_groups;
}

uint64_t brume_shape_pairs(const brume_shape *shape)
{
    uint64_t groups = brume_shape_groups(shape), rows = shape->max_rows;
    return (groups ? groups : 1) * (rows ? rows : 1);
}

/* ---- the geometry of one expression ---- */

int64_t brume_measure_centre(const brume_measure *measure)
{
    /* floor((low + high) / 2) without overflow: an arithmetic shift rounds down. */
    return (measure->low & measure->high) + ((measure->low ^ measure->high) >> 1);
}

uint64_t brume_measure_reach(const brume_measure *measure)
{
    uint64_t centre = (uint64_t)brume_measure_centre(measure);
    uint64_t above = (uint64_t)measure->high - centre, below = centre - (uint64_t)measure->low;
    return above > below ? above : below;
}

uint64_t brume_measure_half_square(const brume_measure *measure)
{
    uint64_t reach = brume_measure_reach(measure); /* at most 2^31 where squares are measured */
    return reach * reach / 2;
}

/* high - low; at most 2^63 for bounds the planner makes. */
static double width_up(const brume_measure *measure)
{
    return brume_count_up((uint64_t)measure->high - (uint64_t)measure->low);
}

static double magnitude_up(int64_t x)
{
    return brume_count_up(x < 0 ? 0 - (uint64_t)x : (uint64_t)x);
}

static double largest_magnitude_up(const brume_measure *measure)
{
    return fmax(magnitude_up(measure->low), magnitude_up(measure->high));
}

bool brume_measure_kind_selects(brume_measure_kind kind)
{
    return kind == BRUME_MEASURE_QUANTILES || kind == BRUME_MEASURE_MODE ||
           kind == BRUME_MEASURE_PRIVATE_MODE;
}

bool brume_measure_is_selection(const brume_measure *measure)
{
    return brume_measure_kind_selects(measure->kind);
}

brume_noise_kind brume_measure_noise(const brume_measure *measure, brume_noise_kind noise)
{
    bool pure = measure->kind == BRUME_MEASURE_PRIVATE_MODE &&
                noise == BRUME_NOISE_ROUNDED_GAUSSIAN;
    return pure ? BRUME_NOISE_DISCRETE_LAPLACE : noise;
}

/* Most that one unit adds to a cell (PRIVATE_MODE: to the units of one value).
 * Most that one unit adds to a cell: DESIGN of the bounding, R rows of reach h. At least 1, so that
 * a constant expression still has noise to draw: it costs what it costs. */
static double sensitivity_up(const brume_measure *measure, const brume_shape *shape)
{
    double rows = brume_count_up(shape->max_rows);
    double reach = brume_count_up(brume_measure_reach(measure));
    double per_row = 1;
    switch (measure->kind) {
    case BRUME_MEASURE_UNITS:
    case BRUME_MEASURE_PRESENCE:
    case BRUME_MEASURE_HOLDERS:
    case BRUME_MEASURE_PRIVATE_MODE: /* one unit more or less among those that have a value */
        return 1;
    case BRUME_MEASURE_CENTRED:
        per_row = reach;
        break;
    case BRUME_MEASURE_SQUARES: /* h^2 - floor(h^2/2) = ceil(h^2/2) */
        per_row =
            brume_count_up((brume_measure_reach(measure) * brume_measure_reach(measure) + 1) / 2);
        break;
    case BRUME_MEASURE_DIRECT:
    case BRUME_MEASURE_DEVIATION:
        per_row = largest_magnitude_up(measure);
        break;
    case BRUME_MEASURE_ROWS:
    case BRUME_MEASURE_VALUES:
    case BRUME_MEASURE_QUANTILES:
    case BRUME_MEASURE_MODE:
        break;
    }
    return fmax(1, brume_multiply_up(rows, per_row));
}

/* ---- quantiles ---- */

/* A double not below the positive rational. */
static double rational_up(const mpq_t x)
{
    return brume_up(mpq_get_d(x)); /* mpq_get_d rounds towards zero */
}

/* Fractions first .. last-1 lie between `below` and `above`. The middle one splits them: its
 * relative place is q' = (q - below)/(above - below). kappa[level] = largest max(q', 1-q'). */
static void levels(const brume_measure *measure, size_t first, size_t last, const mpq_t below,
                   const mpq_t above, size_t level, double *kappa)
{
    if (first >= last)
        return;
    size_t middle = first + (last - first) / 2;
    mpq_t q, width, part;
    mpq_inits(q, width, part, NULL);
    mpq_set_si(q, measure->fractions[middle][0], (unsigned long)measure->fractions[middle][1]);
    mpq_canonicalize(q);
    mpq_sub(width, above, below);
    if (mpq_sgn(width) > 0) {
        mpq_sub(part, q, below);
        mpq_div(part, part, width);
        kappa[level] = fmax(kappa[level], fmin(1, rational_up(part)));
        mpq_sub(part, above, q);
        mpq_div(part, part, width);
        kappa[level] = fmax(kappa[level], fmin(1, rational_up(part)));
    } else {
        kappa[level] = 1;
    }
    levels(measure, first, middle, below, q, level + 1, kappa);
    levels(measure, middle + 1, last, q, above, level + 1, kappa);
    mpq_clears(q, width, part, NULL);
}

brume_kappas brume_kappas_up(const brume_measure *measure)
{
    double kappa[LEVELS] = {0};
    brume_kappas total = {0, 0};
    mpq_t zero, one;
    mpq_inits(zero, one, NULL);
    mpq_set_ui(one, 1, 1);
    levels(measure, 0, measure->fraction_count, zero, one, 0, kappa);
    mpq_clears(zero, one, NULL);
    for (size_t i = 0; i < LEVELS; i++) {
        total.sum = brume_add_up(total.sum, kappa[i]);
        total.squares = brume_add_up(total.squares, brume_multiply_up(kappa[i], kappa[i]));
    }
    return total;
}

/* The quantile 0 or 1 by itself. u(v) is then minus the number of values below v (or above): a unit
 * that comes or goes moves u one way only, one that is replaced by a difference of two such counts,
 * whose range is at most R. */
static bool is_extreme(const brume_measure *measure)
{
    return measure->fraction_count == 1 &&
           (measure->fractions[0][0] == 0 || measure->fractions[0][0] == measure->fractions[0][1]);
}

bool brume_measure_has_interval(const brume_measure *measure)
{
    return measure->kind == BRUME_MEASURE_QUANTILES && measure->fraction_count == 1;
}

/* Each end has a quarter of the cost, the quantile a half. An end aims at another rank, which may
 * be inside: where the quantile is 0 or 1 it moves both ways, unlike the quantile. */
double brume_interval_rate_down(const brume_measure *measure, brume_noise_kind noise)
{
    double part = noise == BRUME_NOISE_DISCRETE_GAUSSIAN ? brume_sqrt_down(0.5) : 0.5;
    return brume_multiply_down(measure->scale, is_extreme(measure) ? part / 2 : part);
}

double brume_selection_rate_down(const brume_measure *measure, double cost, int p)
{
    if (measure->kind == BRUME_MEASURE_QUANTILES) {
        if (brume_measure_has_interval(measure))
            cost /= 2; /* a power of two: exact */
        brume_kappas kappa = brume_kappas_up(measure);
        /* p = 1: 2 eta sum kappa = cost.  p = 2: eta^2 sum kappa^2 = cost. The least or the
         * greatest value alone: the range is half of that. */
        double per_rate = p == 1 ? brume_multiply_up(2, kappa.sum) : brume_sqrt_up(kappa.squares);
        per_rate = is_extreme(measure) ? per_rate / 2 : per_rate; /* a power of two: exact */
        return brume_divide_down(p == 1 ? cost : brume_sqrt_down(cost), per_rate);
    }
    /* Permute-and-flip on monotone counts: eta = e with e = cost (p = 1), 2 e tanh(e/2) = cost
     * (p = 2); e = sqrt(cost) is allowed since tanh(x) <= x, then climb to the root. */
    double e = cost;
    if (p == 2) {
        double high = brume_add_up(brume_sqrt_up(cost), cost);
        e = brume_sqrt_down(cost);
        for (int i = 0; i < 60; i++) {
            double middle = e + (high - e) / 2;
            double need =
                brume_multiply_up(brume_multiply_up(2, middle), brume_tanh_up(middle / 2));
            if (need <= cost)
                e = middle;
            else
                high = middle;
        }
    }
    return e;
}

/* ---- B: a cell in which a replaced unit stays, relative to a gained cell of cost 1 ---- */

static double power_up(double x, int p)
{
    return p == 1 ? x : brume_multiply_up(x, x);
}

static const brume_measure *find(const brume_measure *measures, size_t count, size_t expression,
                                 brume_measure_kind kind)
{
    for (size_t i = 0; i < count; i++)
        if (measures[i].kind == kind && measures[i].expression == expression)
            return &measures[i];
    return NULL;
}

/* Sum and squares when all R rows of the unit go from s to s', d = |s - s'|: the sum moves by R d,
 * the squares by at most R d (2h - d). In units of the sensitivities R h and R ceil(h^2/2). */
static double full_against_full_up(const brume_measure *centred, double d, int p)
{
    double h = brume_count_up(brume_measure_reach(centred));
    double half =
        brume_count_up((brume_measure_reach(centred) * brume_measure_reach(centred) + 1) / 2);
    double sum = brume_divide_up(d, h);
    double product = brume_multiply_up(d, brume_subtract_up(brume_multiply_up(2, h), d));
    return brume_add_up(power_up(sum, p), power_up(brume_divide_up(product, half), p));
}

/* max over 0 <= d <= high - low of the above, per share: F of an expression with sum and squares.
 * p = 1: h t with 1/h + (2h - 2d)/half = 0. p = 2: d = h (3 - sqrt(1 - 2r))/2, r = half^2/h^4, if
 * r < 1/2. It is below 0.31 where h is 2 or more; then the value there is above 4, which is the
 * value at d = 2h. Rounding the place of a maximum moves its value by the square of the rounding;
 * the factor 1 + 2^-40 covers that and r's rounding. */
static double centred_and_squares_up(const brume_measure *centred, int p)
{
    double h = brume_count_up(brume_measure_reach(centred)), width = width_up(centred);
    double half =
        brume_count_up((brume_measure_reach(centred) * brume_measure_reach(centred) + 1) / 2);
    double r = half * half / (h * h * h * h);
    double place = width;
    if (p == 1)
        place = h + half / (2 * h);
    else if (r < 0.5)
        place = h * (3 - sqrt(1 - 2 * r)) / 2;
    return brume_multiply_up(full_against_full_up(centred, fmin(place, width), p), 1 + 0x1p-40);
}

/* F of one expression: its rows all change, none becomes NULL. */
static double rows_change_up(const brume_measure *measures, size_t count, size_t expression, int p)
{
    const brume_measure *direct = find(measures, count, expression, BRUME_MEASURE_DIRECT);
    const brume_measure *centred = find(measures, count, expression, BRUME_MEASURE_CENTRED);
    const brume_measure *squares = find(measures, count, expression, BRUME_MEASURE_SQUARES);
    double most = 0;
    if (direct && largest_magnitude_up(direct) > 0) {
        double high = direct->high > 0 ? magnitude_up(direct->high) : 0;
        double low = direct->low < 0 ? magnitude_up(direct->low) : 0;
        double ratio = brume_divide_up(brume_add_up(high, low), largest_magnitude_up(direct));
        most = power_up(ratio, p);
    }
    if (centred && brume_measure_reach(centred) > 0) {
        double ratio =
            brume_divide_up(width_up(centred), brume_count_up(brume_measure_reach(centred)));
        most =
            brume_add_up(most, squares ? centred_and_squares_up(centred, p) : power_up(ratio, p));
    }
    return most;
}

static bool first_of_expression(const brume_measure *measures, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (!brume_measure_is_selection(&measures[j]) && measures[j].kind != BRUME_MEASURE_UNITS &&
            measures[j].kind != BRUME_MEASURE_ROWS &&
            measures[j].expression == measures[i].expression)
            return false;
    return true;
}

/* max(everything of x comes or goes, all rows of x change), in numbers of shares. */
static double expression_stays_up(const brume_measure *measures, size_t count, size_t expression,
                                  int p)
{
    double shares = 0;
    for (size_t i = 0; i < count; i++)
        shares += !brume_measure_is_selection(&measures[i]) &&
                  measures[i].kind != BRUME_MEASURE_UNITS &&
                  measures[i].kind != BRUME_MEASURE_ROWS && measures[i].expression == expression;
    return fmax(shares, rows_change_up(measures, count, expression, p));
}

double brume_selection_stays_up(const brume_measure *measure, int p)
{
    if (measure->kind == BRUME_MEASURE_MODE || measure->fraction_count > 1)
        return p == 1 ? 2 : 4;
    return power_up(brume_divide_up(1, brume_down(brume_kappas_up(measure).sum)), p);
}

/* B in numbers of shares (a gained cell is `count` shares), over noise or selections or both. */
double brume_stay_up(const brume_measure *measures, size_t count, const brume_shape *shape, int p,
                     bool noise, bool selections)
{
    double total = 0, rows = brume_count_up(shape->max_rows);
    for (size_t i = 0; i < count; i++) {
        const brume_measure *one = &measures[i];
        if (one->kind == BRUME_MEASURE_PRIVATE_MODE)
            continue; /* paid by the pair of key and value: brume_total_up */
        if (brume_measure_is_selection(one)) {
            if (selections)
                total = brume_add_up(total, brume_selection_stays_up(one, p));
        } else if (!noise || one->kind == BRUME_MEASURE_UNITS) {
            continue; /* a unit that stays is present before and after */
        } else if (one->kind == BRUME_MEASURE_ROWS) {
            double others = brume_divide_up(brume_count_up(shape->max_rows - 1), rows);
            total = brume_add_up(total, power_up(others, p));
        } else if (first_of_expression(measures, i)) {
            total = brume_add_up(total, expression_stays_up(measures, count, one->expression, p));
        }
    }
    return total;
}

/* ---- C ---- */

/* C = b stay + min(2(G-b), K-b) gain at its worst b; in shares, where a gained cell is `gain`. It
 * is piecewise linear in b with its only kink at 2G - K: the ends and the kink are enough. */
static double cells_up(const brume_shape *shape, double gain, double stay)
{
    uint64_t groups = brume_shape_groups(shape), cells = shape->cells;
    if (!shape->replace)
        return brume_multiply_up(brume_count_up(groups), gain);
    if (shape->public_rows && stay > 0) /* 0: nothing moves, and some price buys the noise */
        return stay;
    uint64_t kink = cells && cells < 2 * shape->max_groups ? 2 * shape->max_groups - cells : 0;
    uint64_t places[] = {0, kink < groups ? kink : groups, groups};
    double most = 0;
    for (size_t i = 0; i < 3; i++) {
        uint64_t b = places[i], moved = 2 * (shape->max_groups - b);
        if (cells && cells - b < moved)
            moved = cells - b;
        most = fmax(most, brume_add_up(brume_multiply_up(brume_count_up(b), stay),
                                       brume_multiply_up(brume_count_up(moved), gain)));
    }
    return most;
}

/* Pairs of a key and a value are kept apart from the cells, at most R for each of min(G, K) groups:
 * all of a unit's pairs may come, or under replacement go and others come. One share is what R
 * pairs cost. */
double brume_total_up(const brume_shape *shape, double gain, double stay, size_t modes)
{
    double groups = brume_count_up(brume_shape_groups(shape));
    double pairs = brume_multiply_up((shape->replace ? 2.0 : 1.0) * (double)modes, groups);
    return brume_add_up(cells_up(shape, gain, stay), pairs);
}

#define LARGEST_SCALE 0x1p50 /* of the samplers */

/* ---- checks ---- */

static brume_status check(const brume_measure *measures, size_t count, const brume_shape *shape,
                          double price, const char *name, double delta, bool needs_delta,
                          brume_error *error)
{
    if (!(price > 0) || !isfinite(price))
        return brume_fail(error, BRUME_EARGUMENT, "a price is a positive number",
                          "'%s' is %.17g, must be above 0 and finite", name, price);
    if (needs_delta && !(delta > 0 && delta < 0.5))
        return brume_fail(error, BRUME_EARGUMENT,
                          "give --delta, much less than 1/(number of units)",
                          "'delta' is %.17g, must be in (0, 0.5)", delta);
    if (count < 1 || shape->max_groups < 1 || shape->max_rows < 1 ||
        shape->max_groups > UINT32_MAX || shape->max_rows > UINT32_MAX ||
        (shape->private_keys && (measures[0].kind != BRUME_MEASURE_UNITS || shape->cells)))
        return brume_fail(error, BRUME_EINTERNAL, NULL, "a plan that cannot be priced");
    return BRUME_OK;
}

static brume_status set_scale(brume_measure *measure, double scale, brume_error *error)
{
    if (!(scale > 0) || !(scale <= LARGEST_SCALE))
        return brume_fail(error, BRUME_EOVERFLOW, "narrow the bounds or pay more",
                          "the noise would have scale %.3g, at most 2^50 grid steps are possible",
                          scale);
    measure->scale = scale;
    return BRUME_OK;
}

/* A selection pays `cost` of epsilon (p = 1) or of 2 rho (p = 2) per gained cell. */
static brume_status set_rate(brume_measure *measure, const brume_shape *shape, double cost, int p,
                             brume_error *error)
{
    double rows = brume_count_up(shape->max_rows);
    if (measure->kind == BRUME_MEASURE_PRIVATE_MODE) {
        /* R pairs move by one unit each: R/b = cost (p = 1), R/sigma^2 = cost (p = 2). */
        double scale = brume_divide_up(rows, cost);
        return set_scale(measure, p == 1 ? scale : brume_sqrt_up(scale), error);
    }
    measure->scale = brume_divide_down(brume_selection_rate_down(measure, cost, p), rows);
    return BRUME_OK;
}

static size_t count_selections(const brume_measure *measures, size_t count)
{
    size_t selections = 0;
    for (size_t i = 0; i < count; i++)
        selections += brume_measure_is_selection(&measures[i]);
    return selections;
}

static size_t count_private_modes(const brume_measure *measures, size_t count)
{
    size_t modes = 0;
    for (size_t i = 0; i < count; i++)
        modes += measures[i].kind == BRUME_MEASURE_PRIVATE_MODE;
    return modes;
}

/* Thresholds of private modes: a pair that only one neighbour has, has one unit there. Each mode
 * may fail with probability `delta`; what they use together is added to *used, rounded up. */
static brume_status set_mode_thresholds(brume_measure *measures, size_t count,
                                        const brume_shape *shape, brume_noise_kind noise,
                                        double delta, double *used, brume_error *error)
{
    uint64_t pairs = brume_shape_pairs(shape);
    for (size_t i = 0; i < count; i++) {
        if (measures[i].kind != BRUME_MEASURE_PRIVATE_MODE)
            continue;
        uint64_t m = 0;
        double one = 0;
        if (brume_measure_noise(&measures[i], noise) == BRUME_NOISE_DISCRETE_LAPLACE)
            BRUME_TRY(
                brume_key_threshold_laplace(measures[i].scale, pairs, delta, &m, &one, error));
        else
            BRUME_TRY(brume_key_threshold_discrete_gaussian(measures[i].scale, pairs, delta, &m,
                                                            &one, error));
        measures[i].threshold = 1 + m;
        *used = brume_add_up(*used, one);
    }
    return BRUME_OK;
}

/* What each test of keys or pairs may use of delta: together no more than all of it. */
static double delta_part(const brume_shape *shape, size_t modes, double delta)
{
    size_t parts = modes + (shape->private_keys ? 1 : 0);
    return parts > 1 ? brume_divide_down(delta, (double)parts) : delta;
}

/* ---- Laplace ---- */

brume_status brume_price_laplace(brume_measure *measures, size_t count, const brume_shape *shape,
                                 double epsilon, double delta, brume_price *price,
                                 brume_error *error)
{
    size_t modes = count_private_modes(measures, count);
    BRUME_TRY(check(measures, count, shape, epsilon, "epsilon", delta,
                    shape->private_keys || modes > 0, error));
    double stay = brume_stay_up(measures, count, shape, 1, true, true);
    double total = brume_total_up(shape, (double)(count - modes), stay, modes); /* in shares */
    double share = brume_divide_down(epsilon, total); /* of epsilon, for one measure, one cell */
    brume_price result = {.noise = BRUME_NOISE_DISCRETE_LAPLACE,
                          .epsilon = epsilon,
                          .cells_upper = brume_divide_up(total, (double)count),
                          .stay_upper = brume_divide_up(stay, (double)count)};
    for (size_t i = 0; i < count; i++) {
        measures[i].sensitivity = sensitivity_up(&measures[i], shape);
        if (brume_measure_is_selection(&measures[i]))
            BRUME_TRY(set_rate(&measures[i], shape, share, 1, error));
        else
            BRUME_TRY(
                set_scale(&measures[i], brume_divide_up(measures[i].sensitivity, share), error));
    }
    double part = delta_part(shape, modes, delta);
    if (shape->private_keys) {
        uint64_t m = 0;
        BRUME_TRY(brume_key_threshold_laplace(measures[0].scale, shape->max_groups, part, &m,
                                              &result.delta, error));
        result.threshold = 1 + m;
    }
    BRUME_TRY(
        set_mode_thresholds(measures, count, shape, result.noise, part, &result.delta, error));
    *price = result;
    return BRUME_OK;
}

/* ---- Gaussian under (epsilon, delta) ---- */

/* The selections of a Gaussian plan: pure, their part of epsilon in equal shares. */
static brume_status price_selections(brume_measure *measures, size_t count,
                                     const brume_shape *shape, double epsilon, brume_error *error)
{
    size_t selections = count_selections(measures, count);
    size_t modes = count_private_modes(measures, count);
    double stay = brume_stay_up(measures, count, shape, 1, false, true);
    double share = brume_divide_down(
        epsilon, brume_total_up(shape, (double)(selections - modes), stay, modes));
    for (size_t i = 0; i < count; i++)
        if (brume_measure_is_selection(&measures[i]))
            BRUME_TRY(set_rate(&measures[i], shape, share, 1, error));
    return BRUME_OK;
}

brume_status brume_price_gaussian(brume_measure *measures, size_t count, const brume_shape *shape,
                                  double epsilon, double delta, brume_price *price,
                                  brume_error *error)
{
    BRUME_TRY(check(measures, count, shape, epsilon, "epsilon", delta, true, error));
    size_t selections = count_selections(measures, count), noised = count - selections;
    size_t modes = count_private_modes(measures, count);
    if (noised == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a Gaussian plan with nothing to noise");
    brume_price result = {.noise = BRUME_NOISE_ROUNDED_GAUSSIAN, .epsilon = epsilon};
    double epsilon_noise = epsilon;
    if (selections > 0) {
        result.epsilon_selection =
            brume_multiply_down(epsilon, brume_divide_down((double)selections, (double)count));
        /* basic composition: the two parts add up to no more than epsilon */
        epsilon_noise = brume_subtract_down(epsilon, result.epsilon_selection);
        BRUME_TRY(price_selections(measures, count, shape, result.epsilon_selection, error));
    }
    /* basic composition again: half of delta for the Gaussian part, half for private modes */
    double delta_modes = modes ? delta / 2 : 0, delta_noise = modes ? delta / 2 : delta;
    double stay = brume_stay_up(measures, count, shape, 2, true, false);
    double total = brume_total_up(shape, (double)noised, stay, 0);
    double sigma = brume_profile_gaussian_sigma_upper(
        epsilon_noise, shape->private_keys ? delta_noise / 2 : delta_noise);
    double factor = brume_multiply_up(brume_sqrt_up(total), sigma);
    for (size_t i = 0; i < count; i++) {
        measures[i].sensitivity = sensitivity_up(&measures[i], shape);
        if (!brume_measure_is_selection(&measures[i]))
            BRUME_TRY(
                set_scale(&measures[i], brume_multiply_up(measures[i].sensitivity, factor), error));
    }
    result.cells_upper = brume_divide_up(total, (double)noised);
    result.stay_upper = brume_divide_up(stay, (double)noised);
    result.delta = delta_noise;
    if (shape->private_keys) {
        uint64_t m = 0;
        /* One share of one gained cell: 1/factor^2. */
        double share = brume_divide_up(1, brume_multiply_down(factor, factor));
        BRUME_TRY(brume_key_threshold_gaussian(
            measures[0].scale, shape->max_groups, brume_multiply_up(share, (double)noised),
            brume_multiply_up(share, stay), shape->replace, epsilon_noise, delta_noise, &m,
            &result.delta, error));
        result.threshold = 1 + m;
    }
    if (modes)
        BRUME_TRY(set_mode_thresholds(measures, count, shape, result.noise,
                                      brume_divide_down(delta_modes, (double)modes), &result.delta,
                                      error));
    *price = result;
    return BRUME_OK;
}

/* ---- concentrated ---- */

brume_status brume_price_concentrated(brume_measure *measures, size_t count,
                                      const brume_shape *shape, double rho, double delta,
                                      brume_price *price, brume_error *error)
{
    size_t modes = count_private_modes(measures, count);
    BRUME_TRY(
        check(measures, count, shape, rho, "rho", delta, shape->private_keys || modes > 0, error));
    double stay = brume_stay_up(measures, count, shape, 2, true, true);
    double total = brume_total_up(shape, (double)(count - modes), stay, modes);
    double share = brume_divide_down(brume_multiply_down(2, rho), total); /* of 2 rho */
    double sigma = brume_divide_up(1, brume_sqrt_down(share));
    brume_price result = {.noise = BRUME_NOISE_DISCRETE_GAUSSIAN,
                          .rho = rho,
                          .cells_upper = brume_divide_up(total, (double)count),
                          .stay_upper = brume_divide_up(stay, (double)count)};
    for (size_t i = 0; i < count; i++) {
        measures[i].sensitivity = sensitivity_up(&measures[i], shape);
        if (brume_measure_is_selection(&measures[i]))
            BRUME_TRY(set_rate(&measures[i], shape, share, 2, error));
        else
            BRUME_TRY(
                set_scale(&measures[i], brume_multiply_up(measures[i].sensitivity, sigma), error));
    }
    double part = delta_part(shape, modes, delta);
    if (shape->private_keys) {
        uint64_t m = 0;
        BRUME_TRY(brume_key_threshold_discrete_gaussian(measures[0].scale, shape->max_groups, part,
                                                        &m, &result.delta, error));
        result.threshold = 1 + m;
    }
    BRUME_TRY(
        set_mode_thresholds(measures, count, shape, result.noise, part, &result.delta, error));
    *price = result;
    return BRUME_OK;
}
