/* An operand that is one term of an expression, such as laplace(scale=10). */
#include "command/mechanism/term.h"

#include <brume/mechanism/expression.h>

static brume_status check_single(const brume_call *call, const brume_expression *expression,
                                 brume_error *error)
{
    if (expression->count != 1 || expression->events[0].count != 1)
        return brume_fail(error, BRUME_EUNSUPPORTED, "give one mechanism, without + and *",
                          "%s takes one release of one mechanism", call->command->name);
    if (expression->has_unknown)
        return brume_fail(error, BRUME_EARGUMENT, "'brume calibrate' finds such a value",
                          "'%s' is '?', must be a number", expression->unknown.parameter->name);
    return BRUME_OK;
}

brume_status brume_call_term(const brume_call *call, brume_event *event, brume_error *error)
{
    return brume_read_term(call, brume_call_operand(call, 0), event, error);
}

brume_status brume_read_term(const brume_call *call, const char *text, brume_event *event,
                             brume_error *error)
{
    brume_expression expression = {0};
    /* Every card is defined under add-remove; no noise depends on it, and the accuracy is that
     * under add-remove. */
    BRUME_TRY(brume_expression_parse(text, BRUME_ADD_REMOVE, &expression, error));
    brume_status status = check_single(call, &expression, error);
    if (status == BRUME_OK)
        *event = expression.events[0];
    brume_expression_free(&expression);
    return status;
}
