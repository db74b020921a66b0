/* The registry: every card, found by id or by name. */
#include "mechanism/card.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

#define BRUME_MECHANISM(name) extern const brume_card brume_card_##name;
#include "mechanism/registry.def"
#undef BRUME_MECHANISM

static const brume_card *const cards[] = {
#define BRUME_MECHANISM(name) &brume_card_##name,
#include "mechanism/registry.def"
#undef BRUME_MECHANISM
    NULL,
};

const brume_card *const *brume_cards(size_t *count)
{
    *count = sizeof cards / sizeof *cards - 1;
    return cards;
}

const brume_card *brume_card_by_id(uint32_t id)
{
    for (const brume_card *const *card = cards; *card; card++)
        if ((*card)->id == id)
            return *card;
    return NULL;
}

const brume_card *brume_card_by_name(const char *name)
{
    for (const brume_card *const *card = cards; *card; card++)
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

static bool in_range(const brume_parameter *parameter, double value)
{
    if (!isfinite(value))
        return false;
    if (value < parameter->least || (parameter->least_open && value <= parameter->least))
        return false;
    if (value > parameter->most || (parameter->most_open && value >= parameter->most))
        return false;
    return parameter->type != BRUME_PARAMETER_INTEGER || value == floor(value);
}

static brume_status check_parameters(const brume_card *card, const double *values,
                                     brume_error *error)
{
    for (size_t i = 0; i < card->parameter_count; i++) {
        const brume_parameter *parameter = &card->parameters[i];
        if (parameter->type == BRUME_PARAMETER_MECHANISM || in_range(parameter, values[i]))
            continue;
        return brume_fail(error, BRUME_EARGUMENT, parameter->help,
                          "%s: '%s' is %.17g, must be %s in %c%.17g, %.17g%c", card->name,
                          parameter->name, values[i],
                          parameter->type == BRUME_PARAMETER_INTEGER ? "an integer" : "a number",
                          parameter->least_open ? '(' : '[', parameter->least, parameter->most,
                          parameter->most_open ? ')' : ']');
    }
    return BRUME_OK;
}

brume_status brume_event_check(const brume_event *event, brume_error *error)
{
    const brume_card *card = brume_card_by_id(event->mechanism);
    if (!card)
        return brume_fail(error, BRUME_EUNKNOWN, "see 'brume mechanisms'", "no mechanism has id %u",
                          event->mechanism);
    if (!(card->adjacencies & (unsigned)event->adjacency))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "%s is not defined under this adjacency", card->name);
    if (!isfinite(event->sensitivity) || event->sensitivity <= 0)
        return brume_fail(error, BRUME_EARGUMENT, "it is the most one unit can change the query",
                          "%s: 'sensitivity' is %.17g, must be a finite number above 0",
                          card->name, event->sensitivity);
    if (event->count == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "%s: a count of 0", card->name);
    return check_parameters(card, event->parameter, error);
}

brume_status brume_event_cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    BRUME_TRY(brume_event_check(event, error));
    const brume_card *card = brume_card_by_id(event->mechanism);
    if (!card->cost)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "%s has no stated cost", card->name);
    brume_cost result = {0};
    BRUME_TRY(card->cost(event, &result, error));
    *cost = result;
    return BRUME_OK;
}
