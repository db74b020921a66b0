/* Expressions of catalog queries, for SQLite. Promises: print.h. */
#include <stdlib.h>
#include <string.h>

#include "serve/pg/catalog/print.h"

enum { XID = 28, TEXT_ARRAY = 1009 };

static brume_pg_sql make(const char *text, uint32_t type)
{
    return (brume_pg_sql){text, type};
}

static brume_pg_sql print(brume_pg_printer *printer, const brume_pg_scope *scope,
                          const PgQuery__Node *node)
{
    return brume_pg_print_expression(printer, scope, node);
}

/* ---- names ---- */

static brume_pg_sql system_column(brume_pg_printer *printer, const brume_pg_source *source,
                                  const char *name)
{
    if (strcmp(name, "tableoid") == 0 && source->oid)
        return make(brume_pg_format_text(printer, "%u", source->oid), BRUME_PG_OID);
    if (strcmp(name, "xmin") == 0 || strcmp(name, "xmax") == 0)
        return make("0", XID);
    if (strcmp(name, "ctid") == 0)
        return make("'(0,0)'", BRUME_PG_TEXT);
    return make(NULL, 0);
}

static brume_pg_sql find_in(brume_pg_printer *printer, const brume_pg_source *source,
                            const char *name)
{
    for (size_t i = 0; i < source->count; i++)
        if (strcmp(source->columns[i].name, name) == 0)
            return make(source->columns[i].written, source->columns[i].type);
    return system_column(printer, source, name);
}

static brume_pg_sql column(brume_pg_printer *printer, const brume_pg_scope *scope,
                           const PgQuery__ColumnRef *reference)
{
    size_t count = reference->n_fields;
    const char *name = brume_pg_string_of(reference->fields[count - 1]);
    const char *of = count > 1 ? brume_pg_string_of(reference->fields[count - 2]) : NULL;
    for (size_t i = 0; !of && scope && i < scope->output_count; i++)
        if (strcmp(scope->outputs[i].name, name) == 0)
            return make(scope->outputs[i].written, scope->outputs[i].type);
    for (; scope; scope = scope->outer)
        for (size_t i = 0; i < scope->source_count; i++) {
            if (of && strcmp(scope->sources[i].alias, of) != 0)
                continue;
            brume_pg_sql found = find_in(printer, &scope->sources[i], name);
            if (found.text)
                return found;
        }
    return brume_pg_print_fail(printer, "unknown column", name);
}

/* ---- constants ---- */

static brume_pg_sql constant(brume_pg_printer *printer, const PgQuery__AConst *value)
{
    if (value->isnull)
        return make("NULL", BRUME_PG_UNKNOWN);
    switch (value->val_case) {
    case PG_QUERY__A__CONST__VAL_IVAL:
        return make(brume_pg_format_text(printer, "%d", value->ival->ival), BRUME_PG_INT4);
    case PG_QUERY__A__CONST__VAL_FVAL: {
        bool whole = strspn(value->fval->fval, "0123456789") == strlen(value->fval->fval);
        return make(brume_pg_format_text(printer, "%s", value->fval->fval),
                    whole ? BRUME_PG_INT8 : BRUME_PG_NUMERIC);
    }
    case PG_QUERY__A__CONST__VAL_BOOLVAL:
        return make(value->boolval->boolval ? "1" : "0", BRUME_PG_BOOL);
    case PG_QUERY__A__CONST__VAL_SVAL:
        return make(brume_pg_quote(printer, value->sval->sval, '\''), BRUME_PG_UNKNOWN);
    default:
        return make("NULL", BRUME_PG_TEXT);
    }
}

/* ---- the rest ---- */

const char *brume_pg_print_list(brume_pg_printer *printer, const brume_pg_scope *scope,
                                PgQuery__Node *const *list, size_t count)
{
    const char *text = "";
    for (size_t i = 0; i < count; i++)
        text = brume_pg_format_text(printer, "%s%s%s", text, i ? ", " : "",
                                    print(printer, scope, list[i]).text);
    return text;
}

/* The type of several expressions that stand in one place: the first that is known. */
static brume_pg_sql call_of(brume_pg_printer *printer, const brume_pg_scope *scope,
                            const char *name, PgQuery__Node *const *list, size_t count)
{
    uint32_t type = BRUME_PG_UNKNOWN;
    const char *text = "";
    for (size_t i = 0; i < count; i++) {
        brume_pg_sql one = print(printer, scope, list[i]);
        if (type == BRUME_PG_UNKNOWN)
            type = one.type;
        text = brume_pg_format_text(printer, "%s%s%s", text, i ? ", " : "", one.text);
    }
    if (count == 1) /* which SQLite's coalesce does not take */
        text = brume_pg_format_text(printer, "%s, NULL", text);
    return make(brume_pg_format_text(printer, "%s(%s)", name, text), type);
}

static brume_pg_sql logic(brume_pg_printer *printer, const brume_pg_scope *scope,
                          const PgQuery__BoolExpr *node)
{
    const char *text = "",
               *word = node->boolop == PG_QUERY__BOOL_EXPR_TYPE__OR_EXPR ? " OR " : " AND ";
    if (node->boolop == PG_QUERY__BOOL_EXPR_TYPE__NOT_EXPR)
        return make(
            brume_pg_format_text(printer, "(NOT %s)", print(printer, scope, node->args[0]).text),
            BRUME_PG_BOOL);
    for (size_t i = 0; i < node->n_args; i++)
        text = brume_pg_format_text(printer, "%s%s%s", text, i ? word : "",
                                    print(printer, scope, node->args[i]).text);
    return make(brume_pg_format_text(printer, "(%s)", text), BRUME_PG_BOOL);
}

static brume_pg_sql case_of(brume_pg_printer *printer, const brume_pg_scope *scope,
                            const PgQuery__CaseExpr *node)
{
    brume_pg_sql tested = {"", 0};
    uint32_t type = BRUME_PG_UNKNOWN;
    if (node->arg)
        tested = print(printer, scope, node->arg);
    const char *text = brume_pg_format_text(printer, "(CASE %s", tested.text);
    for (size_t i = 0; i < node->n_args; i++) {
        const PgQuery__CaseWhen *when = node->args[i]->case_when;
        brume_pg_sql value = print(printer, scope, when->result);
        brume_pg_sql test = print(printer, scope, when->expr);
        if (node->arg)
            test = brume_pg_adapt(printer, test, tested.type);
        type = type == BRUME_PG_UNKNOWN ? value.type : type;
        text = brume_pg_format_text(printer, "%s WHEN %s THEN %s", text, test.text, value.text);
    }
    if (node->defresult) {
        brume_pg_sql value = print(printer, scope, node->defresult);
        type = type == BRUME_PG_UNKNOWN ? value.type : type;
        text = brume_pg_format_text(printer, "%s ELSE %s", text, value.text);
    }
    return make(brume_pg_format_text(printer, "%s END)", text), type);
}

static uint32_t array_of(uint32_t type)
{
    const brume_pg_type *known =
        brume_pg_type_find(type == BRUME_PG_UNKNOWN ? BRUME_PG_TEXT : type);
    return known && known->array ? known->array : TEXT_ARRAY;
}

static brume_pg_sql subquery(brume_pg_printer *printer, const brume_pg_scope *scope,
                             const PgQuery__SubLink *link)
{
    brume_pg_source columns = {0};
    bool array = link->sub_link_type == PG_QUERY__SUB_LINK_TYPE__ARRAY_SUBLINK;
    const char *text =
        brume_pg_print_select(printer, scope, link->subselect->select_stmt, array, &columns);
    uint32_t type = columns.count ? columns.columns[0].type : BRUME_PG_TEXT;
    const char *name = link->n_oper_name ? brume_pg_string_of(link->oper_name[0]) : "=";
    switch (link->sub_link_type) {
    case PG_QUERY__SUB_LINK_TYPE__EXISTS_SUBLINK:
        return make(brume_pg_format_text(printer, "EXISTS (%s)", text), BRUME_PG_BOOL);
    case PG_QUERY__SUB_LINK_TYPE__EXPR_SUBLINK:
        return make(brume_pg_format_text(printer, "(%s)", text), type);
    case PG_QUERY__SUB_LINK_TYPE__ARRAY_SUBLINK:
        return make(
            brume_pg_format_text(printer, "coalesce((SELECT array_agg(c) FROM (%s)), '{}')", text),
            array_of(type));
    case PG_QUERY__SUB_LINK_TYPE__ANY_SUBLINK:
    case PG_QUERY__SUB_LINK_TYPE__ALL_SUBLINK: {
        bool any = link->sub_link_type == PG_QUERY__SUB_LINK_TYPE__ANY_SUBLINK;
        if (strcmp(name, any ? "=" : "<>") != 0)
            return brume_pg_print_fail(printer, "unknown comparison with a query", name);
        return make(brume_pg_format_text(printer, "(%s %s (%s))",
                                         print(printer, scope, link->testexpr).text,
                                         any ? "IN" : "NOT IN", text),
                    BRUME_PG_BOOL);
    }
    default:
        return brume_pg_print_fail(printer, "unknown subquery", "");
    }
}

static brume_pg_sql array_literal(brume_pg_printer *printer, const brume_pg_scope *scope,
                                  const PgQuery__AArrayExpr *node)
{
    uint32_t type = BRUME_PG_UNKNOWN;
    const char *text = "";
    for (size_t i = 0; i < node->n_elements; i++) {
        brume_pg_sql one = print(printer, scope, node->elements[i]);
        type = type == BRUME_PG_UNKNOWN ? one.type : type;
        text = brume_pg_format_text(printer, "%s%s%s", text, i ? ", " : "", one.text);
    }
    return make(brume_pg_format_text(printer, "brume_array(%s)", text), array_of(type));
}

static brume_pg_sql indirection(brume_pg_printer *printer, const brume_pg_scope *scope,
                                const PgQuery__AIndirection *node)
{
    brume_pg_sql value = print(printer, scope, node->arg);
    const PgQuery__Node *step = node->n_indirection == 1 ? node->indirection[0] : NULL;
    if (step && step->node_case == PG_QUERY__NODE__NODE_A_INDICES && !step->a_indices->is_slice) {
        const brume_pg_type *known = brume_pg_type_find(value.type);
        return make(brume_pg_format_text(printer, "brume_array_item(%s, %s)", value.text,
                                         print(printer, scope, step->a_indices->uidx).text),
                    known && known->element ? known->element : BRUME_PG_TEXT);
    }
    if (step && step->node_case == PG_QUERY__NODE__NODE_STRING) /* a field of a row: see below */
        return make("NULL", BRUME_PG_INT4);
    return brume_pg_print_fail(printer, "unknown subscript", "");
}

static brume_pg_sql value_function(brume_pg_printer *printer, const PgQuery__SQLValueFunction *node)
{
    switch (node->op) {
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_ROLE:
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_USER:
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_USER:
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_SESSION_USER:
        return make("brume_user()", BRUME_PG_NAME);
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_CATALOG:
        return make("current_database()", BRUME_PG_NAME);
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_SCHEMA:
        return make("'public'", BRUME_PG_NAME);
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_DATE:
        return make("date('now')", BRUME_PG_DATE);
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIMESTAMP:
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIMESTAMP_N:
        return make("now()", BRUME_PG_TIMESTAMPTZ);
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIMESTAMP:
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIMESTAMP_N:
        return make("datetime('now')", BRUME_PG_TIMESTAMP);
    default:
        return brume_pg_print_fail(printer, "unknown function", "");
    }
}

static brume_pg_sql test_of(brume_pg_printer *printer, const brume_pg_scope *scope,
                            const PgQuery__BooleanTest *node)
{
    static const char *const forms[] = {
        [PG_QUERY__BOOL_TEST_TYPE__IS_TRUE] = "(%s IS TRUE)",
        [PG_QUERY__BOOL_TEST_TYPE__IS_NOT_TRUE] = "(%s IS NOT TRUE)",
        [PG_QUERY__BOOL_TEST_TYPE__IS_FALSE] = "(%s IS FALSE)",
        [PG_QUERY__BOOL_TEST_TYPE__IS_NOT_FALSE] = "(%s IS NOT FALSE)",
        [PG_QUERY__BOOL_TEST_TYPE__IS_UNKNOWN] = "(%s IS NULL)",
        [PG_QUERY__BOOL_TEST_TYPE__IS_NOT_UNKNOWN] = "(%s IS NOT NULL)"};
    size_t kind = (size_t)node->booltesttype;
    if (kind >= sizeof forms / sizeof *forms || !forms[kind])
        return brume_pg_print_fail(printer, "unknown test", "");
    return make(brume_pg_format_text(printer, forms[kind], print(printer, scope, node->arg).text),
                BRUME_PG_BOOL);
}

brume_pg_sql brume_pg_print_expression(brume_pg_printer *printer, const brume_pg_scope *scope,
                                       const PgQuery__Node *node)
{
    if (printer->failed || !node)
        return make("NULL", BRUME_PG_TEXT);
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_COLUMN_REF:
        return column(printer, scope, node->column_ref);
    case PG_QUERY__NODE__NODE_A_CONST:
        return constant(printer, node->a_const);
    case PG_QUERY__NODE__NODE_TYPE_CAST:
        return brume_pg_print_cast(printer, print(printer, scope, node->type_cast->arg),
                                   node->type_cast->type_name);
    case PG_QUERY__NODE__NODE_A_EXPR:
        return brume_pg_print_operator(printer, scope, node->a_expr);
    case PG_QUERY__NODE__NODE_BOOL_EXPR:
        return logic(printer, scope, node->bool_expr);
    case PG_QUERY__NODE__NODE_NULL_TEST:
        return make(brume_pg_format_text(
                        printer, "(%s %s)", print(printer, scope, node->null_test->arg).text,
                        node->null_test->nulltesttype == PG_QUERY__NULL_TEST_TYPE__IS_NULL
                            ? "IS NULL"
                            : "IS NOT NULL"),
                    BRUME_PG_BOOL);
    case PG_QUERY__NODE__NODE_BOOLEAN_TEST:
        return test_of(printer, scope, node->boolean_test);
    case PG_QUERY__NODE__NODE_CASE_EXPR:
        return case_of(printer, scope, node->case_expr);
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
        return call_of(printer, scope, "coalesce", node->coalesce_expr->args,
                       node->coalesce_expr->n_args);
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR:
        return call_of(printer, scope,
                       node->min_max_expr->op == PG_QUERY__MIN_MAX_OP__IS_GREATEST ? "max" : "min",
                       node->min_max_expr->args, node->min_max_expr->n_args);
    case PG_QUERY__NODE__NODE_SUB_LINK:
        return subquery(printer, scope, node->sub_link);
    case PG_QUERY__NODE__NODE_FUNC_CALL:
        return brume_pg_print_function(printer, scope, node->func_call);
    case PG_QUERY__NODE__NODE_COLLATE_CLAUSE:
        return print(printer, scope, node->collate_clause->arg);
    case PG_QUERY__NODE__NODE_A_ARRAY_EXPR:
        return array_literal(printer, scope, node->a_array_expr);
    case PG_QUERY__NODE__NODE_A_INDIRECTION:
        return indirection(printer, scope, node->a_indirection);
    case PG_QUERY__NODE__NODE_SQLVALUE_FUNCTION:
        return value_function(printer, node->sqlvalue_function);
    case PG_QUERY__NODE__NODE_ROW_EXPR:
        return make(brume_pg_format_text(printer, "(%s)",
                                         brume_pg_print_list(printer, scope, node->row_expr->args,
                                                             node->row_expr->n_args)),
                    BRUME_PG_TEXT);
    default:
        return brume_pg_print_fail(printer, "unknown expression", "");
    }
}
