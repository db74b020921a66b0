/* Numbers as they are typed, strictly: a decimal such as 12, 0.5 or 1e-6, finite, nothing before or
 * after it. `what` is quoted in the error. */
#ifndef BRUME_BASE_READ_NUMBER_H
#define BRUME_BASE_READ_NUMBER_H

#include <stdint.h>

#include <brume/status.h>

/* EARGUMENT; *out is untouched. */
BRUME_MUST_USE brume_status brume_read_real(const char *text, const char *what, double *out,
                                            brume_error *error);

/* A whole number from 0 to 2^53. */
BRUME_MUST_USE brume_status brume_read_count(const char *text, const char *what, uint64_t *out,
                                             brume_error *error);

#endif
