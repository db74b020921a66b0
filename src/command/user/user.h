/* What of users other commands show. */
#ifndef BRUME_COMMAND_USER_H
#define BRUME_COMMAND_USER_H

#include <brume/account/filter.h>

#include "command/command.h"
#include "ledger/user.h"

/* A filter as {"budget":{…},"spent":{…},"remaining":{…},"queries"}, added to `object`. */
BRUME_MUST_USE brume_status brume_filter_to_json(const brume_filter *filter, json_t *object,
                                                 brume_error *error);

/* The allotments that were typed, as operands from the second on or with --allot; the call keeps
 * them. */
typedef struct brume_typed_allotments {
    brume_allotment *list;
    size_t count;
} brume_typed_allotments;

BRUME_MUST_USE brume_status brume_read_allotments(brume_call *call, brume_typed_allotments *out,
                                                  brume_error *error);

/* The "allotments" of a list of users or projects, with numbers in place of the filter's text; and
 * one such list as the cell of a table. */
struct brume_table;
BRUME_MUST_USE brume_status brume_expand_allotments(const json_t *users, brume_error *error);
void brume_write_allotments(struct brume_table *table, const json_t *list);

#endif
