/* The normalised text of a query. Prefix form: (operation type argument ...), texts quoted. */
#include "query/sql/normal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/expression/expression.h"
#include "query/sql/formula.h"

typedef struct writer {
    const brume_catalog *catalog;
    FILE *file;
} writer;

static void put_quoted(writer *w, const char *text, size_t length)
{
    fputc('\'', w->file);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'')
            fputc('\'', w->file);
        fputc(text[i], w->file);
    }
    fputc('\'', w->file);
}

static void put_expression(writer *w, const brume_expression *node)
{
    char type[BRUME_TYPE_NAME_SIZE];
    if (node->operation == BRUME_OPERATION_COLUMN) {
        fprintf(w->file, "$%zu.%zu", node->relation->number, node->column);
        return;
    }
    fprintf(w->file, "(%s %s", brume_operation_word(node->operation),
            brume_type_name(node->type, type));
    for (size_t i = 0; i < node->argument_count; i++) {
        fputc(' ', w->file);
        put_expression(w, node->arguments[i]);
    }
    if (node->text) {
        fputc(' ', w->file);
        put_quoted(w, node->text, strlen(node->text));
    }
    for (int i = 0; i < 3 && (node->number[0] || node->number[1] || node->number[2]); i++)
        fprintf(w->file, " %lld", (long long)node->number[i]);
    fputc(')', w->file);
}

static const char *const folds[] = {"count(*)", "count", "count distinct", "sum", "min", "max"};

static void put_timeline(writer *w, const brume_timeline *of)
{
    static const char *const functions[] = {"row_number",  "rank",       "dense_rank",
                                            "ntile",       "lag",        "lead",
                                            "first_value", "last_value", "fold"};
    fprintf(w->file, " (%s %lld", functions[of->function], (long long)of->number);
    if (of->function == BRUME_TIMELINE_FOLD)
        fprintf(w->file, " %s", folds[of->fold]);
    for (int i = 0; i < 2; i++)
        if (i ? of->fallback : of->argument) {
            fputc(' ', w->file);
            put_expression(w, i ? of->fallback : of->argument);
        }
    fputs(" partition", w->file);
    for (size_t i = 0; i < of->partition_count; i++) {
        fputc(' ', w->file);
        put_expression(w, of->partition[i]);
    }
    fputs(" order", w->file);
    for (size_t i = 0; i < of->order_count; i++) {
        fputc(' ', w->file);
        put_expression(w, of->order[i].value);
        fprintf(w->file, "%s%s", of->order[i].descending ? " desc" : " asc",
                of->order[i].nulls_first ? " nulls first" : " nulls last");
    }
    fprintf(w->file, "%s %s)", of->total ? " total" : "", of->frame ? of->frame : "");
}

static void put_relation(writer *w, const brume_relation *relation)
{
    static const char *const joins[] = {"inner", "left", "right", "full", "semi", "anti", "mark"};
    fprintf(w->file, "[%zu ", relation->number);
    switch (relation->kind) {
    case BRUME_RELATION_TABLE:
        fputs("table ", w->file);
        if (w->catalog->tables[relation->table].dataset) {
            put_quoted(w, w->catalog->tables[relation->table].dataset,
                       strlen(w->catalog->tables[relation->table].dataset));
            fputc('.', w->file);
        }
        put_quoted(w, w->catalog->tables[relation->table].name,
                   strlen(w->catalog->tables[relation->table].name));
        break;
    case BRUME_RELATION_NUMBERS:
        fprintf(w->file, "numbers %zu", relation->key_count);
        break;
    case BRUME_RELATION_UNION:
        fputs("union ", w->file);
        put_relation(w, relation->left);
        put_relation(w, relation->right);
        break;
    case BRUME_RELATION_JOIN:
        fprintf(w->file, "%s join ", joins[relation->join]);
        put_relation(w, relation->left);
        put_relation(w, relation->right);
        break;
    case BRUME_RELATION_TIMELINE:
        fputs("timeline", w->file);
        for (size_t i = 0; i < relation->key_count; i++)
            put_timeline(w, relation->columns[i].timeline);
        fputs(" from ", w->file);
        put_relation(w, relation->left);
        break;
    case BRUME_RELATION_SELECT:
        fputs("select", w->file);
        for (size_t i = 0; i < relation->column_count; i++) {
            fputc(' ', w->file);
            put_expression(w, relation->columns[i].expression);
        }
        fputs(" from ", w->file);
        put_relation(w, relation->left);
        break;
    case BRUME_RELATION_GROUP:
        fprintf(w->file, "group %zu", relation->key_count);
        for (size_t i = relation->key_count; i < relation->column_count; i++)
            fprintf(w->file, " %s %zu", folds[relation->columns[i].fold],
                    relation->columns[i].argument);
        fputs(" from ", w->file);
        put_relation(w, relation->left);
        break;
    }
    if (relation->right_condition) {
        fputs(" with ", w->file);
        put_expression(w, relation->right_condition);
    }
    if (relation->condition) {
        fputs(" where ", w->file);
        put_expression(w, relation->condition);
    }
    fputc(']', w->file);
}

static void put_window(writer *w, const brume_window *window)
{
    fprintf(w->file, " %s%s partition %zu order", brume_window_word(window->function),
            window->by_row ? " rows" : "", window->partition_count);
    for (size_t i = 0; i < window->order_count; i++)
        fprintf(w->file, " %s%s", window->descending[i] ? "desc" : "asc",
                window->nulls_first[i] ? " nulls first" : " nulls last");
}

static void put_formula(writer *w, const brume_formula *formula)
{
    switch (formula->kind) {
    case BRUME_FORMULA_KEY:
        fprintf(w->file, "key%zu", formula->index);
        return;
    case BRUME_FORMULA_AGGREGATE:
        fprintf(w->file, "agg%zu%s", formula->index, formula->extreme ? "!" : "");
        return;
    case BRUME_FORMULA_LITERAL:
        if (formula->released)
            fprintf(w->file, "released %.17g %.17g", formula->value.number, formula->error_95);
        else if (formula->value.kind == BRUME_VALUE_NUMBER)
            fprintf(w->file, "%.17g", formula->value.number);
        else if (formula->value.kind == BRUME_VALUE_TEXT)
            put_quoted(w, formula->value.text, formula->value.length);
        else
            fputs(formula->value.kind == BRUME_VALUE_NULL ? "null"
                  : formula->value.boolean                ? "true"
                                                          : "false",
                  w->file);
        return;
    default:
        fprintf(w->file, "(%s", brume_formula_word(formula->kind));
        if (formula->kind == BRUME_FORMULA_ROUND)
            fprintf(w->file, " %d", formula->digits);
        if (formula->kind == BRUME_FORMULA_WINDOW)
            put_window(w, formula->window);
        for (size_t i = 0; i < formula->argument_count; i++) {
            fputc(' ', w->file);
            put_formula(w, formula->arguments[i]);
        }
        fputc(')', w->file);
    }
}

static void put_query(writer *w, const brume_query *query)
{
    fputs("select", w->file);
    for (size_t i = 0; i < query->output_count; i++) {
        fputs(i ? ", " : " ", w->file);
        put_formula(w, query->outputs[i].value);
        fputs(" as ", w->file);
        put_quoted(w, query->outputs[i].name, strlen(query->outputs[i].name));
    }
    for (size_t i = 0; i < query->aggregate_count; i++) {
        const brume_aggregate *each = &query->aggregates[i];
        fprintf(w->file, "; agg%zu = %s ", i, brume_aggregate_word(each->kind));
        if (each->kind == BRUME_AGGREGATE_QUANTILE)
            fprintf(w->file, "%lld/%lld ", (long long)each->fraction[0],
                    (long long)each->fraction[1]);
        if (each->argument)
            put_expression(w, each->argument);
        if (each->other) {
            fputs(", ", w->file);
            put_expression(w, each->other);
        }
    }
    for (size_t i = 0; i < query->key_count; i++) {
        fprintf(w->file, "; key%zu = ", i);
        put_expression(w, query->keys[i].expression);
    }
    fputs("; from ", w->file);
    put_relation(w, query->from);
    if (query->where) {
        fputs("; where ", w->file);
        put_expression(w, query->where);
    }
    if (query->having) {
        fputs("; having ", w->file);
        put_formula(w, query->having);
    }
    for (size_t i = 0; i < query->order_count; i++) {
        fputs("; order ", w->file);
        put_formula(w, query->order[i].value);
        fprintf(w->file, "%s%s", query->order[i].descending ? " desc" : " asc",
                query->order[i].nulls_first ? " nulls first" : " nulls last");
    }
    if (query->limit >= 0 || query->offset)
        fprintf(w->file, "; limit %lld offset %lld", (long long)query->limit,
                (long long)query->offset);
}

const char *brume_query_normal(const brume_query *query, const brume_catalog *catalog)
{
    char *text = NULL;
    size_t length = 0;
    writer w = {catalog, open_memstream(&text, &length)};
    if (!w.file)
        return NULL;
    put_query(&w, query);
    bool failed = ferror(w.file) != 0;
    const char *copy = fclose(w.file) == 0 && !failed ? brume_arena_text(query->arena, text) : NULL;
    free(text);
    return copy;
}
