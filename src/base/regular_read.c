/* Regular expressions: their text, read into a tree and printed again. */
#include "base/regular_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const char *at;
    bool folds;
    brume_regular_tree *tree;
    const char *why; /* refused */
    bool no_memory;
    int depth;
} reader;

static size_t refuse(reader *r, const char *why)
{
    if (!r->why)
        r->why = why;
    return 0;
}

static bool goes_on(const reader *r)
{
    return !r->why && !r->no_memory;
}

/* ---- classes ---- */

/* The ranges and one more, in order; a class that has too many is refused. */
static void add_range(reader *r, brume_character_class *class, uint32_t low, uint32_t high)
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

static void add_class(reader *r, brume_character_class *to, const brume_character_class *class)
{
    for (size_t i = 0; i < class->count; i++)
        add_range(r, to, class->ranges[i].low, class->ranges[i].high);
}

/* The letters of ASCII that differ from some in it by case alone. */
static void fold(reader *r, brume_character_class *class)
{
    brume_character_class before = *class;
    for (size_t i = 0; i < before.count; i++)
        for (uint32_t c = before.ranges[i].low; c <= before.ranges[i].high && c < 128; c++)
            if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
                add_range(r, class, c ^ 0x20, c ^ 0x20);
}

/* \d, \w, \s; upper case: all others. False: the letter names none. */
static bool named_class(reader *r, char letter, brume_character_class *class)
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
static uint32_t take_character(reader *r)
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

static uint32_t take_digits(reader *r, int count)
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
static void take_escape(reader *r, brume_character_class *class, bool *single, uint32_t *value)
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
static void take_posix(reader *r, brume_character_class *class)
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
static void take_element(reader *r, brume_character_class *class)
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
static void take_bracket(reader *r, brume_character_class *class)
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

static size_t add_node(reader *r, brume_regular_node node)
{
    if (r->tree->node_count == BRUME_REGULAR_NODES)
        return refuse(r, "a pattern is too long");
    r->tree->nodes[r->tree->node_count] = node;
    return r->tree->node_count++;
}

static size_t add_class_node(reader *r, const brume_character_class *class)
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

static size_t read_either(reader *r);

/* A character, a class or a group; SIZE_MAX: nothing that belongs here. */
static size_t read_atom(reader *r)
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

static int read_count(reader *r)
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
static size_t read_repeated(reader *r)
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
static size_t read_row(reader *r)
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

static size_t read_either(reader *r)
{
    size_t left = read_row(r);
    while (goes_on(r) && *r->at == '|') {
        r->at++;
        size_t right = read_row(r);
        left = add_node(r, (brume_regular_node){BRUME_REGULAR_EITHER, 0, 0, left, right});
    }
    return left;
}

bool brume_regular_read(const char *text, bool folds, brume_regular_tree *tree, const char **why)
{
    *tree = (brume_regular_tree){.nodes = calloc(BRUME_REGULAR_NODES, sizeof *tree->nodes)};
    reader r = {.at = text, .folds = folds, .tree = tree, .no_memory = !tree->nodes};
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

void brume_regular_tree_free(brume_regular_tree *tree)
{
    free(tree->nodes);
    free(tree->classes);
}
