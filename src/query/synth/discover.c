/* Domains that are bought: which labels a column has.
 *
 * Promises: a label is shown with a probability that depends on how many rows have it, and a row of
 * each unit counts; so many columns share one selection of keys that a unit may be in, one of each
 * column. It costs discover_epsilon and discover_delta, which are no part of the tree's price
 * (proofs/tree.md). A number is one label however it is spelled. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <brume/mechanism/stable_histogram.h>

#include "base/error.h"
#include "query/collect/dictionary.h"
#include "query/synth/synth.h"
#include "synthetic/schema.h"

enum { MOST_LABELS = BRUME_TREE_VALUES - 1, NUMBER = 32 };

typedef struct labels_of {
    brume_dictionary labels;
    int64_t *rows; /* private: how many have each */
    size_t room;
} labels_of;

/* A number in its shortest spelling, so that 1, 01 and 1.0 are one label. */
static const char *spelled(const char *text, char room[NUMBER])
{
    double number;
    if (!brume_schema_number(text, &number))
        return text;
    number = number == 0 ? 0 : number; /* no -0 */
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(room, NUMBER, "%.*g", digits, number);
        if (strtod(room, NULL) == number)
            break;
    }
    return room;
}

static brume_status count_label(labels_of *all, const char *text, brume_error *error)
{
    char number[NUMBER];
    uint32_t place;
    bool added;
    if (!text || !*text)
        return BRUME_OK; /* missing */
    text = spelled(text, number);
    size_t length = strlen(text);
    if (all->labels.count + 1 > all->room) {
        size_t room = 2 * all->room + 256;
        int64_t *rows = realloc(all->rows, room * sizeof *rows);
        if (!rows)
            return brume_no_memory(error, "the labels");
        all->rows = rows;
        all->room = room;
    }
    uint64_t hash = brume_dictionary_hash(&all->labels, text, length);
    BRUME_TRY(brume_dictionary_add(&all->labels, hash, text, length, &place, &added, error));
    all->rows[place] = (added ? 0 : all->rows[place]) + 1;
    return BRUME_OK;
}

static void clear_labels(labels_of *all)
{
    brume_dictionary_clear(&all->labels);
    if (all->rows)
        explicit_bzero(all->rows, all->room * sizeof *all->rows);
    free(all->rows);
}

/* Numbers by size, before texts by their bytes: no order of rows is in it. */
static int in_order(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    double p, q;
    bool first = brume_schema_number(x, &p), second = brume_schema_number(y, &q);
    if (first && second && p != q)
        return p < q ? -1 : 1;
    return first != second ? second - first : strcmp(x, y);
}

static json_t *sorted(char **shown, size_t count)
{
    json_t *list = json_array();
    qsort(shown, count, sizeof *shown, in_order);
    for (size_t i = 0; i < count && i < MOST_LABELS; i++)
        json_array_append_new(list, json_string(shown[i])); /* not UTF-8: it is left out */
    return list;
}

/* Which of them are shown, in an order of their own. */
static brume_status show(const labels_of *all, const brume_key_selection *selection,
                         brume_bits *bits, json_t **out, brume_error *error)
{
    size_t count = all->labels.count, shown = 0;
    unsigned char *keep = calloc(count + 1, 1);
    char **texts = calloc(count + 1, sizeof *texts);
    brume_status status = keep && texts ? BRUME_OK : brume_no_memory(error, "the labels");
    if (status == BRUME_OK)
        status = brume_key_selection_draw(selection, bits, all->rows, keep, count, error);
    for (size_t i = 0; status == BRUME_OK && i < count; i++) {
        size_t length;
        const char *bytes = brume_dictionary_bytes(&all->labels, (uint32_t)i, &length);
        if (keep[i] && !(texts[shown++] = strndup(bytes, length)))
            status = brume_no_memory(error, "the labels");
    }
    if (status == BRUME_OK && !(*out = sorted(texts, shown)))
        status = brume_no_memory(error, "the labels");
    for (size_t i = 0; texts && i < shown; i++)
        free(texts[i]);
    free(texts);
    free(keep);
    return status;
}

static brume_status count_rows(brume_csv *csv, const size_t *places, size_t columns, labels_of *all,
                               brume_error *error)
{
    for (;;) {
        bool more;
        BRUME_TRY(brume_csv_next(csv, &more, error));
        if (!more)
            return BRUME_OK;
        for (size_t i = 0; i < columns; i++) {
            size_t length;
            BRUME_TRY(count_label(&all[i], brume_csv_field(csv, places[i], &length), error));
        }
    }
}

/* The columns to be discovered, by their places in the schema. */
static size_t list_columns(const brume_synth *synth, size_t *column)
{
    size_t count = 0;
    for (size_t c = 0; c < brume_schema_columns(synth->schema); c++)
        if (brume_synth_discovers(synth, brume_schema_name(synth->schema, c)))
            column[count++] = c;
    return count;
}

brume_status brume_synth_discover(const brume_synth *synth, const char *path, brume_bits *bits,
                                  json_t **found, brume_error *error)
{
    size_t column[BRUME_SCHEMA_COLUMNS], places[BRUME_SCHEMA_COLUMNS], mine[BRUME_SCHEMA_COLUMNS];
    size_t count = list_columns(synth, column);
    labels_of *all = calloc(count, sizeof *all);
    brume_key_selection *selection = NULL;
    brume_csv *csv = NULL;
    uint64_t words[2];
    json_t *made = json_object();
    brume_status status = all && made ? BRUME_OK : brume_no_memory(error, "the labels");
    if (status == BRUME_OK) /* a unit has one row, so one label of each column */
        status = brume_key_selection_open(synth->discover_epsilon, synth->discover_delta, count,
                                          synth->options.adjacency, &selection, error);
    if (status == BRUME_OK)
        status = brume_bits_words(bits, words, 2, error);
    for (size_t i = 0; status == BRUME_OK && i < count; i++)
        brume_dictionary_make(&all[i].labels, &(brume_hash_key){{words[0], words[1]}}, 0);
    if (status == BRUME_OK)
        status = brume_csv_open(path, synth->format, &csv, error);
    if (status == BRUME_OK)
        status = brume_synth_find_columns(synth, csv, places, error);
    for (size_t i = 0; status == BRUME_OK && i < count; i++)
        mine[i] = places[column[i]];
    if (status == BRUME_OK)
        status = count_rows(csv, mine, count, all, error);
    brume_csv_close(csv);
    for (size_t i = 0; status == BRUME_OK && i < count; i++) {
        json_t *labels = NULL;
        status = show(&all[i], selection, bits, &labels, error);
        if (status == BRUME_OK)
            json_object_set_new(made, brume_schema_name(synth->schema, column[i]), labels);
    }
    for (size_t i = 0; all && i < count; i++)
        clear_labels(&all[i]);
    free(all);
    brume_key_selection_close(selection);
    if (status == BRUME_OK)
        *found = made;
    else
        json_decref(made);
    return status;
}
