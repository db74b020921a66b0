/* What registering and amending a dataset of several tables share. */
#ifndef BRUME_COMMAND_REGISTER_H
#define BRUME_COMMAND_REGISTER_H

#include "command/command.h"
#include "command/owner/policy_file.h"
#include "ledger/ledger.h"
#include "query/plan/tables.h"

/* BRUME_EPOLICY if a public table of the file has data of one that is not. */
BRUME_MUST_USE brume_status brume_check_policy_tables(brume_ledger *ledger,
                                                      const brume_policy_file *file,
                                                      brume_error *error);

/* Every table: where it is, and whose its rows are. */
void brume_write_table_policies(const brume_call *call, const brume_tables *tables);

#endif
