/* A trial of a mechanism: pairs of neighbouring inputs that are as bad for it as is known, and the
 * mechanism run on them. It is what an auditor reads from a card; a card without one cannot be
 * audited.
 *
 * For those who write one:
 *  1. The inputs are neighbours under event->adjacency and event->sensitivity; what is rounded is
 *     rounded so that they are not further apart.
 *  2. draw() goes through the functions that a release goes through.
 *  3. mass() is the law that the proof states. It is not made from draw(), so that each can be
 *     tested against the other.
 * Any two neighbours give a valid lower bound of epsilon; better ones give a larger one. */
#ifndef BRUME_MECHANISM_TRIAL_H
#define BRUME_MECHANISM_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/bits.h>
#include <brume/mechanism/event.h>
#include <brume/interval.h>

/* Steps of 1 for a mechanism that releases reals: in trials they are on this grid. */
enum { BRUME_TRIAL_GRID = 1024 };

/* The outcome "nothing is shown": below all that is. */
#define BRUME_TRIAL_HIDDEN (INT64_MIN / 4)

typedef struct brume_trial {
    const char *neighbours; /* the two inputs in words */
    const char *outcome;    /* what an outcome is, in words */
    double step;            /* outcomes are this many times their integer: 1, or a grid's step */
    bool slow;              /* each draw prepares its noise anew: take fewer */
    bool hides;             /* "nothing is shown" is an outcome: BRUME_TRIAL_HIDDEN */

    /* How many pairs of inputs there are to try; 0 is 1. Each attacks something else: the noise, a
     * threshold's delta. */
    size_t pairs;

    /* What is computed once for an event and a pair: `prepare` fills state_size bytes, which are
     * zero before and need not be freed. NULL: nothing, there is one pair. BRUME_EUNSUPPORTED: the
     * parameters are beyond what can be audited. */
    size_t state_size;
    brume_status (*prepare)(const brume_event *event, size_t pair, void *state, brume_error *error);

    /* The pair in words, where there are several; NULL: `neighbours` is all there is to say. */
    const char *(*describe)(const brume_event *event, const void *state);

    /* n outcomes of one release each, on the first input or the second. */
    brume_status (*draw)(const brume_event *event, const void *state, bool second, brume_bits *bits,
                         int64_t *out, size_t n, brume_error *error);

    /* An enclosure of the probability of one outcome of one release, and the outcomes that matter:
     * from *least to *most, and BRUME_TRIAL_HIDDEN where the mechanism may show nothing. Their
     * masses on either input add up to 1 - 1e-12 at least. Both are NULL where the law has no
     * closed form; where only some pairs have one, has_law says so. */
    bool (*has_law)(const brume_event *event, const void *state);
    brume_status (*mass)(const brume_event *event, const void *state, bool second, int64_t outcome,
                         brume_interval *mass, brume_error *error);
    void (*support)(const brume_event *event, const void *state, int64_t *least, int64_t *most);
} brume_trial;

#endif
