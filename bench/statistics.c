/* How long the statistics take beside plain versions of the same work.
 *
 *     statistics [ROWS]       10,000,000 rows unless said; edges and keys are a tenth of it
 *
 * Every ratio is the least of ROUNDS timings over the least of its plain version, the two taken in
 * turn, in processor time. Data is made by a fixed generator: nothing here is
 * random. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <brume/statistic/key_count.h>
#include <brume/statistic/quantile.h>
#include <brume/mechanism/stable_histogram.h>
#include <brume/statistic/triangle.h>

#include "base/sort.h"

enum { ROUNDS = 3 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static uint64_t next_word(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

static double uniform(uint64_t *state)
{
    return (double)(next_word(state) >> 11) * 0x1p-53;
}

static void check(brume_status status, const brume_error *error)
{
    if (status == BRUME_OK)
        return;
    fprintf(stderr, "statistics: %s\n", error->message);
    exit(1);
}

static void *room(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (!memory) {
        fprintf(stderr, "statistics: out of memory\n");
        exit(1);
    }
    return memory;
}

static void row(const char *what, double seconds, double plain, const char *target)
{
    printf("  %-58s %9.3f s  %6.2f x  %s\n", what, seconds, seconds / plain, target);
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* --- quantiles -------------------------------------------------------------------------------- */

static int ascending(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

static void quantiles(size_t n)
{
    brume_error error;
    uint64_t state = 88172645463325252u;
    int64_t *values = room(n, sizeof *values), *copy = room(n, sizeof *copy);
    /* Incomes, say: a log-normal on a grid of 2^32 steps. */
    for (size_t i = 0; i < n; i++) {
        double normal = sqrt(-2 * log(uniform(&state) + 1e-300)) *
                        cos(6.283185307 * uniform(&state));
        values[i] = (int64_t)(0x1p26 * exp(.8 * normal));
    }
    const double ts[] = {.735, .0345, 1e-6};
    double standard = INFINITY, sort = INFINITY, smooth[3] = {INFINITY, INFINITY, INFINITY};
    double distance = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(copy, values, n * sizeof *copy);
        double start = now();
        check(brume_sort_integers(copy, n, 0, INT64_MAX, &error), &error);
        sort = least(sort, now() - start);
        if (round == 0) {
            memcpy(copy, values, n * sizeof *copy);
            start = now();
            qsort(copy, n, sizeof *copy, ascending);
            standard = now() - start;
        }
        brume_quantile_rule rule = {1, 2, 1, BRUME_REPLACE, 0, INT64_C(1) << 32};
        for (int i = 0; i < 4; i++) {
            start = now();
            brume_quantile *quantile = NULL;
            double out = 0;
            check(brume_quantile_open(&rule, values, n, &quantile, &error), &error);
            if (i < 3)
                check(brume_quantile_smooth(quantile, ts[i], &out, &error), &error);
            else
                out = (double)brume_quantile_distance(quantile, 1 << 16);
            double *slot = i < 3 ? &smooth[i] : &distance;
            *slot = least(*slot, now() - start);
            if (!(out >= 0))
                printf("  wrong\n");
            brume_quantile_close(quantile);
        }
    }
    printf("median of %zu values, from unsorted data to the answer\n", n);
    row("sorting them: brume's radix sort (the plain version)", sort, sort, "");
    row("sorting them: the C library's qsort", standard, sort, "");
    row("smooth sensitivity, t = 0.735 (Cauchy, epsilon 1)", smooth[0], sort, "<= 2");
    row("smooth sensitivity, t = 0.0345 (Laplace, epsilon 1, delta 1e-6)", smooth[1], sort, "<= 2");
    row("smooth sensitivity, t = 1e-6: nothing can be left out", smooth[2], sort, "");
    row("distance for propose-test-release", distance, sort, "<= 2");
    /* The definition, O(n^2), on as much as it can do. */
    size_t few = n < 3000 ? n : 3000;
    brume_quantile_rule rule = {1, 2, 1, BRUME_REPLACE, 0, INT64_C(1) << 32};
    brume_quantile *quantile = NULL;
    check(brume_quantile_open(&rule, values, few, &quantile, &error), &error);
    double start = now(), best = 0, fast;
    for (uint64_t k = 0; k <= few; k++)
        best = fmax(best, exp(-1e-6 * (double)k) * (double)brume_quantile_local(quantile, k));
    double naive = now() - start;
    start = now();
    check(brume_quantile_smooth(quantile, 1e-6, &fast, &error), &error);
    printf("  of %zu values by its definition %.4f s, by divide and conquer %.6f s\n\n", few, naive,
           now() - start);
    brume_quantile_close(quantile);
    free(values);
    free(copy);
}

/* --- triangles -------------------------------------------------------------------------------- */

/* A power-law graph: ends drawn with weight (i + 1)^-0.7, so that degrees fall like a power. */
static void power_law(uint64_t vertices, size_t edges, uint64_t *source, uint64_t *target)
{
    uint64_t state = 1234567;
    for (size_t i = 0; i < edges; i++) {
        /* inverse of the integral of x^-0.7 */
        source[i] = (uint64_t)((double)vertices * pow(uniform(&state), 1 / .3));
        target[i] = (uint64_t)((double)vertices * pow(uniform(&state), 1 / .3));
    }
}

static void triangles(size_t edges)
{
    brume_error error;
    uint64_t vertices = edges / 4 + 10;
    uint64_t *source = room(edges, sizeof *source), *target = room(edges, sizeof *target);
    power_law(vertices, edges, source, target);
    double open = INFINITY, plain = INFINITY, local = INFINITY, smooth = INFINITY, near = INFINITY;
    uint64_t count = 0, sensitivity = 0, distance = 0, kept = 0;
    double bound = 0;
    for (int round = 0; round < ROUNDS; round++) {
        brume_graph *graph = NULL;
        double start = now();
        check(brume_graph_open(vertices, source, target, edges, &graph, &error), &error);
        double opened = now();
        check(brume_triangle_count(graph, &count, &error), &error);
        double counted = now();
        check(brume_triangle_local(graph, 0, &sensitivity, &error), &error);
        double located = now();
        check(brume_triangle_smooth(graph, .1, &bound, &error), &error);
        double smoothed = now();
        check(brume_triangle_distance(graph, sensitivity + 50, &distance, &error), &error);
        double tested = now();
        kept = brume_graph_edges(graph);
        open = least(open, opened - start);
        plain = least(plain, counted - opened);
        local = least(local, located - counted);
        smooth = least(smooth, smoothed - located);
        near = least(near, tested - smoothed);
        brume_graph_close(graph);
    }
    printf("triangles of a power-law graph: %llu vertices, %llu edges, %llu triangles\n",
           (unsigned long long)vertices, (unsigned long long)kept, (unsigned long long)count);
    printf("  local sensitivity %llu, reading the graph %.3f s (not counted below)\n",
           (unsigned long long)sensitivity, open);
    row("plain count", plain, plain, "");
    row("count and exact local sensitivity", plain + local, plain, "<= 3");
    row("count and smooth sensitivity, t = 0.1", plain + smooth, plain, "<= 3");
    row("count and distance for propose-test-release", plain + near, plain, "<= 3");
    printf("\n");
    free(source);
    free(target);
}

/* --- stable histogram ------------------------------------------------------------------------- */

typedef struct plain_entry {
    char *key;
    size_t length;
    uint64_t count;
} plain_entry;

static char (*texts)[24];
static size_t *lengths;

/* Counting with a hash table that owns its keys, and nothing else. */
static size_t plain_count(const uint32_t *rows, size_t n)
{
    size_t mask = 1023, used = 0;
    plain_entry *table = room(mask + 1, sizeof *table);
    for (size_t i = 0; i < n; i++) {
        const char *key = texts[rows[i]];
        size_t length = lengths[rows[i]];
        uint64_t hash = UINT64_C(14695981039346656037);
        for (size_t j = 0; j < length; j++)
            hash = (hash ^ (unsigned char)key[j]) * UINT64_C(1099511628211);
        size_t at = (hash ^ hash >> 32) & mask;
        while (table[at].key &&
               (table[at].length != length || memcmp(table[at].key, key, length) != 0))
            at = (at + 1) & mask;
        if (!table[at].key) {
            char *own = malloc(length);
            if (!own)
                exit(1);
            table[at] = (plain_entry){memcpy(own, key, length), length, 0};
            used++;
        }
        table[at].count++;
        if (2 * used > mask) {
            size_t larger = 2 * mask + 1;
            plain_entry *next = room(larger + 1, sizeof *next);
            for (size_t j = 0; j <= mask; j++) {
                if (!table[j].key)
                    continue;
                hash = UINT64_C(14695981039346656037);
                for (size_t b = 0; b < table[j].length; b++)
                    hash = (hash ^ (unsigned char)table[j].key[b]) * UINT64_C(1099511628211);
                size_t to = (hash ^ hash >> 32) & larger;
                while (next[to].key)
                    to = (to + 1) & larger;
                next[to] = table[j];
            }
            free(table);
            table = next;
            mask = larger;
        }
    }
    for (size_t i = 0; i <= mask; i++)
        free(table[i].key);
    free(table);
    return used;
}

static size_t stable_histogram(const uint32_t *rows, size_t n, double epsilon, brume_bits *bits)
{
    brume_error error;
    brume_key_count *keys = NULL;
    check(brume_key_count_open(&keys, &error), &error);
    for (size_t i = 0; i < n; i++)
        check(brume_key_count_add(keys, texts[rows[i]], lengths[rows[i]], 1, &error), &error);
    size_t distinct = brume_key_count_size(keys);
    brume_histogram_rule rule = {
        BRUME_HISTOGRAM_DISCRETE_LAPLACE, epsilon, 1e-6, 1, 1, BRUME_ADD_REMOVE};
    brume_histogram_plan plan;
    check(brume_histogram_plan_make(&rule, &plan, &error), &error);
    int64_t *counts = room(distinct, sizeof *counts);
    unsigned char *keep = room(distinct, 1);
    for (size_t i = 0; i < distinct; i++) {
        const char *key;
        size_t length;
        counts[i] = (int64_t)brume_key_count_at(keys, i, &key, &length);
    }
    check(brume_histogram_release(&plan, bits, counts, counts, keep, distinct, &error), &error);
    brume_key_count_put(keys, counts);
    check(brume_key_count_sort(keys, keep, &error), &error);
    size_t shown = brume_key_count_size(keys);
    free(counts);
    free(keep);
    brume_key_count_close(keys);
    return shown;
}

static void histograms(size_t n)
{
    brume_error error;
    brume_bits *bits = NULL;
    check(brume_bits_open(&bits, &error), &error);
    size_t distinct = n / 10 + 1;
    uint64_t state = 42;
    texts = room(distinct, sizeof *texts);
    lengths = room(distinct, sizeof *lengths);
    uint32_t *rows = room(n, sizeof *rows);
    for (size_t i = 0; i < distinct; i++)
        lengths[i] = (size_t)snprintf(texts[i], sizeof *texts, "customer-%llu",
                                      (unsigned long long)(next_word(&state) % 10000000000u));
    for (size_t i = 0; i < n; i++)
        rows[i] = (uint32_t)(next_word(&state) % distinct);
    double plain = INFINITY, few = INFINITY, all = INFINITY;
    size_t used = 0, shown_few = 0, shown_all = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        used = plain_count(rows, n);
        plain = least(plain, now() - start);
        start = now();
        shown_few = stable_histogram(rows, n, 1, bits);
        few = least(few, now() - start);
        start = now();
        shown_all = stable_histogram(rows, n, 50, bits);
        all = least(all, now() - start);
    }
    printf("stable histogram of %zu rows, %zu distinct keys of some 19 bytes\n", n, used);
    row("plain hash count", plain, plain, "");
    char text[80];
    snprintf(text, sizeof text, "stable histogram, epsilon 1: %zu keys shown, sorted", shown_few);
    row(text, few, plain, "<= 2");
    snprintf(text, sizeof text, "stable histogram, epsilon 50: %zu keys shown, sorted", shown_all);
    row(text, all, plain, "<= 2");
    free(texts);
    free(lengths);
    free(rows);
    brume_bits_close(bits);
}

int main(int count, char **words)
{
    size_t rows = count > 1 ? strtoull(words[1], NULL, 10) : 10000000;
    if (rows < 1000) {
        fprintf(stderr, "statistics: at least 1000 rows\n");
        return 2;
    }
    quantiles(rows);
    triangles(rows / 10);
    histograms(rows);
    return 0;
}
