/* How the lines of a text file are read: see the header. */
#include "reader/format.h"

#include <string.h>
#include <strings.h>

#include <jansson.h>

#include "base/error.h"

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcasecmp(text + length - tail, end) == 0;
}

brume_text_format brume_text_format_of(const char *location)
{
    bool tabs = ends_with(location, ".tsv") || ends_with(location, ".tsv.gz");
    return (brume_text_format){.delimiter = tabs ? '\t' : ',', .quote = '"', .header = true};
}

static bool is_delimiter(char byte)
{
    return (byte == '\t' || (byte >= ' ' && byte <= '~'));
}

static bool is_sound(const brume_text_format *format)
{
    return is_delimiter(format->delimiter) && format->quote != format->delimiter &&
           (format->quote == 0 || is_delimiter(format->quote)) &&
           !(format->multiline && !format->quote);
}

char *brume_text_format_print(const brume_text_format *format)
{
    char delimiter[] = {format->delimiter, 0}, quote[] = {format->quote, 0};
    json_t *json = json_pack("{s:s,s:s,s:b,s:b}", "delimiter", delimiter, "quote", quote, "header",
                             format->header, "multiline", format->multiline);
    char *text = json ? json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(json);
    return text;
}

brume_status brume_text_format_parse(const char *text, brume_text_format *out, brume_error *error)
{
    const char *delimiter = NULL, *quote = NULL;
    int header = 0, multiline = 0;
    json_t *json = json_loads(text, 0, NULL);
    brume_text_format format = {0};
    bool good = json && json_unpack(json, "{s:s,s:s,s:b,s:b!}", "delimiter", &delimiter, "quote",
                                    &quote, "header", &header, "multiline", &multiline) == 0;
    if (good) {
        format = (brume_text_format){.delimiter = delimiter[0],
                                     .quote = quote[0],
                                     .header = header != 0,
                                     .multiline = multiline != 0};
        good = strlen(delimiter) == 1 && strlen(quote) <= 1 && is_sound(&format);
    }
    json_decref(json);
    if (!good)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'%s' does not say how lines are read",
                          text);
    *out = format;
    return BRUME_OK;
}
