/* What a group is summarised by in a subquery, and exact sums. */
#include "query/print/print_fold.h"

#include <stdio.h>

#include "query/print/print_cast.h"

#define FORMAT(...) brume_print_format(printer, __VA_ARGS__)

const char *brume_print_exact_sum(brume_printer *printer, const char *of)
{
    return printer->spark ? FORMAT("coalesce(sum(CAST(%s AS DECIMAL(28,0))), 0)", of)
                          : FORMAT("coalesce(sum(%s), 0)", of);
}

const char *brume_print_fold(brume_printer *printer, brume_fold fold,
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
