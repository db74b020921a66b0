/* Times of answers, compared in pairs. Promises: an answer is in one pair of each kind at most. */
#include "audit/timing.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "audit/proportion.h"
#include "audit/subsets.h"
#include "base/error.h"

typedef struct answer {
    int64_t value;
    int64_t nanoseconds;
} answer;

static int64_t now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

static brume_status draw_one(brume_audit_draw *draw, const void *context, bool second,
                             brume_bits *bits, answer *out, brume_error *error)
{
    int64_t value; /* not *out: memory that is touched for the first time takes time of its own */
    int64_t before = now();
    BRUME_TRY(draw(context, second, bits, &value, 1, error));
    *out = (answer){value, now() - before};
    return BRUME_OK;
}

/* answers[2 i] is on the first neighbour, answers[2 i + 1] on the second. */
static brume_status draw_pairs(brume_audit_draw *draw, const void *context,
                               const brume_audit_options *options, brume_bits *bits,
                               answer *answers, brume_error *error)
{
    uint64_t order = (uint64_t)now(); /* any start: the order is no secret */
    for (size_t i = 0; i < options->samples; i++) {
        bool turned = brume_public_word(&order) >> 63;
        for (int k = 0; k < 2; k++) {
            bool second = (k != 0) != turned;
            BRUME_TRY(draw_one(draw, context, second, bits, &answers[2 * i + second], error));
        }
        BRUME_TRY(brume_audit_check_stopped(options, error));
        if (options->progress)
            options->progress(options->progress_context, 2 * i);
    }
    return BRUME_OK;
}

static int sign(int64_t x)
{
    return (x > 0) - (x < 0);
}

static void note(brume_tau *tau, int direction)
{
    tau->pairs++;
    tau->longer += direction > 0;
    tau->shorter += direction < 0;
}

/* P[longer] - P[shorter]: four bounds of proportions, for two taus. */
static void bound(brume_tau *tau, double alarm)
{
    double each = alarm / 8;
    tau->lower = fmax(brume_proportion_lower(tau->pairs, tau->longer, each) -
                          brume_proportion_upper(tau->pairs, tau->shorter, each) - 1e-15,
                      -1);
    tau->upper = fmin(brume_proportion_upper(tau->pairs, tau->longer, each) -
                          brume_proportion_lower(tau->pairs, tau->shorter, each) + 1e-15,
                      1);
}

static int shorter_first(const void *left, const void *right)
{
    const answer *a = left, *b = right;
    return sign(a->nanoseconds - b->nanoseconds);
}

/* Times of every second answer from `answers` on; `room` has room for them. */
static double median_of(const answer *answers, size_t n, answer *room)
{
    for (size_t i = 0; i < n; i++)
        room[i] = answers[2 * i];
    qsort(room, n, sizeof *room, shorter_first);
    return (double)room[n / 2].nanoseconds * 1e-9;
}

static void compare(const answer *answers, size_t n, brume_timing *out)
{
    for (size_t i = 0; i < n; i++)
        note(&out->neighbour, sign(answers[2 * i + 1].nanoseconds - answers[2 * i].nanoseconds));
    for (size_t i = 0; i + 1 < n; i += 2)
        for (size_t second = 0; second < 2; second++) {
            const answer *a = &answers[2 * i + second], *b = a + 2;
            note(&out->value, sign(b->value - a->value) * sign(b->nanoseconds - a->nanoseconds));
        }
}

brume_status brume_timing_measure(brume_audit_draw *draw, const void *context,
                                  const brume_audit_options *options, brume_bits *bits,
                                  brume_timing *out, brume_error *error)
{
    size_t n = options->samples;
    if (n < 100 || n > (size_t)1 << 28 || !(options->confidence > 0 && options->confidence < 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "there are %zu samples at a confidence of %g, must be 100 to 2^28 at "
                          "one in (0, 1)",
                          n, options->confidence);
    answer *answers = calloc(3 * n, sizeof *answers); /* and room for a third part */
    if (!answers)
        return brume_no_memory(error, "an audit");
    brume_status status = draw_pairs(draw, context, options, bits, answers, error);
    if (status == BRUME_OK) {
        brume_timing result = {0};
        compare(answers, n, &result);
        bound(&result.neighbour, 1 - options->confidence);
        bound(&result.value, 1 - options->confidence);
        for (size_t second = 0; second < 2; second++)
            result.median[second] = median_of(answers + second, n, answers + 2 * n);
        *out = result;
    }
    free(answers);
    return status;
}

static bool is_away(const brume_tau *tau)
{
    return tau->lower > 0 || tau->upper < 0;
}

bool brume_timing_tells(const brume_timing *timing)
{
    return is_away(&timing->neighbour) || is_away(&timing->value);
}
