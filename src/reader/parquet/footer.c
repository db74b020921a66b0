/* The footer of a Parquet file: see the header. */
#include "reader/parquet/footer.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <brume/status.h>

#include "base/error.h"
#include "base/text.h"
#include "base/type.h"
#include "reader/parquet/codec.h"

/* ---- Thrift's compact protocol ---- */

enum {
    TYPE_TRUE = 1,
    TYPE_FALSE = 2,
    TYPE_BYTE = 3,
    TYPE_I16 = 4,
    TYPE_I32 = 5,
    TYPE_I64 = 6,
    TYPE_DOUBLE = 7,
    TYPE_BINARY = 8,
    TYPE_LIST = 9,
    TYPE_SET = 10,
    TYPE_MAP = 11,
    TYPE_STRUCT = 12,
    TYPE_UUID = 13,
    MOST_NESTED = 32,
};

static void fail(brume_thrift *in)
{
    in->failed = true;
    in->at = in->end;
}

static unsigned read_byte(brume_thrift *in)
{
    if (in->at == in->end) {
        fail(in);
        return 0;
    }
    return *in->at++;
}

static uint64_t read_varint(brume_thrift *in)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned byte = read_byte(in);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    fail(in);
    return 0;
}

static int64_t read_zigzag(brume_thrift *in)
{
    uint64_t value = read_varint(in);
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

static const uint8_t *read_bytes(brume_thrift *in, uint64_t length)
{
    if (length > (uint64_t)(in->end - in->at)) {
        fail(in);
        return in->at;
    }
    const uint8_t *bytes = in->at;
    in->at += length;
    return bytes;
}

bool brume_thrift_next(brume_thrift *in, brume_thrift_field *field)
{
    unsigned byte = read_byte(in);
    if (in->failed || (byte & 0xf) == 0)
        return false;
    int64_t id = byte >> 4 ? field->id + (int)(byte >> 4) : read_zigzag(in);
    if (id < INT16_MIN || id > INT16_MAX)
        fail(in);
    field->id = (int)id;
    field->type = byte & 0xf;
    return !in->failed;
}

/* The value of the field. A value of another type is a fault; the result is then 0 or empty. */
static int64_t thrift_integer(brume_thrift *in, brume_thrift_field field)
{
    if (field.type == TYPE_BYTE)
        return (int8_t)read_byte(in);
    if (field.type >= TYPE_I16 && field.type <= TYPE_I64)
        return read_zigzag(in);
    fail(in);
    return 0;
}

int32_t brume_thrift_int32(brume_thrift *in, brume_thrift_field field)
{
    int64_t value = thrift_integer(in, field);
    if (value < INT32_MIN || value > INT32_MAX) {
        fail(in);
        return 0;
    }
    return (int32_t)value;
}

bool brume_thrift_boolean(brume_thrift *in, brume_thrift_field field)
{
    if (field.type != TYPE_TRUE && field.type != TYPE_FALSE)
        fail(in);
    return field.type == TYPE_TRUE;
}

static brume_text thrift_binary(brume_thrift *in, brume_thrift_field field)
{
    if (field.type != TYPE_BINARY)
        fail(in);
    uint64_t length = in->failed ? 0 : read_varint(in);
    const uint8_t *bytes = read_bytes(in, length);
    return (brume_text){(const char *)bytes, in->failed ? 0 : (size_t)length};
}

void brume_thrift_struct(brume_thrift *in, brume_thrift_field field)
{
    if (field.type != TYPE_STRUCT)
        fail(in);
}

/* Every element takes at least a byte. */
static size_t read_list(brume_thrift *in, unsigned *type)
{
    unsigned byte = read_byte(in);
    uint64_t count = byte >> 4 == 15 ? read_varint(in) : byte >> 4;
    *type = byte & 0xf;
    if (count > (uint64_t)(in->end - in->at))
        fail(in);
    return in->failed ? 0 : (size_t)count;
}

static size_t thrift_structs(brume_thrift *in, brume_thrift_field field)
{
    unsigned type = 0;
    if (field.type != TYPE_LIST)
        fail(in);
    size_t count = in->failed ? 0 : read_list(in, &type);
    if (count > 0 && type != TYPE_STRUCT) {
        fail(in);
        return 0;
    }
    return count;
}

static void skip(brume_thrift *in, unsigned type, bool element, unsigned nested);

static void skip_map(brume_thrift *in, unsigned nested)
{
    uint64_t count = read_varint(in);
    unsigned types = count ? read_byte(in) : 0;
    for (uint64_t i = 0; i < count && !in->failed; i++) {
        skip(in, types >> 4, true, nested);
        skip(in, types & 0xf, true, nested);
    }
}

/* A boolean is in the type of a field, but takes a byte as an element. */
static void skip(brume_thrift *in, unsigned type, bool element, unsigned nested)
{
    brume_thrift_field field = {0};
    size_t count = 0;
    if (nested == MOST_NESTED) {
        fail(in);
        return;
    }
    switch (type) {
    case TYPE_TRUE:
    case TYPE_FALSE:
        if (element)
            read_byte(in);
        return;
    case TYPE_BYTE:
        read_byte(in);
        return;
    case TYPE_I16:
    case TYPE_I32:
    case TYPE_I64:
        read_varint(in);
        return;
    case TYPE_DOUBLE:
        read_bytes(in, 8);
        return;
    case TYPE_BINARY:
        read_bytes(in, read_varint(in));
        return;
    case TYPE_UUID:
        read_bytes(in, 16);
        return;
    case TYPE_LIST:
    case TYPE_SET:
        count = read_list(in, &type);
        for (size_t i = 0; i < count && !in->failed; i++)
            skip(in, type, true, nested + 1);
        return;
    case TYPE_MAP:
        skip_map(in, nested + 1);
        return;
    case TYPE_STRUCT:
        while (brume_thrift_next(in, &field))
            skip(in, field.type, false, nested + 1);
        return;
    default:
        fail(in);
    }
}

void brume_thrift_skip(brume_thrift *in, brume_thrift_field field)
{
    skip(in, field.type, false, 0);
}

/* One element of the schema as it is in the footer, in the order of a walk from the root down. */
typedef struct brume_parquet_element {
    brume_text name; /* in the bytes of the footer */
    int physical;    /* -1: a group */
    int32_t length;  /* of FIXED */
    int repetition;  /* 0 required, 1 optional, 2 repeated */
    int32_t child_count;
    int converted; /* the older way to say what a value means; -1: unsaid */
    int32_t scale, precision;
    struct {
        int kind; /* the newer way, by the id of the union's member; 0: unsaid */
        int unit; /* of times: 1 millis, 2 micros, 3 nanos */
        bool adjusted;
        int width;
        bool is_signed;
        int32_t scale, precision;
    } logical;
} brume_parquet_element;

/* ---- the columns of a Parquet file: see the header ---- */

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

typedef struct footer_reading {
    const char *native;
    brume_type type;
    brume_parquet_meaning meaning;
} footer_reading;

static const footer_reading UNREAD = {"UNKNOWN", {BRUME_TYPE_REFUSED, 0, 0}, PARQUET_MEANS_NOTHING};

/* A leaf whose logical type is unsaid. */
static footer_reading read_plain(brume_parquet_physical physical)
{
    static const footer_reading readings[] = {
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

static footer_reading read_integer(const brume_parquet_element *element,
                                   brume_parquet_column *column)
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
        return (footer_reading){is_signed ? "TINYINT" : "UTINYINT", INTEGER, PARQUET_MEANS_NARROW};
    case 16:
        column->low = is_signed ? INT16_MIN : 0;
        column->high = is_signed ? INT16_MAX : UINT16_MAX;
        return (footer_reading){is_signed ? "SMALLINT" : "USMALLINT", INTEGER,
                                PARQUET_MEANS_NARROW};
    case 32:
        return is_signed ? (footer_reading){"INTEGER", INTEGER, PARQUET_MEANS_ITSELF}
                         : (footer_reading){"UINTEGER", BIGINT, PARQUET_MEANS_UNSIGNED};
    case 64:
        return is_signed ? (footer_reading){"BIGINT", BIGINT, PARQUET_MEANS_ITSELF}
                         : (footer_reading){
                               "UBIGINT", {BRUME_TYPE_DECIMAL, 20, 0}, PARQUET_MEANS_UNSIGNED};
    default:
        return UNREAD;
    }
}

static footer_reading read_decimal(const brume_parquet_element *element, char native[32])
{
    int32_t precision = element->logical.precision, scale = element->logical.scale;
    bool number = element->physical == PARQUET_INT32 || element->physical == PARQUET_INT64;
    bool bytes = element->physical == PARQUET_BYTE_ARRAY || element->physical == PARQUET_FIXED;
    if ((!number && !bytes) || precision < 1 || scale < 0 || scale > precision)
        return UNREAD;
    if (precision > 38)
        return bytes ? (footer_reading){"DOUBLE", DOUBLE, PARQUET_MEANS_WIDE} : UNREAD;
    snprintf(native, 32, "DECIMAL(%d,%d)", (int)precision, (int)scale);
    return (footer_reading){native, {BRUME_TYPE_DECIMAL, precision, scale}, PARQUET_MEANS_DECIMAL};
}

static footer_reading read_timestamp(const brume_parquet_element *element)
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
    return (footer_reading){native, TIMESTAMP, meanings[unit]};
}

static footer_reading read_leaf(const brume_parquet_element *element, brume_parquet_column *column,
                                char native[32])
{
    int physical = element->physical;
    bool bytes = physical == PARQUET_BYTE_ARRAY || physical == PARQUET_FIXED;
    switch (element->logical.kind) {
    case LOGICAL_NONE:
        return read_plain((brume_parquet_physical)physical);
    case LOGICAL_STRING:
    case LOGICAL_ENUM:
        return bytes ? (footer_reading){"VARCHAR", TEXT, PARQUET_MEANS_TEXT} : UNREAD;
    case LOGICAL_JSON:
        return bytes ? (footer_reading){"JSON", TEXT, PARQUET_MEANS_TEXT} : UNREAD;
    case LOGICAL_DECIMAL:
        return read_decimal(element, native);
    case LOGICAL_DATE:
        return physical == PARQUET_INT32
                   ? (footer_reading){"DATE", {BRUME_TYPE_DATE, 0, 0}, PARQUET_MEANS_DAYS}
                   : UNREAD;
    case LOGICAL_TIME:
        return (footer_reading){element->logical.adjusted ? "TIME WITH TIME ZONE" : "TIME", REFUSED,
                                PARQUET_MEANS_NOTHING};
    case LOGICAL_TIMESTAMP:
        return read_timestamp(element);
    case LOGICAL_INTEGER:
        return read_integer(element, column);
    case LOGICAL_UNKNOWN: /* a column of NULLs, of which no type was known */
        return physical == PARQUET_INT32 ? read_plain(PARQUET_INT32) : UNREAD;
    case LOGICAL_UUID:
        return physical == PARQUET_FIXED && element->length == 16
                   ? (footer_reading){"UUID", TEXT, PARQUET_MEANS_UUID}
                   : UNREAD;
    case LOGICAL_FLOAT16:
        return physical == PARQUET_FIXED && element->length == 2
                   ? (footer_reading){"FLOAT", DOUBLE, PARQUET_MEANS_REAL}
                   : UNREAD;
    case LOGICAL_INTERVAL:
        return (footer_reading){"INTERVAL", REFUSED, PARQUET_MEANS_NOTHING};
    default:
        return UNREAD;
    }
}

static bool make_column(const brume_parquet_element *given, size_t leaf,
                        brume_parquet_column *column)
{
    static const footer_reading nested = {
        "NESTED", {BRUME_TYPE_REFUSED, 0, 0}, PARQUET_MEANS_NOTHING};
    brume_parquet_element element = *given;
    char native[32];
    modernise(&element);
    bool flat = element.physical >= 0 && element.repetition != 2;
    footer_reading found = flat ? read_leaf(&element, column, native) : nested;
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

/* The columns under the root, elements[0]. Clear also after a failure. */
static brume_parquet_fault parquet_schema_make(const brume_parquet_element *elements, size_t count,
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

static void parquet_schema_clear(brume_parquet_schema *schema)
{
    for (size_t i = 0; i < schema->column_count; i++) {
        free(schema->columns[i].name);
        free(schema->columns[i].native);
    }
    free(schema->columns);
    *schema = (brume_parquet_schema){0};
}

brume_status brume_parquet_pread(int file, uint64_t start, void *bytes, size_t length,
                                 const char *location, brume_error *error)
{
    size_t done = 0;
    while (done < length) {
        ssize_t more = pread(file, (char *)bytes + done, length - done, (off_t)(start + done));
        if (more < 0 && errno == EINTR)
            continue;
        if (more < 0)
            return brume_fail(error, BRUME_ESOURCE, NULL, "cannot read '%s'", location);
        if (more == 0)
            return brume_parquet_damaged(location, error);
        done += (size_t)more;
    }
    return BRUME_OK;
}

/* ---- the schema ---- */

/* The union of units has one member, an empty structure, whose id is the unit. */
static int read_unit(brume_thrift *in)
{
    brume_thrift_field field = {0};
    int unit = 0;
    while (brume_thrift_next(in, &field)) {
        unit = field.id;
        brume_thrift_skip(in, field);
    }
    return unit;
}

/* DecimalType: 1 scale, 2 precision; Time- and TimestampType: 1 adjusted to UTC, 2 unit;
 * IntType: 1 width, 2 signed. */
static void read_logical_member(brume_thrift *in, brume_parquet_element *element)
{
    int kind = element->logical.kind;
    brume_thrift_field field = {0};
    while (brume_thrift_next(in, &field)) {
        if (kind == LOGICAL_DECIMAL && field.id == 1) {
            element->logical.scale = brume_thrift_int32(in, field);
        } else if (kind == LOGICAL_DECIMAL && field.id == 2) {
            element->logical.precision = brume_thrift_int32(in, field);
        } else if ((kind == LOGICAL_TIME || kind == LOGICAL_TIMESTAMP) && field.id == 1) {
            element->logical.adjusted = brume_thrift_boolean(in, field);
        } else if ((kind == LOGICAL_TIME || kind == LOGICAL_TIMESTAMP) && field.id == 2) {
            brume_thrift_struct(in, field);
            element->logical.unit = read_unit(in);
        } else if (kind == LOGICAL_INTEGER && field.id == 1) {
            element->logical.width = brume_thrift_int32(in, field);
        } else if (kind == LOGICAL_INTEGER && field.id == 2) {
            element->logical.is_signed = brume_thrift_boolean(in, field);
        } else {
            brume_thrift_skip(in, field);
        }
    }
}

static void read_logical(brume_thrift *in, brume_parquet_element *element)
{
    brume_thrift_field field = {0};
    while (brume_thrift_next(in, &field)) {
        element->logical.kind = field.id;
        brume_thrift_struct(in, field);
        read_logical_member(in, element);
    }
}

static brume_parquet_element read_element(brume_thrift *in)
{
    brume_parquet_element element = {.physical = -1, .converted = -1, .name = {"", 0}};
    brume_thrift_field field = {0};
    while (brume_thrift_next(in, &field))
        switch (field.id) {
        case 1:
            element.physical = brume_thrift_int32(in, field);
            break;
        case 2:
            element.length = brume_thrift_int32(in, field);
            break;
        case 3:
            element.repetition = brume_thrift_int32(in, field);
            break;
        case 4:
            element.name = thrift_binary(in, field);
            break;
        case 5:
            element.child_count = brume_thrift_int32(in, field);
            break;
        case 6:
            element.converted = brume_thrift_int32(in, field);
            break;
        case 7:
            element.scale = brume_thrift_int32(in, field);
            break;
        case 8:
            element.precision = brume_thrift_int32(in, field);
            break;
        case 10:
            brume_thrift_struct(in, field);
            read_logical(in, &element);
            break;
        default:
            brume_thrift_skip(in, field);
        }
    return element;
}

static brume_parquet_fault read_schema(brume_thrift *in, brume_thrift_field field,
                                       brume_parquet_schema *schema)
{
    size_t count = thrift_structs(in, field);
    brume_parquet_element *elements = calloc(count + 1, sizeof *elements);
    if (!elements)
        return PARQUET_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        elements[i] = read_element(in);
    brume_parquet_fault fault = in->failed ? PARQUET_DAMAGED
                                           : parquet_schema_make(elements, count, schema);
    free(elements);
    return fault;
}

/* ---- row groups ---- */

typedef struct chunk_facts {
    bool described, elsewhere, encrypted;
    int codec;
    int64_t value_count, length, data, dictionary; /* dictionary 0: none */
} chunk_facts;

static void read_chunk_metadata(brume_thrift *in, chunk_facts *facts)
{
    brume_thrift_field field = {0};
    facts->described = true;
    while (brume_thrift_next(in, &field))
        switch (field.id) {
        case 4:
            facts->codec = brume_thrift_int32(in, field);
            break;
        case 5:
            facts->value_count = thrift_integer(in, field);
            break;
        case 7:
            facts->length = thrift_integer(in, field);
            break;
        case 9:
            facts->data = thrift_integer(in, field);
            break;
        case 11:
            facts->dictionary = thrift_integer(in, field);
            break;
        default:
            brume_thrift_skip(in, field);
        }
}

static chunk_facts read_chunk(brume_thrift *in)
{
    chunk_facts facts = {0};
    brume_thrift_field field = {0};
    while (brume_thrift_next(in, &field))
        switch (field.id) {
        case 1:
            facts.elsewhere = thrift_binary(in, field).length > 0;
            break;
        case 3:
            brume_thrift_struct(in, field);
            read_chunk_metadata(in, &facts);
            break;
        case 8:
        case 9:
            facts.encrypted = true;
            brume_thrift_skip(in, field);
            break;
        default:
            brume_thrift_skip(in, field);
        }
    return facts;
}

static brume_status place_of(const chunk_facts *facts, uint64_t size, const char *location,
                             brume_parquet_place *place, brume_error *error)
{
    enum { MAGIC = 4 };
    if (facts->encrypted || !facts->described)
        return brume_fail(error, BRUME_ESOURCE, "write it without encryption",
                          "'%s' has encrypted columns", location);
    if (facts->elsewhere)
        return brume_fail(error, BRUME_EUNSUPPORTED, "write it as one file",
                          "the columns of '%s' are in other files", location);
    BRUME_TRY(brume_parquet_codec_check(facts->codec, location, error));
    /* Nothing of a chunk without values is read, so that it may lie anywhere: writers place it at
     * 0, and where a batch has rows must not decide whether there is an answer. */
    if (facts->value_count == 0) {
        *place = (brume_parquet_place){.codec = (brume_parquet_codec)facts->codec};
        return BRUME_OK;
    }
    bool first = facts->dictionary >= MAGIC && facts->dictionary < facts->data;
    int64_t start = first ? facts->dictionary : facts->data;
    if (start < MAGIC || facts->length < 0 || (uint64_t)start > size ||
        (uint64_t)facts->length > size - (uint64_t)start)
        return brume_parquet_damaged(location, error);
    *place = (brume_parquet_place){(uint64_t)start, (uint64_t)facts->length, facts->value_count,
                                   (brume_parquet_codec)facts->codec};
    return BRUME_OK;
}

static brume_status read_places(brume_thrift *in, brume_thrift_field field,
                                const brume_parquet_schema *schema, uint64_t size,
                                const char *location, brume_parquet_group *group,
                                brume_error *error)
{
    size_t count = thrift_structs(in, field);
    if (count != schema->leaf_count || group->places)
        return brume_parquet_damaged(location, error);
    group->places = calloc(count + 1, sizeof *group->places);
    if (!group->places)
        return brume_no_memory(error, NULL);
    for (size_t i = 0; i < count; i++) {
        chunk_facts facts = read_chunk(in);
        if (in->failed)
            return brume_parquet_damaged(location, error);
        BRUME_TRY(place_of(&facts, size, location, &group->places[i], error));
    }
    return BRUME_OK;
}

/* A column that is not nested has one value a row, NULLs included. */
static bool has_as_many_values(const brume_parquet_schema *schema, const brume_parquet_group *group,
                               int64_t row_count)
{
    for (size_t i = 0; i < schema->column_count; i++)
        if (schema->columns[i].type.kind != BRUME_TYPE_REFUSED &&
            group->places[schema->columns[i].leaf].value_count != row_count)
            return false;
    return true;
}

static brume_status read_group(brume_thrift *in, const brume_parquet_schema *schema, uint64_t size,
                               const char *location, brume_parquet_group *group, brume_error *error)
{
    brume_thrift_field field = {0};
    int64_t row_count = -1;
    while (brume_thrift_next(in, &field)) {
        if (field.id == 1)
            BRUME_TRY(read_places(in, field, schema, size, location, group, error));
        else if (field.id == 3)
            row_count = thrift_integer(in, field);
        else
            brume_thrift_skip(in, field);
    }
    if (in->failed || row_count < 0 || !group->places ||
        !has_as_many_values(schema, group, row_count))
        return brume_parquet_damaged(location, error);
    group->row_count = (uint64_t)row_count;
    return BRUME_OK;
}

static brume_status read_groups(brume_thrift *in, brume_thrift_field field, uint64_t size,
                                const char *location, brume_parquet_footer *footer,
                                brume_error *error)
{
    size_t count = thrift_structs(in, field);
    if (footer->groups || !footer->schema.columns)
        return brume_parquet_damaged(location, error);
    footer->groups = calloc(count + 1, sizeof *footer->groups);
    if (!footer->groups)
        return brume_no_memory(error, NULL);
    for (size_t i = 0; i < count; i++) {
        footer->group_count = i + 1;
        BRUME_TRY(read_group(in, &footer->schema, size, location, &footer->groups[i], error));
    }
    return BRUME_OK;
}

/* ---- the whole ---- */

static brume_status fault_of_schema(brume_parquet_fault fault, const char *location,
                                    brume_error *error)
{
    if (fault == PARQUET_SOUND)
        return BRUME_OK;
    if (fault == PARQUET_NO_MEMORY)
        return brume_no_memory(error, NULL);
    if (fault == PARQUET_TWICE)
        return brume_fail(error, BRUME_ESOURCE, "give every column a name of its own",
                          "'%s' has two columns of one name, apart from case", location);
    return brume_parquet_damaged(location, error);
}

static brume_status parse(brume_thrift *in, uint64_t size, const char *location,
                          brume_parquet_footer *footer, brume_error *error)
{
    brume_thrift_field field = {0};
    while (brume_thrift_next(in, &field)) {
        if (field.id == 2 && !footer->schema.columns)
            BRUME_TRY(fault_of_schema(read_schema(in, field, &footer->schema), location, error));
        else if (field.id == 4)
            BRUME_TRY(read_groups(in, field, size, location, footer, error));
        else
            brume_thrift_skip(in, field);
    }
    if (in->failed || !footer->schema.columns || !footer->groups)
        return brume_parquet_damaged(location, error);
    return BRUME_OK;
}

brume_status brume_parquet_footer_read(int file, uint64_t size, const char *location,
                                       brume_parquet_footer *footer, brume_error *error)
{
    enum { MAGIC = 4, TAIL = 8 };
    uint8_t tail[TAIL];
    *footer = (brume_parquet_footer){0};
    if (size < MAGIC + TAIL)
        return brume_fail(error, BRUME_ESOURCE, "is it whole?", "'%s' is no Parquet file",
                          location);
    BRUME_TRY(brume_parquet_pread(file, size - TAIL, tail, TAIL, location, error));
    if (memcmp(tail + 4, "PARE", MAGIC) == 0)
        return brume_fail(error, BRUME_ESOURCE, "write it without encryption", "'%s' is encrypted",
                          location);
    if (memcmp(tail + 4, "PAR1", MAGIC) != 0)
        return brume_fail(error, BRUME_ESOURCE, "is it whole?", "'%s' is no Parquet file",
                          location);
    uint32_t length;
    memcpy(&length, tail, sizeof length);
    if (length > size - MAGIC - TAIL)
        return brume_parquet_damaged(location, error);
    uint8_t *bytes = malloc((size_t)length + 1);
    if (!bytes)
        return brume_no_memory(error, NULL);
    brume_status status =
        brume_parquet_pread(file, size - TAIL - length, bytes, length, location, error);
    if (status == BRUME_OK) {
        brume_thrift in = {bytes, bytes + length, false};
        status = parse(&in, size, location, footer, error);
    }
    free(bytes);
    return status;
}

void brume_parquet_footer_clear(brume_parquet_footer *footer)
{
    for (size_t i = 0; i < footer->group_count; i++)
        free(footer->groups[i].places);
    free(footer->groups);
    parquet_schema_clear(&footer->schema);
    *footer = (brume_parquet_footer){0};
}
