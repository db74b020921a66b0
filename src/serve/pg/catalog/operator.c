/* Casts and operators of catalog queries, for SQLite. Promises: print.h. */
#include <string.h>

#include "serve/pg/catalog/print.h"

enum { REGCLASS = 2205, REGTYPE = 2206, REGNAMESPACE = 4089, REGROLE = 4096, XID = 28 };

static brume_pg_sql make(const char *text, uint32_t type)
{
    return (brume_pg_sql){text, type};
}

static brume_pg_sql print(brume_pg_printer *printer, const brume_pg_scope *scope,
                          const PgQuery__Node *node)
{
    return brume_pg_print_expression(printer, scope, node);
}

static bool is_array(uint32_t type)
{
    const brume_pg_type *known = brume_pg_type_find(type);
    return type == 22 || type == 30 || (known && known->category == 'A');
}

static bool is_whole(uint32_t type)
{
    return type == BRUME_PG_INT2 || type == BRUME_PG_INT4 || type == BRUME_PG_INT8 ||
           type == BRUME_PG_OID || type == XID || type == REGCLASS || type == REGTYPE ||
           type == REGNAMESPACE || type == REGROLE;
}

static bool is_number(uint32_t type)
{
    return is_whole(type) || type == BRUME_PG_FLOAT4 || type == BRUME_PG_FLOAT8 ||
           type == BRUME_PG_NUMERIC;
}

static bool is_text(uint32_t type)
{
    return type == BRUME_PG_TEXT || type == BRUME_PG_NAME || type == BRUME_PG_VARCHAR ||
           type == BRUME_PG_BPCHAR || type == BRUME_PG_CHAR || type == BRUME_PG_UNKNOWN;
}

/* ---- casts ---- */

static const char *as_text(brume_pg_printer *printer, brume_pg_sql value)
{
    const char *form = "%s";
    if (value.type == BRUME_PG_BOOL)
        form = "(CASE WHEN %1$s THEN 'true' WHEN NOT %1$s THEN 'false' END)";
    else if (value.type == REGCLASS)
        form = "brume_regclass_text(%s)";
    else if (value.type == REGTYPE)
        form = "format_type(%s, NULL)";
    else if (value.type == REGNAMESPACE)
        form = "brume_regnamespace_text(%s)";
    else if (value.type == REGROLE)
        form = "pg_get_userbyid(%s)";
    else if (is_number(value.type))
        form = "CAST(%s AS TEXT)";
    return brume_pg_format_text(printer, form, value.text);
}

brume_pg_sql brume_pg_cast_to(brume_pg_printer *printer, brume_pg_sql value, uint32_t type)
{
    static const struct {
        uint32_t type;
        const char *form;
    } names[] = {{REGCLASS, "to_regclass(%s)"},
                 {REGTYPE, "to_regtype(%s)"},
                 {REGNAMESPACE, "to_regnamespace(%s)"},
                 {REGROLE, "to_regrole(%s)"},
                 {BRUME_PG_REGPROC, "brume_regproc(%s)"}};
    const char *form = "%s";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].type == type && !is_number(value.type))
            return make(brume_pg_format_text(printer, names[i].form, value.text), type);
    if (is_text(type))
        return make(as_text(printer, value), type);
    if (is_whole(type) && is_text(value.type))
        form = "CAST(%s AS INTEGER)";
    else if (is_whole(type) && is_number(value.type) && !is_whole(value.type))
        form = "CAST(round(%s) AS INTEGER)";
    else if (is_number(type) && !is_whole(type) && !is_number(value.type))
        form = "CAST(%s AS REAL)";
    else if (type == BRUME_PG_BOOL && is_text(value.type))
        form = "(lower(%s) IN ('t', 'true', 'on', 'yes', '1'))";
    else if (type == BRUME_PG_BOOL && is_number(value.type))
        form = "(%s <> 0)";
    return make(brume_pg_format_text(printer, form, value.text), type);
}

brume_pg_sql brume_pg_print_cast(brume_pg_printer *printer, brume_pg_sql value,
                                 const PgQuery__TypeName *type)
{
    const char *name = type->n_names ? brume_pg_string_of(type->names[type->n_names - 1]) : "text";
    const brume_pg_type *known = brume_pg_type_named(name);
    uint32_t number = known ? known->oid : BRUME_PG_TEXT;
    if (type->n_array_bounds > 0 && known && known->array)
        number = known->array;
    if (is_array(number))
        return make(value.text, number);
    return brume_pg_cast_to(printer, value, number);
}

/* ---- operators ---- */

/* A literal without a type takes that of what it is compared with. */
brume_pg_sql brume_pg_adapt(brume_pg_printer *printer, brume_pg_sql value, uint32_t type)
{
    if (value.type != BRUME_PG_UNKNOWN || strcmp(value.text, "NULL") == 0)
        return value;
    bool digits = value.text[1] != '\'' &&
                  strspn(value.text + 1, "-0123456789") == strlen(value.text) - 2;
    if (type == BRUME_PG_BOOL || type == BRUME_PG_REGPROC)
        return brume_pg_cast_to(printer, value, type);
    if (is_number(type))
        return digits ? make(brume_pg_format_text(printer, "CAST(%s AS INTEGER)", value.text), type)
                      : brume_pg_cast_to(printer, value, type);
    return value;
}

static brume_pg_sql operate(brume_pg_printer *printer, const char *name, brume_pg_sql left,
                            brume_pg_sql right)
{
    static const char *const comparisons[] = {"=", "<>", "<", ">", "<=", ">="};
    static const char *const arithmetic[] = {"+", "-", "*", "/", "%", "&", "|", "<<", ">>"};
    static const char *const calls[][2] = {
        {"~", "brume_matches(%s, %s, 0)"},         {"!~", "NOT brume_matches(%s, %s, 0)"},
        {"~*", "brume_matches(%s, %s, 1)"},        {"!~*", "NOT brume_matches(%s, %s, 1)"},
        {"~~", "brume_like(%s, %s, 0)"},           {"!~~", "NOT brume_like(%s, %s, 0)"},
        {"~~*", "brume_like(%s, %s, 1)"},          {"!~~*", "NOT brume_like(%s, %s, 1)"},
        {"@>", "brume_array_contains(%s, %s)"},    {"&&", "brume_array_overlaps(%s, %s)"},
        {"<@", "brume_array_contains(%2$s, %1$s)"}};
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        if (strcmp(name, comparisons[i]) == 0) {
            left = brume_pg_adapt(printer, left, right.type);
            right = brume_pg_adapt(printer, right, left.type);
            return make(brume_pg_format_text(printer, "(%s %s %s)", left.text, name, right.text),
                        BRUME_PG_BOOL);
        }
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(name, calls[i][0]) == 0) {
            const char *call = brume_pg_format_text(printer, calls[i][1], as_text(printer, left),
                                                    as_text(printer, right));
            return make(brume_pg_format_text(printer, "(%s)", call), BRUME_PG_BOOL);
        }
    if (strcmp(name, "||") == 0 && (is_array(left.type) || is_array(right.type)))
        return make(
            brume_pg_format_text(printer, "brume_array_append(%s, %s)", left.text, right.text),
            is_array(left.type) ? left.type : right.type);
    if (strcmp(name, "||") == 0)
        return make(brume_pg_format_text(printer, "(%s || %s)", as_text(printer, left),
                                         as_text(printer, right)),
                    BRUME_PG_TEXT);
    for (size_t i = 0; i < sizeof arithmetic / sizeof *arithmetic; i++)
        if (strcmp(name, arithmetic[i]) == 0) {
            uint32_t type = is_whole(left.type) && is_whole(right.type)
                                ? left.type == BRUME_PG_INT8 || right.type == BRUME_PG_INT8
                                      ? BRUME_PG_INT8
                                      : BRUME_PG_INT4
                                : BRUME_PG_NUMERIC;
            return make(brume_pg_format_text(printer, "(%s %s %s)", left.text, name, right.text),
                        type);
        }
    return brume_pg_print_fail(printer, "unknown operator", name);
}

/* x = ANY (array), x <> ALL (array). */
static brume_pg_sql compare_all(brume_pg_printer *printer, const brume_pg_scope *scope,
                                const PgQuery__AExpr *node, const char *name)
{
    bool any = node->kind == PG_QUERY__A__EXPR__KIND__AEXPR_OP_ANY;
    brume_pg_sql left = print(printer, scope, node->lexpr);
    brume_pg_sql right = print(printer, scope, node->rexpr);
    if (strcmp(name, "=") == 0 && any)
        return make(brume_pg_format_text(printer, "brume_array_has(%s, %s)", right.text, left.text),
                    BRUME_PG_BOOL);
    if (strcmp(name, "<>") == 0 && !any)
        return make(
            brume_pg_format_text(printer, "(NOT brume_array_has(%s, %s))", right.text, left.text),
            BRUME_PG_BOOL);
    if (any && (strcmp(name, "~~") == 0 || strcmp(name, "~") == 0))
        return make(
            brume_pg_format_text(printer, "brume_array_like(%s, %s)", right.text, left.text),
            BRUME_PG_BOOL);
    return brume_pg_print_fail(printer, "unknown comparison with an array", name);
}

static brume_pg_sql in_list(brume_pg_printer *printer, const brume_pg_scope *scope,
                            const PgQuery__AExpr *node, const char *name)
{
    brume_pg_sql left = print(printer, scope, node->lexpr);
    const PgQuery__List *list = node->rexpr->list;
    const char *text = "";
    for (size_t i = 0; i < list->n_items; i++) {
        brume_pg_sql item =
            brume_pg_adapt(printer, print(printer, scope, list->items[i]), left.type);
        text = brume_pg_format_text(printer, "%s%s%s", text, i ? ", " : "", item.text);
    }
    return make(brume_pg_format_text(printer, "(%s %s (%s))", left.text,
                                     strcmp(name, "<>") == 0 ? "NOT IN" : "IN", text),
                BRUME_PG_BOOL);
}

static brume_pg_sql between(brume_pg_printer *printer, const brume_pg_scope *scope,
                            const PgQuery__AExpr *node)
{
    bool negated = node->kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN;
    const PgQuery__List *ends = node->rexpr->list;
    brume_pg_sql value = print(printer, scope, node->lexpr);
    brume_pg_sql low = brume_pg_adapt(printer, print(printer, scope, ends->items[0]), value.type);
    brume_pg_sql high = brume_pg_adapt(printer, print(printer, scope, ends->items[1]), value.type);
    return make(brume_pg_format_text(printer, "(%s %s %s AND %s)", value.text,
                                     negated ? "NOT BETWEEN" : "BETWEEN", low.text, high.text),
                BRUME_PG_BOOL);
}

brume_pg_sql brume_pg_print_operator(brume_pg_printer *printer, const brume_pg_scope *scope,
                                     const PgQuery__AExpr *node)
{
    const char *name = node->n_name ? brume_pg_string_of(node->name[node->n_name - 1]) : "";
    brume_pg_sql left, right;
    switch (node->kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ANY:
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ALL:
        return compare_all(printer, scope, node, name);
    case PG_QUERY__A__EXPR__KIND__AEXPR_IN:
        return in_list(printer, scope, node, name);
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN:
        return between(printer, scope, node);
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP:
    case PG_QUERY__A__EXPR__KIND__AEXPR_LIKE:
    case PG_QUERY__A__EXPR__KIND__AEXPR_ILIKE:
        break;
    case PG_QUERY__A__EXPR__KIND__AEXPR_DISTINCT:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_DISTINCT:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NULLIF:
        left = print(printer, scope, node->lexpr);
        right = brume_pg_adapt(printer, print(printer, scope, node->rexpr), left.type);
        if (node->kind == PG_QUERY__A__EXPR__KIND__AEXPR_NULLIF)
            return make(brume_pg_format_text(printer, "nullif(%s, %s)", left.text, right.text),
                        left.type);
        return make(
            brume_pg_format_text(printer, "(%s IS %s %s)", left.text,
                                 node->kind == PG_QUERY__A__EXPR__KIND__AEXPR_DISTINCT ? "NOT" : "",
                                 right.text),
            BRUME_PG_BOOL);
    default:
        return brume_pg_print_fail(printer, "unknown comparison", name);
    }
    right = print(printer, scope, node->rexpr);
    if (!node->lexpr && (strcmp(name, "-") == 0 || strcmp(name, "+") == 0))
        return make(brume_pg_format_text(printer, "(%s %s)", name, right.text), right.type);
    if (!node->lexpr)
        return brume_pg_print_fail(printer, "unknown operator", name);
    return operate(printer, name, print(printer, scope, node->lexpr), right);
}
