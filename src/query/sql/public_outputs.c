/* What a query of public tables shows, and its text: see public.h. */
#include "query/sql/public_outputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "query/sql/public.h"
#include "query/sql/walk.h"

enum { MOST_OUTPUTS = 400 };

void brume_public_table_name(size_t table, char name[BRUME_PUBLIC_NAME])
{
    snprintf(name, BRUME_PUBLIC_NAME, "brume_table_%zu", table);
}

void brume_public_with_name(size_t item, char name[BRUME_PUBLIC_NAME])
{
    snprintf(name, BRUME_PUBLIC_NAME, "brume_with_%zu", item);
}

typedef struct outputs {
    const brume_catalog *catalog;
    char **names;
    size_t count;
    brume_error *error;
} outputs;

static brume_status add(outputs *all, const char *name)
{
    if (all->count == MOST_OUTPUTS)
        return brume_fail(all->error, BRUME_EUNSUPPORTED, "ask in several queries",
                          "the query has more than %d outputs", MOST_OUTPUTS);
    char *copy = strdup(name);
    if (!copy)
        return brume_no_memory(all->error, "a question");
    all->names[all->count++] = copy;
    return BRUME_OK;
}

/* The name that PostgreSQL gives an output without AS. */
const char *brume_public_output_name(const PgQuery__ResTarget *target)
{
    const PgQuery__Node *value = target->val;
    if (target->name && *target->name)
        return target->name;
    while (value->node_case == PG_QUERY__NODE__NODE_TYPE_CAST && value->type_cast->arg)
        value = value->type_cast->arg;
    if (value->node_case == PG_QUERY__NODE__NODE_COLUMN_REF) {
        const PgQuery__ColumnRef *reference = value->column_ref;
        if (!reference || reference->n_fields == 0)
            return "?column?"; /* the grammar makes no such name */
        const PgQuery__Node *last = reference->fields[reference->n_fields - 1];
        return last->node_case == PG_QUERY__NODE__NODE_STRING ? last->string->sval : "?column?";
    }
    if (value->node_case == PG_QUERY__NODE__NODE_FUNC_CALL) {
        const char *name =
            brume_walk_name(value->func_call->funcname, value->func_call->n_funcname);
        return name ? name : "?column?";
    }
    return value->node_case == PG_QUERY__NODE__NODE_CASE_EXPR ? "case" : "?column?";
}

static brume_status add_select(outputs *all, const PgQuery__SelectStmt *select);

/* The columns of a table; AS t (a, b) gives the first ones other names. */
static brume_status add_table(outputs *all, const PgQuery__RangeVar *table, bool *found)
{
    for (size_t i = 0; i < all->catalog->table_count; i++) {
        const brume_catalog_table *one = &all->catalog->tables[i];
        const PgQuery__Alias *alias = table->alias;
        char name[BRUME_PUBLIC_NAME];
        brume_public_table_name(i, name);
        if (strcmp(name, table->relname) != 0)
            continue;
        *found = true;
        for (size_t j = 0, shown = 0; j < one->column_count; j++) {
            if (one->columns[j].type.kind == BRUME_TYPE_REFUSED)
                continue;
            BRUME_TRY(add(all, alias && shown < alias->n_colnames
                                   ? alias->colnames[shown]->string->sval
                                   : one->columns[j].name));
            shown++;
        }
    }
    return BRUME_OK;
}

/* The columns of an item of FROM, where they are those of `wanted` (NULL: of any). */
static brume_status add_item(outputs *all, const PgQuery__Node *item, const char *wanted,
                             bool *found)
{
    if (item->node_case == PG_QUERY__NODE__NODE_JOIN_EXPR && !item->join_expr->is_natural &&
        !item->join_expr->n_using_clause && !item->join_expr->alias) {
        BRUME_TRY(add_item(all, item->join_expr->larg, wanted, found));
        return add_item(all, item->join_expr->rarg, wanted, found);
    }
    if (item->node_case == PG_QUERY__NODE__NODE_RANGE_SUBSELECT &&
        !(item->range_subselect->alias && item->range_subselect->alias->n_colnames)) {
        const PgQuery__RangeSubselect *subselect = item->range_subselect;
        if (wanted && !(subselect->alias && strcasecmp(subselect->alias->aliasname, wanted) == 0))
            return BRUME_OK;
        *found = true;
        return add_select(all, subselect->subquery->select_stmt);
    }
    if (item->node_case == PG_QUERY__NODE__NODE_RANGE_VAR) {
        const PgQuery__RangeVar *table = item->range_var;
        const char *called = table->alias ? table->alias->aliasname : table->relname;
        bool here = false;
        if (wanted && strcasecmp(called, wanted) != 0)
            return BRUME_OK;
        BRUME_TRY(add_table(all, table, &here));
        *found = *found || here;
        if (here)
            return BRUME_OK;
    }
    return brume_fail(all->error, BRUME_EUNSUPPORTED, "name the columns",
                      "* of this item in FROM is not supported");
}

static brume_status add_select(outputs *all, const PgQuery__SelectStmt *select)
{
    while (select->larg)
        select = select->larg; /* UNION has the names of its first part */
    for (size_t i = 0; i < select->n_target_list; i++) {
        const PgQuery__ResTarget *target = select->target_list[i]->res_target;
        const PgQuery__ColumnRef *star = target->val->node_case == PG_QUERY__NODE__NODE_COLUMN_REF
                                             ? target->val->column_ref
                                             : NULL;
        if (!star || star->fields[star->n_fields - 1]->node_case != PG_QUERY__NODE__NODE_A_STAR) {
            BRUME_TRY(add(all, brume_public_output_name(target)));
            continue;
        }
        const char *wanted = star->n_fields == 2 ? star->fields[0]->string->sval : NULL;
        bool found = false;
        for (size_t j = 0; j < select->n_from_clause; j++)
            BRUME_TRY(add_item(all, select->from_clause[j], wanted, &found));
        if (!found)
            return brume_fail(all->error, BRUME_EUNKNOWN, NULL, "there is no '%.60s' in FROM",
                              wanted ? wanted : "");
    }
    return BRUME_OK;
}

brume_status brume_public_outputs(const PgQuery__SelectStmt *select, const brume_catalog *catalog,
                                  char ***names, size_t *count, brume_error *error)
{
    outputs all = {.catalog = catalog, .error = error};
    all.names = calloc(MOST_OUTPUTS, sizeof *all.names);
    if (!all.names)
        return brume_no_memory(error, "a question");
    brume_status status = add_select(&all, select);
    *names = all.names;
    *count = all.count;
    return status;
}

/* ---- texts ---- */

/* See BRUME_WALK_ALL: in a text the quotes would be doubled. The caller frees it; NULL: no memory.
 */
static char *with_all(const char *sql)
{
    static const char mark[] = "GROUP BY '" BRUME_WALK_ALL "'", all[] = "GROUP BY ALL";
    char *copy = strdup(sql);
    for (char *at = copy; at && (at = strstr(at, mark)); at += strlen(all))
        memcpy(at, all, sizeof all - 1); /* as long: see parse.c */
    return copy;
}

brume_status brume_public_text(const PgQuery__ParseResult *tree, char **text, brume_error *error)
{
    size_t size = pg_query__parse_result__get_packed_size(tree);
    uint8_t *packed = malloc(size + 1);
    if (!packed)
        return brume_no_memory(error, "a question");
    pg_query__parse_result__pack(tree, packed);
    PgQueryDeparseResult printed =
        pg_query_deparse_protobuf((PgQueryProtobuf){size, (char *)packed});
    brume_status status = BRUME_OK;
    if (printed.error)
        status = brume_fail(error, BRUME_EUNSUPPORTED, "write it in another way",
                            "the query cannot be printed for the engine");
    else if (!(*text = with_all(printed.query)))
        status = brume_no_memory(error, "a question");
    pg_query_free_deparse_result(printed);
    free(packed);
    return status;
}

static void put_name(FILE *out, const char *name)
{
    fputc('"', out);
    for (; *name; name++) {
        if (*name == '"')
            fputc('"', out);
        fputc(*name, out);
    }
    fputc('"', out);
}

/* A table as an item of WITH: its columns that can be read, and no others. */
static void put_table(FILE *out, size_t index, const brume_catalog_table *table, const char *source)
{
    char name[BRUME_PUBLIC_NAME];
    const char *between = "";
    brume_public_table_name(index, name);
    fprintf(out, "%s%s AS (SELECT ", index ? ", " : "WITH ", name);
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].type.kind != BRUME_TYPE_REFUSED) {
            fputs(between, out);
            put_name(out, table->columns[i].name);
            between = ", ";
        }
    fprintf(out, " FROM %s)", source);
}

brume_status brume_public_query_print(const brume_public_query *query, const brume_catalog *catalog,
                                      brume_dialect dialect, const char *const *tables,
                                      char **statement, brume_error *error)
{
    bool postgresql = dialect == BRUME_DIALECT_POSTGRESQL;
    if (dialect == BRUME_DIALECT_SPARK)
        return brume_fail(error, BRUME_EUNSUPPORTED, "ask the server itself",
                          "a query of public tables alone is not answered on Spark");
    size_t size = 0;
    char *text = NULL;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return brume_no_memory(error, "a statement");
    fputs("SELECT ", out);
    for (size_t i = 0; i < query->output_count; i++)
        fprintf(out,
                postgresql ? "%s\"o%zu\"::text, pg_typeof(\"o%zu\")::text"
                           : "%sCAST(\"o%zu\" AS VARCHAR), typeof(\"o%zu\")",
                i ? ", " : "", i, i);
    fputs(" FROM (", out);
    for (size_t i = 0; i < catalog->table_count; i++)
        put_table(out, i, &catalog->tables[i], tables[i]);
    fputs(" SELECT * FROM (", out);
    fputs(query->sql, out);
    fputs(") AS q (", out);
    for (size_t i = 0; i < query->output_count; i++)
        fprintf(out, "%s\"o%zu\"", i ? ", " : "", i);
    fputs(")) AS r", out);
    if (fclose(out) != 0) {
        free(text);
        return brume_no_memory(error, "a statement");
    }
    *statement = text;
    return BRUME_OK;
}
