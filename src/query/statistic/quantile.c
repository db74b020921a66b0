/* quantile, median and interquartile range: by global sensitivity, the exponential mechanism,
 * smooth sensitivity, propose-test-release, or stable bins. */
#include "query/statistic/release.h"

#include <stdlib.h>
#include <string.h>

#include <brume/decimal.h>
#include <brume/mechanism/smooth.h>
#include <brume/statistic/tested.h>

#include "number/rounding.h"
#include "query/price/error_bar.h"

/* --noise and the plan for it: Laplace where a delta is given, else Cauchy. */
static brume_status smooth_plan(brume_release *release, brume_smooth_plan *plan, brume_error *error)
{
    const char *noise = NULL;
    double t = brume_typed_or(release->words->smoothness, 0);
    BRUME_TRY(brume_release_noise(release, &noise, error));
    if (strcmp(noise, "laplace") == 0) {
        BRUME_TRY(brume_release_need_delta(release, error));
        BRUME_TRY(brume_smooth_plan_laplace(release->epsilon, release->delta, t, plan, error));
        release->cost_delta = release->delta;
    } else if (strcmp(noise, "cauchy") == 0) {
        BRUME_TRY(brume_smooth_plan_cauchy(release->epsilon, t, plan, error));
    } else if (strcmp(noise, "student") == 0) {
        uint64_t degrees = (release->words->degrees > 0 ? release->words->degrees : 3);
        BRUME_TRY(brume_smooth_plan_student(release->epsilon, degrees, t, plan, error));
    } else { /* lln */
        brume_decimal price;
        BRUME_TRY(brume_release_rho(release->words, &price, &release->cost_rho, error));
        double rho = fmin(brume_decimal_lower(&price), release->cost_rho);
        BRUME_TRY(brume_smooth_plan_log_normal(rho, t, plan, error));
        release->cost_epsilon = NAN;
    }
    return BRUME_OK;
}

brume_status brume_release_smooth(brume_release *release, int64_t value, double global,
                                  brume_status (*smooth)(const void *statistic, double t,
                                                         double *out, brume_error *error),
                                  const void *statistic, int64_t *out, brume_error *error)
{
    brume_smooth_plan plan;
    double bound;
    BRUME_TRY(smooth_plan(release, &plan, error));
    BRUME_TRY(smooth(statistic, plan.t, &bound, error));
    brume_release_tell(release, "s", brume_json_real(plan.s));
    brume_release_tell(release, "t", brume_json_real(plan.t));
    if (plan.law == BRUME_SMOOTH_LOG_NORMAL)
        brume_release_tell(release, "sigma", brume_json_real(plan.shape));
    return brume_smooth_release(&plan, release->bits, value, bound, global, out, error);
}

brume_status brume_release_tested(brume_release *release, const brume_tested *tested, double global,
                                  double step, int64_t *out, brume_error *error)
{
    double bound = brume_typed_or(release->words->beta, -1);
    double test = brume_typed_or(release->words->epsilon_test, release->epsilon / 2);
    if (!(bound >= 0 && bound / step <= 0x1p50))
        return brume_fail(error, BRUME_EARGUMENT,
                          "propose how much one change may move the statistic",
                          "%s by ptr needs '--beta', at least 0", release->statistic);
    if (!(test > 0 && test < release->epsilon))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'--epsilon-test' is %.17g, must be above 0 and below epsilon", test);
    BRUME_TRY(brume_release_need_delta(release, error));
    brume_proposal proposal = {.epsilon_test = test,
                               .epsilon_release = brume_subtract_down(release->epsilon, test),
                               .delta = release->delta,
                               .bound = (uint64_t)ceil(bound / step)};
    uint64_t threshold = 0;
    double unused;
    BRUME_TRY(brume_stability_threshold(test, release->delta, &threshold, &unused, error));
    brume_release_tell(release, "threshold", json_integer((json_int_t)threshold));
    BRUME_TRY(brume_propose_test_release(&proposal, tested, release->bits, &release->released, out,
                                         error));
    release->cost_delta = release->delta;
    bool falls_back = release->words->falls_back;
    if (falls_back)
        brume_release_tell(release, "fallback", json_boolean(!release->released));
    if (falls_back && !release->released) { /* which way it went is told: proofs/stability.md */
        int64_t value;
        double width;
        BRUME_TRY(tested->value(tested->context, &value, error));
        BRUME_TRY(brume_release_noisy(release, value, global, proposal.epsilon_release, out, &width,
                                      error));
        release->error_95 = width * step;
        release->released = true;
        return BRUME_OK;
    }
    if (release->released) { /* the noise is that of the proposed bound: public */
        double scale = brume_divide_up((double)proposal.bound, proposal.epsilon_release);
        release->error_95 = proposal.bound == 0
                                ? 0
                                : step *
                                      brume_error_width(BRUME_NOISE_DISCRETE_LAPLACE, scale, .05);
    }
    return BRUME_OK;
}

/* q as an exact ratio of --q's decimal. */
static brume_status read_q(const brume_release *release, uint64_t *numerator, uint64_t *denominator,
                           brume_error *error)
{
    *numerator = 1;
    *denominator = 2;
    if (strcmp(release->statistic, "median") == 0)
        return BRUME_OK;
    if (isnan(release->words->q))
        return brume_fail(error, BRUME_EARGUMENT, "for example --q 0.9", "quantile needs '--q'");
    double q = release->words->q;
    const uint64_t denominators[] = {1, 2, 4, 10, 100, 1000, 10000, 100000, 1000000};
    for (size_t i = 0; i < sizeof denominators / sizeof *denominators; i++) {
        double scaled = q * (double)denominators[i];
        if (fabs(scaled - nearbyint(scaled)) <= 1e-9) {
            *numerator = (uint64_t)nearbyint(scaled);
            *denominator = denominators[i];
            return BRUME_OK;
        }
    }
    return brume_fail(error, BRUME_EARGUMENT, NULL, "'--q' has more than six decimals");
}

static brume_status smooth_of_quantile(const void *statistic, double t, double *out,
                                       brume_error *error)
{
    return brume_quantile_smooth(statistic, t, out, error);
}

static brume_status release_quantile(brume_release *release, const brume_grid_column *column,
                                     const brume_quantile *quantile, int64_t *out,
                                     brume_error *error)
{
    double global = (double)brume_quantile_global(quantile), width;
    int64_t value = brume_quantile_value(quantile);
    if (brume_release_is(release, "exponential"))
        return brume_quantile_exponential(quantile, release->epsilon, release->bits, out, error);
    if (brume_release_is(release, "smooth"))
        return brume_release_smooth(release, value, global, smooth_of_quantile, quantile, out,
                                    error);
    if (brume_release_is(release, "ptr")) {
        brume_tested tested = brume_tested_quantile(quantile);
        return brume_release_tested(release, &tested, global, column->step, out, error);
    }
    BRUME_TRY(brume_release_noisy(release, value, global, release->epsilon, out, &width, error));
    release->error_95 = width * column->step;
    return BRUME_OK;
}

brume_status brume_release_quantile(brume_release *release, brume_error *error)
{
    uint64_t numerator, denominator;
    BRUME_TRY(brume_release_method(release, NULL, error));
    BRUME_TRY(read_q(release, &numerator, &denominator, error));
    brume_grid_column column;
    BRUME_TRY(brume_release_column(release, NULL, 32, false, &column, error));
    brume_quantile_rule rule = {.numerator = numerator,
                                .denominator = denominator,
                                .values_per_unit = 1,
                                .adjacency = release->adjacency,
                                .lower = column.low,
                                .upper = column.high};
    brume_quantile *quantile = NULL;
    brume_status status = brume_quantile_open(&rule, column.values, column.count, &quantile, error);
    brume_release_column_free(&column);
    int64_t out = 0;
    if (status == BRUME_OK)
        status = release_quantile(release, &column, quantile, &out, error);
    brume_quantile_close(quantile);
    if (status != BRUME_OK || !release->released)
        return status;
    /* Clamping to the bounds is post-processing. */
    double number = brume_release_number(&column, (double)out);
    release->value = brume_json_real(fmin(fmax(number, column.lower), column.upper));
    return BRUME_OK;
}

static brume_status smooth_of_range(const void *statistic, double t, double *out,
                                    brume_error *error)
{
    return brume_interquartile_smooth(statistic, t, out, error);
}

/* The range up to a factor 1 + 1/ln n, exactly, where it is stable: two grids of bins, half a bin
 * apart, each for half the price; the first that is stable is shown.            [DL09, Sec. 4]
 * The bins rest on n alone, which is public under replace; so does that fewer than two rows have no
 * range: then nothing is released, for the same price. */
static brume_status release_bins(brume_release *release, const brume_grid_column *column,
                                 const brume_interquartile *range, size_t rows, brume_error *error)
{
    enum { MOST_EDGES = 4096 };
    if (release->adjacency != BRUME_REPLACE)
        return brume_fail(error, BRUME_EARGUMENT, "add --adjacency replace, or use another method",
                          "iqr by the method 'stable' needs a public number of rows");
    double base = 1 + 1 / fmax(1, log((double)rows));
    double epsilon = brume_release_part(release, 2);
    release->released = false;
    release->cost_delta = release->delta;
    if (rows < 2) { /* a price that no test can be drawn with is refused here too */
        bool unused;
        return brume_stable_release(epsilon, release->delta / 2, release->bits, 0, &unused, error);
    }
    for (int grid = 0; grid < 2; grid++) {
        uint64_t edges[MOST_EDGES] = {0};
        size_t count = 1, bin;
        for (double edge = grid ? sqrt(base) : 1;
             edge <= (double)column->high && count < MOST_EDGES; edge *= base)
            if ((uint64_t)ceil(edge) > edges[count - 1])
                edges[count++] = (uint64_t)ceil(edge);
        uint64_t distance;
        bool stable;
        BRUME_TRY(brume_interquartile_bin(range, edges, count, &bin, &distance, error));
        BRUME_TRY(brume_stable_release(epsilon, release->delta / 2, release->bits, distance,
                                       &stable, error));
        if (!stable || release->released)
            continue;
        double low = (double)edges[bin];
        double high = bin + 1 < count ? (double)edges[bin + 1] - 1 : (double)column->high;
        release->released = true;
        release->value = brume_json_real(column->step * (low + high) / 2);
        release->error_95 = column->step * (high - low) / 2;
    }
    return BRUME_OK;
}

brume_status brume_release_interquartile(brume_release *release, brume_error *error)
{
    BRUME_TRY(brume_release_method(release, NULL, error));
    if (brume_release_is(release, "stable"))
        BRUME_TRY(brume_release_need_delta(release, error));
    brume_grid_column column;
    BRUME_TRY(brume_release_column(release, NULL, 32, false, &column, error));
    brume_interquartile *range = NULL;
    brume_status status = brume_interquartile_open(column.low, column.high, 1, release->adjacency,
                                                   column.values, column.count, &range, error);
    size_t rows = column.count;
    brume_release_column_free(&column);
    if (status != BRUME_OK)
        return status;
    double global = (double)brume_interquartile_global(range), width;
    int64_t value = (int64_t)brume_interquartile_value(range), out = 0;
    if (brume_release_is(release, "stable")) {
        status = release_bins(release, &column, range, rows, error);
    } else if (brume_release_is(release, "smooth")) {
        status = brume_release_smooth(release, value, global, smooth_of_range, range, &out, error);
    } else if (brume_release_is(release, "ptr")) {
        brume_tested tested = brume_tested_interquartile(range);
        status = brume_release_tested(release, &tested, global, column.step, &out, error);
    } else {
        status = brume_release_noisy(release, value, global, release->epsilon, &out, &width, error);
        release->error_95 = width * column.step;
    }
    brume_interquartile_close(range);
    if (status == BRUME_OK && release->released && !release->value)
        release->value =
            brume_json_real(fmin(fmax(column.step * (double)out, 0), column.upper - column.lower));
    return status;
}

/* ---- without privacy, for `brume statistic` ---- */

enum { LOOK_RESOLUTION = 40 }; /* as fine as the grid can be */

brume_status brume_look_quantile(const brume_release *input, brume_look *look, brume_error *error)
{
    uint64_t numerator, denominator;
    BRUME_TRY(read_q(input, &numerator, &denominator, error));
    brume_grid_column column;
    BRUME_TRY(brume_release_column(input, NULL, LOOK_RESOLUTION, false, &column, error));
    brume_quantile_rule rule = {.numerator = numerator,
                                .denominator = denominator,
                                .values_per_unit = 1,
                                .adjacency = input->adjacency,
                                .lower = column.low,
                                .upper = column.high};
    brume_quantile *quantile = NULL;
    brume_status status = brume_quantile_open(&rule, column.values, column.count, &quantile, error);
    brume_release_column_free(&column);
    look->step = column.step;
    if (status == BRUME_OK)
        status = brume_quantile_instability(quantile, look->smoothness, brume_look_bound(look),
                                            &look->found, error);
    if (status == BRUME_OK)
        look->value = brume_look_number(
            brume_release_number(&column, (double)brume_quantile_value(quantile)), column.step / 2);
    brume_quantile_close(quantile);
    return status;
}

brume_status brume_look_interquartile(const brume_release *input, brume_look *look,
                                      brume_error *error)
{
    brume_grid_column column;
    BRUME_TRY(brume_release_column(input, NULL, LOOK_RESOLUTION, false, &column, error));
    brume_interquartile *range = NULL;
    brume_status status = brume_interquartile_open(column.low, column.high, 1, input->adjacency,
                                                   column.values, column.count, &range, error);
    brume_release_column_free(&column);
    look->step = column.step;
    if (status == BRUME_OK)
        status = brume_interquartile_instability(range, look->smoothness, brume_look_bound(look),
                                                 &look->found, error);
    if (status == BRUME_OK)
        look->value = brume_look_number(column.step * (double)brume_interquartile_value(range),
                                        column.step < 1 ? column.step / 2 : 0);
    brume_interquartile_close(range);
    return status;
}
