/* Calibration from the inside: what is searched, by which bound, and with what in hand. */
#ifndef BRUME_MECHANISM_CALIBRATE_H
#define BRUME_MECHANISM_CALIBRATE_H

#include <brume/account/account.h>

/* What a certificate says of delta, epsilon or the probability of an error where the unknown has
 * some value: each as its logarithm over the target. */
typedef struct brume_finding {
    double upper;    /* the bound: at most 0 just where the target is met */
    double lower;    /* the certified lower end; -infinity where there is none */
    double estimate; /* of the exact value; the bound, where there is no estimate */
    double gap;      /* how far the bound may lie above the exact value; 0: not known */
    double doubt;    /* how far the estimate may be off */
    bool known;      /* there is an estimate, from a lower end or from what a band added */
    bool banded;     /* it is from what a band added */
    bool by_laws;    /* of loss laws alone: it does not jump between neighbours */
} brume_finding;

/* A trial that need not be made again. */
typedef struct brume_tried {
    brume_cost cost;
    uint64_t count;
    double tolerance;
    bool both_ends;
    brume_finding finding;
} brume_tried;

enum { BRUME_TRIED = 4 };

typedef struct brume_search_for {
    brume_expression *expression;
    brume_term *terms;
    bool inverted;         /* the search variable is 1/value */
    bool whole;            /* only whole values are tried, */
    bool squared;          /* or values with whole squares */
    bool both_ends;        /* ask for the whole interval, not its upper end alone; */
    bool both_useless;     /* that was no sharper, */
    bool stuck;            /* nor is what is asked for more */
    bool accuracy;         /* the bound is an error's probability, not a delta or epsilon */
    double epsilon, delta; /* the target; or alpha, beta */
    double low, high;      /* the range of the value */
    double power;          /* lines are laid along the search variable to minus this power */

    double
        coarsest; /* the tolerance never is above this: it falls where no lower end came of more */
    brume_tried tried[BRUME_TRIED];
    size_t tried_count;
    double hint;     /* log x of the search variable, where it is nearly known; 0: it is not */
    int saddle_held; /* how often the saddle point's guess was not above moments */
    double others;   /* the guess of the other terms alone over the target; NAN: not known */
    bool by_moments; /* the cheap bound is that of moments: the saddle point says nothing */
    bool tight;      /* the answer lies where the bound crosses the target */
    bool everywhere; /* the target is met at every value: the answer is the end of the range */
} brume_search_for;

/* --- the bound (bound.c) --- */

bool brume_calibrate_same_cost(const brume_cost *a, const brume_cost *b);

/* log(bound/target): above 0 just where the bound is above the target. What counts is the
 * comparison, not its logarithm, which may be 0 for a bound a unit above. */
double brume_calibrate_excess(double bound, double target);

/* The same of the upper end of an interval, which alone is certified. */
double brume_calibrate_upper_excess(const brume_interval *bound, double target);

/* The certified bound at a value of the unknown, as near as `tolerance` or as it can be. */
BRUME_MUST_USE brume_status brume_calibrate_try(brume_search_for *c, double value, double tolerance,
                                                brume_finding *out, brume_error *error);

/* The same of the other terms alone: what no value can undo. */
BRUME_MUST_USE brume_status brume_calibrate_try_others(brume_search_for *c, double tolerance,
                                                       brume_finding *out, brume_error *error);

/* The delta of c->terms as they are, as near as `tolerance` above the exact one; the lower end is
 * lifted to the estimate where there is one. *by_laws: it is one of loss laws alone, the same
 * whatever else may fail. */
BRUME_MUST_USE brume_status brume_calibrate_delta(const brume_search_for *c, double tolerance,
                                                  brume_interval *delta, bool *by_laws,
                                                  brume_error *error);

/* Is a term known by a curve of moments only? Then its bounds have no lower end, and are no nearer
 * than a thousandth whatever is asked. Known once a value was tried. */
bool brume_calibrate_is_curved(const brume_search_for *c);

/* Is the interval on neither side of the target, for all that is known? */
bool brume_calibrate_undecided(const brume_finding *f);

/* The value at log x of the search variable, where that is the value or a whole number; and the
 * value of a whole number, which is itself or its root. */
double brume_calibrate_number(const brume_search_for *c, double log_x);
double brume_calibrate_value_of(const brume_search_for *c, double number);

/* --- a cheap bound that says where to look (guess.c) --- */

typedef enum brume_looked {
    BRUME_LOOKED_NOWHERE, /* nothing is known */
    BRUME_LOOKED_FOUND,
    BRUME_LOOKED_ABOVE, /* above the target at every value */
    BRUME_LOOKED_BELOW  /* below it at every value */
} brume_looked;

/* Where to look, in logarithms of the search variable, and what was seen there. */
typedef struct brume_place {
    double least, most; /* the range */
    double at;
    double excess; /* log(guess/target) there, unshifted */
    double slope;  /* how fast that falls */
} brume_place;

/* About where the unknown's term alone, or what the others leave of it, costs the target: by its
 * size, without a bound. */
double brume_calibrate_start(brume_search_for *c, double least, double most);

/* From place->at to where the guess times e^shift comes down to the target. */
brume_looked brume_calibrate_look(brume_search_for *c, double shift, brume_place *place);

/* How far over the target the guess was, and what certificates estimated there. */
typedef struct brume_told {
    double guessed, estimate;           /* at the newest place, */
    double good_guessed, good_estimate; /* at the newest that meets the target, */
    double bad_guessed, bad_estimate;   /* and at the newest that does not */
    int count, good_count, bad_count;
} brume_told;

/* A certificate has an estimate that is far from the target: to where the guess, corrected by
 * all that it was told, comes down to it. False, and nothing changed, if that says nothing. */
bool brume_calibrate_look_again(brume_search_for *c, brume_told *told, double estimate,
                                brume_place *place);

/* The guess of the other terms alone, as log(guess/target); NAN: not known. */
double brume_calibrate_guess_others(brume_search_for *c);

/* A walk to the least epsilon at which delta is met: from a place with so much excess, as
 * log(delta/target), to the next, and how sharp the certificate there must be. */
typedef struct brume_epsilon_walk {
    double at, excess, next;
    double slope; /* how fast the logarithm of delta falls */
    double tolerance;
} brume_epsilon_walk;

/* The first place below the target's epsilon, where the excess is `excess`, and the place after one
 * where it was `there`; false where nothing is guessed, or far below. */
bool brume_calibrate_begin_epsilon(const brume_search_for *c, double excess, brume_epsilon_walk *w);
bool brume_calibrate_next_epsilon(const brume_search_for *c, double there, brume_epsilon_walk *w);

/* An estimate of where the true delta lies within an interval: sets f->estimate and the members
 * after it. f->upper, f->lower and f->by_laws must be set. `excess` estimates by how much the upper
 * end is too large; 0: no estimate. Nothing that is certified depends on it. */
void brume_calibrate_estimate(const brume_interval *delta, double excess, brume_finding *f);

/* --- the searches --- */

/* The value, to a billionth; or the best whole number. */
BRUME_MUST_USE brume_status brume_calibrate_real(brume_search_for *c, double *value,
                                                 brume_error *error);
BRUME_MUST_USE brume_status brume_calibrate_whole(brume_search_for *c, double *value,
                                                  brume_error *error);

/* If the unknown moves only a probability of failure, and all other terms have loss laws: the
 * value, by a certificate of all that it does not move. *applies is false, and no value found, if
 * it moves more, or if a term has no loss law; but then c->hint may be set. */
BRUME_MUST_USE brume_status brume_calibrate_failure(brume_search_for *c, bool *applies,
                                                    double *value, brume_error *error);

/* From a place near the answer to one that is certified and within a billionth of it; *found is
 * false where that does not settle, and place->at then a place to go on from. */
BRUME_MUST_USE brume_status brume_calibrate_close_in(brume_search_for *c, brume_place *place,
                                                     bool *found, brume_error *error);

/* --- the epsilon that is shown with the value (epsilon.c) --- */

/* A certified epsilon of the solved expression at delta. */
BRUME_MUST_USE brume_status brume_calibrate_epsilon_at(const brume_expression *expression,
                                                       double delta, double *epsilon,
                                                       brume_error *error);

/* The same of an answer that stops short of the target, not above it. */
BRUME_MUST_USE brume_status brume_calibrate_epsilon(brume_search_for *c, double value,
                                                    double *epsilon, brume_error *error);

brume_status brume_calibrate_no_value(const brume_search_for *c, brume_error *error);

#endif
