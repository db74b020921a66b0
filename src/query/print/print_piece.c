/* The pieces that printed expressions are made of: formats, quotes, types, literals, names.
 *
 * RANGE makes what is not strictly inside NULL and mentions its operand once. */
#include "query/print/print.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "query/print/print_cast.h"

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
