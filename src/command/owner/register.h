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

/* "each day", "each window of 14d from 2026-01-05"; "" without windows. */
enum { BRUME_EACH_WINDOW = 80 };
const char *brume_each_window(const brume_window_grid *grid, char text[BRUME_EACH_WINDOW]);

/* What `budget: none` means, for register, show and budget. */
extern const char brume_no_budget_means[];

/* The budget of each window, and what it protects; nothing without windows. */
void brume_write_window_terms(const brume_call *call, const json_t *policy,
                              const brume_filter *window, bool no_budget);

/* Every table: where it is, and whose its rows are. */
void brume_write_table_policies(const brume_call *call, const brume_tables *tables);

#endif
