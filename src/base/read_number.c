/* Numbers as they are typed. */
#include "base/read_number.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"

/* [+-] digits [. digits] [e [+-] digits], at least one digit before the exponent. */
static bool is_decimal(const char *text)
{
    const char *p = text;
    if (*p == '+' || *p == '-')
        p++;
    size_t digits = 0;
    for (; isdigit((unsigned char)*p); p++)
        digits++;
    if (*p == '.')
        for (p++; isdigit((unsigned char)*p); p++)
            digits++;
    if (digits == 0)
        return false;
    if (*p == 'e' || *p == 'E') {
        p++;
        if (*p == '+' || *p == '-')
            p++;
        if (!isdigit((unsigned char)*p))
            return false;
        while (isdigit((unsigned char)*p))
            p++;
    }
    return *p == 0;
}

brume_status brume_read_real(const char *text, const char *what, double *out, brume_error *error)
{
    if (!is_decimal(text))
        return brume_fail(error, BRUME_EARGUMENT, "write it as 12, 0.5 or 1e-6",
                          "'%s' is '%.100s', must be a finite decimal number", what, text);
    errno = 0;
    double value = strtod(text, NULL);
    if (errno == ERANGE && (value == 0 || !isfinite(value)))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'%s' is '%.100s', too %s for a double",
                          what, text, value == 0 ? "small" : "large");
    *out = value;
    return BRUME_OK;
}

static const double largest_count = 9007199254740992.0; /* 2^53: exact as a double */

brume_status brume_read_count(const char *text, const char *what, uint64_t *out, brume_error *error)
{
    double value = 0;
    BRUME_TRY(brume_read_real(text, what, &value, error));
    if (value < 0 || value > largest_count || value != floor(value))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'%s' is '%.100s', must be a whole number from 0 to 2^53", what, text);
    *out = (uint64_t)value;
    return BRUME_OK;
}
