/* One column of one row group: see the header.
 *
 * Rows of a batch come from one or more pages. From each page: which rows are not NULL (the
 * levels), their values without gaps, and then the gaps. */
#include "reader/parquet/chunk.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "reader/parquet/convert.h"
#include "reader/parquet/dictionary.h"
#include "reader/parquet/page.h"
#include "reader/parquet/values.h"

enum { WORDS = BRUME_BATCH_ROWS / 64 };

struct brume_parquet_chunk {
    const brume_parquet_column *column;
    size_t value_size;
    brume_pool *pool;
    brume_parquet_pages pages;
    brume_parquet_dictionary dictionary;
    uint64_t left;            /* rows of the page that are not read yet */
    brume_rle levels;         /* of an optional column: 1 where there is a value */
    brume_pool_block *turned; /* bytes of levels in the deprecated way */
    bool by_dictionary;       /* the page's values are indices: */
    brume_rle indices;        /* these; else they are here: */
    brume_parquet_values values;
    _Alignas(16) uint8_t stored[BRUME_BATCH_ROWS * sizeof(brume_text)];
    uint32_t index[BRUME_BATCH_ROWS];
};

_Static_assert((int)BRUME_PARQUET_MOST == (int)BRUME_BATCH_ROWS, "a batch is read at once");

brume_parquet_chunk *brume_parquet_chunk_open(const brume_parquet_column *column,
                                              const brume_parquet_place *place, int file,
                                              const char *location, brume_pool *pool)
{
    brume_parquet_chunk *chunk = malloc(sizeof *chunk);
    if (!chunk)
        return NULL;
    memset(chunk, 0, offsetof(brume_parquet_chunk, stored));
    chunk->column = column;
    chunk->pool = pool;
    chunk->value_size = brume_parquet_value_size(column->type);
    brume_parquet_pages_open(&chunk->pages, file, location, place, pool);
    return chunk;
}

void brume_parquet_chunk_close(brume_parquet_chunk *chunk)
{
    if (!chunk)
        return;
    brume_parquet_dictionary_clear(&chunk->dictionary);
    brume_parquet_values_close(&chunk->values);
    brume_parquet_pages_close(&chunk->pages);
    brume_pool_release(chunk->turned);
    free(chunk);
}

/* ---- the beginning of a page ---- */

/* In the deprecated way one bit a level, from the highest bit of a byte down: turned round, that is
 * one packed run. */
static bool open_old_levels(brume_parquet_chunk *chunk, brume_parquet_page *page)
{
    size_t length = (size_t)((page->count + 7) / 8);
    if (length > page->length)
        return false;
    brume_pool_block *block = brume_pool_take(chunk->pool, length);
    if (!block)
        return false;
    brume_pool_release(chunk->turned);
    chunk->turned = block;
    uint8_t *bytes = brume_pool_bytes(block);
    for (size_t i = 0; i < length; i++) {
        unsigned turned = 0;
        for (unsigned bit = 0; bit < 8; bit++)
            turned |= (page->bytes[i] >> bit & 1u) << (7 - bit);
        bytes[i] = (uint8_t)turned;
    }
    chunk->levels = (brume_rle){.at = bytes + length,
                                .end = bytes + length,
                                .width = 1,
                                .left = page->count,
                                .packed = true,
                                .values = bytes};
    page->bytes += length;
    page->length -= length;
    return true;
}

/* Take the levels off the page's bytes. */
static bool open_levels(brume_parquet_chunk *chunk, brume_parquet_page *page)
{
    if (page->kind == PARQUET_PAGE_DATA_V2)
        return brume_rle_open(&chunk->levels, page->levels, page->level_length, 1);
    if (page->level_encoding == PARQUET_BIT_PACKED)
        return open_old_levels(chunk, page);
    uint32_t length;
    if (page->level_encoding != PARQUET_RLE || page->length < sizeof length)
        return false;
    memcpy(&length, page->bytes, sizeof length);
    if (length > page->length - sizeof length)
        return false;
    page->bytes += sizeof length + length;
    page->length -= sizeof length + length;
    return brume_rle_open(&chunk->levels, page->bytes - length, length, 1);
}

/* Indices begin with a byte that says how many bits each has; a page of NULLs may have none. */
static bool open_indices(brume_parquet_chunk *chunk, const brume_parquet_page *page)
{
    if (page->length == 0)
        return brume_rle_open(&chunk->indices, page->bytes, 0, 0);
    return brume_rle_open(&chunk->indices, page->bytes + 1, page->length - 1, page->bytes[0]);
}

static brume_parquet_fault open_page(brume_parquet_chunk *chunk, brume_parquet_page *page)
{
    brume_parquet_values_close(&chunk->values);
    if (page->kind == PARQUET_PAGE_DICTIONARY)
        return brume_parquet_dictionary_make(&chunk->dictionary, chunk->column, page);
    if (chunk->column->optional && !open_levels(chunk, page))
        return PARQUET_DAMAGED;
    chunk->by_dictionary = page->encoding == PARQUET_PLAIN_DICTIONARY ||
                           page->encoding == PARQUET_RLE_DICTIONARY;
    chunk->left = page->count;
    if (chunk->by_dictionary)
        return open_indices(chunk, page) ? PARQUET_SOUND : PARQUET_DAMAGED;
    return brume_parquet_values_open(&chunk->values, chunk->column, page->encoding, page->bytes,
                                     page->length, chunk->pool);
}

static brume_status fault_of_page(const brume_parquet_chunk *chunk, brume_parquet_fault fault,
                                  brume_error *error)
{
    if (fault == PARQUET_NO_MEMORY)
        return brume_no_memory(error, NULL);
    return fault == PARQUET_SOUND ? BRUME_OK : brume_parquet_damaged(chunk->pages.location, error);
}

static brume_status next_page(brume_parquet_chunk *chunk, brume_error *error)
{
    while (chunk->left == 0) {
        brume_parquet_page page = {0};
        BRUME_TRY(brume_parquet_pages_next(&chunk->pages, &page, error));
        BRUME_TRY(fault_of_page(chunk, open_page(chunk, &page), error));
    }
    return BRUME_OK;
}

/* ---- rows of a page ---- */

/* `count` values without gaps. */
static brume_parquet_fault read_values(brume_parquet_chunk *chunk, size_t count, void *values,
                                       uint64_t *good, bool *all)
{
    const brume_parquet_column *column = chunk->column;
    *all = true;
    if (chunk->by_dictionary) {
        if (count == 0)
            return PARQUET_SOUND;
        bool read = brume_rle_read(&chunk->indices, count, chunk->index) &&
                    brume_parquet_dictionary_look(&chunk->dictionary, chunk->value_size,
                                                  chunk->index, count, values, good, all);
        return read ? PARQUET_SOUND : PARQUET_DAMAGED;
    }
    if (column->meaning == PARQUET_MEANS_ITSELF)
        return brume_parquet_values_read(&chunk->values, count, values);
    brume_parquet_fault fault = brume_parquet_values_read(&chunk->values, count, chunk->stored);
    if (fault != PARQUET_SOUND)
        return fault;
    return brume_parquet_convert(column, chunk->stored, count, values, good, all, chunk->pool);
}

static bool bit_at(const uint64_t *words, size_t i)
{
    return words[i / 64] >> i % 64 & 1;
}

/* Values that are no values: their rows are NULL too. The i-th row that has a value has the i-th
 * value. */
static void drop_bad(uint64_t *valid, size_t start, size_t count, const uint64_t *good)
{
    for (size_t row = start, value = 0; row < start + count; row++)
        if (bit_at(valid, row) && !bit_at(good, value++))
            valid[row / 64] &= ~((uint64_t)1 << row % 64);
}

/* Move `present` values apart, to the rows of [start, start + count) that have one. */
static inline void spread_by(char *values, size_t size, const uint64_t *valid, size_t start,
                             size_t count, size_t present)
{
    for (size_t row = start + count; row-- > start && present > 0;)
        if (bit_at(valid, row))
            memmove(values + row * size, values + (start + --present) * size, size);
}

static void spread(void *values, size_t size, const uint64_t *valid, size_t start, size_t count,
                   size_t present)
{
    switch (size) {
    case 1:
        spread_by(values, 1, valid, start, count, present);
        return;
    case 4:
        spread_by(values, 4, valid, start, count, present);
        return;
    case 8:
        spread_by(values, 8, valid, start, count, present);
        return;
    default:
        spread_by(values, 16, valid, start, count, present);
    }
}

/* Rows [start, start + count) of the batch, all from this page. */
static brume_parquet_fault read_rows(brume_parquet_chunk *chunk, size_t start, size_t count,
                                     brume_batch_column *out)
{
    uint64_t good[WORDS];
    size_t present = count;
    bool all = true;
    if (!chunk->column->optional)
        brume_rle_set_bits(out->valid, start, count);
    else if (!brume_rle_read_bits(&chunk->levels, count, out->valid, start, &present))
        return PARQUET_DAMAGED;
    brume_parquet_fault fault =
        read_values(chunk, present, (char *)out->values + start * chunk->value_size, good, &all);
    if (fault != PARQUET_SOUND)
        return fault;
    if (present < count)
        spread(out->values, chunk->value_size, out->valid, start, count, present);
    if (!all)
        drop_bad(out->valid, start, count, good);
    chunk->left -= count;
    return PARQUET_SOUND;
}

brume_status brume_parquet_chunk_next(brume_parquet_chunk *chunk, size_t count,
                                      brume_batch_column *out, brume_error *error)
{
    memset(out->valid, 0, WORDS * sizeof *out->valid);
    for (size_t done = 0, step; done < count; done += step) {
        BRUME_TRY(next_page(chunk, error));
        step = chunk->left < count - done ? (size_t)chunk->left : count - done;
        BRUME_TRY(fault_of_page(chunk, read_rows(chunk, done, step, out), error));
    }
    return BRUME_OK;
}
