/* One route to delta(epsilon): a way to certify bounds of delta from either side, for some laws.
 *
 * Routes are listed in routes.def. Whoever asks for delta (solve.c) opens them one after another,
 * always the one with the least estimated work next, until one says that its interval is final.
 * Every route certifies what it says, whatever it was chosen by: a bad estimate, or a route that
 * does not suit, may widen an interval and cannot falsify it. */
#ifndef BRUME_ACCOUNTANT_SOLVE_ROUTE_H
#define BRUME_ACCOUNTANT_SOLVE_ROUTE_H

#include "accountant/contour/line.h"
#include "accountant/exact/delta_bounds.h"

/* A route that is left open, and what it said of the epsilon it was opened for. */
typedef struct brume_kept {
    brume_delta_bounds route;
    brume_interval at;
} brume_kept;
enum { BRUME_MOST_KEPT = 3 };

/* What is asked, and what is known so far. */
typedef struct brume_task {
    brume_law *laws;
    size_t count;
    double epsilon;
    double width;   /* relative, of delta: narrow enough */
    bool upper_end; /* the width is of the estimated excess of the upper end */
    bool searching; /* delta will be asked for at other epsilons nearby, too */
    double sought;  /* 0, or the delta whose epsilon is sought: how a delta far from it compares is
                       all that is asked for */

    brume_certified certified;        /* the best certified bounds so far */
    brume_kept kept[BRUME_MOST_KEPT]; /* routes left open for other epsilons */
    size_t kept_count;
    brume_kept taken; /* what task_take evaluated last; not owned */

    brume_line line;     /* aimed at epsilon, not laid, when `aimed` is set */
    bool aimed;          /* by task_aim */
    double line_width;   /* of the band of the next line; 0: the line ends without one */
    double enough_width; /* the same for a mixture whose next line is too much work; 0: it is narrow
                            enough */
    double line_size;    /* log of about what delta is */
    double own;          /* what the parameters' own units do to delta, relative */
    unsigned lines;      /* laid so far */
    double line_work;    /* estimated, of the next line */
    double spent;        /* on all lines laid so far */
    bool rays_asked;
} brume_task;

typedef enum brume_route_outcome {
    BRUME_ROUTE_PASSED, /* others are asked, too */
    BRUME_ROUTE_AGAIN,  /* others are asked, and this one again: it can be opened finer */
    BRUME_ROUTE_FINAL,  /* nothing more is asked */
    BRUME_ROUTE_FAILED, /* memory ran out */
} brume_route_outcome;

typedef struct brume_route {
    const char *name;
    double least_work;                /* no estimate is below this */
    bool (*suits)(brume_task *task);  /* may look at what is known so far */
    double (*work)(brume_task *task); /* of opening it, in nanoseconds or so */
    /* Open it near task->epsilon. `out` gives certified bounds at any epsilon from out->least on,
     * from either side, until out->close; it stays empty if the route refuses, or serves
     * task->epsilon alone. What it certifies of task->epsilon is in task->interval. */
    brume_route_outcome (*open)(brume_task *task, brume_delta_bounds *out);
} brume_route;

/* The routes; *count of them, at most so many. */
enum { BRUME_MOST_ROUTES = 16 };

/* What the routes left open say together of another epsilon, on one side; false if one of them says
 * nothing there. */
/* Names of routes, as intervals show them. */
extern const char brume_route_plain[], brume_route_top[];

#endif
