/* The filter: exact sums against limits that were fixed when it was made.
 *
 * Promise: whatever sequence of charges brume_filter_charge accepted, their sums are within the
 * limits, and releases with those guarantees are together (epsilon, delta)-DP, however the charges
 * were chosen (proofs/filters.md). A concentrated filter tests rho and failure separately, each
 * against its own limit: one joint test is unsound.
 *
 * Texts of charges and filters are one line, fields in a fixed order, decimals as they are: what is
 * read prints back to the same bytes, and a filter that is read could have been made. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <brume/account/filter.h>
#include <brume/account/odometer.h>

#include "accountant/law/law.h"
#include "accountant/renyi/renyi.h"
#include "accountant/search.h"
#include "base/error.h"
#include "base/text.h"
#include "number/decimal.h"
#include "number/rounding.h"

/* Prices in the currency of a rule. Promise: never below what the release costs; typed decimals
 * stay as typed. */

enum { DIGITS = 17 };

brume_status brume_charge_make(brume_rule rule, const brume_decimal *amount,
                               const brume_decimal *delta, brume_charge *out, brume_error *error)
{
    static const brume_decimal zero = {{0}, 0}, one = {{1}, 0};
    const brume_decimal *failure = delta ? delta : &zero;
    if (!brume_rule_word(rule))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no such rule");
    if (brume_decimal_compare(failure, &one) >= 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a price's 'delta' must be below 1");
    if (rule == BRUME_RULE_PURE && !brume_decimal_is_zero(failure))
        return brume_fail(error, BRUME_EUNSUPPORTED,
                          "register the data with a delta, under the rule approximate",
                          "a release with a delta cannot be charged to a pure budget");
    *out = (brume_charge){rule, *amount, *failure};
    return BRUME_OK;
}

/* epsilon tanh(epsilon/2), rounded up: every factor is. */
static double rho_upper(double epsilon)
{
    brume_cost pure = {.pure = BRUME_UPPER, .epsilon = epsilon};
    return brume_rho_upper(&pure);
}

brume_status brume_charge_rho_of_epsilon(const brume_decimal *epsilon, brume_decimal *rho,
                                         brume_error *error)
{
    static const brume_decimal half = {{5}, -1};
    brume_decimal exact;
    if (brume_decimal_product(epsilon, epsilon, &exact, NULL) == BRUME_OK &&
        brume_decimal_product(&exact, &half, &exact, NULL) == BRUME_OK &&
        brume_decimal_lower(&exact) > 0 && isfinite(brume_decimal_upper(&exact))) {
        *rho = exact;
        return BRUME_OK;
    }
    double most =
        brume_decimal_upper(epsilon); /* too many digits, or out of the range of doubles */
    return brume_decimal_from_double_up(brume_divide_up(brume_multiply_up(most, most), 2), DIGITS,
                                        rho, error);
}

brume_status brume_charge_guarantee(brume_rule rule, const brume_decimal *epsilon,
                                    const brume_decimal *delta, brume_charge *out,
                                    brume_error *error)
{
    if (rule != BRUME_RULE_CONCENTRATED)
        return brume_charge_make(rule, epsilon, delta, out, error);
    brume_decimal rho;
    BRUME_TRY(
        brume_decimal_from_double_up(rho_upper(brume_decimal_upper(epsilon)), DIGITS, &rho, error));
    return brume_charge_make(rule, &rho, delta, out, error);
}

brume_status brume_charge_cost(brume_rule rule, const brume_cost *cost, uint64_t count,
                               brume_charge *out, brume_error *error)
{
    double amount;
    BRUME_TRY(brume_cost_check(cost, error));
    if (rule == BRUME_RULE_CONCENTRATED)
        amount = brume_rho_upper(cost);
    else
        amount = cost->pure != BRUME_ABSENT ? cost->epsilon : INFINITY;
    if (!isfinite(amount) || !(amount >= 0))
        return brume_fail(
            error, BRUME_EUNSUPPORTED,
            rule == BRUME_RULE_CONCENTRATED
                ? NULL
                : "convert it at a delta of your choice, or use a concentrated budget",
            "this release has no %s of its own",
            rule == BRUME_RULE_CONCENTRATED ? "rho" : "pure epsilon");
    brume_decimal price, failure;
    /* both rounded up before the exact multiplication; failures add up to at most their sum */
    BRUME_TRY(brume_decimal_from_double_up(amount, DIGITS, &price, error));
    BRUME_TRY(brume_decimal_from_double_up(cost->delta_failure, DIGITS, &failure, error));
    BRUME_TRY(brume_decimal_multiply(&price, count, &price, error));
    BRUME_TRY(brume_decimal_multiply(&failure, count, &failure, error));
    return brume_charge_make(rule, &price, &failure, out, error);
}

static const brume_decimal zero = {{0}, 0};

static const char *const rule_words[] = {"pure", "approximate", "concentrated"};

const char *brume_rule_word(brume_rule rule)
{
    return rule >= BRUME_RULE_PURE && rule <= BRUME_RULE_CONCENTRATED ? rule_words[rule - 1] : NULL;
}

brume_status brume_rule_parse(const char *word, brume_rule *out, brume_error *error)
{
    for (int i = 0; i < 3; i++)
        if (strcmp(word, rule_words[i]) == 0) {
            *out = (brume_rule)(i + 1);
            return BRUME_OK;
        }
    const char *nearest = brume_text_nearest(word, rule_words, 3);
    return brume_fail(error, BRUME_EUNKNOWN, nearest ? nearest : "pure, approximate, concentrated",
                      "no rule is called '%.60s'", word);
}

/* Has it no more than the decimal places that sums keep? */
static bool is_coarse(const brume_decimal *x)
{
    brume_decimal coarse;
    brume_decimal_quantise_down(x, BRUME_FILTER_PLACES, &coarse);
    return brume_decimal_compare(x, &coarse) == 0;
}

static int compare_text(const brume_decimal *x, const char *text)
{
    brume_decimal bound;
    if (brume_decimal_parse(text, &bound, NULL) != BRUME_OK)
        return 1;
    return brume_decimal_compare(x, &bound);
}

/* ------------------------------------------------------------------------------ limits */

/* Upper bound of the delta that rho leaves at epsilon: rho is read up, epsilon down. */
static double conversion_upper(const brume_decimal *rho, const brume_decimal *epsilon)
{
    return brume_concentrated_delta_upper(brume_decimal_upper(rho), brume_decimal_lower(epsilon));
}

/* (delta - failure)/(1 - failure), rounded down: what is left for the conversion. */
static double conversion_share_lower(const brume_decimal *delta, const brume_decimal *failure)
{
    brume_decimal difference;
    if (brume_decimal_compare(delta, failure) <= 0 ||
        brume_decimal_subtract(delta, failure, &difference, NULL) != BRUME_OK)
        return 0;
    /* the denominator is at most 1, rounded up: the quotient is rounded down */
    double rest = brume_subtract_up(1, brume_decimal_lower(failure));
    return brume_divide_down(brume_decimal_lower(&difference), rest);
}

static brume_status check_budget(brume_rule rule, const brume_decimal *epsilon,
                                 const brume_decimal *delta, brume_error *error)
{
    if (!brume_rule_word(rule))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no such rule");
    if (!is_coarse(epsilon) || brume_decimal_is_zero(epsilon) || compare_text(epsilon, "1e12") > 0)
        return brume_fail(error, BRUME_EARGUMENT, "at most 60 decimal places",
                          "a budget's epsilon must be above 0 and at most 1e12");
    if (rule == BRUME_RULE_PURE && !brume_decimal_is_zero(delta))
        return brume_fail(error, BRUME_EARGUMENT, "use the rule approximate or concentrated",
                          "a pure budget has no delta");
    if (rule != BRUME_RULE_PURE &&
        (!is_coarse(delta) || brume_decimal_is_zero(delta) || compare_text(delta, "1") >= 0))
        return brume_fail(error, BRUME_EARGUMENT,
                          brume_decimal_is_zero(delta) ? "say both: epsilon=1,delta=1e-6, for one"
                                                       : "at most 60 decimal places",
                          "a budget's delta must be above 0 and below 1 under the rule %s",
                          brume_rule_word(rule));
    return BRUME_OK;
}

static brume_status check_limits(const brume_filter *filter, brume_error *error)
{
    BRUME_TRY(check_budget(filter->rule, &filter->epsilon, &filter->delta, error));
    bool good = false;
    switch (filter->rule) {
    case BRUME_RULE_PURE:
        good = brume_decimal_is_zero(&filter->delta) &&
               brume_decimal_is_zero(&filter->limit_delta) &&
               brume_decimal_compare(&filter->limit, &filter->epsilon) == 0;
        break;
    case BRUME_RULE_APPROXIMATE:
        good = brume_decimal_compare(&filter->limit_delta, &filter->delta) == 0 &&
               brume_decimal_compare(&filter->limit, &filter->epsilon) == 0;
        break;
    case BRUME_RULE_CONCENTRATED:
        good = is_coarse(&filter->limit_delta) &&
               conversion_upper(&filter->limit, &filter->epsilon) <=
                   conversion_share_lower(&filter->delta, &filter->limit_delta);
        break;
    }
    /* no charge adds anything finer */
    good = good && is_coarse(&filter->spent) && is_coarse(&filter->spent_delta);
    if (!good)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "the limits of a filter are not justified by its budget");
    return BRUME_OK;
}

typedef struct split {
    double epsilon; /* rounded down */
} split;

/* x = 1/rho: the delta of the conversion does not grow with it */
static brume_status delta_of_inverse_rho(void *context, double x, double *delta, brume_error *error)
{
    (void)error;
    const split *s = context;
    *delta = brume_concentrated_delta_upper(brume_divide_up(1, x), s->epsilon);
    return BRUME_OK;
}

/* The largest rho whose conversion fits its share, rounded down to 15 digits. */
static brume_status find_rho(const brume_filter *filter, brume_decimal *rho, brume_error *error)
{
    split s = {brume_decimal_lower(&filter->epsilon)};
    double share = conversion_share_lower(&filter->delta, &filter->limit_delta);
    if (!(share > 0))
        return brume_fail(error, BRUME_EARGUMENT, "it must be below delta",
                          "the share of delta for failures leaves nothing for the rest");
    brume_search search = {delta_of_inverse_rho, &s, share, 1e-30, 1e60, 1e-13, 0};
    double guess = 4 * log(1 / share) / (s.epsilon * s.epsilon), inverse;
    BRUME_TRY(brume_search_least(&search, guess, &inverse, error));
    return brume_decimal_from_double_down(brume_divide_down(1, inverse), 15, rho, error);
}

brume_status brume_filter_make(brume_rule rule, const brume_decimal *epsilon,
                               const brume_decimal *delta, const brume_decimal *failure,
                               brume_filter *out, brume_error *error)
{
    brume_filter filter = {rule, *epsilon, delta ? *delta : zero, .charges = 0};
    BRUME_TRY(check_budget(rule, &filter.epsilon, &filter.delta, error));
    if (rule != BRUME_RULE_CONCENTRATED) {
        if (failure)
            return brume_fail(error, BRUME_EARGUMENT, NULL,
                              "only a concentrated budget splits off a share for failures");
        filter.limit = filter.epsilon;
        filter.limit_delta = filter.delta;
    } else {
        brume_decimal tenth = filter.delta;
        tenth.exponent -= 1; /* exactly */
        filter.limit_delta = failure ? *failure : tenth;
        if (!is_coarse(&filter.limit_delta))
            return brume_fail(error, BRUME_EARGUMENT, "at most 60 decimal places",
                              "the share of delta for failures is too fine");
        BRUME_TRY(find_rho(&filter, &filter.limit, error));
    }
    BRUME_TRY(check_limits(&filter, error));
    *out = filter;
    return BRUME_OK;
}

/* ----------------------------------------------------------------------------- charging */

bool brume_filter_is_fresh(const brume_filter *filter)
{
    return filter->charges == 0 && brume_decimal_is_zero(&filter->spent) &&
           brume_decimal_is_zero(&filter->spent_delta);
}

static brume_status does_not_fit(const brume_filter *filter, const char *what,
                                 const brume_decimal *asked, const brume_decimal *limit,
                                 const brume_decimal *spent, brume_error *error)
{
    char asked_text[BRUME_DECIMAL_TEXT], left_text[BRUME_DECIMAL_TEXT] = "0";
    brume_decimal left;
    brume_decimal_print(asked, asked_text, sizeof asked_text);
    if (brume_decimal_subtract(limit, spent, &left, NULL) == BRUME_OK)
        brume_decimal_print(&left, left_text, sizeof left_text);
    return brume_fail(error, BRUME_EBUDGET, "ask for less, or stop here",
                      "the budget (rule %s) does not carry this: it asks %s %s, %s is left",
                      brume_rule_word(filter->rule), what, asked_text, left_text);
}

/* sum = spent + price (rounded up to the places) if that is within the limit. */
static bool add_within(const brume_decimal *spent, const brume_decimal *price,
                       const brume_decimal *limit, brume_decimal *sum)
{
    brume_decimal rounded;
    return brume_decimal_quantise_up(price, BRUME_FILTER_PLACES, &rounded, NULL) == BRUME_OK &&
           brume_decimal_compare(&rounded, limit) <= 0 && /* so that the sum fits its digits */
           brume_decimal_add(spent, &rounded, sum, NULL) == BRUME_OK &&
           brume_decimal_compare(sum, limit) <= 0;
}

brume_status brume_filter_charge(brume_filter *filter, const brume_charge *charge,
                                 brume_error *error)
{
    if (charge->rule != filter->rule)
        return brume_fail(
            error, BRUME_EPOLICY, NULL, "a %s charge against a %s budget",
            brume_rule_word(charge->rule) ? brume_rule_word(charge->rule) : "nameless",
            brume_rule_word(filter->rule) ? brume_rule_word(filter->rule) : "nameless");
    brume_filter after = *filter;
    if (!add_within(&filter->spent, &charge->amount, &filter->limit, &after.spent))
        return does_not_fit(filter, filter->rule == BRUME_RULE_CONCENTRATED ? "rho" : "epsilon",
                            &charge->amount, &filter->limit, &filter->spent, error);
    if (!add_within(&filter->spent_delta, &charge->delta, &filter->limit_delta, &after.spent_delta))
        return does_not_fit(filter, "delta", &charge->delta, &filter->limit_delta,
                            &filter->spent_delta, error);
    if (filter->charges == UINT64_MAX)
        return brume_fail(error, BRUME_EBUDGET, NULL, "the budget has been charged too often");
    after.charges++;
    *filter = after;
    return BRUME_OK;
}

brume_status brume_filter_check(const brume_filter *filter, const brume_charge *charge,
                                brume_error *error)
{
    brume_filter copy = *filter;
    return brume_filter_charge(&copy, charge, error);
}

brume_status brume_filter_left(const brume_filter *filter, brume_charge *left, brume_error *error)
{
    brume_charge result = {.rule = filter->rule};
    BRUME_TRY(brume_decimal_subtract(&filter->limit, &filter->spent, &result.amount, error));
    BRUME_TRY(
        brume_decimal_subtract(&filter->limit_delta, &filter->spent_delta, &result.delta, error));
    *left = result;
    return BRUME_OK;
}

static const char *amount_name(brume_rule rule)
{
    return rule == BRUME_RULE_CONCENTRATED ? "rho" : "epsilon";
}

static brume_status too_long(brume_error *error)
{
    return brume_fail(error, BRUME_EINTERNAL, NULL, "the text of a price or budget is too long");
}

brume_status brume_charge_print(const brume_charge *charge, char text[BRUME_CHARGE_TEXT],
                                brume_error *error)
{
    char amount[BRUME_DECIMAL_TEXT], delta[BRUME_DECIMAL_TEXT], line[BRUME_CHARGE_TEXT];
    if (!brume_rule_word(charge->rule))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a charge without a rule");
    brume_decimal_print(&charge->amount, amount, sizeof amount);
    brume_decimal_print(&charge->delta, delta, sizeof delta);
    int length = snprintf(line, sizeof line, "%s %s=%s delta=%s", brume_rule_word(charge->rule),
                          amount_name(charge->rule), amount, delta);
    if (length < 0 || (size_t)length >= sizeof line)
        return too_long(error);
    memcpy(text, line, (size_t)length + 1);
    return BRUME_OK;
}

brume_status brume_filter_print(const brume_filter *filter, char text[BRUME_FILTER_TEXT],
                                brume_error *error)
{
    const brume_decimal *const fields[] = {&filter->epsilon, &filter->delta,
                                           &filter->limit,   &filter->limit_delta,
                                           &filter->spent,   &filter->spent_delta};
    char decimals[6][BRUME_DECIMAL_TEXT], line[BRUME_FILTER_TEXT];
    if (!brume_rule_word(filter->rule))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a filter without a rule");
    for (int i = 0; i < 6; i++)
        brume_decimal_print(fields[i], decimals[i], sizeof decimals[i]);
    int length = snprintf(line, sizeof line,
                          "brume-filter-1 %s epsilon=%s delta=%s limit=%s limit_delta=%s spent=%s "
                          "spent_delta=%s charges=%" PRIu64,
                          brume_rule_word(filter->rule), decimals[0], decimals[1], decimals[2],
                          decimals[3], decimals[4], decimals[5], filter->charges);
    if (length < 0 || (size_t)length >= sizeof line)
        return too_long(error);
    memcpy(text, line, (size_t)length + 1);
    return BRUME_OK;
}

/* The next word, up to a space or the end, without what must stand before it. */
static bool take(const char **cursor, const char *before, char word[BRUME_DECIMAL_TEXT])
{
    size_t length = strlen(before);
    if (strncmp(*cursor, before, length) != 0)
        return false;
    *cursor += length;
    size_t size = strcspn(*cursor, " ");
    if (size == 0 || size >= BRUME_DECIMAL_TEXT)
        return false;
    memcpy(word, *cursor, size);
    word[size] = 0;
    *cursor += size;
    return true;
}

static bool take_decimal(const char **cursor, const char *before, brume_decimal *out)
{
    char word[BRUME_DECIMAL_TEXT];
    return take(cursor, before, word) && brume_decimal_parse(word, out, NULL) == BRUME_OK;
}

static bool take_rule(const char **cursor, const char *before, brume_rule *out)
{
    char word[BRUME_DECIMAL_TEXT];
    return take(cursor, before, word) && brume_rule_parse(word, out, NULL) == BRUME_OK;
}

static brume_status damaged(const char *what, const char *text, brume_error *error)
{
    return brume_fail(error, BRUME_EDAMAGED, NULL, "not the text of a %s: '%.100s'", what, text);
}

brume_status brume_charge_parse(const char *text, brume_charge *out, brume_error *error)
{
    brume_charge charge = {0};
    const char *cursor = text;
    char printed[BRUME_CHARGE_TEXT];
    if (!take_rule(&cursor, "", &charge.rule) ||
        !take_decimal(&cursor, charge.rule == BRUME_RULE_CONCENTRATED ? " rho=" : " epsilon=",
                      &charge.amount) ||
        !take_decimal(&cursor, " delta=", &charge.delta) || *cursor != 0)
        return damaged("price", text, error);
    brume_charge checked;
    if (brume_charge_make(charge.rule, &charge.amount, &charge.delta, &checked, NULL) != BRUME_OK ||
        brume_charge_print(&checked, printed, NULL) != BRUME_OK || strcmp(printed, text) != 0)
        return damaged("price", text, error);
    *out = checked;
    return BRUME_OK;
}

brume_status brume_filter_parse(const char *text, brume_filter *out, brume_error *error)
{
    brume_filter filter = {0};
    const char *cursor = text;
    char word[BRUME_DECIMAL_TEXT], printed[BRUME_FILTER_TEXT];
    if (!take_rule(&cursor, "brume-filter-1 ", &filter.rule) ||
        !take_decimal(&cursor, " epsilon=", &filter.epsilon) ||
        !take_decimal(&cursor, " delta=", &filter.delta) ||
        !take_decimal(&cursor, " limit=", &filter.limit) ||
        !take_decimal(&cursor, " limit_delta=", &filter.limit_delta) ||
        !take_decimal(&cursor, " spent=", &filter.spent) ||
        !take_decimal(&cursor, " spent_delta=", &filter.spent_delta) ||
        !take(&cursor, " charges=", word) || *cursor != 0)
        return damaged("budget", text, error);
    filter.charges = strtoull(word, NULL, 10);
    if (brume_filter_print(&filter, printed, NULL) != BRUME_OK || strcmp(printed, text) != 0)
        return damaged("budget", text, error);
    bool untouched = brume_decimal_is_zero(&filter.spent) &&
                     brume_decimal_is_zero(&filter.spent_delta);
    if (check_limits(&filter, NULL) != BRUME_OK ||
        brume_decimal_compare(&filter.spent, &filter.limit) > 0 ||
        brume_decimal_compare(&filter.spent_delta, &filter.limit_delta) > 0 ||
        (filter.charges == 0 && !untouched))
        return damaged("budget", text, error);
    *out = filter;
    return BRUME_OK;
}

/* The odometer: a list of distinct costs with their counts. Promise: a reading is the certified
 * cost of exactly the releases added, as if fixed in advance, and says so. */

struct brume_odometer {
    brume_term *terms;
    size_t count, room;
    uint64_t releases;
};

brume_status brume_odometer_open(brume_odometer **out, brume_error *error)
{
    brume_odometer *odometer = calloc(1, sizeof *odometer);
    if (!odometer)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    *out = odometer;
    return BRUME_OK;
}

void brume_odometer_close(brume_odometer *odometer)
{
    if (!odometer)
        return;
    free(odometer->terms);
    free(odometer);
}

/* Field by field: padding is not compared. */
static bool same(const brume_cost *a, const brume_cost *b)
{
    return a->pure == b->pure && a->epsilon == b->epsilon && a->concentrated == b->concentrated &&
           a->rho == b->rho && a->renyi == b->renyi && a->renyi_upper == b->renyi_upper &&
           a->loss == b->loss && a->law.kind == b->law.kind && a->law.a == b->law.a &&
           a->law.rate == b->law.rate && a->law.shift == b->law.shift &&
           a->delta_failure == b->delta_failure;
}

static brume_status append(brume_odometer *odometer, const brume_cost *cost, uint64_t count,
                           brume_error *error)
{
    if (odometer->count == odometer->room) {
        size_t room = odometer->room ? 2 * odometer->room : 8;
        brume_term *terms = realloc(odometer->terms, room * sizeof *terms);
        if (!terms)
            return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
        odometer->terms = terms;
        odometer->room = room;
    }
    odometer->terms[odometer->count++] = (brume_term){*cost, count};
    return BRUME_OK;
}

brume_status brume_odometer_add(brume_odometer *odometer, const brume_cost *cost, uint64_t count,
                                brume_error *error)
{
    if (count == 0 || count > INT64_MAX)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a count must be in 1 .. 2^63-1");
    BRUME_TRY(brume_cost_check(cost, error));
    if (!brume_method_applies(BRUME_METHOD_AUTO, cost))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a release without any stated cost");
    size_t i = 0;
    while (i < odometer->count && !same(&odometer->terms[i].cost, cost))
        i++;
    if (i == odometer->count)
        BRUME_TRY(append(odometer, cost, count, error));
    else if (odometer->terms[i].count > INT64_MAX - count)
        return brume_fail(error, BRUME_EOVERFLOW, NULL, "more than 2^63-1 releases of one kind");
    else
        odometer->terms[i].count += count;
    odometer->releases = odometer->releases > UINT64_MAX - count ? UINT64_MAX
                                                                 : odometer->releases + count;
    return BRUME_OK;
}

brume_status brume_odometer_read(const brume_odometer *odometer, double delta, brume_reading *out,
                                 brume_error *error)
{
    brume_reading reading = {.releases = odometer->releases, .label = BRUME_ODOMETER_LABEL};
    if (!(delta >= 0 && delta < 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'delta' is %.17g, must be in [0, 1)",
                          delta);
    if (odometer->count == 0)
        reading.epsilon =
            (brume_bound){.has_lower = true, .method = BRUME_METHOD_BASIC, .route = "no release"};
    else
        BRUME_TRY(brume_account_epsilon(BRUME_METHOD_AUTO, odometer->terms, odometer->count, delta,
                                        &reading.epsilon, error));
    *out = reading;
    return BRUME_OK;
}
