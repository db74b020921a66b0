/* Filling an error record. */
#ifndef BRUME_BASE_ERROR_H
#define BRUME_BASE_ERROR_H

#include <stddef.h>

#include <brume/status.h>

/* Write status, message and hint (NULL: none) into `error` (NULL: nowhere) and return `status`, so
 * that a failing function ends with `return brume_fail(...)`. Texts that are too long are cut, and
 * both are valid UTF-8 whatever they quote (brume_utf8_mend). */
brume_status brume_fail(brume_error *error, brume_status status, const char *hint,
                        const char *format, ...) BRUME_PRINTF(4, 5);

/* The static analyser does not see that the result is never BRUME_OK where `status` is not. */
#ifdef __clang_analyzer__
#define brume_fail(error, status, ...) ((void)brume_fail(error, status, __VA_ARGS__), (status))
#endif

/* BRUME_EMEMORY: "out of memory for the answer"; plainly "out of memory" where `what` is NULL. */
static inline brume_status brume_no_memory(brume_error *error, const char *what)
{
    return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory%s%s", what ? " for " : "",
                      what ? what : "");
}
#ifdef __clang_analyzer__
#define brume_no_memory(error, what) ((void)brume_no_memory(error, what), BRUME_EMEMORY)
#endif

/* Return from the calling function if `call` failed. The callee has filled `error`. */
#define BRUME_TRY(call)                                                                            \
    do {                                                                                           \
        brume_status try_status_ = (call);                                                         \
        if (try_status_ != BRUME_OK)                                                               \
            return try_status_;                                                                    \
    } while (0)

#endif
