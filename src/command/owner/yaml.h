/* A YAML file as a small tree of texts, maps and lists, each with its place.
 *
 * 1. A scalar is the text that stands there: nothing is taken for a number, a date or a boolean.
 * 2. Refused, because a policy needs none of it: anchors, aliases and tags, several documents, keys
 *    that are no plain texts, a key that stands twice in a map.
 * 3. At most 1 MiB, 12 levels and 100,000 nodes. */
#ifndef BRUME_COMMAND_YAML_H
#define BRUME_COMMAND_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include <brume/status.h>

typedef enum brume_yaml_kind { BRUME_YAML_TEXT, BRUME_YAML_MAP, BRUME_YAML_LIST } brume_yaml_kind;

typedef struct brume_yaml {
    brume_yaml_kind kind;
    size_t line, column;      /* from 1 */
    char *key;                /* under which it stands in a map, else NULL */
    char *text;               /* TEXT */
    struct brume_yaml *items; /* MAP, LIST: in the order of the file */
    size_t count;
} brume_yaml;

/* Parse `length` bytes of a file that messages call `name`. ESYNTAX with line and column. */
BRUME_MUST_USE brume_status brume_yaml_parse(const char *text, size_t length, const char *name,
                                             brume_yaml **out, brume_error *error);
void brume_yaml_close(brume_yaml *tree);

/* The item of a map, or NULL. */
const brume_yaml *brume_yaml_find(const brume_yaml *map, const char *key);

/* Write a scalar so that it reads back as this text: plain where that is safe, else quoted; NULL if
 * memory is out. */
char *brume_yaml_scalar(const char *text);

#endif
