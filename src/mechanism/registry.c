/* The registry: every card, found by id or by name; and events by name: their cost, noise and
 * accuracy. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <brume/account/account.h>
#include <brume/mechanism/expression.h>

#include "base/error.h"
#include "mechanism/card.h"

#define BRUME_MECHANISM(name) extern const brume_card brume_card_##name;
#include "mechanism/registry.def"
#undef BRUME_MECHANISM

static const brume_card *const registered[] = {
#define BRUME_MECHANISM(name) &brume_card_##name,
#include "mechanism/registry.def"
#undef BRUME_MECHANISM
    NULL,
};

const brume_card *const *brume_cards(size_t *count)
{
    *count = sizeof registered / sizeof *registered - 1;
    return registered;
}

const brume_card *brume_card_by_id(uint32_t id)
{
    for (const brume_card *const *card = registered; *card; card++)
        if ((*card)->id == id)
            return *card;
    return NULL;
}

const brume_card *brume_card_by_name(const char *name)
{
    for (const brume_card *const *card = registered; *card; card++)
        if (strcmp((*card)->name, name) == 0)
            return *card;
    return NULL;
}

size_t brume_card_parameter(const brume_card *card, const char *name)
{
    for (size_t i = 0; i < card->parameter_count; i++)
        if (strcmp(card->parameters[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

const brume_parameter brume_parameter_sensitivity = {
    .name = "sensitivity",
    .type = BRUME_PARAMETER_REAL,
    .least = 0,
    .least_open = true,
    .most = INFINITY,
    .most_open = true,
    .optional = true,
    .standard = 1,
    .direction = BRUME_LESS_NOISE,
    .unit = "of the query's unit",
    .help = "the most that one unit can change the query, in the norm the mechanism names",
};

bool brume_card_has_sensitivity(const brume_card *card)
{
    return strcmp(card->sensitivity, "none") != 0 && strcmp(card->sensitivity, "base") != 0;
}

size_t brume_card_slots(const brume_card *card)
{
    size_t slots = card->parameter_count;
    while (slots > 0 && card->parameters[slots - 1].type == BRUME_PARAMETER_MECHANISM)
        slots--;
    return slots;
}

static bool in_range(const brume_parameter *parameter, double value)
{
    if (!isfinite(value))
        return false;
    if (value < parameter->least || (parameter->least_open && value <= parameter->least))
        return false;
    if (value > parameter->most || (parameter->most_open && value >= parameter->most))
        return false;
    bool whole = parameter->type == BRUME_PARAMETER_INTEGER ||
                 parameter->type == BRUME_PARAMETER_FLAG;
    return !whole || value == floor(value);
}

static brume_status check_value(const brume_card *card, const brume_parameter *parameter,
                                double value, brume_error *error)
{
    if (in_range(parameter, value))
        return BRUME_OK;
    const char *kind = parameter->type == BRUME_PARAMETER_REAL      ? "a number"
                       : parameter->type == BRUME_PARAMETER_INTEGER ? "an integer"
                                                                    : "true or false";
    if (isinf(parameter->most))
        return brume_fail(error, BRUME_EARGUMENT, parameter->help,
                          "%s: '%s' is %.17g, must be %s, finite and %s %.17g", card->name,
                          parameter->name, value, kind,
                          parameter->least_open ? "above" : "at least", parameter->least);
    return brume_fail(error, BRUME_EARGUMENT, parameter->help,
                      "%s: '%s' is %.17g, must be %s in %c%.17g, %.17g%c", card->name,
                      parameter->name, value, kind, parameter->least_open ? '(' : '[',
                      parameter->least, parameter->most, parameter->most_open ? ')' : ']');
}

/* The parameters of `card`, whose first value stands in slot `first`. */
static brume_status check_parameters(const brume_card *card, const brume_event *event, size_t first,
                                     int except, brume_error *error)
{
    size_t slots = brume_card_slots(card);
    if (first + slots > BRUME_EVENT_PARAMETERS)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "%s has too many parameters here",
                          card->name);
    for (size_t i = 0; i < slots; i++)
        if ((int)(first + i) != except)
            BRUME_TRY(check_value(card, &card->parameters[i], event->parameter[first + i], error));
    return BRUME_OK;
}

static brume_status check_base(const brume_card *card, const brume_event *event, int except,
                               brume_error *error)
{
    bool wanted = brume_card_slots(card) < card->parameter_count;
    if (!wanted && event->base == 0)
        return BRUME_OK;
    if (!wanted)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "%s takes no inner mechanism", card->name);
    const brume_card *base = brume_card_by_id(event->base);
    if (!base)
        return brume_fail(error, BRUME_EARGUMENT,
                          "write it as in poisson(rate=.01, "
                          "gaussian(sigma=1))",
                          "%s needs an inner mechanism", card->name);
    if (brume_card_slots(base) < base->parameter_count)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "%s inside %s is not supported",
                          base->name, card->name);
    return check_parameters(base, event, brume_card_slots(card), except, error);
}

brume_status brume_event_check_except(const brume_event *event, int except, brume_error *error)
{
    const brume_card *card = brume_card_by_id(event->mechanism);
    if (!card)
        return brume_fail(error, BRUME_EUNKNOWN, "see 'brume mechanisms'", "no mechanism has id %u",
                          event->mechanism);
    unsigned adjacency = (unsigned)event->adjacency;
    if (adjacency == 0 || (adjacency & (adjacency - 1)) || !(card->adjacencies & adjacency))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "%s is not defined under this adjacency",
                          card->name);
    BRUME_TRY(check_parameters(card, event, 0, except, error));
    BRUME_TRY(check_base(card, event, except, error));
    const brume_card *bearer = event->base ? brume_card_by_id(event->base) : card;
    if (except != BRUME_SLOT_SENSITIVITY) {
        BRUME_TRY(check_value(bearer, &brume_parameter_sensitivity, event->sensitivity, error));
        if (!brume_card_has_sensitivity(bearer) && event->sensitivity != 1)
            return brume_fail(error, BRUME_EARGUMENT, "its parameters state the cost itself",
                              "%s has no 'sensitivity'", bearer->name);
    }
    if (event->count == 0 || event->count > INT64_MAX)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "%s: the count is %" PRIu64 ", must be in [1, 2^63 - 1]", card->name,
                          event->count);
    return BRUME_OK;
}

brume_status brume_event_check(const brume_event *event, brume_error *error)
{
    return brume_event_check_except(event, BRUME_SLOT_NONE, error);
}

/* A double as digits times a power of ten; false unless 12 digits say it. */
static bool take_digits(double number, int64_t *digits, int *power)
{
    char text[32];
    snprintf(text, sizeof text, "%.11e", number);
    if (!isfinite(number) || strtod(text, NULL) != number)
        return false;
    *power = atoi(strchr(text, 'e') + 1) - 11;
    *digits = 0;
    for (const char *at = text; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9')
            *digits = 10 * *digits + (*at - '0');
    return true;
}

/* Is epsilon * scale = sensitivity, as decimals? */
static bool is_decimal_quotient(double epsilon, double scale, double sensitivity)
{
    int64_t a, b, c;
    int of_a, of_b, of_c;
    if (!take_digits(epsilon, &a, &of_a) || !take_digits(scale, &b, &of_b) ||
        !take_digits(sensitivity, &c, &of_c))
        return false;
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * (wide)b, other = (wide)c; /* below 10^24 */
    int power = of_a + of_b - of_c;
    for (; power < 0 && other < (wide)1 << 120; power++) /* of equal ones it is -11 or -12 */
        other *= 10;
    return power == 0 && product == other;
}

/* Was this epsilon typed: as a parameter, or as sensitivity and scale with a short quotient? What
 * is computed otherwise is an upper bound, and no decimal below it may stand for it. */
static bool is_typed(const brume_card *card, const brume_event *event, double epsilon)
{
    for (size_t i = 0; !event->base && i < card->parameter_count; i++) {
        const char *name = card->parameters[i].name;
        if (strcmp(name, "epsilon") == 0 && event->parameter[i] == epsilon)
            return true;
        if (strcmp(name, "scale") == 0 &&
            is_decimal_quotient(epsilon, event->parameter[i], event->sensitivity))
            return true;
    }
    return false;
}

brume_status brume_event_cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    BRUME_TRY(brume_event_check(event, error));
    const brume_card *card = brume_card_by_id(event->mechanism);
    if (card->broken)
        return brume_fail(error, BRUME_EUNSUPPORTED, "'brume audit' shows it",
                          "%s is broken and has no cost: %s", card->name, card->broken);
    if (!card->cost)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "%s has no stated cost", card->name);
    brume_cost result = {0};
    BRUME_TRY(card->cost(event, &result, error));
    result.epsilon_is_decimal = is_typed(card, event, result.epsilon);
    *cost = result;
    return BRUME_OK;
}

brume_status brume_event_alpha(const brume_event *event, double beta, double *alpha,
                               brume_error *error)
{
    BRUME_TRY(brume_event_check(event, error));
    const brume_card *card = brume_card_by_id(event->mechanism);
    if (!card->alpha_upper)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "%s has no accuracy statement",
                          card->name);
    if (!(beta > 0 && beta < 1))
        return brume_fail(error, BRUME_EARGUMENT, "it is the probability of a larger error",
                          "'beta' is %.17g, must be in (0, 1)", beta);
    double result = 0;
    BRUME_TRY(card->alpha_upper(event, beta, &result, error));
    *alpha = result;
    return BRUME_OK;
}

brume_status brume_event_beta(const brume_event *event, double alpha, double *beta,
                              brume_error *error)
{
    BRUME_TRY(brume_event_check(event, error));
    const brume_card *card = brume_card_by_id(event->mechanism);
    if (!card->beta_upper)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "%s has no accuracy statement",
                          card->name);
    if (!(alpha >= 0) || isinf(alpha))
        return brume_fail(error, BRUME_EARGUMENT, "it is the error not to be reached",
                          "'alpha' is %.17g, must be a finite number of at least 0", alpha);
    double result = 0;
    BRUME_TRY(card->beta_upper(event, alpha, &result, error));
    *beta = fmin(result, 1);
    return BRUME_OK;
}

brume_status brume_event_noise(const brume_event *event, brume_bits *bits, int64_t *out, size_t n,
                               double *step, brume_error *error)
{
    double result = 1;
    brume_status status = brume_event_check(event, error);
    const brume_card *card = brume_card_by_id(event->mechanism);
    if (status == BRUME_OK && !card->noise)
        status =
            brume_fail(error, BRUME_EUNSUPPORTED, NULL, "%s has no noise of its own", card->name);
    if (status == BRUME_OK)
        status = card->noise(event, bits, out, n, &result, error);
    if (status == BRUME_OK)
        *step = result;
    else if (n > 0)
        memset(out, 0, n * sizeof *out);
    return status;
}

brume_status brume_event_mass(const brume_event *event, int64_t k, brume_interval *mass,
                              brume_error *error)
{
    BRUME_TRY(brume_event_check(event, error));
    const brume_card *card = brume_card_by_id(event->mechanism);
    if (!card->mass)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "%s has no noise of its own",
                          card->name);
    brume_interval result = {0, 1};
    BRUME_TRY(card->mass(event, k, &result, error));
    *mass = result;
    return BRUME_OK;
}

/* From events to the terms that the accountant composes. Promise: a refusal names the mechanism,
 * the method that does not apply and the ones that do. */

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
