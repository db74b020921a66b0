/* Who a token belongs to. Promises: identity.h. */
#include "serve/http/identity.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/error.h"
#include "ledger/user.h"

struct brume_http_identities {
    pthread_mutex_t lock;
    char *path;
    brume_ledger *ledger; /* open for reading; NULL after an error: opened again by the next call */
};

brume_status brume_http_identities_open(const char *ledger, brume_http_identities **out,
                                        brume_error *error)
{
    brume_http_identities *identities = calloc(1, sizeof *identities);
    char *path = strdup(ledger);
    if (!identities || !path) {
        free(identities);
        free(path);
        return brume_no_memory(error, "the server");
    }
    pthread_mutex_init(&identities->lock, NULL);
    identities->path = path;
    brume_status status = brume_ledger_open(path, BRUME_LEDGER_READ, &identities->ledger, error);
    if (status != BRUME_OK)
        brume_http_identities_close(identities);
    else
        *out = identities;
    return status;
}

void brume_http_identities_close(brume_http_identities *identities)
{
    if (!identities)
        return;
    brume_ledger_close(identities->ledger);
    pthread_mutex_destroy(&identities->lock);
    free(identities->path);
    free(identities);
}

/* A text that no token is: what has none is refused by the same path, with the same text. */
static const char *token_of(const char *header)
{
    const char *text = header && strncasecmp(header, "Bearer ", 7) == 0 ? header + 7 : "";
    return strlen(text) < BRUME_TOKEN_TEXT ? text : "";
}

static brume_status find(brume_http_identities *identities, const char *token, brume_user **user,
                         brume_error *error)
{
    if (!identities->ledger)
        BRUME_TRY(
            brume_ledger_open(identities->path, BRUME_LEDGER_READ, &identities->ledger, error));
    brume_status status =
        brume_ledger_authenticate(identities->ledger, token, time(NULL), user, error);
    if (status != BRUME_OK && status != BRUME_EPOLICY) {
        brume_ledger_close(identities->ledger);
        identities->ledger = NULL;
    }
    return status;
}

brume_status brume_http_identify(brume_http_identities *identities, const char *header, char **name,
                                 brume_user_about *about, brume_error *error)
{
    brume_user *user = NULL;
    pthread_mutex_lock(&identities->lock);
    brume_status status = find(identities, token_of(header), &user, error);
    pthread_mutex_unlock(&identities->lock);
    if (status != BRUME_OK)
        return status;
    char *copy = strdup(user->name);
    snprintf(about->role, sizeof about->role, "%s", brume_role_word(user->role));
    about->expires = user->expires;
    about->issued = user->issued;
    brume_user_close(user);
    if (!copy)
        return brume_no_memory(error, "the user");
    *name = copy;
    return BRUME_OK;
}
