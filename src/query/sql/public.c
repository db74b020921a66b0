/* A query that names public tables only: the allow-list. See the header. */
#include "query/sql/public.h"

#include <pg_query.h>
#include <pg_query/pg_query.pb-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "query/expression/query.h"
#include "query/sql/parse.h"
#include "query/sql/tree.h"
#include "query/sql/walk.h"

/* The names in what is run of a table, by its place in the catalog, and of an item of WITH. */
enum { BRUME_PUBLIC_NAME = 40 };

static void public_table_name(size_t table, char name[BRUME_PUBLIC_NAME]);
static void public_with_name(size_t item, char name[BRUME_PUBLIC_NAME]);
static brume_status public_outputs(const PgQuery__SelectStmt *select, const brume_catalog *catalog,
                                   char ***names, size_t *count, brume_error *error);

enum { MOST_NAMES = 4000, MOST_WITHS = 64 };

typedef struct check {
    const brume_catalog *catalog;
    const char *names[MOST_NAMES]; /* that the query gives to columns, tables and windows */
    size_t name_count;
    PgQuery__CommonTableExpr *withs[MOST_WITHS]; /* the items of WITH */
    size_t with_count;
    bool wide; /* SQL over released tables */
    brume_status status;
    brume_error *error;
} check;

static bool is_listed(const char *const *list, const char *word)
{
    for (; *list; list++)
        if (strcasecmp(*list, word) == 0)
            return true;
    return false;
}

static void refuse(check *c, brume_status status, const char *hint, const char *format,
                   const char *what)
{
    char text[300];
    if (c->status != BRUME_OK)
        return;
    snprintf(text, sizeof text, format, what);
    c->status = brume_fail(c->error, status, hint, "%s", text);
}

/* The same of what is not supported: "... is not supported in a query of public tables". */
static void refuse_here(check *c, const char *hint, const char *format, const char *what)
{
    char text[300];
    snprintf(text, sizeof text, format, what);
    refuse(c, BRUME_EUNSUPPORTED, hint,
           c->wide ? "%s is not supported in SQL over released tables"
                   : "%s is not supported in a query of public tables",
           text);
}

/* ---- the lists ---- */

static const char *const kinds[] = {
    "Node",     "SelectStmt",  "ResTarget",    "ColumnRef", "String",       "AStar",
    "AConst",   "Integer",     "Float",        "Boolean",   "AExpr",        "BoolExpr",
    "NullTest", "BooleanTest", "CaseExpr",     "CaseWhen",  "CoalesceExpr", "MinMaxExpr",
    "TypeCast", "TypeName",    "FuncCall",     "SubLink",   "RangeVar",     "RangeSubselect",
    "JoinExpr", "Alias",       "SortBy",       "WindowDef", "WithClause",   "CommonTableExpr",
    "List",     "GroupingSet", "GroupingFunc", NULL};

/* Functions of many rows: aggregates, and those of windows. */
static const char *const row_set_functions[] = {
    "count", "sum", "avg", "min", "max", "stddev", "stddev_pop", "stddev_samp", "variance",
    "var_pop", "var_samp", "median", "mode", "percentile_cont", "percentile_disc", "corr",
    "covar_pop", "covar_samp", "regr_slope", "regr_intercept", "regr_r2", "regr_count", "regr_avgx",
    "regr_avgy", "regr_sxx", "regr_syy", "regr_sxy", "bool_and", "bool_or", "every",
    /* of windows */
    "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead",
    "first_value", "last_value", "nth_value", NULL};

static const char *const functions[] = {"abs",
                                        "sign",
                                        "mod",
                                        "floor",
                                        "ceil",
                                        "ceiling",
                                        "round",
                                        "trunc",
                                        "sqrt",
                                        "ln",
                                        "log",
                                        "log10",
                                        "exp",
                                        "power",
                                        "pow",
                                        "greatest",
                                        "least",
                                        "concat",
                                        "lower",
                                        "upper",
                                        "length",
                                        "char_length",
                                        "character_length",
                                        "octet_length",
                                        "strlen",
                                        "substring",
                                        "substr",
                                        "left",
                                        "right",
                                        "btrim",
                                        "ltrim",
                                        "rtrim",
                                        "trim",
                                        "replace",
                                        "strpos",
                                        "position",
                                        "starts_with",
                                        "split_part",
                                        "extract",
                                        "date_part",
                                        "date_trunc",
                                        "year",
                                        "quarter",
                                        "month",
                                        "week",
                                        "day",
                                        "hour",
                                        "minute",
                                        "second",
                                        "like_escape",
                                        "ifnull",
                                        NULL};

/* SQL over released tables has these too: it always runs in DuckDB. None of them reads anything
 * but its arguments, writes, or depends on the clock, on chance or on the session. */
static const char *const wide_row_set_functions[] = {
    "string_agg", "group_concat", "listagg",   "any_value",      "arg_max",
    "arg_min",    "max_by",       "min_by",    "quantile_cont",  "quantile_disc",
    "quantile",   "mad",          "skewness",  "kurtosis",       "kurtosis_pop",
    "entropy",    "product",      "geomean",   "geometric_mean", "favg",
    "fsum",       "sumkahan",     "kahan_sum", "count_if",       "countif",
    "bit_and",    "bit_or",       "bit_xor",   "regr_slope",     "regr_intercept",
    "regr_r2",    "regr_count",   "regr_avgx", "regr_avgy",      "regr_sxx",
    "regr_syy",   "regr_sxy",     "first",     "last",           NULL};

static const char *const wide_functions[] = {"sin",
                                             "cos",
                                             "tan",
                                             "cot",
                                             "asin",
                                             "acos",
                                             "atan",
                                             "atan2",
                                             "sinh",
                                             "cosh",
                                             "tanh",
                                             "asinh",
                                             "acosh",
                                             "atanh",
                                             "degrees",
                                             "radians",
                                             "pi",
                                             "cbrt",
                                             "log2",
                                             "ln1p",
                                             "gamma",
                                             "lgamma",
                                             "factorial",
                                             "gcd",
                                             "lcm",
                                             "even",
                                             "width_bucket",
                                             "isfinite",
                                             "isnan",
                                             "isinf",
                                             "reverse",
                                             "initcap",
                                             "repeat",
                                             "lpad",
                                             "rpad",
                                             "concat_ws",
                                             "contains",
                                             "prefix",
                                             "suffix",
                                             "ends_with",
                                             "instr",
                                             "ascii",
                                             "chr",
                                             "md5",
                                             "format",
                                             "printf",
                                             "strftime",
                                             "strptime",
                                             "regexp_replace",
                                             "regexp_matches",
                                             "regexp_extract",
                                             "regexp_full_match",
                                             "translate",
                                             "nullif",
                                             "coalesce",
                                             "if",
                                             "make_date",
                                             "make_timestamp",
                                             "date_diff",
                                             "datediff",
                                             "date_sub",
                                             "datesub",
                                             "date_add",
                                             "last_day",
                                             "dayname",
                                             "monthname",
                                             "dayofweek",
                                             "dayofmonth",
                                             "dayofyear",
                                             "isodow",
                                             "isoyear",
                                             "yearweek",
                                             "weekofyear",
                                             "weekday",
                                             "decade",
                                             "century",
                                             "epoch",
                                             "to_days",
                                             "to_months",
                                             "to_years",
                                             "to_weeks",
                                             "to_hours",
                                             "to_minutes",
                                             "to_seconds",
                                             "time_bucket",
                                             "levenshtein",
                                             "damerau_levenshtein",
                                             "jaccard",
                                             "jaro_similarity",
                                             "hamming",
                                             "round_even",
                                             "roundbankers",
                                             "bit_count",
                                             "xor",
                                             "nextafter",
                                             "signbit",
                                             "try",
                                             NULL};

static const char *const operators[] = {"+",   "-",   "*",    "/",       "%",           "^",  "||",
                                        "=",   "<>",  "<",    "<=",      ">",           ">=", "~~",
                                        "!~~", "~~*", "!~~*", "BETWEEN", "NOT BETWEEN", NULL};

static const char *const types[] = {"bool",   "boolean",   "int2",     "int4", "int8",    "float4",
                                    "float8", "double",    "numeric",  "text", "varchar", "bpchar",
                                    "date",   "timestamp", "interval", NULL};

static bool is_function(const char *name, bool wide)
{
    return is_listed(functions, name) || is_listed(row_set_functions, name) ||
           (wide && (is_listed(wide_functions, name) || is_listed(wide_row_set_functions, name)));
}

bool brume_public_is_of_row(const char *name)
{
    return is_listed(functions, name) || is_listed(wide_functions, name);
}

/* ---- nodes ---- */

static bool gives_name(const check *c, const char *name)
{
    for (size_t i = 0; i < c->name_count; i++)
        if (strcasecmp(c->names[i], name) == 0)
            return true;
    return false;
}

static bool is_column(const brume_catalog *catalog, const char *name)
{
    for (size_t i = 0; i < catalog->table_count; i++)
        for (size_t j = 0; j < catalog->tables[i].column_count; j++)
            if (strcasecmp(catalog->tables[i].columns[j].name, name) == 0)
                return catalog->tables[i].columns[j].type.kind != BRUME_TYPE_REFUSED;
    return false;
}

/* The place of a table; SIZE_MAX: there is none. Without a dataset: the name in any. */
static size_t find_table(const brume_catalog *catalog, const char *dataset, const char *name)
{
    for (size_t i = 0; i < catalog->table_count; i++) {
        const brume_catalog_table *table = &catalog->tables[i];
        const char *own = table->dataset ? table->dataset : table->name;
        if (strcasecmp(table->name, name) == 0 &&
            (!dataset || !*dataset || strcmp(own, dataset) == 0))
            return i;
    }
    return SIZE_MAX;
}

static void add_name(check *c, const char *name)
{
    if (!name || !*name)
        return;
    if (c->name_count == MOST_NAMES)
        refuse(c, BRUME_EUNSUPPORTED, "split the query", "the query has too many %s", "names");
    else
        c->names[c->name_count++] = name;
}

static void add_names(check *c, PgQuery__Node *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i]->node_case == PG_QUERY__NODE__NODE_STRING)
            add_name(c, list[i]->string->sval);
}

static void add_with(check *c, PgQuery__CommonTableExpr *with)
{
    if (c->with_count == MOST_WITHS)
        refuse(c, BRUME_EUNSUPPORTED, "split the query", "the query has too many items of %s",
               "WITH");
    else
        c->withs[c->with_count++] = with;
    add_name(c, with->ctename);
    add_names(c, with->aliascolnames, with->n_aliascolnames);
}

/* Which of two items of one name is meant, engines may see differently. */
static void check_with(check *c, const PgQuery__WithClause *with)
{
    for (size_t i = 0; i < with->n_ctes && i <= MOST_WITHS; i++)
        for (size_t j = 0; j < i; j++)
            if (strcasecmp(with->ctes[i]->common_table_expr->ctename,
                           with->ctes[j]->common_table_expr->ctename) == 0)
                refuse(c, BRUME_EARGUMENT, "give one of them another name",
                       "the name '%.60s' stands twice in one WITH",
                       with->ctes[i]->common_table_expr->ctename);
}

/* Names that the query gives, before any is looked up. */
static bool collect_name(void *context, const ProtobufCMessage *message)
{
    check *c = context;
    const char *kind = message->descriptor->short_name;
    if (strcmp(kind, "CommonTableExpr") == 0) {
        add_with(c, (PgQuery__CommonTableExpr *)message);
    } else if (strcmp(kind, "WithClause") == 0) {
        check_with(c, (const PgQuery__WithClause *)message);
    } else if (strcmp(kind, "ResTarget") == 0) {
        add_name(c, ((const PgQuery__ResTarget *)message)->name);
    } else if (strcmp(kind, "WindowDef") == 0) {
        add_name(c, ((const PgQuery__WindowDef *)message)->name);
    } else if (strcmp(kind, "Alias") == 0) {
        const PgQuery__Alias *alias = (const PgQuery__Alias *)message;
        add_name(c, alias->aliasname);
        add_names(c, alias->colnames, alias->n_colnames);
    }
    return c->status == BRUME_OK;
}

static void check_column(check *c, const PgQuery__ColumnRef *reference)
{
    if (reference->n_fields > 2)
        refuse(c, BRUME_EUNSUPPORTED, "write TABLE.COLUMN", "%s is not supported",
               "a column name of three parts");
    for (size_t i = 0; i < reference->n_fields; i++) {
        const PgQuery__Node *field = reference->fields[i];
        if (field->node_case == PG_QUERY__NODE__NODE_A_STAR)
            continue;
        const char *name = field->node_case == PG_QUERY__NODE__NODE_STRING ? field->string->sval
                                                                           : "?";
        if (!gives_name(c, name) && !is_column(c->catalog, name) &&
            !(i + 1 < reference->n_fields && find_table(c->catalog, NULL, name) != SIZE_MAX))
            refuse(c, BRUME_EUNKNOWN, "'brume show' lists the columns of a dataset",
                   "no column '%.60s' in the tables of the query", name);
    }
}

static void check_constant(check *c, const PgQuery__AConst *constant)
{
    if (!constant->isnull && constant->val_case == PG_QUERY__A__CONST__VAL_SVAL &&
        strchr(constant->sval->sval, '\\'))
        refuse_here(c, "engines read it differently: leave it out", "%s in a text", "a backslash");
}

/* Engines differ in how many digits they have, and DuckDB cannot even read of more. */
static void check_digits(check *c, const PgQuery__TypeName *type, const char *name)
{
    int precision, scale;
    if (strcmp(name, "numeric") == 0 && type->n_typmods > 0 &&
        !brume_walk_numeric(type, &precision, &scale))
        refuse(c, BRUME_EUNSUPPORTED, "write numeric(p,s), p from 1 to 38 and s from 0 to p",
               "%s is not supported", "a numeric of these digits");
}

static bool check_node(void *context, const ProtobufCMessage *message)
{
    check *c = context;
    const char *kind = message->descriptor->short_name, *name = NULL;
    if (c->status != BRUME_OK)
        return false;
    if (!is_listed(kinds, kind)) {
        refuse_here(c, "docs/sql.md has what is answered", "%s", kind);
    } else if (strcmp(kind, "FuncCall") == 0) {
        const PgQuery__FuncCall *call = (const PgQuery__FuncCall *)message;
        name = brume_walk_name(call->funcname, call->n_funcname);
        if (!name || !is_function(name, c->wide) || call->func_variadic)
            refuse_here(c, "docs/sql.md lists the functions", "the function %.60s",
                        name ? name : "of another schema");
    } else if (strcmp(kind, "AExpr") == 0) {
        const PgQuery__AExpr *expression = (const PgQuery__AExpr *)message;
        name = expression->n_name == 1 ? brume_walk_name(expression->name, 1) : NULL;
        if (!name || !is_listed(operators, name))
            refuse_here(c, "use arithmetic, comparisons, LIKE, IN and BETWEEN",
                        "the operator %.60s", name ? name : "of another schema");
    } else if (strcmp(kind, "TypeName") == 0) {
        const PgQuery__TypeName *type = (const PgQuery__TypeName *)message;
        name = brume_walk_name(type->names, type->n_names);
        if (!name || !is_listed(types, name) || type->setof || type->pct_type ||
            type->n_array_bounds)
            refuse_here(c, "cast to a number, text, date, timestamp or interval", "the type %.60s",
                        name ? name : "of another schema");
        else
            check_digits(c, type, name);
    } else if (strcmp(kind, "ColumnRef") == 0) {
        check_column(c, (const PgQuery__ColumnRef *)message);
    } else if (strcmp(kind, "AConst") == 0) {
        check_constant(c, (const PgQuery__AConst *)message);
    }
    return c->status == BRUME_OK;
}

/* ---- tables ---- */

static bool replace_text(check *c, char **text, const char *new)
{
    char *copy = strdup(new);
    if (!copy) {
        c->status = brume_no_memory(c->error, "a question");
        return false;
    }
    if (*text && **text) /* an empty one is protobuf's own */
        free(*text);
    *text = copy;
    return true;
}

/* The table is called as it was in the query, where it has no other name there. */
static void keep_name(check *c, PgQuery__RangeVar *table)
{
    if (table->alias)
        return;
    PgQuery__Alias *alias = malloc(sizeof *alias);
    if (!alias) {
        c->status = brume_no_memory(c->error, "a question");
        return;
    }
    pg_query__alias__init(alias);
    if (!replace_text(c, &alias->aliasname, table->relname))
        free(alias);
    else
        table->alias = alias;
}

/* What a table's name means is settled here: it gets a name that only one table of the catalog or
 * one item of WITH has in what is run, so that the engine has nothing to choose. */
static void settle_table(void *context, PgQuery__RangeVar *table,
                         const PgQuery__CommonTableExpr *item)
{
    check *c = context;
    char name[BRUME_PUBLIC_NAME];
    size_t which = 0;
    if (c->status != BRUME_OK)
        return;
    if (table->catalogname && *table->catalogname) {
        refuse(c, BRUME_EUNSUPPORTED, "write DATASET.TABLE", "%s is not supported",
               "a table name of three parts");
        return;
    }
    if (item) {
        while (c->withs[which] != item)
            which++; /* every item was collected */
        public_with_name(which, name);
    } else {
        which = find_table(c->catalog, table->schemaname, table->relname);
        if (which == SIZE_MAX) {
            refuse(c, BRUME_EUNKNOWN, "register it first", "no dataset '%.60s'", table->relname);
            return;
        }
        public_table_name(which, name);
    }
    keep_name(c, table);
    if (table->schemaname && *table->schemaname)
        *table->schemaname = 0;
    if (c->status == BRUME_OK)
        (void)replace_text(c, &table->relname, name);
}

/* to_char(x, 'YYYY-MM') is strftime(x, '%Y-%m') in DuckDB. A format that is not known stays. */
static bool rename_to_char(void *context, const ProtobufCMessage *message)
{
    static const char *const parts[][2] = {
        {"YYYY", "%Y"}, {"YY", "%y"},    {"MM", "%m"}, {"FMMonth", "%B"}, {"Mon", "%b"},
        {"DD", "%d"},   {"FMDay", "%A"}, {"Dy", "%a"}, {"HH24", "%H"},    {"MI", "%M"},
        {"SS", "%S"},   {"IYYY", "%G"},  {"IW", "%V"}, {"DDD", "%j"},     {"ID", "%u"},
    };
    check *c = context;
    PgQuery__FuncCall *call = (PgQuery__FuncCall *)message;
    const char *name = message->descriptor == &pg_query__func_call__descriptor
                           ? brume_walk_name(call->funcname, call->n_funcname)
                           : NULL;
    if (c->status != BRUME_OK || !name || strcmp(name, "to_char") != 0 || call->n_args != 2 ||
        call->args[1]->node_case != PG_QUERY__NODE__NODE_A_CONST ||
        call->args[1]->a_const->val_case != PG_QUERY__A__CONST__VAL_SVAL)
        return c->status == BRUME_OK;
    PgQuery__String *format = call->args[1]->a_const->sval;
    char made[80] = "";
    size_t used = 0, count = 0;
    for (const char *at = format->sval; *at;) {
        const char *const *best = NULL; /* the longest part that it starts with */
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            if (strncmp(at, parts[i][0], strlen(parts[i][0])) == 0 &&
                (!best || strlen(parts[i][0]) > strlen(best[0])))
                best = parts[i];
        if (used + 3 > sizeof made || (!best && !strchr("-/:., _", *at)))
            return true;
        used += (size_t)snprintf(made + used, sizeof made - used, "%.2s",
                                 best ? best[1] : (char[]){*at, 0});
        count += best != NULL;
        at += best ? strlen(best[0]) : 1;
    }
    if (count > 0 && replace_text(c, &format->sval, made))
        (void)replace_text(c, &call->funcname[call->n_funcname - 1]->string->sval, "strftime");
    return true;
}

/* A subquery, or a call over many rows. */
static bool finds_rows(void *context, const ProtobufCMessage *message)
{
    bool *found = context;
    if (message->descriptor == &pg_query__func_call__descriptor) {
        const PgQuery__FuncCall *call = (const PgQuery__FuncCall *)message;
        const char *name = brume_walk_name(call->funcname, call->n_funcname);
        *found = *found || call->over || call->agg_star || call->agg_distinct || call->agg_filter ||
                 call->agg_within_group || !name || is_listed(row_set_functions, name) ||
                 is_listed(wide_row_set_functions, name);
    }
    *found = *found || message->descriptor == &pg_query__sub_link__descriptor;
    return !*found;
}

/* try(value), which is NULL where the value cannot be computed; NULL: memory is out. */
static PgQuery__Node *make_try(PgQuery__Node *value)
{
    PgQuery__Node *node = malloc(sizeof *node), *name = malloc(sizeof *name);
    PgQuery__Node **names = malloc(sizeof *names), **values = malloc(sizeof *values);
    PgQuery__FuncCall *call = malloc(sizeof *call);
    PgQuery__String *text = malloc(sizeof *text);
    char *own = strdup("try");
    if (!node || !name || !names || !values || !call || !text || !own) {
        free(node);
        free(name);
        free(names);
        free(values);
        free(call);
        free(text);
        free(own);
        return NULL;
    }
    pg_query__node__init(node);
    pg_query__node__init(name);
    pg_query__func_call__init(call);
    pg_query__string__init(text);
    text->sval = own;
    name->node_case = PG_QUERY__NODE__NODE_STRING;
    name->string = text;
    names[0] = name;
    values[0] = value;
    call->funcname = names;
    call->n_funcname = 1;
    call->args = values;
    call->n_args = 1;
    call->funcformat = PG_QUERY__COERCION_FORM__COERCE_EXPLICIT_CALL;
    node->node_case = PG_QUERY__NODE__NODE_FUNC_CALL;
    node->func_call = call;
    return node;
}

/* Outputs that are computed are NULL where they cannot be: sqrt(-1), 1e300 * 1e300. Released
 * numbers are not known before they are paid for. DuckDB takes no subquery there, and no window. */
static bool try_outputs(void *context, const ProtobufCMessage *message)
{
    check *c = context;
    const PgQuery__SelectStmt *select = (const PgQuery__SelectStmt *)message;
    if (message->descriptor != &pg_query__select_stmt__descriptor || select->n_distinct_clause > 0)
        return c->status == BRUME_OK;
    for (size_t i = 0; c->status == BRUME_OK && i < select->n_target_list; i++) {
        PgQuery__ResTarget *target = select->target_list[i]->res_target;
        bool found = false;
        brume_tree_visit(&target->val->base, finds_rows, &found);
        if (found || target->val->node_case == PG_QUERY__NODE__NODE_COLUMN_REF ||
            target->val->node_case == PG_QUERY__NODE__NODE_A_CONST)
            continue;
        if (!target->name || !*target->name)
            (void)replace_text(c, &target->name, brume_public_output_name(target));
        PgQuery__Node *made = make_try(target->val);
        if (!made)
            c->status = brume_no_memory(c->error, "a question");
        else
            target->val = made;
    }
    return c->status == BRUME_OK;
}

/* Names of tables first: they are found by the names that the items have until then. */
static void settle_tables(check *c, const PgQuery__SelectStmt *select)
{
    char name[BRUME_PUBLIC_NAME];
    brume_sql_visit_tables(select, settle_table, c);
    for (size_t i = 0; c->status == BRUME_OK && i < c->with_count; i++) {
        public_with_name(i, name);
        (void)replace_text(c, &c->withs[i]->ctename, name);
    }
}

static brume_status same_names(const brume_catalog *catalog, brume_error *error)
{
    for (size_t i = 0; i < catalog->table_count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcasecmp(catalog->tables[i].name, catalog->tables[j].name) == 0)
                return brume_fail(error, BRUME_EUNSUPPORTED, "ask of one dataset at a time",
                                  "two public tables of one query are called '%.60s'",
                                  catalog->tables[i].name);
    return BRUME_OK;
}

void brume_public_query_close(brume_public_query *query)
{
    if (!query)
        return;
    for (size_t i = 0; i < query->output_count; i++)
        free(query->names[i]);
    free(query->names);
    free(query->sql);
    free(query);
}

static brume_status check_all(const brume_sql *sql, const brume_catalog *catalog, bool wide,
                              brume_public_query **out, brume_error *error)
{
    PgQuery__ParseResult *tree = brume_sql_tree(sql);
    check c = {.catalog = catalog, .wide = wide, .error = error};
    const PgQuery__SelectStmt *select = tree->stmts[0]->stmt->select_stmt;
    if (wide)
        brume_tree_visit(&select->base, rename_to_char, &c);
    brume_tree_visit(&select->base, collect_name, &c);
    brume_tree_visit(&select->base, check_node, &c);
    if (c.status != BRUME_OK)
        return c.status;
    BRUME_TRY(same_names(catalog, error));
    settle_tables(&c, select);
    if (wide && c.status == BRUME_OK)
        brume_tree_visit(&select->base, try_outputs, &c);
    if (c.status != BRUME_OK)
        return c.status;
    brume_public_query *made = calloc(1, sizeof *made);
    if (!made)
        return brume_no_memory(error, "a question");
    brume_status status = public_outputs(select, catalog, &made->names, &made->output_count, error);
    if (status == BRUME_OK && made->output_count == 0)
        status = brume_fail(error, BRUME_EUNSUPPORTED, "write SELECT ... FROM ...",
                            "the query has no outputs");
    if (status == BRUME_OK)
        status = brume_public_text(tree, &made->sql, error);
    if (status != BRUME_OK) {
        brume_public_query_close(made);
        return status;
    }
    *out = made;
    return BRUME_OK;
}

brume_status brume_sql_public(const brume_sql *sql, const brume_catalog *catalog,
                              brume_public_query **out, brume_error *error)
{
    return check_all(sql, catalog, false, out, error);
}

brume_status brume_sql_public_wide(const brume_sql *sql, const brume_catalog *catalog,
                                   brume_public_query **out, brume_error *error)
{
    return check_all(sql, catalog, true, out, error);
}

/* What a query of public tables shows, and its text: see public.h.
 *
 * What a query of public tables shows, and its text: parts of public.h. */

enum { MOST_OUTPUTS = 400 };

static void public_table_name(size_t table, char name[BRUME_PUBLIC_NAME])
{
    snprintf(name, BRUME_PUBLIC_NAME, "brume_table_%zu", table);
}

static void public_with_name(size_t item, char name[BRUME_PUBLIC_NAME])
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
        public_table_name(i, name);
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

/* The names of the outputs of a query whose tables have these names, * written out. EUNSUPPORTED: *
 * of something whose columns are not known. The caller frees the names and the list, also after an
 * error. */
static brume_status public_outputs(const PgQuery__SelectStmt *select, const brume_catalog *catalog,
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
    public_table_name(index, name);
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
