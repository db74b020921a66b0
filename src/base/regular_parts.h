/* What the files of patterns share: regular_read.c reads and prints the tree, regular.c makes an
 * automaton of it. */
#ifndef BRUME_BASE_REGULAR_PARTS_H
#define BRUME_BASE_REGULAR_PARTS_H

#include <stdint.h>

#include "base/regular.h"

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

/* Read a pattern into a tree, whose arrays are the caller's to free by brume_regular_tree_free also
 * where it is refused. False: *why as brume_regular_open has it. */
bool brume_regular_read(const char *text, bool folds, brume_regular_tree *tree, const char **why);
void brume_regular_tree_free(brume_regular_tree *tree);

#endif
