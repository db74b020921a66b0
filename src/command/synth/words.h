/* The words of `brume synth`, which `stream pmw` shares in part. */
#ifndef BRUME_COMMAND_SYNTH_WORDS_H
#define BRUME_COMMAND_SYNTH_WORDS_H

#include "command/command.h"
#include "query/synth/synth.h"

/* Everything that is typed, but adjacency, watch and progress. The call keeps what it points to. */
BRUME_MUST_USE brume_status brume_synth_read_words(brume_call *call, brume_synth_words *out,
                                                   brume_error *error);

#endif
