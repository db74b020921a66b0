/* Opening the ledger that a call names. */
#include "command/ledger/open_ledger.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "command/host.h"
#include "ledger/user.h"

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

brume_status brume_call_open_ledger(const brume_call *call, brume_ledger_mode mode,
                                    brume_ledger **out, brume_error *error)
{
    brume_ledger *ledger = NULL;
    BRUME_TRY(brume_ledger_open(call_ledger_path(call), mode, &ledger, error));
    brume_status status = BRUME_OK;
    if (call->host && call->host->user)
        status = brume_ledger_act_as(ledger, call->host->user, call->host->issued, error);
    if (status != BRUME_OK)
        brume_ledger_close(ledger);
    else
        *out = ledger;
    return status;
}

void brume_hint_at_file(const brume_call *call, const char *name, brume_error *error)
{
    bool at_the_shell = !call->host ||
                        !call->host->user; /* others learn of no file of the server */
    if (error && at_the_shell && access(name, F_OK) == 0)
        snprintf(error->hint, sizeof error->hint,
                 "register the file first, or read it without an account: --no-ledger");
}

brume_status brume_open_dataset(const brume_call *call, brume_ledger *ledger, const char *name,
                                brume_dataset **out, brume_error *error)
{
    brume_status status = brume_ledger_dataset(ledger, name, out, error);
    if (status == BRUME_EUNKNOWN)
        brume_hint_at_file(call, name, error);
    return status;
}

void brume_write_bar(FILE *out, double left, double of, int width)
{
    double share = of > 0 ? fmin(fmax(left / of, 0), 1) : 0;
    int full = (int)floor(share * width + 0.5);
    if (full == 0 && left > 0)
        full = 1;
    for (int i = 0; i < width; i++)
        fputs(i < full ? "█" : "░", out);
}
