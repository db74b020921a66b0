/* Series in the ledger: running totals of a table that grows, charged once, with one value for each
 * window whatever is killed (proofs/series.md).
 *
 * A series is a reservation that stays open. What it is and each of its points are notes of it:
 * texts in the table of answers, whose hashes the journal has and `verify` recomputes. A point is
 * the numbers of consecutive windows that were read at once; the first note under its key stays.
 *
 * Points are recorded in the order of their windows, in one transaction that holds the write lock
 * and looks what is there. So of processes that race for a window one records it, and all of them
 * show what is recorded. A point that the journal says was recorded and that is not there is
 * damage: its window is never drawn a second time. */
#ifndef BRUME_LEDGER_SERIES_H
#define BRUME_LEDGER_SERIES_H

#include "ledger/ledger.h"

enum { BRUME_SERIES_NAME = 63 };

/* Charge and record a series. `terms` is what it is: public, and never changed. *id names the
 * reservation, whose answer_key is not read. Owners only.
 * EARGUMENT: not a name (letters, digits, '_', '-'); EPOLICY: there is, or was, one of that name;
 * else as brume_ledger_reserve. */
BRUME_MUST_USE brume_status brume_ledger_series_open(brume_ledger *ledger,
                                                     const brume_reservation *reservation,
                                                     const char *name, const json_t *terms,
                                                     uint64_t *id, brume_error *error);

/* {"name","id","opened","ended","terms","closed"}: `closed` is how many windows have points. A
 * series has also ended, for good, where its owner took back that rows are only added. The caller
 * frees it. EUNKNOWN. */
BRUME_MUST_USE brume_status brume_ledger_series(brume_ledger *ledger, const char *name,
                                                json_t **out, brume_error *error);

/* Names of all series, in the order in which they were opened. */
BRUME_MUST_USE brume_status brume_ledger_series_names(brume_ledger *ledger, json_t **out,
                                                      brume_error *error);

/* All points in order: [{"first","last","numbers"}]. EDAMAGED if one is missing or not what the
 * journal says. */
BRUME_MUST_USE brume_status brume_ledger_series_points(brume_ledger *ledger, const char *name,
                                                       json_t **out, brume_error *error);

/* Record the numbers of windows first .. last of a series (as brume_ledger_series gave it before
 * the rows were read), unless there are some of `first` already: then nothing is changed, and it is
 * no error. `source` has the marks of what was read (without a price). EARGUMENT if windows before
 * `first` have no point; EPOLICY: the series has ended, or is another one of that name, its policy
 * was amended (source->stated), or the source has become another dataset's. */
BRUME_MUST_USE brume_status brume_ledger_series_add(brume_ledger *ledger, const json_t *series,
                                                    uint64_t first, uint64_t last,
                                                    const json_t *numbers,
                                                    const brume_ledger_charge *source,
                                                    brume_error *error);

/* No more points. What is recorded stays, and so does the price. Owners only. */
BRUME_MUST_USE brume_status brume_ledger_series_end(brume_ledger *ledger, const char *name,
                                                    const char *reason, brume_error *error);

#endif
