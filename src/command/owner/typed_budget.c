/* A budget as it is typed. */
#include "command/owner/typed_budget.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const char how[] = "write epsilon=E or epsilon=E,delta=D";

brume_status brume_typed_budget_read(const char *typed, const char *option, brume_typed_budget *out,
                                     brume_error *error)
{
    out->text = strdup(typed);
    if (!out->text)
        return brume_no_memory(error, NULL);
    char *rest = out->text, *part = NULL;
    while ((part = strsep(&rest, ","))) {
        char *value = strchr(part, '=');
        if (value)
            *value++ = 0;
        if (value && strcmp(part, "epsilon") == 0 && !out->epsilon)
            out->epsilon = value;
        else if (value && strcmp(part, "delta") == 0 && !out->delta)
            out->delta = value;
        else
            return brume_fail(error, BRUME_EARGUMENT, how, "'--%s' is '%s'", option, typed);
    }
    if (!out->epsilon)
        return brume_fail(error, BRUME_EARGUMENT, how, "'--%s' is '%s' and has no epsilon", option,
                          typed);
    return BRUME_OK;
}

brume_status brume_typed_budget_filter(const brume_typed_budget *typed, const char *word,
                                       brume_filter *filter, brume_error *error)
{
    brume_decimal epsilon, delta = {0};
    brume_rule rule = typed->delta ? BRUME_RULE_APPROXIMATE : BRUME_RULE_PURE;
    BRUME_TRY(brume_decimal_parse(typed->epsilon, &epsilon, error));
    if (typed->delta)
        BRUME_TRY(brume_decimal_parse(typed->delta, &delta, error));
    if (word)
        BRUME_TRY(brume_rule_parse(word, &rule, error));
    if (rule == BRUME_RULE_PURE && typed->delta)
        return brume_fail(error, BRUME_EARGUMENT, "leave delta out, or choose another rule",
                          "a budget of the rule pure has no delta");
    if (rule != BRUME_RULE_PURE && !typed->delta)
        return brume_fail(error, BRUME_EARGUMENT, "write --budget epsilon=E,delta=D",
                          "a budget of the rule %s needs a delta", brume_rule_word(rule));
    return brume_filter_make(rule, &epsilon, typed->delta ? &delta : NULL, NULL, filter, error);
}

brume_status brume_typed_cap_read(const char *typed, brume_typed_budget *out, brume_error *error)
{
    brume_decimal checked;
    BRUME_TRY(brume_typed_budget_read(typed, "cap", out, error));
    return brume_decimal_parse(out->epsilon, &checked, error);
}

brume_status brume_typed_budgets_read(const char *whole, const char *window, const char *rule,
                                      brume_typed_budgets *out, brume_error *error)
{
    out->no_budget = strcmp(whole, "none") == 0;
    out->has_windows = window != NULL;
    if (out->no_budget && !window)
        return brume_fail(error, BRUME_EPOLICY,
                          "give a budget, or windows with a budget for each: --window, "
                          "--window-budget",
                          "'--budget none' without windows: nothing would protect the dataset");
    if (window) {
        BRUME_TRY(brume_typed_budget_read(window, "window-budget", &out->typed[1], error));
        BRUME_TRY(brume_typed_budget_filter(&out->typed[1], rule, &out->window, error));
    }
    if (out->no_budget) {
        out->whole = out->window;
        return BRUME_OK;
    }
    BRUME_TRY(brume_typed_budget_read(whole, "budget", &out->typed[0], error));
    return brume_typed_budget_filter(&out->typed[0], rule, &out->whole, error);
}
