/* Values from text: numbers against exact rationals, doubles against strtod, every day of the
 * calendar, and what is no value. */
#include "check.h"

#include <ctype.h>
#include <stdlib.h>

#include <gmp.h>

#include "reader/value.h"

static brume_text text_of(const char *text)
{
    return (brume_text){text, strlen(text)};
}

/* ---- numbers ---- */

/* The number as a rational, by the grammar of value.h; false if it is none. */
static bool slow_number(const char *text, mpq_t out)
{
    char digits[64] = "";
    size_t count = 0;
    long behind = 0, exponent = 0;
    bool point = false, negative = *text == '-';
    text += *text == '-' || *text == '+';
    for (; isdigit((unsigned char)*text) || (*text == '.' && !point); text++)
        if (*text == '.') {
            point = true;
        } else {
            digits[count++] = *text;
            behind += point;
        }
    digits[count] = 0;
    if (count == 0)
        return false;
    if (*text == 'e') {
        char *end;
        if (!isdigit((unsigned char)text[1]) &&
            !((text[1] == '-' || text[1] == '+') && isdigit((unsigned char)text[2])))
            return false;
        exponent = strtol(text + 1, &end, 10);
        text = end;
    }
    if (*text)
        return false;
    mpz_t power;
    mpz_init(power);
    mpz_ui_pow_ui(power, 10, (unsigned long)labs(exponent - behind));
    mpq_set_str(out, digits, 10);
    if (negative)
        mpq_neg(out, out);
    if (exponent >= behind)
        mpz_mul(mpq_numref(out), mpq_numref(out), power);
    else
        mpz_set(mpq_denref(out), power);
    mpq_canonicalize(out);
    mpz_clear(power);
    return true;
}

/* Rounded half away from zero to units of 10^-scale. */
static void slow_round(mpq_t number, int scale, mpz_t out)
{
    mpz_t twice;
    mpz_init(twice);
    mpz_ui_pow_ui(out, 10, (unsigned long)scale);
    mpz_mul(out, out, mpq_numref(number));
    bool negative = mpz_sgn(out) < 0;
    mpz_abs(out, out);
    mpz_mul_ui(out, out, 2);
    mpz_add(out, out, mpq_denref(number));
    mpz_mul_ui(twice, mpq_denref(number), 2);
    mpz_fdiv_q(out, out, twice); /* floor(|x| + 1/2) */
    if (negative)
        mpz_neg(out, out);
    mpz_clear(twice);
}

static void every_short_number_is_rounded_exactly(void **state)
{
    (void)state;
    static const char bytes[] = "0459.-+e";
    enum { BYTES = sizeof bytes - 1, MOST = 6 };
    mpq_t number;
    mpz_t units;
    mpq_init(number);
    mpz_init(units);
    for (size_t length = 0, total = 1; length <= MOST; length++, total *= BYTES)
        for (size_t code = 0; code < total; code++) {
            char text[MOST + 1] = "";
            for (size_t i = 0, rest = code; i < length; i++, rest /= BYTES)
                text[i] = bytes[rest % BYTES];
            int scale = (int)(code % 4);
            brume_units found = 0;
            bool is = slow_number(text, number), fits = false;
            if (is) {
                slow_round(number, scale, units);
                fits = mpz_sizeinbase(units, 2) <= 62 || mpz_sizeinbase(units, 10) <= 38;
            }
            if (brume_value_decimal(text_of(text), scale, &found) != (is && fits))
                fail_msg("'%s'", text);
            if (is && fits && mpz_sizeinbase(units, 2) <= 62 && (int64_t)found != mpz_get_si(units))
                fail_msg("'%s' at scale %d: %lld", text, scale, (long long)found);
        }
    mpq_clear(number);
    mpz_clear(units);
}

static void limits_of_types_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        brume_type type;
        bool good;
        int64_t value;
    } cases[] = {
        {"2147483647", {BRUME_TYPE_INTEGER, 0, 0}, true, 2147483647},
        {"2147483648", {BRUME_TYPE_INTEGER, 0, 0}, false, 0},
        {"2147483647.4", {BRUME_TYPE_INTEGER, 0, 0}, true, 2147483647},
        {"2147483647.5", {BRUME_TYPE_INTEGER, 0, 0}, false, 0},
        {"-2147483648", {BRUME_TYPE_INTEGER, 0, 0}, true, -2147483648},
        {"-2147483648.5", {BRUME_TYPE_INTEGER, 0, 0}, false, 0},
        {"9223372036854775807", {BRUME_TYPE_BIGINT, 0, 0}, true, INT64_MAX},
        {"9223372036854775808", {BRUME_TYPE_BIGINT, 0, 0}, false, 0},
        {"-9223372036854775808", {BRUME_TYPE_BIGINT, 0, 0}, true, INT64_MIN},
        {" 12\t", {BRUME_TYPE_BIGINT, 0, 0}, true, 12},
        {"1e3", {BRUME_TYPE_BIGINT, 0, 0}, true, 1000},
        {"1e999999999999999999999", {BRUME_TYPE_BIGINT, 0, 0}, false, 0},
        {"1e-999999999999999999999", {BRUME_TYPE_BIGINT, 0, 0}, true, 0},
        {"0e999999999999999999999", {BRUME_TYPE_BIGINT, 0, 0}, true, 0},
        {"0.5", {BRUME_TYPE_BIGINT, 0, 0}, true, 1},
        {"-0.5", {BRUME_TYPE_BIGINT, 0, 0}, true, -1},
        {"0.49999999999999999999999999", {BRUME_TYPE_BIGINT, 0, 0}, true, 0},
        {"unknown", {BRUME_TYPE_BIGINT, 0, 0}, false, 0},
        {"1 2", {BRUME_TYPE_BIGINT, 0, 0}, false, 0},
        {"0x10", {BRUME_TYPE_BIGINT, 0, 0}, false, 0},
        {"1,5", {BRUME_TYPE_BIGINT, 0, 0}, false, 0},
        {"", {BRUME_TYPE_BIGINT, 0, 0}, false, 0},
        {"9.99", {BRUME_TYPE_DECIMAL, 3, 2}, true, 999},
        {"9.994", {BRUME_TYPE_DECIMAL, 3, 2}, true, 999},
        {"9.995", {BRUME_TYPE_DECIMAL, 3, 2}, false, 0},
        {"-9.995", {BRUME_TYPE_DECIMAL, 3, 2}, false, 0},
        {"10", {BRUME_TYPE_DECIMAL, 3, 2}, false, 0},
        {"0.005", {BRUME_TYPE_DECIMAL, 3, 2}, true, 1},
        {"-0.005", {BRUME_TYPE_DECIMAL, 3, 2}, true, -1},
        {"123456789012345678", {BRUME_TYPE_DECIMAL, 18, 0}, true, 123456789012345678},
        {"1234567890123456789", {BRUME_TYPE_DECIMAL, 18, 0}, false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t room[BRUME_BATCH_ROWS] = {0};
        uint64_t valid[BRUME_BATCH_ROWS / 64];
        brume_batch_column column = {room, valid};
        brume_text text = text_of(cases[i].text);
        brume_value_column(cases[i].type, &text, 1, true, &column);
        int64_t found = room[0];
        if (cases[i].type.kind == BRUME_TYPE_INTEGER) {
            int32_t small;
            memcpy(&small, room, sizeof small);
            found = small;
        }
        if ((valid[0] & 1) != cases[i].good || (cases[i].good && found != cases[i].value))
            fail_msg("'%s': %lld", cases[i].text, (long long)found);
    }
}

static void wide_decimals_are_exact(void **state)
{
    (void)state;
    brume_units found;
    brume_units value = 1;
    for (int i = 0; i < 38; i++)
        value *= 10;
    assert_true(brume_value_decimal(text_of("99999999999999999999999999999999999999"), 0, &found));
    assert_true(found == value - 1);
    assert_false(
        brume_value_decimal(text_of("100000000000000000000000000000000000000"), 0, &found));
    assert_false(
        brume_value_decimal(text_of("99999999999999999999999999999999999999.5"), 0, &found));
    assert_true(
        brume_value_decimal(text_of("0.99999999999999999999999999999999999999"), 38, &found));
    assert_true(found == value - 1);
}

static void doubles_are_the_nearest(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int i = 0; i < 200000; i++) {
        char text[64];
        size_t used = 0;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        int before = (int)(seed >> 33) % 20, behind = (int)(seed >> 40) % 20;
        text[used++] = (seed >> 50) & 1 ? '-' : '0';
        for (int d = 0; d < before + behind + 1; d++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            if (d == before)
                text[used++] = '.';
            text[used++] = (char)('0' + (seed >> 33) % 10);
        }
        text[used] = 0;
        if ((seed >> 20) & 1)
            snprintf(text + used, sizeof text - used, "e%d", (int)((seed >> 34) % 240) - 120);
        double found = 0, expected = strtod(text, NULL);
        assert_true(brume_value_double(text_of(text), &found));
        if (found != expected)
            fail_msg("%s: %.17g, expected %.17g", text, found, expected);
    }
    static const char *const none[] = {"nan",   "inf",   "-Infinity", "1e150", "-1e150",
                                       "1e999", "0x1p3", "",          " ",     "1e",
                                       "e5",    ".",     "1.2.3",     "--1"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (brume_value_double(text_of(none[i]), &(double){0}))
            fail_msg("'%s' is taken for a double", none[i]);
    double found = 1;
    assert_true(brume_value_double(text_of("-0"), &found) && found == 0 && !signbit(found));
    assert_true(brume_value_double(text_of("0e9999"), &found) && found == 0);
    /* 19 digits: more than fit into 63 bits */
    assert_true(brume_value_double(text_of("9999999999999999999"), &found) && found == 1e19);
    assert_true(brume_value_double(text_of("-9223372036854775808"), &found) && found == -0x1p63);
    assert_true(brume_value_double(text_of("1e-9999"), &found) && found == 0);
    /* As many digits as 64 bits do not hold. */
    assert_true(brume_value_double(text_of("9999999999999999999"), &found) && found == 1e19);
    assert_true(brume_value_double(text_of("-9999999999999999999"), &found) && found == -1e19);
    /* The middle of two doubles, and a hair above it behind a thousand digits. */
    char text[1200] = "9007199254740993.";
    assert_true(brume_value_double(text_of("9007199254740993"), &found));
    assert_true(found == 9007199254740992.0);
    memset(text + 17, '0', 1000);
    strcpy(text + 1017, "1");
    assert_true(brume_value_double(text_of(text), &found));
    assert_true(found == 9007199254740994.0);
}

/* ---- the rest ---- */

static void booleans_are_words(void **state)
{
    (void)state;
    static const char *const words[] = {"true", "T", "yes", "1", "FALSE", "f", "No", "0"};
    static const char *const none[] = {"", "2", "y", "n", "truee", "tru", "on", "01"};
    uint8_t found;
    for (size_t i = 0; i < 8; i++) {
        assert_true(brume_value_boolean(text_of(words[i]), &found));
        assert_int_equal(found, i < 4);
        assert_false(brume_value_boolean(text_of(none[i]), &found));
    }
}

static void every_day_of_the_calendar_is_read_and_no_other(void **state)
{
    (void)state;
    static const int months[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int32_t days = -719162; /* of 0001-01-01 */
    for (int year = 0; year <= 9999; year++)
        for (int month = 0; month <= 13; month++)
            for (int day = 0; day <= 32; day++) {
                char text[40];
                bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
                bool is = year > 0 && month > 0 && month < 13 && day > 0 &&
                          day <= months[month - 1] + (month == 2 && leap);
                int32_t found = 0;
                if (!is && year % 50)
                    continue;
                snprintf(text, sizeof text, "%04d-%02d-%02d", year, month, day);
                if (brume_value_date(text_of(text), &found) != is || (is && found != days))
                    fail_msg("%s: %d, expected %d", text, (int)found, (int)days);
                days += is;
            }
    assert_int_equal(days, 2932897); /* of 10000-01-01 */
}

static void timestamps_are_in_utc(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good;
        int64_t microseconds;
    } cases[] = {
        {"1970-01-01", true, 0},
        {"1970-01-01 00:00", true, 0},
        {"1970-01-01T00:00:01.5", true, 1500000},
        {"1970-01-01 00:00:00.0000019", true, 1},
        {"1970-01-01 00:00:00Z", true, 0},
        {"1970-01-01 02:00:00+02", true, 0},
        {"1970-01-01 02:30:00 +0230", true, 0},
        {"1969-12-31 19:00:00-05:00", true, 0},
        {" 1970-01-01 00:00:00 ", true, 0},
        {"2024-02-29 12:30:15.123456", true, 1709209815123456},
        {"0001-01-01 00:00:00", true, -62135596800000000},
        {"0001-01-01 00:00:00+01", false, 0},
        {"9999-12-31 23:59:59.999999", true, 253402300799999999},
        {"9999-12-31 23:59:59-01", false, 0},
        {"1970-01-01 24:00:00", false, 0},
        {"1970-01-01 00:60", false, 0},
        {"1970-01-01 00:00:60", false, 0},
        {"1970-01-01 0:00", false, 0},
        {"1970-01-01 00:00:00.", false, 0},
        {"1970-01-01 00:00:00+", false, 0},
        {"1970-01-01 00:00:00+2", false, 0},
        {"1970-01-01 00:00:00+02:", false, 0},
        {"1970-01-01 00:00:00+19", false, 0},
        {"1970-01-01 00:00:00 x", false, 0},
        {"1970-01-01T", false, 0},
        {"19700101", false, 0},
        {"30/12/2020", false, 0},
        {"290309-12-22 00:00:00", false, 0},
        {"", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t found = 0;
        if (brume_value_timestamp(text_of(cases[i].text), &found) != cases[i].good ||
            (cases[i].good && found != cases[i].microseconds))
            fail_msg("'%s': %lld", cases[i].text, (long long)found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_short_number_is_rounded_exactly),
        cmocka_unit_test(limits_of_types_are_exact),
        cmocka_unit_test(wide_decimals_are_exact),
        cmocka_unit_test(doubles_are_the_nearest),
        cmocka_unit_test(booleans_are_words),
        cmocka_unit_test(every_day_of_the_calendar_is_read_and_no_other),
        cmocka_unit_test(timestamps_are_in_utc),
    };
    return cmocka_run_group_tests_name("values", tests, NULL, NULL);
}
