/* query --each: one question, asked of each window that it touches, by itself.
 *
 * 1. Each window is asked as with --windows, and pays as one window pays: the price, where the
 *    question is driven (query/plan/touched.h). A whole history pays it once for each of them.
 * 2. Before the first is charged all are explained, and the budgets must carry them together.
 * 3. Each answer is recorded by itself. Asked again, for a longer time or after it was stopped, the
 *    windows that are recorded are free. */
#ifndef BRUME_COMMAND_EACH_H
#define BRUME_COMMAND_EACH_H

#include <brume/bits.h>

#include "command/command.h"
#include "query/release/ask.h"

enum { BRUME_EACH_MOST = 4000 };

/* Ask and write. EARGUMENT: the tables have no windows, or too many are touched; EBUDGET: nothing
 * was charged; else as brume_ask. */
BRUME_MUST_USE brume_status brume_ask_each(brume_call *call, brume_ledger *ledger, const char *sql,
                                           const brume_payment *payment, const brume_target *target,
                                           brume_bits *bits, const brume_watch *watch,
                                           brume_error *error);

#endif
