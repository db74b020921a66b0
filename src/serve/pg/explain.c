/* EXPLAIN: what a query would measure, at what price, with what error, as a person reads it.
 * Promises: connection.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <brume/session.h>

#include "base/error.h"
#include "serve/pg/connection.h"

static brume_status add_lines(char *text, brume_pg_table *table, brume_error *error)
{
    char *rest = text, *line;
    while ((line = strsep(&rest, "\n"))) {
        char **row = !rest && !*line ? NULL : brume_pg_table_add_row(table);
        if (!rest && !*line)
            break;
        if (!row || !(row[0] = strdup(line)))
            return brume_no_memory(error, "the answer");
    }
    return BRUME_OK;
}

brume_status brume_pg_ask_explain(brume_pg_connection *connection, const char *sql,
                                  brume_pg_table *table, brume_error *error)
{
    bool priced = false;
    brume_pg_outcome outcome = {0};
    json_t *options = json_object();
    char *text = NULL, *answer = NULL;
    brume_status status = brume_pg_table_add_column(table, "QUERY PLAN", BRUME_PG_TEXT, error);
    if (status == BRUME_OK)
        status = brume_pg_settings_options(connection->settings, options, &priced, error);
    (void)json_object_del(options, "timeout");
    if (status == BRUME_OK && !priced)
        status = brume_pg_refuse(connection, "22023", "SET brume.epsilon = 0.1", error,
                                 "a price is missing: what it buys cannot be told without");
    if (status == BRUME_OK && (json_object_set_new(options, "format", json_string("text")) != 0 ||
                               json_object_set_new(options, "sql", json_string(sql)) != 0 ||
                               !(text = json_dumps(options, 0))))
        status = brume_no_memory(error, "the query");
    if (status == BRUME_OK)
        status = connection->backend->run(connection->backend->context, "explain", NULL, text,
                                          &answer, &outcome, error);
    if (status != BRUME_OK && outcome.busy)
        snprintf(connection->sqlstate, sizeof connection->sqlstate, "53300");
    if (status == BRUME_OK)
        status = add_lines(answer, table, error);
    brume_free(answer);
    free(text);
    json_decref(options);
    return status;
}
