/* brume user remove: somebody may ask no more. */
#include "command/ledger/open_ledger.h"
#include "command/user/typed_user.h"

static brume_status run(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    const char *name = brume_call_operand(call, 0);
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error));
    brume_status status = brume_ledger_remove_user(ledger, name, error);
    brume_ledger_close(ledger);
    if (status != BRUME_OK)
        return status;
    if (call->json)
        return brume_call_write_json(call, json_pack("{s:s,s:s}", "name", name, "state", "removed"),
                                     error);
    fprintf(call->out, "removed %s: the token is refused from now on\n", name);
    return BRUME_OK;
}

static const brume_operand operands[] = {{.name = "NAME", .help = "a user"}};
static const brume_option options[] = {BRUME_LEDGER_OPTION};

static const char *const examples[] = {
    "user remove alice",
    NULL,
};

const brume_command brume_command_user_remove = {
    .name = "user remove",
    .summary = "refuse somebody from now on",
    .description =
        "The token is refused from then on, also by questions that are being planned. What was "
        "spent stays spent, the history keeps the name, and nobody else gets it.",
    .operands = BRUME_LIST(operands),
    .options = BRUME_LIST(options),
    .examples = examples,
    .run = run,
};
