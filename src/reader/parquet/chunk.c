/* One column of one row group: see the header.
 *
 * Rows of a batch come from one or more pages. From each page: which rows are not NULL (the
 * levels), their values without gaps, and then the gaps. */
#include "reader/parquet/chunk.h"

#include <stdlib.h>
#include <string.h>

#include <brume/status.h>

#include "base/error.h"
#include "reader/parquet/convert.h"
#include "reader/parquet/footer.h"
#include "reader/parquet/pool.h"
#include "reader/parquet/values.h"
#include "reader/rows.h"

typedef enum brume_parquet_page_kind {
    PARQUET_PAGE_DICTIONARY,
    PARQUET_PAGE_DATA, /* levels, where there are any, have their length before them */
    PARQUET_PAGE_DATA_V2,
} brume_parquet_page_kind;

typedef struct brume_parquet_page {
    brume_parquet_page_kind kind;
    uint64_t count; /* values, NULLs among them */
    int encoding, level_encoding;
    /* Decompressed; of version 2 without the levels. BRUME_POOL_PADDING bytes behind them may be
     * read. */
    const uint8_t *bytes;
    size_t length;
    const uint8_t *levels; /* of version 2 */
    size_t level_length;
} brume_parquet_page;

typedef struct brume_parquet_pages {
    int file;
    const char *location; /* for messages */
    brume_parquet_codec codec;
    uint64_t at, end; /* in the file: the next page, and the chunk's end */
    brume_page_pool *pool;
    brume_pool_block *window; /* bytes of the file */
    uint64_t window_start;
    size_t window_length;
    brume_pool_block *unpacked; /* the page's bytes, where they were compressed */
} brume_parquet_pages;

/* Start with {0}. */
typedef struct brume_parquet_dictionary {
    void *values; /* of the column's type */
    size_t count;
    uint64_t *good;       /* bit i: entry i is a value */
    bool all;             /* all are */
    brume_page_pool pool; /* of the bytes of its texts */
} brume_parquet_dictionary;

/* ---- the pages of a column chunk: see the header ---- */

/* ---- headers ---- */

typedef struct page_header {
    int kind; /* as numbered by the format */
    int32_t length, unpacked_length;
    bool described;
    int32_t count;
    int encoding, level_encoding;
    int32_t level_length, repetition_length;
    bool is_packed;
} page_header;

enum { KIND_DATA = 0, KIND_INDEX = 1, KIND_DICTIONARY = 2, KIND_DATA_V2 = 3 };

/* The structure of its kind: of all 1 is the number of values; of data and dictionary pages 2 is
 * the encoding, of data pages 3 that of the levels; of version 2, 4 is the encoding, 5 and 6 are
 * the lengths of the levels, and 7 is false where nothing is compressed. */
static void read_kind(brume_thrift *in, page_header *header)
{
    bool second = header->kind == KIND_DATA_V2;
    brume_thrift_field field = {0};
    header->described = true;
    while (brume_thrift_next(in, &field)) {
        if (field.id == 1)
            header->count = brume_thrift_int32(in, field);
        else if (field.id == (second ? 4 : 2))
            header->encoding = brume_thrift_int32(in, field);
        else if (!second && field.id == 3 && header->kind == KIND_DATA)
            header->level_encoding = brume_thrift_int32(in, field);
        else if (second && field.id == 5)
            header->level_length = brume_thrift_int32(in, field);
        else if (second && field.id == 6)
            header->repetition_length = brume_thrift_int32(in, field);
        else if (second && field.id == 7)
            header->is_packed = brume_thrift_boolean(in, field);
        else
            brume_thrift_skip(in, field);
    }
}

static page_header read_header(brume_thrift *in)
{
    static const int fields[] = {
        [KIND_DATA] = 5, [KIND_INDEX] = 6, [KIND_DICTIONARY] = 7, [KIND_DATA_V2] = 8};
    page_header header = {.kind = -1, .is_packed = true, .level_encoding = PARQUET_RLE};
    brume_thrift_field field = {0};
    while (brume_thrift_next(in, &field)) {
        bool known = header.kind >= KIND_DATA && header.kind <= KIND_DATA_V2;
        if (field.id == 1) {
            header.kind = brume_thrift_int32(in, field);
        } else if (field.id == 2) {
            header.unpacked_length = brume_thrift_int32(in, field);
        } else if (field.id == 3) {
            header.length = brume_thrift_int32(in, field);
        } else if (known && field.id == fields[header.kind] && header.kind != KIND_INDEX) {
            brume_thrift_struct(in, field);
            read_kind(in, &header);
        } else {
            brume_thrift_skip(in, field);
        }
    }
    return header;
}

/* ---- bytes ---- */

static void parquet_pages_open(brume_parquet_pages *pages, int file, const char *location,
                               const brume_parquet_place *place, brume_page_pool *pool)
{
    *pages = (brume_parquet_pages){.file = file,
                                   .location = location,
                                   .codec = place->codec,
                                   .at = place->start,
                                   .end = place->start + place->length,
                                   .pool = pool};
}

/* Done: the blocks go back to the pool. */
static void parquet_pages_close(brume_parquet_pages *pages)
{
    brume_pool_release(pages->window);
    brume_pool_release(pages->unpacked);
    pages->window = pages->unpacked = NULL;
}

/* `length` bytes of the file from `at` on, which lie in the chunk. */
static brume_status fetch(brume_parquet_pages *pages, size_t length, const uint8_t **out,
                          brume_error *error)
{
    enum { WINDOW = 1 << 22 };
    uint64_t skipped = pages->at - pages->window_start;
    if (!pages->window || skipped + length > pages->window_length) {
        uint64_t left = pages->end - pages->at;
        size_t more = length < WINDOW ? WINDOW : length;
        more = more < left ? more : (size_t)left;
        brume_pool_block *block = brume_pool_take(pages->pool, more);
        if (!block)
            return brume_no_memory(error, NULL);
        brume_pool_release(pages->window);
        pages->window = block;
        pages->window_start = pages->at;
        pages->window_length = 0;
        BRUME_TRY(brume_parquet_pread(pages->file, pages->at, brume_pool_bytes(block), more,
                                      pages->location, error));
        pages->window_length = more;
        skipped = 0;
    }
    *out = brume_pool_bytes(pages->window) + skipped;
    return BRUME_OK;
}

/* The header at `at`, which may be of any length: statistics stand in it. */
static brume_status next_header(brume_parquet_pages *pages, page_header *header, brume_error *error)
{
    enum { USUAL = 512 };
    uint64_t left = pages->end - pages->at;
    for (size_t length = USUAL; left > 0; length *= 8) {
        size_t there = length < left ? length : (size_t)left;
        const uint8_t *bytes = NULL;
        BRUME_TRY(fetch(pages, there, &bytes, error));
        brume_thrift in = {bytes, bytes + there, false};
        *header = read_header(&in);
        if (!in.failed) {
            pages->at += (uint64_t)(in.at - bytes);
            return BRUME_OK;
        }
        if (there == left)
            break;
    }
    return brume_parquet_damaged(pages->location, error);
}

/* The page's bytes from `bytes` on, decompressed. */
static brume_status unpack(brume_parquet_pages *pages, const uint8_t *bytes, size_t length,
                           size_t unpacked, bool is_packed, brume_parquet_page *page,
                           brume_error *error)
{
    page->length = unpacked;
    if (pages->codec == PARQUET_UNCOMPRESSED || !is_packed) {
        page->bytes = bytes;
        return length == unpacked ? BRUME_OK : brume_parquet_damaged(pages->location, error);
    }
    if (!brume_parquet_codec_may(pages->codec, length, unpacked))
        return brume_parquet_damaged(pages->location, error);
    brume_pool_block *block = brume_pool_take(pages->pool, unpacked);
    if (!block)
        return brume_no_memory(error, NULL);
    brume_pool_release(pages->unpacked);
    pages->unpacked = block;
    page->bytes = brume_pool_bytes(block);
    return brume_parquet_decompress(pages->codec, bytes, length, brume_pool_bytes(block), unpacked)
               ? BRUME_OK
               : brume_parquet_damaged(pages->location, error);
}

/* ---- a page ---- */

static bool is_sound(const page_header *header, uint64_t left)
{
    bool sound = header->length >= 0 && header->unpacked_length >= 0 && header->count >= 0 &&
                 header->level_length >= 0 && header->repetition_length >= 0 &&
                 (uint64_t)header->length <= left;
    int64_t levels = (int64_t)header->level_length + header->repetition_length;
    return sound && (header->described || header->kind == KIND_INDEX) && levels <= header->length &&
           levels <= header->unpacked_length;
}

static brume_status read_page(brume_parquet_pages *pages, const page_header *header,
                              brume_parquet_page *page, brume_error *error)
{
    const uint8_t *bytes = NULL;
    size_t length = (size_t)header->length, unpacked = (size_t)header->unpacked_length;
    size_t levels = (size_t)header->level_length + (size_t)header->repetition_length;
    BRUME_TRY(fetch(pages, length, &bytes, error));
    *page = (brume_parquet_page){
        .kind = header->kind == KIND_DICTIONARY ? PARQUET_PAGE_DICTIONARY
                : header->kind == KIND_DATA     ? PARQUET_PAGE_DATA
                                                : PARQUET_PAGE_DATA_V2,
        .count = (uint64_t)header->count,
        .encoding = header->encoding,
        .level_encoding = header->level_encoding,
        .levels = bytes + header->repetition_length,
        .level_length = (size_t)header->level_length,
    };
    return unpack(pages, bytes + levels, length - levels, unpacked - levels, header->is_packed,
                  page, error);
}

/* The next page that has values. What the last one had stays until the pool's next turn. ESOURCE:
 * unreadable, damaged, or there is none; EMEMORY. */
static brume_status parquet_pages_next(brume_parquet_pages *pages, brume_parquet_page *page,
                                       brume_error *error)
{
    while (pages->at < pages->end) {
        page_header header = {0};
        BRUME_TRY(next_header(pages, &header, error));
        if (!is_sound(&header, pages->end - pages->at))
            break;
        bool wanted = (header.kind == KIND_DATA || header.kind == KIND_DATA_V2) && header.count > 0;
        if (wanted || header.kind == KIND_DICTIONARY)
            BRUME_TRY(read_page(pages, &header, page, error));
        pages->at += (uint64_t)header.length;
        if (wanted || header.kind == KIND_DICTIONARY)
            return BRUME_OK;
    }
    return brume_parquet_damaged(pages->location, error);
}

/* ---- the dictionary of a column chunk: see the header ---- */

static brume_parquet_fault fill(brume_parquet_dictionary *dictionary,
                                const brume_parquet_column *column, const brume_parquet_page *page,
                                void *stored)
{
    brume_parquet_values values;
    uint8_t *bytes = brume_pool_lend(&dictionary->pool, page->length);
    if (!bytes)
        return PARQUET_NO_MEMORY;
    memcpy(bytes, page->bytes, page->length);
    brume_parquet_fault fault =
        brume_parquet_values_open(&values, column, PARQUET_PLAIN, bytes, page->length, NULL);
    if (fault == PARQUET_SOUND)
        fault = brume_parquet_values_read(&values, dictionary->count, stored);
    if (fault == PARQUET_SOUND)
        fault = brume_parquet_convert(column, stored, dictionary->count, dictionary->values,
                                      dictionary->good, &dictionary->all, &dictionary->pool);
    return fault;
}

/* Make it of a page.
 *
 * Every stored value takes at least a bit. */
static brume_parquet_fault parquet_dictionary_make(brume_parquet_dictionary *dictionary,
                                                   const brume_parquet_column *column,
                                                   const brume_parquet_page *page)
{
    bool plain = page->encoding == PARQUET_PLAIN || page->encoding == PARQUET_PLAIN_DICTIONARY;
    if (dictionary->values || !plain || page->count / 8 > page->length)
        return PARQUET_DAMAGED;
    size_t count = (size_t)page->count;
    void *stored = calloc(count + 1, brume_parquet_physical_size(column->physical));
    dictionary->values = calloc(count + 1, brume_parquet_value_size(column->type));
    dictionary->good = calloc(count / 64 + 1, sizeof *dictionary->good);
    dictionary->count = count;
    brume_parquet_fault fault = stored && dictionary->values && dictionary->good
                                    ? fill(dictionary, column, page, stored)
                                    : PARQUET_NO_MEMORY;
    free(stored);
    return fault;
}

static bool are_within(const uint32_t *indices, size_t count, size_t end)
{
    uint32_t largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = indices[i] > largest ? indices[i] : largest;
    return count == 0 || largest < end;
}

/* A size that is known makes each copy one instruction or two. */
static inline void look_all(const char *from, size_t size, const uint32_t *indices, size_t count,
                            char *to)
{
    for (size_t i = 0; i < count; i++)
        memcpy(to + i * size, from + indices[i] * size, size);
}

/* The values of `count` indices, and where *all becomes false also which are values, as in
 * brume_parquet_convert. False: an index is beyond its end. */
static bool parquet_dictionary_look(const brume_parquet_dictionary *dictionary, size_t value_size,
                                    const uint32_t *indices, size_t count, void *values,
                                    uint64_t *good, bool *all)
{
    if (!dictionary->values || !are_within(indices, count, dictionary->count))
        return false;
    switch (value_size) {
    case 1:
        look_all(dictionary->values, 1, indices, count, values);
        break;
    case 4:
        look_all(dictionary->values, 4, indices, count, values);
        break;
    case 8:
        look_all(dictionary->values, 8, indices, count, values);
        break;
    default:
        look_all(dictionary->values, 16, indices, count, values);
    }
    *all = dictionary->all;
    for (size_t i = 0; !*all && i < count; i++) {
        uint64_t bit = dictionary->good[indices[i] / 64] >> indices[i] % 64 & 1;
        good[i / 64] = (good[i / 64] & ~((uint64_t)1 << i % 64)) | bit << i % 64;
    }
    return true;
}

static void parquet_dictionary_clear(brume_parquet_dictionary *dictionary)
{
    free(dictionary->values);
    free(dictionary->good);
    brume_pool_clear(&dictionary->pool);
    *dictionary = (brume_parquet_dictionary){0};
}

enum { WORDS = BRUME_BATCH_ROWS / 64 };

struct brume_parquet_chunk {
    const brume_parquet_column *column;
    size_t value_size;
    brume_page_pool *pool;
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
                                              const char *location, brume_page_pool *pool)
{
    brume_parquet_chunk *chunk = malloc(sizeof *chunk);
    if (!chunk)
        return NULL;
    memset(chunk, 0, offsetof(brume_parquet_chunk, stored));
    chunk->column = column;
    chunk->pool = pool;
    chunk->value_size = brume_parquet_value_size(column->type);
    parquet_pages_open(&chunk->pages, file, location, place, pool);
    return chunk;
}

void brume_parquet_chunk_close(brume_parquet_chunk *chunk)
{
    if (!chunk)
        return;
    parquet_dictionary_clear(&chunk->dictionary);
    brume_parquet_values_close(&chunk->values);
    parquet_pages_close(&chunk->pages);
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
        return parquet_dictionary_make(&chunk->dictionary, chunk->column, page);
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
        BRUME_TRY(parquet_pages_next(&chunk->pages, &page, error));
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
                    parquet_dictionary_look(&chunk->dictionary, chunk->value_size, chunk->index,
                                            count, values, good, all);
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
    uint64_t good[WORDS] = {0};
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
