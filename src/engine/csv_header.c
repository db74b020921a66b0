/* The header line of a CSV against the recorded columns.
 *
 * DuckDB reads a recorded CSV by position and skips lines that do not fit, so that columns in
 * another order, or other columns, would silently give other numbers. Only the header line is read
 * here: the outcome says nothing about any row.
 *
 * Names are those of DuckDB: white space around a name is dropped, a missing name is "columnN"
 * (N counts from 0, padded), and a name that occurred before ends in "_1", "_2" and so on. */
#include "engine/csv_header.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <zlib.h>

#include "base/error.h"

enum { HEADER_LIMIT = 1 << 20 }; /* bytes that are read at most; a longer header is refused */

typedef struct dialect {
    char delimiter[8];
    char quote, escape, comment; /* 0: none */
    bool header;
} dialect;

/* The value of `name = '...'` in the recorded options; at most size - 1 bytes. */
static void option_of(const char *options, const char *name, char *value, size_t size)
{
    size_t length = strlen(name), used = 0;
    value[0] = 0;
    for (const char *at = options; (at = strstr(at, ", ")) != NULL; at++) {
        if (strncmp(at + 2, name, length) != 0 || strncmp(at + 2 + length, " = '", 4) != 0)
            continue;
        for (at += 2 + length + 4; *at; at++) {
            if (*at == '\'' && *++at != '\'')
                break;
            if (used + 1 < size)
                value[used++] = *at;
        }
        value[used] = 0;
        return;
    }
}

static dialect dialect_of(const char *options)
{
    dialect made = {.delimiter = ","};
    char value[8];
    option_of(options, "delim", value, sizeof value);
    if (*value)
        memcpy(made.delimiter, value, sizeof value);
    if (strcmp(made.delimiter, "\\t") == 0)
        memcpy(made.delimiter, "\t", sizeof "\t");
    option_of(options, "quote", value, sizeof value);
    made.quote = value[0];
    option_of(options, "escape", value, sizeof value);
    made.escape = value[0];
    option_of(options, "comment", value, sizeof value);
    made.comment = value[0];
    option_of(options, "header", value, sizeof value);
    made.header = strcasecmp(value, "true") == 0;
    return made;
}

typedef struct reader {
    gzFile file;
    bool failed;
    bool takes_nul; /* rows may have such bytes, names may not */
    int held;       /* a byte put back, or -1 */
    size_t read;
} reader;

static int next_byte(reader *from)
{
    int c = from->held;
    from->held = -1;
    if (c >= 0)
        return c;
    c = gzgetc(from->file);
    int code = Z_OK;
    if (c < 0)
        (void)gzerror(from->file, &code);
    from->failed = from->failed || (code != Z_OK && code != Z_STREAM_END);
    if (++from->read > HEADER_LIMIT)
        from->failed = true;
    return from->failed ? -1 : c;
}

/* Past a byte order mark, empty lines and comments, to the first byte of the header. */
static void find_header(reader *from, const dialect *rules)
{
    int c = next_byte(from);
    if (c == 0xEF) {
        (void)next_byte(from);
        (void)next_byte(from);
        c = next_byte(from);
    }
    while (c >= 0 && (c == '\n' || c == '\r' || (rules->comment && c == rules->comment))) {
        while (c >= 0 && c != '\n' && c != '\r')
            c = next_byte(from);
        c = next_byte(from);
    }
    from->held = c;
}

/* The next field into field[size]; *last: it ended the line. False: there is no whole field. */
static bool read_field(reader *from, const dialect *rules, char *field, size_t size, bool *last)
{
    size_t used = 0, delimiter = strlen(rules->delimiter);
    int quote = (unsigned char)rules->quote, escape = (unsigned char)rules->escape;
    bool quoted = false;
    for (;;) {
        int c = next_byte(from);
        field[used] = 0;
        if (from->failed || (c == 0 && !from->takes_nul) || used + 1 >= size)
            return false;
        if (quoted) {
            if (c < 0)
                return false;
            if (escape && c == escape) {
                int after = next_byte(from);
                if (after == quote || after == escape) {
                    field[used++] = (char)after;
                    continue;
                }
                from->held = after;
            }
            if (c == quote)
                quoted = false;
            else
                field[used++] = (char)c;
            continue;
        }
        if (c == '\r') { /* alone it ends the line too */
            int after = next_byte(from);
            from->held = after == '\n' ? -1 : after;
            c = '\n';
        }
        if (c < 0 || c == '\n') {
            *last = true;
            break;
        }
        if (quote && c == quote && strspn(field, " \t") >= used) {
            quoted = true;
            continue;
        }
        field[used++] = (char)c;
        field[used] = 0;
        if (used >= delimiter &&
            memcmp(field + used - delimiter, rules->delimiter, delimiter) == 0) {
            used -= delimiter;
            *last = false;
            break;
        }
    }
    field[used] = 0;
    return true;
}

static char *trimmed(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    text[length] = 0;
    return text;
}

static bool is_number(const char *text, size_t wanted)
{
    char *end = NULL;
    if (!isdigit((unsigned char)*text))
        return false;
    unsigned long number = strtoul(text, &end, 10);
    return !*end && (wanted == SIZE_MAX || number == wanted);
}

/* Is `name` what DuckDB makes of `field`, the index-th of the line? */
static bool is_name_of(const brume_source *recorded, size_t index, const char *field)
{
    const char *name = recorded->columns[index].name;
    size_t length = strlen(field);
    if (strcmp(name, field) == 0)
        return true;
    if (length == 0)
        return strncmp(name, "column", 6) == 0 && is_number(name + 6, index);
    if (strncmp(name, field, length) != 0 || name[length] != '_' ||
        !is_number(name + length + 1, SIZE_MAX))
        return false;
    for (size_t i = 0; i < index; i++)
        if (strcasecmp(recorded->columns[i].name, field) == 0)
            return true;
    return false;
}

static bool has_recorded_names(reader *from, const dialect *rules, const brume_source *recorded,
                               char *field)
{
    bool last = false;
    find_header(from, rules);
    if (from->held < 0)
        return false; /* an empty file has no header line */
    for (size_t i = 0; i < recorded->column_count; i++) {
        field[0] = 0;
        /* A header with too few names: DuckDB made up the others. */
        if (!last && !read_field(from, rules, field, HEADER_LIMIT, &last))
            return false;
        if (!is_name_of(recorded, i, trimmed(field)))
            return false;
    }
    return last;
}

bool brume_csv_starts_without_quotes(const char *path)
{
    reader from = {.file = gzopen(path, "rb"), .held = -1};
    if (!from.file)
        return false;
    int c = next_byte(&from);
    while (c >= 0 && c != '"')
        c = next_byte(&from);
    (void)gzclose(from.file);
    return c < 0;
}

/* DuckDB's threads begin in the middle of a file and guess where a line ends. With quotes they
 * guess wrong where a quoted text has lines of its own, and skip what does not fit their guess:
 * rows of others would come and go with the length of one. */
bool brume_csv_has_no_quotes(const char *path, const char *options)
{
    enum { BLOCK = 1 << 18 };
    static const unsigned char zstd[] = {0x28, 0xB5, 0x2F, 0xFD};
    dialect rules = dialect_of(options);
    gzFile file = gzopen(path, "rb");
    unsigned char *block = malloc(BLOCK);
    bool none = file && block && gzbuffer(file, BLOCK) == 0;
    for (int got = 1, first = 1; none && got > 0; first = 0) {
        got = gzread(file, block, BLOCK);
        none = got >= 0 && gzdirect(file) == 1 &&
               (got == 0 || !rules.quote || !memchr(block, rules.quote, (size_t)got)) &&
               !(first && got >= 4 && memcmp(block, zstd, sizeof zstd) == 0);
    }
    free(block);
    if (file)
        (void)gzclose(file);
    return none;
}

/* Read on to the end of the line; how many fields it has. 0: the file, or what is read of it, ends
 * before the line does. */
static size_t count_fields(reader *from, const dialect *rules, char *field)
{
    bool last = false;
    size_t count = 0;
    while (!last) {
        field[0] = 0;
        if (!read_field(from, rules, field, HEADER_LIMIT, &last) || from->failed)
            return 0;
        count++;
    }
    return count;
}

static void count_rows(reader *from, const dialect *rules, size_t columns, char *field,
                       size_t *fitting, size_t *others)
{
    find_header(from, rules);
    if (rules->header && from->held >= 0 && count_fields(from, rules, field) == 0)
        return;
    for (;;) {
        int c = next_byte(from);
        if (c == '\n' && columns > 1)
            continue; /* an empty line */
        if (c < 0)
            return;
        from->held = c;
        bool comment = rules->comment && c == (unsigned char)rules->comment;
        size_t fields = count_fields(from, rules, field);
        if (fields == 0)
            return;
        if (comment || (columns > 1 && fields == 1 && !*trimmed(field)))
            continue;
        *(fields == columns ? fitting : others) += 1;
    }
}

brume_status brume_csv_count_rows(const char *path, const char *options, size_t columns,
                                  size_t *fitting, size_t *others, brume_error *error)
{
    dialect rules = dialect_of(options);
    reader from = {.file = gzopen(path, "rb"), .takes_nul = true, .held = -1};
    char *field = calloc(1, HEADER_LIMIT);
    if (from.file && field)
        count_rows(&from, &rules, columns, field, fitting, others);
    brume_status status = BRUME_OK;
    if (!from.file)
        status =
            brume_fail(error, BRUME_ESOURCE, "check its permissions", "cannot read '%s'", path);
    else if (!field)
        status = brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    free(field);
    if (from.file)
        (void)gzclose(from.file);
    return status;
}

brume_status brume_csv_check_header(const char *path, const char *options,
                                    const brume_source *recorded, const char *named,
                                    brume_error *error)
{
    dialect rules = dialect_of(options);
    if (!rules.header)
        return BRUME_OK;
    reader from = {.file = gzopen(path, "rb"), .held = -1};
    char *field = calloc(1, HEADER_LIMIT);
    if (!from.file || !field) {
        free(field);
        if (!from.file)
            return brume_fail(error, BRUME_ESOURCE, "check its permissions", "cannot read '%s'",
                              named);
        (void)gzclose(from.file);
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    }
    bool same = has_recorded_names(&from, &rules, recorded, field);
    free(field);
    (void)gzclose(from.file);
    return same ? BRUME_OK
                : brume_fail(error, BRUME_ESOURCE,
                             "the header line of every file must name the recorded columns, in "
                             "their order; other data wants a new name",
                             "the file '%s' has other columns than recorded", named);
}
