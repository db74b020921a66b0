/* What translations are made of: texts that live as long as the printer, and names of columns.
 * Promises: print.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/pg/catalog/print.h"

enum { MOST_BYTES = 64 << 20 };

/* ---- memory and texts ---- */

static void *keep(brume_pg_printer *printer, void *memory, size_t bytes)
{
    if (printer->memory_count == printer->memory_room) {
        size_t room = 2 * printer->memory_room + 64;
        void **grown = realloc((void *)printer->memory, room * sizeof *grown);
        if (grown) {
            printer->memory = grown;
            printer->memory_room = room;
        }
    }
    printer->bytes += bytes;
    if (!memory || printer->memory_count == printer->memory_room || printer->bytes > MOST_BYTES) {
        free(memory);
        printer->failed = printer->out_of_memory = true;
        return NULL;
    }
    printer->memory[printer->memory_count++] = memory;
    return memory;
}

void *brume_pg_print_allocate(brume_pg_printer *printer, size_t bytes)
{
    return keep(printer, calloc(1, bytes ? bytes : 1), bytes);
}

const char *brume_pg_format_text(brume_pg_printer *printer, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    if (printer->out_of_memory)
        return "";
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    text = keep(printer, length < 0 ? NULL : text, length < 0 ? 0 : (size_t)length);
    return text ? text : "";
}

brume_pg_sql brume_pg_print_fail(brume_pg_printer *printer, const char *reason, const char *what)
{
    if (!printer->failed)
        snprintf(printer->reason, sizeof printer->reason, "%s%s%.100s", reason, *what ? " " : "",
                 what);
    printer->failed = true;
    return (brume_pg_sql){"NULL", BRUME_PG_TEXT};
}

const char *brume_pg_quote(brume_pg_printer *printer, const char *text, char quote)
{
    char *made = brume_pg_print_allocate(printer, 2 * strlen(text) + 3);
    if (!made)
        return "";
    char *at = made;
    *at++ = quote;
    for (; *text; text++) {
        if (*text == quote)
            *at++ = quote;
        *at++ = *text;
    }
    *at++ = quote;
    return made;
}

const char *brume_pg_string_of(const PgQuery__Node *node)
{
    return node->node_case == PG_QUERY__NODE__NODE_STRING ? node->string->sval : "";
}

/* ---- names of columns ---- */

const char *brume_pg_column_name(const PgQuery__Node *node)
{
    const char *inner;
    if (!node)
        return "?column?";
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_COLUMN_REF:
        return brume_pg_string_of(node->column_ref->fields[node->column_ref->n_fields - 1]);
    case PG_QUERY__NODE__NODE_FUNC_CALL:
        return brume_pg_string_of(node->func_call->funcname[node->func_call->n_funcname - 1]);
    case PG_QUERY__NODE__NODE_TYPE_CAST: {
        const PgQuery__TypeName *type = node->type_cast->type_name;
        inner = brume_pg_column_name(node->type_cast->arg);
        return strcmp(inner, "?column?") != 0 || type->n_names == 0
                   ? inner
                   : brume_pg_string_of(type->names[type->n_names - 1]);
    }
    case PG_QUERY__NODE__NODE_A_INDIRECTION: {
        const PgQuery__AIndirection *steps = node->a_indirection;
        const PgQuery__Node *last = steps->indirection[steps->n_indirection - 1];
        return last->node_case == PG_QUERY__NODE__NODE_STRING ? last->string->sval
                                                              : brume_pg_column_name(steps->arg);
    }
    case PG_QUERY__NODE__NODE_COLLATE_CLAUSE:
        return brume_pg_column_name(node->collate_clause->arg);
    case PG_QUERY__NODE__NODE_CASE_EXPR:
        inner = brume_pg_column_name(node->case_expr->defresult);
        return strcmp(inner, "?column?") != 0 ? inner : "case";
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
        return "coalesce";
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR:
        return node->min_max_expr->op == PG_QUERY__MIN_MAX_OP__IS_GREATEST ? "greatest" : "least";
    case PG_QUERY__NODE__NODE_A_EXPR:
        return node->a_expr->kind == PG_QUERY__A__EXPR__KIND__AEXPR_NULLIF ? "nullif" : "?column?";
    case PG_QUERY__NODE__NODE_A_ARRAY_EXPR:
        return "array";
    case PG_QUERY__NODE__NODE_ROW_EXPR:
        return "row";
    case PG_QUERY__NODE__NODE_SQLVALUE_FUNCTION:
        switch (node->sqlvalue_function->op) {
        case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_DATE:
            return "current_date";
        case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_ROLE:
            return "current_role";
        case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_USER:
            return "user";
        case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_SESSION_USER:
            return "session_user";
        case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_CATALOG:
            return "current_catalog";
        case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_SCHEMA:
            return "current_schema";
        case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_USER:
            return "current_user";
        default:
            return "current_timestamp";
        }
    case PG_QUERY__NODE__NODE_SUB_LINK: {
        const PgQuery__SubLink *link = node->sub_link;
        if (link->sub_link_type == PG_QUERY__SUB_LINK_TYPE__EXISTS_SUBLINK)
            return "exists";
        if (link->sub_link_type == PG_QUERY__SUB_LINK_TYPE__ARRAY_SUBLINK)
            return "array";
        const PgQuery__SelectStmt *select = link->subselect->select_stmt;
        if (link->sub_link_type != PG_QUERY__SUB_LINK_TYPE__EXPR_SUBLINK || !select->n_target_list)
            return "?column?";
        const PgQuery__ResTarget *target = select->target_list[0]->res_target;
        return *target->name ? target->name : brume_pg_column_name(target->val);
    }
    default:
        return "?column?";
    }
}
