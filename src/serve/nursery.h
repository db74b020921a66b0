/* Calls that spend nothing, in processes of their own: whatever one does, it can be ended.
 *
 * A thread cannot be stopped from outside, and neither an engine nor the accountant promises to end
 * when it is asked to. So the server runs free work in children, and kills a child that does not
 * end in time. A child is a fork of a process, the nursery, that was itself forked before the
 * server had threads, and that does nothing but fork, kill and wait.
 *
 *  1. Time: a call ends at most `grace` seconds after it is told to stop, and nothing of it is
 * left.
 *  2. Memory: a child that has more writable memory than it was given gets no more; its call fails.
 *  3. Nothing is lost by a kill: what runs here spends nothing, and the ledger survives it.
 *  4. Children and the nursery end when the server does, also when it is killed. */
#ifndef BRUME_SERVE_NURSERY_H
#define BRUME_SERVE_NURSERY_H

#include <stdbool.h>
#include <stdint.h>

#include <brume/session.h>

#include "serve/request.h"

typedef struct brume_nursery brume_nursery;
typedef struct brume_nursery_child brume_nursery_child;

/* Fork it. `memory`: bytes that a child may use beyond what it begins with. The process may have no
 * other thread. `ledger`: NULL as in brume_session_open; it lives as long as the nursery. */
BRUME_MUST_USE brume_status brume_nursery_open(const char *ledger, uint64_t memory,
                                               brume_nursery **out, brume_error *error);

/* Kill all children. NULL is nothing to close. */
void brume_nursery_close(brume_nursery *nursery);

/* Run a call in a child. *child is the caller's place for one, NULL at first: a child is started
 * where there is none, kept for the next call, and ended where it must be. `stopped` is asked ten
 * times a second whether the call is to end (NULL: it is not); `grace` seconds after that it is
 * killed. The caller frees *json. ECANCELLED: it was stopped; EMEMORY: the child died, or its
 * answer is too large; the errors of the call. Any thread, one at a time for each place. */
BRUME_MUST_USE brume_status brume_nursery_run(brume_nursery *nursery, brume_nursery_child **child,
                                              const brume_pool_request *request,
                                              bool (*stopped)(void *context), void *context,
                                              double grace, char **json, brume_error *error);

/* Kill it. NULL is nothing to end. */
void brume_nursery_end(brume_nursery *nursery, brume_nursery_child *child);

/* One call of a session that is opened for the request's user: what a child, and what a worker
 * without children, runs. */
BRUME_MUST_USE brume_status brume_call_session(brume_session *session,
                                               const brume_pool_request *request,
                                               struct ArrowArrayStream *rows, char **json,
                                               brume_error *error);

/* {"user":...,"issued":...} for brume_session_open; the caller frees it. NULL without memory. */
char *brume_session_user(const brume_pool_request *request);

#endif
