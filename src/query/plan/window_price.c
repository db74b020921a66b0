/* The price of a window: that of the same noise under replacement, unless a unit comes or goes with
 * its rows in the one window that is touched. All rounded up. */
#include "query/plan/window_price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/exact/delta_bounds.h"
#include "base/error.h"
#include "number/decimal.h"
#include "number/rounding.h"
#include "query/price/limited.h"

/* Whatever is released, a replaced unit is one that goes and one that comes: twice epsilon, and
 * four times rho, as for any group of two. */
static double any_factor(int p)
{
    return p == 1 ? 2 : 4;
}

static bool measures_more_than_groups(const brume_plan *plan)
{
    for (size_t i = 0; i < plan->measurement_count; i++)
        if (plan->measurements[i].kind == BRUME_MEASUREMENT_MODE ||
            plan->measurements[i].kind == BRUME_MEASUREMENT_DISTINCT)
            return true;
    return plan->selection != NULL;
}

/* The largest change of one measure's limited totals: the table of proofs/limits.md. */
static double measure_factor(const brume_plan *plan, const brume_measure *measure, int p)
{
    brume_limited_shape shape = {.cells = plan->shape.cells, .replace = true};
    /* a mean's own sum may be drawn about the middle of its bounds, when its looks say so: then it
     * has both signs */
    if (measure->kind == BRUME_MEASURE_DIRECT && plan->own_limits)
        return any_factor(p);
    if (brume_measure_is_selection(measure)) /* a rate, whose cost is its square in rho */
        return any_factor(p);
    return brume_limited_distance(measure, &shape, p);
}

/* Choosing limits is part of the price: a count of units moves by 1 in both adjacencies, numbers of
 * a histogram or a tail by 2 together. At most all looks are bought; the measures have the rest. */
static double limited_factor(const brume_plan *plan, int p)
{
    double measures = 1, looks = 0;
    bool chooses = false;
    for (size_t i = 0; i < plan->measure_count; i++)
        measures = fmax(measures, measure_factor(plan, &plan->measures[i], p));
    for (size_t i = 0; i < plan->limit_count; i++)
        chooses = chooses || plan->limits[i].source == BRUME_LIMIT_AUTO;
    if (!chooses || measures >= 2)
        return measures;
    if (plan->limits_only) /* then histograms have what no measure has */
        return 2;
    /* Looks without the first count, which is paid at 1 as the measures are at least. They are
     * hundredths of the price, and a little less is spent on each (limited.c): no dust is added. */
    looks = brume_limited_choice_share(p, plan->amount, BRUME_CHOICE_AGAIN, false);
    long hundredths = lround(100 * looks);
    if (measures == 1 && fabs(100 * looks - (double)hundredths) < 1e-9)
        return (double)(100 + hundredths) / 100;
    return brume_up(brume_up(2 * looks + measures * (1 - looks)));
}

/* One row of a unit in each group: by the sums of price.h, for the same noise. */
static double counted_factor(const brume_plan *plan, int p)
{
    brume_price now, replaced;
    brume_shape shape = plan->shape;
    brume_measure *tried = malloc((plan->measure_count + 1) * sizeof *tried);
    double factor = any_factor(p);
    bool selects = false;
    for (size_t i = 0; i < plan->measure_count; i++)
        selects = selects || brume_measure_is_selection(&plan->measures[i]);
    if (!tried || selects || plan->measure_count == 0) {
        free(tried);
        return factor;
    }
    memcpy(tried, plan->measures, plan->measure_count * sizeof *tried);
    shape.private_keys = false; /* the test of keys is one more measure; its delta stays */
    brume_status first =
        p == 1 ? brume_price_laplace(tried, plan->measure_count, &shape, 1, 0, &now, NULL)
               : brume_price_concentrated(tried, plan->measure_count, &shape, 1, 0, &now, NULL);
    shape.replace = true;
    brume_status second =
        p == 1
            ? brume_price_laplace(tried, plan->measure_count, &shape, 1, 0, &replaced, NULL)
            : brume_price_concentrated(tried, plan->measure_count, &shape, 1, 0, &replaced, NULL);
    if (first == BRUME_OK && second == BRUME_OK && now.cells_upper > 0)
        factor = fmin(factor, fmax(1, brume_divide_up(replaced.cells_upper, now.cells_upper)));
    free(tried);
    return factor == floor(factor) ? factor : brume_up(factor); /* its shortest decimal is above */
}

double brume_window_factor(const brume_plan *plan, int p)
{
    if (plan->shape.replace || !plan->query->unit)
        return 1;
    if (measures_more_than_groups(plan))
        return any_factor(p);
    return plan->by_totals ? limited_factor(plan, p) : counted_factor(plan, p);
}

/* epsilon for which rounded Gaussian noise suffices whose mu^2 is `factor` times that of (epsilon,
 * delta). What is returned was certified for the noise that there is. */
static double gaussian_epsilon(double epsilon, double delta, double factor)
{
    double sigma = brume_profile_gaussian_sigma_upper(epsilon, delta);
    double left = brume_divide_down(sigma, brume_sqrt_up(factor));
    double low = epsilon, high = epsilon;
    while (brume_profile_gaussian_sigma_upper(high, delta) > left && high < 1e6)
        high *= 2;
    for (int i = 0; i < 40; i++) {
        double middle = low + (high - low) / 2;
        *(brume_profile_gaussian_sigma_upper(middle, delta) > left ? &low : &high) = middle;
    }
    return high;
}

/* Exactly, by the shortest decimal of the factor: 0.4 times 1.35 is 0.54. */
static brume_status multiply(const brume_decimal *amount, double factor, brume_decimal *out,
                             brume_error *error)
{
    brume_decimal by;
    BRUME_TRY(brume_decimal_from_double_shortest(factor, &by, error));
    return brume_decimal_product(amount, &by, out, error);
}

static bool selects_or_tests(const brume_plan *plan)
{
    bool any = plan->shape.private_keys;
    for (size_t i = 0; i < plan->measure_count; i++)
        any = any || brume_measure_is_selection(&plan->measures[i]);
    return any;
}

/* Rounded Gaussian noise: one Gaussian of (amount, allowed_delta), and pure parts beside it. */
static brume_status price_rounded(const brume_plan *plan, brume_charge *out, brume_error *error)
{
    brume_decimal amount = plan->charge.amount, delta = plan->charge.delta;
    double whole = brume_decimal_upper(&amount), others = brume_subtract_up(whole, plan->amount);
    if (selects_or_tests(plan)) { /* a group of two: 2 epsilon, (1 + e^epsilon) delta */
        double twice = brume_multiply_up(brume_decimal_upper(&delta),
                                         brume_add_up(1, exp(whole) * (1 + 0x1p-40)));
        BRUME_TRY(multiply(&amount, 2, &amount, error));
        BRUME_TRY(brume_decimal_from_double_up(fmin(twice, 0.99), 12, &delta, error));
        return brume_charge_make(plan->rule, &amount, &delta, out, error);
    }
    double gauss =
        gaussian_epsilon(plan->amount, plan->allowed_delta, brume_window_factor(plan, 2));
    BRUME_TRY(brume_decimal_from_double_up(
        brume_add_up(gauss, brume_multiply_up(2, fmax(others, 0))), 12, &amount, error));
    return brume_charge_make(plan->rule, &amount, &delta, out, error);
}

static brume_status price_replaced(const brume_plan *plan, brume_charge *out, brume_error *error)
{
    brume_decimal amount, delta = plan->charge.delta;
    int p = plan->rule == BRUME_RULE_CONCENTRATED ? 2 : 1;
    if (plan->noise == BRUME_NOISE_ROUNDED_GAUSSIAN && !plan->shape.replace && plan->query->unit)
        return price_rounded(plan, out, error);
    BRUME_TRY(multiply(&plan->charge.amount, brume_window_factor(plan, p), &amount, error));
    if (plan->selection && !plan->shape.replace) /* twice as many keys may change */
        BRUME_TRY(brume_decimal_multiply(&delta, 2, &delta, error));
    return brume_charge_make(plan->rule, &amount, &delta, out, error);
}

brume_status brume_window_price_replaced(const brume_charge *price, int squares, brume_charge *out,
                                         brume_error *error)
{
    brume_decimal amount = price->amount, delta = price->delta;
    if (price->rule == BRUME_RULE_APPROXIMATE) {
        /* the least sigma is searched up to 1e-12, here and where the noise is made */
        double epsilon = gaussian_epsilon(brume_decimal_upper(&amount), brume_decimal_lower(&delta),
                                          squares * (1 + 1e-9));
        BRUME_TRY(brume_decimal_from_double_up(epsilon, 12, &amount, error));
    } else {
        uint64_t factor = price->rule == BRUME_RULE_PURE ? 2 : (uint64_t)squares;
        BRUME_TRY(brume_decimal_multiply(&amount, factor, &amount, error));
    }
    return brume_charge_make(price->rule, &amount, price->rule == BRUME_RULE_PURE ? NULL : &delta,
                             out, error);
}

brume_status brume_window_price_of(const brume_plan *plan, const brume_touched *touched,
                                   brume_window_price *out, brume_error *error)
{
    brume_window_price made = {.charge = plan->charge, .why = "one window"};
    if (plan->adjacency == BRUME_REPLACE) {
        made.why = "registered under replace";
    } else if (!plan->query->unit) {
        made.why = "a row is in one window";
    } else if (!brume_touched_is_one(touched)) {
        bool several = false;
        for (size_t i = 0; i < touched->count; i++)
            several = several || brume_window_set_size(&touched->datasets[i].set) > 1;
        made.as_replace = true;
        made.why =
            several ? "several windows: priced as a replacement of rows"
                    : "units without rows there are in the answer: priced as a replacement of rows";
        BRUME_TRY(price_replaced(plan, &made.charge, error));
    }
    *out = made;
    return BRUME_OK;
}

/* ---- words ---- */

static json_t *ranges_to_json(const brume_window_grid *grid, const brume_window_set *set)
{
    char first[BRUME_WINDOW_LABEL], last[BRUME_WINDOW_LABEL];
    json_t *made = json_array();
    for (size_t i = 0; made && i < set->count; i++)
        if (json_array_append_new(
                made, json_pack("[s,s]", brume_window_label(grid, set->ranges[i].first, first),
                                brume_window_label(grid, set->ranges[i].last, last))) != 0) {
            json_decref(made);
            return NULL;
        }
    return made;
}

/* How many windows of the set had not closed: end plus close-after. A value never closes. */
static uint64_t count_open(const brume_policy_window *window, const brume_window_set *set,
                           int64_t now)
{
    brume_window_set open = {0};
    bool values = window->grid.length == BRUME_WINDOW_VALUES;
    int64_t since =
        values ? 0 : brume_window_of_instant(&window->grid, now - window->close_after * 1000000);
    uint64_t count = brume_window_set_size(set);
    if (brume_window_set_add(&open, since, INT64_MAX, NULL) == BRUME_OK &&
        brume_window_set_intersect(set, &open, &open, NULL) == BRUME_OK)
        count = brume_window_set_size(&open);
    brume_window_set_free(&open);
    return count;
}

static json_t *dataset_to_json(const brume_touched *touched, size_t index,
                               const brume_window_price *price, brume_rule rule, int64_t now)
{
    const brume_touched_dataset *one = &touched->datasets[index];
    char length[BRUME_WINDOW_TEXT];
    const brume_policy_window *window = &one->policy->window;
    double amount = brume_decimal_shown_up(&price->charge.amount);
    double delta = brume_decimal_shown_up(&price->charge.delta);
    bool rho = rule == BRUME_RULE_CONCENTRATED;
    return json_pack("{s:s,s:s,s:s,s:o,s:b,s:I,s:{s:o,s:f,s:o},s:s,s:b,s:I}", "dataset",
                     one->dataset->name, "column", window->column, "length",
                     brume_window_length_text(&window->grid, length), "ranges",
                     ranges_to_json(&window->grid, &one->set), "undated", one->set.undated, "count",
                     (json_int_t)brume_window_set_size(&one->set), "price", "epsilon",
                     rho ? json_null() : json_real(amount), "delta", delta, "rho",
                     rho ? json_real(amount) : json_null(), "why", price->why, "all",
                     one->unbounded && !touched->windows, "open",
                     (json_int_t)count_open(window, &one->set, now));
}

json_t *brume_window_price_to_json(const brume_touched *touched, const brume_window_price *price,
                                   brume_rule rule, int64_t now)
{
    json_t *made = NULL, *others = touched->count > 1 ? json_array() : NULL;
    for (size_t i = 0; i < touched->count; i++) {
        json_t *one = dataset_to_json(touched, i, price, rule, now);
        if (i == 0)
            made = one;
        else
            json_array_append_new(others, one);
    }
    if (others && json_object_set_new(made, "others", others) != 0) {
        json_decref(made);
        return NULL;
    }
    return made;
}
