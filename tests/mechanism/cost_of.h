/* What the first mechanism of an expression costs where units are added or removed. */
#ifndef BRUME_TESTS_COST_OF_H
#define BRUME_TESTS_COST_OF_H

#include "check.h"

#include <brume/mechanism/expression.h>

static inline brume_cost cost_of(const char *text)
{
    brume_error error = {0};
    brume_expression e = {0};
    brume_cost cost = {0};
    assert_ok(brume_expression_parse(text, BRUME_ADD_REMOVE, &e, &error));
    assert_ok(brume_event_cost(&e.events[0], &cost, &error));
    brume_expression_free(&e);
    return cost;
}

#endif
