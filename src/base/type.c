/* Names of types. brume_type_parse(brume_type_name(t)) is t. */
#include "base/type.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {
    [BRUME_TYPE_REFUSED] = "refused",     [BRUME_TYPE_BOOLEAN] = "boolean",
    [BRUME_TYPE_INTEGER] = "integer",     [BRUME_TYPE_BIGINT] = "bigint",
    [BRUME_TYPE_DECIMAL] = "decimal",     [BRUME_TYPE_DOUBLE] = "double",
    [BRUME_TYPE_TEXT] = "text",           [BRUME_TYPE_DATE] = "date",
    [BRUME_TYPE_TIMESTAMP] = "timestamp",
};

const char *brume_type_name(brume_type type, char buffer[BRUME_TYPE_NAME_SIZE])
{
    if (type.kind == BRUME_TYPE_DECIMAL)
        snprintf(buffer, BRUME_TYPE_NAME_SIZE, "decimal(%d,%d)", type.precision, type.scale);
    else
        snprintf(buffer, BRUME_TYPE_NAME_SIZE, "%s", names[type.kind]);
    return buffer;
}

bool brume_type_parse(const char *name, brume_type *type)
{
    int precision = 0, scale = 0, end = 0;
    if (sscanf(name, "decimal(%2d,%2d)%n", &precision, &scale, &end) == 2 && end > 0 &&
        !name[end] && precision >= 1 && precision <= 38 && scale >= 0 && scale <= precision) {
        *type = (brume_type){BRUME_TYPE_DECIMAL, precision, scale};
        return true;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (i != BRUME_TYPE_DECIMAL && strcmp(name, names[i]) == 0) {
            *type = (brume_type){(brume_type_kind)i, 0, 0};
            return true;
        }
    return false;
}

bool brume_type_equal(brume_type a, brume_type b)
{
    return a.kind == b.kind && a.precision == b.precision && a.scale == b.scale;
}

bool brume_type_is_number(brume_type type)
{
    return type.kind >= BRUME_TYPE_INTEGER && type.kind <= BRUME_TYPE_DOUBLE;
}

bool brume_type_is_time(brume_type type)
{
    return type.kind == BRUME_TYPE_DATE || type.kind == BRUME_TYPE_TIMESTAMP;
}
