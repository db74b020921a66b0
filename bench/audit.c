/* How fast the auditor draws, and how near it gets to what is claimed.
 *
 *     audit [DRAWS]      draws on each neighbour, 10,000,000 unless typed; on all processors
 *
 * For each of the basic mechanisms at epsilon 1: the lower bound of epsilon at a confidence of
 * .999, and millions of draws a second over the whole audit, choice of the event and all: those of
 * this run, and those that its processor time would make on processors with nothing else to do. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <brume/account/account.h>
#include <brume/mechanism/expression.h>

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

static void measure(size_t number, size_t draws, brume_audit_result *result, brume_bits *bits)
{
    brume_error error = {0};
    brume_expression expression;
    double delta = subjects[number].delta;
    check(
        brume_expression_parse(subjects[number].expression, BRUME_ADD_REMOVE, &expression, &error),
        &error);
    const brume_event *event = &expression.events[0];
    double most = claimed(event, delta), best = 0, seconds = 0, work = 0;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    for (size_t pair = 0; pair < brume_subject_pairs(event); pair++) {
        brume_subject *subject = NULL;
        brume_audit_options options = {.samples = draws,
                                       .confidence = .999,
                                       .delta = delta,
                                       .epsilon = most,
                                       .threads = processors > 1 ? (size_t)processors : 1};
        check(brume_subject_open(event, pair, &subject, &error), &error);
        double before = now(CLOCK_MONOTONIC), worked = now(CLOCK_PROCESS_CPUTIME_ID);
        check(brume_audit_epsilon(brume_subject_draw, subject, &options, bits, result, &error),
              &error);
        seconds += now(CLOCK_MONOTONIC) - before;
        work += now(CLOCK_PROCESS_CPUTIME_ID) - worked;
        best = result->epsilon_lower > best ? result->epsilon_lower : best;
        brume_subject_close(subject);
    }
    double all = 2e-6 * (double)draws * (double)brume_subject_pairs(event);
    printf("%-42s %9.4f %9.4f %6.3f %8.1f %8.1f\n", subjects[number].expression, most, best,
           best / most, all / seconds, all / work * (double)(processors > 1 ? processors : 1));
    brume_expression_free(&expression);
}

int main(int count, char **words)
{
    brume_error error = {0};
    brume_bits *bits = NULL;
    size_t draws = count > 1 ? (size_t)strtoull(words[1], NULL, 10) : 10000000;
    brume_audit_result *result = malloc(sizeof *result);
    check(result ? brume_bits_open(&bits, &error) : BRUME_EMEMORY, &error);
    printf("%-42s %9s %9s %6s %8s %8s\n", "mechanism", "claimed", "reached", "share", "M/s",
           "idle");
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        measure(i, draws, result, bits);
    brume_bits_close(bits);
    free(result);
    return 0;
}
