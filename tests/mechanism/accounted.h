/* Expressions accounted in one line, and with their unknown set. */
#ifndef BRUME_TESTS_ACCOUNTED_H
#define BRUME_TESTS_ACCOUNTED_H

#include "check.h"

#include <stdlib.h>

#include <brume/account/account.h>

static brume_error error;

typedef struct accounted {
    brume_term *list;
    size_t count;
} accounted;

static inline accounted terms_for(const char *text, uint64_t group)
{
    brume_expression e = {0};
    accounted result;
    assert_ok(brume_expression_parse(text, BRUME_ADD_REMOVE, &e, &error));
    assert_ok(
        brume_account_terms(e.events, e.count, group, BRUME_METHOD_AUTO, &result.list, &error));
    result.count = e.count;
    brume_expression_free(&e);
    return result;
}

static inline brume_bound epsilon_by(brume_method method, const char *text, double delta)
{
    accounted t = terms_for(text, 1);
    brume_bound bound;
    assert_ok(brume_account_epsilon(method, t.list, t.count, delta, &bound, &error));
    free(t.list);
    return bound;
}

static inline brume_bound delta_by(brume_method method, const char *text, double epsilon)
{
    accounted t = terms_for(text, 1);
    brume_bound bound;
    assert_ok(brume_account_delta(method, t.list, t.count, epsilon, &bound, &error));
    free(t.list);
    return bound;
}

/* The expression with its unknown set to `value`. */
static inline brume_bound delta_at(brume_expression *e, double value, double epsilon)
{
    brume_term *list;
    brume_bound bound;
    assert_ok(brume_expression_solve(e, value, &error));
    assert_ok(brume_account_terms(e->events, e->count, 1, BRUME_METHOD_AUTO, &list, &error));
    assert_ok(brume_account_delta(BRUME_METHOD_AUTO, list, e->count, epsilon, &bound, &error));
    free(list);
    return bound;
}

#endif
