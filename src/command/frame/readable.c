/* Numbers as texts: rounded in a stated direction, in full, or in the decimals of an error bar. */
#include "command/frame/readable.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* So many digits of a number above 0, never on the other side of it than asked for. */
static brume_number_text digits_towards(double value, int digits, bool up)
{
    brume_number_text out;
    double moved = value,
           step = value * 0.5 * pow(10, -digits); /* at most half of the last digit */
    for (;;) {
        snprintf(out.text, sizeof out.text, "%.*g", digits, moved);
        double shown = strtod(out.text, NULL);
        if (!(up ? shown < value : shown > value) || !(step > 0))
            return out;
        moved += up ? step : -step;
    }
}

brume_number_text brume_digits_up(double value, int digits)
{
    return digits_towards(value, digits, true);
}

brume_number_text brume_digits_down(double value, int digits)
{
    return digits_towards(value, digits, false);
}

brume_number_text brume_shortest(double value)
{
    brume_number_text number;
    int least = fabs(value) < DBL_MIN ? 1 : 15; /* %g drops zeros, so that 15 stands for fewer */
    for (int digits = least; digits <= 17; digits++) {
        snprintf(number.text, sizeof number.text, "%.*g", digits, value);
        if (strtod(number.text, NULL) == value)
            break;
    }
    return number;
}

enum { DECIMALS_MOST = 15 };

/* Decimals of an error bar with two significant digits; none from 10 on. */
static int decimals_of(double error)
{
    int decimals = 1 - (int)floor(log10(error));
    return decimals < 0 ? 0 : decimals > DECIMALS_MOST ? DECIMALS_MOST : decimals;
}

/* So many decimals, never below the number. */
static brume_number_text round_up(double number, int decimals)
{
    brume_number_text out;
    double step = pow(10, -decimals);
    snprintf(out.text, sizeof out.text, "%.*f", decimals, number);
    if (strtod(out.text, NULL) < number)
        snprintf(out.text, sizeof out.text, "%.*f", decimals, number + step * .5);
    return out;
}

brume_readable brume_value_and_error(double value, double error, bool whole)
{
    brume_readable out;
    if (!(error > 0) || fabs(value) >= 1e15 || error >= 1e15) {
        snprintf(out.value.text, sizeof out.value.text, whole ? "%.0f" : "%.6g", value);
        out.error = error > 0 ? brume_digits_up(error, 2) : brume_shortest(error);
        return out;
    }
    int decimals = whole ? 0 : decimals_of(error);
    out.error = round_up(error, decimals);
    snprintf(out.value.text, sizeof out.value.text, "%.*f", decimals, value);
    return out;
}
