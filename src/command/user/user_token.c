/* brume user token: another token for somebody, in place of the old one. */
#include "command/ledger/open_ledger.h"
#include "command/user/typed_user.h"

static brume_status rotate(brume_call *call, brume_ledger *ledger, int64_t expires,
                           brume_error *error)
{
    const char *name = brume_call_operand(call, 0);
    char token[BRUME_TOKEN_TEXT];
    BRUME_TRY(brume_ledger_rotate_token(ledger, name, expires, token, error));
    return brume_write_token(call, ledger, name, token, error);
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    int64_t expires = -1;
    BRUME_TRY(brume_call_expires(call, -1, &expires, error));
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error));
    brume_status status = rotate(call, ledger, expires, error);
    brume_ledger_close(ledger);
    return status;
}

static const brume_operand operands[] = {{.name = "NAME", .help = "a user"}};
static const brume_option options[] = {BRUME_EXPIRES_OPTION, BRUME_LEDGER_OPTION};

static const char *const examples[] = {
    "user token alice --expires 90d",
    NULL,
};

const brume_command brume_command_user_token = {
    .name = "user token",
    .summary = "issue a new token in place of the old one",
    .description =
        "Prints a new token, once. The old one is refused from then on, also by questions that are "
        "being planned: a charge asks again. The expiry stays as it is unless it is given; "
        "'--expires never' takes it away.",
    .operands = BRUME_LIST(operands),
    .options = BRUME_LIST(options),
    .examples = examples,
    .run = run,
};
