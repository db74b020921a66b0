/* Reading comma-separated values: one state machine over a buffer of 256 KiB. */
#include "base/csv.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/text.h"

enum { BUFFER = 1 << 18 };

struct brume_csv {
    FILE *file;
    unsigned char *buffer;
    size_t filled, at;
    char *row; /* bytes of all fields of the row, each followed by a 0 */
    size_t used, room;
    size_t *starts; /* starts[i] is where field i begins; one more than there are fields */
    size_t fields, starts_room;
    char **names;
    size_t columns;
};

static brume_status no_memory(brume_error *error)
{
    return brume_fail(error, BRUME_EMEMORY, NULL, "no memory to read the file");
}

/* The next byte, or EOF. */
static int next_byte(brume_csv *csv)
{
    if (csv->at == csv->filled) {
        csv->filled = fread(csv->buffer, 1, BUFFER, csv->file);
        csv->at = 0;
        if (csv->filled == 0)
            return EOF;
    }
    return csv->buffer[csv->at++];
}

static bool put_byte(brume_csv *csv, int byte)
{
    if (csv->used == csv->room) {
        size_t room = csv->room ? 2 * csv->room : 1024;
        char *row = realloc(csv->row, room);
        if (!row)
            return false;
        csv->row = row;
        csv->room = room;
    }
    csv->row[csv->used++] = (char)byte;
    return true;
}

/* Begin a field at the end of what is there. */
static bool begin_field(brume_csv *csv)
{
    if (csv->fields + 2 > csv->starts_room) {
        size_t room = csv->starts_room ? 2 * csv->starts_room : 64;
        size_t *starts = realloc(csv->starts, room * sizeof *starts);
        if (!starts)
            return false;
        csv->starts = starts;
        csv->starts_room = room;
    }
    csv->starts[csv->fields] = csv->used;
    return true;
}

static bool end_field(brume_csv *csv)
{
    if (!put_byte(csv, 0))
        return false;
    csv->fields++;
    return begin_field(csv);
}

/* One line, however many fields; *any is false at the end of the file. */
static brume_status read_line(brume_csv *csv, bool *any, brume_error *error)
{
    csv->used = csv->fields = 0;
    bool quoted = false, fresh = true, seen = false;
    if (!begin_field(csv))
        return no_memory(error);
    for (;;) {
        int byte = next_byte(csv);
        bool done = byte == EOF || (!quoted && (byte == '\n' || byte == '\r'));
        bool fine = true;
        if (done) {
            if (byte == '\r') { /* CRLF is one line end */
                int after = next_byte(csv);
                if (after != '\n' && after != EOF)
                    csv->at--;
            }
            *any = seen || byte != EOF;
            if (seen)
                fine = end_field(csv);
            if (byte == EOF && ferror(csv->file))
                return brume_fail(error, BRUME_ESOURCE, NULL, "reading the file failed");
            return fine ? BRUME_OK : no_memory(error);
        }
        seen = true;
        if (quoted && byte == '"') {
            int after = next_byte(csv);
            if (after == '"') {
                fine = put_byte(csv, '"');
            } else {
                quoted = false;
                if (after != EOF)
                    csv->at--;
            }
        } else if (!quoted && byte == ',') {
            fine = end_field(csv);
            fresh = true;
            if (!fine)
                return no_memory(error);
            continue;
        } else if (!quoted && byte == '"' && fresh) {
            quoted = true;
        } else {
            fine = put_byte(csv, byte);
        }
        fresh = false;
        if (!fine)
            return no_memory(error);
    }
}

static brume_status read_header(brume_csv *csv, brume_error *error)
{
    /* The byte-order mark: the buffer is full or the file is short, so three bytes are there. */
    int first = next_byte(csv);
    if (first != EOF) {
        csv->at--;
        if (csv->filled >= 3 && memcmp(csv->buffer, "\xef\xbb\xbf", 3) == 0)
            csv->at = 3;
    }
    bool any;
    BRUME_TRY(read_line(csv, &any, error));
    csv->names = calloc(csv->fields + 1, sizeof *csv->names);
    if (!csv->names)
        return no_memory(error);
    for (size_t i = 0; i < csv->fields; i++) {
        csv->names[i] = strdup(csv->row + csv->starts[i]);
        if (!csv->names[i])
            return no_memory(error);
        csv->columns++;
    }
    csv->fields = 0;
    return BRUME_OK;
}

brume_status brume_csv_open(const char *path, brume_csv **out, brume_error *error)
{
    FILE *file = fopen(path, "rb");
    struct stat info;
    if (!file || fstat(fileno(file), &info) != 0 || S_ISDIR(info.st_mode)) {
        int why = file ? EISDIR : errno;
        if (file)
            fclose(file);
        return brume_fail(error, BRUME_ESOURCE, NULL, "cannot read '%s': %s", path, strerror(why));
    }
    brume_csv *csv = calloc(1, sizeof *csv);
    if (csv) {
        csv->file = file;
        csv->buffer = malloc(BUFFER);
    } else {
        fclose(file);
    }
    if (!csv || !csv->buffer) {
        brume_csv_close(csv);
        return no_memory(error);
    }
    brume_status status = read_header(csv, error);
    if (status != BRUME_OK)
        brume_csv_close(csv);
    else
        *out = csv;
    return status;
}

void brume_csv_close(brume_csv *csv)
{
    if (!csv)
        return;
    for (size_t i = 0; i < csv->columns; i++)
        free(csv->names[i]);
    free(csv->names);
    free(csv->starts);
    free(csv->row);
    free(csv->buffer);
    fclose(csv->file);
    free(csv);
}

size_t brume_csv_column(const brume_csv *csv, const char *name)
{
    for (size_t i = 0; i < csv->columns; i++)
        if (strcmp(csv->names[i], name) == 0)
            return i;
    return SIZE_MAX;
}

brume_status brume_csv_find(const brume_csv *csv, const char *name, size_t *column,
                            brume_error *error)
{
    size_t found = brume_csv_column(csv, name);
    if (found != SIZE_MAX) {
        *column = found;
        return BRUME_OK;
    }
    const char *nearest = brume_text_nearest(name, (const char *const *)csv->names, csv->columns);
    char hint[120] = "see the first line of the file";
    if (nearest)
        snprintf(hint, sizeof hint, "did you mean '%.80s'?", nearest);
    return brume_fail(error, BRUME_EUNKNOWN, hint, "the file has no column '%s'", name);
}

size_t brume_csv_columns(const brume_csv *csv)
{
    return csv->columns;
}

const char *brume_csv_name(const brume_csv *csv, size_t column)
{
    return csv->names[column];
}

brume_status brume_csv_next(brume_csv *csv, bool *more, brume_error *error)
{
    do
        BRUME_TRY(read_line(csv, more, error));
    while (*more && csv->fields == 0 && csv->columns != 1); /* of one column: a missing value */
    return BRUME_OK;
}

const char *brume_csv_field(const brume_csv *csv, size_t column, size_t *length)
{
    if (column >= csv->fields || column >= csv->columns)
        return NULL;
    *length = csv->starts[column + 1] - csv->starts[column] - 1;
    return csv->row + csv->starts[column];
}

bool brume_csv_number(const brume_csv *csv, size_t column, double *out)
{
    size_t length;
    const char *text = brume_csv_field(csv, column, &length);
    if (!text || length == 0 || length > 400)
        return false;
    while (*text == ' ' || *text == '\t')
        text++;
    /* strtod also reads hexadecimal and "nan(...)": not numbers here. */
    if (strspn(text, "+-0123456789.eE \t") != strlen(text)) {
        const char *word = text + (*text == '+' || *text == '-');
        if (strcasecmp(word, "inf") != 0 && strcasecmp(word, "infinity") != 0)
            return false;
    }
    char *end;
    double value = strtod(text, &end);
    if (end == text || isnan(value))
        return false;
    while (*end == ' ' || *end == '\t')
        end++;
    if (*end != 0)
        return false;
    *out = value;
    return true;
}

void brume_csv_write_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void brume_csv_write_field(FILE *out, const char *text)
{
    if (strpbrk(text, ",\"\r\n"))
        brume_csv_write_quoted(out, text);
    else
        fputs(text, out);
}
