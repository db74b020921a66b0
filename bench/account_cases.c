/* Random accounts and calibrations, one a line, for tools/compare_accounts.
 *
 *   account_cases CASES SEED
 *
 * Each line: number, question, class, lower end, upper end, relative width, milliseconds of
 * processor time, status, expression. The same seed gives the same questions with every version of
 * the library, because a question never depends on an answer. Half of the cases have at most 10
 * releases of each kind, the others up to a million.
 *
 *   epsilon  at a delta, delta at an epsilon: the certified interval
 *   value    of a calibration: the value found, twice
 *   account  how long an account at the value just found took: its ends are of delta
 *
 * Classes: `sharp` for one family without sampling, or a composition with a Gaussian; `bound` where
 * there is no certified lower end; `other` for the rest. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "random_expression.h"

typedef struct question {
    char text[5 * TERM_TEXT], solved[5 * TERM_TEXT];
    double epsilon, delta;
    bool of_delta, calibration;
} question;

static double processor(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static void draw(uint64_t seed, uint64_t index, question *q)
{
    random_start(seed, index);
    *q = (question){.calibration = index % 4 == 3, .of_delta = index % 2 == 0};
    double most_count = random_uniform() < 0.5 ? 10 : 1e6;
    bool noise_only = random_uniform() < 0.6;
    int terms = 1 + (int)(random_uniform() * 5);
    int place = (int)(random_uniform() * terms);
    q->epsilon = random_between(0.1, 10);
    q->delta = pow(10, -3 - floor(random_uniform() * 10));
    for (int i = 0; i < terms; i++) {
        term t = {{0}, {0}};
        number some[MOST_UNKNOWNS],
            one = {noise_only ? random_noise_card() : random_card(), BRUME_SLOT_COUNT};
        size_t count = random_list_numbers(one.card, some);
        bool asked = q->calibration && i == place;
        if (asked)
            one = some[(size_t)(random_uniform() * (double)count)];
        random_term(&t, one, asked, q->epsilon * (0.2 + 0.8 * random_uniform()) / terms, q->delta,
                    most_count);
        size_t used = strlen(q->text), solved = strlen(q->solved);
        snprintf(q->text + used, sizeof q->text - used, "%s%s", i ? " + " : "", t.asked);
        snprintf(q->solved + solved, sizeof q->solved - solved, "%s%s", i ? " + " : "", t.solved);
    }
}

/* One family without sampling, or a Gaussian among the terms? */
static bool is_sharp(const brume_term *terms, size_t count)
{
    bool gaussian = false, sampled = false;
    for (size_t i = 0; i < count; i++) {
        gaussian |= terms[i].cost.law.kind == BRUME_LOSS_GAUSSIAN;
        sampled |= terms[i].cost.law.kind >= BRUME_LOSS_POISSON_GAUSSIAN;
    }
    return !sampled && (gaussian || count == 1);
}

static brume_status account(const brume_term *terms, size_t count, bool of_delta, double at,
                            brume_bound *bound, brume_error *error)
{
    return of_delta ? brume_account_epsilon(BRUME_METHOD_AUTO, terms, count, at, bound, error)
                    : brume_account_delta(BRUME_METHOD_AUTO, terms, count, at, bound, error);
}

static void print(uint64_t index, const char *asked, const char *class_, brume_interval ends,
                  double width, double time, brume_status status, const question *q)
{
    printf("%llu\t%s\t%s\t%.17g\t%.17g\t%.3g\t%.3f\t%d\t%s (epsilon %.6g, delta %.3g)\n",
           (unsigned long long)index, asked, class_, ends.lower, ends.upper, width, time,
           (int)status, q->text, q->epsilon, q->delta);
}

/* The width of an interval; that of a delta is `goal` if it amounts to no more in epsilon: if delta
 * certainly leaves the interval when epsilon moves by so much to either side. */
static double width_of(const brume_term *terms, size_t count, const brume_bound *bound,
                       bool of_delta, double epsilon, double goal)
{
    if (bound->lower == bound->upper)
        return 0;
    double width = (bound->upper - bound->lower) / bound->upper;
    brume_bound before, after;
    if (!of_delta && width > goal &&
        account(terms, count, false, epsilon * (1 - goal), &before, NULL) == BRUME_OK &&
        account(terms, count, false, epsilon * (1 + goal), &after, NULL) == BRUME_OK &&
        before.lower >= bound->upper * (1 - 1e-10) && after.upper <= bound->lower * (1 + 1e-10))
        return goal;
    return width;
}

/* The best of three runs where one takes more than a millisecond. */
static void ask_account(uint64_t index, const char *asked, const brume_expression *e,
                        const question *q, bool of_delta)
{
    brume_term *terms;
    brume_error error;
    brume_bound bound = {0};
    brume_status status =
        brume_account_terms(e->events, e->count, 1, BRUME_METHOD_AUTO, &terms, &error);
    if (status != BRUME_OK) {
        print(index, asked, "refused", (brume_interval){0, 0}, 0, 0, status, q);
        return;
    }
    double best = INFINITY;
    for (int run = 0; run < 3 && best > 1; run++) {
        double start = processor();
        status =
            account(terms, e->count, of_delta, of_delta ? q->delta : q->epsilon, &bound, &error);
        best = fmin(best, processor() - start);
    }
    const char *class_ = !bound.has_lower ? "bound" : is_sharp(terms, e->count) ? "sharp" : "other";
    double width = width_of(terms, e->count, &bound, of_delta, q->epsilon,
                            strcmp(class_, "sharp") == 0 ? 1e-9 : 1e-6);
    print(index, asked, class_, (brume_interval){bound.lower, bound.upper}, width, best, status, q);
    free(terms);
}

static void ask_calibration(uint64_t index, brume_expression *e, const question *q)
{
    brume_calibration found = {0};
    brume_error error;
    brume_status status = BRUME_OK;
    double best = INFINITY;
    for (int run = 0; run < 3 && best > 1; run++) {
        double start = processor();
        status = brume_calibrate(e, q->epsilon, q->delta, &found, &error);
        best = fmin(best, processor() - start);
    }
    print(index, "value",
          status        ? "refused"
          : found.whole ? "whole"
                        : "real",
          (brume_interval){found.value, found.value}, 0, best, status, q);
    if (status == BRUME_OK)
        ask_account(index, "account", e, q, false);
}

int main(int argc, char **argv)
{
    uint64_t cases = argc > 1 ? strtoull(argv[1], NULL, 10) : 200;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    for (uint64_t i = first; i < first + cases; i++) {
        question q;
        brume_expression e;
        brume_error error;
        draw(seed, i, &q);
        if (brume_expression_parse(q.text, BRUME_ADD_REMOVE, &e, &error) != BRUME_OK) {
            print(i, "parse", "refused", (brume_interval){0, 0}, 0, 0, BRUME_EARGUMENT, &q);
            continue;
        }
        if (q.calibration)
            ask_calibration(i, &e, &q);
        else
            ask_account(i, q.of_delta ? "epsilon" : "delta", &e, &q, q.of_delta);
        fflush(stdout);
        brume_expression_free(&e);
    }
    return 0;
}
