/* How a call of brume ends: a status, and an error record that says why.
 *
 * 1. Every fallible function returns a brume_status; BRUME_OK is 0. The result must be used.
 * 2. `error`, always the last parameter, is owned by the caller and may be NULL. It is written only
 *    on failure.
 * 3. On any failure: outputs are untouched, handles stay usable, nothing is half done.
 * 4. A message may quote parameters and the query's own text, never a row's value, a true answer or
 *    a noise value. */
#ifndef BRUME_STATUS_H
#define BRUME_STATUS_H

#if defined(__GNUC__)
#define BRUME_API          __attribute__((visibility("default")))
#define BRUME_MUST_USE     __attribute__((warn_unused_result))
#define BRUME_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define BRUME_API
#define BRUME_MUST_USE
#define BRUME_PRINTF(f, a)
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum brume_status {
#define BRUME_STATUS(name, value, exit_code, sqlstate, word, text) BRUME_##name = value,
#include <brume/status.def>
#undef BRUME_STATUS
} brume_status;

typedef struct brume_error {
    brume_status status;
    char message[480]; /* lower case, the fault first, the offending parameter quoted */
    char hint[256];    /* what to do; empty if there is nothing useful to say */
} brume_error;

/* The words of status.def; "unknown status" and 70 for a value that is not in it. */
BRUME_API const char *brume_status_text(brume_status status);
BRUME_API const char *brume_status_word(brume_status status);
BRUME_API const char *brume_status_sqlstate(brume_status status);
BRUME_API int brume_status_exit_code(brume_status status);

/* The version of the library that runs ("0.1.0"); BRUME_VERSION is that of the headers. */
BRUME_API const char *brume_version(void);

#ifdef __cplusplus
}
#endif

#endif
