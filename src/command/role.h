/* What a user of a server may call: by the command and the role, one table for every door.
 *
 *  1. roles.def says which commands analysts and auditors may run; an owner may run all, a reviewer
 *     what an auditor may, and review.
 *  2. Nobody but an owner may give an option that names a file (a path of the server), or
 *     --no-ledger, by which a release reads one.
 *  3. Nobody may name another ledger: a user is one of the ledger that the session was opened on.
 *  4. What is refused, and the text, depends on the role, the command and the options' names. */
#ifndef BRUME_COMMAND_ROLE_H
#define BRUME_COMMAND_ROLE_H

#include "command/command.h"
#include "ledger/user.h"

/* Is there a line for the command, and may the role run it? */
bool brume_role_is_listed(const char *command);
bool brume_role_may(brume_role role, const char *command);

/* May the role make this call, with its options? EPOLICY. */
BRUME_MUST_USE brume_status brume_role_check(brume_role role, const brume_call *call,
                                             brume_error *error);

#endif
