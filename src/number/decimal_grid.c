/* Typed decimals on a grid. Promises: number/decimal_grid.h. */
#include "number/decimal_grid.h"

#include <stdlib.h>

static void set_digits(fmpz_t out, const brume_decimal *x)
{
    fmpz_zero(out);
    for (int i = BRUME_DECIMAL_LIMBS - 1; i >= 0; i--) {
        fmpz_mul_2exp(out, out, 32);
        fmpz_add_ui(out, out, x->digits[i]);
    }
}

void brume_decimal_floor_steps(fmpz_t out, const brume_signed_decimal *x, const brume_decimal *unit,
                               unsigned k)
{
    fmpz_t divisor, power;
    fmpz_init(divisor);
    fmpz_init(power);
    set_digits(out, &x->size);
    fmpz_mul_2exp(out, out, k);
    set_digits(divisor, unit);
    int exponent = x->size.exponent - unit->exponent;
    fmpz_set_ui(power, 10);
    fmpz_pow_ui(power, power, (ulong)abs(exponent));
    if (exponent >= 0)
        fmpz_mul(out, out, power);
    else
        fmpz_mul(divisor, divisor, power);
    if (x->negative)
        fmpz_neg(out, out);
    fmpz_fdiv_q(out, out, divisor);
    fmpz_clear(divisor);
    fmpz_clear(power);
}

int64_t brume_decimal_clamped_steps(const brume_signed_decimal *x, const brume_decimal *unit,
                                    unsigned k, int64_t limit)
{
    fmpz_t steps;
    fmpz_init(steps);
    brume_decimal_floor_steps(steps, x, unit, k);
    int64_t result = fmpz_cmp_si(steps, limit) > 0    ? limit
                     : fmpz_cmp_si(steps, -limit) < 0 ? -limit
                                                      : fmpz_get_si(steps);
    fmpz_clear(steps);
    return result;
}
