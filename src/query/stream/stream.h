/* Streams of questions that are paid for once: a question in, an answer out.
 *
 *   words -> brume_stream_numbers -> a source, which whoever asks keeps
 *   words -> brume_stream_conditions, _weights -> price on the ledger -> asker.run(source) -> its
 * end
 *
 * Promises: the price typed is for everything that is answered, however many questions come and
 * however they were chosen, given that one unit moves no number by more than the sensitivity; a
 * stream halts by itself. From a registered dataset the price is on the ledger before the first
 * question is read; how far it came is beside the ledger before each answer is told, in the ledger
 * within a second, and there at its end, however it ends. */
#ifndef BRUME_QUERY_STREAM_H
#define BRUME_QUERY_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include <brume/bits.h>

#include "ledger/ledger.h"
#include "query/release/spend.h"
#include "query/synth/synth.h"

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
    /* After each answer, and several times a second while it waits for lines: so many were answered
     * so far, so many of them hits. An error ends the stream. NULL: nothing to do. */
    brume_status (*pause)(void *context, uint64_t asked, uint64_t hits, brume_error *error);
    /* NULL: the questions are over when `run` returns. Else it has no `pause`, may be asked long
     * after, and is closed by whoever asks. */
    void (*close)(void *context);
    void *context;
} brume_stream_source;

/* The statuses of a wrong line: syntax, unknown names, bad arguments, what is not supported. */
bool brume_stream_goes_on(brume_status status);

/* Who asks, and what pays. */
typedef struct brume_stream_asker {
    /* Ask until the stream halts or the questions end. */
    brume_status (*run)(void *context, const brume_stream_source *source, brume_error *error);
    void *context;
    brume_ledger *ledger;
    const brume_dataset *dataset;
    brume_bits *bits;
    const brume_watch *watch; /* may be NULL */
    const char *windows;      /* of a dataset that has some; NULL: not typed */
    const char *what;         /* everything that was asked, as text, for the record */
    bool has_user;            /* a user of a server, whose memory is limited */
} brume_stream_asker;

/* What is above a threshold. Texts that were not typed are NULL. */
typedef struct brume_threshold_words {
    const char *threshold, *epsilon, *epsilon_answers, *sensitivity; /* exact, as typed */
    uint64_t hits;
    bool monotone, single; /* single: above-threshold, which halts at the first hit */
} brume_threshold_words;

/* Each line is a true number. It has neither rows nor a price that others must know of. */
BRUME_MUST_USE brume_status brume_stream_numbers(const brume_threshold_words *words,
                                                 brume_stream_source *out, brume_error *error);

/* Each line is a condition whose units are counted in a registered dataset. */
BRUME_MUST_USE brume_status brume_stream_conditions(const brume_stream_asker *asker,
                                                    const brume_threshold_words *words,
                                                    brume_error *error);

/* Each line is a condition; a public histogram over the columns of `words` learns to answer it. */
BRUME_MUST_USE brume_status brume_stream_weights(const brume_stream_asker *asker,
                                                 const brume_synth_words *words,
                                                 brume_error *error);

#endif
