/* A connection through an ADBC driver.
 *
 * A cancel may come from a signal handler, where the driver must not be called: a thread that does
 * nothing else waits for it, and cancels the statement that runs. */
#include "engine/adbc/connection.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/library.h"
#include "engine/adbc/abi.h"
#include "engine/driver.h"

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
        return brume_adbc_failed(own->adbc, error);
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

brume_status brume_adbc_select(brume_adbc *adbc, const char *sql, brume_rows *rows,
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
        return brume_adbc_failed(adbc, error);
    return check_schema(own, rows, error);
}

brume_status brume_adbc_next(brume_rows *rows, brume_error *error)
{
    rows_state *own = rows->state;
    do {
        if (own->batch.release)
            own->batch.release(&own->batch);
        memset(&own->batch, 0, sizeof own->batch);
        if (own->stream.get_next(&own->stream, &own->batch) != 0)
            return brume_adbc_failed(own->adbc, error);
    } while (own->batch.release && own->batch.length == 0);
    rows->chunk.row_count = 0;
    return own->batch.release ? take_batch(rows, own, error) : BRUME_OK;
}

static void adbc_end(brume_adbc *adbc);

void brume_adbc_finish(brume_rows *rows)
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

bool brume_adbc_texts(brume_adbc *adbc, const char *sql, size_t count, brume_adbc_taker take,
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
    (void)brume_adbc_texts(adbc, sql, 1, take_first, &first);
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

void brume_adbc_cancel(brume_adbc *adbc)
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
        brume_adbc_close(adbc);
        return status;
    }
    *out = adbc;
    return BRUME_OK;
}

void brume_adbc_close(brume_adbc *adbc)
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

brume_status brume_adbc_failed(const brume_adbc *adbc, brume_error *error)
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
