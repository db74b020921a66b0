/* SHA-256 of a few byte strings, written as 64 hexadecimal digits. */
#ifndef BRUME_LEDGER_DIGEST_H
#define BRUME_LEDGER_DIGEST_H

#include <stddef.h>

#include <brume/status.h>

enum { BRUME_DIGEST_TEXT = 65 }; /* 64 digits and the end */

/* out = hex SHA-256 of the parts. Each part is preceded by its length, so that no two different
 * lists of parts give the same bytes. BRUME_ERANDOM never; BRUME_EMEMORY if libcrypto fails. */
BRUME_MUST_USE brume_status brume_digest(const char *const *parts, size_t count,
                                         char out[BRUME_DIGEST_TEXT], brume_error *error);

#endif
