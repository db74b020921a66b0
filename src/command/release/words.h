/* The words of `release` and `statistic` as the struct that query/statistic/statistic.h asks for.
 */
#ifndef BRUME_COMMAND_RELEASE_WORDS_H
#define BRUME_COMMAND_RELEASE_WORDS_H

#include "command/command.h"
#include "command/frame/input.h"
#include "query/statistic/statistic.h"

/* The words, and the lists that they point to; the texts are the call's. */
typedef struct brume_release_typed {
    brume_release_words words;
    const char **given, **bounds;
} brume_release_typed;

BRUME_MUST_USE brume_status brume_release_typed_open(const brume_call *call,
                                                     brume_release_typed *out, brume_error *error);
void brume_release_typed_close(brume_release_typed *typed);

/* The file that is the second operand. A JSON file has the columns typed and `more`, parted by
 * commas. Close it also after a failure. */
BRUME_MUST_USE brume_status brume_release_input(const brume_call *call, const char *more,
                                                brume_input *out, brume_error *error);

#endif
