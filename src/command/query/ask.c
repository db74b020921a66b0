/* What `query` and `explain` share: the options of a payment, and readable numbers. */
#include "command/query/ask.h"

#include <math.h>
#include <string.h>

#include "command/host.h"

const char *const brume_where_words[] = {"engine", "brume", "auto", NULL};
const char *const brume_answer_formats[] = {"table", "markdown", "csv", "json", "html", NULL};

static brume_where where_of(const brume_call *call)
{
    const char *word = brume_call_text(call, "where");
    if (!word || strcmp(word, "auto") == 0)
        return BRUME_WHERE_AUTO;
    return strcmp(word, "engine") == 0 ? BRUME_WHERE_ENGINE : BRUME_WHERE_BRUME;
}

brume_payment brume_call_payment(const brume_call *call)
{
    brume_payment payment = {.epsilon = brume_call_text(call, "epsilon"),
                             .delta = brume_call_text(call, "delta"),
                             .rho = brume_call_text(call, "rho"),
                             .where = where_of(call),
                             .elsewhere = call->host ? call->host->elsewhere : NULL};
    size_t typed = brume_call_times(call, "limit");
    for (size_t i = 0; i < typed && i < BRUME_TYPED_LIMITS; i++)
        payment.limits[payment.limit_count++] = brume_call_text_at(call, "limit", i);
    return payment;
}

bool brume_call_target(const brume_call *call, brume_target *target)
{
    *target =
        (brume_target){brume_call_real(call, "within", 0), brume_call_real(call, "within-rank", 0),
                       brume_call_real(call, "confidence", 0.95), brume_call_has(call, "joint"),
                       (double)brume_call_count(call, "at-least", 0)};
    return target->within > 0 || target->rank > 0;
}

brume_status brume_call_check_price(const brume_call *call, brume_error *error)
{
    brume_target target;
    if (brume_call_times(call, "limit") > BRUME_TYPED_LIMITS)
        return brume_fail(error, BRUME_EARGUMENT, "ask in several queries",
                          "'--limit' is given more than %d times", BRUME_TYPED_LIMITS);
    bool typed = brume_call_has(call, "epsilon") || brume_call_has(call, "rho");
    if (typed && brume_call_target(call, &target))
        return brume_fail(error, BRUME_EARGUMENT,
                          "give --epsilon E (or --rho R), or --within A; there is no default",
                          "a price and an accuracy are both given");
    return BRUME_OK;
}

brume_number_text brume_rounded_up(double value)
{
    brume_number_text out;
    if ((value < 1000 && value != floor(value)) || !(value < 1e15))
        return brume_digits_up(value, 4);
    snprintf(out.text, sizeof out.text, "%.0f", ceil(value));
    return out;
}
