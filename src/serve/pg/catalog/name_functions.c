/* Functions about names and the connection, for the database of the catalog. Promises:
 * sqlite.h. */
#include "serve/pg/catalog/sqlite.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <brume/session.h>

#include "base/error.h"
#include "serve/pg/catalog/relation.h"

static const char *text_of(sqlite3_value *value)
{
    return (const char *)sqlite3_value_text(value);
}

static void give(sqlite3_context *context, const char *text)
{
    if (text)
        sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
    else
        sqlite3_result_null(context);
}

/* The first value of a query of the catalog with two arguments; NULL if it has no row. */
static void look_up(sqlite3_context *context, const char *sql, sqlite3_value *first,
                    sqlite3_value *second)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(sqlite3_context_db_handle(context), sql, -1, &statement, NULL) ==
            SQLITE_OK &&
        sqlite3_bind_value(statement, 1, first) == SQLITE_OK &&
        (!second || sqlite3_bind_value(statement, 2, second) == SQLITE_OK) &&
        sqlite3_step(statement) == SQLITE_ROW)
        sqlite3_result_value(context, sqlite3_column_value(statement, 0));
    sqlite3_finalize(statement);
}

/* ---- names ---- */

/* "schema.name" or a name, each perhaps quoted, in two parts; schema is "" where there is none. */
static bool split_name(const char *text, char schema[128], char name[128])
{
    char parts[3][128] = {{0}};
    size_t part = 0, length = 0;
    bool quoted = false;
    for (; *text; text++) {
        if (*text == '"') {
            quoted = !quoted;
        } else if (*text == '.' && !quoted) {
            parts[part++][length] = 0;
            length = 0;
            if (part == 3)
                return false;
        } else {
            if (length == 127)
                return false;
            parts[part][length++] = quoted ? *text : (char)tolower((unsigned char)*text);
        }
    }
    parts[part][length] = 0;
    memcpy(name, parts[part], 128);
    memset(schema, 0, 128);
    if (part > 0)
        memcpy(schema, parts[part - 1], 128);
    return true;
}

static void run_to_regclass(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *text = text_of(values[0]);
    char schema[128], name[128];
    sqlite3_stmt *statement = NULL;
    (void)count;
    if (!text || !split_name(text, schema, name))
        return;
    if (*name && strspn(name, "0123456789") == strlen(name)) {
        sqlite3_result_int64(context, strtoll(name, NULL, 10));
        return;
    }
    const brume_pg_relation *relation =
        brume_pg_relation_find(*schema ? schema : "pg_catalog", name);
    if (relation) {
        sqlite3_result_int64(context, relation->oid);
        return;
    }
    static const char sql[] =
        "SELECT c.oid FROM \"pg_catalog.pg_class\" c JOIN \"pg_catalog.pg_namespace\" n "
        "ON n.oid = c.relnamespace WHERE c.relname = ?1 AND (?2 = '' OR n.nspname = ?2) "
        "ORDER BY n.nspname <> 'public', n.nspname";
    if (sqlite3_prepare_v2(sqlite3_context_db_handle(context), sql, -1, &statement, NULL) ==
            SQLITE_OK &&
        sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_bind_text(statement, 2, schema, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        sqlite3_result_int64(context, sqlite3_column_int64(statement, 0));
    sqlite3_finalize(statement);
}

static void run_regclass_text(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    for (size_t i = 0; i < brume_pg_relation_count; i++)
        if ((sqlite3_int64)brume_pg_relations[i].oid == sqlite3_value_int64(values[0])) {
            give(context, brume_pg_relations[i].name);
            return;
        }
    look_up(context,
            "SELECT CASE WHEN n.nspname = 'public' THEN c.relname ELSE n.nspname || '.' || "
            "c.relname END FROM \"pg_catalog.pg_class\" c JOIN \"pg_catalog.pg_namespace\" n ON "
            "n.oid = c.relnamespace WHERE c.oid = ?1",
            values[0], NULL);
}

static void run_to_regtype(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *text = text_of(values[0]);
    char schema[128], name[128];
    (void)count;
    if (!text || !split_name(text, schema, name))
        return;
    size_t length = strlen(name);
    bool array = length > 2 && strcmp(name + length - 2, "[]") == 0;
    if (array)
        name[length - 2] = 0;
    const brume_pg_type *type = brume_pg_type_named(name);
    if (type)
        sqlite3_result_int64(context, array ? type->array : type->oid);
}

static void run_format_type(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL)
        return;
    const brume_pg_type *type = brume_pg_type_find((uint32_t)sqlite3_value_int64(values[0]));
    int modifier = sqlite3_value_type(values[1]) == SQLITE_NULL ? -1 : sqlite3_value_int(values[1]);
    if (type && type->oid == BRUME_PG_NUMERIC && modifier >= 4) {
        char text[40];
        snprintf(text, sizeof text, "numeric(%d,%d)", (modifier - 4) >> 16,
                 (modifier - 4) & 0xffff);
        give(context, text);
        return;
    }
    give(context, type ? type->sql_name : "???");
}

static void run_regproc(sqlite3_context *context, int count, sqlite3_value **values)
{
    char schema[128], name[128];
    const char *text = text_of(values[0]);
    (void)count;
    if (text && split_name(text, schema, name))
        give(context, name);
}

static void run_to_regnamespace(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    look_up(context, "SELECT oid FROM \"pg_catalog.pg_namespace\" WHERE nspname = trim(?1, '\"')",
            values[0], NULL);
}

static void run_regnamespace_text(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    look_up(context, "SELECT nspname FROM \"pg_catalog.pg_namespace\" WHERE oid = ?1", values[0],
            NULL);
}

static void run_to_regrole(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    look_up(context, "SELECT oid FROM \"pg_catalog.pg_roles\" WHERE rolname = trim(?1, '\"')",
            values[0], NULL);
}

static void run_user_by_id(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    look_up(context, "SELECT rolname FROM \"pg_catalog.pg_roles\" WHERE oid = ?1", values[0], NULL);
}

static void run_col_description(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    look_up(context,
            "SELECT description FROM \"pg_catalog.pg_description\" WHERE objoid = ?1 AND objsubid "
            "= ?2 AND classoid = 1259",
            values[0], values[1]);
}

static void run_obj_description(sqlite3_context *context, int count, sqlite3_value **values)
{
    if (count == 2 && text_of(values[1]) && strcmp(text_of(values[1]), "pg_class") != 0)
        return;
    look_up(context,
            "SELECT description FROM \"pg_catalog.pg_description\" WHERE objoid = ?1 AND objsubid "
            "= 0 AND classoid = 1259",
            values[0], NULL);
}

static void run_quote_ident(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *text = text_of(values[0]);
    (void)count;
    if (!text)
        return;
    bool plain = *text && !isdigit((unsigned char)*text);
    for (const char *at = text; *at; at++)
        plain = plain && (islower((unsigned char)*at) || isdigit((unsigned char)*at) || *at == '_');
    char *made = sqlite3_mprintf(plain ? "%s" : "\"%w\"", text);
    sqlite3_result_text(context, made, -1, sqlite3_free);
}

/* ---- the connection ---- */

static brume_pg_connection *connection_of(sqlite3_context *context)
{
    return sqlite3_user_data(context);
}

static void run_user(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    (void)values;
    give(context, connection_of(context)->user);
}

static void run_database(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    (void)values;
    give(context, connection_of(context)->database);
}

static void run_backend(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    (void)values;
    sqlite3_result_int(context, connection_of(context)->number);
}

static void run_version(sqlite3_context *context, int count, sqlite3_value **values)
{
    char text[160];
    (void)count;
    (void)values;
    snprintf(text, sizeof text,
             "PostgreSQL 15.0 (brume %s), differential privacy: answers have noise",
             brume_session_version());
    give(context, text);
}

static void run_now(sqlite3_context *context, int count, sqlite3_value **values)
{
    char text[40];
    time_t now = time(NULL);
    struct tm parts;
    (void)count;
    (void)values;
    if (gmtime_r(&now, &parts) && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S+00", &parts))
        give(context, text);
}

static void run_current_setting(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *name = text_of(values[0]);
    (void)count;
    give(context, name ? brume_pg_show(connection_of(context)->settings, name) : NULL);
}

static void run_set_config(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *name = text_of(values[0]), *value = text_of(values[1]);
    brume_error error;
    (void)count;
    if (!name || !value)
        return;
    if (brume_pg_set(connection_of(context)->settings, name, value,
                     sqlite3_value_int(values[2]) != 0, &error) != BRUME_OK)
        sqlite3_result_error(context, error.message, -1);
    else
        give(context, value);
}

static void run_schemas(sqlite3_context *context, int count, sqlite3_value **values)
{
    bool with_system = count > 0 && sqlite3_value_int(values[0]);
    give(context, with_system ? "{pg_catalog,public}" : "{public}");
}

/* Everything may be read, nothing may be written. The last argument is the privilege. */
static void run_may_read(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *what = count > 0 ? text_of(values[count - 1]) : NULL;
    sqlite3_result_int(context,
                       what && (strcasecmp(what, "select") == 0 || strcasecmp(what, "usage") == 0 ||
                                strcasecmp(what, "connect") == 0 ||
                                strncasecmp(what, "select,", 7) == 0));
}

/* A table can be named without its schema if no other has its name, as in brume's SQL. */
static void run_is_visible(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    look_up(context,
            "SELECT n.nspname = 'public' OR 1 = (SELECT count(*) FROM \"pg_catalog.pg_class\" o "
            "WHERE o.relname = c.relname) FROM \"pg_catalog.pg_class\" c JOIN "
            "\"pg_catalog.pg_namespace\" n ON n.oid = c.relnamespace WHERE c.oid = ?1",
            values[0], NULL);
}

brume_status brume_pg_add_functions(sqlite3 *database, brume_pg_connection *connection,
                                    brume_error *error)
{
    static const brume_pg_sqlite_function list[] = {
        {"to_regclass", 1, run_to_regclass},
        {"brume_regclass_text", 1, run_regclass_text},
        {"to_regtype", 1, run_to_regtype},
        {"format_type", 2, run_format_type},
        {"brume_regproc", 1, run_regproc},
        {"to_regnamespace", 1, run_to_regnamespace},
        {"brume_regnamespace_text", 1, run_regnamespace_text},
        {"to_regrole", 1, run_to_regrole},
        {"pg_get_userbyid", 1, run_user_by_id},
        {"col_description", 2, run_col_description},
        {"obj_description", 1, run_obj_description},
        {"obj_description", 2, run_obj_description},
        {"quote_ident", 1, run_quote_ident},
        {"brume_user", 0, run_user},
        {"current_database", 0, run_database},
        {"pg_backend_pid", 0, run_backend},
        {"brume_version_text", 0, run_version},
        {"now", 0, run_now},
        {"current_setting", 1, run_current_setting},
        {"current_setting", 2, run_current_setting},
        {"set_config", 3, run_set_config},
        {"brume_schemas", 1, run_schemas},
        {"brume_may_read", -1, run_may_read},
        {"brume_is_visible", 1, run_is_visible},
    };
    BRUME_TRY(brume_pg_add_list(database, list, sizeof list / sizeof *list, connection, error));
    BRUME_TRY(brume_pg_add_text_functions(database, error));
    return brume_pg_add_array_functions(database, error);
}
