/* Texts of charges and filters: one line, fields in a fixed order, decimals as they are. Promise:
 * what is read prints back to the same bytes, and a filter that is read could have been made. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/budget/filter.h"
#include "base/error.h"
#include "number/decimal.h"

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
    if (brume_filter_limits_check(&filter, NULL) != BRUME_OK ||
        brume_decimal_compare(&filter.spent, &filter.limit) > 0 ||
        brume_decimal_compare(&filter.spent_delta, &filter.limit_delta) > 0 ||
        (filter.charges == 0 && !untouched))
        return damaged("budget", text, error);
    *out = filter;
    return BRUME_OK;
}
