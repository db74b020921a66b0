/* Columns: the name that an expression says, in the nearest scope that has it. */
#include "query/sql/walk_expression.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

/* A column as it is written: COLUMN, TABLE.COLUMN or DATASET.TABLE.COLUMN. */
typedef struct written_name {
    const char *dataset, *table, *column; /* NULL: left out */
} written_name;

static bool is_of(const brume_walk_source *source, const written_name *name)
{
    if (name->table && strcasecmp(name->table, source->name) != 0)
        return false;
    return !name->dataset || (source->dataset && strcasecmp(name->dataset, source->dataset) == 0);
}

/* The column of the scope; false: there are several. */
static bool find_column(brume_builder *builder, const brume_walk_scope *scope,
                        const written_name *written, int any_case,
                        const brume_relation_column **found, bool *table_seen)
{
    const char *name = written->column;
    for (const brume_walk_source *each = scope->sources; each; each = each->next) {
        if (!is_of(each, written))
            continue;
        *table_seen = true;
        for (size_t i = 0; i < each->column_count; i++) {
            const char *own = each->columns[i].name;
            if (each->columns[i].merged && !written->table)
                continue;
            if (!own || (any_case ? strcasecmp(own, name) : strcmp(own, name)) != 0)
                continue;
            if (*found) {
                brume_build_fail(builder, BRUME_EARGUMENT,
                                 "say which: TABLE.COLUMN, or quote the exact name",
                                 "the column '%.60s' is ambiguous", name);
                return false;
            }
            *found = &each->columns[i];
        }
    }
    return true;
}

/* Can it be written without quotes? */
static bool is_plain(const char *name)
{
    return strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
               strlen(name) &&
           (*name < '0' || *name > '9');
}

/* Refused, with the nearest name of the scope as a hint. */
static brume_node no_column(brume_walk *walk, const brume_walk_scope *scope,
                            const written_name *written, bool table_seen)
{
    const char *name = written->column, *table = written->table;
    const char *names[BRUME_WALK_COLUMNS];
    size_t count = 0;
    for (const brume_walk_source *each = scope->sources; each; each = each->next)
        for (size_t i = 0; i < each->column_count && count < BRUME_WALK_COLUMNS; i++)
            if (each->columns[i].name)
                names[count++] = each->columns[i].name;
    const char *near = brume_text_nearest(name, names, count);
    char hint[120] = "";
    if (table && !table_seen)
        snprintf(hint, sizeof hint, "there is no '%.40s%s%.40s' in FROM",
                 written->dataset ? written->dataset : "", written->dataset ? "." : "", table);
    else if (near)
        snprintf(hint, sizeof hint,
                 is_plain(near) ? "did you mean '%.80s'?"
                                : "did you mean \"%.80s\", in double quotes?",
                 near);
    return brume_build_fail(&walk->builder, BRUME_EUNKNOWN, hint, "no column '%.60s'", name);
}

brume_node brume_walk_column(brume_walk *walk, const brume_walk_scope *scope,
                             const PgQuery__ColumnRef *reference, bool inside)
{
    brume_builder *builder = &walk->builder;
    const char *parts[3] = {NULL, NULL, NULL}; /* the last ones, where there are fewer */
    size_t left_out = 3 - reference->n_fields;
    if (reference->n_fields < 1 || reference->n_fields > 3)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "write TABLE.COLUMN",
                                "a column name has too many parts");
    for (size_t i = 0; i < reference->n_fields; i++) {
        if (reference->fields[i]->node_case != PG_QUERY__NODE__NODE_STRING)
            return brume_build_fail(builder, BRUME_EUNSUPPORTED, "name the columns",
                                    "* is not supported here");
        parts[left_out + i] = reference->fields[i]->string->sval;
    }
    const written_name written = {parts[0], parts[1], parts[2]};
    const brume_relation_column *found = NULL;
    bool table_seen = false;
    /* The nearest scope first; there exact names first, then, for files whose headers have
     * capitals, whatever the case. */
    const brume_walk_scope *nearest = scope;
    do {
        for (int pass = 0; pass < 2 && !found; pass++)
            if (!find_column(builder, nearest, &written, pass, &found, &table_seen))
                return NULL;
        nearest = nearest->outer;
    } while (nearest && !found);
    if (found) {
        if (found->reference->type.kind == BRUME_TYPE_REFUSED)
            return brume_build_fail(
                builder, BRUME_EUNSUPPORTED, "convert it in the source, or leave it out",
                "the column '%.60s' has a type that brume does not read", written.column);
        return inside ? found->inside : found->reference;
    }
    return no_column(walk, scope, &written, table_seen);
}
