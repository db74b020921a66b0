/* What stands in the place of a stage. Promises: stage_value.h. */
#include "query/release/stage_value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

bool brume_stage_is_number(const brume_formula *formula)
{
    size_t first = 0;
    switch (formula->kind) {
    case BRUME_FORMULA_LITERAL:
        return formula->value.kind == BRUME_VALUE_NUMBER || formula->value.kind == BRUME_VALUE_NULL;
    case BRUME_FORMULA_AGGREGATE:
        return true;
    case BRUME_FORMULA_CASE: /* condition, value, ..., else */
        for (; first + 1 < formula->argument_count; first += 2)
            if (!brume_stage_is_number(formula->arguments[first + 1]))
                return false;
        break;
    case BRUME_FORMULA_COALESCE:
    case BRUME_FORMULA_NULLIF:
    case BRUME_FORMULA_GREATEST:
    case BRUME_FORMULA_LEAST:
        break;
    default: /* arithmetic gives numbers or NULL */
        return formula->kind >= BRUME_FORMULA_ADD && formula->kind <= BRUME_FORMULA_EXP;
    }
    for (size_t i = first; i < formula->argument_count; i++)
        if (!brume_stage_is_number(formula->arguments[i]))
            return false;
    return true;
}

brume_status brume_stage_no_number(brume_error *error)
{
    return brume_fail(error, BRUME_EUNSUPPORTED, "compare it outside of the subquery",
                      "a scalar subquery must be a number, or one aggregate of dates");
}

static bool is_double(const char *type)
{
    return strcmp(type, "double precision") == 0;
}

static brume_status put(char *made, char **value, brume_error *error)
{
    free(*value);
    *value = made;
    return made ? BRUME_OK : brume_no_memory(error, "a query");
}

brume_status brume_stage_constant(const char *type, const char *text, char **value,
                                  brume_error *error)
{
    const char *quote = text ? "'" : "";
    char *made = NULL;
    if (!type)
        return put(strdup("NULL"), value, error);
    if (asprintf(&made, "CAST(%s%s%s AS %s)%s", quote, text ? text : "NULL", quote, type,
                 is_double(type)             ? ""
                 : strcmp(type, "date") == 0 ? " + 0"
                                             : " + INTERVAL '0 days'") < 0)
        made = NULL;
    return put(made, value, error);
}

static brume_status put_number(double number, char **value, brume_error *error)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", number);
    return brume_stage_constant("double precision", text, value, error);
}

brume_status brume_stage_released(const char *type, const brume_value *released, char **value,
                                  brume_error *error)
{
    if (released->kind == BRUME_VALUE_NULL)
        return brume_stage_constant(type, NULL, value, error);
    if (released->kind == BRUME_VALUE_NUMBER && is_double(type))
        return put_number(released->number, value, error);
    if (released->kind == BRUME_VALUE_TEXT && !is_double(type) &&
        !memchr(released->text, '\'', released->length))
        return brume_stage_constant(type, released->text, value, error);
    return brume_stage_no_number(error);
}

static brume_status put_text(const brume_value *text, char **value, brume_error *error)
{
    char *made = malloc(2 * text->length + 3), *end = made;
    if (!made)
        return brume_no_memory(error, "a query");
    *end++ = '\'';
    for (size_t i = 0; i < text->length; i++) {
        if (text->text[i] == '\'')
            *end++ = '\'';
        *end++ = text->text[i];
    }
    memcpy(end, "'", 2);
    return put(made, value, error);
}

brume_status brume_stage_public(const brume_value *exact, char **value, brume_error *error)
{
    if (exact->kind == BRUME_VALUE_TEXT)
        return put_text(exact, value, error);
    if (exact->kind == BRUME_VALUE_BOOLEAN)
        return put(strdup(exact->boolean ? "true" : "false"), value, error);
    if (exact->kind == BRUME_VALUE_NUMBER && fabs(exact->number) >= 0x1p53)
        return brume_fail(error, BRUME_EUNSUPPORTED, "write the number into the query",
                          "a scalar subquery of a public table has a number of 2^53 or more, which "
                          "would be rounded");
    return exact->kind == BRUME_VALUE_NUMBER
               ? put_number(exact->number, value, error)
               : brume_stage_constant("double precision", NULL, value, error);
}
