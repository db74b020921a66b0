/* Random calibrations: how long they take, and whether the answers are right.
 *
 *   calibration_sweep [CASES [SEED [MILLISECONDS]]]
 *
 * Every mechanism, every number of it as `?` (also its sensitivity and its count), alone or with
 * one to three others, counts from 1 to a million, delta from 1e-3 to 1e-12, and to 1e-30 in every
 * eighth case. The numbers are drawn first, with one for the unknown too; what they cost together
 * is the target, rounded to two digits, so that it can be met. An accuracy is asked for in the same
 * way, of expressions that have a cost.
 *
 * Of each answer two things are checked by accounts of their own, each with its certified interval:
 * that the target is met (how long that takes is printed too), and that a billionth less noise (a
 * whole number: one more or less) does not fit; of a bound by moments, which has no lower end and
 * may jump between neighbours, a millionth less. Printed are cases that took more than so many
 * milliseconds (20) of processor time, the least of three runs, cases that failed a check, and a
 * summary. The same seed, the same cases. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <brume/brume.h>

#include "random_expression.h"

enum { EXPENSIVE_ACCOUNT = 100 };

/* The processor time of this process, in milliseconds. */
static double processor(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* --- one case --- */

typedef enum verdict {
    RIGHT,
    SKIPPED,
    REFUSED,
    TOO_LITTLE,
    TOO_MUCH,
    EXPENSIVE,
    INDEPENDENT
} verdict;

typedef struct question {
    char text[4 * TERM_TEXT], solved[4 * TERM_TEXT];
    bool accuracy;
    double epsilon, delta; /* or alpha, beta */
} question;

static double two_digits_up(double x)
{
    double unit = pow(10, floor(log10(x)) - 1);
    char text[40];
    snprintf(text, sizeof text, "%.1e", ceil(x / unit) * unit);
    return strtod(text, NULL);
}

static brume_status cost_of(const brume_expression *e, const question *q, brume_bound *delta,
                            brume_bound *epsilon, brume_error *error)
{
    brume_term *terms;
    brume_status status =
        brume_account_terms(e->events, e->count, 1, BRUME_METHOD_AUTO, &terms, error);
    if (status != BRUME_OK)
        return status;
    if (delta)
        status = brume_account_delta(BRUME_METHOD_AUTO, terms, e->count, q->epsilon, delta, error);
    if (epsilon && status == BRUME_OK)
        status =
            brume_account_epsilon(BRUME_METHOD_AUTO, terms, e->count, q->delta, epsilon, error);
    free(terms);
    return status;
}

/* The numbers drawn say what is to be met. */
static bool set_target(question *q)
{
    brume_expression drawn, asked;
    brume_error error;
    double target = 0;
    if (brume_expression_parse(q->solved, BRUME_ADD_REMOVE, &drawn, &error) != BRUME_OK)
        return false;
    brume_term *terms;
    if (q->accuracy) {
        if (brume_account_terms(drawn.events, drawn.count, 1, BRUME_METHOD_AUTO, &terms, &error) ==
                BRUME_OK &&
            brume_expression_parse(q->text, BRUME_ADD_REMOVE, &asked, &error) == BRUME_OK) {
            free(terms);
            if (brume_event_alpha(&drawn.events[asked.unknown.event], q->delta, &target, &error))
                target = 0;
            brume_expression_free(&asked);
        }
    } else {
        brume_bound bound;
        if (cost_of(&drawn, q, NULL, &bound, &error) == BRUME_OK)
            target = bound.upper;
    }
    brume_expression_free(&drawn);
    q->epsilon = target > 0 ? two_digits_up(target) : 0;
    return target > 1e-6 && target < 1e6;
}

/* What one case costs at a value of the unknown: below (or at) the target for certain, above it for
 * certain, or not known. */
typedef enum side { MET, MISSED, UNKNOWN } side;

static side compare(brume_expression *e, const question *q, double value)
{
    brume_error error;
    if (brume_expression_solve(e, value, &error) != BRUME_OK)
        return MISSED; /* out of range */
    if (q->accuracy) {
        double alpha;
        if (brume_event_alpha(&e->events[e->unknown.event], q->delta, &alpha, &error) != BRUME_OK)
            return MISSED;
        return alpha <= q->epsilon ? MET : MISSED;
    }
    brume_bound delta = {.upper = 1}, epsilon = {.upper = INFINITY};
    if (cost_of(e, q, q->delta > 0 ? &delta : NULL, q->delta > 0 ? NULL : &epsilon, &error) !=
        BRUME_OK)
        return MISSED; /* so extreme that nothing is known */
    const brume_bound *bound = q->delta > 0 ? &delta : &epsilon;
    double target = q->delta > 0 ? q->delta : q->epsilon;
    if (bound->upper <= target)
        return MET;
    /* a bound by moments has no lower end, or that of guarantees which say less than the moments:
     * it is known to a thousandth */
    bool known = bound->lower > 0.5 * bound->upper && bound->lower < bound->upper;
    return known ? (bound->lower > target ? MISSED : UNKNOWN)
                 : (bound->upper > 1.002 * target ? MISSED : UNKNOWN);
}

/* Is the bound one of moments, without a lower end of its own? */
static bool jumps(const brume_expression *e, const question *q)
{
    brume_bound bound;
    brume_error error;
    return !q->accuracy && q->delta > 0 && cost_of(e, q, &bound, NULL, &error) == BRUME_OK &&
           !bound.has_lower && !(bound.lower > 0.5 * bound.upper && bound.lower < bound.upper);
}

static verdict check(brume_expression *e, const question *q, const brume_calibration *found,
                     double *once)
{
    const brume_parameter *parameter = e->unknown.parameter;
    const brume_card *card = brume_card_by_id(e->events[e->unknown.event].mechanism);
    bool of_scores = e->unknown.slot == BRUME_SLOT_SENSITIVITY &&
                     strcmp(card->sensitivity, "score") == 0; /* the error grows with it */
    bool more_is_less = (parameter->direction == BRUME_LESS_NOISE) != (q->accuracy && !of_scores);
    double value = found->value, beyond = value * (more_is_less ? 1 + 1.0001e-9 : 1 - 1.0001e-9);
    bool of_integers = e->unknown.slot == BRUME_SLOT_SENSITIVITY && !q->accuracy &&
                       strncmp(card->name, "discrete", 8) == 0;
    if (found->whole != 0)
        beyond = value + found->whole;
    else if (of_integers && value == floor(value))
        beyond = value + 1; /* what integers change by is whole */
    double start = processor();
    side here = compare(e, q, value);
    *once = processor() - start;
    if (here == MISSED)
        return TOO_LITTLE;
    side there = compare(e, q, beyond);
    if (there == MET && found->whole == 0 && jumps(e, q))
        there = compare(e, q, value + 1000 * (beyond - value));
    return there == MET ? TOO_MUCH : RIGHT;
}

static brume_status answer(brume_expression *e, const question *q, brume_calibration *found,
                           double *spent, brume_error *error)
{
    double start = processor();
    brume_status status =
        q->accuracy ? brume_calibrate_accuracy(e, q->epsilon, q->delta, 1e-6, found, error)
                    : brume_calibrate(e, q->epsilon, q->delta, found, error);
    *spent = processor() - start;
    return status;
}

static verdict run(const question *q, double slow, double *least, double *once, double *value,
                   brume_error *error)
{
    brume_expression e;
    if (brume_expression_parse(q->text, BRUME_ADD_REMOVE, &e, error) != BRUME_OK)
        return SKIPPED;
    brume_calibration found = {0};
    brume_status status = BRUME_OK;
    *least = INFINITY;
    for (int i = 0; i < 3 && *least > slow; i++) { /* again only where it was slow */
        double spent;
        status = answer(&e, q, &found, &spent, error);
        *least = fmin(*least, spent);
    }
    *value = found.value;
    verdict result = status != BRUME_OK && strstr(error->message, "does not depend on it")
                         ? INDEPENDENT
                     : status != BRUME_OK ? REFUSED
                                          : check(&e, q, &found, once);
    brume_expression_free(&e);
    return result;
}

static void draw_question(const number *numbers, size_t count, size_t index, question *q)
{
    number unknown = numbers[index % count];
    if (index % 2 == 1) { /* every other case is of the common mechanisms */
        number own[MOST_UNKNOWNS];
        size_t some = random_list_numbers(random_card(), own);
        unknown = own[(size_t)(random_uniform() * (double)some)];
    }
    int others = (int)(random_uniform() * 4);
    double epsilon = random_between(0.1, 10), delta = pow(10, -3 - floor(random_uniform() * 10));
    if (index % 8 == 5)
        delta = pow(10, -13 - (double)(index / 8 % 18));
    int place = (int)(random_uniform() * (others + 1));
    memset(q, 0, sizeof *q);
    for (int i = 0; i <= others; i++) {
        term t = {{0}, {0}};
        number one = i == place ? unknown : (number){random_card(), 0};
        random_term(&t, one, i == place, epsilon * (0.2 + 0.8 * random_uniform()) / (1 + others),
                    delta, 1e6);
        size_t asked = strlen(q->text), solved = strlen(q->solved);
        snprintf(q->text + asked, sizeof q->text - asked, "%s%s", i ? " + " : "", t.asked);
        snprintf(q->solved + solved, sizeof q->solved - solved, "%s%s", i ? " + " : "", t.solved);
    }
    q->accuracy = unknown.card->alpha_upper && unknown.slot != BRUME_SLOT_COUNT &&
                  random_uniform() < 0.1;
    q->delta = q->accuracy ? pow(10, -1 - floor(random_uniform() * 3)) : delta;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double quantile(const double *sorted, size_t count, double share)
{
    return sorted[(size_t)(share * (double)(count - 1))];
}

int main(int argc, char **argv)
{
    size_t cases = argc > 1 ? strtoul(argv[1], NULL, 10) : 2000, numbers_count = 0, cards_count;
    uint64_t seed = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
    double slow = argc > 3 ? strtod(argv[3], NULL) : 20;
    const brume_card *const *cards = brume_cards(&cards_count);
    number numbers[MOST_UNKNOWNS];
    for (size_t i = 0; i < cards_count; i++)
        numbers_count += random_list_numbers(cards[i], numbers + numbers_count);
    if (cases == 0 || numbers_count == 0)
        return 1;
    double *times = calloc(cases, sizeof *times);
    if (!times)
        return 1;
    static const char *const faults[] = {"", "", "refused", "TOO LITTLE NOISE", "too much noise"};
    size_t of[7] = {0}, timed = 0, too_slow = 0;
    for (size_t i = 0; i < cases; i++) {
        question q;
        brume_error error = {0};
        double least = 0, value = 0, once = 0;
        random_start(seed, i);
        draw_question(numbers, numbers_count, i, &q);
        double start = processor();
        verdict v = set_target(&q) ? RIGHT : SKIPPED;
        once = processor() - start;
        if (v == RIGHT)
            v = once > EXPENSIVE_ACCOUNT ? EXPENSIVE : run(&q, slow, &least, &once, &value, &error);
        of[v]++;
        if (v == EXPENSIVE)
            printf("%5zu (one account %.2f)  not tried  '%s' --epsilon %g --delta %g\n", i, once,
                   q.text, q.epsilon, q.delta);
        if (v == SKIPPED || v == EXPENSIVE || v == INDEPENDENT)
            continue;
        times[timed++] = least;
        too_slow += least > slow;
        if (v != RIGHT || least > slow)
            printf("%5zu %8.2f ms (one account %.2f)  %s  '%s' %s %g %s %g: %.12g %s\n", i, least,
                   once, faults[v], q.text, q.accuracy ? "--alpha" : "--epsilon", q.epsilon,
                   q.accuracy ? "--beta" : "--delta", q.delta, value,
                   v == REFUSED ? error.message : "");
        fflush(stdout);
    }
    if (timed == 0)
        return 1;
    qsort(times, timed, sizeof *times, ascending);
    printf(
        "%zu calibrations: refused %zu, too little noise %zu, too much %zu; not tried, because one "
        "account takes %d ms: %zu; the cost does not depend on it: %zu; drawn in vain: "
        "%zu\n",
        timed, of[REFUSED], of[TOO_LITTLE], of[TOO_MUCH], EXPENSIVE_ACCOUNT, of[EXPENSIVE],
        of[INDEPENDENT], of[SKIPPED]);
    printf("processor time, ms: median %.2f, 95 %% %.2f, 99 %% %.2f, 99.9 %% %.2f, worst %.2f; "
           "above %g: %zu\n",
           quantile(times, timed, 0.5), quantile(times, timed, 0.95), quantile(times, timed, 0.99),
           quantile(times, timed, 0.999), times[timed - 1], slow, too_slow);
    free(times);
    return of[TOO_LITTLE] > 0;
}
