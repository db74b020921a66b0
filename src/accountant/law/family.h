/* What the families of laws share: for the files of this folder only. */
#ifndef BRUME_ACCOUNTANT_LAW_FAMILY_H
#define BRUME_ACCOUNTANT_LAW_FAMILY_H

#include "accountant/law/law.h"

/* Opening: `law` has its parameters, count and order. A family fills in the rest; on failure the
 * caller closes the law. */
typedef brume_status brume_law_opener(brume_law *law, brume_error *error);
brume_law_opener brume_gaussian_open, brume_laplace_open, brume_pure_open, brume_table_law_open;
brume_law_opener brume_discrete_gaussian_open, brume_discrete_laplace_open;
brume_law_opener brume_sampled_gaussian_open, brume_sampled_laplace_open, brume_sampled_pure_open;
brume_law_opener brume_sampled_group_open;

/* A state of `size` bytes, all 0; the error says what it was for. */
BRUME_MUST_USE brume_status brume_law_allocate(brume_law *law, size_t size, brume_error *error);

/* log psi from z = psi - 1 and a bound of |error of z|. */
brume_log_psi brume_log_psi_of(double z_re, double z_im, double z_error);

/* A lower bound of sin^2 over [low, high], 0 <= low <= high. */
double brume_smallest_sine_square(double low, double high);

/* |re + i im|, to 2 units: what hypot is where nothing overflows or underflows. */
static inline double brume_modulus(double re, double im)
{
    double square = re * re + im * im;
    return square > 1e-280 && square < 1e280 ? sqrt(square) : hypot(re, im);
}

/* log(1 - rate + rate e^loss), to some units of a long double. */
long double brume_sampled_log_ratio(long double loss, long double rate);

/* e^{cx} - 1 + c (e^{-x} - 1) >= 0, by its series for |x| and |cx| up to 1/4. */
long double brume_moment_term(long double c, long double x, bool series);

#endif
