/* What recorded charges cost together, as certified intervals; and what that means. */
#ifndef BRUME_COMMAND_GUARANTEE_H
#define BRUME_COMMAND_GUARANTEE_H

#include <jansson.h>

#include <brume/adjacency.h>
#include <brume/status.h>

/* For charges in their exact texts ("pure epsilon=0.4 delta=0"): [{"delta","epsilon_lower",
 * "epsilon_upper"}], in the order of delta, where epsilon is finite. Both ends are certified; the
 * lower one is null where nobody knows it. EDAMAGED: a text is no charge. */
BRUME_MUST_USE brume_status brume_guarantees_of(const json_t *charges, brume_adjacency adjacency,
                                                json_t **out, brume_error *error);

/* How much a guarantee lets odds grow, at most: by e^growth, except with probability `fails`. */
typedef struct brume_belief {
    double growth, fails;
} brume_belief;

/* For two databases that are `steps` (1 or 2) neighbours apart. A statement whether a unit is in
 * the data takes one step, under replace also one about its rows; under add-remove a statement
 * about the rows of a unit that is known to be in the data takes two: (2 epsilon, (1 + e^epsilon)
 * delta).
 *
 * With a delta the odds may grow by more than e^epsilon with a probability above delta. They grow
 * by more than 2 e^epsilon with 2 delta at most: on the set A of such results P > 2 e^epsilon Q, so
 * that P(A) / 2 <= P(A) - e^epsilon Q(A) <= delta. */
brume_belief brume_belief_of(double epsilon, double delta, int steps);

/* How likely somebody may think something afterwards, at most, who thought it so likely before;
 * rounded up. */
double brume_belief_after(double before, const brume_belief *belief);

#endif
