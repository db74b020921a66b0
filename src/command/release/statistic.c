/* brume statistic: a statistic of a file with its local sensitivity, smooth sensitivity and
 * distance to instability. For teaching: it is not private, and says so first. */
#include "command/release/words.h"

#include <stdlib.h>
#include <string.h>

#include "command/frame/input.h"
#include "command/frame/table.h"

/* A local sensitivity in the statistic's units: both its ends may be off by half a step. */
static json_t *local_json(const brume_look *look)
{
    double steps = look->found.local;
    return brume_look_number(steps * look->step, look->step < 1 && steps > 0 ? look->step : 0);
}

static json_t *to_json(const char *statistic, const brume_look *look)
{
    const brume_instability *found = &look->found;
    json_t *answer = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:b, s:s, s:f, s:f, s:b}", "statistic", statistic, "value",
        look->value ? json_incref(look->value) : json_null(), "local_sensitivity", local_json(look),
        "smooth_sensitivity", brume_json_real(found->smooth * look->step), "distance",
        found->distance == UINT64_MAX ? json_null() : json_integer((json_int_t)found->distance),
        "private", 0, "adjacency", brume_adjacency_word(look->adjacency), "smoothness",
        look->smoothness, "beta", look->beta, "exact",
        (int)(found->local_exact && found->smooth_exact));
    if (answer && look->of)
        json_object_set_new(answer, "sensitivity_of", json_string(look->of));
    if (answer && isinf(found->smooth))
        json_object_set_new(answer, "infinite", json_true());
    return answer;
}

/* A JSON scalar as text, in a buffer of the caller. */
static const char *scalar_text(const json_t *value, char *buffer, size_t size)
{
    if (json_is_string(value))
        return json_string_value(value);
    if (json_is_integer(value))
        snprintf(buffer, size, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(buffer, size, "%s", brume_shortest(json_real_value(value)).text);
    else
        snprintf(buffer, size, "none");
    return buffer;
}

static void line(brume_table *table, const char *name, const json_t *value, const char *none,
                 const char *meaning)
{
    char buffer[64];
    brume_table_cell(table, "%s", name);
    brume_table_cell(table, "%s",
                     !value || json_is_null(value) ? none
                                                   : scalar_text(value, buffer, sizeof buffer));
    brume_table_cell(table, "%s", meaning);
}

static brume_status write_text(brume_call *call, const brume_look *look, const json_t *answer,
                               brume_error *error)
{
    static const char *const heads[] = {"", "", "~", NULL};
    const char *change = look->adjacency == BRUME_EDGE      ? "one edge more or less"
                         : look->adjacency == BRUME_REPLACE ? "replacing one row"
                                                            : "one row more or less";
    const char *of = look->of ? look->of : "it";
    char local[160], smooth[160], distance[200];
    snprintf(local, sizeof local, "%sthe most that %s moves %s",
             look->found.local_exact ? "" : "a bound: ", change, of);
    snprintf(smooth, sizeof smooth,
             "%sthe largest e^(-%s k) times the local sensitivity k changes "
             "away",
             look->found.smooth_exact ? "" : "a bound: ", brume_shortest(look->smoothness).text);
    snprintf(distance, sizeof distance,
             "%schanges after which one more can move %s by more than %s",
             look->found.smooth_exact ? "" : "at least: ", of, brume_shortest(look->beta).text);
    fprintf(call->out,
            "NOT PRIVATE: true numbers of the file, without noise; do not publish them\n");
    brume_table *table = brume_table_open(heads);
    line(table, brume_call_operand(call, 0), json_object_get(answer, "value"), "none", "");
    line(table, "local sensitivity", json_object_get(answer, "local_sensitivity"), "infinite",
         local);
    line(table, "smooth sensitivity", json_object_get(answer, "smooth_sensitivity"), "infinite",
         smooth);
    line(table, "distance", json_object_get(answer, "distance"), "infinite", distance);
    return brume_table_write(table, call, error);
}

static brume_status look_at(const brume_call *call, const brume_release_words *words,
                            brume_look *look, brume_error *error)
{
    brume_input file = {0};
    bool edges = look->adjacency == BRUME_EDGE;
    brume_status status = brume_release_input(call, edges ? "source,target" : "", &file, error);
    if (status == BRUME_OK)
        status = brume_look_at_file(words, file.path, file.format, look, error);
    brume_input_close(&file);
    return status;
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_release_typed typed;
    brume_look look = {.smoothness = brume_call_real(call, "smoothness", .1),
                       .beta = brume_call_real(call, "beta", 0)};
    BRUME_TRY(brume_release_typed_open(call, &typed, error));
    brume_status status = brume_look_check(&typed.words, &look, error);
    if (status == BRUME_OK)
        status = look_at(call, &typed.words, &look, error);
    json_t *answer = status == BRUME_OK ? to_json(typed.words.statistic, &look) : NULL;
    if (status == BRUME_OK && !answer)
        status = brume_no_memory(error, "the answer");
    if (status == BRUME_OK && call->json)
        status = brume_call_write_json(call, json_incref(answer), error);
    else if (status == BRUME_OK)
        status = write_text(call, &look, answer, error);
    json_decref(answer);
    json_decref(look.value);
    brume_release_typed_close(&typed);
    return status;
}

static const char *const names[] = {"median",     "quantile",  "iqr",        "mode",
                                    "reciprocal", "triangles", "regression", NULL};
static const char *const adjacencies[] = {"add-remove", "replace", "edge", NULL};

const brume_command brume_command_statistic = {
    .name = "statistic",
    .summary = "show a statistic's local and smooth sensitivity, without privacy",
    .usage = "NAME FILE [OPTION...]",
    .description =
        "For teaching and for choosing a method on made-up data: the true value of a statistic, "
        "how far one change of the data can move it (local sensitivity), the smooth sensitivity "
        "for a smoothness t, and the distance to instability. None of this is private, not even "
        "the sensitivities: do not publish them and do not choose noise by them.\n\n"
        "The distance is the number of changes after which one more can move the statistic by "
        "more than --beta; with 0, the number of changes that surely leave it as it is. It is "
        "what propose-test-release tests. The values of a mode are at distance 1 from each other. "
        "A regression is the prediction's standard deviation per unit of noise at the point --at; "
        "its sensitivities are those of its logarithm.\n\n"
        "The numbers are exact for one row per unit, but where the output says 'a bound': iqr "
        "under add-remove (smooth sensitivity, distance) and regression show the bounds that "
        "private releases use. Missing values are dropped under add-remove and counted at the "
        "lower bound under replace, as 'release' does.",
    BRUME_OPERANDS(
        BRUME_OPERAND(
            CHOICE, "NAME",
            "median, quantile, iqr, mode, reciprocal (of the number of rows), triangles or regression",
            .choices = names),
        BRUME_OPERAND(FILE, "FILE", "a CSV, Parquet or JSON file")),
    BRUME_OPTIONS(
        BRUME_OPTION(TEXT, "column", "C", "the column"),
        BRUME_OPTION(TEXT, "bounds", "[C=]LO..HI",
                     "bounds of its values; values outside are clamped", .repeated = true),
        BRUME_OPTION(CHOICE, "adjacency", "A", "add-remove unless typed; edge for triangles",
                     .choices = adjacencies),
        BRUME_OPTION(REAL, "smoothness", "T", "t of the smooth sensitivity: 0.1 unless typed",
                     BRUME_FROM_TO(1e-6, 64)),
        BRUME_OPTION(REAL, "beta", "B",
                     "distance to data that one change can move by more than B: 0 unless typed",
                     BRUME_FROM_TO(0, 1e300)),
        BRUME_OPTION(REAL, "q", "Q", "which quantile", BRUME_FROM_TO(0, 1)),
        BRUME_OPTION(TEXT, "domain", "V1,V2,...",
                     "the values that a mode can have; any text unless typed"),
        BRUME_OPTION(COUNT, "vertices", "N",
                     "number of vertices of the graph, labelled 0..N-1 or 1..N",
                     BRUME_FROM_TO(1, 4294967294)),
        BRUME_OPTION(TEXT, "columns", "C1,C2,...", "the columns of a regression"),
        BRUME_OPTION(TEXT, "at", "X,Y,...", "the point of a regression's prediction")),
    BRUME_EXAMPLES(
        "statistic median people.csv --column age --bounds 0..120",
        "statistic quantile people.csv --column age --bounds 0..120 --q 0.9 --adjacency replace "
        "--smoothness 0.5 --json",
        "statistic mode people.csv --column city"),
    .run = run,
};
