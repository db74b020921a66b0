/* Parsing, and walking over trees. Promises: tree.h. */
#include "serve/pg/tree.h"

#include <stdint.h>
#include <string.h>

#include <pg_query.h>

#include "base/error.h"
#include "base/sql_hint.h"
#include "base/text.h"

enum { MOST_BYTES = 1024 * 1024, MOST_TOKENS = 20000, MOST_DEPTH = 2000, MOST_BRACKETS = 200 };

/* ---- walking ---- */

static void visit_field(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                        brume_pg_visitor *visit, void *context)
{
    const char *place = (const char *)message + field->offset;
    if (field->type != PROTOBUF_C_TYPE_MESSAGE)
        return;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        size_t count =
            *(const size_t *)(const void *)((const char *)message + field->quantifier_offset);
        const ProtobufCMessage *const *list =
            *(const ProtobufCMessage *const *const *)(const void *)place;
        for (size_t i = 0; i < count; i++)
            brume_pg_visit(list[i], visit, context);
        return;
    }
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
        uint32_t chosen =
            *(const uint32_t *)(const void *)((const char *)message + field->quantifier_offset);
        if (chosen != field->id)
            return;
    }
    brume_pg_visit(*(const ProtobufCMessage *const *)(const void *)place, visit, context);
}

void brume_pg_visit(const ProtobufCMessage *message, brume_pg_visitor *visit, void *context)
{
    if (!message || !visit(context, message))
        return;
    for (unsigned i = 0; i < message->descriptor->n_fields; i++)
        visit_field(message, &message->descriptor->fields[i], visit, context);
}

/* ---- parsing ---- */

/* An upper bound of how deep the tree can be: a path from its root goes through one item of a list
 * in each pair of brackets, and an item nests at most as deep as it has tokens. Statements and set
 * operations are counted over all. */
static size_t depth_upper(const PgQuery__ScanResult *tokens)
{
    size_t item[MOST_BRACKETS] = {0}, level = 0, sum = 0, most = 0, operations = 0;
    for (size_t i = 0; i < tokens->n_tokens; i++) {
        PgQuery__Token kind = tokens->tokens[i]->token;
        operations += kind == PG_QUERY__TOKEN__UNION || kind == PG_QUERY__TOKEN__INTERSECT ||
                      kind == PG_QUERY__TOKEN__EXCEPT;
        item[level]++;
        sum++;
        most = sum > most ? sum : most;
        if (kind == PG_QUERY__TOKEN__ASCII_40 || kind == PG_QUERY__TOKEN__ASCII_91) {
            if (++level == MOST_BRACKETS)
                return SIZE_MAX;
        } else if ((kind == PG_QUERY__TOKEN__ASCII_41 || kind == PG_QUERY__TOKEN__ASCII_93) &&
                   level > 0) {
            sum -= item[level];
            item[level--] = 0;
        } else if (kind == PG_QUERY__TOKEN__ASCII_44 || kind == PG_QUERY__TOKEN__ASCII_59) {
            sum -= item[level];
            item[level] = 0;
        }
    }
    return most + operations;
}

PgQuery__ScanResult *brume_pg_scan(const char *text)
{
    PgQueryScanResult scanned = pg_query_scan(text);
    PgQuery__ScanResult *tokens =
        scanned.error ? NULL
                      : pg_query__scan_result__unpack(NULL, scanned.pbuf.len,
                                                      (const uint8_t *)scanned.pbuf.data);
    pg_query_free_scan_result(scanned);
    return tokens;
}

static brume_status check_depth(const char *text, brume_error *error)
{
    PgQuery__ScanResult *tokens = brume_pg_scan(text);
    if (!tokens) /* the parser says what is wrong */
        return BRUME_OK;
    bool fits = tokens->n_tokens <= MOST_TOKENS && depth_upper(tokens) <= MOST_DEPTH;
    pg_query__scan_result__free_unpacked(tokens, NULL);
    return fits ? BRUME_OK
                : brume_fail(error, BRUME_EUNSUPPORTED, "split it",
                             "the statement is too long or nests too deeply");
}

brume_status brume_pg_parse(const char *text, PgQuery__ParseResult **out, int *position,
                            brume_error *error)
{
    *position = 0;
    if (strlen(text) > MOST_BYTES)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "the statement is longer than 1 MiB");
    if (!brume_utf8_is_text(text, strlen(text)))
        return brume_fail(error, BRUME_ESYNTAX, NULL, "the statement is not valid UTF-8");
    BRUME_TRY(check_depth(text, error));
    PgQueryProtobufParseResult parsed = pg_query_parse_protobuf(text);
    brume_status status = BRUME_OK;
    PgQuery__ParseResult *tree = NULL;
    if (parsed.error) {
        *position = parsed.error->cursorpos;
        char hint[BRUME_SQL_HINT];
        brume_sql_hint(text, parsed.error->cursorpos, hint);
        status = brume_fail(error, BRUME_ESYNTAX, hint, "%.300s", parsed.error->message);
    } else {
        tree = pg_query__parse_result__unpack(NULL, parsed.parse_tree.len,
                                              (const uint8_t *)parsed.parse_tree.data);
        if (!tree)
            status = brume_no_memory(error, "the statement");
    }
    pg_query_free_protobuf_parse_result(parsed);
    if (status == BRUME_OK)
        *out = tree;
    return status;
}

typedef struct with_name {
    const char *name;
    bool found;
} with_name;

static bool is_with_item(void *context, const ProtobufCMessage *message)
{
    with_name *sought = context;
    if (message->descriptor == &pg_query__common_table_expr__descriptor &&
        strcmp(((const PgQuery__CommonTableExpr *)message)->ctename, sought->name) == 0)
        sought->found = true;
    return true;
}

bool brume_pg_has_with(const ProtobufCMessage *tree, const char *name)
{
    with_name item = {.name = name};
    brume_pg_visit(tree, is_with_item, &item);
    return item.found;
}
