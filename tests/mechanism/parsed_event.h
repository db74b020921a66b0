/* An event as an expression of one term says it. */
#ifndef BRUME_TESTS_MECHANISM_PARSED_EVENT_H
#define BRUME_TESTS_MECHANISM_PARSED_EVENT_H

#include "check.h"

#include <brume/mechanism/expression.h>

static inline brume_event parsed_event(const char *text, brume_adjacency adjacency)
{
    brume_error error = {0};
    brume_expression e = {0};
    assert_ok(brume_expression_parse(text, adjacency, &e, &error));
    brume_event event = e.events[0];
    brume_expression_free(&e);
    return event;
}

#endif
