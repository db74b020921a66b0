/* Many queries at once: the error of each method beside the bound that was known before.
 *
 *     many_queries [FILE.svg]      the tables as Markdown, and a picture
 *
 * The error of a release is its worst answer over all queries, as a share of the records. Prices
 * are epsilon 1 for everything, at delta 0 or 1e-6; the number of records is public. Everything
 * that a method leaves open (rounds, alpha, the size of the small database) is what makes its bound
 * least, within a patience of MOST_ROUNDS and MOST_CANDIDATES; that needs no data. The data is
 * fixed, noise is not: numbers differ a little from run to run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <brume/account/account.h>
#include <brume/synthetic/direct.h>
#include <brume/synthetic/multiplicative_weights.h>
#include <brume/synthetic/mwem.h>
#include <brume/synthetic/small_database.h>

#include "command/frame/bar_chart.h"

static const double EPSILON = 1, DELTA = 1e-6, BETA = 0.05, RECORDS = 100000;
static const double LEAST_DRAWN = 1e-5; /* a line that falls below goes along the floor */

enum { METHODS = 9, PICTURED = 7, POINTS = 9, QUICK_RUNS = 2000, SLOW_RUNS = 20, PLOT_RUNS = 3 };
enum { MOST_CANDIDATES = 1 << 17, MOST_ROUNDS = 256 };

static void check(brume_status status, const brume_error *error)
{
    if (status == BRUME_OK)
        return;
    fprintf(stderr, "many_queries: %s\n", error->message);
    exit(1);
}

static void *some(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) {
        fprintf(stderr, "many_queries: out of memory\n");
        exit(1);
    }
    return memory;
}

static uint64_t next_word(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 11;
}

/* ---------------------------------------------------------------------------- worlds */

typedef struct world {
    brume_universe universe;
    brume_workload *workload;
    size_t queries;
    double *counts, *truth, *answers, *histogram;
} world;

/* `columns` columns of two values; about half of the records in an eighth of the cells. */
static void open_world(int columns, world *w)
{
    brume_error error;
    uint32_t sizes[BRUME_UNIVERSE_COLUMNS];
    uint64_t state = 2026;
    for (int i = 0; i < columns; i++)
        sizes[i] = 2;
    check(brume_universe_make(sizes, (size_t)columns, &w->universe, &error), &error);
    check(brume_workload_open(&w->universe, &w->workload, &error), &error);
    w->counts = some(w->universe.cells, sizeof *w->counts);
    for (int i = 0; i < (int)RECORDS; i++) {
        uint64_t cells = w->universe.cells, cell = next_word(&state) % cells;
        w->counts[i % 2 ? cell : cell % (cells / 8 + 1)]++;
    }
}

/* The queries are all there: make room for answers. */
static void fill_world(world *w)
{
    brume_error error;
    w->queries = brume_workload_size(w->workload);
    w->truth = some(w->queries, sizeof *w->truth);
    w->answers = some(w->queries, sizeof *w->answers);
    w->histogram = some(w->universe.cells, sizeof *w->histogram);
    check(brume_workload_answer(w->workload, w->counts, w->truth, &error), &error);
}

/* Predicates that hold for each cell with probability 1/2. */
static void open_predicates(int columns, size_t queries, world *w)
{
    brume_error error;
    uint64_t state = 7;
    open_world(columns, w);
    float *values = some(w->universe.cells, sizeof *values);
    for (size_t i = 0; i < queries; i++) {
        for (uint64_t cell = 0; cell < w->universe.cells; cell++)
            values[cell] = (float)(next_word(&state) >> 20 & 1);
        check(brume_workload_add_dense(w->workload, values, &error), &error);
    }
    free(values);
    fill_world(w);
}

static void open_marginals(int columns, world *w)
{
    brume_error error;
    open_world(columns, w);
    check(brume_workload_add_marginals(w->workload, 2, &error), &error);
    fill_world(w);
}

static void close_world(world *w)
{
    brume_workload_close(w->workload);
    free(w->counts);
    free(w->truth);
    free(w->answers);
    free(w->histogram);
}

/* --------------------------------------------------------------------------- methods */

/* rho that is (1, 1e-6)-DP, whatever mechanism has it. */
static double concentrated(void)
{
    brume_error error;
    brume_expression expression = {0};
    brume_calibration found;
    check(brume_expression_parse("zcdp(rho=?)", BRUME_REPLACE, &expression, &error), &error);
    check(brume_calibrate(&expression, EPSILON, DELTA, &found, &error), &error);
    brume_expression_free(&expression);
    return found.value;
}

static double worst(const world *w, double scale)
{
    double most = 0;
    for (size_t i = 0; i < w->queries; i++)
        most = fmax(most, fabs(scale * w->answers[i] - w->truth[i]));
    return most;
}

typedef struct method method;
struct method {
    const char *name, *price;
    const char *rate, *work; /* up to constants, as the textbooks have them */
    bool concentrated;
    brume_direct_way way; /* of direct release */
    /* A bound in records at BETA, and what it needs; infinite where nothing is known. */
    double (*bound)(const method *m, const world *w, double *parameter);
    /* The error of one release, in records. */
    double (*release)(const method *m, const world *w, double parameter, brume_bits *bits);
};

static double rho;

static brume_direct_options direct_options(const method *m)
{
    return (brume_direct_options){m->way, BRUME_REPLACE, m->concentrated ? 0 : EPSILON,
                                  m->concentrated ? rho : 0};
}

static double direct_bound(const method *m, const world *w, double *parameter)
{
    brume_error error;
    brume_direct_options options = direct_options(m);
    double alpha;
    *parameter = 0;
    check(brume_direct_alpha(w->workload, &options, BETA, &alpha, &error), &error);
    return alpha;
}

static double direct_release(const method *m, const world *w, double parameter, brume_bits *bits)
{
    (void)parameter;
    brume_error error;
    brume_direct_options options = direct_options(m);
    check(brume_direct_release(w->workload, &options, w->counts, bits, w->answers, w->histogram,
                               &error),
          &error);
    return worst(w, 1);
}

static brume_mwem_options mwem_options(const method *m, double rounds)
{
    return (brume_mwem_options){.adjacency = BRUME_REPLACE,
                                .epsilon = m->concentrated ? 0 : EPSILON,
                                .rho = m->concentrated ? rho : 0,
                                .rounds = (uint64_t)rounds,
                                .records = RECORDS,
                                .replays = 2,
                                .average = (uint64_t)ceil(rounds / 2),
                                .whole_marginals = true};
}

static double mwem_bound(const method *m, const world *w, double *parameter)
{
    double best = INFINITY;
    for (double rounds = 1; rounds <= MOST_ROUNDS; rounds = ceil(1.1 * rounds)) {
        brume_error error;
        brume_mwem_options options = mwem_options(m, rounds);
        double alpha;
        check(brume_mwem_alpha(w->workload, &options, BETA, &alpha, &error), &error);
        if (alpha < best) {
            best = alpha;
            *parameter = rounds;
        }
    }
    return best;
}

static double mwem_release(const method *m, const world *w, double parameter, brume_bits *bits)
{
    brume_error error;
    brume_mwem_options options = mwem_options(m, parameter);
    check(brume_mwem(w->workload, &options, w->counts, bits, w->histogram, &error), &error);
    check(brume_workload_answer(w->workload, w->histogram, w->answers, &error), &error);
    return worst(w, 1);
}

static brume_multiplicative_weights *open_weights(const method *m, const world *w, double alpha,
                                                  brume_bits *bits)
{
    brume_error error;
    brume_multiplicative_weights *stream = NULL;
    brume_multiplicative_weights_options options = {.adjacency = BRUME_REPLACE,
                                                    .epsilon = m->concentrated ? 0 : EPSILON,
                                                    .rho = m->concentrated ? rho : 0,
                                                    .alpha = alpha,
                                                    .records = RECORDS};
    check(
        brume_multiplicative_weights_open(w->workload, &options, w->counts, bits, &stream, &error),
        &error);
    return stream;
}

static double weights_bound(const method *m, const world *w, double *parameter)
{
    brume_error error;
    brume_bits *bits = NULL;
    double best = INFINITY;
    check(brume_bits_open(&bits, &error), &error);
    for (double alpha = 0.01; alpha <= 1; alpha *= 1.05) {
        double bound;
        brume_multiplicative_weights *stream = open_weights(m, w, alpha, bits);
        if (brume_multiplicative_weights_alpha(stream, w->queries, BETA, &bound, &error) ==
                BRUME_OK &&
            bound < best) {
            best = bound;
            *parameter = alpha;
        }
        brume_multiplicative_weights_close(stream);
    }
    brume_bits_close(bits);
    return best;
}

static double weights_release(const method *m, const world *w, double parameter, brume_bits *bits)
{
    brume_error error;
    brume_multiplicative_weights *stream = open_weights(m, w, parameter, bits);
    bool was_free, halted = false;
    for (size_t i = 0; i < w->queries; i++) {
        brume_status status =
            brume_multiplicative_weights_ask(stream, bits, i, &w->answers[i], &was_free, &error);
        halted = halted || status == BRUME_EHALTED;
        if (status != BRUME_EHALTED)
            check(status, &error);
    }
    brume_multiplicative_weights_close(stream);
    return halted ? RECORDS : worst(w, 1);
}

static brume_small_database_options small_options(double size)
{
    return (brume_small_database_options){.adjacency = BRUME_REPLACE,
                                          .epsilon = EPSILON,
                                          .size = (uint64_t)size,
                                          .records = (uint64_t)RECORDS,
                                          .most_candidates = MOST_CANDIDATES};
}

static double small_bound(const method *m, const world *w, double *parameter)
{
    (void)m;
    double best = INFINITY;
    for (double size = 2; size <= 64; size++) {
        if (brume_small_database_candidates(w->universe.cells, (uint64_t)size) > MOST_CANDIDATES)
            break;
        brume_error error;
        brume_small_database_options options = small_options(size);
        double alpha;
        check(brume_small_database_alpha(w->workload, &options, BETA, &alpha, &error), &error);
        if (alpha < best) {
            best = alpha;
            *parameter = size;
        }
    }
    return best;
}

static double small_release(const method *m, const world *w, double parameter, brume_bits *bits)
{
    (void)m;
    brume_error error;
    uint64_t cells[64];
    brume_small_database_options options = small_options(parameter);
    check(brume_small_database(w->workload, &options, w->counts, bits, cells, &error), &error);
    memset(w->histogram, 0, w->universe.cells * sizeof *w->histogram);
    for (uint64_t i = 0; i < options.size; i++)
        w->histogram[cells[i]]++;
    check(brume_workload_answer(w->workload, w->histogram, w->answers, &error), &error);
    return worst(w, RECORDS / parameter);
}

static const method methods[METHODS] = {
    {"Laplace noise on each answer", "pure", "k ln(k/β) / (nε)", "kN", false, BRUME_DIRECT_QUERIES,
     direct_bound, direct_release},
    {"Gaussian noise on each answer", "δ", "√(k ln(1/δ)) √ln(k/β) / (nε)", "kN", true,
     BRUME_DIRECT_QUERIES, direct_bound, direct_release},
    {"Laplace noise on the histogram", "pure", "√(N ln(k/β)) / (nε)", "kN", false,
     BRUME_DIRECT_HISTOGRAM, direct_bound, direct_release},
    {"MWEM", "pure", "(ln N ln(k/β) / (nε))^⅓", "TkN, T rounds", false, 0, mwem_bound,
     mwem_release},
    {"MWEM", "δ", "(ln(k/β) √(ln N ln(1/δ)) / (nε))^½", "TkN, T rounds", true, 0, mwem_bound,
     mwem_release},
    {"private multiplicative weights", "pure", "(ln N ln(k/β) / (nε))^⅓", "kN", false, 0,
     weights_bound, weights_release},
    {"private multiplicative weights", "δ", "(ln(k/β) √(ln N ln(1/δ)) / (nε))^½", "kN", true, 0,
     weights_bound, weights_release},
    {"Gaussian noise on the histogram", "δ", "√(N ln(k/β) ln(1/δ)) / (nε)", "kN", true,
     BRUME_DIRECT_HISTOGRAM, direct_bound, direct_release},
    {"SmallDB", "pure", "(ln N ln k / (nε))^⅓ + ln(1/β)/(nε)", "k C(N+m−1, m), size m", false, 0,
     small_bound, small_release},
};

/* --------------------------------------------------------------------------- tables */

static void share_text(double share, char *text, size_t size)
{
    snprintf(text, size, share < .1 ? "%.2g %%" : "%.0f %%", 100 * share);
}

static void table(const world *w, brume_bits *bits)
{
    printf("| method | price | error, mean | largest | bound at 95 %% | runs within it |\n"
           "|---|---|---|---|---|---|\n");
    for (int i = 0; i < METHODS; i++) {
        const method *m = &methods[i];
        double parameter = 0, bound = m->bound(m, w, &parameter);
        if (!isfinite(bound)) {
            printf("| %s | %s | too many candidates | | | |\n", m->name, m->price);
            continue;
        }
        double mean = 0, most = 0;
        int within = 0, runs = m->bound == direct_bound ? QUICK_RUNS : SLOW_RUNS;
        for (int run = 0; run < runs; run++) {
            double error = m->release(m, w, parameter, bits);
            mean += error / runs / RECORDS;
            most = fmax(most, error / RECORDS);
            within += error <= bound;
        }
        char texts[3][16], with[40] = "";
        share_text(mean, texts[0], sizeof texts[0]);
        share_text(most, texts[1], sizeof texts[1]);
        share_text(bound / RECORDS, texts[2], sizeof texts[2]);
        if (m->bound == mwem_bound)
            snprintf(with, sizeof with, ", %.0f rounds", parameter);
        if (m->bound == weights_bound)
            snprintf(with, sizeof with, ", α = %.2f", parameter);
        if (m->bound == small_bound)
            snprintf(with, sizeof with, ", %.0f records", parameter);
        printf("| %s%s | %s | %s | %s | %s%s | %d of %d |\n", m->name, with, m->price, texts[0],
               texts[1], texts[2], bound >= RECORDS ? " (says nothing)" : "", within, runs);
    }
}

/* -------------------------------------------------------------------------- picture */

typedef struct curves {
    double x[POINTS], error[PICTURED][POINTS], bound[PICTURED][POINTS];
    int count;
} curves;

static void trace(const world *w, double x, brume_bits *bits, curves *out)
{
    out->x[out->count] = x;
    for (int i = 0; i < PICTURED; i++) {
        const method *m = &methods[i];
        double parameter = 0, bound = m->bound(m, w, &parameter), sum = 0;
        for (int run = 0; isfinite(bound) && run < PLOT_RUNS; run++)
            sum += m->release(m, w, parameter, bits) / PLOT_RUNS / RECORDS;
        out->error[i][out->count] = isfinite(bound) ? fmax(sum, LEAST_DRAWN) : NAN;
        out->bound[i][out->count] = isfinite(bound) ? fmax(bound / RECORDS, LEAST_DRAWN) : NAN;
    }
    out->count++;
}

static void draw_panel(FILE *file, double left, double top, const char *title, const char *label,
                       const curves *c, bool bounds)
{
    brume_panel panel = {.left = left,
                         .top = top,
                         .width = 330,
                         .height = 230,
                         .x = {label, c->x[0], c->x[c->count - 1], true},
                         .y = {"largest error", LEAST_DRAWN, 1, true}};
    brume_svg_panel(file, &panel, title);
    for (int i = 0; i < PICTURED; i++)
        brume_svg_line(file, &panel, i, c->x, bounds ? c->bound[i] : c->error[i], (size_t)c->count);
}

static void draw_picture(const char *path, const curves *predicates, const curves *marginals)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "many_queries: cannot write '%s'\n", path);
        exit(1);
    }
    brume_svg_begin(file, 900, 800, "errors of many queries at once");
    draw_panel(file, 80, 50, "random predicates, 64 cells: measured", "queries", predicates, false);
    draw_panel(file, 530, 50, "the bounds known before", "queries", predicates, true);
    draw_panel(file, 80, 370, "all 2-way marginals: measured", "cells of the universe", marginals,
               false);
    draw_panel(file, 530, 370, "the bounds known before", "cells of the universe", marginals, true);
    for (int i = 0; i < PICTURED; i++) {
        char text[80];
        snprintf(text, sizeof text, "%s, %s", methods[i].name,
                 methods[i].concentrated ? "delta 1e-6" : "pure");
        brume_svg_legend(file, 80 + 450 * (i % 2), 690 + 24 * (i / 2), i, text);
    }
    brume_svg_end(file);
    if (ferror(file) | fclose(file)) {
        fprintf(stderr, "many_queries: writing '%s' failed\n", path);
        exit(1);
    }
}

static void make_picture(const char *path, brume_bits *bits)
{
    static curves predicates, marginals;
    const size_t queries[] = {1, 3, 10, 30, 100, 300, 1000, 3000};
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        world w;
        open_predicates(6, queries[i], &w);
        trace(&w, (double)queries[i], bits, &predicates);
        close_world(&w);
    }
    for (int columns = 3; columns <= 13; columns += 2) {
        world w;
        open_marginals(columns, &w);
        trace(&w, (double)w.universe.cells, bits, &marginals);
        close_world(&w);
    }
    draw_picture(path, &predicates, &marginals);
}

int main(int count, char **words)
{
    brume_error error;
    brume_bits *bits = NULL;
    world w;
    check(brume_bits_open(&bits, &error), &error);
    rho = concentrated();
    printf(
        "**The rates**, up to constants: n records, N cells, k queries, all errors below it with "
        "probability 1-β.\n\n| method | price | error | work |\n|---|---|---|---|\n");
    for (int i = 0; i < METHODS; i++)
        printf("| %s | %s | %s | %s |\n", methods[i].name, methods[i].price, methods[i].rate,
               methods[i].work);
    printf("\n**A tiny universe**: 100 random predicates over 8 cells.\n\n");
    open_predicates(3, 100, &w);
    table(&w, bits);
    close_world(&w);
    printf("\n**Thousands of predicates**: 3,000 random ones over 64 cells.\n\n");
    open_predicates(6, 3000, &w);
    table(&w, bits);
    close_world(&w);
    open_marginals(10, &w);
    printf(
        "\n**All 2-way marginals** of 10 columns of two values: %zu queries over %llu cells.\n\n",
        w.queries, (unsigned long long)w.universe.cells);
    table(&w, bits);
    close_world(&w);
    if (count > 1)
        make_picture(words[1], bits);
    brume_bits_close(bits);
    return 0;
}
