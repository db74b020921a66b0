/* Opening the ledger that a call names. */
#include "command/ledger/open_ledger.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "command/host.h"

const char *brume_call_ledger_path(const brume_call *call)
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
    return brume_ledger_open(brume_call_ledger_path(call), mode, out, error);
}

brume_status brume_open_dataset(brume_ledger *ledger, const char *name, brume_dataset **out,
                                brume_error *error)
{
    brume_status status = brume_ledger_dataset(ledger, name, out, error);
    if (status == BRUME_EUNKNOWN && error && access(name, F_OK) == 0)
        snprintf(error->hint, sizeof error->hint,
                 "register the file first, or read it without an account: --no-ledger");
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
