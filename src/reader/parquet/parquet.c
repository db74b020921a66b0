/* Parquet files as rows: see the header. */
#include "reader/parquet/parquet.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "reader/parquet/chunk.h"
#include "reader/parquet/footer.h"

/* One file. It is not kept open: a glob may name more files than a process may open. */
typedef struct parquet_file {
    char *path;
    struct stat known; /* when its footer was read */
    brume_parquet_footer footer;
    size_t *columns; /* for each readable column of the first file, which one it is here */
} parquet_file;

struct brume_row_files {
    char *location;
    parquet_file *files;
    size_t file_count;
    size_t part_count;
    brume_pool_shelf *shelf; /* of the parts' memory */
};

struct brume_row_part {
    brume_pool_shelf *shelf;
    brume_page_pool pool;
    int file;
    uint64_t left; /* rows */
    brume_parquet_chunk **chunks;
    size_t chunk_count;
};

/* ---- files ---- */

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static brume_status open_file(const char *path, const char *location, int *out, struct stat *status,
                              brume_error *error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, status) != 0 || !S_ISREG(status->st_mode)) {
        if (file >= 0)
            close(file);
        return brume_fail(error, BRUME_ESOURCE, "put the file back and ask again",
                          "the file '%s' is gone or may not be read any more", location);
    }
    *out = file;
    return BRUME_OK;
}

static brume_status different_columns(const char *location, brume_error *error)
{
    return brume_fail(error, BRUME_ESOURCE,
                      "all of them must have the same columns, of the same types",
                      "the files of '%s' have different columns", location);
}

/* Find the first file's columns in this one. */
static brume_status match_columns(const parquet_file *first, parquet_file *file,
                                  const char *location, brume_error *error)
{
    const brume_parquet_schema *wanted = &first->footer.schema, *found = &file->footer.schema;
    size_t count = wanted->column_count;
    file->columns = calloc(count + 1, sizeof *file->columns);
    if (!file->columns)
        return brume_no_memory(error, NULL);
    if (count != found->column_count)
        return different_columns(location, error);
    for (size_t i = 0, readable = 0; i < count; i++) {
        /* Nearly always they are in the same order. */
        size_t j = i, tries = 0;
        while (tries < count && strcmp(wanted->columns[i].name, found->columns[j].name) != 0) {
            j = (j + 1) % count;
            tries++;
        }
        if (tries == count || strcmp(wanted->columns[i].native, found->columns[j].native) != 0 ||
            !brume_type_equal(wanted->columns[i].type, found->columns[j].type))
            return different_columns(location, error);
        if (wanted->columns[i].type.kind != BRUME_TYPE_REFUSED)
            file->columns[readable++] = j;
    }
    return BRUME_OK;
}

static brume_status add_file(brume_row_files *files, const char *path, brume_error *error)
{
    parquet_file *file = &files->files[files->file_count++];
    int descriptor = -1;
    file->path = strdup(path);
    if (!file->path)
        return brume_no_memory(error, NULL);
    BRUME_TRY(open_file(path, files->location, &descriptor, &file->known, error));
    brume_status status = brume_parquet_footer_read(descriptor, (uint64_t)file->known.st_size,
                                                    files->location, &file->footer, error);
    close(descriptor);
    if (status == BRUME_OK)
        status = match_columns(&files->files[0], file, files->location, error);
    files->part_count += file->footer.group_count;
    return status;
}

static void close_files(brume_row_files *files)
{
    if (!files)
        return;
    for (size_t i = 0; i < files->file_count; i++) {
        free(files->files[i].path);
        free(files->files[i].columns);
        brume_parquet_footer_clear(&files->files[i].footer);
    }
    brume_pool_shelf_close(files->shelf);
    free(files->files);
    free(files->location);
    free(files);
}

brume_status brume_parquet_open(const char *location, const char *const *paths, size_t count,
                                brume_row_files **out, brume_error *error)
{
    brume_row_files *files = calloc(1, sizeof *files);
    if (!files)
        return brume_no_memory(error, NULL);
    files->location = strdup(location);
    files->files = calloc(count + 1, sizeof *files->files);
    files->shelf = brume_pool_shelf_open();
    brume_status status =
        files->location && files->files && files->shelf ? BRUME_OK : brume_no_memory(error, NULL);
    for (size_t i = 0; status == BRUME_OK && i < count; i++)
        status = add_file(files, paths[i], error);
    if (status == BRUME_OK)
        *out = files;
    else
        close_files(files);
    return status;
}

const brume_parquet_column *brume_parquet_columns(const brume_row_files *files, size_t *count)
{
    *count = files->files[0].footer.schema.column_count;
    return files->files[0].footer.schema.columns;
}

/* ---- parts ---- */

static size_t part_count(const brume_row_files *files)
{
    return files->part_count;
}

static size_t first_part(const brume_row_files *files, size_t file)
{
    size_t parts = 0;
    for (size_t i = 0; i < file; i++)
        parts += files->files[i].footer.group_count;
    return parts;
}

static void part_close(brume_row_part *part)
{
    if (!part)
        return;
    for (size_t i = 0; i < part->chunk_count; i++)
        brume_parquet_chunk_close(part->chunks[i]);
    free((void *)part->chunks);
    brume_pool_shelf_put(part->shelf, part->pool);
    if (part->file >= 0)
        close(part->file);
    free(part);
}

/* Only the footer says how many rows there are; where columns are read they must have as many. */
static brume_status fill_part(const brume_row_files *files, const parquet_file *file,
                              const brume_parquet_group *group, const size_t *columns,
                              size_t column_count, brume_row_part *part, brume_error *error)
{
    struct stat now;
    BRUME_TRY(open_file(file->path, files->location, &part->file, &now, error));
    if (!is_same(&file->known, &now))
        return brume_fail(error, BRUME_ESOURCE, "ask again when nobody writes to it",
                          "'%s' was changed while it was read", files->location);
    part->left = group->row_count;
    part->chunks = calloc(column_count + 1, sizeof *part->chunks);
    if (!part->chunks)
        return brume_no_memory(error, NULL);
    for (size_t i = 0; i < column_count; i++) {
        const brume_parquet_column *column =
            &file->footer.schema.columns[file->columns[columns[i]]];
        part->chunks[i] = brume_parquet_chunk_open(column, &group->places[column->leaf], part->file,
                                                   files->location, &part->pool);
        if (!part->chunks[i])
            return brume_no_memory(error, NULL);
        part->chunk_count = i + 1;
    }
    return BRUME_OK;
}

static brume_status part_open(const brume_row_files *files, size_t index, const size_t *columns,
                              size_t column_count, brume_row_part **out, brume_error *error)
{
    const parquet_file *file = files->files;
    while (index >= file->footer.group_count)
        index -= file++->footer.group_count;
    brume_row_part *part = calloc(1, sizeof *part);
    if (!part)
        return brume_no_memory(error, NULL);
    part->file = -1;
    part->shelf = files->shelf;
    part->pool = brume_pool_shelf_take(files->shelf);
    brume_status status =
        fill_part(files, file, &file->footer.groups[index], columns, column_count, part, error);
    if (status == BRUME_OK)
        *out = part;
    else
        part_close(part);
    return status;
}

static brume_status part_next(brume_row_part *part, brume_batch_column *columns, size_t *row_count,
                              brume_error *error)
{
    size_t count = part->left < BRUME_BATCH_ROWS ? (size_t)part->left : BRUME_BATCH_ROWS;
    brume_pool_turn(&part->pool);
    for (size_t i = 0; i < part->chunk_count && count > 0; i++)
        BRUME_TRY(brume_parquet_chunk_next(part->chunks[i], count, &columns[i], error));
    part->left -= count;
    *row_count = count;
    return BRUME_OK;
}

const brume_row_format brume_parquet_format = {
    .part_count = part_count,
    .part_open = part_open,
    .part_next = part_next,
    .part_close = part_close,
    .close = close_files,
    .first_part = first_part,
};
