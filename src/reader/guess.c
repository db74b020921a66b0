/* An owner's look at the lines of a text file: see the header. */
#include "reader/guess.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

#include "base/error.h"
#include "reader/csv_line.h"
#include "reader/find.h"
#include "reader/value.h"

/* ---- which type fits all values of a column: see guess.h ---- */

enum { MOST_DIGITS = 38 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* [+-] digits [. digits], without an exponent; how many digits are on either side, zeros in front
 * not counted. A leading zero is a code, not a number: 007. */
static bool is_plain_number(brume_text text, int *before, int *behind)
{
    size_t at = text.length > 0 && (text.data[0] == '-' || text.data[0] == '+');
    size_t whole = at;
    while (whole < text.length && is_digit(text.data[whole]))
        whole++;
    size_t end = whole;
    if (end < text.length && text.data[end] == '.')
        for (end++; end < text.length && is_digit(text.data[end]);)
            end++;
    size_t digits = whole - at, fraction = end > whole ? end - whole - 1 : 0;
    if (end != text.length || digits == 0 || (end > whole && fraction == 0) ||
        (digits > 1 && text.data[at] == '0') || digits > MOST_DIGITS || fraction > MOST_DIGITS)
        return false;
    *before = (int)digits > *before ? (int)digits : *before;
    *behind = (int)fraction > *behind ? (int)fraction : *behind;
    return true;
}

static bool is_truth_word(brume_text text)
{
    static const char *const words[] = {"true", "false", "t", "f", "yes", "no"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (text.length == strlen(words[i]) && strncasecmp(text.data, words[i], text.length) == 0)
            return true;
    return false;
}

void brume_guess_see(brume_type_guess *guess, brume_text value)
{
    double real;
    int32_t days;
    int64_t microseconds;
    brume_text text = value.data ? brume_value_trim(value) : value;
    if (!text.data || text.length == 0)
        return;
    guess->values++;
    if (!guess->not_boolean)
        guess->not_boolean = !is_truth_word(text);
    bool is_number = is_plain_number(text, &guess->before, &guess->behind);
    bool is_date = brume_value_date(text, &days);
    bool is_timestamp = brume_value_timestamp(text, &microseconds);
    guess->numbers += is_number;
    guess->dates += is_date;
    guess->timestamps += is_timestamp;
    guess->not_number |= !is_number;
    guess->not_date |= !is_date;
    guess->not_timestamp |= !is_timestamp;
    if (!guess->not_double) /* a leading zero is a code, also here */
        guess->not_double = !brume_value_double(text, &real) ||
                            (text.length > 1 && text.data[0] == '0' && is_digit(text.data[1]));
}

/* The narrowest type of the plain numbers that were seen; text where none has so many digits. */
static brume_type number_type(const brume_type_guess *guess)
{
    enum { INTEGER_DIGITS = 9, BIGINT_DIGITS = 18 };
    brume_type type = {BRUME_TYPE_TEXT, 0, 0};
    int digits = guess->before + guess->behind;
    if (guess->behind == 0 && guess->before <= INTEGER_DIGITS)
        type.kind = BRUME_TYPE_INTEGER;
    else if (guess->behind == 0 && guess->before <= BIGINT_DIGITS)
        type.kind = BRUME_TYPE_BIGINT;
    else if (guess->behind > 0 && digits <= BIGINT_DIGITS)
        type = (brume_type){BRUME_TYPE_DECIMAL, BIGINT_DIGITS, guess->behind};
    else if (digits <= MOST_DIGITS)
        type = (brume_type){BRUME_TYPE_DECIMAL, MOST_DIGITS, guess->behind};
    return type;
}

brume_type brume_guess_type(const brume_type_guess *guess)
{
    brume_type type = {BRUME_TYPE_TEXT, 0, 0};
    if (guess->values == 0)
        return type;
    if (!guess->not_number)
        type = number_type(guess);
    if (!guess->not_boolean)
        type.kind = BRUME_TYPE_BOOLEAN;
    else if (type.kind != BRUME_TYPE_TEXT)
        return type;
    else if (!guess->not_double)
        type.kind = BRUME_TYPE_DOUBLE;
    else if (!guess->not_date)
        type.kind = BRUME_TYPE_DATE;
    else if (!guess->not_timestamp)
        type.kind = BRUME_TYPE_TIMESTAMP;
    return type;
}

brume_type brume_guess_nearly(const brume_type_guess *guess, uint64_t *others)
{
    brume_type type = {BRUME_TYPE_TEXT, 0, 0};
    uint64_t needed = guess->values - guess->values / 10, found = 0;
    *others = 0;
    if (guess->values == 0 || brume_guess_type(guess).kind != BRUME_TYPE_TEXT)
        return type;
    if (guess->numbers >= needed) {
        type = number_type(guess);
        found = guess->numbers;
    } else if (guess->dates >= needed) {
        type.kind = BRUME_TYPE_DATE;
        found = guess->dates;
    } else if (guess->timestamps >= needed) {
        type.kind = BRUME_TYPE_TIMESTAMP;
        found = guess->timestamps;
    }
    *others = guess->values - found;
    return type;
}

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
