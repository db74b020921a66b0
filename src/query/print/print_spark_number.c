/* Arithmetic and functions of numbers for Spark.
 *
 * Integers of 64 bits are guarded in decimals, which have 38 digits. A cast of a double to an
 * integer cuts its fraction off, so that rint comes first; floor and ceil of a double are integers,
 * so that they are asked for numbers with a fraction only. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "query/expression/wide.h"
#include "query/print/print_cast.h"
#include "query/print/print_spark.h"

#define FORMAT(...) brume_print_format(printer, __VA_ARGS__)

#define WHOLE "CAST('4503599627370496' AS DOUBLE)" /* 2^52: from here on there are no fractions */

/* Quotients of 64-bit integers: div gives one, and only the least by -1 leaves them. */
static brume_piece quotient(brume_printer *printer, const brume_expression *node)
{
    brume_piece a = brume_print_let(printer, brume_print_expression(printer, node->arguments[0]));
    brume_piece b = brume_print_let(printer, brume_print_expression(printer, node->arguments[1]));
    const char *least = brume_print_typed(printer, "-9223372036854775808", "BIGINT");
    return (brume_piece){FORMAT("(CASE WHEN %s = %s AND %s = -1 THEN NULL ELSE %s div NULLIF(%s, "
                                "CAST(0 AS BIGINT)) END)",
                                a.text, least, b.text, a.text, b.text),
                         brume_print_level(a, b), false};
}

/* ---- rounding ---- */

static brume_piece cut_decimal(brume_printer *printer, const brume_expression *node)
{
    int digits = (int)node->number[0];
    const char *type = brume_print_type(printer, node->type);
    brume_piece a = brume_print_let(printer, brume_print_expression(printer, node->arguments[0]));
    return (brume_piece){
        FORMAT("(CASE WHEN %s < 0 THEN CAST(ceil(%s, %d) AS %s) ELSE CAST(floor(%s,"
               " %d) AS %s) END)",
               a.text, a.text, digits, type, a.text, digits, type),
        a.level, false};
}

static brume_piece round_double(brume_printer *printer, const brume_expression *node)
{
    brume_piece a = brume_print_expression(printer, node->arguments[0]);
    if (node->operation == BRUME_OPERATION_ROUND)
        return (brume_piece){FORMAT("rint(%s)", a.text), a.level, false};
    a = brume_print_let(printer, a);
    const char *whole = node->operation == BRUME_OPERATION_TRUNC
                            ? FORMAT("CAST(%s AS BIGINT)", a.text)
                            : FORMAT("%s(%s)", brume_operation_word(node->operation), a.text);
    return (brume_piece){FORMAT("(CASE WHEN abs(%s) < " WHOLE " THEN CAST(%s AS DOUBLE) ELSE %s "
                                "END)",
                                a.text, whole, a.text),
                         a.level, false};
}

/* ---- the grid ---- */

static brume_piece grid(brume_printer *printer, const brume_expression *node)
{
    brume_expression clamped = *node;
    clamped.operation = BRUME_OPERATION_CLAMP;
    brume_piece a;
    (void)brume_print_number(printer, &clamped, &a);
    brume_type type = node->arguments[0]->type;
    if (type.kind == BRUME_TYPE_DOUBLE) {
        char scale[40];
        snprintf(scale, sizeof scale, "%.17g", ldexp(1, (int)node->number[0]));
        a = brume_print_let(printer, a);
        a.text = FORMAT("CAST(rint((CASE WHEN abs(%s) < %s THEN %s ELSE %s END) * %s) AS BIGINT)",
                        a.text, brume_print_typed(printer, "1e-150", "DOUBLE"),
                        brume_print_typed(printer, "0", "DOUBLE"), a.text,
                        brume_print_typed(printer, scale, "DOUBLE"));
    } else if (type.kind == BRUME_TYPE_DECIMAL) {
        /* As in print_number.c: with 15 digits at most rint finds the unit. */
        char units[BRUME_WIDE_TEXT_SIZE];
        int low = brume_wide_digits(node->bounds.low), high = brume_wide_digits(node->bounds.high);
        brume_wide_format(brume_wide_power(type.scale), 0, units);
        a.text =
            low <= 15 && high <= 15
                ? FORMAT("CAST(rint(CAST(%s AS DOUBLE) * CAST('%s' AS DOUBLE)) AS BIGINT)", a.text,
                         units)
                : FORMAT("CAST(CAST(%s AS DECIMAL(19,%d)) * CAST('%s' AS DECIMAL(19,0)) AS BIGINT)",
                         a.text, type.scale, units);
    } else {
        a.text = brume_print_cast(printer, a.text, "BIGINT");
    }
    a.atom = false;
    return a;
}

bool brume_print_spark_number(brume_printer *printer, const brume_expression *node,
                              brume_piece *piece)
{
    bool decimal = node->type.kind == BRUME_TYPE_DECIMAL;
    switch (node->operation) {
    case BRUME_OPERATION_DIVIDE:
        if (node->type.kind != BRUME_TYPE_BIGINT)
            return false;
        *piece = quotient(printer, node);
        return true;
    case BRUME_OPERATION_TRUNC:
        *piece = decimal ? cut_decimal(printer, node) : round_double(printer, node);
        return true;
    case BRUME_OPERATION_FLOOR:
    case BRUME_OPERATION_CEIL:
    case BRUME_OPERATION_ROUND:
        if (decimal)
            return false;
        *piece = round_double(printer, node);
        return true;
    case BRUME_OPERATION_GRID:
        *piece = grid(printer, node);
        return true;
    case BRUME_OPERATION_LN:
    case BRUME_OPERATION_LOG10:
    case BRUME_OPERATION_EXP:
    case BRUME_OPERATION_POWER:
        *piece = brume_print_refuse(printer, "Spark's logarithms, exponentials and powers differ "
                                             "from the others' in the last digit");
        return true;
    default:
        return false;
    }
}
