/* brume: differential privacy in C. This header states the rules that hold everywhere; include the
 * header of the concept you need, or this one for all of them. Folders: noise/ (samplers, and noise
 * added to numbers), mechanism/ (cards, events, choices, thresholds, smooth noise), account/ (what
 * releases cost together), statistic/ (functions of data with their sensitivity), synthetic/.
 *
 * - Status and error: brume/status.h. Outputs are untouched on error unless the header says wiped.
 * - Handles have open/close pairs; close takes NULL. Plain structs are values.
 * - Randomness comes only from the brume_bits you pass. Nothing is seeded, nothing is global.
 * - A number named *_upper is never below the truth, *_lower never above. A cost is an upper bound.
 * - There is no default epsilon and no default adjacency.
 * - The library never prints, exits or aborts. It is safe in several threads as long as a handle
 *   that is written to is used by one thread at a time. */
#ifndef BRUME_BRUME_H
#define BRUME_BRUME_H

#include <brume/adjacency.h>
#include <brume/bits.h>
#include <brume/decimal.h>
#include <brume/interval.h>
#include <brume/status.h>
#include <brume/version.h>

#include <brume/noise/gaussian.h>
#include <brume/noise/grid_noise.h>
#include <brume/noise/laplace.h>
#include <brume/noise/noise.h>
#include <brume/noise/primitive.h>
#include <brume/noise/randomized_response.h>
#include <brume/noise/release.h>
#include <brume/noise/select.h>

#include <brume/mechanism/event.h>
#include <brume/mechanism/expression.h>
#include <brume/mechanism/mechanism.h>
#include <brume/mechanism/selection.h>
#include <brume/mechanism/sensitivity.h>
#include <brume/mechanism/smooth.h>
#include <brume/mechanism/sparse_vector.h>
#include <brume/mechanism/stability.h>
#include <brume/mechanism/stable_histogram.h>

#include <brume/account/account.h>
#include <brume/account/compose.h>
#include <brume/account/cost.h>
#include <brume/account/diagnostics.h>
#include <brume/account/filter.h>
#include <brume/account/method.h>
#include <brume/account/odometer.h>

#include <brume/statistic/gram.h>
#include <brume/statistic/instability.h>
#include <brume/statistic/interquartile.h>
#include <brume/statistic/key_count.h>
#include <brume/statistic/quantile.h>
#include <brume/statistic/reciprocal.h>
#include <brume/statistic/regression.h>
#include <brume/statistic/tested.h>
#include <brume/statistic/top_k.h>
#include <brume/statistic/triangle.h>

#include <brume/synthetic/direct.h>
#include <brume/synthetic/multiplicative_weights.h>
#include <brume/synthetic/mwem.h>
#include <brume/synthetic/schema.h>
#include <brume/synthetic/small_database.h>
#include <brume/synthetic/synthetic.h>
#include <brume/synthetic/tree.h>
#include <brume/synthetic/universe.h>
#include <brume/synthetic/workload.h>
#include <brume/synthetic/workload_text.h>

#endif
