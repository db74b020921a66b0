/* Registering a dataset of several tables from a policy file. */
#ifndef BRUME_CLI_REGISTER_POLICY_H
#define BRUME_CLI_REGISTER_POLICY_H

#include "cli/command.h"
#include "query/plan/tables.h"

/* brume register NAME --policy FILE */
BRUME_MUST_USE brume_status brume_register_policy(brume_call *call, brume_error *error);

/* Every table: where it is, and whose its rows are. */
void brume_write_table_policies(const brume_call *call, const brume_tables *tables);

#endif
