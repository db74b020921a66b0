/* What recorded charges cost together, as certified intervals. */
#include "command/publish/guarantee.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <brume/account/account.h>
#include <brume/account/filter.h>
#include <brume/mechanism/expression.h>

#include "base/error.h"
#include "number/decimal.h"

/* One charge as a term of an expression; its probability of failure is added to *failure. */
static bool write_term(FILE *out, const char *text, brume_decimal *failure)
{
    brume_charge charge;
    char amount[BRUME_DECIMAL_TEXT], delta[BRUME_DECIMAL_TEXT];
    if (!text || brume_charge_parse(text, &charge, NULL) != BRUME_OK)
        return false;
    brume_decimal_print(&charge.amount, amount, sizeof amount);
    brume_decimal_print(&charge.delta, delta, sizeof delta);
    if (brume_decimal_is_zero(&charge.amount))
        return brume_decimal_add(failure, &charge.delta, failure, NULL) == BRUME_OK;
    if (charge.rule == BRUME_RULE_CONCENTRATED) {
        fprintf(out, "%szcdp(rho=%s)", ftell(out) > 0 ? " + " : "", amount);
        return brume_decimal_add(failure, &charge.delta, failure, NULL) == BRUME_OK;
    }
    if (brume_decimal_is_zero(&charge.delta))
        fprintf(out, "%spure(epsilon=%s)", ftell(out) > 0 ? " + " : "", amount);
    else
        fprintf(out, "%sapproximate(epsilon=%s, delta=%s)", ftell(out) > 0 ? " + " : "", amount,
                delta);
    return true;
}

/* Epsilon at each delta where it is finite, and a hundredth less than at the delta before.
 * `failure` is what is not in the terms: it comes on top of each delta, rounded up. */
static brume_status at_deltas(const brume_term *terms, size_t count, double failure, json_t *list,
                              brume_error *error)
{
    static const double deltas[] = {0, 1e-12, 1e-9, 1e-6, 1e-5};
    double least = INFINITY;
    for (size_t i = 0; i < sizeof deltas / sizeof *deltas; i++) {
        brume_bound bound;
        BRUME_TRY(brume_account_epsilon(BRUME_METHOD_AUTO, terms, count, deltas[i], &bound, error));
        if (bound.infinite || !(bound.upper < 0.99 * least))
            continue;
        least = bound.upper;
        double delta = failure > 0 ? nextafter(deltas[i] + failure, INFINITY) : deltas[i];
        json_t *one = json_pack("{s:f,s:o,s:f}", "delta", delta, "epsilon_lower",
                                bound.has_lower ? json_real(bound.lower) : json_null(),
                                "epsilon_upper", bound.upper);
        if (json_array_append_new(list, one) != 0)
            return brume_no_memory(error, "a release");
    }
    return BRUME_OK;
}

brume_status brume_guarantees_of(const json_t *charges, brume_adjacency adjacency, json_t **out,
                                 brume_error *error)
{
    char *text = NULL;
    size_t length = 0;
    brume_decimal failure = {0};
    brume_expression expression = {0};
    brume_term *terms = NULL;
    json_t *list = json_array();
    FILE *written = open_memstream(&text, &length);
    bool good = written && list && brume_decimal_parse("0", &failure, NULL) == BRUME_OK;
    for (size_t i = 0; good && i < json_array_size(charges); i++)
        good = write_term(written, json_string_value(json_array_get(charges, i)), &failure);
    good = written && fclose(written) == 0 && good;
    brume_status status =
        good ? BRUME_OK : brume_fail(error, BRUME_EDAMAGED, NULL, "a recorded charge is none");
    if (status == BRUME_OK && length > 0)
        status = brume_expression_parse(text, adjacency, &expression, error);
    if (status == BRUME_OK && expression.count > 0)
        status = brume_account_terms(expression.events, expression.count, 1, BRUME_METHOD_AUTO,
                                     &terms, error);
    if (status == BRUME_OK && terms)
        status = at_deltas(terms, expression.count, brume_decimal_shown_up(&failure), list, error);
    free(terms);
    brume_expression_free(&expression);
    free(text);
    if (status == BRUME_OK)
        *out = list;
    else
        json_decref(list);
    return status;
}

brume_belief brume_belief_of(double epsilon, double delta, int steps)
{
    const double up = 1 + 1e-14; /* above the error of exp and of the products */
    if (steps == 2) {
        delta *= (1 + exp(epsilon)) * up;
        epsilon *= 2;
    }
    return (brume_belief){.growth = delta > 0 ? (epsilon + log(2)) * up : epsilon,
                          .fails = fmin(2 * delta, 1)};
}

double brume_belief_after(double before, const brume_belief *belief)
{
    double odds = before / (1 - before) * exp(belief->growth) * (1 + 1e-12);
    return isfinite(odds) ? fmin(odds / (1 + odds) * (1 + 1e-15), 1) : 1;
}
