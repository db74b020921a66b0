/* Conditions on texts and functions of them for Spark.
 *
 * LIKE becomes a regular expression in which no part is tried twice: the parts between two '%' are
 * found leftmost and are not looked for again (atomic groups), so that its time is that of the text
 * times the pattern at most. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "query/print/print_cast.h"
#include "query/print/print_spark.h"

#define FORMAT(...) brume_print_format(printer, __VA_ARGS__)

/* ---- LIKE ---- */

/* The expression of one part of a pattern, which ends at `end`. Bytes above 127 stand for
 * themselves, as do letters and digits. */
static const char *part_of_pattern(brume_printer *printer, const char *from, const char *end)
{
    brume_print_list list = {0};
    while (from < end) {
        bool any = *from == '_';
        from += *from == '\\' && from + 1 < end;
        unsigned char c = (unsigned char)*from++;
        if (any)
            brume_print_add(printer, &list, "", ".");
        else
            brume_print_add(printer, &list, "",
                            c > 127 || isalnum(c) ? FORMAT("%c", c) : FORMAT("\\x%02x", c));
    }
    return list.length ? list.text : "";
}

static const char *end_of_part(const char *from)
{
    while (*from && *from != '%')
        from += *from == '\\' && from[1] ? 2 : 1;
    return from;
}

static const char *pattern_of(brume_printer *printer, const char *like)
{
    const char *end = end_of_part(like);
    const char *text = FORMAT("(?s)\\A%s", part_of_pattern(printer, like, end));
    if (!*end)
        return FORMAT("%s\\z", text);
    while (*end) {
        const char *from = end + 1;
        end = end_of_part(from);
        if (from == end)
            continue; /* "%%" is "%"; at the end anything may follow */
        const char *part = part_of_pattern(printer, from, end);
        text = *end ? FORMAT("%s(?>.*?%s)", text, part) : FORMAT("%s.*%s\\z", text, part);
    }
    return text;
}

static brume_piece like(brume_printer *printer, const brume_expression *node)
{
    bool folds = node->operation == BRUME_OPERATION_ILIKE ||
                 node->operation == BRUME_OPERATION_NOT_ILIKE;
    bool negated = node->operation == BRUME_OPERATION_NOT_LIKE ||
                   node->operation == BRUME_OPERATION_NOT_ILIKE;
    brume_piece a = brume_print_expression(printer, node->arguments[0]);
    const char *pattern = brume_print_quoted(printer, pattern_of(printer, node->text));
    a.text = FORMAT("(%s(%s) RLIKE %s)", negated ? "NOT " : "",
                    folds ? brume_print_lower(printer, a.text, false) : a.text, pattern);
    a.atom = false;
    return a;
}

/* ---- parts of texts ---- */

/* A negative length leaves so many characters out, at the other end. */
static brume_piece left_or_right(brume_printer *printer, const brume_expression *node)
{
    brume_piece a = brume_print_let(printer, brume_print_expression(printer, node->arguments[0]));
    brume_piece n = brume_print_let(printer, brume_print_expression(printer, node->arguments[1]));
    const char *rest =
        node->operation == BRUME_OPERATION_LEFT
            ? FORMAT("left(%s, GREATEST(length(%s) + %s, 0))", a.text, a.text, n.text)
            : FORMAT("right(%s, GREATEST(length(%s) + %s, 0))", a.text, a.text, n.text);
    return (brume_piece){FORMAT("(CASE WHEN %s >= 0 THEN %s(%s, %s) WHEN %s < 0 THEN %s END)",
                                n.text, brume_operation_word(node->operation), a.text, n.text,
                                n.text, rest),
                         brume_print_level(a, n), false};
}

/* A start before 1 eats into the length. */
static brume_piece substring(brume_printer *printer, const brume_expression *node)
{
    brume_piece a = brume_print_expression(printer, node->arguments[0]);
    brume_piece s = brume_print_let(printer, brume_print_expression(printer, node->arguments[1]));
    int level = brume_print_level(a, s);
    if (node->argument_count == 2)
        return (brume_piece){
            FORMAT("(CASE WHEN %s IS NOT NULL THEN substring(%s, GREATEST(%s, 1)) END)", s.text,
                   a.text, s.text),
            level, false};
    brume_piece n = brume_print_let(printer, brume_print_expression(printer, node->arguments[2]));
    level = level > n.level ? level : n.level;
    return (brume_piece){
        FORMAT("(CASE WHEN %s >= 0 AND %s IS NOT NULL THEN substring(%s, GREATEST(%s, 1), "
               "CAST(GREATEST(LEAST(CAST(%s AS BIGINT) + CAST(%s AS BIGINT), 2147483648) - "
               "CAST(GREATEST(%s, 1) AS BIGINT), 0) AS INT)) END)",
               n.text, s.text, a.text, s.text, s.text, n.text, s.text),
        level, false};
}

static const char *trim(brume_printer *printer, const brume_expression *node, const char *text)
{
    const char *side = node->operation == BRUME_OPERATION_TRIM        ? "BOTH"
                       : node->operation == BRUME_OPERATION_TRIM_LEFT ? "LEADING"
                                                                      : "TRAILING";
    return FORMAT("TRIM(%s %s FROM %s)", side, brume_print_quoted(printer, node->text), text);
}

/* All arguments, as a list. */
static brume_piece listed(brume_printer *printer, const brume_expression *node)
{
    brume_print_list list = {0};
    int level = 0;
    for (size_t i = 0; i < node->argument_count; i++) {
        brume_piece each = brume_print_expression(printer, node->arguments[i]);
        brume_print_add(printer, &list, ", ", each.text);
        level = each.level > level ? each.level : level;
    }
    return (brume_piece){list.length ? list.text : "", level, false};
}

bool brume_print_spark_text(brume_printer *printer, const brume_expression *node,
                            brume_piece *piece)
{
    switch (node->operation) {
    case BRUME_OPERATION_LIKE:
    case BRUME_OPERATION_NOT_LIKE:
    case BRUME_OPERATION_ILIKE:
    case BRUME_OPERATION_NOT_ILIKE:
        *piece = like(printer, node);
        return true;
    case BRUME_OPERATION_MATCHES:
        *piece = brume_print_refuse(printer,
                                    "Spark follows regular expressions by trying again, so "
                                    "that its time could tell what a row holds");
        return true;
    case BRUME_OPERATION_LEFT:
    case BRUME_OPERATION_RIGHT:
        *piece = left_or_right(printer, node);
        return true;
    case BRUME_OPERATION_SUBSTRING:
        *piece = substring(printer, node);
        return true;
    case BRUME_OPERATION_TRIM:
    case BRUME_OPERATION_TRIM_LEFT:
    case BRUME_OPERATION_TRIM_RIGHT:
        *piece = brume_print_expression(printer, node->arguments[0]);
        piece->text = trim(printer, node, piece->text);
        break;
    case BRUME_OPERATION_OCTET_LENGTH:
        *piece = listed(printer, node);
        piece->text = FORMAT("octet_length(%s)", piece->text);
        break;
    case BRUME_OPERATION_STARTS_WITH:
        *piece = listed(printer, node);
        piece->text = FORMAT("startswith(%s)", piece->text);
        break;
    case BRUME_OPERATION_POSITION:
        *piece = listed(printer, node);
        piece->text = FORMAT("instr(%s)", piece->text);
        break;
    case BRUME_OPERATION_CONCAT: /* without those that are NULL */
        *piece = listed(printer, node);
        piece->text = FORMAT("concat_ws('', %s)", piece->text);
        break;
    case BRUME_OPERATION_GREATEST:
    case BRUME_OPERATION_LEAST: /* of one value they are refused */
        if (node->argument_count > 1)
            return false;
        *piece = brume_print_expression(printer, node->arguments[0]);
        return true;
    default:
        return false;
    }
    piece->atom = false;
    return true;
}
