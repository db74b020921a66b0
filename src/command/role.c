/* What a user of a server may call. Promises: role.h. */
#include "command/role.h"

#include <string.h>

typedef struct role_line {
    const char *command; /* as in commands.def: ledger_verify */
    bool analyst, auditor;
} role_line;

static const role_line lines[] = {
#define BRUME_MAY(command, analyst, auditor, why) {#command, analyst, auditor},
#include "command/roles.def"
#undef BRUME_MAY
};

/* "ledger verify" and "stream above-threshold" are ledger_verify and stream_above_threshold in the
 * table. */
static bool is_named(const char *listed, const char *command)
{
    size_t i = 0;
    for (; listed[i] && command[i]; i++) {
        char letter = command[i] == ' ' || command[i] == '-' ? '_' : command[i];
        if (letter != listed[i])
            return false;
    }
    return listed[i] == command[i];
}

static const role_line *find(const char *command)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (is_named(lines[i].command, command))
            return &lines[i];
    return NULL;
}

bool brume_role_is_listed(const char *command)
{
    return find(command) != NULL;
}

bool brume_role_may(brume_role role, const char *command)
{
    const role_line *found = find(command);
    switch (role) {
    case BRUME_ROLE_OWNER:
        return true;
    case BRUME_ROLE_ANALYST:
        return found && found->analyst;
    case BRUME_ROLE_AUDITOR:
        return found && found->auditor;
    case BRUME_ROLE_REVIEWER: /* what an auditor does, and reviews */
        return found && (found->auditor || strncmp(command, "review ", 7) == 0);
    case BRUME_ROLE_NONE:
        break;
    }
    return false;
}

brume_status brume_role_check(brume_role role, const brume_call *call, brume_error *error)
{
    const brume_command *command = call->command;
    if (!brume_role_may(role, command->name))
        return brume_fail(error, BRUME_EPOLICY, "ask the owner", "'%s' is not for %s %s",
                          command->name, role == BRUME_ROLE_NONE ? "a" : "an",
                          role == BRUME_ROLE_NONE ? "stranger" : brume_role_word(role));
    if (brume_call_has(call, "ledger"))
        return brume_fail(error, BRUME_EPOLICY, "leave it out",
                          "'--ledger' cannot be chosen here: the server has its own");
    if (role == BRUME_ROLE_OWNER)
        return BRUME_OK;
    for (size_t i = 0; i < command->option_count; i++) {
        const brume_option *option = &command->options[i];
        bool is_file = option->type == BRUME_OPTION_FILE ||
                       strcmp(option->name, "no-ledger") == 0 || strcmp(option->name, "again") == 0;
        const char *typed = option->type == BRUME_OPTION_FILE || option->type == BRUME_OPTION_TEXT
                                ? brume_call_text(call, option->name)
                                : NULL;
        if (typed && strcmp(option->name, "output") == 0 && strcmp(typed, "-") == 0)
            continue;
        if (typed && strcmp(option->name, "workload") == 0)
            is_file = strncmp(typed, "marginals:", 10) != 0;
        if (is_file && brume_call_has(call, option->name))
            return brume_fail(error, BRUME_EPOLICY, "leave it out",
                              "'--%s' is not for an %s: it would name a file of the server",
                              option->name, brume_role_word(role));
    }
    return BRUME_OK;
}
