/* What of users other commands show. */
#ifndef BRUME_COMMAND_USER_H
#define BRUME_COMMAND_USER_H

#include <brume/account/filter.h>

#include "command/command.h"

/* A filter as {"budget":{…},"spent":{…},"remaining":{…},"queries"}, added to `object`. */
BRUME_MUST_USE brume_status brume_filter_to_json(const brume_filter *filter, json_t *object,
                                                 brume_error *error);

#endif
