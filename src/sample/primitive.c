/* The public primitives: arguments checked, then the coins of sample/coin.h on the main stream. */
#include <brume/noise/primitive.h>

#include "base/error.h"
#include "sample/coin.h"

static brume_status check(const brume_bits *bits, const void *out, brume_error *error)
{
    if (!bits || !out)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no bit source or no place for the draw");
    return BRUME_OK;
}

brume_status brume_sample_below(brume_bits *bits, uint64_t n, uint64_t *out, brume_error *error)
{
    BRUME_TRY(check(bits, out, error));
    if (n == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'n' is 0; it must be at least 1");
    return brume_coin_below(bits, bits->main, n, out) ? BRUME_OK : brume_bits_failed(bits, error);
}

brume_status brume_sample_bernoulli(brume_bits *bits, uint64_t num, uint64_t den, bool *out,
                                    brume_error *error)
{
    BRUME_TRY(check(bits, out, error));
    if (den == 0 || num > den)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'num'/'den' is not a probability; 'den' must be at least 1 and 'num' at "
                          "most 'den'");
    return brume_coin_ratio(bits, bits->main, num, den, out) ? BRUME_OK
                                                             : brume_bits_failed(bits, error);
}

brume_status brume_sample_bernoulli_exp(brume_bits *bits, uint64_t num, uint64_t den, bool *out,
                                        brume_error *error)
{
    BRUME_TRY(check(bits, out, error));
    if (den == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'den' is 0; it must be at least 1");
    return brume_coin_exp(bits, bits->main, num, den, out) ? BRUME_OK
                                                           : brume_bits_failed(bits, error);
}

brume_status brume_sample_bernoulli_exp_real(brume_bits *bits, double x, bool *out,
                                             brume_error *error)
{
    BRUME_TRY(check(bits, out, error));
    if (!(x >= 0))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'x' is %g; it must be 0 or more", x);
    return brume_coin_exp_real(bits, bits->main, x, out) ? BRUME_OK
                                                         : brume_bits_failed(bits, error);
}
