/* The odometer: a list of distinct costs with their counts. Promise: a reading is the certified
 * cost of exactly the releases added, as if fixed in advance, and says so. */
#include <brume/account/odometer.h>

#include <stdlib.h>

#include "accountant/law/law.h"
#include "base/error.h"

struct brume_odometer {
    brume_term *terms;
    size_t count, room;
    uint64_t releases;
};

brume_status brume_odometer_open(brume_odometer **out, brume_error *error)
{
    brume_odometer *odometer = calloc(1, sizeof *odometer);
    if (!odometer)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    *out = odometer;
    return BRUME_OK;
}

void brume_odometer_close(brume_odometer *odometer)
{
    if (!odometer)
        return;
    free(odometer->terms);
    free(odometer);
}

/* Field by field: padding is not compared. */
static bool same(const brume_cost *a, const brume_cost *b)
{
    return a->pure == b->pure && a->epsilon == b->epsilon && a->concentrated == b->concentrated &&
           a->rho == b->rho && a->renyi == b->renyi && a->renyi_upper == b->renyi_upper &&
           a->loss == b->loss && a->law.kind == b->law.kind && a->law.a == b->law.a &&
           a->law.rate == b->law.rate && a->law.shift == b->law.shift &&
           a->delta_failure == b->delta_failure;
}

static brume_status append(brume_odometer *odometer, const brume_cost *cost, uint64_t count,
                           brume_error *error)
{
    if (odometer->count == odometer->room) {
        size_t room = odometer->room ? 2 * odometer->room : 8;
        brume_term *terms = realloc(odometer->terms, room * sizeof *terms);
        if (!terms)
            return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
        odometer->terms = terms;
        odometer->room = room;
    }
    odometer->terms[odometer->count++] = (brume_term){*cost, count};
    return BRUME_OK;
}

brume_status brume_odometer_add(brume_odometer *odometer, const brume_cost *cost, uint64_t count,
                                brume_error *error)
{
    if (count == 0 || count > INT64_MAX)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a count must be in 1 .. 2^63-1");
    BRUME_TRY(brume_cost_check(cost, error));
    if (!brume_method_applies(BRUME_METHOD_AUTO, cost))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a release without any stated cost");
    size_t i = 0;
    while (i < odometer->count && !same(&odometer->terms[i].cost, cost))
        i++;
    if (i == odometer->count)
        BRUME_TRY(append(odometer, cost, count, error));
    else if (odometer->terms[i].count > INT64_MAX - count)
        return brume_fail(error, BRUME_EOVERFLOW, NULL, "more than 2^63-1 releases of one kind");
    else
        odometer->terms[i].count += count;
    odometer->releases = odometer->releases > UINT64_MAX - count ? UINT64_MAX
                                                                 : odometer->releases + count;
    return BRUME_OK;
}

brume_status brume_odometer_read(const brume_odometer *odometer, double delta, brume_reading *out,
                                 brume_error *error)
{
    brume_reading reading = {.releases = odometer->releases, .label = BRUME_ODOMETER_LABEL};
    if (!(delta >= 0 && delta < 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'delta' is %.17g, must be in [0, 1)",
                          delta);
    if (odometer->count == 0)
        reading.epsilon =
            (brume_bound){.has_lower = true, .method = BRUME_METHOD_BASIC, .route = "no release"};
    else
        BRUME_TRY(brume_account_epsilon(BRUME_METHOD_AUTO, odometer->terms, odometer->count, delta,
                                        &reading.epsilon, error));
    *out = reading;
    return BRUME_OK;
}
