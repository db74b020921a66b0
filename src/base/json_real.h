/* A real for JSON: null where it is not finite. */
#ifndef BRUME_BASE_JSON_REAL_H
#define BRUME_BASE_JSON_REAL_H

#include <math.h>

#include <jansson.h>

static inline json_t *brume_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

#endif
