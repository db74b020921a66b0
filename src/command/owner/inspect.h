/* An owner's look at a file: everything here is read off its rows, and nothing of it is private. */
#ifndef BRUME_COMMAND_INSPECT_H
#define BRUME_COMMAND_INSPECT_H

#include "command/command.h"
#include "engine/declared.h"
#include "reader/format.h"
#include "reader/guess.h"

typedef struct brume_inspected {
    bool text; /* a CSV or JSON file: the format and the types are proposed or typed */
    bool json; /* JSON lines */
    brume_text_format format;  /* of a CSV */
    brume_declared columns;    /* as they would be read */
    uint64_t rows, empty_rows; /* of a text file also: lines that are empty or cannot be read */
    uint64_t foreign;          /* of a text file: lines that are not UTF-8 */
    uint64_t *missing;         /* of each column: values that are not there, */
    uint64_t *unreadable;      /* and those that are not of its type, which read as NULL */
    brume_type_guess *guesses; /* of each column of a text file, by its values */
    json_t *domains; /* [{"column","missing":[...],"beyond","beyond_rows","values":[...]}] */
} brume_inspected;

/* Look at the file as the options of the call say. Clear also after a failure. */
BRUME_MUST_USE brume_status brume_inspect(const brume_call *call, const char *location,
                                          brume_inspected *out, brume_error *error);
/* Every table of a policy file against what it declares: units, links, bounds, domains.
 * EUNSUPPORTED where one is on a server; the errors of 'register' for the file itself. */
BRUME_MUST_USE brume_status brume_inspect_policy(brume_call *call, const char *path,
                                                 brume_error *error);

void brume_inspected_clear(brume_inspected *found);

#endif
