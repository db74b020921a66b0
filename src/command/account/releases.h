/* The operand and options that accounting commands share: an expression of releases, the adjacency
 * its sensitivities are meant under, and the method. */
#ifndef BRUME_COMMAND_RELEASES_H
#define BRUME_COMMAND_RELEASES_H

#include <brume/account/account.h>

#include "command/command.h"

extern const char *const brume_adjacency_choices[];
extern const char *const brume_method_choices[];

#define BRUME_ADJACENCY_OPTION                                                                     \
    BRUME_OPTION(                                                                                  \
        CHOICE, "adjacency", "A",                                                                  \
        "which databases are neighbours (add-remove unless given); sensitivities are meant "       \
        "under it, it never rescales them",                                                        \
        .choices = brume_adjacency_choices)

/* The adjacency asked for, as a value and as its word. */
const char *brume_call_adjacency_word(const brume_call *call);

/* The method asked for; auto if none was. */
brume_method brume_call_method(const brume_call *call);
const char *brume_method_word(brume_method method);

/* The first operand, parsed. Free with brume_expression_free. */
BRUME_MUST_USE brume_status brume_call_expression(const brume_call *call, brume_expression *out,
                                                  brume_error *error);

#endif
