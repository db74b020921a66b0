/* Subjects of an audit. Promises: nothing here knows what a mechanism should do; it is asked
 * through its public functions only, on neighbours under the event's adjacency and sensitivity. */
#include "audit/subject.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <brume/gaussian.h>
#include <brume/laplace.h>
#include <brume/mechanism.h>
#include <brume/randomized_response.h>
#include <brume/selection.h>
#include <brume/smooth.h>
#include <brume/sparse_vector.h>
#include <brume/stability.h>
#include <brume/stable_histogram.h>

#include "audit/broken_median.h"
#include "base/error.h"

enum { MOST_REPEATED = 10000, QUERIES = 8, GRID = 1024 };

/* What is not shown, as an outcome: below all that is. */
static const int64_t HIDDEN = INT64_MIN / 4;

typedef struct kind kind;

struct brume_subject {
    brume_event event;
    const kind *kind;
    int64_t values[2]; /* the number released, on each neighbour */
    double gap;        /* selection: the other candidate's lead */
    uint64_t distance; /* tests: of the first neighbour; the second is one further */
    double smooth[2];  /* smooth noise: the bound on each neighbour, in steps */
    brume_smooth_plan plan;
    brume_histogram_plan histogram;
};

struct kind {
    const char *mechanism, *neighbours, *outcome;
    double step;
    bool slow; /* each draw prepares its noise anew */
    brume_status (*prepare)(brume_subject *subject, brume_error *error);
    brume_status (*draw)(const brume_subject *subject, bool second, brume_bits *bits, int64_t *out,
                         size_t n, brume_error *error);
};

static double parameter(const brume_subject *subject, const char *name)
{
    const brume_card *card = brume_card_by_id(subject->event.mechanism);
    size_t index = brume_card_parameter(card, name);
    return index == SIZE_MAX ? 0 : subject->event.parameter[index];
}

static void fill(int64_t value, int64_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = value;
}

/* ------------------------------------------------------------------ noise on a number */

static brume_status prepare_number(brume_subject *subject, brume_error *error)
{
    /* Rounded down: neighbours are not further apart than the sensitivity. */
    double apart = floor(subject->event.sensitivity / subject->kind->step);
    if (!(apart <= 0x1p50))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "the sensitivity %g is too large to audit",
                          subject->event.sensitivity);
    subject->values[1] = (int64_t)apart;
    return BRUME_OK;
}

static brume_status draw_discrete_laplace(const brume_subject *subject, bool second,
                                          brume_bits *bits, int64_t *out, size_t n,
                                          brume_error *error)
{
    fill(subject->values[second], out, n);
    return brume_discrete_laplace_add(bits, parameter(subject, "scale"), out, out, n, error);
}

static brume_status draw_laplace(const brume_subject *subject, bool second, brume_bits *bits,
                                 int64_t *out, size_t n, brume_error *error)
{
    fill(subject->values[second], out, n);
    return brume_laplace_add(bits, parameter(subject, "scale") * GRID, out, out, n, error);
}

static brume_status draw_discrete_gaussian(const brume_subject *subject, bool second,
                                           brume_bits *bits, int64_t *out, size_t n,
                                           brume_error *error)
{
    fill(subject->values[second], out, n);
    return brume_discrete_gaussian_add(bits, parameter(subject, "sigma"), out, out, n, error);
}

static brume_status draw_gaussian(const brume_subject *subject, bool second, brume_bits *bits,
                                  int64_t *out, size_t n, brume_error *error)
{
    fill(subject->values[second], out, n);
    return brume_gaussian_add(bits, parameter(subject, "sigma") * GRID, out, out, n, error);
}

/* ------------------------------------------------------------------ randomized response */

static brume_status prepare_response(brume_subject *subject, brume_error *error)
{
    if (parameter(subject, "k") > 256)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                          "'k' is %g, an audit takes at most 256 answers", parameter(subject, "k"));
    return BRUME_OK;
}

static brume_status draw_response(const brume_subject *subject, bool second, brume_bits *bits,
                                  int64_t *out, size_t n, brume_error *error)
{
    uint8_t answers[1024];
    for (size_t done = 0; done < n; done += sizeof answers) {
        size_t part = n - done < sizeof answers ? n - done : sizeof answers;
        memset(answers, second, part);
        BRUME_TRY(brume_randomized_response(bits, parameter(subject, "epsilon"),
                                            (unsigned)parameter(subject, "k"), answers, answers,
                                            part, error));
        for (size_t i = 0; i < part; i++)
            out[done + i] = answers[i];
    }
    return BRUME_OK;
}

/* ------------------------------------------------------------------ selection */

/* Two candidates, the second so far ahead that the first wins about once in twenty: there the two
 * chances differ by nearly all of epsilon, and the event is not yet rare. */
static brume_status prepare_choice(brume_subject *subject, brume_error *error)
{
    (void)error;
    bool monotone = parameter(subject, "monotone") != 0;
    subject->gap = subject->event.sensitivity *
                   ceil((monotone ? 3 : 6) / parameter(subject, "epsilon"));
    return BRUME_OK;
}

typedef brume_status chooser(brume_bits *bits, const brume_selection *options, const double *scores,
                             size_t n, size_t *index, brume_error *error);

static brume_status draw_choices(chooser *choose, const brume_subject *subject, bool second,
                                 brume_bits *bits, int64_t *out, size_t n, brume_error *error)
{
    brume_selection options = {subject->event.adjacency, parameter(subject, "epsilon"),
                               subject->event.sensitivity, parameter(subject, "monotone") != 0};
    /* The first gains; the other loses too, unless scores move in one direction. */
    double moved = second ? subject->event.sensitivity : 0;
    const double scores[2] = {moved, subject->gap - (options.monotone ? 0 : moved)};
    for (size_t i = 0; i < n; i++) {
        size_t index;
        BRUME_TRY(choose(bits, &options, scores, 2, &index, error));
        out[i] = (int64_t)index;
    }
    return BRUME_OK;
}

static brume_status draw_exponential(const brume_subject *subject, bool second, brume_bits *bits,
                                     int64_t *out, size_t n, brume_error *error)
{
    return draw_choices(brume_exponential_choose, subject, second, bits, out, n, error);
}

static brume_status draw_permute_and_flip(const brume_subject *subject, bool second,
                                          brume_bits *bits, int64_t *out, size_t n,
                                          brume_error *error)
{
    return draw_choices(brume_permute_and_flip_choose, subject, second, bits, out, n, error);
}

static brume_status choose_noisy_max(brume_bits *bits, const brume_selection *options,
                                     const double *scores, size_t n, size_t *index,
                                     brume_error *error)
{
    return brume_noisy_max_choose(bits, BRUME_SELECT_LAPLACE, options, scores, n, index, error);
}

static brume_status draw_noisy_max(const brume_subject *subject, bool second, brume_bits *bits,
                                   int64_t *out, size_t n, brume_error *error)
{
    return draw_choices(choose_noisy_max, subject, second, bits, out, n, error);
}

/* ------------------------------------------------------------------ sparse vector */

static brume_status prepare_stream(brume_subject *subject, brume_error *error)
{
    if (subject->event.sensitivity != floor(subject->event.sensitivity))
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                          "the sensitivity %g is not whole, queries of a stream are",
                          subject->event.sensitivity);
    return BRUME_OK;
}

/* QUERIES values at the threshold; on the second neighbour all but the last are lower by the
 * sensitivity and the last is higher, or as it was where they move together. The outcome is the
 * pattern of answers "above". */
static brume_status draw_stream(const brume_subject *subject, bool second, brume_bits *bits,
                                int64_t *out, size_t n, brume_error *error)
{
    bool one = strcmp(subject->kind->mechanism, "above_threshold") == 0;
    brume_sparse_vector_options options = {.adjacency = subject->event.adjacency,
                                           .sensitivity = (uint64_t)subject->event.sensitivity,
                                           .epsilon = parameter(subject, "epsilon"),
                                           .hits = one ? 1 : (uint64_t)parameter(subject, "hits"),
                                           .epsilon_answers = parameter(subject, "epsilon_answers"),
                                           .monotone = parameter(subject, "monotone") != 0,
                                           .even_split = one};
    int64_t moved = second ? (int64_t)options.sensitivity : 0;
    for (size_t i = 0; i < n; i++) {
        brume_sparse_vector *stream = NULL;
        BRUME_TRY(brume_sparse_vector_open(&options, bits, &stream, error));
        brume_status status = BRUME_OK;
        int64_t pattern = 0;
        for (int query = 0; status == BRUME_OK && query < QUERIES; query++) {
            bool above = false;
            int64_t value = query < QUERIES - 1 ? -moved : options.monotone ? 0 : moved;
            if (brume_sparse_vector_left(stream) > 0)
                status = brume_sparse_vector_ask(stream, bits, value, &above, NULL, error);
            pattern = 2 * pattern + above;
        }
        brume_sparse_vector_close(stream);
        if (status != BRUME_OK)
            return status;
        out[i] = pattern;
    }
    return BRUME_OK;
}

/* ------------------------------------------------------------------ tests */

/* Just below the threshold and at it: there passing differs by all of epsilon, and is not rare. */
static brume_status prepare_test(brume_subject *subject, const char *name, brume_error *error)
{
    uint64_t threshold;
    double delta;
    BRUME_TRY(brume_stability_threshold(parameter(subject, name), parameter(subject, "delta"),
                                        &threshold, &delta, error));
    subject->distance = threshold >= 1 ? threshold - 1 : 0;
    return BRUME_OK;
}

static brume_status prepare_stable(brume_subject *subject, brume_error *error)
{
    return prepare_test(subject, "epsilon", error);
}

static brume_status draw_stable(const brume_subject *subject, bool second, brume_bits *bits,
                                int64_t *out, size_t n, brume_error *error)
{
    for (size_t i = 0; i < n; i++) {
        bool released;
        BRUME_TRY(brume_stable_release(parameter(subject, "epsilon"), parameter(subject, "delta"),
                                       bits, subject->distance + second, &released, error));
        out[i] = released;
    }
    return BRUME_OK;
}

static brume_status prepare_proposal(brume_subject *subject, brume_error *error)
{
    return prepare_test(subject, "epsilon_test", error);
}

typedef struct tested {
    uint64_t distance;
    int64_t value;
} tested;

static brume_status tested_distance(void *context, uint64_t bound, uint64_t *out,
                                    brume_error *error)
{
    (void)bound;
    (void)error;
    *out = ((const tested *)context)->distance;
    return BRUME_OK;
}

static brume_status tested_value(void *context, int64_t *out, brume_error *error)
{
    (void)error;
    *out = ((const tested *)context)->value;
    return BRUME_OK;
}

static brume_status draw_proposal(const brume_subject *subject, bool second, brume_bits *bits,
                                  int64_t *out, size_t n, brume_error *error)
{
    brume_proposal proposal = {.epsilon_test = parameter(subject, "epsilon_test"),
                               .epsilon_release = parameter(subject, "epsilon_release"),
                               .delta = parameter(subject, "delta"),
                               .bound = GRID};
    tested numbers = {subject->distance + second, second ? GRID : 0};
    brume_tested statistic = {&numbers, tested_distance, tested_value};
    for (size_t i = 0; i < n; i++) {
        bool released;
        int64_t value = HIDDEN;
        BRUME_TRY(
            brume_propose_test_release(&proposal, &statistic, bits, &released, &value, error));
        out[i] = released ? value : HIDDEN;
    }
    return BRUME_OK;
}

/* A key of so many units that it is seldom hidden: on the second neighbour one more. */
static brume_status prepare_histogram(brume_subject *subject, brume_error *error)
{
    brume_histogram_rule rule = {.noise = BRUME_HISTOGRAM_DISCRETE_LAPLACE,
                                 .epsilon = parameter(subject, "epsilon"),
                                 .delta = parameter(subject, "delta"),
                                 .keys_per_unit = 1,
                                 .amount_per_key = 1,
                                 .adjacency = subject->event.adjacency};
    BRUME_TRY(brume_histogram_plan_make(&rule, &subject->histogram, error));
    subject->values[0] = subject->histogram.threshold;
    subject->values[1] = subject->values[0] + 1;
    return BRUME_OK;
}

static brume_status draw_histogram(const brume_subject *subject, bool second, brume_bits *bits,
                                   int64_t *out, size_t n, brume_error *error)
{
    unsigned char keep[1024];
    for (size_t done = 0; done < n; done += sizeof keep) {
        size_t part = n - done < sizeof keep ? n - done : sizeof keep;
        fill(subject->values[second], out + done, part);
        BRUME_TRY(brume_histogram_release(&subject->histogram, bits, out + done, out + done, keep,
                                          part, error));
        for (size_t i = 0; i < part; i++)
            if (!keep[i])
                out[done + i] = HIDDEN;
    }
    return BRUME_OK;
}

/* ------------------------------------------------------------------ smooth sensitivity */

static brume_status prepare_smooth(brume_subject *subject, brume_error *error)
{
    double epsilon = parameter(subject, "epsilon");
    brume_smooth_plan *plan = &subject->plan;
    if (strcmp(subject->kind->mechanism, "smooth_cauchy") == 0)
        BRUME_TRY(brume_smooth_plan_cauchy(epsilon, 0, plan, error));
    else if (strcmp(subject->kind->mechanism, "smooth_student") == 0)
        BRUME_TRY(brume_smooth_plan_student(epsilon, (uint64_t)parameter(subject, "degrees"), 0,
                                            plan, error));
    else if (strcmp(subject->kind->mechanism, "smooth_lln") == 0)
        BRUME_TRY(brume_smooth_plan_log_normal(parameter(subject, "rho"), 0, plan, error));
    else
        BRUME_TRY(brume_smooth_plan_laplace(epsilon, parameter(subject, "delta"), 0, plan, error));
    /* The value moves by the smaller bound, and the bound by as much as smoothness allows; rounded
     * down. */
    subject->smooth[0] = GRID;
    subject->smooth[1] = GRID * exp(plan->t) * (1 - 0x1p-40);
    subject->values[1] = GRID;
    return BRUME_OK;
}

static brume_status draw_smooth(const brume_subject *subject, bool second, brume_bits *bits,
                                int64_t *out, size_t n, brume_error *error)
{
    for (size_t i = 0; i < n; i++)
        BRUME_TRY(brume_smooth_release(&subject->plan, bits, subject->values[second],
                                       subject->smooth[second], subject->smooth[1], &out[i],
                                       error));
    return BRUME_OK;
}

/* ------------------------------------------------------------------ what is broken */

static brume_status prepare_broken(brume_subject *subject, brume_error *error)
{
    (void)subject;
    (void)error;
    return BRUME_OK;
}

static brume_status draw_broken(const brume_subject *subject, bool second, brume_bits *bits,
                                int64_t *out, size_t n, brume_error *error)
{
    return brume_broken_median_draw(parameter(subject, "epsilon"), subject->event.adjacency, second,
                                    bits, out, n, error);
}

/* ------------------------------------------------------------------ the table */

static const char two_numbers[] = "a number, and one that differs by the sensitivity";
static const char two_scores[] = "two candidates' scores, moved towards each other";
static const char noisy_number[] = "the noisy number";

static const kind kinds[] = {
    {"randomized_response", "two truths, 0 and 1", "the answer", 1, false, prepare_response,
     draw_response},
    {"laplace", two_numbers, noisy_number, 1. / GRID, false, prepare_number, draw_laplace},
    {"discrete_laplace", two_numbers, noisy_number, 1, false, prepare_number,
     draw_discrete_laplace},
    {"gaussian", two_numbers, noisy_number, 1. / GRID, false, prepare_number, draw_gaussian},
    {"discrete_gaussian", two_numbers, noisy_number, 1, false, prepare_number,
     draw_discrete_gaussian},
    {"exponential", two_scores, "the index chosen", 1, false, prepare_choice, draw_exponential},
    {"noisy_max", two_scores, "the index chosen", 1, false, prepare_choice, draw_noisy_max},
    {"permute_and_flip", two_scores, "the index chosen", 1, false, prepare_choice,
     draw_permute_and_flip},
    {"above_threshold", "eight queries at the threshold, moved against it",
     "the pattern of answers", 1, true, prepare_stream, draw_stream},
    {"sparse_vector", "eight queries at the threshold, moved against it", "the pattern of answers",
     1, true, prepare_stream, draw_stream},
    {"propose_test_release", "a distance below the threshold and a value, and both larger",
     "the noisy number, or nothing", 1. / GRID, true, prepare_proposal, draw_proposal},
    {"stable_release", "distances just below the threshold and at it", "1: released", 1, true,
     prepare_stable, draw_stable},
    {"stable_histogram", "a key at the threshold, and with one unit more",
     "the noisy count, or nothing", 1, false, prepare_histogram, draw_histogram},
    {"smooth_laplace", "a value and its bound, and both as much larger as they may be",
     noisy_number, 1. / GRID, true, prepare_smooth, draw_smooth},
    {"smooth_cauchy", "a value and its bound, and both as much larger as they may be", noisy_number,
     1. / GRID, true, prepare_smooth, draw_smooth},
    {"smooth_student", "a value and its bound, and both as much larger as they may be",
     noisy_number, 1. / GRID, true, prepare_smooth, draw_smooth},
    {"smooth_lln", "a value and its bound, and both as much larger as they may be", noisy_number,
     1. / GRID, true, prepare_smooth, draw_smooth},
    {"local_sensitivity_laplace",
     "a few numbers of which just more than half are 0 and the others 1000000, and with one 0 less",
     "the noisy median", 1, false, prepare_broken, draw_broken},
};

brume_status brume_subject_open(const brume_event *event, brume_subject **out, brume_error *error)
{
    BRUME_TRY(brume_event_check(event, error));
    const brume_card *card = brume_card_by_id(event->mechanism);
    const kind *found = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].mechanism, card->name) == 0)
            found = &kinds[i];
    if (!found)
        return brume_fail(error, BRUME_EUNSUPPORTED, "brume help audit lists those that can",
                          "%s cannot be audited", card->name);
    if (event->count < 1 || event->count > MOST_REPEATED)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "the count is %llu, an audit takes 1 to %d repetitions",
                          (unsigned long long)event->count, MOST_REPEATED);
    brume_subject *subject = calloc(1, sizeof *subject);
    if (!subject)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    subject->event = *event;
    subject->kind = found;
    brume_status status = found->prepare(subject, error);
    if (status != BRUME_OK) {
        free(subject);
        return status;
    }
    *out = subject;
    return BRUME_OK;
}

void brume_subject_close(brume_subject *subject)
{
    free(subject);
}

brume_status brume_subject_draw(const void *context, bool second, brume_bits *bits, int64_t *out,
                                size_t n, brume_error *error)
{
    enum { PART = 4096 };
    const brume_subject *subject = context;
    if (subject->event.count == 1)
        return subject->kind->draw(subject, second, bits, out, n, error);
    int64_t part[PART];
    fill(0, out, n);
    for (uint64_t repetition = 0; repetition < subject->event.count; repetition++)
        for (size_t done = 0; done < n; done += PART) {
            size_t count = n - done < PART ? n - done : PART;
            BRUME_TRY(subject->kind->draw(subject, second, bits, part, count, error));
            for (size_t i = 0; i < count; i++)
                if (__builtin_add_overflow(out[done + i], part[i], &out[done + i]))
                    out[done + i] = HIDDEN;
        }
    return BRUME_OK;
}

const char *brume_subject_neighbours(const brume_subject *subject)
{
    return subject->kind->neighbours;
}

const char *brume_subject_outcome(const brume_subject *subject)
{
    return subject->kind->outcome;
}

double brume_subject_step(const brume_subject *subject)
{
    return subject->kind->step;
}

size_t brume_subject_samples(const brume_subject *subject)
{
    return subject->kind->slow ? 20000 : 200000;
}
