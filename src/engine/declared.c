/* Columns as an owner declares them: see the header. */
#include "engine/declared.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <brume/decimal.h>

#include "base/error.h"

static const brume_type untyped = {BRUME_TYPE_REFUSED, 0, 0};

void brume_declared_clear(brume_declared *declared)
{
    for (size_t i = 0; i < declared->count; i++)
        free(declared->columns[i].name);
    free(declared->columns);
    *declared = (brume_declared){0};
}

brume_column *brume_declared_find(const brume_declared *declared, const char *name)
{
    for (size_t i = 0; i < declared->count; i++)
        if (strcmp(declared->columns[i].name, name) == 0)
            return &declared->columns[i];
    return NULL;
}

brume_status brume_declared_add(brume_declared *declared, const char *name, brume_type type,
                                brume_error *error)
{
    brume_column *grown = realloc(declared->columns, (declared->count + 1) * sizeof *grown);
    if (!grown)
        return brume_no_memory(error, NULL);
    declared->columns = grown;
    grown[declared->count] = (brume_column){.name = strdup(name), .type = type};
    if (!grown[declared->count].name)
        return brume_no_memory(error, NULL);
    declared->count++;
    return BRUME_OK;
}

/* ---- reading ---- */

static const char *skip_spaces(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

/* Copy the name at *at into `name`, which has room for it, and step behind it. False: a quote that
 * is not closed. */
static bool read_name(const char **at, char *name)
{
    const char *from = *at;
    bool quoted = *from == '"';
    from += quoted;
    while (*from && (quoted || (*from != ',' && !isspace((unsigned char)*from)))) {
        if (quoted && *from == '"' && *++from != '"')
            break;
        *name++ = *from++;
    }
    *name = 0;
    bool closed = !quoted || from[-1] == '"';
    *at = from;
    return closed;
}

/* Copy the type at *at, without spaces and in lower case, and step behind it: to the next comma
 * that is not in brackets. */
static void read_type(const char **at, char *type)
{
    int depth = 0;
    for (; **at && (depth > 0 || **at != ','); (*at)++) {
        depth += (**at == '(') - (**at == ')');
        if (!isspace((unsigned char)**at))
            *type++ = (char)tolower((unsigned char)**at);
    }
    *type = 0;
}

static brume_status bad_type(const char *name, const char *type, brume_error *error)
{
    if (strstr(type, ".."))
        return brume_fail(error, BRUME_EARGUMENT, "bounds are typed as --bounds COLUMN=LOW..HIGH",
                          "column '%.100s' is declared with bounds in the place of a type", name);
    return brume_fail(error, BRUME_EARGUMENT,
                      "types are boolean integer bigint decimal(p,s) double text date timestamp; a "
                      "name with spaces is written \"...\"",
                      "column '%.100s' is declared as '%.60s', which is no type", name, type);
}

/* One column: its name and, after it, its type or nothing. */
static brume_status read_column(const char **at, char *name, char *type, brume_declared *out,
                                brume_error *error)
{
    brume_type read = untyped;
    *at = skip_spaces(*at);
    if (!read_name(at, name))
        return brume_fail(error, BRUME_EARGUMENT, "close it with \"",
                          "'--columns' has a quote that "
                          "is not closed");
    if (!*name)
        return brume_fail(error, BRUME_EARGUMENT, "write --columns 'person text, age integer'",
                          "'--columns' has a column without a name");
    *at = skip_spaces(*at);
    read_type(at, type);
    if (*type && (!brume_type_parse(type, &read) || read.kind == BRUME_TYPE_REFUSED))
        return bad_type(name, type, error);
    for (size_t i = 0; i < out->count; i++)
        if (strcasecmp(out->columns[i].name, name) == 0)
            return brume_fail(error, BRUME_EARGUMENT, "declare a column once",
                              "the column '%.100s' is declared twice", name);
    return brume_declared_add(out, name, read, error);
}

brume_status brume_declared_parse(const char *text, brume_declared *out, brume_error *error)
{
    char *room = malloc(2 * (strlen(text) + 1));
    if (!room)
        return brume_no_memory(error, NULL);
    const char *at = text;
    brume_status status = BRUME_OK;
    bool more = true;
    while (status == BRUME_OK && more) {
        status = read_column(&at, room, room + strlen(text) + 1, out, error);
        more = *at == ',';
        at += more;
    }
    free(room);
    return status;
}

/* ---- bounds ---- */

/* Digits before and behind the point of a plain decimal with an optional exponent, as typed. */
static bool count_digits(const char *text, int *before, int *behind)
{
    brume_decimal checked;
    text += *text == '-';
    if (brume_decimal_parse(text, &checked, NULL) != BRUME_OK)
        return false;
    size_t whole = strspn(text, "0123456789");
    size_t fraction = text[whole] == '.' ? strspn(text + whole + 1, "0123456789") : 0;
    const char *exponent = strpbrk(text, "eE");
    long shift = exponent ? strtol(exponent + 1, NULL, 10) : 0;
    if (labs(shift) > 100 || whole > 100 || fraction > 100)
        return false;
    int most = (int)whole + (int)shift, least = (int)fraction - (int)shift;
    *before = most > *before ? most : *before;
    *behind = least > *behind ? least : *behind;
    return true;
}

/* Does the text begin as a date does? What it says is read where columns are known. */
static bool begins_as_date(const char *text)
{
    for (size_t i = 0; i < 10; i++)
        if (i == 4 || i == 7 ? text[i] != '-' : !isdigit((unsigned char)text[i]))
            return false;
    return true;
}

bool brume_declared_type_of_bounds(const char *low, const char *high, brume_type *type)
{
    enum { BIGINT_DIGITS = 18, NARROW = 18, WIDE = 38 };
    int before = 1, behind = 0;
    if (begins_as_date(low) && begins_as_date(high)) {
        *type = (brume_type){low[10] || high[10] ? BRUME_TYPE_TIMESTAMP : BRUME_TYPE_DATE, 0, 0};
        return true;
    }
    if (!count_digits(low, &before, &behind) || !count_digits(high, &before, &behind) ||
        before + behind > WIDE)
        return false;
    if (behind == 0 && before <= BIGINT_DIGITS)
        *type = (brume_type){BRUME_TYPE_BIGINT, 0, 0};
    else
        *type = (brume_type){BRUME_TYPE_DECIMAL, before + behind <= NARROW ? NARROW : WIDE, behind};
    return true;
}
