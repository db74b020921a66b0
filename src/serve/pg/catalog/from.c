/* FROM of catalog queries, for SQLite. Promises: print.h. */
#include <string.h>

#include "serve/pg/catalog/print.h"

static brume_pg_source *add_source(brume_pg_printer *printer, brume_pg_scope *scope,
                                   const char *alias)
{
    if (scope->source_count == sizeof scope->sources / sizeof *scope->sources) {
        (void)brume_pg_print_fail(printer, "too many tables", "");
        return NULL;
    }
    brume_pg_source *source = &scope->sources[scope->source_count++];
    *source = (brume_pg_source){.alias = brume_pg_format_text(printer, "%s", alias)};
    return source;
}

/* Columns under the names of an alias: t(a, b). */
static void rename_columns(brume_pg_printer *printer, brume_pg_source *source,
                           const PgQuery__Alias *alias)
{
    for (size_t i = 0; alias && source->columns && i < alias->n_colnames && i < source->count; i++)
        source->columns[i].name =
            brume_pg_format_text(printer, "%s", brume_pg_string_of(alias->colnames[i]));
}

static const char *written(brume_pg_printer *printer, const char *alias, const char *column)
{
    return brume_pg_format_text(printer, "%s.%s", brume_pg_quote(printer, alias, '"'),
                                brume_pg_quote(printer, column, '"'));
}

/* Columns of a source from "name type, name type". */
static void add_columns(brume_pg_printer *printer, brume_pg_source *source, const char *text)
{
    char name[BRUME_PG_NAME_SIZE], type[BRUME_PG_NAME_SIZE];
    const char *at = text;
    size_t count = 0;
    while (brume_pg_next_column(&at, name, type))
        count++;
    source->columns = brume_pg_print_allocate(printer, (count + 1) * sizeof *source->columns);
    for (at = text; source->columns && brume_pg_next_column(&at, name, type);) {
        const brume_pg_type *known = brume_pg_type_named(type);
        source->columns[source->count++] = (brume_pg_named){
            brume_pg_format_text(printer, "%s", name), written(printer, source->alias, name),
            known ? known->oid : BRUME_PG_TEXT};
    }
}

static const brume_pg_source *find_with(const brume_pg_scope *scope, const char *name)
{
    for (; scope; scope = scope->outer)
        for (size_t i = scope->with_count; i-- > 0;)
            if (strcmp(scope->with[i].alias, name) == 0)
                return &scope->with[i];
    return NULL;
}

static const char *table(brume_pg_printer *printer, brume_pg_scope *scope,
                         const PgQuery__RangeVar *range)
{
    const brume_pg_source *item = *range->schemaname ? NULL : find_with(scope, range->relname);
    const brume_pg_relation *relation =
        item ? NULL
             : brume_pg_relation_find(*range->schemaname ? range->schemaname : "pg_catalog",
                                      range->relname);
    const char *alias = range->alias ? range->alias->aliasname : range->relname;
    brume_pg_source *source = add_source(printer, scope, alias);
    if (!source)
        return "";
    if (!item && !relation) {
        (void)brume_pg_print_fail(printer, "no such relation:", range->relname);
        printer->unknown_relation = true;
        return "";
    }
    if (item) {
        source->columns =
            brume_pg_print_allocate(printer, (item->count + 1) * sizeof *source->columns);
        for (size_t i = 0; source->columns && i < item->count; i++)
            source->columns[source->count++] = (brume_pg_named){
                item->columns[i].name, written(printer, source->alias, item->columns[i].name),
                item->columns[i].type};
        rename_columns(printer, source, range->alias);
        return brume_pg_format_text(printer, "%s AS %s",
                                    brume_pg_quote(printer, range->relname, '"'),
                                    brume_pg_quote(printer, alias, '"'));
    }
    printer->reads_catalog = true;
    source->oid = relation->oid;
    add_columns(printer, source, relation->columns);
    rename_columns(printer, source, range->alias);
    return brume_pg_format_text(printer, "\"%s.%s\" AS %s", relation->schema, relation->name,
                                brume_pg_quote(printer, alias, '"'));
}

static const char *subselect(brume_pg_printer *printer, brume_pg_scope *scope,
                             const PgQuery__RangeSubselect *range)
{
    const char *alias = range->alias ? range->alias->aliasname : "subquery";
    brume_pg_source inner = {0};
    /* It sees the items of WITH, and may name what stands before it only with LATERAL, which SQLite
     * does not have: then SQLite refuses the query. */
    const char *text =
        brume_pg_print_select(printer, scope, range->subquery->select_stmt, false, &inner);
    brume_pg_source *source = add_source(printer, scope, alias);
    if (!source)
        return "";
    const char *list = "";
    source->columns = inner.columns;
    source->count = inner.count;
    for (size_t i = 0; i < source->count; i++) {
        const char *name = range->alias && i < range->alias->n_colnames
                               ? brume_pg_string_of(range->alias->colnames[i])
                               : source->columns[i].name;
        name = brume_pg_format_text(printer, "%s", name);
        list =
            brume_pg_format_text(printer, "%s%s%s AS %s", list, i ? ", " : "",
                                 source->columns[i].written ? source->columns[i].written : "NULL",
                                 brume_pg_quote(printer, name, '"'));
        source->columns[i] =
            (brume_pg_named){name, written(printer, alias, name), source->columns[i].type};
    }
    if (range->alias && range->alias->n_colnames)
        text = brume_pg_format_text(printer, "SELECT %s FROM (%s)", list, text);
    return brume_pg_format_text(printer, "(%s) AS %s", text, brume_pg_quote(printer, alias, '"'));
}

/* ---- functions in FROM ---- */

/* Functions of which there is never a row. */
static const char *const empty_functions[][2] = {
    {"pg_get_keywords", "word text, catcode char, barelabel bool, catdesc text, baredesc text"},
    {"aclexplode", "grantor oid, grantee oid, privilege_type text, is_grantable bool"},
    {"pg_options_to_table", "option_name text, option_value text"},
    {"_pg_expandarray", "x int4, n int4"},
    {"pg_partition_ancestors", "relid regclass"},
    {"pg_partition_tree", "relid regclass, parentrelid regclass, isleaf bool, level int4"},
    {"pg_get_publication_tables", "relid oid"},
    {"pg_available_extensions", "name name, default_version text, comment text"},
    {"pg_timezone_names", "name text, abbrev text, utc_offset interval, is_dst bool"},
    {"pg_stat_get_activity", "datid oid, pid int4, usesysid oid, state text, query text"},
};

static const char *empty_function(brume_pg_printer *printer, brume_pg_source *source,
                                  const char *columns)
{
    char name[BRUME_PG_NAME_SIZE], type[BRUME_PG_NAME_SIZE];
    const char *list = "";
    add_columns(printer, source, columns);
    while (brume_pg_next_column(&columns, name, type))
        list = brume_pg_format_text(printer, "%s%sNULL AS %s", list, *list ? ", " : "",
                                    brume_pg_quote(printer, name, '"'));
    return brume_pg_format_text(printer, "(SELECT %s WHERE 0) AS %s", list,
                                brume_pg_quote(printer, source->alias, '"'));
}

const char *brume_pg_series_name(const PgQuery__Node *node)
{
    static const char *const names[] = {"unnest", "generate_series", "generate_subscripts"};
    if (!node || node->node_case != PG_QUERY__NODE__NODE_FUNC_CALL)
        return NULL;
    const char *name =
        brume_pg_string_of(node->func_call->funcname[node->func_call->n_funcname - 1]);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return names[i];
    return NULL;
}

brume_pg_sql brume_pg_print_series(brume_pg_printer *printer, const brume_pg_scope *scope,
                                   const PgQuery__FuncCall *call, const char *name,
                                   const char *alias, const char **from)
{
    const char *quoted = brume_pg_quote(printer, alias, '"');
    brume_pg_sql value = {brume_pg_format_text(printer, "%s.value", quoted), BRUME_PG_INT4};
    if (strcmp(name, "unnest") == 0 && call->n_args > 0) {
        uint32_t type = brume_pg_print_expression(printer, scope, call->args[0]).type;
        const brume_pg_type *known = brume_pg_type_find(type);
        value.type = known && known->element ? known->element : BRUME_PG_TEXT;
    }
    *from = brume_pg_format_text(printer, "json_each(brume_%s_json(%s)) AS %s", name,
                                 brume_pg_print_list(printer, scope, call->args, call->n_args),
                                 quoted);
    return value;
}

/* Items of an array in FROM. */
static const char *series(brume_pg_printer *printer, brume_pg_scope *scope,
                          const PgQuery__RangeFunction *range, const PgQuery__FuncCall *call,
                          const char *name)
{
    const char *alias = range->alias ? range->alias->aliasname : name, *text = "";
    brume_pg_sql value = brume_pg_print_series(printer, scope, call, name, alias, &text);
    brume_pg_source *source = add_source(printer, scope, alias);
    if (!source ||
        !(source->columns = brume_pg_print_allocate(printer, 2 * sizeof *source->columns)))
        return "";
    source->columns[source->count++] = (brume_pg_named){source->alias, value.text, value.type};
    if (range->ordinality)
        source->columns[source->count++] = (brume_pg_named){
            "ordinality",
            brume_pg_format_text(printer, "(%s.key + 1)", brume_pg_quote(printer, alias, '"')),
            BRUME_PG_INT8};
    rename_columns(printer, source, range->alias);
    return text;
}

static const char *function(brume_pg_printer *printer, brume_pg_scope *scope,
                            const PgQuery__RangeFunction *range)
{
    const PgQuery__Node *first = range->n_functions == 1 && range->functions[0]->list->n_items
                                     ? range->functions[0]->list->items[0]
                                     : NULL;
    if (!first || first->node_case != PG_QUERY__NODE__NODE_FUNC_CALL) {
        if (first && first->node_case == PG_QUERY__NODE__NODE_SQLVALUE_FUNCTION) {
            brume_pg_sql value = brume_pg_print_expression(printer, scope, first);
            const char *name = range->alias ? range->alias->aliasname : brume_pg_column_name(first);
            brume_pg_source *source = add_source(printer, scope, name);
            if (!source ||
                !(source->columns = brume_pg_print_allocate(printer, sizeof *source->columns)))
                return "";
            source->columns[source->count++] =
                (brume_pg_named){source->alias, written(printer, name, name), value.type};
            return brume_pg_format_text(printer, "(SELECT %s AS %s) AS %s", value.text,
                                        brume_pg_quote(printer, name, '"'),
                                        brume_pg_quote(printer, name, '"'));
        }
        (void)brume_pg_print_fail(printer, "functions in FROM", "");
        return "";
    }
    const PgQuery__FuncCall *call = first->func_call;
    const char *name = brume_pg_string_of(call->funcname[call->n_funcname - 1]);
    if (brume_pg_series_name(first))
        return series(printer, scope, range, call, brume_pg_series_name(first));
    for (size_t i = 0; i < sizeof empty_functions / sizeof *empty_functions; i++)
        if (strcmp(empty_functions[i][0], name) == 0) {
            brume_pg_source *source =
                add_source(printer, scope, range->alias ? range->alias->aliasname : name);
            const char *text = source ? empty_function(printer, source, empty_functions[i][1]) : "";
            if (source)
                rename_columns(printer, source, range->alias);
            return text;
        }
    brume_pg_sql value = brume_pg_print_function(printer, scope, call); /* one row */
    brume_pg_source *source =
        add_source(printer, scope, range->alias ? range->alias->aliasname : name);
    if (!source || !(source->columns = brume_pg_print_allocate(printer, sizeof *source->columns)))
        return "";
    source->columns[source->count++] =
        (brume_pg_named){source->alias, written(printer, source->alias, source->alias), value.type};
    const char *quoted = brume_pg_quote(printer, source->alias, '"');
    rename_columns(printer, source, range->alias);
    return brume_pg_format_text(printer, "(SELECT %s AS %s) AS %s", value.text, quoted, quoted);
}

/* ---- joins ---- */

static const char *join(brume_pg_printer *printer, brume_pg_scope *scope,
                        const PgQuery__JoinExpr *node)
{
    const char *word = node->jointype == PG_QUERY__JOIN_TYPE__JOIN_LEFT    ? "LEFT JOIN"
                       : node->jointype == PG_QUERY__JOIN_TYPE__JOIN_RIGHT ? "RIGHT JOIN"
                       : node->jointype == PG_QUERY__JOIN_TYPE__JOIN_FULL  ? "FULL JOIN"
                                                                           : "JOIN";
    const char *left = brume_pg_print_from(printer, scope, node->larg);
    const char *right = brume_pg_print_from(printer, scope, node->rarg);
    bool nested = node->rarg->node_case == PG_QUERY__NODE__NODE_JOIN_EXPR;
    const char *text = brume_pg_format_text(printer, nested ? "%s %s%s (%s)" : "%s %s%s %s", left,
                                            node->is_natural ? "NATURAL " : "", word, right);
    if (node->n_using_clause) {
        const char *list = "";
        for (size_t i = 0; i < node->n_using_clause; i++)
            list = brume_pg_format_text(
                printer, "%s%s%s", list, i ? ", " : "",
                brume_pg_quote(printer, brume_pg_string_of(node->using_clause[i]), '"'));
        return brume_pg_format_text(printer, "%s USING (%s)", text, list);
    }
    if (node->quals)
        return brume_pg_format_text(printer, "%s ON %s", text,
                                    brume_pg_print_expression(printer, scope, node->quals).text);
    return text;
}

const char *brume_pg_print_from(brume_pg_printer *printer, brume_pg_scope *scope,
                                const PgQuery__Node *item)
{
    if (printer->failed)
        return "";
    switch (item->node_case) {
    case PG_QUERY__NODE__NODE_RANGE_VAR:
        return table(printer, scope, item->range_var);
    case PG_QUERY__NODE__NODE_RANGE_SUBSELECT:
        return subselect(printer, scope, item->range_subselect);
    case PG_QUERY__NODE__NODE_RANGE_FUNCTION:
        return function(printer, scope, item->range_function);
    case PG_QUERY__NODE__NODE_JOIN_EXPR:
        return join(printer, scope, item->join_expr);
    default:
        (void)brume_pg_print_fail(printer, "FROM", "");
        return "";
    }
}
