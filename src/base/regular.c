/* Regular expressions: the automaton, and following it. See the header. */
#include "base/regular.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BRUME_REGULAR_PLACES = 64, BRUME_REGULAR_MOST = 1000 }; /* bytes of its text */

enum {
    BRUME_REGULAR_LAST = 0x10FFFF, /* the last character */
    BRUME_REGULAR_RANGES = 64,     /* of a class */
    BRUME_REGULAR_NODES = 400,
    BRUME_REGULAR_DEPTH = 40,
    BRUME_REGULAR_ALTERNATIVES = 32 /* of the pattern itself */
};

typedef struct brume_character_range {
    uint32_t low, high; /* inclusive */
} brume_character_range;

/* Ranges in order, none of which touch. */
typedef struct brume_character_class {
    brume_character_range ranges[BRUME_REGULAR_RANGES];
    size_t count;
} brume_character_class;

typedef enum brume_regular_kind {
    BRUME_REGULAR_EMPTY,
    BRUME_REGULAR_CLASS,  /* one character */
    BRUME_REGULAR_CONCAT, /* left, then right */
    BRUME_REGULAR_EITHER, /* left or right */
    BRUME_REGULAR_REPEAT, /* left, at least `least` and at most `most` times; -1: any number */
} brume_regular_kind;

typedef struct brume_regular_node {
    brume_regular_kind kind;
    int least, most;
    size_t left, right; /* of the tree's nodes; of a class, `left` is its number */
} brume_regular_node;

typedef struct brume_regular_alternative {
    size_t node;
    bool from_start, to_end; /* ^ and $ */
} brume_regular_alternative;

typedef struct brume_regular_tree {
    brume_regular_node *nodes;
    size_t node_count;
    brume_character_class *classes;
    size_t class_count, class_room;
    brume_regular_alternative alternatives[BRUME_REGULAR_ALTERNATIVES];
    size_t alternative_count;
} brume_regular_tree;

/* ---- regular expressions: their text, read into a tree and printed again ---- */

typedef struct regular_reader {
    const char *at;
    bool folds;
    brume_regular_tree *tree;
    const char *why; /* refused */
    bool no_memory;
    int depth;
} regular_reader;

static size_t refuse(regular_reader *r, const char *why)
{
    if (!r->why)
        r->why = why;
    return 0;
}

static bool goes_on(const regular_reader *r)
{
    return !r->why && !r->no_memory;
}

/* ---- classes ---- */

/* The ranges and one more, in order; a class that has too many is refused. */
static void add_range(regular_reader *r, brume_character_class *class, uint32_t low, uint32_t high)
{
    size_t at = 0, end;
    while (at < class->count && class->ranges[at].high + 1 < low)
        at++;
    for (end = at; end < class->count && class->ranges[end].low <= high + 1; end++) {
        low = class->ranges[end].low < low ? class->ranges[end].low : low;
        high = class->ranges[end].high > high ? class->ranges[end].high : high;
    }
    if (class->count - (end - at) + 1 >= BRUME_REGULAR_RANGES) {
        refuse(r, "a class of a pattern has more than 63 ranges");
        return;
    }
    memmove(&class->ranges[at + 1], &class->ranges[end],
            (class->count - end) * sizeof *class->ranges);
    class->count = class->count - (end - at) + 1;
    class->ranges[at] = (brume_character_range){low, high};
}

/* All characters but those. */
static brume_character_class others(const brume_character_class *class)
{
    brume_character_class made = {.count = 0};
    uint32_t next = 0;
    for (size_t i = 0; i < class->count; i++) {
        if (class->ranges[i].low > next)
            made.ranges[made.count++] = (brume_character_range){next, class->ranges[i].low - 1};
        next = class->ranges[i].high + 1;
    }
    if (next <= BRUME_REGULAR_LAST && made.count < BRUME_REGULAR_RANGES)
        made.ranges[made.count++] = (brume_character_range){next, BRUME_REGULAR_LAST};
    return made;
}

static void add_class(regular_reader *r, brume_character_class *to,
                      const brume_character_class *class)
{
    for (size_t i = 0; i < class->count; i++)
        add_range(r, to, class->ranges[i].low, class->ranges[i].high);
}

/* The letters of ASCII that differ from some in it by case alone. */
static void fold(regular_reader *r, brume_character_class *class)
{
    brume_character_class before = *class;
    for (size_t i = 0; i < before.count; i++)
        for (uint32_t c = before.ranges[i].low; c <= before.ranges[i].high && c < 128; c++)
            if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
                add_range(r, class, c ^ 0x20, c ^ 0x20);
}

/* \d, \w, \s; upper case: all others. False: the letter names none. */
static bool named_class(regular_reader *r, char letter, brume_character_class *class)
{
    static const struct {
        char letter;
        const char *ranges;
    } known[] = {{'d', "09"}, {'w', "09AZ__az"}, {'s', "\t\r  "}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        bool negated = letter == known[i].letter - 'a' + 'A';
        if (letter != known[i].letter && !negated)
            continue;
        for (const char *c = known[i].ranges; *c; c += 2)
            add_range(r, class, (unsigned char)c[0], (unsigned char)c[1]);
        if (negated)
            *class = others(class);
        return true;
    }
    return false;
}

/* ---- characters ---- */

/* The character of UTF-8 at the reader, which goes past it. */
static uint32_t take_character(regular_reader *r)
{
    const unsigned char *c = (const unsigned char *)r->at;
    size_t length = *c < 0x80 ? 1 : *c < 0xE0 ? 2 : *c < 0xF0 ? 3 : 4;
    uint32_t value = length == 1 ? *c : *c & (0xFFU >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((c[i] & 0xC0) != 0x80) {
            refuse(r, "a pattern is not UTF-8");
            return 0;
        }
        value = value << 6 | (c[i] & 0x3F);
    }
    r->at += length;
    return value;
}

static uint32_t take_digits(regular_reader *r, int count)
{
    uint32_t value = 0;
    for (int i = 0; i < count; i++) {
        const char *digits = "0123456789abcdef", *found;
        char c = *r->at >= 'A' && *r->at <= 'F' ? (char)(*r->at + 32) : *r->at;
        if (!c || !(found = strchr(digits, c))) {
            refuse(r, "\\u in a pattern needs four hexadecimal digits, \\U eight");
            return 0;
        }
        value = value << 4 | (uint32_t)(found - digits);
        r->at++;
    }
    if (value > BRUME_REGULAR_LAST)
        refuse(r, "a pattern names a character that does not exist");
    return value;
}

/* After a backslash: a class, or a character as a class. */
static void take_escape(regular_reader *r, brume_character_class *class, bool *single,
                        uint32_t *value)
{
    static const char letters[] = "ntrfv", stand_for[] = "\n\t\r\f\v";
    char c = *r->at;
    const char *found = c ? strchr(letters, c) : NULL;
    *single = true;
    if (c && named_class(r, c, class)) {
        *single = false;
        r->at++;
        return;
    }
    if (found) {
        *value = (unsigned char)stand_for[found - letters];
        r->at++;
    } else if (c == 'u' || c == 'U') {
        r->at++;
        *value = take_digits(r, c == 'u' ? 4 : 8);
    } else if (!c || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
        refuse(r, c >= '0' && c <= '9' ? "back references are not supported in patterns"
                                       : "this backslash is not supported in patterns");
        return;
    } else {
        *value = take_character(r);
    }
    add_range(r, class, *value, *value);
}

/* [:alpha:] and the like, at the colon. */
static void take_posix(regular_reader *r, brume_character_class *class)
{
    static const struct {
        const char *name, *ranges;
    } known[] = {{"alpha", "AZaz"},    {"digit", "09"},     {"alnum", "09AZaz"},
                 {"upper", "AZ"},      {"lower", "az"},     {"xdigit", "09AFaf"},
                 {"space", "\t\r  "},  {"blank", "\t\t  "}, {"word", "09AZ__az"},
                 {"punct", "!/:@[`{~"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t length = strlen(known[i].name);
        if (strncmp(r->at + 1, known[i].name, length) != 0 ||
            strncmp(r->at + 1 + length, ":]", 2) != 0)
            continue;
        for (const char *c = known[i].ranges; *c; c += 2)
            add_range(r, class, (unsigned char)c[0], (unsigned char)c[1]);
        r->at += length + 3;
        return;
    }
    refuse(r, "a pattern names a class that is not known");
}

/* One element of a bracket: a character, a range or a class. */
static void take_element(regular_reader *r, brume_character_class *class)
{
    brume_character_class one = {.count = 0};
    bool single = true;
    uint32_t low = 0, high = 0;
    if (r->at[0] == '[' && r->at[1] == ':') {
        r->at++;
        take_posix(r, class);
        return;
    }
    if (r->at[0] == '[' && (r->at[1] == '.' || r->at[1] == '=')) {
        refuse(r, "collating elements are not supported in patterns");
        return;
    }
    if (*r->at == '\\') {
        r->at++;
        take_escape(r, &one, &single, &low);
    } else {
        low = take_character(r);
        add_range(r, &one, low, low);
    }
    if (r->at[0] != '-' || r->at[1] == ']') {
        add_class(r, class, &one);
        return;
    }
    r->at++;
    bool end_single = true;
    if (*r->at == '\\') {
        r->at++;
        take_escape(r, &one, &end_single, &high);
    } else if (*r->at) {
        high = take_character(r);
    }
    if (!single || !end_single || high < low || !*r->at)
        refuse(r, "a range of a pattern is none");
    else
        add_range(r, class, low, high);
}

/* After the opening bracket. */
static void take_bracket(regular_reader *r, brume_character_class *class)
{
    bool negated = *r->at == '^';
    r->at += negated;
    bool first = true;
    while (goes_on(r) && (*r->at != ']' || first)) {
        if (!*r->at) {
            refuse(r, "a bracket of a pattern is not closed");
            return;
        }
        take_element(r, class);
        first = false;
    }
    r->at += *r->at == ']';
    if (r->folds)
        fold(r, class);
    if (negated)
        *class = others(class);
}

/* ---- the tree ---- */

static size_t add_node(regular_reader *r, brume_regular_node node)
{
    if (r->tree->node_count == BRUME_REGULAR_NODES)
        return refuse(r, "a pattern is too long");
    r->tree->nodes[r->tree->node_count] = node;
    return r->tree->node_count++;
}

static size_t add_class_node(regular_reader *r, const brume_character_class *class)
{
    brume_regular_tree *tree = r->tree;
    if (tree->class_count == tree->class_room) {
        size_t room = tree->class_room ? 2 * tree->class_room : 16;
        brume_character_class *grown = realloc(tree->classes, room * sizeof *grown);
        if (!grown) {
            r->no_memory = true;
            return 0;
        }
        tree->classes = grown;
        tree->class_room = room;
    }
    tree->classes[tree->class_count] = *class;
    return add_node(r, (brume_regular_node){BRUME_REGULAR_CLASS, 0, 0, tree->class_count++, 0});
}

static size_t read_either(regular_reader *r);

/* A character, a class or a group; SIZE_MAX: nothing that belongs here. */
static size_t read_atom(regular_reader *r)
{
    brume_character_class class = {.count = 0};
    bool single = true;
    uint32_t value = 0;
    char c = *r->at;
    if (c == '(') {
        r->at++;
        if (r->at[0] == '?' && r->at[1] != ':')
            return refuse(r, "(? in a pattern must be (?:");
        r->at += *r->at == '?' ? 2 : 0;
        if (++r->depth > BRUME_REGULAR_DEPTH)
            return refuse(r, "a pattern is nested too deeply");
        size_t inside = read_either(r);
        r->depth--;
        if (goes_on(r) && *r->at != ')')
            return refuse(r, "a group of a pattern is not closed");
        r->at++;
        return inside;
    }
    if (c == '*' || c == '+' || c == '?' || c == '{' || c == '}')
        return refuse(r, "a repetition in a pattern repeats nothing; write \\ before a sign that "
                         "stands for itself");
    if (c == '^' || c == '$')
        return refuse(r, "^ and $ may only be the first and the last of a pattern or of an "
                         "alternative of it");
    if (c == '.') {
        r->at++;
        add_range(r, &class, 0, BRUME_REGULAR_LAST);
        return add_class_node(r, &class);
    }
    if (c == '[') {
        r->at++;
        take_bracket(r, &class);
        return add_class_node(r, &class);
    }
    if (c == '\\') {
        r->at++;
        take_escape(r, &class, &single, &value);
    } else {
        value = take_character(r);
        add_range(r, &class, value, value);
    }
    if (r->folds)
        fold(r, &class);
    return add_class_node(r, &class);
}

static int read_count(regular_reader *r)
{
    int value = 0, digits = 0;
    for (; *r->at >= '0' && *r->at <= '9'; r->at++, digits++)
        value = value < 1000 ? 10 * value + (*r->at - '0') : value;
    if (digits == 0 || value > 255)
        refuse(r, "a repetition in a pattern has a count from 0 to 255");
    return value;
}

/* The repetition after an atom, if there is one. One of nothing, or none of something, is nothing:
 * written out, nested repetitions of nothing would be without end and still have no character. */
static size_t read_repeated(regular_reader *r)
{
    size_t classes = r->tree->class_count, atom = read_atom(r);
    int least = 1, most = 1;
    char c = *r->at;
    if (!goes_on(r) || (c != '*' && c != '+' && c != '?' && c != '{'))
        return atom;
    r->at++;
    least = c == '+' ? 1 : 0;
    most = c == '?' ? 1 : -1;
    if (c == '{') {
        least = most = read_count(r);
        if (*r->at == ',') {
            r->at++;
            most = *r->at == '}' ? -1 : read_count(r);
        }
        if (goes_on(r) && *r->at != '}')
            return refuse(r, "a repetition of a pattern is not closed");
        r->at++;
        if (most >= 0 && most < least)
            return refuse(r, "a repetition of a pattern has its larger count first");
    }
    r->at += goes_on(r) && *r->at == '?'; /* the fewest: whether it matches is the same */
    if (goes_on(r) && *r->at && strchr("*+?{", *r->at))
        return refuse(r, "a repetition of a pattern is repeated; put it into a group");
    if (goes_on(r) && most == 0)
        r->tree->class_count = classes;
    if (goes_on(r) && r->tree->class_count == classes)
        return add_node(r, (brume_regular_node){.kind = BRUME_REGULAR_EMPTY});
    return add_node(r, (brume_regular_node){BRUME_REGULAR_REPEAT, least, most, atom, 0});
}

/* Atoms in a row, up to | or ) or, in the pattern itself, $. */
static size_t read_row(regular_reader *r)
{
    size_t row = SIZE_MAX;
    while (goes_on(r) && *r->at && *r->at != '|' && *r->at != ')' &&
           !(r->depth == 0 && r->at[0] == '$' && (!r->at[1] || r->at[1] == '|'))) {
        size_t next = read_repeated(r);
        row = row == SIZE_MAX
                  ? next
                  : add_node(r, (brume_regular_node){BRUME_REGULAR_CONCAT, 0, 0, row, next});
    }
    return row != SIZE_MAX ? row : add_node(r, (brume_regular_node){.kind = BRUME_REGULAR_EMPTY});
}

static size_t read_either(regular_reader *r)
{
    size_t left = read_row(r);
    while (goes_on(r) && *r->at == '|') {
        r->at++;
        size_t right = read_row(r);
        left = add_node(r, (brume_regular_node){BRUME_REGULAR_EITHER, 0, 0, left, right});
    }
    return left;
}

/* Read a pattern into a tree, whose arrays are the caller's to free by regular_tree_free also
 * where it is refused. False: *why as brume_regular_open has it. */
static bool regular_read(const char *text, bool folds, brume_regular_tree *tree, const char **why)
{
    *tree = (brume_regular_tree){.nodes = calloc(BRUME_REGULAR_NODES, sizeof *tree->nodes)};
    regular_reader r = {.at = text, .folds = folds, .tree = tree, .no_memory = !tree->nodes};
    *why = NULL;
    if (strlen(text) > BRUME_REGULAR_MOST)
        refuse(&r, "a pattern is longer than 1000 bytes");
    bool more = goes_on(&r);
    while (more) {
        brume_regular_alternative one = {.from_start = *r.at == '^'};
        r.at += one.from_start;
        one.node = read_row(&r);
        one.to_end = goes_on(&r) && *r.at == '$';
        r.at += one.to_end;
        if (tree->alternative_count == BRUME_REGULAR_ALTERNATIVES)
            refuse(&r, "a pattern has more than 32 alternatives");
        else
            tree->alternatives[tree->alternative_count++] = one;
        more = goes_on(&r) && *r.at == '|';
        r.at += more;
    }
    if (goes_on(&r) && *r.at)
        refuse(&r, "a group of a pattern is closed that is not open");
    *why = r.no_memory ? NULL : r.why;
    return goes_on(&r);
}

static void regular_tree_free(brume_regular_tree *tree)
{
    free(tree->nodes);
    free(tree->classes);
}

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
static void connect_places(brume_regular *pattern, uint64_t last, uint64_t first)
{
    for (size_t i = 0; i < pattern->count; i++)
        if (last & bit(i))
            pattern->follow[i] |= first;
}

static part join(brume_regular *pattern, part a, part b)
{
    connect_places(pattern, a.last, b.first);
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
                connect_places(pattern, b.last, b.first);
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
    bool good = regular_read(text, folds, &pattern->tree, why);
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
    regular_tree_free(&pattern->tree);
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
