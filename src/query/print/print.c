/* Whole queries: relations as nested sub-selects.
 *
 * Column j of relation n is called "cn_j" everywhere, so that no name needs a qualifier and SELECT
 * * carries everything up; only columns that the query uses are printed. */
#include "query/print/print.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "engine/driver.h"
#include "query/expression/build.h"
#include "query/print/print_expression.h"
#include "query/print/statement.h"

/* Rows of one table that stay on their server and are grouped there (statement.h). */
typedef struct brume_staying {
    brume_bytewise bytewise;
    void *context;
    size_t unit; /* its column in the table */
    bool *mixed; /* columns that are part of other expressions than a column by itself */
} brume_staying;

static brume_status print_rows(const brume_query *query, brume_dialect dialect,
                               const char *const *tables, const brume_staying *staying,
                               const brume_expression *const *expressions, size_t count, char **sql,
                               brume_error *error);

/* The pieces that printed expressions are made of: formats, quotes, types, literals, names.
 *
 * RANGE makes what is not strictly inside NULL and mentions its operand once. */

const char *brume_print_format(brume_printer *printer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = length < 0 ? NULL : brume_arena_allocate(printer->arena, (size_t)length + 1);
    if (!text) {
        printer->failed = true;
        return "";
    }
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

#define FORMAT(...) brume_print_format(printer, __VA_ARGS__)

void brume_print_add(brume_printer *printer, brume_print_list *list, const char *separator,
                     const char *item)
{
    size_t before = list->length ? strlen(separator) : 0, more = strlen(item);
    size_t need = list->length + before + more + 1;
    if (need > list->room) {
        char *grown = brume_arena_allocate(printer->arena, 2 * need);
        if (!grown) {
            printer->failed = true;
            return;
        }
        if (list->length)
            memcpy(grown, list->text, list->length);
        list->text = grown;
        list->room = 2 * need;
    }
    memcpy(list->text + list->length, separator, before);
    memcpy(list->text + list->length + before, item, more + 1);
    list->length = need - 1;
}

const char *brume_print_quoted(brume_printer *printer, const char *text)
{
    char *quoted = brume_arena_allocate(printer->arena, 2 * strlen(text) + 3), *end = quoted;
    if (!quoted) {
        printer->failed = true;
        return "''";
    }
    *end++ = '\'';
    for (; *text; text++) {
        if (*text == '\'' || (*text == '\\' && printer->spark))
            *end++ = printer->spark ? '\\' : '\'';
        *end++ = *text;
    }
    *end = '\'';
    return quoted;
}

const char *brume_print_typed(brume_printer *printer, const char *text, const char *type)
{
    return FORMAT(printer->postgresql ? "%s::%s" : "CAST(%s AS %s)",
                  brume_print_quoted(printer, text), type);
}

const char *brume_print_cast(brume_printer *printer, const char *value, const char *type)
{
    return FORMAT(printer->postgresql ? "(%s)::%s" : "CAST(%s AS %s)", value, type);
}

const char *brume_print_range(brume_printer *printer, const char *value, const char *low,
                              const char *high, const char *type)
{
    const char *a = brume_print_typed(printer, low, type);
    const char *b = brume_print_typed(printer, high, type);
    return FORMAT("NULLIF(NULLIF(LEAST(GREATEST(%s, %s), %s), %s), %s)", value, a, b, a, b);
}

const char *brume_print_type(brume_printer *printer, brume_type type)
{
    static const char *const names[][3] = {
        [BRUME_TYPE_BOOLEAN] = {"BOOLEAN", "bool", "BOOLEAN"},
        [BRUME_TYPE_INTEGER] = {"INTEGER", "int4", "INT"},
        [BRUME_TYPE_BIGINT] = {"BIGINT", "int8", "BIGINT"},
        [BRUME_TYPE_DOUBLE] = {"DOUBLE", "float8", "DOUBLE"},
        [BRUME_TYPE_TEXT] = {"VARCHAR", "text", "STRING"},
        [BRUME_TYPE_DATE] = {"DATE", "date", "DATE"},
        [BRUME_TYPE_TIMESTAMP] = {"TIMESTAMP", "timestamp", "TIMESTAMP_NTZ"},
    };
    if (type.kind == BRUME_TYPE_DECIMAL)
        return FORMAT(printer->postgresql ? "numeric(%d,%d)" : "DECIMAL(%d,%d)", type.precision,
                      type.scale);
    return names[type.kind][printer->dialect];
}

const char *brume_print_literal(brume_printer *printer, brume_type type, const char *text)
{
    const char *name = brume_print_type(printer, type);
    if (!text)
        return printer->postgresql
                   ? FORMAT(type.kind == BRUME_TYPE_TEXT ? "(NULL::%s COLLATE \"C\")" : "NULL::%s",
                            name)
                   : FORMAT("CAST(NULL AS %s)", name);
    if (printer->postgresql && type.kind == BRUME_TYPE_TEXT)
        return FORMAT("(%s::text COLLATE \"C\")", brume_print_quoted(printer, text));
    return brume_print_typed(printer, text, name);
}

brume_piece brume_print_refuse(brume_printer *printer, const char *why)
{
    if (!printer->refused)
        printer->refused = why;
    return (brume_piece){"NULL", 0, false};
}

/* ---- let ---- */

int brume_print_level(brume_piece a, brume_piece b)
{
    return a.level > b.level ? a.level : b.level;
}

brume_piece brume_print_let(brume_printer *printer, brume_piece piece)
{
    if (piece.atom || printer->failed)
        return piece;
    for (size_t i = 0; i < printer->step_count; i++)
        if (printer->steps[i].level == piece.level &&
            strcmp(printer->steps[i].text, piece.text) == 0)
            return (brume_piece){FORMAT("\"v%zu\"", printer->steps[i].name), piece.level + 1, true};
    if (printer->step_count == printer->step_capacity) {
        size_t capacity = 2 * printer->step_capacity + 16;
        brume_step *grown = brume_arena_allocate(printer->arena, capacity * sizeof *grown);
        if (!grown) {
            printer->failed = true;
            return piece;
        }
        if (printer->step_count)
            memcpy(grown, printer->steps, printer->step_count * sizeof *grown);
        printer->steps = grown;
        printer->step_capacity = capacity;
    }
    brume_step *step = &printer->steps[printer->step_count++];
    *step = (brume_step){piece.level, printer->names++, piece.text};
    return (brume_piece){FORMAT("\"v%zu\"", step->name), piece.level + 1, true};
}

/* The SELECT of rows, for rows that come here and for rows that stay on their server.
 *
 * Rows that stay are grouped there by unit and keys. PostgreSQL sends a GROUP BY to the servers
 * that have the rows if nothing but columns and simple expressions of their own collation is in it:
 * so a text that is a key and nothing else keeps its column's collation where that compares bytes,
 * and the unit, which is no result, is not widened. */

brume_status brume_query_print_rows(const brume_query *query, brume_dialect dialect,
                                    const char *const *tables,
                                    const brume_expression *const *expressions, size_t count,
                                    char **sql, brume_error *error)
{
    return print_rows(query, dialect, tables, NULL, expressions, count, sql, error);
}

/* A unit of text is compared byte by byte here, whatever another server that has it would do: two
 * units taken for one would share their limits. */
static const char *print_stored(brume_printer *printer, const brume_staying *staying,
                                const brume_relation *relation, size_t column, const char *quoted)
{
    const brume_relation_column *of = &relation->columns[column];
    brume_type type = of->reference->type;
    if (!staying || !quoted)
        return NULL;
    if (type.kind == BRUME_TYPE_INTEGER && of->leaf == BRUME_LEAF_CAST)
        return FORMAT(staying->mixed[column] ? "%s::int4" : "%s", quoted);
    if (staying->mixed[column])
        return NULL;
    if (type.kind != BRUME_TYPE_TEXT || column == staying->unit)
        return NULL;
    brume_bytes known = staying->bytewise(staying->context, relation->table, of->stored);
    if (known == BRUME_BYTES_LISTED) /* and none of them is too long; the server knows how many rows
                                        have these texts, and plans better */
        return FORMAT("%s::text", quoted);
    if (known != BRUME_BYTES_COMPARED)
        return NULL;
    return FORMAT("CASE WHEN octet_length(%s::text) <= %d THEN %s::text END", quoted,
                  BRUME_TEXT_BYTES_MOST, quoted);
}

static void mix(bool *mixed, const brume_expression *node)
{
    if (node->operation == BRUME_OPERATION_COLUMN)
        mixed[node->column] = true;
    for (size_t i = 0; i < node->argument_count; i++)
        mix(mixed, node->arguments[i]);
}

brume_status brume_query_print_staying(const brume_query *query, brume_dialect dialect,
                                       const char *const *tables, brume_bytewise bytewise,
                                       void *context, const brume_expression *const *expressions,
                                       size_t count, char **sql, brume_error *error)
{
    brume_type_kind kind = expressions[0]->type.kind;
    if (dialect != BRUME_DIALECT_POSTGRESQL || query->from->kind != BRUME_RELATION_TABLE ||
        expressions[0]->operation != BRUME_OPERATION_COLUMN ||
        (kind != BRUME_TYPE_INTEGER && kind != BRUME_TYPE_BIGINT))
        return brume_query_print_rows(query, dialect, tables, expressions, count, sql, error);
    brume_staying staying = {bytewise, context, expressions[0]->column,
                             calloc(query->from->column_count + 1, sizeof *staying.mixed)};
    if (!staying.mixed)
        return brume_no_memory(error, "a statement");
    if (query->where)
        mix(staying.mixed, query->where);
    if (brume_query_cut_of(query, query->from))
        mix(staying.mixed, brume_query_cut_of(query, query->from));
    for (size_t i = 0; i < count; i++)
        if (expressions[i]->operation != BRUME_OPERATION_COLUMN)
            mix(staying.mixed, expressions[i]);
    brume_status status =
        print_rows(query, dialect, tables, &staying, expressions, count, sql, error);
    free(staying.mixed);
    return status;
}

/* What a group is summarised by in a subquery, and exact sums.
 *
 * What a group is summarised by in a subquery, and exact sums. */

/* The sum of 64-bit integers in more than 64 bits, 0 where there are none. */
static const char *print_exact_sum(brume_printer *printer, const char *of)
{
    return printer->spark ? FORMAT("coalesce(sum(CAST(%s AS DECIMAL(28,0))), 0)", of)
                          : FORMAT("coalesce(sum(%s), 0)", of);
}

/* A fold of `argument` (NULL: of rows) in the type of `result`, of a group; with `over`, a window's
 * OVER (...), of its frame. */
static const char *print_fold(brume_printer *printer, brume_fold fold,
                              const brume_expression *argument, brume_type result, const char *over)
{
    if (fold == BRUME_FOLD_COUNT_ROWS)
        return FORMAT("count(*)%s", over);
    brume_type type = argument->type;
    const char *x = brume_print_expression(printer, argument).text;
    bool pg = printer->postgresql;
    /* One zero, so that which of -0 and 0 came first does not show. */
    if (type.kind == BRUME_TYPE_DOUBLE)
        x = FORMAT("%s + %s", x, brume_print_typed(printer, "0", pg ? "float8" : "DOUBLE"));
    switch (fold) {
    case BRUME_FOLD_COUNT:
        return FORMAT("count(%s)%s", x, over);
    case BRUME_FOLD_COUNT_DISTINCT:
        return FORMAT("count(DISTINCT %s)%s", x, over);
    case BRUME_FOLD_MIN:
        return FORMAT("min(%s)%s", x, over);
    case BRUME_FOLD_MAX:
        return FORMAT("max(%s)%s", x, over);
    default:
        break;
    }
    /* Exact sums of integers or of decimals of at most 18 digits cannot overflow 128 bits. */
    if (type.kind == BRUME_TYPE_DECIMAL) {
        char digits[64];
        snprintf(digits, sizeof digits, "1%0*d", 28 - type.scale, 0);
        const char *sum = FORMAT("sum(%s)%s", x, over);
        const char *name = FORMAT(pg ? "numeric" : "DECIMAL(38,%d)", type.scale);
        return brume_print_cast(
            printer, brume_print_range(printer, sum, FORMAT("-%s", digits), digits, name),
            brume_print_type(printer, result));
    }
    /* Spark's sums of integers are integers of 64 bits. */
    const char *each = pg ? "int8" : printer->spark ? "DECIMAL(28,0)" : "BIGINT";
    const char *wide = pg ? "numeric" : printer->spark ? "DECIMAL(38,0)" : "HUGEINT";
    const char *sum = FORMAT("sum(%s)%s", brume_print_cast(printer, x, each), over);
    return brume_print_cast(
        printer,
        brume_print_range(printer, sum, "-9223372036854775809", "9223372036854775808", wide),
        pg ? "int8" : "BIGINT");
}

/* Calls with OVER. The unit is the first part of PARTITION BY, and where the function depends on
 * which row comes first the order is total (proofs/unit-local.md): without either another unit's
 * rows, or the place of a row in its table, would decide. tests/query/test_links.c has both as
 * mutants.
 *
 * Functions of one unit's rows in an order. */

/* An expression where a call stands: -0 and 0, which are alike in any order, are one zero. */
static const char *value_of(brume_printer *printer, const brume_expression *node)
{
    const char *text = brume_print_expression(printer, node).text;
    return node->type.kind == BRUME_TYPE_DOUBLE
               ? FORMAT("%s + %s", text,
                        brume_print_typed(printer, "0", printer->postgresql ? "float8" : "DOUBLE"))
               : text;
}

static bool is_part(const brume_timeline *of, const brume_expression *node)
{
    for (size_t i = 0; i < of->partition_count; i++)
        if (brume_expression_equal(of->partition[i], node))
            return true;
    for (size_t i = 0; i < of->order_count; i++)
        if (brume_expression_equal(of->order[i].value, node))
            return true;
    return false;
}

static const char *print_over(brume_printer *printer, const brume_relation *relation,
                              const brume_timeline *of)
{
    brume_print_list parts = {0}, order = {0};
    for (size_t i = 0; i < of->partition_count; i++)
        brume_print_add(printer, &parts, ", ",
                        brume_print_expression(printer, of->partition[i]).text);
    for (size_t i = 0; i < of->order_count; i++)
        brume_print_add(printer, &order, ", ",
                        FORMAT("%s %s NULLS %s",
                               brume_print_expression(printer, of->order[i].value).text,
                               of->order[i].descending ? "DESC" : "ASC",
                               of->order[i].nulls_first ? "FIRST" : "LAST"));
    for (size_t i = 0; of->total && i < relation->tie_count; i++)
        if (!is_part(of, relation->ties[i]))
            brume_print_add(printer, &order, ", ",
                            FORMAT("%s ASC NULLS LAST",
                                   brume_print_expression(printer, relation->ties[i]).text));
    if (of->total && !order.length) /* all rows are alike; Spark wants an order */
        brume_print_add(printer, &order, ", ",
                        brume_print_expression(printer, of->partition[0]).text);
    return FORMAT(" OVER (PARTITION BY %s%s%s%s%s)", parts.text ? parts.text : "",
                  order.length ? " ORDER BY " : "", order.length ? order.text : "",
                  of->frame ? " " : "", of->frame ? of->frame : "");
}

/* LAG and LEAD; a row that far away is looked for, whatever its value is. */
static const char *print_away(brume_printer *printer, const brume_timeline *of, const char *over)
{
    const char *name = of->function == BRUME_TIMELINE_LAG ? "lag" : "lead";
    const char *x = value_of(printer, of->argument);
    if (!of->fallback)
        return FORMAT("%s(%s, %lld)%s", name, x, (long long)of->number, over);
    return FORMAT("%s(%s, %lld, %s)%s", name, x, (long long)of->number,
                  value_of(printer, of->fallback), over);
}

/* Function `i` of a relation of the kind TIMELINE. */
static const char *brume_print_timeline(brume_printer *printer, const brume_relation *relation,
                                        size_t i)
{
    const brume_timeline *of = relation->columns[i].timeline;
    const char *over = print_over(printer, relation, of);
    const char *big = printer->postgresql ? "int8" : "BIGINT";
    switch (of->function) {
    case BRUME_TIMELINE_ROW_NUMBER:
        return brume_print_cast(printer, FORMAT("row_number()%s", over), big);
    case BRUME_TIMELINE_RANK:
        return brume_print_cast(printer, FORMAT("rank()%s", over), big);
    case BRUME_TIMELINE_DENSE_RANK:
        return brume_print_cast(printer, FORMAT("dense_rank()%s", over), big);
    case BRUME_TIMELINE_NTILE:
        return brume_print_cast(printer, FORMAT("ntile(%lld)%s", (long long)of->number, over), big);
    case BRUME_TIMELINE_LAG:
    case BRUME_TIMELINE_LEAD:
        return print_away(printer, of, over);
    case BRUME_TIMELINE_FIRST_VALUE:
        return FORMAT("first_value(%s)%s", value_of(printer, of->argument), over);
    case BRUME_TIMELINE_LAST_VALUE:
        return FORMAT("last_value(%s)%s", value_of(printer, of->argument), over);
    case BRUME_TIMELINE_FOLD:
        break;
    }
    return print_fold(printer, of->fold, of->argument, relation->columns[i].reference->type, over);
}

typedef struct print_scope {
    const brume_query *query;
    const char *const *tables;
    brume_printer printer;
    const brume_staying *staying; /* NULL: rows come here, or are not those of one table */
    bool **used;                  /* [relation number][column] */
} print_scope;

enum { MOST_RELATIONS = 200 };

/* ---- which columns are used ---- */

static void use_expression(print_scope *scope, const brume_expression *node);
static void use_timeline(print_scope *scope, const brume_relation *relation,
                         const brume_timeline *of);

static void use_column(print_scope *scope, const brume_relation *relation, size_t column)
{
    bool *used = scope->used[relation->number];
    if (!used || used[column])
        return;
    used[column] = true;
    if (relation->kind == BRUME_RELATION_SELECT)
        use_expression(scope, relation->columns[column].expression);
    if (relation->kind == BRUME_RELATION_GROUP &&
        (column < relation->key_count || relation->columns[column].fold != BRUME_FOLD_COUNT_ROWS))
        use_column(scope, relation->left,
                   column < relation->key_count ? column : relation->columns[column].argument);
    if (relation->kind == BRUME_RELATION_UNION) {
        use_column(scope, relation->left, column);
        use_column(scope, relation->right, column);
    }
    if (relation->kind == BRUME_RELATION_TIMELINE && column < relation->key_count)
        use_timeline(scope, relation, relation->columns[column].timeline);
}

static void use_timeline(print_scope *scope, const brume_relation *relation,
                         const brume_timeline *of)
{
    if (of->argument)
        use_expression(scope, of->argument);
    if (of->fallback)
        use_expression(scope, of->fallback);
    for (size_t i = 0; i < of->partition_count; i++)
        use_expression(scope, of->partition[i]);
    for (size_t i = 0; i < of->order_count; i++)
        use_expression(scope, of->order[i].value);
    for (size_t i = 0; of->total && i < relation->tie_count; i++)
        use_expression(scope, relation->ties[i]);
}

static void use_expression(print_scope *scope, const brume_expression *node)
{
    if (node->operation == BRUME_OPERATION_COLUMN)
        use_column(scope, node->relation, node->column);
    for (size_t i = 0; i < node->argument_count; i++)
        use_expression(scope, node->arguments[i]);
}

static bool use_relation(print_scope *scope, const brume_relation *relation)
{
    if (!relation)
        return true;
    if (relation->number >= MOST_RELATIONS)
        return false;
    size_t count = relation->column_count ? relation->column_count : 1;
    scope->used[relation->number] = brume_arena_allocate(scope->printer.arena, count);
    return scope->used[relation->number] && use_relation(scope, relation->left) &&
           use_relation(scope, relation->right);
}

/* Conditions and keys are used whatever is asked. */
static void use_structure(print_scope *scope, const brume_relation *relation)
{
    if (!relation)
        return;
    const brume_expression *cut = brume_query_cut_of(scope->query, relation);
    if (cut)
        use_expression(scope, cut);
    if (relation->condition)
        use_expression(scope, relation->condition);
    if (relation->right_condition)
        use_expression(scope, relation->right_condition);
    if (relation->kind == BRUME_RELATION_GROUP)
        for (size_t i = 0; i < relation->key_count; i++)
            use_column(scope, relation, i);
    use_structure(scope, relation->left);
    use_structure(scope, relation->right);
}

/* ---- relations ---- */

static const char *print_relation(print_scope *scope, const brume_relation *relation);

/* `from` with the printer's steps bound in front of it, level by level; the steps are used up. */
static const char *bind_steps(brume_printer *printer, const char *from)
{
    int level = 0, most = -1;
    for (size_t i = 0; i < printer->step_count; i++)
        most = printer->steps[i].level > most ? printer->steps[i].level : most;
    for (; level <= most; level++) {
        brume_print_list list = {0};
        for (size_t i = 0; i < printer->step_count; i++)
            if (printer->steps[i].level == level)
                brume_print_add(
                    printer, &list, ", ",
                    FORMAT("%s AS \"v%zu\"", printer->steps[i].text, printer->steps[i].name));
        if (list.length)
            from = FORMAT("(SELECT *, %s FROM %s%s) AS \"s%zu\"", list.text, from,
                          printer->spark ? "" : " OFFSET 0", printer->names++);
    }
    printer->width += printer->step_count;
    printer->step_count = 0;
    return from;
}

static bool holds(const brume_relation *relation, const brume_relation *part)
{
    return relation &&
           (relation == part || holds(relation->left, part) || holds(relation->right, part));
}

/* Are all columns of the expression those of a relation in FROM? */
static bool reads_only(const brume_expression *node, const brume_relation *from)
{
    if (node->operation == BRUME_OPERATION_COLUMN)
        return holds(from, node->relation);
    for (size_t i = 0; i < node->argument_count; i++)
        if (!reads_only(node->arguments[i], from))
            return false;
    return true;
}

void brume_print_sides(brume_printer *printer, const brume_expression *condition,
                       const brume_relation *relations[2], const char *from[2])
{
    brume_operation operation = condition->operation;
    bool logic = operation == BRUME_OPERATION_AND || operation == BRUME_OPERATION_OR ||
                 operation == BRUME_OPERATION_NOT;
    for (size_t i = 0; i < condition->argument_count; i++) {
        const brume_expression *part = condition->arguments[i];
        if (logic) {
            brume_print_sides(printer, part, relations, from);
            continue;
        }
        int side = reads_only(part, relations[0]) ? 0 : reads_only(part, relations[1]) ? 1 : -1;
        brume_piece piece = {0};
        if (side < 0 || part->operation == BRUME_OPERATION_COLUMN || printer->failed)
            continue;
        piece = brume_print_expression(printer, part);
        if (printer->step_count == 0)
            continue;
        piece = brume_print_let(printer, piece);
        from[side] = bind_steps(printer, from[side]);
        brume_bound *bound = brume_arena_allocate(printer->arena, sizeof *bound);
        printer->failed = printer->failed || !bound;
        if (bound)
            *bound = (brume_bound){part, piece.text, printer->bound};
        printer->bound = bound ? bound : printer->bound;
    }
}

/* One more column of a relation. */
static void add_column(brume_printer *printer, brume_print_list *list, const char *value,
                       size_t relation, size_t column)
{
    brume_print_add(printer, list, ", ", FORMAT("%s AS \"c%zu_%zu\"", value, relation, column));
    printer->width++;
}

static const char *filter(brume_printer *printer, const char *from,
                          const brume_expression *condition)
{
    if (!condition)
        return from;
    const char *text = brume_print_expression(printer, condition).text;
    from = bind_steps(printer, from);
    return FORMAT("(SELECT * FROM %s WHERE %s) AS \"s%zu\"", from, text, printer->names++);
}

/* The rows of a table, cut to the windows that the query touches: here and nowhere else, so that no
 * form of a query goes around it. tests/query/test_touched.c moves rows in other windows. */
static const char *print_table(print_scope *scope, const brume_relation *relation)
{
    brume_printer *printer = &scope->printer;
    brume_print_list list = {0};
    bool guarded = false;
    for (size_t i = 0; i < relation->column_count; i++) {
        if (!scope->used[relation->number][i])
            continue;
        const brume_relation_column *column = &relation->columns[i];
        brume_leaf leaf = column->leaf;
        char *quoted = printer->spark ? brume_engine_quote_with('`', column->stored)
                                      : brume_engine_quote(column->stored);
        brume_type type = column->reference->type;
        const char *value = print_stored(printer, scope->staying, relation, i, quoted);
        guarded = guarded || (!value && (leaf != BRUME_LEAF_PLAIN || type.kind == BRUME_TYPE_TEXT));
        if (!value)
            value = brume_print_leaf(printer, quoted ? quoted : "", type, leaf);
        printer->failed = printer->failed || !quoted;
        add_column(printer, &list, value, relation->number, i);
        free(quoted);
    }
    const char *rows = FORMAT("(SELECT %s FROM %s%s) AS \"s%zu\"",
                              list.length ? list.text : "1 AS \"c\"",
                              scope->tables[relation->table],
                              guarded && printer->postgresql ? " OFFSET 0" : "", printer->names++);
    return filter(printer, rows, brume_query_cut_of(scope->query, relation));
}

static const char *print_select(print_scope *scope, const brume_relation *relation)
{
    brume_printer *printer = &scope->printer;
    const char *from = filter(printer, print_relation(scope, relation->left), relation->condition);
    brume_print_list list = {0};
    for (size_t i = 0; i < relation->column_count; i++)
        if (scope->used[relation->number][i])
            add_column(printer, &list,
                       brume_print_expression(printer, relation->columns[i].expression).text,
                       relation->number, i);
    from = bind_steps(printer, from);
    return FORMAT("(SELECT %s FROM %s%s) AS \"s%zu\"", list.length ? list.text : "1 AS \"c\"", from,
                  printer->postgresql ? " OFFSET 0" : "", printer->names++);
}

static const char *print_group(print_scope *scope, const brume_relation *relation)
{
    brume_printer *printer = &scope->printer;
    const char *from = print_relation(scope, relation->left);
    brume_print_list list = {0}, keys = {0};
    for (size_t i = 0; i < relation->column_count; i++) {
        if (!scope->used[relation->number][i])
            continue;
        const char *value;
        if (i < relation->key_count) {
            value = brume_print_expression(printer, relation->left->columns[i].reference).text;
            brume_print_add(printer, &keys, ", ", value);
        } else {
            const brume_relation_column *column = &relation->columns[i];
            value = print_fold(printer, column->fold,
                               column->fold == BRUME_FOLD_COUNT_ROWS
                                   ? NULL
                                   : relation->left->columns[column->argument].reference,
                               column->reference->type, "");
        }
        add_column(printer, &list, value, relation->number, i);
    }
    return FORMAT("(SELECT %s FROM %s GROUP BY %s) AS \"s%zu\"", list.length ? list.text : "", from,
                  keys.length ? keys.text : "", printer->names++);
}

static const char *print_timeline(print_scope *scope, const brume_relation *relation)
{
    brume_printer *printer = &scope->printer;
    const char *from = filter(printer, print_relation(scope, relation->left), relation->condition);
    brume_print_list list = {0};
    for (size_t i = 0; i < relation->key_count; i++)
        if (scope->used[relation->number][i])
            add_column(printer, &list, brume_print_timeline(printer, relation, i), relation->number,
                       i);
    if (!list.length)
        return from;
    from = bind_steps(printer, from);
    return FORMAT("(SELECT *, %s FROM %s) AS \"s%zu\"", list.text, from, printer->names++);
}

/* One side of a UNION, its columns under the names of the whole. */
static const char *print_side(print_scope *scope, const brume_relation *relation,
                              const brume_relation *side)
{
    brume_printer *printer = &scope->printer;
    const char *from = print_relation(scope, side);
    brume_print_list list = {0};
    for (size_t i = 0; i < relation->column_count; i++)
        if (scope->used[relation->number][i])
            add_column(printer, &list, FORMAT("\"c%zu_%zu\"", side->number, i), relation->number,
                       i);
    return FORMAT("SELECT %s FROM %s", list.length ? list.text : "1 AS \"c\"", from);
}

static const char *print_union(print_scope *scope, const brume_relation *relation)
{
    brume_printer *printer = &scope->printer;
    const char *left = print_side(scope, relation, relation->left);
    const char *right = print_side(scope, relation, relation->right);
    return FORMAT("(%s UNION ALL %s) AS \"s%zu\"", left, right, printer->names++);
}

static const char *print_numbers(print_scope *scope, const brume_relation *relation)
{
    brume_printer *printer = &scope->printer;
    brume_print_list list = {0};
    for (size_t i = 0; i < relation->key_count; i++)
        brume_print_add(printer, &list, " UNION ALL ",
                        FORMAT("SELECT CAST(%zu AS integer) AS \"c%zu_0\"", i, relation->number));
    return FORMAT("(%s) AS \"s%zu\"", list.text, printer->names++);
}

/* All rows of `left`, and whether they have a match. DuckDB makes a join of EXISTS wherever it
 * stands; PostgreSQL looks for each row by itself, and Spark does not take it, where it is no
 * condition. There it is two conditions, whose rows are all. */
static const char *print_mark(brume_printer *printer, const char *left, const char *right,
                              const char *on, const char *name)
{
    size_t number = printer->names++;
    printer->width++;
    if (!printer->postgresql && !printer->spark)
        return FORMAT("(SELECT *, EXISTS (SELECT 1 FROM %s WHERE %s) AS %s FROM %s) AS \"s%zu\"",
                      right, on, name, left, number);
    return FORMAT(
        "(WITH \"l%zu\" AS (SELECT * FROM %s), \"r%zu\" AS (SELECT * FROM %s) SELECT *, "
        "true AS %s FROM \"l%zu\" WHERE EXISTS (SELECT 1 FROM \"r%zu\" WHERE %s) UNION "
        "ALL SELECT *, false FROM \"l%zu\" WHERE NOT EXISTS (SELECT 1 FROM \"r%zu\" WHERE "
        "%s)) AS \"s%zu\"",
        number, left, number, right, name, number, number, on, number, number, on, number);
}

static const char *print_relation(print_scope *scope, const brume_relation *relation)
{
    static const char *const joins[] = {
        [BRUME_JOIN_INNER] = "JOIN",
        [BRUME_JOIN_LEFT] = "LEFT JOIN",
        [BRUME_JOIN_RIGHT] = "RIGHT JOIN",
        [BRUME_JOIN_FULL] = "FULL JOIN",
    };
    brume_printer *printer = &scope->printer;
    if (printer->failed)
        return "";
    switch (relation->kind) {
    case BRUME_RELATION_TABLE:
        return print_table(scope, relation);
    case BRUME_RELATION_SELECT:
        return print_select(scope, relation);
    case BRUME_RELATION_GROUP:
        return print_group(scope, relation);
    case BRUME_RELATION_TIMELINE:
        return print_timeline(scope, relation);
    case BRUME_RELATION_UNION:
        return print_union(scope, relation);
    case BRUME_RELATION_NUMBERS:
        return print_numbers(scope, relation);
    case BRUME_RELATION_JOIN:
        break;
    }
    const char *left = print_relation(scope, relation->left);
    const char *right = print_relation(scope, relation->right);
    size_t mark = relation->join == BRUME_JOIN_MARK ? relation->column_count - 1 : 0;
    if (relation->join == BRUME_JOIN_MARK && !scope->used[relation->number][mark])
        return left;
    if (relation->join >= BRUME_JOIN_SEMI)
        right = filter(printer, right, relation->right_condition);
    const brume_relation *relations[] = {relation->left, relation->right};
    const char *from[] = {left, right};
    const brume_bound *outer = printer->bound;
    if (relation->condition)
        brume_print_sides(printer, relation->condition, relations, from);
    left = from[0];
    right = from[1];
    const char *on = relation->condition ? brume_print_expression(printer, relation->condition).text
                                         : "true";
    printer->bound = outer;
    if (printer->spark && printer->step_count) /* the others: walk_check_plain */
        (void)brume_print_refuse(printer, "a join condition is too complex for Spark; compute the "
                                          "expression in a subquery and join on its column");
    if (relation->join == BRUME_JOIN_SEMI || relation->join == BRUME_JOIN_ANTI)
        return FORMAT("(SELECT * FROM %s WHERE %sEXISTS (SELECT 1 FROM %s WHERE %s)) AS \"s%zu\"",
                      left, relation->join == BRUME_JOIN_ANTI ? "NOT " : "", right, on,
                      printer->names++);
    if (relation->join == BRUME_JOIN_MARK)
        return print_mark(printer, left, right, on, FORMAT("\"c%zu_%zu\"", relation->number, mark));
    return FORMAT("(%s %s %s ON %s)", left, joins[relation->join], right, on);
}

/* ---- queries ---- */

/* How many relations are cut: as many as there are cuts, or one was lost on the way here, and its
 * table would be read as a whole. */
static size_t count_cuts(const brume_query *query, const brume_relation *relation)
{
    return relation ? (brume_query_cut_of(query, relation) != NULL) +
                          count_cuts(query, relation->left) + count_cuts(query, relation->right)
                    : 0;
}

static brume_status open_scope(print_scope *scope, const brume_query *query, brume_dialect dialect,
                               const char *const *tables, brume_error *error)
{
    if (query->cut_count != count_cuts(query, query->from))
        return brume_fail(error, BRUME_EINTERNAL, NULL, "a table is not cut to its windows");
    *scope = (print_scope){.query = query, .tables = tables};
    scope->printer.arena = brume_arena_open();
    if (!scope->printer.arena)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    scope->printer.dialect = dialect;
    scope->printer.postgresql = dialect == BRUME_DIALECT_POSTGRESQL;
    scope->printer.spark = dialect == BRUME_DIALECT_SPARK;
    scope->used = brume_arena_allocate(scope->printer.arena, MOST_RELATIONS * sizeof *scope->used);
    if (scope->used && use_relation(scope, query->from))
        return BRUME_OK;
    brume_arena_close(scope->printer.arena);
    return brume_fail(error, BRUME_EUNSUPPORTED, "split the query", "too many subqueries");
}

/* FROM and WHERE of the query; rows without a unit are nobody's and are dropped. */
static const char *print_source(print_scope *scope)
{
    brume_printer *printer = &scope->printer;
    const brume_query *query = scope->query;
    if (query->where)
        use_expression(scope, query->where);
    if (query->unit)
        use_expression(scope, query->unit);
    use_structure(scope, query->from);
    const char *from = filter(printer, print_relation(scope, query->from), query->where);
    if (!query->unit || !query->unit->nullable)
        return from;
    const char *unit = brume_print_expression(printer, query->unit).text;
    from = bind_steps(printer, from);
    return FORMAT("(SELECT * FROM %s WHERE %s IS NOT NULL) AS \"s%zu\"", from, unit,
                  printer->names++);
}

enum { POSTGRESQL_COLUMNS = 1600 }; /* it takes 1664 */

static brume_status close_scope(print_scope *scope, const char *text, char **sql,
                                brume_error *error)
{
    bool failed = scope->printer.failed;
    const char *refused = scope->printer.refused;
    bool wide = scope->printer.postgresql && scope->printer.width > POSTGRESQL_COLUMNS;
    char *copy = failed || wide || refused ? NULL : strdup(text);
    brume_arena_close(scope->printer.arena);
    if (refused && !failed)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "this cannot be asked of Spark: %s",
                          refused);
    if (failed || wide)
        return brume_fail(error, BRUME_EUNSUPPORTED, "ask in several queries",
                          wide ? "the query needs more columns than PostgreSQL has"
                               : "the query is too long for the engine");
    if (!copy)
        return brume_no_memory(error, "a statement");
    *sql = copy;
    return BRUME_OK;
}

/* brume_query_print_rows, or with `staying` brume_query_print_staying. */
static brume_status print_rows(const brume_query *query, brume_dialect dialect,
                               const char *const *tables, const brume_staying *staying,
                               const brume_expression *const *expressions, size_t count, char **sql,
                               brume_error *error)
{
    print_scope scope;
    BRUME_TRY(open_scope(&scope, query, dialect, tables, error));
    scope.staying = staying;
    brume_printer *printer = &scope.printer;
    for (size_t i = 0; i < count; i++)
        use_expression(&scope, expressions[i]);
    const char *from = print_source(&scope);
    brume_print_list list = {0};
    for (size_t i = 0; i < count; i++) {
        brume_piece piece = brume_print_expression(printer, expressions[i]);
        if (!staying || i > 0)
            piece = brume_print_wire(printer, piece, expressions[i]->type);
        brume_print_add(printer, &list, ", ", FORMAT("%s AS \"r%zu\"", piece.text, i));
    }
    printer->width += count;
    from = bind_steps(printer, from);
    return close_scope(&scope, FORMAT("SELECT %s FROM %s", list.length ? list.text : "", from), sql,
                       error);
}

/* What is summed of one value: its count, its sum and perhaps its squares, as results. */
static void print_sum(brume_printer *printer, const brume_group_sum *sum, size_t i,
                      brume_print_list *outer)
{
    const char *text = printer->postgresql ? "text" : printer->spark ? "STRING" : "VARCHAR";
    const char *centred = FORMAT("\"x%zu\"", i);
    if (sum->centre) {
        char centre[32];
        snprintf(centre, sizeof centre, "%lld", (long long)sum->centre);
        centred =
            FORMAT("(\"x%zu\" - %s)", i,
                   brume_print_typed(printer, centre, printer->postgresql ? "int8" : "BIGINT"));
    }
    brume_print_add(printer, outer, ", ", FORMAT("count(\"x%zu\")", i));
    brume_print_add(printer, outer, ", ",
                    brume_print_cast(printer, print_exact_sum(printer, centred), text));
    if (sum->squares)
        brume_print_add(
            printer, outer, ", ",
            brume_print_cast(printer, print_exact_sum(printer, FORMAT("%s * %s", centred, centred)),
                             text));
    printer->width += 3;
}

brume_status brume_query_print_groups(const brume_query *query, brume_dialect dialect,
                                      const char *const *tables, const brume_group_sum *sums,
                                      size_t count, char **sql, brume_error *error)
{
    print_scope scope;
    BRUME_TRY(open_scope(&scope, query, dialect, tables, error));
    brume_printer *printer = &scope.printer;
    for (size_t i = 0; i < query->key_count; i++)
        use_expression(&scope, query->keys[i].expression);
    for (size_t i = 0; i < count; i++)
        use_expression(&scope, sums[i].value);
    const char *from = print_source(&scope);
    brume_print_list inner = {0}, outer = {0}, keys = {0};
    for (size_t i = 0; i < query->key_count; i++) {
        const brume_expression *key = query->keys[i].expression;
        brume_piece piece = brume_print_expression(printer, key);
        piece = brume_print_wire(printer, piece, key->type);
        brume_print_add(printer, &inner, ", ", FORMAT("%s AS \"k%zu\"", piece.text, i));
        brume_print_add(printer, &outer, ", ", FORMAT("\"k%zu\"", i));
        brume_print_add(printer, &keys, ", ", FORMAT("\"k%zu\"", i));
    }
    brume_print_add(printer, &outer, ", ", "count(*)");
    for (size_t i = 0; i < count; i++) {
        brume_piece piece = brume_print_expression(printer, sums[i].value);
        brume_print_add(printer, &inner, ", ", FORMAT("%s AS \"x%zu\"", piece.text, i));
        print_sum(printer, &sums[i], i, &outer);
    }
    from = bind_steps(printer, from);
    printer->width += query->key_count + 1;
    /* PostgreSQL copies what it pulls up into every sum, so long expressions are fenced off; short
     * ones are not, because a fence keeps its workers from sharing the sums. */
    enum { SHORT = 400 };
    const char *fence = printer->postgresql && inner.length > SHORT ? " OFFSET 0" : "";
    return close_scope(&scope,
                       FORMAT("SELECT %s FROM (SELECT %s FROM %s%s) AS \"g\"%s%s",
                              outer.length ? outer.text : "",
                              inner.length ? inner.text : "1 AS \"c\"", from, fence,
                              keys.length ? " GROUP BY " : "", keys.length ? keys.text : ""),
                       sql, error);
}
