/* Geometric, discrete Laplace and rounded Laplace noise, exactly, by inversion: see inversion.h.
 *
 * Promise: the value is floor(T) of the infinite expansion of U whatever tier, block size or
 * instruction set answers; a draw reads one word of the main stream (two per attempt if split) and
 * reads `more` only to refine. */
#include "sample/inversion.h"

#include <math.h>

#include "base/error.h"

enum {
    BLOCK = 128,      /* words that share one test of "any open?" */
    SPLIT_BLOCK = 64, /* attempts of two words */
};

/* ---- tier 3 ---- */

/* v := (1 + exp(-1/scale)) / 2, rounded as given; the discrete Laplace is T = -scale ln(v U). */
static void half_one_plus_q(mpfr_t v, const brume_scale *scale, mpfr_rnd_t round)
{
    mpfr_rnd_t against = round == MPFR_RNDU ? MPFR_RNDD : MPFR_RNDU;
    brume_scale_inverse(v, scale, against); /* exp(-y) falls in y */
    mpfr_neg(v, v, MPFR_RNDN);
    mpfr_exp(v, v, round);
    mpfr_add_ui(v, v, 1, round);
    mpfr_div_2ui(v, v, 1, round);
}

/* A bound of T at one end of the cell: `end` is the upper end for a lower bound of T and the lower
 * end for an upper bound. floor of it, saturating. */
static int64_t floor_of_bound(brume_inversion_kind kind, const brume_scale *scale, mpfr_t end,
                              mpfr_rnd_t round)
{
    mpfr_rnd_t against = round == MPFR_RNDU ? MPFR_RNDD : MPFR_RNDU;
    if (kind == BRUME_DISCRETE_LAPLACE) {
        mpfr_t factor;
        mpfr_init2(factor, mpfr_get_prec(end));
        half_one_plus_q(factor, scale, against);
        mpfr_mul(end, end, factor, against);
        mpfr_clear(factor);
    }
    mpfr_log(end, end, against); /* -ln falls */
    mpfr_neg(end, end, MPFR_RNDN);
    if (mpfr_sgn(end) < 0)
        mpfr_set_ui(end, 0, MPFR_RNDN); /* T >= 0: a bound below says nothing */
    brume_scale_multiply(end, scale, round);
    if (kind == BRUME_ROUNDED_LAPLACE)
        mpfr_add_d(end, end, 0.5, round);
    return (int64_t)mpfr_get_sj(end, MPFR_RNDD);
}

bool brume_inversion_decide(brume_inversion_kind kind, const brume_scale *scale,
                            const brume_lazy *uniform, int64_t *magnitude)
{
    if (mpz_sgn(uniform->prefix) == 0)
        return false; /* -ln U has no upper bound yet */
    mpfr_t end;
    mpfr_init2(end,
               (mpfr_prec_t)uniform->bits + BRUME_LAZY_GUARD_BITS); /* holds both ends exactly */
    brume_lazy_upper(uniform, end);
    int64_t least = floor_of_bound(kind, scale, end, MPFR_RNDD);
    brume_lazy_lower(uniform, end);
    int64_t most = floor_of_bound(kind, scale, end, MPFR_RNDU);
    mpfr_clear(end);
    *magnitude = least;
    return least == most;
}

bool brume_inversion_refine(const brume_inversion *law, uint64_t word, brume_bits *bits,
                            int64_t *magnitude)
{
    /* The bounds of tier 2 are for rounding to nearest; those of tier 1 hold in every mode. */
    if (brume_rounds_to_nearest() && brume_tier2(word, &law->tier2, magnitude))
        return true;
    brume_lazy uniform;
    brume_lazy_open(&uniform, word >> (65 - BRUME_WORD_BITS), BRUME_WORD_BITS - 1);
    bool read = true, decided = false;
    while (read && !decided) {
        decided = brume_inversion_decide(law->kind, &law->scale, &uniform, magnitude);
        if (!decided)
            read = brume_lazy_more(&uniform, bits);
    }
    brume_lazy_close(&uniform);
    return read;
}

static int64_t with_sign(uint64_t word, uint64_t sign, int64_t magnitude)
{
    return (word >> (64 - BRUME_WORD_BITS)) & sign ? -magnitude : magnitude;
}

/* ---- one digit: scale <= 2^20 ---- */

static bool draw_open(const brume_inversion *law, uint64_t word, brume_bits *bits, int64_t *out)
{
    int64_t magnitude;
    if (!brume_inversion_refine(law, word, bits, &magnitude))
        return false;
    *out = with_sign(word, law->tier1.sign, magnitude);
    return true;
}

static brume_status draw_whole(const brume_noise *noise, brume_bits *bits, int64_t *out,
                               brume_error *error);

/* All that is rare in one draw: missing arguments, an empty stream (the word is not read yet), a
 * word that tier 1 leaves open. Apart, so that the common way saves no registers. */
static __attribute__((noinline, cold)) brume_status draw_rarely(const brume_noise *noise,
                                                                brume_bits *bits, int64_t *out,
                                                                brume_error *error, bool is_read,
                                                                uint64_t word)
{
    if (!bits || !out)
        return brume_noise_refuse(noise, bits, out, error);
    if (!is_read && bits->refill(bits, bits->main, 1))
        return draw_whole(noise, bits, out, error);
    if (is_read && draw_open((const brume_inversion *)noise, word, bits, out))
        return BRUME_OK;
    *out = 0;
    return brume_bits_failed(bits, error);
}

static brume_status draw_whole(const brume_noise *noise, brume_bits *bits, int64_t *out,
                               brume_error *error)
{
    const brume_inversion *law = (const brume_inversion *)noise;
    if (__builtin_expect(!bits || !out || bits->main->left == 0, 0))
        return draw_rarely(noise, bits, out, error, false, 0);
    uint64_t word = brume_bits_next(bits->main), open = 0;
    int64_t value = brume_tier1(word, &law->tier1, &open);
    if (__builtin_expect(open >> 63 != 0, 0))
        return draw_rarely(noise, bits, out, error, true, word);
    *out = value;
    return BRUME_OK;
}

static bool draw_direct(const brume_noise *noise, brume_bits *bits, int64_t *out)
{
    return draw_whole(noise, bits, out, NULL) == BRUME_OK;
}

/* A block that tier 1 left open somewhere: answer its words in order. */
static bool refine_block(const brume_inversion *law, const uint64_t *words, int64_t *out,
                         size_t count, brume_bits *bits)
{
    for (size_t i = 0; i < count; i++)
        if (!draw_open(law, words[i], bits, out + i))
            return false;
    return true;
}

static bool fill_direct(const brume_noise *noise, brume_bits *bits, int64_t *out, size_t n)
{
    const brume_inversion *law = (const brume_inversion *)noise;
    while (n > 0) {
        size_t got;
        uint64_t *words = brume_bits_run(bits, bits->main, n, &got);
        if (!words)
            return false;
        for (size_t i = 0; i < got; i += BLOCK) {
            size_t count = got - i < BLOCK ? got - i : BLOCK;
            uint64_t open = law->block(words + i, out + i, count, &law->tier1);
            if (__builtin_expect(open >> 63 != 0, 0) &&
                !refine_block(law, words + i, out + i, count, bits))
                return false; /* the source has wiped the words */
        }
        brume_bits_done(words, got);
        out += got;
        n -= got;
    }
    return true;
}

/* ---- two digits: scale > 2^20 ----
 *
 * |X| = 2^m Y + L: Y geometric of scale S = scale / 2^m in (2^19, 2^20], and L in [0, 2^m) with
 * weight exp(-L/scale), independent. L is uniform and kept with probability exp(-L/scale), which is
 * above 1 - 2^-19 whatever L is: an integer comparison decides almost always. */

typedef struct low_digit {
    const brume_scale *whole;
    uint64_t digit;
} low_digit;

static void enclose_low_weight(const void *context, mpfr_t lower, mpfr_t upper)
{
    const low_digit *low = context;
    brume_scale_inverse(lower, low->whole, MPFR_RNDU); /* exp(-y) falls in y */
    mpfr_mul_ui(lower, lower, low->digit, MPFR_RNDU);
    mpfr_neg(lower, lower, MPFR_RNDN);
    mpfr_exp(lower, lower, MPFR_RNDD);
    brume_scale_inverse(upper, low->whole, MPFR_RNDD);
    mpfr_mul_ui(upper, upper, low->digit, MPFR_RNDD);
    mpfr_neg(upper, upper, MPFR_RNDN);
    mpfr_exp(upper, upper, MPFR_RNDU);
}

/* Is U < exp(-digit/scale)? `uniform` holds the first bits of U. */
static __attribute__((noinline)) bool weigh_low(const brume_inversion *law, uint64_t uniform,
                                                unsigned uniform_bits, uint64_t digit,
                                                brume_bits *bits, bool *kept)
{
    /* First doubles. The middle of the cell of U errs by 2^-52, the exponent z < 1/2 by 3 * 2^-53
     * z, exp_neg by 2^-52.22: together below 2^-50.6, and half a cell. */
    double middle = ((double)uniform + 0.5) / (double)(UINT64_C(1) << uniform_bits);
    double weight = brume_exp_neg((double)digit * law->inverse_whole);
    double margin = 0x1p-50 + 0.5 / (double)(UINT64_C(1) << uniform_bits);
    if (brume_rounds_to_nearest() && brume_absolute(middle - weight) > margin) {
        *kept = middle < weight;
        return true;
    }
    low_digit low = {&law->whole, digit};
    brume_lazy lazy;
    brume_lazy_open(&lazy, uniform, uniform_bits);
    bool read = brume_lazy_below(&lazy, bits, enclose_low_weight, &low, kept);
    brume_lazy_close(&lazy);
    return read;
}

/* Is the low digit kept? Its word: low_bits of L, then the first bits of the uniform that decides.
 */
static bool keep_low(const brume_inversion *law, uint64_t word, brume_bits *bits, uint64_t *digit,
                     bool *kept)
{
    unsigned uniform_bits = BRUME_WORD_BITS - law->low_bits;
    word >>= 64 - BRUME_WORD_BITS;
    *digit = word >> uniform_bits;
    uint64_t uniform = word & ((UINT64_C(1) << uniform_bits) - 1);
    /* U < (uniform + 1) 2^-bits <= 1 - 2^-19 < exp(-L/scale): kept for certain. */
    uint64_t surely = (UINT64_C(1) << uniform_bits) -
                      (UINT64_C(1) << (uniform_bits - (BRUME_SPLIT_ABOVE - 1)));
    *kept = true;
    if (__builtin_expect(uniform < surely, 1))
        return true;
    return weigh_low(law, uniform, uniform_bits, *digit, bits, kept);
}

/* 2^m high + low, at most 2^63 - 1. */
static int64_t join_digits(int64_t high, uint64_t low, unsigned low_bits)
{
    if (high > INT64_MAX >> low_bits)
        return INT64_MAX;
    return (int64_t)((uint64_t)high << low_bits | low);
}

/* Finish an attempt whose high digit is known. false: the source failed. */
static bool split_attempt(const brume_inversion *law, int64_t high, uint64_t first, uint64_t second,
                          brume_bits *bits, int64_t *out, bool *kept)
{
    uint64_t low;
    if (!keep_low(law, second, bits, &low, kept))
        return false;
    int64_t magnitude = join_digits(high, low, law->low_bits);
    if (law->halves) /* floor((N + 1) / 2) without overflow */
        magnitude = magnitude / 2 + magnitude % 2;
    bool negative = law->has_sign && (first >> (64 - BRUME_WORD_BITS)) % 2 == 1;
    if (law->drops_negative_zero && negative && magnitude == 0)
        *kept = false;
    *out = negative ? -magnitude : magnitude;
    return true;
}

static bool draw_split(const brume_noise *noise, brume_bits *bits, int64_t *out)
{
    const brume_inversion *law = (const brume_inversion *)noise;
    bool kept = false;
    while (!kept) {
        uint64_t first, second, open = 0;
        if (!brume_bits_word(bits, bits->main, &first) ||
            !brume_bits_word(bits, bits->main, &second))
            return false;
        int64_t high = brume_tier1(first, &law->tier1, &open);
        if (__builtin_expect(open >> 63 != 0, 0) &&
            !brume_inversion_refine(law, first, bits, &high))
            return false;
        if (!split_attempt(law, high, first, second, bits, out, &kept))
            return false;
    }
    return true;
}

/* The attempts of a block at once, if all of them are kept for certain and by the first test: the
 * usual case, without branches. false: nothing is known, take them one by one. High digits that
 * tier 1 knows are below 2^25, so nothing overflows. */
static bool split_block(const brume_inversion *law, const uint64_t *words, const int64_t *highs,
                        int64_t *out, size_t count)
{
    const unsigned low_bits = law->low_bits, uniform_bits = BRUME_WORD_BITS - low_bits;
    const unsigned sure_bits = BRUME_SPLIT_ABOVE - 1, halving = law->halves;
    const uint64_t sign = law->has_sign, mask = (UINT64_C(1) << uniform_bits) - 1;
    uint64_t unsure = 0, zero = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t first = words[2 * i] >> (64 - BRUME_WORD_BITS);
        uint64_t second = words[2 * i + 1] >> (64 - BRUME_WORD_BITS);
        /* not kept for certain iff the top 19 bits of the uniform are all ones */
        unsure |= (((second & mask) >> (uniform_bits - sure_bits)) + 1) >> sure_bits;
        uint64_t magnitude = (uint64_t)highs[i] << low_bits | second >> uniform_bits;
        magnitude = (magnitude + halving) >> halving;
        zero |= magnitude - 1; /* the top bit if it was 0 */
        uint64_t negative = 0 - (first & sign);
        out[i] = (int64_t)((magnitude ^ negative) - negative);
    }
    return unsure == 0 && (!law->drops_negative_zero || zero >> 63 == 0);
}

static bool fill_split(const brume_noise *noise, brume_bits *bits, int64_t *out, size_t n)
{
    const brume_inversion *law = (const brume_inversion *)noise;
    uint64_t words[2 * SPLIT_BLOCK], firsts[SPLIT_BLOCK];
    int64_t highs[SPLIT_BLOCK];
    bool read = true;
    while (read && n > 0) {
        size_t attempts = n < SPLIT_BLOCK ? n : SPLIT_BLOCK; /* never more than values missing */
        read = brume_bits_take(bits, bits->main, words, 2 * attempts);
        if (!read)
            break;
        for (size_t i = 0; i < attempts; i++)
            firsts[i] = words[2 * i];
        bool open = law->block(firsts, highs, attempts, &law->tier1) >> 63 != 0;
        if (__builtin_expect(!open && split_block(law, words, highs, out, attempts), 1)) {
            out += attempts;
            n -= attempts;
            continue;
        }
        for (size_t i = 0; read && i < attempts; i++) {
            bool kept = false;
            if (open)
                read = brume_inversion_refine(law, firsts[i], bits, highs + i);
            read = read &&
                   split_attempt(law, highs[i], words[2 * i], words[2 * i + 1], bits, out, &kept);
            out += kept;
            n -= kept;
        }
    }
    brume_bits_wipe(words, sizeof words);
    brume_bits_wipe(firsts, sizeof firsts);
    brume_bits_wipe(highs, sizeof highs);
    return read;
}

/* ---- preparing ---- */

static const brume_noise_law direct_laws[] = {
    [BRUME_GEOMETRIC] = {"geometric", draw_direct, fill_direct, NULL},
    [BRUME_DISCRETE_LAPLACE] = {"discrete Laplace", draw_direct, fill_direct, NULL},
    [BRUME_ROUNDED_LAPLACE] = {"rounded Laplace", draw_direct, fill_direct, NULL},
};

static const brume_noise_law split_laws[] = {
    [BRUME_GEOMETRIC] = {"geometric", draw_split, fill_split, NULL},
    [BRUME_DISCRETE_LAPLACE] = {"discrete Laplace", draw_split, fill_split, NULL},
    [BRUME_ROUNDED_LAPLACE] = {"rounded Laplace", draw_split, fill_split, NULL},
};

/* offset + plus of the discrete Laplace of a scale */
typedef struct offset_of {
    const brume_scale *scale;
    double plus;
} offset_of;

static void enclose_offset(const void *context, mpfr_t lower, mpfr_t upper)
{
    const offset_of *of = context;
    half_one_plus_q(lower, of->scale, MPFR_RNDU); /* -ln falls */
    mpfr_log(lower, lower, MPFR_RNDU);
    mpfr_neg(lower, lower, MPFR_RNDN);
    brume_scale_multiply(lower, of->scale, MPFR_RNDD);
    mpfr_add_d(lower, lower, of->plus, MPFR_RNDD);
    half_one_plus_q(upper, of->scale, MPFR_RNDD);
    mpfr_log(upper, upper, MPFR_RNDD);
    mpfr_neg(upper, upper, MPFR_RNDN);
    brume_scale_multiply(upper, of->scale, MPFR_RNDU);
    mpfr_add_d(upper, upper, of->plus, MPFR_RNDU);
}

/* All constants of tiers 1 and 2, for law->kind and law->scale. false: not certified. */
static bool prepare(brume_inversion *law)
{
    const double half_cell = 0.5 / (double)(UINT64_C(1) << BRUME_PREFIX);
    double scale = law->scale.nearest;
    double offset = 0, shift = -0.5;
    if (law->kind == BRUME_ROUNDED_LAPLACE) {
        offset = 0.5;
        shift = 0;
    } else if (law->kind == BRUME_DISCRETE_LAPLACE) {
        offset_of plain = {&law->scale, 0}, less_half = {&law->scale, -0.5};
        offset = brume_scale_certified(enclose_offset, &plain);
        shift = brume_scale_certified(enclose_offset, &less_half);
    }
    law->tier1.scale = scale;
    law->tier1.shift = shift;
    law->tier1.limit = 0.5 - scale / (double)(UINT64_C(1) << (BRUME_PREFIX - BRUME_TIER1_CUT)) -
                       0x1p-52;
    law->tier1.least = 1.0 / (double)(UINT64_C(1) << BRUME_TIER1_CUT);
    law->tier1.sign = law->kind == BRUME_GEOMETRIC ? 0 : 1;
    law->tier2.scale = scale;
    law->tier2.offset = offset;
    law->tier2.cell = scale * (2 * half_cell);
    law->tier2.least = 2 * half_cell; /* the cell at 0 has its middle at half a cell */
    law->tier2.rounding = 0x1.4p-51;  /* 5 * 2^-53 */
    return !isnan(offset) && !isnan(shift);
}

static brume_inversion_block *fastest_block(void)
{
    brume_inversion_block *fastest = NULL;
    for (const brume_inversion_path *path = brume_inversion_paths(); path->name; path++)
        if (path->usable)
            fastest = path->block;
    return fastest;
}

brume_status brume_inversion_open(brume_inversion_kind kind, brume_scale scale, brume_noise **out,
                                  brume_error *error)
{
    bool split = scale.nearest > (double)(UINT64_C(1) << BRUME_SPLIT_ABOVE);
    brume_inversion *law =
        brume_noise_open_as(split ? &split_laws[kind] : &direct_laws[kind], sizeof *law, error);
    if (!law)
        return BRUME_EMEMORY;
    law->block = fastest_block();
    law->noise.any_rounding = true;
    if (!split)
        law->noise.draw = draw_whole;
    law->kind = kind;
    law->scale = scale;
    if (split) {
        law->has_sign = kind != BRUME_GEOMETRIC;
        law->drops_negative_zero = kind == BRUME_DISCRETE_LAPLACE;
        law->halves = kind == BRUME_ROUNDED_LAPLACE;
        law->whole = law->halves ? brume_scale_shifted(scale, 1) : scale;
        law->inverse_whole = 1 / law->whole.nearest;
        law->kind = BRUME_GEOMETRIC;
        law->scale = law->whole;
        while (law->scale.nearest > (double)(UINT64_C(1) << BRUME_SPLIT_ABOVE)) {
            law->scale = brume_scale_shifted(law->scale, -1);
            law->low_bits++;
        }
    }
    if (!prepare(law)) {
        brume_noise_close(&law->noise);
        return brume_fail(error, BRUME_EINTERNAL, NULL,
                          "the constants of '%g' could not be certified", scale.nearest);
    }
    *out = &law->noise;
    return BRUME_OK;
}
