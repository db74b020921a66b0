/* The words of `release` and `statistic`. */
#include "command/release/words.h"

#include <stdlib.h>

/* In the order of the command's description, in which errors are looked for. */
static void list_given(const brume_call *call, const char **out)
{
    size_t count = 0;
    for (size_t i = 0; i < call->command->option_count; i++)
        if (brume_call_has(call, call->command->options[i].name))
            out[count++] = call->command->options[i].name;
}

brume_status brume_release_typed_open(const brume_call *call, brume_release_typed *out,
                                      brume_error *error)
{
    size_t bounds = brume_call_times(call, "bounds");
    brume_release_typed typed = {
        .given = calloc(call->command->option_count + 1, sizeof *typed.given),
        .bounds = calloc(bounds + 1, sizeof *typed.bounds)};
    if (!typed.given || !typed.bounds) {
        brume_release_typed_close(&typed);
        return brume_no_memory(error, "the options");
    }
    list_given(call, typed.given);
    for (size_t i = 0; i < bounds; i++)
        typed.bounds[i] = brume_call_text_at(call, "bounds", i);
    typed.words = (brume_release_words){
        .statistic = brume_call_operand(call, 0),
        .method = brume_call_text(call, "method"),
        .adjacency = brume_call_text(call, "adjacency"),
        .epsilon = brume_call_text(call, "epsilon"),
        .delta = brume_call_text(call, "delta"),
        .rho = brume_call_text(call, "rho"),
        .column = brume_call_text(call, "column"),
        .columns = brume_call_text(call, "columns"),
        .domain = brume_call_text(call, "domain"),
        .noise = brume_call_text(call, "noise"),
        .target = brume_call_text(call, "target"),
        .at = brume_call_text(call, "at"),
        .bounds = typed.bounds,
        .bound_count = bounds,
        .step = brume_call_real(call, "step", NAN),
        .q = brume_call_real(call, "q", NAN),
        .beta = brume_call_real(call, "beta", NAN),
        .epsilon_test = brume_call_real(call, "epsilon-test", NAN),
        .ridge = brume_call_real(call, "ridge", NAN),
        .smoothness = brume_call_real(call, "smoothness", NAN),
        .k = brume_call_count(call, "k", 0),
        .vertices = brume_call_count(call, "vertices", 0),
        .degrees = brume_call_count(call, "degrees", 0),
        .least = brume_call_count(call, "least", 0),
        .ordered = brume_call_has(call, "ordered"),
        .falls_back = brume_call_has(call, "fallback"),
        .from_file = brume_call_has(call, "no-ledger"),
        .given = typed.given,
    };
    *out = typed;
    return BRUME_OK;
}

void brume_release_typed_close(brume_release_typed *typed)
{
    free(typed->given);
    free(typed->bounds);
    *typed = (brume_release_typed){0};
}

brume_status brume_release_input(const brume_call *call, const char *more, brume_input *out,
                                 brume_error *error)
{
    const char *one = brume_call_text(call, "column"), *several = brume_call_text(call, "columns");
    char *names = NULL;
    if (asprintf(&names, "%s,%s,%s", one ? one : "", several ? several : "", more) < 0)
        return brume_no_memory(error, "the names");
    brume_status status = brume_input_open(brume_call_operand(call, 1), names, out, error);
    free(names);
    return status;
}
