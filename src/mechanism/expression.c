/* Expressions: text to events and back.
 *
 * A recursive-descent parser over a cursor that never moves backwards past a token; nothing is
 * allocated but the array of events. It promises that an accepted expression has every parameter of
 * every term present and in the range of its card, the one unknown excepted. */
#include <brume/expression.h>

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "mechanism/card.h"

enum { MOST_TERMS = 100000, NAME_BYTES = 64, MOST_NAMES = 64 };

typedef struct cursor {
    const char *text;
    size_t at; /* index of the next character */
    brume_adjacency adjacency;
    locale_t locale; /* "C": a decimal point is a point */
    brume_expression *result;
    size_t capacity;
    brume_error *error;
} cursor;

/* What is being filled in by the arguments of one call. */
typedef struct call {
    const brume_card *card;
    size_t first; /* slot of the card's first parameter */
    bool given[BRUME_EVENT_PARAMETERS];
    bool sensitivity_given;
    bool inner_given;
} call;

static size_t position(const cursor *c)
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

static char peek(cursor *c)
{
    while (is_blank(c->text[c->at]))
        c->at++;
    return c->text[c->at];
}

static bool take(cursor *c, char wanted)
{
    if (peek(c) != wanted)
        return false;
    c->at++;
    return true;
}

/* "found '?' at position 7", or "found the end". */
static brume_status unexpected(cursor *c, const char *wanted, const char *hint)
{
    char found = peek(c);
    if (!found)
        return brume_fail(c->error, BRUME_ESYNTAX, hint,
                          "expected %s at position %zu, found the end", wanted, position(c));
    if (found < ' ' || found > '~')
        return brume_fail(c->error, BRUME_ESYNTAX, hint,
                          "expected %s at position %zu, found a byte that is no plain text", wanted,
                          position(c));
    return brume_fail(c->error, BRUME_ESYNTAX, hint, "expected %s at position %zu, found '%c'",
                      wanted, position(c), found);
}

static brume_status take_name(cursor *c, const char *wanted, char name[NAME_BYTES])
{
    if (!is_letter(peek(c)))
        return unexpected(c, wanted,
                          is_digit(peek(c)) ? "the count follows its term: "
                                              "laplace(scale=1)*5"
                                            : NULL);
    size_t start = c->at, length = 0;
    while (is_letter(c->text[c->at]) || is_digit(c->text[c->at])) {
        if (length + 1 < NAME_BYTES)
            name[length++] = c->text[c->at];
        c->at++;
    }
    name[length] = 0;
    if (c->at - start >= NAME_BYTES)
        return brume_fail(c->error, BRUME_EUNKNOWN, "see 'brume mechanisms'",
                          "the name at position %zu is too long", start + 1);
    return BRUME_OK;
}

/* "did you mean 'laplace'?", or what there is. */
static brume_status unknown_name(cursor *c, const char *what, const char *name, size_t start,
                                 const char *const *candidates, size_t count, const char *where)
{
    char hint[sizeof c->error->hint];
    const char *nearest = brume_text_nearest(name, candidates, count);
    if (nearest) {
        snprintf(hint, sizeof hint, "did you mean '%s'?", nearest);
    } else {
        size_t used = (size_t)snprintf(hint, sizeof hint, "there %s", count == 1 ? "is" : "are");
        for (size_t i = 0; i < count && used < sizeof hint; i++)
            used += (size_t)snprintf(hint + used, sizeof hint - used, "%s %s", i ? "," : "",
                                     candidates[i]);
    }
    return brume_fail(c->error, BRUME_EUNKNOWN, hint, "unknown %s '%s' at position %zu%s", what,
                      name, start + 1, where);
}

static brume_status unknown_mechanism(cursor *c, const char *name, size_t start)
{
    const char *names[MOST_NAMES];
    size_t count, used = 0;
    const brume_card *const *cards = brume_cards(&count);
    for (; used < count && used < MOST_NAMES; used++)
        names[used] = cards[used]->name;
    return unknown_name(c, "mechanism", name, start, names, used, "");
}

static brume_status unknown_parameter(cursor *c, const brume_card *card, const char *name,
                                      size_t start)
{
    const char *names[BRUME_EVENT_PARAMETERS + 1];
    size_t count = brume_card_slots(card);
    for (size_t i = 0; i < count; i++)
        names[i] = card->parameters[i].name;
    if (brume_card_has_sensitivity(card))
        names[count++] = brume_parameter_sensitivity.name;
    char where[NAME_BYTES + 8];
    snprintf(where, sizeof where, " of %s", card->name);
    return unknown_name(c, "parameter", name, start, names, count, where);
}

/* A decimal number: sign, digits with at most one point, exponent. No hexadecimal, no words. */
static brume_status take_number(cursor *c, double *value)
{
    (void)peek(c);
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
        return unexpected(c, "a number, true, false or ?", NULL);
    if (*p == 'e' || *p == 'E') {
        p++;
        if (*p == '+' || *p == '-')
            p++;
        if (!is_digit(*p)) {
            c->at = (size_t)(p - c->text);
            return unexpected(c, "the digits of an exponent", NULL);
        }
        while (is_digit(*p))
            p++;
    }
    if (is_letter(*p) || *p == '.') {
        c->at = (size_t)(p - c->text);
        return unexpected(c, "',' or ')' after the number", NULL);
    }
    char *end = NULL;
    double parsed = strtod_l(start, &end, c->locale);
    if (end != p) /* strtod reads on only where a hexadecimal follows, and "0x" was refused */
        return brume_fail(c->error, BRUME_ESYNTAX, NULL, "cannot read the number at position %zu",
                          position(c));
    if (isinf(parsed) || (parsed == 0 && nonzero))
        return brume_fail(c->error, BRUME_EARGUMENT, "numbers reach from 5e-324 to 1.7e308",
                          "the number at position %zu is too %s", position(c),
                          parsed == 0 ? "small" : "large");
    c->at = (size_t)(p - c->text);
    *value = parsed;
    return BRUME_OK;
}

static brume_status take_unknown(cursor *c, const brume_parameter *parameter, int slot)
{
    if (c->result->has_unknown)
        return brume_fail(c->error, BRUME_ESYNTAX, "leave one unknown",
                          "a second '?' at position %zu", position(c) - 1);
    if (parameter->type != BRUME_PARAMETER_REAL && parameter->type != BRUME_PARAMETER_INTEGER)
        return brume_fail(c->error, BRUME_EUNSUPPORTED, "only a number can be unknown",
                          "'%s' cannot be '?', at position %zu", parameter->name, position(c) - 1);
    c->result->has_unknown = true;
    c->result->unknown =
        (brume_unknown){.event = c->result->count, .slot = slot, .parameter = parameter};
    return BRUME_OK;
}

static brume_status take_value(cursor *c, const call *into, const brume_parameter *parameter,
                               int slot, double *value)
{
    size_t start = (peek(c), c->at);
    if (take(c, '?')) {
        *value = NAN;
        return take_unknown(c, parameter, slot);
    }
    bool flag = parameter->type == BRUME_PARAMETER_FLAG;
    if (!is_letter(peek(c)) && !flag)
        return take_number(c, value);
    char word[NAME_BYTES];
    if (!is_letter(peek(c)))
        return unexpected(c, "true or false", NULL);
    BRUME_TRY(take_name(c, "a value", word));
    if (flag && (strcmp(word, "true") == 0 || strcmp(word, "false") == 0)) {
        *value = word[0] == 't';
        return BRUME_OK;
    }
    return brume_fail(c->error, flag ? BRUME_ESYNTAX : BRUME_EARGUMENT, parameter->help,
                      "%s: '%s' is '%s' at position %zu, must be %s", into->card->name,
                      parameter->name, word, start + 1, flag ? "true or false" : "a number");
}

static brume_status take_call(cursor *c, brume_event *event, size_t first);

static brume_status take_parameter(cursor *c, brume_event *event, call *into, const char *name,
                                   size_t start)
{
    size_t index = brume_card_parameter(into->card, name);
    bool is_sensitivity = strcmp(name, brume_parameter_sensitivity.name) == 0;
    if (is_sensitivity && brume_card_has_sensitivity(into->card)) {
        if (into->sensitivity_given)
            return brume_fail(c->error, BRUME_ESYNTAX, NULL, "'%s' is given twice, at position %zu",
                              name, start + 1);
        into->sensitivity_given = true;
        return take_value(c, into, &brume_parameter_sensitivity, BRUME_SLOT_SENSITIVITY,
                          &event->sensitivity);
    }
    if (index >= brume_card_slots(into->card))
        return unknown_parameter(c, into->card, name, start);
    if (into->given[index])
        return brume_fail(c->error, BRUME_ESYNTAX, NULL, "'%s' is given twice, at position %zu",
                          name, start + 1);
    into->given[index] = true;
    size_t slot = into->first + index;
    return take_value(c, into, &into->card->parameters[index], (int)slot, &event->parameter[slot]);
}

static brume_status take_inner(cursor *c, brume_event *event, call *into, size_t start)
{
    size_t slots = brume_card_slots(into->card);
    if (slots == into->card->parameter_count)
        return brume_fail(c->error, BRUME_ESYNTAX, "parameters are written name=value",
                          "%s takes no inner mechanism, at position %zu", into->card->name,
                          start + 1);
    if (into->inner_given)
        return brume_fail(c->error, BRUME_ESYNTAX, NULL, "a second inner mechanism at position %zu",
                          start + 1);
    into->inner_given = true;
    c->at = start;
    return take_call(c, event, slots);
}

static brume_status take_argument(cursor *c, brume_event *event, call *into)
{
    char name[NAME_BYTES];
    size_t start = (peek(c), c->at);
    BRUME_TRY(take_name(c, "a parameter", name));
    if (peek(c) == '(')
        return take_inner(c, event, into, start);
    if (!take(c, '='))
        return unexpected(c, "'='", "parameters are written name=value");
    return take_parameter(c, event, into, name, start);
}

/* Fill in what was not given; refuse if it has no standard. */
static brume_status complete(cursor *c, brume_event *event, const call *into, size_t start)
{
    size_t slots = brume_card_slots(into->card);
    for (size_t i = 0; i < slots; i++) {
        const brume_parameter *parameter = &into->card->parameters[i];
        if (into->given[i])
            continue;
        if (!parameter->optional)
            return brume_fail(c->error, BRUME_EARGUMENT, parameter->help,
                              "%s at position %zu needs '%s'", into->card->name, start + 1,
                              parameter->name);
        event->parameter[into->first + i] = parameter->standard;
    }
    if (slots < into->card->parameter_count && !into->inner_given)
        return brume_fail(c->error, BRUME_EARGUMENT, into->card->parameters[slots].help,
                          "%s at position %zu needs an inner mechanism", into->card->name,
                          start + 1);
    return BRUME_OK;
}

/* `first` is 0 for a term, and the first free slot for an inner mechanism. */
static brume_status take_call(cursor *c, brume_event *event, size_t first)
{
    char name[NAME_BYTES];
    size_t start = (peek(c), c->at);
    BRUME_TRY(take_name(c, "a mechanism", name));
    call into = {.card = brume_card_by_name(name), .first = first};
    if (!into.card)
        return unknown_mechanism(c, name, start);
    if (first + brume_card_slots(into.card) > BRUME_EVENT_PARAMETERS ||
        (first > 0 && brume_card_slots(into.card) < into.card->parameter_count))
        return brume_fail(c->error, BRUME_EUNSUPPORTED, NULL,
                          "%s cannot stand inside another mechanism, at position %zu", name,
                          start + 1);
    if (first > 0)
        event->base = into.card->id;
    else
        event->mechanism = into.card->id;
    if (!take(c, '('))
        return unexpected(c, "'('", "a mechanism is written name(parameter=value, ...)");
    if (!take(c, ')')) {
        do
            BRUME_TRY(take_argument(c, event, &into));
        while (take(c, ','));
        if (!take(c, ')'))
            return unexpected(c, "',' or ')'", NULL);
    }
    return complete(c, event, &into, start);
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

static brume_status take_count(cursor *c, uint64_t *count)
{
    if (take(c, '?'))
        return take_unknown(c, &parameter_count, BRUME_SLOT_COUNT);
    if (!is_digit(peek(c)))
        return unexpected(c, "a count", "a count is a whole number: laplace(scale=1)*5");
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

static brume_status grow(cursor *c)
{
    brume_expression *result = c->result;
    if (result->count >= MOST_TERMS)
        return brume_fail(c->error, BRUME_EARGUMENT, "merge equal terms with * COUNT",
                          "more than %d terms", MOST_TERMS);
    if (result->count < c->capacity)
        return BRUME_OK;
    size_t capacity = c->capacity ? 2 * c->capacity : 4;
    brume_event *events = realloc(result->events, capacity * sizeof *events);
    if (!events)
        return brume_fail(c->error, BRUME_EMEMORY, NULL, "no memory for %zu terms", capacity);
    result->events = events;
    c->capacity = capacity;
    return BRUME_OK;
}

static brume_status take_term(cursor *c)
{
    BRUME_TRY(grow(c));
    size_t start = (peek(c), c->at), index = c->result->count;
    brume_event event = {.adjacency = c->adjacency, .sensitivity = 1, .count = 1};
    BRUME_TRY(take_call(c, &event, 0));
    if (take(c, '*'))
        BRUME_TRY(take_count(c, &event.count));
    bool unknown = c->result->has_unknown && c->result->unknown.event == index;
    brume_error inner;
    brume_status status = brume_event_check_except(
        &event, unknown ? c->result->unknown.slot : BRUME_SLOT_NONE, &inner);
    if (status != BRUME_OK)
        return brume_fail(c->error, status, inner.hint, "%.400s, in the term at position %zu",
                          inner.message, start + 1);
    c->result->events[c->result->count++] = event;
    return BRUME_OK;
}

static brume_status take_terms(cursor *c)
{
    do
        BRUME_TRY(take_term(c));
    while (take(c, '+'));
    if (peek(c))
        return unexpected(c, "'+', '*' or the end", NULL);
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
    cursor c = {.text = text,
                .adjacency = adjacency,
                .locale = locale,
                .result = &result,
                .error = error ? error : &ignored};
    brume_status status = take_terms(&c);
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

/* --- back to text --- */

typedef struct writer {
    char *text;
    size_t size, used; /* used may pass size: then it did not fit */
} writer;

static void write_text(writer *w, const char *text)
{
    for (; *text; text++, w->used++)
        if (w->used < w->size)
            w->text[w->used] = *text;
}

/* The fewest digits that read back exactly. */
static void write_number(writer *w, double value)
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

static void write_call(writer *w, const brume_card *card, const brume_event *event, size_t first)
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
    writer w = {.text = buffer, .size = sizeof buffer};
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
