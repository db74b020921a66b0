/* An engine runs a printed SELECT over one or more sources and streams its rows.
 *
 * 1. A source is a CSV, Parquet or JSON file or glob (queried by DuckDB, in process), or a table of
 *    a PostgreSQL or a Spark server. Several sources may be opened together (for joins); they must
 *    be of one kind, and on one server.
 * 2. An engine is opened locked down: files other than the sources cannot be read, nothing can be
 *    written, only one SELECT at a time runs, settings that change the meaning of SQL are pinned.
 * 3. No message carries the engine's own error text, because that text may quote rows.
 * 4. Rows arrive in no defined order. Every line of a CSV or JSON file and every record of a
 *    Parquet file is a row, and what cannot be read of it is NULL (reader/rows.h): an error, or a
 *    row that is missing, would tell that it is there.
 * 5. Threads: one thread at a time uses an engine; brume_engine_cancel may be called from any
 *    thread and from a signal handler. The engine itself may use several: see brume_engine_scan. */
#ifndef BRUME_ENGINE_ENGINE_H
#define BRUME_ENGINE_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

#include "base/text.h"
#include "base/type.h"

/* In which SQL a SELECT must be printed. */
typedef enum brume_dialect {
    BRUME_DIALECT_DUCKDB,
    BRUME_DIALECT_POSTGRESQL,
    BRUME_DIALECT_SPARK
} brume_dialect;

/* What a stored column needs before it is a value of its brume_type: see the printers. */
typedef enum brume_leaf {
    BRUME_LEAF_PLAIN,        /* it is one (integers, booleans, text, DuckDB decimals) */
    BRUME_LEAF_CAST,         /* by the engine's own widening cast (small integers, enum, uuid) */
    BRUME_LEAF_FINITE,       /* a double or float: not finite or too large is NULL */
    BRUME_LEAF_NUMERIC,      /* PostgreSQL numeric(p,s): NaN, infinity and misfits are NULL */
    BRUME_LEAF_FREE_NUMERIC, /* PostgreSQL numeric without a scale, read as a double */
    BRUME_LEAF_CALENDAR,     /* a date or timestamp: years outside 0001..9999 are NULL */
    BRUME_LEAF_ZONED,        /* a timestamp with time zone: in UTC, then as CALENDAR */
    BRUME_LEAF_CUT,          /* as PLAIN, but brume's reader keeps less than the file has */
} brume_leaf;

typedef struct brume_column {
    char *name;
    brume_type type;
    brume_leaf leaf;
    char *native;  /* the engine's own name of the type, for messages and for the ledger */
    bool not_null; /* the database promises it (never by looking at the data) */
} brume_column;

/* Why a column that is read in this way does not tell units apart as its server does, as the end of
 * a sentence that begins with "because"; NULL: it does. Units that are taken for one share their
 * limits, and one that is taken for two has them twice: either way one unit would move an answer by
 * more than it is said to. */
const char *brume_leaf_blurs_units(brume_leaf leaf, const char *native);
#define BRUME_UNIT_HINT                                                                            \
    "register a table, or a view of it, in which the unit is an integer, numeric(p,s) or plain "   \
    "text, as lower(NAME)::text"

/* Where data is, and what is recorded of it. */
typedef struct brume_source {
    const char *location; /* path, glob, or postgresql:// or spark:// URL */
    const char *table;    /* of a server: its name, qualified or not; NULL for files */
    const char *password; /* of a server: where the URL has none (location.h); NULL: none */
    const char *relation; /* of a server: what follows FROM instead of the table, of which nothing
                             is read then, not even its columns; NULL: the table */
    /* Files: how their lines are read (reader/format.h), as the owner declares it when the source
     * is registered and as it was recorded afterwards; NULL: the defaults of the name. */
    const char *options;
    /* At registration: names and types of columns as the owner declares them (only `name` and
     * `type` are read). Other columns of a CSV's header are text; a CSV without a header and a JSON
     * file have these columns and no others. Parquet and PostgreSQL have their own schema. */
    const brume_column *declared;
    size_t declared_count;
    /* What brume_engine_describe gave when the source was registered; NULL and 0 then. With them
     * the source must still have these columns, so that they do not depend on the data of today. */
    const brume_column *columns;
    size_t column_count;
} brume_source;

typedef struct brume_description {
    char *identity; /* what makes it the same source: resolved path or glob; server, database, table
                     */
    char *options;  /* to be recorded and given back as brume_source.options */
    brume_column *columns;
    size_t column_count;
    bool can_fail;  /* PostgreSQL: a view that computes (casts, functions, arithmetic) or a foreign
                       table: a row of it can make a query fail, which tells that it is there */
    bool is_opaque; /* PostgreSQL: it reads through a function or a foreign table, so that its marks
                       do not know everything it reads */
    bool mixes_rows; /* PostgreSQL: a view whose row may depend on rows of other units: aggregates,
                        DISTINCT, LIMIT, subqueries ... */
} brume_description;

/* What a source is known by. Two sources that share a mark hold the same data, or part of it:
 *   path:PATH                a file's resolved path
 *   inode:MAJOR:MINOR:INODE:BIRTH   a file, whatever its name: hard links, renamed files
 *   contents:SIZE:HASH       a file's contents: copies
 *   table:SERVER:DATABASE:OID       a table; of a partitioned or inherited one also its parts; of a
 *                            view also the tables it reads, these last. What is behind a function
 *                            or a foreign table is not seen.
 *   table:spark:SERVER:NAME, location:URI   a table of Spark by its name in the catalog, and by the
 *                            folder of its files, wherever that is
 * They may say something about the data (names of files, contents): they are for the ledger, which
 * keeps them as keyed hashes, and for nobody's eyes. */
typedef struct brume_marks {
    char **texts;
    size_t count, read_count; /* the last `read_count` are of tables that a view reads */
    size_t whole_count; /* the first so many, at registration only, are of tables that it is a part
                           of: to be compared with those of others, not kept */
} brume_marks;

typedef struct brume_engine brume_engine;
typedef struct brume_rows brume_rows;

/* Which engine would open this location, by its text alone; false (EARGUMENT's hint is the
 * caller's) if it is neither a URL nor a file name with a known ending. */
bool brume_engine_dialect_of(const char *location, brume_dialect *dialect);

/* Open `count` >= 1 sources. ESOURCE: missing, unreadable, or with other columns than recorded;
 * EENGINE: the engine or server failed; EARGUMENT: not a source. */
BRUME_MUST_USE brume_status brume_engine_open(const brume_source *sources, size_t count,
                                              brume_engine **engine, brume_error *error);

/* NULL is nothing to close. Cancels and closes what is still running. */
void brume_engine_close(brume_engine *engine);

brume_dialect brume_engine_dialect(const brume_engine *engine);

/* What follows FROM for source `index`: quoted and qualified. Lives as long as the engine. */
const char *brume_engine_table(const brume_engine *engine, size_t index);

/* Read source `index` into memory, once: from now on brume_engine_table names the copy, which has
 * one more column, a number for each row from 0 on. *number is its name, which no column of the
 * source has; it lives as long as the engine. EUNSUPPORTED where the rows are a server's. */
BRUME_MUST_USE brume_status brume_engine_hold(brume_engine *engine, size_t index,
                                              const char **number, brume_error *error);

/* Columns and identity of source `index`; free with brume_description_clear. */
BRUME_MUST_USE brume_status brume_engine_describe(brume_engine *engine, size_t index,
                                                  brume_description *description,
                                                  brume_error *error);
void brume_description_clear(brume_description *description);

/* The marks of source `index`; free with brume_marks_clear. With `contents` files are read; that is
 * for registration: a query may not depend on it. */
BRUME_MUST_USE brume_status brume_engine_marks(brume_engine *engine, size_t index, bool contents,
                                               brume_marks *marks, brume_error *error);
void brume_marks_clear(brume_marks *marks);

/* The three ways a result column travels. Booleans, integers, dates (days since 1970-01-01),
 * timestamps (microseconds since then) and decimals of at most 18 digits (units of 10^-scale) are
 * printed as INTEGER; wider decimals and 128-bit sums as TEXT. */
typedef enum brume_wire { BRUME_WIRE_INTEGER, BRUME_WIRE_REAL, BRUME_WIRE_TEXT } brume_wire;

typedef struct brume_chunk_column {
    brume_wire wire;
    const int64_t *integers; /* one of these three is set */
    const double *reals;
    const brume_text *texts;
    const uint64_t *valid; /* bit i % 64 of word i / 64 is 0 where row i is NULL; NULL: none is */
} brume_chunk_column;

typedef struct brume_chunk {
    size_t row_count;
    size_t column_count;
    const brume_chunk_column *columns;
} brume_chunk;

static inline bool brume_chunk_is_null(const brume_chunk_column *column, size_t row)
{
    return column->valid && !((column->valid[row / 64] >> (row % 64)) & 1);
}

/* The bytes by which a value that is not NULL is told from others: two values have the same bytes
 * iff SQL calls them equal. They are in the chunk, or in *real, where 0 stands for -0 too: else one
 * person whose number is written in both ways would be two units. */
static inline const void *brume_chunk_bytes(const brume_chunk_column *column, size_t row,
                                            double *real, size_t *length)
{
    *length = column->wire == BRUME_WIRE_TEXT ? column->texts[row].length : 8;
    if (column->wire == BRUME_WIRE_TEXT)
        return column->texts[row].data;
    if (column->wire == BRUME_WIRE_INTEGER)
        return &column->integers[row];
    *real = column->reals[row] == 0 ? 0 : column->reals[row];
    return real;
}

/* Start one SELECT whose result columns travel as `wires`. Only one may be open on an engine.
 * Anything but a single SELECT with these columns: EINTERNAL. */
BRUME_MUST_USE brume_status brume_engine_select(brume_engine *engine, const char *sql,
                                                const brume_wire *wires, size_t wire_count,
                                                brume_rows **rows, brume_error *error);

/* The next rows; *chunk is NULL after the last one, and is valid until the next call.
 * ECANCELLED after brume_engine_cancel; EENGINE when the engine or server failed, died or was lost;
 * ESOURCE when a file vanished. */
BRUME_MUST_USE brume_status brume_rows_next(brume_rows *rows, const brume_chunk **chunk,
                                            brume_error *error);
void brume_rows_close(brume_rows *rows);

/* Takes rows of a scan. Several threads may call it at once, each with other rows; the chunk is
 * valid during the call. */
typedef brume_status (*brume_row_taker)(void *context, const brume_chunk *chunk,
                                        brume_error *error);

/* Run one SELECT like brume_engine_select and give each of its rows to `take` exactly once, in no
 * order, on as many threads as the engine has. The first error of `take` ends the scan and is its
 * error; the others are those of brume_engine_select and brume_rows_next. */
BRUME_MUST_USE brume_status brume_engine_scan(brume_engine *engine, const char *sql,
                                              const brume_wire *wires, size_t wire_count,
                                              brume_row_taker take, void *context,
                                              brume_error *error);

/* Does the engine compare a text column of source `index` byte by byte, by the column's own
 * collation? false also where that cannot be said. */
bool brume_engine_is_bytewise(brume_engine *engine, size_t index, const char *column);

/* ---- several statements on one snapshot ---- */

/* From now on all statements of the engine, one after the other, read one snapshot of the data,
 * until brume_engine_release as many times; but Spark has none, and each statement reads what is
 * there then. EUNSUPPORTED where the rows are files. */
BRUME_MUST_USE brume_status brume_engine_retain(brume_engine *engine, brume_error *error);
void brume_engine_release(brume_engine *engine);

/* ---- several statements at once ---- */

/* What may follow FROM in the place of one table, so that each row of the table is in exactly one
 * part, in any snapshot. */
typedef struct brume_parts {
    char **texts;
    size_t count; /* 0: not divided */
} brume_parts;

/* Divide source `index`, where that makes reading faster; free with brume_parts_clear. What is
 * divided and how depends on the size of the table, which nobody is told. */
BRUME_MUST_USE brume_status brume_engine_divide(brume_engine *engine, size_t index,
                                                brume_parts *parts, brume_error *error);
void brume_parts_clear(brume_parts *parts);

/* Like brume_engine_scan, of `count` statements with the same columns, on one snapshot of the data
 * and on as many connections as there may be ($BRUME_CONNECTIONS, else one per processor). The
 * first failure ends all. EUNSUPPORTED where brume_engine_divide divides nothing. */
BRUME_MUST_USE brume_status brume_engine_scan_parts(brume_engine *engine,
                                                    const char *const *statements, size_t count,
                                                    const brume_wire *wires, size_t wire_count,
                                                    brume_row_taker take, void *context,
                                                    brume_error *error);

/* Make a running brume_rows_next or scan (or the next one) end with ECANCELLED. */
void brume_engine_cancel(brume_engine *engine);

#endif
