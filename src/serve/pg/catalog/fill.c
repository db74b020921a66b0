/* The rows of the catalog. Promises: fill.h.
 *
 * A dataset of one table is a table of the schema public; of a dataset of several tables the schema
 * has its name. What policies say of columns (bounds, domains, whose the rows are) is in comments.
 * No number here is a fact of the data: row counts and sizes are those of empty tables. */
#include "serve/pg/catalog/fill.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "serve/pg/catalog/relation.h"

enum { OWNER = 10, USER = 16000, PUBLIC = 2200, SYSTEM = 11, INFORMATION = 13000, FIRST = 16384 };

typedef struct filling {
    sqlite3 *database;
    const brume_pg_connection *connection;
    bool failed;
    uint32_t used[4096]; /* numbers of tables and schemas */
    size_t used_count;
} filling;

/* ---- statements ---- */

static void run(filling *fill, const char *sql)
{
    if (!fill->failed && sqlite3_exec(fill->database, sql, NULL, NULL, NULL) != SQLITE_OK)
        fill->failed = true;
}

static const char *affinity(const char *type)
{
    static const char *const whole[] = {"oid", "int2", "int4",    "int8",    "bool",
                                        "xid", "cid",  "regtype", "regclass"};
    static const char *const real[] = {"float4", "float8"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(whole[i], type) == 0)
            return "INTEGER";
    for (size_t i = 0; i < sizeof real / sizeof *real; i++)
        if (strcmp(real[i], type) == 0)
            return "REAL";
    return "TEXT";
}

static void create(filling *fill, const brume_pg_relation *relation)
{
    char name[BRUME_PG_NAME_SIZE], type[BRUME_PG_NAME_SIZE];
    const char *at = relation->columns, *comma = "";
    sqlite3_str *text = sqlite3_str_new(fill->database);
    sqlite3_str_appendf(text, "CREATE TABLE \"%w.%w\" (", relation->schema, relation->name);
    while (brume_pg_next_column(&at, name, type)) {
        sqlite3_str_appendf(text, "%s\"%w\" %s", comma, name, affinity(type));
        comma = ", ";
    }
    sqlite3_str_appendall(text, ")");
    char *sql = sqlite3_str_finish(text);
    run(fill, sql ? sql : "");
    fill->failed = fill->failed || !sql;
    sqlite3_free(sql);
}

/* Insert a row: `columns` are names parted by commas, each followed by a colon and its kind, s (a
 * text; NULL is NULL) or i (an int64_t). */
static void insert(filling *fill, const char *relation, const char *columns, ...)
{
    sqlite3_str *names = sqlite3_str_new(fill->database), *values = sqlite3_str_new(fill->database);
    va_list arguments;
    const char *comma = "";
    va_start(arguments, columns);
    while (*columns) {
        size_t length = strcspn(columns, ":");
        sqlite3_str_appendf(names, "%s\"%.*s\"", comma, (int)length, columns);
        if (columns[length + 1] == 's')
            sqlite3_str_appendf(values, "%s%Q", comma, va_arg(arguments, const char *));
        else
            sqlite3_str_appendf(values, "%s%lld", comma, (long long)va_arg(arguments, int64_t));
        comma = ",";
        columns += length + 2;
        columns += *columns == ',';
    }
    va_end(arguments);
    char *first = sqlite3_str_finish(names), *second = sqlite3_str_finish(values);
    char *sql = first && second ? sqlite3_mprintf("INSERT INTO \"%w\" (%s) VALUES (%s)", relation,
                                                  first, second)
                                : NULL;
    run(fill, sql ? sql : "no memory");
    sqlite3_free(first);
    sqlite3_free(second);
    sqlite3_free(sql);
}

/* A number for a name: the same in every connection, as long as no two names meet in one. */
static int64_t number_of(filling *fill, const char *schema, const char *name)
{
    uint32_t hash = 2166136261u;
    for (const char *at = schema; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    hash = (hash ^ '.') * 16777619u;
    for (const char *at = name; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    uint32_t number = FIRST + (hash & 0x3fffffff);
    for (size_t i = 0; i < fill->used_count; i++)
        if (fill->used[i] == number) {
            number++;
            i = (size_t)-1;
        }
    if (fill->used_count < sizeof fill->used / sizeof *fill->used)
        fill->used[fill->used_count++] = number;
    return number;
}

/* ---- what is always there ---- */

static void add_schema(filling *fill, int64_t number, const char *name)
{
    insert(fill, "pg_catalog.pg_namespace", "oid:i,nspname:s,nspowner:i", number, name,
           (int64_t)OWNER);
    insert(fill, "information_schema.schemata", "catalog_name:s,schema_name:s,schema_owner:s",
           fill->connection->database, name, "brume");
}

static void add_types(filling *fill)
{
    for (size_t i = 0; i < brume_pg_type_count; i++) {
        const brume_pg_type *type = &brume_pg_types[i];
        char kind[] = {type->kind, 0}, category[] = {type->category, 0};
        insert(fill, "pg_catalog.pg_type",
               "oid:i,typname:s,typnamespace:i,typowner:i,typlen:i,typbyval:i,typtype:s,"
               "typcategory:s,typispreferred:i,typisdefined:i,typdelim:s,typrelid:i,typelem:i,"
               "typarray:i,typinput:s,typalign:s,typstorage:s,typnotnull:i,typbasetype:i,"
               "typtypmod:i,typndims:i,typcollation:i",
               (int64_t)type->oid, type->name, (int64_t)SYSTEM, (int64_t)OWNER,
               (int64_t)type->length, (int64_t)(type->length > 0 && type->length <= 8), kind,
               category, (int64_t)type->preferred, (int64_t)1, ",", (int64_t)0,
               (int64_t)type->element, (int64_t)type->array, type->input, "i",
               type->length < 0 ? "x" : "p", (int64_t)0, (int64_t)0, (int64_t)-1, (int64_t)0,
               (int64_t)(type->category == 'S' ? 100 : 0));
    }
}

static void add_role(filling *fill, int64_t number, const char *name)
{
    static const char *const relations[] = {"pg_catalog.pg_roles", "pg_catalog.pg_authid"};
    for (size_t i = 0; i < 2; i++)
        insert(fill, relations[i],
               "oid:i,rolname:s,rolsuper:i,rolinherit:i,rolcreaterole:i,rolcreatedb:i,"
               "rolcanlogin:i,rolreplication:i,rolbypassrls:i,rolconnlimit:i",
               number, name, (int64_t)0, (int64_t)1, (int64_t)0, (int64_t)0, (int64_t)1, (int64_t)0,
               (int64_t)0, (int64_t)-1);
    insert(fill, "pg_catalog.pg_user", "usename:s,usesysid:i,usecreatedb:i,usesuper:i", name,
           number, (int64_t)0, (int64_t)0);
}

static void add_setting(void *context, const char *name, const char *value, const char *description)
{
    insert(context, "pg_catalog.pg_settings",
           "name:s,setting:s,boot_val:s,reset_val:s,short_desc:s,context:s,vartype:s,source:s,"
           "category:s",
           name, value, value, value, description, "user", "string", "default", "brume");
}

static void add_fixed_rows(filling *fill)
{
    const brume_pg_connection *connection = fill->connection;
    const char *database = connection->database;
    add_schema(fill, SYSTEM, "pg_catalog");
    add_schema(fill, INFORMATION, "information_schema");
    add_schema(fill, PUBLIC, "public");
    add_types(fill);
    add_role(fill, OWNER, "brume");
    if (strcmp(connection->user, "brume") != 0)
        add_role(fill, USER, connection->user);
    insert(fill, "pg_catalog.pg_database",
           "oid:i,datname:s,datdba:i,encoding:i,datlocprovider:s,datistemplate:i,datallowconn:i,"
           "datconnlimit:i,dattablespace:i,datcollate:s,datctype:s",
           (int64_t)5, database, (int64_t)OWNER, (int64_t)6, "c", (int64_t)0, (int64_t)1,
           (int64_t)-1, (int64_t)1663, "C", "C");
    insert(fill, "pg_catalog.pg_tablespace", "oid:i,spcname:s,spcowner:i", (int64_t)1663,
           "pg_default", (int64_t)OWNER);
    insert(fill, "pg_catalog.pg_am", "oid:i,amname:s,amhandler:s,amtype:s", (int64_t)2, "heap",
           "heap_tableam_handler", "t");
    insert(fill, "pg_catalog.pg_collation",
           "oid:i,collname:s,collnamespace:i,collowner:i,collprovider:s,collisdeterministic:i,"
           "collencoding:i",
           (int64_t)100, "default", (int64_t)SYSTEM, (int64_t)OWNER, "d", (int64_t)1, (int64_t)-1);
    insert(fill, "pg_catalog.pg_collation",
           "oid:i,collname:s,collnamespace:i,collowner:i,collprovider:s,collisdeterministic:i,"
           "collencoding:i",
           (int64_t)950, "C", (int64_t)SYSTEM, (int64_t)OWNER, "c", (int64_t)1, (int64_t)-1);
    insert(fill, "pg_catalog.pg_stat_activity", "datid:i,datname:s,pid:i,usename:s,state:s",
           (int64_t)5, database, (int64_t)connection->number, connection->user, "active");
    insert(fill, "information_schema.information_schema_catalog_name", "catalog_name:s", database);
    insert(fill, "information_schema.enabled_roles", "role_name:s", connection->user);
    brume_pg_settings_visit(connection->settings, add_setting, fill);
}

/* ---- datasets ---- */

static void add_comment(filling *fill, int64_t table, int64_t column, const char *text)
{
    if (*text)
        insert(fill, "pg_catalog.pg_description", "objoid:i,classoid:i,objsubid:i,description:s",
               table, (int64_t)1259, column, text);
}

/* What the policy says of a column, in words. */
static void describe_column(const json_t *column, char text[400])
{
    const char *low = json_string_value(json_object_get(column, "low"));
    const char *high = json_string_value(json_object_get(column, "high"));
    const json_t *domain = json_object_get(column, "domain"), *value;
    size_t used = 0, i;
    text[0] = 0;
    if (low && high)
        used += (size_t)snprintf(text, 400, "bounds %.60s..%.60s", low, high);
    if (json_is_array(domain))
        used += (size_t)snprintf(text + used, 400 - used, "%sdomain ", used ? "; " : "");
    json_array_foreach (domain, i, value) {
        const char *word = json_string_value(value);
        if (used > 300) {
            snprintf(text + used, 400 - used, ", ...");
            break;
        }
        used += (size_t)snprintf(text + used, 400 - used, "%s%.80s", i ? ", " : "",
                                 word ? word : "NULL");
    }
}

/* The number of a type of brume's, and its modifier. */
static const brume_pg_type *type_of(const char *word, int64_t *modifier)
{
    int precision = 0, scale = 0;
    *modifier = -1;
    if (word && sscanf(word, "decimal(%d,%d)", &precision, &scale) == 2) {
        *modifier = ((precision << 16) | scale) + 4;
        return brume_pg_type_find(BRUME_PG_NUMERIC);
    }
    if (word && strcmp(word, "double") == 0)
        return brume_pg_type_find(BRUME_PG_FLOAT8);
    const brume_pg_type *found = word ? brume_pg_type_named(word) : NULL;
    return found ? found : brume_pg_type_find(BRUME_PG_TEXT);
}

static void add_column(filling *fill, const char *schema, const char *table, int64_t number,
                       size_t place, const json_t *column)
{
    int64_t modifier = -1;
    char comment[400];
    const char *name = json_string_value(json_object_get(column, "name"));
    const brume_pg_type *type =
        type_of(json_string_value(json_object_get(column, "type")), &modifier);
    bool not_null = json_is_true(json_object_get(column, "not_null"));
    if (!name)
        return;
    insert(fill, "pg_catalog.pg_attribute",
           "attrelid:i,attname:s,atttypid:i,attstattarget:i,attlen:i,attnum:i,attndims:i,"
           "attcacheoff:i,atttypmod:i,attbyval:i,attalign:s,attstorage:s,attcompression:s,"
           "attnotnull:i,atthasdef:i,atthasmissing:i,attidentity:s,attgenerated:s,attisdropped:i,"
           "attislocal:i,attinhcount:i,attcollation:i",
           number, name, (int64_t)type->oid, (int64_t)-1, (int64_t)type->length, (int64_t)place,
           (int64_t)0, (int64_t)-1, modifier, (int64_t)(type->length > 0), "i",
           type->length < 0 ? "x" : "p", "", (int64_t)not_null, (int64_t)0, (int64_t)0, "", "",
           (int64_t)0, (int64_t)1, (int64_t)0, (int64_t)(type->category == 'S' ? 100 : 0));
    insert(fill, "information_schema.columns",
           "table_catalog:s,table_schema:s,table_name:s,column_name:s,ordinal_position:i,"
           "is_nullable:s,data_type:s,udt_catalog:s,udt_schema:s,udt_name:s,dtd_identifier:s,"
           "is_self_referencing:s,is_identity:s,is_generated:s,is_updatable:s",
           fill->connection->database, schema, table, name, (int64_t)place, not_null ? "NO" : "YES",
           type->sql_name, fill->connection->database, "pg_catalog", type->name, "", "NO", "NO",
           "NEVER", "NO");
    describe_column(column, comment);
    brume_utf8_mend(comment);
    add_comment(fill, number, (int64_t)place, comment);
}

static void describe_table(const json_t *table, char text[400])
{
    const char *unit = json_string_value(json_object_get(table, "unit"));
    const json_t *link = json_object_get(table, "link");
    const char *parent = json_string_value(json_object_get(link, "table"));
    if (json_is_true(json_object_get(table, "public")))
        snprintf(text, 400, "public: queries are exact and free");
    else if (parent)
        snprintf(text, 400, "private: a row belongs to the unit of its row in %.100s", parent);
    else
        snprintf(text, 400, "private: the unit is %.100s", unit ? unit : "the row");
}

static void add_table(filling *fill, const char *schema, int64_t schema_number, const char *name,
                      const json_t *table)
{
    const json_t *columns = json_object_get(table, "columns"), *column;
    char comment[400];
    size_t i;
    int64_t number = number_of(fill, schema, name);
    insert(fill, "pg_catalog.pg_class",
           "oid:i,relname:s,relnamespace:i,reltype:i,reloftype:i,relowner:i,relam:i,relfilenode:i,"
           "reltablespace:i,relpages:i,reltuples:i,relallvisible:i,reltoastrelid:i,relhasindex:i,"
           "relisshared:i,relpersistence:s,relkind:s,relnatts:i,relchecks:i,relhasrules:i,"
           "relhastriggers:i,relhassubclass:i,relrowsecurity:i,relforcerowsecurity:i,"
           "relispopulated:i,relreplident:s,relispartition:i,relrewrite:i,relfrozenxid:i,"
           "relminmxid:i",
           number, name, schema_number, (int64_t)0, (int64_t)0, (int64_t)OWNER, (int64_t)2,
           (int64_t)0, (int64_t)0, (int64_t)0, (int64_t)-1, (int64_t)0, (int64_t)0, (int64_t)0,
           (int64_t)0, "p", "r", (int64_t)json_array_size(columns), (int64_t)0, (int64_t)0,
           (int64_t)0, (int64_t)0, (int64_t)0, (int64_t)0, (int64_t)1, "d", (int64_t)0, (int64_t)0,
           (int64_t)0, (int64_t)0);
    insert(fill, "pg_catalog.pg_tables",
           "schemaname:s,tablename:s,tableowner:s,hasindexes:i,hasrules:i,hastriggers:i,"
           "rowsecurity:i",
           schema, name, "brume", (int64_t)0, (int64_t)0, (int64_t)0, (int64_t)0);
    insert(fill, "information_schema.tables",
           "table_catalog:s,table_schema:s,table_name:s,table_type:s,is_insertable_into:s,"
           "is_typed:s",
           fill->connection->database, schema, name, "BASE TABLE", "NO", "NO");
    insert(fill, "information_schema.table_privileges",
           "grantor:s,grantee:s,table_catalog:s,table_schema:s,table_name:s,privilege_type:s,"
           "is_grantable:s,with_hierarchy:s",
           "brume", fill->connection->user, fill->connection->database, schema, name, "SELECT",
           "NO", "YES");
    json_array_foreach (columns, i, column)
        add_column(fill, schema, name, number, i + 1, column);
    describe_table(table, comment);
    brume_utf8_mend(comment);
    add_comment(fill, number, 0, comment);
}

static void add_dataset(filling *fill, const json_t *dataset)
{
    const char *name = json_string_value(json_object_get(dataset, "dataset"));
    const json_t *tables = json_object_get(dataset, "tables"), *table;
    size_t i;
    if (!name)
        return;
    if (!json_is_array(tables)) {
        add_table(fill, "public", PUBLIC, name, dataset);
        return;
    }
    int64_t number = number_of(fill, name, "");
    add_schema(fill, number, name);
    json_array_foreach (tables, i, table) {
        const char *own = json_string_value(json_object_get(table, "name"));
        if (own)
            add_table(fill, name, number, own, table);
    }
}

brume_status brume_pg_catalog_fill_settings(sqlite3 *database,
                                            const brume_pg_connection *connection,
                                            brume_error *error)
{
    filling *fill = calloc(1, sizeof *fill);
    if (!fill)
        return brume_no_memory(error, "the catalog");
    fill->database = database;
    fill->connection = connection;
    run(fill, "BEGIN; DELETE FROM \"pg_catalog.pg_settings\"");
    brume_pg_settings_visit(connection->settings, add_setting, fill);
    run(fill, "COMMIT");
    bool failed = fill->failed;
    free(fill);
    return failed ? brume_no_memory(error, "the catalog") : BRUME_OK;
}

brume_status brume_pg_catalog_fill(sqlite3 *database, const brume_pg_connection *connection,
                                   const json_t *shown, brume_error *error)
{
    filling *fill = calloc(1, sizeof *fill);
    const json_t *dataset;
    size_t i;
    if (!fill)
        return brume_no_memory(error, "the catalog");
    fill->database = database;
    fill->connection = connection;
    run(fill, "PRAGMA page_size = 1024; BEGIN"); /* most of the relations are empty */
    for (i = 0; i < brume_pg_relation_count; i++)
        create(fill, &brume_pg_relations[i]);
    add_fixed_rows(fill);
    json_array_foreach (shown, i, dataset)
        add_dataset(fill, dataset);
    run(fill, "COMMIT");
    bool failed = fill->failed;
    free(fill);
    return failed ? brume_fail(error, BRUME_EINTERNAL, NULL, "the catalog cannot be made: %.200s",
                               sqlite3_errmsg(database))
                  : BRUME_OK;
}
