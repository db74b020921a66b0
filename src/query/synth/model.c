/* A model in a file: what a run of the method tree measured, which is paid, and its columns.
 *
 * Promises: the file holds what was released and public words, so anything may be done with it;
 * rows that are made of it cost nothing (brume_tree_redraw). A file is read as one from a stranger.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json_real.h"
#include "query/synth/synth.h"
#include "synthetic/schema.h"

/* ---- writing ---- */

json_t *brume_synth_model_json(const brume_tree_result *made)
{
    json_t *list = json_array();
    for (size_t i = 0; i < made->measured_count; i++) {
        const brume_tree_measured *one = &made->measured[i];
        json_t *columns = json_array(), *levels = json_array(), *bins = json_array(),
               *noisy = json_array();
        for (size_t k = 0; k < one->columns; k++) {
            json_array_append_new(columns, json_integer(one->column[k]));
            json_array_append_new(levels, json_integer(one->level[k]));
            json_array_append_new(bins, json_integer(one->bins[k]));
        }
        for (size_t x = 0; x < one->cells; x++)
            json_array_append_new(noisy, json_integer(one->noisy[x]));
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:I, s:f, s:o}", "column", columns,
                                              "level", levels, "bins", bins, "round",
                                              (json_int_t)one->round, "sigma", one->sigma, "noisy",
                                              noisy));
    }
    return json_pack("{s:f, s:I, s:o}", "records", made->records, "rounds",
                     (json_int_t)made->rounds, "measured", list);
}

static json_t *columns_json(const brume_schema *schema)
{
    json_t *list = json_array();
    for (size_t c = 0; c < brume_schema_columns(schema); c++) {
        bool other = brume_schema_has_other(schema, c);
        uint32_t count = brume_schema_size(schema, c) - other;
        json_t *one = json_pack("{s:s, s:b}", "name", brume_schema_name(schema, c), "other", other);
        json_t *labels = json_array();
        char room[BRUME_SCHEMA_TEXT];
        for (uint32_t v = 0; !brume_schema_has_bins(schema, c) && v < count; v++)
            json_array_append_new(labels, json_string(brume_schema_text(schema, c, v, room)));
        if (brume_schema_has_bins(schema, c)) {
            json_object_set_new(one, "low", json_real(brume_schema_edge(schema, c, 0)));
            json_object_set_new(one, "high", json_real(brume_schema_edge(schema, c, count)));
            json_object_set_new(one, "bins", json_integer(count));
        } else {
            json_object_set(one, "labels", labels);
        }
        json_decref(labels);
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *zeros_json(const brume_tree_question *tree)
{
    json_t *list = json_array();
    for (size_t i = 0; i < tree->zeros; i++) {
        json_t *columns = json_array();
        size_t cells = 1;
        for (size_t k = 0; k < tree->zero[i].columns; k++) {
            json_array_append_new(columns, json_integer(tree->zero[i].column[k]));
            cells *= tree->column[tree->zero[i].column[k]].values;
        }
        char *text = calloc(cells + 1, 1);
        for (size_t x = 0; text && x < cells; x++)
            text[x] = tree->zero[i].never[x] ? '1' : '0';
        json_array_append_new(
            list, json_pack("{s:o, s:s}", "column", columns, "never", text ? text : ""));
        free(text);
    }
    return list;
}

brume_status brume_synth_write_model(const brume_synth *synth, const brume_synth_rows *rows,
                                     const json_t *model, const char *path, brume_error *error)
{
    json_t *file = model ? json_deep_copy(model) : NULL;
    if (!file)
        return brume_fail(error, BRUME_EUNSUPPORTED, "buy it again, with other --rows",
                          "the recorded answer has no model");
    json_object_set_new(file, "brume_tree_model", json_integer(1));
    json_object_set_new(file, "columns", columns_json(rows->found ? rows->found : synth->schema));
    json_object_set_new(file, "never", zeros_json(&synth->tree));
    int failed =
        json_dump_file(file, path, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    json_decref(file);
    return failed ? brume_fail(error, BRUME_EDISK, NULL, "cannot write '%s': %s", path,
                               strerror(errno))
                  : BRUME_OK;
}

/* ---- reading ---- */

static brume_status wrong(const char *what, brume_error *error)
{
    return brume_fail(error, BRUME_EARGUMENT, "a file that '--model' wrote", "the model's %s",
                      what);
}

static brume_status read_column(const json_t *one, brume_schema *schema, brume_error *error)
{
    const char *name = json_string_value(json_object_get(one, "name"));
    const json_t *labels = json_object_get(one, "labels");
    bool other = json_is_true(json_object_get(one, "other"));
    size_t count = json_array_size(labels);
    if (!name)
        return wrong("columns have no names", error);
    if (!labels) {
        json_int_t bins = json_integer_value(json_object_get(one, "bins"));
        return brume_schema_add_bins(schema, name, json_number_value(json_object_get(one, "low")),
                                     json_number_value(json_object_get(one, "high")),
                                     bins > 0 && bins < 1 << 20 ? (uint32_t)bins : 0, other, error);
    }
    const char **texts = calloc(count + 1, sizeof *texts);
    if (!texts)
        return brume_no_memory(error, NULL);
    bool good = true;
    for (size_t i = 0; i < count; i++)
        good = (texts[i] = json_string_value(json_array_get(labels, i))) && good;
    brume_status status = good ? brume_schema_add_labels(schema, name, texts, count, other, error)
                               : wrong("labels are no texts", error);
    free(texts);
    return status;
}

/* A whole number of a list, from 0 to below `below`; SIZE_MAX: it is none. */
static size_t number_at(const json_t *list, size_t i, size_t below)
{
    const json_t *one = json_array_get(list, i);
    json_int_t value = json_integer_value(one);
    return json_is_integer(one) && value >= 0 && (uint64_t)value < below ? (size_t)value : SIZE_MAX;
}

static brume_status read_measured(const json_t *one, size_t columns, brume_tree_measured *out,
                                  brume_error *error)
{
    const json_t *list = json_object_get(one, "column"), *noisy = json_object_get(one, "noisy");
    bool good = true;
    *out = (brume_tree_measured){.columns = json_array_size(list),
                                 .sigma = json_number_value(json_object_get(one, "sigma")),
                                 .cells = 1,
                                 .score = NAN};
    good = out->columns >= 1 && out->columns <= 3 && out->sigma > 0 && isfinite(out->sigma);
    for (size_t k = 0; good && k < out->columns; k++) {
        size_t column = number_at(list, k, columns);
        size_t level = number_at(json_object_get(one, "level"), k, BRUME_TREE_LEVELS);
        size_t bins = number_at(json_object_get(one, "bins"), k, BRUME_TREE_VALUES + 1);
        good = column != SIZE_MAX && level != SIZE_MAX && bins != SIZE_MAX && bins > 0 &&
               (k == 0 || column > out->column[k - 1]);
        out->column[k] = (uint16_t)column;
        out->level[k] = (uint8_t)level;
        out->bins[k] = (uint32_t)bins;
        out->cells *= bins;
    }
    good = good && out->cells == json_array_size(noisy);
    out->noisy = good ? malloc(out->cells * sizeof *out->noisy) : NULL;
    for (size_t x = 0; good && out->noisy && x < out->cells; x++) {
        const json_t *count = json_array_get(noisy, x);
        out->noisy[x] = json_integer_value(count);
        good = json_is_integer(count) && llabs(out->noisy[x]) < INT64_C(1) << 50;
    }
    if (!good)
        return wrong("measurements are not whole", error);
    return out->noisy ? BRUME_OK : brume_no_memory(error, "the model");
}

static brume_status read_zero(const json_t *one, const brume_tree_question *tree,
                              brume_tree_zero *out, brume_error *error)
{
    const json_t *list = json_object_get(one, "column");
    const char *text = json_string_value(json_object_get(one, "never"));
    size_t cells = 1;
    out->columns = json_array_size(list);
    bool good = out->columns >= 1 && out->columns <= 3 && text;
    for (size_t k = 0; good && k < out->columns; k++) {
        size_t column = number_at(list, k, tree->columns);
        good = column != SIZE_MAX && tree->column[column].values <= BRUME_TREE_MODEL_VALUES &&
               (k == 0 || column > out->column[k - 1]);
        out->column[k] = (uint16_t)column;
        cells *= good ? tree->column[column].values : 1;
    }
    if (!good || strlen(text) != cells)
        return wrong("conditions are not whole", error);
    uint8_t *never = malloc(cells);
    for (size_t x = 0; never && x < cells; x++)
        never[x] = text[x] == '1';
    out->never = never;
    return never ? BRUME_OK : brume_no_memory(error, "the model");
}

static brume_status read_all(brume_synth *synth, const json_t *file, brume_tree_result *from,
                             brume_error *error)
{
    const json_t *columns = json_object_get(file, "columns"),
                 *measured = json_object_get(file, "measured"),
                 *never = json_object_get(file, "never");
    if (json_integer_value(json_object_get(file, "brume_tree_model")) != 1)
        return wrong("kind is unknown", error);
    BRUME_TRY(brume_schema_open(&synth->schema, error));
    for (size_t c = 0; c < json_array_size(columns); c++)
        BRUME_TRY(read_column(json_array_get(columns, c), synth->schema, error));
    brume_synth_tree_columns(synth);
    from->records = json_number_value(json_object_get(file, "records"));
    from->rounds = (uint64_t)json_integer_value(json_object_get(file, "rounds"));
    from->measured = calloc(json_array_size(measured) + 1, sizeof *from->measured);
    synth->tree_zeros = calloc(json_array_size(never) + 1, sizeof *synth->tree_zeros);
    if (!from->measured || !synth->tree_zeros)
        return brume_no_memory(error, "the model");
    synth->tree.zero = synth->tree_zeros;
    for (size_t i = 0; i < json_array_size(measured); i++) {
        from->measured_count++;
        BRUME_TRY(read_measured(json_array_get(measured, i), synth->tree.columns,
                                &from->measured[i], error));
    }
    for (size_t i = 0; i < json_array_size(never); i++) {
        synth->tree.zeros++;
        BRUME_TRY(read_zero(json_array_get(never, i), &synth->tree, &synth->tree_zeros[i], error));
    }
    return BRUME_OK;
}

brume_status brume_synth_again(const brume_synth_words *words, brume_bits *bits, brume_synth *out,
                               brume_synth_rows *rows, brume_error *error)
{
    json_error_t fault;
    brume_tree_result from = {0}, made;
    *out = (brume_synth){.words = *words, .is_tree = true, .rows = words->rows};
    json_t *file = json_load_file(words->source, 0, &fault);
    if (!file)
        return brume_fail(error, BRUME_EARGUMENT, "a file that '--model' wrote",
                          "cannot read the model '%s': %s", words->source, fault.text);
    brume_status status = read_all(out, file, &from, error);
    json_decref(file);
    out->tree.options = (brume_tree_options){
        .adjacency = BRUME_ADD_REMOVE, .rows_per_unit = 1, .rows = words->rows, .beta = 0.5};
    if (status == BRUME_OK)
        status = brume_tree_redraw(&out->tree, &from, bits, &made, error);
    if (status == BRUME_OK)
        *rows = (brume_synth_rows){.tree = made};
    brume_tree_result_clear(&from);
    return status;
}
