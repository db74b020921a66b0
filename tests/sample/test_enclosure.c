/* What the deepest tier of the samplers goes by: every enclosure holds its number, at any
 * precision.
 *
 * The samplers work with 96 bits to spare, where a bound that is rounded the wrong way decides one
 * draw in 2^96 wrongly and no census finds it. Here the same code works with few bits, and each
 * bound is compared with the number itself, computed with many more. */
#define BRUME_LAZY_GUARD_BITS 2
#include "sample/coin.c"
#include "sample/inversion.c"
#include "sample/lazy.c"
#include "sample/scale.c"

#include "check.h"

#include "random/tape.h"

enum { TRIALS = 6000, TRUTH = 600 };

static uint64_t state_of_draws = 1;

static uint64_t below(uint64_t n)
{
    return brume_tape_splitmix(&state_of_draws) % n;
}

/* Scales from 2^-3 to 2^20, some of them ratios that no double is. */
static brume_scale some_scale(void)
{
    uint64_t num = brume_tape_splitmix(&state_of_draws) >> below(20) | 1;
    if (below(2))
        return brume_scale_of_double((double)num / 0x1p44 + 0x1p-3);
    uint64_t den = (num >> below(20)) + 1 + below(1000);
    return brume_scale_of_ratio(num, den);
}

/* v := the scale, nearly exactly. */
static void true_scale(mpfr_t v, const brume_scale *scale)
{
    mpfr_set_ui(v, scale->num, MPFR_RNDN);
    mpfr_div_ui(v, v, scale->den, MPFR_RNDN);
    mpfr_mul_2si(v, v, scale->exponent, MPFR_RNDN);
}

/* v := (1 + exp(-1/scale)) / 2, nearly exactly. */
static void true_half(mpfr_t v, const brume_scale *scale)
{
    true_scale(v, scale);
    mpfr_si_div(v, -1, v, MPFR_RNDN);
    mpfr_exp(v, v, MPFR_RNDN);
    mpfr_add_ui(v, v, 1, MPFR_RNDN);
    mpfr_div_2ui(v, v, 1, MPFR_RNDN);
}

typedef struct trial {
    mpfr_t lower, upper, truth;
} trial;

static void open_trial(trial *t, mpfr_prec_t precision)
{
    mpfr_inits2(precision, t->lower, t->upper, (mpfr_ptr)NULL);
    mpfr_init2(t->truth, TRUTH);
}

static void close_trial(trial *t)
{
    mpfr_clears(t->lower, t->upper, t->truth, (mpfr_ptr)NULL);
}

/* lower <= truth <= upper, and no further apart than a few units in the last place of `size`. */
static void assert_encloses(const trial *t, double size)
{
    assert_true(mpfr_lessequal_p(t->lower, t->truth));
    assert_true(mpfr_lessequal_p(t->truth, t->upper));
    double width = mpfr_get_d(t->upper, MPFR_RNDU) - mpfr_get_d(t->lower, MPFR_RNDD);
    assert_holds(width <= 64 * size * ldexp(1, -(int)mpfr_get_prec(t->lower)) + 0x1p-45 * size);
}

static void products_and_inverses_of_scales_are_rounded_as_asked(void **state)
{
    (void)state;
    for (int i = 0; i < TRIALS; i++) {
        brume_scale scale = some_scale();
        trial t;
        open_trial(&t, 8 + (mpfr_prec_t)below(60));
        brume_scale_inverse(t.lower, &scale, MPFR_RNDD);
        brume_scale_inverse(t.upper, &scale, MPFR_RNDU);
        true_scale(t.truth, &scale);
        mpfr_ui_div(t.truth, 1, t.truth, MPFR_RNDN);
        assert_encloses(&t, mpfr_get_d(t.truth, MPFR_RNDN));
        mpfr_set_ui(t.lower, 1 + below(200), MPFR_RNDD);
        mpfr_set(t.upper, t.lower, MPFR_RNDN);
        true_scale(t.truth, &scale);
        mpfr_mul(t.truth, t.truth, t.lower, MPFR_RNDN);
        brume_scale_multiply(t.lower, &scale, MPFR_RNDD);
        brume_scale_multiply(t.upper, &scale, MPFR_RNDU);
        assert_encloses(&t, mpfr_get_d(t.truth, MPFR_RNDN));
        half_one_plus_q(t.lower, &scale, MPFR_RNDD);
        half_one_plus_q(t.upper, &scale, MPFR_RNDU);
        true_half(t.truth, &scale);
        assert_encloses(&t, 8); /* exp(-8), from 8 */
        close_trial(&t);
    }
}

static void enclosures_hold_their_numbers(void **state)
{
    (void)state;
    for (int i = 0; i < TRIALS; i++) {
        brume_scale scale = some_scale();
        trial t;
        open_trial(&t, 8 + (mpfr_prec_t)below(60));
        /* the weight of a low digit */
        low_digit low = {&scale, (uint64_t)(20 * scale.nearest * (double)(1 + below(100)) / 100)};
        enclose_low_weight(&low, t.lower, t.upper);
        true_scale(t.truth, &scale);
        mpfr_ui_div(t.truth, low.digit, t.truth, MPFR_RNDN);
        mpfr_neg(t.truth, t.truth, MPFR_RNDN);
        mpfr_exp(t.truth, t.truth, MPFR_RNDN);
        assert_encloses(&t, 20 * mpfr_get_d(t.truth, MPFR_RNDU));
        /* the offset of the discrete Laplace */
        offset_of of = {&scale, below(2) ? -0.5 : 0};
        enclose_offset(&of, t.lower, t.upper);
        true_half(t.truth, &scale);
        mpfr_log(t.truth, t.truth, MPFR_RNDN);
        mpfr_t exact;
        mpfr_init2(exact, TRUTH);
        true_scale(exact, &scale);
        mpfr_mul(t.truth, t.truth, exact, MPFR_RNDN);
        mpfr_clear(exact);
        mpfr_neg(t.truth, t.truth, MPFR_RNDN);
        mpfr_add_d(t.truth, t.truth, of.plus, MPFR_RNDN);
        assert_encloses(&t, 8 + 8 * scale.nearest);
        close_trial(&t);
        /* the coin of a real, whose precision holds every double */
        double x = 30 * (double)below(UINT64_C(1) << 53) / 0x1p53;
        open_trial(&t, 54 + (mpfr_prec_t)below(60));
        enclose_exp_neg(&x, t.lower, t.upper);
        mpfr_set_d(t.truth, -x, MPFR_RNDN);
        mpfr_exp(t.truth, t.truth, MPFR_RNDN);
        assert_encloses(&t, mpfr_get_d(t.truth, MPFR_RNDU));
        close_trial(&t);
    }
}

/* The bounds of a cell of 64 bits, computed with a precision of few bits. */
static void ends_of_cells_are_rounded_outwards(void **state)
{
    (void)state;
    for (int i = 0; i < TRIALS; i++) {
        uint64_t prefix = brume_tape_splitmix(&state_of_draws);
        brume_lazy lazy;
        trial t;
        brume_lazy_open(&lazy, prefix, 64);
        open_trial(&t, 8 + (mpfr_prec_t)below(60));
        brume_lazy_lower(&lazy, t.lower);
        brume_lazy_upper(&lazy, t.upper);
        mpfr_set_ui(t.truth, prefix, MPFR_RNDN);
        mpfr_div_2ui(t.truth, t.truth, 64, MPFR_RNDN);
        assert_encloses(&t, 1);
        mpfr_set_ui(t.truth, prefix, MPFR_RNDN);
        mpfr_add_ui(t.truth, t.truth, 1, MPFR_RNDN);
        mpfr_div_2ui(t.truth, t.truth, 64, MPFR_RNDN);
        assert_encloses(&t, 1);
        brume_lazy_close(&lazy);
        close_trial(&t);
    }
}

/* least <= floor(T) <= most, T computed with many bits from the same end of a cell. */
/* The magnitude that the uniform `u` draws; u is used up. */
static int64_t true_draw(brume_inversion_kind kind, const brume_scale *scale, mpfr_t u)
{
    mpfr_t factor;
    mpfr_init2(factor, TRUTH);
    if (kind == BRUME_DISCRETE_LAPLACE) {
        true_half(factor, scale);
        mpfr_mul(u, u, factor, MPFR_RNDN);
    }
    mpfr_log(u, u, MPFR_RNDN);
    mpfr_neg(u, u, MPFR_RNDN);
    true_scale(factor, scale);
    mpfr_mul(u, u, factor, MPFR_RNDN);
    if (kind == BRUME_ROUNDED_LAPLACE)
        mpfr_add_d(u, u, 0.5, MPFR_RNDN);
    mpfr_clear(factor);
    return (int64_t)mpfr_get_sj(u, MPFR_RNDD);
}

static void bounds_of_draws_hold_the_draw(void **state)
{
    (void)state;
    int apart = 0;
    for (int i = 0; i < 3 * TRIALS; i++) {
        brume_inversion_kind kind = (brume_inversion_kind)(i % 3);
        brume_scale scale = some_scale();
        trial t;
        open_trial(&t, 8 + (mpfr_prec_t)below(30));
        mpfr_set_ui(t.lower, 1 + below(255), MPFR_RNDN); /* exact: 8 bits */
        mpfr_div_2ui(t.lower, t.lower, 8, MPFR_RNDN);
        mpfr_set(t.upper, t.lower, MPFR_RNDN);
        mpfr_set(t.truth, t.lower, MPFR_RNDN);
        int64_t drawn = true_draw(kind, &scale, t.truth);
        int64_t least = floor_of_bound(kind, &scale, t.lower, MPFR_RNDD);
        int64_t most = floor_of_bound(kind, &scale, t.upper, MPFR_RNDU);
        assert_true(least <= drawn && drawn <= most);
        apart += least < most;
        close_trial(&t);
    }
    assert_true(apart > TRIALS / 4); /* rounding matters in many */
}

/* What a cell of few bits decides holds at both of its ends. */
static void what_a_cell_decides_holds_at_both_ends(void **state)
{
    (void)state;
    int decided = 0, open = 0;
    for (int i = 0; i < 3 * TRIALS; i++) {
        brume_inversion_kind kind = (brume_inversion_kind)(i % 3);
        brume_scale scale = some_scale();
        unsigned bits = 3 + (unsigned)below(20);
        uint64_t prefix = 1 + below((UINT64_C(1) << bits) - 1);
        brume_lazy lazy;
        int64_t magnitude = -1;
        brume_lazy_open(&lazy, prefix, bits);
        bool known = brume_inversion_decide(kind, &scale, &lazy, &magnitude);
        brume_lazy_close(&lazy);
        decided += known;
        open += !known;
        mpfr_t end;
        mpfr_init2(end, TRUTH);
        for (uint64_t upper = 0; known && upper <= 1; upper++) {
            mpfr_set_ui(end, prefix + upper, MPFR_RNDN);
            mpfr_div_2ui(end, end, bits, MPFR_RNDN);
            int64_t drawn = true_draw(kind, &scale, end);
            assert_true(drawn == magnitude || (upper && drawn < 0 && magnitude == 0));
        }
        mpfr_clear(end);
    }
    assert_true(decided > TRIALS / 4 && open > TRIALS / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_and_inverses_of_scales_are_rounded_as_asked),
        cmocka_unit_test(enclosures_hold_their_numbers),
        cmocka_unit_test(ends_of_cells_are_rounded_outwards),
        cmocka_unit_test(bounds_of_draws_hold_the_draw),
        cmocka_unit_test(what_a_cell_decides_holds_at_both_ends),
    };
    return cmocka_run_group_tests_name("enclosures", tests, NULL, NULL);
}
