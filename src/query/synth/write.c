/* The output of a synthetic table: CSV, or Parquet by DuckDB.
 *
 * Promises: the output is there whole, or not touched: what is written goes to FILE.partial first.
 */
#include "query/synth/synth.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/csv_write.h"
#include "base/error.h"
#include "engine/parquet.h"

enum { MOST_INLINE = 1 << 22 };

static bool is_parquet(const char *path)
{
    size_t length = strlen(path);
    return length > 8 && strcasecmp(path + length - 8, ".parquet") == 0;
}

brume_status brume_synth_check_output(const brume_synth *synth, brume_error *error)
{
    const char *path = synth->words.output;
    struct stat out, in;
    if (!path || !*path)
        return brume_fail(error, BRUME_EARGUMENT, "where to write: --output synthetic.csv",
                          "'--output' is missing");
    if (strcmp(path, "-") == 0 &&
        (double)synth->rows * (double)brume_schema_columns(synth->schema) > MOST_INLINE)
        return brume_fail(error, BRUME_EARGUMENT, "name a file",
                          "'--output -' is for %d values (rows times columns) at most",
                          MOST_INLINE);
    if (strcmp(path, "-") == 0)
        return BRUME_OK;
    size_t length = strlen(path);
    if (!is_parquet(path) && !(length > 4 && strcasecmp(path + length - 4, ".csv") == 0))
        return brume_fail(error, BRUME_EARGUMENT, "its name says the format",
                          "'--output %s' ends neither in .csv nor in .parquet, and is not -", path);
    char *copy = strdup(path);
    if (!copy)
        return brume_no_memory(error, NULL);
    bool good = access(dirname(copy), W_OK | X_OK) == 0;
    free(copy);
    if (!good)
        return brume_fail(error, BRUME_EDISK, NULL, "cannot write '%s': %s", path, strerror(errno));
    if (stat(path, &out) != 0)
        return BRUME_OK;
    if (!S_ISREG(out.st_mode))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'--output %s' is no plain file", path);
    const char *location = synth->policy ? synth->policy->location : synth->words.source;
    if (stat(location, &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'--output %s' is the source itself", path);
    return BRUME_OK;
}

/* ---- CSV ---- */

static const brume_schema *schema_of(const brume_synth *synth, const brume_synth_rows *rows)
{
    return rows->found ? rows->found : synth->schema;
}

static void write_row(const brume_schema *schema, const uint32_t *record, FILE *out)
{
    for (size_t c = 0; c < brume_schema_columns(schema); c++) {
        char room[BRUME_SCHEMA_TEXT];
        if (c)
            fputc(',', out);
        brume_csv_write_field(out, brume_schema_text(schema, c, record[c], room));
    }
    fputc('\n', out);
}

static void write_rows(const brume_synth *synth, const brume_synth_rows *rows, FILE *out)
{
    const brume_schema *schema = schema_of(synth, rows);
    size_t columns = brume_schema_columns(schema);
    uint32_t record[BRUME_SCHEMA_COLUMNS] = {0};
    for (size_t c = 0; c < columns; c++) {
        fputs(c ? "," : "", out);
        brume_csv_write_field(out, brume_schema_name(schema, c));
    }
    fputc('\n', out);
    for (uint64_t r = 0; !rows->cells && r < rows->tree.rows; r++) {
        for (size_t c = 0; c < columns; c++)
            record[c] = rows->tree.column[c][r];
        write_row(schema, record, out);
    }
    for (uint64_t cell = 0; rows->cells && cell < synth->universe.cells; cell++) {
        if (rows->cells[cell] > 0)
            brume_universe_record(&synth->universe, cell, record);
        for (double n = 0; n < rows->cells[cell]; n++)
            write_row(schema, record, out);
    }
}

static brume_status disk_fault(const char *path, brume_error *error)
{
    return brume_fail(error, BRUME_EDISK, NULL, "cannot write '%s': %s", path, strerror(errno));
}

static brume_status write_csv(const brume_synth *synth, const brume_synth_rows *rows,
                              const char *path, brume_error *error)
{
    FILE *out = fopen(path, "w");
    if (!out)
        return disk_fault(path, error);
    write_rows(synth, rows, out);
    bool failed = fflush(out) != 0 || ferror(out) || fsync(fileno(out)) != 0;
    if (fclose(out) != 0 || failed)
        return disk_fault(path, error);
    return BRUME_OK;
}

/* ---- Parquet ---- */

/* An integer in its own spelling, that fits 64 bits. */
static bool is_integer(const char *text)
{
    const char *digits = text + (*text == '-');
    size_t length = strlen(digits);
    return length >= 1 && length <= 18 && strspn(digits, "0123456789") == length &&
           (digits[0] != '0' || (length == 1 && digits == text));
}

static brume_parquet_type type_of(const brume_schema *schema, size_t column)
{
    uint32_t size = brume_schema_size(schema, column) - brume_schema_has_other(schema, column);
    if (brume_schema_has_bins(schema, column))
        return BRUME_PARQUET_REAL;
    for (uint32_t v = 0; v < size; v++) {
        char room[BRUME_SCHEMA_TEXT];
        if (!is_integer(brume_schema_text(schema, column, v, room)))
            return BRUME_PARQUET_TEXT;
    }
    return BRUME_PARQUET_INTEGER;
}

static brume_status write_parquet(const brume_synth *synth, const brume_synth_rows *rows,
                                  const char *path, brume_error *error)
{
    size_t columns = brume_schema_columns(synth->schema);
    const char *names[BRUME_SCHEMA_COLUMNS];
    brume_parquet_type types[BRUME_SCHEMA_COLUMNS];
    for (size_t c = 0; c < columns; c++) {
        names[c] = brume_schema_name(synth->schema, c);
        types[c] = type_of(schema_of(synth, rows), c);
    }
    int descriptor = memfd_create("rows", MFD_CLOEXEC);
    FILE *out = descriptor < 0 ? NULL : fdopen(descriptor, "w+");
    if (!out) {
        if (descriptor >= 0)
            close(descriptor);
        return brume_no_memory(error, NULL);
    }
    char csv[48];
    snprintf(csv, sizeof csv, "/proc/self/fd/%d", descriptor);
    write_rows(synth, rows, out);
    brume_status status = fflush(out) == 0 && !ferror(out)
                              ? brume_parquet_write(csv, names, types, columns, path, error)
                              : brume_no_memory(error, NULL);
    fclose(out);
    return status;
}

brume_status brume_synth_text(const brume_synth *synth, const brume_synth_rows *rows, char **out,
                              brume_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return brume_no_memory(error, NULL);
    write_rows(synth, rows, file);
    if (fclose(file) != 0) {
        free(text);
        return brume_no_memory(error, NULL);
    }
    *out = text;
    return BRUME_OK;
}

brume_status brume_synth_write(const brume_synth *synth, const brume_synth_rows *rows,
                               brume_error *error)
{
    const char *path = synth->words.output;
    size_t size = strlen(path) + sizeof ".partial";
    char *partial = malloc(size);
    if (!partial)
        return brume_no_memory(error, NULL);
    snprintf(partial, size, "%s.partial", path);
    brume_status status = is_parquet(path) ? write_parquet(synth, rows, partial, error)
                                           : write_csv(synth, rows, partial, error);
    if (status == BRUME_OK && rename(partial, path) != 0)
        status = disk_fault(path, error);
    if (status != BRUME_OK)
        unlink(partial);
    free(partial);
    return status;
}
