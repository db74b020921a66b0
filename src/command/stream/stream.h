/* For whoever asks the questions of a stream: a line in, a line out. */
#ifndef BRUME_COMMAND_STREAM_H
#define BRUME_COMMAND_STREAM_H

#include "command/command.h"
#include "query/stream/stream.h"

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

#endif
