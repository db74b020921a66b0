/* Text files as rows: see the header. A part is a range of bytes of a file; with multiline, and of
 * a gzip file, the whole file. Fields are found line by line, then turned into values column by
 * column. */
#include "reader/text_files.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/text.h"
#include "reader/csv_line.h"
#include "reader/find.h"
#include "reader/format.h"
#include "reader/lines.h"
#include "reader/value.h"

typedef struct brume_records brume_records;

/* ---- records over several lines ---- */

/* Records of a CSV whose quoted fields may hold line ends: lines are put together until the quotes
 * of the last one are closed. A quote that is never closed goes on to the end of the file. Bytes
 * behind a closing quote belong to its field (and make the record unreadable: csv_line.h). A record
 * of more than 2^28 bytes cannot be read. Without `multiline` every line is a record. */
enum { LONGEST = 1 << 28 };

struct brume_records {
    brume_lines *lines;
    brume_text_format format;
    char *at, *end; /* lines that were not yet given */
    char *bytes;
    size_t used, room;
};

/* Takes `lines` over, also on failure. */
static brume_status records_open(brume_lines *lines, const brume_text_format *format,
                                 brume_records **out, brume_error *error)
{
    brume_records *records = calloc(1, sizeof *records);
    if (!records) {
        brume_lines_close(lines);
        return brume_no_memory(error, NULL);
    }
    records->lines = lines;
    records->format = *format;
    *out = records;
    return BRUME_OK;
}

static void records_close(brume_records *records)
{
    if (!records)
        return;
    brume_lines_close(records->lines);
    free(records->bytes);
    free(records);
}

static void records_forget(brume_records *records)
{
    records->used = 0;
}

static brume_status append(brume_records *records, const char *line, size_t length,
                           brume_error *error)
{
    if (records->used + length + BRUME_FIND_PADDING > records->room) {
        size_t room = 2 * (records->used + length) + 1024;
        char *grown = realloc(records->bytes, room);
        if (!grown)
            return brume_no_memory(error, NULL);
        records->bytes = grown;
        records->room = room;
    }
    memcpy(records->bytes + records->used, line, length);
    records->used += length;
    return BRUME_OK;
}

/* Behind a line: is a quoted field still open? `open`: one was before it. */
static bool is_open(const brume_text_format *format, bool open, char *at)
{
    if (!open && !format->header)
        at = brume_row_begin(at);
    for (;;) {
        if (!open && *at == format->quote) {
            open = true;
            at++;
        }
        if (open) {
            at = brume_find_either(at, format->quote, '\n');
            if (*at == '\n')
                return true;
            open = false;
            if (at[1] == format->quote) {
                open = true;
                at += 2;
                continue;
            }
            at++;
        }
        at = brume_find_either(at, format->delimiter, '\n');
        if (*at == '\n')
            return false;
        at++;
    }
}

/* One more line: *line and *length without end; *more is false if there is none. */
static brume_status next_line(brume_records *records, char **line, size_t *length, bool *more,
                              bool *too_long, brume_error *error)
{
    *more = true;
    *too_long = false;
    if (records->at == records->end) {
        brume_line_block block = {0};
        BRUME_TRY(brume_lines_next(records->lines, &block, more, error));
        *too_long = *more && block.too_long;
        records->at = records->end = NULL;
        if (!*more || *too_long)
            return BRUME_OK;
        records->at = block.begin;
        records->end = block.end;
    }
    *line = records->at;
    *length = (size_t)((char *)rawmemchr(records->at, '\n') + 1 - records->at);
    records->at += *length;
    return BRUME_OK;
}

/* The next record, its LF included: length bytes at *bytes + *at, appended to what the last calls
 * gave since the last records_forget. *bytes moves with every call. A length of 0 is a record
 * that cannot be read. *more is false after the last. */
static brume_status records_next(brume_records *records, char **bytes, size_t *at, size_t *length,
                                 bool *more, brume_error *error)
{
    size_t begin = records->used, lines = 0;
    bool open = false, readable = true;
    do {
        char *line = NULL;
        size_t line_length = 0;
        bool any = true, too_long = false;
        BRUME_TRY(next_line(records, &line, &line_length, &any, &too_long, error));
        if (!any)
            break;
        lines++;
        if (too_long)
            open = false; /* what its quotes were is not known */
        else
            open = records->format.multiline && is_open(&records->format, open, line);
        readable = readable && !too_long && records->used - begin + line_length <= LONGEST;
        if (readable)
            BRUME_TRY(append(records, line, line_length, error));
    } while (open);
    if (!readable)
        records->used = begin;
    *bytes = records->bytes;
    *at = begin;
    *length = records->used - begin;
    *more = lines > 0;
    return BRUME_OK;
}

/* ---- the first line of a CSV ---- */

static brume_status unreadable(const brume_text_file *file, brume_error *error)
{
    return brume_fail(error, BRUME_ESOURCE,
                      "the first line names the columns; where there is no such line, say "
                      "--no-header",
                      "the header line of '%s' cannot be read", file->named);
}

static brume_status add_name(brume_header *header, brume_text text, brume_error *error)
{
    char **grown = realloc(header->names, (header->count + 1) * sizeof *grown);
    if (!grown)
        return brume_no_memory(error, NULL);
    header->names = grown;
    char *name = NULL;
    if (text.data && text.length > 0)
        name = strndup(text.data, text.length);
    else if (asprintf(&name, "column%zu", header->count + 1) < 0)
        name = NULL;
    if (!name)
        return brume_no_memory(error, NULL);
    grown[header->count++] = name;
    return BRUME_OK;
}

static brume_status split_names(const brume_text_file *file, const brume_text_format *format,
                                char *line, const char *last, brume_header *header,
                                brume_error *error)
{
    for (char *at = line;; at++) {
        brume_text name;
        bool quoted;
        at = brume_csv_take_field(format, at, last, &name, &quoted);
        if (!at || (name.data && !brume_utf8_is_text(name.data, name.length)))
            return unreadable(file, error);
        if (name.data && !quoted)
            name = brume_value_trim(name);
        BRUME_TRY(add_name(header, name, error));
        if (*at == '\n')
            return BRUME_OK;
    }
}

static brume_status read_names(const brume_text_file *file, const brume_text_format *format,
                               brume_records *records, brume_header *header, brume_error *error)
{
    char *bytes;
    size_t at, length;
    bool more;
    BRUME_TRY(records_next(records, &bytes, &at, &length, &more, error));
    if (!more || length == 0)
        return unreadable(file, error);
    header->end = file->first + length;
    return split_names(file, format, bytes, format->multiline ? bytes + length - 1 : NULL, header,
                       error);
}

brume_status brume_header_read(const brume_text_file *file, const brume_text_format *format,
                               brume_header *out, brume_error *error)
{
    brume_lines *lines = NULL;
    brume_records *records = NULL;
    brume_header header = {0};
    BRUME_TRY(brume_lines_open(file, file->first, UINT64_MAX, true, &lines, error));
    BRUME_TRY(records_open(lines, format, &records, error));
    brume_status status = read_names(file, format, records, &header, error);
    records_close(records);
    if (status != BRUME_OK) {
        brume_header_clear(&header);
        return status;
    }
    if (header.end > file->size)
        header.end = file->size; /* a last line without LF */
    *out = header;
    return BRUME_OK;
}

void brume_header_clear(brume_header *header)
{
    for (size_t i = 0; i < header->count; i++)
        free(header->names[i]);
    free(header->names);
    *header = (brume_header){0};
}

brume_status brume_header_check_distinct(const brume_header *header, const char *named,
                                         brume_error *error)
{
    for (size_t i = 0; i < header->count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcasecmp(header->names[i], header->names[j]) == 0)
                return brume_fail(error, BRUME_ESOURCE,
                                  "give every column a name of its own, in its case too",
                                  "two columns of '%s' are called '%s'", named, header->names[i]);
    return BRUME_OK;
}

/* One JSON object a line: see the header. The line ends with an LF, at which every loop stops. */

enum { DEEPEST = 1024 };

/* ---- strings ---- */

/* The first byte that is a quote, a backslash or a control character (which LF is). */
static char *find_special(char *at)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), back = _mm_set1_epi8('\\'),
                  control = _mm_set1_epi8(0x1f);
    for (;; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, control), bytes);
        int found = _mm_movemask_epi8(_mm_or_si128(
            low, _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, back))));
        if (found)
            return at + __builtin_ctz((unsigned)found);
    }
#else
    while (*at != '"' && *at != '\\' && (unsigned char)*at >= 0x20)
        at++;
    return at;
#endif
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four hexadecimal digits; -1 if they are not. */
static int hex_unit(const char *at)
{
    int unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0)
            return -1;
        unit = 16 * unit + digit;
    }
    return unit;
}

/* From behind the opening quote to the closing one; NULL if the string is broken. */
static char *skip_string(char *at, bool *escaped)
{
    *escaped = false;
    for (;;) {
        at = find_special(at);
        if (*at == '"')
            return at;
        if (*at != '\\')
            return NULL;
        *escaped = true;
        if (at[1] == 'u') {
            if (hex_unit(at + 2) < 0)
                return NULL;
            at += 6;
        } else if (at[1] && strchr("\"\\/bfnrt", at[1])) {
            at += 2;
        } else {
            return NULL;
        }
    }
}

static char *put_utf8(char *to, uint32_t point)
{
    if (point < 0x80) {
        *to++ = (char)point;
    } else if (point < 0x800) {
        *to++ = (char)(0xC0 | point >> 6);
        *to++ = (char)(0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
        *to++ = (char)(0xE0 | point >> 12);
        *to++ = (char)(0x80 | (point >> 6 & 0x3F));
        *to++ = (char)(0x80 | (point & 0x3F));
    } else {
        *to++ = (char)(0xF0 | point >> 18);
        *to++ = (char)(0x80 | (point >> 12 & 0x3F));
        *to++ = (char)(0x80 | (point >> 6 & 0x3F));
        *to++ = (char)(0x80 | (point & 0x3F));
    }
    return to;
}

/* The character of \uXXXX at *at, which steps behind it; false for NUL and half a pair. */
static bool take_point(const char **at, uint32_t *point)
{
    uint32_t unit = (uint32_t)hex_unit(*at + 2);
    *at += 6;
    *point = unit;
    if (unit < 0xD800 || unit > 0xDFFF)
        return unit != 0;
    if (unit > 0xDBFF || (*at)[0] != '\\' || (*at)[1] != 'u')
        return false;
    uint32_t low = (uint32_t)hex_unit(*at + 2);
    if (low < 0xDC00 || low > 0xDFFF)
        return false;
    *at += 6;
    *point = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
    return true;
}

/* Decode a sound string in place; without data if it has no text. */
static brume_text decode(char *begin, const char *end)
{
    static const char from[] = "\"\\/bfnrt", to_byte[] = "\"\\/\b\f\n\r\t";
    char *to = begin;
    for (const char *at = begin; at < end;) {
        if (*at != '\\') {
            *to++ = *at++;
        } else if (at[1] == 'u') {
            uint32_t point;
            if (!take_point(&at, &point))
                return (brume_text){NULL, 0};
            to = put_utf8(to, point);
        } else {
            *to++ = to_byte[strchr(from, at[1]) - from];
            at += 2;
        }
    }
    return (brume_text){begin, (size_t)(to - begin)};
}

/* ---- scalars ---- */

static char *skip_space(char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\r')
        at++;
    return at;
}

static char *skip_digits(char *at)
{
    while (*at >= '0' && *at <= '9')
        at++;
    return at;
}

/* NULL if no number begins here. */
static char *skip_number(char *at)
{
    at += *at == '-';
    char *digits = at;
    at = skip_digits(at);
    if (at == digits || (*digits == '0' && at > digits + 1))
        return NULL;
    if (*at == '.') {
        digits = at + 1;
        at = skip_digits(digits);
        if (at == digits)
            return NULL;
    }
    if (*at == 'e' || *at == 'E') {
        digits = at + 1 + (at[1] == '+' || at[1] == '-');
        at = skip_digits(digits);
        if (at == digits)
            return NULL;
    }
    return at;
}

/* A string, number, true, false or null; NULL if it is none. */
static char *take_scalar(char *at, bool wanted, brume_text *out)
{
    *out = (brume_text){NULL, 0};
    if (*at == '"') {
        bool escaped;
        char *end = skip_string(at + 1, &escaped);
        if (end && wanted)
            *out = escaped ? decode(at + 1, end) : (brume_text){at + 1, (size_t)(end - at - 1)};
        return end ? end + 1 : NULL;
    }
    if (strncmp(at, "null", 4) == 0)
        return at + 4;
    size_t word = strncmp(at, "true", 4) == 0 ? 4 : strncmp(at, "false", 5) == 0 ? 5 : 0;
    char *end = word > 0 ? at + word : skip_number(at);
    if (end)
        *out = (brume_text){at, (size_t)(end - at)};
    return end;
}

/* ---- the object ---- */

typedef struct files_parser {
    const brume_json_splitter *splitter;
    size_t row;
    size_t hint;                    /* the field that is expected next */
    brume_text *target;             /* where the value goes; NULL: nowhere */
    uint64_t objects[DEEPEST / 64]; /* bit d: the container at depth d + 1 is an object */
    size_t depth;
} files_parser;

static bool in_object(const files_parser *all)
{
    size_t top = all->depth - 1;
    return all->objects[top / 64] >> (top % 64) & 1;
}

static bool enter(files_parser *all, bool object)
{
    if (all->depth == DEEPEST)
        return false;
    uint64_t bit = (uint64_t)1 << (all->depth % 64), *word = &all->objects[all->depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    all->depth++;
    return true;
}

static bool is_named(const files_parser *all, size_t index, brume_text name)
{
    brume_text wanted = all->splitter->names[index];
    return wanted.length == name.length && memcmp(wanted.data, name.data, name.length) == 0;
}

static void find_target(files_parser *all, brume_text name)
{
    size_t count = all->splitter->count, found = all->hint;
    all->target = NULL;
    if (!name.data || count == 0)
        return;
    if (found >= count || !is_named(all, found, name))
        for (found = 0; found < count && !is_named(all, found, name); found++)
            continue;
    if (found == count)
        return;
    all->hint = found + 1;
    all->target = &all->splitter->targets[found][all->row];
}

/* A name with its colon; NULL if there is none. */
static char *take_name(files_parser *all, char *at)
{
    brume_text name;
    if (*at != '"')
        return NULL;
    at = take_scalar(at, all->depth == 1, &name);
    if (!at)
        return NULL;
    if (all->depth == 1)
        find_target(all, name);
    at = skip_space(at);
    return *at == ':' ? skip_space(at + 1) : NULL;
}

/* Behind a value: commas and ends, up to where the next value begins or the object has ended. */
static char *take_ends(files_parser *all, char *at)
{
    for (;;) {
        at = skip_space(at);
        bool object = in_object(all);
        if (*at == ',') {
            at = skip_space(at + 1);
            return object ? take_name(all, at) : at;
        }
        if (*at != (object ? '}' : ']'))
            return NULL;
        at++;
        if (--all->depth == 0)
            return at;
    }
}

/* What begins a container: its first name or value, or its end at once. */
static char *take_begin(files_parser *all, char *at)
{
    bool object = *at == '{';
    if (all->depth == 1 && all->target)
        *all->target = (brume_text){NULL, 0};
    if (!enter(all, object))
        return NULL;
    at = skip_space(at + 1);
    if (*at == (object ? '}' : ']'))
        return take_ends(all, at);
    return object ? take_name(all, at) : at;
}

/* The byte behind the object; NULL if it is none. */
static char *take_object(files_parser *all, char *at)
{
    at = *at == '{' ? take_begin(all, at) : NULL;
    while (at && all->depth > 0) {
        if (*at == '{' || *at == '[') {
            at = take_begin(all, at);
            continue;
        }
        brume_text value;
        bool wanted = all->depth == 1 && all->target;
        at = take_scalar(at, wanted, &value);
        if (at && wanted)
            *all->target = value;
        if (at)
            at = take_ends(all, at);
    }
    return at;
}

char *brume_json_split(const brume_json_splitter *splitter, char *line, size_t row)
{
    files_parser all = {.splitter = splitter, .row = row};
    for (size_t i = 0; i < splitter->count; i++)
        splitter->targets[i][row] = (brume_text){NULL, 0};
    char *end = rawmemchr(line, '\n'); /* found first: a decoded string may hold another one */
    char *at = take_object(&all, skip_space(line));
    if (!at || skip_space(at) != end)
        for (size_t i = 0; i < splitter->count; i++)
            splitter->targets[i][row] = (brume_text){NULL, 0};
    return end + 1;
}

enum { PART_BYTES = 1 << 22 };

typedef struct file_parts {
    brume_text_file file;
    uint64_t body;     /* where the rows begin */
    size_t first_part; /* index of its first part; of the file behind the last one: their number */
} file_parts;

struct brume_row_files {
    bool json;
    brume_text_format format;
    brume_reader_column *columns;
    size_t column_count;
    uint64_t part_bytes;
    file_parts *files; /* one more than there are */
    size_t file_count;
};

struct brume_row_part {
    const brume_row_files *files;
    brume_lines *lines;     /* NULL with multiline */
    brume_records *records; /* only with multiline */
    brume_type *types;      /* of the wanted columns */
    size_t column_count;
    brume_text **texts; /* the fields of each wanted column */
    brume_csv_splitter csv;
    brume_json_splitter json;
    char *at, *end; /* lines of a block that were not yet read */
    bool plain;     /* the block is ASCII without NUL */
    bool has_text;  /* a wanted column is text: then it matters */
};

/* ---- files ---- */

static brume_status check_header(const brume_row_files *files, const brume_header *header,
                                 const char *named, brume_error *error)
{
    bool same = header->count == files->column_count;
    for (size_t i = 0; same && i < header->count; i++)
        same = strcmp(header->names[i], files->columns[i].name) == 0;
    return same ? BRUME_OK
                : brume_fail(error, BRUME_ESOURCE,
                             "every file must begin with the header line that was recorded, with "
                             "its columns in their order",
                             "'%s' has other columns than recorded", named);
}

static size_t count_parts(const brume_row_files *files, const file_parts *each)
{
    if (each->file.gzip)
        return 1;
    uint64_t bytes = each->file.size - each->body;
    if (files->format.multiline && !files->json)
        return bytes > 0;
    return (size_t)(bytes / files->part_bytes + (bytes % files->part_bytes > 0));
}

static brume_status open_file(brume_row_files *files, const brume_text_table *table, size_t index,
                              brume_error *error)
{
    file_parts *each = &files->files[index];
    BRUME_TRY(brume_text_file_look(table->paths[index], table->named, &each->file, error));
    each->body = 0; /* a byte-order mark before a row is the row's: brume_row_begin */
    if (!files->json && files->format.header) {
        brume_header header = {0};
        brume_status status = brume_header_read(&each->file, &files->format, &header, error);
        /* A line that is no header is a row: nothing is said of it but that it is not the header.
         */
        if (status == BRUME_OK || status == BRUME_ESOURCE)
            status = check_header(files, &header, table->named, error);
        each->body = header.end;
        brume_header_clear(&header);
        BRUME_TRY(status);
    }
    each[1].first_part = each->first_part + count_parts(files, each);
    return BRUME_OK;
}

static brume_status copy_columns(brume_row_files *files, const brume_text_table *table,
                                 brume_error *error)
{
    files->columns = calloc(table->column_count + 1, sizeof *files->columns);
    files->files = calloc(table->path_count + 1, sizeof *files->files);
    if (!files->columns || !files->files)
        return brume_no_memory(error, NULL);
    for (size_t i = 0; i < table->column_count; i++) {
        files->columns[i].type = table->columns[i].type;
        files->columns[i].name = strdup(table->columns[i].name);
        if (!files->columns[i].name)
            return brume_no_memory(error, NULL);
        files->column_count++;
    }
    return BRUME_OK;
}

static void close_files(brume_row_files *files)
{
    if (!files)
        return;
    for (size_t i = 0; i < files->column_count; i++)
        free((char *)files->columns[i].name);
    free(files->columns);
    free(files->files);
    free(files);
}

brume_status brume_text_files_open(const brume_text_table *table, brume_row_files **out,
                                   brume_error *error)
{
    brume_row_files *files = calloc(1, sizeof *files);
    if (!files)
        return brume_no_memory(error, NULL);
    files->json = table->json;
    files->format = table->format;
    files->part_bytes = table->part_bytes ? table->part_bytes : PART_BYTES;
    brume_status status = copy_columns(files, table, error);
    for (size_t i = 0; status == BRUME_OK && i < table->path_count; i++) {
        status = open_file(files, table, i, error);
        files->file_count++;
    }
    if (status != BRUME_OK) {
        close_files(files);
        return status;
    }
    *out = files;
    return BRUME_OK;
}

static size_t part_count(const brume_row_files *files)
{
    return files->files[files->file_count].first_part;
}

static size_t first_part(const brume_row_files *files, size_t file)
{
    return files->files[file].first_part;
}

/* ---- a part ---- */

static void close_part(brume_row_part *part)
{
    if (!part)
        return;
    brume_lines_close(part->lines);
    records_close(part->records);
    for (size_t i = 0; part->texts && i < part->column_count; i++)
        free(part->texts[i]);
    free(part->texts);
    free(part->types);
    free((void *)part->csv.targets);
    free((void *)part->json.names);
    free(part);
}

/* The file that has the part. */
static const file_parts *find_file(const brume_row_files *files, size_t index)
{
    size_t low = 0, high = files->file_count; /* files[low].first_part <= index < files[high]... */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (files->files[middle].first_part <= index)
            low = middle;
        else
            high = middle;
    }
    return &files->files[low];
}

static brume_status open_lines(brume_row_part *part, size_t index, brume_error *error)
{
    const brume_row_files *files = part->files;
    const file_parts *each = find_file(files, index);
    size_t within = index - each->first_part;
    bool whole = each->file.gzip || (files->format.multiline && !files->json);
    uint64_t from = each->body + within * files->part_bytes;
    uint64_t to = whole ? UINT64_MAX : from + files->part_bytes;
    BRUME_TRY(brume_lines_open(&each->file, from, to, within == 0, &part->lines, error));
    if (!files->format.multiline || files->json)
        return BRUME_OK;
    brume_lines *lines = part->lines;
    part->lines = NULL;
    return records_open(lines, &files->format, &part->records, error);
}

/* Where fields go: by column for CSV, by name for JSON. */
static brume_status make_splitters(brume_row_part *part, const size_t *columns, brume_error *error)
{
    const brume_row_files *files = part->files;
    size_t width = 0;
    for (size_t i = 0; i < part->column_count; i++)
        width = columns[i] + 1 > width ? columns[i] + 1 : width;
    brume_text **targets = calloc(width + 1, sizeof *targets);
    brume_text *names = calloc(part->column_count + 1, sizeof *names);
    part->csv = (brume_csv_splitter){files->format, width, targets};
    part->json = (brume_json_splitter){part->column_count, names, part->texts};
    if (!targets || !names)
        return brume_no_memory(error, NULL);
    for (size_t i = 0; i < part->column_count; i++) {
        const char *name = files->columns[columns[i]].name;
        targets[columns[i]] = part->texts[i];
        names[i] = (brume_text){name, strlen(name)};
    }
    return BRUME_OK;
}

static brume_status fill_part(brume_row_part *part, size_t index, const size_t *columns,
                              size_t column_count, brume_error *error)
{
    part->types = calloc(column_count + 1, sizeof *part->types);
    part->texts = calloc(column_count + 1, sizeof *part->texts);
    if (!part->types || !part->texts)
        return brume_no_memory(error, NULL);
    part->column_count = column_count;
    for (size_t i = 0; i < column_count; i++) {
        part->types[i] = part->files->columns[columns[i]].type;
        part->has_text = part->has_text || part->types[i].kind == BRUME_TYPE_TEXT;
        part->texts[i] = malloc(BRUME_BATCH_ROWS * sizeof **part->texts);
        if (!part->texts[i])
            return brume_no_memory(error, NULL);
    }
    BRUME_TRY(make_splitters(part, columns, error));
    return open_lines(part, index, error);
}

static brume_status open_part(const brume_row_files *files, size_t index, const size_t *columns,
                              size_t column_count, brume_row_part **out, brume_error *error)
{
    brume_row_part *part = calloc(1, sizeof *part);
    if (!part)
        return brume_no_memory(error, NULL);
    part->files = files;
    brume_status status = fill_part(part, index, columns, column_count, error);
    if (status != BRUME_OK) {
        close_part(part);
        return status;
    }
    *out = part;
    return BRUME_OK;
}

/* ---- rows ---- */

static void null_row(brume_row_part *part, size_t row)
{
    for (size_t i = 0; i < part->column_count; i++)
        part->texts[i][row] = (brume_text){NULL, 0};
}

/* Behind a header no row is the first line of a file, and a mark is a part of its first field. */
static char *row_begin(const brume_row_part *part, char *line)
{
    return part->files->format.header ? line : brume_row_begin(line);
}

/* Rows of the block; a batch ends with it, because fields are pieces of it. */
static size_t split_block(brume_row_part *part)
{
    size_t rows = 0;
    char *at = part->at, *end = part->end;
    if (part->files->json)
        for (; at < end && rows < BRUME_BATCH_ROWS; rows++)
            at = brume_json_split(&part->json, brume_row_begin(at), rows);
    else
        for (; at < end && rows < BRUME_BATCH_ROWS; rows++)
            at = brume_csv_split(&part->csv, row_begin(part, at), NULL, rows);
    part->at = at;
    return rows;
}

static brume_status next_lines(brume_row_part *part, size_t *rows, brume_error *error)
{
    *rows = 0;
    if (part->at == part->end) {
        brume_line_block block = {0};
        bool more = false;
        BRUME_TRY(brume_lines_next(part->lines, &block, &more, error));
        part->at = block.begin;
        part->end = block.end;
        if (!more)
            return BRUME_OK;
        if (block.too_long) {
            null_row(part, 0);
            *rows = 1;
            return BRUME_OK;
        }
        part->plain = part->has_text &&
                      brume_is_plain(block.begin, (size_t)(block.end - block.begin));
    }
    *rows = split_block(part);
    return BRUME_OK;
}

/* Records over several lines: all of a batch are put together before they are split. */
static brume_status next_records(brume_row_part *part, size_t *rows, brume_error *error)
{
    enum { ENOUGH = 1 << 20 };
    size_t ats[BRUME_BATCH_ROWS], lengths[BRUME_BATCH_ROWS], count = 0, used = 0;
    char *bytes = NULL;
    bool more = true;
    records_forget(part->records);
    while (count < BRUME_BATCH_ROWS && used < ENOUGH) {
        BRUME_TRY(records_next(part->records, &bytes, &ats[count], &lengths[count], &more, error));
        if (!more)
            break;
        used = ats[count] + lengths[count];
        count++;
    }
    part->plain = part->has_text && used > 0 && brume_is_plain(bytes, used);
    for (size_t i = 0; i < count; i++)
        if (lengths[i] > 0)
            (void)brume_csv_split(&part->csv, row_begin(part, bytes + ats[i]),
                                  bytes + ats[i] + lengths[i] - 1, i);
        else
            null_row(part, i);
    *rows = count;
    return BRUME_OK;
}

static brume_status next_rows(brume_row_part *part, brume_batch_column *columns, size_t *row_count,
                              brume_error *error)
{
    size_t rows = 0;
    BRUME_TRY(part->records ? next_records(part, &rows, error) : next_lines(part, &rows, error));
    for (size_t i = 0; i < part->column_count; i++)
        brume_value_column(part->types[i], part->texts[i], rows, part->plain, &columns[i]);
    *row_count = rows;
    return BRUME_OK;
}

const brume_row_format brume_text_rows = {
    .part_count = part_count,
    .part_open = open_part,
    .part_next = next_rows,
    .part_close = close_part,
    .close = close_files,
    .first_part = first_part,
};
