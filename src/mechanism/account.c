/* From events to the terms that the accountant composes. Promise: a refusal names the mechanism,
 * the method that does not apply and the ones that do. */
#include <brume/account/account.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static brume_status refuse(const char *mechanism, brume_method method, const brume_cost *cost,
                           brume_error *error)
{
    size_t count;
    const brume_method_card *cards = brume_methods(&count);
    char fitting[160] = "";
    for (size_t i = 0; i < count; i++)
        if (brume_method_applies(cards[i].method, cost)) {
            size_t used = strlen(fitting);
            snprintf(fitting + used, sizeof fitting - used, "%s%s", used ? ", " : "",
                     cards[i].name);
        }
    char hint[256];
    if (fitting[0])
        snprintf(hint, sizeof hint, "methods that do: %s", fitting);
    else
        snprintf(hint, sizeof hint, "with these parameters it has no guarantee at all");
    if (method == BRUME_METHOD_AUTO)
        return brume_fail(error, BRUME_EUNSUPPORTED, hint,
                          "no method applies to %s with these parameters", mechanism);
    return brume_fail(error, BRUME_EUNSUPPORTED, hint,
                      "method '%s' does not apply to %s: it needs %s", cards[method - 1].name,
                      mechanism, cards[method - 1].needs);
}

static brume_status term_of(const brume_event *event, uint64_t group, brume_method method,
                            brume_term *term, brume_error *error)
{
    brume_cost cost;
    const brume_card *card = brume_card_by_id(event->mechanism);
    BRUME_TRY(brume_event_cost(event, &cost, error));
    if (!brume_method_applies(BRUME_METHOD_AUTO, &cost))
        return refuse(card->name, BRUME_METHOD_AUTO, &cost, error);
    BRUME_TRY(brume_cost_group(&cost, group, &cost, error));
    /* of a bare guarantee the group's law is attained: proofs/guarantees.md */
    if (strcmp(card->name, "pure") == 0 && cost.loss == BRUME_UPPER)
        cost.pure = cost.loss = BRUME_EXACT;
    if (!brume_method_applies(method, &cost))
        return refuse(card->name, method, &cost, error);
    *term = (brume_term){cost, event->count};
    return BRUME_OK;
}

brume_status brume_account_terms(const brume_event *events, size_t count, uint64_t group,
                                 brume_method method, brume_term **terms, brume_error *error)
{
    if (count == 0 || (unsigned)method > BRUME_METHOD_PLD)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "nothing to account for");
    brume_term *result = calloc(count, sizeof *result);
    if (!result)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    for (size_t i = 0; i < count; i++) {
        brume_status status = term_of(&events[i], group, method, &result[i], error);
        if (status != BRUME_OK) {
            free(result);
            return status;
        }
    }
    *terms = result;
    return BRUME_OK;
}
