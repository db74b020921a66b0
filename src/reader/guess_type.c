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
    if (!guess->not_number)
        guess->not_number = !is_plain_number(text, &guess->before, &guess->behind);
    if (!guess->not_double) /* a leading zero is a code, also here */
        guess->not_double = !brume_value_double(text, &real) ||
                            (text.length > 1 && text.data[0] == '0' && is_digit(text.data[1]));
    if (!guess->not_date)
        guess->not_date = !brume_value_date(text, &days);
    if (!guess->not_timestamp)
        guess->not_timestamp = !brume_value_timestamp(text, &microseconds);
}

brume_type brume_guess_type(const brume_type_guess *guess)
{
    enum { INTEGER_DIGITS = 9, BIGINT_DIGITS = 18 };
    brume_type type = {BRUME_TYPE_TEXT, 0, 0};
    int digits = guess->before + guess->behind;
    if (guess->values == 0)
        return type;
    if (!guess->not_boolean)
        type.kind = BRUME_TYPE_BOOLEAN;
    else if (!guess->not_number && guess->behind == 0 && guess->before <= INTEGER_DIGITS)
        type.kind = BRUME_TYPE_INTEGER;
    else if (!guess->not_number && guess->behind == 0 && guess->before <= BIGINT_DIGITS)
        type.kind = BRUME_TYPE_BIGINT;
    else if (!guess->not_number && guess->behind > 0 && digits <= BIGINT_DIGITS)
        type = (brume_type){BRUME_TYPE_DECIMAL, BIGINT_DIGITS, guess->behind};
    else if (!guess->not_number && digits <= MOST_DIGITS)
        type = (brume_type){BRUME_TYPE_DECIMAL, MOST_DIGITS, guess->behind};
    else if (!guess->not_double)
        type.kind = BRUME_TYPE_DOUBLE;
    else if (!guess->not_date)
        type.kind = BRUME_TYPE_DATE;
    else if (!guess->not_timestamp)
        type.kind = BRUME_TYPE_TIMESTAMP;
    return type;
}
