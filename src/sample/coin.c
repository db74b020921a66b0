/* Uniform below n, Bernoulli(num/den) and Bernoulli(exp(-x)), exactly. Proofs:
 * proofs/primitives.md.
 *
 * The integer samplers never round. Bernoulli(exp(-x)) of a real compares a uniform with a double
 * near exp(-x) and uses it only outside the proven error; else MPFR and more bits decide. */
#include "sample/coin.h"

#include <math.h>

#include "number/wide.h"
#include "sample/kernel.h"
#include "sample/lazy.h"
#include "sample/word.h"

bool brume_coin_below(brume_bits *bits, brume_stream *stream, uint64_t n, uint64_t *out)
{
    /* [Lem19, Alg. 5]: of the words that map to j, exactly floor(2^64/n) are kept. */
    const uint64_t rejected = (BRUME_WORD_MAX - n + 1) % n; /* 2^64 mod n */
    for (;;) {
        uint64_t word;
        if (!brume_sample_word(bits, stream, &word))
            return false;
        brume_u128 product = (brume_u128)word * n;
        if (((uint64_t)product & BRUME_WORD_MAX) >= rejected) {
            *out = (uint64_t)(product >> BRUME_WORD_BITS);
            return true;
        }
    }
}

bool brume_coin_ratio(brume_bits *bits, brume_stream *stream, uint64_t num, uint64_t den, bool *out)
{
    /* Is U < num/den, digit by digit in base 2^64? One word is read even if num is 0 or den. */
    for (;;) {
        uint64_t word;
        if (!brume_sample_word(bits, stream, &word))
            return false;
        brume_u128 scaled = (brume_u128)num << BRUME_WORD_BITS;
        brume_u128 digit = scaled / den; /* 2^64 if num = den: above every word */
        num = (uint64_t)(scaled % den);
        if (word != digit || num == 0) {
            *out = word < digit; /* equal digits and nothing left: U >= num/den */
            return true;
        }
    }
}

bool brume_coin_ratio_wide(brume_bits *bits, brume_stream *stream, const mpz_t num, const mpz_t den,
                           bool *out)
{
    bool read = false;
    mpz_t digit, rest, drawn;
    mpz_inits(digit, drawn, NULL);
    mpz_init_set(rest, num);
    for (;;) {
        uint64_t word;
        read = brume_sample_word(bits, stream, &word);
        if (!read)
            break;
        mpz_mul_2exp(rest, rest, BRUME_WORD_BITS);
        mpz_fdiv_qr(digit, rest, rest, den);
        mpz_import(drawn, 1, 1, sizeof word, 0, 0, &word);
        int order = mpz_cmp(drawn, digit);
        if (order != 0 || mpz_sgn(rest) == 0) {
            *out = order < 0;
            break;
        }
    }
    mpz_clears(digit, rest, drawn, NULL);
    return read;
}

/* exp(-num/den) for num <= den: K = the first k >= 1 for which a coin of num/(k den) fails has
 * P[K > k] = (num/den)^k / k!, so P[K odd] is the series of exp(-num/den). */
static bool coin_exp_fraction(brume_bits *bits, brume_stream *stream, uint64_t num, uint64_t den,
                              bool *out)
{
    for (uint64_t k = 1;; k++) {
        bool success;
        if (den <= UINT64_MAX / k) {
            if (!brume_coin_ratio(bits, stream, num, k * den, &success))
                return false;
        } else { /* the product of two coins */
            bool other;
            if (!brume_coin_ratio(bits, stream, 1, k, &success) ||
                !brume_coin_ratio(bits, stream, num, den, &other))
                return false;
            success = success && other;
        }
        if (!success) {
            *out = k % 2 == 1;
            return true;
        }
    }
}

bool brume_coin_exp(brume_bits *bits, brume_stream *stream, uint64_t num, uint64_t den, bool *out)
{
    for (uint64_t whole = num / den; whole > 0; whole--) {
        bool success;
        if (!coin_exp_fraction(bits, stream, 1, 1, &success))
            return false;
        if (!success) {
            *out = false;
            return true;
        }
    }
    return coin_exp_fraction(bits, stream, num % den, den, out);
}

static void enclose_exp_neg(const void *context, mpfr_t lower, mpfr_t upper)
{
    const double *x = context;
    mpfr_set_d(upper, *x, MPFR_RNDD); /* exact: the precision is above 53 */
    mpfr_neg(upper, upper, MPFR_RNDN);
    mpfr_exp(lower, upper, MPFR_RNDD);
    mpfr_exp(upper, upper, MPFR_RNDU);
}

bool brume_coin_exp_real(brume_bits *bits, brume_stream *stream, double x, bool *out)
{
    uint64_t word;
    if (!brume_sample_word(bits, stream, &word))
        return false;
    double middle = brume_uniform_middle(word << (64 - BRUME_WORD_BITS));
    /* Beyond 700 the true value is smaller still, and only the cell at 0 can be below it. */
    double target = brume_exp_neg(x < 700.0 ? x : 700.0);
    /* |U - middle| <= 2^-53 and |target - exp(-x)| <= 2^-52.22 target. */
    double margin = 0.5 / (double)(UINT64_C(1) << BRUME_PREFIX) + target * 0x1p-51;
    if (brume_rounds_to_nearest() && brume_absolute(middle - target) > margin) {
        *out = middle < target;
        return true;
    }
    if (isinf(x)) { /* exp(-x) = 0 is below every U > 0 */
        *out = false;
        return true;
    }
    brume_lazy uniform;
    brume_lazy_open(&uniform, word, BRUME_WORD_BITS);
    bool read = brume_lazy_below(&uniform, bits, enclose_exp_neg, &x, out);
    brume_lazy_close(&uniform);
    return read;
}
