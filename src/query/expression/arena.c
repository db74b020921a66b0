/* Blocks in a list; an allocation larger than a block gets a block of its own. */
#include "query/expression/arena.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16 * 1024, LIMIT = 64 * 1024 * 1024 };

typedef struct block {
    struct block *next;
    size_t used, capacity;
    max_align_t data[];
} block;

struct brume_arena {
    block *blocks;
    size_t total;
};

brume_arena *brume_arena_open(void)
{
    return calloc(1, sizeof(brume_arena));
}

void brume_arena_close(brume_arena *arena)
{
    if (!arena)
        return;
    for (block *next, *each = arena->blocks; each; each = next) {
        next = each->next;
        free(each);
    }
    free(arena);
}

void *brume_arena_allocate(brume_arena *arena, size_t size)
{
    if (size > LIMIT)
        return NULL;
    size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    block *top = arena->blocks;
    if (!top || top->capacity - top->used < size) {
        size_t capacity = size > BLOCK ? size : BLOCK;
        if (arena->total + capacity > LIMIT)
            return NULL;
        block *made = calloc(1, sizeof *made + capacity);
        if (!made)
            return NULL;
        made->capacity = capacity;
        made->next = top;
        arena->blocks = made;
        arena->total += capacity;
        top = made;
    }
    void *memory = (char *)top->data + top->used;
    top->used += size;
    return memory;
}

void *brume_arena_copy(brume_arena *arena, const void *data, size_t size)
{
    void *copy = brume_arena_allocate(arena, size ? size : 1);
    if (copy && size)
        memcpy(copy, data, size);
    return copy;
}

char *brume_arena_text(brume_arena *arena, const char *text)
{
    return brume_arena_copy(arena, text, strlen(text) + 1);
}

char *brume_arena_format(brume_arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        return NULL;
    char *text = brume_arena_allocate(arena, (size_t)length + 1);
    if (!text)
        return NULL;
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}
