/* Messages of the PostgreSQL protocol. Promises: message.h. */
#include "serve/pg/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

const uint8_t *brume_pg_get_bytes(brume_pg_reader *reader, size_t length)
{
    if (reader->failed || reader->left < length) {
        reader->failed = true;
        return NULL;
    }
    const uint8_t *bytes = reader->at;
    reader->at += length;
    reader->left -= length;
    return bytes;
}

uint8_t brume_pg_get8(brume_pg_reader *reader)
{
    const uint8_t *bytes = brume_pg_get_bytes(reader, 1);
    return bytes ? *bytes : 0;
}

uint16_t brume_pg_get16(brume_pg_reader *reader)
{
    const uint8_t *bytes = brume_pg_get_bytes(reader, 2);
    if (!bytes)
        return 0;
    return (uint16_t)((unsigned)bytes[0] << 8 | bytes[1]);
}

uint32_t brume_pg_get32(brume_pg_reader *reader)
{
    const uint8_t *bytes = brume_pg_get_bytes(reader, 4);
    return bytes ? (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
                       bytes[3]
                 : 0;
}

const char *brume_pg_get_text(brume_pg_reader *reader)
{
    const void *end = reader->failed || !reader->left ? NULL : memchr(reader->at, 0, reader->left);
    if (!end) {
        reader->failed = true;
        return "";
    }
    return (const char *)brume_pg_get_bytes(reader,
                                            (size_t)((const uint8_t *)end - reader->at) + 1);
}

bool brume_pg_is_read(const brume_pg_reader *reader)
{
    return !reader->failed && reader->left == 0;
}

/* ---- writing ---- */

void brume_pg_put_bytes(brume_pg_writer *writer, const void *bytes, size_t length)
{
    if (writer->failed || length == 0)
        return;
    if (writer->room - writer->length < length) {
        size_t room = 2 * (writer->length + length) + 256;
        uint8_t *grown = realloc(writer->data, room);
        if (!grown) {
            writer->failed = true;
            return;
        }
        writer->data = grown;
        writer->room = room;
    }
    memcpy(writer->data + writer->length, bytes, length);
    writer->length += length;
}

void brume_pg_put8(brume_pg_writer *writer, uint8_t value)
{
    brume_pg_put_bytes(writer, &value, 1);
}

void brume_pg_put16(brume_pg_writer *writer, uint16_t value)
{
    uint8_t bytes[] = {(uint8_t)(value >> 8), (uint8_t)value};
    brume_pg_put_bytes(writer, bytes, sizeof bytes);
}

void brume_pg_put32(brume_pg_writer *writer, uint32_t value)
{
    brume_pg_put16(writer, (uint16_t)(value >> 16));
    brume_pg_put16(writer, (uint16_t)value);
}

void brume_pg_put_text(brume_pg_writer *writer, const char *text)
{
    brume_pg_put_bytes(writer, text, strlen(text) + 1);
}

void brume_pg_begin(brume_pg_writer *writer, char type)
{
    brume_pg_put8(writer, (uint8_t)type);
    writer->start = writer->length;
    brume_pg_put32(writer, 0);
}

void brume_pg_end(brume_pg_writer *writer)
{
    if (writer->failed)
        return;
    size_t length = writer->length - writer->start;
    if (length > INT32_MAX) {
        writer->failed = true;
        return;
    }
    for (int i = 0; i < 4; i++)
        writer->data[writer->start + (size_t)i] = (uint8_t)(length >> (24 - 8 * i));
}

void brume_pg_put_empty(brume_pg_writer *writer, char type)
{
    brume_pg_begin(writer, type);
    brume_pg_end(writer);
}

void brume_pg_put_complete(brume_pg_writer *writer, const char *tag)
{
    brume_pg_begin(writer, 'C');
    brume_pg_put_text(writer, tag);
    brume_pg_end(writer);
}

void brume_pg_put_parameter(brume_pg_writer *writer, const char *name, const char *value)
{
    brume_pg_begin(writer, 'S');
    brume_pg_put_text(writer, name);
    brume_pg_put_text(writer, value);
    brume_pg_end(writer);
}

static void put_field(brume_pg_writer *writer, char field, const char *text)
{
    if (!text || !*text)
        return;
    brume_pg_put8(writer, (uint8_t)field);
    brume_pg_put_text(writer, text);
}

void brume_pg_put_report(brume_pg_writer *writer, char type, const brume_pg_report *report)
{
    char position[12] = "";
    if (report->position > 0)
        snprintf(position, sizeof position, "%d", report->position);
    brume_pg_begin(writer, type);
    put_field(writer, 'S', report->severity);
    put_field(writer, 'V', report->severity);
    put_field(writer, 'C', report->sqlstate);
    put_field(writer, 'M', report->message);
    put_field(writer, 'D', report->detail);
    put_field(writer, 'H', report->hint);
    put_field(writer, 'P', position);
    brume_pg_put8(writer, 0);
    brume_pg_end(writer);
}

void brume_pg_writer_free(brume_pg_writer *writer)
{
    free(writer->data);
    *writer = (brume_pg_writer){0};
}
