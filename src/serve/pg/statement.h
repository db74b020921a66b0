/* One statement: what kind it is, and its text with the values of its parameters in it. */
#ifndef BRUME_SERVE_PG_STATEMENT_H
#define BRUME_SERVE_PG_STATEMENT_H

#include "serve/pg/table.h"
#include "serve/pg/tree.h"

typedef enum brume_pg_kind {
    BRUME_PG_EMPTY,
    BRUME_PG_ASK,     /* a SELECT of datasets: it may cost something */
    BRUME_PG_CATALOG, /* a SELECT of pg_catalog and information_schema, or of no table: free */
    BRUME_PG_EXPLAIN,
    BRUME_PG_SET,
    BRUME_PG_SHOW,
    BRUME_PG_TRANSACTION,
    BRUME_PG_DECLARE,
    BRUME_PG_FETCH, /* also MOVE */
    BRUME_PG_CLOSE,
    BRUME_PG_PREPARE,
    BRUME_PG_EXECUTE, /* becomes what it executes when it is described or run */
    BRUME_PG_DEALLOCATE,
    BRUME_PG_DISCARD,
    BRUME_PG_NOTHING, /* UNLISTEN and its like: accepted, and without effect */
    BRUME_PG_REFUSED, /* anything that brume does not do */
} brume_pg_kind;

typedef struct brume_pg_statement {
    brume_pg_kind kind;
    char *text;
    PgQuery__ParseResult *tree;
    const PgQuery__Node *node; /* of the tree; NULL where it is empty */
    size_t parameter_count;    /* the highest $n; of PREPARE 0: they are of its query */
    size_t bytes;              /* about so much memory it takes: many times its text */
} brume_pg_statement;

/* The statements of a text, each alone. ESYNTAX (nothing is given then), with the position. Free
 * with brume_pg_split_free. */
BRUME_MUST_USE brume_status brume_pg_split(const char *text, char ***list, size_t *count,
                                           int *position, brume_error *error);
void brume_pg_split_free(char **list, size_t count);

/* One statement, or none. ESYNTAX, EUNSUPPORTED; EARGUMENT: several. */
BRUME_MUST_USE brume_status brume_pg_statement_open(const char *text, brume_pg_statement **out,
                                                    int *position, brume_error *error);
void brume_pg_statement_close(brume_pg_statement *statement);

/* Kind of a SELECT, by the tables that its tree names: all of the catalog, or none: CATALOG; all of
 * datasets: ASK; some of each: REFUSED. */
brume_pg_kind brume_pg_select_kind(const ProtobufCMessage *select);

/* A value of a parameter: its type's number (0: not said) and its text; NULL: NULL. */
typedef struct brume_pg_value {
    uint32_t type;
    char *text;
} brume_pg_value;

/* Read a value as it came, in text (0) or binary (1) format, and check that it is one of its type.
 * The text is from malloc. EARGUMENT, EUNSUPPORTED: a type that brume does not take. */
BRUME_MUST_USE brume_status brume_pg_value_read(uint32_t type, uint16_t format,
                                                const uint8_t *bytes, size_t length,
                                                brume_pg_value *out, brume_error *error);

/* The text of the statement with literals in the place of $1, $2, ... and without "public." before
 * names: what a session is asked. Literals are put where the scanner found a parameter, quoted by
 * its rules, so that a value cannot become anything but one literal. Free with free(). */
BRUME_MUST_USE brume_status brume_pg_statement_text(const brume_pg_statement *statement,
                                                    const brume_pg_value *values, size_t count,
                                                    char **out, brume_error *error);

#endif
