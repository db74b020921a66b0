/* Which type fits all values of a column: see guess.h. */
#include "reader/guess.h"

#include <string.h>
#include <strings.h>

#include "reader/value.h"
#include "reader/value_parts.h"

enum { MOST_DIGITS = 38 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* [+-] digits [. digits], without an exponent; how many digits are on either side, zeros in front
 * not counted. A leading zero is a code, not a number: 007. */
static bool is_plain_number(brume_text text, int *before, int *behind)
{
    size_t at = text.length > 0 && (text.data[0] == '-' || text.data[0] == '+');
    size_t whole = at;
    while (whole < text.length && is_digit(text.data[whole]))
        whole++;
    size_t end = whole;
    if (end < text.length && text.data[end] == '.')
        for (end++; end < text.length && is_digit(text.data[end]);)
            end++;
    size_t digits = whole - at, fraction = end > whole ? end - whole - 1 : 0;
    if (end != text.length || digits == 0 || (end > whole && fraction == 0) ||
        (digits > 1 && text.data[at] == '0') || digits > MOST_DIGITS || fraction > MOST_DIGITS)
        return false;
    *before = (int)digits > *before ? (int)digits : *before;
    *behind = (int)fraction > *behind ? (int)fraction : *behind;
    return true;
}

static bool is_truth_word(brume_text text)
{
    static const char *const words[] = {"true", "false", "t", "f", "yes", "no"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (text.length == strlen(words[i]) && strncasecmp(text.data, words[i], text.length) == 0)
            return true;
    return false;
}

void brume_guess_see(brume_type_guess *guess, brume_text value)
{
    double real;
    int32_t days;
    int64_t microseconds;
    brume_text text = value.data ? brume_value_trim(value) : value;
    if (!text.data || text.length == 0)
        return;
    guess->values++;
    if (!guess->not_boolean)
        guess->not_boolean = !is_truth_word(text);
    bool is_number = is_plain_number(text, &guess->before, &guess->behind);
    bool is_date = brume_value_date(text, &days);
    bool is_timestamp = brume_value_timestamp(text, &microseconds);
    guess->numbers += is_number;
    guess->dates += is_date;
    guess->timestamps += is_timestamp;
    guess->not_number |= !is_number;
    guess->not_date |= !is_date;
    guess->not_timestamp |= !is_timestamp;
    if (!guess->not_double) /* a leading zero is a code, also here */
        guess->not_double = !brume_value_double(text, &real) ||
                            (text.length > 1 && text.data[0] == '0' && is_digit(text.data[1]));
}

/* The narrowest type of the plain numbers that were seen; text where none has so many digits. */
static brume_type number_type(const brume_type_guess *guess)
{
    enum { INTEGER_DIGITS = 9, BIGINT_DIGITS = 18 };
    brume_type type = {BRUME_TYPE_TEXT, 0, 0};
    int digits = guess->before + guess->behind;
    if (guess->behind == 0 && guess->before <= INTEGER_DIGITS)
        type.kind = BRUME_TYPE_INTEGER;
    else if (guess->behind == 0 && guess->before <= BIGINT_DIGITS)
        type.kind = BRUME_TYPE_BIGINT;
    else if (guess->behind > 0 && digits <= BIGINT_DIGITS)
        type = (brume_type){BRUME_TYPE_DECIMAL, BIGINT_DIGITS, guess->behind};
    else if (digits <= MOST_DIGITS)
        type = (brume_type){BRUME_TYPE_DECIMAL, MOST_DIGITS, guess->behind};
    return type;
}

brume_type brume_guess_type(const brume_type_guess *guess)
{
    brume_type type = {BRUME_TYPE_TEXT, 0, 0};
    if (guess->values == 0)
        return type;
    if (!guess->not_number)
        type = number_type(guess);
    if (!guess->not_boolean)
        type.kind = BRUME_TYPE_BOOLEAN;
    else if (type.kind != BRUME_TYPE_TEXT)
        return type;
    else if (!guess->not_double)
        type.kind = BRUME_TYPE_DOUBLE;
    else if (!guess->not_date)
        type.kind = BRUME_TYPE_DATE;
    else if (!guess->not_timestamp)
        type.kind = BRUME_TYPE_TIMESTAMP;
    return type;
}

brume_type brume_guess_nearly(const brume_type_guess *guess, uint64_t *others)
{
    brume_type type = {BRUME_TYPE_TEXT, 0, 0};
    uint64_t needed = guess->values - guess->values / 10, found = 0;
    *others = 0;
    if (guess->values == 0 || brume_guess_type(guess).kind != BRUME_TYPE_TEXT)
        return type;
    if (guess->numbers >= needed) {
        type = number_type(guess);
        found = guess->numbers;
    } else if (guess->dates >= needed) {
        type.kind = BRUME_TYPE_DATE;
        found = guess->dates;
    } else if (guess->timestamps >= needed) {
        type.kind = BRUME_TYPE_TIMESTAMP;
        found = guess->timestamps;
    }
    *others = guess->values - found;
    return type;
}
