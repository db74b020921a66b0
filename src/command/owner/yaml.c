/* A YAML file as a small tree of texts, maps and lists. */
#include "command/owner/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libfyaml.h>

#include "base/error.h"

enum { MOST_BYTES = 1 << 20, MOST_LEVELS = 12, MOST_NODES = 100000, MOST_KEYS = 2000 };

typedef struct yaml_reader {
    struct fy_parser *parser;
    struct fy_diag *faults; /* what the parser has to say */
    const char *name;
    size_t nodes;
    brume_error *error;
} yaml_reader;

static void clear(brume_yaml *node)
{
    for (size_t i = 0; i < node->count; i++)
        clear(&node->items[i]);
    free(node->items);
    free(node->key);
    free(node->text);
    *node = (brume_yaml){0};
}

void brume_yaml_close(brume_yaml *tree)
{
    if (!tree)
        return;
    clear(tree);
    free(tree);
}

const brume_yaml *brume_yaml_find(const brume_yaml *map, const char *key)
{
    for (size_t i = 0; map->kind == BRUME_YAML_MAP && i < map->count; i++)
        if (strcmp(map->items[i].key, key) == 0)
            return &map->items[i];
    return NULL;
}

/* ---- faults ---- */

static brume_status fault(const yaml_reader *from, size_t line, size_t column, const char *hint,
                          const char *message)
{
    return brume_fail(from->error, BRUME_ESYNTAX, hint, "%s, line %zu, column %zu: %s", from->name,
                      line, column, message);
}

static brume_status out_of_memory(const yaml_reader *from)
{
    return brume_no_memory(from->error, NULL);
}

static void place_of(struct fy_event *event, size_t *line, size_t *column)
{
    const struct fy_mark *mark = fy_event_start_mark(event);
    *line = mark ? (size_t)mark->line + 1 : 1;
    *column = mark ? (size_t)mark->column + 1 : 1;
}

/* What the parser says. */
static brume_status parser_fault(const yaml_reader *from)
{
    void *at = NULL;
    const struct fy_diag_error *first = fy_diag_errors_iterate(from->faults, &at);
    if (!first || !first->msg)
        return fault(from, 1, 1, NULL, "not YAML");
    char message[200];
    snprintf(message, sizeof message, "%.190s", first->msg);
    for (char *c = message; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    return fault(from, first->line > 0 ? (size_t)first->line : 1,
                 first->column > 0 ? (size_t)first->column : 1, NULL, message);
}

/* The next event, which the caller frees; NULL: there is none, and why was said. */
static struct fy_event *next(const yaml_reader *from, brume_status *status)
{
    struct fy_event *event = fy_parser_parse(from->parser);
    if (!event)
        *status = parser_fault(from);
    return event;
}

/* ---- nodes ---- */

static brume_status refuse_marks(const yaml_reader *from, struct fy_event *event,
                                 const brume_yaml *node)
{
    struct fy_token *anchor = NULL, *tag = NULL;
    if (event->type == FYET_SCALAR) {
        anchor = event->scalar.anchor;
        tag = event->scalar.tag;
    } else if (event->type == FYET_MAPPING_START) {
        anchor = event->mapping_start.anchor;
        tag = event->mapping_start.tag;
    } else if (event->type == FYET_SEQUENCE_START) {
        anchor = event->sequence_start.anchor;
        tag = event->sequence_start.tag;
    }
    if (event->type == FYET_ALIAS || anchor)
        return fault(from, node->line, node->column, "write the value out",
                     "anchors and aliases are not taken");
    if (tag)
        return fault(from, node->line, node->column, "leave the tag out: a value is its text",
                     "tags are not taken");
    return BRUME_OK;
}

static brume_status take_text(const yaml_reader *from, struct fy_event *event, brume_yaml *node)
{
    size_t length = 0;
    const char *text = fy_token_get_text(event->scalar.value, &length);
    if (text && memchr(text, 0, length))
        return fault(from, node->line, node->column, NULL, "a text has a zero byte");
    node->kind = BRUME_YAML_TEXT;
    node->text = strndup(text ? text : "", text ? length : 0);
    return node->text ? BRUME_OK : out_of_memory(from);
}

static brume_status grow(const yaml_reader *from, brume_yaml *parent, brume_yaml **item)
{
    if (parent->kind == BRUME_YAML_MAP && parent->count >= MOST_KEYS)
        return fault(from, parent->line, parent->column, NULL, "a map has too many keys");
    if ((parent->count & (parent->count + 1)) == 0) { /* 0, 1, 3, 7, ... : double the room */
        brume_yaml *items = realloc(parent->items, (2 * parent->count + 1) * sizeof *parent->items);
        if (!items)
            return out_of_memory(from);
        parent->items = items;
    }
    *item = &parent->items[parent->count++];
    **item = (brume_yaml){0};
    return BRUME_OK;
}

static brume_status read_node(yaml_reader *from, struct fy_event *event, int level,
                              brume_yaml *node);

static brume_status read_items(yaml_reader *from, int level, brume_yaml *node)
{
    bool map = node->kind == BRUME_YAML_MAP;
    enum fy_event_type end = map ? FYET_MAPPING_END : FYET_SEQUENCE_END;
    for (brume_status status = BRUME_OK;;) {
        struct fy_event *event = next(from, &status);
        if (!event)
            return status;
        if (event->type == end) {
            fy_parser_event_free(from->parser, event);
            return BRUME_OK;
        }
        brume_yaml *item = NULL, key = {0};
        if (map) {
            status = read_node(from, event, level + 1, &key);
            fy_parser_event_free(from->parser, event);
            event = NULL;
            if (status == BRUME_OK && key.kind != BRUME_YAML_TEXT)
                status = fault(from, key.line, key.column, NULL, "a key must be a plain text");
            if (status == BRUME_OK && brume_yaml_find(node, key.text))
                status = fault(from, key.line, key.column, NULL, "this key stands twice");
            if (status == BRUME_OK)
                event = next(from, &status);
        }
        if (status == BRUME_OK)
            status = grow(from, node, &item);
        if (status == BRUME_OK) {
            item->key = key.text ? strdup(key.text) : NULL;
            status = map && !item->key ? out_of_memory(from)
                                       : read_node(from, event, level + 1, item);
            if (map) { /* the place of a value in a map is that of its key */
                item->line = key.line;
                item->column = key.column;
            }
        }
        clear(&key);
        if (event)
            fy_parser_event_free(from->parser, event);
        if (status != BRUME_OK)
            return status;
    }
}

static brume_status read_node(yaml_reader *from, struct fy_event *event, int level,
                              brume_yaml *node)
{
    place_of(event, &node->line, &node->column);
    if (level > MOST_LEVELS || ++from->nodes > MOST_NODES)
        return fault(from, node->line, node->column, NULL, "too many or too deeply nested values");
    BRUME_TRY(refuse_marks(from, event, node));
    if (event->type == FYET_SCALAR)
        return take_text(from, event, node);
    if (event->type != FYET_MAPPING_START && event->type != FYET_SEQUENCE_START)
        return fault(from, node->line, node->column, NULL, "a value is missing");
    node->kind = event->type == FYET_MAPPING_START ? BRUME_YAML_MAP : BRUME_YAML_LIST;
    return read_items(from, level, node);
}

/* ---- the file ---- */

/* The events around the one document. */
static brume_status expect(const yaml_reader *from, enum fy_event_type type, const char *message)
{
    brume_status status = BRUME_OK;
    struct fy_event *event = next(from, &status);
    if (!event)
        return status;
    size_t line, column;
    place_of(event, &line, &column);
    bool good = event->type == type;
    fy_parser_event_free(from->parser, event);
    return good ? BRUME_OK : fault(from, line, column, NULL, message);
}

static brume_status read_file(yaml_reader *from, brume_yaml *tree)
{
    brume_status status = BRUME_OK;
    BRUME_TRY(expect(from, FYET_STREAM_START, "not YAML"));
    BRUME_TRY(expect(from, FYET_DOCUMENT_START, "the file is empty"));
    struct fy_event *event = next(from, &status);
    if (!event)
        return status;
    status = read_node(from, event, 0, tree);
    fy_parser_event_free(from->parser, event);
    if (status == BRUME_OK)
        status = expect(from, FYET_DOCUMENT_END, "a value is missing");
    if (status == BRUME_OK)
        status = expect(from, FYET_STREAM_END, "one document, please");
    return status;
}

brume_status brume_yaml_parse(const char *text, size_t length, const char *name, brume_yaml **out,
                              brume_error *error)
{
    yaml_reader from = {.name = name, .error = error};
    if (length > MOST_BYTES)
        return brume_fail(error, BRUME_ESYNTAX, NULL, "%s is longer than 1 MiB", name);
    struct fy_diag_cfg quiet;
    fy_diag_cfg_default(&quiet);
    quiet.fp = NULL; /* faults are collected, never printed */
    from.faults = fy_diag_create(&quiet);
    if (from.faults)
        fy_diag_set_collect_errors(from.faults, true);
    struct fy_parse_cfg settings = {.search_path = "", .flags = FYPCF_QUIET, .diag = from.faults};
    brume_yaml *tree = calloc(1, sizeof *tree);
    from.parser = from.faults ? fy_parser_create(&settings) : NULL;
    brume_status status =
        tree && from.parser &&
                fy_parser_set_string(from.parser, length ? text : " ", length ? length : 1) == 0
            ? read_file(&from, tree)
            : out_of_memory(&from);
    if (from.parser)
        fy_parser_destroy(from.parser);
    if (from.faults)
        fy_diag_destroy(from.faults);
    if (status != BRUME_OK) {
        brume_yaml_close(tree);
        return status;
    }
    *out = tree;
    return BRUME_OK;
}

/* ---- writing ---- */

/* Letters, digits and a few marks, none of them first that YAML takes for something. */
static bool is_plain(const char *text)
{
    static const char inside[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "_./-+()*=$";
    static const char first[] = "-*=";
    return *text && !strchr(first, *text) && strspn(text, inside) == strlen(text);
}

char *brume_yaml_scalar(const char *text)
{
    char *made = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&made, &length);
    if (!out)
        return NULL;
    if (is_plain(text)) {
        fputs(text, out);
    } else {
        fputc('"', out);
        for (const unsigned char *c = (const unsigned char *)text; *c; c++)
            if (*c == '"' || *c == '\\')
                fprintf(out, "\\%c", *c);
            else if (*c < ' ' || *c == 0x7f)
                fprintf(out, "\\x%02x", *c);
            else
                fputc(*c, out);
        fputc('"', out);
    }
    if (fclose(out) != 0) {
        free(made);
        return NULL;
    }
    return made;
}
