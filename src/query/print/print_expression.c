/* The printed form of conditions, choices, text and dates on DuckDB and PostgreSQL, and of every
 * operation by way of print_number.c and print_cast.c; what Spark says in another way is in
 * print_spark.h.
 */
#include "query/print/print.h"

#include <stdio.h>
#include <string.h>

#include "query/expression/build.h"
#include "query/print/print_cast.h"
#include "query/print/print_spark.h"

#define FORMAT(...) brume_print_format(printer, __VA_ARGS__)

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
    size_t used = 0;
    for (size_t i = from; i < node->argument_count; i++)
        used += (size_t)snprintf(joined + used, length - used, "%s%s", i > from ? separator : "",
                                 texts[i]);
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

/* PostgreSQL's own LIKE gives up as soon as the text is at its end, so that its time is that of the
 * text times the pattern at most; DuckDB's tries again and again (engine/duckdb.c). Whether a
 * text matches a regular expression PostgreSQL finds out in one pass, by an automaton too: only
 * where it does, it would try again. */
static brume_piece like(brume_printer *printer, const brume_expression *node, brume_piece a)
{
    bool folds = node->operation == BRUME_OPERATION_ILIKE ||
                 node->operation == BRUME_OPERATION_NOT_ILIKE;
    bool negated = node->operation == BRUME_OPERATION_NOT_LIKE ||
                   node->operation == BRUME_OPERATION_NOT_ILIKE;
    const char *pattern = brume_print_quoted(printer, node->text), *not = negated ? "NOT " : "";
    if (node->operation == BRUME_OPERATION_MATCHES)
        a.text =
            FORMAT(printer->postgresql ? "((%s) ~ %s)" : "brume_matches(%s, %s)", a.text, pattern);
    else if (!printer->postgresql)
        a.text =
            FORMAT("(%s%s(%s, %s))", not, folds ? "brume_ilike" : "brume_like", a.text, pattern);
    else
        a.text = FORMAT("((%s) %sLIKE %s ESCAPE '\\')",
                        folds ? brume_print_lower(printer, a.text, false) : a.text, not, pattern);
    a.atom = false;
    return a;
}

static brume_piece condition(brume_printer *printer, const brume_expression *node)
{
    brume_piece a = brume_print_expression(printer, node->arguments[0]);
    const char *word = brume_operation_word(node->operation);
    if (node->operation == BRUME_OPERATION_IN || node->operation == BRUME_OPERATION_NOT_IN) {
        brume_piece list = listed(printer, node, 1, ", ");
        return (brume_piece){FORMAT("((%s) %s (%s))", a.text, word, list.text), a.level, false};
    }
    if (node->text)
        return like(printer, node, a);
    if (node->argument_count == 1)
        return (brume_piece){node->operation == BRUME_OPERATION_NOT
                                 ? FORMAT("(NOT (%s))", a.text)
                                 : FORMAT("((%s) %s)", a.text, word),
                             a.level, false};
    brume_piece b = brume_print_expression(printer, node->arguments[1]);
    if (node->argument_count == 2)
        return (brume_piece){FORMAT("((%s) %s (%s))", a.text, word, b.text),
                             brume_print_level(a, b), false};
    brume_piece c = brume_print_expression(printer, node->arguments[2]);
    return (brume_piece){FORMAT("((%s) %s (%s) AND (%s))", a.text, word, b.text, c.text),
                         brume_print_level(a, b) > c.level ? brume_print_level(a, b) : c.level,
                         false};
}

/* ---- text ---- */

static brume_piece part_of_text(brume_printer *printer, const brume_expression *node)
{
    brume_piece a = brume_print_expression(printer, node->arguments[0]);
    brume_piece s = brume_print_let(printer, brume_print_expression(printer, node->arguments[1]));
    const char *text;
    int level = brume_print_level(a, s);
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
    case BRUME_OPERATION_OCTET_LENGTH:
        text = printer->postgresql ? FORMAT("octet_length(%s)", a.text)
                                   : FORMAT("CAST(strlen(%s) AS INTEGER)", a.text);
        break;
    case BRUME_OPERATION_SPLIT_PART:
        text = FORMAT("split_part(%s, %s, %lld)", a.text, brume_print_quoted(printer, node->text),
                      (long long)node->number[0]);
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

/* The format in to_char's words: what is no part of a time is quoted. */
static const char *postgresql_format(brume_printer *printer, const char *format)
{
    brume_print_list list = {0};
    while (*format) {
        const char *part = brume_format_part(format);
        brume_print_add(printer, &list, "", part ? part : FORMAT("\"%c\"", *format));
        format += part ? 2 : 1;
    }
    return list.length ? list.text : "";
}

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
    case BRUME_OPERATION_FORMAT_TIME:
        text = pg ? FORMAT("(to_char(%s, '%s') COLLATE \"C\")", a.text,
                           postgresql_format(printer, node->text))
                  : FORMAT("strftime(%s, '%s')", a.text, node->text);
        break;
    case BRUME_OPERATION_DATE_TRUNC:
        /* DuckDB takes date_trunc = (a time that is no edge) for false, also of NULL: hidden in the
         * microseconds it is compared as it is. 'touched windows' compares with PostgreSQL. */
        text = pg ? FORMAT("date_trunc('%s', %s)", node->text, a.text)
                  : FORMAT("make_timestamp(epoch_us(CAST(date_trunc('%s', %s) AS TIMESTAMP)))",
                           node->text, a.text);
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
    return (brume_piece){text, brume_print_level(a, b), false};
}

/* ---- the dispatch ---- */

/* DuckDB and Spark read NULLIF(a, b) as a CASE that holds `a` twice, so that each one in another
 * doubles their work: a value with some of them is bound before it becomes a part of another. What
 * is true or false is in no NULLIF. */
enum { MOST_REPEATED = 4 };

static bool repeats_itself(const brume_printer *printer, const brume_expression *node,
                           brume_piece piece)
{
    static const char word[] = "nullif(";
    int count = 0;
    if (printer->postgresql || node->type.kind == BRUME_TYPE_BOOLEAN)
        return false;
    for (const char *at = piece.text; (at = strcasestr(at, word)); at += sizeof word - 1)
        count++;
    return count > MOST_REPEATED;
}

static brume_piece print_node(brume_printer *printer, const brume_expression *node);

brume_piece brume_print_expression(brume_printer *printer, const brume_expression *node)
{
    for (const brume_bound *each = printer->bound; each; each = each->next)
        if (each->node == node)
            return (brume_piece){each->name, 0, true};
    brume_piece piece = print_node(printer, node);
    return repeats_itself(printer, node, piece) ? brume_print_let(printer, piece) : piece;
}

static brume_piece print_node(brume_printer *printer, const brume_expression *node)
{
    if (printer->failed)
        return (brume_piece){"", 0, false};
    brume_operation operation = node->operation;
    brume_piece a;
    if (printer->spark && brume_print_spark(printer, node, &a))
        return a;
    if (brume_print_number(printer, node, &a))
        return a;
    switch (operation) {
    case BRUME_OPERATION_COLUMN:
        return (brume_piece){FORMAT("\"c%zu_%zu\"", node->relation->number, node->column), 0, true};
    case BRUME_OPERATION_LITERAL:
        return (brume_piece){brume_print_literal(printer, node->type, node->text), 0, true};
    case BRUME_OPERATION_CAST:
        return brume_print_conversion(printer, node);
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
        a.text = FORMAT(printer->postgresql || printer->spark ? "(%s)" : "CAST((%s) AS VARCHAR)",
                        a.text);
        return a;
    case BRUME_OPERATION_SUBSTRING:
    case BRUME_OPERATION_LEFT:
    case BRUME_OPERATION_RIGHT:
        return part_of_text(printer, node);
    case BRUME_OPERATION_LOWER:
    case BRUME_OPERATION_UPPER:
    case BRUME_OPERATION_LENGTH:
    case BRUME_OPERATION_OCTET_LENGTH:
    case BRUME_OPERATION_SPLIT_PART:
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
    case BRUME_OPERATION_FORMAT_TIME:
        return date_function(printer, node);
    default:
        return condition(printer, node);
    }
}
