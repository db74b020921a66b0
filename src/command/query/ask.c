/* What `query` and `explain` share: the options of a payment, and readable numbers. */
#include "command/query/ask.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/frame/output.h"
#include "command/host.h"
#include "query/release/answer.h"

const char *const brume_where_words[] = {"engine", "brume", "auto", NULL};
const char *const brume_answer_formats[] = {"table", "markdown", "csv", "json", "html", NULL};

static brume_where where_of(const brume_call *call)
{
    const char *word = brume_call_text(call, "where");
    if (!word || strcmp(word, "auto") == 0)
        return BRUME_WHERE_AUTO;
    return strcmp(word, "engine") == 0 ? BRUME_WHERE_ENGINE : BRUME_WHERE_BRUME;
}

double brume_age_seconds(const char *age)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}, {"w", 604800}};
    char *end = NULL;
    double count = strtod(age, &end);
    if (end == age || !(count > 0) || !(count < 1e9) || !isdigit((unsigned char)*age))
        return -1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].unit) == 0)
            return count * units[i].seconds;
    return -1;
}

brume_payment brume_call_payment(const brume_call *call)
{
    const char *age = brume_call_text(call, "max-age"); /* brume_call_check_price has read it */
    brume_payment payment = {.epsilon = brume_call_text(call, "epsilon"),
                             .delta = brume_call_text(call, "delta"),
                             .rho = brume_call_text(call, "rho"),
                             .where = where_of(call),
                             .windows = brume_call_text(call, "windows"),
                             .fresh = brume_call_has(call, "fresh"),
                             .max_age = age ? brume_age_seconds(age) : 0,
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
    const char *age = brume_call_text(call, "max-age");
    if (age && brume_age_seconds(age) < 0)
        return brume_fail(error, BRUME_EARGUMENT, "such as 90m, 12h or 7d",
                          "'--max-age' must be a number of minutes, hours or days");
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

static void write_one(FILE *out, const json_t *windows, const json_t *cost)
{
    const json_t *price = json_object_get(windows, "price");
    const json_t *rho = json_object_get(price, "rho"), *whole = json_object_get(cost, "rho");
    bool concentrated = json_is_number(rho);
    const json_t *each = concentrated ? rho : json_object_get(price, "epsilon");
    const json_t *unit = concentrated ? whole : json_object_get(cost, "epsilon");
    const char *word = concentrated ? "rho" : "epsilon";
    bool all = json_is_true(json_object_get(windows, "all"));
    brume_write_sentence(out, "touches %s%s%s%s: each pays %s %s (%s); a whole history pays %s %s",
                         brume_windows_words(windows, true).text,
                         all ? ", as nothing in WHERE bounds '" : "",
                         all ? json_string_value(json_object_get(windows, "column")) : "",
                         all ? "'" : "", word, brume_rounded_up(json_number_value(each)).text,
                         json_string_value(json_object_get(windows, "why")), word,
                         brume_rounded_up(json_number_value(unit)).text);
}

void brume_write_windows(FILE *out, const json_t *windows, const json_t *cost)
{
    const json_t *others = json_object_get(windows, "others");
    if (windows)
        write_one(out, windows, cost);
    for (size_t i = 0; i < json_array_size(others); i++)
        write_one(out, json_array_get(others, i), cost);
}
