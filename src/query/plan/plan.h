/* The plan of a query: what is measured, which limits there are, and what is paid. It is made from
 * the query, the policies and the payment (make_plan.h) before a row is read, so everything in it
 * may be shown, and nothing in it changes afterwards. How much noise the price buys depends on the
 * limits that a release finds: that is in its terms (plan_terms.h).
 *
 * A plan is a list of measurements. Each says what is collected for it; how each kind is drawn and
 * shown is one row of the table in measurement.c.
 *
 * 1. A count or a sum that several aggregates need is measured once. All measures get equal shares.
 * 2. Laplace or Gaussian noise, whichever has the smaller error for this plan under the dataset's
 *    rule; both are priced, neither is guessed.
 * 3. Keys whose values are all known beforehand are public: every combination is
 *    answered, also the empty ones. Otherwise keys are private: a key is shown only if enough units
 *    are in it.
 * 4. What is charged is what was typed (and the delta used), to every dataset of the query. */
#ifndef BRUME_QUERY_PLAN_H
#define BRUME_QUERY_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/account/filter.h>
#include <brume/status.h>

#include "ledger/ledger.h"
#include "query/plan/collection.h"
#include "query/plan/policy.h"
#include "query/price/price.h"
#include "query/expression/query.h"
#include "query/limit/total.h"

enum { BRUME_TYPED_LIMITS = 16 };

/* Where rows are bounded (collect/place.h). */
typedef enum brume_where {
    BRUME_WHERE_AUTO,
    BRUME_WHERE_ENGINE, /* where they lie, by the server */
    BRUME_WHERE_BRUME,  /* here: they are streamed */
} brume_where;

/* Who asks a query of public tables in place of the calling thread: *json is the answer of 'brume
 * query', which is freed with free. And who runs SQL over released tables (release/outer.h). */
typedef struct brume_public_asker {
    brume_status (*ask)(void *context, const char *sql, char **json, brume_error *error);
    void *context;
    brume_status (*run)(void *context, const char *work, char **json, brume_error *error);
    void *run_context;
} brume_public_asker;

/* What the analyst pays, as typed; NULL: not typed. Exactly one of epsilon and rho. */
typedef struct brume_payment {
    const char *epsilon, *delta, *rho;
    const char *limits[BRUME_TYPED_LIMITS]; /* "T" or "COLUMN=T", in the units of the query */
    size_t limit_count;
    bool limits_only;    /* buy the choice of the limits and nothing else */
    const char *windows; /* read these alone: "FIRST..LAST", or "undated"; NULL: not typed */
    /* of no part in price or answer: */
    bool fresh;     /* pay also where there is a recorded answer */
    double max_age; /* pay where the recorded answer is older than so many seconds; 0: never */
    brume_where where;
    const brume_public_asker *elsewhere; /* NULL: queries of public tables are asked here */
} brume_payment;

/* A table of the catalog, with what the ledger says of it. */
typedef struct brume_plan_table {
    const brume_dataset *dataset;
    const brume_policy *policy;
} brume_plan_table;

enum { BRUME_NOT_MEASURED = -1 };

/* Where a limit comes from. */
typedef enum brume_limit_source {
    BRUME_LIMIT_AUTO,    /* chosen from a noisy histogram, for a share of this query's price */
    BRUME_LIMIT_TYPED,   /* the analyst typed it */
    BRUME_LIMIT_POLICY,  /* the owner's ceiling */
    BRUME_LIMIT_LEDGER,  /* chosen from a histogram that an earlier query or `limits` paid for: so
                            say terms; in the plan it is AUTO */
    BRUME_LIMIT_NONE,    /* nothing to choose: a unit is there once or not at all */
    BRUME_LIMIT_DERIVED, /* from those on the number and the squares of a spread */
} brume_limit_source;

/* A limit on what one unit adds: on the norm of one statistic over all groups (proofs/limits.md).
 */
typedef struct brume_plan_limit {
    brume_total of;
    const struct brume_plan_limit *number; /* of the sum of a mean: on the number of its values */
    /* For the spread about a centre: where the mean is asked for as well the limit on the squares
     * has that on the sum, whose centre it takes; else that on the sum has the one on the squares,
     * from which it follows (DERIVED). */
    const struct brume_plan_limit *sum, *squares;
    brume_limit_source source;
    bool centred; /* of the sum of a mean: the values less a centre that is found by looking */
    int norm;     /* 1 or 2: whose norm is limited; 1 for what quantiles and modes are drawn of */
    uint64_t ceiling;  /* the owner's, in grid steps; 0: none */
    double reach;      /* what one row adds at most, in grid steps */
    int64_t low, high; /* of a sum: the bounds of a value */
    /* Where it is not AUTO, and so known from the beginning: */
    uint64_t limit;  /* T, in grid steps, at least 1; rounded up where `square` is not 0, */
    uint64_t square; /* the square of a T that is no whole number (the owner's, norm 2); else 0 */
} brume_plan_limit;

/* Where the numbers of an aggregate are: indices of measures, or BRUME_NOT_MEASURED. `count` is the
 * number of values (or rows, or units) that belongs to it. A mean has `centred`, which has the
 * limit of the count, or `direct`, which has its own. */
typedef struct brume_plan_aggregate {
    int value; /* index of its brume_plan_value; of a private mode, of its measurement */
    int count, centred, squares, direct, selection;
    int joint[4]; /* of two arguments, beside `centred` of the first: centred sums of the other, of
                     the product and of the squares, each less its middle */
    double middle[2]; /* of the bounds of the two, which products and squares are about */
    int second;       /* of a spread by sums: the sum of the squares, beside `direct` */
    int fraction;     /* which of the selection's quantiles */
    int distinct;     /* COUNT(DISTINCT): its measurement; else BRUME_NOT_MEASURED */
    bool private_mode;
    bool public_count; /* the number of its values is public, and `count` is not measured */
} brume_plan_aggregate;

typedef enum brume_measurement_kind {
    BRUME_MEASUREMENT_GROUPS,   /* the measures of every group, and which private keys are shown */
    BRUME_MEASUREMENT_MODE,     /* the mode of an expression whose values nobody declared */
    BRUME_MEASUREMENT_BIAS,     /* how many units clamping concerns */
    BRUME_MEASUREMENT_DISTINCT, /* how many values of an expression each group has */
} brume_measurement_kind;

enum { BRUME_BIAS_VALUES = 16 };

/* One reading of the rows, and what is released of it. */
typedef struct brume_measurement {
    brume_measurement_kind kind;
    brume_collection collection; /* what is collected */
    /* The price. A measurement with a share of its own buys `count` numbers with it, each of which
     * a unit moves by at most 1. Without one (0) it has its measures in plan->measures, which are
     * priced together. */
    double share;
    size_t count;
    brume_noise_kind noise;
    double scale; /* of BIAS; that of DISTINCT depends on its limit */
    union {
        struct {
            const brume_expression *argument;
            size_t measure; /* of the kind PRIVATE_MODE */
        } mode;
        struct {
            int clamped[BRUME_BIAS_VALUES]; /* which number belongs to a value of the plan */
        } bias;                             /* number 0 is all units */
        struct {
            const brume_expression *argument;
            brume_plan_limit limit; /* on the pairs that a unit may bring */
            double part;            /* of the price: epsilon, or rho */
        } distinct;
    };
} brume_measurement;

typedef struct brume_plan {
    brume_query *query; /* not owned */
    brume_rule rule;
    brume_adjacency adjacency;
    brume_shape shape;
    brume_noise_kind noise;  /* of the measures */
    brume_measure *measures; /* their scales are in the terms */
    size_t measure_count;
    brume_plan_value *values;
    size_t value_count;
    brume_plan_aggregate *aggregates; /* one per aggregate of the query */
    brume_measurement *measurements;  /* the groups first, then modes, then estimates of bias */
    size_t measurement_count;
    /* Keys alone are asked for, and a test without noise shows them more often (NULL: it does not);
     * owned. half_shown is the least number of units that shows a key in half of the draws. */
    struct brume_key_selection *selection;
    uint64_t half_shown;
    int units;               /* measure of the units present, or BRUME_NOT_MEASURED */
    brume_key_value *domain; /* public keys: domain_size[k] values for each key in turn */
    size_t *domain_size;
    size_t tie_count; /* which combinations of them can occur; in the arena of the query */
    const brume_cell_tie *ties;
    brume_charge charge;     /* in the currency of the rule, for every dataset */
    char delta[128];         /* what was allowed: typed, or by default */
    bool delta_by_default;   /* nobody typed it */
    bool bounded;            /* max_groups may cut what a unit has */
    int64_t (*fractions)[2]; /* of all quantiles */
    /* A unit's totals are limited as a whole; nothing else is cut, and `bounded` is false. */
    bool by_totals;
    uint64_t unit_rows; /* rows that one unit has at most, all groups of a set together, by what the
                           owner declares of the tables; 0: nobody says */
    bool own_limits;    /* the sum and the number of a mean have a limit each, found by looking */
    brume_plan_limit *limits;
    size_t limit_count;
    int *measure_limit; /* which limit each measure has; BRUME_NOT_MEASURED: none */
    int norm;           /* 1 or 2: whose ball; 1 for a single group, where they are the same */
    double amount, allowed_delta;    /* what the measures and the choice of limits have together:
                                        epsilon, or rho under discrete Gaussian noise; and delta */
    bool limits_only;                /* nothing is measured but the histograms */
    bool windowed;                   /* a table of a dataset with windows is read */
    bool in_engine;                  /* no row leaves the server */
    struct brume_consistent *fitted; /* the tables of the grouping sets, which are made to add up
                                        (plan_sets.h); NULL: each is by itself; owned */
    const char *fitted_why;          /* why they are not; NULL: they are, or there is one set */
    const char *where_reason;        /* why it is so, not owned; NULL: files are read here */
} brume_plan;

void brume_query_plan_close(brume_plan *plan);

/* How much of the price the measures have together. */
double brume_plan_joint_share(const brume_plan *plan);

/* Whose number of values stands for that of a value: its own, unless another is NULL in the same
 * rows. */
size_t brume_plan_counted(const brume_plan *plan, size_t value);

/* What one step of a measure's integers is in the units of the query. */
double brume_plan_step(const brume_plan *plan, const brume_measure *measure);

/* "discrete laplace", "rounded gaussian", ... of a measure. */
const char *brume_plan_mechanism(const brume_plan *plan, size_t measure);
const char *brume_measure_word(brume_measure_kind kind);

#endif
