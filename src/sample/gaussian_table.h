/* The discrete Gaussian of small sigma; brume/noise/noise.h chooses it where it applies. */
#ifndef BRUME_SAMPLE_GAUSSIAN_TABLE_H
#define BRUME_SAMPLE_GAUSSIAN_TABLE_H

#include <brume/noise/noise.h>

#include "sample/sigma.h"

/* Any sigma; time and memory grow with it. */
brume_status brume_gaussian_table_open(const brume_sigma *sigma, brume_noise **out,
                                       brume_error *error);

#endif
