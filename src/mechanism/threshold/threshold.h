/* What above_threshold and sparse_vector share: the split of epsilon between the threshold's noise
 * and the queries', and the accuracy that follows. */
#ifndef BRUME_MECHANISM_THRESHOLD_H
#define BRUME_MECHANISM_THRESHOLD_H

#include <stdbool.h>

#include <brume/mechanism/sparse_vector.h>

#include "mechanism/trial.h"

typedef struct brume_split {
    double hits; /* c */
    bool monotone;
    bool even; /* eps1 = eps2; otherwise eps1 : eps2 = 1 : (w c)^(2/3), w = 2, or 1 if monotone */
} brume_split;

/* The noise scales in units of the sensitivity: 1/eps1 for the threshold, w c/eps2 for a query,
 * rounded up; eps1 + eps2 <= epsilon. */
void brume_split_scales(const brume_split *split, double epsilon, double *threshold, double *query);

/* The scales of a stream's noise, on its grid: of the threshold, of a query, and of a hit's number
 * (0 if hits have none), each rounded up. */
typedef struct brume_stream_scales {
    double threshold, query, answer;
} brume_stream_scales;
brume_stream_scales brume_sparse_vector_scales(const brume_sparse_vector_options *options);

/* With probability >= 1-beta, over `queries` queries: above means f >= T - alpha and below means
 * f <= T + alpha, alpha = D (ln(2/beta)/eps1 + w c ln(2 queries/beta)/eps2). Integer noise adds two
 * units of its grid. Rounded up, with room for the rounding of the scales.
 * BRUME_EARGUMENT if queries is 0, not said. */
brume_status brume_split_alpha_upper(const brume_split *split, double epsilon, double sensitivity,
                                     double queries, double beta, double *alpha,
                                     brume_error *error);
brume_status brume_split_beta_upper(const brume_split *split, double epsilon, double sensitivity,
                                    double queries, double alpha, double *beta, brume_error *error);

/* A card has `family` = &(brume_threshold_family), the accuracy and the trial: eight queries at the
 * threshold, moved against it. The first parameter is epsilon. */
typedef struct brume_threshold_family {
    brume_sparse_vector_options (*options)(const brume_event *event);
    size_t queries; /* which parameter is the number of queries */
} brume_threshold_family;

brume_status brume_threshold_alpha_upper(const brume_event *event, double beta, double *alpha,
                                         brume_error *error);
brume_status brume_threshold_beta_upper(const brume_event *event, double alpha, double *beta,
                                        brume_error *error);
extern const brume_trial brume_threshold_trial;

/* Begin again as another stream of the same options: fresh noise on the threshold, all hits left.
 * It is another release, with a price of its own; for trials, which make many. */
BRUME_MUST_USE brume_status brume_sparse_vector_restart(brume_sparse_vector *stream,
                                                        brume_bits *bits, brume_error *error);

/* The entries that are the same on both cards. */
#define BRUME_THRESHOLD_ENTRIES_(law)                                                              \
    .family = &(law), .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE | BRUME_EDGE,                \
    .sensitivity = "score", .not_sampled = true, .proof = "sparse_vector.md",                      \
    .accuracy = "how far a query called above lies below the threshold, or one called below lies " \
                "above it; integer noise adds two units of its grid",                              \
    .alpha_upper = brume_threshold_alpha_upper, .beta_upper = brume_threshold_beta_upper,          \
    .trial = &brume_threshold_trial

#endif
