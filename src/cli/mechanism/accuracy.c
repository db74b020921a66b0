/* brume accuracy: how far off a release may be, and how likely. */
#include "cli/command.h"

#include <brume/mechanism/mechanism.h>

#include "cli/mechanism/term.h"

static brume_status run(brume_call *call, brume_error *error)
{
    brume_event event;
    BRUME_TRY(brume_call_one_of(call, "beta", "alpha", error));
    BRUME_TRY(brume_call_term(call, &event, error));
    double alpha = brume_call_real(call, "alpha", 0), beta = brume_call_real(call, "beta", 0);
    if (brume_call_has(call, "beta"))
        BRUME_TRY(brume_event_alpha(&event, beta, &alpha, error));
    else
        BRUME_TRY(brume_event_beta(&event, alpha, &beta, error));
    const char *statement = brume_card_by_id(event.mechanism)->accuracy;
    if (call->json) {
        json_t *answer = json_pack("{s:o, s:o, s:s?}", "alpha", brume_json_real(alpha), "beta",
                                   brume_json_real(beta), "statement", statement);
        if (answer && isinf(alpha))
            json_object_set_new(answer, "infinite", json_true());
        return brume_call_write_json(call, answer, error);
    }
    fprintf(call->out, "P[error >= %s] <= %s\n", brume_shortest(alpha).text,
            brume_shortest(beta).text);
    if (statement)
        fprintf(call->out, "%serror: %s%s\n", brume_dim(call), statement, brume_plain(call));
    return BRUME_OK;
}

static const brume_operand operands[] = {
    {.name = "EXPR",
     .type = BRUME_OPERAND_EXPRESSION,
     .help = "one mechanism with its parameters, e.g. 'laplace(scale=10)'"},
};
static const brume_option options[] = {
    BRUME_PROBABILITY_OPTION("beta", "B",
                             "find the error that is reached with probability at most B"),
    {.name = "alpha",
     .type = BRUME_OPTION_REAL,
     .argument = "A",
     .least = 0,
     .most = INFINITY,
     .help = "find how likely an error of A or more is"},
};
static const char *const examples[] = {
    "accuracy 'laplace(scale=1)' --beta 0.05",
    "accuracy 'gaussian(sigma=2)' --alpha 5 --json",
    NULL,
};

const brume_command brume_command_accuracy = {
    .name = "accuracy",
    .summary = "say how far off one release may be, and how likely",
    .usage = "EXPR (--beta B | --alpha A)",
    .description = "Prints alpha and beta with P[error >= alpha] <= beta for one release of the "
                   "mechanism. Both are upper bounds: rounding never makes the mechanism look "
                   "more accurate than it is. What counts as the error is said with the answer.",
    .operands = BRUME_LIST(operands),
    .options = BRUME_LIST(options),
    .examples = examples,
    .run = run,
};
