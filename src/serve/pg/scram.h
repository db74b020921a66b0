/* SCRAM-SHA-256 (RFC 5802, RFC 7677), the server's side: two messages of the client, two answers.
 * The password never comes here, only a proof that the client knows it. With SCRAM-SHA-256-PLUS the
 * proof is also of the server's certificate that the client sees (tls-server-end-point of RFC
 * 5929): somebody in between, who has another one, cannot pass it on. */
#ifndef BRUME_SERVE_PG_SCRAM_H
#define BRUME_SERVE_PG_SCRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

#include "ledger/user.h"

enum { BRUME_PG_SCRAM_TEXT = 512, BRUME_PG_BINDING = 64 };

typedef struct brume_pg_scram {
    brume_scram_verifier verifier;
    bool is_mock;                      /* nobody has this verifier: every proof is refused */
    uint8_t binding[BRUME_PG_BINDING]; /* the certificate's hash; offered if its length is not 0 */
    size_t binding_length;
    bool is_bound; /* the client chose SCRAM-SHA-256-PLUS */
    char client_first_bare[BRUME_PG_SCRAM_TEXT], gs2_header[32];
    char nonce[BRUME_PG_SCRAM_TEXT], server_first[BRUME_PG_SCRAM_TEXT];
} brume_pg_scram;

/* Take the client's first message and make the server's (scram->server_first). Needs `verifier`,
 * `binding` and `is_bound`. ESYNTAX: it is none; EUNSUPPORTED: it asks for a channel binding that
 * was not chosen or is of another kind; EPOLICY: it says that none was offered, and one was;
 * ERANDOM. */
BRUME_MUST_USE brume_status brume_pg_scram_begin(brume_pg_scram *scram, const uint8_t *message,
                                                 size_t length, brume_error *error);

/* Take the client's final message. *accepted: the proof holds, and it is no mock; then `final` is
 * the server's proof. ESYNTAX: it is none. */
BRUME_MUST_USE brume_status brume_pg_scram_end(brume_pg_scram *scram, const uint8_t *message,
                                               size_t length, bool *accepted,
                                               char final[BRUME_PG_SCRAM_TEXT], brume_error *error);

#endif
