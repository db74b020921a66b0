/* brume audit --save DIR: the evidence of an audit as files, so that anybody can look at it again.
 *
 * Promises: no file that is there is written over. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "command/audit/audit.h"

brume_status brume_audit_make_folder(const char *folder, brume_error *error)
{
    if (folder && mkdir(folder, 0777) != 0 && errno != EEXIST)
        return brume_fail(error, BRUME_EDISK, NULL, "cannot make the folder '%s': %s", folder,
                          strerror(errno));
    return BRUME_OK;
}

brume_status brume_audit_save_text(const char *folder, const char *name, const char *text,
                                   brume_error *error)
{
    char *path = NULL;
    if (!text || asprintf(&path, "%s/%s", folder, name) < 0)
        return brume_no_memory(error, "an audit");
    FILE *out = fopen(path, "wx");
    bool good = out && fprintf(out, "%s\n", text) > 0;
    good = (!out || fclose(out) == 0) && good;
    brume_status status =
        good ? BRUME_OK
             : brume_fail(error, BRUME_EDISK, "is it there already?", "cannot write '%s'", path);
    free(path);
    return status;
}

brume_status brume_audit_save_event(const char *folder, const brume_audited *a, const char *name,
                                    json_t *more, brume_error *error)
{
    json_t *event = json_pack("{s:o, s:o, s:o, s:o, s:o}", "epsilon_claimed",
                              brume_json_real(a->claimed), "delta", brume_json_real(a->delta),
                              "confidence", brume_json_real(a->confidence), "witness",
                              brume_audited_witness(a), name, more);
    char *text = event ? json_dumps(event, JSON_INDENT(2)) : NULL;
    brume_status status = brume_audit_save_text(folder, "event.json", text, error);
    free(text);
    json_decref(event);
    return status;
}

/* Both inputs of a mechanism are in the witness, in words. */
brume_status brume_audit_save_mechanism(brume_call *call, const brume_audited *a,
                                        brume_error *error)
{
    const char *folder = brume_call_text(call, "save");
    if (!folder)
        return BRUME_OK;
    BRUME_TRY(brume_audit_save_text(folder, "expression.txt", brume_call_operand(call, 0), error));
    BRUME_TRY(
        brume_audit_save_event(folder, a, "samples", json_integer((json_int_t)a->samples), error));
    if (!call->json)
        fprintf(call->out,
                "saved in %s: expression.txt, event.json\n"
                "rerun: 'brume audit' of that expression, with more samples for a sharper bound\n",
                folder);
    return BRUME_OK;
}
