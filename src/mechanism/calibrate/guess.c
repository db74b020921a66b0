/* Where a calibration looks first: by the size of the unknown's term, then by a cheap bound.
 *
 * Promise: nothing here is certified or claimed; it only chooses where certificates are made. The
 * cheap bound is the saddle point's guess, near where many losses add up; where a term has no law
 * it is that of moments, some way above. Both are wrong by a factor that moves slowly with the
 * unknown: `shift` takes it into account once a certificate has told it. */
#include <math.h>
#include <stdlib.h>

#include "accountant/renyi/renyi.h"
#include "accountant/search.h"
#include "accountant/solve/compose.h"
#include "mechanism/calibrate/calibrate.h"

static double value_at(const brume_search_for *c, double log_x)
{
    return brume_calibrate_value_of(c, brume_calibrate_number(c, log_x));
}

/* --- by size --- */

/* About the rho of a release: what adds up where many losses do. */
static double size_of(const brume_cost *cost)
{
    const brume_loss *law = &cost->law;
    if (law->kind == BRUME_LOSS_POISSON_GAUSSIAN)
        return 0.5 * law->rate * law->rate * expm1(fmin(1 / (law->a * law->a), 40));
    if (cost->concentrated != BRUME_ABSENT && !(law->rate > 0))
        return cost->rho;
    if (cost->pure != BRUME_ABSENT)
        return cost->epsilon * tanh(cost->epsilon / 2);
    return brume_renyi_rough(cost, 2) / 2;
}

/* The rho that costs epsilon at delta. */
static double size_of_target(const brume_search_for *c)
{
    double log_delta = -log(c->delta);
    double root = c->epsilon / (sqrt(c->epsilon + log_delta) + sqrt(log_delta));
    return root * root;
}

/* How much larger than the target the unknown's term is at a value; of little loss by its sum. */
static double size_excess(brume_search_for *c, double log_x, double rest)
{
    const brume_event *event = &c->expression->events[c->expression->unknown.event];
    brume_cost cost;
    if (brume_expression_solve(c->expression, value_at(c, log_x), NULL) != BRUME_OK ||
        brume_event_cost(event, &cost, NULL) != BRUME_OK)
        return NAN;
    double count = (double)event->count, excess = log(count * size_of(&cost) / rest);
    if (cost.pure != BRUME_ABSENT && cost.law.rate == 0)
        excess = fmin(excess, log(count * cost.epsilon / c->epsilon));
    return excess;
}

double brume_calibrate_start(brume_search_for *c, double least, double most)
{
    double at = fmin(fmax(0, least), most), rest, slope = 2, low = least, high = most;
    if (c->accuracy)
        return at;
    rest = c->delta > 0 ? size_of_target(c) : c->epsilon * c->epsilon;
    double others = 0;
    for (size_t i = 0; i < c->expression->count; i++)
        if (i != c->expression->unknown.event)
            others += (double)c->terms[i].count * size_of(&c->terms[i].cost);
    rest = isfinite(others) ? fmax(rest - others, 0.1 * rest) : rest;
    double last = NAN, last_excess = NAN;
    for (int step = 0; step < 12; step++) {
        double excess = size_excess(c, at, rest);
        if (!isfinite(excess) || fabs(excess) < 0.05)
            return at;
        *(excess > 0 ? &low : &high) = at;
        double secant = (last_excess - excess) / (at - last);
        slope = secant > 0.2 && secant < 5 ? secant : slope;
        last = at, last_excess = excess;
        at = fmin(fmax(at + excess / slope, least), most);
        if (!(at > low && at < high) && at != least && at != most)
            at = low + (high - low) / 2;
        if (at == last)
            break;
    }
    return at;
}

/* --- by a cheap bound --- */

static double guess_terms(brume_search_for *c, const brume_term *terms, size_t count)
{
    double delta = INFINITY;
    brume_bound bound;
    bool sampled = false;
    for (size_t i = 0; i < count; i++)
        sampled |= terms[i].cost.law.kind == BRUME_LOSS_POISSON_GAUSSIAN;
    if (!c->by_moments && !brume_compose_guess(terms, count, c->epsilon, &delta))
        return NAN;
    /* of few draws the saddle point's may be far above a bound that holds: asked until it is not */
    if ((c->by_moments || (sampled && c->saddle_held < 2)) &&
        brume_account_delta(BRUME_METHOD_RDP, terms, count, c->epsilon, &bound, NULL) == BRUME_OK) {
        c->saddle_held += delta < bound.upper;
        delta = fmin(delta, bound.upper);
    }
    return isinf(delta) ? NAN : log(delta / c->delta);
}

double brume_calibrate_guess_others(brume_search_for *c)
{
    size_t count = c->expression->count, others = 0;
    brume_term *terms = calloc(count, sizeof *terms);
    if (!terms)
        return NAN;
    for (size_t i = 0; i < count; i++)
        if (i != c->expression->unknown.event)
            terms[others++] = c->terms[i];
    double excess = others > 0 ? guess_terms(c, terms, others) : -INFINITY;
    free(terms);
    return excess;
}

/* log(guess/target) at log x of the search variable. */
static double guess_at(brume_search_for *c, double log_x)
{
    const brume_event *event = &c->expression->events[c->expression->unknown.event];
    brume_term *term = &c->terms[c->expression->unknown.event];
    if (brume_expression_solve(c->expression, value_at(c, log_x), NULL) != BRUME_OK ||
        brume_event_cost(event, &term->cost, NULL) != BRUME_OK)
        return NAN;
    term->count = event->count;
    double excess = guess_terms(c, c->terms, c->expression->count);
    /* On a sample both guesses may be far above the chance that any draw holds the record, and what
     * the others cost, which together bound delta. */
    if (term->cost.law.rate > 0) {
        if (isnan(c->others))
            c->others = exp(brume_calibrate_guess_others(c));
        double most = log(c->others + (double)term->count * term->cost.law.rate / c->delta);
        if (excess > most)
            excess = most;
    }
    return excess;
}

enum { MOST_PLACES = 60, MOST_NEEDED = 16 };

/* A walk of the guess: points on both sides of what is sought, and the newest. Lines are laid along
 * x^-power, along which the logarithm of delta is about straight where the other terms count too:
 * a count, the square of an epsilon. */
typedef struct guess_walk {
    double power;
    double low, low_excess, high, high_excess; /* NAN: not yet known */
    double last, last_excess;
    double slope; /* of the excess at the newest, as it falls with log x */
    double stride;
    double places[MOST_PLACES], excesses[MOST_PLACES]; /* where it has been, in order */
    int count;
} guess_walk;

static void arrive(guess_walk *w, double at, double excess)
{
    if (excess > 0)
        w->low = at, w->low_excess = excess;
    else
        w->high = at, w->high_excess = excess;
    /* by x^-power in units of what it is at the newest */
    double rise = (excess - w->last_excess) / -expm1(-w->power * (w->last - at));
    if (rise > 0 && isfinite(rise))
        w->slope = w->power * rise;
    w->last = at, w->last_excess = excess;
    w->places[w->count] = at, w->excesses[w->count++] = excess;
}

/* For a walk that ended at an end of the range: where it first came near to what it ended at.
 * Beyond that the unknown counts for little. */
static void back_to_bend(const guess_walk *w, double shift, brume_place *place)
{
    int i = 0;
    while (i + 1 < w->count && !(fabs(w->excesses[i] - w->last_excess) < 0.05))
        i++;
    place->at = w->places[i], place->excess = w->excesses[i] - shift;
}

/* The next point: by the slope, kept between both sides; a stride, ever longer, where only one is
 * known. */
static double next_point(guess_walk *w)
{
    double at = w->last - log1p(-w->power * w->last_excess / w->slope) / w->power;
    if (isfinite(w->low) && isfinite(w->high)) {
        double width = w->high - w->low;
        if (!(at > w->low + 0.01 * width && at < w->high - 0.01 * width)) {
            at = w->low + width * w->low_excess / (w->low_excess - w->high_excess);
            if (!(at > w->low + 0.1 * width && at < w->high - 0.1 * width))
                at = w->low + width / 2;
        }
        return at;
    }
    double direction = isfinite(w->low) ? 1 : -1, step = direction * (at - w->last);
    w->stride *= 2;
    step = step > 0 ? fmin(1.05 * step + 1e-3, 8 * w->stride) : w->stride;
    return w->last + direction * step;
}

/* Is there no whole number between both sides? */
static bool is_settled(const brume_search_for *c, const guess_walk *w)
{
    if (!isfinite(w->low) || !isfinite(w->high))
        return false;
    if (c->whole)
        return fabs(brume_calibrate_number(c, w->low) - brume_calibrate_number(c, w->high)) <= 1;
    return w->high - w->low < 1e-9;
}

brume_looked brume_calibrate_look(brume_search_for *c, double shift, brume_place *place)
{
    guess_walk w = {.power = c->power,
                    .low = NAN,
                    .high = NAN,
                    .last = NAN,
                    .slope = place->slope,
                    .stride = 0.5};
    double at = place->at;
    if (shift < log(c->delta / 0.3)) /* so wrong a guess says nothing */
        return BRUME_LOOKED_NOWHERE;
    while (w.count < MOST_PLACES) {
        double excess = guess_at(c, at) + shift;
        if (isnan(excess))
            return BRUME_LOOKED_NOWHERE;
        arrive(&w, at, excess);
        place->at = at, place->excess = excess - shift;
        place->slope = w.slope > 0 ? w.slope : 1;
        bool near = fabs(excess) < (c->by_moments ? 0.1 : 0.02);
        if (near || is_settled(c, &w) || (w.count > MOST_NEEDED && fabs(excess) < 1))
            return BRUME_LOOKED_FOUND;
        if (excess > 0 && at >= place->most) {
            back_to_bend(&w, shift, place);
            return BRUME_LOOKED_ABOVE;
        }
        if (excess <= 0 && at <= place->least)
            return BRUME_LOOKED_BELOW;
        at = fmin(fmax(next_point(&w), place->least), place->most);
    }
    return BRUME_LOOKED_NOWHERE;
}

enum { MOST_LOOKS = 4 };

bool brume_calibrate_look_again(brume_search_for *c, brume_told *told, double estimate,
                                brume_place *place)
{
    if (!isfinite(place->excess) || !isfinite(estimate) ||
        ++told->count > (c->by_moments ? MOST_LOOKS / 2 : MOST_LOOKS))
        return false;
    double ratio = 1;
    if (estimate <= 0)
        told->good_guessed = place->excess, told->good_estimate = estimate, told->good_count++;
    else
        told->bad_guessed = place->excess, told->bad_estimate = estimate, told->bad_count++;
    if (told->good_count > 0 && told->bad_count > 0)
        ratio = (told->bad_estimate - told->good_estimate) /
                (told->bad_guessed - told->good_guessed);
    else if (told->count > 1)
        ratio = (estimate - told->estimate) / (place->excess - told->guessed);
    told->guessed = place->excess, told->estimate = estimate;
    brume_place next = *place;
    if (!(ratio > 0.1 && ratio < 20) ||
        brume_calibrate_look(c, estimate / ratio - place->excess, &next) != BRUME_LOOKED_FOUND ||
        next.at == place->at)
        return false;
    *place = next;
    return true;
}

/* --- by epsilon --- */

/* The cheap bound of delta at an epsilon. */
static bool guess(const brume_search_for *c, double epsilon, double *delta)
{
    size_t count = c->expression->count;
    brume_bound bound;
    if (!c->by_moments)
        return brume_compose_guess(c->terms, count, epsilon, delta);
    if (brume_account_delta(BRUME_METHOD_RDP, c->terms, count, epsilon, &bound, NULL) != BRUME_OK)
        return false;
    *delta = bound.upper;
    return true;
}

/* The epsilon below the target's at which the guess is so much larger, and how fast its logarithm
 * falls there; false where nothing is guessed. */
static bool guess_epsilon(const brume_search_for *c, double larger, double *epsilon, double *slope)
{
    double at = c->epsilon, here, nearby;
    if (!guess(c, at, &here) || !guess(c, 0.999 * at, &nearby))
        return false;
    *slope = log(nearby / here) / (1e-3 * at);
    double first = log(here) + larger, last = at, excess = -larger;
    for (int step = 0; step < 3 && *slope > 0; step++) {
        at = last + excess / *slope;
        if (!(at > 0.2 * c->epsilon) || !guess(c, at, &nearby))
            return false;
        double there = log(nearby) - first, secant = (there - excess) / (last - at);
        if (fabs(last - at) > 1e-4 * c->epsilon && secant > 0)
            *slope = secant;
        last = at, excess = there;
    }
    *epsilon = last + excess / *slope;
    return *slope > 0 && isfinite(*slope) && *epsilon > 0.2 * c->epsilon;
}

/* The first certificate is as sharp as the guess is expected to be. */
bool brume_calibrate_begin_epsilon(const brume_search_for *c, double excess, brume_epsilon_walk *w)
{
    *w = (brume_epsilon_walk){.at = c->epsilon, .excess = excess};
    if (!guess_epsilon(c, -excess, &w->next, &w->slope))
        return false;
    w->next = fmin(w->next + 1e-7 * w->at, w->at);
    w->tolerance = fmin(fmax(3e-8 * w->slope * w->at, 1e-3 * fabs(excess)), 1e-3);
    return true;
}

bool brume_calibrate_next_epsilon(const brume_search_for *c, double there, brume_epsilon_walk *w)
{
    double secant = (there - w->excess) / (w->at - w->next);
    if (fabs(w->at - w->next) > 1e-5 * w->at && secant > 0.1 * w->slope && secant < 10 * w->slope)
        w->slope = secant;
    w->at = w->next, w->excess = there;
    w->next = w->at + w->excess / w->slope + 1e-7 * w->at;
    w->tolerance = fmin(3e-8 * w->slope * w->at, 1e-3);
    return w->next > 0.2 * c->epsilon;
}

/* --- by a certificate --- */

void brume_calibrate_estimate(const brume_interval *delta, double excess, brume_finding *f)
{
    f->estimate = f->upper;
    if (!(delta->upper > 0 && delta->upper < INFINITY))
        return;
    double gap = 1 - delta->lower / delta->upper;
    excess /= delta->upper;
    bool banded = excess > 0 && excess <= gap; /* else it is of another bound than this */
    if (!banded && gap > 0.5) {
        /* The composition stops at a lower end far above the target: nearer than its upper end. */
        if (f->by_laws && f->lower > log(3))
            f->estimate = f->lower;
        return; /* else nothing is known of the other end: the bound itself decides */
    }
    f->known = true;
    f->banded = banded;
    excess = banded ? fmin(excess, 0.5) : gap / 3; /* a third, of a smooth delta */
    f->estimate += log1p(-excess);
    f->gap = banded ? f->upper - f->estimate : -log1p(-gap);
    f->doubt = banded ? 0.1 * excess : 0.1 * gap;
}
