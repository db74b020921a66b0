/* A real unknown: look by a cheap bound, close in by certificates, bisect only where that fails.
 *
 * Promise: at the value returned the certified bound itself was at most the target. Guesses (the
 * saddle point, moments, how far a band lifts a bound) only choose where to look: they can cost
 * time or a little noise, never privacy. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "accountant/search.h"
#include "base/error.h"
#include "mechanism/calibrate/calibrate.h"

/* A number of few digits a hair away that meets the target too is the nicer answer: 10, not
 * 10.000000000003. */
static brume_status prefer_short(brume_search_for *c, double *value, brume_error *error)
{
    for (int digits = 1; digits <= 6; digits++) {
        char text[40];
        snprintf(text, sizeof text, "%.*e", digits - 1, *value);
        double candidate = strtod(text, NULL);
        bool noisier = (candidate > *value) != c->inverted;
        if (!(fabs(candidate / *value - 1) <= (noisier ? 5e-11 : 1e-9)))
            continue;
        brume_finding f;
        BRUME_TRY(brume_calibrate_try(c, candidate, 1e-10, &f, error));
        if (f.upper <= 0)
            *value = candidate;
        return BRUME_OK;
    }
    return BRUME_OK;
}

/* A bisection's view of the same: bound over target. */
typedef struct bisected {
    brume_search_for *search_for;
    double tolerance;
} bisected;

static brume_status bound_at(void *context, double x, double *bound, brume_error *error)
{
    const bisected *b = context;
    brume_finding f;
    double value = brume_calibrate_number(b->search_for, log(x));
    BRUME_TRY(brume_calibrate_try(b->search_for, value, b->tolerance, &f, error));
    *bound = exp(f.upper); /* above 1 just where f.upper is above 0, hence at least 2^-52 */
    return BRUME_OK;
}

static brume_status bisect(brume_search_for *c, brume_place *place, double tolerance, double step,
                           double relative, brume_error *error)
{
    bisected b = {c, tolerance};
    brume_search search = {.value = bound_at,
                           .context = &b,
                           .target = 1,
                           .least = exp(place->least),
                           .most = exp(place->most),
                           .relative = relative,
                           .step = step};
    double at;
    BRUME_TRY(brume_search_least(&search, exp(place->at), &at, error));
    place->at = log(at);
    c->everywhere = at <= search.least * (1 + 1e-12);
    c->tight = !c->everywhere;
    return BRUME_OK;
}

/* A bound that is cheap and exact, to its last places; but where it jumps, as near as an answer
 * must be. */
static brume_status search_to_last_place(brume_search_for *c, brume_place *place,
                                         brume_error *error)
{
    brume_finding f;
    BRUME_TRY(bisect(c, place, 0, 0.5, 2e-10, error));
    BRUME_TRY(brume_calibrate_try(c, brume_calibrate_number(c, place->at), 0, &f, error));
    return f.upper < -1e-6 ? BRUME_OK : bisect(c, place, 0, 4e-10, 1e-15, error);
}

/* The other terms alone: do they cost too much? */
static brume_status ask_others(brume_search_for *c, double *estimate, brume_error *error)
{
    brume_finding f;
    BRUME_TRY(brume_calibrate_try_others(c, 1e-3, &f, error));
    if (brume_calibrate_undecided(&f))
        BRUME_TRY(brume_calibrate_try_others(c, 1e-9, &f, error));
    *estimate = f.estimate;
    return f.upper > 0 ? brume_calibrate_no_value(c, error) : BRUME_OK;
}

/* By the cheap bound to where the certificates begin. Where it says that the others alone cost too
 * much they are asked, and by how much it is wrong of them is a shift for all. */
static brume_status find_place(brume_search_for *c, brume_place *place, bool *asked,
                               brume_looked *looked, brume_error *error)
{
    brume_place start = *place;
    double estimate = NAN;
    *looked = BRUME_LOOKED_NOWHERE;
    for (int way = 0; way < 2 && *looked == BRUME_LOOKED_NOWHERE; way++) {
        c->by_moments = way == 1;
        *place = start;
        double guessed = brume_calibrate_guess_others(c);
        c->others = exp(guessed);
        if (guessed > -0.05 && !*asked) {
            *asked = true;
            BRUME_TRY(ask_others(c, &estimate, error));
        }
        bool wrong = *asked && isfinite(estimate) && isfinite(guessed);
        if (!isnan(guessed))
            *looked = brume_calibrate_look(c, wrong ? estimate - guessed : 0, place);
    }
    return BRUME_OK;
}

static brume_status search_by_certificates(brume_search_for *c, brume_place *place,
                                           brume_error *error)
{
    bool asked = false, found = false;
    brume_looked looked;
    double estimate;
    if (c->hint != 0) {
        place->at = c->hint, place->excess = NAN, place->slope = 1;
        looked = BRUME_LOOKED_FOUND;
    } else {
        BRUME_TRY(find_place(c, place, &asked, &looked, error));
    }
    if (looked != BRUME_LOOKED_NOWHERE)
        BRUME_TRY(brume_calibrate_close_in(c, place, &found, error));
    if (found)
        return BRUME_OK;
    if (!asked) /* before a search that may be long */
        BRUME_TRY(ask_others(c, &estimate, error));
    BRUME_TRY(bisect(c, place, 1e-3, 0.3, 0.01, error));
    return bisect(c, place, 1e-9, 0.02, 2e-10, error);
}

brume_status brume_calibrate_real(brume_search_for *c, double *value, brume_error *error)
{
    brume_place place = {.slope = 2};
    place.least = log(c->inverted ? 1 / c->high : c->low);
    place.most = log(c->inverted ? 1 / c->low : c->high);
    place.at = brume_calibrate_start(c, place.least, place.most);
    brume_error why = {0};
    brume_status status = c->accuracy || !(c->delta > 0) ? search_to_last_place(c, &place, &why)
                                                         : search_by_certificates(c, &place, &why);
    if (status == BRUME_EUNSUPPORTED)
        return brume_calibrate_no_value(c, error);
    if (status != BRUME_OK) {
        if (error)
            *error = why;
        return status;
    }
    *value = brume_calibrate_number(c, place.at); /* the very number that was tried */
    return prefer_short(c, value, error);
}
