/* The operand and options that accounting commands share. */
#include "command/account/releases.h"

#include <string.h>

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

brume_adjacency brume_call_adjacency(const brume_call *call)
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

brume_status brume_call_expression(const brume_call *call, brume_expression *out,
                                   brume_error *error)
{
    return brume_expression_parse(brume_call_operand(call, 0), brume_call_adjacency(call), out,
                                  error);
}
