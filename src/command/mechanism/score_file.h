/* The file of `brume choose`: candidates with their scores, read strictly. */
#ifndef BRUME_COMMAND_SCORE_FILE_H
#define BRUME_COMMAND_SCORE_FILE_H

#include <jansson.h>

#include <brume/decimal.h>

typedef struct brume_score_file {
    json_t **candidates; /* texts */
    brume_signed_decimal *scores;
    size_t count;
} brume_score_file;

/* Read a CSV with the columns `candidate` and `score`; "-" is standard input. Every row must have a
 * candidate, different from all others, and a score that is a finite decimal. Free with
 * brume_score_file_free, also after a failure.
 * Errors: BRUME_ESOURCE (unreadable), BRUME_EUNKNOWN (no such columns), BRUME_EARGUMENT (no rows, a
 * bad row, named by its number; its contents are not quoted), BRUME_EMEMORY. */
BRUME_MUST_USE brume_status brume_score_file_read(const char *path, brume_score_file *out,
                                                  brume_error *error);
void brume_score_file_free(brume_score_file *file);

#endif
