/* The rows of a file that no ledger has, as a CSV file in memory. */
#include "query/collect/file_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "engine/files.h"

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
    brume_source source;
    brume_column *columns = NULL;
    brume_engine *engine = NULL;
    BRUME_TRY(brume_policy_source(question->policies[0], &source, &columns, error));
    brume_status status = brume_engine_open(&source, 1, &engine, error);
    if (status == BRUME_OK)
        status = brume_rows_read(question, engine, bits, out, error);
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
