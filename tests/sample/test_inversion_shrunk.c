/* Geometric, discrete Laplace and rounded Laplace: the very code of the library, compiled to use
 * words of few bits, has exactly the stated law on all tapes; and each broken variant has not.
 *
 * BRUME_WORD_BITS is given by the build, 9 or 6: the lowest bit the sign, the others U. Scales
 * above 4 are split in two digits. */
#define BRUME_PREFIX      (BRUME_WORD_BITS - 1)
#define BRUME_TIER1_CUT   (BRUME_WORD_BITS / 3)
#define BRUME_SPLIT_ABOVE 2
#include "sample/inversion.c"
#include "sample/inversion_block.c"
#include "sample/lazy.c"

#include "check.h"

#include "enumerate.h"
#include "random/tape.h"

enum { REJECTED = 1000, DEPTH = 2 * BRUME_WORD_BITS, SPLIT_DEPTH = 3 * BRUME_WORD_BITS };

static brume_inversion *open_law(brume_inversion_kind kind, double scale)
{
    brume_error error;
    brume_noise *noise = NULL;
    assert_ok(brume_inversion_open(kind, brume_scale_of_double(scale), &noise, &error));
    return (brume_inversion *)noise;
}

static bool draw(brume_bits *tape, const void *context, int64_t *out)
{
    const brume_noise *noise = context;
    return brume_noise_draw(noise, tape, out, NULL) == BRUME_OK;
}

static bool fill_one(brume_bits *tape, const void *context, int64_t *out)
{
    const brume_noise *noise = context;
    return brume_noise_fill(noise, tape, out, 1, NULL) == BRUME_OK;
}

/* One attempt of a split draw: a third main word means that the first two were rejected. */
static bool attempt_by(tape_draw *how, brume_bits *tape, const void *context, int64_t *out)
{
    if (how(tape, context, out))
        return true;
    if (brume_tape_wants_more(tape) || brume_tape_main_read(tape) < 2)
        return false;
    *out = REJECTED;
    return true;
}

static bool attempt(brume_bits *tape, const void *context, int64_t *out)
{
    return attempt_by(draw, tape, context, out);
}

static bool attempt_in_batch(brume_bits *tape, const void *context, int64_t *out)
{
    return attempt_by(fill_one, tape, context, out);
}

typedef struct law_of {
    brume_inversion_kind kind;
    double scale;
    double split; /* 2^m S: mass of one attempt instead of one draw; 0: not split */
} law_of;

/* P[X = k], written down from the definition of each law. */
static double mass(const void *context, int64_t k)
{
    const law_of *of = context;
    double s = of->scale, a = fabs((double)k);
    double one_less_q = -expm1(-1 / s);
    switch (of->kind) {
    case BRUME_GEOMETRIC:
        return k < 0 ? 0 : one_less_q * exp(-a / s);
    case BRUME_DISCRETE_LAPLACE:
        return one_less_q / (2 - one_less_q) * exp(-a / s);
    default: /* the Laplace CDF over [k - 1/2, k + 1/2] */
        return k == 0 ? -expm1(-0.5 / s) : 0.5 * exp(-(a - 0.5) / s) * one_less_q;
    }
}

/* One attempt gives k with the law's mass times the probability that an attempt is kept: the sum of
 * all weights over 2^m, and less the dropped -0. */
static double attempt_mass(const void *context, int64_t k)
{
    const law_of *of = context;
    double whole = of->kind == BRUME_ROUNDED_LAPLACE ? 2 * of->scale : of->scale;
    double high = whole / of->split; /* scale of the high digit */
    double low_kept = -expm1(-1 / high) / -expm1(-1 / whole) / of->split;
    if (of->kind == BRUME_DISCRETE_LAPLACE)
        low_kept *= (1 + exp(-1 / whole)) / 2;
    return mass(context, k) * low_kept;
}

static size_t violations(brume_inversion *law, tape_draw *how, tape_mass *claimed, const law_of *of,
                         unsigned depth, double *open)
{
    tape_law found = tape_law_of(how, law, BRUME_WORD_BITS, depth, -60, 121);
    size_t wrong = tape_law_violations(&found, claimed, of);
    if (open)
        *open = ldexp((double)found.open, -(int)depth);
    tape_law_close(&found);
    return wrong;
}

static const double small_scales[] = {0.05, 0.1, 0.3, 1, 2.3, 3.3};
static const double split_scales[] = {4.5, 13.7};

static void every_tape_meets_the_law_at_scales_of_one_digit(void **state)
{
    (void)state;
    for (brume_inversion_kind kind = BRUME_GEOMETRIC; kind <= BRUME_ROUNDED_LAPLACE; kind++)
        for (size_t i = 0; i < sizeof small_scales / sizeof *small_scales; i++) {
            law_of of = {kind, small_scales[i], 0};
            brume_inversion *law = open_law(kind, of.scale);
            double open;
            assert_int_equal(law->low_bits, 0);
            assert_int_equal(violations(law, draw, mass, &of, DEPTH, &open), 0);
            assert_holds(open < 1e-3);
            assert_int_equal(violations(law, fill_one, mass, &of, DEPTH, NULL), 0);
            brume_noise_close(&law->noise);
        }
}

static void a_ratio_has_the_law_of_its_quotient(void **state)
{
    (void)state;
    brume_error error;
    brume_noise *noise = NULL;
    law_of of = {BRUME_DISCRETE_LAPLACE, 7.0 / 3, 0};
    assert_ok(brume_inversion_open(of.kind, brume_scale_of_ratio(7, 3), &noise, &error));
    assert_int_equal(violations((brume_inversion *)noise, draw, mass, &of, DEPTH, NULL), 0);
    brume_noise_close(noise);
}

static void every_attempt_meets_the_law_at_scales_of_two_digits(void **state)
{
    (void)state;
    for (brume_inversion_kind kind = BRUME_GEOMETRIC; kind <= BRUME_ROUNDED_LAPLACE; kind++)
        for (size_t i = 0; i < sizeof split_scales / sizeof *split_scales; i++) {
            brume_inversion *law = open_law(kind, split_scales[i]);
            assert_holds(law->low_bits > 0);
            law_of of = {kind, split_scales[i], ldexp(1, (int)law->low_bits)};
            double open;
            assert_int_equal(violations(law, attempt, attempt_mass, &of, SPLIT_DEPTH, &open), 0);
            assert_holds(open < 0.05);
            assert_int_equal(
                violations(law, attempt_in_batch, attempt_mass, &of, 2 * BRUME_WORD_BITS, NULL), 0);

            brume_noise_close(&law->noise);
        }
}

/* ---- broken variants that the same enumeration must reject ---- */

static void tier1_without_margin(brume_inversion *law)
{
    law->tier1.limit = 0.5;
}

static void tier2_without_margin(brume_inversion *law)
{
    law->tier1.limit = -1; /* everything to tier 2 */
    law->tier2.cell = law->tier2.rounding = 0;
}

static void the_cell_at_zero_is_believed(brume_inversion *law)
{
    law->tier1.limit = -1;
    law->tier2.least = 0;
}

static void tier1_believes_small_uniforms(brume_inversion *law)
{
    law->tier1.least = 0;
}

static void no_offset(brume_inversion *law)
{
    law->tier1.shift = -0.5;
    law->tier2.offset = 0;
    law->kind = BRUME_GEOMETRIC;
}

static void wrong_offset_in_tier1(brume_inversion *law)
{
    law->tier1.shift -= 0.1;
}

static void the_sign_is_a_bit_of_the_uniform(brume_inversion *law)
{
    law->tier1.limit = -1;
    law->tier1.sign = 2;
}

static void negative_zero_is_kept(brume_inversion *law)
{
    law->drops_negative_zero = false;
}

static void no_halving(brume_inversion *law)
{
    law->halves = false;
}

static void the_low_digit_has_no_weight(brume_inversion *law)
{
    law->whole = brume_scale_of_double(1e9);
    law->inverse_whole = 1e-9;
}

static void mpfr_weighs_the_low_digit_otherwise(brume_inversion *law)
{
    law->whole = brume_scale_of_double(law->whole.nearest * 1.2); /* only MPFR's */
}

typedef struct mutant {
    const char *name;
    brume_inversion_kind kind;
    double scale;
    void (*break_it)(brume_inversion *law);
} mutant;

static void reject(const mutant *mutants, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        brume_inversion *law = open_law(mutants[i].kind, mutants[i].scale);
        law_of of = {mutants[i].kind, mutants[i].scale, ldexp(1, (int)law->low_bits)};
        bool split = law->low_bits > 0;
        mutants[i].break_it(law);
        size_t wrong = split ? violations(law, attempt, attempt_mass, &of, SPLIT_DEPTH, NULL)
                             : violations(law, draw, mass, &of, DEPTH, NULL);
        if (wrong == 0)
            fail_msg("survived: %s", mutants[i].name);
        brume_noise_close(&law->noise);
    }
}

static void each_broken_variant_is_rejected(void **state)
{
    (void)state;
    static const mutant mutants[] = {
        {"tier 1 without margin", BRUME_DISCRETE_LAPLACE, 1, tier1_without_margin},
        {"tier 1 without margin, rounded", BRUME_ROUNDED_LAPLACE, 1, tier1_without_margin},
        {"tier 2 without margin", BRUME_DISCRETE_LAPLACE, 1, tier2_without_margin},
        {"the cell at zero believed", BRUME_DISCRETE_LAPLACE, 0.1, the_cell_at_zero_is_believed},
        {"the cell at zero believed, geometric", BRUME_GEOMETRIC, 0.05,
         the_cell_at_zero_is_believed},
        {"tier 1 on small uniforms", BRUME_DISCRETE_LAPLACE, 0.3, tier1_believes_small_uniforms},
        {"no offset", BRUME_DISCRETE_LAPLACE, 1, no_offset},
        {"no offset, rounded", BRUME_ROUNDED_LAPLACE, 3.3, no_offset},
        {"a wrong offset in tier 1", BRUME_DISCRETE_LAPLACE, 1, wrong_offset_in_tier1},
        {"the sign from U", BRUME_DISCRETE_LAPLACE, 1, the_sign_is_a_bit_of_the_uniform},
    };
    reject(mutants, sizeof mutants / sizeof *mutants);
}

static void each_broken_variant_of_two_digits_is_rejected(void **state)
{
    (void)state;
    static const mutant mutants[] = {
        {"-0 kept", BRUME_DISCRETE_LAPLACE, 10, negative_zero_is_kept},
        {"no halving", BRUME_ROUNDED_LAPLACE, 10, no_halving},
        {"low digit decided differently by MPFR", BRUME_GEOMETRIC, 13.7,
         mpfr_weighs_the_low_digit_otherwise},
        {"unweighted low digit", BRUME_DISCRETE_LAPLACE, 40, the_low_digit_has_no_weight},
    };
    reject(mutants, sizeof mutants / sizeof *mutants);
}

/* The parts that decide nothing by themselves: no certain answer may differ from that of the whole
 * cell, for any word and any tier. */
static void a_certain_answer_holds_on_its_whole_cell(void **state)
{
    (void)state;
    for (brume_inversion_kind kind = BRUME_GEOMETRIC; kind <= BRUME_ROUNDED_LAPLACE; kind++)
        for (size_t i = 0; i < sizeof small_scales / sizeof *small_scales; i++) {
            brume_inversion *law = open_law(kind, small_scales[i]);
            size_t certain1 = 0, certain2 = 0;
            for (uint64_t u = 0; u >> BRUME_PREFIX == 0; u++) {
                uint64_t word = u << (64 - BRUME_PREFIX), open = 0;
                int64_t exact = -1, second = -2, first = brume_tier1(word, &law->tier1, &open);
                brume_lazy cell;
                brume_lazy_open(&cell, u, BRUME_PREFIX);
                bool decided = brume_inversion_decide(kind, &law->scale, &cell, &exact);
                brume_lazy_close(&cell);
                if (open >> 63 == 0) {
                    assert_true(decided && first == exact);
                    certain1++;
                }
                if (brume_tier2(word, &law->tier2, &second)) {
                    assert_true(decided && second == exact);
                    certain2++;
                }
            }
            assert_holds(certain1 > 100 && certain2 > certain1);
            brume_noise_close(&law->noise);
        }
}

int main(void)
{
    /* Two digits need more words: shorter ones. */
    const struct CMUnitTest one_digit[] = {
        cmocka_unit_test(every_tape_meets_the_law_at_scales_of_one_digit),
        cmocka_unit_test(a_ratio_has_the_law_of_its_quotient),
        cmocka_unit_test(each_broken_variant_is_rejected),
        cmocka_unit_test(a_certain_answer_holds_on_its_whole_cell),
    };
    const struct CMUnitTest two_digits[] = {
        cmocka_unit_test(every_attempt_meets_the_law_at_scales_of_two_digits),
        cmocka_unit_test(each_broken_variant_of_two_digits_is_rejected),
    };
    return BRUME_WORD_BITS > 6
               ? cmocka_run_group_tests_name("inversion, one digit", one_digit, NULL, NULL)
               : cmocka_run_group_tests_name("inversion, two digits", two_digits, NULL, NULL);
}
