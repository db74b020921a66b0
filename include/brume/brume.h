/* brume: differential privacy in C. This header states the rules that hold everywhere; include the
 * header of the concept you need, or this one for all of them.
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

#include <brume/account.h>
#include <brume/adjacency.h>
#include <brume/bits.h>
#include <brume/compose.h>
#include <brume/cost.h>
#include <brume/decimal.h>
#include <brume/diagnostics.h>
#include <brume/direct.h>
#include <brume/event.h>
#include <brume/expression.h>
#include <brume/filter.h>
#include <brume/gaussian.h>
#include <brume/gram.h>
#include <brume/grid_noise.h>
#include <brume/instability.h>
#include <brume/interquartile.h>
#include <brume/interval.h>
#include <brume/key_count.h>
#include <brume/laplace.h>
#include <brume/mechanism.h>
#include <brume/method.h>
#include <brume/multiplicative_weights.h>
#include <brume/mwem.h>
#include <brume/noise.h>
#include <brume/odometer.h>
#include <brume/primitive.h>
#include <brume/quantile.h>
#include <brume/randomized_response.h>
#include <brume/reciprocal.h>
#include <brume/regression.h>
#include <brume/release.h>
#include <brume/schema.h>
#include <brume/select.h>
#include <brume/selection.h>
#include <brume/sensitivity.h>
#include <brume/small_database.h>
#include <brume/smooth.h>
#include <brume/sparse_vector.h>
#include <brume/stability.h>
#include <brume/stable_histogram.h>
#include <brume/status.h>
#include <brume/synthetic.h>
#include <brume/tested.h>
#include <brume/top_k.h>
#include <brume/triangle.h>
#include <brume/universe.h>
#include <brume/version.h>
#include <brume/workload.h>
#include <brume/workload_text.h>

#endif
