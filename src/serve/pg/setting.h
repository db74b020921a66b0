/* The settings of a connection: SET, RESET and SHOW.
 *
 * Those of brume are known by name and checked: prices and other options of a query, the cap of the
 * connection. Those of PostgreSQL that clients read or that matter here have their values; any
 * other name is kept as it was set, and means nothing. */
#ifndef BRUME_SERVE_PG_SETTING_H
#define BRUME_SERVE_PG_SETTING_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include <brume/status.h>

#include "serve/pg/message.h"

typedef struct brume_pg_settings brume_pg_settings;

/* With their first values. NULL: no memory. */
brume_pg_settings *brume_pg_settings_open(void);
void brume_pg_settings_close(brume_pg_settings *settings);

/* Set a value; NULL: the one it had when the connection began (or no value). `local`: until the
 * transaction ends. EUNKNOWN: no setting of brume has this name; EARGUMENT: the value is none of
 * it; EPOLICY: it cannot be changed. */
BRUME_MUST_USE brume_status brume_pg_set(brume_pg_settings *settings, const char *name,
                                         const char *value, bool local, brume_error *error);
/* Set a value that only the server sets, such as what was spent. EMEMORY. */
BRUME_MUST_USE brume_status brume_pg_note(brume_pg_settings *settings, const char *name,
                                          const char *value, brume_error *error);
BRUME_MUST_USE brume_status brume_pg_reset_all(brume_pg_settings *settings, brume_error *error);

/* The values of this moment become those that RESET gives: at the end of the start-up. */
void brume_pg_settings_started(brume_pg_settings *settings);

/* NULL: there is no such setting, or it has no value. Names are compared without case. */
const char *brume_pg_show(const brume_pg_settings *settings, const char *name);
bool brume_pg_is_on(const brume_pg_settings *settings, const char *name);

/* What a transaction's end does: what was set in it is taken back by ROLLBACK, and what was set
 * with LOCAL by either. */
BRUME_MUST_USE brume_status brume_pg_settings_begin(brume_pg_settings *settings,
                                                    brume_error *error);
void brume_pg_settings_end(brume_pg_settings *settings, bool commit);

/* All settings, in the order of their names: told of each. */
typedef void brume_pg_setting_visitor(void *context, const char *name, const char *value,
                                      const char *description);
void brume_pg_settings_visit(const brume_pg_settings *settings, brume_pg_setting_visitor *visit,
                             void *context);

/* Write ParameterStatus for those that clients are told of, if they changed since the last time. */
void brume_pg_settings_report(brume_pg_settings *settings, brume_pg_writer *writer);

/* Add to the options of a query or explanation what is set: epsilon, delta, ... *priced: something
 * among it says how much to pay. EMEMORY. */
BRUME_MUST_USE brume_status brume_pg_settings_options(const brume_pg_settings *settings,
                                                      json_t *options, bool *priced,
                                                      brume_error *error);

#endif
