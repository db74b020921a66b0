/* What a call opens: the ledger that it names, a dataset, random bits. */
#include "command/ledger/open_ledger.h"

#include <stdlib.h>
#include <unistd.h>

#include "command/host.h"
#include "ledger/review.h"
#include "ledger/user.h"
#include "ledger/witness.h"

/* --ledger FILE, else the host's, else $BRUME_LEDGER, else ./brume.db. */
static const char *call_ledger_path(const brume_call *call)
{
    const char *path = brume_call_text(call, "ledger");
    if ((!path || !*path) && call->host)
        path = call->host->ledger;
    if (!path || !*path)
        path = getenv("BRUME_LEDGER");
    return path && *path ? path : "brume.db";
}

static void close_ledger(void *ledger)
{
    brume_ledger_close(ledger);
}

brume_status brume_call_open_ledger(brume_call *call, brume_ledger_mode mode, brume_ledger **out,
                                    brume_error *error)
{
    brume_ledger *ledger = NULL;
    BRUME_TRY(brume_ledger_open(call_ledger_path(call), mode, &ledger, error));
    BRUME_TRY(brume_call_keep(call, close_ledger, ledger, error));
    brume_ledger_reach_witness(ledger, &brume_postgres_witness);
    if (call->host && call->host->user)
        BRUME_TRY(brume_ledger_act_as(ledger, call->host->user, call->host->issued, error));
    BRUME_TRY(brume_ledger_ask_in(ledger, brume_call_text(call, "project"), error));
    *out = ledger;
    return BRUME_OK;
}

static void close_dataset(void *dataset)
{
    brume_dataset_close(dataset);
}

brume_status brume_call_open_dataset(brume_call *call, brume_ledger *ledger, const char *name,
                                     brume_dataset **out, brume_error *error)
{
    brume_dataset *dataset = NULL;
    BRUME_TRY(brume_ledger_dataset(ledger, name, &dataset, error));
    BRUME_TRY(brume_call_keep(call, close_dataset, dataset, error));
    *out = dataset;
    return BRUME_OK;
}

static void close_bits(void *bits)
{
    brume_bits_close(bits);
}

brume_status brume_call_open_bits(brume_call *call, brume_bits **out, brume_error *error)
{
    brume_bits *bits = NULL;
    BRUME_TRY(brume_bits_open(&bits, error));
    BRUME_TRY(brume_call_keep(call, close_bits, bits, error));
    *out = bits;
    return BRUME_OK;
}

void brume_hint_at_file(const brume_call *call, const char *name, brume_error *error)
{
    bool at_the_shell = !call->host ||
                        !call->host->user; /* others learn of no file of the server */
    if (error && at_the_shell && access(name, F_OK) == 0)
        snprintf(error->hint, sizeof error->hint,
                 "register the file first, or read it without an account: --no-ledger");
}
