/* Broken mechanisms that the auditor must catch at a confidence of 0.999, each by draws that take
 * seconds at most; and each of them mended is acquitted. THEORY: sparse vectors broken in five
 * ways, the mode whose distance is the gap, noise for another adjacency, floating-point noise.
 *
 * The draws are those of a seeded tape: the same in every run. */
#include "check.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <brume/mechanism/stable_histogram.h>
#include <brume/noise/noise.h>

#include "audit/epsilon.h"
#include "random/tape.h"

static brume_error error;

/* What is drawn: the mechanism broken, or mended. */
typedef struct context {
    bool mended;
} context;

static bool is_mended(const void *of)
{
    return ((const context *)of)->mended;
}

enum { GRID = 16 }; /* steps of 1 */

/* Discrete Laplace noise of a scale; its law is prepared once. */
static int64_t noise_of(brume_bits *bits, double scale)
{
    static struct {
        double scale;
        brume_noise *noise;
    } laws[16];
    size_t i = 0;
    int64_t out;
    while (laws[i].noise && laws[i].scale != scale)
        i++;
    assert_true(i < sizeof laws / sizeof *laws);
    if (!laws[i].noise) {
        laws[i].scale = scale;
        assert_ok(brume_noise_open_discrete_laplace(scale, &laws[i].noise, &error));
    }
    assert_ok(brume_noise_draw(laws[i].noise, bits, &out, &error));
    return out;
}

/* A number of grid steps with Laplace noise of a scale in units. */
static int64_t noisy(brume_bits *bits, double scale, double value)
{
    return (int64_t)(value * GRID) + noise_of(bits, scale * GRID);
}

static int64_t cut(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

typedef int64_t once(bool mended, bool second, brume_bits *bits);

static brume_status repeat(once *draw, const void *of, bool second, brume_bits *bits, int64_t *out,
                           size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = draw(is_mended(of), second, bits);
    return BRUME_OK;
}

#define DRAWS(name)                                                                                \
    static brume_status name##_draws(const void *of, bool second, brume_bits *bits, int64_t *out,  \
                                     size_t n, brume_error *unused)                                \
    {                                                                                              \
        (void)unused;                                                                              \
        return repeat(name, of, second, bits, out, n);                                             \
    }

/* ---- noise: claimed 1 ---- */

static int64_t half_the_noise(bool mended, bool second, brume_bits *bits)
{
    return noisy(bits, mended ? 1 : .5, second);
}

static int64_t sensitivity_off_by_two(bool mended, bool second, brume_bits *bits)
{
    return noisy(bits, mended ? 2 : 1, 2 * second);
}

/* One person moves from one count to the other: both change. */
static int64_t replace_with_add_remove(bool mended, bool second, brume_bits *bits)
{
    double scale = mended ? 2 : 1;
    int64_t a = noisy(bits, scale, second), b = noisy(bits, scale, !second);
    return 16 * cut(a / GRID + 8, 0, 15) + cut(b / GRID + 8, 0, 15);
}

/* The value of the largest, and not which it is: both move. */
static int64_t noisy_max_with_value(bool mended, bool second, brume_bits *bits)
{
    int64_t a = noisy(bits, 1, second), b = noisy(bits, 1, second);
    return mended ? a > b : (a > b ? a : b);
}

/* The last bit of a double that is set: where it is shows which number was added to. */
static int64_t float_laplace(bool mended, bool second, brume_bits *bits)
{
    uint64_t word;
    int exponent;
    assert_ok(brume_bits_words(bits, &word, 1, &error));
    double uniform = (double)(word >> 11 | 1) * 0x1p-53;
    double noise = (word & 1 ? 1 : -1) * log(uniform);
    double value = (second ? 1 : 0) + noise;
    if (mended)
        return noisy(bits, 1, second);
    uint64_t mantissa = (uint64_t)ldexp(fabs(frexp(value, &exponent)), 53);
    return mantissa == 0 ? 0 : exponent - 53 + __builtin_ctzll(mantissa);
}

DRAWS(half_the_noise)
DRAWS(sensitivity_off_by_two)
DRAWS(replace_with_add_remove)
DRAWS(noisy_max_with_value)
DRAWS(float_laplace)

/* ---- sparse vectors, THEORY 6.2: claimed 1, threshold Lap(2), queries Lap(4) ---- */

/* A stream of `count` queries; broken in one way. The pattern of the answers, in bits. */
typedef struct stream {
    double threshold_scale, query_scale;
    int most; /* answers above; then it halts */
} stream;

static int64_t ask(const stream *of, const double *queries, int count, brume_bits *bits)
{
    int64_t pattern = 0;
    int64_t threshold = of->threshold_scale > 0 ? noisy(bits, of->threshold_scale, 0) : 0;
    int above = 0;
    for (int i = 0; i < count; i++) {
        pattern *= 2;
        if (above == of->most)
            continue;
        int64_t value = of->query_scale > 0 ? noisy(bits, of->query_scale, queries[i])
                                            : (int64_t)(queries[i] * GRID);
        bool hit = value >= threshold;
        above += hit;
        pattern += hit;
    }
    return pattern;
}

static int64_t no_query_noise(bool mended, bool second, brume_bits *bits)
{
    stream of = {2, mended ? 4 : 0, 1};
    double queries[] = {second ? 1 : 0, second ? 0 : 1};
    return ask(&of, queries, 2, bits);
}

enum { HALF = 5 };

/* How many of the first half are above, and how many of the second. */
static int64_t halves(int64_t pattern)
{
    int first = __builtin_popcountll((unsigned long long)pattern >> HALF);
    int last = __builtin_popcountll((unsigned long long)pattern & ((1u << HALF) - 1));
    return first * (HALF + 1) + last;
}

static int64_t ask_halves(const stream *of, bool second, brume_bits *bits)
{
    double queries[2 * HALF];
    for (int i = 0; i < 2 * HALF; i++)
        queries[i] = (i < HALF) == second;
    return halves(ask(of, queries, 2 * HALF, bits));
}

static int64_t no_cut_off(bool mended, bool second, brume_bits *bits)
{
    stream of = {2, 4, mended ? 1 : 2 * HALF};
    return ask_halves(&of, second, bits);
}

/* Five answers above, and the noise of one. */
static int64_t noise_of_one_hit(bool mended, bool second, brume_bits *bits)
{
    stream of = {2, mended ? 4 * HALF : 4, HALF};
    return ask_halves(&of, second, bits);
}

static int64_t no_threshold_noise(bool mended, bool second, brume_bits *bits)
{
    stream of = {mended ? 2 : 0, 4, 1};
    double queries[8];
    for (int i = 0; i < 8; i++)
        queries[i] = second;
    return ask(&of, queries, 8, bits);
}

/* The noisy value that was compared is shown; mended: only that it is above. A low value says that
 * the threshold was low, and the others below it. */
static int64_t shown_values(bool mended, bool second, brume_bits *bits)
{
    enum { BELOW = 6 };
    int64_t threshold = noisy(bits, 2, 0);
    for (int i = 0; i < BELOW; i++)
        if (noisy(bits, 4, second) >= threshold)
            return -1000;
    int64_t last = noisy(bits, 4, second);
    return last < threshold ? -2000 : mended ? 0 : cut(last / GRID, -20, 20);
}

DRAWS(no_query_noise)
DRAWS(no_cut_off)
DRAWS(noise_of_one_hit)
DRAWS(no_threshold_noise)
DRAWS(shown_values)

/* ---- delta ---- */

/* The mode at epsilon 2 and delta 0.01: a gap of 1, and a tie that has the other mode. The distance
 * is the gap less 1, and not the gap; ln(1/(2 delta)) is the threshold of either. */
static int64_t mode_by_the_gap(bool mended, bool second, brume_bits *bits)
{
    double gap = second ? 0 : 1, distance = mended ? fmax(gap - 1, 0) : gap;
    bool shown = (double)noisy(bits, .5, distance) > log(1 / .02) / 2 * GRID;
    return shown ? 1 + second : 0;
}

/* The test passes nearly always on one side and hardly ever on the other. */
static int64_t distance_that_jumps(bool mended, bool second, brume_bits *bits)
{
    double distance = second ? (mended ? 1 : 10) : 0;
    return (double)noisy(bits, 1, distance) > log(1 / .002) * GRID;
}

static const brume_histogram_plan *plan_at(brume_adjacency adjacency)
{
    static brume_histogram_plan plans[2];
    brume_histogram_plan *plan = &plans[adjacency == BRUME_REPLACE];
    if (plan->threshold > 0)
        return plan;
    brume_histogram_rule rule = {.noise = BRUME_HISTOGRAM_DISCRETE_LAPLACE,
                                 .epsilon = 1,
                                 .delta = .001,
                                 .keys_per_unit = 1,
                                 .amount_per_key = 1,
                                 .adjacency = adjacency};
    assert_ok(brume_histogram_plan_make(&rule, plan, &error));
    return plan;
}

static int64_t noisy_count(brume_bits *bits, double scale, int64_t count)
{
    return count + noise_of(bits, scale);
}

/* Two keys about the threshold, and a person who has one of them. */
static int64_t histogram_for_add_remove(bool mended, bool second, brume_bits *bits)
{
    const brume_histogram_plan *plan = plan_at(mended ? BRUME_REPLACE : BRUME_ADD_REMOVE);
    int64_t outcome = 0;
    for (int key = 0; key < 2; key++) {
        int64_t count = noisy_count(bits, plan->scale, plan->threshold + (key == second));
        outcome = 8 * outcome + cut(count - plan->threshold + 1, 0, 7);
    }
    return outcome;
}

static int64_t threshold_off_by_one(bool mended, bool second, brume_bits *bits)
{
    const brume_histogram_plan *plan = plan_at(BRUME_ADD_REMOVE);
    return second && noisy_count(bits, plan->scale, 1) >= plan->threshold - !mended;
}

static int64_t no_threshold(bool mended, bool second, brume_bits *bits)
{
    const brume_histogram_plan *plan = plan_at(BRUME_ADD_REMOVE);
    return second && noisy_count(bits, plan->scale, 1) >= (mended ? plan->threshold : -30);
}

DRAWS(mode_by_the_gap)
DRAWS(distance_that_jumps)
DRAWS(histogram_for_add_remove)
DRAWS(threshold_off_by_one)
DRAWS(no_threshold)

/* ---- the auditor ---- */

static const struct {
    const char *name;
    brume_audit_draw *draw;
    double epsilon, delta;
    size_t samples;
} controls[] = {
    {"half the noise", half_the_noise_draws, 1, 0, 40000},
    {"sensitivity off by two", sensitivity_off_by_two_draws, 1, 0, 40000},
    {"replace with add-remove scale", replace_with_add_remove_draws, 1, 0, 40000},
    {"noisy max with its value", noisy_max_with_value_draws, 1, 0, 40000},
    {"float Laplace", float_laplace_draws, 1, 0, 20000},
    {"sparse vector without query noise", no_query_noise_draws, 1, 0, 20000},
    {"sparse vector without cut-off", no_cut_off_draws, 1, 0, 200000},
    {"sparse vector with the noise of one hit", noise_of_one_hit_draws, 1, 0, 200000},
    {"sparse vector without threshold noise", no_threshold_noise_draws, 1, 0, 100000},
    {"sparse vector that shows what it compared", shown_values_draws, 1, 0, 4000000},
    {"mode by the gap", mode_by_the_gap_draws, 2, .01, 20000},
    {"distance that is not 1-Lipschitz", distance_that_jumps_draws, 1, .001, 20000},
    {"stable histogram for add-remove under replace", histogram_for_add_remove_draws, 1, .001,
     20000},
    {"threshold off by one", threshold_off_by_one_draws, 1, .001, 200000},
    {"keys without a threshold", no_threshold_draws, 1, .001, 20000},
};
enum { CONTROLS = sizeof controls / sizeof *controls };

/* The slow ones are part of the audit at length. */
static bool at_length;

static bool is_run(size_t i)
{
    return at_length == (controls[i].samples > 1000000);
}

static bool is_convicted(size_t i, bool mended, size_t samples)
{
    context of = {mended};
    brume_audit_result *result = calloc(1, sizeof *result);
    brume_audit_options options = {.samples = samples,
                                   .confidence = .999,
                                   .delta = controls[i].delta,
                                   .epsilon = controls[i].epsilon};
    brume_bits *bits = brume_tape_open_seeded(1000 + i);
    assert_non_null(result);
    assert_ok(brume_audit_epsilon(controls[i].draw, &of, &options, bits, result, &error));
    bool found = result->epsilon_lower > controls[i].epsilon ||
                 result->delta_lower > controls[i].delta;
    brume_bits_close(bits);
    free(result);
    return found;
}

static void broken_mechanisms_are_caught(void **state)
{
    (void)state;
    for (size_t i = 0; i < CONTROLS; i++)
        if (is_run(i) && !is_convicted(i, false, controls[i].samples))
            fail_msg("%s: not found", controls[i].name);
}

static void mended_ones_are_acquitted(void **state)
{
    (void)state;
    for (size_t i = 0; i < CONTROLS; i++)
        if (is_run(i) && is_convicted(i, true, controls[i].samples))
            fail_msg("%s: accused although it is mended", controls[i].name);
}

/* --draws: a table of how many draws on each neighbour, doubled from 500 on, and how much processor
 * time each of them takes until it is caught. For docs/audit.md. */
static int tell_draws(void)
{
    puts("| broken mechanism | draws | processor seconds |\n|---|---|---|");
    for (size_t i = 0; i < CONTROLS; i++) {
        size_t samples = 500;
        clock_t before = clock();
        while (samples <= controls[i].samples && !is_convicted(i, false, samples)) {
            samples *= 2;
            before = clock(); /* of the last one alone */
        }
        printf("| %s | %zu | %.3f |\n", controls[i].name, samples,
               (double)(clock() - before) / CLOCKS_PER_SEC);
    }
    return 0;
}

/* --write NAME N: N outcomes on the first neighbour, then N on the second, eight bytes each. For
 * other auditors of the same mechanism (bench/peers/auditorium.py). */
static int write_draws(const char *name, size_t n)
{
    const context broken = {false};
    size_t i = 0;
    int64_t *out = calloc(n, sizeof *out);
    while (i < CONTROLS && strcmp(controls[i].name, name) != 0)
        i++;
    if (i == CONTROLS || !out) {
        free(out);
        return 2;
    }
    brume_bits *bits = brume_tape_open_seeded(2000 + i);
    for (int second = 0; second < 2; second++) {
        assert_ok(controls[i].draw(&broken, second, bits, out, n, &error));
        assert_true(fwrite(out, sizeof *out, n, stdout) == n);
    }
    brume_bits_close(bits);
    free(out);
    return 0;
}

int main(int count, char **words)
{
    if (count == 4 && strcmp(words[1], "--write") == 0)
        return write_draws(words[2], strtoul(words[3], NULL, 10));
    if (count > 1 && strcmp(words[1], "--draws") == 0)
        return tell_draws();
    at_length = count > 1 && strcmp(words[1], "--long") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_mechanisms_are_caught),
        cmocka_unit_test(mended_ones_are_acquitted),
    };
    return cmocka_run_group_tests_name("controls", tests, NULL, NULL);
}
