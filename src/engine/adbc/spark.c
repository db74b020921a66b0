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
#include <dlfcn.h>
#include <jansson.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/library.h"
#include "engine/adbc/abi.h"
#include "engine/driver.h"

/* The first `count` columns of every row, texts, of which NULL is an empty one; `take` says whether
 * to go on. False: the statement failed, or has other columns, or `take` ended it. */
typedef bool (*brume_adbc_taker)(void *context, const brume_text *cells);

/* A connection through an ADBC driver.
 *
 * A cancel may come from a signal handler, where the driver must not be called: a thread that does
 * nothing else waits for it, and cancels the statement that runs. */

/* Rows of an ADBC driver: batches of Arrow arrays as chunks.
 *
 * Numbers are read where the driver put them; of texts only places and lengths are noted; decimals,
 * which sums arrive as, are written as text. The end of the rows counts only when the driver says
 * that there are no more: a connection that is lost is an error of the stream. */

__extension__ typedef unsigned __int128 wide;

enum { DECIMAL_TEXT = 48 }; /* 39 digits, a sign, a point and a zero before it */

/* How a column of the stream is laid out. */
typedef enum text_layout { LAYOUT_WORD, LAYOUT_TEXT, LAYOUT_LONG_TEXT, LAYOUT_DECIMAL } text_layout;

typedef struct column_state {
    text_layout layout;
    int scale;       /* of a decimal */
    uint64_t *valid; /* room for `room` rows, made as it is needed */
    void *words;     /* where the driver's are not aligned */
    brume_text *texts;
    char *written; /* texts of decimals */
    size_t room;
} column_state;

typedef struct rows_state {
    brume_adbc *adbc;
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    column_state *columns;
} rows_state;

/* ---- types ---- */

static brume_status adbc_failed(const brume_adbc *adbc, brume_error *error);
static void adbc_close(brume_adbc *adbc);

static bool read_layout(const char *format, brume_wire wire, column_state *column)
{
    int precision = 0, bits = 128;
    if (wire == BRUME_WIRE_INTEGER || wire == BRUME_WIRE_REAL) {
        column->layout = LAYOUT_WORD;
        return strcmp(format, wire == BRUME_WIRE_INTEGER ? "l" : "g") == 0;
    }
    if (strcmp(format, "u") == 0 || strcmp(format, "U") == 0) {
        column->layout = *format == 'u' ? LAYOUT_TEXT : LAYOUT_LONG_TEXT;
        return true;
    }
    column->layout = LAYOUT_DECIMAL;
    int read = sscanf(format, "d:%d,%d,%d", &precision, &column->scale, &bits);
    return read >= 2 && bits == 128 && precision <= 38 && column->scale >= 0 && column->scale <= 38;
}

static brume_status check_schema(rows_state *own, const brume_rows *rows, brume_error *error)
{
    struct ArrowSchema schema = {0};
    if (own->stream.get_schema(&own->stream, &schema) != 0)
        return adbc_failed(own->adbc, error);
    bool fits = strcmp(schema.format, "+s") == 0 && (size_t)schema.n_children == rows->wire_count;
    for (size_t i = 0; fits && i < rows->wire_count; i++)
        fits = !schema.children[i]->dictionary &&
               read_layout(schema.children[i]->format, rows->wires[i], &own->columns[i]);
    schema.release(&schema);
    return fits ? BRUME_OK
                : brume_fail(error, BRUME_EINTERNAL, NULL, "the result has other columns");
}

/* ---- columns ---- */

static bool make_room(column_state *column, size_t rows)
{
    if (rows <= column->room)
        return true;
    free(column->valid);
    free(column->words);
    free(column->texts);
    free(column->written);
    column->room = rows;
    column->valid = malloc((rows + 63) / 64 * sizeof *column->valid);
    column->words = malloc(rows * sizeof(int64_t));
    column->texts = column->layout == LAYOUT_WORD ? NULL : malloc(rows * sizeof *column->texts);
    column->written = column->layout == LAYOUT_DECIMAL ? malloc(rows * DECIMAL_TEXT) : NULL;
    bool good = column->valid && column->words &&
                (column->texts || column->layout == LAYOUT_WORD) &&
                (column->written || column->layout != LAYOUT_DECIMAL);
    column->room = good ? rows : 0;
    return good;
}

/* The bits of the batch, from its offset on; NULL where all are 1. */
static const uint64_t *take_validity(const struct ArrowArray *array, uint64_t *valid, size_t count)
{
    const unsigned char *bits = array->buffers[0];
    if (!bits || array->null_count == 0)
        return NULL;
    memset(valid, 0, (count + 63) / 64 * sizeof *valid);
    for (size_t i = 0, from = (size_t)array->offset; i < count; i++, from++)
        valid[i / 64] |= (uint64_t)(bits[from / 8] >> from % 8 & 1) << i % 64;
    return valid;
}

/* Eight bytes a row, where numbers may be read. */
static const void *take_words(const struct ArrowArray *array, void *room, size_t count)
{
    const char *from = (const char *)array->buffers[1] + (size_t)array->offset * sizeof(int64_t);
    if ((uintptr_t)from % _Alignof(int64_t) == 0)
        return from;
    memcpy(room, from, count * sizeof(int64_t));
    return room;
}

static void take_texts(const struct ArrowArray *array, const column_state *column, size_t count)
{
    const char *data = array->buffers[2];
    const char *offsets = array->buffers[1];
    size_t first = (size_t)array->offset;
    for (size_t i = 0; i < count; i++) {
        int64_t ends[2];
        int32_t narrow[2];
        if (column->layout == LAYOUT_LONG_TEXT) {
            memcpy(ends, offsets + (first + i) * sizeof *ends, sizeof ends);
        } else {
            memcpy(narrow, offsets + (first + i) * sizeof *narrow, sizeof narrow);
            ends[0] = narrow[0];
            ends[1] = narrow[1];
        }
        column->texts[i] = ends[1] > ends[0]
                               ? (brume_text){data + ends[0], (size_t)(ends[1] - ends[0])}
                               : (brume_text){"", 0};
    }
}

/* Units of 10^-scale as plain decimal text: its length. */
static size_t write_decimal(wide units, int scale, char text[DECIMAL_TEXT])
{
    char digits[DECIMAL_TEXT];
    bool negative = units >> 127 != 0;
    int count = 0;
    size_t length = 0;
    for (wide rest = negative ? -units : units; rest > 0 || count <= scale; rest /= 10)
        digits[count++] = (char)('0' + (int)(rest % 10));
    if (negative)
        text[length++] = '-';
    while (count > 0) {
        text[length++] = digits[--count];
        if (count == scale && scale > 0)
            text[length++] = '.';
    }
    return length;
}

static void take_decimals(const struct ArrowArray *array, const column_state *column, size_t count)
{
    const char *from = (const char *)array->buffers[1] + (size_t)array->offset * sizeof(wide);
    for (size_t i = 0; i < count; i++) {
        wide units;
        char *text = column->written + i * DECIMAL_TEXT;
        memcpy(&units, from + i * sizeof units, sizeof units);
        column->texts[i] = (brume_text){text, write_decimal(units, column->scale, text)};
    }
}

static brume_status take_batch(brume_rows *rows, rows_state *own, brume_error *error)
{
    size_t count = (size_t)own->batch.length;
    if ((size_t)own->batch.n_children != rows->wire_count || own->batch.offset != 0)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "the result has other columns");
    for (size_t i = 0; i < rows->wire_count; i++) {
        const struct ArrowArray *array = own->batch.children[i];
        column_state *column = &own->columns[i];
        brume_chunk_column *to = &rows->columns[i];
        if (!make_room(column, count))
            return brume_no_memory(error, NULL);
        to->valid = take_validity(array, column->valid, count);
        if (column->layout == LAYOUT_WORD) {
            const void *words = take_words(array, column->words, count);
            to->integers = to->wire == BRUME_WIRE_INTEGER ? words : NULL;
            to->reals = to->wire == BRUME_WIRE_REAL ? words : NULL;
            continue;
        }
        if (column->layout == LAYOUT_DECIMAL)
            take_decimals(array, column, count);
        else
            take_texts(array, column, count);
        to->texts = column->texts;
    }
    rows->chunk.row_count = count;
    return BRUME_OK;
}

/* ---- the functions of a driver ---- */

static bool adbc_begin(brume_adbc *adbc, const char *sql, struct ArrowArrayStream *stream);

/* The functions of brume_driver of these names, for an engine that has this connection. Columns of
 * the result must be int64, float64, or text, for which a decimal is taken too. */
static brume_status adbc_select(brume_adbc *adbc, const char *sql, brume_rows *rows,
                                brume_error *error)
{
    rows_state *own = calloc(1, sizeof *own);
    if (!own)
        return brume_no_memory(error, NULL);
    rows->state = own;
    own->adbc = adbc;
    own->columns = calloc(rows->wire_count, sizeof *own->columns);
    if (!own->columns)
        return brume_no_memory(error, NULL);
    if (strncmp(sql, "SELECT ", 7) != 0)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "only a single SELECT may run");
    if (!adbc_begin(adbc, sql, &own->stream))
        return adbc_failed(adbc, error);
    return check_schema(own, rows, error);
}

static brume_status adbc_next(brume_rows *rows, brume_error *error)
{
    rows_state *own = rows->state;
    do {
        if (own->batch.release)
            own->batch.release(&own->batch);
        memset(&own->batch, 0, sizeof own->batch);
        if (own->stream.get_next(&own->stream, &own->batch) != 0)
            return adbc_failed(own->adbc, error);
    } while (own->batch.release && own->batch.length == 0);
    rows->chunk.row_count = 0;
    return own->batch.release ? take_batch(rows, own, error) : BRUME_OK;
}

static void adbc_end(brume_adbc *adbc);

static void adbc_finish(brume_rows *rows)
{
    rows_state *own = rows->state;
    if (!own)
        return;
    if (own->batch.release)
        own->batch.release(&own->batch);
    if (own->stream.release)
        own->stream.release(&own->stream);
    adbc_end(own->adbc);
    for (size_t i = 0; own->columns && i < rows->wire_count; i++) {
        free(own->columns[i].valid);
        free(own->columns[i].words);
        free(own->columns[i].texts);
        free(own->columns[i].written);
    }
    free(own->columns);
    free(own);
    rows->state = NULL;
}

/* ---- texts ---- */

/* The cells of row `at` of the batch. */
static void take_cells(const struct ArrowArray *batch, column_state *columns, size_t count,
                       int64_t at, brume_text *cells)
{
    for (size_t i = 0; i < count; i++) {
        struct ArrowArray one = *batch->children[i];
        const unsigned char *bits = one.buffers[0];
        one.offset += at;
        columns[i].texts = &cells[i];
        if (bits && one.null_count != 0 && !(bits[one.offset / 8] >> one.offset % 8 & 1))
            cells[i] = (brume_text){"", 0};
        else
            take_texts(&one, &columns[i], 1);
    }
}

static bool have_texts(const struct ArrowSchema *schema, column_state *columns, size_t count)
{
    bool good = (size_t)schema->n_children >= count;
    for (size_t i = 0; good && i < count; i++)
        good = read_layout(schema->children[i]->format, BRUME_WIRE_TEXT, &columns[i]) &&
               columns[i].layout != LAYOUT_DECIMAL;
    return good;
}

static bool adbc_texts(brume_adbc *adbc, const char *sql, size_t count, brume_adbc_taker take,
                       void *context)
{
    enum { MOST = 4 };
    struct ArrowArrayStream stream;
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    column_state columns[MOST] = {0};
    brume_text cells[MOST];
    bool good = adbc_begin(adbc, sql, &stream) && count <= MOST;
    good = good && stream.get_schema(&stream, &schema) == 0 && have_texts(&schema, columns, count);
    while (good && (good = stream.get_next(&stream, &batch) == 0) && batch.release) {
        for (int64_t at = 0; good && at < batch.length; at++) {
            take_cells(&batch, columns, count, at, cells);
            good = take(context, cells);
        }
        batch.release(&batch);
        memset(&batch, 0, sizeof batch);
    }
    if (schema.release)
        schema.release(&schema);
    if (stream.release)
        stream.release(&stream);
    adbc_end(adbc);
    return good;
}

static bool take_first(void *context, const brume_text *cells)
{
    char **first = context;
    *first = strndup(cells[0].data, cells[0].length);
    return false;
}

char *brume_adbc_cell(brume_adbc *adbc, const char *sql)
{
    char *first = NULL;
    (void)adbc_texts(adbc, sql, 1, take_first, &first);
    return first;
}

struct brume_adbc {
    brume_adbc_library *library;
    const brume_adbc_functions *functions;
    brume_adbc_handle database, connection, statement;
    bool has_database, has_connection, has_statement, has_canceller;
    pthread_t canceller;
    pthread_mutex_t lock; /* guards statement, has_statement and asked */
    bool asked;           /* a cancel came while no statement ran: it is for the next one */
    sem_t wake;           /* posted by a cancel, and at the end */
    atomic_bool closing;
};

/* What a driver says of a failure is dropped unread. */
static bool succeeded(uint8_t code, brume_adbc_error *said)
{
    if (said->release)
        said->release(said);
    return code == BRUME_ADBC_OK;
}

#define NOTHING_SAID                                                                               \
    {                                                                                              \
        .vendor_code = INT32_MIN                                                                   \
    }

static bool call(brume_adbc_call function, brume_adbc_handle *handle)
{
    brume_adbc_error said = NOTHING_SAID;
    return succeeded(function(handle, &said), &said);
}

/* ---- the library ---- */

/* Under the library's lock. It stays loaded: many drivers cannot be unloaded. */
static bool load(brume_adbc_library *library)
{
    const char *path = getenv(library->environment);
    void *opened = dlopen(path && *path ? path : library->name, RTLD_NOW | RTLD_LOCAL);
    brume_adbc_entry entry;
    brume_adbc_error said = NOTHING_SAID;
    return opened && brume_library_find(opened, library->entry, &entry) &&
           succeeded(entry(BRUME_ADBC_VERSION, &library->functions, &said), &said) &&
           library->functions.statement_cancel;
}

static brume_status need(brume_adbc_library *library, brume_error *error)
{
    pthread_mutex_lock(&library->lock);
    library->loaded = library->loaded || load(library);
    bool loaded = library->loaded;
    pthread_mutex_unlock(&library->lock);
    if (loaded)
        return BRUME_OK;
    char *hint = brume_engine_format("install %s, or put its path into the environment as %s",
                                     library->name, library->environment);
    brume_status status = brume_fail(error, BRUME_EUNSUPPORTED, hint,
                                     "%s sources need an ADBC driver of version 1.1",
                                     library->server);
    free(hint);
    return status;
}

/* ---- cancelling ---- */

static void *cancel_when_asked(void *context)
{
    brume_adbc *adbc = context;
    while (sem_wait(&adbc->wake) != 0 || !atomic_load(&adbc->closing)) {
        pthread_mutex_lock(&adbc->lock);
        adbc->asked = !adbc->has_statement;
        if (adbc->has_statement)
            (void)call(adbc->functions->statement_cancel, &adbc->statement);
        pthread_mutex_unlock(&adbc->lock);
    }
    return NULL;
}

/* The thread takes no signals: they are for those who expect them. */
static bool start_canceller(brume_adbc *adbc)
{
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    adbc->has_canceller = pthread_create(&adbc->canceller, NULL, cancel_when_asked, adbc) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return adbc->has_canceller;
}

static void adbc_cancel(brume_adbc *adbc)
{
    sem_post(&adbc->wake);
}

/* ---- opening ---- */

static brume_status unreachable(const brume_adbc *adbc, brume_error *error)
{
    return brume_fail(error, BRUME_ESOURCE, "check host, port and token, and that it runs",
                      "cannot connect to the %s server", adbc->library->server);
}

static brume_status connect_driver(brume_adbc *adbc, const char *const *options, brume_error *error)
{
    const brume_adbc_functions *functions = adbc->functions;
    bool good = adbc->has_database = call(functions->database_new, &adbc->database);
    for (size_t i = 0; good && options[i]; i += 2) {
        brume_adbc_error said = NOTHING_SAID;
        good = succeeded(
            functions->database_set_option(&adbc->database, options[i], options[i + 1], &said),
            &said);
    }
    good = good && call(functions->database_init, &adbc->database);
    good = good && (adbc->has_connection = call(functions->connection_new, &adbc->connection));
    brume_adbc_error said = NOTHING_SAID;
    good = good &&
           succeeded(functions->connection_init(&adbc->connection, &adbc->database, &said), &said);
    return good ? BRUME_OK : unreachable(adbc, error);
}

brume_status brume_adbc_open(brume_adbc_library *library, const char *const *options,
                             brume_adbc **out, brume_error *error)
{
    BRUME_TRY(need(library, error));
    brume_adbc *adbc = calloc(1, sizeof *adbc);
    if (!adbc)
        return brume_no_memory(error, NULL);
    adbc->library = library;
    adbc->functions = &library->functions;
    atomic_init(&adbc->closing, false);
    if (sem_init(&adbc->wake, 0, 0) != 0 || pthread_mutex_init(&adbc->lock, NULL) != 0) {
        free(adbc);
        return brume_no_memory(error, NULL);
    }
    brume_status status = start_canceller(adbc) ? connect_driver(adbc, options, error)
                                                : brume_no_memory(error, NULL);
    if (status != BRUME_OK) {
        adbc_close(adbc);
        return status;
    }
    *out = adbc;
    return BRUME_OK;
}

static void adbc_close(brume_adbc *adbc)
{
    if (!adbc)
        return;
    adbc_end(adbc);
    if (adbc->has_canceller) {
        atomic_store(&adbc->closing, true);
        sem_post(&adbc->wake);
        pthread_join(adbc->canceller, NULL);
    }
    if (adbc->has_connection)
        (void)call(adbc->functions->connection_release, &adbc->connection);
    if (adbc->has_database)
        (void)call(adbc->functions->database_release, &adbc->database);
    sem_destroy(&adbc->wake);
    pthread_mutex_destroy(&adbc->lock);
    free(adbc);
}

/* EENGINE, that the server failed or was lost. */
static brume_status adbc_failed(const brume_adbc *adbc, brume_error *error)
{
    return brume_fail(error, BRUME_EENGINE, "is the server still running? look into its log",
                      "%s failed, or was lost, while it ran the query", adbc->library->server);
}

/* ---- statements ---- */

/* Start a statement; *stream is the caller's, to release before adbc_end, which comes also
 * after a failure. */
static bool adbc_begin(brume_adbc *adbc, const char *sql, struct ArrowArrayStream *stream)
{
    const brume_adbc_functions *functions = adbc->functions;
    brume_adbc_error said = NOTHING_SAID;
    int64_t affected = -1;
    memset(stream, 0, sizeof *stream);
    adbc_end(adbc);
    pthread_mutex_lock(&adbc->lock);
    adbc->has_statement =
        succeeded(functions->statement_new(&adbc->connection, &adbc->statement, &said), &said);
    bool refused = adbc->asked || !adbc->has_statement;
    adbc->asked = false;
    pthread_mutex_unlock(&adbc->lock);
    if (refused)
        return false;
    said = (brume_adbc_error)NOTHING_SAID;
    if (!succeeded(functions->statement_set_sql(&adbc->statement, sql, &said), &said))
        return false;
    said = (brume_adbc_error)NOTHING_SAID;
    return succeeded(functions->statement_execute(&adbc->statement, stream, &affected, &said),
                     &said) &&
           stream->release;
}

static void adbc_end(brume_adbc *adbc)
{
    pthread_mutex_lock(&adbc->lock);
    if (adbc->has_statement)
        (void)call(adbc->functions->statement_release, &adbc->statement);
    adbc->has_statement = false;
    adbc->statement = (brume_adbc_handle){0};
    pthread_mutex_unlock(&adbc->lock);
}

bool brume_adbc_run(brume_adbc *adbc, const char *sql)
{
    struct ArrowArrayStream stream;
    bool good = adbc_begin(adbc, sql, &stream), more = good;
    while (more) {
        struct ArrowArray batch = {0};
        good = stream.get_next(&stream, &batch) == 0;
        more = good && batch.release;
        if (more)
            batch.release(&batch);
    }
    if (stream.release)
        stream.release(&stream);
    adbc_end(adbc);
    return good;
}

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
    bool good = sql && adbc_texts(adbc, sql, 2, take_line, &of);
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
 * For tables of Spark's own catalog it is asked for JSON. Tables of other catalogs, as Delta's and
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
        return adbc_failed(state->adbc, error);
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
    return settle(state->adbc) ? check_collation(state, error) : adbc_failed(state->adbc, error);
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
    adbc_close(state->adbc);
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
    brume_status status = adbc_select(state->adbc, own, rows, error);
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
    adbc_cancel(state->adbc);
}

const brume_driver brume_driver_spark = {
    .dialect = BRUME_DIALECT_SPARK,
    .open = spark_driver_open,
    .close = spark_driver_close,
    .describe = spark_describe,
    .marks = spark_marks,
    .select = spark_driver_select,
    .next = adbc_next,
    .finish = adbc_finish,
    .retain = spark_driver_retain,
    .release = spark_driver_release,
    .cancel = spark_driver_cancel,
};
