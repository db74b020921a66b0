/* An ADBC driver that is no driver: it answers what test_adbc.c asks, and fails where it is told
 * to.
 *
 *   SELECT version()          what FAKE_SPARK_VERSION says
 *   SELECT concat(collation(  what FAKE_SPARK_COLLATION says, or what Spark does
 *   SET ...                   nothing, and no error
 *   DESCRIBE TABLE EXTENDED `NAME` AS JSON   what is known of NAME; an error for others
 *   DESCRIBE TABLE EXTENDED `lake`.`NAME`    the same in lines; there is no JSON of it
 *   SELECT ... `echo` ...     the statement itself, as one text
 *   SELECT ... `many` ...     two batches of four columns: integers, numbers, texts, decimals
 *   SELECT ... `lost` ...     one batch of them, then an error
 *   SELECT ... `wait` ...     nothing, until it is cancelled
 *
 * Connecting fails unless the token is right, where FAKE_SPARK_TOKEN has one. */
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/adbc/abi.h"

enum { FAILED = 9, ROWS = 3 };

static sem_t cancelled;
static char token[64], text[20000];

/* ---- results ---- */

/* Three rows, of which the middle one is NULL, after one that the offset leaves out. */
static const unsigned char valid[] = {0x0b};
static const int64_t integers[] = {99, -5, 0, INT64_MAX};
static const double reals[] = {9, 0.5, 0, -1e300};
static const int32_t text_ends[] = {0, 2, 5, 5, 5};
static const char letters[] = "xxa\xc3\xa9";
/* 9, -12345678901234567890123456789012345678, 0, 7 as words of 128 bits */
static const uint64_t decimals[] = {9, 0, 0x3bb66faf21c70cb2u, 0xf6b64f090ffdccecu, 0, 0, 7, 0};

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++)
        free(schema->children[i]);
    free(schema->children);
    schema->release = NULL;
}

static void release_array(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_children; i++) {
        free(array->children[i]->buffers);
        free(array->children[i]);
    }
    free(array->children);
    array->release = NULL;
}

/* Lines of a name, a text and a remark that may be NULL, as Spark describes a table of another
 * catalog than its own; and those of a view. */
static const char *const table_lines[][2] = {
    {"person", "string"},
    {"folded", "string collate UTF8_LCASE"},
    {"cost", "decimal(10,2)"},
    {"at", "timestamp"},
    {"note", "varchar(5)"},
    {"list", "array<decimal(10,2)>"},
    {"# Partition Information", ""},
    {"person", "string"},
    {"", ""},
    {"# Metadata Columns", ""},
    {"Name", "nobody's"},
    {"", ""},
    {"# Detailed Table Information", ""},
    {"Name", "lake.clinic.visits"},
    {"Type", "MANAGED"},
    {"Location", "s3a://Bucket/clinic//visits"},
    {"Provider", "iceberg"},
    {"Table Properties", "[format=iceberg/parquet]"},
};
static const char *const view_lines[][2] = {
    {"person", "string"}, {"", ""}, {"# Detailed View Information", ""}, {"Name", "lake.seen"}};

/* private_data: 'e' one text, 'm' many, 'l' lost, 'w' wait, 't' and 'v' lines, 'n' nothing; how
 * many batches went. */
typedef struct answer {
    char kind;
    int sent;
} answer;

static bool is_lines(const answer *of)
{
    return of->kind == 't' || of->kind == 'v';
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    static const char *const formats[] = {"l", "g", "u", "d:38,2"};
    const answer *of = stream->private_data;
    int64_t count = strchr("mlw", of->kind) ? 4 : is_lines(of) ? 3 : 1;
    *out = (struct ArrowSchema){.format = "+s", .n_children = count, .release = release_schema};
    out->children = calloc((size_t)count, sizeof *out->children);
    for (int64_t i = 0; i < count; i++) {
        out->children[i] = calloc(1, sizeof **out->children);
        *out->children[i] =
            (struct ArrowSchema){.format = count < 4 ? "u" : formats[i], .name = "c"};
    }
    return 0;
}

static struct ArrowArray *column(const void *first, const void *second, bool nulls)
{
    struct ArrowArray *made = calloc(1, sizeof *made);
    made->buffers = calloc(3, sizeof *made->buffers);
    made->buffers[0] = nulls ? valid : NULL;
    made->buffers[1] = first;
    made->buffers[2] = second;
    made->n_buffers = second ? 3 : 2;
    made->length = ROWS;
    made->offset = nulls;
    made->null_count = nulls;
    return made;
}

/* All lines are one batch; remarks are NULL. */
static void put_lines(const answer *of, struct ArrowArray *out)
{
    static const unsigned char none[8] = {0};
    static int32_t ends[2][32];
    static char letters_of[2][2000];
    const char *const(*lines)[2] = of->kind == 't' ? table_lines : view_lines;
    size_t count = of->kind == 't' ? sizeof table_lines / sizeof *table_lines
                                   : sizeof view_lines / sizeof *view_lines;
    for (size_t c = 0; c < 2; c++)
        for (size_t i = 0; i < count; i++)
            ends[c][i + 1] = ends[c][i] + sprintf(letters_of[c] + ends[c][i], "%s", lines[i][c]);
    out->length = (int64_t)count;
    out->n_children = 3;
    for (size_t c = 0; c < 3; c++) {
        out->children[c] = column(ends[c % 2], letters_of[c % 2], false);
        out->children[c]->length = (int64_t)count;
    }
    out->children[2]->buffers[0] = none;
    out->children[2]->null_count = (int64_t)count;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    static int32_t ends[2];
    answer *of = stream->private_data;
    *out = (struct ArrowArray){0};
    if (of->kind == 'w')
        sem_wait(&cancelled);
    if (of->kind == 'w' || (of->kind == 'l' && of->sent == 1))
        return FAILED;
    if (of->kind == 'n' || of->sent == (of->kind == 'm' ? 2 : 1))
        return 0;
    of->sent++;
    out->release = release_array;
    out->n_children = of->kind == 'e' ? 1 : 4;
    out->children = calloc(4, sizeof *out->children);
    if (of->kind == 'e') {
        ends[1] = (int32_t)strlen(text);
        out->length = 1;
        out->children[0] = column(ends, text, false);
        return 0;
    }
    if (is_lines(of)) {
        put_lines(of, out);
        return 0;
    }
    out->length = ROWS;
    out->children[0] = column(integers, NULL, true);
    out->children[1] = column(reals, NULL, true);
    out->children[2] = column(text_ends, letters, true);
    out->children[3] = column(decimals, NULL, true);
    return 0;
}

static const char *last_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "a row of somebody";
}

static void release_stream(struct ArrowArrayStream *stream)
{
    free(stream->private_data);
    stream->release = NULL;
}

/* ---- the driver ---- */

static uint8_t nothing(brume_adbc_handle *handle, brume_adbc_error *error)
{
    (void)handle;
    (void)error;
    return 0;
}

static void release_error(brume_adbc_error *error)
{
    error->release = NULL;
}

static uint8_t fail(brume_adbc_error *error)
{
    error->message = token; /* a driver may say anything */
    error->release = release_error;
    return FAILED;
}

static uint8_t set_option(brume_adbc_handle *handle, const char *key, const char *value,
                          brume_adbc_error *error)
{
    (void)handle;
    (void)error;
    if (strcmp(key, "adbc.spark.token") == 0)
        snprintf(token, sizeof token, "%s", value);
    return 0;
}

static uint8_t connection_init(brume_adbc_handle *connection, brume_adbc_handle *database,
                               brume_adbc_error *error)
{
    (void)connection;
    (void)database;
    const char *wanted = getenv("FAKE_SPARK_TOKEN");
    return wanted && strcmp(wanted, token) != 0 ? fail(error) : 0;
}

static uint8_t statement_new(brume_adbc_handle *connection, brume_adbc_handle *statement,
                             brume_adbc_error *error)
{
    (void)connection;
    (void)statement;
    (void)error;
    return 0;
}

static uint8_t set_sql(brume_adbc_handle *statement, const char *sql, brume_adbc_error *error)
{
    (void)statement;
    (void)error;
    snprintf(text, sizeof text, "%s", sql);
    return 0;
}

static uint8_t cancel(brume_adbc_handle *statement, brume_adbc_error *error)
{
    (void)statement;
    (void)error;
    sem_post(&cancelled);
    return 0;
}

static const char table_text[] =
    "{\"table_name\":\"visits\",\"catalog_name\":\"prod\",\"namespace\":[\"clinic\"],\"columns\":["
    "{\"name\":\"person\",\"type\":{\"name\":\"string\",\"collation\":\"UTF8_BINARY\"},"
    "\"nullable\":false},{\"name\":\"folded\",\"type\":{\"name\":\"string\",\"collation\":"
    "\"UTF8_LCASE\"},\"nullable\":true},{\"name\":\"cost\",\"type\":{\"name\":\"decimal\","
    "\"precision\":10,\"scale\":2},\"nullable\":true},{\"name\":\"at\",\"type\":{\"name\":"
    "\"timestamp_ltz\"},\"nullable\":true},{\"name\":\"list\",\"type\":{\"name\":\"array\"},"
    "\"nullable\":true}],\"location\":\"s3://bucket/clinic/visits/\",\"type\":\"%s\",\"provider\":"
    "\"%s\"}";

/* The answer to a statement, in `text` where it is one; 0: an error. */
static char answer_to(void)
{
    const char *version = getenv("FAKE_SPARK_VERSION");
    if (strcmp(text, "SELECT version()") == 0) {
        snprintf(text, sizeof text, "%s", version ? version : "4.1.3 abc");
        return 'e';
    }
    if (strncmp(text, "SELECT concat(collation(", 24) == 0) {
        const char *said = getenv("FAKE_SPARK_COLLATION");
        snprintf(text, sizeof text, "%s",
                 said ? said : "SYSTEM.BUILTIN.UTF8_BINARY SYSTEM.BUILTIN.UTF8_BINARY");
        return 'e';
    }
    if (strncmp(text, "SET ", 4) == 0)
        return 'n';
    if (strcmp(text, "DESCRIBE TABLE EXTENDED `lake`.`visits`") == 0)
        return 't';
    if (strcmp(text, "DESCRIBE TABLE EXTENDED `lake`.`seen`") == 0)
        return 'v';
    if (strstr(text, "EXTENDED `prod`.`clinic`.`visits` AS") ||
        strstr(text, "EXTENDED `same` AS")) {
        snprintf(text, sizeof text, table_text, "EXTERNAL", "parquet");
        return 'e';
    }
    if (strstr(text, "EXTENDED `seen` AS")) {
        snprintf(text, sizeof text, table_text, "VIEW", "parquet");
        return 'e';
    }
    if (strstr(text, "EXTENDED `lines` AS")) {
        snprintf(text, sizeof text, table_text, "MANAGED", "csv");
        return 'e';
    }
    return strstr(text, "`echo`")   ? 'e'
           : strstr(text, "`many`") ? 'm'
           : strstr(text, "`lost`") ? 'l'
           : strstr(text, "`wait`") ? 'w'
                                    : 0;
}

static uint8_t execute(brume_adbc_handle *statement, struct ArrowArrayStream *rows,
                       int64_t *affected, brume_adbc_error *error)
{
    (void)statement;
    *affected = -1;
    char kind = answer_to();
    answer *made = kind ? calloc(1, sizeof *made) : NULL;
    if (!made)
        return fail(error);
    made->kind = kind;
    *rows = (struct ArrowArrayStream){get_schema, get_next, last_error, release_stream, made};
    return 0;
}

__attribute__((visibility("default"))) uint8_t AdbcDriverSparkInit(int version, void *functions,
                                                                   brume_adbc_error *error);

uint8_t AdbcDriverSparkInit(int version, void *functions, brume_adbc_error *error)
{
    if (version != BRUME_ADBC_VERSION || sem_init(&cancelled, 0, 0) != 0)
        return fail(error);
    brume_adbc_functions *to = functions;
    *to = (brume_adbc_functions){.database_init = nothing,
                                 .database_new = nothing,
                                 .database_set_option = set_option,
                                 .database_release = nothing,
                                 .connection_init = connection_init,
                                 .connection_new = nothing,
                                 .connection_release = nothing,
                                 .statement_execute = execute,
                                 .statement_new = statement_new,
                                 .statement_release = nothing,
                                 .statement_set_sql = set_sql,
                                 .statement_cancel = cancel};
    return 0;
}
