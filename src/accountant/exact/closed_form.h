/* Answers from a profile that is known in closed form.
 *
 * A closed form gives certified values of delta at any epsilon; this turns them into epsilon at a
 * delta. It is what remains where the line integral does not end by itself: few draws. */
#ifndef BRUME_ACCOUNTANT_EXACT_CLOSED_FORM_H
#define BRUME_ACCOUNTANT_EXACT_CLOSED_FORM_H

#include "accountant/answer.h"
#include "accountant/law/law.h"

typedef enum brume_side { BRUME_LOWER_SIDE = -1, BRUME_UPPER_SIDE = 1 } brume_side;

/* A bound of delta(epsilon) from above or below, for every parameter within its 8 units. */
typedef struct brume_closed {
    double (*delta)(void *context, double epsilon, brume_side side);
    void *context;
    const char *route;
    double slope; /* how fast log delta falls near the guess, if known: else 0 */
    double known_epsilon, known_delta; /* about what delta is at another epsilon; 0: not known */
    double least;                      /* it holds for epsilons from here on; 0: for all */
    void (*close)(void *context);      /* NULL: there is nothing to free */
    bool doubles;   /* computed in doubles with error bounds, else in ball arithmetic */
    uint64_t nodes; /* points of an integrand or terms of a sum behind it, so far */
} brume_closed;

/* Narrow answer->value, which must contain the epsilon at delta, from a guess inside it. */
void brume_closed_epsilon(const brume_closed *closed, double delta, double delta_error,
                          double guess, brume_answer *answer);

/* Narrow answer->value around delta(epsilon). */
void brume_closed_delta(const brume_closed *closed, double epsilon, brume_answer *answer);

/* --- sums over sign patterns: few draws of Laplace, pure and small discrete laws --- */
typedef struct brume_pattern brume_pattern;

/* NULL if a law is of another kind, if the patterns with a loss above `epsilon` times (Laplace
 * draws + half the laws + 6) exceed `effort`, or if memory ran out. */
brume_pattern *brume_pattern_open(const brume_law *laws, size_t count, double epsilon,
                                  double effort);
void brume_pattern_close(brume_pattern *pattern);
brume_closed brume_pattern_form(brume_pattern *pattern);

/* --- all Gaussians together: a law of that kind is one draw --- */
brume_closed brume_gaussian_form(brume_law *law);

/* --- discrete Gaussians so narrow that hardly a draw leaves the middle --- */
typedef struct brume_rare_jumps brume_rare_jumps;

/* For deltas from `least` on. NULL if `law` is of another kind, if draws leave the middle too
 * often, or if memory ran out. */
brume_rare_jumps *brume_rare_jumps_open(const brume_law *law, double least);
void brume_rare_jumps_close(brume_rare_jumps *rare);
brume_closed brume_rare_jumps_form(brume_rare_jumps *rare);

/* Narrow the answer; false if brume_rare_jumps_open refuses. */
bool brume_rare_jumps_delta(const brume_law *law, double epsilon, brume_answer *answer);

/* --- one Laplace or discrete Laplace on a Poisson sample; false if it is not that --- */
BRUME_MUST_USE bool brume_amplified_form(brume_law *law, brume_closed *out);

#endif
