/* The price of a synthetic table, from the words typed to what is drawn with.
 *
 * Promises: what is drawn has the guarantee that was typed. A rho for (epsilon, delta) is taken
 * from the conversion of any concentrated mechanism, and raised where the accountant certifies
 * more. */
#include "query/synth/synth.h"

#include <stdlib.h>

#include <brume/account/account.h>
#include <brume/decimal.h>
#include <brume/noise/gaussian.h>

#include "accountant/renyi/renyi.h"
#include "base/error.h"
#include "number/rounding.h"

static const double DISCOVER_SHARE = 0.1;

static brume_status read_decimal(const char *text, const char *option, double most, double *lower,
                                 brume_error *error)
{
    brume_decimal decimal;
    brume_error inner = {0};
    if (brume_decimal_parse(text, &decimal, &inner) != BRUME_OK)
        return brume_fail(error, inner.status, inner.hint[0] ? inner.hint : NULL,
                          "'--%s' is '%s': %s", option, text, inner.message);
    *lower = brume_decimal_lower(&decimal); /* down: what is drawn costs no more than was typed */
    if (!(*lower > 0 && *lower < most))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'--%s' is %s, must be above 0 and below %g", option, text, most);
    return BRUME_OK;
}

/* The largest rho, rounded down, whose conversion is (epsilon, delta). */
static double rho_lower_for(double epsilon, double delta)
{
    double low = 0, high = epsilon; /* rho = epsilon never is: delta would be above a half */
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (middle <= low || middle >= high)
            break;
        if (brume_concentrated_delta_upper(middle, epsilon) <= delta)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static brume_status check_price(const brume_synth_words *words, brume_error *error)
{
    if (words->rho ? words->epsilon || words->delta : !words->epsilon)
        return brume_fail(error, BRUME_EARGUMENT, "there is no default: --epsilon 1",
                          words->rho ? "'--rho' is a price of its own, without the others"
                                     : "'--epsilon' is missing");
    return BRUME_OK;
}

brume_status brume_synth_price(brume_synth *synth, bool takes_rho, brume_error *error)
{
    double epsilon = 0, delta = 0;
    const brume_synth_words *words = &synth->words;
    BRUME_TRY(check_price(words, error));
    if (!takes_rho && (words->rho || words->delta))
        return brume_fail(error, BRUME_EARGUMENT,
                          "or take the method mwem, pmw, gaussian or histogram",
                          "the method '%s' is pure: leave '--%s' out", words->method,
                          words->rho ? "rho" : "delta");
    if (words->rho)
        return read_decimal(words->rho, "rho", 10000, &synth->options.rho, error);
    BRUME_TRY(read_decimal(words->epsilon, "epsilon", 700, &epsilon, error));
    if (!words->delta && synth->options.method == BRUME_SYNTHETIC_GAUSSIAN)
        return brume_fail(error, BRUME_EARGUMENT, "for example --delta 1e-6, or --rho",
                          "the method 'gaussian' needs '--delta'");
    if (!words->delta) {
        synth->options.epsilon = epsilon;
        return BRUME_OK;
    }
    BRUME_TRY(read_decimal(words->delta, "delta", 0.5, &delta, error));
    synth->epsilon_lower = epsilon;
    synth->delta_lower = delta;
    synth->options.rho = rho_lower_for(epsilon, delta);
    if (!(synth->options.rho > 0))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'--delta' is too small");
    return BRUME_OK;
}

/* The method tree: the analytic Gaussian's sigma for (epsilon, delta), or for rho; or epsilon. */
brume_status brume_synth_tree_price(brume_synth *synth, brume_error *error)
{
    const brume_synth_words *words = &synth->words;
    brume_tree_options *tree = &synth->tree.options;
    double delta = 0, rho = 0;
    BRUME_TRY(check_price(words, error));
    if (words->discover && (!words->delta || synth->spends_rho))
        return brume_fail(error, BRUME_EARGUMENT,
                          words->delta ? "say the values with --domain NAME=V1,V2,..."
                                       : "for example --delta 1e-6; or --domain NAME=V1,V2,...",
                          words->delta ? "'--discover' is no purchase in rho"
                                       : "'--discover' needs '--delta'");
    if (words->rho) {
        BRUME_TRY(read_decimal(words->rho, "rho", 10000, &rho, error));
        return brume_gaussian_sigma_of_rho(rho, 1, &tree->sigma, error);
    }
    BRUME_TRY(read_decimal(words->epsilon, "epsilon", 700, &tree->epsilon, error));
    if (!words->delta)
        return BRUME_OK;
    BRUME_TRY(read_decimal(words->delta, "delta", 0.5, &delta, error));
    if (words->discover) { /* down: the two parts are at most what was typed */
        synth->discover_epsilon = tree->epsilon * DISCOVER_SHARE;
        synth->discover_delta = delta * DISCOVER_SHARE;
        tree->epsilon = brume_subtract_down(tree->epsilon, synth->discover_epsilon);
        delta = brume_subtract_down(delta, synth->discover_delta);
    }
    BRUME_TRY(brume_gaussian_sigma(tree->epsilon, delta, 1, &tree->sigma, error));
    tree->epsilon = 0;
    return BRUME_OK;
}

/* Does the accountant certify the events of this rho? */
static bool certified(const brume_synth *synth, double rho, brume_event *events, size_t *count)
{
    brume_synthetic_options options = synth->options;
    brume_term *terms = NULL;
    brume_bound bound;
    options.rho = rho;
    if (brume_synthetic_events(synth->workload, &options, events, count, NULL) != BRUME_OK ||
        brume_account_terms(events, *count, 1, BRUME_METHOD_AUTO, &terms, NULL) != BRUME_OK)
        return false;
    brume_status status =
        brume_account_delta(BRUME_METHOD_AUTO, terms, *count, synth->epsilon_lower, &bound, NULL);
    free(terms);
    return status == BRUME_OK && bound.upper <= synth->delta_lower;
}

brume_status brume_synth_raise(brume_synth *synth, brume_error *error)
{
    /* where rho is what is spent, more of it is no gift; the other methods do not draw by rho */
    bool by_rho = synth->options.method == BRUME_SYNTHETIC_GAUSSIAN ||
                  synth->options.method == BRUME_SYNTHETIC_HISTOGRAM ||
                  synth->options.method == BRUME_SYNTHETIC_MWEM;
    if (!by_rho || !synth->words.delta || synth->spends_rho)
        return BRUME_OK;
    double low = synth->options.rho, high = 2 * low;
    for (int i = 0; i < 16; i++) {
        brume_event events[BRUME_SYNTHETIC_EVENTS];
        size_t count;
        double middle = (low + high) / 2;
        if (certified(synth, middle, events, &count))
            low = middle;
        else
            high = middle;
    }
    synth->options.rho = low;
    return brume_synthetic_events(synth->workload, &synth->options, synth->events,
                                  &synth->event_count, error);
}
