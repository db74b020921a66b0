/* brume user add: somebody who may ask through a server. */
#include "command/ledger/open_ledger.h"
#include "command/user/typed_user.h"

static brume_status add(brume_call *call, brume_ledger *ledger, const brume_new_user *user,
                        brume_error *error)
{
    char token[BRUME_TOKEN_TEXT];
    BRUME_TRY(brume_ledger_add_user(ledger, user, token, error));
    return brume_write_token(call, ledger, user->name, token, error);
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_typed_allotments allotments = {0};
    brume_new_user user = {.name = brume_call_operand(call, 0)};
    BRUME_TRY(brume_role_parse(brume_call_text(call, "role"), &user.role, error));
    BRUME_TRY(brume_call_expires(call, 0, &user.expires, error));
    brume_status status = brume_call_allotments(call, &allotments, error);
    user.allotments = allotments.list;
    user.allotment_count = allotments.count;
    if (status == BRUME_OK)
        status = brume_call_open_ledger(call, BRUME_LEDGER_CREATE, &ledger, error);
    if (status == BRUME_OK)
        status = add(call, ledger, &user, error);
    brume_ledger_close(ledger);
    brume_typed_allotments_close(&allotments);
    return status;
}

static const brume_operand operands[] = {
    {.name = "NAME", .help = "1 to 63 letters, digits and . _ - @"}};
static const char *const roles[] = {"owner", "analyst", "auditor", NULL};
static const brume_option options[] = {
    {.name = "role",
     .type = BRUME_OPTION_CHOICE,
     .argument = "ROLE",
     .choices = roles,
     .required = true,
     .help = "owner: everything; analyst: asks; auditor: reads the journal, and asks nothing"},
    BRUME_ALLOT_OPTION,
    BRUME_EXPIRES_OPTION,
    BRUME_LEDGER_OPTION,
};

static const char *const examples[] = {
    "user add alice --role analyst --allot visits=epsilon=0.5 --expires 90d",
    NULL,
};

const brume_command brume_command_user_add = {
    .name = "user add",
    .summary = "let somebody ask through a server",
    .description =
        "Adds a user and prints a token of 256 random bits, once: the ledger keeps a hash of it. "
        "The token opens 'brume serve' over HTTP, and is the password over the PostgreSQL "
        "protocol.\n\n"
        "An allotment is the most that an analyst may take of a dataset's budget. It is checked "
        "and charged together with the budget, and makes no promise of its own: what all analysts "
        "learn together stays within the dataset's budget, also if the allotments sum to more. "
        "Without one the budget alone limits. Without a delta an allotment has the share of the "
        "budget's delta that its epsilon is of the budget's.\n\n"
        "A name is given once: the history names people by it.",
    .operands = BRUME_LIST(operands),
    .options = BRUME_LIST(options),
    .examples = examples,
    .run = run,
};
