/* The dictionary of a column chunk: see the header. */
#include "reader/parquet/dictionary.h"

#include <stdlib.h>
#include <string.h>

#include "reader/parquet/convert.h"
#include "reader/parquet/values.h"

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

/* Every stored value takes at least a bit. */
brume_parquet_fault brume_parquet_dictionary_make(brume_parquet_dictionary *dictionary,
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

bool brume_parquet_dictionary_look(const brume_parquet_dictionary *dictionary, size_t value_size,
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

void brume_parquet_dictionary_clear(brume_parquet_dictionary *dictionary)
{
    free(dictionary->values);
    free(dictionary->good);
    brume_pool_clear(&dictionary->pool);
    *dictionary = (brume_parquet_dictionary){0};
}
