/* The printed form of every operation on both engines.
 *
 * RANGE, CLAMP, OUT and FL are the building blocks: RANGE makes what is not strictly inside NULL
 * and mentions its operand once; CLAMP keeps NULL (GREATEST and LEAST alone would skip it); OUT is
 * RANGE at 1e150; FL takes doubles below 1e-150 for 0, so that no product or quotient can
 * underflow, which PostgreSQL would raise on. */
#include "query/print.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "query/print_cast.h"
#include "query/wide.h"

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

const char *brume_print_quoted(brume_printer *printer, const char *text)
{
    char *quoted = brume_arena_allocate(printer->arena, 2 * strlen(text) + 3), *end = quoted;
    if (!quoted) {
        printer->failed = true;
        return "''";
    }
    *end++ = '\'';
    for (; *text; text++) {
        if (*text == '\'')
            *end++ = '\'';
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
    static const char *const names[][2] = {
        [BRUME_TYPE_BOOLEAN] = {"BOOLEAN", "bool"},
        [BRUME_TYPE_INTEGER] = {"INTEGER", "int4"},
        [BRUME_TYPE_BIGINT] = {"BIGINT", "int8"},
        [BRUME_TYPE_DOUBLE] = {"DOUBLE", "float8"},
        [BRUME_TYPE_TEXT] = {"VARCHAR", "text"},
        [BRUME_TYPE_DATE] = {"DATE", "date"},
        [BRUME_TYPE_TIMESTAMP] = {"TIMESTAMP", "timestamp"},
    };
    if (type.kind == BRUME_TYPE_DECIMAL)
        return FORMAT(printer->postgresql ? "numeric(%d,%d)" : "DECIMAL(%d,%d)", type.precision,
                      type.scale);
    return names[type.kind][printer->postgresql];
}

/* Strictly inside 1e150 in size, or NULL. */
static const char *out(brume_printer *printer, const char *value)
{
    return brume_print_range(printer, value, "-1e150", "1e150",
                             printer->postgresql ? "float8" : "DOUBLE");
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

/* ---- let ---- */

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

/* A double as a factor or divisor. */
static brume_piece flush(brume_printer *printer, const brume_expression *node)
{
    brume_piece piece = brume_print_expression(printer, node);
    /* Integers and decimals are 0 or at least 1e-38 in size; a literal can be looked at. */
    bool converted = node->operation == BRUME_OPERATION_CAST &&
                     brume_type_is_number(node->arguments[0]->type);
    bool constant = node->operation == BRUME_OPERATION_LITERAL &&
                    (node->bounds.real_low == 0 || node->bounds.real_low >= 1e-150 ||
                     node->bounds.real_low <= -1e-150);
    if (converted || constant)
        return (brume_piece){FORMAT("(%s)", piece.text), piece.level, false};
    piece = brume_print_let(printer, piece);
    const char *type = printer->postgresql ? "float8" : "DOUBLE";
    return (brume_piece){FORMAT("(CASE WHEN abs(%s) < %s THEN %s ELSE %s END)", piece.text,
                                brume_print_typed(printer, "1e-150", type),
                                brume_print_typed(printer, "0", type), piece.text),
                         piece.level, false};
}

/* ---- arithmetic ---- */

static const char *integer_result(brume_printer *printer, const char *wide, brume_type type)
{
    bool small = type.kind == BRUME_TYPE_INTEGER;
    const char *ranged = small ? brume_print_range(printer, wide, "-2147483649", "2147483648",
                                                   printer->postgresql ? "int8" : "BIGINT")
                               : brume_print_range(printer, wide, "-9223372036854775809",
                                                   "9223372036854775808",
                                                   printer->postgresql ? "numeric" : "HUGEINT");
    return brume_print_cast(printer, ranged, brume_print_type(printer, type));
}

static const char *wide_type(const brume_printer *printer, brume_type type)
{
    if (type.kind == BRUME_TYPE_INTEGER)
        return printer->postgresql ? "int8" : "BIGINT";
    return printer->postgresql ? "numeric" : "HUGEINT";
}

static const char *integer_operation(brume_printer *printer, const brume_expression *node,
                                     const char *a, const char *b)
{
    const char *word = brume_operation_word(node->operation);
    const char *wide = wide_type(printer, node->type);
    const char *wide_a = brume_print_cast(printer, a, wide);
    const char *wide_b = brume_print_cast(printer, b, wide);
    if (node->operation == BRUME_OPERATION_REMAINDER)
        return printer->postgresql
                   ? FORMAT("((%s) %% NULLIF((%s), 0))", a, b)
                   : brume_print_cast(printer, FORMAT("(%s %% NULLIF(%s, 0))", wide_a, wide_b),
                                      brume_print_type(printer, node->type));
    if (node->operation == BRUME_OPERATION_DIVIDE) {
        const char *quotient;
        if (!printer->postgresql)
            quotient = FORMAT("(%s // NULLIF(%s, 0))", wide_a, wide_b);
        else if (node->type.kind == BRUME_TYPE_INTEGER)
            quotient = FORMAT("(%s / NULLIF(%s, 0))", wide_a, wide_b);
        else
            quotient = FORMAT("div(%s, NULLIF(%s, 0))", wide_a, wide_b);
        return integer_result(printer, quotient, node->type);
    }
    /* Where the bounds show that nothing can overflow, the guard is the identity: left out. */
    const brume_bounds *x = &node->arguments[0]->bounds, *y = &node->arguments[1]->bounds;
    brume_bounds whole = {.low = node->type.kind == BRUME_TYPE_INTEGER ? INT32_MIN : INT64_MIN,
                          .high = node->type.kind == BRUME_TYPE_INTEGER ? INT32_MAX : INT64_MAX};
    brume_wide low, high;
    if (node->operation == BRUME_OPERATION_ADD) {
        low = x->low + y->low;
        high = x->high + y->high;
    } else if (node->operation == BRUME_OPERATION_SUBTRACT) {
        low = x->low - y->high;
        high = x->high - y->low;
    } else {
        brume_wide corner[] = {x->low * y->low, x->low * y->high, x->high * y->low,
                               x->high * y->high};
        low = high = corner[0];
        for (int i = 1; i < 4; i++) {
            low = corner[i] < low ? corner[i] : low;
            high = corner[i] > high ? corner[i] : high;
        }
    }
    if (low >= whole.low && high <= whole.high)
        return FORMAT("((%s) %s (%s))", a, word, b);
    return integer_result(printer, FORMAT("(%s %s %s)", wide_a, word, wide_b), node->type);
}

static const char *decimal_operation(brume_printer *printer, const brume_expression *node,
                                     const char *a, const char *b)
{
    const char *word = brume_operation_word(node->operation);
    const char *type = brume_print_type(printer, node->type);
    if (printer->postgresql)
        return node->operation == BRUME_OPERATION_REMAINDER
                   ? FORMAT("((%s) %% NULLIF((%s), 0))::%s", a, b, type)
                   : FORMAT("((%s) %s (%s))", a, word, b);
    if (node->operation == BRUME_OPERATION_MULTIPLY) {
        /* Two operands of at most 18 digits would stay in 64 bits and raise. */
        int precision = node->arguments[0]->type.precision;
        return FORMAT("CAST(CAST(%s AS DECIMAL(%d,%d)) * (%s) AS %s)", a,
                      precision > 19 ? precision : 19, node->arguments[0]->type.scale, b, type);
    }
    if (node->operation == BRUME_OPERATION_REMAINDER)
        return FORMAT("CAST(CAST(%s AS %s) %% NULLIF(CAST(%s AS %s), 0) AS %s)", a, type, b, type,
                      type);
    return FORMAT("CAST(CAST(%s AS %s) %s CAST(%s AS %s) AS %s)", a, type, word, b, type, type);
}

static brume_piece arithmetic(brume_printer *printer, const brume_expression *node)
{
    bool real = node->type.kind == BRUME_TYPE_DOUBLE;
    bool flushes = real && (node->operation == BRUME_OPERATION_MULTIPLY ||
                            node->operation == BRUME_OPERATION_DIVIDE);
    brume_piece a = flushes ? flush(printer, node->arguments[0])
                            : brume_print_expression(printer, node->arguments[0]);
    brume_piece b = flushes ? flush(printer, node->arguments[1])
                            : brume_print_expression(printer, node->arguments[1]);
    const char *text;
    if (!real) {
        text = node->type.kind == BRUME_TYPE_DECIMAL
                   ? decimal_operation(printer, node, a.text, b.text)
                   : integer_operation(printer, node, a.text, b.text);
    } else if (node->operation == BRUME_OPERATION_DIVIDE) {
        text = out(printer, FORMAT("(%s / NULLIF(%s, 0))", a.text, b.text));
    } else {
        text = FORMAT("((%s) %s (%s))", a.text, brume_operation_word(node->operation), b.text);
        /* Bounds strictly inside 1e150 show that OUT is the identity. */
        if (!(node->bounds.real_low > -1e150 && node->bounds.real_high < 1e150))
            text = out(printer, text);
    }
    return (brume_piece){text, a.level > b.level ? a.level : b.level, false};
}

static const char *unary(brume_printer *printer, const brume_expression *node, const char *a)
{
    bool integer = node->type.kind == BRUME_TYPE_INTEGER || node->type.kind == BRUME_TYPE_BIGINT;
    const char *wide = wide_type(printer, node->type);
    switch (node->operation) {
    case BRUME_OPERATION_NEGATE:
        return integer
                   ? integer_result(printer, FORMAT("(- (%s))", brume_print_cast(printer, a, wide)),
                                    node->type)
                   : FORMAT("(- (%s))", a);
    case BRUME_OPERATION_ABS:
        return integer
                   ? integer_result(printer, FORMAT("abs(%s)", brume_print_cast(printer, a, wide)),
                                    node->type)
                   : FORMAT("abs(%s)", a);
    default: /* SIGN: DuckDB's is a TINYINT */
        return printer->postgresql
                   ? FORMAT("sign(%s)", a)
                   : FORMAT("CAST(sign(%s) AS %s)", a, brume_print_type(printer, node->type));
    }
}

/* ---- functions of numbers ---- */

static const char *decimal_rounding(brume_printer *printer, const brume_expression *node,
                                    const char *a)
{
    int precision = node->arguments[0]->type.precision, scale = node->arguments[0]->type.scale;
    int digits = (int)node->number[0], most = precision > 19 ? precision : 19;
    const char *type = brume_print_type(printer, node->type);
    const char *word = brume_operation_word(node->operation);
    bool directed = node->operation == BRUME_OPERATION_FLOOR ||
                    node->operation == BRUME_OPERATION_CEIL;
    if (printer->postgresql)
        return directed ? FORMAT("%s(%s)", word, a) : FORMAT("%s(%s, %d)", word, a, digits);
    if (directed)
        return FORMAT("CAST(%s(CAST(%s AS DECIMAL(%d,%d))) AS %s)", word, a, precision + 1, scale,
                      type);
    if (node->operation == BRUME_OPERATION_ROUND && digits >= 0)
        return FORMAT("CAST(%s AS %s)", a, type);
    if (node->operation == BRUME_OPERATION_ROUND)
        return FORMAT("CAST(CAST(CAST(%s AS DECIMAL(%d,%d)) * CAST('0.1' AS DECIMAL(2,1)) AS "
                      "DECIMAL(%d,0)) * CAST('10' AS DECIMAL(2,0)) AS %s)",
                      a, most, scale, most + 3, type);
    char ten[BRUME_WIDE_TEXT_SIZE], tenth[BRUME_WIDE_TEXT_SIZE];
    brume_wide_format(brume_wide_power(digits), 0, ten);
    brume_wide_format(1, digits, tenth);
    return FORMAT("CAST(trunc(CAST(CAST(%s AS DECIMAL(%d,%d)) * CAST('%s' AS DECIMAL(%d,0)) AS "
                  "DECIMAL(38,%d))) * CAST('%s' AS DECIMAL(%d,%d)) AS %s)",
                  a, most, scale, ten, digits + 1, scale, tenth, digits + 1, digits, type);
}

static brume_piece rounding(brume_printer *printer, const brume_expression *node)
{
    brume_piece a = brume_print_expression(printer, node->arguments[0]);
    if (node->type.kind == BRUME_TYPE_DECIMAL)
        return (brume_piece){decimal_rounding(printer, node, a.text), a.level, false};
    /* DuckDB rounds halves away from zero; its cast to BIGINT rounds them to even, as PostgreSQL.
     */
    if (node->operation == BRUME_OPERATION_ROUND && !printer->postgresql) {
        a = brume_print_let(printer, a);
        return (brume_piece){FORMAT("(CASE WHEN abs(%s) < CAST('4503599627370496' AS DOUBLE) THEN "
                                    "CAST(CAST(%s AS BIGINT) AS DOUBLE) ELSE %s END)",
                                    a.text, a.text, a.text),
                             a.level, false};
    }
    return (brume_piece){FORMAT("%s(%s)", brume_operation_word(node->operation), a.text), a.level,
                         false};
}

static brume_piece real_function(brume_printer *printer, const brume_expression *node)
{
    brume_piece a = brume_print_let(printer, brume_print_expression(printer, node->arguments[0]));
    const char *word = brume_operation_word(node->operation), *x = a.text, *text;
    const char *type = printer->postgresql ? "float8" : "DOUBLE";
    const char *zero = brume_print_typed(printer, "0", type);
    if (node->operation == BRUME_OPERATION_EXP)
        text = FORMAT("(CASE WHEN %s > %s THEN NULL WHEN %s < %s THEN %s ELSE exp(%s) END)", x,
                      brume_print_typed(printer, "345", type), x,
                      brume_print_typed(printer, "-345", type), zero, x);
    else
        text = FORMAT("(CASE WHEN %s %s %s THEN %s(%s) END)", x,
                      node->operation == BRUME_OPERATION_SQRT ? ">=" : ">", zero, word, x);
    return (brume_piece){text, a.level, false};
}

static int highest(brume_piece a, brume_piece b)
{
    return a.level > b.level ? a.level : b.level;
}

static brume_piece power(brume_printer *printer, const brume_expression *node)
{
    const char *type = printer->postgresql ? "float8" : "DOUBLE";
    const char *zero = brume_print_typed(printer, "0", type);
    brume_piece a = brume_print_let(printer, brume_print_expression(printer, node->arguments[0]));
    brume_piece b = brume_print_let(printer, flush(printer, node->arguments[1]));
    brume_piece g = {
        FORMAT("(CASE WHEN %s <> %s THEN %s * ln(abs(%s)) END)", a.text, zero, b.text, a.text),
        highest(a, b), false};
    g = brume_print_let(printer, g);
    const char *text = FORMAT(
        "(CASE WHEN %s IS NULL OR %s IS NULL THEN NULL WHEN %s = %s THEN CASE WHEN %s > %s THEN %s "
        "WHEN %s = %s THEN %s END WHEN %s < %s AND %s <> floor(%s) THEN NULL WHEN %s > %s THEN NULL "
        "WHEN %s < %s THEN %s ELSE power(%s, %s) END)",
        a.text, b.text, a.text, zero, b.text, zero, zero, b.text, zero,
        brume_print_typed(printer, "1", type), a.text, zero, b.text, b.text, g.text,
        brume_print_typed(printer, "345", type), g.text, brume_print_typed(printer, "-345", type),
        zero, a.text, b.text);
    return (brume_piece){text, g.level, false};
}

static brume_piece width_bucket(brume_printer *printer, const brume_expression *node)
{
    const char *type = printer->postgresql ? "float8" : "DOUBLE";
    brume_piece a = brume_print_let(printer, brume_print_expression(printer, node->arguments[0]));
    const char *low = brume_print_expression(printer, node->arguments[1]).text;
    const char *high = brume_print_expression(printer, node->arguments[2]).text;
    char number[64];
    snprintf(number, sizeof number, "%.17g",
             node->arguments[2]->bounds.real_low - node->arguments[1]->bounds.real_low);
    const char *width = brume_print_typed(printer, number, type);
    brume_piece offset = {FORMAT("(%s - %s)", a.text, low), a.level, false};
    offset = brume_print_let(printer, offset);
    int64_t buckets = node->number[0];
    snprintf(number, sizeof number, "%lld", (long long)buckets);
    const char *count = brume_print_typed(printer, number, type);
    const char *quotient = FORMAT("floor((CASE WHEN abs(%s) < %s THEN %s ELSE %s END) / %s * %s)",
                                  offset.text, brume_print_typed(printer, "1e-150", type),
                                  brume_print_typed(printer, "0", type), offset.text, width, count);
    const char *text =
        FORMAT("(CASE WHEN %s IS NULL THEN NULL WHEN %s < %s THEN 0 WHEN %s >= %s THEN %lld ELSE "
               "LEAST(%s + 1, %lld) END)",
               a.text, a.text, low, a.text, high, (long long)buckets + 1,
               brume_print_cast(printer, quotient, printer->postgresql ? "int4" : "INTEGER"),
               (long long)buckets);
    return (brume_piece){text, offset.level, false};
}

static brume_piece clamp(brume_printer *printer, const brume_expression *node)
{
    brume_piece a = brume_print_let(printer, brume_print_expression(printer, node->arguments[0]));
    brume_type type = node->arguments[0]->type;
    const char *separator = strstr(node->text, "..");
    const char *low = FORMAT("%.*s", (int)(separator - node->text), node->text);
    const char *name = brume_print_type(printer, type);
    return (brume_piece){FORMAT("(CASE WHEN %s IS NOT NULL THEN LEAST(GREATEST(%s, %s), %s) END)",
                                a.text, a.text, brume_print_typed(printer, low, name),
                                brume_print_typed(printer, separator + 2, name)),
                         a.level, false};
}

/* Clamped and scaled to an integer; a double's cast rounds halves to even on both engines. */
static brume_piece grid(brume_printer *printer, const brume_expression *node)
{
    brume_piece a = clamp(printer, node);
    brume_type type = node->arguments[0]->type;
    const char *big = printer->postgresql ? "int8" : "BIGINT";
    if (type.kind == BRUME_TYPE_DOUBLE) {
        /* Tiny values would underflow when scaled down. */
        const char *real = printer->postgresql ? "float8" : "DOUBLE";
        char scale[40];
        snprintf(scale, sizeof scale, "%.17g", ldexp(1, (int)node->number[0]));
        a = brume_print_let(printer, a);
        a.text = brume_print_cast(printer,
                                  FORMAT("(CASE WHEN abs(%s) < %s THEN %s ELSE %s END) * %s",
                                         a.text, brume_print_typed(printer, "1e-150", real),
                                         brume_print_typed(printer, "0", real), a.text,
                                         brume_print_typed(printer, scale, real)),
                                  big);
    } else if (type.kind == BRUME_TYPE_DECIMAL) {
        /* The bounds fit 63 bits in units, so 19 digits do. */
        char units[BRUME_WIDE_TEXT_SIZE];
        brume_wide_format(brume_wide_power(type.scale), 0, units);
        a.text = printer->postgresql
                     ? FORMAT("(%s * '%s'::numeric)::int8", a.text, units)
                     : FORMAT("CAST(CAST(%s AS DECIMAL(19,%d)) * CAST('%s' AS DECIMAL(19,0)) AS "
                              "BIGINT)",
                              a.text, type.scale, units);
    } else {
        a.text = brume_print_cast(printer, a.text, big);
    }
    a.atom = false;
    return a;
}

/* ---- conditions and choices ---- */

static brume_piece listed(brume_printer *printer, const brume_expression *node, size_t from,
                          const char *separator)
{
    int level = 0;
    size_t length = 1, gap = strlen(separator);
    const char **texts = brume_arena_allocate(printer->arena, node->argument_count * sizeof *texts);
    if (!texts) {
        printer->failed = true;
        return (brume_piece){"", 0, false};
    }
    for (size_t i = from; i < node->argument_count; i++) {
        brume_piece each = brume_print_expression(printer, node->arguments[i]);
        texts[i] = each.text;
        level = each.level > level ? each.level : level;
        length += strlen(each.text) + gap;
    }
    char *joined = brume_arena_allocate(printer->arena, length);
    if (!joined) {
        printer->failed = true;
        return (brume_piece){"", 0, false};
    }
    char *end = joined;
    for (size_t i = from; i < node->argument_count; i++)
        end += sprintf(end, "%s%s", i > from ? separator : "", texts[i]);
    return (brume_piece){joined, level, false};
}

static brume_piece choose(brume_printer *printer, const brume_expression *node)
{
    int level = 0;
    const char *text = "(CASE";
    for (size_t i = 0; i < node->argument_count; i++) {
        brume_piece each = brume_print_expression(printer, node->arguments[i]);
        level = each.level > level ? each.level : level;
        const char *word = i % 2 ? "THEN" : i + 1 < node->argument_count ? "WHEN" : "ELSE";
        text = FORMAT("%s %s (%s)", text, word, each.text);
    }
    return (brume_piece){FORMAT("%s END)", text), level, false};
}

const char *brume_print_lower(brume_printer *printer, const char *a, bool upper)
{
    static const char small[] = "abcdefghijklmnopqrstuvwxyz",
                      large[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (printer->postgresql)
        return FORMAT(upper ? "upper(%s)" : "lower(%s)", a);
    return FORMAT("translate(%s, '%s', '%s')", a, upper ? small : large, upper ? large : small);
}

static brume_piece condition(brume_printer *printer, const brume_expression *node)
{
    brume_piece a = brume_print_expression(printer, node->arguments[0]);
    const char *word = brume_operation_word(node->operation);
    if (node->operation == BRUME_OPERATION_IN || node->operation == BRUME_OPERATION_NOT_IN) {
        brume_piece list = listed(printer, node, 1, ", ");
        return (brume_piece){FORMAT("((%s) %s (%s))", a.text, word, list.text), a.level, false};
    }
    if (node->text) { /* LIKE */
        bool folds = node->operation == BRUME_OPERATION_ILIKE ||
                     node->operation == BRUME_OPERATION_NOT_ILIKE;
        bool negated = node->operation == BRUME_OPERATION_NOT_LIKE ||
                       node->operation == BRUME_OPERATION_NOT_ILIKE;
        return (brume_piece){FORMAT("((%s) %sLIKE %s ESCAPE '\\')",
                                    folds ? brume_print_lower(printer, a.text, false) : a.text,
                                    negated ? "NOT " : "", brume_print_quoted(printer, node->text)),
                             a.level, false};
    }
    if (node->argument_count == 1)
        return (brume_piece){node->operation == BRUME_OPERATION_NOT
                                 ? FORMAT("(NOT (%s))", a.text)
                                 : FORMAT("((%s) %s)", a.text, word),
                             a.level, false};
    brume_piece b = brume_print_expression(printer, node->arguments[1]);
    if (node->argument_count == 2)
        return (brume_piece){FORMAT("((%s) %s (%s))", a.text, word, b.text), highest(a, b), false};
    brume_piece c = brume_print_expression(printer, node->arguments[2]);
    return (brume_piece){FORMAT("((%s) %s (%s) AND (%s))", a.text, word, b.text, c.text),
                         highest(a, b) > c.level ? highest(a, b) : c.level, false};
}

/* ---- text ---- */

static brume_piece part_of_text(brume_printer *printer, const brume_expression *node)
{
    brume_piece a = brume_print_expression(printer, node->arguments[0]);
    brume_piece s = brume_print_let(printer, brume_print_expression(printer, node->arguments[1]));
    const char *text;
    int level = highest(a, s);
    if (node->operation != BRUME_OPERATION_SUBSTRING) {
        text = FORMAT("(CASE WHEN %s IS NOT NULL THEN %s(%s, GREATEST(%s, -2147483647)) END)",
                      s.text, brume_operation_word(node->operation), a.text, s.text);
    } else if (node->argument_count == 2) {
        text = printer->postgresql
                   ? FORMAT("substring(%s, %s)", a.text, s.text)
                   : FORMAT("(CASE WHEN %s IS NOT NULL THEN substring(%s, GREATEST(%s, 1)) END)",
                            s.text, a.text, s.text);
    } else {
        brume_piece n =
            brume_print_let(printer, brume_print_expression(printer, node->arguments[2]));
        level = level > n.level ? level : n.level;
        /* A start before 1 eats into the length; DuckDB alone would count from the end. */
        text = printer->postgresql
                   ? FORMAT("(CASE WHEN %s >= 0 THEN substring(%s, %s, %s) END)", n.text, a.text,
                            s.text, n.text)
                   : FORMAT("(CASE WHEN %s >= 0 AND %s IS NOT NULL THEN substring(%s, "
                            "CAST(GREATEST(%s, 1) AS BIGINT), GREATEST(LEAST(CAST(%s AS BIGINT) + "
                            "CAST(%s AS BIGINT), 2147483648) - GREATEST(%s, 1), 0)) END)",
                            n.text, s.text, a.text, s.text, s.text, n.text, s.text);
    }
    return (brume_piece){text, level, false};
}

static brume_piece text_function(brume_printer *printer, const brume_expression *node)
{
    brume_piece a = brume_print_expression(printer, node->arguments[0]), all;
    const char *text, *word = brume_operation_word(node->operation);
    switch (node->operation) {
    case BRUME_OPERATION_LOWER:
    case BRUME_OPERATION_UPPER:
        text = brume_print_lower(printer, a.text, node->operation == BRUME_OPERATION_UPPER);
        break;
    case BRUME_OPERATION_TRIM:
    case BRUME_OPERATION_TRIM_LEFT:
    case BRUME_OPERATION_TRIM_RIGHT:
        text =
            FORMAT("%s(%s, %s)",
                   node->operation == BRUME_OPERATION_TRIM && !printer->postgresql ? "trim" : word,
                   a.text, brume_print_quoted(printer, node->text));
        break;
    default:
        all = listed(printer, node, 0, ", ");
        a.level = all.level;
        text = FORMAT("%s(%s)", word, all.text);
        if (node->type.kind == BRUME_TYPE_INTEGER && !printer->postgresql)
            text = FORMAT("CAST(%s AS INTEGER)", text);
    }
    return (brume_piece){text, a.level, false};
}

/* ---- dates ---- */

static brume_piece date_function(brume_printer *printer, const brume_expression *node)
{
    bool pg = printer->postgresql;
    brume_piece a = brume_print_expression(printer, node->arguments[0]), b = {"", 0, false};
    if (node->argument_count > 1)
        b = brume_print_expression(printer, node->arguments[1]);
    const char *text;
    switch (node->operation) {
    case BRUME_OPERATION_DAYS_BETWEEN:
        text = pg ? FORMAT("((%s) - (%s))", a.text, b.text)
                  : FORMAT("CAST((%s) - (%s) AS INTEGER)", a.text, b.text);
        break;
    case BRUME_OPERATION_ADD_DAYS:
    case BRUME_OPERATION_SUBTRACT_DAYS: {
        /* By day number in 64 bits, then range, then back. */
        const char *sign = node->operation == BRUME_OPERATION_ADD_DAYS ? "+" : "-";
        const char *days =
            pg ? FORMAT("((%s) - '1970-01-01'::date)::int8 %s (%s)::int8", a.text, sign, b.text)
               : FORMAT("CAST((%s) - DATE '1970-01-01' AS BIGINT) %s CAST(%s AS BIGINT)", a.text,
                        sign, b.text);
        days = brume_print_range(printer, days, "-719163", "2932897", pg ? "int8" : "BIGINT");
        text = pg ? FORMAT("('1970-01-01'::date + (%s)::int4)", days)
                  : FORMAT("(DATE '1970-01-01' + CAST(%s AS INTEGER))", days);
        break;
    }
    case BRUME_OPERATION_ADD_INTERVAL: {
        brume_piece moved = brume_print_let(printer, a);
        moved.text = pg ? FORMAT("(%s + '%lld months %lld days %lld microseconds'::interval)",
                                 moved.text, (long long)node->number[0], (long long)node->number[1],
                                 (long long)node->number[2])
                        : FORMAT("(%s + (to_months(%lld) + to_days(%lld) + to_microseconds(%lld)))",
                                 moved.text, (long long)node->number[0], (long long)node->number[1],
                                 (long long)node->number[2]);
        moved.atom = false;
        moved = brume_print_let(printer, moved);
        return (brume_piece){brume_print_leaf(printer, moved.text, node->type, BRUME_LEAF_CALENDAR),
                             moved.level, false};
    }
    case BRUME_OPERATION_DATE_TRUNC:
        text = pg ? FORMAT("date_trunc('%s', %s)", node->text, a.text)
                  : FORMAT("CAST(date_trunc('%s', %s) AS TIMESTAMP)", node->text, a.text);
        break;
    default: /* EXTRACT */
        if (pg)
            text = FORMAT("extract(%s from %s)::%s", node->text, a.text,
                          brume_print_type(printer, node->type));
        else if (node->type.precision == 4)
            text = FORMAT("CAST(date_part('%s', %s) AS DECIMAL(4,0))", node->text, a.text);
        else if (node->type.precision == 8) /* DuckDB's seconds are cut */
            text = FORMAT("CAST(CAST(date_part('microseconds', %s) AS DECIMAL(8,0)) * "
                          "CAST('0.000001' AS DECIMAL(7,6)) AS DECIMAL(8,6))",
                          a.text);
        else
            text = FORMAT("CAST(CAST(epoch_us(%s) AS DECIMAL(19,0)) * CAST('0.000001' AS "
                          "DECIMAL(7,6)) AS DECIMAL(18,6))",
                          a.text);
    }
    return (brume_piece){text, highest(a, b), false};
}

/* ---- the dispatch ---- */

brume_piece brume_print_expression(brume_printer *printer, const brume_expression *node)
{
    if (printer->failed)
        return (brume_piece){"", 0, false};
    brume_operation operation = node->operation;
    brume_piece a;
    switch (operation) {
    case BRUME_OPERATION_COLUMN:
        return (brume_piece){FORMAT("\"c%zu_%zu\"", node->relation->number, node->column), 0, true};
    case BRUME_OPERATION_LITERAL:
        return (brume_piece){brume_print_literal(printer, node->type, node->text), 0, true};
    case BRUME_OPERATION_CAST:
        return brume_print_conversion(printer, node);
    case BRUME_OPERATION_CLAMP:
        return clamp(printer, node);
    case BRUME_OPERATION_GRID:
        return grid(printer, node);
    case BRUME_OPERATION_ADD:
    case BRUME_OPERATION_SUBTRACT:
    case BRUME_OPERATION_MULTIPLY:
    case BRUME_OPERATION_DIVIDE:
    case BRUME_OPERATION_REMAINDER:
        return arithmetic(printer, node);
    case BRUME_OPERATION_NEGATE:
    case BRUME_OPERATION_ABS:
    case BRUME_OPERATION_SIGN:
        a = brume_print_expression(printer, node->arguments[0]);
        return (brume_piece){unary(printer, node, a.text), a.level, false};
    case BRUME_OPERATION_CASE:
        return choose(printer, node);
    case BRUME_OPERATION_COALESCE:
    case BRUME_OPERATION_NULLIF:
    case BRUME_OPERATION_GREATEST:
    case BRUME_OPERATION_LEAST:
    case BRUME_OPERATION_CONCAT:
        a = listed(printer, node, 0, ", ");
        a.text = FORMAT("%s(%s)", brume_operation_word(operation), a.text);
        return a;
    case BRUME_OPERATION_JOIN_TEXT:
        a = listed(printer, node, 0, " || ");
        /* DuckDB gives NULL || 'x' the type of NULL. */
        a.text = FORMAT(printer->postgresql ? "(%s)" : "CAST((%s) AS VARCHAR)", a.text);
        return a;
    case BRUME_OPERATION_FLOOR:
    case BRUME_OPERATION_CEIL:
    case BRUME_OPERATION_ROUND:
    case BRUME_OPERATION_TRUNC:
        return rounding(printer, node);
    case BRUME_OPERATION_SQRT:
    case BRUME_OPERATION_LN:
    case BRUME_OPERATION_LOG10:
    case BRUME_OPERATION_EXP:
        return real_function(printer, node);
    case BRUME_OPERATION_POWER:
        return power(printer, node);
    case BRUME_OPERATION_WIDTH_BUCKET:
        return width_bucket(printer, node);
    case BRUME_OPERATION_SUBSTRING:
    case BRUME_OPERATION_LEFT:
    case BRUME_OPERATION_RIGHT:
        return part_of_text(printer, node);
    case BRUME_OPERATION_LOWER:
    case BRUME_OPERATION_UPPER:
    case BRUME_OPERATION_LENGTH:
    case BRUME_OPERATION_TRIM:
    case BRUME_OPERATION_TRIM_LEFT:
    case BRUME_OPERATION_TRIM_RIGHT:
    case BRUME_OPERATION_REPLACE:
    case BRUME_OPERATION_STARTS_WITH:
    case BRUME_OPERATION_POSITION:
        return text_function(printer, node);
    case BRUME_OPERATION_ADD_DAYS:
    case BRUME_OPERATION_SUBTRACT_DAYS:
    case BRUME_OPERATION_DAYS_BETWEEN:
    case BRUME_OPERATION_ADD_INTERVAL:
    case BRUME_OPERATION_EXTRACT:
    case BRUME_OPERATION_DATE_TRUNC:
        return date_function(printer, node);
    default:
        return condition(printer, node);
    }
}
