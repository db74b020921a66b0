/* `brume synth --dry-run`: what every method promises for these columns, this workload, this price
 * and so many records, before any data is read.
 *
 * Promises: each bound is the one that the library proves for the method, for every data of that
 * many records; where a method has a parameter, the best of a few public values is taken. */
#include "command/synth/synth.h"

#include <math.h>
#include <stdlib.h>

#include <brume/synthetic/direct.h>
#include <brume/synthetic/multiplicative_weights.h>
#include <brume/synthetic/mwem.h>
#include <brume/synthetic/small_database.h>

#include "command/query/ask.h"

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
    synth->options.records = (double)brume_call_count(typed->call, "records", 0);
    const char *const names[] = {synth->options.rho > 0 ? "gaussian" : "laplace", "histogram",
                                 "mwem", "pmw", "small-db"};
    promise all[5];
    brume_bits *bits = NULL;
    if (!(synth->options.records > 0) || brume_bits_open(&bits, NULL) != BRUME_OK)
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

static double real_of(const json_t *row, const char *name)
{
    const json_t *value = json_object_get(row, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Every answer within so many records, by each method. */
void brume_synth_write_methods(brume_call *call, const json_t *methods)
{
    static const char *const parameters[] = {"rounds", "alpha", "size"};
    if (json_array_size(methods) > 0)
        fprintf(call->out, "  bounds    known before, for every answer at once:\n");
    for (size_t i = 0; i < json_array_size(methods); i++) {
        const json_t *row = json_array_get(methods, i);
        double bound = real_of(row, "bound");
        fprintf(call->out, "            %-10s", json_string_value(json_object_get(row, "method")));
        if (!isfinite(bound)) {
            fprintf(call->out, " %s\n", json_string_value(json_object_get(row, "why")));
            continue;
        }
        fprintf(call->out, " %s records", brume_rounded_up(bound).text);
        for (size_t j = 0; j < sizeof parameters / sizeof *parameters; j++)
            if (isfinite(real_of(row, parameters[j])))
                fprintf(call->out, ", %s %.4g", parameters[j], real_of(row, parameters[j]));
        fprintf(call->out, "\n");
    }
}
