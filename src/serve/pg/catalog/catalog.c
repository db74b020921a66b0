/* The database of the catalog. Promises: catalog.h.
 *
 * There is one in a process, made when it is first asked and filled again when the user, the
 * datasets or the settings are others. A dataset of one table is a table of the schema public; of a
 * dataset of several tables the schema has its name. What policies say of columns (bounds, domains,
 * whose the rows are) is in comments. */
#include "serve/pg/catalog/catalog.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "engine/libduckdb.h"
#include "serve/pg/catalog/relation.h"
#include "serve/pg/catalog/rewrite.h"

enum { PUBLIC = 2200, FIRST = 16384, MOST_ROWS = 100000, MOST_BYTES = 64 << 20 };

static struct {
    pthread_mutex_t lock;
    duckdb_database database;
    duckdb_connection connection;
    char *filled[2]; /* what it was filled from, of datasets and of the connection; NULL: nothing */
} catalog = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *const macros[] = {
#define BRUME_PG_BUILTINS(...)
#define BRUME_PG_MACRO(name, ...) "CREATE MACRO brume_" #name #__VA_ARGS__ ";",
#include "serve/pg/catalog/functions.def"
#undef BRUME_PG_BUILTINS
#undef BRUME_PG_MACRO
};

static const struct {
    bool of_connection;
    const char *sql;
} fillings[] = {
#define BRUME_PG_ROWS(part, name, ...)                                                             \
    {part, "DELETE FROM \"" #name "\"; INSERT INTO \"" #name "\" BY NAME " #__VA_ARGS__ ";"},
#define BRUME_PG_MAP(part, name, ...)                                                              \
    {part, "SET VARIABLE " #name                                                                   \
           " = (SELECT MAP(list(k), list(v)) FROM (SELECT k, min(v) AS v FROM (" #__VA_ARGS__      \
           ") m(k, v) GROUP BY k));"},
#define BRUME_PG_VALUE(part, name, ...) {part, "SET VARIABLE " #name " = (" #__VA_ARGS__ ");"},
#include "serve/pg/catalog/rows.def"
#undef BRUME_PG_ROWS
#undef BRUME_PG_MAP
#undef BRUME_PG_VALUE
};

/* ---- making it ---- */

/* Run statements; the caller frees a result that it wants. EINTERNAL: with what DuckDB says. */
static brume_status run(const char *sql, duckdb_result *wanted, brume_error *error)
{
    duckdb_result own, *result = wanted ? wanted : &own;
    brume_status status = BRUME_OK;
    if (duckdb_query(catalog.connection, sql, result) != DuckDBSuccess) {
        status = brume_fail(error, BRUME_EINTERNAL, NULL, "%.250s", duckdb_result_error(result));
        brume_utf8_mend(error->message);
    }
    if (!wanted || status != BRUME_OK)
        duckdb_destroy_result(result);
    return status;
}

/* What is written is run. NULL: there is no memory. */
typedef struct script {
    FILE *out;
    char *sql;
    size_t length;
} script;

static brume_status run_script(script *all, brume_error *error)
{
    if (all->out)
        fclose(all->out);
    brume_status status = all->sql ? run(all->sql, NULL, error) : brume_no_memory(error, NULL);
    free(all->sql);
    return status;
}

static void write_relation(FILE *out, const brume_pg_relation *relation)
{
    char name[BRUME_PG_NAME_SIZE], type[BRUME_PG_NAME_SIZE], comma[] = "(";
    const char *at = relation->columns;
    bool is_array = false;
    if (strncmp(at, "like ", 5) == 0)
        at = brume_pg_relation_find(relation->schema, at + 5)->columns;
    fprintf(out, "CREATE TABLE \"%s\"", relation->name);
    for (; brume_pg_next_column(&at, name, type); *comma = ',') {
        const brume_pg_type *known = brume_pg_type_named(type, &is_array);
        fprintf(out, "%s\"%s\" %s%s", comma, name, known ? known->stored : "text",
                is_array ? "[]" : "");
    }
    fputs(");", out);
}

/* Lock-down: in memory, nothing outside of it, nothing on disk, one thread, and no way to change
 * that. The order of NULLs and the division of integers are PostgreSQL's. */
static const char settle[] =
    "SET threads = 1; SET memory_limit = '256MB'; SET temp_directory = ''; SET TimeZone = 'UTC';"
    "SET autoinstall_known_extensions = false; SET autoload_known_extensions = false;"
    "SET integer_division = true;"
    "SET default_null_order = 'nulls_last_on_asc_first_on_desc';"
    "SET enable_external_access = false; SET lock_configuration = true; BEGIN;"
    "CREATE TABLE shown_session(username text, database text, version text);"
    "CREATE TABLE shown_connection(number int4);"
    "CREATE TABLE shown_setting(name text, setting text, description text);"
    "CREATE TABLE shown_schema(number int8, name text);"
    "CREATE TABLE shown_table(number int8, space int8, schema text, name text, width int4,"
    " comment text);"
    "CREATE TABLE shown_column(number int8, place int4, name text, type int8, modifier int4,"
    " required int4, comment text);"
    "CREATE TABLE shown_relation(number int8, schema text, name text);"
    "CREATE TABLE shown_type(oid int8, name text, sql_name text, length int4, kind text,"
    " category text, preferred bool, element int8, array_oid int8, input text);";

static brume_status open_catalog(brume_error *error)
{
    script all = {0};
    BRUME_TRY(brume_libduckdb_load(error));
    if (duckdb_open(NULL, &catalog.database) != DuckDBSuccess ||
        duckdb_connect(catalog.database, &catalog.connection) != DuckDBSuccess)
        return brume_fail(error, BRUME_EENGINE, NULL, "DuckDB cannot be started");
    if (!(all.out = open_memstream(&all.sql, &all.length)))
        return brume_no_memory(error, NULL);
    fputs(settle, all.out);
    for (size_t i = 0; i < brume_pg_relation_count; i++)
        write_relation(all.out, &brume_pg_relations[i]);
    fputs("INSERT INTO shown_relation VALUES ", all.out);
    for (size_t i = 0; i < brume_pg_relation_count; i++)
        fprintf(all.out, "%s(%u, '%s', '%s')", i ? "," : "", brume_pg_relations[i].oid,
                brume_pg_relations[i].schema, brume_pg_relations[i].name);
    fputs("; INSERT INTO shown_type VALUES ", all.out);
    for (size_t i = 0; i < brume_pg_type_count; i++) {
        const brume_pg_type *one = &brume_pg_types[i];
        fprintf(all.out, "%s(%u, '%s', '%s', %d, '%c', '%c', %d = 1, %u, %u, '%s')", i ? "," : "",
                one->oid, one->name, one->sql_name, one->length, one->kind, one->category,
                one->preferred, one->element, one->array, one->input);
    }
    fputs("; INSERT INTO shown_type SELECT array_oid, '_' || name, sql_name || '[]', -1, 'b', 'A',"
          " false, oid, 0, 'array_in' FROM shown_type WHERE array_oid > 0;",
          all.out);
    for (size_t i = 0; i < sizeof macros / sizeof *macros; i++)
        fputs(macros[i], all.out);
    fputs("COMMIT;", all.out);
    return run_script(&all, error);
}

/* ---- filling it ---- */

/* "INSERT INTO name VALUES (a, b, ...)", of numbers (%) and texts ($). */
static void insert(FILE *out, const char *name, const char *kinds, ...)
{
    va_list arguments;
    const char *comma = "(";
    va_start(arguments, kinds);
    fprintf(out, "INSERT INTO %s VALUES ", name);
    for (; *kinds; kinds++, comma = ",") {
        fputs(comma, out);
        if (*kinds == '%') {
            fprintf(out, "%lld", va_arg(arguments, long long));
            continue;
        }
        const char *text = va_arg(arguments, const char *);
        fputs(text ? "'" : "NULL", out);
        for (const char *at = text; at && *at; at++)
            fputs(*at == '\'' ? "''" : (char[]){*at, 0}, out);
        fputs(text ? "'" : "", out);
    }
    va_end(arguments);
    fputs(");", out);
}

/* A number for a name: the same in every database. */
static long long number_of(const char *schema, const char *name)
{
    uint32_t hash = 2166136261u;
    for (const char *at = schema; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    hash = (hash ^ '.') * 16777619u;
    for (const char *at = name; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    return FIRST + (hash & 0x3fffffff);
}

static const char *string_in(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* What the policy says of a column, in words. */
static void describe_column(const json_t *column, char text[400])
{
    const char *low = string_in(column, "low"), *high = string_in(column, "high");
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
    brume_utf8_mend(text);
}

static void describe_table(const json_t *table, char text[400])
{
    const char *unit = string_in(table, "unit");
    const char *parent = string_in(json_object_get(table, "link"), "table");
    if (json_is_true(json_object_get(table, "public")))
        snprintf(text, 400, "public: queries are exact and free");
    else if (parent)
        snprintf(text, 400, "private: a row belongs to the unit of its row in %.100s", parent);
    else
        snprintf(text, 400, "private: the unit is %.100s", unit ? unit : "the row");
    brume_utf8_mend(text);
}

static void add_table(FILE *out, const char *schema, long long space, const char *name,
                      const json_t *table)
{
    const json_t *columns = json_object_get(table, "columns"), *column;
    long long number = number_of(schema, name);
    char comment[400];
    size_t i;
    describe_table(table, comment);
    insert(out, "shown_table", "%%$$%$", number, space, schema, name,
           (long long)json_array_size(columns), comment);
    json_array_foreach (columns, i, column) {
        const char *word = string_in(column, "type");
        bool is_array = false;
        int precision = 0, scale = 0;
        bool is_decimal = word && sscanf(word, "decimal(%d,%d)", &precision, &scale) == 2;
        const brume_pg_type *type = brume_pg_type_named(is_decimal ? "numeric"
                                                        : word     ? word
                                                                   : "text",
                                                        &is_array);
        describe_column(column, comment);
        insert(out, "shown_column", "%%$%%%$", number, (long long)i + 1, string_in(column, "name"),
               type ? (long long)type->oid : BRUME_PG_TEXT,
               is_decimal ? ((precision << 16) | scale) + 4LL : -1LL,
               (long long)json_is_true(json_object_get(column, "not_null")), comment);
    }
}

/* `from`: [answers of show, user, database]. */
static void write_datasets(FILE *out, const json_t *from)
{
    const json_t *one, *table, *tables;
    char version[160];
    size_t i, j;
    snprintf(version, sizeof version,
             "PostgreSQL 15.0 (brume %s), differential privacy: answers have noise",
             brume_session_version());
    fputs("DELETE FROM shown_session; DELETE FROM shown_schema; DELETE FROM shown_table;"
          "DELETE FROM shown_column; INSERT INTO shown_schema VALUES (11, 'pg_catalog'),"
          " (13000, 'information_schema'), (2200, 'public');",
          out);
    insert(out, "shown_session", "$$$", json_string_value(json_array_get(from, 1)),
           json_string_value(json_array_get(from, 2)), version);
    json_array_foreach (json_array_get(from, 0), i, one) {
        const char *name = string_in(one, "dataset");
        tables = json_object_get(one, "tables");
        if (name && !tables)
            add_table(out, "public", PUBLIC, name, one);
        if (name && tables)
            insert(out, "shown_schema", "%$", number_of(name, ""), name);
        json_array_foreach (tables, j, table)
            if (name && string_in(table, "name"))
                add_table(out, name, number_of(name, ""), string_in(table, "name"), table);
    }
}

static void write_connection(FILE *out, const json_t *options)
{
    size_t i;
    const json_t *one;
    fputs("DELETE FROM shown_connection; DELETE FROM shown_setting;", out);
    insert(out, "shown_connection", "%",
           (long long)json_integer_value(json_object_get(options, "number")));
    json_array_foreach (json_object_get(options, "settings"), i, one)
        insert(out, "shown_setting", "$$$", json_string_value(json_array_get(one, 0)),
               json_string_value(json_array_get(one, 1)),
               json_string_value(json_array_get(one, 2)));
}

/* Fill the part where it is not filled from the same. */
static brume_status refill(bool of_connection, const json_t *from, brume_error *error)
{
    char *key = json_dumps(from, JSON_COMPACT), **filled = &catalog.filled[of_connection];
    script all = {0};
    if (!key)
        return brume_no_memory(error, NULL);
    if (*filled && strcmp(*filled, key) == 0) {
        free(key);
        return BRUME_OK;
    }
    if ((all.out = open_memstream(&all.sql, &all.length))) {
        fputs("BEGIN;", all.out);
        if (of_connection)
            write_connection(all.out, from);
        else
            write_datasets(all.out, from);
        for (size_t i = 0; i < sizeof fillings / sizeof *fillings; i++)
            if (fillings[i].of_connection == of_connection)
                fputs(fillings[i].sql, all.out);
        fputs("COMMIT;", all.out);
    }
    free(*filled);
    *filled = NULL;
    brume_status status = run_script(&all, error);
    if (status == BRUME_OK)
        *filled = key;
    else
        free(key);
    return status;
}

static void close_catalog(void)
{
    if (catalog.connection)
        duckdb_disconnect(&catalog.connection);
    if (catalog.database)
        duckdb_close(&catalog.database);
    for (size_t i = 0; i < 2; i++) {
        free(catalog.filled[i]);
        catalog.filled[i] = NULL;
    }
}

/* What changes with every connection is brought up to date for queries that name it. */
static brume_status refresh(const json_t *shown, const json_t *options, const char *sql,
                            brume_error *error)
{
    static const char *const words[] = {"setting", "pg_stat_activity", "pg_backend_pid"};
    json_t *from = json_pack("[O,O?,O?]", shown, json_object_get(options, "user"),
                             json_object_get(options, "database"));
    brume_status status = catalog.connection ? BRUME_OK : open_catalog(error);
    if (status == BRUME_OK)
        status = refill(false, from, error);
    for (size_t i = 0; status == BRUME_OK && i < sizeof words / sizeof *words; i++)
        if (strcasestr(sql, words[i]))
            status = refill(true, options, error);
    json_decref(from);
    if (status != BRUME_OK) /* it may be half filled */
        close_catalog();
    return status;
}

/* ---- asking it ---- */

/* Rows of a statement whose columns are texts. EUNSUPPORTED: too many, or too long. */
static brume_status read_rows(const char *sql, json_t *rows, brume_error *error)
{
    duckdb_result result;
    duckdb_data_chunk chunk;
    size_t bytes = 0;
    BRUME_TRY(run(sql, &result, error));
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && (chunk = duckdb_fetch_chunk(result))) {
        for (idx_t i = 0; i < duckdb_data_chunk_get_size(chunk); i++) {
            json_t *row = json_array();
            for (idx_t j = 0; j < duckdb_data_chunk_get_column_count(chunk); j++) {
                duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, j);
                uint64_t *valid = duckdb_vector_get_validity(vector);
                duckdb_string_t *text = (duckdb_string_t *)duckdb_vector_get_data(vector) + i;
                bool is_null = valid && !duckdb_validity_row_is_valid(valid, i);
                bytes += is_null ? 0 : duckdb_string_t_length(*text);
                json_array_append_new(row, is_null ? json_null()
                                                   : json_stringn(duckdb_string_t_data(text),
                                                                  duckdb_string_t_length(*text)));
            }
            json_array_append_new(rows, row);
        }
        if (json_array_size(rows) > MOST_ROWS || bytes > MOST_BYTES)
            status = brume_fail(error, BRUME_EUNSUPPORTED, NULL, "the answer is too long");
        duckdb_destroy_data_chunk(&chunk);
    }
    duckdb_destroy_result(&result);
    return status;
}

/* The type that a column is sent as: what the query's text says (0: nothing), if DuckDB has what is
 * stored for it. Its own types are those of BRUME_PG_OWN below; all else is a text. */
static uint32_t type_of(const char *word, uint32_t said)
{
    static const struct {
        const char *word, *stored;
        uint32_t type;
    } own[] = {{"BOOLEAN", "bool", BRUME_PG_BOOL},
               {"SMALLINT", "int2", BRUME_PG_INT4}, /* a sum of one and a small constant */
               {"INTEGER", "int4", BRUME_PG_INT4},
               {"BIGINT", "int8", BRUME_PG_INT8},
               {"HUGEINT", "-", BRUME_PG_INT8},
               {"FLOAT", "float4", BRUME_PG_FLOAT4},
               {"DOUBLE", "float8", BRUME_PG_FLOAT8},
               {"DECIMAL", "-", BRUME_PG_NUMERIC},
               {"DATE", "date", BRUME_PG_DATE},
               {"TIMESTAMP", "timestamp", BRUME_PG_TIMESTAMP},
               {"TIMESTAMP WITH TIME ZONE", "timestamptz", BRUME_PG_TIMESTAMPTZ},
               {"VARCHAR", "text", BRUME_PG_TEXT}};
    size_t length = strcspn(word, "[("), at = 0;
    bool is_array = word[length] == '[';
    while (at + 1 < sizeof own / sizeof *own &&
           (strlen(own[at].word) != length || strncmp(own[at].word, word, length) != 0))
        at++;
    uint32_t array = 1009;
    for (size_t i = 0; i < brume_pg_type_count; i++) {
        const brume_pg_type *type = &brume_pg_types[i];
        size_t stored = strcspn(type->stored, "[");
        bool vector = type->stored[stored] == '[';
        if (said && strlen(own[at].stored) == stored &&
            strncmp(own[at].stored, type->stored, stored) == 0 &&
            said == (is_array && !vector ? type->array : type->oid))
            return said;
        if (type->oid == own[at].type && type->array)
            array = type->array;
    }
    return said == BRUME_PG_TEXT ? said : is_array ? array : own[at].type;
}

/* The columns of a query, from DESCRIBE and from its text. Where one star is among the outputs, it
 * has the columns that the others have not; where there are more, names tell the types. */
static void name_columns(const brume_pg_rewritten *query, const json_t *described, json_t *columns)
{
    size_t count = json_array_size(described), stars = 0, output = 0, i;
    size_t of_star = count + 1 - query->output_count;
    const json_t *one;
    for (i = 0; i < query->output_count; i++)
        stars += query->outputs[i].is_star;
    json_array_foreach (described, i, one) {
        const char *name = json_string_value(json_array_get(one, 0));
        const brume_pg_output *at =
            stars < 2 && output < query->output_count ? &query->outputs[output] : NULL;
        bool is_array = false, is_named = at && !at->is_star;
        const brume_pg_type *known = brume_pg_type_of_column(name, &is_array);
        uint32_t said = is_named ? at->type : !known ? 0 : is_array ? known->array : known->oid;
        output += is_named || (at && --of_star == 0);
        json_array_append_new(
            columns, json_pack("[s,i]", is_named ? at->name : name,
                               (int)type_of(json_string_value(json_array_get(one, 1)), said)));
    }
}

/* The columns of a query that is not answered, as far as its text tells. */
static void name_outputs(const brume_pg_rewritten *query, json_t *columns)
{
    json_array_clear(columns);
    for (size_t i = 0; i < query->output_count; i++)
        if (!query->outputs[i].is_star)
            json_array_append_new(
                columns,
                json_pack("[s,i]", query->outputs[i].name,
                          query->outputs[i].type ? (int)query->outputs[i].type : BRUME_PG_TEXT));
}

/* SELECT the texts of all columns FROM the query. */
static void write_texts(FILE *out, const char *sql, const json_t *described, const json_t *columns)
{
    static const struct {
        json_int_t type;
        const char *form;
    } forms[] = {{BRUME_PG_BOOL, "left(c%zu::VARCHAR, 1)"},
                 {2205, "brume_regclass_text(c%zu)"},
                 {2206, "brume_format_type(c%zu, NULL)"},
                 {4089, "brume_regnamespace_text(c%zu)"},
                 {4096, "brume_pg_get_userbyid(c%zu)"}};
    size_t i;
    const json_t *one;
    json_array_foreach (described, i, one) {
        const char *form = "c%zu::VARCHAR";
        for (size_t j = 0; j < sizeof forms / sizeof *forms; j++)
            if (json_integer_value(json_array_get(json_array_get(columns, i), 1)) == forms[j].type)
                form = forms[j].form;
        if (strchr(json_string_value(json_array_get(one, 1)), '['))
            form = "brume_array_text(c%zu)";
        fputs(i ? ", " : "SELECT ", out);
        fprintf(out, form, i);
    }
    fprintf(out, " FROM (%s) t", sql);
    for (i = 0; i < json_array_size(described); i++)
        fprintf(out, "%sc%zu", i ? ", " : "(", i);
    fputs(")", out);
}

static brume_status ask(const brume_pg_rewritten *query, json_t *columns, json_t *rows,
                        brume_error *error)
{
    char *describe = NULL, *texts = NULL;
    size_t length;
    json_t *described = json_array();
    FILE *out = open_memstream(&texts, &length);
    if (!out ||
        asprintf(&describe, "SELECT column_name, column_type FROM (DESCRIBE %s)", query->sql) < 0)
        return brume_no_memory(error, "the query");
    brume_status status = read_rows(describe, described, error);
    name_columns(query, described, columns);
    write_texts(out, query->sql, described, columns);
    fclose(out);
    if (status == BRUME_OK)
        status = read_rows(texts, rows, error);
    json_decref(described);
    free(describe);
    free(texts);
    return status;
}

brume_status brume_pg_catalog_answer(const json_t *shown, const char *sql, const char *options,
                                     char **json, brume_error *error)
{
    PgQuery__ParseResult *tree = NULL;
    brume_pg_rewritten query = {0};
    brume_error why = {0};
    int position;
    BRUME_TRY(brume_pg_parse(sql, &tree, &position, error));
    brume_status status = tree->n_stmts == 1 && tree->stmts[0]->stmt->node_case ==
                                                    PG_QUERY__NODE__NODE_SELECT_STMT
                              ? brume_pg_rewrite(tree, &query, error)
                              : brume_fail(error, BRUME_EUNSUPPORTED, NULL, "this is no SELECT");
    pg_query__parse_result__free_unpacked(tree, NULL);
    BRUME_TRY(status);
    json_t *columns = json_array(), *rows = json_array(), *given = json_loads(options, 0, NULL);
    pthread_mutex_lock(&catalog.lock);
    status = refresh(shown, given, sql, error);
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION /* nobody would end one that is endless */
    brume_pg_rewritten_clear(&query);
#endif
    bool taken = query.sql && status == BRUME_OK && ask(&query, columns, rows, &why) == BRUME_OK;
    pthread_mutex_unlock(&catalog.lock);
    const char *reason = taken ? NULL : query.sql ? why.message : query.reason;
    if (!taken) {
        name_outputs(&query, columns);
        json_array_clear(rows);
    }
    json_t *answer = json_pack("{s:o,s:o,s:s?}", "columns", columns, "rows", rows,
                               query.reads_catalog ? "silent" : "refused", reason);
    if (status == BRUME_OK && !(*json = answer ? json_dumps(answer, JSON_COMPACT) : NULL))
        status = brume_no_memory(error, "the answer");
    json_decref(answer);
    json_decref(given);
    brume_pg_rewritten_clear(&query);
    return status;
}

brume_status brume_pg_catalog_call(brume_session *session, const char *sql, const char *options,
                                   char **json, brume_error *error)
{
    char *text = NULL;
    size_t i;
    const json_t *one;
    json_t *shown = json_array();
    brume_status status = brume_session_call(session, "datasets", NULL, &text, error);
    json_t *list = text ? json_loads(text, 0, NULL) : NULL;
    brume_free(text);
    json_array_foreach (json_object_get(list, "datasets"), i, one) {
        json_t *named = json_pack("{s:O}", "name", json_object_get(one, "name"));
        char *name = json_dumps(named, 0);
        text = NULL;
        if (status == BRUME_OK)
            status = brume_session_call(session, "show", name, &text, error);
        if (status == BRUME_OK)
            json_array_append_new(shown, json_loads(text, JSON_ALLOW_NUL, NULL));
        brume_free(text);
        free(name);
        json_decref(named);
    }
    json_decref(list);
    if (status == BRUME_OK)
        status = brume_pg_catalog_answer(shown, sql, options, json, error);
    json_decref(shown);
    return status;
}
