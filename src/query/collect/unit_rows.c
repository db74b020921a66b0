/* The rows of a question as a CSV file in memory, so many of each unit. */
#include "query/collect/unit_rows.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/csv_write.h"
#include "base/error.h"
#include "engine/files.h"
#include "query/collect/dictionary.h"
#include "query/collect/siphash.h"
#include "query/plan/key_value.h"
#include "query/print/statement.h"

/* ---- which rows ---- */

brume_status brume_rows_question(const brume_policy *policy, const char *dataset, char **out,
                                 brume_error *error)
{
    size_t size = 64 + strlen(dataset);
    for (size_t i = 0; i < policy->column_count; i++)
        size += 16 + strlen(policy->columns[i].name);
    char *sql = malloc(size);
    FILE *text = sql ? fmemopen(sql, size, "w") : NULL;
    if (!text) {
        free(sql);
        return brume_no_memory(error, "the rows");
    }
    size_t used = 0;
    fputs("SELECT ", text);
    for (size_t i = 0; i < policy->column_count; i++)
        if (policy->columns[i].type.kind != BRUME_TYPE_REFUSED &&
            !strchr(policy->columns[i].name, '"'))
            fprintf(text, "%sCOUNT(\"%s\")", used++ ? ", " : "", policy->columns[i].name);
    fprintf(text, " FROM \"%s\"", dataset);
    fclose(text);
    *out = sql;
    return BRUME_OK;
}

brume_status brume_rows_question_of(const char *view, const char *const *names, size_t count,
                                    char **out, brume_error *error)
{
    char *sql = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&sql, &size);
    if (!text)
        return brume_no_memory(error, "the rows");
    fputs("SELECT ", text);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", COUNT(\"" : "COUNT(\"", text);
        for (const char *c = names[i]; *c; c++)
            fprintf(text, *c == '"' ? "\"\"" : "%c", *c);
        fputs("\")", text);
    }
    fprintf(text, " FROM (%s\n) AS made", view);
    if (fclose(text) != 0) {
        free(sql);
        return brume_no_memory(error, "the rows");
    }
    *out = sql;
    return BRUME_OK;
}

/* ---- writing rows ---- */

const brume_text_format brume_rows_format = {
    .delimiter = ',', .quote = '"', .header = true, .multiline = true};

typedef struct row_text {
    char *text;
    size_t length, room;
} row_text;

static bool append(row_text *row, const char *bytes, size_t length)
{
    if (row->length + length + 1 > row->room) {
        size_t room = 2 * (row->length + length) + 64;
        char *text = realloc(row->text, room);
        if (!text)
            return false;
        row->text = text;
        row->room = room;
    }
    memcpy(row->text + row->length, bytes, length);
    row->length += length;
    row->text[row->length] = 0;
    return true;
}

/* A row is kept as a C string: a NUL byte would end it within its quotes, which then would swallow
 * the rows of other units. It becomes the replacement character. */
static bool append_quoted(row_text *row, const char *bytes, size_t length)
{
    bool good = append(row, "\"", 1);
    for (size_t i = 0; good && i < length; i++)
        if (bytes[i] == 0)
            good = append(row, "\xef\xbf\xbd", 3);
        else
            good = append(row, bytes[i] == '"' ? "\"\"" : &bytes[i], bytes[i] == '"' ? 2 : 1);
    return good && append(row, "\"", 1);
}

/* One row of CSV from columns `first` on; NULL is an empty field without quotes. */
static bool write_row(const brume_query *query, const brume_chunk *chunk, size_t first, size_t at,
                      row_text *row)
{
    bool good = true;
    row->length = 0;
    for (size_t i = 0; good && i < query->aggregate_count; i++) {
        const brume_chunk_column *column = &chunk->columns[first + i];
        char room[48];
        if (i > 0)
            good = append(row, ",", 1);
        if (!good || brume_chunk_is_null(column, at))
            continue;
        brume_type type = query->aggregates[i].argument->type;
        if (column->wire == BRUME_WIRE_TEXT) {
            good = append_quoted(row, column->texts[at].data, column->texts[at].length);
            continue;
        }
        if (column->wire == BRUME_WIRE_REAL)
            snprintf(room, sizeof room, "%.17g", column->reals[at]);
        else
            brume_integer_text(type, column->integers[at], room, sizeof room);
        good = append(row, room, strlen(room));
    }
    return good && append(row, "\n", 1);
}

/* ---- so many rows of each unit ---- */

typedef struct keeper {
    brume_hash_key key;
    brume_dictionary units;
    uint64_t each;
    char **texts; /* `each` places of each unit: the rows kept, NULL where there are fewer */
    uint64_t *ranks;
    size_t room;
} keeper;

static void free_keeper(keeper *all)
{
    for (uint64_t i = 0; i < all->units.count * all->each; i++)
        free(all->texts[i]);
    free(all->texts);
    free(all->ranks);
    brume_dictionary_clear(&all->units);
}

static brume_status keep_row(keeper *all, const brume_chunk_column *unit, size_t at,
                             const row_text *row, brume_error *error)
{
    size_t length = 0;
    double real;
    const void *bytes = brume_chunk_bytes(unit, at, &real, &length);
    uint64_t hash = brume_dictionary_hash(&all->units, bytes, length);
    const uint64_t words[] = {hash, brume_siphash_bytes(&all->key, row->text, row->length)};
    uint64_t rank = brume_siphash_words(&all->key, words, 2);
    uint32_t number = 0;
    bool added = false;
    if ((all->units.count + 1) * all->each > all->room) {
        size_t room = 2 * all->room + 1024 * all->each;
        char **texts = realloc(all->texts, room * sizeof *texts);
        if (texts)
            all->texts = texts;
        uint64_t *ranks = realloc(all->ranks, room * sizeof *ranks);
        if (ranks)
            all->ranks = ranks;
        if (!texts || !ranks)
            return brume_no_memory(error, "the rows");
        all->room = room;
    }
    BRUME_TRY(brume_dictionary_add(&all->units, hash, bytes, length, &number, &added, error));
    char **kept = all->texts + number * all->each;
    uint64_t *ranks = all->ranks + number * all->each, last = 0;
    for (uint64_t i = 0; added && i < all->each; i++)
        kept[i] = NULL;
    /* the place that is free, or else of the row that goes first: which rows stay is a function of
     * the unit's own rows and the key, not of their order */
    for (uint64_t i = 1; i < all->each && kept[last]; i++)
        if (!kept[i] || ranks[i] > ranks[last] ||
            (ranks[i] == ranks[last] && strcmp(kept[i], kept[last]) > 0))
            last = i;
    if (kept[last] &&
        (rank > ranks[last] || (rank == ranks[last] && strcmp(row->text, kept[last]) >= 0)))
        return BRUME_OK;
    char *copy = strdup(row->text);
    if (!copy)
        return brume_no_memory(error, "the rows");
    free(kept[last]);
    kept[last] = copy;
    ranks[last] = rank;
    return BRUME_OK;
}

typedef struct reader {
    const brume_question *question;
    brume_engine *engine;
    FILE *out;
    keeper kept;
    uint64_t most; /* rows that may be; 0: any number */
} reader;

static brume_status take_chunk(reader *all, const brume_chunk *chunk, row_text *row,
                               brume_error *error)
{
    const brume_query *query = all->question->query;
    size_t first = query->unit ? 1 : 0;
    for (size_t at = 0; at < chunk->row_count; at++) {
        if (first && brume_chunk_is_null(&chunk->columns[0], at))
            continue;
        if (!write_row(query, chunk, first, at, row))
            return brume_no_memory(error, "the rows");
        if (first)
            BRUME_TRY(keep_row(&all->kept, &chunk->columns[0], at, row, error));
        else if (fwrite(row->text, 1, row->length, all->out) != row->length)
            return brume_no_memory(error, "the rows");
    }
    return BRUME_OK;
}

/* Are there rows, and not more than may be? */
static brume_status look_for_rows(reader *all, const char *sql, const brume_wire *wires,
                                  size_t count, brume_error *error)
{
    brume_rows *rows = NULL;
    const brume_chunk *chunk = NULL;
    uint64_t found = 0, enough = all->most ? all->most + 1 : 1;
    BRUME_TRY(brume_engine_select(all->engine, sql, wires, count, &rows, error));
    brume_status status = BRUME_OK;
    while (found < enough && (status = brume_rows_next(rows, &chunk, error)) == BRUME_OK && chunk)
        found += chunk->row_count;
    brume_rows_close(rows);
    if (status != BRUME_OK)
        return status;
    const char *name = all->question->datasets[0]->name;
    if (found == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'%s' is empty: nothing was charged", name);
    if (all->most && found > all->most)
        return brume_fail(error, BRUME_EARGUMENT, "take another method",
                          "'%s' has more than %llu rows: nothing was charged", name,
                          (unsigned long long)all->most);
    return BRUME_OK;
}

static brume_status select_rows(reader *all, const char *sql, const brume_wire *wires, size_t count,
                                brume_error *error)
{
    brume_rows *rows = NULL;
    row_text row = {0};
    BRUME_TRY(brume_engine_select(all->engine, sql, wires, count, &rows, error));
    brume_status status = BRUME_OK;
    const brume_chunk *chunk = NULL;
    while ((status = brume_rows_next(rows, &chunk, error)) == BRUME_OK && chunk &&
           (status = take_chunk(all, chunk, &row, error)) == BRUME_OK)
        continue;
    brume_rows_close(rows);
    free(row.text);
    return status;
}

static void write_header(const brume_rows_of *of, FILE *out)
{
    const brume_query *query = of->question->query;
    for (size_t i = 0; i < query->aggregate_count; i++) {
        const brume_expression *column = query->aggregates[i].argument;
        while (!of->names && column->operation != BRUME_OPERATION_COLUMN)
            column = column->arguments[0]; /* the clamp around it */
        fputs(i ? "," : "", out);
        brume_csv_write_field(out, of->names ? of->names[i]
                                             : column->relation->columns[column->column].name);
    }
    fputc('\n', out);
}

typedef brume_status use_rows(reader *all, const char *sql, const brume_wire *wires, size_t count,
                              brume_error *error);

/* Print the SELECT of the rows, the unit first, and use it. */
static brume_status with_rows(reader *all, use_rows *use, brume_error *error)
{
    const brume_query *query = all->question->query;
    size_t count = 0, most = query->aggregate_count + 1;
    const brume_expression **columns = calloc(most, sizeof *columns);
    brume_wire *wires = calloc(most, sizeof *wires);
    char *sql = NULL;
    size_t table_count = all->question->table_count;
    const char **tables = calloc(table_count, sizeof *tables);
    brume_status status = columns && wires && tables ? BRUME_OK
                                                     : brume_no_memory(error, "the rows");
    for (size_t i = 0; status == BRUME_OK && i < table_count; i++)
        tables[i] = brume_engine_table(all->engine, i);
    if (status == BRUME_OK) {
        if (query->unit)
            columns[count++] = query->unit;
        for (size_t i = 0; i < query->aggregate_count; i++)
            columns[count++] = query->aggregates[i].argument;
        for (size_t i = 0; i < count; i++)
            wires[i] = brume_type_wire(columns[i]->type);
        status = brume_query_print_rows(query, brume_engine_dialect(all->engine), tables, columns,
                                        count, &sql, error);
    }
    if (status == BRUME_OK)
        status = use(all, sql, wires, count, error);
    free(sql);
    free(tables);
    free(columns);
    free(wires);
    return status;
}

/* ---- the file ---- */

static brume_status open_file(const brume_rows_of *of, brume_rows_file *out, brume_error *error)
{
    int descriptor = memfd_create("rows", MFD_CLOEXEC);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w+");
    if (!file) {
        if (descriptor >= 0)
            close(descriptor);
        return brume_no_memory(error, "the rows");
    }
    write_header(of, file);
    out->file = file;
    snprintf(out->path, sizeof out->path, "/proc/self/fd/%d", descriptor);
    return BRUME_OK;
}

void brume_rows_file_close(brume_rows_file *file)
{
    if (file->file)
        fclose(file->file);
    *file = (brume_rows_file){0};
}

/* What was written is in the file; on error there is none. */
static brume_status finish(brume_status status, brume_rows_file *file, brume_error *error)
{
    if (status == BRUME_OK && fflush(file->file) != 0)
        status = brume_no_memory(error, "the rows");
    if (status != BRUME_OK)
        brume_rows_file_close(file);
    return status;
}

brume_status brume_rows_none(const brume_rows_of *of, brume_rows_file *out, brume_error *error)
{
    brume_rows_file made = {0};
    BRUME_TRY(open_file(of, &made, error));
    BRUME_TRY(finish(BRUME_OK, &made, error));
    *out = made;
    return BRUME_OK;
}

brume_status brume_rows_read(const brume_rows_of *of, brume_engine *engine, brume_bits *bits,
                             brume_rows_file *out, brume_error *error)
{
    uint64_t words[4];
    brume_rows_file made = {0};
    BRUME_TRY(brume_bits_words(bits, words, 4, error));
    BRUME_TRY(open_file(of, &made, error));
    reader all = {.question = of->question, .engine = engine, .out = made.file};
    brume_hash_key table_key = {{words[2], words[3]}};
    all.kept.each = of->each;
    all.kept.key = (brume_hash_key){{words[0], words[1]}};
    brume_dictionary_make(&all.kept.units, &table_key, 0);
    brume_status status = with_rows(&all, select_rows, error);
    for (uint64_t i = 0; status == BRUME_OK && i < all.kept.units.count * of->each; i++)
        if (all.kept.texts[i])
            fputs(all.kept.texts[i], all.out);
    free_keeper(&all.kept);
    status = finish(status, &made, error);
    if (status == BRUME_OK)
        *out = made;
    return status;
}

brume_status brume_rows_check(const brume_question *question, brume_engine *engine, uint64_t most,
                              brume_error *error)
{
    reader all = {.question = question, .engine = engine, .most = most};
    return with_rows(&all, look_for_rows, error);
}

/* The rows of a file that no ledger has, as a CSV file in memory. */

static const char name[] = "file";

bool brume_file_needs_engine(const char *location)
{
    return brume_file_format_of(location) != BRUME_FILE_CSV;
}

/* A question for every column of the file. */
static brume_status ask(brume_engine *engine, const char *location, brume_question **question,
                        brume_error *error)
{
    brume_description description = {0};
    brume_policy *policy = NULL;
    char *sql = NULL;
    brume_status status = brume_engine_describe(engine, 0, &description, error);
    if (status == BRUME_OK)
        status = brume_policy_make(location, NULL, &description, &policy, error);
    brume_description_clear(&description);
    if (status == BRUME_OK)
        status = brume_rows_question(policy, name, &sql, error);
    if (status == BRUME_OK) {
        status = brume_question_alone(policy, name, sql, question, error);
        policy = NULL;
    }
    brume_policy_close(policy);
    free(sql);
    return status;
}

/* What the file is, with the names declared as text. */
static brume_status look(const char *location, const char *const *names, size_t name_count,
                         brume_question **question, brume_error *error)
{
    brume_column *declared = calloc(name_count + 1, sizeof *declared);
    if (!declared)
        return brume_no_memory(error, NULL);
    for (size_t i = 0; i < name_count; i++)
        declared[i] = (brume_column){.name = (char *)names[i], .type = {BRUME_TYPE_TEXT, 0, 0}};
    brume_source source = {
        .location = location, .declared = declared, .declared_count = name_count};
    brume_engine *engine = NULL;
    brume_status status = brume_engine_open(&source, 1, &engine, error);
    if (status == BRUME_OK)
        status = ask(engine, location, question, error);
    brume_engine_close(engine);
    free(declared);
    return status;
}

/* Read with the columns that were found, as a registered file is. */
static brume_status read_again(const brume_question *question, brume_bits *bits,
                               brume_rows_file *out, brume_error *error)
{
    const brume_rows_of of = {.question = question, .each = 1};
    brume_source source;
    brume_column *columns = NULL;
    brume_engine *engine = NULL;
    BRUME_TRY(brume_policy_source(question->policies[0], &source, &columns, error));
    brume_status status = brume_engine_open(&source, 1, &engine, error);
    if (status == BRUME_OK)
        status = brume_rows_read(&of, engine, bits, out, error);
    brume_engine_close(engine);
    free(columns);
    return status;
}

brume_status brume_file_rows(const char *location, const char *const *names, size_t name_count,
                             brume_bits *bits, brume_rows_file *out, brume_error *error)
{
    brume_question *question = NULL;
    BRUME_TRY(look(location, names, name_count, &question, error));
    brume_status status = read_again(question, bits, out, error);
    brume_question_close(question);
    return status;
}
