/* brume_like and brume_ilike for DuckDB: see the header. */
#include "engine/duckdb_like.h"

#include "engine/like.h"

/* What is NULL in the text is NULL in the result. */
static void match_rows(const brume_like *like, duckdb_vector column, size_t count,
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
            matched[i] = brume_like_match(like, duckdb_string_t_data(&texts[i]),
                                          duckdb_string_t_length(texts[i]));
        else
            duckdb_validity_set_row_invalid(result, i);
}

static void like_rows(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    size_t count = duckdb_data_chunk_get_size(input);
    if (count == 0)
        return;
    duckdb_string_t *pattern = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 1));
    bool folds = duckdb_scalar_function_get_extra_info(info) != NULL;
    brume_like *like =
        brume_like_open(duckdb_string_t_data(pattern), duckdb_string_t_length(*pattern), folds);
    if (!like) {
        duckdb_scalar_function_set_error(info, "out of memory");
        return;
    }
    match_rows(like, duckdb_data_chunk_get_vector(input, 0), count, output);
    brume_like_close(like);
}

static bool register_one(duckdb_connection connection, const char *name, bool folds)
{
    static char yes;
    duckdb_scalar_function function = duckdb_create_scalar_function();
    duckdb_logical_type text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
    duckdb_logical_type truth = duckdb_create_logical_type(DUCKDB_TYPE_BOOLEAN);
    duckdb_scalar_function_set_name(function, name);
    duckdb_scalar_function_add_parameter(function, text);
    duckdb_scalar_function_add_parameter(function, text);
    duckdb_scalar_function_set_return_type(function, truth);
    duckdb_scalar_function_set_special_handling(function); /* NULLs come too */
    duckdb_scalar_function_set_extra_info(function, folds ? &yes : NULL, NULL);
    duckdb_scalar_function_set_function(function, like_rows);
    bool made = duckdb_register_scalar_function(connection, function) == DuckDBSuccess;
    duckdb_destroy_logical_type(&text);
    duckdb_destroy_logical_type(&truth);
    duckdb_destroy_scalar_function(&function);
    return made;
}

bool brume_duckdb_like_register(duckdb_connection connection)
{
    return register_one(connection, "brume_like", false) &&
           register_one(connection, "brume_ilike", true);
}
