/* Thrift's compact protocol: see the header. */
#include "reader/parquet/thrift.h"

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

int64_t brume_thrift_integer(brume_thrift *in, brume_thrift_field field)
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
    int64_t value = brume_thrift_integer(in, field);
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

brume_text brume_thrift_binary(brume_thrift *in, brume_thrift_field field)
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

size_t brume_thrift_structs(brume_thrift *in, brume_thrift_field field)
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
