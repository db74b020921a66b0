/* brume release: one statistic of a file or of a registered dataset (query/statistic/statistic.h).
 * brume statistic: a statistic of a file with its local sensitivity, smooth sensitivity and
 * distance to instability, for teaching: it is not private, and says so first.
 *
 * Promises: the words typed become a question, its answer becomes text or JSON. */
#include <stdlib.h>
#include <string.h>

#include "command/frame/input.h"
#include "command/frame/output.h"
#include "command/frame/table.h"
#include "command/frame/watch.h"
#include "command/ledger/open_ledger.h"
#include "query/statistic/statistic.h"

/* ---- the words ---- */

/* In the order of the command's description, in which errors are looked for. */
static void list_given(const brume_call *call, const char **out)
{
    size_t count = 0;
    for (size_t i = 0; i < call->command->option_count; i++)
        if (brume_call_has(call, call->command->options[i].name))
            out[count++] = call->command->options[i].name;
}

/* The call keeps the lists. */
static brume_status read_words(brume_call *call, brume_release_words *out, brume_error *error)
{
    const char **given = calloc(call->command->option_count + 1, sizeof *given);
    BRUME_TRY(brume_call_keep(call, free, given, error));
    list_given(call, given);
    *out = (brume_release_words){
        .statistic = brume_call_operand(call, 0),
        .method = brume_call_text(call, "method"),
        .adjacency = brume_call_text(call, "adjacency"),
        .epsilon = brume_call_text(call, "epsilon"),
        .delta = brume_call_text(call, "delta"),
        .rho = brume_call_text(call, "rho"),
        .windows = brume_call_text(call, "windows"),
        .column = brume_call_text(call, "column"),
        .columns = brume_call_text(call, "columns"),
        .domain = brume_call_text(call, "domain"),
        .noise = brume_call_text(call, "noise"),
        .target = brume_call_text(call, "target"),
        .at = brume_call_text(call, "at"),
        .step = brume_call_real(call, "step", NAN),
        .q = brume_call_real(call, "q", NAN),
        .beta = brume_call_real(call, "beta", NAN),
        .epsilon_test = brume_call_real(call, "epsilon-test", NAN),
        .ridge = brume_call_real(call, "ridge", NAN),
        .smoothness = brume_call_real(call, "smoothness", NAN),
        .k = brume_call_count(call, "k", 0),
        .vertices = brume_call_count(call, "vertices", 0),
        .degrees = brume_call_count(call, "degrees", 0),
        .least = brume_call_count(call, "least", 0),
        .ordered = brume_call_has(call, "ordered"),
        .falls_back = brume_call_has(call, "fallback"),
        .from_file = brume_call_has(call, "no-ledger"),
        .given = given,
    };
    return brume_call_texts(call, "bounds", &out->bounds, &out->bound_count, error);
}

/* The file that is the second operand. A JSON file has the columns typed and `more`, parted by
 * commas. Close it also after a failure. */
static brume_status open_input(const brume_call *call, const char *more, brume_input *out,
                               brume_error *error)
{
    const char *one = brume_call_text(call, "column"), *several = brume_call_text(call, "columns");
    char *names = NULL;
    if (asprintf(&names, "%s,%s,%s", one ? one : "", several ? several : "", more) < 0)
        return brume_no_memory(error, "the names");
    brume_status status = brume_input_open(brume_call_operand(call, 1), names, out, error);
    free(names);
    return status;
}

/* ---- release ---- */

/* ---- the answer as text ---- */

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

/* "1.87 to 1.95", or nothing where it cannot be told. */
static void write_interval(brume_table *table, const json_t *interval)
{
    if (json_is_array(interval))
        brume_table_cell(table, "%.4g to %.4g", json_number_value(json_array_get(interval, 0)),
                         json_number_value(json_array_get(interval, 1)));
    else
        brume_table_cell(table, "not known");
}

/* The rows as a table: names, then a number, then its interval if there are any; or one value a
 * row. */
static brume_status write_rows(brume_call *call, const json_t *rows, const json_t *intervals,
                               double error_95, brume_error *error)
{
    static const char *const heads[] = {"", "", ">", NULL};
    static const char *const with_interval[] = {"", ">", "95 %", NULL};
    const json_t *first = json_array_get(rows, 0);
    size_t columns = json_is_array(first) ? json_array_size(first) : 1;
    if (columns < 1 || columns > 3)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "a row of %zu cells", columns);
    static const char *const one[] = {"", NULL};
    brume_table *table = brume_table_open(intervals      ? with_interval
                                          : columns == 1 ? one
                                                         : heads + 3 - columns);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        for (size_t j = 0; j < columns; j++) {
            const json_t *row = json_array_get(rows, i);
            char *text = cell_text(json_is_array(row) ? json_array_get(row, j) : row, error_95);
            brume_table_cell(table, "%s", text ? text : "");
            free(text);
        }
        if (intervals)
            write_interval(table, json_array_get(intervals, i));
    }
    return brume_table_write(table, call, error);
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

static brume_status write_text(brume_call *call, const brume_release *release, brume_error *error)
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
        BRUME_TRY(write_rows(call, release->rows,
                             json_object_get(release->more, "rows_interval_95"), release->error_95,
                             error));
    if (release->rows && isfinite(release->error_95))
        fprintf(out, "each ± %s at 95 %%\n", bar_text(NULL, release->error_95).text);
    fprintf(out, "%s%s by %s, %s", brume_dim(call), release->statistic, release->method,
            brume_adjacency_word(release->adjacency));
    if (isfinite(release->cost_epsilon))
        fprintf(out, ", epsilon %s", brume_shortest(brume_release_shown_epsilon(release)).text);
    if (release->cost_delta > 0)
        fprintf(out, ", delta %s", brume_shortest(brume_release_shown_delta(release)).text);
    if (isfinite(release->cost_rho))
        fprintf(out, ", rho %s", brume_shortest(release->cost_rho).text);
    fprintf(out, "%s\n", brume_plain(call));
    write_more(call, release->more);
    if (release->one_of_unit)
        fprintf(out, "%sof each unit one row counts, chosen at random%s\n", brume_dim(call),
                brume_plain(call));
    return BRUME_OK;
}

/* ---- the question ---- */

/* Everything that was asked but the price, as one text: the options in their order. */
static brume_status describe(brume_call *call, const char **what, brume_error *error)
{
    static const char *const price[] = {"epsilon", "delta", "rho", "ledger", "timeout", NULL};
    enum { MOST = 4096 };
    char first[100];
    snprintf(first, sizeof first, "release %s", brume_call_operand(call, 0));
    BRUME_TRY(brume_call_describe(call, first, price, true, what, error));
    return strlen(*what) < MOST ? BRUME_OK
                                : brume_fail(error, BRUME_EARGUMENT, "use a file for long lists",
                                             "the options are longer than %d bytes", MOST);
}

static brume_status run_charged(brume_call *call, brume_release *release, json_t **answer,
                                brume_error *error)
{
    brume_ledger *ledger = NULL;
    const char *dataset = brume_call_operand(call, 1);
    const char *what = NULL;
    const brume_watch *watch = NULL;
    BRUME_TRY(describe(call, &what, error));
    BRUME_TRY(brume_call_watch(call, &watch, error));
    brume_status status = brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error);
    if (status == BRUME_OK)
        status = brume_release_charged(release, ledger, dataset, what, watch, answer, error);
    if (!ledger || status == BRUME_EUNKNOWN)
        brume_hint_at_file(call, dataset, error);
    return status;
}

static brume_status run_on_file(const brume_call *call, brume_release *release, brume_error *error)
{
    brume_input input = {0};
    bool graph = strcmp(release->statistic, "triangles") == 0;
    brume_status status = open_input(call, graph ? "source,target" : "", &input, error);
    if (status == BRUME_OK)
        status = brume_release_of_file(release, input.path, input.format, error);
    brume_input_close(&input);
    return status;
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_release_words words;
    brume_release release = {0};
    json_t *answer = NULL;
    bool from_file = brume_call_has(call, "no-ledger");
    BRUME_TRY(read_words(call, &words, error));
    brume_status status = brume_release_open(&words, &release, error);
    if (status == BRUME_OK && from_file && brume_call_has(call, "ledger"))
        status = brume_fail(error, BRUME_EARGUMENT, NULL,
                            "'--ledger' does not apply with '--no-ledger'");
    if (status == BRUME_OK)
        status = brume_call_check_timeout(call, error);
    if (status == BRUME_OK)
        status = from_file ? run_on_file(call, &release, error)
                           : run_charged(call, &release, &answer, error);
    if (status == BRUME_OK && call->json)
        status = brume_call_write_json(
            call, answer ? json_incref(answer) : brume_release_to_json(&release), error);
    else if (status == BRUME_OK)
        status = write_text(call, &release, error);
    json_decref(answer);
    brume_release_clear(&release);
    return status;
}

static const char *const names[] = {
    "count",     "sum",   "mean",       "variance",  "quantile", "median",     "iqr",        "mode",
    "histogram", "top-k", "reciprocal", "triangles", "gram",     "covariance", "regression", NULL};
static const char *const adjacencies[] = {"add-remove", "replace", "edge", NULL};
static const char *const fallbacks[] = {"global", NULL};
static const char *const noises[] = {"laplace", "cauchy", "student", "lln", "gaussian", NULL};

const brume_command brume_command_release = {
    .name = "release",
    .summary = "release one statistic with noise that fits the data",
    .usage = "STATISTIC SOURCE --epsilon E|--rho R [OPTION...]",
    .description =
        "SOURCE is a registered dataset, charged like a query (of each unit one row counts), or "
        "with --no-ledger a file.\n\nComputes the statistic exactly on a public grid, and releases it by the "
        "method asked for. The price is the one typed. A test that fails (ptr, mode, top-k, iqr by "
        "stable) answers 'not released' and costs the same.\n\n"
        "Values outside the bounds are clamped. A missing value, a NaN and a text that is no number "
        "are dropped under add-remove, where the number of rows is private, and counted at the lower "
        "bound under replace, where it is public. No row can make the command fail.\n\n"
        "With --no-ledger a number is rounded to as many decimals as --bounds is typed with: 0..100 "
        "makes whole numbers, 0.00..3.00 two decimals. triangles reads the columns source and target, "
        "one edge a row.\n\n"
        "By randomized-response every row answers for itself, with noise of its own, and count and "
        "histogram are estimated from the answers without bias; the number of rows is public, so "
        "that it is under replace. count counts the rows that say 1, true or yes.\n\n"
        "regression by ptr is the standard deviation of a prediction at the public point --at, "
        "sqrt(z' (X'X)^-1 z), up to the factor of the residuals; by ridge it is the coefficients of "
        "--target on --columns, from a Gram matrix with noise.\n\n"
        "An error bar is printed only where the noise does not depend on the data.\n\n"
        "Methods, the standard one of a statistic first, and what each takes beside --epsilon, "
        "--adjacency, --no-ledger and --ledger (histogram is by laplace where --domain is typed, "
        "covariance by gaussian where --delta is):\n"
#define BRUME_RELEASE(statistic, method, options) statistic " by " method ": " options "\n"
#include "query/statistic/methods.def"
#undef BRUME_RELEASE
        "\n--delta goes with --noise laplace, --degrees with student and --rho with lln. From a "
        "dataset log-normal noise (lln) is bought under the rule concentrated.",
    BRUME_OPERANDS(
        BRUME_OPERAND(CHOICE, "STATISTIC", "what to release", .choices = names),
        BRUME_OPERAND(FILE, "SOURCE",
                      "a registered dataset, or with --no-ledger a .csv, .parquet or .json file")),
    BRUME_OPTIONS(
        BRUME_OPTION(REAL, "epsilon", "E", "what the release may cost; there is no default",
                     BRUME_ABOVE_TO(0, 700)),
        BRUME_OPTION(REAL, "delta", "D", "probability of failure, where the method needs one",
                     BRUME_BETWEEN(0, .5)),
        BRUME_OPTION(REAL, "rho", "R",
                     "the price of --noise lln, in place of epsilon, which stands for epsilon^2/2",
                     BRUME_ABOVE_TO(0, 10000)),
        BRUME_OPTION(TEXT, "method", "METHOD", "which mechanism; see above"), BRUME_WINDOW_OPTION,
        BRUME_OPTION(TEXT, "column", "NAME", "of which column"),
        BRUME_OPTION(TEXT, "columns", "A,B,...", "of which columns (gram, covariance, regression)"),
        BRUME_OPTION(
            TEXT, "bounds", "[NAME=]LO..HI",
            "public bounds of the column, the registered ones unless typed; what lies outside is "
            "clamped",
            .repeated = true),
        BRUME_OPTION(REAL, "step", "S", "grid of the answer; else 2^32 steps between the bounds",
                     BRUME_FROM_TO(1e-300, 1e300)),
        BRUME_OPTION(CHOICE, "adjacency", "WORD",
                     "which data counts as neighbouring: add-remove unless typed",
                     .choices = adjacencies),
        BRUME_OPTION(REAL, "q", "Q", "which quantile: at most six decimals", BRUME_FROM_TO(0, 1)),
        BRUME_OPTION(COUNT, "k", "K", "how many keys (top-k)", BRUME_FROM_TO(1, 1000000)),
        BRUME_FLAG("ordered", "the order among the k is asked too"),
        BRUME_OPTION(TEXT, "domain", "V1,V2,...", "public keys; without it keys are private"),
        BRUME_OPTION(COUNT, "vertices", "N", "public number of vertices, labelled 0..N-1 or 1..N",
                     BRUME_FROM_TO(1, 4294967294)),
        BRUME_OPTION(REAL, "beta", "B", "proposed bound on the local sensitivity (ptr)",
                     BRUME_FROM_TO(0, 1e300)),
        BRUME_OPTION(REAL, "epsilon-test", "E",
                     "part of epsilon for the test (ptr): half unless typed",
                     BRUME_ABOVE_TO(0, 700)),
        BRUME_OPTION(
            CHOICE, "fallback", "METHOD",
            "where the test fails (ptr): release by global sensitivity, for the same price",
            .choices = fallbacks),
        BRUME_OPTION(TEXT, "target", "NAME", "the column that a regression explains (ridge)"),
        BRUME_POSITIVE_OPTION(
            "ridge", "L",
            "weight of the penalty on the coefficients of scaled columns (ridge); "
            "else from the noise"),
        BRUME_OPTION(
            CHOICE, "noise", "LAW",
            "law of smooth noise: laplace with a delta, else cauchy; with it the method is smooth",
            .choices = noises),
        BRUME_OPTION(REAL, "smoothness", "T", "how fast the smooth bound may fall, per change",
                     BRUME_FROM_TO(1e-9, 64)),
        BRUME_OPTION(COUNT, "degrees", "D", "degrees of freedom of --noise student: 3 unless typed",
                     BRUME_FROM_TO(1, 1000)),
        BRUME_OPTION(COUNT, "least", "C", "reciprocal by global: of max(count, C)",
                     BRUME_FROM_TO(1, 1000000)),
        BRUME_OPTION(TEXT, "at", "X,Y,...", "the public point of a regression's prediction"),
        BRUME_FLAG("no-ledger", "SOURCE is a file, and nobody keeps account: a row is a unit"),
        BRUME_TIMEOUT_OPTION, BRUME_PROJECT_OPTION, BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES(
        "release median people.csv --column age --bounds 0..120 --method smooth --epsilon 1 --delta "
        "1e-6 --no-ledger",
        "release histogram people.csv --column city --epsilon 1 --delta 1e-6 --no-ledger --json",
        "release median visits --column age --bounds 0..100 --epsilon 0.5"),
    .run = run,
};

/* ---- statistic ---- */

/* A local sensitivity in the statistic's units: both its ends may be off by half a step. */
static json_t *local_json(const brume_look *look)
{
    double steps = look->found.local;
    return brume_look_number(steps * look->step, look->step < 1 && steps > 0 ? look->step : 0);
}

static json_t *look_to_json(const char *statistic, const brume_look *look)
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

static brume_status write_look(brume_call *call, const brume_look *look, const json_t *answer,
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
    brume_status status = open_input(call, edges ? "source,target" : "", &file, error);
    if (status == BRUME_OK)
        status = brume_look_at_file(words, file.path, file.format, look, error);
    brume_input_close(&file);
    return status;
}

static brume_status run_statistic(brume_call *call, brume_error *error)
{
    brume_release_words words;
    brume_look look = {.smoothness = brume_call_real(call, "smoothness", .1),
                       .beta = brume_call_real(call, "beta", 0)};
    BRUME_TRY(read_words(call, &words, error));
    brume_status status = brume_look_check(&words, &look, error);
    if (status == BRUME_OK)
        status = look_at(call, &words, &look, error);
    json_t *answer = status == BRUME_OK ? look_to_json(words.statistic, &look) : NULL;
    json_decref(look.value);
    BRUME_TRY(status);
    BRUME_TRY(brume_call_keep_json(call, answer, error));
    return call->json ? brume_call_write_json(call, json_incref(answer), error)
                      : write_look(call, &look, answer, error);
}

static const char *const statistic_names[] = {"median",     "quantile",  "iqr",        "mode",
                                              "reciprocal", "triangles", "regression", NULL};
static const char *const statistic_adjacencies[] = {"add-remove", "replace", "edge", NULL};

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
            .choices = statistic_names),
        BRUME_OPERAND(FILE, "FILE", "a CSV, Parquet or JSON file")),
    BRUME_OPTIONS(
        BRUME_OPTION(TEXT, "column", "C", "the column"),
        BRUME_OPTION(TEXT, "bounds", "[C=]LO..HI",
                     "bounds of its values; values outside are clamped", .repeated = true),
        BRUME_OPTION(CHOICE, "adjacency", "A", "add-remove unless typed; edge for triangles",
                     .choices = statistic_adjacencies),
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
    .run = run_statistic,
};
