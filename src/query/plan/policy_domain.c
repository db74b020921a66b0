/* Values of declared domains, as an engine sends them in a key column. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "query/expression/literal.h"
#include "query/plan/policy.h"

static bool read_integer(const char *text, int64_t *out)
{
    char *end = NULL;
    long long value = strtoll(text, &end, 10);
    char again[24];
    snprintf(again, sizeof again, "%lld", value);
    *out = value;
    return *text && !*end && strcmp(again, text) == 0; /* the canonical writing only */
}

/* The canonical writing only: one date must not be two values. */
static bool read_date(const char *text, int64_t *out)
{
    char canonical[32];
    if (!brume_literal_date(text, canonical) || strcmp(canonical, text) != 0)
        return false;
    *out = brume_literal_days(canonical);
    return true;
}

brume_status brume_policy_domain_value(brume_type type, const char *text, brume_key_value *out,
                                       brume_error *error)
{
    brume_key_value cell = {.wire = BRUME_WIRE_INTEGER};
    bool good = false;
    switch (type.kind) {
    case BRUME_TYPE_TEXT:
        cell.wire = BRUME_WIRE_TEXT;
        cell.text = (brume_text){text, strlen(text)};
        good = true;
        break;
    case BRUME_TYPE_BOOLEAN:
        cell.integer = strcmp(text, "true") == 0;
        good = cell.integer || strcmp(text, "false") == 0;
        break;
    case BRUME_TYPE_INTEGER:
    case BRUME_TYPE_BIGINT:
        good = read_integer(text, &cell.integer);
        break;
    case BRUME_TYPE_DATE:
        good = read_date(text, &cell.integer);
        break;
    case BRUME_TYPE_REFUSED:
    case BRUME_TYPE_DECIMAL:
    case BRUME_TYPE_DOUBLE:
    case BRUME_TYPE_TIMESTAMP:
        break;
    }
    char name[BRUME_TYPE_NAME_SIZE];
    if (!good)
        return brume_fail(error, BRUME_EARGUMENT,
                          "domains are declared for text, whole numbers, dates and booleans",
                          "'%s' is not a value of type %s for a domain", text,
                          brume_type_name(type, name));
    *out = cell;
    return BRUME_OK;
}
