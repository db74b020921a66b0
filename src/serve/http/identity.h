/* Who a token belongs to. */
#ifndef BRUME_SERVE_HTTP_IDENTITY_H
#define BRUME_SERVE_HTTP_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include <brume/status.h>

typedef struct brume_http_identities brume_http_identities;

typedef struct brume_user_about {
    char role[16];   /* "owner", "analyst", "auditor" */
    int64_t expires; /* seconds since 1970; 0: never */
    uint64_t issued; /* the row of the journal that issued the token */
} brume_user_about;

/* Errors: those of opening the ledger. */
BRUME_MUST_USE brume_status brume_http_identities_open(const char *ledger,
                                                       brume_http_identities **out,
                                                       brume_error *error);
void brume_http_identities_close(brume_http_identities *identities);

/* The user of a header "Bearer TOKEN" (NULL: there is none); *user is the caller's to free.
 * EPOLICY, with one text, for every token that is not good; other errors are the ledger's. Any
 * thread. */
BRUME_MUST_USE brume_status brume_http_identify(brume_http_identities *identities,
                                                const char *header, char **user,
                                                brume_user_about *about, brume_error *error);

#endif
