/* The part of the ADBC interface, version 1.1.0 (arrow.apache.org/adbc), that brume calls.
 *
 * A driver is a shared library with one entry, which fills a table of functions. The order of the
 * table is the interface: what brume does not call stands in it as a place of the same size. */
#ifndef BRUME_ENGINE_ADBC_ABI_H
#define BRUME_ENGINE_ADBC_ABI_H

#include <stddef.h>
#include <stdint.h>

#include <brume/arrow.h>

enum {
    BRUME_ADBC_VERSION = 1001000, /* 1.1.0 */
    BRUME_ADBC_OK = 0,
};

/* The vendor code INT32_MIN says that the last two members are there. */
typedef struct brume_adbc_error {
    char *message;
    int32_t vendor_code;
    char sqlstate[5];
    void (*release)(struct brume_adbc_error *error);
    void *private_data, *private_driver;
} brume_adbc_error;

/* A database, a connection or a statement: they have one layout. */
typedef struct brume_adbc_handle {
    void *private_data, *private_driver;
} brume_adbc_handle;

typedef uint8_t (*brume_adbc_call)(brume_adbc_handle *handle, brume_adbc_error *error);
typedef uint8_t (*brume_adbc_set)(brume_adbc_handle *handle, const char *key, const char *value,
                                  brume_adbc_error *error);
typedef void (*brume_adbc_unused)(void);

typedef struct brume_adbc_functions {
    void *private_data, *private_manager;
    uint8_t (*release)(struct brume_adbc_functions *functions, brume_adbc_error *error);
    brume_adbc_call database_init, database_new;
    brume_adbc_set database_set_option;
    brume_adbc_call database_release;
    brume_adbc_unused connection_commit, connection_info, connection_objects;
    brume_adbc_unused connection_table_schema, connection_table_types;
    uint8_t (*connection_init)(brume_adbc_handle *connection, brume_adbc_handle *database,
                               brume_adbc_error *error);
    brume_adbc_call connection_new;
    brume_adbc_unused connection_set_option, connection_read_partition;
    brume_adbc_call connection_release;
    brume_adbc_unused connection_rollback;
    brume_adbc_unused statement_bind, statement_bind_stream;
    uint8_t (*statement_execute)(brume_adbc_handle *statement, struct ArrowArrayStream *rows,
                                 int64_t *affected, brume_adbc_error *error);
    brume_adbc_unused statement_partitions, statement_parameters;
    uint8_t (*statement_new)(brume_adbc_handle *connection, brume_adbc_handle *statement,
                             brume_adbc_error *error);
    brume_adbc_unused statement_prepare;
    brume_adbc_call statement_release;
    brume_adbc_unused statement_set_option;
    uint8_t (*statement_set_sql)(brume_adbc_handle *statement, const char *sql,
                                 brume_adbc_error *error);
    brume_adbc_unused statement_set_substrait;
    /* since 1.1.0 */
    brume_adbc_unused error_details[3], database_options[7];
    brume_adbc_unused connection_cancel, connection_options[4], connection_statistics[2];
    brume_adbc_unused connection_set_options[3];
    brume_adbc_call statement_cancel; /* from any thread */
    brume_adbc_unused statement_options[8];
} brume_adbc_functions;

_Static_assert(sizeof(brume_adbc_functions) == 58 * sizeof(void *),
               "the table of version 1.1.0 has 58 places");

typedef uint8_t (*brume_adbc_entry)(int version, void *functions, brume_adbc_error *error);

#endif
