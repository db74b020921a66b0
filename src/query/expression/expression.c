/* Words of operations, and equality of trees. */
#include "query/expression/expression.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <brume/status.h>

const char *brume_operation_word(brume_operation operation)
{
    static const char *const words[] = {
#define BRUME_OPERATION(name, word) word,
#include "query/expression/operation.def"
#undef BRUME_OPERATION
    };
    return words[operation];
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool brume_expression_equal(const brume_expression *a, const brume_expression *b)
{
    if (a == b)
        return true;
    if (a->operation != b->operation || !brume_type_equal(a->type, b->type) ||
        a->argument_count != b->argument_count || a->relation != b->relation ||
        a->column != b->column || a->size != b->size || !same_text(a->text, b->text) ||
        memcmp(a->number, b->number, sizeof a->number) != 0)
        return false;
    for (size_t i = 0; i < a->argument_count; i++)
        if (!brume_expression_equal(a->arguments[i], b->arguments[i]))
            return false;
    return true;
}

/* Blocks in a list; an allocation larger than a block gets a block of its own.
 *
 * Memory that is freed all at once: everything of one query lives in one arena. */

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

/* How long the texts of one row can keep an engine busy: bounds that are known before any row is.
 *
 * 1. Work is the number of bytes of text that the operations of an expression read at most, each
 *    operand counted each time. It bounds a row's time, because every operation takes a bounded
 *    time a byte (bench/expression_time.c measures it).
 * 2. Where a text is searched for another one by trying at each place, as engines do, a byte is
 * looked at as often as parts of what is searched for can overlap there. That is how often it
 * repeats itself: 1 for 'abcdef', m for m times the same letter. */

enum { CHARACTER_MOST = 4 }; /* bytes of a character of UTF-8 */

/* ---- work ---- */

static size_t less(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* A constant integer that is not negative, in characters, as bytes. */
static bool constant_bytes(const brume_expression *node, size_t *bytes)
{
    if (node->operation != BRUME_OPERATION_LITERAL || !node->text || *node->text == '-')
        return false;
    *bytes = CHARACTER_MOST * (size_t)strtoul(node->text, NULL, 10);
    return true;
}

size_t brume_text_part(brume_operation operation, const brume_expression *const *arguments,
                       size_t count)
{
    size_t whole = arguments[0]->max_length, most = 0;
    bool known = operation == BRUME_OPERATION_SUBSTRING
                     ? count == 3 && constant_bytes(arguments[2], &most)
                     : constant_bytes(arguments[1], &most);
    return known ? less(whole, most) : whole;
}

size_t brume_text_work(brume_operation operation, const brume_expression *const *arguments,
                       size_t count)
{
    size_t all = 0, first = count ? arguments[0]->max_length : 0, to = 0;
    switch (operation) {
    case BRUME_OPERATION_LEFT:
        return brume_text_part(operation, arguments, count);
    case BRUME_OPERATION_SUBSTRING: /* what comes before it is counted through */
        if (count == 3 && constant_bytes(arguments[1], &to))
            return less(first, to + brume_text_part(operation, arguments, count));
        return first;
    case BRUME_OPERATION_EQUAL: /* a comparison ends with the shorter one */
    case BRUME_OPERATION_NOT_EQUAL:
    case BRUME_OPERATION_LESS:
    case BRUME_OPERATION_LESS_EQUAL:
    case BRUME_OPERATION_GREATER:
    case BRUME_OPERATION_GREATER_EQUAL:
    case BRUME_OPERATION_DISTINCT:
    case BRUME_OPERATION_NOT_DISTINCT:
    case BRUME_OPERATION_BETWEEN:
    case BRUME_OPERATION_NOT_BETWEEN:
    case BRUME_OPERATION_IN:
    case BRUME_OPERATION_NOT_IN:
    case BRUME_OPERATION_NULLIF:
    case BRUME_OPERATION_STARTS_WITH:
        for (size_t i = 1; i < count; i++)
            all += less(first, arguments[i]->max_length);
        return all;
    case BRUME_OPERATION_IS_NULL:
    case BRUME_OPERATION_IS_NOT_NULL:
        return 0;
    default:
        for (size_t i = 0; i < count; i++)
            all += arguments[i]->max_length;
        return all;
    }
}

/* ---- repeats ---- */

/* The text as it is compared: forwards or backwards. */
static char at(const char *text, size_t length, size_t place, bool backwards)
{
    return text[backwards ? length - 1 - place : place];
}

/* A byte is looked at once for each beginning of the text that ends at it. Those that end with a
 * given beginning are its borders, which are nested: how many there are is one more than for the
 * longest. */
static size_t repeats(const char *text, size_t length, bool backwards)
{
    size_t *border = calloc(length + 1, sizeof *border), *depth = calloc(length + 1, sizeof *depth);
    size_t most = length ? 1 : 0, k = 0;
    if (!border || !depth) {
        most = length; /* never below the truth */
        length = 0;
    } else if (length) {
        depth[1] = 1;
    }
    for (size_t i = 1; i < length; i++) {
        while (k && at(text, length, k, backwards) != at(text, length, i, backwards))
            k = border[k];
        k += at(text, length, k, backwards) == at(text, length, i, backwards);
        border[i + 1] = k;
        depth[i + 1] = depth[k] + 1;
        most = depth[i + 1] > most ? depth[i + 1] : most;
    }
    free(border);
    free(depth);
    return most;
}

size_t brume_text_repeats(const char *text)
{
    size_t length = strlen(text);
    size_t forwards = repeats(text, length, false), backwards = repeats(text, length, true);
    return forwards > backwards ? forwards : backwards;
}

size_t brume_pattern_repeats(const char *pattern)
{
    char *part = malloc(strlen(pattern) + 1);
    if (!part)
        return strlen(pattern);
    size_t most = 0;
    for (const char *from = pattern; *from; from += *from == '%') {
        size_t length = 0;
        bool blurred = false; /* with _, whose borders need not be nested: as often as it is long */
        for (; *from && *from != '%'; from++) {
            blurred = blurred || *from == '_';
            if (*from == '\\' && from[1])
                from++;
            part[length++] = *from;
        }
        size_t each = blurred ? length : repeats(part, length, false);
        most = each > most ? each : most;
    }
    free(part);
    return most;
}
