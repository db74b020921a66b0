/* Workers that run calls of users: bounded, in order, with a deadline, leaving at quantised times.
 *
 * A job is one call of a session that is opened as the user of the request, so that roles,
 * allotments, expiry and revocation are checked below, in the session, and again in the transaction
 * of the charge. The pool knows nothing of plans, engines or noise.
 *
 *  1. Two kinds of jobs. A free job's command touches no protected row (explain, budget, history,
 *     ...: the list in pool_command.c; what is not on it is an asking job). Free and asking jobs
 *     have workers of their own, so that a long query delays no explanation. With a nursery
 *     (nursery.h) free jobs run in processes that can be killed and have little memory, and so do
 *     queries of public tables within asking jobs; what a query does before it may be charged is
 *     tried there first.
 *  2. Bound: at most `queue` jobs of each kind wait. Beyond it a job is refused at once (*busy),
 *     and nothing of it runs; or, where another user has more jobs waiting, the newest of those is.
 *  3. Order: users take turns. At most `share` jobs of each kind run for one user. Asking jobs that
 *     read a common dataset run one at a time, those of one user in the order of submission. Which
 *     datasets a query reads is what explain says of it when it is tried (1); of other jobs it is
 *     read off their text, and may be too many, never too few unless a name is written with
 *     escapes. Order is all that rests on this: budgets are safe without it.
 *  4. Time: the answer of an asking job, good or bad, leaves at a quantised time after its start:
 *     at the next multiple of the owner's quantum, or without one at the next of 1/4, 1/2, 1, 2, 4,
 *     ... seconds; never later than the deadline, if the job ended before. So does what it writes
 *     to the ledger once it has read rows (a choice of limits, the answer, that it failed), so that
 *     polling the history or an explanation tells nothing finer. Its worker and its datasets stay
 *     taken until then, for when the next job starts tells too. Free jobs, and free re-reads (the
 *     answer says "cached": true: it and that it is recorded are public), leave at once: their time
 *     depends on what was asked, the policies and the journal alone.
 *  5. Deadline: a free job ends so many seconds after submission. An asking one is refused, with
 *     nothing spent, if it waited for twice as long, and has that many seconds from its start: what
 *     was before it takes none of its own time. Then a running one is cancelled. If it has not
 * ended `grace` seconds later (an engine that hangs), its answer is ECANCELLED with what is known
 * of the price, its worker is given up, and a new one takes its place. At most 4
 * times `workers` asking jobs are given up at a time, `workers` for one user; more are refused.
 * Free jobs are killed in a nursery.
 *  6. Streams: the commands "stream open" (of options with "command"), "stream ask" ("stream",
 *     "question") and "stream close" ("stream") are asking jobs whose session stays open in
 *     between, for its user alone, and keep 4 and 5: also what a stream writes to the ledger waits.
 *     One that is not asked for as long as the deadline (without one: 60 seconds) is ended, and all
 *     are when the pool stops.
 *  7. Every job that was accepted calls `done` exactly once, from a thread of the pool, also where
 *     the pool is closed. */
#ifndef BRUME_SERVE_POOL_H
#define BRUME_SERVE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/session.h>

#include "serve/request.h"

typedef struct brume_pool brume_pool;

typedef struct brume_pool_options {
    const char *ledger; /* NULL: as brume_session_open */
    size_t workers;     /* of each kind: 1 to 64 */
    size_t queue;       /* jobs of each kind that may wait */
    double deadline;    /* seconds; 0: none */
    double quantum;     /* seconds; 0: the powers of two from 1/4 */
    double grace;       /* seconds after the deadline; 0: 2 */
    size_t share;       /* jobs of each kind of one user that run at once; 0: half of the workers */
    struct brume_nursery *nursery; /* where free work runs; NULL: in the threads of the workers */
} brume_pool_options;

/* What came of it. On BRUME_OK `json` is the answer, which the receiver frees with brume_free, and
 * `rows`, where wanted, is a stream that the receiver releases. Else `error` says why, and `json`
 * is what a script had answered before (NULL: nothing): it is paid for. */
typedef struct brume_pool_result {
    brume_status status;
    bool may_be_charged; /* of a query: a price was written to the ledger, or nobody knows */
    char *json;
    struct ArrowArrayStream rows; /* rows.release is NULL where there are none */
    brume_error error;
} brume_pool_result;

/* Takes over what `result` holds; must be short, and must not submit, cancel or close. */
typedef void brume_pool_done(void *context, brume_pool_result *result);

/* EARGUMENT: options out of range; EMEMORY. */
BRUME_MUST_USE brume_status brume_pool_open(const brume_pool_options *options, brume_pool **out,
                                            brume_error *error);

/* End its work: waiting jobs end with ECANCELLED, running ones may end within `seconds` and are
 * cancelled then; workers that hang are left behind. Every `done` has been called when it returns.
 * The pool is still there, and refuses all jobs. */
void brume_pool_stop(brume_pool *pool, double seconds);

/* Free it, stopped before or here. No other thread may use it any more. NULL is nothing to close.
 */
void brume_pool_close(brume_pool *pool, double seconds);

/* Submit a job; *id (never 0) names it for brume_pool_cancel. *busy (NULL: not wanted) becomes true
 * where the job was refused because too many wait or the pool closes, with the status ECANCELLED.
 * Any thread. `done` may be called before this returns. */
BRUME_MUST_USE brume_status brume_pool_submit(brume_pool *pool, const brume_pool_request *request,
                                              brume_pool_done *done, void *context, uint64_t *id,
                                              bool *busy, brume_error *error);

/* The same, and wait: for a thread of a connection. If `id` is not NULL it is set before the job
 * may run, under no lock: another thread may read it to cancel. Returns result->status, or the
 * refusal, whose text is in result->error then too. */
BRUME_MUST_USE brume_status brume_pool_run(brume_pool *pool, const brume_pool_request *request,
                                           _Atomic uint64_t *id, brume_pool_result *result,
                                           bool *busy);

/* Ask a job to end: one that waits is refused, one that runs is cancelled as brume_session_cancel
 * says, and its answer leaves at a quantised time as ever. Returns at once, whatever the job does
 * now: how long an engine takes to be stopped would tell whether it still reads. Unknown and ended
 * ids, and steps of streams that run: no effect. */
void brume_pool_cancel(brume_pool *pool, uint64_t id);

/* Counts for metrics: public things only. */
typedef struct brume_pool_counts {
    uint64_t accepted, refused, ended, given_up; /* since it was opened */
    size_t waiting, running;                     /* now; an answer that waits to leave is running */
} brume_pool_counts;
void brume_pool_count(brume_pool *pool, brume_pool_counts *out);

/* The first time, not below `elapsed`, at which an answer may leave: seconds after the start. */
double brume_pool_leaving_time(double elapsed, double quantum);

#endif
