/* A uniform real that is read as far as a question needs it. */
#include "sample/lazy.h"

#include "sample/word.h"

void brume_lazy_open(brume_lazy *lazy, uint64_t prefix, unsigned bits)
{
    mpz_init(lazy->prefix);
    mpz_import(lazy->prefix, 1, 1, sizeof prefix, 0, 0, &prefix);
    lazy->bits = bits;
}

void brume_lazy_close(brume_lazy *lazy)
{
    brume_bits_wipe(lazy->prefix->_mp_d, (size_t)lazy->prefix->_mp_alloc * sizeof(mp_limb_t));
    mpz_clear(lazy->prefix);
}

bool brume_lazy_more(brume_lazy *lazy, brume_bits *bits)
{
    uint64_t word;
    mpz_t digit;
    if (!brume_sample_word(bits, bits->more, &word))
        return false;
    mpz_init(digit);
    mpz_import(digit, 1, 1, sizeof word, 0, 0, &word);
    mpz_mul_2exp(lazy->prefix, lazy->prefix, BRUME_WORD_BITS);
    mpz_add(lazy->prefix, lazy->prefix, digit);
    mpz_clear(digit);
    lazy->bits += BRUME_WORD_BITS;
    return true;
}

void brume_lazy_lower(const brume_lazy *lazy, mpfr_t out)
{
    mpfr_set_z_2exp(out, lazy->prefix, -(mpfr_exp_t)lazy->bits, MPFR_RNDD);
}

void brume_lazy_upper(const brume_lazy *lazy, mpfr_t out)
{
    mpz_t end;
    mpz_init(end);
    mpz_add_ui(end, lazy->prefix, 1);
    mpfr_set_z_2exp(out, end, -(mpfr_exp_t)lazy->bits, MPFR_RNDU);
    mpz_clear(end);
}

bool brume_lazy_below(brume_lazy *lazy, brume_bits *bits, brume_enclosure *enclose,
                      const void *context, bool *out)
{
    for (;;) {
        mpfr_prec_t precision = (mpfr_prec_t)lazy->bits + BRUME_LAZY_GUARD_BITS;
        mpfr_t end, lower, upper;
        mpfr_inits2(precision, end, lower, upper, (mpfr_ptr)NULL);
        enclose(context, lower, upper);
        brume_lazy_upper(lazy, end);
        bool surely = mpfr_lessequal_p(end, lower); /* U < end <= v */
        brume_lazy_lower(lazy, end);
        bool surely_not = mpfr_greaterequal_p(end, upper); /* U >= end >= v */
        mpfr_clears(end, lower, upper, (mpfr_ptr)NULL);
        if (surely || surely_not) {
            *out = surely;
            return true;
        }
        if (!brume_lazy_more(lazy, bits))
            return false;
    }
}
