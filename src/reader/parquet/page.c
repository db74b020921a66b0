/* The pages of a column chunk: see the header. */
#include "reader/parquet/page.h"

#include "base/error.h"
#include "reader/parquet/thrift.h"
#include "reader/parquet/values.h"

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

void brume_parquet_pages_open(brume_parquet_pages *pages, int file, const char *location,
                              const brume_parquet_place *place, brume_pool *pool)
{
    *pages = (brume_parquet_pages){.file = file,
                                   .location = location,
                                   .codec = place->codec,
                                   .at = place->start,
                                   .end = place->start + place->length,
                                   .pool = pool};
}

void brume_parquet_pages_close(brume_parquet_pages *pages)
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

brume_status brume_parquet_pages_next(brume_parquet_pages *pages, brume_parquet_page *page,
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
