/* What recorded charges cost together, as certified intervals; and what that means. */
#ifndef BRUME_COMMAND_GUARANTEE_H
#define BRUME_COMMAND_GUARANTEE_H

#include <jansson.h>

#include <brume/adjacency.h>
#include <brume/status.h>

/* Of charges in their exact texts ("pure epsilon=0.4 delta=0"): [{"delta","epsilon_lower",
 * "epsilon_upper"}], in the order of delta, where epsilon is finite. Both ends are certified; the
 * lower one is null where nobody knows it. EDAMAGED: a text is no charge. */
BRUME_MUST_USE brume_status brume_guarantees_of(const json_t *charges, brume_adjacency adjacency,
                                                json_t **out, brume_error *error);

/* How likely somebody may think a statement about one unit after an epsilon-private release, at
 * most, who thought it so likely before: odds grow by e^epsilon. */
double brume_belief_after(double before, double epsilon);

#endif
