/* The types of values that a query may touch, the same on every engine.
 *
 * BOOLEAN; INTEGER (32 bits); BIGINT (64 bits); DECIMAL(precision <= 38, scale), exact; DOUBLE,
 * finite and below 1e150 in size (everything else counts as NULL); TEXT, UTF-8, compared by bytes;
 * DATE and TIMESTAMP (no zone), years 0001 to 9999 (everything else counts as NULL). */
#ifndef BRUME_BASE_TYPE_H
#define BRUME_BASE_TYPE_H

#include <stdbool.h>

typedef enum brume_type_kind {
    BRUME_TYPE_REFUSED = 0, /* a column whose type brume does not read */
    BRUME_TYPE_BOOLEAN,
    BRUME_TYPE_INTEGER,
    BRUME_TYPE_BIGINT,
    BRUME_TYPE_DECIMAL,
    BRUME_TYPE_DOUBLE,
    BRUME_TYPE_TEXT,
    BRUME_TYPE_DATE,
    BRUME_TYPE_TIMESTAMP,
} brume_type_kind;

typedef struct brume_type {
    brume_type_kind kind;
    int precision, scale; /* DECIMAL only; 0 otherwise */
} brume_type;

enum { BRUME_TYPE_NAME_SIZE = 24 };

/* Bytes of a stored text; a longer one counts as NULL, so that a row's time has a bound. */
enum { BRUME_TEXT_BYTES_MOST = 65536 };

/* "integer", "decimal(9,2)", "text" ...: for messages and for the ledger. */
const char *brume_type_name(brume_type type, char buffer[BRUME_TYPE_NAME_SIZE]);

/* The inverse of brume_type_name; false if `name` is none. */
bool brume_type_parse(const char *name, brume_type *type);

bool brume_type_equal(brume_type a, brume_type b);
bool brume_type_is_number(brume_type type);
bool brume_type_is_time(brume_type type); /* a date or a timestamp */

#endif
