/* Noise and limit of one answer belong together: the last look before the draw. */
#ifndef BRUME_QUERY_LIMITED_NOISE_H
#define BRUME_QUERY_LIMITED_NOISE_H

#include "query/collect/collect.h"
#include "query/plan/plan_terms.h"

/* Work out the scale of every limited measure once more, from the limit, norm and grid that the
 * collection was clipped with and from the price, and compare it with the scale that is to be
 * drawn. Terms and collection are made apart; what leaves a collection is what was clipped.
 * Errors: BRUME_EINTERNAL if they differ; nothing has been drawn for the measures then. */
BRUME_MUST_USE brume_status brume_check_limited_noise(const brume_terms *terms,
                                                      const brume_collected *collected,
                                                      brume_error *error);

#endif
