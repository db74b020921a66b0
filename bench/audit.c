/* How fast the auditor draws, and how near it gets to what is claimed.
 *
 *     audit [DRAWS]      draws on each neighbour, 10,000,000 unless typed; on all processors
 *
 * For each of the basic mechanisms at epsilon 1: the lower bound of epsilon at a confidence of
 * .999, and millions of draws a second over the whole audit, choice of the event and all: those of
 * this run, and those that its processor time would make on processors with nothing else to do.
 * Then, where there is a delta: the lower bound of delta at the claimed epsilon, and what delta is
 * there by the output law. (A threshold is a whole number, so that the delta of a stable histogram
 * is below the one that it was made for.) */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <brume/account/account.h>
#include <brume/mechanism/expression.h>

#include "audit/exact.h"
#include "audit/subject.h"

static const struct {
    const char *expression;
    double delta;
} subjects[] = {{"laplace(scale=1)", 0},
                {"discrete_laplace(scale=1)", 0},
                {"gaussian(sigma=1)", .01},
                {"discrete_gaussian(sigma=1)", .01},
                {"randomized_response(epsilon=1)", 0},
                {"noisy_max(epsilon=1)", 0},
                {"permute_and_flip(epsilon=1)", 0},
                {"exponential(epsilon=1)", 0},
                {"above_threshold(epsilon=1)", 0},
                {"stable_histogram(epsilon=1, delta=0.01)", .01}};

static double now(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static void check(brume_status status, const brume_error *error)
{
    if (status == BRUME_OK)
        return;
    fprintf(stderr, "audit: %s\n", error->message);
    exit(1);
}

static double claimed(const brume_event *event, double delta)
{
    brume_error error;
    brume_term *terms = NULL;
    brume_bound bound;
    check(brume_account_terms(event, 1, 1, BRUME_METHOD_AUTO, &terms, &error), &error);
    check(brume_account_epsilon(BRUME_METHOD_AUTO, terms, 1, delta, &bound, &error), &error);
    free(terms);
    return bound.upper;
}

/* What was found of one mechanism, the best of all pairs of neighbours. */
typedef struct found {
    double claimed, epsilon;  /* at the delta of the subject */
    double delta, true_delta; /* at the claimed epsilon; true: by the law, where there is one */
    double draws, seconds, work;
} found;

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double delta_by_law(const brume_subject *subject, double epsilon)
{
    brume_error error = {0};
    brume_exact_law *law = NULL;
    if (!brume_subject_has_law(subject))
        return 0;
    check(brume_exact_open(subject, NULL, &law, &error), &error);
    double most = larger(brume_exact_delta(law, false, epsilon).upper,
                         brume_exact_delta(law, true, epsilon).upper);
    brume_exact_close(law);
    return most;
}

static void measure_pair(const brume_event *event, size_t pair, const brume_audit_options *options,
                         brume_bits *bits, brume_audit_result *result, found *best)
{
    brume_error error = {0};
    brume_subject *subject = NULL;
    check(brume_subject_open(event, pair, &subject, &error), &error);
    double before = now(CLOCK_MONOTONIC), worked = now(CLOCK_PROCESS_CPUTIME_ID);
    check(brume_audit_epsilon(brume_subject_draw, subject, options, bits, result, &error), &error);
    best->seconds += now(CLOCK_MONOTONIC) - before;
    best->work += now(CLOCK_PROCESS_CPUTIME_ID) - worked;
    best->draws += 2 * (double)options->samples;
    best->epsilon = larger(best->epsilon, result->epsilon_lower);
    best->delta = larger(best->delta, result->delta_lower);
    if (options->delta > 0)
        best->true_delta = larger(best->true_delta, delta_by_law(subject, options->epsilon));
    brume_subject_close(subject);
}

static found measure(size_t number, size_t draws, size_t processors, brume_audit_result *result,
                     brume_bits *bits)
{
    brume_error error = {0};
    brume_expression expression;
    double delta = subjects[number].delta;
    check(
        brume_expression_parse(subjects[number].expression, BRUME_ADD_REMOVE, &expression, &error),
        &error);
    const brume_event *event = &expression.events[0];
    size_t pairs = brume_subject_pairs(event);
    found best = {.claimed = claimed(event, delta)};
    /* the best of several bounds is one only if all of them hold */
    brume_audit_options options = {.samples = draws,
                                   .confidence = 1 - .001 / (double)pairs,
                                   .delta = delta,
                                   .epsilon = best.claimed,
                                   .threads = processors};
    for (size_t pair = 0; pair < pairs; pair++)
        measure_pair(event, pair, &options, bits, result, &best);
    brume_expression_free(&expression);
    return best;
}

int main(int count, char **words)
{
    enum { SUBJECTS = sizeof subjects / sizeof *subjects };
    brume_error error = {0};
    brume_bits *bits = NULL;
    found all[SUBJECTS];
    size_t draws = count > 1 ? (size_t)strtoull(words[1], NULL, 10) : 10000000;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    size_t processors = online > 1 ? (size_t)online : 1;
    brume_audit_result *result = malloc(sizeof *result);
    check(result ? brume_bits_open(&bits, &error) : BRUME_EMEMORY, &error);
    printf("%-42s %9s %9s %6s %8s %8s\n", "mechanism", "claimed", "reached", "share", "M/s",
           "idle");
    for (size_t i = 0; i < SUBJECTS; i++) {
        const found *of = &all[i];
        all[i] = measure(i, draws, processors, result, bits);
        printf("%-42s %9.4f %9.4f %6.3f %8.1f %8.1f\n", subjects[i].expression, of->claimed,
               of->epsilon, of->epsilon / of->claimed, 1e-6 * of->draws / of->seconds,
               1e-6 * of->draws / of->work * (double)processors);
        fflush(stdout);
    }
    printf("\n%-42s %9s %9s %9s %6s\n", "delta at that epsilon", "claimed", "true", "reached",
           "share");
    for (size_t i = 0; i < SUBJECTS; i++)
        if (subjects[i].delta > 0)
            printf("%-42s %9.6f %9.6f %9.6f %6.3f\n", subjects[i].expression, subjects[i].delta,
                   all[i].true_delta, all[i].delta, all[i].delta / all[i].true_delta);
    brume_bits_close(bits);
    free(result);
    return 0;
}
