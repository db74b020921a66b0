/* Expressions: text to events.
 *
 * A recursive-descent parser over a cursor that never moves backwards past a token; nothing is
 * allocated but the array of events. It promises that an accepted expression has every parameter of
 * every term present and in the range of its card, the one unknown excepted. */
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <brume/mechanism/expression.h>
#include <brume/status.h>

#include "base/error.h"
#include "base/text.h"
#include "mechanism/card.h"

enum { BRUME_NAME_BYTES = 64 };

typedef struct brume_cursor {
    const char *text;
    size_t at;       /* index of the next character */
    locale_t locale; /* "C": a decimal point is a point */
    brume_error *error;
} brume_cursor;

/* The words of expressions: names, numbers, counts and signs, read off a cursor that skips blanks.
 *
 * It promises that a number is a plain decimal whatever the locale, that nothing is read beyond the
 * end of the text, and that a refusal says at which position and what was found there. */

/* What a person calls the place of the next character: the first is 1. */
static size_t cursor_position(const brume_cursor *c)
{
    return c->at + 1;
}

static bool is_blank(char x)
{
    return x == ' ' || x == '\t' || x == '\n' || x == '\r';
}

static bool is_digit(char x)
{
    return x >= '0' && x <= '9';
}

static bool is_letter(char x)
{
    return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || x == '_';
}

/* The next character that is no blank; 0 at the end. */
static char cursor_peek(brume_cursor *c)
{
    while (is_blank(c->text[c->at]))
        c->at++;
    return c->text[c->at];
}

/* Where that character is. */
static size_t cursor_start(brume_cursor *c)
{
    (void)cursor_peek(c);
    return c->at;
}

/* Whether it is `wanted`: then it is passed. */
static bool cursor_take(brume_cursor *c, char wanted)
{
    if (cursor_peek(c) != wanted)
        return false;
    c->at++;
    return true;
}

/* BRUME_ESYNTAX: "expected WANTED at position 7, found '?'", or "found the end". */
static brume_status cursor_unexpected(brume_cursor *c, const char *wanted, const char *hint)
{
    char found = cursor_peek(c);
    if (!found)
        return brume_fail(c->error, BRUME_ESYNTAX, hint,
                          "expected %s at position %zu, found the end", wanted, cursor_position(c));
    if (found < ' ' || found > '~')
        return brume_fail(c->error, BRUME_ESYNTAX, hint,
                          "expected %s at position %zu, found a byte that is no plain text", wanted,
                          cursor_position(c));
    return brume_fail(c->error, BRUME_ESYNTAX, hint, "expected %s at position %zu, found '%c'",
                      wanted, cursor_position(c), found);
}

/* Letters, digits and '_', a letter first; `wanted` is what the refusal says was expected, and
 * `if_number` its hint where a digit is found. */
static brume_status cursor_name(brume_cursor *c, const char *wanted, const char *if_number,
                                char name[BRUME_NAME_BYTES])
{
    if (!is_letter(cursor_peek(c)))
        return cursor_unexpected(c, wanted, is_digit(cursor_peek(c)) ? if_number : NULL);
    size_t start = c->at, length = 0;
    while (is_letter(c->text[c->at]) || is_digit(c->text[c->at])) {
        if (length + 1 < BRUME_NAME_BYTES)
            name[length++] = c->text[c->at];
        c->at++;
    }
    name[length] = 0;
    if (c->at - start >= BRUME_NAME_BYTES)
        return brume_fail(c->error, BRUME_EUNKNOWN, "see 'brume mechanisms'",
                          "the name at position %zu is too long", start + 1);
    return BRUME_OK;
}

/* A decimal number: sign, digits with at most one point, exponent. No hexadecimal, no words. */
static brume_status cursor_number(brume_cursor *c, double *value)
{
    (void)cursor_peek(c);
    const char *start = c->text + c->at, *p = start;
    size_t digits = 0;
    bool nonzero = false;
    if (*p == '+' || *p == '-')
        p++;
    for (; is_digit(*p); p++, digits++)
        nonzero |= *p != '0';
    if (*p == '.')
        for (p++; is_digit(*p); p++, digits++)
            nonzero |= *p != '0';
    if (digits == 0)
        return cursor_unexpected(c, "a number, true, false or ?", NULL);
    if (*p == 'e' || *p == 'E') {
        p++;
        if (*p == '+' || *p == '-')
            p++;
        if (!is_digit(*p)) {
            c->at = (size_t)(p - c->text);
            return cursor_unexpected(c, "the digits of an exponent", NULL);
        }
        while (is_digit(*p))
            p++;
    }
    if (is_letter(*p) || *p == '.') {
        c->at = (size_t)(p - c->text);
        return cursor_unexpected(c, "',' or ')' after the number", NULL);
    }
    char *end = NULL;
    double parsed = strtod_l(start, &end, c->locale);
    if (end != p) /* strtod reads on only where a hexadecimal follows, and "0x" was refused */
        return brume_fail(c->error, BRUME_ESYNTAX, NULL, "cannot read the number at position %zu",
                          cursor_position(c));
    if (isinf(parsed) || (parsed == 0 && nonzero))
        return brume_fail(c->error, BRUME_EARGUMENT, "numbers reach from 5e-324 to 1.7e308",
                          "the number at position %zu is too %s", cursor_position(c),
                          parsed == 0 ? "small" : "large");
    c->at = (size_t)(p - c->text);
    *value = parsed;
    return BRUME_OK;
}

/* A whole number from 1 to 2^63 - 1, in digits. */
static brume_status cursor_count(brume_cursor *c, uint64_t *count)
{
    if (!is_digit(cursor_peek(c)))
        return cursor_unexpected(c, "a count", "a count is a whole number: laplace(scale=1)*5");
    size_t start = c->at;
    uint64_t value = 0;
    bool large = false;
    for (; is_digit(c->text[c->at]); c->at++) {
        uint64_t digit = (uint64_t)(c->text[c->at] - '0');
        large |= value > (INT64_MAX - digit) / 10;
        value = large ? 0 : value * 10 + digit;
    }
    char next = c->text[c->at];
    if (next == '.' || is_letter(next))
        return brume_fail(c->error, BRUME_ESYNTAX, "write it out in digits",
                          "the count at position %zu is not a whole number", start + 1);
    if (large)
        return brume_fail(c->error, BRUME_EARGUMENT, NULL,
                          "the count at position %zu is above 2^63 - 1", start + 1);
    if (value == 0)
        return brume_fail(c->error, BRUME_EARGUMENT, "leave the term out",
                          "the count at position %zu is 0, must be at least 1", start + 1);
    *count = value;
    return BRUME_OK;
}

enum { MOST_TERMS = 100000, MOST_NAMES = 64 };

typedef struct parser {
    brume_cursor cursor;
    brume_adjacency adjacency;
    brume_expression *result;
    size_t capacity; /* of result->events */
} parser;

/* What is being filled in by the arguments of one call. */
typedef struct parse_call {
    const brume_card *card;
    size_t first; /* slot of the card's first parameter */
    bool given[BRUME_EVENT_PARAMETERS];
    bool sensitivity_given;
    bool inner_given;
} parse_call;

/* "did you mean 'laplace'?", or what there is. */
static brume_status unknown_name(parser *p, const char *what, const char *name, size_t start,
                                 const char *const *candidates, size_t count, const char *where)
{
    char hint[sizeof p->cursor.error->hint];
    const char *nearest = brume_text_nearest(name, candidates, count);
    if (nearest) {
        snprintf(hint, sizeof hint, "did you mean '%s'?", nearest);
    } else {
        size_t used = (size_t)snprintf(hint, sizeof hint, "there %s", count == 1 ? "is" : "are");
        for (size_t i = 0; i < count && used < sizeof hint; i++)
            used += (size_t)snprintf(hint + used, sizeof hint - used, "%s %s", i ? "," : "",
                                     candidates[i]);
    }
    return brume_fail(p->cursor.error, BRUME_EUNKNOWN, hint, "unknown %s '%s' at position %zu%s",
                      what, name, start + 1, where);
}

static brume_status unknown_mechanism(parser *p, const char *name, size_t start)
{
    const char *names[MOST_NAMES];
    size_t count, used = 0;
    const brume_card *const *cards = brume_cards(&count);
    for (; used < count && used < MOST_NAMES; used++)
        names[used] = cards[used]->name;
    return unknown_name(p, "mechanism", name, start, names, used, "");
}

static brume_status unknown_parameter(parser *p, const brume_card *card, const char *name,
                                      size_t start)
{
    const char *names[BRUME_EVENT_PARAMETERS + 1];
    size_t count = brume_card_slots(card);
    for (size_t i = 0; i < count; i++)
        names[i] = card->parameters[i].name;
    if (brume_card_has_sensitivity(card))
        names[count++] = brume_parameter_sensitivity.name;
    char where[BRUME_NAME_BYTES + 8];
    snprintf(where, sizeof where, " of %s", card->name);
    brume_status status = unknown_name(p, "parameter", name, start, names, count, where);
    bool is_cost = strcmp(name, "epsilon") == 0 || strcmp(name, "delta") == 0 ||
                   strcmp(name, "rho") == 0;
    brume_error *error = p->cursor.error;
    size_t used = error ? strlen(error->hint) : 0;
    if (is_cost && error) /* it follows from the others */
        snprintf(error->hint + used, sizeof error->hint - used, "; %s", card->guarantee);
    return status;
}

static brume_status take_unknown(parser *p, const brume_parameter *parameter, int slot)
{
    if (p->result->has_unknown)
        return brume_fail(p->cursor.error, BRUME_ESYNTAX, "leave one unknown",
                          "a second '?' at position %zu", cursor_position(&p->cursor) - 1);
    if (parameter->type != BRUME_PARAMETER_REAL && parameter->type != BRUME_PARAMETER_INTEGER)
        return brume_fail(p->cursor.error, BRUME_EUNSUPPORTED, "only a number can be unknown",
                          "'%s' cannot be '?', at position %zu", parameter->name,
                          cursor_position(&p->cursor) - 1);
    p->result->has_unknown = true;
    p->result->unknown =
        (brume_unknown){.event = p->result->count, .slot = slot, .parameter = parameter};
    return BRUME_OK;
}

static brume_status take_value(parser *p, const parse_call *into, const brume_parameter *parameter,
                               int slot, double *value)
{
    size_t start = cursor_start(&p->cursor);
    if (cursor_take(&p->cursor, '?')) {
        *value = NAN;
        return take_unknown(p, parameter, slot);
    }
    bool flag = parameter->type == BRUME_PARAMETER_FLAG;
    if (!is_letter(cursor_peek(&p->cursor)) && !flag)
        return cursor_number(&p->cursor, value);
    char word[BRUME_NAME_BYTES];
    if (!is_letter(cursor_peek(&p->cursor)))
        return cursor_unexpected(&p->cursor, "true or false", NULL);
    BRUME_TRY(cursor_name(&p->cursor, "a value", NULL, word));
    if (flag && (strcmp(word, "true") == 0 || strcmp(word, "false") == 0)) {
        *value = word[0] == 't';
        return BRUME_OK;
    }
    return brume_fail(p->cursor.error, flag ? BRUME_ESYNTAX : BRUME_EARGUMENT, parameter->help,
                      "%s: '%s' is '%s' at position %zu, must be %s", into->card->name,
                      parameter->name, word, start + 1, flag ? "true or false" : "a number");
}

static brume_status take_call(parser *p, brume_event *event, size_t first);

static brume_status take_parameter(parser *p, brume_event *event, parse_call *into,
                                   const char *name, size_t start)
{
    size_t index = brume_card_parameter(into->card, name);
    bool is_sensitivity = strcmp(name, brume_parameter_sensitivity.name) == 0;
    if (is_sensitivity && brume_card_has_sensitivity(into->card)) {
        if (into->sensitivity_given)
            return brume_fail(p->cursor.error, BRUME_ESYNTAX, NULL,
                              "'%s' is given twice, at position %zu", name, start + 1);
        into->sensitivity_given = true;
        return take_value(p, into, &brume_parameter_sensitivity, BRUME_SLOT_SENSITIVITY,
                          &event->sensitivity);
    }
    if (index >= brume_card_slots(into->card))
        return unknown_parameter(p, into->card, name, start);
    if (into->given[index])
        return brume_fail(p->cursor.error, BRUME_ESYNTAX, NULL,
                          "'%s' is given twice, at position %zu", name, start + 1);
    into->given[index] = true;
    size_t slot = into->first + index;
    return take_value(p, into, &into->card->parameters[index], (int)slot, &event->parameter[slot]);
}

static brume_status take_inner(parser *p, brume_event *event, parse_call *into, size_t start)
{
    size_t slots = brume_card_slots(into->card);
    if (slots == into->card->parameter_count)
        return brume_fail(p->cursor.error, BRUME_ESYNTAX, "parameters are written name=value",
                          "%s takes no inner mechanism, at position %zu", into->card->name,
                          start + 1);
    if (into->inner_given)
        return brume_fail(p->cursor.error, BRUME_ESYNTAX, NULL,
                          "a second inner mechanism at position %zu", start + 1);
    into->inner_given = true;
    p->cursor.at = start;
    return take_call(p, event, slots);
}

static brume_status take_argument(parser *p, brume_event *event, parse_call *into)
{
    char name[BRUME_NAME_BYTES];
    size_t start = cursor_start(&p->cursor);
    BRUME_TRY(cursor_name(&p->cursor, "a parameter", "parameters are written name=value", name));
    if (cursor_peek(&p->cursor) == '(')
        return take_inner(p, event, into, start);
    if (!cursor_take(&p->cursor, '='))
        return cursor_unexpected(&p->cursor, "'='", "parameters are written name=value");
    return take_parameter(p, event, into, name, start);
}

/* Fill in what was not given; refuse if it has no standard. */
static brume_status complete(parser *p, brume_event *event, const parse_call *into, size_t start)
{
    size_t slots = brume_card_slots(into->card);
    for (size_t i = 0; i < slots; i++) {
        const brume_parameter *parameter = &into->card->parameters[i];
        if (into->given[i])
            continue;
        if (!parameter->optional)
            return brume_fail(p->cursor.error, BRUME_EARGUMENT, parameter->help,
                              "%s at position %zu needs '%s'", into->card->name, start + 1,
                              parameter->name);
        event->parameter[into->first + i] = parameter->standard;
    }
    if (slots < into->card->parameter_count && !into->inner_given)
        return brume_fail(p->cursor.error, BRUME_EARGUMENT, into->card->parameters[slots].help,
                          "%s at position %zu needs an inner mechanism", into->card->name,
                          start + 1);
    return BRUME_OK;
}

/* `first` is 0 for a term, and the first free slot for an inner mechanism. */
static brume_status take_call(parser *p, brume_event *event, size_t first)
{
    char name[BRUME_NAME_BYTES];
    size_t start = cursor_start(&p->cursor);
    BRUME_TRY(cursor_name(&p->cursor, "a mechanism",
                          "the count follows its term: laplace(scale=1)*5", name));
    parse_call into = {.card = brume_card_by_name(name), .first = first};
    if (!into.card)
        return unknown_mechanism(p, name, start);
    if (first + brume_card_slots(into.card) > BRUME_EVENT_PARAMETERS ||
        (first > 0 && brume_card_slots(into.card) < into.card->parameter_count))
        return brume_fail(p->cursor.error, BRUME_EUNSUPPORTED, NULL,
                          "%s cannot stand inside another mechanism, at position %zu", name,
                          start + 1);
    if (first > 0)
        event->base = into.card->id;
    else
        event->mechanism = into.card->id;
    if (!cursor_take(&p->cursor, '('))
        return cursor_unexpected(&p->cursor, "'('",
                                 "a mechanism is written name(parameter=value, ...)");
    if (!cursor_take(&p->cursor, ')')) {
        do
            BRUME_TRY(take_argument(p, event, &into));
        while (cursor_take(&p->cursor, ','));
        if (!cursor_take(&p->cursor, ')'))
            return cursor_unexpected(&p->cursor, "',' or ')'", NULL);
    }
    return complete(p, event, &into, start);
}

/* How often a term is released, where that is asked for. */
static const brume_parameter parameter_count = {
    .name = "count",
    .type = BRUME_PARAMETER_INTEGER,
    .least = 1,
    .most = 0x1p53,
    .direction = BRUME_LESS_NOISE,
    .unit = "",
    .help = "how many such releases there are",
};

static brume_status take_count(parser *p, uint64_t *count)
{
    if (cursor_take(&p->cursor, '?'))
        return take_unknown(p, &parameter_count, BRUME_SLOT_COUNT);
    return cursor_count(&p->cursor, count);
}

static brume_status grow(parser *p)
{
    brume_expression *result = p->result;
    if (result->count >= MOST_TERMS)
        return brume_fail(p->cursor.error, BRUME_EARGUMENT, "merge equal terms with * COUNT",
                          "more than %d terms", MOST_TERMS);
    if (result->count < p->capacity)
        return BRUME_OK;
    size_t capacity = p->capacity ? 2 * p->capacity : 4;
    brume_event *events = realloc(result->events, capacity * sizeof *events);
    if (!events)
        return brume_fail(p->cursor.error, BRUME_EMEMORY, NULL, "no memory for %zu terms",
                          capacity);
    result->events = events;
    p->capacity = capacity;
    return BRUME_OK;
}

static brume_status take_term(parser *p)
{
    BRUME_TRY(grow(p));
    size_t start = cursor_start(&p->cursor), index = p->result->count;
    brume_event event = {.adjacency = p->adjacency, .sensitivity = 1, .count = 1};
    BRUME_TRY(take_call(p, &event, 0));
    if (cursor_take(&p->cursor, '*'))
        BRUME_TRY(take_count(p, &event.count));
    bool unknown = p->result->has_unknown && p->result->unknown.event == index;
    brume_error inner;
    brume_status status = brume_event_check_except(
        &event, unknown ? p->result->unknown.slot : BRUME_SLOT_NONE, &inner);
    if (status != BRUME_OK)
        return brume_fail(p->cursor.error, status, inner.hint,
                          "%.400s, in the term at position %zu", inner.message, start + 1);
    p->result->events[p->result->count++] = event;
    return BRUME_OK;
}

static brume_status take_terms(parser *p)
{
    do
        BRUME_TRY(take_term(p));
    while (cursor_take(&p->cursor, '+'));
    if (cursor_peek(&p->cursor))
        return cursor_unexpected(&p->cursor, "'+', '*' or the end", NULL);
    return BRUME_OK;
}

brume_status brume_expression_parse(const char *text, brume_adjacency adjacency,
                                    brume_expression *out, brume_error *error)
{
    if (!text || !out)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no expression");
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!locale)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for an expression");
    brume_expression result = {0};
    brume_error ignored;
    parser p = {.cursor = {.text = text, .locale = locale, .error = error ? error : &ignored},
                .adjacency = adjacency,
                .result = &result};
    brume_status status = take_terms(&p);
    freelocale(locale);
    if (status != BRUME_OK) {
        brume_expression_free(&result);
        return status;
    }
    *out = result;
    return BRUME_OK;
}

void brume_expression_free(brume_expression *expression)
{
    if (!expression)
        return;
    free(expression->events);
    *expression = (brume_expression){0};
}

brume_status brume_expression_solve(brume_expression *expression, double value, brume_error *error)
{
    if (!expression->has_unknown)
        return brume_fail(error, BRUME_EARGUMENT, "write one parameter as '?'",
                          "the expression has no unknown");
    const brume_unknown *unknown = &expression->unknown;
    brume_event *event = &expression->events[unknown->event], changed = *event;
    if (unknown->slot == BRUME_SLOT_SENSITIVITY)
        changed.sensitivity = value;
    else if (unknown->slot == BRUME_SLOT_COUNT)
        changed.count = value >= 1 && value <= 0x1p53 ? (uint64_t)value : 0;
    else
        changed.parameter[unknown->slot] = value;
    BRUME_TRY(brume_event_check(&changed, error));
    *event = changed;
    return BRUME_OK;
}

/* An event back to text: the expression that parses to it again.
 *
 * It promises the fewest digits that read back exactly, whatever the locale, and to leave out what
 * has its standard value. */

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
