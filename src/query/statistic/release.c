/* The path of a release of one statistic: which statistic and method is meant, whether what was
 * typed applies to it, its price, the rows, the answer. Promises: statistic.h; and an option that
 * does not apply is an error that names it and what it applies to. */
#include "query/statistic/release.h"

#include <stdlib.h>
#include <string.h>

#include <brume/account/filter.h>

#include "ledger/ledger.h"
#include "number/decimal.h"
#include "query/collect/unit_rows.h"
#include "query/release/charged.h"

typedef brume_status (*statistic_run)(brume_release *release, brume_error *error);

static const struct {
    const char *name;
    statistic_run run;
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
enum { STATISTICS = sizeof statistics / sizeof *statistics };

static size_t statistic_by_name(const char *name)
{
    size_t which = 0;
    while (which < STATISTICS && strcmp(statistics[which].name, name) != 0)
        which++;
    return which;
}

/* ---- which method, and what applies to it ---- */

static const struct {
    const char *statistic, *method, *options;
} methods[] = {
#define BRUME_RELEASE(statistic, method, options) {statistic, method, options},
#include "query/statistic/methods.def"
#undef BRUME_RELEASE
};
enum { METHODS = sizeof methods / sizeof *methods };

/* Is `word` one of the words of a list with spaces between them? */
static bool lists(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; *at; at += strspn(at, " ")) {
        size_t here = strcspn(at, " ");
        if (here == length && strncmp(at, word, length) == 0)
            return true;
        at += here;
    }
    return false;
}

static size_t method_of(const char *statistic, const char *method)
{
    for (size_t i = 0; i < METHODS; i++)
        if (strcmp(methods[i].statistic, statistic) == 0 &&
            (!method || strcmp(methods[i].method, method) == 0))
            return i;
    return METHODS;
}

static void add_words(char *all, size_t size, const char *separator, const char *words)
{
    size_t used = strlen(all);
    snprintf(all + used, size - used, "%s%s", used ? separator : "", words);
}

/* Where an option applies, statistic by statistic: "median (smooth, ptr); sum". */
static void where_it_applies(const char *option, char *all, size_t size)
{
    all[0] = 0;
    for (size_t i = 0; i < METHODS; i++) {
        bool first = i == 0 || strcmp(methods[i].statistic, methods[i - 1].statistic) != 0;
        char some[100] = "";
        bool every = true;
        for (size_t j = i;
             first && j < METHODS && strcmp(methods[j].statistic, methods[i].statistic) == 0; j++) {
            bool takes = lists(methods[j].options, option);
            every = every && takes;
            if (takes)
                add_words(some, sizeof some, ", ", methods[j].method);
        }
        if (!some[0])
            continue;
        add_words(all, size, "; ", methods[i].statistic);
        if (!every) {
            size_t used = strlen(all);
            snprintf(all + used, size - used, " by %s", some);
        }
    }
}

static brume_status check_options(const brume_release *release, size_t which, brume_error *error)
{
    static const char always[] = "epsilon adjacency method no-ledger ledger";
    for (const char *const *given = release->words->given; *given; given++) {
        const char *name = *given;
        if (lists(always, name) || lists(methods[which].options, name))
            continue;
        char applies[sizeof error->hint];
        where_it_applies(name, applies, sizeof applies);
        brume_status status = brume_fail(error, BRUME_EARGUMENT, NULL,
                                         "'--%s' does not apply to %s by the method %s", name,
                                         release->statistic, release->method);
        bool several = lists(methods[which].options, "columns");
        if (error && strcmp(name, several ? "column" : "columns") == 0)
            snprintf(error->hint, sizeof error->hint,
                     several ? "it is of several columns: --columns A,B"
                             : "it is of one column: --column A");
        else if (error)
            snprintf(error->hint, sizeof error->hint, "it applies to: %.*s",
                     (int)sizeof error->hint - 20, applies);
        return status;
    }
    return BRUME_OK;
}

static bool has_smooth(const brume_release *release)
{
    return method_of(release->statistic, "smooth") < METHODS;
}

bool brume_release_is_log_normal(const brume_release *release)
{
    const char *noise = release->words->noise;
    const char *method = release->words->method;
    return noise && strcmp(noise, "lln") == 0 && has_smooth(release) &&
           (!method || strcmp(method, "smooth") == 0);
}

brume_status brume_release_method(brume_release *release, const char *standard, brume_error *error)
{
    const char *typed = release->words->method;
    if (release->words->noise && has_smooth(release))
        standard = "smooth"; /* nothing else of these statistics takes a law of noise */
    size_t which = method_of(release->statistic, typed ? typed : standard);
    if (which == METHODS && typed) {
        char all[200] = "";
        for (size_t i = 0; i < METHODS; i++)
            if (strcmp(methods[i].statistic, release->statistic) == 0)
                add_words(all, sizeof all, ", ", methods[i].method);
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "%s has no method '%s'; it has: %s",
                          release->statistic, typed, all);
    }
    if (which == METHODS)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "no method for '%s'", release->statistic);
    release->method = methods[which].method;
    return check_options(release, which, error);
}

/* An option that goes with one --noise only. */
static brume_status goes_with(bool given, const char *option, const char *wanted, const char *noise,
                              brume_error *error)
{
    if (!given || strcmp(noise, wanted) == 0)
        return BRUME_OK;
    return brume_fail(error, BRUME_EARGUMENT, NULL,
                      "'--%s' does not apply to the noise %s, only to '--noise %s'", option, noise,
                      wanted);
}

brume_status brume_release_noise(const brume_release *release, const char **noise,
                                 brume_error *error)
{
    const char *typed = release->words->noise;
    *noise = typed ? typed : release->delta > 0 ? "laplace" : "cauchy";
    if (strcmp(*noise, "gaussian") == 0)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                          "the method 'smooth' has no noise '%s'; it has: laplace, cauchy, "
                          "student, lln",
                          *noise);
    BRUME_TRY(goes_with(release->words->delta, "delta", "laplace", *noise, error));
    BRUME_TRY(goes_with(release->words->degrees > 0, "degrees", "student", *noise, error));
    return goes_with(release->words->rho, "rho", "lln", *noise, error);
}

brume_status brume_release_rho(const brume_release_words *words, brume_decimal *price,
                               double *shown, brume_error *error)
{
    const char *epsilon = words->epsilon, *rho = words->rho;
    if (epsilon && rho)
        return brume_fail(error, BRUME_EARGUMENT, "epsilon E stands for rho = E^2/2 here",
                          "'--epsilon' and '--rho' are two prices: give one");
    BRUME_TRY(brume_decimal_parse(rho ? rho : epsilon, price, error));
    if (!rho)
        BRUME_TRY(brume_charge_rho_of_epsilon(price, price, error));
    *shown = brume_decimal_shown_down(price);
    return BRUME_OK;
}

/* ---- opening ---- */

/* The decimal typed for a price, as the largest double that is not above it; 0 if it was not typed.
 * So what is drawn never costs more than what is charged, which is the decimal. */
static brume_status read_price(const char *text, const char *option, double *out,
                               brume_error *error)
{
    brume_decimal typed;
    *out = 0;
    if (!text)
        return BRUME_OK;
    BRUME_TRY(brume_decimal_parse(text, &typed, error));
    *out = brume_decimal_lower(&typed); /* down: what is drawn costs no more than was typed */
    if (*out > 0)
        return BRUME_OK;
    return brume_fail(error, BRUME_EARGUMENT, NULL, "'--%s' is %s, less than the least double",
                      option, text);
}

brume_status brume_release_open(const brume_release_words *words, brume_release *release,
                                brume_error *error)
{
    size_t which = statistic_by_name(words->statistic);
    if (which == STATISTICS)
        return brume_fail(error, BRUME_EUNKNOWN, NULL, "there is no statistic '%.100s'",
                          words->statistic);
    unsigned adjacencies = statistics[which].adjacencies;
    const char *adjacency = words->adjacency;
    *release = (brume_release){.words = words, .statistic = words->statistic, .released = true};
    release->adjacency = !adjacency ? (adjacencies & BRUME_EDGE ? BRUME_EDGE : BRUME_ADD_REMOVE)
                         : strcmp(adjacency, "replace") == 0 ? BRUME_REPLACE
                         : strcmp(adjacency, "edge") == 0    ? BRUME_EDGE
                                                             : BRUME_ADD_REMOVE;
    if (!(adjacencies & (unsigned)release->adjacency))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "%s is not defined under '--adjacency %s'",
                          release->statistic, adjacency);
    if (!words->epsilon && !words->rho)
        return brume_fail(error, BRUME_EARGUMENT, "there is no default: --epsilon 1",
                          "'--epsilon' is missing");
    BRUME_TRY(read_price(words->epsilon, "epsilon", &release->epsilon, error));
    BRUME_TRY(read_price(words->delta, "delta", &release->delta, error));
    release->cost_epsilon = release->epsilon;
    release->cost_rho = release->error_95 = NAN;
    return BRUME_OK;
}

void brume_release_clear(brume_release *release)
{
    json_decref(release->value);
    json_decref(release->rows);
    json_decref(release->more);
    release->value = release->rows = release->more = NULL;
}

/* ---- without a ledger ---- */

static brume_status run_on_rows(brume_release *release, const char *path,
                                const brume_text_format *format, brume_bits *bits,
                                brume_error *error)
{
    BRUME_TRY(brume_csv_open(path, format, &release->csv, error));
    release->bits = bits;
    brume_status status = statistics[statistic_by_name(release->statistic)].run(release, error);
    brume_csv_close(release->csv);
    release->csv = NULL;
    return status;
}

brume_status brume_release_of_file(brume_release *release, const char *path,
                                   const brume_text_format *format, brume_error *error)
{
    brume_bits *bits = NULL;
    BRUME_TRY(brume_bits_open(&bits, error));
    brume_status status = run_on_rows(release, path, format, bits, error);
    brume_bits_close(bits);
    return status;
}

/* ---- from a registered dataset ---- */

typedef struct charged_draw {
    brume_release *release;
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
    brume_release_clear(release); /* of the rehearsal */
    release->released = true;
    release->error_95 = NAN;
    BRUME_TRY(run_on_rows(release, path, &brume_rows_format, bits, error));
    if (!is_within_price(draw))
        return brume_fail(error, BRUME_EINTERNAL, NULL, "the release cost more than its price");
    *answer = brume_release_to_json(release);
    return *answer ? BRUME_OK : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
}

/* Fill in a release from the recorded answer, so that it is written like a fresh one. */
static void recall(brume_release *release, const json_t *answer)
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
                                       "ridge",
                                       "rows_interval_95"};
    json_decref(release->more);
    release->more = NULL;
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (json_object_get(answer, told[i]))
            brume_release_tell(release, told[i], json_incref(json_object_get(answer, told[i])));
    const json_t *error = json_object_get(answer, "error_95");
    release->error_95 = json_is_number(error) ? json_number_value(error) : NAN;
}

/* Pay for it and draw it; *answer is what was recorded. */
static brume_status charge_and_draw(brume_release *release, brume_ledger *ledger,
                                    const brume_dataset *dataset, const brume_charged *charged,
                                    const brume_watch *watch, json_t **answer, brume_error *error)
{
    brume_bits *bits = NULL;
    if (brume_release_is_log_normal(release) && dataset->filter.rule != BRUME_RULE_CONCENTRATED)
        return brume_fail(error, BRUME_EPOLICY,
                          "take --noise cauchy or student, or laplace with a delta",
                          "log-normal noise is paid in rho, and the budget of '%s' is of the "
                          "rule %s",
                          charged->dataset, brume_rule_word(dataset->filter.rule));
    BRUME_TRY(brume_bits_open(&bits, error));
    release->policy = dataset->policy;
    brume_status status = brume_charged_release(ledger, charged, bits, watch, answer, error);
    release->policy = NULL;
    brume_bits_close(bits);
    release->one_of_unit = json_is_string(json_object_get(dataset->policy, "unit"));
    if (status == BRUME_OK && release->one_of_unit &&
        json_object_set_new(*answer, "rows_per_unit", json_integer(1)) != 0)
        status = brume_no_memory(error, "the answer");
    return status;
}

brume_status brume_release_charged(brume_release *release, brume_ledger *ledger,
                                   const char *dataset, const char *what, const brume_watch *watch,
                                   json_t **answer, brume_error *error)
{
    const brume_release_words *words = release->words;
    char rho[BRUME_DECIMAL_TEXT];
    charged_draw draw = {release, 0};
    brume_dataset *owner = NULL;
    json_t *made = NULL;
    brume_charged charged = {.dataset = dataset,
                             .adjacency = release->adjacency,
                             .epsilon = words->epsilon,
                             .rho = words->rho,
                             .delta = words->delta,
                             .what = what,
                             .draw = draw_charged,
                             .context = &draw};
    if (brume_release_is_log_normal(release)) {
        brume_decimal price;
        BRUME_TRY(brume_release_rho(words, &price, &draw.rho, error));
        brume_decimal_print(&price, rho, sizeof rho);
        charged.epsilon = NULL;
        charged.rho = rho;
    } else if (charged.rho) {
        /* only log-normal noise takes it: say so before the budget is asked */
        BRUME_TRY(brume_release_method(release, NULL, error));
    }
    BRUME_TRY(brume_ledger_dataset(ledger, dataset, &owner, error));
    brume_status status = charge_and_draw(release, ledger, owner, &charged, watch, &made, error);
    brume_dataset_close(owner);
    if (status != BRUME_OK) {
        json_decref(made);
        return status;
    }
    recall(release, made);
    *answer = made;
    return BRUME_OK;
}

/* ---- the answer ---- */

/* A part of the cost as it is shown: all of what was typed is what was typed, although the double
 * that was drawn with may be the one below. */
static double shown(const char *typed, double used, double cost)
{
    return cost == used && typed ? strtod(typed, NULL) : cost;
}

double brume_release_shown_epsilon(const brume_release *release)
{
    return shown(release->words->epsilon, release->epsilon, release->cost_epsilon);
}

double brume_release_shown_delta(const brume_release *release)
{
    return shown(release->words->delta, release->delta, release->cost_delta);
}

static json_t *cost_json(const brume_release *release)
{
    return json_pack("{s:o, s:o, s:o}", "epsilon",
                     brume_json_real(brume_release_shown_epsilon(release)), "delta",
                     brume_json_real(brume_release_shown_delta(release)), "rho",
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

/* ---- without privacy ---- */

/* `options` are those that only some statistics take. */
static const struct {
    const char *name;
    brume_status (*look)(const brume_release *input, brume_look *look, brume_error *error);
    bool edges;
    const char *options[4];
} looks[] = {
    {"median", brume_look_quantile, false, {"column", "bounds"}},
    {"quantile", brume_look_quantile, false, {"column", "bounds", "q"}},
    {"iqr", brume_look_interquartile, false, {"column", "bounds"}},
    {"mode", brume_look_mode, false, {"column", "domain"}},
    {"reciprocal", brume_look_reciprocal, false, {"column"}},
    {"triangles", brume_look_triangles, true, {"vertices"}},
    {"regression", brume_look_regression, false, {"columns", "bounds", "at"}},
};
enum { LOOKS = sizeof looks / sizeof *looks };

json_t *brume_look_number(double value, double slack)
{
    char text[32];
    if (!isfinite(value))
        return json_null();
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (fabs(strtod(text, NULL) - value) <= slack)
            break;
    }
    return json_real(strtod(text, NULL));
}

static size_t look_by_name(const char *name)
{
    size_t which = 0;
    while (which < LOOKS && strcmp(looks[which].name, name) != 0)
        which++;
    return which;
}

uint64_t brume_look_bound(const brume_look *look)
{
    double steps = floor(look->beta / look->step) + (look->step < 1);
    return steps < 0x1p62 ? (uint64_t)steps : UINT64_C(1) << 62;
}

static bool takes(size_t which, const char *option)
{
    static const char *const all[] = {"adjacency", "smoothness", "beta", "json", NULL};
    bool found = false;
    for (int i = 0; all[i]; i++)
        found |= strcmp(all[i], option) == 0;
    for (int i = 0; i < 4 && looks[which].options[i]; i++)
        found |= strcmp(looks[which].options[i], option) == 0;
    return found;
}

brume_status brume_look_check(const brume_release_words *words, brume_look *look,
                              brume_error *error)
{
    size_t which = look_by_name(words->statistic);
    if (which == LOOKS)
        return brume_fail(error, BRUME_EUNKNOWN, NULL, "there is no look at '%.100s'",
                          words->statistic);
    for (const char *const *given = words->given; *given; given++)
        if (!takes(which, *given))
            return brume_fail(error, BRUME_EARGUMENT, NULL, "%s does not take '--%s'",
                              looks[which].name, *given);
    const char *typed = words->adjacency;
    bool edges = looks[which].edges;
    look->step = 1;
    look->adjacency = !typed                          ? (edges ? BRUME_EDGE : BRUME_ADD_REMOVE)
                      : strcmp(typed, "replace") == 0 ? BRUME_REPLACE
                      : strcmp(typed, "edge") == 0    ? BRUME_EDGE
                                                      : BRUME_ADD_REMOVE;
    if ((look->adjacency == BRUME_EDGE) != edges)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "%s is not defined under '--adjacency %s'",
                          words->statistic, typed);
    return BRUME_OK;
}

brume_status brume_look_at_file(const brume_release_words *words, const char *path,
                                const brume_text_format *format, brume_look *look,
                                brume_error *error)
{
    brume_release input = {
        .words = words, .statistic = words->statistic, .adjacency = look->adjacency};
    size_t which = look_by_name(words->statistic);
    BRUME_TRY(brume_csv_open(path, format, &input.csv, error));
    brume_status status = looks[which].look(&input, look, error);
    brume_csv_close(input.csv);
    return status;
}
