/* Exact standard deviations. A double is m 2^e; a ratio p/q gives sqrt(p/q), for which balls of any
 * precision are made when they are asked for. sigma^2 is rational in both cases, so that
 * exp(-x^2/2 sigma^2) never needs the square root. */
#include "sample/sigma.h"

#include <math.h>

#include <gmp.h>

void brume_sigma_from_double(brume_sigma *out, double sigma)
{
    int exponent;
    double fraction =
        frexp(sigma, &exponent); /* sigma = fraction 2^exponent, 1/2 <= fraction < 1 */
    *out = (brume_sigma){.value = sigma,
                         .mantissa = (uint64_t)(fraction * 0x1p53) << 11, /* exact */
                         .exponent = exponent - 64};
}

void brume_sigma_from_ratio(brume_sigma *out, uint64_t numerator, uint64_t denominator)
{
    /* floor(sqrt(p/q) 2^k) = floor(sqrt(floor(p 2^2k / q))), k such that it has 64 bits. */
    mpz_t square;
    mpz_init_set_ui(square, numerator);
    int shift = 64; /* p 2^128 / q >= 2^64: at least 32 bits in the root */
    mpz_mul_2exp(square, square, 2 * (mp_bitcnt_t)shift);
    mpz_fdiv_q_ui(square, square, denominator);
    int more = 64 - ((int)mpz_sizeinbase(square, 2) + 1) / 2;
    mpz_set_ui(square, numerator);
    mpz_mul_2exp(square, square, 2 * (mp_bitcnt_t)(shift + more));
    mpz_fdiv_q_ui(square, square, denominator);
    mpz_sqrt(square, square);
    uint64_t mantissa = mpz_get_ui(square);
    *out = (brume_sigma){.ratio = true,
                         .numerator = numerator,
                         .denominator = denominator,
                         .mantissa = mantissa,
                         .exponent = -(shift + more)};
    arb_t ball;
    arb_init(ball);
    brume_sigma_ball(ball, out, 128);
    out->value = arf_get_d(arb_midref(ball), ARF_RND_NEAR); /* within 2^-53 (1 + 2^-60) relative */
    arb_clear(ball);
    mpz_clear(square);
}

void brume_sigma_ball(arb_t ball, const brume_sigma *sigma, slong precision)
{
    if (!sigma->ratio) {
        arb_set_d(ball, sigma->value); /* exact */
        return;
    }
    arb_t denominator;
    arb_init(denominator);
    arb_set_ui(ball, sigma->numerator);
    arb_set_ui(denominator, sigma->denominator);
    arb_div(ball, ball, denominator, precision + 8);
    arb_sqrt(ball, ball, precision);
    arb_clear(denominator);
}

bool brume_sigma_rational(fmpq_t out, const brume_sigma *sigma)
{
    if (!sigma->ratio) {
        arf_t value;
        arf_init(value);
        arf_set_d(value, sigma->value);
        arf_get_fmpq(out, value);
        arf_clear(value);
        return true;
    }
    fmpz_set_ui(fmpq_numref(out), sigma->numerator);
    fmpz_set_ui(fmpq_denref(out), sigma->denominator);
    fmpq_canonicalise(out);
    if (!fmpz_is_square(fmpq_numref(out)) || !fmpz_is_square(fmpq_denref(out)))
        return false;
    fmpz_sqrt(fmpq_numref(out), fmpq_numref(out));
    fmpz_sqrt(fmpq_denref(out), fmpq_denref(out));
    return true;
}

void brume_sigma_bell(arb_t ball, const brume_sigma *sigma, const fmpz_t x, slong precision)
{
    arb_t square;
    arb_init(square);
    fmpz_t power;
    fmpz_init(power);
    fmpz_mul(power, x, x);
    if (sigma->ratio) {
        fmpz_mul_ui(power, power, sigma->denominator);
        arb_set_ui(square, sigma->numerator);
    } else {
        arb_set_d(square, sigma->value);
        arb_mul(square, square, square, ARF_PREC_EXACT);
    }
    arb_mul_2exp_si(square, square, 1);
    /* exp turns an absolute error into a relative one: carry the bits of x^2/2 sigma^2 too. */
    slong extra = (slong)fmpz_bits(power) + 8;
    arb_set_fmpz(ball, power);
    arb_div(ball, ball, square, precision + extra);
    arb_neg(ball, ball);
    arb_exp(ball, ball, precision);
    fmpz_clear(power);
    arb_clear(square);
}
