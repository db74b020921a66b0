/* Random calibrations: how long they take, and whether the answers are right.
 *
 *   calibration_sweep [CASES [SEED [MILLISECONDS]]]
 *
 * Every mechanism, every number of it as `?` (also its sensitivity and its count), alone or beside
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

enum { TEXT = 600, MOST_UNKNOWNS = 400, DEAR_ACCOUNT = 100 };

static uint64_t state;

static double uniform(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double between(double low, double high) /* uniform in logarithms */
{
    return low * pow(high / low, uniform());
}

static double whole_between(double low, double high)
{
    return fmin(floor(between(low, high + 1)), high);
}

/* The processor time of this process, in milliseconds. */
static double processor(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* --- random expressions --- */

/* A number of some card: slot BRUME_SLOT_SENSITIVITY or BRUME_SLOT_COUNT, or an index of its
 * parameters. */
typedef struct number {
    const brume_card *card;
    int slot;
} number;

/* A term: as text with its `?`, if it has one, and with a number in its place. */
typedef struct term {
    char asked[TEXT], solved[TEXT];
} term;

static void append(term *t, bool unknown, const char *name, double value)
{
    char digits[40];
    snprintf(digits, sizeof digits, "%.3g", value);
    if (value == floor(value) && value < 1e15)
        snprintf(digits, sizeof digits, "%.0f", value);
    size_t asked = strlen(t->asked), solved = strlen(t->solved);
    snprintf(t->asked + asked, TEXT - asked, "%s%s", name, unknown ? "?" : digits);
    snprintf(t->solved + solved, TEXT - solved, "%s%s", name, digits);
}

static void append_text(term *t, const char *text)
{
    size_t asked = strlen(t->asked), solved = strlen(t->solved);
    snprintf(t->asked + asked, TEXT - asked, "%s", text);
    snprintf(t->solved + solved, TEXT - solved, "%s", text);
}

/* A value of a parameter such that one release is about as far from private as Gaussian noise of
 * 1/size deviations. */
static double draw_value(const brume_parameter *parameter, double size, double sensitivity,
                         double delta)
{
    const char *name = parameter->name;
    double least = fmax(parameter->least, 1e-3), most = fmin(parameter->most, 1e3);
    if (strncmp(name, "epsilon", 7) == 0)
        return size;
    if (strcmp(name, "scale") == 0 || strcmp(name, "sigma") == 0)
        return sensitivity / size;
    if (strcmp(name, "rho") == 0)
        return size * size / 2;
    if (strcmp(name, "delta") == 0)
        return delta;
    if (strcmp(name, "rate") == 0)
        return between(1e-3, 1);
    if (parameter->type == BRUME_PARAMETER_FLAG)
        return uniform() < 0.5;
    if (parameter->type == BRUME_PARAMETER_INTEGER)
        return whole_between(fmax(ceil(least), 1), most);
    return fmin(between(least, most), 0.9 * parameter->most);
}

static bool has_sensitivity(const brume_card *card)
{
    return strcmp(card->sensitivity, "none") != 0 && strcmp(card->sensitivity, "base") != 0;
}

static const brume_card *draw_card(void);

static void draw_call(term *t, const brume_card *card, int unknown, double size, double delta)
{
    bool sampled = strcmp(card->name, "poisson") == 0, first = true;
    bool whole = strncmp(card->name, "discrete", 8) == 0;
    double sensitivity = 1;
    if (has_sensitivity(card) && (unknown == BRUME_SLOT_SENSITIVITY || uniform() < 0.3))
        sensitivity = whole ? whole_between(1, 10) : between(0.1, 10);
    append_text(t, card->name);
    append_text(t, "(");
    for (size_t i = 0; i < card->parameter_count; i++) {
        const brume_parameter *parameter = &card->parameters[i];
        bool asked = unknown == (int)i;
        if (parameter->optional && !asked && uniform() < 0.6)
            continue;
        if (!first)
            append_text(t, ", ");
        first = false;
        if (parameter->type == BRUME_PARAMETER_MECHANISM) {
            const brume_card *inner = brume_card_by_name("gaussian");
            while (uniform() < 0.3 || strcmp(inner->name, "poisson") == 0)
                inner = draw_card();
            draw_call(t, inner, BRUME_SLOT_COUNT, fmin(size, 2), delta);
            continue;
        }
        double value = draw_value(parameter, size, sensitivity, delta);
        if (sampled && strcmp(parameter->name, "rate") == 0)
            size /= value;
        append_text(t, parameter->name);
        if (parameter->type == BRUME_PARAMETER_FLAG)
            append_text(t, value > 0 ? "=true" : "=false");
        else
            append(t, asked, "=", value);
    }
    if (sensitivity != 1 || unknown == BRUME_SLOT_SENSITIVITY)
        append(t, unknown == BRUME_SLOT_SENSITIVITY, ", sensitivity=", sensitivity);
    append_text(t, ")");
}

/* One term that uses up about `share` of epsilon. */
static void draw_term(term *t, number unknown, bool asked, double share, double delta)
{
    double count = uniform() < 0.25 ? 1 : whole_between(1, 1e6);
    double size = fmin(share, share * 3 / sqrt(2 * count * log(1 / delta)));
    draw_call(t, unknown.card, asked ? unknown.slot : BRUME_SLOT_COUNT, size, delta / 8 / count);
    if (count > 1 || (asked && unknown.slot == BRUME_SLOT_COUNT))
        append(t, asked && unknown.slot == BRUME_SLOT_COUNT, "*", count);
}

/* Noise, most of the time; anything else at times. */
static const brume_card *draw_card(void)
{
    static const char *const noises[] = {"laplace",
                                         "gaussian",
                                         "discrete_laplace",
                                         "discrete_gaussian",
                                         "poisson",
                                         "randomized_response",
                                         "pure"};
    size_t count;
    const brume_card *const *cards = brume_cards(&count);
    if (uniform() < 0.2)
        return cards[(size_t)(uniform() * (double)count)];
    return brume_card_by_name(
        noises[(size_t)(uniform() * (double)(sizeof noises / sizeof *noises))]);
}

static size_t list_numbers(const brume_card *card, number *out)
{
    size_t count = 0;
    for (size_t i = 0; i < card->parameter_count; i++)
        if (card->parameters[i].direction != BRUME_NOT_MONOTONE)
            out[count++] = (number){card, (int)i};
    if (has_sensitivity(card))
        out[count++] = (number){card, BRUME_SLOT_SENSITIVITY};
    out[count++] = (number){card, BRUME_SLOT_COUNT};
    return count;
}

/* --- one case --- */

typedef enum verdict { RIGHT, SKIPPED, REFUSED, TOO_LITTLE, TOO_MUCH, DEAR, INDEPENDENT } verdict;

typedef struct question {
    char text[4 * TEXT], solved[4 * TEXT];
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
        size_t some = list_numbers(draw_card(), own);
        unknown = own[(size_t)(uniform() * (double)some)];
    }
    int others = (int)(uniform() * 4);
    double epsilon = between(0.1, 10), delta = pow(10, -3 - floor(uniform() * 10));
    if (index % 8 == 5)
        delta = pow(10, -13 - (double)(index / 8 % 18));
    int place = (int)(uniform() * (others + 1));
    memset(q, 0, sizeof *q);
    for (int i = 0; i <= others; i++) {
        term t = {{0}, {0}};
        number one = i == place ? unknown : (number){draw_card(), 0};
        draw_term(&t, one, i == place, epsilon * (0.2 + 0.8 * uniform()) / (1 + others), delta);
        size_t asked = strlen(q->text), solved = strlen(q->solved);
        snprintf(q->text + asked, sizeof q->text - asked, "%s%s", i ? " + " : "", t.asked);
        snprintf(q->solved + solved, sizeof q->solved - solved, "%s%s", i ? " + " : "", t.solved);
    }
    q->accuracy = unknown.card->alpha_upper && unknown.slot != BRUME_SLOT_COUNT && uniform() < 0.1;
    q->delta = q->accuracy ? pow(10, -1 - floor(uniform() * 3)) : delta;
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
        numbers_count += list_numbers(cards[i], numbers + numbers_count);
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
        state = seed * 0x100000001b3U + i * 0xd1342543de82ef95U; /* each case by itself */
        state = (uint64_t)(uniform() * 0x1p53) * 0x2545f4914f6cdd1dU;
        draw_question(numbers, numbers_count, i, &q);
        double start = processor();
        verdict v = set_target(&q) ? RIGHT : SKIPPED;
        once = processor() - start;
        if (v == RIGHT)
            v = once > DEAR_ACCOUNT ? DEAR : run(&q, slow, &least, &once, &value, &error);
        of[v]++;
        if (v == DEAR)
            printf("%5zu (one account %.2f)  not tried  '%s' --epsilon %g --delta %g\n", i, once,
                   q.text, q.epsilon, q.delta);
        if (v == SKIPPED || v == DEAR || v == INDEPENDENT)
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
        timed, of[REFUSED], of[TOO_LITTLE], of[TOO_MUCH], DEAR_ACCOUNT, of[DEAR], of[INDEPENDENT],
        of[SKIPPED]);
    printf("processor time, ms: median %.2f, 95 %% %.2f, 99 %% %.2f, 99.9 %% %.2f, worst %.2f; "
           "above %g: %zu\n",
           quantile(times, timed, 0.5), quantile(times, timed, 0.95), quantile(times, timed, 0.99),
           quantile(times, timed, 0.999), times[timed - 1], slow, too_slow);
    free(times);
    return of[TOO_LITTLE] > 0;
}
