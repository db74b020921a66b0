/* Regular expressions: the automaton, and following it. See the header. */
#include "base/regular_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASCII = 128, BYTES = 8, VALUES = 256 };

/* Which places of the automaton a character fits, for the characters from `low` on. */
typedef struct place_span {
    uint32_t low;
    uint64_t places;
} place_span;

struct brume_regular {
    brume_regular_tree tree;
    bool whole;
    size_t count;                          /* of places */
    size_t classes[BRUME_REGULAR_PLACES];  /* of each */
    uint64_t follow[BRUME_REGULAR_PLACES]; /* what may come after each */
    uint64_t after[BYTES][VALUES];         /* the same of eight places together */
    uint64_t ascii[ASCII];                 /* which places a character fits */
    place_span *spans;                     /* the same of all characters, in order */
    size_t span_count;
    uint64_t first_always, first_once; /* what a match may begin with: anywhere, at the start */
    uint64_t last_anywhere, last_end;  /* and end with */
    bool matches_all, matches_empty;   /* every text, and the empty one */
};

/* ---- places ---- */

/* What a part of a pattern may begin and end with; places are numbered as they stand. */
typedef struct part {
    uint64_t first, last;
    bool empty; /* it may be nothing */
} part;

static uint64_t bit(size_t place)
{
    return UINT64_C(1) << place;
}

/* After every place of `last` one of `first` may come. */
static void connect(brume_regular *pattern, uint64_t last, uint64_t first)
{
    for (size_t i = 0; i < pattern->count; i++)
        if (last & bit(i))
            pattern->follow[i] |= first;
}

static part join(brume_regular *pattern, part a, part b)
{
    connect(pattern, a.last, b.first);
    return (part){a.empty ? a.first | b.first : a.first, b.empty ? a.last | b.last : b.last,
                  a.empty && b.empty};
}

/* The part of a node, with places of its own; false: there are too many. */
static bool place(brume_regular *pattern, size_t index, part *out)
{
    const brume_regular_node *node = &pattern->tree.nodes[index];
    part a = {0, 0, true}, b = a;
    switch (node->kind) {
    case BRUME_REGULAR_EMPTY:
        break;
    case BRUME_REGULAR_CLASS:
        if (pattern->count == BRUME_REGULAR_PLACES)
            return false;
        pattern->classes[pattern->count] = node->left;
        a = (part){bit(pattern->count), bit(pattern->count), false};
        pattern->count++;
        break;
    case BRUME_REGULAR_CONCAT:
        if (!place(pattern, node->left, &a) || !place(pattern, node->right, &b))
            return false;
        a = join(pattern, a, b);
        break;
    case BRUME_REGULAR_EITHER:
        if (!place(pattern, node->left, &a) || !place(pattern, node->right, &b))
            return false;
        a = (part){a.first | b.first, a.last | b.last, a.empty || b.empty};
        break;
    case BRUME_REGULAR_REPEAT:
        /* least times, and then as often as it may be: without end, or one by one */
        for (int i = 0; i < (node->most < 0 ? node->least + (node->least == 0) : node->most); i++) {
            if (!place(pattern, node->left, &b))
                return false;
            if (node->most < 0 && i + 1 >= node->least)
                connect(pattern, b.last, b.first);
            b.empty = b.empty || i >= node->least;
            a = i == 0 ? b : join(pattern, a, b);
        }
        break;
    }
    *out = a;
    return true;
}

static bool place_alternatives(brume_regular *pattern)
{
    for (size_t i = 0; i < pattern->tree.alternative_count; i++) {
        const brume_regular_alternative *one = &pattern->tree.alternatives[i];
        bool from_start = one->from_start || pattern->whole, to_end = one->to_end || pattern->whole;
        part all;
        if (!place(pattern, one->node, &all))
            return false;
        *(from_start ? &pattern->first_once : &pattern->first_always) |= all.first;
        *(to_end ? &pattern->last_end : &pattern->last_anywhere) |= all.last;
        pattern->matches_all = pattern->matches_all || (all.empty && !(from_start && to_end));
        pattern->matches_empty = pattern->matches_empty || all.empty;
    }
    return true;
}

/* ---- characters ---- */

static int compare_characters(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint64_t places_of(const brume_regular *pattern, uint32_t character)
{
    uint64_t fits = 0;
    for (size_t i = 0; i < pattern->count; i++) {
        const brume_character_class *class = &pattern->tree.classes[pattern->classes[i]];
        for (size_t j = 0; j < class->count; j++)
            if (character >= class->ranges[j].low && character <= class->ranges[j].high)
                fits |= bit(i);
    }
    return fits;
}

/* Where the classes change, and what fits from there on. */
static bool make_spans(brume_regular *pattern)
{
    size_t count = 1;
    for (size_t i = 0; i < pattern->tree.class_count; i++)
        count += 2 * pattern->tree.classes[i].count;
    uint32_t *changes = malloc(count * sizeof *changes);
    pattern->spans = malloc(count * sizeof *pattern->spans);
    if (!changes || !pattern->spans) {
        free(changes);
        return false;
    }
    count = 0;
    changes[count++] = 0;
    for (size_t i = 0; i < pattern->tree.class_count; i++)
        for (size_t j = 0; j < pattern->tree.classes[i].count; j++) {
            changes[count++] = pattern->tree.classes[i].ranges[j].low;
            changes[count++] = pattern->tree.classes[i].ranges[j].high + 1;
        }
    qsort(changes, count, sizeof *changes, compare_characters);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || changes[i] != changes[i - 1])
            pattern->spans[pattern->span_count++] =
                (place_span){changes[i], places_of(pattern, changes[i])};
    for (uint32_t i = 0; i < ASCII; i++)
        pattern->ascii[i] = places_of(pattern, i);
    free(changes);
    return true;
}

static uint64_t find_places(const brume_regular *pattern, uint32_t character)
{
    size_t low = 0, high = pattern->span_count; /* the first span begins with 0 */
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (pattern->spans[middle].low <= character)
            low = middle;
        else
            high = middle;
    }
    return pattern->spans[low].places;
}

/* ---- opening ---- */

static void make_after(brume_regular *pattern)
{
    for (size_t byte = 0; byte < BYTES; byte++)
        for (size_t value = 0; value < VALUES; value++)
            for (size_t i = 0; i < 8; i++)
                if (value >> i & 1)
                    pattern->after[byte][value] |= pattern->follow[8 * byte + i];
}

brume_regular *brume_regular_open(const char *text, bool folds, bool whole, const char **why)
{
    brume_regular *pattern = calloc(1, sizeof *pattern);
    *why = NULL;
    if (!pattern)
        return NULL;
    pattern->whole = whole;
    bool good = brume_regular_read(text, folds, &pattern->tree, why);
    if (good && !place_alternatives(pattern)) {
        *why = "a pattern has more than 64 characters and classes, repetitions written out";
        good = false;
    }
    if (good)
        good = make_spans(pattern);
    if (!good) {
        brume_regular_close(pattern);
        return NULL;
    }
    make_after(pattern);
    return pattern;
}

void brume_regular_close(brume_regular *pattern)
{
    if (!pattern)
        return;
    brume_regular_tree_free(&pattern->tree);
    free(pattern->spans);
    free(pattern);
}

/* ---- matching ---- */

static uint64_t follow(const brume_regular *pattern, uint64_t places)
{
    uint64_t next = 0;
    for (size_t i = 0; i < BYTES; i++)
        next |= pattern->after[i][places >> (8 * i) & 0xFF];
    return next;
}

/* The character at `at`, and where the next one is; a text that ends too early ends there. */
static uint32_t character_at(const unsigned char *text, size_t length, size_t *at)
{
    unsigned char first = text[*at];
    size_t bytes = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    uint32_t value = bytes == 1 ? first : first & (0xFFU >> (bytes + 1));
    for (size_t i = 1; i < bytes && *at + i < length; i++)
        value = value << 6 | (text[*at + i] & 0x3F);
    *at = bytes < length - *at ? *at + bytes : length;
    return value;
}

bool brume_regular_match(const brume_regular *pattern, const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    uint64_t places = 0, first = pattern->first_always | pattern->first_once;
    if (pattern->matches_all || (length == 0 && pattern->matches_empty))
        return true;
    for (size_t at = 0; at < length; first = pattern->first_always) {
        uint64_t next = follow(pattern, places) | first;
        if (bytes[at] < ASCII)
            places = next & pattern->ascii[bytes[at++]];
        else
            places = next & find_places(pattern, character_at(bytes, length, &at));
        if (places & pattern->last_anywhere)
            return true;
        if (!places && !pattern->first_always)
            return false;
    }
    return (places & pattern->last_end) != 0;
}

/* ---- printing ---- */

static void put_character(FILE *file, uint32_t c)
{
    if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))
        fputc((int)c, file);
    else
        fprintf(file, c <= 0xFFFF ? "\\u%04x" : "\\U%08x", (unsigned)c);
}

/* One without characters, such as [^\s\S], matches nothing: no text has U+0000. */
static void put_class(FILE *file, const brume_character_class *class)
{
    const brume_character_range *all = class->ranges;
    if (class->count == 1 && all[0].low == all[0].high) {
        put_character(file, all[0].low);
    } else if (class->count == 1 && all[0].low == 0 && all[0].high == BRUME_REGULAR_LAST) {
        fputc('.', file);
    } else {
        fputc('[', file);
        for (size_t i = 0; i < class->count; i++) {
            put_character(file, all[i].low);
            if (all[i].high > all[i].low) {
                fputc('-', file);
                put_character(file, all[i].high);
            }
        }
        fputs(class->count ? "]" : "\\u0000]", file);
    }
}

static void put_node(FILE *file, const brume_regular_tree *tree, size_t index)
{
    const brume_regular_node *node = &tree->nodes[index];
    switch (node->kind) {
    case BRUME_REGULAR_EMPTY:
        fputs("(?:)", file);
        break;
    case BRUME_REGULAR_CLASS:
        put_class(file, &tree->classes[node->left]);
        break;
    case BRUME_REGULAR_CONCAT:
        put_node(file, tree, node->left);
        put_node(file, tree, node->right);
        break;
    case BRUME_REGULAR_EITHER:
        fputs("(?:", file);
        put_node(file, tree, node->left);
        fputc('|', file);
        put_node(file, tree, node->right);
        fputc(')', file);
        break;
    case BRUME_REGULAR_REPEAT:
        fputs("(?:", file);
        put_node(file, tree, node->left);
        fprintf(file, "){%d,", node->least);
        if (node->most >= 0)
            fprintf(file, "%d", node->most);
        fputc('}', file);
        break;
    }
}

char *brume_regular_print(const brume_regular *pattern)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return NULL;
    for (size_t i = 0; i < pattern->tree.alternative_count; i++) {
        const brume_regular_alternative *one = &pattern->tree.alternatives[i];
        fputs(i ? "|" : "", file);
        fputs(one->from_start || pattern->whole ? "^" : "", file);
        put_node(file, &pattern->tree, one->node);
        fputs(one->to_end || pattern->whole ? "$" : "", file);
    }
    return fclose(file) == 0 ? text : (free(text), NULL);
}
