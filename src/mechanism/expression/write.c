/* An event back to text: the expression that parses to it again.
 *
 * It promises the fewest digits that read back exactly, whatever the locale, and to leave out what
 * has its standard value. */
#include <brume/mechanism/expression.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mechanism/card.h"

typedef struct expression_writer {
    char *text;
    size_t size, used; /* used may pass size: then it did not fit */
} expression_writer;

static void write_text(expression_writer *w, const char *text)
{
    for (; *text; text++, w->used++)
        if (w->used < w->size)
            w->text[w->used] = *text;
}

/* The fewest digits that read back exactly. */
static void write_number(expression_writer *w, double value)
{
    char digits[32];
    bool whole = fabs(value) < 1e15 && value == floor(value);
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", whole ? 15 : precision, value);
        if (strtod(digits, NULL) == value) /* same locale as snprintf */
            break;
    }
    for (char *p = digits; *p; p++)
        if (*p == ',') /* a locale's decimal comma */
            *p = '.';
    write_text(w, digits);
}

static void write_call(expression_writer *w, const brume_card *card, const brume_event *event,
                       size_t first)
{
    size_t slots = brume_card_slots(card);
    bool comma = false;
    write_text(w, card->name);
    write_text(w, "(");
    for (size_t i = 0; i < slots; i++) {
        const brume_parameter *parameter = &card->parameters[i];
        double value = event->parameter[first + i];
        if (parameter->optional && value == parameter->standard)
            continue;
        write_text(w, comma ? ", " : "");
        write_text(w, parameter->name);
        write_text(w, "=");
        if (parameter->type == BRUME_PARAMETER_FLAG)
            write_text(w, value != 0 ? "true" : "false");
        else
            write_number(w, value);
        comma = true;
    }
    if (slots < card->parameter_count) {
        write_text(w, comma ? ", " : "");
        write_call(w, brume_card_by_id(event->base), event, slots);
    } else if (event->sensitivity != 1) {
        write_text(w, comma ? ", sensitivity=" : "sensitivity=");
        write_number(w, event->sensitivity);
    }
    write_text(w, ")");
}

brume_status brume_event_write(const brume_event *event, char *text, size_t size,
                               brume_error *error)
{
    BRUME_TRY(brume_event_check(event, error));
    char buffer[512]; /* six numbers of 24 digits, their names, two mechanisms and a count fit */
    expression_writer w = {.text = buffer, .size = sizeof buffer};
    write_call(&w, brume_card_by_id(event->mechanism), event, 0);
    if (event->count != 1) {
        char count[32];
        snprintf(count, sizeof count, "*%" PRIu64, event->count);
        write_text(&w, count);
    }
    if (w.used >= sizeof buffer || w.used >= size)
        return brume_fail(error, BRUME_EOVERFLOW, NULL, "the text needs %zu bytes, has %zu",
                          w.used + 1, size);
    memcpy(text, buffer, w.used);
    text[w.used] = 0;
    return BRUME_OK;
}
