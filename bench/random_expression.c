/* See the header. */
#include "random_expression.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static uint64_t state;

void random_start(uint64_t seed, uint64_t index)
{
    state = seed * 0x100000001b3U + index * 0xd1342543de82ef95U;
    state = (uint64_t)(random_uniform() * 0x1p53) * 0x2545f4914f6cdd1dU;
}

double random_uniform(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

double random_between(double low, double high) /* uniform in logarithms */
{
    return low * pow(high / low, random_uniform());
}

double random_whole_between(double low, double high)
{
    return fmin(floor(random_between(low, high + 1)), high);
}

static void append(term *t, bool unknown, const char *name, double value)
{
    char digits[40];
    snprintf(digits, sizeof digits, "%.3g", value);
    if (value == floor(value) && value < 1e15)
        snprintf(digits, sizeof digits, "%.0f", value);
    size_t asked = strlen(t->asked), solved = strlen(t->solved);
    snprintf(t->asked + asked, TERM_TEXT - asked, "%s%s", name, unknown ? "?" : digits);
    snprintf(t->solved + solved, TERM_TEXT - solved, "%s%s", name, digits);
}

static void append_text(term *t, const char *text)
{
    size_t asked = strlen(t->asked), solved = strlen(t->solved);
    snprintf(t->asked + asked, TERM_TEXT - asked, "%s", text);
    snprintf(t->solved + solved, TERM_TEXT - solved, "%s", text);
}

/* A value of a parameter such that one release is about as far from private as Gaussian noise of
 * 1/size deviations. */
static double draw_value(const brume_parameter *parameter, double size, double sensitivity,
                         double delta)
{
    const char *name = parameter->name;
    double least = fmax(parameter->least, 1e-3), most = fmin(parameter->most, 1e3);
    if (strncmp(name, "epsilon", 7) == 0)
        return size;
    if (strcmp(name, "scale") == 0 || strcmp(name, "sigma") == 0)
        return sensitivity / size;
    if (strcmp(name, "rho") == 0)
        return size * size / 2;
    if (strcmp(name, "delta") == 0)
        return delta;
    if (strcmp(name, "rate") == 0)
        return random_between(1e-3, 1);
    if (parameter->type == BRUME_PARAMETER_FLAG)
        return random_uniform() < 0.5;
    if (parameter->type == BRUME_PARAMETER_INTEGER)
        return random_whole_between(fmax(ceil(least), 1), most);
    return fmin(random_between(least, most), 0.9 * parameter->most);
}

static bool has_sensitivity(const brume_card *card)
{
    return strcmp(card->sensitivity, "none") != 0 && strcmp(card->sensitivity, "base") != 0;
}

static void draw_call(term *t, const brume_card *card, int unknown, double size, double delta)
{
    bool sampled = strcmp(card->name, "poisson") == 0, first = true;
    bool whole = strncmp(card->name, "discrete", 8) == 0;
    double sensitivity = 1;
    if (has_sensitivity(card) && (unknown == BRUME_SLOT_SENSITIVITY || random_uniform() < 0.3))
        sensitivity = whole ? random_whole_between(1, 10) : random_between(0.1, 10);
    append_text(t, card->name);
    append_text(t, "(");
    for (size_t i = 0; i < card->parameter_count; i++) {
        const brume_parameter *parameter = &card->parameters[i];
        bool asked = unknown == (int)i;
        if (parameter->optional && !asked && random_uniform() < 0.6)
            continue;
        if (!first)
            append_text(t, ", ");
        first = false;
        if (parameter->type == BRUME_PARAMETER_MECHANISM) {
            const brume_card *inner = brume_card_by_name("gaussian");
            while (random_uniform() < 0.3 || strcmp(inner->name, "poisson") == 0)
                inner = random_card();
            draw_call(t, inner, BRUME_SLOT_COUNT, fmin(size, 2), delta);
            continue;
        }
        double value = draw_value(parameter, size, sensitivity, delta);
        if (sampled && strcmp(parameter->name, "rate") == 0)
            size /= value;
        append_text(t, parameter->name);
        if (parameter->type == BRUME_PARAMETER_FLAG)
            append_text(t, value > 0 ? "=true" : "=false");
        else
            append(t, asked, "=", value);
    }
    if (sensitivity != 1 || unknown == BRUME_SLOT_SENSITIVITY)
        append(t, unknown == BRUME_SLOT_SENSITIVITY, ", sensitivity=", sensitivity);
    append_text(t, ")");
}

/* One term that uses up about `share` of epsilon. */
void random_term(term *t, number unknown, bool asked, double share, double delta, double most_count)
{
    double count = random_uniform() < 0.25 ? 1 : random_whole_between(1, most_count);
    double size = fmin(share, share * 3 / sqrt(2 * count * log(1 / delta)));
    draw_call(t, unknown.card, asked ? unknown.slot : BRUME_SLOT_COUNT, size, delta / 8 / count);
    if (count > 1 || (asked && unknown.slot == BRUME_SLOT_COUNT))
        append(t, asked && unknown.slot == BRUME_SLOT_COUNT, "*", count);
}

const brume_card *random_noise_card(void)
{
    static const char *const noises[] = {"laplace",
                                         "gaussian",
                                         "discrete_laplace",
                                         "discrete_gaussian",
                                         "poisson",
                                         "randomized_response",
                                         "pure"};
    return brume_card_by_name(
        noises[(size_t)(random_uniform() * (double)(sizeof noises / sizeof *noises))]);
}

const brume_card *random_card(void)
{
    size_t count;
    const brume_card *const *cards = brume_cards(&count);
    while (count > 0 && cards[count - 1]->broken) /* controls of the auditor come last */
        count--;
    if (random_uniform() < 0.2)
        return cards[(size_t)(random_uniform() * (double)count)];
    return random_noise_card();
}

size_t random_list_numbers(const brume_card *card, number *out)
{
    size_t count = 0;
    for (size_t i = 0; i < card->parameter_count; i++)
        if (card->parameters[i].direction != BRUME_NOT_MONOTONE)
            out[count++] = (number){card, (int)i};
    if (has_sensitivity(card))
        out[count++] = (number){card, BRUME_SLOT_SENSITIVITY};
    out[count++] = (number){card, BRUME_SLOT_COUNT};
    return count;
}
