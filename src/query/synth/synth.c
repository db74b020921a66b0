/* A synthetic table that answers a workload of queries nearly as the real one. Promises: synth.h.
 */
#include "query/synth/synth.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <brume/mechanism/event.h>
#include <brume/mechanism/mechanism.h>
#include <brume/synthetic/direct.h>
#include <brume/synthetic/multiplicative_weights.h>
#include <brume/synthetic/mwem.h>
#include <brume/synthetic/small_database.h>

#include "base/error.h"
#include "base/json_real.h"
#include "base/read_number.h"
#include "base/text.h"
#include "ledger/digest.h"
#include "number/rounding.h"
#include "query/collect/unit_rows.h"
#include "query/release/charged.h"
#include "reader/csv_rows.h"

/* Rows are kept on the ledger, for a free re-read, as pairs of cell and count: at most so many. */
enum { MOST_KEPT = 1 << 16 };

/* ---- columns: from the words typed, else from the owner's policy ---- */

enum { BINS = 10 };

/* What follows "NAME=" in a repeated option, the last one typed; NULL if there is none. */
static const char *typed_for(const brume_synth_list *list, const char *name)
{
    size_t length = strlen(name);
    const char *found = NULL;
    for (size_t i = 0; i < list->count; i++)
        if (strncmp(list->texts[i], name, length) == 0 && list->texts[i][length] == '=')
            found = list->texts[i] + length + 1;
    return found;
}

static bool is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    while (list && *list) {
        size_t word = strcspn(list, ",");
        if (word == length && strncmp(list, name, length) == 0)
            return true;
        list += word + (list[word] == ',');
    }
    return false;
}

/* ---- domains ---- */

static brume_status add_labels(brume_synth *synth, const char *name, const char *const *labels,
                               size_t count, brume_error *error)
{
    bool other = is_listed(synth->words.other, name);
    return brume_schema_add_labels(synth->schema, name, labels, count, other, error);
}

/* LO..HI of whole numbers: each of them. */
static brume_status add_whole(brume_synth *synth, const char *name, long long low, long long high,
                              brume_error *error)
{
    if (low > high || high - low >= BRUME_SCHEMA_VALUES)
        return brume_fail(error, BRUME_EARGUMENT, "or cut it with --bounds and --bins",
                          "'--domain %s=%lld..%lld' must be 1 to %d whole numbers", name, low, high,
                          BRUME_SCHEMA_VALUES);
    size_t count = (size_t)(high - low) + 1;
    enum { WIDTH = 24 };
    char(*texts)[WIDTH] = malloc(count * WIDTH);
    const char **labels = malloc(count * sizeof *labels);
    brume_status status = texts && labels ? BRUME_OK : brume_no_memory(error, NULL);
    for (size_t i = 0; status == BRUME_OK && i < count; i++) {
        snprintf(texts[i], WIDTH, "%lld", low + (long long)i);
        labels[i] = texts[i];
    }
    if (status == BRUME_OK)
        status = add_labels(synth, name, labels, count, error);
    free(texts);
    free(labels);
    return status;
}

/* V1,V2,... or LO..HI */
static brume_status add_domain(brume_synth *synth, const char *name, const char *typed,
                               brume_error *error)
{
    char *copy = strdup(typed), *rest = copy, *part = NULL, *end = NULL;
    size_t count = 0, room = 1;
    for (const char *c = typed; *c; c++)
        room += *c == ',';
    const char **labels = calloc(room, sizeof *labels);
    brume_status status = copy && labels ? BRUME_OK : brume_no_memory(error, NULL);
    const char *dots = strstr(typed, "..");
    if (status == BRUME_OK && dots && room == 1 && dots - typed < 18 && strlen(dots) < 20) {
        long long low = strtoll(typed, &end, 10);
        bool whole = end == dots && end != typed;
        long long high = strtoll(dots + 2, &end, 10);
        if (whole && *end == 0 && end != dots + 2) {
            status = add_whole(synth, name, low, high, error);
            free(labels);
            free(copy);
            return status;
        }
    }
    while (status == BRUME_OK && (part = strsep(&rest, ",")))
        labels[count++] = part;
    if (status == BRUME_OK)
        status = add_labels(synth, name, labels, count, error);
    free(labels);
    free(copy);
    return status;
}

static brume_status read_bins(const brume_synth_list *list, const char *name, uint64_t *bins,
                              brume_error *error)
{
    const char *typed = typed_for(list, name);
    for (size_t i = 0; !typed && i < list->count; i++)
        if (!strchr(list->texts[i], '='))
            typed = list->texts[i];
    *bins = BINS;
    if (typed)
        BRUME_TRY(brume_read_count(typed, "'--bins'", bins, error));
    if (*bins < 1 || *bins > BRUME_SCHEMA_VALUES)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'--bins' is %s, must be from 1 to %d",
                          typed, BRUME_SCHEMA_VALUES);
    return BRUME_OK;
}

static brume_status add_bins(brume_synth *synth, const char *name, const char *low,
                             const char *high, brume_error *error)
{
    double lower, upper;
    uint64_t bins;
    bool other = is_listed(synth->words.other, name);
    brume_error inner = {0};
    if (brume_read_real(low, "the lower bound", &lower, &inner) != BRUME_OK ||
        brume_read_real(high, "the upper bound", &upper, &inner) != BRUME_OK)
        return brume_fail(error, BRUME_EARGUMENT, "say --domain NAME=V1,V2,...",
                          "the bounds of '%s' are no numbers: %s..%s", name, low, high);
    BRUME_TRY(read_bins(&synth->words.bins, name, &bins, error));
    return brume_schema_add_bins(synth->schema, name, lower, upper, (uint32_t)bins, other, error);
}

/* LO..HI */
static brume_status add_typed_bins(brume_synth *synth, const char *name, const char *typed,
                                   brume_error *error)
{
    const char *dots = strstr(typed, "..");
    char low[64];
    if (!dots || (size_t)(dots - typed) >= sizeof low)
        return brume_fail(error, BRUME_EARGUMENT, "for example --bounds age=0..100",
                          "'--bounds %s=%s' is not NAME=LO..HI", name, typed);
    memcpy(low, typed, (size_t)(dots - typed));
    low[dots - typed] = 0;
    return add_bins(synth, name, low, dots + 2, error);
}

/* ---- columns ---- */

static brume_status unknown_column(const brume_policy *policy, const char *name, brume_error *error)
{
    const char **names = calloc(policy->column_count + 1, sizeof *names);
    char hint[120] = "see 'brume show'";
    for (size_t i = 0; names && i < policy->column_count; i++)
        names[i] = policy->columns[i].name;
    const char *nearest = names ? brume_text_nearest(name, names, policy->column_count) : NULL;
    if (nearest)
        snprintf(hint, sizeof hint, "did you mean '%.80s'?", nearest);
    free(names);
    return brume_fail(error, BRUME_EUNKNOWN, hint, "the dataset has no column '%s'", name);
}

bool brume_synth_discovers(const brume_synth *synth, const char *name)
{
    return is_listed(synth->words.discover, name);
}

/* The labels that were bought; before that one that stands for them. */
static brume_status add_found(brume_synth *synth, const char *name, brume_error *error)
{
    const json_t *list = json_object_get(synth->found, name);
    size_t count = json_array_size(list);
    const char **labels = malloc((count + 1) * sizeof *labels);
    if (!labels)
        return brume_no_memory(error, NULL);
    labels[0] = "unknown"; /* also where none is shown: then nothing has it */
    for (size_t i = 0; i < count; i++)
        labels[i] = json_string_value(json_array_get(list, i));
    brume_status status =
        brume_schema_add_labels(synth->schema, name, labels, count ? count : 1, true, error);
    free(labels);
    return status;
}

brume_status brume_synth_add_column(brume_synth *synth, const char *name, brume_error *error)
{
    static const char *const booleans[] = {"false", "true"};
    const brume_policy_column *column = NULL;
    if (synth->policy && !(column = brume_policy_find(synth->policy, name)) && !synth->words.view)
        return unknown_column(synth->policy, name, error);
    if (column && !synth->words.view)
        name = column->name;
    const char *domain = typed_for(&synth->words.domains, name);
    const char *bounds = typed_for(&synth->words.bounds, name);
    if (brume_synth_discovers(synth, name)) {
        if (domain || bounds || is_listed(synth->words.other, name))
            return brume_fail(error, BRUME_EARGUMENT, "give one of them",
                              "'%s' has both '--discover' and '--%s'", name,
                              domain   ? "domain"
                              : bounds ? "bounds"
                                       : "other");
        return add_found(synth, name, error);
    }
    if (domain && bounds)
        return brume_fail(error, BRUME_EARGUMENT, "give one of them",
                          "'%s' has both '--domain' and '--bounds'", name);
    if (domain)
        return add_domain(synth, name, domain, error);
    if (bounds)
        return add_typed_bins(synth, name, bounds, error);
    if (column && column->domain)
        return add_labels(synth, name, (const char *const *)column->domain, column->domain_count,
                          error);
    if (column && column->low && column->high)
        return add_bins(synth, name, column->low, column->high, error);
    if (column && column->type.kind == BRUME_TYPE_BOOLEAN)
        return add_labels(synth, name, booleans, 2, error);
    return brume_fail(error, BRUME_EARGUMENT,
                      "say --domain NAME=V1,V2,... or --bounds NAME=LO..HI: public, not from the "
                      "data",
                      "nothing is known of the values of '%s'", name);
}

/* Every NAME of a repeated NAME=... option, and of --other, must be a column. */
static brume_status check_names(const brume_synth *synth, const char *option,
                                const brume_synth_list *given, brume_error *error)
{
    for (size_t i = 0; i < given->count; i++) {
        const char *typed = given->texts[i];
        bool list = strcmp(option, "other") == 0 || strcmp(option, "discover") == 0;
        const char *equals = strchr(typed, '=');
        uint64_t bins;
        if (strcmp(option, "bins") == 0)
            BRUME_TRY(brume_read_count(equals ? equals + 1 : typed, "'--bins'", &bins, error));
        if (strcmp(option, "bins") == 0 && !equals)
            continue;
        if (!list && !equals)
            return brume_fail(error, BRUME_EARGUMENT, NULL, "'--%s %s' is not NAME=...", option,
                              typed);
        while (*typed) {
            size_t length = list ? strcspn(typed, ",") : (size_t)(equals - typed);
            char name[256];
            snprintf(name, sizeof name, "%.*s", (int)length, typed);
            if (brume_schema_find(synth->schema, name) == SIZE_MAX)
                return brume_fail(error, BRUME_EUNKNOWN, "columns are those of --columns",
                                  "'--%s' names '%s', which is no column here", option, name);
            if (strcmp(option, "bins") == 0 &&
                !brume_schema_has_bins(synth->schema, brume_schema_find(synth->schema, name)))
                return brume_fail(error, BRUME_EARGUMENT, "bins are cut between --bounds",
                                  "'--bins' names '%s', which has a domain of values", name);
            typed += length + (typed[length] == ',');
            if (!list)
                break;
        }
    }
    return BRUME_OK;
}

brume_status brume_synth_schema(brume_synth *synth, brume_error *error)
{
    const brume_synth_words *words = &synth->words;
    const brume_synth_list other = {&words->other, words->other != NULL};
    const brume_synth_list discover = {&words->discover, words->discover != NULL};
    const struct {
        const char *option;
        const brume_synth_list *given;
    } named[] = {{"domain", &words->domains},
                 {"bounds", &words->bounds},
                 {"bins", &words->bins},
                 {"other", &other},
                 {"discover", &discover}};
    const char *typed = words->columns;
    if (!typed || !*typed)
        return brume_fail(error, BRUME_EARGUMENT, "for example --columns age,city",
                          "'--columns' is missing");
    BRUME_TRY(brume_schema_open(&synth->schema, error));
    char *copy = strdup(typed), *rest = copy, *name = NULL;
    brume_status status = copy ? BRUME_OK : brume_no_memory(error, NULL);
    while (status == BRUME_OK && (name = strsep(&rest, ",")))
        status = brume_synth_add_column(synth, name, error);
    free(copy);
    for (size_t i = 0; status == BRUME_OK && i < sizeof named / sizeof *named; i++)
        status = check_names(synth, named[i].option, named[i].given, error);
    if (status == BRUME_OK && !synth->is_tree)
        status = brume_schema_universe(synth->schema, &synth->universe, error);
    return status;
}

/* ---- the plan: everything that the words decide, before any data is read ---- */

enum { ROUNDS = 10, FIT_ROUNDS = 300, WORKLOAD_BYTES = 1 << 24 };

static const double ERROR_SHARE = 0.05; /* unless typed */

static const struct {
    const char *name;
    brume_synthetic_method method;
    bool takes_rho;
} methods[] = {
    {"mwem", BRUME_SYNTHETIC_MWEM, true},
    {"pmw", BRUME_SYNTHETIC_WEIGHTS, true},
    {"small-db", BRUME_SYNTHETIC_SMALL_DATABASE, false},
    {"laplace", BRUME_SYNTHETIC_LAPLACE, false},
    {"gaussian", BRUME_SYNTHETIC_GAUSSIAN, true},
    {"histogram", BRUME_SYNTHETIC_HISTOGRAM, true},
};

/* Named apart: it makes no histogram. */
static bool names_tree(const brume_synth_words *words)
{
    return words->method && strcmp(words->method, "tree") == 0;
}

/* ---- the workload ---- */

static brume_status read_file(const char *path, char **text, brume_error *error)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return brume_fail(error, BRUME_EARGUMENT, "or write marginals:K",
                          "cannot read the workload '%s': %s", path, strerror(errno));
    char *bytes = malloc(WORKLOAD_BYTES + 1);
    size_t length = bytes ? fread(bytes, 1, WORKLOAD_BYTES + 1, file) : 0;
    bool failed = ferror(file) != 0;
    fclose(file);
    brume_status status = BRUME_OK;
    if (!bytes)
        status = brume_no_memory(error, NULL);
    else if (failed)
        status = brume_fail(error, BRUME_EARGUMENT, NULL, "cannot read the workload '%s'", path);
    else if (length > WORKLOAD_BYTES)
        status = brume_fail(error, BRUME_EARGUMENT, NULL,
                            "the workload '%s' has more than %d bytes", path, WORKLOAD_BYTES);
    else if (memchr(bytes, 0, length))
        status = brume_fail(error, BRUME_EARGUMENT, NULL, "the workload '%s' is no text", path);
    if (status != BRUME_OK) {
        free(bytes);
        return status;
    }
    bytes[length] = 0;
    *text = bytes;
    return BRUME_OK;
}

/* marginals:1,2 is "marginals 1" and "marginals 2", a line each. */
static brume_status read_workload(brume_synth *synth, brume_error *error)
{
    static const char prefix[] = "marginals:";
    const char *typed = synth->words.workload;
    if (!typed)
        return brume_fail(error, BRUME_EARGUMENT, "for example --workload marginals:2",
                          "'--workload' is missing");
    bool file = strncmp(typed, prefix, sizeof prefix - 1) != 0;
    if (file) {
        BRUME_TRY(read_file(typed, &synth->workload_text, error));
    } else {
        size_t length = 0;
        FILE *out = open_memstream(&synth->workload_text, &length);
        if (!out)
            return brume_no_memory(error, NULL);
        for (const char *at = typed + sizeof prefix - 1; *at;) {
            size_t word = strcspn(at, ",");
            fprintf(out, "marginals %.*s\n", (int)word, at);
            at += word + (at[word] == ',');
        }
        if (fclose(out) != 0)
            return brume_no_memory(error, NULL);
    }
    brume_error inner = {0};
    brume_status status =
        synth->is_tree
            ? brume_workload_parse_tables(synth->schema, synth->workload_text, &synth->tree_tables,
                                          &synth->tree.tables, &inner)
            : brume_workload_parse(synth->schema, synth->workload_text, &synth->workload, &inner);
    if (status != BRUME_OK)
        return brume_fail(error, status, inner.hint[0] ? inner.hint : NULL, "%s '%s': %s",
                          file ? "the workload" : "'--workload'", typed, inner.message);
    return BRUME_OK;
}

/* ---- memory ---- */

/* Bytes that can be had without swapping, as the system sees it; 0: unknown. */
static double memory_available(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    char line[128];
    double kibibytes = 0;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %lf kB", &kibibytes) == 1)
            break;
    if (file)
        fclose(file);
    if (kibibytes > 0)
        return kibibytes * 1024;
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

static brume_status check_memory(double bytes, double cells, brume_error *error)
{
    double available = memory_available();
    if (available <= 0 || bytes <= 0.9 * available)
        return BRUME_OK;
    if (cells == 0)
        return brume_fail(error, BRUME_EOVERFLOW, "take a smaller --model-cells, or fewer --rows",
                          "this needs up to %.3g GiB of memory, %.3g GiB are available",
                          bytes * 0x1p-30, available * 0x1p-30);
    return brume_fail(error, BRUME_EOVERFLOW, "take fewer columns, or coarser domains",
                      "a universe of %.15g cells needs about %.3g GiB of memory, %.3g GiB are "
                      "available",
                      cells, bytes * 0x1p-30, available * 0x1p-30);
}

/* ---- all together ---- */

static brume_status read_options(brume_synth *synth, brume_error *error)
{
    const brume_synth_words *words = &synth->words;
    brume_synthetic_options *options = &synth->options;
    bool fits = options->method == BRUME_SYNTHETIC_LAPLACE ||
                options->method == BRUME_SYNTHETIC_GAUSSIAN;
    options->rounds = words->rounds ? words->rounds : fits ? FIT_ROUNDS : ROUNDS;
    options->alpha = words->alpha;
    options->records = (double)words->records;
    /* fits to noisy answers have a bound from these answers; the others have one for the worst data
     * there may be */
    bool fits_noise = fits || options->method == BRUME_SYNTHETIC_HISTOGRAM;
    options->error_share = !isnan(words->error_share) ? words->error_share
                           : fits_noise               ? 0
                                                      : ERROR_SHARE;
    options->beta = 1 - words->confidence;
    options->most_candidates = words->candidates;
    options->size = words->size;
    synth->rows = words->rows;
    bool counted = options->adjacency == BRUME_REPLACE;
    if (counted && options->records > 0 && !words->dry_run)
        return brume_fail(error, BRUME_EARGUMENT, "leave it out",
                          "under replace the number of records is public and counted: '--records' "
                          "has no place");
    options->records = counted ? 0 : options->records; /* a dry run compares methods for so many */
    if (synth->rows == 0)
        return brume_fail(error, BRUME_EARGUMENT, "how many rows to write: --rows 1000",
                          "'--rows' is missing");
    if (options->size == 0 && options->method == BRUME_SYNTHETIC_SMALL_DATABASE) {
        BRUME_TRY(brume_small_database_size(brume_workload_size(synth->workload), options->alpha,
                                            &options->size, error));
        if (options->size > BRUME_SMALL_DATABASE_SIZE)
            return brume_fail(
                error, BRUME_EOVERFLOW, "take a larger --alpha, or the method mwem",
                "a small database needs %llu records for '--alpha' %g, at most %d are "
                "possible",
                (unsigned long long)options->size, options->alpha, BRUME_SMALL_DATABASE_SIZE);
    }
    return BRUME_OK;
}

static brume_status sum_rho(brume_synth *synth, brume_error *error)
{
    for (size_t i = 0; i < synth->event_count; i++) {
        brume_cost cost;
        BRUME_TRY(brume_event_cost(&synth->events[i], &cost, error));
        double rho = brume_multiply_up(cost.rho, (double)synth->events[i].count);
        synth->rho_upper = brume_add_up(synth->rho_upper, rho); /* up: a cost */
    }
    return BRUME_OK;
}

static brume_status read_plan(brume_synth *synth, brume_error *error)
{
    size_t which = 0;
    if (!synth->words.method)
        return brume_fail(error, BRUME_EARGUMENT, "for example --method tree",
                          "'--method' is missing");
    synth->is_tree = names_tree(&synth->words);
    const struct {
        const char *option;
        bool typed;
    } of_tree[] = {{"tables", synth->words.tables},
                   {"model", synth->words.model},
                   {"model-cells", synth->words.model_cells},
                   {"from", synth->words.view},
                   {"discover", synth->words.discover},
                   {"never", synth->words.never.count > 0},
                   {"rows-per-unit", synth->words.rows_per_unit}};
    for (size_t i = 0; !synth->is_tree && i < sizeof of_tree / sizeof *of_tree; i++)
        if (of_tree[i].typed)
            return brume_fail(error, BRUME_EARGUMENT, NULL, "'--%s' is of the method tree",
                              of_tree[i].option);
    if (synth->is_tree) {
        BRUME_TRY(brume_synth_schema(synth, error));
        BRUME_TRY(read_workload(synth, error));
        BRUME_TRY(brume_synth_tree_open(synth, error));
        BRUME_TRY(sum_rho(synth, error));
        return check_memory(synth->bytes, 0, error);
    }
    while (strcmp(methods[which].name, synth->words.method) != 0)
        which++; /* it is one of the choices */
    synth->options.method = methods[which].method;
    BRUME_TRY(brume_synth_price(synth, methods[which].takes_rho, error));
    BRUME_TRY(brume_synth_schema(synth, error));
    /* counts and weights at least, before a workload over so many cells is made */
    BRUME_TRY(
        check_memory(16 * (double)synth->universe.cells, (double)synth->universe.cells, error));
    BRUME_TRY(read_workload(synth, error));
    BRUME_TRY(read_options(synth, error));
    BRUME_TRY(brume_synthetic_events(synth->workload, &synth->options, synth->events,
                                     &synth->event_count, error));
    BRUME_TRY(brume_synth_raise(synth, error));
    BRUME_TRY(sum_rho(synth, error));
    synth->bytes = brume_synthetic_bytes(synth->workload, &synth->options);
    return check_memory(synth->bytes, (double)synth->universe.cells, error);
}

brume_status brume_synth_open(const brume_synth_words *words, const brume_dataset *dataset,
                              brume_synth *out, brume_error *error)
{
    *out = (brume_synth){.words = *words, .format = &brume_rows_format};
    out->options.adjacency = words->replace ? BRUME_REPLACE : BRUME_ADD_REMOVE;
    out->spends_rho = dataset && dataset->filter.rule == BRUME_RULE_CONCENTRATED;
    bool one_table = dataset && !json_object_get(dataset->policy, "tables");
    if (dataset && (one_table || !words->view)) /* a view of several tables has typed domains */
        BRUME_TRY(brume_policy_from_json(dataset->policy, &out->policy, error));
    return words->is_stream ? BRUME_OK : read_plan(out, error);
}

void brume_synth_clear(brume_synth *synth)
{
    brume_workload_close(synth->workload);
    brume_schema_close(synth->schema);
    brume_policy_close(synth->policy);
    free(synth->workload_text);
    free(synth->tree_tables);
    brume_synth_tree_zeros_clear(synth);
}

void brume_synth_rows_clear(brume_synth_rows *rows)
{
    free(rows->cells);
    brume_tree_result_clear(&rows->tree);
    brume_schema_close(rows->found);
    rows->found = NULL;
    rows->cells = NULL;
}

/* The queries of the workload; its tables, under the method tree. */
static size_t query_count(const brume_synth *synth)
{
    return synth->is_tree ? synth->tree.tables : brume_workload_size(synth->workload);
}

/* Everything that was asked but the price and the output, as one text; the caller frees it. */
static brume_status describe(const brume_synth *synth, char **what, brume_error *error)
{
    char digest[BRUME_DIGEST_TEXT];
    BRUME_TRY(brume_digest((const char *const *)&synth->workload_text, 1, digest, error));
    return asprintf(what, "synth --workload %s (%zu queries, %.16s)%s", synth->words.workload,
                    query_count(synth), digest, synth->words.others) < 0
               ? brume_no_memory(error, NULL)
               : BRUME_OK;
}

json_t *brume_synth_plan(const brume_synth *synth)
{
    const brume_synthetic_options *options = &synth->options;
    double universe = 1;
    for (size_t i = 0; i < brume_schema_columns(synth->schema); i++)
        universe *= brume_schema_size(synth->schema, i);
    json_t *columns = json_array(), *events = json_array();
    for (size_t i = 0; i < brume_schema_columns(synth->schema); i++)
        json_array_append_new(
            columns, json_pack("{s:s, s:I, s:b, s:b}", "name", brume_schema_name(synth->schema, i),
                               "values", (json_int_t)brume_schema_size(synth->schema, i), "bins",
                               brume_schema_has_bins(synth->schema, i), "other",
                               brume_schema_has_other(synth->schema, i)));
    for (size_t i = 0; i < synth->event_count; i++) {
        char text[256];
        if (brume_event_write(&synth->events[i], text, sizeof text, NULL) == BRUME_OK)
            json_array_append_new(events, json_string(text));
    }
    const brume_synth_words *words = &synth->words;
    double epsilon = words->epsilon ? strtod(words->epsilon, NULL) : NAN;
    json_t *plan = json_pack(
        "{s:s, s:s, s:o, s:o, s:I, s:I, s:o, s:{s:o, s:o, s:o}, s:o, s:o}", "method", words->method,
        "adjacency", options->adjacency == BRUME_REPLACE ? "replace" : "add-remove", "columns",
        columns, "universe",
        universe < 0x1p53 ? json_integer((json_int_t)universe) : brume_json_real(universe),
        "queries", (json_int_t)query_count(synth), "rows", (json_int_t)synth->rows, "events",
        events, "cost", "epsilon", brume_json_real(epsilon), "delta",
        brume_json_real(words->delta ? strtod(words->delta, NULL) : 0), "rho",
        brume_json_real(synth->rho_upper), "confidence", brume_json_real(words->confidence),
        "memory_bytes", brume_json_real(synth->bytes));
    if (plan && synth->is_tree && brume_synth_tree_plan(synth, plan, NULL) != BRUME_OK) {
        json_decref(plan);
        return NULL;
    }
    return plan;
}

/* ---- the run ---- */

/* ---- reading ---- */

brume_status brume_synth_find_columns(const brume_synth *synth, const brume_csv *csv,
                                      size_t *places, brume_error *error)
{
    for (size_t c = 0; c < brume_schema_columns(synth->schema); c++)
        BRUME_TRY(brume_csv_find(csv, brume_schema_name(synth->schema, c), &places[c], error));
    return BRUME_OK;
}

/* The file has every column: BRUME_EUNKNOWN with the nearest name. */
static brume_status check_file(const brume_synth *synth, const char *path, brume_error *error)
{
    brume_csv *csv = NULL;
    size_t places[BRUME_SCHEMA_COLUMNS];
    BRUME_TRY(brume_csv_open(path, synth->format, &csv, error));
    brume_status status = brume_synth_find_columns(synth, csv, places, error);
    brume_csv_close(csv);
    return status;
}

/* counts[cell]: how many rows are that record. */
static brume_status count_rows(const brume_synth *synth, brume_csv *csv, double *counts,
                               brume_error *error)
{
    size_t places[BRUME_UNIVERSE_COLUMNS] = {0}, columns = brume_schema_columns(synth->schema);
    BRUME_TRY(brume_synth_find_columns(synth, csv, places, error));
    for (;;) {
        const char *texts[BRUME_UNIVERSE_COLUMNS];
        uint64_t cell;
        bool more;
        BRUME_TRY(brume_csv_next(csv, &more, error));
        if (!more)
            return BRUME_OK;
        for (size_t c = 0; c < columns; c++) {
            size_t length;
            texts[c] = brume_csv_field(csv, places[c], &length);
        }
        if (brume_schema_cell(synth->schema, &synth->universe, synth->options.adjacency, texts,
                              &cell))
            counts[cell]++;
    }
}

brume_status brume_synth_counts(const brume_synth *synth, const char *path, double *counts,
                                brume_error *error)
{
    brume_csv *csv = NULL;
    BRUME_TRY(brume_csv_open(path, synth->format, &csv, error));
    brume_status status = count_rows(synth, csv, counts, error);
    brume_csv_close(csv);
    return status;
}

/* ---- drawing rows ---- */

/* Are the rows few enough to be kept on the ledger? A question of public numbers. */
static bool is_kept(const brume_synth *synth)
{
    if (synth->is_tree)
        return brume_synth_tree_is_kept(synth);
    return synth->rows <= MOST_KEPT || synth->universe.cells <= MOST_KEPT;
}

/* The rows of a kept answer, to be freed. BRUME_EDAMAGED if they are not there. */
static brume_status recall(const brume_synth *synth, const json_t *answer, brume_synth_rows *rows,
                           brume_error *error)
{
    if (synth->is_tree)
        return brume_synth_tree_recall(synth, answer, rows, error);
    const json_t *cells = json_object_get(answer, "cells");
    if (!json_is_array(cells))
        return brume_fail(error, BRUME_EDAMAGED, NULL, "the recorded answer has no rows");
    double *made = calloc(synth->universe.cells, sizeof *made);
    if (!made)
        return brume_no_memory(error, "synthetic data");
    for (size_t i = 0; i + 1 < json_array_size(cells); i += 2) {
        uint64_t cell = (uint64_t)json_integer_value(json_array_get(cells, i));
        if (cell < synth->universe.cells)
            made[cell] = (double)json_integer_value(json_array_get(cells, i + 1));
    }
    rows->cells = made;
    return BRUME_OK;
}

static json_t *cells_json(const brume_synth *synth, const double *drawn)
{
    json_t *cells = json_array();
    for (uint64_t i = 0; cells && i < synth->universe.cells; i++)
        if (drawn[i] > 0) {
            json_array_append_new(cells, json_integer((json_int_t)i));
            json_array_append_new(cells, json_integer((json_int_t)drawn[i]));
        }
    return cells;
}

/* max_f |a(f) - times b(f)| over answers. */
static double worst_distance(const double *a, const double *b, double times, size_t count)
{
    double worst = 0;
    for (size_t i = 0; i < count; i++)
        worst = fmax(worst, fabs(a[i] - times * b[i]));
    return worst;
}

/* ---- the report ---- */

typedef struct synth_work {
    double *counts;  /* private, then the rows drawn */
    double *weights; /* released */
    double *of_weights, *of_rows, *truth;
} synth_work;

static const char *records_word(const brume_synth *synth)
{
    if (synth->options.adjacency == BRUME_REPLACE)
        return "public";
    if (synth->options.records > 0)
        return "told";
    if (synth->options.method == BRUME_SYNTHETIC_HISTOGRAM)
        return "from the cells";
    bool fits = synth->options.method == BRUME_SYNTHETIC_LAPLACE ||
                synth->options.method == BRUME_SYNTHETIC_GAUSSIAN;
    return fits && synth->event_count == 1 ? "from the answers" : "bought";
}

static json_t *report_json(const brume_synth *synth, const brume_synthetic_report *report,
                           const synth_work *space, bool exact)
{
    size_t queries = brume_workload_size(synth->workload);
    double scale = report->records / (double)synth->rows;
    json_t *answer = brume_synth_plan(synth);
    json_t *more = json_pack(
        "{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:b}", "records",
        brume_json_real(report->records), "records_known", records_word(synth), "records_off",
        brume_json_real(report->records_off), "bound", brume_json_real(report->bound), "measured",
        brume_json_real(report->measured), "fit", brume_json_real(report->fit), "sampling",
        brume_json_real(worst_distance(space->of_weights, space->of_rows, scale, queries)), "paid",
        (json_int_t)report->paid, "halted", report->halted);
    if (more && exact)
        json_object_set_new(
            more, "not_private",
            json_pack(
                "{s:o, s:o}", "error",
                brume_json_real(worst_distance(space->truth, space->of_weights, 1, queries)),
                "error_of_rows",
                brume_json_real(worst_distance(space->truth, space->of_rows, scale, queries))));
    bool kept = is_kept(synth);
    if (!answer || !more || json_object_update(answer, more) != 0 ||
        (kept && json_object_set_new(answer, "cells", cells_json(synth, space->counts)) != 0)) {
        json_decref(answer);
        answer = NULL;
    }
    json_decref(more);
    return answer;
}

/* The host is told how far it is. */
void brume_synth_tell(const brume_synth *synth, const char *label, uint64_t done)
{
    bool counted = synth->options.method != BRUME_SYNTHETIC_WEIGHTS;
    if (synth->words.progress)
        synth->words.progress(synth->words.context, label, done,
                              counted ? synth->options.rounds : 0);
}

/* False, that is, stop: after Ctrl-C. */
bool brume_synth_goes_on(void *context, uint64_t round, uint64_t rounds)
{
    (void)rounds;
    const brume_synth *synth = context;
    const brume_watch *watch = synth->words.watch;
    brume_synth_tell(synth, synth->words.method, round);
    return !watch || !watch->stopped(watch->context);
}

static brume_status run_in(const brume_synth *synth, const char *path, bool exact, brume_bits *bits,
                           synth_work *space, json_t **answer, brume_error *error)
{
    brume_synthetic_report report;
    brume_synthetic_options options = synth->options;
    BRUME_TRY(brume_synth_counts(synth, path, space->counts, error));
    if (exact)
        BRUME_TRY(brume_workload_answer(synth->workload, space->counts, space->truth, error));
    brume_synth_tell(synth, synth->words.method, 0);
    options.progress = brume_synth_goes_on;
    options.progress_context = (void *)(uintptr_t)synth;
    brume_status status = brume_synthetic_histogram(synth->workload, &options, space->counts, bits,
                                                    space->weights, &report, error);
    brume_synth_tell(synth, NULL, 0);
    BRUME_TRY(status);
    BRUME_TRY(brume_workload_answer(synth->workload, space->weights, space->of_weights, error));
    BRUME_TRY(brume_synthetic_rows(&synth->universe, space->weights, bits, synth->rows,
                                   space->counts, error));
    BRUME_TRY(brume_workload_answer(synth->workload, space->counts, space->of_rows, error));
    json_t *made = report_json(synth, &report, space, exact);
    if (!made)
        return brume_no_memory(error, "synthetic data");
    *answer = made;
    return BRUME_OK;
}

/* Read the CSV file, make the histogram, draw rows from it. *answer gets the report and, if they
 * are few enough to be kept, "cells": [cell, count, ...], ascending. */
static brume_status make_rows(const brume_synth *synth, const char *path, bool exact,
                              brume_bits *bits, brume_synth_rows *rows, json_t **answer,
                              brume_error *error)
{
    if (synth->is_tree)
        return brume_synth_tree_draw(synth, path, bits, rows, answer, error);
    size_t queries = brume_workload_size(synth->workload);
    synth_work space = {.counts = calloc(synth->universe.cells, sizeof(double)),
                        .weights = malloc(synth->universe.cells * sizeof(double)),
                        .of_weights = malloc(queries * sizeof(double)),
                        .of_rows = malloc(queries * sizeof(double)),
                        .truth = malloc(queries * sizeof(double))};
    brume_status status = BRUME_OK;
    if (!space.counts || !space.weights || !space.of_weights || !space.of_rows || !space.truth)
        status = brume_no_memory(error, "synthetic data");
    if (status == BRUME_OK)
        status = run_in(synth, path, exact, bits, &space, answer, error);
    if (status == BRUME_OK) {
        rows->cells = space.counts; /* the rows drawn; the data are gone */
    } else if (space.counts) {
        explicit_bzero(space.counts, synth->universe.cells * sizeof(double));
        free(space.counts);
    }
    free(space.weights);
    free(space.of_weights);
    free(space.of_rows);
    free(space.truth);
    return status;
}

typedef struct synth_charged_draw {
    const brume_synth *synth;
    bool rehearsed, has_drawn;
    brume_synth_rows rows;
} synth_charged_draw;

/* First without rows, before the charge: are the columns there? Then with them. */
static brume_status draw(void *context, const char *path, brume_bits *bits, json_t **answer,
                         brume_error *error)
{
    synth_charged_draw *all = context;
    if (all->rehearsed) {
        BRUME_TRY(make_rows(all->synth, path, false, bits, &all->rows, answer, error));
        all->has_drawn = true;
        return BRUME_OK;
    }
    all->rehearsed = true;
    BRUME_TRY(check_file(all->synth, path, error));
    *answer = json_object();
    return *answer ? BRUME_OK : brume_no_memory(error, NULL);
}

/* What is charged: `context` NULL, nothing, it is only checked. */
static brume_status charge_for(const brume_synth *synth, brume_ledger *ledger, brume_bits *bits,
                               synth_charged_draw *context, json_t **answer, brume_error *error)
{
    char *what = NULL;
    const char *names[BRUME_SCHEMA_COLUMNS];
    json_t *plan = brume_synth_plan(synth);
    if (!plan)
        return brume_no_memory(error, NULL);
    for (size_t c = 0; c < brume_schema_columns(synth->schema); c++)
        names[c] = brume_schema_name(synth->schema, c);
    brume_status status = describe(synth, &what, error);
    brume_charged charged = {.dataset = synth->words.source,
                             .view = synth->words.view,
                             .columns = names,
                             .column_count = brume_schema_columns(synth->schema),
                             .rows_per_unit = synth->words.rows_per_unit,
                             .only_checks = !context,
                             .adjacency = synth->options.adjacency,
                             .epsilon = synth->words.epsilon,
                             .delta = synth->words.delta,
                             .rho = synth->words.rho,
                             .rho_upper = synth->rho_upper,
                             .windows = synth->words.windows,
                             .events = json_object_get(plan, "events"),
                             .fresh = !is_kept(synth),
                             .needs_rows = true,
                             .most_rows = synth->options.method == BRUME_SYNTHETIC_SMALL_DATABASE
                                              ? BRUME_SMALL_DATABASE_RECORDS
                                              : 0,
                             .what = what,
                             .draw = draw,
                             .context = context};
    if (status == BRUME_OK)
        status = brume_charged_release(ledger, &charged, bits, synth->words.watch, answer, error);
    json_decref(plan);
    free(what);
    return status;
}

brume_status brume_synth_check_view(const brume_synth *synth, brume_ledger *ledger,
                                    brume_error *error)
{
    return synth->words.view ? charge_for(synth, ledger, NULL, NULL, NULL, error) : BRUME_OK;
}

brume_status brume_synth_charged(const brume_synth *synth, brume_ledger *ledger, brume_bits *bits,
                                 brume_synth_rows *rows, json_t **answer, brume_error *error)
{
    synth_charged_draw context = {.synth = synth};
    brume_status status = charge_for(synth, ledger, bits, &context, answer, error);
    if (status == BRUME_OK && !context.has_drawn) /* read again */
        status = recall(synth, *answer, &context.rows, error);
    if (status == BRUME_OK)
        *rows = context.rows;
    else
        brume_synth_rows_clear(&context.rows);
    return status;
}

brume_status brume_synth_of_file(brume_synth *synth, const char *path,
                                 const brume_text_format *format, brume_bits *bits,
                                 brume_synth_rows *rows, json_t **answer, brume_error *error)
{
    synth->format = format;
    BRUME_TRY(check_file(synth, path, error));
    return rows ? make_rows(synth, path, synth->words.exact_error, bits, rows, answer, error)
                : BRUME_OK;
}

/* ---- what every method promises, before any data is read ----
 *
 * Each bound is the one that the library proves for the method, for every data of that many
 * records; where a method has a parameter, the best of a few public values is taken. */

enum { MOST_CELLS = 1 << 20 };

typedef struct promise {
    double bound, with; /* in records; the parameter */
    const char *parameter;
    char why[480]; /* where there is none */
} promise;

static void take(promise *best, brume_status status, double bound, double with,
                 const brume_error *error)
{
    if (status != BRUME_OK && !isfinite(best->bound))
        snprintf(best->why, sizeof best->why, "%s", error->message);
    if (status == BRUME_OK && isfinite(bound) && !(best->bound <= bound)) {
        best->bound = bound;
        best->with = with;
    }
}

static void by_noise(const brume_synth *synth, brume_direct_way way, promise *best)
{
    brume_direct_options options = {.way = way,
                                    .adjacency = synth->options.adjacency,
                                    .epsilon = synth->options.epsilon,
                                    .rho = synth->options.rho};
    brume_error error = {0};
    double bound = INFINITY;
    brume_status status =
        brume_direct_alpha(synth->workload, &options, synth->options.beta, &bound, &error);
    take(best, status, bound, NAN, &error);
}

static void by_mwem(const brume_synth *synth, promise *best)
{
    best->parameter = "rounds";
    for (uint64_t rounds = 1; rounds <= 1 << 14; rounds *= 2) {
        brume_mwem_options options = {.adjacency = synth->options.adjacency,
                                      .epsilon = synth->options.epsilon,
                                      .rho = synth->options.rho,
                                      .rounds = rounds,
                                      .records = synth->options.records};
        brume_error error = {0};
        double bound = INFINITY;
        brume_status status =
            brume_mwem_alpha(synth->workload, &options, synth->options.beta, &bound, &error);
        take(best, status, bound, (double)rounds, &error);
    }
}

static void by_weights(const brume_synth *synth, brume_bits *bits, promise *best)
{
    uint64_t cells = synth->universe.cells;
    best->parameter = "alpha";
    double *counts = cells <= MOST_CELLS ? calloc(cells, sizeof *counts) : NULL;
    if (!counts) {
        snprintf(best->why, sizeof best->why, "more than %d cells", (int)MOST_CELLS);
        return;
    }
    counts[0] = synth->options.records;
    for (double alpha = 1; alpha > 1e-3; alpha /= 1.25) {
        brume_multiplicative_weights_options options = {.adjacency = synth->options.adjacency,
                                                        .epsilon = synth->options.epsilon,
                                                        .rho = synth->options.rho,
                                                        .alpha = alpha,
                                                        .records = synth->options.records};
        brume_multiplicative_weights *stream = NULL;
        brume_error error = {0};
        double bound = INFINITY;
        brume_status status = brume_multiplicative_weights_open(synth->workload, &options, counts,
                                                                bits, &stream, &error);
        if (status == BRUME_OK)
            status = brume_multiplicative_weights_alpha(
                stream, brume_workload_size(synth->workload), synth->options.beta, &bound, &error);
        brume_multiplicative_weights_close(stream);
        take(best, status, bound, alpha, &error);
    }
    free(counts);
}

static void by_small_database(const brume_synth *synth, promise *best)
{
    best->parameter = "size";
    if (!(synth->options.epsilon > 0)) {
        snprintf(best->why, sizeof best->why, "it is pure: leave out the delta");
        return;
    }
    for (uint64_t size = 1; size <= BRUME_SMALL_DATABASE_SIZE; size += 1 + size / 8) {
        brume_small_database_options options = {.adjacency = synth->options.adjacency,
                                                .epsilon = synth->options.epsilon,
                                                .size = size,
                                                .records = (uint64_t)synth->options.records,
                                                .most_candidates = UINT64_C(1) << 40};
        brume_error error = {0};
        double bound = INFINITY;
        brume_status status = brume_small_database_alpha(synth->workload, &options,
                                                         synth->options.beta, &bound, &error);
        take(best, status, bound, (double)size, &error);
    }
}

static json_t *row_of(const char *method, const promise *one, double records)
{
    bool known = isfinite(one->bound);
    json_t *row = json_pack("{s:s, s:o, s:o}", "method", method, "bound",
                            known ? brume_json_real(one->bound) : json_null(), "share",
                            known ? brume_json_real(one->bound / records) : json_null());
    if (row && known && one->parameter)
        json_object_set_new(row, one->parameter, brume_json_real(one->with));
    if (row && !known)
        json_object_set_new(row, "why", json_string(one->why));
    return row;
}

json_t *brume_synth_compare(const brume_synth *typed)
{
    brume_synth copy = *typed, *synth = &copy; /* under replace a run would count the records */
    synth->options.records = (double)typed->words.records;
    const char *const names[] = {synth->options.rho > 0 ? "gaussian" : "laplace", "histogram",
                                 "mwem", "pmw", "small-db"};
    promise all[5];
    brume_bits *bits = NULL;
    if (synth->is_tree || !(synth->options.records > 0) || brume_bits_open(&bits, NULL) != BRUME_OK)
        return NULL; /* without a number of records there is no bound to compare */
    for (size_t i = 0; i < 5; i++)
        all[i] = (promise){.bound = INFINITY, .with = NAN, .why = "no bound is known here"};
    by_noise(synth, BRUME_DIRECT_QUERIES, &all[0]);
    by_noise(synth, BRUME_DIRECT_HISTOGRAM, &all[1]);
    by_mwem(synth, &all[2]);
    by_weights(synth, bits, &all[3]);
    by_small_database(synth, &all[4]);
    brume_bits_close(bits);
    json_t *rows = json_array();
    for (size_t i = 0; rows && i < 5; i++)
        json_array_append_new(rows, row_of(names[i], &all[i], synth->options.records));
    return rows;
}
