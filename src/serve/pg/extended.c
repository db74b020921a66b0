/* The extended protocol: Parse, Bind, Describe, Execute, Close. Promises: connection.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "serve/pg/connection.h"

static brume_status malformed(brume_pg_connection *connection, brume_error *error)
{
    return brume_pg_refuse(connection, "08P01", NULL, error, "malformed message");
}

/* ---- Parse ---- */

static brume_status parse(brume_pg_connection *connection, brume_pg_reader *body,
                          brume_error *error)
{
    const char *name = brume_pg_get_text(body), *text = brume_pg_get_text(body);
    uint16_t count = brume_pg_get16(body);
    const uint8_t *types = brume_pg_get_bytes(body, (size_t)4 * count);
    if (!brume_pg_is_read(body))
        return malformed(connection, error);
    brume_pg_statement *statement = NULL;
    BRUME_TRY(brume_pg_statement_open(text, &statement, &connection->position, error));
    size_t needed = statement->parameter_count > count ? statement->parameter_count : count;
    if (needed > BRUME_PG_MOST_PARAMETERS) {
        brume_pg_statement_close(statement);
        return brume_pg_refuse(connection, "54000", NULL, error, "more than %d parameters",
                               BRUME_PG_MOST_PARAMETERS);
    }
    brume_pg_prepared *prepared = calloc(1, sizeof *prepared);
    char *copy = strdup(name);
    uint32_t *list = calloc(needed + 1, sizeof *list);
    if (!prepared || !copy || !list) {
        free(prepared);
        free(copy);
        free(list);
        brume_pg_statement_close(statement);
        return brume_no_memory(error, "the statement");
    }
    brume_pg_reader reader = {.at = types, .left = (size_t)4 * count};
    for (size_t i = 0; i < count; i++)
        list[i] = brume_pg_get32(&reader);
    *prepared = (brume_pg_prepared){
        .name = copy, .statement = statement, .types = list, .type_count = needed};
    BRUME_TRY(brume_pg_add_prepared(connection, prepared, error));
    brume_pg_put_empty(&connection->wire->out, '1');
    return BRUME_OK;
}

static brume_status find_prepared(brume_pg_connection *connection, const char *name,
                                  brume_pg_prepared **out, brume_error *error)
{
    *out = brume_pg_find_prepared(connection, name);
    return *out ? BRUME_OK
                : brume_pg_refuse(connection, "26000", NULL, error,
                                  "the prepared statement \"%.100s\" does not exist", name);
}

/* ---- Bind ---- */

static void free_values(brume_pg_value *values, size_t count)
{
    for (size_t i = 0; values && i < count; i++)
        free(values[i].text);
    free(values);
}

/* The list of formats of parameters or results: false, it is none. */
static bool read_formats(brume_pg_reader *body, brume_pg_formats *formats)
{
    formats->count = brume_pg_get16(body);
    if (formats->count > 2 * BRUME_PG_MOST_PARAMETERS)
        return false;
    formats->list = calloc((size_t)formats->count + 1, sizeof *formats->list);
    for (size_t i = 0; formats->list && i < formats->count; i++) {
        formats->list[i] = brume_pg_get16(body);
        if (formats->list[i] > 1)
            return false;
    }
    return formats->list && !body->failed;
}

static brume_status read_values(brume_pg_connection *connection, const brume_pg_prepared *prepared,
                                brume_pg_reader *body, brume_pg_value **out, brume_error *error)
{
    brume_pg_formats formats = {0};
    brume_pg_value *values = calloc(prepared->type_count + 1, sizeof *values);
    brume_status status = BRUME_OK;
    if (!values)
        return brume_no_memory(error, "the parameters");
    if (!read_formats(body, &formats))
        status = malformed(connection, error);
    uint16_t count = brume_pg_get16(body);
    if (status == BRUME_OK && (body->failed || count != prepared->type_count))
        status = brume_pg_refuse(connection, "08P01", NULL, error,
                                 "%u parameters are given, and %zu are needed", count,
                                 prepared->type_count);
    for (size_t i = 0; status == BRUME_OK && i < count; i++) {
        uint32_t length = brume_pg_get32(body);
        if (length == UINT32_MAX)
            continue;
        const uint8_t *bytes = brume_pg_get_bytes(body, length);
        status = bytes ? brume_pg_value_read(prepared->types[i], brume_pg_format(&formats, i),
                                             bytes, length, &values[i], error)
                       : malformed(connection, error);
    }
    free(formats.list);
    if (status != BRUME_OK)
        free_values(values, prepared->type_count);
    else
        *out = values;
    return status;
}

brume_status brume_pg_bind(brume_pg_connection *connection, const brume_pg_prepared *prepared,
                           const char *name, const brume_pg_value *values, brume_pg_portal **out,
                           brume_error *error)
{
    brume_pg_portal *portal = calloc(1, sizeof *portal);
    char *text = NULL;
    brume_status status =
        portal && (portal->name = strdup(name)) ? BRUME_OK : brume_no_memory(error, "the portal");
    if (status == BRUME_OK)
        status = brume_pg_statement_text(prepared->statement, values, prepared->type_count, &text,
                                         error);
    if (status == BRUME_OK)
        status = brume_pg_statement_open(text, &portal->statement, &connection->position, error);
    if (status == BRUME_OK && portal->statement->kind != prepared->statement->kind)
        status = brume_fail(error, BRUME_EINTERNAL, NULL, "a parameter changed the statement");
    for (size_t i = 0; status == BRUME_OK && i < prepared->described.column_count; i++)
        status = brume_pg_table_add_column(&portal->promised, prepared->described.columns[i].name,
                                           prepared->described.columns[i].type, error);
    free(text);
    if (status != BRUME_OK)
        brume_pg_portal_free(portal);
    else
        *out = portal;
    return status;
}

static brume_status bind(brume_pg_connection *connection, brume_pg_reader *body, brume_error *error)
{
    const char *name = brume_pg_get_text(body), *of = brume_pg_get_text(body);
    brume_pg_prepared *prepared = NULL;
    brume_pg_value *values = NULL;
    brume_pg_portal *portal = NULL;
    if (body->failed)
        return malformed(connection, error);
    BRUME_TRY(find_prepared(connection, of, &prepared, error));
    BRUME_TRY(read_values(connection, prepared, body, &values, error));
    brume_status status = brume_pg_bind(connection, prepared, name, values, &portal, error);
    free_values(values, prepared->type_count);
    BRUME_TRY(status);
    if (!read_formats(body, &portal->formats) || !brume_pg_is_read(body)) {
        brume_pg_portal_free(portal);
        return malformed(connection, error);
    }
    BRUME_TRY(brume_pg_add_portal(connection, portal, error));
    brume_pg_put_empty(&connection->wire->out, '2');
    return BRUME_OK;
}

/* ---- Describe ---- */

/* Values that stand for those not yet known: what a query shows does not depend on them. */
static brume_status try_describe(brume_pg_connection *connection, const brume_pg_prepared *prepared,
                                 const char *untyped, brume_pg_table *table, brume_error *error)
{
    brume_pg_value *values = calloc(prepared->type_count + 1, sizeof *values);
    brume_pg_portal *portal = NULL;
    if (!values)
        return brume_no_memory(error, "the statement");
    for (size_t i = 0; i < prepared->type_count; i++) {
        uint32_t type = prepared->types[i];
        const char *text = type == BRUME_PG_DATE || type == BRUME_PG_TIMESTAMP ? "2000-01-01"
                           : type == 0 || type == BRUME_PG_TEXT || type == BRUME_PG_VARCHAR ||
                                   type == BRUME_PG_UNKNOWN
                               ? untyped
                               : "1";
        values[i] = (brume_pg_value){type, text ? strdup(text) : NULL};
    }
    brume_status status = brume_pg_bind(connection, prepared, "", values, &portal, error);
    free_values(values, prepared->type_count);
    BRUME_TRY(status);
    status = brume_pg_portal_describe(connection, portal, error);
    for (size_t i = 0; status == BRUME_OK && i < portal->table.column_count; i++)
        status = brume_pg_table_add_column(table, portal->table.columns[i].name,
                                           portal->table.columns[i].type, error);
    brume_pg_portal_free(portal);
    return status;
}

static brume_status describe_prepared(brume_pg_connection *connection, const char *name,
                                      brume_error *error)
{
    static const char *const untyped[] = {"1", "true", "2000-01-01", NULL};
    brume_pg_writer *out = &connection->wire->out;
    brume_pg_prepared *prepared = NULL;
    BRUME_TRY(find_prepared(connection, name, &prepared, error));
    if (!prepared->is_described) {
        brume_status status =
            try_describe(connection, prepared, untyped[0], &prepared->described, error);
        for (size_t i = 1; status != BRUME_OK && prepared->type_count > 0 && i < 4; i++) {
            brume_error other;
            char sqlstate[6];
            memcpy(sqlstate, connection->sqlstate, sizeof sqlstate);
            brume_pg_table_clear(&prepared->described);
            if (try_describe(connection, prepared, untyped[i], &prepared->described, &other) ==
                BRUME_OK)
                status = BRUME_OK;
            memcpy(connection->sqlstate, sqlstate, sizeof sqlstate); /* that of the first */
        }
        if (status != BRUME_OK) {
            brume_pg_table_clear(&prepared->described);
            return status;
        }
        connection->sqlstate[0] = 0;
        connection->position = 0;
        prepared->is_described = true;
    }
    brume_pg_begin(out, 't');
    brume_pg_put16(out, (uint16_t)prepared->type_count);
    for (size_t i = 0; i < prepared->type_count; i++)
        brume_pg_put32(out, prepared->types[i] ? prepared->types[i] : BRUME_PG_TEXT);
    brume_pg_end(out);
    if (prepared->described.column_count > 0)
        brume_pg_put_columns(out, &prepared->described, NULL);
    else
        brume_pg_put_empty(out, 'n');
    return BRUME_OK;
}

static brume_status find_portal(brume_pg_connection *connection, const char *name,
                                brume_pg_portal **out, brume_error *error)
{
    *out = brume_pg_find_portal(connection, name);
    return *out ? BRUME_OK
                : brume_pg_refuse(connection, "34000", NULL, error,
                                  "the portal \"%.100s\" does not exist", name);
}

static brume_status describe(brume_pg_connection *connection, brume_pg_reader *body,
                             brume_error *error)
{
    uint8_t what = brume_pg_get8(body);
    const char *name = brume_pg_get_text(body);
    brume_pg_portal *portal = NULL;
    if (!brume_pg_is_read(body) || (what != 'S' && what != 'P'))
        return malformed(connection, error);
    if (what == 'S')
        return describe_prepared(connection, name, error);
    BRUME_TRY(find_portal(connection, name, &portal, error));
    BRUME_TRY(brume_pg_portal_describe(connection, portal, error));
    if (portal->table.column_count > 0)
        brume_pg_put_columns(&connection->wire->out, &portal->table, &portal->formats);
    else
        brume_pg_put_empty(&connection->wire->out, 'n');
    return BRUME_OK;
}

/* ---- Execute and Close ---- */

static brume_status execute(brume_pg_connection *connection, brume_pg_reader *body,
                            brume_error *error)
{
    const char *name = brume_pg_get_text(body);
    uint32_t most = brume_pg_get32(body);
    brume_pg_portal *portal = NULL;
    if (!brume_pg_is_read(body))
        return malformed(connection, error);
    BRUME_TRY(find_portal(connection, name, &portal, error));
    if (portal->is_cursor)
        return brume_pg_refuse(connection, "34000", "FETCH from it", error,
                               "\"%.100s\" is a cursor", name);
    return brume_pg_portal_execute(connection, portal, most > INT32_MAX ? 0 : most, false, error);
}

static brume_status close_one(brume_pg_connection *connection, brume_pg_reader *body,
                              brume_error *error)
{
    uint8_t what = brume_pg_get8(body);
    const char *name = brume_pg_get_text(body);
    if (!brume_pg_is_read(body) || (what != 'S' && what != 'P'))
        return malformed(connection, error);
    if (what == 'S')
        brume_pg_drop_prepared(connection, name);
    else
        brume_pg_drop_portal(connection, name);
    brume_pg_put_empty(&connection->wire->out, '3');
    return BRUME_OK;
}

brume_status brume_pg_extended(brume_pg_connection *connection, char type, brume_pg_reader *body,
                               brume_error *error)
{
    switch (type) {
    case 'P':
        return parse(connection, body, error);
    case 'B':
        return bind(connection, body, error);
    case 'D':
        return describe(connection, body, error);
    case 'E':
        return execute(connection, body, error);
    default:
        return close_one(connection, body, error);
    }
}
