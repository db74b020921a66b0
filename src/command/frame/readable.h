/* A value and its error bar as a person reads them: with as many decimals as the bar makes sense
 * of. */
#ifndef BRUME_COMMAND_READABLE_H
#define BRUME_COMMAND_READABLE_H

#include <stdbool.h>

#include "command/command.h"

typedef struct brume_readable {
    brume_number_text value, error;
} brume_readable;

/* The error has two significant digits, or is a whole number from 10 on, rounded up; the value has
 * the same decimals, rounded to nearest. `whole`: the value is an integer, and both have none.
 * Requires a finite value and an error >= 0; an error of 0 says nothing about decimals, and the
 * value then has six significant digits. */
brume_readable brume_value_and_error(double value, double error, bool whole);

#endif
