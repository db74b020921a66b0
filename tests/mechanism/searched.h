/* A calibration opened from the inside, and one made from the outside. */
#ifndef BRUME_TESTS_SEARCHED_H
#define BRUME_TESTS_SEARCHED_H

#include "accounted.h"

#include "mechanism/calibrate/calibrate.h"

/* A search for the unknown of `text`. Behind its last term lies one with a large epsilon: code that
 * reads one term too many finds a delta that no test expects. */
static inline brume_search_for open_search(brume_expression *e, const char *text, double epsilon,
                                           double delta)
{
    accounted beyond = terms_for("pure(epsilon=300)", 1);
    assert_ok(brume_expression_parse(text, BRUME_ADD_REMOVE, e, &error));
    brume_search_for c = {.expression = e,
                          .epsilon = epsilon,
                          .delta = delta,
                          .coarsest = 1e-3,
                          .low = 1e-290,
                          .high = 1e290,
                          .others = NAN};
    c.terms = calloc(e->count + 1, sizeof *c.terms);
    assert_non_null(c.terms);
    for (size_t i = 0; i < e->count; i++) {
        c.terms[i].count = e->events[i].count;
        if (i != e->unknown.event)
            assert_ok(brume_event_cost(&e->events[i], &c.terms[i].cost, &error));
    }
    c.terms[e->count] = beyond.list[0];
    free(beyond.list);
    return c;
}

static inline void close_search(brume_search_for *c)
{
    free(c->terms);
    brume_expression_free(c->expression);
}

static inline brume_calibration calibrated(const char *text, double epsilon, double delta)
{
    brume_expression e = {0};
    brume_calibration found;
    assert_ok(brume_expression_parse(text, BRUME_ADD_REMOVE, &e, &error));
    assert_ok(brume_calibrate(&e, epsilon, delta, &found, &error));
    brume_expression_free(&e);
    return found;
}

#endif
