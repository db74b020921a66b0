/* Functions of texts for DuckDB: see the header. */
#include "engine/duckdb_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/regular.h"
#include "engine/like.h"
#include "engine/plain_form.h"

/* The second argument, which is the same in every row. */
static duckdb_string_t *constant(duckdb_data_chunk input)
{
    return duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 1));
}

/* ---- LIKE ---- */

typedef bool matcher(const void *pattern, const char *text, size_t length);

static bool match_like(const void *pattern, const char *text, size_t length)
{
    return brume_like_match(pattern, text, length);
}

static bool match_pattern(const void *pattern, const char *text, size_t length)
{
    return brume_regular_match(pattern, text, length);
}

/* What is NULL in the text is NULL in the result. */
static void match_rows(matcher *match, const void *pattern, duckdb_vector column, size_t count,
                       duckdb_vector output)
{
    duckdb_string_t *texts = duckdb_vector_get_data(column);
    uint64_t *valid = duckdb_vector_get_validity(column), *result = NULL;
    bool *matched = duckdb_vector_get_data(output);
    if (valid) {
        duckdb_vector_ensure_validity_writable(output);
        result = duckdb_vector_get_validity(output);
    }
    for (size_t i = 0; i < count; i++)
        if (!valid || duckdb_validity_row_is_valid(valid, i))
            matched[i] =
                match(pattern, duckdb_string_t_data(&texts[i]), duckdb_string_t_length(texts[i]));
        else
            duckdb_validity_set_row_invalid(result, i);
}

static void like_rows(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    size_t count = duckdb_data_chunk_get_size(input);
    if (count == 0)
        return;
    duckdb_string_t *pattern = constant(input);
    bool folds = duckdb_scalar_function_get_extra_info(info) != NULL;
    brume_like *like =
        brume_like_open(duckdb_string_t_data(pattern), duckdb_string_t_length(*pattern), folds);
    if (!like) {
        duckdb_scalar_function_set_error(info, "out of memory");
        return;
    }
    match_rows(match_like, like, duckdb_data_chunk_get_vector(input, 0), count, output);
    brume_like_close(like);
}

/* ---- regular expressions ---- */

static void pattern_rows(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    size_t count = duckdb_data_chunk_get_size(input);
    if (count == 0)
        return;
    duckdb_string_t *typed = constant(input);
    const char *why = NULL;
    char *text = strndup(duckdb_string_t_data(typed), duckdb_string_t_length(*typed));
    brume_regular *pattern = text ? brume_regular_open(text, false, false, &why) : NULL;
    free(text);
    if (!pattern) {
        duckdb_scalar_function_set_error(info, why ? why : "out of memory");
        return;
    }
    match_rows(match_pattern, pattern, duckdb_data_chunk_get_vector(input, 0), count, output);
    brume_regular_close(pattern);
}

/* ---- plain forms ---- */

/* "integer", "decimal 30" ...; false: none. */
static bool read_form(duckdb_string_t *word, brume_plain_form *form, size_t *whole)
{
    static const char *const words[] = {[BRUME_PLAIN_INTEGER] = "integer",
                                        [BRUME_PLAIN_DECIMAL] = "decimal",
                                        [BRUME_PLAIN_REAL] = "real",
                                        [BRUME_PLAIN_DATE] = "date",
                                        [BRUME_PLAIN_TIMESTAMP] = "timestamp"};
    char text[16] = "";
    size_t length = duckdb_string_t_length(*word);
    memcpy(text, duckdb_string_t_data(word), length < sizeof text ? length : sizeof text - 1);
    char *blank = strchr(text, ' ');
    *whole = blank ? strtoul(blank + 1, NULL, 10) : 0;
    if (blank)
        *blank = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0) {
            *form = (brume_plain_form)i;
            return true;
        }
    return false;
}

static void plain_rows(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    size_t count = duckdb_data_chunk_get_size(input), whole = 0, length = 0;
    brume_plain_form form;
    if (count == 0)
        return;
    if (!read_form(constant(input), &form, &whole)) {
        duckdb_scalar_function_set_error(info, "no such form");
        return;
    }
    duckdb_vector column = duckdb_data_chunk_get_vector(input, 0);
    duckdb_string_t *texts = duckdb_vector_get_data(column);
    uint64_t *valid = duckdb_vector_get_validity(column);
    duckdb_vector_ensure_validity_writable(output);
    uint64_t *result = duckdb_vector_get_validity(output);
    for (size_t i = 0; i < count; i++) {
        const char *from = NULL;
        bool there = !valid || duckdb_validity_row_is_valid(valid, i);
        if (there && brume_plain_match(form, whole, duckdb_string_t_data(&texts[i]),
                                       duckdb_string_t_length(texts[i]), &from, &length))
            duckdb_vector_assign_string_element_len(output, i, from, length);
        else
            duckdb_validity_set_row_invalid(result, i);
    }
}

/* ---- registering ---- */

static bool register_one(duckdb_connection connection, const char *name, duckdb_type result,
                         duckdb_scalar_function_t rows, void *extra)
{
    duckdb_scalar_function function = duckdb_create_scalar_function();
    duckdb_logical_type text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
    duckdb_logical_type type = duckdb_create_logical_type(result);
    duckdb_scalar_function_set_name(function, name);
    duckdb_scalar_function_add_parameter(function, text);
    duckdb_scalar_function_add_parameter(function, text);
    duckdb_scalar_function_set_return_type(function, type);
    duckdb_scalar_function_set_special_handling(function); /* NULLs come too */
    duckdb_scalar_function_set_extra_info(function, extra, NULL);
    duckdb_scalar_function_set_function(function, rows);
    bool made = duckdb_register_scalar_function(connection, function) == DuckDBSuccess;
    duckdb_destroy_logical_type(&text);
    duckdb_destroy_logical_type(&type);
    duckdb_destroy_scalar_function(&function);
    return made;
}

bool brume_duckdb_text_register(duckdb_connection connection)
{
    static char folds;
    return register_one(connection, "brume_like", DUCKDB_TYPE_BOOLEAN, like_rows, NULL) &&
           register_one(connection, "brume_ilike", DUCKDB_TYPE_BOOLEAN, like_rows, &folds) &&
           register_one(connection, "brume_matches", DUCKDB_TYPE_BOOLEAN, pattern_rows, NULL) &&
           register_one(connection, "brume_plain", DUCKDB_TYPE_VARCHAR, plain_rows, NULL);
}
