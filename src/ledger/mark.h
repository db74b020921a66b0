/* Marks: by what a dataset's source is known, so that the same people have one budget.
 *
 * A mark is a text such as "path:/data/visits.csv" that two sources share only if they hold the
 * same data or part of it; what marks there are is the engine's business. The ledger keeps a keyed
 * hash of each, under a key of its own (secret.h): an export has neither, since a file's contents,
 * and even the names of the files behind a glob, may say who is in the data. What was ever read
 * under a budget stays marked. */
#ifndef BRUME_LEDGER_MARK_H
#define BRUME_LEDGER_MARK_H

#include "ledger/store.h"

/* Draw the key of the marks, once. */
BRUME_MUST_USE brume_status brume_mark_make_key(brume_ledger *ledger, brume_error *error);

/* The dataset has this mark from now on. */
BRUME_MUST_USE brume_status brume_mark_add(brume_ledger *ledger, const char *dataset,
                                           const char *mark, brume_error *error);

/* BRUME_EPOLICY if a registered dataset has one of these marks, or is a glob that matches a file of
 * these paths. */
BRUME_MUST_USE brume_status brume_mark_refuse_known(brume_ledger *ledger, const char *const *marks,
                                                    size_t count, brume_error *error);

/* What a registered dataset reads now: add the marks that are new for it. BRUME_EPOLICY if another
 * dataset has one of those, unless the owner let these two share a source. */
BRUME_MUST_USE brume_status brume_mark_see(brume_ledger *ledger, const char *dataset,
                                           const char *const *marks, size_t count,
                                           brume_error *error);

#endif
