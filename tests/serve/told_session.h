/* Sessions that do as they are told, for tests of the pool: told_session.c defines the functions of
 * <brume/session.h> that the pool calls, in place of the library's. The user "removed" gets no
 * session. What a call does is in its options:
 *
 *   {"dataset": "a" | "b",
 *    "say": TEXT that is added to `order` when the call starts,
 *    "late": true where it begins only after it was cancelled,
 *    "nap": seconds that it takes unless it is cancelled,
 *    "hang": true where it goes on until `release_all`, whoever cancels it,
 *    "record": true where it then writes to the ledger,
 *    "part": TEXT that is given before the answer,
 *    "phase": the number of the phase that it comes to before it ends,
 *    "refuse": true where the budget refuses it,
 *    "fail": true where it is interrupted,
 *    "cached": true where its answer says so} */
#ifndef BRUME_TESTS_SERVE_TOLD_SESSION_H
#define BRUME_TESTS_SERVE_TOLD_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>

extern struct told_sessions {
    atomic_int running[2];              /* calls of dataset a, and of b */
    atomic_int most_running, most_of_a; /* at a time */
    atomic_int hangs;                   /* calls that were told to hang */
    atomic_int opened, closed;          /* sessions */
    atomic_bool release_all;            /* ends what hangs */
    atomic_bool cancelling_takes_long;  /* an engine that takes its time to be told */
    atomic_bool not_begun;              /* a call waits until it was cancelled in vain */
    double recorded;                    /* when the last call wrote to the ledger */
    char order[4096];                   /* what was said, in the order of starts */
} sessions;

/* Sleep. */
void nap(double seconds);

#endif
