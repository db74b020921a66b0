/* The footer of a Parquet file: see the header. */
#include "reader/parquet/footer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "reader/parquet/thrift.h"

brume_status brume_parquet_damaged(const char *location, brume_error *error)
{
    return brume_fail(error, BRUME_ESOURCE, "restore it, or write it again", "'%s' is damaged",
                      location);
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
    enum { DECIMAL = 5, TIME = 7, TIMESTAMP = 8, INTEGER = 10 };
    int kind = element->logical.kind;
    brume_thrift_field field = {0};
    while (brume_thrift_next(in, &field)) {
        if (kind == DECIMAL && field.id == 1) {
            element->logical.scale = brume_thrift_int32(in, field);
        } else if (kind == DECIMAL && field.id == 2) {
            element->logical.precision = brume_thrift_int32(in, field);
        } else if ((kind == TIME || kind == TIMESTAMP) && field.id == 1) {
            element->logical.adjusted = brume_thrift_boolean(in, field);
        } else if ((kind == TIME || kind == TIMESTAMP) && field.id == 2) {
            brume_thrift_struct(in, field);
            element->logical.unit = read_unit(in);
        } else if (kind == INTEGER && field.id == 1) {
            element->logical.width = brume_thrift_int32(in, field);
        } else if (kind == INTEGER && field.id == 2) {
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
            element.name = brume_thrift_binary(in, field);
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
    size_t count = brume_thrift_structs(in, field);
    brume_parquet_element *elements = calloc(count + 1, sizeof *elements);
    if (!elements)
        return PARQUET_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        elements[i] = read_element(in);
    brume_parquet_fault fault = in->failed ? PARQUET_DAMAGED
                                           : brume_parquet_schema_make(elements, count, schema);
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
            facts->value_count = brume_thrift_integer(in, field);
            break;
        case 7:
            facts->length = brume_thrift_integer(in, field);
            break;
        case 9:
            facts->data = brume_thrift_integer(in, field);
            break;
        case 11:
            facts->dictionary = brume_thrift_integer(in, field);
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
            facts.elsewhere = brume_thrift_binary(in, field).length > 0;
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
    size_t count = brume_thrift_structs(in, field);
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
            row_count = brume_thrift_integer(in, field);
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
    size_t count = brume_thrift_structs(in, field);
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
    brume_parquet_schema_clear(&footer->schema);
    *footer = (brume_parquet_footer){0};
}
