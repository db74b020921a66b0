/* Values from stored values: see the header. */
#include "reader/parquet/convert.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "reader/parquet/bits.h"
#include "reader/parquet/values.h"

/* 0001-01-01 and 9999-12-31, in days since 1970-01-01. */
#define FIRST_DAY       (-719162)
#define LAST_DAY        2932896
#define MICROS_OF_DAY   ((int64_t)86400 * 1000000)
#define FIRST_MICRO     (FIRST_DAY * MICROS_OF_DAY)
#define LAST_MICRO      ((LAST_DAY + 1) * MICROS_OF_DAY - 1)
#define LEAST_TOO_LARGE 1e150

size_t brume_parquet_value_size(brume_type type)
{
    switch (type.kind) {
    case BRUME_TYPE_BOOLEAN:
        return 1;
    case BRUME_TYPE_INTEGER:
    case BRUME_TYPE_DATE:
        return 4;
    case BRUME_TYPE_DECIMAL:
        return type.precision <= 18 ? 8 : 16;
    case BRUME_TYPE_TEXT:
        return sizeof(brume_text);
    default:
        return 8;
    }
}

/* Convert all: `TEST` says whether `x`, a stored FROM, is a value, and MAKE makes it a TO. The
 * first loop, which has no branches, is enough where all are. */
#define CONVERT_ALL(FROM, TO, TEST, MAKE)                                                          \
    do {                                                                                           \
        const FROM *from = stored;                                                                 \
        TO *to = values;                                                                           \
        bool every = true;                                                                         \
        for (size_t i = 0; i < count; i++) {                                                       \
            const FROM x = from[i];                                                                \
            bool is = TEST;                                                                        \
            to[i] = is ? (TO)(MAKE) : (TO)0;                                                       \
            every &= is;                                                                           \
        }                                                                                          \
        for (size_t i = 0; !every && i < count; i++) {                                             \
            const FROM x = from[i];                                                                \
            (void)x;                                                                               \
            mark(good, i, TEST);                                                                   \
        }                                                                                          \
        return every;                                                                              \
    } while (0)

static void mark(uint64_t *good, size_t i, bool is)
{
    uint64_t bit = (uint64_t)1 << i % 64;
    good[i / 64] = is ? good[i / 64] | bit : good[i / 64] & ~bit;
}

/* ---- numbers ---- */

static bool convert_narrow(const brume_parquet_column *column, const void *stored, size_t count,
                           void *values, uint64_t *good)
{
    int32_t low = column->low, high = column->high;
    CONVERT_ALL(int32_t, int32_t, (x >= low) & (x <= high), x);
}

static bool convert_unsigned(const brume_parquet_column *column, const void *stored, size_t count,
                             void *values, uint64_t *good)
{
    if (column->physical == PARQUET_INT32)
        CONVERT_ALL(uint32_t, int64_t, true, x);
    CONVERT_ALL(uint64_t, brume_parquet_i128, true, x);
}

/* The half of two bytes: a sign, five bits of exponent, ten of fraction. */
static double half(brume_text bytes)
{
    if (bytes.length != 2)
        return NAN;
    unsigned bits = (uint8_t)bytes.data[0] | (unsigned)(uint8_t)bytes.data[1] << 8;
    int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
    double size = exponent == 31  ? NAN
                  : exponent == 0 ? ldexp(fraction, -24)
                                  : ldexp(fraction + 1024, exponent - 25);
    return bits >> 15 ? -size : size;
}

static bool convert_real(const brume_parquet_column *column, const void *stored, size_t count,
                         void *values, uint64_t *good)
{
    if (column->physical == PARQUET_FLOAT)
        CONVERT_ALL(float, double, fabs((double)x) < LEAST_TOO_LARGE, (double)x);
    if (column->physical == PARQUET_DOUBLE)
        CONVERT_ALL(double, double, fabs(x) < LEAST_TOO_LARGE, x);
    CONVERT_ALL(brume_text, double, fabs(half(x)) < LEAST_TOO_LARGE, half(x));
}

/* ---- decimals ---- */

static brume_parquet_i128 power_of_ten(int exponent)
{
    brume_parquet_i128 power = 1;
    for (int i = 0; i < exponent; i++)
        power *= 10;
    return power;
}

/* A big-endian integer in two's complement; false if it has no bytes or more than 128 bits. */
static bool big_integer(brume_text bytes, brume_parquet_i128 *out)
{
    const uint8_t *at = (const uint8_t *)bytes.data;
    size_t length = bytes.length;
    if (length == 0)
        return false;
    uint8_t sign = at[0] & 0x80 ? 0xff : 0;
    for (; length > sizeof *out; length--)
        if (*at++ != sign)
            return false;
    if (length < bytes.length && (at[0] & 0x80) != (sign & 0x80))
        return false;
    brume_parquet_u128 value = sign ? ~(brume_parquet_u128)0 : 0;
    for (size_t i = 0; i < length; i++)
        value = value << 8 | at[i];
    *out = (brume_parquet_i128)value;
    return true;
}

static bool big_within(brume_text bytes, brume_parquet_i128 limit, brume_parquet_i128 *out)
{
    brume_parquet_i128 value = 0;
    bool is = big_integer(bytes, &value) && value > -limit && value < limit;
    *out = is ? value : 0;
    return is;
}

static bool convert_decimal_bytes(const brume_text *texts, size_t count, brume_parquet_i128 limit,
                                  bool wide, void *values, uint64_t *good)
{
    bool every = true;
    for (size_t i = 0; i < count; i++) {
        brume_parquet_i128 value;
        bool is = big_within(texts[i], limit, &value);
        if (wide)
            ((brume_parquet_i128 *)values)[i] = value;
        else
            ((int64_t *)values)[i] = (int64_t)value;
        every = every && is;
    }
    for (size_t i = 0; !every && i < count; i++) {
        brume_parquet_i128 value;
        mark(good, i, big_within(texts[i], limit, &value));
    }
    return every;
}

static bool convert_decimal(const brume_parquet_column *column, const void *stored, size_t count,
                            void *values, uint64_t *good)
{
    brume_parquet_i128 power = power_of_ten(column->type.precision);
    bool wide = column->type.precision > 18;
    int64_t limit = power > INT64_MAX ? INT64_MAX : (int64_t)power;
    if (column->physical == PARQUET_INT32) {
        if (wide)
            CONVERT_ALL(int32_t, brume_parquet_i128, true, x);
        CONVERT_ALL(int32_t, int64_t, (x > -limit) & (x < limit), x);
    }
    if (column->physical == PARQUET_INT64) {
        if (wide)
            CONVERT_ALL(int64_t, brume_parquet_i128, true, x);
        CONVERT_ALL(int64_t, int64_t, (x > -limit) & (x < limit), x);
    }
    return convert_decimal_bytes(stored, count, power, wide, values, good);
}

/* More digits than a decimal holds, as a double: by its bytes, each rounded to nearest. */
static double wide_number(brume_text bytes, int scale)
{
    const uint8_t *at = (const uint8_t *)bytes.data;
    bool negative = bytes.length > 0 && at[0] & 0x80;
    double value = bytes.length > 0 ? 0 : NAN;
    for (size_t i = 0; i < bytes.length; i++)
        value = value * 256 + (negative ? 255 - at[i] : at[i]);
    return (negative ? -value - 1 : value) / pow(10, scale);
}

static bool convert_wide(const brume_parquet_column *column, const void *stored, size_t count,
                         void *values, uint64_t *good)
{
    int scale = column->scale;
    CONVERT_ALL(brume_text, double, fabs(wide_number(x, scale)) < LEAST_TOO_LARGE,
                wide_number(x, scale));
}

/* ---- time ---- */

static int64_t floor_thousandth(int64_t x)
{
    return x / 1000 - (x % 1000 < 0);
}

/* Nanoseconds of the day, then the day's number, of which 2440588 is 1970-01-01. */
typedef struct julian {
    uint8_t bytes[PARQUET_INT96_SIZE];
} julian;

static bool julian_micros(julian stored, int64_t *out)
{
    int64_t nanos;
    int32_t day;
    memcpy(&nanos, stored.bytes, sizeof nanos);
    memcpy(&day, stored.bytes + sizeof nanos, sizeof day);
    brume_parquet_i128 micros = ((brume_parquet_i128)day - 2440588) * MICROS_OF_DAY +
                                floor_thousandth(nanos);
    bool is = micros >= FIRST_MICRO && micros <= LAST_MICRO;
    *out = is ? (int64_t)micros : 0;
    return is;
}

static bool convert_julian(const julian *from, size_t count, int64_t *to, uint64_t *good)
{
    bool every = true;
    for (size_t i = 0; i < count; i++)
        every &= julian_micros(from[i], &to[i]);
    for (size_t i = 0; !every && i < count; i++) {
        int64_t micros;
        mark(good, i, julian_micros(from[i], &micros));
    }
    return every;
}

static bool convert_time(const brume_parquet_column *column, const void *stored, size_t count,
                         void *values, uint64_t *good)
{
    switch (column->meaning) {
    case PARQUET_MEANS_DAYS:
        CONVERT_ALL(int32_t, int32_t, (x >= FIRST_DAY) & (x <= LAST_DAY), x);
    case PARQUET_MEANS_MILLIS:
        CONVERT_ALL(int64_t, int64_t, (x >= FIRST_MICRO / 1000) & (x <= LAST_MICRO / 1000),
                    x * 1000);
    case PARQUET_MEANS_MICROS:
        CONVERT_ALL(int64_t, int64_t, (x >= FIRST_MICRO) & (x <= LAST_MICRO), x);
    case PARQUET_MEANS_NANOS: /* all of 64 bits lie within */
        CONVERT_ALL(int64_t, int64_t, true, floor_thousandth(x));
    default:
        return convert_julian(stored, count, values, good);
    }
}

/* ---- text ---- */

static bool convert_text(const void *stored, size_t count, void *values, uint64_t *good)
{
    const brume_text *from = stored;
    bool every = true;
    memcpy(values, stored, count * sizeof *from);
    for (size_t i = 0; every && i < count; i++)
        every = brume_utf8_is_text(from[i].data, from[i].length);
    for (size_t i = 0; !every && i < count; i++)
        mark(good, i, brume_utf8_is_text(from[i].data, from[i].length));
    return every;
}

/* 12345678-9abc-def0-1234-56789abcdef0 */
static void print_uuid(const uint8_t bytes[16], char *to)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *to++ = '-';
        *to++ = digits[bytes[i] >> 4];
        *to++ = digits[bytes[i] & 15];
    }
}

static brume_parquet_fault convert_uuid(const brume_text *from, size_t count, brume_text *to,
                                        uint64_t *good, bool *all, brume_page_pool *pool)
{
    enum { BYTES = 16, LETTERS = 36 };
    char *letters = (char *)brume_pool_lend(pool, count * LETTERS);
    if (!letters)
        return PARQUET_NO_MEMORY;
    bool every = true;
    for (size_t i = 0; i < count; i++, letters += LETTERS) {
        bool is = from[i].length == BYTES;
        if (is)
            print_uuid((const uint8_t *)from[i].data, letters);
        to[i] = (brume_text){letters, is ? LETTERS : 0};
        every = every && is;
    }
    for (size_t i = 0; !every && i < count; i++)
        mark(good, i, from[i].length == BYTES);
    *all = every;
    return PARQUET_SOUND;
}

brume_parquet_fault brume_parquet_convert(const brume_parquet_column *column, const void *stored,
                                          size_t count, void *values, uint64_t *good, bool *all,
                                          brume_page_pool *pool)
{
    *all = true;
    switch (column->meaning) {
    case PARQUET_MEANS_NOTHING:
        break;
    case PARQUET_MEANS_ITSELF:
        memcpy(values, stored, count * brume_parquet_value_size(column->type));
        break;
    case PARQUET_MEANS_NARROW:
        *all = convert_narrow(column, stored, count, values, good);
        break;
    case PARQUET_MEANS_UNSIGNED:
        *all = convert_unsigned(column, stored, count, values, good);
        break;
    case PARQUET_MEANS_REAL:
        *all = convert_real(column, stored, count, values, good);
        break;
    case PARQUET_MEANS_DECIMAL:
        *all = convert_decimal(column, stored, count, values, good);
        break;
    case PARQUET_MEANS_WIDE:
        *all = convert_wide(column, stored, count, values, good);
        break;
    case PARQUET_MEANS_DAYS:
    case PARQUET_MEANS_MILLIS:
    case PARQUET_MEANS_MICROS:
    case PARQUET_MEANS_NANOS:
    case PARQUET_MEANS_JULIAN_DAY:
        *all = convert_time(column, stored, count, values, good);
        break;
    case PARQUET_MEANS_TEXT:
        *all = convert_text(stored, count, values, good);
        break;
    case PARQUET_MEANS_UUID:
        return convert_uuid(stored, count, values, good, all, pool);
    }
    return PARQUET_SOUND;
}
