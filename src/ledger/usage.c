/* How much of the ledger is one user's.
 *
 * The journal only grows, so that what was counted stays counted: a process remembers for each user
 * up to which row it has, and looks at later rows only. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/journal.h"
#include "ledger/user.h"

typedef struct usage {
    char ledger[BRUME_STORE_IDENTITY];
    char *user;
    int64_t last; /* the row up to which it was counted */
    uint64_t bytes;
    struct usage *next;
} usage;

static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;
static usage *known;

/* With known_lock held; NULL without memory, or where the file is gone. */
static usage *find_usage(const brume_ledger *ledger)
{
    char identity[BRUME_STORE_IDENTITY];
    if (!ledger->engine->identify(ledger->store, identity))
        return NULL;
    for (usage *one = known; one; one = one->next)
        if (strcmp(one->ledger, identity) == 0 && strcmp(one->user, ledger->user) == 0)
            return one;
    usage *made = calloc(1, sizeof *made);
    char *user = made ? strdup(ledger->user) : NULL;
    if (!user) {
        free(made);
        return NULL;
    }
    *made = (usage){.user = user, .next = known};
    memcpy(made->ledger, identity, sizeof identity);
    known = made;
    return made;
}

/* Answers that are reviewed do not count: how long one is would tell of it while it is held. */
static const char bytes_of[] =
    "SELECT coalesce(sum(octet_length(body) + coalesce((SELECT octet_length(wording.body) FROM wording WHERE wording.reservation = journal.id), 0) + coalesce((SELECT octet_length(answer.body) FROM reservation JOIN answer USING (answer_key) WHERE journal.kind = 'commit' AND "
    "reservation.id = CAST(json_extract(journal.body, '$.reservation') AS BIGINT) AND answer.committed = "
    "journal.id AND NOT EXISTS (SELECT 1 FROM journal reserved WHERE reserved.id = reservation.id AND "
    "CAST(json_extract(reserved.body, '$.approvals') AS BIGINT) > 0)), 0)), 0), (SELECT max(id) FROM journal) FROM journal WHERE id > ?1 AND "
    "json_valid(body) AND json_extract(body, '$.user') = ?2";

const char *brume_ledger_acts_for(const brume_ledger *ledger)
{
    return ledger->user;
}

brume_status brume_ledger_bytes(brume_ledger *ledger, uint64_t *bytes, brume_error *error)
{
    brume_statement *statement = NULL;
    bool found = false;
    if (!ledger->user)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "bytes of the ledger of nobody");
    pthread_mutex_lock(&known_lock);
    usage *mine = find_usage(ledger);
    brume_status status = mine ? brume_store_prepare(ledger, &statement, error, bytes_of, "it",
                                                     mine->last, ledger->user)
                               : brume_no_memory(error, "reading the ledger");
    if (status == BRUME_OK)
        status = brume_store_step(ledger, statement, &found, error);
    if (status == BRUME_OK && found) {
        mine->bytes += (uint64_t)brume_store_int(statement, 0);
        mine->last = brume_store_int(statement, 1);
    }
    if (status == BRUME_OK)
        *bytes = mine->bytes;
    brume_store_finish(statement);
    pthread_mutex_unlock(&known_lock);
    return status;
}
