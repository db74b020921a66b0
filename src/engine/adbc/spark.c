/* Spark, over Spark Connect and the ADBC driver for it.
 *
 * Everything that changes the meaning of SQL is pinned. ANSI mode is off: where it is on, an
 * overflow or a text that is no number makes the whole query fail, which tells that such a row is
 * there; where it is off, it makes that value NULL or wrong, and a value, whatever it is, is
 * clamped. The printed forms need neither. Names in double quotes become names in backticks, the
 * only ones that Spark knows without ANSI mode.
 *
 * There are no transactions: every statement reads its tables as they are when it starts
 * (proofs/push-down.md says why that is enough). */
#include "engine/adbc/spark.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

#include "base/error.h"
#include "engine/adbc/connection.h"

typedef struct brume_spark {
    brume_adbc *adbc;
    char *server;          /* host and port */
    json_t **descriptions; /* of each source, as the catalog gives it; NULL: what is read is no
                             table of it */
    size_t source_count;
} brume_spark;

/* Tables of catalogs other than Spark's own, as Delta's and Iceberg's are: Spark describes them in
 * lines of a name and a text, not in JSON. First come the columns with their types, then, after an
 * empty name or one that begins with '#', other parts, of which "# Detailed Table Information" has
 * the table's name, kind, format and folder. What is found is put into the form of the JSON. */

/* ---- types ---- */

/* "decimal(10,2)", "varchar(5)", "string collate UTF8_LCASE", "timestamp": as in the JSON, where a
 * timestamp says whether it has a zone. */
static json_t *read_type(const char *text)
{
    static const char collate[] = " collate ";
    int precision = 0, scale = 0;
    const char *collation = strstr(text, collate);
    size_t length = strcspn(text, "(< ");
    json_t *type = json_object();
    if (strcmp(text, "timestamp") == 0)
        json_object_set_new(type, "name", json_string("timestamp_ltz"));
    else
        json_object_set_new(type, "name", json_stringn(text, length));
    if (sscanf(text, "decimal(%d,%d)", &precision, &scale) == 2) {
        json_object_set_new(type, "precision", json_integer(precision));
        json_object_set_new(type, "scale", json_integer(scale));
    }
    if (collation && length == (size_t)(collation - text))
        json_object_set_new(type, "collation", json_string(collation + strlen(collate)));
    return type;
}

/* ---- lines ---- */

typedef struct spark_reading {
    json_t *table, *columns;
    bool after_columns, in_table; /* in the part about the table itself */
} spark_reading;

static const struct {
    const char *line, *key;
} wanted[] = {
    {"Name", "name"}, {"Type", "type"}, {"Provider", "provider"}, {"Location", "location"}};

static bool take_line(void *context, const brume_text *cells)
{
    spark_reading *of = context;
    char *name = strndup(cells[0].data, cells[0].length);
    char *text = strndup(cells[1].data, cells[1].length);
    if (!name || !text) {
        free(name);
        free(text);
        return false;
    }
    if (*name == '#' || !*name) {
        of->after_columns = true;
        of->in_table = strcmp(name, "# Detailed Table Information") == 0;
    } else if (!of->after_columns) {
        json_array_append_new(of->columns,
                              json_pack("{s:s, s:o}", "name", name, "type", read_type(text)));
    }
    for (size_t i = 0; of->in_table && i < sizeof wanted / sizeof *wanted; i++)
        if (strcmp(name, wanted[i].line) == 0)
            json_object_set_new(of->table, wanted[i].key, json_string(text));
    free(name);
    free(text);
    return true;
}

/* What a catalog says in lines of a table, as the JSON of Spark's own catalog has it, but "name" is
 * the whole name; NULL: there is none. */
static json_t *spark_read_lines(brume_adbc *adbc, const char *table)
{
    spark_reading of = {.table = json_object(), .columns = json_array()};
    char *sql = brume_engine_format("DESCRIBE TABLE EXTENDED %s", table);
    bool good = sql && brume_adbc_texts(adbc, sql, 2, take_line, &of);
    free(sql);
    json_object_set_new(of.table, "columns", of.columns);
    /* A view of such a catalog has another part, without these. */
    if (good && json_object_get(of.table, "name") && json_object_get(of.table, "type"))
        return of.table;
    json_decref(of.table);
    return NULL;
}

/* By what a table of Spark is known: its name in the catalog, and the folder of its files, so that
 * two names of one Parquet, Delta or Iceberg table are one source.
 *
 * Folders are compared as texts. The same folder can be written in several ways: what is known to
 * be one is written as one here. Where two folders are taken for one by mistake they share a
 * budget, which is the safe side. */

/* ---- folders ---- */

/* Names of one store: by its older and newer clients, with and without encryption on the way. */
static const char *const stores[][2] = {
    {"s3a:", "s3:"}, {"s3n:", "s3:"}, {"abfss:", "abfs:"}, {"wasbs:", "wasb:"}};

/* The bytes of "scheme:"; 0: there is none. */
static size_t scheme_length(const char *location)
{
    size_t i = 0;
    while (isalnum((unsigned char)location[i]) ||
           (i > 0 && strchr("+-.", location[i]) && location[i]))
        i++;
    return i > 0 && location[i] == ':' ? i + 1 : 0;
}

char *brume_spark_folder(const char *location)
{
    size_t scheme = scheme_length(location);
    char *made = malloc(strlen(location) + sizeof "file:"), *end = made;
    if (!made)
        return NULL;
    if (*location && scheme == 0) /* a path alone */
        end = stpcpy(end, "file:");
    for (size_t i = 0; i < scheme; i++)
        *end++ = (char)tolower((unsigned char)location[i]);
    *end = 0;
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++)
        if (strcmp(made, stores[i][0]) == 0)
            end = stpcpy(made, stores[i][1]);
    location += scheme;
    if (strncmp(location, "//", 2) == 0 && location[2] &&
        location[2] != '/') { /* a host or store */
        *end++ = *location++;
        *end++ = *location++;
        while (*location && *location != '/')
            *end++ = (char)tolower((unsigned char)*location++);
    }
    for (; *location; location++)
        if (*location != '/' || (location[1] && location[1] != '/')) /* neither twice nor last */
            *end++ = *location;
    *end = 0;
    return made;
}

/* ---- marks ---- */

/* The folders that a table's folder is in: a table that was registered before may be stored there,
 * and have this one's files among its own. */
static brume_status mark_wholes(const char *folder, brume_marks *marks, brume_error *error)
{
    const char *path = strstr(folder, ":/");
    for (size_t i = path ? (size_t)(path - folder) + 2 : strlen(folder); folder[i]; i++)
        if (folder[i] == '/' && folder[i - 1] != '/')
            BRUME_TRY(brume_marks_add(marks, brume_engine_format("location:%.*s", (int)i, folder),
                                      error));
    marks->whole_count = marks->count;
    return BRUME_OK;
}

static char *spark_name(const json_t *description);

static brume_status spark_marks(brume_engine *engine, size_t index, bool contents,
                                brume_marks *marks, brume_error *error)
{
    const brume_spark *state = engine->state;
    const json_t *table = state->descriptions[index];
    if (!table)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "what is read here is no table");
    const char *location = json_string_value(json_object_get(table, "location"));
    char *folder = brume_spark_folder(location ? location : ""), *name = spark_name(table);
    brume_status status = folder && name ? BRUME_OK : brume_no_memory(error, NULL);
    if (status == BRUME_OK && contents)
        status = mark_wholes(folder, marks, error);
    if (status == BRUME_OK)
        status = brume_marks_add(
            marks, brume_engine_format("table:spark:%s:%s", state->server, name), error);
    if (status == BRUME_OK && *folder)
        status = brume_marks_add(marks, brume_engine_format("location:%s", folder), error);
    free(folder);
    free(name);
    return status;
}

/* What Spark's catalog says of a table: its columns with their types, and where it is stored.
 *
 * Of tables of Spark's own catalog it is asked for JSON. Tables of other catalogs, as Delta's and
 * Iceberg's are, are described in lines only. Views are refused: what they read is
 * not in the catalog's answer. */

/* ---- names ---- */

/* One part of a name in backticks, inner ones doubled. */
static char *put_part(char *end, const char *part, size_t length)
{
    *end++ = '`';
    for (size_t i = 0; i < length; i++) {
        if (part[i] == '`')
            *end++ = '`';
        *end++ = part[i];
    }
    *end++ = '`';
    return end;
}

/* CATALOG.DATABASE.TABLE, every part quoted. */
static char *quote_table(const char *name)
{
    char *quoted = malloc(4 * strlen(name) + 3), *end = quoted;
    if (!quoted)
        return NULL;
    for (bool first = true; first || *name; first = false) {
        size_t length = strcspn(name, ".");
        if (!first)
            *end++ = '.';
        end = put_part(end, name, length);
        name += length + (name[length] == '.');
    }
    *end = 0;
    return quoted;
}

static const char *text_of(const json_t *description, const char *key)
{
    const char *text = json_string_value(json_object_get(description, key));
    return text ? text : "";
}

/* The name that the catalog itself has for a table, whatever was typed. */
static char *spark_name(const json_t *description)
{
    if (*text_of(description, "name"))
        return strdup(text_of(description, "name"));
    const json_t *parts = json_object_get(description, "namespace");
    char *name = strdup(text_of(description, "catalog_name"));
    for (size_t i = 0; name && i <= json_array_size(parts); i++) {
        const char *part = i < json_array_size(parts) ? json_string_value(json_array_get(parts, i))
                                                      : text_of(description, "table_name");
        char *longer = brume_engine_format("%s.%s", name, part ? part : "");
        free(name);
        name = longer;
    }
    return name;
}

/* ---- columns ---- */

/* Years outside 0001..9999 are NULL, as everywhere; a timestamp with a zone is read in UTC. */
static const struct {
    const char *name;
    brume_type_kind kind;
    brume_leaf leaf;
} known[] = {
    {"boolean", BRUME_TYPE_BOOLEAN, BRUME_LEAF_PLAIN},
    {"tinyint", BRUME_TYPE_INTEGER, BRUME_LEAF_CAST},
    {"smallint", BRUME_TYPE_INTEGER, BRUME_LEAF_CAST},
    {"int", BRUME_TYPE_INTEGER, BRUME_LEAF_PLAIN},
    {"bigint", BRUME_TYPE_BIGINT, BRUME_LEAF_PLAIN},
    {"float", BRUME_TYPE_DOUBLE, BRUME_LEAF_FINITE},
    {"double", BRUME_TYPE_DOUBLE, BRUME_LEAF_FINITE},
    {"string", BRUME_TYPE_TEXT, BRUME_LEAF_PLAIN},
    {"varchar", BRUME_TYPE_TEXT, BRUME_LEAF_CAST},
    {"date", BRUME_TYPE_DATE, BRUME_LEAF_CALENDAR},
    {"timestamp_ntz", BRUME_TYPE_TIMESTAMP, BRUME_LEAF_CALENDAR},
    {"timestamp_ltz", BRUME_TYPE_TIMESTAMP, BRUME_LEAF_ZONED},
};

static brume_status add_column(const json_t *column, brume_description *description,
                               brume_error *error)
{
    const json_t *stored = json_object_get(column, "type");
    const char *name = text_of(stored, "name"), *collation = text_of(stored, "collation");
    brume_type type = {BRUME_TYPE_REFUSED, 0, 0};
    brume_leaf leaf = BRUME_LEAF_PLAIN;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0) {
            type.kind = known[i].kind;
            leaf = known[i].leaf;
        }
    int precision = (int)json_integer_value(json_object_get(stored, "precision"));
    int scale = (int)json_integer_value(json_object_get(stored, "scale"));
    bool decimal = strcmp(name, "decimal") == 0, bytewise = strcmp(collation, "UTF8_BINARY") == 0;
    if (decimal && precision >= 1 && precision <= 38 && scale >= 0 && scale <= precision)
        type = (brume_type){BRUME_TYPE_DECIMAL, precision, scale};
    if (*collation && !bytewise)
        type.kind = BRUME_TYPE_REFUSED; /* its texts are not compared by bytes */
    char *native = decimal ? brume_engine_format("decimal(%d,%d)", precision, scale)
                   : *collation && !bytewise ? brume_engine_format("%s collate %s", name, collation)
                                             : strdup(name);
    if (!native)
        return brume_no_memory(error, NULL);
    bool not_null = json_is_false(json_object_get(column, "nullable"));
    brume_status status = brume_engine_add_column(description, text_of(column, "name"), native,
                                                  type, leaf, not_null, error);
    free(native);
    return status;
}

/* A format whose reader can stumble over a row. */
static bool can_fail(const char *provider)
{
    static const char *const safe[] = {"parquet", "orc", "delta", "iceberg"};
    for (size_t i = 0; i < sizeof safe / sizeof *safe; i++)
        if (strcasecmp(provider, safe[i]) == 0)
            return false;
    return true;
}

/* The driver's functions of these names. */
static brume_status spark_describe(brume_engine *engine, size_t index,
                                   brume_description *description, brume_error *error)
{
    const brume_spark *state = engine->state;
    const json_t *table = state->descriptions[index];
    const json_t *columns = json_object_get(table, "columns");
    if (!table)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "what is read here is no table");
    for (size_t i = 0; i < json_array_size(columns); i++)
        BRUME_TRY(add_column(json_array_get(columns, i), description, error));
    char *name = spark_name(table);
    description->identity = name ? brume_engine_format("spark:%s/%s", state->server, name) : NULL;
    free(name);
    description->options = strdup("");
    description->can_fail = can_fail(text_of(table, "provider"));
    description->is_opaque = !*text_of(table, "location");
    return description->identity && description->options ? BRUME_OK : brume_no_memory(error, NULL);
}

/* ---- opening ---- */

/* Find the table of source `index`, which must be stored and not a view, and that it still has the
 * recorded columns; sets engine->tables[index]. */
static brume_status spark_open_table(brume_engine *engine, size_t index, const brume_source *source,
                                     brume_error *error)
{
    brume_spark *state = engine->state;
    if (!source->table || !*source->table)
        return brume_fail(error, BRUME_EARGUMENT, "say which with --table CATALOG.DATABASE.NAME",
                          "a Spark source needs a table");
    engine->tables[index] = quote_table(source->table);
    char *sql = engine->tables[index] ? brume_engine_format("DESCRIBE TABLE EXTENDED %s AS JSON",
                                                            engine->tables[index])
                                      : NULL;
    if (!sql)
        return brume_no_memory(error, NULL);
    char *text = brume_adbc_cell(state->adbc, sql);
    free(sql);
    json_t *found = text ? json_loads(text, 0, NULL)
                         : spark_read_lines(state->adbc, engine->tables[index]);
    free(text);
    state->descriptions[index] = found;
    if (!found)
        return brume_fail(error, BRUME_ESOURCE, "name it as CATALOG.DATABASE.NAME",
                          "no table '%s' on the Spark server that this user may read",
                          source->table);
    if (strstr(text_of(found, "type"), "VIEW"))
        return brume_fail(error, BRUME_EUNSUPPORTED, "register the tables that it reads",
                          "'%s' is a view: of Spark only stored tables are read", source->table);
    brume_description now = {0};
    brume_status status = spark_describe(engine, index, &now, error);
    if (status == BRUME_OK)
        status = brume_engine_check_columns(source, &now, error);
    brume_description_clear(&now);
    return status;
}

static brume_adbc_library library = {.server = "Spark",
                                     .name = "libadbc_driver_spark.so",
                                     .environment = "BRUME_SPARK_DRIVER",
                                     .entry = "AdbcDriverSparkInit",
                                     .lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- settings ---- */

static bool settle(brume_adbc *adbc)
{
    static const char *const settings[] = {
        "SET spark.sql.ansi.enabled=false",
        "SET spark.sql.session.timeZone=UTC",
        "SET spark.sql.caseSensitive=false",
        /* Products of decimals that do not fit are NULL, and never lose decimals. */
        "SET spark.sql.decimalOperations.allowPrecisionLoss=false",
        /* Texts mean what they say. */
        "SET spark.sql.parser.escapedStringLiterals=false",
        "SET spark.sql.variable.substitute=false",
        "SET spark.sql.legacy.timeParserPolicy=CORRECTED",
        "SET spark.sql.legacy.allowNegativeScaleOfDecimal=false",
        "SET spark.sql.optimizer.collapseProjectAlwaysInline=false",
        /* Old dates are read as they are; the default is to fail on them. */
        "SET spark.sql.parquet.datetimeRebaseModeInRead=CORRECTED",
        "SET spark.sql.parquet.int96RebaseModeInRead=CORRECTED",
        "SET spark.sql.avro.datetimeRebaseModeInRead=CORRECTED",
        /* A file that cannot be read is an error, never fewer rows. */
        "SET spark.sql.files.ignoreCorruptFiles=false",
        "SET spark.sql.files.ignoreMissingFiles=false",
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (!brume_adbc_run(adbc, settings[i]))
            return false;
    return true;
}

/* Texts are compared by bytes. No setting of Spark 4.1 makes other texts of a session; if a server
 * has one, nothing is asked of it. What a column has is in its type. */
static brume_status check_collation(brume_spark *state, brume_error *error)
{
    char *name = brume_adbc_cell(state->adbc, "SELECT concat(collation('a'), ' ', "
                                              "collation(CAST(1 AS STRING)))");
    if (!name)
        return brume_adbc_failed(state->adbc, error);
    bool bytewise = strcmp(name, "SYSTEM.BUILTIN.UTF8_BINARY SYSTEM.BUILTIN.UTF8_BINARY") == 0;
    free(name);
    return bytewise ? BRUME_OK
                    : brume_fail(error, BRUME_EUNSUPPORTED, "let the default be UTF8_BINARY",
                                 "the Spark server compares texts by another collation than "
                                 "UTF8_BINARY");
}

/* The first statement finds out whether the server is there, and which it is. */
static brume_status check_server(brume_spark *state, brume_error *error)
{
    char *version = brume_adbc_cell(state->adbc, "SELECT version()");
    if (!version)
        return brume_fail(error, BRUME_ESOURCE, "check host, port and token, and that it runs",
                          "cannot connect to the Spark server");
    bool new = strtol(version, NULL, 10) >= 4;
    free(version);
    if (!new)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                          "this Spark server is older than version 4");
    return settle(state->adbc) ? check_collation(state, error)
                               : brume_adbc_failed(state->adbc, error);
}

/* ---- opening ---- */

/* spark://HOST:PORT/;... as the driver takes it: sc://HOST:PORT/;... */
static brume_status connect_server(brume_spark *state, const brume_source *source,
                                   brume_error *error)
{
    const char *rest = strstr(source->location, "://") + 3;
    const char *token = source->password ? source->password : getenv("BRUME_SPARK_TOKEN");
    char *uri = brume_engine_format("sc://%s", rest);
    state->server = strndup(rest, strcspn(rest, "/;"));
    brume_status status = uri && state->server ? BRUME_OK : brume_no_memory(error, NULL);
    const char *const options[] = {
        "uri", uri, "adbc.spark.user_agent", "brume", token && *token ? "adbc.spark.token" : NULL,
        token, NULL};
    if (status == BRUME_OK)
        status = brume_adbc_open(&library, options, &state->adbc, error);
    free(uri);
    return status == BRUME_OK ? check_server(state, error) : status;
}

static brume_status spark_driver_open(brume_engine *engine, const brume_source *sources,
                                      size_t count, brume_error *error)
{
    brume_spark *state = calloc(1, sizeof *state);
    if (!state)
        return brume_no_memory(error, NULL);
    engine->state = state;
    state->descriptions = calloc(count, sizeof *state->descriptions);
    if (!state->descriptions)
        return brume_no_memory(error, NULL);
    state->source_count = count;
    for (size_t i = 1; i < count; i++)
        if (strcmp(sources[i].location, sources[0].location) != 0)
            return brume_fail(error, BRUME_EUNSUPPORTED, "register both with the same URL",
                              "tables of different Spark URLs cannot be read in one query");
    BRUME_TRY(connect_server(state, &sources[0], error));
    for (size_t i = 0; i < count; i++) {
        if (!sources[i].relation) {
            BRUME_TRY(spark_open_table(engine, i, &sources[i], error));
            continue;
        }
        engine->tables[i] = strdup(sources[i].relation);
        if (!engine->tables[i])
            return brume_no_memory(error, NULL);
    }
    return BRUME_OK;
}

static void spark_driver_close(brume_engine *engine)
{
    brume_spark *state = engine->state;
    if (!state)
        return;
    brume_adbc_close(state->adbc);
    for (size_t i = 0; i < state->source_count; i++)
        json_decref(state->descriptions[i]);
    free(state->descriptions);
    free(state->server);
    free(state);
    engine->state = NULL;
}

/* ---- rows ---- */

/* Double quotes around names become backticks, in place. They are brume's own names, with none of
 * either inside; what stands in quotes or in backticks already is passed over. */
static void quote_names(char *sql)
{
    for (; *sql; sql++) {
        char open = *sql;
        if (open == '"' || open == '`') {
            for (*sql++ = '`'; *sql && *sql != open; sql++)
                ;
            if (!*sql)
                return;
            *sql = '`';
        } else if (*sql == '\'') {
            for (sql++; *sql && *sql != '\''; sql++)
                if (*sql == '\\' && sql[1])
                    sql++;
            if (!*sql)
                return;
        }
    }
}

static brume_status spark_driver_select(brume_engine *engine, const char *sql, brume_rows *rows,
                                        brume_error *error)
{
    brume_spark *state = engine->state;
    char *own = strdup(sql);
    if (!own)
        return brume_no_memory(error, NULL);
    quote_names(own);
    brume_status status = brume_adbc_select(state->adbc, own, rows, error);
    free(own);
    return status;
}

static brume_status spark_driver_retain(brume_engine *engine, brume_error *error)
{
    (void)engine;
    (void)error;
    return BRUME_OK;
}

static void spark_driver_release(brume_engine *engine)
{
    (void)engine;
}

static void spark_driver_cancel(brume_engine *engine)
{
    const brume_spark *state = engine->state;
    brume_adbc_cancel(state->adbc);
}

const brume_driver brume_driver_spark = {
    .dialect = BRUME_DIALECT_SPARK,
    .open = spark_driver_open,
    .close = spark_driver_close,
    .describe = spark_describe,
    .marks = spark_marks,
    .select = spark_driver_select,
    .next = brume_adbc_next,
    .finish = brume_adbc_finish,
    .retain = spark_driver_retain,
    .release = spark_driver_release,
    .cancel = spark_driver_cancel,
};
