/* brume release: one statistic of a file, with noise that fits it.
 *
 * Promises: the price is the one printed; nothing but the answer depends on a row; a test that
 * fails is an answer too ("released": false, exit 0). */
#include "command/host.h"
#include "command/release/release.h"

#include "command/frame/input.h"
#include "command/frame/watch.h"
#include "command/ledger/open_ledger.h"
#include "ledger/dataset.h"
#include "query/release/charged.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    brume_status (*run)(brume_release *release, brume_error *error);
    unsigned adjacencies;
} statistics[] = {
    {"count", brume_release_count, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"sum", brume_release_sum, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"mean", brume_release_mean, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"variance", brume_release_variance, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"quantile", brume_release_quantile, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"median", brume_release_quantile, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"iqr", brume_release_interquartile, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"mode", brume_release_keys, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"histogram", brume_release_keys, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"top-k", brume_release_keys, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"reciprocal", brume_release_reciprocal, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"triangles", brume_release_triangles, BRUME_EDGE},
    {"gram", brume_release_gram, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"covariance", brume_release_covariance, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"regression", brume_release_regression, BRUME_ADD_REMOVE | BRUME_REPLACE},
};

/* The words typed that all statistics share. */
static brume_status read_price(brume_release *release, unsigned adjacencies, brume_error *error)
{
    const brume_call *call = release->call;
    const char *adjacency = brume_call_text(call, "adjacency");
    release->adjacency = !adjacency ? (adjacencies & BRUME_EDGE ? BRUME_EDGE : BRUME_ADD_REMOVE)
                         : strcmp(adjacency, "replace") == 0 ? BRUME_REPLACE
                         : strcmp(adjacency, "edge") == 0    ? BRUME_EDGE
                                                             : BRUME_ADD_REMOVE;
    if (!(adjacencies & (unsigned)release->adjacency))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "%s is not defined under '--adjacency %s'",
                          release->statistic, adjacency);
    if (!brume_call_has(call, "epsilon") && !brume_call_has(call, "rho"))
        return brume_fail(error, BRUME_EARGUMENT, "there is no default: --epsilon 1",
                          "'--epsilon' is missing");
    if (brume_call_has(call, "no-ledger") && brume_call_has(call, "ledger"))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'--ledger' does not apply with '--no-ledger'");
    BRUME_TRY(brume_release_price(call, "epsilon", &release->epsilon, error));
    BRUME_TRY(brume_release_price(call, "delta", &release->delta, error));
    release->cost_epsilon = release->epsilon;
    release->cost_rho = release->error_95 = NAN;
    release->released = true;
    return BRUME_OK;
}

/* ---- without a ledger ---- */

typedef brume_status (*statistic_run)(brume_release *release, brume_error *error);

static brume_status run_on_file(brume_release *release, statistic_run statistic, const char *path,
                                const brume_text_format *format, brume_bits *bits,
                                brume_error *error)
{
    BRUME_TRY(brume_csv_open(path, format, &release->csv, error));
    release->bits = bits;
    brume_status status = statistic(release, error);
    brume_csv_close(release->csv);
    release->csv = NULL;
    return status;
}

static brume_status run_without_ledger(brume_release *release, statistic_run statistic,
                                       brume_bits *bits, brume_error *error)
{
    const brume_call *call = release->call;
    const char *one = brume_call_text(call, "column"), *several = brume_call_text(call, "columns");
    bool graph = strcmp(release->statistic, "triangles") == 0;
    brume_input input = {0};
    char *names = NULL;
    if (asprintf(&names, "%s,%s,%s", one ? one : "", several ? several : "",
                 graph ? "source,target" : "") < 0)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    brume_status status = brume_input_open(brume_call_operand(call, 1), names, &input, error);
    if (status == BRUME_OK)
        status = run_on_file(release, statistic, input.path, input.format, bits, error);
    brume_input_close(&input);
    free(names);
    return status;
}

/* ---- from a registered dataset ---- */

typedef struct charged_draw {
    brume_release *release;
    statistic_run statistic;
    double rho; /* the price in rho; 0: it is paid in epsilon */
} charged_draw;

static bool is_within_price(const charged_draw *draw)
{
    const brume_release *release = draw->release;
    bool paid = draw->rho > 0 ? isnan(release->cost_epsilon) && release->cost_rho <= draw->rho
                              : release->cost_epsilon <= release->epsilon;
    return paid && release->cost_delta <= release->delta;
}

/* Called when the price is on the ledger. */
static brume_status draw_charged(void *context, const char *path, brume_bits *bits, json_t **answer,
                                 brume_error *error)
{
    charged_draw *draw = context;
    brume_release *release = draw->release;
    json_decref(release->value); /* of the rehearsal */
    json_decref(release->rows);
    json_decref(release->more);
    release->value = release->rows = release->more = NULL;
    release->released = true;
    release->error_95 = NAN;
    BRUME_TRY(run_on_file(release, draw->statistic, path, &brume_rows_format, bits, error));
    if (!is_within_price(draw))
        return brume_fail(error, BRUME_EINTERNAL, NULL, "the release cost more than its price");
    *answer = brume_release_to_json(release);
    return *answer ? BRUME_OK : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
}

/* Everything that was asked but the price, as one text: the options in their order. */
static brume_status describe(const brume_call *call, char *what, size_t size, brume_error *error)
{
    size_t used = (size_t)snprintf(what, size, "release %s", brume_call_operand(call, 0));
    for (size_t i = 0; i < call->command->option_count; i++) {
        const char *name = call->command->options[i].name;
        bool price = strcmp(name, "epsilon") == 0 || strcmp(name, "delta") == 0 ||
                     strcmp(name, "rho") == 0 || strcmp(name, "ledger") == 0 ||
                     strcmp(name, "timeout") == 0;
        for (size_t n = 0; !price && used < size && n < brume_call_times(call, name); n++) {
            const char *text = brume_call_text_at(call, name, n);
            used +=
                (size_t)snprintf(what + used, size - used, " --%s '%s'", name, text ? text : "");
        }
    }
    if (used >= size)
        return brume_fail(error, BRUME_EARGUMENT, "use a file for long lists",
                          "the options are longer than %zu bytes", size);
    return BRUME_OK;
}

static brume_status run_charged(brume_call *call, brume_release *release, statistic_run statistic,
                                brume_bits *bits, json_t **answer, brume_error *error)
{
    brume_ledger *ledger = NULL;
    char what[4096], rho[BRUME_DECIMAL_TEXT];
    charged_draw draw = {release, statistic, 0};
    bool log_normal = brume_release_is_log_normal(release);
    brume_charged charged = {.dataset = brume_call_operand(call, 1),
                             .adjacency = release->adjacency,
                             .epsilon = brume_call_text(call, "epsilon"),
                             .rho = brume_call_text(call, "rho"),
                             .delta = brume_call_text(call, "delta"),
                             .what = what,
                             .draw = draw_charged,
                             .context = &draw};
    if (log_normal) {
        brume_decimal price;
        BRUME_TRY(brume_release_rho(call, &price, &draw.rho, error));
        brume_decimal_print(&price, rho, sizeof rho);
        charged.epsilon = NULL;
        charged.rho = rho;
    } else if (charged
                   .rho) { /* only log-normal noise takes it: say so before the budget is asked */
        BRUME_TRY(brume_release_method(release, NULL, error));
    }
    BRUME_TRY(describe(call, what, sizeof what, error));
    const brume_watch *watch = NULL;
    BRUME_TRY(brume_call_watch(call, &watch, error));
    brume_dataset *dataset = NULL;
    brume_status status = brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error);
    if (status != BRUME_OK) {
        brume_hint_at_file(call, charged.dataset, error);
        return status;
    }
    status = brume_open_dataset(call, ledger, charged.dataset, &dataset, error);
    if (status == BRUME_OK && log_normal && dataset->filter.rule != BRUME_RULE_CONCENTRATED)
        status = brume_fail(error, BRUME_EPOLICY,
                            "take --noise cauchy or student, or laplace with a delta",
                            "log-normal noise is paid in rho, and the budget of '%s' is of the "
                            "rule %s",
                            charged.dataset, brume_rule_word(dataset->filter.rule));
    if (status == BRUME_OK) {
        release->policy = dataset->policy;
        status = brume_charged_release(ledger, &charged, bits, watch, answer, error);
        release->policy = NULL;
        release->one_of_unit = json_is_string(json_object_get(dataset->policy, "unit"));
    }
    if (status == BRUME_OK && release->one_of_unit &&
        json_object_set_new(*answer, "rows_per_unit", json_integer(1)) != 0)
        status = brume_no_memory(error, "the answer");
    brume_dataset_close(dataset);
    brume_ledger_close(ledger);
    return status;
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_release release = {.call = call, .statistic = brume_call_operand(call, 0)};
    size_t which = 0;
    while (strcmp(statistics[which].name, release.statistic) != 0)
        which++; /* the operand is one of the choices */
    BRUME_TRY(read_price(&release, statistics[which].adjacencies, error));
    BRUME_TRY(brume_call_check_timeout(call, error));
    brume_bits *bits = NULL;
    json_t *answer = NULL;
    BRUME_TRY(brume_bits_open(&bits, error));
    brume_status status = BRUME_OK;
    if (brume_call_has(call, "no-ledger")) {
        status = run_without_ledger(&release, statistics[which].run, bits, error);
    } else {
        status = run_charged(call, &release, statistics[which].run, bits, &answer, error);
        if (status == BRUME_OK)
            brume_release_recall(&release, answer);
    }
    brume_bits_close(bits);
    if (status == BRUME_OK && call->json)
        status = brume_call_write_json(
            call, answer ? json_incref(answer) : brume_release_to_json(&release), error);
    else if (status == BRUME_OK)
        status = brume_release_write(call, &release, error);
    json_decref(answer);
    json_decref(release.value);
    json_decref(release.rows);
    json_decref(release.more);
    return status;
}

static const char *const names[] = {
    "count",     "sum",   "mean",       "variance",  "quantile", "median",     "iqr",        "mode",
    "histogram", "top-k", "reciprocal", "triangles", "gram",     "covariance", "regression", NULL};
static const char *const adjacencies[] = {"add-remove", "replace", "edge", NULL};
static const char *const fallbacks[] = {"global", NULL};
static const char *const noises[] = {"laplace", "cauchy", "student", "lln", "gaussian", NULL};

static const brume_operand operands[] = {
    {.name = "STATISTIC",
     .type = BRUME_OPERAND_CHOICE,
     .help = "what to release",
     .choices = names},
    {.name = "SOURCE",
     .type = BRUME_OPERAND_FILE,
     .help = "a registered dataset, or with --no-ledger a .csv, .parquet or .json file"},
};

static const brume_option options[] = {
    {.name = "epsilon",
     .type = BRUME_OPTION_REAL,
     .argument = "E",
     .least = 0,
     .least_open = true,
     .most = 700,
     .help = "what the release may cost; there is no default"},
    {.name = "delta",
     .type = BRUME_OPTION_REAL,
     .argument = "D",
     .least = 0,
     .least_open = true,
     .most = .5,
     .most_open = true,
     .help = "probability of failure, where the method needs one"},
    {.name = "rho",
     .type = BRUME_OPTION_REAL,
     .argument = "R",
     .least = 0,
     .least_open = true,
     .most = 10000,
     .help = "the price of --noise lln, in place of epsilon, which stands for epsilon^2/2"},
    {.name = "method",
     .type = BRUME_OPTION_TEXT,
     .argument = "METHOD",
     .help = "which mechanism; see above"},
    {.name = "column", .type = BRUME_OPTION_TEXT, .argument = "NAME", .help = "of which column"},
    {.name = "columns",
     .type = BRUME_OPTION_TEXT,
     .argument = "A,B,...",
     .help = "of which columns (gram, covariance, regression)"},
    {.name = "bounds",
     .type = BRUME_OPTION_TEXT,
     .argument = "[NAME=]LO..HI",
     .repeated = true,
     .help = "public bounds of the column, the registered ones unless typed; what lies outside is "
             "clamped"},
    {.name = "step",
     .type = BRUME_OPTION_REAL,
     .argument = "S",
     .least = 1e-300,
     .most = 1e300,
     .help = "grid of the answer; else 2^32 steps between the bounds"},
    {.name = "adjacency",
     .type = BRUME_OPTION_CHOICE,
     .argument = "WORD",
     .choices = adjacencies,
     .help = "which data counts as neighbouring: add-remove unless typed"},
    {.name = "q",
     .type = BRUME_OPTION_REAL,
     .argument = "Q",
     .least = 0,
     .most = 1,
     .help = "which quantile: at most six decimals"},
    {.name = "k",
     .type = BRUME_OPTION_COUNT,
     .argument = "K",
     .least = 1,
     .most = 1000000,
     .help = "how many keys (top-k)"},
    {.name = "ordered", .type = BRUME_OPTION_FLAG, .help = "the order among the k is asked too"},
    {.name = "domain",
     .type = BRUME_OPTION_TEXT,
     .argument = "V1,V2,...",
     .help = "public keys; without it keys are private"},
    {.name = "vertices",
     .type = BRUME_OPTION_COUNT,
     .argument = "N",
     .least = 1,
     .most = 4294967294,
     .help = "public number of vertices, labelled 0..N-1 or 1..N"},
    {.name = "beta",
     .type = BRUME_OPTION_REAL,
     .argument = "B",
     .least = 0,
     .most = 1e300,
     .help = "proposed bound on the local sensitivity (ptr)"},
    {.name = "epsilon-test",
     .type = BRUME_OPTION_REAL,
     .argument = "E",
     .least = 0,
     .least_open = true,
     .most = 700,
     .help = "part of epsilon for the test (ptr): half unless typed"},
    {.name = "fallback",
     .type = BRUME_OPTION_CHOICE,
     .argument = "METHOD",
     .choices = fallbacks,
     .help = "where the test fails (ptr): release by global sensitivity, for the same price"},
    {.name = "target",
     .type = BRUME_OPTION_TEXT,
     .argument = "NAME",
     .help = "the column that a regression explains (ridge)"},
    BRUME_POSITIVE_OPTION("ridge", "L",
                          "weight of the penalty on the coefficients of scaled columns (ridge); "
                          "else from the noise"),
    {.name = "noise",
     .type = BRUME_OPTION_CHOICE,
     .argument = "LAW",
     .choices = noises,
     .help =
         "law of smooth noise: laplace with a delta, else cauchy; with it the method is smooth"},
    {.name = "smoothness",
     .type = BRUME_OPTION_REAL,
     .argument = "T",
     .least = 1e-9,
     .most = 64,
     .help = "how fast the smooth bound may fall, per change"},
    {.name = "degrees",
     .type = BRUME_OPTION_COUNT,
     .argument = "D",
     .least = 1,
     .most = 1000,
     .help = "degrees of freedom of --noise student: 3 unless typed"},
    {.name = "least",
     .type = BRUME_OPTION_COUNT,
     .argument = "C",
     .least = 1,
     .most = 1000000,
     .help = "reciprocal by global: of max(count, C)"},
    {.name = "at",
     .type = BRUME_OPTION_TEXT,
     .argument = "X,Y,...",
     .help = "the public point of a regression's prediction"},
    {.name = "no-ledger",
     .type = BRUME_OPTION_FLAG,
     .help = "SOURCE is a file, and nobody keeps account: a row is a unit"},
    BRUME_TIMEOUT_OPTION,
    BRUME_LEDGER_OPTION,
};

static const char *const examples[] = {
    "release median people.csv --column age --bounds 0..120 --method smooth --epsilon 1 --delta "
    "1e-6 --no-ledger",
    "release histogram people.csv --column city --epsilon 1 --delta 1e-6 --no-ledger --json",
    "release median visits --column age --bounds 0..100 --epsilon 0.5",
    NULL,
};

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
#include "command/release/release.def"
#undef BRUME_RELEASE
        "\n--delta goes with --noise laplace, --degrees with student and --rho with lln. From a "
        "dataset log-normal noise (lln) is bought under the rule concentrated.",
    .operands = BRUME_LIST(operands),
    .options = BRUME_LIST(options),
    .examples = examples,
    .run = run,
};
