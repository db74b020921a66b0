/* Any tree of the grammar, by reflection. Its depth was bounded when it was parsed
 * (parse.c). */
#include "query/sql/tree.h"

#include <brume/status.h>
#include <pg_query/pg_query.pb-c.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Whether this member of a union is the one that is set. */
static bool is_set(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    uint32_t which;
    if (!(field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF))
        return true;
    memcpy(&which, (const char *)message + field->quantifier_offset, sizeof which);
    return which == field->id;
}

static void visit_field(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                        brume_tree_visitor visit, void *context)
{
    const char *at = (const char *)message + field->offset;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        size_t count;
        ProtobufCMessage *const *list;
        memcpy(&count, (const char *)message + field->quantifier_offset, sizeof count);
        memcpy((void *)&list, at, sizeof list);
        for (size_t i = 0; i < count; i++)
            brume_tree_visit(list[i], visit, context);
    } else if (is_set(message, field)) {
        const ProtobufCMessage *one;
        memcpy((void *)&one, at, sizeof one);
        brume_tree_visit(one, visit, context);
    }
}

void brume_tree_visit(const ProtobufCMessage *message, brume_tree_visitor visit, void *context)
{
    if (!message || !visit(context, message))
        return;
    const ProtobufCMessageDescriptor *kind = message->descriptor;
    for (unsigned i = 0; i < kind->n_fields; i++)
        if (kind->fields[i].type == PROTOBUF_C_TYPE_MESSAGE)
            visit_field(message, &kind->fields[i], visit, context);
}

/* ---- equality ---- */

/* The names from the last one on, as far as both have some. */
static bool equal_columns(const PgQuery__ColumnRef *a, const PgQuery__ColumnRef *b)
{
    size_t least = a->n_fields < b->n_fields ? a->n_fields : b->n_fields;
    for (size_t i = 1; i <= least; i++)
        if (!brume_tree_equal(&a->fields[a->n_fields - i]->base, &b->fields[b->n_fields - i]->base))
            return false;
    return true;
}

/* One value of a field that is no message. */
static bool equal_scalar(const ProtobufCFieldDescriptor *field, const void *a, const void *b)
{
    if (field->type == PROTOBUF_C_TYPE_STRING) {
        const char *x, *y;
        memcpy((void *)&x, a, sizeof x);
        memcpy((void *)&y, b, sizeof y);
        return strcmp(x ? x : "", y ? y : "") == 0;
    }
    size_t size = field->type == PROTOBUF_C_TYPE_BOOL ? sizeof(protobuf_c_boolean)
                  : field->type == PROTOBUF_C_TYPE_INT64 || field->type == PROTOBUF_C_TYPE_UINT64 ||
                          field->type == PROTOBUF_C_TYPE_DOUBLE
                      ? 8
                      : 4;
    return memcmp(a, b, size) == 0;
}

static bool equal_field(const ProtobufCMessage *a, const ProtobufCMessage *b,
                        const ProtobufCFieldDescriptor *field)
{
    if (strstr(field->name, "location"))
        return true;
    const char *x = (const char *)a + field->offset, *y = (const char *)b + field->offset;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        size_t counts[2];
        ProtobufCMessage *const *lists[2];
        if (field->type != PROTOBUF_C_TYPE_MESSAGE)
            return false; /* the grammar has none */
        memcpy(&counts[0], (const char *)a + field->quantifier_offset, sizeof *counts);
        memcpy(&counts[1], (const char *)b + field->quantifier_offset, sizeof *counts);
        memcpy((void *)&lists[0], x, sizeof *lists);
        memcpy((void *)&lists[1], y, sizeof *lists);
        for (size_t i = 0; counts[0] == counts[1] && i < counts[0]; i++)
            if (!brume_tree_equal(lists[0][i], lists[1][i]))
                return false;
        return counts[0] == counts[1];
    }
    if (is_set(a, field) != is_set(b, field))
        return false;
    if (!is_set(a, field))
        return true;
    if (field->type != PROTOBUF_C_TYPE_MESSAGE)
        return equal_scalar(field, x, y);
    const ProtobufCMessage *one, *other;
    memcpy((void *)&one, x, sizeof one);
    memcpy((void *)&other, y, sizeof other);
    return brume_tree_equal(one, other);
}

bool brume_tree_equal(const ProtobufCMessage *a, const ProtobufCMessage *b)
{
    if (!a || !b || a->descriptor != b->descriptor)
        return a == b;
    if (a->descriptor == &pg_query__column_ref__descriptor)
        return equal_columns((const PgQuery__ColumnRef *)a, (const PgQuery__ColumnRef *)b);
    for (unsigned i = 0; i < a->descriptor->n_fields; i++)
        if (!equal_field(a, b, &a->descriptor->fields[i]))
            return false;
    return true;
}

/* One grammar, whichever libpg_query parses: what version 17 (PostgreSQL 17's grammar) reads and
 * version 15 does not is refused, as version 15 does:
 *
 * - numbers that are not decimal digits alone: 1_000, 0x1f, 0o17, 0b11. Those that fit an int are
 *   an integer of the tree, others a text as it was typed;
 * - a subquery in FROM without a name.
 *
 * Otherwise the trees of both are alike in all that brume reads; what only one of them has is
 * refused by whoever walks the tree. */

brume_status brume_grammar_check_tokens(const PgQuery__ScanResult *tokens, const char *sql,
                                        brume_error *error)
{
    for (size_t i = 0; i < tokens->n_tokens; i++) {
        const PgQuery__ScanToken *token = tokens->tokens[i];
        if (token->token != PG_QUERY__TOKEN__ICONST && token->token != PG_QUERY__TOKEN__FCONST)
            continue;
        const char *number = sql + token->start;
        size_t length = (size_t)(token->end - token->start);
        if (strspn(number, "0123456789.eE+-") < length)
            return brume_fail(error, BRUME_ESYNTAX, "write a number in decimal digits alone",
                              "trailing junk after numeric literal at or near \"%.*s\"",
                              (int)(length < 60 ? length : 60), number);
    }
    return BRUME_OK;
}

static bool has_name(void *context, const ProtobufCMessage *message)
{
    bool *named = context;
    if (message->descriptor == &pg_query__range_subselect__descriptor &&
        !((const PgQuery__RangeSubselect *)message)->alias)
        *named = false;
    return *named;
}

brume_status brume_grammar_check_tree(const PgQuery__ParseResult *tree, brume_error *error)
{
    bool named = true;
    brume_tree_visit(&tree->base, has_name, &named);
    return named ? BRUME_OK
                 : brume_fail(error, BRUME_ESYNTAX, "write FROM (SELECT ...) AS name",
                              "subquery in FROM must have an alias");
}

/* ---- other names ---- */

static bool rename_call(void *context, const ProtobufCMessage *message)
{
    static const char *const names[][2] = {
        {"mean", "avg"},
        {"count_if", "count"},
        {"countif", "count"},
        {"approx_count_distinct", "count"},
        {"quantile", "quantile_disc"},
        {"approx_quantile", "quantile_cont"},
    };
    bool *has_memory = context;
    PgQuery__FuncCall *call = (PgQuery__FuncCall *)message;
    if (message->descriptor != &pg_query__func_call__descriptor || call->n_funcname != 1 ||
        call->funcname[0]->node_case != PG_QUERY__NODE__NODE_STRING)
        return *has_memory;
    PgQuery__String *name = call->funcname[0]->string;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name->sval, names[i][0]) != 0)
            continue;
        bool counts_rows = i == 1 || i == 2;
        if (counts_rows && (call->n_args != 1 || call->agg_filter))
            return true;
        char *other = strdup(names[i][1]);
        if (!other) {
            *has_memory = false;
            return false;
        }
        if (counts_rows) {
            call->agg_filter = call->args[0];
            call->n_args = 0;
            call->agg_star = true;
        }
        call->agg_distinct = call->agg_distinct || i == 3;
        free(name->sval);
        name->sval = other;
        return true;
    }
    return true;
}

brume_status brume_grammar_rename(PgQuery__ParseResult *tree, brume_error *error)
{
    bool has_memory = true;
    brume_tree_visit(&tree->base, rename_call, &has_memory);
    return has_memory ? BRUME_OK : brume_no_memory(error, "a question");
}
