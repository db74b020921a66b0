/* What is typed about users: allotments and times; and what is shown of them. */
#ifndef BRUME_COMMAND_TYPED_USER_H
#define BRUME_COMMAND_TYPED_USER_H

#include "command/command.h"
#include "ledger/user.h"

/* --allot DATASET=epsilon=E[,delta=D], of every user's command. */
#define BRUME_ALLOT_OPTION                                                                         \
    {                                                                                              \
        .name = "allot", .type = BRUME_OPTION_TEXT, .argument = "DATASET=epsilon=E[,delta=D]",     \
        .repeated = true, .help = "at most so much of a dataset's budget; again for another one"   \
    }
#define BRUME_EXPIRES_OPTION                                                                       \
    {                                                                                              \
        .name = "expires", .type = BRUME_OPTION_TEXT, .argument = "T",                             \
        .help = "refused from then on: 2027-01-31, 2027-01-31T12:00:00Z, or 90d, 12h from now"     \
    }

/* The list of allotments that was typed; free it with brume_typed_allotments_close. */
typedef struct brume_typed_allotments {
    brume_allotment *list;
    char **texts; /* what `list` points into */
    size_t count;
} brume_typed_allotments;

BRUME_MUST_USE brume_status brume_typed_allotments_read(const char *const *typed, size_t count,
                                                        brume_typed_allotments *out,
                                                        brume_error *error);
void brume_typed_allotments_close(brume_typed_allotments *allotments);

/* Those of --allot. */
BRUME_MUST_USE brume_status brume_call_allotments(const brume_call *call,
                                                  brume_typed_allotments *out, brume_error *error);

/* --expires as seconds; `otherwise` if it was not given. "never" is 0. EARGUMENT: not a time, or
 * one that has passed. */
BRUME_MUST_USE brume_status brume_call_expires(const brume_call *call, int64_t otherwise,
                                               int64_t *out, brume_error *error);

/* A filter as {"budget":{…},"spent":{…},"remaining":{…},"queries"}, added to `object`. */
BRUME_MUST_USE brume_status brume_filter_to_json(const brume_filter *filter, json_t *object,
                                                 brume_error *error);

/* The token, shown once: {"name","role","token","expires"} or a text. */
BRUME_MUST_USE brume_status brume_write_token(brume_call *call, brume_ledger *ledger,
                                              const char *name, const char *token,
                                              brume_error *error);

#endif
