/* How an audit draws, and what it is asked for. */
#ifndef BRUME_AUDIT_DRAW_H
#define BRUME_AUDIT_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/bits.h>

/* n outcomes on the first neighbour, or on the second. With several threads it is called by all of
 * them at once, each with bits of its own. */
typedef brume_status brume_audit_draw(const void *context, bool second, brume_bits *bits,
                                      int64_t *out, size_t n, brume_error *error);

/* Told how many of all draws are done; called by one thread. */
typedef void brume_audit_progress(void *context, size_t done);

/* Why somebody wants to stop ("interrupted"), or NULL. Asked between draws, by any thread;
 * BRUME_ECANCELLED is the answer. */
typedef const char *brume_audit_stopped(void *context);

enum { BRUME_AUDIT_WHOLE = 8192 };

typedef struct brume_audit_options {
    size_t samples;    /* on each neighbour, 100 .. 2^31 */
    double confidence; /* in (0, 1) */
    double delta;      /* 0 <= delta < 1 */
    double epsilon;    /* delta is bounded here; claimed, >= 0 */
    size_t threads;    /* 0 is 1: only `bits` is used; others open their own */
    bool ordered;      /* outcomes are scores: events are all from an edge on, or all up to one */
    bool whole;        /* BRUME_AUDIT_WHOLE draws at a time: each call is slow by itself */
    brume_audit_progress *progress; /* NULL: nobody is told */
    void *progress_context;
    brume_audit_stopped *stopped; /* NULL: nobody wants to stop */
    void *stopped_context;
} brume_audit_options;

/* BRUME_ECANCELLED if so. */
BRUME_MUST_USE brume_status brume_audit_check_stopped(const brume_audit_options *options,
                                                      brume_error *error);

#endif
