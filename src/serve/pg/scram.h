/* SCRAM-SHA-256 (RFC 5802, RFC 7677), the server's side, without channel binding: two messages of
 * the client, two answers. The password never comes here, only a proof that the client knows it. */
#ifndef BRUME_SERVE_PG_SCRAM_H
#define BRUME_SERVE_PG_SCRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

#include "ledger/user.h"

enum { BRUME_PG_SCRAM_TEXT = 512 };

typedef struct brume_pg_scram {
    brume_scram_verifier verifier;
    bool is_mock; /* nobody has this verifier: every proof is refused */
    char client_first_bare[BRUME_PG_SCRAM_TEXT], gs2_header[8];
    char nonce[BRUME_PG_SCRAM_TEXT], server_first[BRUME_PG_SCRAM_TEXT];
} brume_pg_scram;

/* Take the client's first message and make the server's (scram->server_first). Needs `verifier`.
 * ESYNTAX: it is none; EUNSUPPORTED: it asks for channel binding; ERANDOM. */
BRUME_MUST_USE brume_status brume_pg_scram_begin(brume_pg_scram *scram, const uint8_t *message,
                                                 size_t length, brume_error *error);

/* Take the client's final message. *accepted: the proof holds, and it is no mock; then `final` is
 * the server's proof. ESYNTAX: it is none. */
BRUME_MUST_USE brume_status brume_pg_scram_end(brume_pg_scram *scram, const uint8_t *message,
                                               size_t length, bool *accepted,
                                               char final[BRUME_PG_SCRAM_TEXT], brume_error *error);

#endif
