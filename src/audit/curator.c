/* Curators. Promises: the noise of a brume curator is drawn by the library with the law of its
 * card, and its price and the bound on any adversary come from the accountant, rounded up. */
#include "audit/curator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <brume/account/account.h>
#include <brume/mechanism/expression.h>
#include <brume/mechanism/mechanism.h>
#include <brume/noise/randomized_response.h>

#include "base/error.h"

static const double GRID = 0x1p-20, LARGEST = 0x1p20;

/* ----------------------------------------------------------------------------- text */

static const struct {
    brume_curator_kind kind;
    const char *name, *parameter;
} words[] = {
    {BRUME_CURATOR_ROUNDED, "rounded", "step"},
    {BRUME_CURATOR_UNIFORM, "uniform", "bound"},
    {BRUME_CURATOR_DECOY, "decoy", "bound"},
};

/* name(parameter=NUMBER), where the text is the name or begins with it and a bracket. */
static brume_status read_word(const char *text, size_t which, brume_curator *out,
                              brume_error *error)
{
    const char *name = words[which].name, *parameter = words[which].parameter;
    char *end = NULL;
    const char *at = text + strlen(name);
    at += *at == '(';
    size_t length = strlen(parameter);
    bool named = strncmp(at, parameter, length) == 0 && at[length] == '=';
    double number = named ? strtod(at + length + 1, &end) : 0;
    if (!named || end == at + length + 1 || strcmp(end, ")") != 0 || strpbrk(at + length, " xX"))
        return brume_fail(error, BRUME_ESYNTAX, NULL, "'%.80s' is not %s(%s=NUMBER)", text, name,
                          parameter);
    if (!(number >= 0 && number <= LARGEST))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'%s' of %s is %g, must be in [0, 2^20]",
                          parameter, name, number);
    if (words[which].kind == BRUME_CURATOR_ROUNDED && (number < 1 || number != floor(number)))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'step' of rounded is %g, must be a whole number from 1", number);
    *out = (brume_curator){.kind = words[which].kind, .bound = number};
    return BRUME_OK;
}

static brume_status check_event(const brume_expression *expression, brume_error *error)
{
    const brume_event *event = expression->events;
    if (expression->count != 1 || event->count != 1)
        return brume_fail(error, BRUME_EUNSUPPORTED, "give one mechanism, without + and *",
                          "answers come from one mechanism");
    if (expression->has_unknown)
        return brume_fail(error, BRUME_EARGUMENT, "--epsilon finds the noise for a price",
                          "'%s' is '?', must be a number", expression->unknown.parameter->name);
    const brume_card *card = brume_card_by_id(event->mechanism);
    if (!card->noise)
        return brume_fail(error, BRUME_EUNSUPPORTED,
                          "laplace, gaussian, their discrete forms and randomized_response have",
                          "%s has no noise of its own", card->name);
    if (event->sensitivity != 1)
        return brume_fail(error, BRUME_EUNSUPPORTED, "leave it out",
                          "'sensitivity' is %g, but a bit moves a count by 1", event->sensitivity);
    size_t k = brume_card_parameter(card, "k");
    if (k != SIZE_MAX && event->parameter[k] != 2)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "'k' is %g, but a bit has two values",
                          event->parameter[k]);
    return BRUME_OK;
}

brume_status brume_curator_read(const char *text, brume_curator *out, brume_error *error)
{
    if (strcmp(text, "exact") == 0) {
        *out = (brume_curator){.kind = BRUME_CURATOR_EXACT};
        return BRUME_OK;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i].name);
        if (strncmp(text, words[i].name, length) == 0 && (text[length] == '(' || !text[length]))
            return read_word(text, i, out, error);
    }
    brume_expression expression = {0};
    BRUME_TRY(brume_expression_parse(text, BRUME_REPLACE, &expression, error));
    brume_status status = check_event(&expression, error);
    if (status == BRUME_OK) {
        const brume_card *card = brume_card_by_id(expression.events[0].mechanism);
        bool response = strcmp(card->name, "randomized_response") == 0;
        *out = (brume_curator){.kind = response ? BRUME_CURATOR_RESPONSE : BRUME_CURATOR_NOISE,
                               .event = expression.events[0]};
    }
    brume_expression_free(&expression);
    return status;
}

brume_status brume_curator_write(const brume_curator *curator, char *text, size_t size,
                                 brume_error *error)
{
    if (curator->kind == BRUME_CURATOR_NOISE || curator->kind == BRUME_CURATOR_RESPONSE)
        return brume_event_write(&curator->event, text, size, error);
    int length = snprintf(text, size, "exact");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].kind == curator->kind)
            length = snprintf(text, size, "%s(%s=%.10g)", words[i].name, words[i].parameter,
                              curator->bound);
    if (length < 0 || (size_t)length >= size)
        return brume_fail(error, BRUME_EOVERFLOW, NULL, "the text needs more than %zu bytes", size);
    return BRUME_OK;
}

/* -------------------------------------------------------------------------- answers */

double brume_curator_largest_error(const brume_curator *curator)
{
    switch (curator->kind) {
    case BRUME_CURATOR_EXACT:
        return 0;
    case BRUME_CURATOR_ROUNDED: /* counts are whole, and so is the step */
        return floor(curator->bound / 2);
    case BRUME_CURATOR_UNIFORM:
    case BRUME_CURATOR_DECOY:
        return curator->bound;
    default:
        return INFINITY;
    }
}

static brume_status add_uniform(double bound, brume_bits *bits, double *counts, size_t count,
                                brume_error *error)
{
    /* Multiples of 2^-20 within the bound, equally likely but for 2^-22 of each. */
    uint64_t steps = (uint64_t)floor(bound / GRID), choices = 2 * steps + 1;
    uint64_t draws[256];
    for (size_t done = 0; done < count; done += 256) {
        size_t n = count - done < 256 ? count - done : 256;
        BRUME_TRY(brume_bits_words(bits, draws, n, error));
        for (size_t i = 0; i < n; i++) {
            uint64_t place = (uint64_t)((__uint128_t)draws[i] * choices >> 64);
            counts[done + i] += GRID * ((double)place - (double)steps);
        }
    }
    return BRUME_OK;
}

static brume_status add_noise(const brume_event *event, brume_bits *bits, double *counts,
                              size_t count, brume_error *error)
{
    int64_t draws[256];
    for (size_t done = 0; done < count; done += 256) {
        size_t n = count - done < 256 ? count - done : 256;
        double step = 1;
        BRUME_TRY(brume_event_noise(event, bits, draws, n, &step, error));
        for (size_t i = 0; i < n; i++)
            counts[done + i] += step * (double)draws[i];
    }
    return BRUME_OK;
}

brume_status brume_curator_answer(const brume_curator *curator, const double *decoy,
                                  brume_bits *bits, double *counts, size_t count,
                                  brume_error *error)
{
    switch (curator->kind) {
    case BRUME_CURATOR_ROUNDED:
        for (size_t i = 0; i < count; i++)
            counts[i] = curator->bound * rint(counts[i] / curator->bound);
        return BRUME_OK;
    case BRUME_CURATOR_UNIFORM:
        return add_uniform(curator->bound, bits, counts, count, error);
    case BRUME_CURATOR_DECOY: {
        double bound = GRID * floor(curator->bound / GRID);
        for (size_t i = 0; i < count; i++)
            counts[i] += fmin(fmax(decoy[i] - counts[i], -bound), bound);
        return BRUME_OK;
    }
    case BRUME_CURATOR_NOISE:
        return add_noise(&curator->event, bits, counts, count, error);
    default:
        return BRUME_OK;
    }
}

brume_status brume_curator_respond(const brume_curator *curator, brume_bits *bits,
                                   const uint8_t *secret, uint8_t *out, size_t people,
                                   brume_error *error)
{
    if (curator->kind == BRUME_CURATOR_RESPONSE)
        return brume_randomized_response(bits, curator->event.parameter[0], 2, secret, out, people,
                                         error);
    memcpy(out, secret, people);
    return BRUME_OK;
}

/* ---------------------------------------------------------------------------- price */

static bool has_price(const brume_curator *curator)
{
    return curator->kind == BRUME_CURATOR_NOISE || curator->kind == BRUME_CURATOR_RESPONSE;
}

/* One term: the noise as often as a bit moves an answer; a response is given once. */
static brume_status price_terms(const brume_curator *curator, size_t moved, brume_term **terms,
                                brume_error *error)
{
    brume_event event = curator->event;
    event.count = curator->kind == BRUME_CURATOR_NOISE ? moved : 1;
    return brume_account_terms(&event, 1, 1, BRUME_METHOD_AUTO, terms, error);
}

brume_status brume_curator_epsilon(const brume_curator *curator, size_t moved, double delta,
                                   brume_bound *out, brume_error *error)
{
    if (!has_price(curator)) {
        *out = (brume_bound){.upper = INFINITY, .infinite = true};
        return BRUME_OK;
    }
    brume_term *terms = NULL;
    BRUME_TRY(price_terms(curator, moved, &terms, error));
    brume_status status = brume_account_epsilon(BRUME_METHOD_AUTO, terms, 1, delta, out, error);
    free(terms);
    return status;
}

brume_status brume_curator_most(const brume_curator *curator, size_t moved, double likelier,
                                double *share, brume_error *error)
{
    if (!(likelier >= .5 && likelier <= 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "the likelier value has probability %g, must be in [1/2, 1]", likelier);
    if (!has_price(curator) || likelier == 1) {
        *share = 1;
        return BRUME_OK;
    }
    brume_term *terms = NULL;
    brume_bound bound;
    BRUME_TRY(price_terms(curator, moved, &terms, error));
    /* Rounded down: delta falls with epsilon. */
    double odds = log(likelier / (1 - likelier)) * (1 - 0x1p-40);
    brume_status status =
        brume_account_delta(BRUME_METHOD_AUTO, terms, 1, fmax(odds, 0), &bound, error);
    free(terms);
    if (status != BRUME_OK)
        return status;
    /* Rounded up: two operations, then two last places more. */
    double most = likelier + (1 - likelier) * fmin(bound.upper, 1);
    *share = fmin(nextafter(nextafter(most, 2), 2), 1);
    return BRUME_OK;
}
