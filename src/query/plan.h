/* The plan of a query: what is measured, with how much noise, at what price. It is made from the
 * query, the policies and the payment; it reads no row, so everything in it may be shown.
 *
 * 1. A count or a sum that several aggregates need is measured once. All measures get equal shares.
 * 2. Laplace or Gaussian noise, whichever has the smaller error for this plan under the dataset's
 *    rule; both are priced, neither is guessed.
 * 3. Keys whose columns all have declared domains are public: every combination is answered, also
 *    the empty ones. Otherwise keys are private: a key is shown only if enough units are in it.
 * 4. What is charged is what was typed (and the delta used), to every dataset of the query. */
#ifndef BRUME_QUERY_PLAN_H
#define BRUME_QUERY_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/filter.h>
#include <brume/status.h>

#include "ledger/ledger.h"
#include "query/policy.h"
#include "query/price.h"
#include "query/query.h"

/* What the analyst pays, as typed; NULL: not typed. Exactly one of epsilon and rho. */
typedef struct brume_payment {
    const char *epsilon, *delta, *rho;
} brume_payment;

/* A table of the catalog, with what the ledger says of it. */
typedef struct brume_plan_table {
    const brume_dataset *dataset;
    const brume_policy *policy;
} brume_plan_table;

/* An expression whose values are summed, squared or ranked. */
typedef struct brume_plan_value {
    const brume_expression *argument; /* as asked */
    const brume_expression *grid;     /* as a grid integer */
    int64_t low, high;                /* bounds on the grid */
    double step;                      /* value = step * grid integer */
    bool squares, keep;
    const brume_policy_column
        *declared; /* for modes: the grid integer is the place in its domain */
} brume_plan_value;

enum { BRUME_NOT_MEASURED = -1 };

/* Where the numbers of an aggregate are: indices of measures, or BRUME_NOT_MEASURED. `count` is the
 * number of values (or rows, or units) that belongs to it. */
typedef struct brume_plan_aggregate {
    int value; /* index of its brume_plan_value; of a PRIVATE_MODE, of its brume_plan_mode */
    int count, centred, squares, direct, selection;
    int fraction; /* which of the selection's quantiles */
    bool private_mode;
} brume_plan_aggregate;

/* A mode of undeclared values: how the pairs of key and value are collected (mode.h). */
typedef struct brume_plan_mode {
    const brume_expression *argument;
    size_t measure;
    brume_query *query;       /* with the value as one more key; in the arena of the plan's query */
    struct brume_plan *pairs; /* owned */
} brume_plan_mode;

enum { BRUME_BIAS_VALUES = 16 };

/* Private counts of units that bounding or clamping concerns (bias.h). */
typedef struct brume_plan_bias {
    double share;                   /* of the price: the owner's */
    size_t count;                   /* of the numbers: units, units cut, units clamped by value */
    bool cut;                       /* number 1 is the units that bounding cuts */
    int clamped[BRUME_BIAS_VALUES]; /* which number belongs to a value of the plan */
    brume_noise_kind noise;
    double scale;
    struct brume_plan *plan; /* how they are collected; owned */
} brume_plan_bias;

typedef struct brume_plan {
    brume_query *query; /* not owned */
    brume_rule rule;
    brume_adjacency adjacency;
    brume_shape shape;
    brume_price price;
    brume_measure *measures;
    size_t measure_count;
    brume_plan_value *values;
    size_t value_count;
    brume_plan_aggregate *aggregates; /* one per aggregate of the query */
    brume_plan_mode *modes;           /* measures of the kind PRIVATE_MODE */
    size_t mode_count;
    brume_plan_bias *bias; /* NULL: not allowed, or nothing to estimate */
    /* Keys alone are asked for, and a test without noise shows them more often (NULL: it does not);
     * owned. Then price.threshold is the least number of units that shows a key in half of the
     * draws at least. */
    struct brume_key_selection *selection;
    int units;               /* measure of the units present, or BRUME_NOT_MEASURED */
    brume_key_value *domain; /* public keys: domain_size[k] values for each key in turn */
    size_t *domain_size;
    const brume_policy_column **domain_columns; /* public keys: whose domains */
    brume_charge charge;                        /* in the currency of the rule, for every dataset */
    char delta[128];                            /* what was allowed: typed, or by default */
    bool delta_by_default;                      /* nobody typed it */
    bool bounded;                               /* max_groups or max_rows may cut what a unit has */
    int64_t (*fractions)[2];                    /* of all quantiles */
} brume_plan;

/* Make the plan. `tables` are those of the catalog, in its order.
 * Errors: BRUME_EARGUMENT the payment; BRUME_EPOLICY rules or adjacencies that do not go together,
 * private keys under the pure rule; BRUME_EOVERFLOW domains or noise too large;
 * BRUME_EUNSUPPORTED what cannot be planned. */
BRUME_MUST_USE brume_status brume_query_plan_make(brume_query *query,
                                                  const brume_plan_table *tables,
                                                  const brume_payment *payment, brume_plan **out,
                                                  brume_error *error);
void brume_query_plan_close(brume_plan *plan);

/* Half-width at 1 - beta of a measure's own noise, in the units of the query. */
double brume_plan_width(const brume_plan *plan, size_t measure, double beta);

/* "discrete laplace", "rounded gaussian", ... of a measure. */
const char *brume_plan_mechanism(const brume_plan *plan, size_t measure);
const char *brume_measure_word(brume_measure_kind kind);

/* One measure as JSON; NULL if memory is out. */
json_t *brume_plan_measure_to_json(const brume_plan *plan, size_t measure);

/* The plan as JSON, for explain and for the ledger's events: every measure with its sensitivity,
 * scale and share, the bounds, keys and threshold. NULL if memory is out. */
json_t *brume_plan_to_json(const brume_plan *plan);

/* {"epsilon","delta","rho"}: the price; NULL if memory is out. */
json_t *brume_plan_cost_to_json(const brume_plan *plan);

#endif
