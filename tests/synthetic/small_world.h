/* A tiny universe with a workload of every kind, and all its small histograms. */
#ifndef BRUME_TESTS_SMALL_WORLD_H
#define BRUME_TESTS_SMALL_WORLD_H

#include "check.h"

#include <brume/synthetic/workload.h>

enum { SMALL_CELLS = 4, SMALL_EACH = 3, SMALL_HISTOGRAMS = 81 };

/* 2 x 2 cells: a marginal, a box, the total if wanted, and a dense query if wanted. */
static inline brume_workload *small_world(bool with_dense)
{
    brume_error error = {0};
    const uint32_t sizes[] = {2, 2};
    const size_t column[] = {0};
    const uint8_t yes[] = {0, 1};
    const uint8_t *allowed[] = {yes, yes};
    const float dense[] = {0.3f, 0, 1, 0.75f};
    brume_universe universe;
    brume_workload *workload = NULL;
    assert_ok(brume_universe_make(sizes, 2, &universe, &error));
    assert_ok(brume_workload_open(&universe, &workload, &error));
    assert_ok(brume_workload_add_marginal(workload, column, 1, &error));
    assert_ok(brume_workload_add_box(workload, allowed, &error));
    if (with_dense)
        assert_ok(brume_workload_add_dense(workload, dense, &error));
    return workload;
}

static inline void small_histogram(int code, double *counts)
{
    for (int i = 0; i < SMALL_CELLS; i++, code /= SMALL_EACH)
        counts[i] = code % SMALL_EACH;
}

static inline bool small_neighbours(const double *a, const double *b, brume_adjacency adjacency)
{
    double more = 0, less = 0;
    for (int i = 0; i < SMALL_CELLS; i++) {
        more += fmax(b[i] - a[i], 0);
        less += fmax(a[i] - b[i], 0);
    }
    return adjacency == BRUME_REPLACE ? more == 1 && less == 1 : more + less == 1;
}

#endif
