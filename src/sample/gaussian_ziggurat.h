/* The discrete Gaussian of large sigma; brume/noise/noise.h chooses it where it applies. */
#ifndef BRUME_SAMPLE_GAUSSIAN_ZIGGURAT_H
#define BRUME_SAMPLE_GAUSSIAN_ZIGGURAT_H

#include <brume/noise/noise.h>

#include "sample/sigma.h"

/* From here on the error bounds of its tail hold. */
#define BRUME_ZIGGURAT_LEAST_SIGMA 64.0

/* Requires sigma >= BRUME_ZIGGURAT_LEAST_SIGMA. */
brume_status brume_gaussian_ziggurat_open(const brume_sigma *sigma, brume_noise **out,
                                          brume_error *error);

#endif
