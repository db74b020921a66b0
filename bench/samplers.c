/* samplers: nanoseconds per draw, single and batch, beside naive floating-point samplers.
 *
 *     samplers [--json] [--rounds N]
 *
 * The naive ones are what a careless program would use: a fast generator that is not secure
 * (xoshiro256++), doubles that are not private. Everything runs in one thread, interleaved: each
 * round draws from every sampler in turn, so that a busy machine slows all of them. Times are of
 * the processor, not of the clock on the wall. `best` and `median` are over the rounds; a ratio is
 * the median over the rounds of the quotient within a round.
 *
 * To add a sampler: one line in `entries`. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <brume/brume.h>

enum { DRAWS = 1 << 14, CELLS = 1000000, MOST_ROUNDS = 1001, MOST_ENTRIES = 64 };

static int64_t integers[CELLS];
static int64_t counts[CELLS];
static double reals[DRAWS];
static brume_bits *bits;
static brume_error error;

static void stop(const char *what)
{
    fprintf(stderr, "samplers: %s: %s\n", what, error.message);
    exit(70);
}

/* ---- the naive samplers ---- */

static uint64_t xoshiro_state[4] = {0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu,
                                    0x2545f4914f6cdd1du};

static inline uint64_t rotated(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static inline uint64_t naive_word(void)
{
    uint64_t *s = xoshiro_state;
    uint64_t result = rotated(s[0] + s[3], 23) + s[0], shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotated(s[3], 45);
    return result;
}

static inline double naive_uniform(uint64_t word)
{
    return ((double)(int64_t)(word >> 11) + 0.5) * 0x1p-53;
}

static __attribute__((noinline)) double naive_laplace(double scale)
{
    uint64_t word = naive_word();
    double magnitude = -scale * log(naive_uniform(word));
    return word & 1 ? magnitude : -magnitude;
}

/* Both values of a pair are used. */
static __attribute__((noinline)) void naive_box_muller(double sigma, double *out)
{
    double radius = sigma * sqrt(-2 * log(naive_uniform(naive_word())));
    double angle = 6.283185307179586 * naive_uniform(naive_word());
    out[0] = radius * cos(angle);
    out[1] = radius * sin(angle);
}

/* The usual ziggurat of 256 layers of equal area, from one word a try.          [MT00] */
enum { LAYERS = 256 };
static double layer_edge[LAYERS + 1], layer_height[LAYERS + 1];
static const double tail_start = 3.6541528853610088, layer_area = 0.00492867323399;

static double bell(double x)
{
    return exp(-0.5 * x * x);
}

static void prepare_naive_ziggurat(void)
{
    layer_edge[0] = layer_area / bell(tail_start);
    layer_edge[1] = tail_start;
    for (int i = 2; i < LAYERS; i++)
        layer_edge[i] = sqrt(-2 * log(layer_area / layer_edge[i - 1] + bell(layer_edge[i - 1])));
    layer_edge[LAYERS] = 0;
    for (int i = 0; i <= LAYERS; i++)
        layer_height[i] = bell(layer_edge[i]);
}

static __attribute__((noinline)) double naive_ziggurat(double sigma)
{
    for (;;) {
        uint64_t word = naive_word();
        int layer = (int)(word & (LAYERS - 1));
        double place = (double)((int64_t)word >> 11) * 0x1p-52; /* in [-1, 1) */
        double x = place * layer_edge[layer];
        if (fabs(x) < layer_edge[layer + 1])
            return sigma * x;
        if (layer == 0) {
            double beyond, test;
            do {
                beyond = -log(naive_uniform(naive_word())) / tail_start;
                test = -log(naive_uniform(naive_word()));
            } while (test + test < beyond * beyond);
            return sigma * (x < 0 ? -(tail_start + beyond) : tail_start + beyond);
        }
        double low = layer_height[layer], high = layer_height[layer + 1];
        if (low + naive_uniform(naive_word()) * (high - low) < bell(x))
            return sigma * x;
    }
}

/* ---- what is measured ---- */

typedef struct entry entry;
struct entry {
    const char *name;
    const char *way;      /* single or batch */
    const char *baseline; /* name of the entry it is compared with, or NULL */
    double target;        /* largest ratio to it that is wanted; 0: none */
    void (*run)(const entry *self, size_t draws);
    brume_status (*open)(double, brume_noise **, brume_error *);
    double parameter;
    brume_noise *noise;
};

static void run_naive_laplace(const entry *self, size_t draws)
{
    for (size_t i = 0; i < draws; i++)
        reals[i] = naive_laplace(self->parameter);
}

static void run_naive_box_muller(const entry *self, size_t draws)
{
    for (size_t i = 0; i + 1 < draws; i += 2)
        naive_box_muller(self->parameter, reals + i);
}

static void run_naive_ziggurat(const entry *self, size_t draws)
{
    for (size_t i = 0; i < draws; i++)
        reals[i] = naive_ziggurat(self->parameter);
}

static void run_single(const entry *self, size_t draws)
{
    for (size_t i = 0; i < draws; i++)
        if (brume_noise_draw(self->noise, bits, integers + i, &error) != BRUME_OK)
            stop(self->name);
}

static void run_batch(const entry *self, size_t draws)
{
    if (brume_noise_fill(self->noise, bits, integers, draws, &error) != BRUME_OK)
        stop(self->name);
}

static void run_words(const entry *self, size_t draws)
{
    if (brume_bits_words(bits, (uint64_t *)integers, draws, &error) != BRUME_OK)
        stop(self->name);
}

static void run_below(const entry *self, size_t draws)
{
    uint64_t value;
    for (size_t i = 0; i < draws; i++)
        if (brume_sample_below(bits, 1000, &value, &error) != BRUME_OK)
            stop(self->name);
}

static void run_coin(const entry *self, size_t draws)
{
    bool value;
    for (size_t i = 0; i < draws; i++)
        if (brume_sample_bernoulli(bits, 1, 3, &value, &error) != BRUME_OK)
            stop(self->name);
}

static void run_coin_exp(const entry *self, size_t draws)
{
    bool value;
    for (size_t i = 0; i < draws; i++)
        if (brume_sample_bernoulli_exp(bits, 1, 2, &value, &error) != BRUME_OK)
            stop(self->name);
}

static void run_coin_exp_real(const entry *self, size_t draws)
{
    bool value;
    for (size_t i = 0; i < draws; i++)
        if (brume_sample_bernoulli_exp_real(bits, 0.5, &value, &error) != BRUME_OK)
            stop(self->name);
}

/* The parameter is a brume_select_noise; one draw is one candidate of a choice among `draws`. */
static void run_select(const entry *self, size_t draws)
{
    size_t index;
    for (size_t i = 0; i < draws; i++)
        reals[i] = (double)(i * 7919 % 1000);
    if (brume_select_noisy_max(bits, (brume_select_noise)self->parameter, 0.5, reals, draws, &index,
                               &error) != BRUME_OK)
        stop(self->name);
}

/* The parameter is a brume_grid_law. */
static void run_grid(const entry *self, size_t draws)
{
    brume_grid_law law = (brume_grid_law)self->parameter;
    double shape = law == BRUME_GRID_STUDENT ? 3 : law == BRUME_GRID_LAPLACE_LOG_NORMAL ? 0.5 : 0;
    for (size_t i = 0; i < draws; i++)
        if (brume_grid_noise(bits, law, shape, 1.5, 2, -20, integers + i, &error) != BRUME_OK)
            stop(self->name);
}

#define NAIVE_LAPLACE  "naive float Laplace by log"
#define NAIVE_ZIGGURAT "naive float ziggurat"
#define LAPLACE        brume_noise_open_discrete_laplace
#define GAUSSIAN       brume_noise_open_discrete_gaussian

static entry entries[MOST_ENTRIES] = {
    {NAIVE_LAPLACE, "single", NULL, 0, run_naive_laplace, NULL, 10, NULL},
    {"naive float Box-Muller", "single", NULL, 0, run_naive_box_muller, NULL, 10, NULL},
    {NAIVE_ZIGGURAT, "single", NULL, 0, run_naive_ziggurat, NULL, 10, NULL},
    {"discrete Laplace, scale 0.3", "single", NAIVE_LAPLACE, 1.2, run_single, LAPLACE, 0.3, NULL},
    {"discrete Laplace, scale 10", "single", NAIVE_LAPLACE, 1.2, run_single, LAPLACE, 10, NULL},
    {"discrete Laplace, scale 2^20", "single", NAIVE_LAPLACE, 1.2, run_single, LAPLACE, 0x1p20,
     NULL},
    {"discrete Laplace, scale 2^40", "single", NAIVE_LAPLACE, 0, run_single, LAPLACE, 0x1p40, NULL},
    {"discrete Laplace, scale 0.3", "batch", NAIVE_LAPLACE, 0.4, run_batch, LAPLACE, 0.3, NULL},
    {"discrete Laplace, scale 10", "batch", NAIVE_LAPLACE, 0.4, run_batch, LAPLACE, 10, NULL},
    {"discrete Laplace, scale 2^20", "batch", NAIVE_LAPLACE, 0.4, run_batch, LAPLACE, 0x1p20, NULL},
    {"discrete Laplace, scale 2^40", "batch", NAIVE_LAPLACE, 0, run_batch, LAPLACE, 0x1p40, NULL},
    {"rounded Laplace, scale 10", "single", NAIVE_LAPLACE, 0, run_single,
     brume_noise_open_rounded_laplace, 10, NULL},
    {"rounded Laplace, scale 10", "batch", NAIVE_LAPLACE, 0, run_batch,
     brume_noise_open_rounded_laplace, 10, NULL},
    {"geometric, scale 10", "batch", NAIVE_LAPLACE, 0, run_batch, brume_noise_open_geometric, 10,
     NULL},
    {"discrete Gaussian, sigma 4", "single", NAIVE_ZIGGURAT, 0, run_single, GAUSSIAN, 4, NULL},
    {"discrete Gaussian, sigma 64", "single", NAIVE_ZIGGURAT, 4, run_single, GAUSSIAN, 64, NULL},
    {"discrete Gaussian, sigma 1000", "single", NAIVE_ZIGGURAT, 4, run_single, GAUSSIAN, 1000,
     NULL},
    {"discrete Gaussian, sigma 4", "batch", NAIVE_ZIGGURAT, 0, run_batch, GAUSSIAN, 4, NULL},
    {"discrete Gaussian, sigma 64", "batch", NAIVE_ZIGGURAT, 2, run_batch, GAUSSIAN, 64, NULL},
    {"discrete Gaussian, sigma 1000", "batch", NAIVE_ZIGGURAT, 2, run_batch, GAUSSIAN, 1000, NULL},
    {"rounded Gaussian, sigma 1000", "batch", NAIVE_ZIGGURAT, 0, run_batch,
     brume_noise_open_rounded_gaussian, 1000, NULL},
    {"discrete Gaussian, sigma 2^45", "batch", NAIVE_ZIGGURAT, 0, run_batch, GAUSSIAN, 0x1p45,
     NULL},
    {"exponential mechanism, a candidate", "batch", NULL, 0, run_select, NULL, BRUME_SELECT_GUMBEL,
     NULL},
    {"permute-and-flip, a candidate", "batch", NULL, 0, run_select, NULL, BRUME_SELECT_EXPONENTIAL,
     NULL},
    {"Cauchy on a grid", "single", NULL, 0, run_grid, NULL, BRUME_GRID_CAUCHY, NULL},
    {"Laplace-log-normal on a grid", "single", NULL, 0, run_grid, NULL,
     BRUME_GRID_LAPLACE_LOG_NORMAL, NULL},
    {"secure words", "batch", NULL, 0, run_words, NULL, 0, NULL},
    {"uniform below 1000", "single", NULL, 0, run_below, NULL, 0, NULL},
    {"Bernoulli(1/3)", "single", NULL, 0, run_coin, NULL, 0, NULL},
    {"Bernoulli(exp(-1/2)), integers", "single", NULL, 0, run_coin_exp, NULL, 0, NULL},
    {"Bernoulli(exp(-0.5)), real", "single", NULL, 0, run_coin_exp_real, NULL, 0, NULL},
};

static double times[MOST_ENTRIES][MOST_ROUNDS]; /* nanoseconds per draw */
static double histogram_times[MOST_ROUNDS];     /* milliseconds */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summarise(const double *values, int count, double *best, double *median)
{
    double sorted[MOST_ROUNDS];
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, ascending);
    *best = sorted[0];
    *median = sorted[count / 2];
}

static int entry_count(void)
{
    int count = 0;
    while (entries[count].name)
        count++;
    return count;
}

static int index_of(const char *name)
{
    for (int i = 0; entries[i].name; i++)
        if (strcmp(entries[i].name, name) == 0)
            return i;
    return -1;
}

static void measure(int rounds)
{
    brume_noise *cell_noise = NULL;
    if (brume_bits_open(&bits, &error) != BRUME_OK)
        stop("bits");
    if (brume_noise_open_discrete_laplace(10, &cell_noise, &error) != BRUME_OK)
        stop("histogram");
    for (entry *e = entries; e->name; e++)
        if (e->open && e->open(e->parameter, &e->noise, &error) != BRUME_OK)
            stop(e->name);
    for (int round = -1; round < rounds; round++) { /* the first only warms up */
        for (int i = 0; entries[i].name; i++) {
            double start = now();
            entries[i].run(&entries[i], DRAWS);
            if (round >= 0)
                times[i][round] = (now() - start) / DRAWS;
        }
        double start = now();
        if (brume_noise_add(cell_noise, bits, counts, integers, CELLS, &error) != BRUME_OK)
            stop("histogram");
        if (round >= 0)
            histogram_times[round] = (now() - start) / 1e6;
    }
    for (entry *e = entries; e->name; e++)
        brume_noise_close(e->noise);
    brume_noise_close(cell_noise);
    brume_bits_close(bits);
}

static double median_ratio(int i, int baseline, int rounds)
{
    double ratios[MOST_ROUNDS], best, median;
    for (int r = 0; r < rounds; r++)
        ratios[r] = times[i][r] / times[baseline][r];
    summarise(ratios, rounds, &best, &median);
    return median;
}

static void print_text(int rounds)
{
    double best, median;
    printf("ns per draw, %d draws a round, %d rounds, interleaved; ratio: to the naive one\n\n",
           DRAWS, rounds);
    printf("%-34s %-7s %8s %8s %7s\n", "sampler", "", "best", "median", "ratio");
    for (int i = 0; entries[i].name; i++) {
        const entry *e = &entries[i];
        summarise(times[i], rounds, &best, &median);
        printf("%-34s %-7s %8.2f %8.2f", e->name, e->way, best, median);
        if (e->baseline) {
            double ratio = median_ratio(i, index_of(e->baseline), rounds);
            printf(" %6.2fx", ratio);
            if (e->target > 0)
                printf("  wanted %.1fx%s", e->target, ratio <= e->target ? "" : "  MISSED");
        }
        printf("\n");
    }
    summarise(histogram_times, rounds, &best, &median);
    printf("\nnoisy histogram of a million cells: best %.2f ms, median %.2f ms  wanted 10 ms%s\n",
           best, median, median < 10 ? "" : "  MISSED");
}

static void print_json(int rounds)
{
    double best, median;
    printf("{\"unit\":\"ns\",\"draws\":%d,\"rounds\":%d,\"samplers\":[", DRAWS, rounds);
    for (int i = 0; entries[i].name; i++) {
        const entry *e = &entries[i];
        summarise(times[i], rounds, &best, &median);
        printf("%s{\"name\":\"%s\",\"way\":\"%s\",\"best\":%.17g,\"median\":%.17g",
               i == 0 ? "" : ",", e->name, e->way, best, median);
        if (e->baseline)
            printf(",\"baseline\":\"%s\",\"ratio\":%.17g", e->baseline,
                   median_ratio(i, index_of(e->baseline), rounds));
        if (e->target > 0)
            printf(",\"wanted\":%.17g", e->target);
        printf("}");
    }
    summarise(histogram_times, rounds, &best, &median);
    printf("],\"histogram\":{\"cells\":%d,\"unit\":\"ms\",\"best\":%.17g,\"median\":%.17g}}\n",
           CELLS, best, median);
}

int main(int count, char **arguments)
{
    bool json = false;
    int rounds = 101;
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--json") == 0)
            json = true;
        else if (strcmp(arguments[i], "--rounds") == 0 && i + 1 < count)
            rounds = atoi(arguments[++i]);
        else {
            fprintf(stderr, "usage: samplers [--json] [--rounds N]\n");
            return 2;
        }
    }
    if (rounds < 1 || rounds > MOST_ROUNDS || entry_count() >= MOST_ENTRIES) {
        fprintf(stderr, "samplers: rounds must be in 1 .. %d\n", MOST_ROUNDS);
        return 2;
    }
    prepare_naive_ziggurat();
    for (size_t i = 0; i < CELLS; i++)
        counts[i] = (int64_t)(i % 1000);
    measure(rounds);
    if (json)
        print_json(rounds);
    else
        print_text(rounds);
    return 0;
}
