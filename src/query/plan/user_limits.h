/* What one user of a server may take of the machine with one dataset.
 *
 * The size of an answer has no price: noise of a tiny epsilon on a million groups costs next to
 * nothing, and takes gigabytes and a long row of the ledger. So users have limits, which the owner
 * may set (limits-per-user) and which are checked before anything is charged or read. They depend
 * on the question and on the journal, never on a protected row. The owner at the shell has none. */
#ifndef BRUME_QUERY_USER_LIMITS_H
#define BRUME_QUERY_USER_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

enum { BRUME_USER_LIMITS_TEXT = 128 };

/* 0: not said, the default is in force. */
typedef struct brume_user_limits {
    uint64_t memory;       /* bytes for what is known of an answer before rows are read (1 GiB) */
    uint64_t cells;        /* groups that are known before rows are read, times columns (2^17) */
    uint64_t ledger_bytes; /* that all questions and answers of the user take there (256 MiB) */
} brume_user_limits;

/* "memory=512MiB,cells=20000,ledger-bytes=64MiB": some or all of them, each once; sizes in bytes,
 * KiB, MiB or GiB. ESYNTAX, EARGUMENT. */
BRUME_MUST_USE brume_status brume_user_limits_parse(const char *text, brume_user_limits *out,
                                                    brume_error *error);

/* The text that parses to them; "" where nothing was said. */
void brume_user_limits_print(const brume_user_limits *limits, char text[BRUME_USER_LIMITS_TEXT]);

/* The defaults in the place of what was not said. */
brume_user_limits brume_user_limits_in_force(const brume_user_limits *said);

/* Does an answer of so many cells, made of so many numbers, fit? EPOLICY. */
BRUME_MUST_USE brume_status brume_user_limits_check(const brume_user_limits *said,
                                                    const char *dataset, double cells,
                                                    double numbers, brume_error *error);

#endif
