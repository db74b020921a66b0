/* Calls with OVER. The unit is the first part of PARTITION BY, and where the function depends on
 * which row comes first the order is total (proofs/unit-local.md): without either another unit's
 * rows, or the place of a row in its table, would decide. tests/query/test_links.c has both as
 * mutants. */
#include "query/print/print_timeline.h"

#include "query/print/print_cast.h"
#include "query/print/print_fold.h"

#define FORMAT(...) brume_print_format(printer, __VA_ARGS__)

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

const char *brume_print_timeline(brume_printer *printer, const brume_relation *relation, size_t i)
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
    return brume_print_fold(printer, of->fold, of->argument, relation->columns[i].reference->type,
                            over);
}
