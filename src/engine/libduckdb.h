/* DuckDB, loaded when a file is first asked about: 60 MB that most commands need not wait for, and
 * that another package may bring (the Python one does).
 *
 * It is the file that the program or $BRUME_DUCKDB names, else libduckdb.so where libraries are
 * found, and must be of a tested version (libduckdb_version.h), which need not be that of
 * <duckdb.h>.
 *
 * A file that calls DuckDB includes this in place of <duckdb.h>, and calls nothing of it before
 * brume_libduckdb_load has succeeded. The functions have their own names and types. */
#ifndef BRUME_ENGINE_LIBDUCKDB_H
#define BRUME_ENGINE_LIBDUCKDB_H

#include <duckdb.h>

#include <brume/status.h>

typedef struct brume_libduckdb_functions {
#define BRUME_DUCKDB(function) __typeof__(function) *function;
#include "engine/libduckdb.def"
#undef BRUME_DUCKDB
} brume_libduckdb_functions;

extern brume_libduckdb_functions brume_libduckdb;

/* Load it, once. BRUME_EENGINE if it cannot be loaded or is of another version. Any thread. */
BRUME_MUST_USE brume_status brume_libduckdb_load(brume_error *error);

/* The same from this file, whatever $BRUME_DUCKDB says; once it is loaded, this changes nothing. */
BRUME_MUST_USE brume_status brume_libduckdb_load_from(const char *path, brume_error *error);

#ifndef BRUME_LIBDUCKDB_OWN_NAMES
/* clang-format off */
#define duckdb_append_bool                                 brume_libduckdb.duckdb_append_bool
#define duckdb_append_double                               brume_libduckdb.duckdb_append_double
#define duckdb_append_int64                                brume_libduckdb.duckdb_append_int64
#define duckdb_append_null                                 brume_libduckdb.duckdb_append_null
#define duckdb_append_varchar_length                       brume_libduckdb.duckdb_append_varchar_length
#define duckdb_appender_create                             brume_libduckdb.duckdb_appender_create
#define duckdb_appender_destroy                            brume_libduckdb.duckdb_appender_destroy
#define duckdb_appender_end_row                            brume_libduckdb.duckdb_appender_end_row
#define duckdb_appender_flush                              brume_libduckdb.duckdb_appender_flush
#define duckdb_bind_add_result_column                      brume_libduckdb.duckdb_bind_add_result_column
#define duckdb_bind_get_extra_info                         brume_libduckdb.duckdb_bind_get_extra_info
#define duckdb_bind_set_cardinality                        brume_libduckdb.duckdb_bind_set_cardinality
#define duckdb_bind_set_error                              brume_libduckdb.duckdb_bind_set_error
#define duckdb_close                                       brume_libduckdb.duckdb_close
#define duckdb_column_count                                brume_libduckdb.duckdb_column_count
#define duckdb_column_type                                 brume_libduckdb.duckdb_column_type
#define duckdb_connect                                     brume_libduckdb.duckdb_connect
#define duckdb_create_decimal_type                         brume_libduckdb.duckdb_create_decimal_type
#define duckdb_create_logical_type                         brume_libduckdb.duckdb_create_logical_type
#define duckdb_create_scalar_function                      brume_libduckdb.duckdb_create_scalar_function
#define duckdb_create_table_function                       brume_libduckdb.duckdb_create_table_function
#define duckdb_data_chunk_get_column_count                 brume_libduckdb.duckdb_data_chunk_get_column_count
#define duckdb_data_chunk_get_size                         brume_libduckdb.duckdb_data_chunk_get_size
#define duckdb_data_chunk_get_vector                       brume_libduckdb.duckdb_data_chunk_get_vector
#define duckdb_data_chunk_set_size                         brume_libduckdb.duckdb_data_chunk_set_size
#define duckdb_destroy_data_chunk                          brume_libduckdb.duckdb_destroy_data_chunk
#define duckdb_destroy_expression                          brume_libduckdb.duckdb_destroy_expression
#define duckdb_destroy_extracted                           brume_libduckdb.duckdb_destroy_extracted
#define duckdb_destroy_logical_type                        brume_libduckdb.duckdb_destroy_logical_type
#define duckdb_destroy_pending                             brume_libduckdb.duckdb_destroy_pending
#define duckdb_destroy_prepare                             brume_libduckdb.duckdb_destroy_prepare
#define duckdb_destroy_result                              brume_libduckdb.duckdb_destroy_result
#define duckdb_destroy_scalar_function                     brume_libduckdb.duckdb_destroy_scalar_function
#define duckdb_destroy_table_function                      brume_libduckdb.duckdb_destroy_table_function
#define duckdb_disconnect                                  brume_libduckdb.duckdb_disconnect
#define duckdb_execute_pending                             brume_libduckdb.duckdb_execute_pending
#define duckdb_expression_return_type                      brume_libduckdb.duckdb_expression_return_type
#define duckdb_extract_statements                          brume_libduckdb.duckdb_extract_statements
#define duckdb_fetch_chunk                                 brume_libduckdb.duckdb_fetch_chunk
#define duckdb_function_get_init_data                      brume_libduckdb.duckdb_function_get_init_data
#define duckdb_function_get_local_init_data                brume_libduckdb.duckdb_function_get_local_init_data
#define duckdb_function_set_error                          brume_libduckdb.duckdb_function_set_error
#define duckdb_get_type_id                                 brume_libduckdb.duckdb_get_type_id
#define duckdb_init_get_column_count                       brume_libduckdb.duckdb_init_get_column_count
#define duckdb_init_get_column_index                       brume_libduckdb.duckdb_init_get_column_index
#define duckdb_init_get_extra_info                         brume_libduckdb.duckdb_init_get_extra_info
#define duckdb_init_set_error                              brume_libduckdb.duckdb_init_set_error
#define duckdb_init_set_init_data                          brume_libduckdb.duckdb_init_set_init_data
#define duckdb_init_set_max_threads                        brume_libduckdb.duckdb_init_set_max_threads
#define duckdb_interrupt                                   brume_libduckdb.duckdb_interrupt
#define duckdb_library_version                             brume_libduckdb.duckdb_library_version
#define duckdb_open                                        brume_libduckdb.duckdb_open
#define duckdb_pending_execute_task                        brume_libduckdb.duckdb_pending_execute_task
#define duckdb_pending_execution_is_finished               brume_libduckdb.duckdb_pending_execution_is_finished
#define duckdb_pending_prepared                            brume_libduckdb.duckdb_pending_prepared
#define duckdb_pending_prepared_streaming                  brume_libduckdb.duckdb_pending_prepared_streaming
#define duckdb_prepare_extracted_statement                 brume_libduckdb.duckdb_prepare_extracted_statement
#define duckdb_prepare_error                               brume_libduckdb.duckdb_prepare_error
#define duckdb_prepared_statement_type                     brume_libduckdb.duckdb_prepared_statement_type
#define duckdb_query                                       brume_libduckdb.duckdb_query
#define duckdb_register_scalar_function                    brume_libduckdb.duckdb_register_scalar_function
#define duckdb_register_table_function                     brume_libduckdb.duckdb_register_table_function
#define duckdb_result_error                                brume_libduckdb.duckdb_result_error
#define duckdb_scalar_function_add_parameter               brume_libduckdb.duckdb_scalar_function_add_parameter
#define duckdb_scalar_function_bind_get_argument           brume_libduckdb.duckdb_scalar_function_bind_get_argument
#define duckdb_scalar_function_bind_get_argument_count     brume_libduckdb.duckdb_scalar_function_bind_get_argument_count
#define duckdb_scalar_function_bind_get_extra_info         brume_libduckdb.duckdb_scalar_function_bind_get_extra_info
#define duckdb_scalar_function_bind_set_error              brume_libduckdb.duckdb_scalar_function_bind_set_error
#define duckdb_scalar_function_get_extra_info              brume_libduckdb.duckdb_scalar_function_get_extra_info
#define duckdb_scalar_function_set_bind                    brume_libduckdb.duckdb_scalar_function_set_bind
#define duckdb_scalar_function_set_error                   brume_libduckdb.duckdb_scalar_function_set_error
#define duckdb_scalar_function_set_extra_info              brume_libduckdb.duckdb_scalar_function_set_extra_info
#define duckdb_scalar_function_set_function                brume_libduckdb.duckdb_scalar_function_set_function
#define duckdb_scalar_function_set_name                    brume_libduckdb.duckdb_scalar_function_set_name
#define duckdb_scalar_function_set_return_type             brume_libduckdb.duckdb_scalar_function_set_return_type
#define duckdb_scalar_function_set_special_handling        brume_libduckdb.duckdb_scalar_function_set_special_handling
#define duckdb_scalar_function_set_varargs                 brume_libduckdb.duckdb_scalar_function_set_varargs
#define duckdb_scalar_function_set_volatile                brume_libduckdb.duckdb_scalar_function_set_volatile
#define duckdb_string_t_data                               brume_libduckdb.duckdb_string_t_data
#define duckdb_string_t_length                             brume_libduckdb.duckdb_string_t_length
#define duckdb_table_function_set_bind                     brume_libduckdb.duckdb_table_function_set_bind
#define duckdb_table_function_set_extra_info               brume_libduckdb.duckdb_table_function_set_extra_info
#define duckdb_table_function_set_function                 brume_libduckdb.duckdb_table_function_set_function
#define duckdb_table_function_set_init                     brume_libduckdb.duckdb_table_function_set_init
#define duckdb_table_function_set_local_init               brume_libduckdb.duckdb_table_function_set_local_init
#define duckdb_table_function_set_name                     brume_libduckdb.duckdb_table_function_set_name
#define duckdb_table_function_supports_projection_pushdown brume_libduckdb.duckdb_table_function_supports_projection_pushdown
#define duckdb_validity_row_is_valid                       brume_libduckdb.duckdb_validity_row_is_valid
#define duckdb_validity_set_row_invalid                    brume_libduckdb.duckdb_validity_set_row_invalid
#define duckdb_vector_assign_string_element_len            brume_libduckdb.duckdb_vector_assign_string_element_len
#define duckdb_vector_ensure_validity_writable             brume_libduckdb.duckdb_vector_ensure_validity_writable
#define duckdb_vector_get_data                             brume_libduckdb.duckdb_vector_get_data
#define duckdb_vector_get_validity                         brume_libduckdb.duckdb_vector_get_validity
#define duckdb_vector_size                                 brume_libduckdb.duckdb_vector_size
/* clang-format on */
#endif

#endif
