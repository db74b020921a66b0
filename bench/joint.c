/* What it gives to fit grouping sets to each other (docs/sql.md): the standard deviation of a
 * number where each set is noised by itself, that of a fitted one by the formula and over releases
 * of Gaussian noise, how far rounding to whole numbers moves it, and the time of one fit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <brume/bits.h>
#include <brume/noise/noise.h>

#include "synthetic/consistent.h"

enum { RELEASES = 400, SETS = 64, COLUMNS = 15, MOST_PAIRS = 105 };

typedef struct workload {
    const char *name;
    size_t columns, sizes[COLUMNS];
    enum { CUBE, ROLLUP, PAIRS } kind;
} workload;

static const workload all[] = {
    {"ROLLUP of 13, 20, 10", 3, {13, 20, 10}, ROLLUP},
    {"ROLLUP of 2, 2", 2, {2, 2}, ROLLUP},
    {"CUBE of 5, 4, 10", 3, {5, 4, 10}, CUBE},
    {"CUBE of 2, 5, 7, 12", 4, {2, 5, 7, 12}, CUBE},
    {"CUBE of six columns of 5", 6, {5, 5, 5, 5, 5, 5}, CUBE},
    {"CUBE of six columns of 2", 6, {2, 2, 2, 2, 2, 2}, CUBE},
    {"all pairs of the columns of adult",
     15,
     {32, 9, 32, 16, 16, 7, 15, 6, 5, 2, 32, 32, 32, 42, 2},
     PAIRS},
};

static size_t list_sets(const workload *of, uint64_t sets[MOST_PAIRS])
{
    size_t count = 0;
    for (uint64_t mask = 0; mask < UINT64_C(1) << of->columns; mask++) {
        bool rolls_up = (mask & (mask + 1)) == 0, pair = __builtin_popcountll(mask) == 2;
        if (of->kind == CUBE || (of->kind == ROLLUP && rolls_up) || (of->kind == PAIRS && pair))
            sets[count++] = mask;
    }
    return count;
}

static double processor_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static int measure(const workload *of, brume_bits *bits)
{
    brume_error error = {0};
    uint64_t sets[MOST_PAIRS];
    size_t count = list_sets(of, sets), cells = 0;
    double *tables[MOST_PAIRS], moved[MOST_PAIRS], seen[MOST_PAIRS] = {0}, rounded = 0, ms = 0;
    double deviation = 8 * sqrt((double)count); /* each set pays with its share */
    brume_consistent *fitted = NULL;
    brume_noise *noise = NULL;
    if (brume_consistent_open(of->sizes, of->columns, sets, NULL, count, &fitted, &error) ||
        brume_noise_open_rounded_gaussian(deviation, &noise, &error))
        return fprintf(stderr, "%s\n", error.message), 1;
    for (size_t s = 0; s < count; s++)
        cells += brume_consistent_cells(fitted, s);
    int64_t *draws = malloc(cells * sizeof *draws);
    double *room = malloc(cells * sizeof *room);
    for (int r = 0; draws && room && r < RELEASES; r++) {
        if (brume_noise_fill(noise, bits, draws, cells, &error))
            return fprintf(stderr, "%s\n", error.message), 1;
        for (size_t i = 0; i < cells; i++)
            room[i] = (double)draws[i];
        for (size_t s = 0, at = 0; s < count; at += brume_consistent_cells(fitted, s++))
            tables[s] = room + at;
        double begun = processor_ms();
        if (brume_consistent_fit(fitted, tables, &error) ||
            brume_consistent_round(fitted, tables, moved, &error))
            return fprintf(stderr, "%s\n", error.message), 1;
        ms += (processor_ms() - begun) / RELEASES;
        for (size_t s = 0; s < count; s++) {
            for (size_t i = 0; i < brume_consistent_cells(fitted, s); i++)
                seen[s] += tables[s][i] * tables[s][i] / (double)brume_consistent_cells(fitted, s) /
                           RELEASES;
            rounded = fmax(rounded, moved[s]);
        }
    }
    double formula = 0, worst = 0;
    for (size_t s = 0; s < count; s++) {
        formula = fmax(formula, brume_consistent_variance(fitted, s));
        worst = fmax(worst, seen[s]);
    }
    printf("%-34s %4zu %7.2f %7.2f %8.2f %8.2f %9.2f\n", of->name, count, sqrt((double)count),
           sqrt(formula * (double)count), sqrt(worst) / 8, 1 / sqrt(formula), ms);
    free(draws);
    free(room);
    brume_noise_close(noise);
    brume_consistent_close(fitted);
    return 0;
}

int main(void)
{
    brume_bits *bits = NULL;
    brume_error error = {0};
    if (brume_bits_open(&bits, &error))
        return fprintf(stderr, "%s\n", error.message), 1;
    printf(
        "standard deviation at the price of 1 on a single table; largest over sets; %d releases\n",
        RELEASES);
    printf("%-34s %4s %7s %7s %8s %8s %9s\n", "", "sets", "apart", "fitted", "measured", "sharper",
           "ms");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (measure(&all[i], bits))
            return 1;
    brume_bits_close(bits);
    return 0;
}
