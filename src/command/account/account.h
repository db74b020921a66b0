/* The operand and options that accounting commands share: an expression of releases, the adjacency
 * its sensitivities are meant under, and the method. */
#ifndef BRUME_COMMAND_ACCOUNT_H
#define BRUME_COMMAND_ACCOUNT_H

#include <brume/account/account.h>

#include "command/command.h"

extern const char *const brume_adjacency_choices[];

#define BRUME_ADJACENCY_OPTION                                                                     \
    BRUME_OPTION(                                                                                  \
        CHOICE, "adjacency", "A",                                                                  \
        "which databases are neighbours (add-remove unless given); sensitivities are meant "       \
        "under it, it never rescales them",                                                        \
        .choices = brume_adjacency_choices)

/* The first operand, parsed. Free with brume_expression_free. */
BRUME_MUST_USE brume_status brume_call_expression(const brume_call *call, brume_expression *out,
                                                  brume_error *error);

#endif
