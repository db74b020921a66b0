/* What the accountant finds for one order of the neighbours, where the orders differ; and shares of
 * a fixed stream. */
#ifndef BRUME_TESTS_ONE_ORDER_H
#define BRUME_TESTS_ONE_ORDER_H

#include "check.h"

#include "accountant/solve/solve.h"
#include "sequence.h"

static inline brume_interval solved(const brume_term *terms, size_t count, double epsilon,
                                    bool added)
{
    brume_merged merged;
    brume_certified certified;
    brume_error error;
    assert_ok(brume_merge_terms(terms, count, added, &merged, &error));
    assert_false(merged.symmetric);
    assert_true(brume_solve(merged.laws, merged.law_count,
                            &(brume_asked){.at = epsilon, .width = 1e-10}, &certified));
    brume_merged_close(&merged);
    return certified.value;
}

#endif
