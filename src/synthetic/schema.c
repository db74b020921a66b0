/* A schema: named columns with public domains.
 *
 * Promises: brume_schema_value is a function of the text and the schema alone, and total. */
#include "synthetic/schema.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"

/* A label with its place; kept sorted for the search. */
typedef struct sorted_text {
    const char *text;
    uint32_t value;
} sorted_text;

typedef struct sorted_number {
    double number;
    uint32_t value;
} sorted_number;

typedef struct schema_column {
    char *name;
    bool other;
    uint32_t count;         /* labels or bins, without other */
    char **labels;          /* NULL: bins */
    sorted_text *texts;     /* the labels by their bytes */
    sorted_number *numbers; /* those that are numbers, by size */
    uint32_t number_count;
    double low, high;
} schema_column;

struct brume_schema {
    size_t count;
    schema_column columns[BRUME_SCHEMA_COLUMNS];
};

brume_status brume_schema_open(brume_schema **out, brume_error *error)
{
    brume_schema *schema = calloc(1, sizeof *schema);
    if (!schema)
        return brume_no_memory(error, "a schema");
    *out = schema;
    return BRUME_OK;
}

static void clear_column(schema_column *one)
{
    for (uint32_t i = 0; one->labels && i < one->count; i++)
        free(one->labels[i]);
    free(one->labels);
    free(one->texts);
    free(one->numbers);
    free(one->name);
    *one = (schema_column){0};
}

void brume_schema_close(brume_schema *schema)
{
    if (!schema)
        return;
    for (size_t i = 0; i < schema->count; i++)
        clear_column(&schema->columns[i]);
    free(schema);
}

bool brume_schema_number(const char *text, double *out)
{
    while (*text == ' ' || *text == '\t')
        text++;
    /* strtod also reads hexadecimal, infinities and NaN: no labels are meant by them */
    if (strspn(text, "+-0123456789.eE \t") != strlen(text) || strlen(text) > 400)
        return false;
    char *end;
    double number = strtod(text, &end);
    if (end == text || isnan(number))
        return false;
    while (*end == ' ' || *end == '\t')
        end++;
    if (*end != 0)
        return false;
    *out = number;
    return true;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const sorted_text *)a)->text, ((const sorted_text *)b)->text);
}

static int by_number(const void *a, const void *b)
{
    double x = ((const sorted_number *)a)->number, y = ((const sorted_number *)b)->number;
    return (x > y) - (x < y);
}

/* ---- adding columns ---- */

static brume_status check_name(const brume_schema *schema, const char *name, brume_error *error)
{
    if (!*name)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a column without a name");
    for (size_t i = 0; i < schema->count; i++)
        if (strcmp(schema->columns[i].name, name) == 0)
            return brume_fail(error, BRUME_EARGUMENT, NULL, "the column '%s' is there twice", name);
    if (schema->count == BRUME_SCHEMA_COLUMNS)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "more than %d columns",
                          BRUME_SCHEMA_COLUMNS);
    return BRUME_OK;
}

/* Sort for the search; two labels that one text could mean are refused. */
static brume_status sort_labels(schema_column *one, brume_error *error)
{
    for (uint32_t i = 0; i < one->count; i++) {
        one->texts[i] = (sorted_text){one->labels[i], i};
        double number;
        if (brume_schema_number(one->labels[i], &number))
            one->numbers[one->number_count++] = (sorted_number){number, i};
    }
    qsort(one->texts, one->count, sizeof *one->texts, by_text);
    qsort(one->numbers, one->number_count, sizeof *one->numbers, by_number);
    for (uint32_t i = 1; i < one->count; i++)
        if (by_text(&one->texts[i - 1], &one->texts[i]) == 0)
            return brume_fail(error, BRUME_EARGUMENT, NULL, "the domain of '%s' has '%s' twice",
                              one->name, one->texts[i].text);
    for (uint32_t i = 1; i < one->number_count; i++)
        if (one->numbers[i - 1].number == one->numbers[i].number)
            return brume_fail(error, BRUME_EARGUMENT, "they are the same number",
                              "the domain of '%s' has '%s' and '%s'", one->name,
                              one->labels[one->numbers[i - 1].value],
                              one->labels[one->numbers[i].value]);
    return BRUME_OK;
}

brume_status brume_schema_add_labels(brume_schema *schema, const char *name,
                                     const char *const *labels, size_t count, bool other,
                                     brume_error *error)
{
    BRUME_TRY(check_name(schema, name, error));
    if (count < 1 || count > BRUME_SCHEMA_VALUES)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "the domain of '%s' has %zu values, must have 1 to %d", name, count,
                          BRUME_SCHEMA_VALUES);
    for (size_t i = 0; i < count; i++)
        if (!*labels[i])
            return brume_fail(error, BRUME_EARGUMENT, "an empty text is a missing value",
                              "the domain of '%s' has an empty value", name);
    schema_column one = {.name = strdup(name),
                         .other = other,
                         .count = (uint32_t)count,
                         .labels = calloc(count, sizeof *one.labels),
                         .texts = calloc(count, sizeof *one.texts),
                         .numbers = calloc(count, sizeof *one.numbers)};
    bool good = one.name && one.labels && one.texts && one.numbers;
    for (size_t i = 0; good && i < count; i++)
        good = (one.labels[i] = strdup(labels[i])) != NULL;
    brume_status status = good ? sort_labels(&one, error) : brume_no_memory(error, "a schema");
    if (status == BRUME_OK)
        schema->columns[schema->count++] = one;
    else
        clear_column(&one);
    return status;
}

brume_status brume_schema_add_bins(brume_schema *schema, const char *name, double low, double high,
                                   uint32_t bins, bool other, brume_error *error)
{
    BRUME_TRY(check_name(schema, name, error));
    if (!(low < high) || !(fabs(low) <= 1e300 && fabs(high) <= 1e300))
        return brume_fail(error, BRUME_EARGUMENT, "write the lower first, both within 1e300",
                          "the bounds of '%s' are %g and %g", name, low, high);
    if (bins < 1 || bins > BRUME_SCHEMA_VALUES)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'%s' is cut into %u bins, must be 1 to %d",
                          name, bins, BRUME_SCHEMA_VALUES);
    schema_column one = {
        .name = strdup(name), .other = other, .count = bins, .low = low, .high = high};
    if (!one.name)
        return brume_no_memory(error, "a schema");
    schema->columns[schema->count++] = one;
    return BRUME_OK;
}

/* ---- reading ---- */

size_t brume_schema_columns(const brume_schema *schema)
{
    return schema->count;
}

const char *brume_schema_name(const brume_schema *schema, size_t column)
{
    return schema->columns[column].name;
}

size_t brume_schema_find(const brume_schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->count; i++)
        if (strcmp(schema->columns[i].name, name) == 0)
            return i;
    for (size_t i = 0; i < schema->count; i++)
        if (strcasecmp(schema->columns[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

uint32_t brume_schema_size(const brume_schema *schema, size_t column)
{
    return schema->columns[column].count + schema->columns[column].other;
}

bool brume_schema_has_other(const brume_schema *schema, size_t column)
{
    return schema->columns[column].other;
}

bool brume_schema_has_bins(const brume_schema *schema, size_t column)
{
    return !schema->columns[column].labels;
}

brume_status brume_schema_universe(const brume_schema *schema, brume_universe *out,
                                   brume_error *error)
{
    uint32_t sizes[BRUME_SCHEMA_COLUMNS];
    for (size_t i = 0; i < schema->count; i++)
        sizes[i] = brume_schema_size(schema, i);
    return brume_universe_make(sizes, schema->count, out, error);
}

double brume_schema_edge(const brume_schema *schema, size_t column, uint32_t i)
{
    double low = schema->columns[column].low, high = schema->columns[column].high;
    double share = (double)i / schema->columns[column].count;
    if (i == 0)
        return low;
    if (i == schema->columns[column].count)
        return high;
    return low * (1 - share) + high * share;
}

/* The bin of a number within the bounds: a guess, then the edges themselves decide. */
static uint32_t find_bin(const brume_schema *schema, size_t column, double number)
{
    uint32_t count = schema->columns[column].count, low = 0, high = count - 1;
    while (low < high) { /* the last bin whose lower edge is not above the number */
        uint32_t middle = low + (high - low + 1) / 2;
        if (brume_schema_edge(schema, column, middle) <= number)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static bool find_label(const schema_column *one, const char *text, uint32_t *value)
{
    sorted_text wanted = {text, 0};
    const sorted_text *found =
        bsearch(&wanted, one->texts, one->count, sizeof *one->texts, by_text);
    if (found) {
        *value = found->value;
        return true;
    }
    sorted_number number = {0};
    if (one->number_count == 0 || !brume_schema_number(text, &number.number))
        return false;
    const sorted_number *same =
        bsearch(&number, one->numbers, one->number_count, sizeof *one->numbers, by_number);
    if (same)
        *value = same->value;
    return same != NULL;
}

bool brume_schema_value(const brume_schema *schema, size_t column, const char *text,
                        uint32_t *value)
{
    const schema_column *one = &schema->columns[column];
    double number;
    bool found = false;
    if (text && one->labels) {
        found = find_label(one, text, value);
    } else if (text && brume_schema_number(text, &number)) {
        *value = find_bin(schema, column, fmin(fmax(number, one->low), one->high));
        found = true;
    }
    if (!found && one->other) {
        *value = one->count;
        found = true;
    }
    return found;
}

bool brume_schema_cell(const brume_schema *schema, const brume_universe *universe,
                       brume_adjacency adjacency, const char *const *texts, uint64_t *cell)
{
    uint64_t number = 0;
    for (size_t c = 0; c < schema->count; c++) {
        uint32_t value = 0;
        if (!brume_schema_value(schema, c, texts[c], &value) && adjacency != BRUME_REPLACE)
            return false;
        number += value * universe->stride[c];
    }
    *cell = number;
    return true;
}

const char *brume_schema_text(const brume_schema *schema, size_t column, uint32_t value,
                              char room[BRUME_SCHEMA_TEXT])
{
    const schema_column *one = &schema->columns[column];
    if (value >= one->count)
        return "";
    if (one->labels)
        return one->labels[value];
    double middle = brume_schema_edge(schema, column, value) / 2 +
                    brume_schema_edge(schema, column, value + 1) / 2;
    for (int digits = 15; digits <= 17; digits++) { /* the shortest of these that reads back */
        snprintf(room, BRUME_SCHEMA_TEXT, "%.*g", digits, middle);
        if (strtod(room, NULL) == middle)
            break;
    }
    return room;
}
