/* What an engine's own file gives to engine.c. Every function has the contract of its namesake in
 * engine.h. */
#ifndef BRUME_ENGINE_DRIVER_H
#define BRUME_ENGINE_DRIVER_H

#include <stdatomic.h>

#include "engine/engine.h"

typedef struct brume_driver {
    brume_dialect dialect;
    brume_status (*open)(brume_engine *engine, const brume_source *sources, size_t count,
                         brume_error *error);
    void (*close)(brume_engine *engine);
    brume_status (*hold)(brume_engine *engine, size_t index, const char **number,
                         brume_error *error); /* NULL: rows are a server's */
    brume_status (*describe)(brume_engine *engine, size_t index, brume_description *description,
                             brume_error *error);
    brume_status (*marks)(brume_engine *engine, size_t index, bool contents, brume_marks *marks,
                          brume_error *error); /* adds to `marks` */
    brume_status (*select)(brume_engine *engine, const char *sql, brume_rows *rows,
                           brume_error *error);
    brume_status (*next)(brume_rows *rows, brume_error *error); /* fills rows->chunk */
    void (*finish)(brume_rows *rows);
    brume_status (*scan)(brume_engine *engine, const char *sql, const brume_wire *wires,
                         size_t wire_count, brume_row_taker take, void *context,
                         brume_error *error); /* NULL: select and next do */
    brume_status (*divide)(brume_engine *engine, size_t index, brume_parts *parts,
                           brume_error *error); /* adds to `parts`; NULL: nothing is divided */
    brume_status (*scan_parts)(brume_engine *engine, const char *const *statements, size_t count,
                               const brume_wire *wires, size_t wire_count, brume_row_taker take,
                               void *context, brume_error *error); /* NULL: as divide */
    bool (*is_bytewise)(brume_engine *engine, size_t index, const char *column); /* NULL: no */
    /* Begin, or end, a transaction that all statements run in; NULL: rows are files. */
    brume_status (*retain)(brume_engine *engine, brume_error *error);
    void (*release)(brume_engine *engine);
    void (*cancel)(brume_engine *engine); /* async-signal-safe */
} brume_driver;

struct brume_engine {
    const brume_driver *driver;
    void *state;
    size_t source_count;
    char **tables; /* quoted names for FROM */
    brume_rows *rows;
    size_t retained; /* how many times */
    atomic_bool cancelled;
};

struct brume_rows {
    brume_engine *engine;
    void *state;
    size_t wire_count;
    brume_wire *wires;
    brume_chunk chunk;
    brume_chunk_column *columns;
    bool finished; /* the last chunk was given, or next failed */
};

extern const brume_driver brume_driver_duckdb;
extern const brume_driver brume_driver_postgresql;
extern const brume_driver brume_driver_spark;

/* `name` in double quotes, inner ones doubled: an identifier of DuckDB and PostgreSQL; or in other
 * marks. NULL: no memory. */
char *brume_engine_quote(const char *name);
char *brume_engine_quote_with(char mark, const char *name);

/* Does `text` end in `end`, without regard to case? */
bool brume_engine_ends_with(const char *text, const char *end);

/* Add a part; takes `part` over also on failure (NULL: out of memory). */
BRUME_MUST_USE brume_status brume_parts_add(brume_parts *parts, char *part, brume_error *error);

/* Add a mark; takes `mark` over also on failure (NULL: out of memory). */
BRUME_MUST_USE brume_status brume_marks_add(brume_marks *marks, char *mark, brume_error *error);

/* printf into memory of its own. NULL: no memory. */
char *brume_engine_format(const char *format, ...) BRUME_PRINTF(1, 2);

/* Put a described column at columns[*count], growing by one; takes nothing over. */
BRUME_MUST_USE brume_status brume_engine_add_column(brume_description *description,
                                                    const char *name, const char *native,
                                                    brume_type type, brume_leaf leaf, bool not_null,
                                                    brume_error *error);

/* ESOURCE unless `now` has the columns that `source` recorded, by name and native type. */
BRUME_MUST_USE brume_status brume_engine_check_columns(const brume_source *source,
                                                       const brume_description *now,
                                                       brume_error *error);

#endif
