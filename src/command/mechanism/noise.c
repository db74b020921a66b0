/* brume noise: draws of a mechanism's own noise, one per line.
 *
 * Promises: the draws have the exact law of the card, from the kernel's randomness; nothing can
 * seed them. Up to CHUNK draws are printed all or none; more are streamed, whole chunks at a time.
 */
#include "command/command.h"

#include <inttypes.h>
#include <stdlib.h>

#include <brume/mechanism/mechanism.h>

#include "command/frame/output.h"
#include "command/mechanism/term.h"

enum { CHUNK = 1 << 16, LARGEST_JSON = 10000000 };

/* A draw as it is printed: the integer itself, or its multiple of the grid's step. Rounding a draw
 * beyond 2^53 to a double is post-processing. */
static void write_draw(FILE *out, int64_t draw, double step)
{
    if (step == 1)
        fprintf(out, "%" PRId64 "\n", draw);
    else
        fprintf(out, "%s\n", brume_shortest(step * (double)draw).text);
}

static json_t *draw_json(int64_t draw, double step)
{
    return step == 1 ? json_integer(draw) : brume_json_real(step * (double)draw);
}

static brume_status write_json(brume_call *call, const brume_event *event, brume_bits *bits,
                               uint64_t count, brume_error *error)
{
    if (count > LARGEST_JSON)
        return brume_fail(error, BRUME_EARGUMENT, "leave out --json to stream them as lines",
                          "'--count' is %" PRIu64 ", must be at most %d with --json", count,
                          LARGEST_JSON);
    int64_t *draws = calloc(count, sizeof *draws);
    if (!draws)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for %" PRIu64 " draws", count);
    double step = 1;
    brume_status status = brume_event_noise(event, bits, draws, count, &step, error);
    if (status == BRUME_OK) {
        json_t *values = json_array();
        for (uint64_t i = 0; i < count; i++)
            json_array_append_new(values, draw_json(draws[i], step));
        status = brume_call_write_json(
            call,
            json_pack("{s:s, s:I, s:o, s:o}", "mechanism", brume_card_by_id(event->mechanism)->name,
                      "count", (json_int_t)count, "step", brume_json_real(step), "values", values),
            error);
    }
    free(draws);
    return status;
}

static brume_status write_lines(brume_call *call, const brume_event *event, brume_bits *bits,
                                uint64_t count, brume_error *error)
{
    int64_t *draws = malloc(CHUNK * sizeof *draws);
    if (!draws)
        return brume_no_memory(error, NULL);
    brume_progress progress;
    brume_progress_start(&progress, call, "drawing", count);
    brume_status status = BRUME_OK;
    for (uint64_t done = 0; status == BRUME_OK && done < count;) {
        size_t n = count - done < CHUNK ? (size_t)(count - done) : CHUNK;
        double step = 1;
        status = brume_event_noise(event, bits, draws, n, &step, error);
        for (size_t i = 0; status == BRUME_OK && i < n; i++)
            write_draw(call->out, draws[i], step);
        if (status == BRUME_OK)
            status = brume_call_flush(call, error);
        done += n;
        brume_progress_update(&progress, done);
    }
    brume_progress_end(&progress);
    free(draws);
    return status;
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_event event;
    BRUME_TRY(brume_call_term(call, &event, error));
    if (!brume_card_by_id(event.mechanism)->noise)
        return brume_fail(error, BRUME_EUNSUPPORTED,
                          "laplace, gaussian, their discrete forms and randomized_response have",
                          "%s has no noise of its own", brume_card_by_id(event.mechanism)->name);
    brume_bits *bits = NULL;
    BRUME_TRY(brume_bits_open(&bits, error));
    uint64_t count = brume_call_count(call, "count", 0);
    brume_status status = call->json ? write_json(call, &event, bits, count, error)
                                     : write_lines(call, &event, bits, count, error);
    brume_bits_close(bits);
    return status;
}

const brume_command brume_command_noise = {
    .name = "noise",
    .summary = "draw a mechanism's own noise, exactly",
    .description =
        "Draws, one per line, with the exact law that the mechanism's card states. Real-valued "
        "mechanisms draw on a grid of a power of two. Randomized response prints 1 where the "
        "answer is flipped; with k answers 0 is the truth and 1 to k-1 say which of the others. "
        "The sensitivity is ignored. Bits come from the kernel; there is no seed.",
    BRUME_OPERANDS(BRUME_OPERAND(EXPRESSION, "EXPR",
                                 "one mechanism with its parameters, e.g. 'laplace(scale=10)'")),
    BRUME_OPTIONS(BRUME_OPTION(COUNT, "count", "N", "how many draws", .required = true,
                               BRUME_FROM_TO(1, 0x1p53))),
    BRUME_EXAMPLES("noise 'laplace(scale=10)' --count 3",
                   "noise 'discrete_gaussian(sigma=2)' --count 5 --json",
                   "noise 'randomized_response(epsilon=1, k=4)' --count 10"),
    .run = run,
};
