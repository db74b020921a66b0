/* Numbers as the shell shows them before it asks. */
#ifndef BRUME_CLI_NUMBER_H
#define BRUME_CLI_NUMBER_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct brume_shell_number {
    char text[32];
} brume_shell_number;

/* The shortest decimal that reads back as it. */
static inline brume_shell_number brume_shell_shortest(double value)
{
    brume_shell_number number;
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(number.text, sizeof number.text, "%.*g", digits, value);
        if (strtod(number.text, NULL) == value)
            break;
    }
    return number;
}

/* Four significant digits, or a whole number from 1000 on; never below it. */
static inline brume_shell_number brume_shell_rounded_up(double value)
{
    brume_shell_number number;
    if ((value >= 1000 || value == floor(value)) && value < 1e15) {
        snprintf(number.text, sizeof number.text, "%.0f", ceil(value));
        return number;
    }
    double step = pow(10, floor(log10(value)) - 3), above = ceil(value / step) * step;
    snprintf(number.text, sizeof number.text, "%.4g", above);
    if (strtod(number.text, NULL) < value)
        snprintf(number.text, sizeof number.text, "%.4g", above + step);
    return number;
}

#endif
