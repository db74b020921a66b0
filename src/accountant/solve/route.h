/* One route to delta(epsilon): a way to certify both ends for some laws.
 *
 * Routes are listed in routes.def, cheapest first, and are asked in that order until one says that
 * its answer is final. Every route certifies what it puts into the answer; the order, and whether a
 * route suits, only decide how soon the answer is sharp. So a bad choice widens an answer and
 * cannot falsify it. */
#ifndef BRUME_ACCOUNTANT_SOLVE_ROUTE_H
#define BRUME_ACCOUNTANT_SOLVE_ROUTE_H

#include "accountant/contour/line.h"
#include "accountant/exact/closed_form.h"

/* What is asked, and what is known so far. */
typedef struct brume_question {
    brume_law *laws;
    size_t count;
    double epsilon;
    double width;       /* relative, of delta: narrow enough */
    bool upper_end;     /* the width is of the estimated excess of the upper end */
    brume_closed *keep; /* NULL, or where a route that serves other epsilons too is left open */

    brume_answer answer;
    bool rays_first;     /* subsampled Gaussians: rays were asked before lines */
    brume_line line;     /* aimed, not laid, when the routes after `aim` are asked */
    double line_width;   /* of its band; 0: it ends without one */
    double line_size;    /* log of about what delta is */
    double own;          /* what the parameters' own units do to delta, relative */
    bool patterns_tried; /* ... with all the effort that they may take */
} brume_question;

typedef enum brume_outcome {
    BRUME_ROUTE_PASSED, /* others are asked, too */
    BRUME_ROUTE_FINAL,  /* nothing more is asked */
    BRUME_ROUTE_FAILED, /* memory ran out */
} brume_outcome;

typedef struct brume_route {
    const char *name;
    bool (*suits)(brume_question *q); /* cheap; may look at what is known so far */
    brume_outcome (*ask)(brume_question *q);
} brume_route;

/* The contour integral, laid finer and finer: line_route.c. */
bool brume_contour_suits(brume_question *q);
brume_outcome brume_contour_ask(brume_question *q);

/* Narrow the answer by the sum over sign patterns; false if that takes more than `effort`. */
bool brume_ask_patterns(brume_question *q, double effort);

/* Is the estimated excess small enough, where only the upper end is of use? */
bool brume_question_is_met(const brume_question *q);

#endif
