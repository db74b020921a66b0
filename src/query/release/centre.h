/* The centre of a mean: a number near the mean, which its sum is counted from.
 *
 * A unit moves the sum of x - c by its rows times how far its own mean is from c, so that the sum
 * needs a limit for distances, and the bounds of x hardly matter. Any c is right: a bad one costs
 * noise. So it is bought cheaply, as the median of units' means: each unit weighs as many as it has
 * values, up to a number that is chosen from the looks at the number of values. proofs/limits.md.
 */
#ifndef BRUME_QUERY_CENTRE_H
#define BRUME_QUERY_CENTRE_H

#include "query/release/draw.h"

/* Draw the centre of a limit of `terms` (of->centred), whose number's limit was looked for, over
 * the groups with shown[number] (NULL: all). In a collection that is pushed down it is 0, and
 * nothing is drawn: units' means stay where they are. */
BRUME_MUST_USE brume_status brume_draw_centre(const brume_terms *terms,
                                              const brume_collected *collected, const bool *shown,
                                              brume_bits *bits, brume_found_limit *limit,
                                              brume_error *error);

#endif
