/* The plan of `brume synth`: everything that the words typed decide, before any data is read. */
#include "command/synth/synth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <brume/mechanism/expression.h>
#include <brume/mechanism/mechanism.h>
#include <brume/synthetic/small_database.h>

#include "base/text.h"
#include "ledger/digest.h"
#include "number/rounding.h"

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
        status = brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
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
    const char *typed = brume_call_text(synth->call, "workload");
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
            return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
        for (const char *at = typed + sizeof prefix - 1; *at;) {
            size_t word = strcspn(at, ",");
            fprintf(out, "marginals %.*s\n", (int)word, at);
            at += word + (at[word] == ',');
        }
        if (fclose(out) != 0)
            return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    }
    brume_error inner = {0};
    brume_status status =
        brume_workload_parse(synth->schema, synth->workload_text, &synth->workload, &inner);
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
    return brume_fail(error, BRUME_EOVERFLOW, "take fewer columns, or coarser domains",
                      "a universe of %.15g cells needs about %.3g GiB of memory, %.3g GiB are "
                      "available",
                      cells, bytes * 0x1p-30, available * 0x1p-30);
}

/* ---- all together ---- */

static brume_status read_options(brume_synth *synth, brume_error *error)
{
    const brume_call *call = synth->call;
    brume_synthetic_options *options = &synth->options;
    bool fits = options->method == BRUME_SYNTHETIC_LAPLACE ||
                options->method == BRUME_SYNTHETIC_GAUSSIAN;
    options->rounds = brume_call_count(call, "rounds", fits ? FIT_ROUNDS : ROUNDS);
    options->alpha = brume_call_real(call, "alpha", 0.1);
    options->records = (double)brume_call_count(call, "records", 0);
    /* fits to noisy answers have a bound from these answers; the others have one for the worst data
     * there may be */
    bool fits_noise = fits || options->method == BRUME_SYNTHETIC_HISTOGRAM;
    options->error_share = brume_call_real(call, "error-share", fits_noise ? 0 : ERROR_SHARE);
    options->beta = 1 - brume_call_real(call, "confidence", 0.95);
    options->most_candidates = brume_call_count(call, "candidates", UINT64_C(1) << 26);
    options->size = brume_call_count(call, "size", 0);
    synth->rows = brume_call_count(call, "rows", 0);
    bool counted = options->adjacency == BRUME_REPLACE;
    if (counted && options->records > 0 && !brume_call_has(call, "dry-run"))
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

brume_status brume_synth_read(brume_synth *synth, brume_error *error)
{
    synth->method = brume_call_text(synth->call, "method");
    size_t which = 0;
    if (!synth->method)
        return brume_fail(error, BRUME_EARGUMENT, "for example --method mwem",
                          "'--method' is missing");
    while (strcmp(methods[which].name, synth->method) != 0)
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

void brume_synth_clear(brume_synth *synth)
{
    brume_workload_close(synth->workload);
    brume_schema_close(synth->schema);
    free(synth->workload_text);
}

brume_status brume_synth_describe(const brume_synth *synth, char **what, brume_error *error)
{
    static const char *const left_out[] = {"epsilon", "delta",   "rho",     "ledger",
                                           "output",  "dry-run", "workload"};
    const brume_call *call = synth->call;
    char digest[BRUME_DIGEST_TEXT];
    BRUME_TRY(brume_digest((const char *const *)&synth->workload_text, 1, digest, error));
    size_t length = 0;
    char *text = NULL;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    fprintf(out, "synth --workload %s (%zu queries, %.16s)", brume_call_text(call, "workload"),
            brume_workload_size(synth->workload), digest);
    for (size_t i = 0; i < call->command->option_count; i++) {
        const char *name = call->command->options[i].name;
        bool skip = false;
        for (size_t j = 0; j < sizeof left_out / sizeof *left_out; j++)
            skip = skip || strcmp(name, left_out[j]) == 0;
        for (size_t n = 0; !skip && n < brume_call_times(call, name); n++) {
            const char *typed = brume_call_text_at(call, name, n);
            fprintf(out, " --%s '%s'", name, typed ? typed : "");
        }
    }
    if (fclose(out) != 0) {
        free(text);
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    }
    *what = text;
    return BRUME_OK;
}

json_t *brume_synth_plan(const brume_synth *synth)
{
    const brume_synthetic_options *options = &synth->options;
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
    double epsilon = synth->epsilon ? strtod(synth->epsilon, NULL) : NAN;
    return json_pack(
        "{s:s, s:s, s:o, s:I, s:I, s:I, s:o, s:{s:o, s:o, s:o}, s:o, s:o}", "method", synth->method,
        "adjacency", options->adjacency == BRUME_REPLACE ? "replace" : "add-remove", "columns",
        columns, "universe", (json_int_t)synth->universe.cells, "queries",
        (json_int_t)brume_workload_size(synth->workload), "rows", (json_int_t)synth->rows, "events",
        events, "cost", "epsilon", brume_json_real(epsilon), "delta",
        brume_json_real(synth->delta ? strtod(synth->delta, NULL) : 0), "rho",
        brume_json_real(synth->rho_upper), "confidence",
        brume_json_real(brume_call_real(synth->call, "confidence", 0.95)), "memory_bytes",
        brume_json_real(synth->bytes));
}
