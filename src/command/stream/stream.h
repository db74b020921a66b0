/* What streams share: a question a line in, an answer a line out. */
#ifndef BRUME_COMMAND_STREAM_H
#define BRUME_COMMAND_STREAM_H

#include <brume/mechanism/event.h>

#include "command/command.h"
#include "query/release/charged.h"

typedef struct brume_stream_answer {
    bool above; /* a hit: it counts against what the stream may answer */
    bool has_value, halted;
    double value;
    uint64_t hits_left;
} brume_stream_answer;

/* Answer one line. A line that is wrong is one of the errors of brume_stream_goes_on, and nothing
 * was drawn for it; any other error ends the stream. */
typedef brume_status (*brume_stream_ask)(void *context, const char *line,
                                         brume_stream_answer *answer, brume_error *error);

typedef struct brume_stream_source {
    brume_stream_ask ask;
    void (*write)(const brume_call *call, uint64_t index, const brume_stream_answer *answer);
    /* After each answer, and several times a second while it waits for lines: so many were answered
     * so far, so many of them hits. An error ends the stream. NULL: nothing to do. */
    brume_status (*pause)(void *context, uint64_t asked, uint64_t hits, brume_error *error);
    /* NULL: the questions are over when the command returns. Else it has no `pause`, may be asked
     * long after the command has returned, and is closed by whoever asks. */
    void (*close)(void *context);
    void *context;
} brume_stream_source;

/* "below", "above", "above 123", or an object. */
void brume_stream_write_hit(const brume_call *call, uint64_t index,
                            const brume_stream_answer *answer);

/* The statuses of a wrong line: syntax, unknown names, bad arguments, what is not supported. */
bool brume_stream_goes_on(brume_status status);

/* Answer what whoever runs the command asks, until the stream halts or the questions end
 * (host.h); a source that has a `close` may still be asked when this has returned, and is closed
 * in any case. EUNSUPPORTED where nobody asks. */
BRUME_MUST_USE brume_status brume_stream_run(brume_call *call, const brume_stream_source *source,
                                             brume_error *error);

/* ---- for whoever asks ---- */

enum { BRUME_STREAM_LINE_MOST = 1 << 16 }; /* bytes of a line */

typedef struct brume_stream_progress {
    uint64_t index; /* of the newest line, from 1, wrong ones too */
    uint64_t asked, hits;
    bool halted;
} brume_stream_progress;

/* Answer the next line (NULL: one that cannot be read) and write the answer to call->out. An error
 * of brume_stream_goes_on leaves the stream as it was. */
BRUME_MUST_USE brume_status brume_stream_answer_line(brume_call *call,
                                                     const brume_stream_source *source,
                                                     const char *line,
                                                     brume_stream_progress *progress,
                                                     brume_error *error);

/* To be called after each answer, and several times a second while no question comes. */
BRUME_MUST_USE brume_status brume_stream_pause(const brume_stream_source *source,
                                               const brume_stream_progress *progress,
                                               brume_error *error);

/* ---- from a registered dataset ---- */

/* A stream that is paid for. */
typedef struct brume_stream_charge {
    brume_call *call;
    const char *epsilon, *delta, *rho; /* as typed, or their sum; as brume_charged has them */
    brume_adjacency adjacency;
    brume_event events[2]; /* what it draws with */
    size_t event_count;
    bool needs_rows; /* refuse an empty table before the charge, under replace only */
    /* The questions, once the price is on the ledger; closed by `close`. */
    brume_status (*open)(void *context, const brume_charged_stream *on, brume_error *error);
    void (*close)(void *context);
    brume_stream_source source;
} brume_stream_charge;

/* Charge it and run it; how far it came goes to the ledger, once a second at most and at its end.
 */
BRUME_MUST_USE brume_status brume_stream_run_charged(brume_ledger *ledger,
                                                     const brume_stream_charge *charge,
                                                     const brume_watch *watch, brume_bits *bits,
                                                     brume_error *error);

/* above-threshold and sparse-vector over conditions. */
BRUME_MUST_USE brume_status brume_stream_conditions(brume_call *call, bool single,
                                                    brume_error *error);

#endif
