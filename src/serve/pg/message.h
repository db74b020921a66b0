/* Messages of the PostgreSQL protocol 3.0: bytes in and out, nothing of their meaning.
 *
 * A reader never reads beyond its bytes: what is missing makes it `failed`, and every later read
 * gives 0 or NULL. A writer that runs out of memory is `failed` and writes nothing more. */
#ifndef BRUME_SERVE_PG_MESSAGE_H
#define BRUME_SERVE_PG_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- reading ---- */

typedef struct brume_pg_reader {
    const uint8_t *at;
    size_t left;
    bool failed;
} brume_pg_reader;

uint8_t brume_pg_get8(brume_pg_reader *reader);
uint16_t brume_pg_get16(brume_pg_reader *reader);
uint32_t brume_pg_get32(brume_pg_reader *reader);

/* A text that ends with a 0 byte, in place; "" (and failed) if there is none. */
const char *brume_pg_get_text(brume_pg_reader *reader);

/* So many bytes, in place; NULL (and failed) if there are fewer. */
const uint8_t *brume_pg_get_bytes(brume_pg_reader *reader, size_t length);

/* Was everything read, and was everything there? */
bool brume_pg_is_read(const brume_pg_reader *reader);

/* The most bytes that the body of a message may have: of the first packet of a connection, before
 * the password was accepted, and after it. */
enum {
    BRUME_PG_MOST_STARTUP = 10000,
    BRUME_PG_MOST_PASSWORD = 4096,
    BRUME_PG_MOST_BODY = 4 * 1024 * 1024
};

/* ---- writing ---- */

typedef struct brume_pg_writer {
    uint8_t *data;
    size_t length, room;
    size_t start; /* of the open message's length field */
    bool failed;
} brume_pg_writer;

void brume_pg_begin(brume_pg_writer *writer, char type);
void brume_pg_put8(brume_pg_writer *writer, uint8_t value);
void brume_pg_put16(brume_pg_writer *writer, uint16_t value);
void brume_pg_put32(brume_pg_writer *writer, uint32_t value);
void brume_pg_put_bytes(brume_pg_writer *writer, const void *bytes, size_t length);
void brume_pg_put_text(brume_pg_writer *writer, const char *text); /* with its 0 byte */
void brume_pg_end(brume_pg_writer *writer);

/* Messages that are used in several places. */
void brume_pg_put_empty(brume_pg_writer *writer, char type);
void brume_pg_put_complete(brume_pg_writer *writer, const char *tag);
void brume_pg_put_parameter(brume_pg_writer *writer, const char *name, const char *value);

/* ErrorResponse ('E') or NoticeResponse ('N'); detail, hint: NULL or empty: none; position: 0:
 * none, else in characters from 1. */
typedef struct brume_pg_report {
    const char *severity; /* "ERROR", "FATAL", "NOTICE", "WARNING" */
    const char *sqlstate, *message, *detail, *hint;
    int position;
} brume_pg_report;
void brume_pg_put_report(brume_pg_writer *writer, char type, const brume_pg_report *report);

void brume_pg_writer_free(brume_pg_writer *writer);

#endif
