/* An owner's look at the lines of a text file: see the header. */
#include "reader/guess.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

#include "base/error.h"
#include "reader/csv_line.h"
#include "reader/find.h"

enum { LINES = 1000 }; /* so many decide about the delimiter */

/* ---- lines ---- */

typedef brume_status (*line_taker)(void *context, const char *line, size_t length, bool *enough,
                                   brume_error *error);

/* Give each line, its LF included, to `take`, until it has enough. */
static brume_status each_line(const brume_text_file *file, line_taker take, void *context,
                              brume_error *error)
{
    brume_lines *lines = NULL;
    BRUME_TRY(brume_lines_open(file, file->first, UINT64_MAX, true, &lines, error));
    bool more = true, enough = false;
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && more && !enough) {
        brume_line_block block = {0};
        status = brume_lines_next(lines, &block, &more, error);
        if (status != BRUME_OK || !more || block.too_long)
            continue;
        for (char *at = block.begin; status == BRUME_OK && at < block.end && !enough;) {
            char *end = memchr(at, '\n', (size_t)(block.end - at));
            size_t length = (size_t)((end ? end + 1 : block.end) - at);
            status = take(context, at, length, &enough, error);
            at += length;
        }
    }
    brume_lines_close(lines);
    return status;
}

/* ---- CSV ---- */

/* The first lines, with room behind them to be searched. */
typedef struct first_lines {
    char *bytes;
    size_t size, count;
} first_lines;

static brume_status keep_line(void *context, const char *line, size_t length, bool *enough,
                              brume_error *error)
{
    first_lines *kept = context;
    char *grown = realloc(kept->bytes, kept->size + length + BRUME_FIND_PADDING);
    if (!grown)
        return brume_no_memory(error, NULL);
    kept->bytes = grown;
    memcpy(grown + kept->size, line, length);
    kept->size += length;
    memset(grown + kept->size, 0, BRUME_FIND_PADDING);
    *enough = ++kept->count == LINES;
    return BRUME_OK;
}

/* The number of fields of the line at *at, or 0 if it cannot be read; steps behind it. `looks`:
 * what is to be said of each field. */
static size_t split(const brume_text_format *format, char **at,
                    void (*look)(void *context, brume_text field), void *context)
{
    char *line = *at;
    size_t count = 0;
    *at = brume_find_either(line, '\n', '\n') + 1;
    for (char *from = line;; from++) {
        brume_text field = {0};
        bool quoted;
        from = brume_csv_take_field(format, from, NULL, &field, &quoted);
        if (!from)
            return 0;
        count++;
        if (look)
            look(context, field);
        if (*from == '\n')
            return count;
    }
}

/* How many lines have as many fields as the first, if that has several. */
static size_t agreeing(const first_lines *kept, brume_text_format format)
{
    char *copy = malloc(kept->size + BRUME_FIND_PADDING), *at = copy;
    if (!copy)
        return 0;
    memcpy(copy, kept->bytes, kept->size + BRUME_FIND_PADDING);
    size_t first = split(&format, &at, NULL, NULL), same = 1;
    for (size_t i = 1; i < kept->count; i++)
        same += split(&format, &at, NULL, NULL) == first;
    free(copy);
    return first > 1 ? same : 0;
}

typedef struct names_look {
    bool value; /* one field is no name */
} names_look;

static void look_at_name(void *context, brume_text field)
{
    names_look *seen = context;
    brume_type_guess guess = {0};
    if (!field.data || field.length == 0)
        return; /* pandas leaves the name of its index out */
    brume_guess_see(&guess, field);
    seen->value = seen->value || brume_guess_type(&guess).kind != BRUME_TYPE_TEXT;
}

static void choose_delimiter(const first_lines *kept, brume_text_format *format)
{
    static const char candidates[] = {',', '\t', ';', '|'};
    size_t best = agreeing(kept, *format);
    for (size_t i = 0; i < sizeof candidates; i++) {
        brume_text_format other = *format;
        other.delimiter = candidates[i];
        size_t same = other.delimiter == other.quote ? 0 : agreeing(kept, other);
        if (same > best) {
            best = same;
            format->delimiter = candidates[i];
        }
    }
}

brume_status brume_guess_format(const brume_text_file *file, bool delimiter, bool header,
                                brume_text_format *format, size_t *columns, brume_error *error)
{
    first_lines kept = {0};
    brume_status status = each_line(file, keep_line, &kept, error);
    if (status == BRUME_OK && kept.count == 0)
        status = brume_fail(error, BRUME_ESOURCE, NULL, "'%s' has no line", file->named);
    if (status == BRUME_OK && delimiter)
        choose_delimiter(&kept, format);
    if (status == BRUME_OK) {
        names_look seen = {0};
        char *at = kept.bytes;
        size_t count = split(format, &at, look_at_name, &seen);
        if (header)
            format->header = count > 0 && !seen.value;
        if (columns)
            *columns = count;
    }
    free(kept.bytes);
    return status;
}

/* ---- JSON ---- */

static brume_status find_first(void *context, const char *line, size_t length, bool *enough,
                               brume_error *error)
{
    (void)error;
    char *first = context;
    for (size_t i = 0; i < length && !*first; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r' && line[i] != '\n')
            *first = line[i];
    *enough = *first != 0;
    return BRUME_OK;
}

brume_status brume_refuse_array(const brume_text_file *file, brume_error *error)
{
    char first = 0;
    BRUME_TRY(each_line(file, find_first, &first, error));
    return first != '[' ? BRUME_OK
                        : brume_fail(error, BRUME_EUNSUPPORTED,
                                     "write one record a line: jq -c '.[]' FILE > LINES.json",
                                     "a JSON file that is one array cannot be read privately");
}

typedef struct fields {
    json_t *seen; /* name -> true */
    char **names;
    size_t count;
} fields;

static brume_status see_fields(void *context, const char *line, size_t length, bool *enough,
                               brume_error *error)
{
    (void)enough;
    fields *all = context;
    json_t *record = json_loadb(line, length, 0, NULL), *value = NULL;
    const char *name = NULL;
    brume_status status = BRUME_OK;
    json_object_foreach (record, name, value) {
        if (json_is_object(value) || json_is_array(value) || json_is_null(value) ||
            json_object_get(all->seen, name) || status != BRUME_OK)
            continue;
        char **grown = realloc(all->names, (all->count + 1) * sizeof *grown);
        char *copy = grown ? strdup(name) : NULL;
        all->names = grown ? grown : all->names;
        if (copy)
            all->names[all->count++] = copy;
        if (!copy || json_object_set_new(all->seen, name, json_true()) != 0)
            status = brume_no_memory(error, NULL);
    }
    json_decref(record);
    return status;
}

brume_status brume_guess_fields(const brume_text_file *file, char ***names, size_t *count,
                                brume_error *error)
{
    fields all = {json_object(), NULL, 0};
    brume_status status = all.seen ? each_line(file, see_fields, &all, error)
                                   : brume_no_memory(error, NULL);
    json_decref(all.seen);
    if (status != BRUME_OK) {
        for (size_t i = 0; i < all.count; i++)
            free(all.names[i]);
        free(all.names);
        return status;
    }
    *names = all.names;
    *count = all.count;
    return BRUME_OK;
}
