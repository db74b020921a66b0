/* The answer of `brume release`, as JSON and as text. */
#include "command/release/release.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/frame/readable.h"
#include "command/frame/table.h"
#include "ledger/dataset.h"

/* A part of the cost as it is shown: all of what was typed is what was typed, although the double
 * that was drawn with may be the one below. */
static double shown(const brume_release *release, const char *option, double used, double cost)
{
    return cost == used ? brume_call_real(release->call, option, cost) : cost;
}

static double shown_epsilon(const brume_release *release)
{
    return shown(release, "epsilon", release->epsilon, release->cost_epsilon);
}

static double shown_delta(const brume_release *release)
{
    return shown(release, "delta", release->delta, release->cost_delta);
}

static json_t *cost_json(const brume_release *release)
{
    return json_pack("{s:o, s:o, s:o}", "epsilon", brume_json_real(shown_epsilon(release)), "delta",
                     brume_json_real(shown_delta(release)), "rho",
                     brume_json_real(release->cost_rho));
}

void brume_release_tell(brume_release *release, const char *name, json_t *value)
{
    if (!release->more)
        release->more = json_object();
    json_object_set_new(release->more, name, value);
}

json_t *brume_release_to_json(const brume_release *release)
{
    json_t *answer = json_pack("{s:s, s:b, s:s, s:s, s:o, s:o}", "statistic", release->statistic,
                               "released", release->released, "method", release->method,
                               "adjacency", brume_adjacency_word(release->adjacency), "cost",
                               cost_json(release), "error_95", brume_json_real(release->error_95));
    if (answer && release->rows)
        json_object_set(answer, "rows", release->rows);
    else if (answer)
        json_object_set_new(answer, "value",
                            release->value ? json_incref(release->value) : json_null());
    if (answer && release->more)
        json_object_update(answer, release->more);
    return answer;
}

/* A cell as text, a number in the decimals that its error leaves meaningful; the caller frees it.
 */
static char *cell_text(const json_t *cell, double error_95)
{
    char *text = NULL;
    if (json_is_real(cell) && isfinite(error_95))
        return strdup(brume_value_and_error(json_real_value(cell), error_95, false).value.text);
    int length = json_is_string(cell) ? asprintf(&text, "%s", json_string_value(cell))
                 : json_is_integer(cell)
                     ? asprintf(&text, "%lld", (long long)json_integer_value(cell))
                 : json_is_real(cell)
                     ? asprintf(&text, "%s", brume_shortest(json_real_value(cell)).text)
                     : asprintf(&text, "none");
    return length < 0 ? NULL : text;
}

/* The bar of a value, never below it; that of a whole number is whole where it was. */
static brume_number_text bar_text(const json_t *value, double error_95)
{
    bool whole = (!value || json_is_integer(value)) && error_95 == floor(error_95);
    return brume_value_and_error(0, error_95, whole).error;
}

/* The rows as a table: names, then a number; or one value a row. */
static brume_status write_rows(brume_call *call, const json_t *rows, double error_95,
                               brume_error *error)
{
    static const char *const heads[] = {"", "", ">", NULL};
    const json_t *first = json_array_get(rows, 0);
    size_t columns = json_is_array(first) ? json_array_size(first) : 1;
    brume_table *table = NULL;
    if (columns < 1 || columns > 3)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "a row of %zu cells", columns);
    static const char *const one[] = {"", NULL};
    BRUME_TRY(brume_table_open(columns == 1 ? one : heads + 3 - columns, &table, error));
    for (size_t i = 0; i < json_array_size(rows); i++)
        for (size_t j = 0; j < columns; j++) {
            const json_t *row = json_array_get(rows, i);
            char *text = cell_text(json_is_array(row) ? json_array_get(row, j) : row, error_95);
            brume_table_cell(table, "%s", text ? text : "");
            free(text);
        }
    brume_status status = brume_table_write(table, call, error);
    brume_table_close(table);
    return status;
}

/* "threshold 14, s 0.69, t 0.034"; lists and flags that are not set are left to JSON. */
static void write_more(brume_call *call, const json_t *more)
{
    const char *name;
    json_t *value;
    bool any = false;
    json_object_foreach ((json_t *)more, name, value) {
        if (!json_is_number(value) && !json_is_true(value) && !json_is_array(value))
            continue;
        if (json_is_array(value) &&
            (json_array_size(value) != 2 || !json_is_number(json_array_get(value, 0))))
            continue;
        fprintf(call->out, "%s%s", any ? ", " : brume_dim(call), name);
        if (json_is_array(value)) {
            fprintf(call->out, " %s to",
                    brume_shortest(json_number_value(json_array_get(value, 0))).text);
            fprintf(call->out, " %s",
                    brume_shortest(json_number_value(json_array_get(value, 1))).text);
        } else if (!json_is_true(value)) {
            fprintf(call->out, " %s", brume_shortest(json_number_value(value)).text);
        }
        any = true;
    }
    if (any)
        fprintf(call->out, "%s\n", brume_plain(call));
}

brume_status brume_release_write(brume_call *call, const brume_release *release, brume_error *error)
{
    FILE *out = call->out;
    if (!release->released)
        fprintf(out, "not released: %s\n",
                strcmp(release->method, "ptr") == 0
                    ? "few changes of the data could make one row move the answer too far"
                    : "the data is too near to data of another answer");
    if (release->released && !release->rows) {
        char *text = cell_text(release->value, release->error_95);
        fprintf(out, "%s%s%s", brume_bold(call), text ? text : "", brume_plain(call));
        free(text);
        if (isfinite(release->error_95))
            fprintf(out, "  ± %s at 95 %%", bar_text(release->value, release->error_95).text);
        fprintf(out, "\n");
    }
    if (release->released && json_array_size(release->rows) > 0)
        BRUME_TRY(write_rows(call, release->rows, release->error_95, error));
    if (release->rows && isfinite(release->error_95))
        fprintf(out, "each ± %s at 95 %%\n", bar_text(NULL, release->error_95).text);
    fprintf(out, "%s%s by %s, %s", brume_dim(call), release->statistic, release->method,
            brume_adjacency_word(release->adjacency));
    if (isfinite(release->cost_epsilon))
        fprintf(out, ", epsilon %s", brume_shortest(shown_epsilon(release)).text);
    if (release->cost_delta > 0)
        fprintf(out, ", delta %s", brume_shortest(shown_delta(release)).text);
    if (isfinite(release->cost_rho))
        fprintf(out, ", rho %s", brume_shortest(release->cost_rho).text);
    fprintf(out, "%s\n", brume_plain(call));
    write_more(call, release->more);
    if (release->one_of_unit)
        fprintf(out, "%sof each unit one row counts, chosen at random%s\n", brume_dim(call),
                brume_plain(call));
    return BRUME_OK;
}

void brume_release_recall(brume_release *release, const json_t *answer)
{
    json_t *cost = json_object_get(answer, "cost");
    release->method = json_string_value(json_object_get(answer, "method"));
    release->released = json_is_true(json_object_get(answer, "released"));
    json_decref(release->value);
    json_decref(release->rows);
    release->value = json_incref(json_object_get(answer, "value"));
    release->rows = json_incref(json_object_get(answer, "rows"));
    release->cost_delta = json_number_value(json_object_get(cost, "delta"));
    if (!json_is_number(json_object_get(cost, "epsilon")))
        release->cost_epsilon = NAN;
    if (json_is_number(json_object_get(cost, "rho")))
        release->cost_rho = json_number_value(json_object_get(cost, "rho"));
    static const char *const told[] = {"threshold",
                                       "sensitivity_bound",
                                       "sigma",
                                       "s",
                                       "t",
                                       "scale",
                                       "gap_95",
                                       "debiased",
                                       "interval_95",
                                       "share",
                                       "share_interval_95",
                                       "fallback",
                                       "ridge"};
    json_decref(release->more);
    release->more = NULL;
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (json_object_get(answer, told[i]))
            brume_release_tell(release, told[i], json_incref(json_object_get(answer, told[i])));
    const json_t *error = json_object_get(answer, "error_95");
    release->error_95 = json_is_number(error) ? json_number_value(error) : NAN;
}
