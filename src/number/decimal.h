/* Exact decimals: what the library itself needs beyond brume/decimal.h. */
#ifndef BRUME_NUMBER_DECIMAL_H
#define BRUME_NUMBER_DECIMAL_H

#include <brume/decimal.h>

/* The decimal of at most `significant` digits (1..40) next to x, not below it (up) or not above it
 * (down). Requires a finite x >= 0, else BRUME_EARGUMENT. */
BRUME_MUST_USE brume_status brume_decimal_from_double_up(double x, int significant,
                                                         brume_decimal *out, brume_error *error);
BRUME_MUST_USE brume_status brume_decimal_from_double_down(double x, int significant,
                                                           brume_decimal *out, brume_error *error);

/* The shortest decimal that reads back as x: what a person meant who typed it. Requires a finite
 * x >= 0, else BRUME_EARGUMENT. */
BRUME_MUST_USE brume_status brume_decimal_from_double_shortest(double x, brume_decimal *out,
                                                               brume_error *error);

/* a * b exactly. BRUME_EOVERFLOW if that takes more than 256 bits. `out` may be an operand. */
BRUME_MUST_USE brume_status brume_decimal_product(const brume_decimal *a, const brume_decimal *b,
                                                  brume_decimal *out, brume_error *error);

/* The double next to x whose shortest decimal is not below x (up), or not above it (down): what is
 * shown of what was spent, and of what is left. 0.3 is shown as 0.3, whichever way. */
double brume_decimal_shown_up(const brume_decimal *x);
double brume_decimal_shown_down(const brume_decimal *x);

/* The multiple of 10^-places next to x, not below it (up) or not above it (down); x itself where it
 * is one. `places` 0..1000. BRUME_EOVERFLOW only for `up`, where the carry does not fit. */
BRUME_MUST_USE brume_status brume_decimal_quantise_up(const brume_decimal *x, int places,
                                                      brume_decimal *out, brume_error *error);
void brume_decimal_quantise_down(const brume_decimal *x, int places, brume_decimal *out);

#endif
