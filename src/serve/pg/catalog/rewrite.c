/* Names of PostgreSQL's catalog in the words of DuckDB. Promises: rewrite.h.
 *
 * The tree is walked from the inside out, so that what was put in a place is not looked at again;
 * then libpg_query prints it. Operators and casts that DuckDB lacks become macros of functions.def.
 * What is put into the tree is parsed from SQL, with NULL in the places of the old parts. */
#include "serve/pg/catalog/rewrite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pg_query.h>

#include "base/error.h"
#include "serve/pg/catalog/relation.h"
#include "serve/pg/table.h"

enum { MOST_SOURCES = 64, XID = 28 };

typedef struct rewriting {
    PgQuery__ParseResult *tree;
    brume_pg_rewritten *out;
    bool failed, unknown;
    struct {
        char alias[BRUME_PG_NAME_SIZE];
        uint32_t oid;
    } sources[MOST_SOURCES]; /* for tableoid */
    size_t source_count;
} rewriting;

static void give_up(rewriting *all, const char *reason, const char *what)
{
    if (!all->failed)
        snprintf(all->out->reason, sizeof all->out->reason, "%s%s%.100s", reason, *what ? " " : "",
                 what);
    all->failed = true;
}

/* ---- reading nodes ---- */

static const char *string_of(const PgQuery__Node *node)
{
    return node->node_case == PG_QUERY__NODE__NODE_STRING ? node->string->sval : "";
}

static const char *last_of(PgQuery__Node *const *names, size_t count)
{
    return count ? string_of(names[count - 1]) : "";
}

static bool is_text(const PgQuery__Node *node)
{
    return node->node_case == PG_QUERY__NODE__NODE_A_CONST &&
           node->a_const->val_case == PG_QUERY__A__CONST__VAL_SVAL;
}

static const char *function_of(const PgQuery__Node *node)
{
    return node->node_case == PG_QUERY__NODE__NODE_FUNC_CALL
               ? last_of(node->func_call->funcname, node->func_call->n_funcname)
               : "";
}

static bool is_star(const PgQuery__Node *node)
{
    return node && node->node_case == PG_QUERY__NODE__NODE_COLUMN_REF &&
           node->column_ref->fields[node->column_ref->n_fields - 1]->node_case ==
               PG_QUERY__NODE__NODE_A_STAR;
}

/* The name that PostgreSQL gives to a column of this expression. */
static const char *name_of(const PgQuery__Node *node)
{
    static const char *const values[] = {
        "current_date", "current_time", "current_time",   "current_timestamp", "current_timestamp",
        "localtime",    "localtime",    "localtimestamp", "localtimestamp",    "current_role",
        "current_user", "user",         "session_user",   "current_catalog",   "current_schema"};
    const char *name = "";
    switch (node ? node->node_case : PG_QUERY__NODE__NODE__NOT_SET) {
    case PG_QUERY__NODE__NODE_COLUMN_REF:
        name = last_of(node->column_ref->fields, node->column_ref->n_fields);
        break;
    case PG_QUERY__NODE__NODE_FUNC_CALL:
        name = function_of(node);
        break;
    case PG_QUERY__NODE__NODE_TYPE_CAST:
        name = name_of(node->type_cast->arg);
        if (strcmp(name, "?column?") == 0)
            name = last_of(node->type_cast->type_name->names, node->type_cast->type_name->n_names);
        break;
    case PG_QUERY__NODE__NODE_A_INDIRECTION:
        name = last_of(node->a_indirection->indirection, node->a_indirection->n_indirection);
        return *name ? name : name_of(node->a_indirection->arg);
    case PG_QUERY__NODE__NODE_COLLATE_CLAUSE:
        return name_of(node->collate_clause->arg);
    case PG_QUERY__NODE__NODE_CASE_EXPR:
        name = name_of(node->case_expr->defresult);
        return strcmp(name, "?column?") == 0 ? "case" : name;
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
        return "coalesce";
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR:
        return node->min_max_expr->op == PG_QUERY__MIN_MAX_OP__IS_GREATEST ? "greatest" : "least";
    case PG_QUERY__NODE__NODE_A_EXPR:
        name = node->a_expr->kind == PG_QUERY__A__EXPR__KIND__AEXPR_NULLIF ? "nullif" : "";
        break;
    case PG_QUERY__NODE__NODE_A_ARRAY_EXPR:
        return "array";
    case PG_QUERY__NODE__NODE_ROW_EXPR:
        return "row";
    case PG_QUERY__NODE__NODE_SQLVALUE_FUNCTION:
        return values[node->sqlvalue_function->op - 1];
    case PG_QUERY__NODE__NODE_SUB_LINK: {
        const PgQuery__SelectStmt *select = node->sub_link->subselect->select_stmt;
        if (node->sub_link->sub_link_type == PG_QUERY__SUB_LINK_TYPE__EXISTS_SUBLINK)
            return "exists";
        if (node->sub_link->sub_link_type == PG_QUERY__SUB_LINK_TYPE__ARRAY_SUBLINK)
            return "array";
        if (node->sub_link->sub_link_type == PG_QUERY__SUB_LINK_TYPE__EXPR_SUBLINK &&
            select->n_target_list)
            return *select->target_list[0]->res_target->name
                       ? select->target_list[0]->res_target->name
                       : name_of(select->target_list[0]->res_target->val);
        break;
    }
    default:
        break;
    }
    return *name ? name : "?column?";
}

typedef struct output_name {
    const char *name;
    const PgQuery__Node *value;
} output_name;

static bool find_output(void *context, const ProtobufCMessage *message)
{
    output_name *sought = context;
    const PgQuery__ResTarget *target = (const PgQuery__ResTarget *)message;
    if (message->descriptor == &pg_query__res_target__descriptor && !sought->value &&
        strcmp(target->name, sought->name) == 0)
        sought->value = target->val;
    return true;
}

/* The type of a cast, of a column (by its name, or what a part of the query calls so), and of what
 * is like it; 0: not known. */
static uint32_t type_of(const rewriting *all, const PgQuery__Node *node, int depth)
{
    const brume_pg_type *type = NULL;
    bool is_array = false;
    output_name sought = {.name = name_of(node)};
    switch (node && depth < 8 ? node->node_case : PG_QUERY__NODE__NODE__NOT_SET) {
    case PG_QUERY__NODE__NODE_COLUMN_REF:
        if (strcmp(sought.name, "xmin") == 0 || strcmp(sought.name, "xmax") == 0)
            return XID;
        type = brume_pg_type_of_column(sought.name, &is_array);
        if (!type)
            brume_pg_visit(&all->tree->base, find_output, &sought);
        if (!type && sought.value)
            return type_of(all, sought.value, depth + 1);
        break;
    case PG_QUERY__NODE__NODE_TYPE_CAST: {
        const PgQuery__TypeName *name = node->type_cast->type_name;
        type = brume_pg_type_named(last_of(name->names, name->n_names), &is_array);
        is_array = is_array || name->n_array_bounds > 0;
        break;
    }
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
        return type_of(all, node->coalesce_expr->args[0], depth + 1);
    case PG_QUERY__NODE__NODE_COLLATE_CLAUSE:
        return type_of(all, node->collate_clause->arg, depth + 1);
    case PG_QUERY__NODE__NODE_A_CONST:
        return node->a_const->isnull ? BRUME_PG_TEXT : 0;
    case PG_QUERY__NODE__NODE_SQLVALUE_FUNCTION:
        return node->sqlvalue_function->op >= PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_ROLE
                   ? BRUME_PG_NAME
                   : 0;
    case PG_QUERY__NODE__NODE_FUNC_CALL: {
        static const char *const names[] = {"current_database",    "current_schema",
                                            "getdatabaseencoding", "pg_client_encoding",
                                            "pg_encoding_to_char", "pg_get_userbyid"};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (strcmp(function_of(node), names[i]) == 0)
                return BRUME_PG_NAME;
        return 0;
    }
    default:
        break;
    }
    return !type ? 0 : is_array ? type->array : type->oid;
}

static void note_outputs(rewriting *all, const PgQuery__SelectStmt *select)
{
    while (select->larg)
        select = select->larg;
    all->out->outputs = calloc(select->n_target_list + 1, sizeof *all->out->outputs);
    for (size_t i = 0; all->out->outputs && i < select->n_target_list; i++) {
        const PgQuery__ResTarget *target = select->target_list[i]->res_target;
        brume_pg_output *one = &all->out->outputs[all->out->output_count++];
        one->is_star = is_star(target->val);
        one->type = type_of(all, target->val, 0);
        snprintf(one->name, sizeof one->name, "%s",
                 *target->name ? target->name : name_of(target->val));
    }
}

/* ---- changing nodes ---- */

static void set_text(rewriting *all, char **place, const char *text)
{
    char *copy = strdup(text);
    if (!copy) {
        give_up(all, "no memory", "");
        return;
    }
    if (*place != protobuf_c_empty_string)
        free(*place);
    *place = copy;
}

/* "schema.name" becomes "name". */
static void drop_schema(PgQuery__Node **names, size_t *count)
{
    for (size_t i = 0; i + 1 < *count; i++)
        pg_query__node__free_unpacked(names[i], NULL);
    if (*count > 1)
        names[0] = names[*count - 1];
    *count = *count > 0;
}

static PgQuery__Node *take(PgQuery__Node **place)
{
    PgQuery__Node *taken = *place;
    *place = NULL;
    return taken;
}

/* The first item of FROM of this query, else its first column. */
static PgQuery__Node *parse(rewriting *all, const char *sql)
{
    PgQuery__ParseResult *tree = NULL;
    PgQuery__Node *made = NULL;
    brume_error error;
    int position;
    if (brume_pg_parse(sql, &tree, &position, &error) != BRUME_OK) {
        give_up(all, "no memory", "");
        return NULL;
    }
    PgQuery__SelectStmt *select = tree->stmts[0]->stmt->select_stmt;
    made = select->n_from_clause ? take(&select->from_clause[0])
                                 : take(&select->target_list[0]->res_target->val);
    select->n_from_clause = 0;
    pg_query__parse_result__free_unpacked(tree, NULL);
    return made;
}

/* The i-th argument of a call, or what a cast converts. */
static PgQuery__Node **argument_of(PgQuery__Node *node, size_t i)
{
    return node->node_case == PG_QUERY__NODE__NODE_TYPE_CAST ? &node->type_cast->arg
                                                             : &node->func_call->args[i];
}

/* The node becomes what is parsed; what was in it is freed, and the first two arguments of a call,
 * or what is cast, become these nodes (NULL: they stay). */
static void become(rewriting *all, PgQuery__Node *node, const char *sql, PgQuery__Node *first,
                   PgQuery__Node *second)
{
    PgQuery__Node *made = parse(all, sql), old, *given[] = {first, second};
    for (size_t i = 0; i < 2 && given[i]; i++) {
        PgQuery__Node **place = made ? argument_of(made, i) : NULL;
        pg_query__node__free_unpacked(place ? *place : given[i], NULL);
        if (place)
            *place = given[i];
    }
    if (!made)
        return;
    old = *node;
    *node = *made;
    *made = old;
    pg_query__node__free_unpacked(made, NULL);
}

/* The node becomes the argument of this call. */
static void wrap(rewriting *all, PgQuery__Node *node, const char *sql)
{
    PgQuery__Node *made = parse(all, sql);
    if (!made)
        return;
    PgQuery__Node *argument = *argument_of(made, 0), old = *argument;
    *argument = *node;
    *node = *made;
    *made = old;
    pg_query__node__free_unpacked(made, NULL);
}

/* Words that DuckDB reserves and PostgreSQL, which prints them, does not: with a space behind them
 * they are quoted. */
static void spare(rewriting *all, char **place)
{
    static const char words[] = " anti asof at describe glob lambda map pivot pivot_longer "
                                "pivot_wider positional qualify semi show struct summarize "
                                "try_cast unpack unpivot ";
    char spaced[BRUME_PG_NAME_SIZE + 2];
    snprintf(spaced, sizeof spaced, " %.63s ", *place);
    if (strstr(words, spaced))
        set_text(all, place, spaced + 1);
}

static void spare_names(rewriting *all, PgQuery__Node **list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i]->node_case == PG_QUERY__NODE__NODE_STRING)
            spare(all, &list[i]->string->sval);
}

/* Where there is no alias it is this one, with a column of its name. */
static void set_alias(rewriting *all, PgQuery__Alias **alias, const char *name, bool column)
{
    PgQuery__Node *made = *alias ? NULL : parse(all, "SELECT * FROM a AS a(a)");
    if (!made)
        return;
    *alias = made->range_var->alias;
    made->range_var->alias = NULL;
    pg_query__node__free_unpacked(made, NULL);
    set_text(all, &(*alias)->aliasname, name);
    set_text(all, &(*alias)->colnames[0]->string->sval, name);
    if (!column) {
        pg_query__node__free_unpacked((*alias)->colnames[0], NULL);
        (*alias)->n_colnames = 0;
    }
}

/* ---- tables and columns ---- */

/* A name that is in no catalog of DuckDB's. */
static void name_with(rewriting *all, char **place)
{
    char longer[BRUME_PG_NAME_SIZE + 8];
    snprintf(longer, sizeof longer, "with %.63s", *place);
    set_text(all, place, longer);
}

/* A relation is one of the schema main. An item of WITH gets a name that nothing else has, so that
 * a name out of its scope is not taken for one of DuckDB's own. */
static void name_table(rewriting *all, PgQuery__RangeVar *table)
{
    bool is_item = !*table->schemaname && brume_pg_has_with(&all->tree->base, table->relname);
    const brume_pg_relation *relation = brume_pg_relation_find(
        *table->schemaname ? table->schemaname : "pg_catalog", table->relname);
    set_alias(all, &table->alias, table->relname, false);
    if (is_item) {
        name_with(all, &table->relname);
        return;
    }
    if (!relation || !table->alias) {
        give_up(all, "no such relation:", table->relname);
        all->unknown = !relation;
        return;
    }
    all->out->reads_catalog = true;
    set_text(all, &table->catalogname, "");
    set_text(all, &table->schemaname, "main");
    if (all->source_count < MOST_SOURCES) {
        snprintf(all->sources[all->source_count].alias, BRUME_PG_NAME_SIZE, "%s",
                 table->alias->aliasname);
        all->sources[all->source_count++].oid = relation->oid;
    }
}

/* tableoid is the number of the relation that has this alias, else of the first. */
static void name_column(rewriting *all, PgQuery__Node *node)
{
    PgQuery__ColumnRef *column = node->column_ref;
    const char *name = last_of(column->fields, column->n_fields);
    const char *of = column->n_fields > 1 ? string_of(column->fields[column->n_fields - 2]) : NULL;
    char number[40] = "SELECT 0::int8";
    if (strcmp(name, "tableoid") == 0)
        for (size_t i = all->source_count; i-- > 0;)
            if (!of || strcmp(all->sources[i].alias, of) == 0)
                snprintf(number, sizeof number, "SELECT %u::int8", all->sources[i].oid);
    if (strcmp(name, "tableoid") == 0 || strcmp(name, "xmin") == 0 || strcmp(name, "xmax") == 0) {
        become(all, node, number, NULL, NULL);
    } else if (strcmp(name, "ctid") == 0) {
        become(all, node, "SELECT '(0,0)'", NULL, NULL);
    } else {
        for (; column->n_fields > 2; column->n_fields--) { /* the alias is enough */
            pg_query__node__free_unpacked(column->fields[0], NULL);
            memmove((void *)column->fields, (void *)(column->fields + 1),
                    (column->n_fields - 1) * sizeof *column->fields);
        }
        spare_names(all, column->fields, column->n_fields);
    }
}

/* How a value becomes a text: numbers that stand for a name (casts to regclass and the like) become
 * that name. */
static const char *text_form(const PgQuery__Node *value)
{
    static const char *const forms[][2] = {
        {"brume_to_regclass", "SELECT brume_regclass_text(NULL)"},
        {"brume_to_regtype", "SELECT brume_format_type(NULL, NULL)"},
        {"brume_to_regnamespace", "SELECT brume_regnamespace_text(NULL)"},
        {"brume_to_regrole", "SELECT brume_pg_get_userbyid(NULL)"}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(function_of(value), forms[i][0]) == 0)
            return forms[i][1];
    return "SELECT NULL::text";
}

static void name_text(rewriting *all, PgQuery__Node *value)
{
    if (strncmp(function_of(value), "brume_to_reg", 12) == 0)
        wrap(all, value, text_form(value));
}

/* ---- functions ---- */

static bool is_listed(const char *list, const char *name)
{
    char word[BRUME_PG_NAME_SIZE + 2];
    return !strchr(name, ' ') && snprintf(word, sizeof word, " %s ", name) < (int)sizeof word &&
           strstr(list, word);
}

static void name_function(rewriting *all, PgQuery__Node *node)
{
    static const char builtins[] =
#define BRUME_PG_BUILTINS(...) " " #__VA_ARGS__ " "
#define BRUME_PG_MACRO(name, ...)
#include "serve/pg/catalog/functions.def"
#undef BRUME_PG_BUILTINS
#undef BRUME_PG_MACRO
        ;
    static const char macros[] =
#define BRUME_PG_BUILTINS(...)
#define BRUME_PG_MACRO(name, ...) " " #name
#include "serve/pg/catalog/functions.def"
#undef BRUME_PG_BUILTINS
#undef BRUME_PG_MACRO
        " ";
    static const char *const starts[] = {"pg_", "_pg_", "has_", "txid_", "inet_", "json_"};
    PgQuery__FuncCall *call = node->func_call;
    char name[BRUME_PG_NAME_SIZE + 8];
    snprintf(name, sizeof name, "brume_%.63s", function_of(node));
    call->funcformat = PG_QUERY__COERCION_FORM__COERCE_EXPLICIT_CALL;
    drop_schema(call->funcname, &call->n_funcname);
    if (strcmp(name, "brume_format") == 0 && call->n_args > 1) { /* the values as an array */
        PgQuery__Node *values = parse(all, "SELECT ARRAY[NULL]");
        if (!values)
            return;
        pg_query__node__free_unpacked(values->a_array_expr->elements[0], NULL);
        free((void *)values->a_array_expr->elements);
        values->a_array_expr->elements = call->args;
        values->a_array_expr->n_elements = call->n_args - 1;
        PgQuery__Node *first = call->args[0];
        for (size_t i = 1; i < call->n_args; i++)
            wrap(all, call->args[i], text_form(call->args[i]));
        memmove((void *)call->args, (void *)(call->args + 1),
                (call->n_args - 1) * sizeof *call->args);
        call->n_args = 0;
        call->args = NULL;
        become(all, node, "SELECT brume_format(NULL, NULL)", first, values);
        return;
    }
    if (is_listed(macros, name + 6)) {
        set_text(all, &call->funcname[0]->string->sval, name);
        if (strncmp(name, "brume_generate_", 15) == 0)
            wrap(all, node, "SELECT unnest(NULL)");
        return;
    }
    if (is_listed(builtins, name + 6)) {
        for (size_t i = 0; i < call->n_args; i++)
            name_text(all, call->args[i]);
        return;
    }
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(name + 6, starts[i], strlen(starts[i])) == 0) {
            become(all, node, "SELECT NULL::text", NULL, NULL); /* PostgreSQL on itself */
            return;
        }
    give_up(all, "unknown function", name + 6);
}

/* A function in FROM: a relation without rows, or items of an array; a value is an array of one.
 * Its column has the name of the item. */
static void name_rows(rewriting *all, PgQuery__Node *node)
{
    PgQuery__RangeFunction *range = node->range_function;
    PgQuery__Node **first = range->n_functions == 1 && range->functions[0]->list->n_items > 0
                                ? &range->functions[0]->list->items[0]
                                : NULL;
    const char *name = first ? name_of(*first) : "";
    const brume_pg_relation *relation = brume_pg_relation_find("rows", name);
    relation = relation ? relation : brume_pg_relation_find("pg_catalog", name);
    if (!first || range->n_coldeflist) {
        give_up(all, "functions in FROM", "");
        return;
    }
    set_alias(all, &range->alias, name, !relation);
    if (relation) {
        char sql[BRUME_PG_NAME_SIZE + 32];
        PgQuery__Alias *alias = range->alias;
        range->alias = NULL;
        snprintf(sql, sizeof sql, "SELECT * FROM pg_catalog.%s", relation->name);
        become(all, node, sql, NULL, NULL);
        if (node->node_case == PG_QUERY__NODE__NODE_RANGE_VAR) {
            node->range_var->alias = alias;
            set_text(all, &node->range_var->schemaname, "main");
        }
        all->out->reads_catalog = true;
        return;
    }
    if (range->alias && range->alias->n_colnames == 0) {
        char *alias = range->alias->aliasname;
        range->alias->aliasname = (char *)(uintptr_t)protobuf_c_empty_string;
        pg_query__alias__free_unpacked(range->alias, NULL);
        range->alias = NULL;
        set_alias(all, &range->alias, alias, true);
        free(alias);
    }
}

/* ---- casts and operators ---- */

static void name_cast(rewriting *all, PgQuery__Node *node)
{
    const PgQuery__TypeName *name = node->type_cast->type_name;
    bool is_array = false;
    const brume_pg_type *type = brume_pg_type_named(last_of(name->names, name->n_names), &is_array);
    const char *stored = type ? type->stored : "text";
    PgQuery__Node *value = take(&node->type_cast->arg);
    char sql[80];
    is_array = is_array || name->n_array_bounds > 0 || strchr(stored, '[');
    snprintf(sql, sizeof sql, "SELECT NULL::%.*s%s", (int)strcspn(stored, "["), stored,
             is_array ? "[]" : "");
    if (type && !is_array && strncmp(type->name, "reg", 3) == 0)
        snprintf(sql, sizeof sql, "SELECT brume_to_%s(NULL)", type->name);
    else if (type && !is_array && strcmp(type->name, "oid") == 0)
        snprintf(sql, sizeof sql, "SELECT brume_oid(NULL)");
    else if (!is_array && strcmp(stored, "text") == 0)
        snprintf(sql, sizeof sql, "%s", text_form(value));
    if (is_array && is_text(value))
        wrap(all, value, "SELECT brume_array(NULL)");
    become(all, node, sql, value, NULL);
}

/* Operators that are macros: between two values, and between a value and all items of an array. */
typedef struct spelling {
    const char *name, *sql, *any, *all;
} spelling;

static const spelling spellings[] = {
    {"=", NULL, "SELECT brume_has(NULL, NULL)", NULL},
    {"<>", NULL, NULL, "SELECT brume_has_not(NULL, NULL)"},
    {"~", "SELECT brume_matches(NULL, NULL)", "SELECT brume_any_matches(NULL, NULL)", NULL},
    {"!~", "SELECT brume_not_matches(NULL, NULL)", NULL, NULL},
    {"~*", "SELECT brume_imatches(NULL, NULL)", NULL, NULL},
    {"!~*", "SELECT brume_not_imatches(NULL, NULL)", NULL, NULL},
    {"~~", "SELECT brume_like(NULL, NULL)", "SELECT brume_any_like(NULL, NULL)", NULL},
    {"!~~", "SELECT brume_not_like(NULL, NULL)", NULL, NULL},
    {"~~*", "SELECT brume_ilike(NULL, NULL)", NULL, NULL},
    {"!~~*", "SELECT brume_not_ilike(NULL, NULL)", NULL, NULL},
};

static void name_operator(rewriting *all, PgQuery__Node *node)
{
    static const char known[] = " = <> < > <= >= + - * / % & | << >> || @> <@ && ";
    PgQuery__AExpr *compared = node->a_expr;
    const spelling *found = NULL;
    drop_schema(compared->name, &compared->n_name);
    const char *name = last_of(compared->name, compared->n_name), *sql = NULL;
    bool any = compared->kind == PG_QUERY__A__EXPR__KIND__AEXPR_OP_ANY;
    bool every = compared->kind == PG_QUERY__A__EXPR__KIND__AEXPR_OP_ALL;
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (strcmp(spellings[i].name, name) == 0)
            found = &spellings[i];
    if (any || every) {
        if (is_text(compared->rexpr)) { /* items of texts, whatever they are compared with */
            wrap(all, compared->rexpr, "SELECT brume_array(NULL)");
            wrap(all, compared->lexpr, "SELECT brume_text(NULL)");
        }
        sql = found ? any ? found->any : found->all : NULL;
        if (sql)
            become(all, node, sql, take(&compared->rexpr), take(&compared->lexpr));
        else if (!is_listed(known, name))
            give_up(all, "unknown comparison with an array", name);
        return;
    }
    if (strcmp(name, "||") == 0 && compared->lexpr) {
        name_text(all, compared->lexpr);
        name_text(all, compared->rexpr);
    }
    if (found && found->sql && compared->lexpr)
        become(all, node, found->sql, take(&compared->lexpr), take(&compared->rexpr));
    else if (compared->n_name && !is_listed(known, name) &&
             !strstr(name, "BETWEEN")) /* the names of BETWEEN are words */
        give_up(all, "unknown operator", name);
}

/* ---- the walk ---- */

/* Before what is in it is walked. */
static void enter(rewriting *all, PgQuery__Node *node)
{
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_RANGE_FUNCTION:
        name_rows(all, node);
        break;
    case PG_QUERY__NODE__NODE_RES_TARGET:
        if (!*node->res_target->name && node->res_target->val && !is_star(node->res_target->val))
            set_text(all, &node->res_target->name, name_of(node->res_target->val));
        if (node->res_target->val &&
            node->res_target->val->node_case == PG_QUERY__NODE__NODE_A_CONST &&
            node->res_target->val->a_const->isnull)
            become(all, node->res_target->val, "SELECT NULL::text", NULL, NULL);
        spare(all, &node->res_target->name);
        break;
    case PG_QUERY__NODE__NODE_SELECT_STMT:
        for (size_t i = 0; i < node->select_stmt->n_locking_clause; i++)
            pg_query__node__free_unpacked(node->select_stmt->locking_clause[i], NULL);
        node->select_stmt->n_locking_clause = 0;
        break;
    default:
        break;
    }
}

/* Kinds of nodes that stay as they are. */
static bool is_plain(const PgQuery__Node *node)
{
    static const PgQuery__Node__NodeCase plain[] = {
        PG_QUERY__NODE__NODE_A_ARRAY_EXPR,  PG_QUERY__NODE__NODE_A_CONST,
        PG_QUERY__NODE__NODE_A_INDICES,     PG_QUERY__NODE__NODE_A_INDIRECTION,
        PG_QUERY__NODE__NODE_A_STAR,        PG_QUERY__NODE__NODE_BOOL_EXPR,
        PG_QUERY__NODE__NODE_BOOLEAN_TEST,  PG_QUERY__NODE__NODE_CASE_EXPR,
        PG_QUERY__NODE__NODE_CASE_WHEN,     PG_QUERY__NODE__NODE_COALESCE_EXPR,
        PG_QUERY__NODE__NODE_GROUPING_FUNC, PG_QUERY__NODE__NODE_GROUPING_SET,
        PG_QUERY__NODE__NODE_INTEGER,       PG_QUERY__NODE__NODE_JOIN_EXPR,
        PG_QUERY__NODE__NODE_LIST,          PG_QUERY__NODE__NODE_MIN_MAX_EXPR,
        PG_QUERY__NODE__NODE_NULL_TEST,     PG_QUERY__NODE__NODE_RANGE_SUBSELECT,
        PG_QUERY__NODE__NODE_RANGE_VAR,     PG_QUERY__NODE__NODE_RES_TARGET,
        PG_QUERY__NODE__NODE_ROW_EXPR,      PG_QUERY__NODE__NODE_SELECT_STMT,
        PG_QUERY__NODE__NODE_SORT_BY,       PG_QUERY__NODE__NODE_STRING,
        PG_QUERY__NODE__NODE_WINDOW_DEF,    PG_QUERY__NODE__NODE__NOT_SET};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (node->node_case == plain[i])
            return true;
    return false;
}

/* After what is in it was walked. */
static void leave(rewriting *all, PgQuery__Node *node)
{
    if (is_plain(node))
        return;
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_COLUMN_REF:
        name_column(all, node);
        break;
    case PG_QUERY__NODE__NODE_TYPE_CAST:
        name_cast(all, node);
        break;
    case PG_QUERY__NODE__NODE_A_EXPR:
        name_operator(all, node);
        break;
    case PG_QUERY__NODE__NODE_FUNC_CALL:
        name_function(all, node);
        break;
    case PG_QUERY__NODE__NODE_SQLVALUE_FUNCTION: {
        PgQuery__SQLValueFunctionOp op = node->sqlvalue_function->op;
        const char *sql = "SELECT now()";
        if (op >= PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_SCHEMA)
            sql = "SELECT brume_current_schema()";
        else if (op == PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_CATALOG)
            sql = "SELECT brume_current_database()";
        else if (op >= PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_ROLE)
            sql = "SELECT brume_current_user()";
        become(all, node, sql, NULL, NULL);
        break;
    }
    case PG_QUERY__NODE__NODE_RANGE_FUNCTION: {
        PgQuery__Node *first = node->range_function->functions[0]->list->items[0];
        if (strcmp(function_of(first), "unnest") != 0) {
            wrap(all, first, "SELECT brume_one(NULL)");
            wrap(all, first, "SELECT unnest(NULL)");
        }
        break;
    }
    case PG_QUERY__NODE__NODE_COLLATE_CLAUSE: {
        PgQuery__Node *value = take(&node->collate_clause->arg), old = *node;
        *node = *value;
        *value = old;
        pg_query__node__free_unpacked(value, NULL);
        break;
    }
    case PG_QUERY__NODE__NODE_SUB_LINK:
        drop_schema(node->sub_link->oper_name, &node->sub_link->n_oper_name);
        break;
    case PG_QUERY__NODE__NODE_COMMON_TABLE_EXPR:
        spare_names(all, node->common_table_expr->aliascolnames,
                    node->common_table_expr->n_aliascolnames);
        break;
    default:
        give_up(all, "unknown expression", "");
    }
}

static void walk(rewriting *all, ProtobufCMessage *message)
{
    bool is_node = message && message->descriptor == &pg_query__node__descriptor;
    if (!message || all->failed)
        return;
    if (is_node)
        enter(all, (PgQuery__Node *)message);
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        char *place = (char *)message + field->offset;
        unsigned *chosen = (void *)((char *)message + field->quantifier_offset);
        if (field->type != PROTOBUF_C_TYPE_MESSAGE)
            continue;
        if (field->label == PROTOBUF_C_LABEL_REPEATED)
            for (size_t j = 0; j < *(size_t *)(void *)chosen; j++)
                walk(all, (*(ProtobufCMessage ***)(void *)place)[j]);
        else if (!(field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) || *chosen == field->id)
            walk(all, *(ProtobufCMessage **)(void *)place);
    }
    if (is_node && !all->failed)
        leave(all, (PgQuery__Node *)message);
    else if (message->descriptor == &pg_query__alias__descriptor) {
        PgQuery__Alias *alias = (PgQuery__Alias *)message;
        spare(all, &alias->aliasname);
        spare_names(all, alias->colnames, alias->n_colnames);
    }
}

static bool enter_table(void *context, const ProtobufCMessage *message)
{
    if (message->descriptor == &pg_query__range_var__descriptor)
        name_table(context, (PgQuery__RangeVar *)(uintptr_t)message);
    return true;
}

static bool enter_item(void *context, const ProtobufCMessage *message)
{
    if (message->descriptor == &pg_query__common_table_expr__descriptor)
        name_with(context, &((PgQuery__CommonTableExpr *)(uintptr_t)message)->ctename);
    return true;
}

static void print(rewriting *all)
{
    PgQueryProtobuf packed = {.len = pg_query__parse_result__get_packed_size(all->tree)};
    packed.data = malloc(packed.len + 1);
    if (!packed.data)
        return;
    (void)pg_query__parse_result__pack(all->tree, (uint8_t *)packed.data);
    PgQueryDeparseResult printed = pg_query_deparse_protobuf(packed);
    if (printed.error)
        give_up(all, printed.error->message, "");
    else
        all->out->sql = strdup(printed.query);
    pg_query_free_deparse_result(printed);
    free(packed.data);
}

brume_status brume_pg_rewrite(PgQuery__ParseResult *tree, brume_pg_rewritten *out,
                              brume_error *error)
{
    rewriting *all = calloc(1, sizeof *all);
    if (!all)
        return brume_no_memory(error, "the query");
    *out = (brume_pg_rewritten){0};
    *all = (rewriting){.tree = tree, .out = out};
    note_outputs(all, tree->stmts[0]->stmt->select_stmt);
    brume_pg_visit(&tree->base, enter_table, all);
    brume_pg_visit(&tree->base, enter_item, all);
    walk(all, &tree->base);
    if (!all->failed)
        print(all);
    bool unknown = all->unknown, complete = out->outputs && (out->sql || *out->reason);
    free(all);
    if (complete && !unknown)
        return BRUME_OK;
    brume_status status = unknown ? brume_fail(error, BRUME_EUNKNOWN, NULL, "%s", out->reason)
                                  : brume_no_memory(error, "the query");
    brume_pg_rewritten_clear(out);
    return status;
}

void brume_pg_rewritten_clear(brume_pg_rewritten *rewritten)
{
    free(rewritten->sql);
    free(rewritten->outputs);
    *rewritten = (brume_pg_rewritten){0};
}
