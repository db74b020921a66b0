/* What the cards of additive noise share: drawing it and its probabilities, on integers or on the
 * grid of its spread (grid.h). */
#ifndef BRUME_MECHANISM_ADDITIVE_H
#define BRUME_MECHANISM_ADDITIVE_H

#include <brume/bits.h>
#include <brume/interval.h>
#include <brume/noise.h>

#include "mechanism/noise/tail.h"

/* A law by its spread (a scale or a sigma): how its sampler is opened, and P[k]. */
typedef brume_status brume_open_noise(double spread, brume_noise **out, brume_error *error);
typedef void brume_noise_mass(arb_t out, double spread, int64_t k);

/* n draws; they are times 1, or times *step of the grid. */
BRUME_MUST_USE brume_status brume_additive_noise(brume_open_noise *open, double spread,
                                                 brume_bits *bits, int64_t *out, size_t n,
                                                 brume_error *error);
BRUME_MUST_USE brume_status brume_additive_grid_noise(brume_open_noise *open, double spread,
                                                      brume_bits *bits, int64_t *out, size_t n,
                                                      double *step, brume_error *error);

/* P[k], and P[k steps], enclosed. */
brume_interval brume_additive_mass(brume_noise_mass *law, double spread, int64_t k);
BRUME_MUST_USE brume_status brume_additive_grid_mass(brume_noise_mass *law, double spread,
                                                     int64_t k, brume_interval *mass,
                                                     brume_error *error);

#endif
