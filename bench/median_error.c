/* The error of a private median by four methods, over epsilon, on three shapes of data.
 *
 *     median_error [FILE.svg]      the table, and a picture of it
 *
 * The error is the median over DRAWS releases of |released - true median|. A proposal that is not
 * released counts as an error of the whole range. Nothing is seeded: numbers differ a little from
 * run to run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <brume/noise/laplace.h>
#include <brume/statistic/quantile.h>
#include <brume/mechanism/smooth.h>
#include <brume/statistic/tested.h>

#include "command/frame/bar_chart.h"

enum { ROWS = 1001, DRAWS = 301, EPSILONS = 9, SHAPES = 3, METHODS = 4, STEPS = 1 << 20 };

static const double RANGE = 1000, DELTA = 1e-6, PROPOSED = 10;
static const char *const shape_names[SHAPES] = {"spread over the bounds", "tight in the middle",
                                                "two clumps"};
static const char *const method_names[METHODS] = {"smooth sensitivity", "propose-test-release",
                                                  "exponential mechanism", "global sensitivity"};
static const double epsilons[EPSILONS] = {.02, .05, .1, .2, .5, 1, 2, 5, 10};

static void check(brume_status status, const brume_error *error)
{
    if (status == BRUME_OK)
        return;
    fprintf(stderr, "median_error: %s\n", error->message);
    exit(1);
}

static double next_uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-53;
}

static void make_data(int shape, int64_t *values)
{
    uint64_t state = 2026;
    for (int i = 0; i < ROWS; i++) {
        double sum = 0, x = next_uniform(&state);
        for (int j = 0; j < 12; j++)
            sum += next_uniform(&state) - .5; /* nearly normal, of variance 1 */
        double number = shape == 0   ? x * RANGE
                        : shape == 1 ? 500 + 5 * sum
                                     : (x < .5 ? 200 : 800) + 20 * sum;
        values[i] = (int64_t)(number / RANGE * STEPS);
    }
}

static int ascending(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* One release; the error in the data's unit. */
static double one_error(int method, const brume_quantile *quantile, double epsilon,
                        const brume_smooth_plan *plan, double smooth, brume_bits *bits)
{
    brume_error error;
    int64_t truth = brume_quantile_value(quantile), out = 0;
    bool released = true;
    if (method == 0) {
        check(brume_smooth_release(plan, bits, truth, smooth, STEPS, &out, &error), &error);
    } else if (method == 1) {
        brume_proposal proposal = {epsilon / 2, epsilon / 2, DELTA,
                                   (uint64_t)(PROPOSED / RANGE * STEPS)};
        brume_tested tested = brume_tested_quantile(quantile);
        check(brume_propose_test_release(&proposal, &tested, bits, &released, &out, &error),
              &error);
    } else if (method == 2) {
        check(brume_quantile_exponential(quantile, epsilon, bits, &out, &error), &error);
    } else {
        check(brume_discrete_laplace_add(bits, STEPS / epsilon, &truth, &out, 1, &error), &error);
    }
    out = out < 0 ? 0 : out > STEPS ? STEPS : out; /* clamped to the bounds, as releases are */
    return released ? fabs((double)(out - truth)) / STEPS * RANGE : RANGE;
}

static void draw_picture(const char *path, double (*errors)[METHODS][EPSILONS])
{
    FILE *file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "median_error: cannot write '%s'\n", path);
        exit(1);
    }
    brume_svg_begin(file, 960, 380, "error of a private median");
    for (int shape = 0; shape < SHAPES; shape++) {
        brume_panel panel = {.left = 70 + 300 * shape,
                             .top = 50,
                             .width = 230,
                             .height = 220,
                             .x = {"epsilon", epsilons[0], epsilons[EPSILONS - 1], true},
                             .y = {shape ? "" : "error", .01, RANGE, true}};
        brume_svg_panel(file, &panel, shape_names[shape]);
        for (int method = 0; method < METHODS; method++)
            brume_svg_line(file, &panel, method, epsilons, errors[shape][method], EPSILONS);
    }
    for (int method = 0; method < METHODS; method++)
        brume_svg_legend(file, 70 + 220 * method, 345, method, method_names[method]);
    brume_svg_end(file);
    if (ferror(file) | fclose(file)) {
        fprintf(stderr, "median_error: writing '%s' failed\n", path);
        exit(1);
    }
}

int main(int count, char **words)
{
    static double errors[SHAPES][METHODS][EPSILONS], sample[DRAWS];
    brume_error error;
    brume_bits *bits = NULL;
    check(brume_bits_open(&bits, &error), &error);
    printf("%d rows in [0, %g]; delta %g; proposed bound %g; median error of %d releases\n", ROWS,
           RANGE, DELTA, PROPOSED, DRAWS);
    for (int shape = 0; shape < SHAPES; shape++) {
        int64_t values[ROWS];
        make_data(shape, values);
        brume_quantile_rule rule = {1, 2, 1, BRUME_ADD_REMOVE, 0, STEPS};
        brume_quantile *quantile = NULL;
        check(brume_quantile_open(&rule, values, ROWS, &quantile, &error), &error);
        printf("\n%-24s", shape_names[shape]);
        for (int e = 0; e < EPSILONS; e++)
            printf(" %9g", epsilons[e]);
        for (int method = 0; method < METHODS; method++) {
            printf("\n  %-22s", method_names[method]);
            for (int e = 0; e < EPSILONS; e++) {
                brume_smooth_plan plan;
                double smooth;
                check(brume_smooth_plan_laplace(epsilons[e], DELTA, 0, &plan, &error), &error);
                check(brume_quantile_smooth(quantile, plan.t, &smooth, &error), &error);
                for (int draw = 0; draw < DRAWS; draw++)
                    sample[draw] = one_error(method, quantile, epsilons[e], &plan, smooth, bits);
                qsort(sample, DRAWS, sizeof *sample, ascending);
                errors[shape][method][e] = sample[DRAWS / 2];
                printf(" %9.3g", sample[DRAWS / 2]);
            }
        }
        printf("\n");
        brume_quantile_close(quantile);
    }
    brume_bits_close(bits);
    if (count > 1)
        draw_picture(words[1], errors);
    return 0;
}
