/* The features of a file that a command wrote: a table whose rows were made, as text. */
#ifndef BRUME_AUDIT_LINE_FEATURES_H
#define BRUME_AUDIT_LINE_FEATURES_H

#include <stdbool.h>

#include "audit/query/score.h"

/* Features of all lines but the first, which has the names of the columns:
 *   - "row LINE": how often the line is there;
 *   - where there are different ones, "rarest LINE" and "commonest LINE": how much less often, and
 *     how much more often, it is there than the next. A cell that was measured by itself stands
 *     apart from all those that follow from it. Among lines that are there equally often the rarest
 * is the first in the order of their bytes, and the commonest the last. Empty lines are left out.
 * false: out of memory. */
bool brume_line_features_visit(const char *text, brume_feature_visit *each, void *context);

#endif
