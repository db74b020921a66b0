/* The rows of an answer as an Arrow stream, by the Arrow C data and stream interfaces.
 *
 * Promises: every structure that is handed out owns what it points to, and so does every child of
 * one: they can be moved and released in any order, after the stream and after the session. */
#include "session/arrow_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "session/arrow_column.h"

/* What the stream owns. */
typedef struct rows {
    struct ArrowArray batch; /* moved out by the first get_next */
    brume_arrow_field *fields;
    size_t count;
} rows;

/* ---- the schema ---- */

/* What is allocated of a schema, as its private data. */
typedef struct schema_memory {
    char *name, *metadata;
    struct ArrowSchema **children;
} schema_memory;

static void release_schema(struct ArrowSchema *schema)
{
    schema_memory *memory = schema->private_data;
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release)
            schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    free(memory->name);
    free(memory->metadata);
    free((void *)memory->children);
    free(memory);
    schema->release = NULL;
}

/* An empty one that can be released; `children` are still to be filled in. */
static bool make_schema(const brume_arrow_field *field, const char *format, size_t children,
                        struct ArrowSchema *out)
{
    schema_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return false;
    *out =
        (struct ArrowSchema){.format = format, .release = release_schema, .private_data = memory};
    memory->name = strdup(field ? field->name : "");
    memory->children = calloc(children + 1, sizeof *memory->children);
    if (field && field->metadata_length && (memory->metadata = malloc(field->metadata_length)))
        memcpy(memory->metadata, field->metadata, field->metadata_length);
    out->name = memory->name;
    out->metadata = memory->metadata;
    out->flags = field ? ARROW_FLAG_NULLABLE : 0;
    out->children = memory->children;
    if (memory->name && memory->children && (memory->metadata || !field || !field->metadata_length))
        return true;
    release_schema(out);
    return false;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    const rows *all = stream->private_data;
    struct ArrowSchema made;
    if (!make_schema(NULL, "+s", all->count, &made))
        return ENOMEM;
    for (size_t i = 0; i < all->count; i++) {
        struct ArrowSchema *child = malloc(sizeof *child);
        if (!child || !make_schema(&all->fields[i], all->fields[i].format, 0, child)) {
            free(child);
            release_schema(&made);
            return ENOMEM;
        }
        made.children[made.n_children++] = child;
    }
    *out = made;
    return 0;
}

/* ---- the batch ---- */

static void release_batch(struct ArrowArray *batch)
{
    for (int64_t i = 0; i < batch->n_children; i++) {
        if (batch->children[i]->release)
            batch->children[i]->release(batch->children[i]);
        free(batch->children[i]);
    }
    free((void *)batch->children);
    free((void *)batch->buffers);
    batch->release = NULL;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    rows *all = stream->private_data;
    *out = all->batch; /* after the first time: released, the end of the stream */
    all->batch = (struct ArrowArray){0};
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "out of memory"; /* the only error there is */
}

/* ---- the stream ---- */

static void free_rows(rows *all)
{
    if (all->batch.release)
        all->batch.release(&all->batch);
    for (size_t i = 0; all->fields && i < all->count; i++)
        brume_arrow_field_clear(&all->fields[i]);
    free(all->fields);
    free(all);
}

static void release_stream(struct ArrowArrayStream *stream)
{
    free_rows(stream->private_data);
    stream->release = NULL;
}

static brume_status fill(const brume_query_answer *answer, rows *all, brume_error *error)
{
    struct ArrowArray *batch = &all->batch;
    size_t count = answer->column_count;
    all->fields = calloc(count + 1, sizeof *all->fields);
    batch->buffers = calloc(1, sizeof *batch->buffers); /* no validity: a row is there */
    batch->children = calloc(count + 1, sizeof *batch->children);
    batch->length = (int64_t)answer->row_count;
    batch->n_buffers = 1;
    batch->release = release_batch;
    if (!all->fields || !batch->buffers || !batch->children)
        return brume_no_memory(error, "the rows");
    for (size_t i = 0; i < count; i++) {
        struct ArrowArray *child = calloc(1, sizeof *child);
        if (!child)
            return brume_no_memory(error, "the rows");
        batch->children[batch->n_children++] = child;
        all->count++;
        BRUME_TRY(brume_arrow_column(answer, i, &all->fields[i], child, error));
    }
    return BRUME_OK;
}

brume_status brume_arrow_stream(const brume_query_answer *answer, struct ArrowArrayStream *out,
                                brume_error *error)
{
    rows *all = calloc(1, sizeof *all);
    if (!all)
        return brume_no_memory(error, "the rows");
    brume_status status = fill(answer, all, error);
    if (status != BRUME_OK) {
        free_rows(all);
        return status;
    }
    *out = (struct ArrowArrayStream){.get_schema = get_schema,
                                     .get_next = get_next,
                                     .get_last_error = get_last_error,
                                     .release = release_stream,
                                     .private_data = all};
    return BRUME_OK;
}
