/* Amending a dataset from a policy file, and the terms of one that has several tables. */
#ifndef BRUME_COMMAND_AMEND_POLICY_H
#define BRUME_COMMAND_AMEND_POLICY_H

#include "command/command.h"
#include "ledger/ledger.h"

/* Everything that the file of --policy says, anew. Tables, sources, rule and adjacency stay:
 * EPOLICY for others. What the file does not say becomes what it is without it, but for the data
 * version. */
BRUME_MUST_USE brume_status brume_amend_from_file(brume_call *call, brume_ledger *ledger,
                                                  const brume_dataset *dataset, brume_error *error);

/* Record what `said` has of budget, cap and data version, and the new policy (NULL: as it is). With
 * `all`, no cap that is said is no cap; else it stays. */
BRUME_MUST_USE brume_status brume_amend_record(brume_ledger *ledger, const brume_dataset *dataset,
                                               const brume_call *said, const json_t *policy,
                                               bool moves_units, bool all, const json_t *changes,
                                               brume_error *error);

/* Budget, cap and data version of a dataset of several tables. */
BRUME_MUST_USE brume_status brume_amend_terms(brume_call *call, brume_ledger *ledger,
                                              const brume_dataset *dataset, const json_t *changes,
                                              brume_error *error);

#endif
