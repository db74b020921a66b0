/* The first line of a CSV: see the header. */
#include "reader/header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "reader/csv_line.h"
#include "reader/records.h"
#include "base/utf8.h"
#include "reader/value.h"

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
    BRUME_TRY(brume_records_next(records, &bytes, &at, &length, &more, error));
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
    BRUME_TRY(brume_records_open(lines, format, &records, error));
    brume_status status = read_names(file, format, records, &header, error);
    brume_records_close(records);
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
