/* The operand and options that accounting commands share. */
#include "command/account/releases.h"

#include <string.h>

#include "base/error.h"
#include "command/host.h"

const char *const brume_adjacency_choices[] = {"add-remove", "replace", NULL};
/* in the order of brume_method */
const char *const brume_method_choices[] = {
    "auto",    "basic", "advanced",    "advanced-half", "advanced-exp", "advanced-2",
    "optimal", "zcdp",  "zcdp-closed", "rdp",           "pld",          NULL};

const char *brume_call_adjacency_word(const brume_call *call)
{
    const char *word = brume_call_text(call, "adjacency");
    return word ? word : brume_adjacency_choices[0];
}

static brume_adjacency call_adjacency(const brume_call *call)
{
    return strcmp(brume_call_adjacency_word(call), "replace") == 0 ? BRUME_REPLACE
                                                                   : BRUME_ADD_REMOVE;
}

const char *brume_method_word(brume_method method)
{
    return brume_method_choices[method];
}

brume_method brume_call_method(const brume_call *call)
{
    const char *word = brume_call_text(call, "method");
    for (int i = 0; word && brume_method_choices[i]; i++)
        if (strcmp(word, brume_method_choices[i]) == 0)
            return (brume_method)i;
    return BRUME_METHOD_AUTO;
}

/* What users of a server may have worked out: what it costs grows with the terms, by more than in
 * proportion. At the shell, and in the library, the bound is that of the parser. */
enum { USER_TERMS = 1000, USER_BYTES = 65536 };

brume_status brume_call_expression(const brume_call *call, brume_expression *out,
                                   brume_error *error)
{
    const char *text = brume_call_operand(call, 0);
    bool of_user = call->host && call->host->user;
    if (of_user && strlen(text) > USER_BYTES)
        return brume_fail(error, BRUME_EARGUMENT, "equal terms are written once, with *COUNT",
                          "the expression has more than 64 KiB");
    BRUME_TRY(brume_expression_parse(text, call_adjacency(call), out, error));
    if (!of_user || out->count <= USER_TERMS)
        return BRUME_OK;
    brume_status status = brume_fail(
        error, BRUME_EARGUMENT, "equal terms are written once, with *COUNT",
        "the expression has %zu terms, at most %d are possible here", out->count, USER_TERMS);
    brume_expression_free(out);
    return status;
}
