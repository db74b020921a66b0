/* Choosing by decimal scores. Promises: brume/mechanism/selection.h; proofs/selection.md,
 * "Decimals". */
#include <brume/mechanism/selection.h>

#include <math.h>
#include <stdlib.h>

#include <brume/mechanism/mechanism.h>

#include "base/error.h"
#include "mechanism/selection/selection.h"
#include "number/decimal_grid.h"
#include "number/rounding.h"

enum { STEPS_LOG2 = 20 }; /* of BRUME_SELECTION_STEPS */
static const int64_t FURTHEST = (int64_t)1 << 53;

static brume_status check_sensitivity(const brume_decimal *sensitivity, brume_error *error)
{
    if (brume_decimal_is_zero(sensitivity))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'sensitivity' must be above 0");
    return BRUME_OK;
}

brume_status brume_selection_steps(const brume_signed_decimal *scores, size_t n,
                                   const brume_decimal *sensitivity, double *steps,
                                   brume_error *error)
{
    BRUME_TRY(check_sensitivity(sensitivity, error));
    if (n < 1)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "there are no scores");
    fmpz *floors = calloc(n, sizeof *floors); /* all 0: initialised numbers */
    if (!floors)
        return brume_no_memory(error, "the scores");
    size_t top = 0;
    for (size_t i = 0; i < n; i++) {
        brume_decimal_floor_steps(&floors[i], &scores[i], sensitivity, STEPS_LOG2);
        if (fmpz_cmp(&floors[i], &floors[top]) > 0)
            top = i;
    }
    fmpz_t distance;
    fmpz_init(distance);
    for (size_t i = 0; i < n; i++) {
        fmpz_sub(distance, &floors[i], &floors[top]);
        steps[i] =
            (double)(fmpz_cmp_si(distance, -FURTHEST) < 0 ? -FURTHEST : fmpz_get_si(distance));
    }
    fmpz_clear(distance);
    for (size_t i = 0; i < n; i++)
        fmpz_clear(&floors[i]);
    free(floors);
    return BRUME_OK;
}

brume_status brume_selection_gap_upper(brume_select_noise noise, const brume_selection *options,
                                       const brume_decimal *sensitivity, size_t n, double beta,
                                       double *gap, brume_error *error)
{
    BRUME_TRY(check_sensitivity(sensitivity, error));
    if (n == 1) {
        *gap = 0;
        return BRUME_OK;
    }
    brume_selection in_steps = *options;
    in_steps.sensitivity = BRUME_SELECTION_STEPS;
    brume_event event = brume_selection_event(noise, &in_steps);
    event.parameter[BRUME_SELECTION_CANDIDATES] = (double)n;
    double steps;
    BRUME_TRY(brume_event_alpha(&event, beta, &steps, error));
    /* A score that is (steps + 1) grid steps below the best has a floor more than `steps` below the
     * best floor. A floor that was cut to -2^53 is that far as long as `steps` is not beyond it. */
    steps = brume_add_up(steps, 1);
    double unit = brume_decimal_upper(sensitivity);
    *gap = steps > (double)FURTHEST
               ? INFINITY
               : brume_multiply_up(brume_divide_up(steps, BRUME_SELECTION_STEPS), unit);
    return BRUME_OK;
}
