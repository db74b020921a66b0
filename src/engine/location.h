/* Where a source is, without the password that opens it. */
#ifndef BRUME_ENGINE_LOCATION_H
#define BRUME_ENGINE_LOCATION_H

#include <brume/status.h>

/* Split a location into what may be shown and the password of a PostgreSQL URL,
 * or the token of a Spark one (NULL: it has none).
 * The caller frees both. EARGUMENT: a URL that cannot be read, or a password that cannot be told
 * from the rest; no message quotes it. */
BRUME_MUST_USE brume_status brume_location_split(const char *location, char **shown,
                                                 char **password, brume_error *error);

#endif
