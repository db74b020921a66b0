/* Values of parameters, and statements with them in it. Promises: statement.h. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "serve/pg/statement.h"

/* ---- reading values ---- */

typedef enum value_form { FORM_TEXT, FORM_WHOLE, FORM_REAL, FORM_BOOLEAN, FORM_NONE } value_form;

static value_form form_of(uint32_t type)
{
    switch (type) {
    case 0:
    case BRUME_PG_UNKNOWN:
    case BRUME_PG_TEXT:
    case BRUME_PG_VARCHAR:
    case BRUME_PG_BPCHAR:
    case BRUME_PG_NAME:
    case BRUME_PG_CHAR:
    case BRUME_PG_DATE:
    case BRUME_PG_TIMESTAMP:
    case BRUME_PG_TIMESTAMPTZ:
        return FORM_TEXT;
    case BRUME_PG_INT2:
    case BRUME_PG_INT4:
    case BRUME_PG_INT8:
    case BRUME_PG_OID:
        return FORM_WHOLE;
    case BRUME_PG_FLOAT4:
    case BRUME_PG_FLOAT8:
    case BRUME_PG_NUMERIC:
        return FORM_REAL;
    case BRUME_PG_BOOL:
        return FORM_BOOLEAN;
    default:
        return FORM_NONE;
    }
}

/* [+-] digits [. digits] [e [+-] digits], with at least one digit; whole numbers have digits only.
 */
static bool is_number(const char *text, bool whole)
{
    size_t digits = 0;
    text += *text == '-' || *text == '+';
    for (; isdigit((unsigned char)*text); text++)
        digits++;
    if (whole)
        return digits > 0 && digits <= 20 && !*text;
    if (*text == '.')
        for (text++; isdigit((unsigned char)*text); text++)
            digits++;
    if (digits == 0 || digits > 100)
        return false;
    if (*text == 'e' || *text == 'E') {
        text++;
        text += *text == '-' || *text == '+';
        if (!isdigit((unsigned char)*text) || strlen(text) > 4)
            return false;
        while (isdigit((unsigned char)*text))
            text++;
    }
    return !*text;
}

static int boolean_of(const char *text)
{
    static const char *const words[] = {"f", "t",   "false", "true", "0",
                                        "1", "off", "on",    "no",   "yes"};
    for (int i = 0; i < 10; i++)
        if (strcasecmp(words[i], text) == 0)
            return i % 2;
    return -1;
}

static bool is_time(uint32_t type)
{
    return type == BRUME_PG_DATE || type == BRUME_PG_TIMESTAMP || type == BRUME_PG_TIMESTAMPTZ;
}

/* Days (of 4 bytes) or microseconds (of 8) since 2000-01-01, as a date or a timestamp. */
static char *time_from_binary(uint32_t type, const uint8_t *bytes, size_t length)
{
    static const int64_t epoch = 10957 * 86400; /* 2000-01-01 */
    uint64_t bits = 0;
    char text[80] = "", whole[40] = "";
    struct tm parts;
    if (length != (type == BRUME_PG_DATE ? 4 : 8))
        return NULL;
    for (size_t i = 0; i < length; i++)
        bits = bits << 8 | bytes[i];
    int64_t count = length == 4 ? (int32_t)(uint32_t)bits : (int64_t)bits;
    int64_t micro = length == 4 ? 0 : (count % 1000000 + 1000000) % 1000000;
    time_t seconds = (time_t)(epoch + (length == 4 ? count * 86400 : (count - micro) / 1000000));
    if (!gmtime_r(&seconds, &parts) || parts.tm_year + 1900 < 1 || parts.tm_year + 1900 > 9999)
        return NULL;
    strftime(whole, sizeof whole, length == 4 ? "%Y-%m-%d" : "%Y-%m-%d %H:%M:%S", &parts);
    snprintf(text, sizeof text, micro ? "%s.%06d" : "%s", whole, (int)micro);
    return strdup(text);
}

/* The text of a value in the binary format; NULL: it is none. */
static char *from_binary(uint32_t type, const uint8_t *bytes, size_t length)
{
    char text[BRUME_PG_NUMBER_TEXT] = "";
    uint64_t bits = 0;
    double real;
    float narrow;
    uint32_t word;
    if (is_time(type))
        return time_from_binary(type, bytes, length);
    if (form_of(type) == FORM_TEXT)
        return strndup((const char *)bytes, length);
    size_t size = type == BRUME_PG_BOOL                                                      ? 1
                  : type == BRUME_PG_INT2                                                    ? 2
                  : type == BRUME_PG_INT8 || type == BRUME_PG_FLOAT8                         ? 8
                  : type == BRUME_PG_INT4 || type == BRUME_PG_OID || type == BRUME_PG_FLOAT4 ? 4
                                                                                             : 0;
    if (size == 0 || length != size)
        return NULL;
    for (size_t i = 0; i < size; i++)
        bits = bits << 8 | bytes[i];
    switch (type) {
    case BRUME_PG_BOOL:
        return strdup(bits ? "t" : "f");
    case BRUME_PG_INT2:
        snprintf(text, sizeof text, "%d", (int)(int16_t)bits);
        break;
    case BRUME_PG_INT4:
        snprintf(text, sizeof text, "%d", (int)(int32_t)bits);
        break;
    case BRUME_PG_OID:
        snprintf(text, sizeof text, "%u", (unsigned)bits);
        break;
    case BRUME_PG_INT8:
        snprintf(text, sizeof text, "%lld", (long long)(int64_t)bits);
        break;
    case BRUME_PG_FLOAT4:
        word = (uint32_t)bits;
        memcpy(&narrow, &word, sizeof narrow);
        snprintf(text, sizeof text, "%.9g", (double)narrow);
        break;
    default:
        memcpy(&real, &bits, sizeof real);
        brume_pg_number_text(real, text);
        break;
    }
    return strdup(text);
}

brume_status brume_pg_value_read(uint32_t type, uint16_t format, const uint8_t *bytes,
                                 size_t length, brume_pg_value *out, brume_error *error)
{
    value_form form = form_of(type);
    if (form == FORM_NONE)
        return brume_fail(error, BRUME_EUNSUPPORTED,
                          "pass booleans, numbers and texts, or write the value into the query",
                          "a parameter has a type that brume does not take (OID %u)", type);
    if (memchr(bytes, 0, length) && (format == 0 || (form == FORM_TEXT && !is_time(type))))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a parameter has a 0 byte in it");
    char *text = format == 1 ? from_binary(type, bytes, length)
                             : strndup((const char *)bytes, length);
    bool good = text != NULL;
    if (good && form == FORM_BOOLEAN)
        good = boolean_of(text) >= 0;
    else if (good && form != FORM_TEXT)
        good = is_number(text, form == FORM_WHOLE);
    if (!good) {
        free(text);
        return brume_fail(error, BRUME_EARGUMENT, "finite numbers, t or f, texts",
                          "the value of a parameter is not of its type (OID %u)", type);
    }
    *out = (brume_pg_value){type, text};
    return BRUME_OK;
}

/* ---- writing them into the text ---- */

/* A value as a literal, spaced from what stands beside it. */
static void write_literal(FILE *out, const brume_pg_value *value)
{
    value_form form = value->text ? form_of(value->type) : FORM_NONE;
    if (form == FORM_NONE) {
        fputs(" NULL ", out);
    } else if (form == FORM_BOOLEAN) {
        fputs(boolean_of(value->text) == 1 ? " TRUE " : " FALSE ", out);
    } else if (form != FORM_TEXT) {
        bool negative = value->text[0] == '-';
        fprintf(out, negative ? " (%s) " : " %s ", value->text + (value->text[0] == '+'));
    } else {
        fputs(" '", out);
        for (const char *at = value->text; *at; at++) {
            if (*at == '\'')
                fputc('\'', out);
            fputc(*at, out);
        }
        fputs("' ", out);
    }
}

/* Where "public." (or "database.public.") stands before a name: how many tokens go at each byte. */
typedef struct prefixes {
    int at[256];
    size_t tokens[256], count;
} prefixes;

static void add_prefix(prefixes *all, int location, size_t tokens)
{
    if (location >= 0 && all->count < 256) {
        all->at[all->count] = location;
        all->tokens[all->count++] = tokens;
    }
}

static const char *field_name(const PgQuery__ColumnRef *column, size_t i)
{
    const PgQuery__Node *field = column->fields[i];
    return field->node_case == PG_QUERY__NODE__NODE_STRING ? field->string->sval : "";
}

static bool note_prefix(void *context, const ProtobufCMessage *message)
{
    if (message->descriptor == &pg_query__range_var__descriptor) {
        const PgQuery__RangeVar *table = (const PgQuery__RangeVar *)message;
        if (strcmp(table->schemaname, "public") == 0)
            add_prefix(context, table->location, *table->catalogname ? 4 : 2);
    } else if (message->descriptor == &pg_query__column_ref__descriptor) {
        const PgQuery__ColumnRef *column = (const PgQuery__ColumnRef *)message;
        if (column->n_fields >= 3 &&
            strcmp(field_name(column, column->n_fields - 3), "public") == 0)
            add_prefix(context, column->location, 2 * (column->n_fields - 2));
    }
    return true;
}

/* How many tokens go from this one on. */
static size_t prefix_at(const prefixes *all, int location)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->at[i] == location)
            return all->tokens[i];
    return 0;
}

static void write_text(FILE *out, const char *text, const PgQuery__ScanResult *tokens,
                       const prefixes *gone, const brume_pg_value *values, size_t count)
{
    int at = 0;
    for (size_t i = 0; i < tokens->n_tokens; i++) {
        const PgQuery__ScanToken *token = tokens->tokens[i];
        size_t skipped = prefix_at(gone, token->start);
        fwrite(text + at, 1, (size_t)(token->start - at), out);
        at = token->start;
        if (skipped > 0 && i + skipped < tokens->n_tokens) {
            i += skipped;
            token = tokens->tokens[i];
            at = token->start;
        }
        size_t number =
            token->token == PG_QUERY__TOKEN__PARAM ? strtoul(text + token->start + 1, NULL, 10) : 0;
        if (number > 0 && number <= count) {
            write_literal(out, &values[number - 1]);
            at = token->end;
        }
    }
    fputs(text + at, out);
}

brume_status brume_pg_statement_text(const brume_pg_statement *statement,
                                     const brume_pg_value *values, size_t count, char **out,
                                     brume_error *error)
{
    prefixes gone = {.count = 0};
    char *made = NULL;
    size_t length = 0;
    if (statement->kind == BRUME_PG_ASK || statement->kind == BRUME_PG_EXPLAIN ||
        statement->kind == BRUME_PG_DECLARE)
        brume_pg_visit(&statement->tree->base, note_prefix, &gone);
    PgQuery__ScanResult *tokens = brume_pg_scan(statement->text);
    FILE *text = tokens ? open_memstream(&made, &length) : NULL;
    if (text)
        write_text(text, statement->text, tokens, &gone, values, count);
    if (tokens)
        pg_query__scan_result__free_unpacked(tokens, NULL);
    if (!text || fclose(text) != 0) {
        free(made);
        return brume_no_memory(error, "the statement");
    }
    *out = made;
    return BRUME_OK;
}
