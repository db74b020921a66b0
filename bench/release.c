/* How fast many queries are released: a step of multiplicative weights and a query beside plain
 * loops over the same array, and MWEM whole, with its error.
 *
 *     release [LARGEST]       universes of 2^16 to 2^LARGEST cells; 26 unless said
 *     release --file FILE EPSILON ROUNDS RUNS
 *                             MWEM on a universe and records of a file, as JSON, for
 * peers/release.py
 *
 * The plain loops run on the same threads in the same pieces. A ratio is the least of ROUNDS
 * timings over the least of its plain version, the two taken in turn, by the clock on the wall. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <brume/synthetic/mwem.h>

#include "base/parallel.h"
#include "synthetic/weights.h"

enum { ROUNDS = 9, CHUNK = 4096 };

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define EVERY_PROCESSOR                                                                            \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define EVERY_PROCESSOR
#endif

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static uint64_t next_word(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

static void check(brume_status status, const brume_error *error)
{
    if (status == BRUME_OK)
        return;
    fprintf(stderr, "release: %s\n", error->message);
    exit(1);
}

static void *room(uint64_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (!memory) {
        fprintf(stderr, "release: out of memory\n");
        exit(1);
    }
    return memory;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* --- one step and one query ------------------------------------------------------------------- */

EVERY_PROCESSOR static void plain_block(double *cell, double factor, size_t n)
{
    for (size_t i = 0; i < n; i++)
        cell[i] *= factor;
}

typedef struct plain {
    double *cell;
    double factor;
} plain;

static void plain_chunks(void *context, size_t piece, uint64_t first, uint64_t last)
{
    (void)piece;
    const plain *work = context;
    for (uint64_t i = first; i < last; i++)
        plain_block(work->cell + i * CHUNK, work->factor, CHUNK);
}

static void plain_pass(double *cell, uint64_t cells, double factor)
{
    plain work = {cell, factor};
    brume_parallel_run(cells / CHUNK, CHUNK, plain_chunks, &work);
}

enum { PAIR, DENSE, QUERIES };

static void one_size(unsigned bits)
{
    brume_error error;
    uint32_t sizes[BRUME_UNIVERSE_COLUMNS];
    brume_universe universe;
    brume_workload *workload = NULL;
    brume_weights weights;
    uint64_t state = 88172645463325252u;
    for (unsigned c = 0; c < bits / 2; c++)
        sizes[c] = 4;
    check(brume_universe_make(sizes, bits / 2, &universe, &error), &error);
    check(brume_workload_open(&universe, &workload, &error), &error);
    const uint8_t half[] = {1, 0, 0, 1};
    const uint8_t *allowed[BRUME_UNIVERSE_COLUMNS] = {NULL};
    allowed[0] = allowed[bits / 2 - 1] = half;
    check(brume_workload_add_box(workload, allowed, &error), &error);
    float *values = room(universe.cells, sizeof *values);
    for (uint64_t i = 0; i < universe.cells; i++)
        values[i] = (float)(next_word(&state) >> 44) * 0x1p-20f;
    check(brume_workload_add_dense(workload, values, &error), &error);
    free(values);
    double *cell = room(universe.cells, sizeof *cell);
    brume_weights_uniform(&weights, workload, 1e6, cell);
    double loop = INFINITY, step[QUERIES] = {INFINITY, INFINITY},
           ask[QUERIES] = {INFINITY, INFINITY};
    int rounds = bits < 24 ? ROUNDS << (24 - bits) / 2 : ROUNDS;
    for (int round = 0; round < rounds; round++)
        for (size_t query = 0; query < QUERIES; query++) {
            double answer, start = now();
            plain_pass(cell, universe.cells, round % 2 ? 1.25 : 0.8);
            double looped = now();
            check(brume_weights_answer_one(&weights, query, &answer, &error), &error);
            double asked = now();
            check(brume_weights_step(&weights, query, round % 2 ? .2 : -.2, &error), &error);
            double stepped = now();
            loop = least(loop, looped - start);
            ask[query] = least(ask[query], asked - looped);
            step[query] = least(step[query], stepped - asked);
        }
    printf("  2^%-3u %11.3f ms   %6.2f x %6.2f x    %6.2f x %6.2f x\n", bits, 1e3 * loop,
           step[PAIR] / loop, ask[PAIR] / loop, step[DENSE] / loop, ask[DENSE] / loop);
    fflush(stdout);
    free(cell);
    brume_workload_close(workload);
}

/* --- MWEM ------------------------------------------------------------------------------------- */

typedef struct variant {
    const char *name;
    uint64_t replays;
    bool last_half, whole;
} variant;

static const variant variants[] = {
    {"one answer a round, all histograms averaged", 0, false, false},
    {"one answer a round, replays, the last half", 2, true, false},
    {"whole marginals, replays, the last half", 2, true, true},
};

static double worst_error(const double *truth, const double *answers, size_t queries, double *mean)
{
    double worst = 0, sum = 0;
    for (size_t i = 0; i < queries; i++) {
        sum += fabs(truth[i] - answers[i]);
        worst = fmax(worst, fabs(truth[i] - answers[i]));
    }
    *mean = sum / (double)queries;
    return worst;
}

static bool tell(void *context, uint64_t round, uint64_t rounds)
{
    (void)context;
    fprintf(stderr, "\r  round %llu of %llu", (unsigned long long)round,
            (unsigned long long)rounds);
    if (round == rounds)
        fprintf(stderr, "\r                          \r");
    return true;
}

typedef struct result {
    double seconds, worst, mean, bound;
} result;

static result mwem(const brume_workload *workload, const double *counts, double records,
                   double epsilon, uint64_t rounds, const variant *kind, int runs, bool progress)
{
    brume_error error;
    size_t queries = brume_workload_size(workload);
    uint64_t cells = brume_workload_universe(workload)->cells;
    double *truth = room(queries, sizeof *truth), *answers = room(queries, sizeof *answers);
    double *weights = room(cells, sizeof *weights);
    brume_bits *bits = NULL;
    check(brume_bits_open(&bits, &error), &error);
    check(brume_workload_answer(workload, counts, truth, &error), &error);
    brume_mwem_options options = {.adjacency = BRUME_ADD_REMOVE,
                                  .epsilon = epsilon,
                                  .rounds = rounds,
                                  .records = records,
                                  .progress = progress && isatty(2) ? tell : NULL,
                                  .replays = kind->replays,
                                  .average = kind->last_half ? rounds / 2 : 0,
                                  .whole_marginals = kind->whole};
    result out = {.seconds = INFINITY};
    check(brume_mwem_alpha(workload, &options, 0.05, &out.bound, &error), &error);
    for (int run = 0; run < runs; run++) {
        double start = now(), mean;
        check(brume_mwem(workload, &options, counts, bits, weights, &error), &error);
        out.seconds = least(out.seconds, now() - start);
        check(brume_workload_answer(workload, weights, answers, &error), &error);
        out.worst += worst_error(truth, answers, queries, &mean) / runs;
        out.mean += mean / runs;
    }
    brume_bits_close(bits);
    free(truth);
    free(answers);
    free(weights);
    return out;
}

/* Eight columns, 2^20 cells; each column follows the one before it three times out of four. */
static void eight_columns(void)
{
    enum { RECORDS = 1000000, RUNS = 3 };
    brume_error error;
    const uint32_t sizes[] = {8, 8, 4, 4, 8, 4, 8, 4};
    brume_universe universe;
    brume_workload *workload = NULL;
    uint64_t state = 1234567;
    check(brume_universe_make(sizes, 8, &universe, &error), &error);
    check(brume_workload_open(&universe, &workload, &error), &error);
    check(brume_workload_add_marginals(workload, 2, &error), &error);
    double *counts = room(universe.cells, sizeof *counts);
    for (int i = 0; i < RECORDS; i++) {
        uint32_t record[8], before = 0;
        uint64_t cell;
        for (int c = 0; c < 8; c++) {
            uint64_t word = next_word(&state) >> 40;
            before = word % 4 ? before % sizes[c] : (uint32_t)(word / 4 % sizes[c]);
            record[c] = before;
        }
        check(brume_universe_cell(&universe, record, &cell, &error), &error);
        counts[cell] += 1;
    }
    printf(
        "\nMWEM: all pairs of 8 columns, %llu cells, %zu queries, %d records, epsilon 1, 50 rounds\n",
        (unsigned long long)universe.cells, brume_workload_size(workload), RECORDS);
    printf("  %-46s %9s %12s %12s %12s\n", "", "seconds", "worst error", "mean error",
           "95 % bound");
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        result out = mwem(workload, counts, RECORDS, 1, 50, &variants[i], RUNS, true);
        printf("  %-46s %9.3f %12.0f %12.1f %12.0f\n", variants[i].name, out.seconds, out.worst,
               out.mean, out.bound);
        fflush(stdout);
    }
    free(counts);
    brume_workload_close(workload);
}

/* The file: the number of columns, their sizes, then one cell number per record. */
static void from_file(char **words)
{
    brume_error error;
    FILE *file = fopen(words[0], "r");
    uint32_t sizes[BRUME_UNIVERSE_COLUMNS];
    size_t columns = 0;
    if (!file || fscanf(file, "%zu", &columns) != 1 || columns > BRUME_UNIVERSE_COLUMNS) {
        fprintf(stderr, "release: cannot read %s\n", words[0]);
        exit(1);
    }
    for (size_t c = 0; c < columns; c++)
        if (fscanf(file, "%u", &sizes[c]) != 1)
            exit(1);
    brume_universe universe;
    brume_workload *workload = NULL;
    check(brume_universe_make(sizes, columns, &universe, &error), &error);
    check(brume_workload_open(&universe, &workload, &error), &error);
    check(brume_workload_add_marginals(workload, 2, &error), &error);
    double *counts = room(universe.cells, sizeof *counts), records = 0;
    for (unsigned long long cell; fscanf(file, "%llu", &cell) == 1; records++)
        counts[cell % universe.cells] += 1;
    fclose(file);
    double epsilon = strtod(words[1], NULL);
    uint64_t rounds = strtoull(words[2], NULL, 10);
    printf("[");
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        result out = mwem(workload, counts, records, epsilon, rounds, &variants[i],
                          (int)strtol(words[3], NULL, 10), false);
        printf("%s{\"name\": \"%s\", \"seconds\": %.6f, \"worst\": %.3f, \"mean\": %.4f}",
               i ? ", " : "", variants[i].name, out.seconds, out.worst, out.mean);
    }
    printf("]\n");
    free(counts);
    brume_workload_close(workload);
}

int main(int count, char **words)
{
    if (count == 6 && strcmp(words[1], "--file") == 0) {
        from_file(words + 2);
        return 0;
    }
    unsigned largest = count > 1 ? (unsigned)strtoul(words[1], NULL, 10) : 26;
    printf("beside a plain read-modify-write of the same array on all cores (goal: at most 2 x)\n");
    printf("  %-5s %14s   %-19s %-19s\n", "cells", "plain loop", "box: step, query",
           "dense: step, query");
    for (unsigned bits = 16; bits <= largest; bits += 2)
        one_size(bits);
    if (largest >= 20)
        eight_columns();
    return 0;
}
