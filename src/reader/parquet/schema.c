/* The columns of a Parquet file: see the header. */
#include "reader/parquet/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/utf8.h"

/* Members of the union LogicalType. */
enum {
    LOGICAL_NONE = 0,
    LOGICAL_STRING = 1,
    LOGICAL_ENUM = 4,
    LOGICAL_DECIMAL = 5,
    LOGICAL_DATE = 6,
    LOGICAL_TIME = 7,
    LOGICAL_TIMESTAMP = 8,
    LOGICAL_INTEGER = 10,
    LOGICAL_UNKNOWN = 11,
    LOGICAL_JSON = 12,
    LOGICAL_UUID = 14,
    LOGICAL_FLOAT16 = 15,
    LOGICAL_INTERVAL = 1000, /* of the older way alone */
    LOGICAL_OTHER = 1001,
};

enum { UNIT_MILLIS = 1, UNIT_MICROS = 2, UNIT_NANOS = 3 };

static const brume_type REFUSED = {BRUME_TYPE_REFUSED, 0, 0};
static const brume_type INTEGER = {BRUME_TYPE_INTEGER, 0, 0};
static const brume_type BIGINT = {BRUME_TYPE_BIGINT, 0, 0};
static const brume_type DOUBLE = {BRUME_TYPE_DOUBLE, 0, 0};
static const brume_type TEXT = {BRUME_TYPE_TEXT, 0, 0};
static const brume_type TIMESTAMP = {BRUME_TYPE_TIMESTAMP, 0, 0};

/* Say in the newer way what was said in the older. */
static void modernise(brume_parquet_element *element)
{
    static const struct {
        int kind, unit, width;
        bool is_signed;
    } known[] = {
        [0] = {LOGICAL_STRING, 0, 0, false},
        [4] = {LOGICAL_ENUM, 0, 0, false},
        [5] = {LOGICAL_DECIMAL, 0, 0, false},
        [6] = {LOGICAL_DATE, 0, 0, false},
        [7] = {LOGICAL_TIME, UNIT_MILLIS, 0, false},
        [8] = {LOGICAL_TIME, UNIT_MICROS, 0, false},
        [9] = {LOGICAL_TIMESTAMP, UNIT_MILLIS, 0, false},
        [10] = {LOGICAL_TIMESTAMP, UNIT_MICROS, 0, false},
        [11] = {LOGICAL_INTEGER, 0, 8, false},
        [12] = {LOGICAL_INTEGER, 0, 16, false},
        [13] = {LOGICAL_INTEGER, 0, 32, false},
        [14] = {LOGICAL_INTEGER, 0, 64, false},
        [15] = {LOGICAL_INTEGER, 0, 8, true},
        [16] = {LOGICAL_INTEGER, 0, 16, true},
        [17] = {LOGICAL_INTEGER, 0, 32, true},
        [18] = {LOGICAL_INTEGER, 0, 64, true},
        [19] = {LOGICAL_JSON, 0, 0, false},
        [21] = {LOGICAL_INTERVAL, 0, 0, false},
    };
    int converted = element->converted;
    if (element->logical.kind != LOGICAL_NONE || converted == -1)
        return;
    bool is_known = converted >= 0 && (size_t)converted < sizeof known / sizeof *known &&
                    known[converted].kind != LOGICAL_NONE;
    element->logical.kind = is_known ? known[converted].kind : LOGICAL_OTHER;
    if (!is_known)
        return;
    element->logical.unit = known[converted].unit;
    element->logical.width = known[converted].width;
    element->logical.is_signed = known[converted].is_signed;
    element->logical.scale = element->scale;
    element->logical.precision = element->precision;
}

typedef struct reading {
    const char *native;
    brume_type type;
    brume_parquet_meaning meaning;
} reading;

static const reading UNREAD = {"UNKNOWN", {BRUME_TYPE_REFUSED, 0, 0}, PARQUET_MEANS_NOTHING};

/* A leaf whose logical type is unsaid. */
static reading read_plain(brume_parquet_physical physical)
{
    static const reading readings[] = {
        [PARQUET_BOOLEAN] = {"BOOLEAN", {BRUME_TYPE_BOOLEAN, 0, 0}, PARQUET_MEANS_ITSELF},
        [PARQUET_INT32] = {"INTEGER", {BRUME_TYPE_INTEGER, 0, 0}, PARQUET_MEANS_ITSELF},
        [PARQUET_INT64] = {"BIGINT", {BRUME_TYPE_BIGINT, 0, 0}, PARQUET_MEANS_ITSELF},
        [PARQUET_INT96] = {"TIMESTAMP", {BRUME_TYPE_TIMESTAMP, 0, 0}, PARQUET_MEANS_JULIAN_DAY},
        [PARQUET_FLOAT] = {"FLOAT", {BRUME_TYPE_DOUBLE, 0, 0}, PARQUET_MEANS_REAL},
        [PARQUET_DOUBLE] = {"DOUBLE", {BRUME_TYPE_DOUBLE, 0, 0}, PARQUET_MEANS_REAL},
        [PARQUET_BYTE_ARRAY] = {"BLOB", {BRUME_TYPE_REFUSED, 0, 0}, PARQUET_MEANS_NOTHING},
        [PARQUET_FIXED] = {"BLOB", {BRUME_TYPE_REFUSED, 0, 0}, PARQUET_MEANS_NOTHING},
    };
    return readings[physical];
}

static reading read_integer(const brume_parquet_element *element, brume_parquet_column *column)
{
    int width = element->logical.width, stored = element->physical == PARQUET_INT32 ? 32 : 64;
    bool is_signed = element->logical.is_signed;
    if ((element->physical != PARQUET_INT32 && element->physical != PARQUET_INT64) ||
        (width == 64) != (stored == 64))
        return UNREAD;
    switch (width) {
    case 8:
        column->low = is_signed ? INT8_MIN : 0;
        column->high = is_signed ? INT8_MAX : UINT8_MAX;
        return (reading){is_signed ? "TINYINT" : "UTINYINT", INTEGER, PARQUET_MEANS_NARROW};
    case 16:
        column->low = is_signed ? INT16_MIN : 0;
        column->high = is_signed ? INT16_MAX : UINT16_MAX;
        return (reading){is_signed ? "SMALLINT" : "USMALLINT", INTEGER, PARQUET_MEANS_NARROW};
    case 32:
        return is_signed ? (reading){"INTEGER", INTEGER, PARQUET_MEANS_ITSELF}
                         : (reading){"UINTEGER", BIGINT, PARQUET_MEANS_UNSIGNED};
    case 64:
        return is_signed
                   ? (reading){"BIGINT", BIGINT, PARQUET_MEANS_ITSELF}
                   : (reading){"UBIGINT", {BRUME_TYPE_DECIMAL, 20, 0}, PARQUET_MEANS_UNSIGNED};
    default:
        return UNREAD;
    }
}

static reading read_decimal(const brume_parquet_element *element, char native[32])
{
    int32_t precision = element->logical.precision, scale = element->logical.scale;
    bool number = element->physical == PARQUET_INT32 || element->physical == PARQUET_INT64;
    bool bytes = element->physical == PARQUET_BYTE_ARRAY || element->physical == PARQUET_FIXED;
    if ((!number && !bytes) || precision < 1 || scale < 0 || scale > precision)
        return UNREAD;
    if (precision > 38)
        return bytes ? (reading){"DOUBLE", DOUBLE, PARQUET_MEANS_WIDE} : UNREAD;
    snprintf(native, 32, "DECIMAL(%d,%d)", (int)precision, (int)scale);
    return (reading){native, {BRUME_TYPE_DECIMAL, precision, scale}, PARQUET_MEANS_DECIMAL};
}

static reading read_timestamp(const brume_parquet_element *element)
{
    static const brume_parquet_meaning meanings[] = {[UNIT_MILLIS] = PARQUET_MEANS_MILLIS,
                                                     [UNIT_MICROS] = PARQUET_MEANS_MICROS,
                                                     [UNIT_NANOS] = PARQUET_MEANS_NANOS};
    int unit = element->logical.unit;
    if (element->physical != PARQUET_INT64 || unit < UNIT_MILLIS || unit > UNIT_NANOS)
        return UNREAD;
    const char *native = element->logical.adjusted ? "TIMESTAMP WITH TIME ZONE"
                         : unit == UNIT_NANOS      ? "TIMESTAMP_NS"
                                                   : "TIMESTAMP";
    return (reading){native, TIMESTAMP, meanings[unit]};
}

static reading read_leaf(const brume_parquet_element *element, brume_parquet_column *column,
                         char native[32])
{
    int physical = element->physical;
    bool bytes = physical == PARQUET_BYTE_ARRAY || physical == PARQUET_FIXED;
    switch (element->logical.kind) {
    case LOGICAL_NONE:
        return read_plain((brume_parquet_physical)physical);
    case LOGICAL_STRING:
    case LOGICAL_ENUM:
        return bytes ? (reading){"VARCHAR", TEXT, PARQUET_MEANS_TEXT} : UNREAD;
    case LOGICAL_JSON:
        return bytes ? (reading){"JSON", TEXT, PARQUET_MEANS_TEXT} : UNREAD;
    case LOGICAL_DECIMAL:
        return read_decimal(element, native);
    case LOGICAL_DATE:
        return physical == PARQUET_INT32
                   ? (reading){"DATE", {BRUME_TYPE_DATE, 0, 0}, PARQUET_MEANS_DAYS}
                   : UNREAD;
    case LOGICAL_TIME:
        return (reading){element->logical.adjusted ? "TIME WITH TIME ZONE" : "TIME", REFUSED,
                         PARQUET_MEANS_NOTHING};
    case LOGICAL_TIMESTAMP:
        return read_timestamp(element);
    case LOGICAL_INTEGER:
        return read_integer(element, column);
    case LOGICAL_UNKNOWN: /* a column of NULLs, of which no type was known */
        return physical == PARQUET_INT32 ? read_plain(PARQUET_INT32) : UNREAD;
    case LOGICAL_UUID:
        return physical == PARQUET_FIXED && element->length == 16
                   ? (reading){"UUID", TEXT, PARQUET_MEANS_UUID}
                   : UNREAD;
    case LOGICAL_FLOAT16:
        return physical == PARQUET_FIXED && element->length == 2
                   ? (reading){"FLOAT", DOUBLE, PARQUET_MEANS_REAL}
                   : UNREAD;
    case LOGICAL_INTERVAL:
        return (reading){"INTERVAL", REFUSED, PARQUET_MEANS_NOTHING};
    default:
        return UNREAD;
    }
}

static bool make_column(const brume_parquet_element *given, size_t leaf,
                        brume_parquet_column *column)
{
    static const reading nested = {"NESTED", {BRUME_TYPE_REFUSED, 0, 0}, PARQUET_MEANS_NOTHING};
    brume_parquet_element element = *given;
    char native[32];
    modernise(&element);
    bool flat = element.physical >= 0 && element.repetition != 2;
    reading found = flat ? read_leaf(&element, column, native) : nested;
    column->type = found.type;
    column->meaning = found.meaning;
    column->physical = flat ? (brume_parquet_physical)element.physical : PARQUET_BYTE_ARRAY;
    column->length = element.physical == PARQUET_FIXED ? (size_t)element.length : 0;
    column->scale = element.logical.scale;
    column->optional = element.repetition == 1;
    column->leaf = element.physical >= 0 ? leaf : SIZE_MAX;
    column->native = strdup(found.native);
    column->name = strndup(element.name.data, element.name.length);
    return column->name && column->native;
}

static bool is_sound(const brume_parquet_element *element)
{
    return element->physical >= -1 && element->physical <= PARQUET_FIXED &&
           element->repetition >= 0 && element->repetition <= 2 && element->child_count >= 0 &&
           (element->physical < 0 || element->child_count == 0) &&
           (element->physical != PARQUET_FIXED || element->length > 0) &&
           brume_utf8_is_text(element->name.data, element->name.length);
}

/* Step over an element and what is below it. */
static bool step_over(const brume_parquet_element *elements, size_t count, size_t *next,
                      size_t *leaves)
{
    for (uint64_t open = 1; open > 0; open--) {
        if (*next == count || !is_sound(&elements[*next]))
            return false;
        *leaves += elements[*next].physical >= 0;
        open += (uint64_t)elements[*next].child_count;
        ++*next;
    }
    return true;
}

static int compare_names(const void *a, const void *b)
{
    return strcasecmp(*(const char *const *)a, *(const char *const *)b);
}

static brume_parquet_fault check_names(const brume_parquet_schema *schema)
{
    const char **names = calloc(schema->column_count + 1, sizeof *names);
    if (!names)
        return PARQUET_NO_MEMORY;
    bool twice = false;
    for (size_t i = 0; i < schema->column_count; i++)
        names[i] = schema->columns[i].name;
    qsort((void *)names, schema->column_count, sizeof *names, compare_names);
    for (size_t i = 1; i < schema->column_count; i++)
        twice = twice || strcasecmp(names[i - 1], names[i]) == 0;
    free((void *)names);
    return twice ? PARQUET_TWICE : PARQUET_SOUND;
}

brume_parquet_fault brume_parquet_schema_make(const brume_parquet_element *elements, size_t count,
                                              brume_parquet_schema *schema)
{
    *schema = (brume_parquet_schema){0};
    if (count == 0 || elements[0].physical >= 0 || elements[0].child_count < 1 ||
        (uint64_t)elements[0].child_count > count - 1)
        return PARQUET_DAMAGED;
    size_t columns = (size_t)elements[0].child_count, next = 1;
    schema->columns = calloc(columns, sizeof *schema->columns);
    if (!schema->columns)
        return PARQUET_NO_MEMORY;
    for (size_t i = 0; i < columns; i++) {
        size_t at = next, leaf = schema->leaf_count;
        if (!step_over(elements, count, &next, &schema->leaf_count))
            return PARQUET_DAMAGED;
        schema->column_count = i + 1;
        if (!make_column(&elements[at], leaf, &schema->columns[i]))
            return PARQUET_NO_MEMORY;
    }
    return next == count ? check_names(schema) : PARQUET_DAMAGED;
}

void brume_parquet_schema_clear(brume_parquet_schema *schema)
{
    for (size_t i = 0; i < schema->column_count; i++) {
        free(schema->columns[i].name);
        free(schema->columns[i].native);
    }
    free(schema->columns);
    *schema = (brume_parquet_schema){0};
}
