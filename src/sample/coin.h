/* The primitives of brume/noise/primitive.h, drawing from a stream that the caller names.
 *
 * A sampler that needs a coin only sometimes must toss it with words of `more` (bits.h, 4). Each
 * returns false if the source failed; *out is untouched then. Arguments are the caller's to check.
 * The laws: proofs/primitives.md. */
#ifndef BRUME_SAMPLE_COIN_H
#define BRUME_SAMPLE_COIN_H

#include <stdbool.h>
#include <stdint.h>

#include <gmp.h>

#include "random/bits.h"

/* Uniform on 0 .. n-1, n >= 1. */
bool brume_coin_below(brume_bits *bits, brume_stream *stream, uint64_t n, uint64_t *out);

/* true with probability num/den, num <= den, den >= 1. One word, but with probability 2^-64. */
bool brume_coin_ratio(brume_bits *bits, brume_stream *stream, uint64_t num, uint64_t den,
                      bool *out);

/* The same for large integers. */
bool brume_coin_ratio_wide(brume_bits *bits, brume_stream *stream, const mpz_t num, const mpz_t den,
                           bool *out);

/* true with probability exp(-num/den), den >= 1. */
bool brume_coin_exp(brume_bits *bits, brume_stream *stream, uint64_t num, uint64_t den, bool *out);

/* true with probability exp(-x), x >= 0 or infinite, exactly the double. One word of `stream`;
 * with probability below 2^-49 further words of `more`. In another rounding mode than to
 * nearest MPFR decides. */
bool brume_coin_exp_real(brume_bits *bits, brume_stream *stream, double x, bool *out);

#endif
