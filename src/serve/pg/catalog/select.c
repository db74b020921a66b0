/* SELECTs of the catalog, for SQLite. Promises: print.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "serve/pg/catalog/print.h"

enum { MOST_COLUMNS = 400 };

/* ---- outputs ---- */

typedef struct outputs {
    brume_pg_named *list;
    const char **texts; /* what is computed */
    size_t count;
    const char *series; /* of a function of rows among them, as a table to join; "" for none */
} outputs;

static void add_output(brume_pg_printer *printer, outputs *all, const char *name,
                       brume_pg_sql value)
{
    if (all->count == MOST_COLUMNS) {
        (void)brume_pg_print_fail(printer, "too many columns", "");
        return;
    }
    all->texts[all->count] = value.text;
    all->list[all->count++] = (brume_pg_named){name, NULL, value.type};
}

static bool is_star(const PgQuery__Node *node)
{
    return node && node->node_case == PG_QUERY__NODE__NODE_COLUMN_REF &&
           node->column_ref->fields[node->column_ref->n_fields - 1]->node_case ==
               PG_QUERY__NODE__NODE_A_STAR;
}

static void add_star(brume_pg_printer *printer, const brume_pg_scope *scope,
                     const PgQuery__ColumnRef *star, outputs *all)
{
    const char *of = star->n_fields > 1 ? brume_pg_string_of(star->fields[star->n_fields - 2])
                                        : NULL;
    for (size_t i = 0; i < scope->source_count; i++)
        if (!of || strcmp(scope->sources[i].alias, of) == 0)
            for (size_t j = 0; j < scope->sources[i].count; j++) {
                const brume_pg_named *column = &scope->sources[i].columns[j];
                add_output(printer, all, column->name,
                           (brume_pg_sql){column->written, column->type});
            }
}

/* A function of rows as an output: each item of its array is a row. Two of them in one SELECT, or
 * one together with GROUP BY, are not answered. */
static brume_pg_sql add_series(brume_pg_printer *printer, const brume_pg_scope *scope,
                               const PgQuery__SelectStmt *select, const PgQuery__Node *call,
                               outputs *all)
{
    if (*all->series || select->n_group_clause || select->having_clause)
        (void)brume_pg_print_fail(printer, "functions of rows beside each other or groups", "");
    return brume_pg_print_series(printer, scope, call->func_call, brume_pg_series_name(call),
                                 "brume rows", &all->series);
}

static void add_targets(brume_pg_printer *printer, const brume_pg_scope *scope,
                        const PgQuery__SelectStmt *select, outputs *all)
{
    for (size_t i = 0; i < select->n_target_list; i++) {
        const PgQuery__ResTarget *target = select->target_list[i]->res_target;
        if (is_star(target->val))
            add_star(printer, scope, target->val->column_ref, all);
        else
            add_output(printer, all,
                       brume_pg_format_text(printer, "%s",
                                            *target->name ? target->name
                                                          : brume_pg_column_name(target->val)),
                       brume_pg_series_name(target->val)
                           ? add_series(printer, scope, select, target->val, all)
                           : brume_pg_print_expression(printer, scope, target->val));
    }
}

/* ---- clauses ---- */

const char *brume_pg_print_order(brume_pg_printer *printer, const brume_pg_scope *scope,
                                 PgQuery__Node *const *list, size_t count)
{
    const char *text = "";
    for (size_t i = 0; i < count; i++) {
        const PgQuery__SortBy *by = list[i]->sort_by;
        bool down = by->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_DESC;
        bool first = by->sortby_nulls == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_FIRST ||
                     (down && by->sortby_nulls != PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_LAST);
        text = brume_pg_format_text(printer, "%s%s%s%s NULLS %s", text, i ? ", " : "",
                                    brume_pg_print_expression(printer, scope, by->node).text,
                                    down ? " DESC" : "", first ? "FIRST" : "LAST");
    }
    return text;
}

static const char *clause(brume_pg_printer *printer, const char *text, const char *word,
                          const char *what)
{
    return *what ? brume_pg_format_text(printer, "%s %s %s", text, word, what) : text;
}

static const char *tail(brume_pg_printer *printer, brume_pg_scope *scope,
                        const PgQuery__SelectStmt *select, const char *text)
{
    text = clause(printer, text, "ORDER BY",
                  brume_pg_print_order(printer, scope, select->sort_clause, select->n_sort_clause));
    scope->output_count = 0;
    if (select->limit_count || select->limit_offset) {
        const char *most = select->limit_count
                               ? brume_pg_print_expression(printer, scope, select->limit_count).text
                               : "-1";
        text = brume_pg_format_text(printer, "%s LIMIT %s", text,
                                    strcmp(most, "NULL") == 0 ? "-1" : most);
    }
    if (select->limit_offset)
        text = clause(printer, text, "OFFSET",
                      brume_pg_print_expression(printer, scope, select->limit_offset).text);
    return text;
}

/* The columns of a SELECT as others see them. */
static void give_columns(brume_pg_printer *printer, const outputs *all, brume_pg_source *columns)
{
    columns->columns = brume_pg_print_allocate(printer, (all->count + 1) * sizeof *all->list);
    for (size_t i = 0; columns->columns && i < all->count; i++)
        columns->columns[columns->count++] = all->list[i];
}

static const char *plain_select(brume_pg_printer *printer, brume_pg_scope *scope,
                                const PgQuery__SelectStmt *select, bool single,
                                brume_pg_source *columns)
{
    outputs all = {.list = brume_pg_print_allocate(printer, MOST_COLUMNS * sizeof *all.list),
                   .texts = brume_pg_print_allocate(printer, MOST_COLUMNS * sizeof *all.texts),
                   .series = ""};
    const char *from = "", *text = "";
    if (!all.list || !all.texts)
        return "";
    for (size_t i = 0; i < select->n_from_clause; i++)
        from = brume_pg_format_text(printer, "%s%s%s", from, i ? " CROSS JOIN " : "",
                                    brume_pg_print_from(printer, scope, select->from_clause[i]));
    add_targets(printer, scope, select, &all);
    if (*all.series)
        from =
            brume_pg_format_text(printer, "%s%s%s", from, *from ? " CROSS JOIN " : "", all.series);
    for (size_t i = 0; i < all.count; i++) {
        all.list[i].written = brume_pg_quote(printer, all.list[i].name, '"');
        text = brume_pg_format_text(printer, "%s%s%s AS %s", text, i ? ", " : "", all.texts[i],
                                    single ? "c" : all.list[i].written);
    }
    if (select->n_distinct_clause > 1 ||
        (select->n_distinct_clause == 1 &&
         select->distinct_clause[0]->node_case != PG_QUERY__NODE__NODE__NOT_SET))
        (void)brume_pg_print_fail(printer, "DISTINCT ON", "");
    text = brume_pg_format_text(printer, "SELECT %s%s",
                                select->n_distinct_clause ? "DISTINCT " : "",
                                *text ? text : "NULL");
    text = clause(printer, text, "FROM", from);
    if (select->where_clause)
        text = clause(printer, text, "WHERE",
                      brume_pg_print_expression(printer, scope, select->where_clause).text);
    text =
        clause(printer, text, "GROUP BY",
               brume_pg_print_list(printer, scope, select->group_clause, select->n_group_clause));
    if (select->having_clause)
        text = clause(printer, text, "HAVING",
                      brume_pg_print_expression(printer, scope, select->having_clause).text);
    give_columns(printer, &all, columns);
    if (!single) { /* ORDER BY may name outputs */
        scope->outputs = all.list;
        scope->output_count = all.count;
    }
    return tail(printer, scope, select, text);
}

static const char *values(brume_pg_printer *printer, brume_pg_scope *scope,
                          const PgQuery__SelectStmt *select, brume_pg_source *columns)
{
    const char *text = "";
    for (size_t i = 0; i < select->n_values_lists; i++) {
        const PgQuery__List *row = select->values_lists[i]->list;
        text = brume_pg_format_text(printer, "%s%s(%s)", text, i ? ", " : "",
                                    brume_pg_print_list(printer, scope, row->items, row->n_items));
    }
    const PgQuery__List *first = select->values_lists[0]->list;
    columns->columns =
        brume_pg_print_allocate(printer, (first->n_items + 1) * sizeof *columns->columns);
    for (size_t j = 0; columns->columns && j < first->n_items; j++) {
        const char *name = brume_pg_format_text(printer, "column%zu", j + 1);
        columns->columns[columns->count++] = (brume_pg_named){
            name, name, brume_pg_print_expression(printer, scope, first->items[j]).type};
    }
    return brume_pg_format_text(printer, "SELECT * FROM (VALUES %s)", text);
}

static const char *set_operation(brume_pg_printer *printer, brume_pg_scope *scope,
                                 const PgQuery__SelectStmt *select, bool single,
                                 brume_pg_source *columns)
{
    static const char *const words[] = {[PG_QUERY__SET_OPERATION__SETOP_UNION] = "UNION",
                                        [PG_QUERY__SET_OPERATION__SETOP_INTERSECT] = "INTERSECT",
                                        [PG_QUERY__SET_OPERATION__SETOP_EXCEPT] = "EXCEPT"};
    brume_pg_source other = {0};
    const char *left = brume_pg_print_select(printer, scope, select->larg, single, columns);
    const char *right = brume_pg_print_select(printer, scope, select->rarg, single, &other);
    const char *text = brume_pg_format_text(printer, "SELECT * FROM (%s) %s%s SELECT * FROM (%s)",
                                            left, words[select->op], select->all ? " ALL" : "",
                                            right);
    text =
        brume_pg_format_text(printer, "SELECT * FROM (%s)", text); /* so that it can be ordered */
    scope->outputs = columns->columns;
    scope->output_count = single ? 0 : columns->count;
    return tail(printer, scope, select, text);
}

/* The items of WITH, as names of this scope. */
static const char *with_items(brume_pg_printer *printer, brume_pg_scope *scope,
                              const PgQuery__WithClause *with)
{
    const char *text = "";
    for (size_t i = 0; i < with->n_ctes; i++) {
        const PgQuery__CommonTableExpr *item = with->ctes[i]->common_table_expr;
        brume_pg_source *source = &scope->with[scope->with_count];
        if (scope->with_count == 20 ||
            item->ctequery->node_case != PG_QUERY__NODE__NODE_SELECT_STMT) {
            (void)brume_pg_print_fail(printer, "WITH", "");
            return "";
        }
        const PgQuery__SelectStmt *query = item->ctequery->select_stmt;
        source->alias = brume_pg_format_text(printer, "%s", item->ctename);
        if (with->recursive && query->op == PG_QUERY__SET_OPERATION__SETOP_UNION) {
            brume_pg_source first = {.alias = source->alias}; /* its first part tells its columns */
            (void)brume_pg_print_select(printer, scope, query->larg, false, &first);
            *source = first;
            source->alias = brume_pg_format_text(printer, "%s", item->ctename);
            scope->with_count++;
            brume_pg_source ignored = {0}, again = {0};
            const char *left = brume_pg_print_select(printer, scope, query->larg, false, &again);
            const char *right = brume_pg_print_select(printer, scope, query->rarg, false, &ignored);
            text = brume_pg_format_text(printer, "%s%s%s AS (%s UNION%s %s)", text, i ? ", " : "",
                                        brume_pg_quote(printer, item->ctename, '"'), left,
                                        query->all ? " ALL" : "", right);
            continue;
        }
        const char *body = brume_pg_print_select(printer, scope, query, false, source);
        for (size_t j = 0; j < item->n_aliascolnames && j < source->count; j++)
            source->columns[j].name =
                brume_pg_format_text(printer, "%s", brume_pg_string_of(item->aliascolnames[j]));
        scope->with_count++;
        const char *names = "";
        for (size_t j = 0; item->n_aliascolnames && j < source->count; j++) {
            source->columns[j].written = brume_pg_quote(printer, source->columns[j].name, '"');
            names = brume_pg_format_text(printer, "%s%s%s", names, j ? ", " : "",
                                         source->columns[j].written);
        }
        text = brume_pg_format_text(printer, *names ? "%s%s%s(%s) AS (%s)" : "%s%s%s%s AS (%s)",
                                    text, i ? ", " : "",
                                    brume_pg_quote(printer, item->ctename, '"'), names, body);
    }
    return brume_pg_format_text(printer, "WITH %s%s ", with->recursive ? "RECURSIVE " : "", text);
}

const char *brume_pg_print_select(brume_pg_printer *printer, const brume_pg_scope *outer,
                                  const PgQuery__SelectStmt *select, bool single,
                                  brume_pg_source *columns)
{
    brume_pg_scope *scope = brume_pg_print_allocate(printer, sizeof *scope);
    if (!scope || printer->failed)
        return "";
    scope->outer = outer;
    const char *with = select->with_clause ? with_items(printer, scope, select->with_clause) : "";
    const char *text;
    if (select->op > PG_QUERY__SET_OPERATION__SETOP_NONE)
        text = set_operation(printer, scope, select, single, columns);
    else if (select->n_values_lists)
        text = values(printer, scope, select, columns);
    else
        text = plain_select(printer, scope, select, single, columns);
    return brume_pg_format_text(printer, "%s%s", with, text);
}

/* ---- the whole ---- */

void brume_pg_translation_clear(brume_pg_translation *translation)
{
    free(translation->sql);
    brume_pg_table_clear(&translation->columns);
    translation->sql = NULL;
}

/* Names of a statement that could not be translated. */
static brume_status name_columns(const PgQuery__SelectStmt *select, brume_pg_table *columns,
                                 brume_error *error)
{
    while (select->larg)
        select = select->larg;
    for (size_t i = 0; i < select->n_target_list; i++) {
        const PgQuery__ResTarget *target = select->target_list[i]->res_target;
        const char *name = *target->name ? target->name : brume_pg_column_name(target->val);
        BRUME_TRY(
            brume_pg_table_add_column(columns, *name ? name : "?column?", BRUME_PG_TEXT, error));
    }
    return BRUME_OK;
}

/* What is shown of types that have a text of their own. */
static const char *shown(brume_pg_printer *printer, const brume_pg_source *columns, const char *sql)
{
    const char *list = "";
    bool plain = true;
    for (size_t i = 0; i < columns->count; i++) {
        uint32_t type = columns->columns[i].type;
        bool named = type == 2205 || type == 2206 || type == 4089 || type == 4096;
        plain = plain && !named;
        brume_pg_sql value = {brume_pg_format_text(printer, "c%zu", i), type};
        list = brume_pg_format_text(printer, "%s%s%s", list, i ? ", " : "",
                                    named ? brume_pg_cast_to(printer, value, BRUME_PG_TEXT).text
                                          : value.text);
    }
    if (plain)
        return sql;
    const char *names = "";
    for (size_t i = 0; i < columns->count; i++)
        names = brume_pg_format_text(printer, "%s%sc%zu", names, i ? ", " : "", i);
    return brume_pg_format_text(printer, "WITH shown(%s) AS (%s) SELECT %s FROM shown", names, sql,
                                list);
}

brume_status brume_pg_translate(const PgQuery__SelectStmt *select, brume_pg_translation *out,
                                brume_error *error)
{
    brume_pg_printer printer = {0};
    brume_pg_source columns = {0};
    brume_status status = BRUME_OK;
    const char *text = brume_pg_print_select(&printer, NULL, select, false, &columns);
    if (!printer.failed)
        text = shown(&printer, &columns, text);
    *out = (brume_pg_translation){.reads_catalog = printer.reads_catalog};
    memcpy(out->reason, printer.reason, sizeof out->reason);
    if (printer.out_of_memory) {
        status = brume_no_memory(error, "the query");
    } else if (printer.unknown_relation) {
        status = brume_fail(error, BRUME_EUNKNOWN, NULL, "%s", printer.reason);
    } else if (printer.failed) {
        status = name_columns(select, &out->columns, error);
    } else {
        for (size_t i = 0; status == BRUME_OK && i < columns.count; i++)
            status = brume_pg_table_add_column(&out->columns, columns.columns[i].name,
                                               columns.columns[i].type == BRUME_PG_UNKNOWN
                                                   ? BRUME_PG_TEXT
                                                   : columns.columns[i].type,
                                               error);
        if (status == BRUME_OK && !(out->sql = strdup(text)))
            status = brume_no_memory(error, "the query");
    }
    for (size_t i = 0; i < printer.memory_count; i++)
        free(printer.memory[i]);
    free((void *)printer.memory);
    if (status != BRUME_OK)
        brume_pg_translation_clear(out);
    return status;
}
