/* Calibration from the inside: what is searched, and by which bound. */
#ifndef BRUME_MECHANISM_CALIBRATE_H
#define BRUME_MECHANISM_CALIBRATE_H

#include <brume/account.h>

/* By which bound to search. */
typedef enum brume_looking {
    BRUME_LOOK_CERTIFIED,
    BRUME_LOOK_SADDLE, /* the saddle point's guess: cheap, near, certifies nothing */
    BRUME_LOOK_MOMENTS /* rho or Renyi curves: certified, and some way above */
} brume_looking;

/* What a trial found: a bound, and how near it is. */
typedef struct brume_trial {
    double bound;  /* what must come down to the target */
    double lower;  /* of the least delta, certified; 0 where nothing is known */
    double excess; /* of the bound over the truth by a band, estimated; 0: not estimated */
    double nodes;  /* what it took */
} brume_trial;

/* A trial that need not be made again. */
typedef struct brume_tried {
    brume_cost cost;
    uint64_t count;
    brume_looking look;
    double tolerance;
    brume_trial trial;
} brume_tried;

enum { BRUME_TRIED = 4 };

typedef struct brume_search_for {
    brume_expression *expression;
    brume_term *terms;
    bool inverted;         /* the search variable is 1/value */
    bool whole;            /* the value is a whole number */
    bool decide;           /* all that counts is on which side of the target a value is */
    bool both_ends;        /* ask for the whole interval: where that makes the upper end sharper */
    bool accuracy;         /* the bound is an error, not a delta or epsilon */
    double epsilon, delta; /* the target; or alpha, beta */

    brume_looking look;
    double tolerance;  /* of the certified bound: how far above the truth it may lie */
    brume_trial trial; /* the last one */
    brume_tried tried[BRUME_TRIED];
    size_t tried_count;
    bool only_failure; /* the unknown moves nothing but a probability of failure; */
    double finite;     /* then this is delta without any failure */
    double hint;       /* where a look that found nothing says to begin; NAN: nowhere */
    bool tight;        /* the answer lies where the bound crosses the target */
    bool everywhere;   /* the target is met at every value: the answer is the end of the range */
} brume_search_for;

bool brume_calibrate_same_cost(const brume_cost *a, const brume_cost *b);

/* What must come down to this. */
double brume_calibrate_target(const brume_search_for *c);

/* The bound at a value of the unknown; the trial is left in c->trial. */
BRUME_MUST_USE brume_status brume_calibrate_bound(brume_search_for *c, double value, double *bound,
                                                  brume_error *error);

/* The same at a point of the search, as brume_search asks it: x or 1/x, whole where it must be. */
BRUME_MUST_USE brume_status brume_calibrate_bound_at(void *context, double x, double *bound,
                                                     brume_error *error);

/* log(bound/target) at log x: above 0 just where the bound is above the target. */
BRUME_MUST_USE brume_status brume_calibrate_excess(brume_search_for *c, double log_x,
                                                   double *excess, brume_error *error);

/* Does the unknown move nothing but a probability of failure? Then what is left without it is found
 * by one certificate, at this value, and a guess adds the failure to it. */
bool brume_calibrate_split_failure(brume_search_for *c, double value, brume_error *error);

/* Is a term sampled? Then the saddle point is neither as cheap nor as near, and moments are asked
 * first. Known once a bound was. */
bool brume_calibrate_is_sampled(const brume_search_for *c);

/* Is a term a sample of something other than a Gaussian? Its upper end alone is sought with less
 * work, and may be less sharp, than both. */
bool brume_calibrate_is_thinned(const brume_search_for *c);

/* Where the bound to look by comes down to about the target, from `least` to `most` of the search
 * variable, and how fast its logarithm falls there; false where it never does. */
bool brume_calibrate_look(brume_search_for *c, brume_looking by, double least, double most,
                          double guess, double step, double *at, double *slope);

/* The value, to a billionth; or the best whole number. */
BRUME_MUST_USE brume_status brume_calibrate_real(brume_search_for *c, double *value,
                                                 brume_error *error);
BRUME_MUST_USE brume_status brume_calibrate_whole(brume_search_for *c, double *value,
                                                  brume_error *error);

/* From a point near the answer to one that is certified and within a billionth of it, from `least`
 * to `most`; *found is false where that does not settle. */
BRUME_MUST_USE brume_status brume_calibrate_polish(brume_search_for *c, double least, double most,
                                                   double *x, double slope, bool *found,
                                                   brume_error *error);

brume_status brume_calibrate_no_value(const brume_search_for *c, brume_error *error);
brume_status brume_calibrate_not_moved(const brume_search_for *c, brume_error *error);

#endif
