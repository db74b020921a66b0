/* Exact draws from the small laws that the mechanisms are built of.
 *
 * Exact: given ideal bits the law is the stated one, for the parameter as passed, with no rounding
 * anywhere. On error *out is untouched. Threads: safe while `bits` is not shared. */
#ifndef BRUME_PRIMITIVE_H
#define BRUME_PRIMITIVE_H

#include <stdbool.h>
#include <stdint.h>

#include <brume/bits.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Uniform on 0 .. n-1.
 * Requires: n >= 1; else BRUME_EARGUMENT. */
BRUME_API BRUME_MUST_USE brume_status brume_sample_below(brume_bits *bits, uint64_t n,
                                                         uint64_t *out, brume_error *error);

/* P[*out = true] = num/den.
 * Requires: den >= 1 and num <= den; else BRUME_EARGUMENT. */
BRUME_API BRUME_MUST_USE brume_status brume_sample_bernoulli(brume_bits *bits, uint64_t num,
                                                             uint64_t den, bool *out,
                                                             brume_error *error);

/* P[*out = true] = exp(-num/den), by integers alone.                        [CKS20, Sec. 5.1]
 * Requires: den >= 1; else BRUME_EARGUMENT. */
BRUME_API BRUME_MUST_USE brume_status brume_sample_bernoulli_exp(brume_bits *bits, uint64_t num,
                                                                 uint64_t den, bool *out,
                                                                 brume_error *error);

/* P[*out = true] = exp(-x), x the exact value of the double.
 * Requires: x >= 0 (infinity allowed: never true); else BRUME_EARGUMENT. */
BRUME_API BRUME_MUST_USE brume_status brume_sample_bernoulli_exp_real(brume_bits *bits, double x,
                                                                      bool *out,
                                                                      brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
