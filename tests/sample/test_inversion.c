/* Geometric, discrete Laplace and rounded Laplace at full word size: tiers agree with MPFR on the
 * same bits, forced refinement changes nothing, single draws, batches, block borders and
 * instruction sets give the same values from the same words, and bad input is refused. */
#include "check.h"

#include <fenv.h>
#include <stdlib.h>

#include <brume/noise/noise.h>

#include "random/tape.h"
#include "sample/inversion.h"

static const brume_inversion_kind kinds[] = {BRUME_GEOMETRIC, BRUME_DISCRETE_LAPLACE,
                                             BRUME_ROUNDED_LAPLACE};

static brume_inversion *open_law(brume_inversion_kind kind, double scale)
{
    brume_error error;
    brume_noise *noise = NULL;
    assert_ok(brume_inversion_open(kind, brume_scale_of_double(scale), &noise, &error));
    return (brume_inversion *)noise;
}

/* The uniform at which T = k: where tiers are most tempted. */
static double boundary(brume_inversion_kind kind, double scale, double k)
{
    switch (kind) {
    case BRUME_GEOMETRIC:
        return exp(-k / scale);
    case BRUME_DISCRETE_LAPLACE:
        return 2 * exp(-k / scale) / (1 + exp(-1 / scale));
    default:
        return exp(-(k - 0.5) / scale);
    }
}

/* Plain words, small uniforms, uniforms near 1, and words around a boundary. */
static uint64_t tempting_word(brume_inversion_kind kind, double scale, unsigned i, uint64_t *state)
{
    uint64_t word = brume_tape_splitmix(state);
    if (i < 8)
        return i * 1024;
    switch (i % 4) {
    case 1:
        return word >> (i / 4 % 64);
    case 2:
        return word | ~UINT64_C(0) << (63 - i / 4 % 50);
    case 3: {
        double k = floor(-scale * log((double)(word >> 11) * 0x1p-53 + 0x1p-54));
        double uniform = boundary(kind, scale, k > 0 ? k : 1);
        if (!(uniform < 1) || !(uniform > 0))
            return word;
        int64_t away = (int64_t)(brume_tape_splitmix(state) % 4096) - 2048;
        return (uint64_t)(uniform * 0x1p64) + (uint64_t)away * (UINT64_C(1) << (i / 4 % 40));
    }
    default:
        return word;
    }
}

/* A certain answer of tier 1 or 2 is that of the whole cell of the 52 bits it has seen. Returns the
 * number of wrong ones. */
static size_t wrong_answers(const brume_inversion *law, unsigned words, uint64_t seed)
{
    size_t wrong = 0;
    for (unsigned i = 0; i < words; i++) {
        uint64_t word = tempting_word(law->kind, law->scale.nearest, i, &seed), open = 0;
        int64_t exact = -1, second = -1, first = brume_tier1(word, &law->tier1, &open);
        brume_lazy cell;
        brume_lazy_open(&cell, word >> 12, 52);
        bool decided = brume_inversion_decide(law->kind, &law->scale, &cell, &exact);
        brume_lazy_close(&cell);
        int64_t with_sign = word & law->tier1.sign ? -exact : exact;
        wrong += open >> 63 == 0 && (!decided || first != with_sign);
        wrong += brume_tier2(word, &law->tier2, &second) && (!decided || second != exact);
    }
    return wrong;
}

static void certain_answers_are_those_of_mpfr_on_tempting_words(void **state)
{
    (void)state;
    const double scales[] = {0x1p-1070, 1e-300, 1e-3, 0.02, 0.03,      0.1,    0.4,
                             1,         3.3,    10,   1000, 12345.678, 0x1p19, 0x1p20};
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
            brume_inversion *law = open_law(kinds[k], scales[i]);
            assert_int_equal(wrong_answers(law, 1500, i), 0);
            brume_noise_close(&law->noise);
        }
}

static void certain_answers_of_ratios_are_those_of_mpfr(void **state)
{
    (void)state;
    brume_error error;
    const uint64_t ratios[][2] = {
        {1, 3}, {22, 7}, {UINT64_MAX, UINT64_MAX - 1}, {UINT64_MAX, (UINT64_C(1) << 45) - 1}};
    for (size_t i = 0; i < 4; i++) {
        brume_noise *noise = NULL;
        brume_scale scale = brume_scale_of_ratio(ratios[i][0], ratios[i][1]);
        assert_ok(brume_inversion_open(BRUME_DISCRETE_LAPLACE, scale, &noise, &error));
        assert_int_equal(wrong_answers((brume_inversion *)noise, 2000, i), 0);
        brume_noise_close(noise);
    }
}

static void too_small_a_margin_is_caught_on_tempting_words(void **state)
{
    (void)state;
    brume_inversion *law = open_law(BRUME_DISCRETE_LAPLACE, 1000);
    assert_int_equal(wrong_answers(law, 20000, 1), 0);
    law->tier1.limit = 0.5 - (0.5 - law->tier1.limit) / 64;
    assert_holds(wrong_answers(law, 20000, 1) > 0);
    brume_noise_close(&law->noise);
    law = open_law(BRUME_DISCRETE_LAPLACE, 1000);
    law->tier2.cell /= 16;
    assert_holds(wrong_answers(law, 20000, 1) > 0);
    brume_noise_close(&law->noise);
}

enum { MANY = 30000 };

typedef struct drawn {
    int64_t values[MANY];
    size_t main_read, more_read;
} drawn;

/* MANY draws from the seeded tape: in batches of `batch` (0: singly), the tape offering at most
 * `offered` words at a time. */
static void draw_many(const brume_noise *noise, size_t batch, size_t offered, drawn *out)
{
    brume_error error;
    brume_bits *tape = brume_tape_open_seeded(42);
    brume_tape_limit(tape, offered);
    for (size_t done = 0; done < MANY;) {
        size_t count = batch == 0 ? 1 : batch < MANY - done ? batch : MANY - done;
        if (batch == 0)
            assert_ok(brume_noise_draw(noise, tape, out->values + done, &error));
        else
            assert_ok(brume_noise_fill(noise, tape, out->values + done, count, &error));
        done += count;
    }
    out->main_read = brume_tape_main_read(tape);
    out->more_read = brume_tape_more_read(tape);
    brume_bits_close(tape);
}

static void assert_same(const drawn *a, const drawn *b)
{
    for (size_t i = 0; i < MANY; i++)
        if (a->values[i] != b->values[i])
            fail_msg("draw %zu differs", i);
    assert_int_equal(a->main_read, b->main_read);
    assert_int_equal(a->more_read, b->more_read);
}

static drawn reference, other;

static void single_draws_batches_borders_and_paths_give_the_same_values(void **state)
{
    (void)state;
    const double scales[] = {0.05, 10, 0x1p20, 0x1p23, 0x1.8p40, 0x1p50};
    const size_t batches[] = {1, 7, 64, 256, 1000, MANY}, offers[] = {1, 3, 129, 2048};
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < 6; i++) {
            brume_inversion *law = open_law(kinds[k], scales[i]);
            draw_many(&law->noise, 0, 2048, &reference);
            for (const brume_inversion_path *path = brume_inversion_paths(); path->name; path++) {
                if (!path->usable)
                    continue;
                law->block = path->block;
                for (size_t b = 0; b < 6; b++) {
                    draw_many(&law->noise, batches[b], offers[(b + i) % 4], &other);
                    assert_same(&reference, &other);
                }
            }
            brume_noise_close(&law->noise);
        }
}

static void forced_refinement_changes_no_value(void **state)
{
    (void)state;
    const double scales[] = {0.05, 0.4, 10, 12345.6, 0x1p20, 0x1p40};
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < 6; i++) {
            brume_inversion *law = open_law(kinds[k], scales[i]);
            draw_many(&law->noise, 0, 2048, &reference);
            law->tier1.limit = -1; /* tier 1 never certain */
            draw_many(&law->noise, 1000, 2048, &other);
            assert_same(&reference, &other);
            law->tier2.rounding *= 0x1p26; /* tier 2 rarely */
            law->tier2.cell *= 0x1p26;
            draw_many(&law->noise, 1000, 2048, &other);
            assert_memory_equal(reference.values, other.values, sizeof reference.values);
            brume_noise_close(&law->noise);
        }
}

static void every_rounding_mode_gives_the_same_values(void **state)
{
    (void)state;
    const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    const double scales[] = {0.05, 10, 0x1p20, 0x1p40};
    brume_error error;
    enum { N = 1000 };
    static int64_t here[N];
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < 4; i++) {
            brume_inversion *law = open_law(kinds[k], scales[i]);
            draw_many(&law->noise, 0, 2048, &reference);
            for (size_t m = 0; m < 3; m++) {
                brume_bits *tape = brume_tape_open_seeded(42);
                fesetround(modes[m]);
                brume_status status = brume_noise_fill(&law->noise, tape, here, N / 2, &error);
                for (size_t j = N / 2; status == BRUME_OK && j < N; j++)
                    status = brume_noise_draw(&law->noise, tape, here + j, &error);
                fesetround(FE_TONEAREST);
                assert_ok(status);
                assert_memory_equal(here, reference.values, sizeof here);
                brume_bits_close(tape);
            }
            brume_noise_close(&law->noise);
        }
}

static void every_word_through_mpfr_gives_the_same_values(void **state)
{
    (void)state;
    brume_error error;
    static int64_t fast[2000], slow[2000];
    for (size_t k = 0; k < 3; k++) {
        brume_inversion *law = open_law(kinds[k], 17.25);
        brume_bits *tape = brume_tape_open_seeded(7);
        assert_ok(brume_noise_fill(&law->noise, tape, fast, 2000, &error));
        brume_bits_close(tape);
        law->tier1.limit = -1;
        law->tier2.least = 2; /* above every uniform */
        tape = brume_tape_open_seeded(7);
        assert_ok(brume_noise_fill(&law->noise, tape, slow, 2000, &error));
        brume_bits_close(tape);
        assert_memory_equal(fast, slow, sizeof fast);
        brume_noise_close(&law->noise);
    }
}

/* Words whose low digit is not kept for certain, at every width of that digit. In another rounding
 * mode than to nearest MPFR weighs it: the doubles must agree. */
static void rare_low_digits_are_weighed_as_mpfr_does(void **state)
{
    (void)state;
    enum { WORDS = 300 };
    uint64_t seed = 5;
    for (int low_bits = 1; low_bits <= 36; low_bits++) {
        brume_inversion *law = open_law(BRUME_GEOMETRIC, ldexp(0.7, 20 + low_bits));
        int uniform_bits = 64 - low_bits, kept = 0;
        assert_int_equal(law->low_bits, low_bits);
        for (int i = 0; i < WORDS; i++) {
            uint64_t words[2] = {brume_tape_splitmix(&seed) >> 1, brume_tape_splitmix(&seed)};
            const uint64_t more[2] = {brume_tape_splitmix(&seed), brume_tape_splitmix(&seed)};
            uint64_t rare = ((UINT64_C(1) << 19) - 1) << (uniform_bits - 19);
            words[1] |= rare;
            if (i % 3 == 0) /* near the weight of the digit: 1 - z + z^2/2 */
                words[1] -= (uint64_t)(ldexp((double)(words[1] >> uniform_bits), uniform_bits) /
                                       law->whole.nearest) -
                            (words[1] & 15);
            brume_bits *tape = brume_tape_open(words, 2, more, 2);
            int64_t here = -1, there = -1;
            brume_status nearest = brume_noise_draw(&law->noise, tape, &here, NULL);
            brume_tape_rewind(tape);
            fesetround(FE_UPWARD);
            brume_status upward = brume_noise_draw(&law->noise, tape, &there, NULL);
            fesetround(FE_TONEAREST);
            assert_int_equal(nearest, upward);
            assert_true(here == there);
            kept += nearest == BRUME_OK;
            brume_bits_close(tape);
        }
        assert_holds(kept > WORDS / 10 && kept < WORDS);
        brume_noise_close(&law->noise);
    }
}

static void the_certified_constants_are_the_nearest_doubles(void **state)
{
    (void)state;
    const double scales[] = {1e-300, 1e-3, 0.3, 1, 10, 12345.678, 0x1p20};
    mpfr_t v;
    mpfr_init2(v, 1000);
    for (size_t i = 0; i < 7; i++) {
        brume_inversion *law = open_law(BRUME_DISCRETE_LAPLACE, scales[i]);
        /* another route: s ln(2/(1+q)) = -s log1p((q - 1)/2) */
        mpfr_set_d(v, scales[i], MPFR_RNDN);
        mpfr_ui_div(v, 1, v, MPFR_RNDN);
        mpfr_neg(v, v, MPFR_RNDN);
        mpfr_expm1(v, v, MPFR_RNDN);
        mpfr_div_2ui(v, v, 1, MPFR_RNDN);
        mpfr_log1p(v, v, MPFR_RNDN);
        mpfr_mul_d(v, v, -scales[i], MPFR_RNDN);
        assert_true(mpfr_get_d(v, MPFR_RNDN) == law->tier2.offset);
        mpfr_sub_d(v, v, 0.5, MPFR_RNDN);
        assert_true(mpfr_get_d(v, MPFR_RNDN) == law->tier1.shift);
        brume_noise_close(&law->noise);
    }
    mpfr_clear(v);
}

/* A uniform of nearly 200 zero bits: a value that no int64_t holds. */
static void a_value_beyond_the_range_saturates(void **state)
{
    (void)state;
    brume_error error;
    const uint64_t main_words[2] = {1, 0};
    const uint64_t more_words[4] = {0, 0, 1, 0x123456789abcdef0u};
    brume_noise *noise = NULL;
    assert_ok(brume_noise_open_discrete_laplace(0x1p56, &noise, &error));
    brume_bits *tape = brume_tape_open(main_words, 2, more_words, 4);
    int64_t value = 0;
    assert_ok(brume_noise_draw(noise, tape, &value, &error));
    assert_true(value == -INT64_MAX);
    brume_bits_close(tape);
    brume_noise_close(noise);
}

/* At tiny scales nearly every draw is 0, and the support is not cut: enough zero bits give 1. */
static void a_tiny_scale_keeps_its_support(void **state)
{
    (void)state;
    brume_error error;
    const uint64_t zero = 0, one = 1;
    const double scales[] = {0.03, 0.01, 1e-3};
    for (size_t i = 0; i < 3; i++) {
        brume_noise *noise = NULL;
        uint64_t more_words[64] = {0};
        size_t count = (size_t)ceil((1 / scales[i] - 1) / log(2) / 64) + 1;
        more_words[count - 1] = 1;
        assert_ok(brume_noise_open_discrete_laplace(scales[i], &noise, &error));
        brume_bits *tape = brume_tape_open(&zero, 1, more_words, count);
        int64_t value = 0;
        assert_ok(brume_noise_draw(noise, tape, &value, &error));
        assert_holds(value >= 1);
        brume_bits_close(tape);
        tape = brume_tape_open(&one, 1, more_words, count - 1); /* only zeros: cannot be decided */
        value = 5;
        assert_fails(brume_noise_draw(noise, tape, &value, &error), BRUME_ERANDOM);
        assert_true(value == 0);
        brume_bits_close(tape);
        brume_noise_close(noise);
    }
}

static void a_source_that_fails_in_a_batch_leaves_zeros(void **state)
{
    (void)state;
    brume_error error;
    static uint64_t words[1000];
    static int64_t values[2000], sums[2000];
    uint64_t seed = 3;
    for (size_t i = 0; i < 1000; i++)
        words[i] = brume_tape_splitmix(&seed);
    const double scales[] = {10, 0x1p30};
    for (size_t i = 0; i < 2; i++) {
        brume_noise *noise = NULL;
        assert_ok(brume_noise_open_discrete_laplace(scales[i], &noise, &error));
        brume_bits *tape = brume_tape_open(words, 1000, NULL, 0);
        memset(values, 0xff, sizeof values);
        assert_fails(brume_noise_fill(noise, tape, values, 2000, &error), BRUME_ERANDOM);
        for (size_t j = 0; j < 2000; j++)
            assert_true(values[j] == 0);
        brume_tape_rewind(tape);
        for (size_t j = 0; j < 2000; j++)
            values[j] = 1000000;
        assert_fails(brume_noise_add(noise, tape, values, sums, 2000, &error), BRUME_ERANDOM);
        for (size_t j = 0; j < 2000; j++)
            assert_true(sums[j] == 0);
        brume_bits_close(tape);
        brume_noise_close(noise);
    }
}

static void adding_noise_is_a_fill_and_a_saturating_sum(void **state)
{
    (void)state;
    brume_error error;
    enum { N = 3000 };
    static int64_t noise_values[N], values[N];
    brume_noise *noise = NULL;
    assert_ok(brume_noise_open_discrete_laplace(100, &noise, &error));
    brume_bits *tape = brume_tape_open_seeded(9);
    assert_ok(brume_noise_fill(noise, tape, noise_values, N, &error));
    brume_bits_close(tape);
    for (int64_t i = 0; i < N; i++)
        values[i] = i % 3 == 0 ? i : i % 3 == 1 ? INT64_MAX - 20 : INT64_MIN;
    tape = brume_tape_open_seeded(9);
    assert_ok(brume_noise_add(noise, tape, values, values, N, &error)); /* in place */
    for (int64_t i = 0; i < N; i++) {
        int64_t v = noise_values[i], want;
        if (i % 3 == 0)
            want = i + v;
        else if (i % 3 == 1)
            want = v > 20 ? INT64_MAX : INT64_MAX - 20 + v;
        else
            want = v > 1 ? INT64_MIN + v : -INT64_MAX;
        assert_true(values[i] == want);
    }
    brume_bits_close(tape);
    brume_noise_close(noise);
}

static void bad_parameters_are_refused_and_outputs_untouched(void **state)
{
    (void)state;
    brume_error error;
    brume_noise *const untouched = (brume_noise *)(uintptr_t)8;
    brume_noise *noise = untouched;
    const double bad[] = {0, -1, (double)NAN, (double)INFINITY, 0x1.0000000000001p56, 1e300};
    for (size_t i = 0; i < 6; i++) {
        assert_fails(brume_noise_open_discrete_laplace(bad[i], &noise, &error), BRUME_EARGUMENT);
        assert_fails(brume_noise_open_geometric(bad[i], &noise, &error), BRUME_EARGUMENT);
        assert_fails(brume_noise_open_rounded_laplace(bad[i], &noise, &error), BRUME_EARGUMENT);
    }
    assert_fails(brume_noise_open_rounded_laplace(0x1.8p50, &noise, &error), BRUME_EARGUMENT);
    const uint64_t bad_ratio[][2] = {
        {0, 1}, {1, 0}, {(UINT64_C(1) << 56) + 1, 1}, {UINT64_MAX, 255}, {UINT64_MAX, 1}};
    for (size_t i = 0; i < 5; i++) {
        uint64_t num = bad_ratio[i][0], den = bad_ratio[i][1];
        assert_fails(brume_noise_open_discrete_laplace_ratio(num, den, &noise, &error),
                     BRUME_EARGUMENT);
        assert_fails(brume_noise_open_geometric_ratio(num, den, &noise, &error), BRUME_EARGUMENT);
    }
    assert_ptr_equal(noise, untouched);
    assert_fails(brume_noise_open_geometric(1, NULL, &error), BRUME_EARGUMENT);
    assert_fails(brume_noise_open_geometric_ratio(1, 1, NULL, &error), BRUME_EARGUMENT);
    assert_ok(brume_noise_open_geometric_ratio(UINT64_C(1) << 56, 1, &noise, &error));
    brume_noise_close(noise);
    assert_ok(brume_noise_open_geometric_ratio(UINT64_MAX, 256, &noise, &error));
    int64_t value = 77;
    assert_fails(brume_noise_draw(noise, NULL, &value, &error), BRUME_EARGUMENT);
    assert_fails(brume_noise_fill(NULL, NULL, &value, 1, &error), BRUME_EARGUMENT);
    assert_fails(brume_noise_add(noise, NULL, &value, &value, 1, &error), BRUME_EARGUMENT);
    brume_bits *tape = brume_tape_open_seeded(1);
    assert_fails(brume_noise_draw(noise, tape, NULL, &error), BRUME_EARGUMENT);
    assert_ok(brume_noise_fill(noise, tape, NULL, 0, &error));
    assert_ok(brume_noise_add(noise, tape, NULL, NULL, 0, &error));
    assert_true(value == 77);
    assert_int_equal(brume_tape_main_read(tape), 0);
    brume_bits_close(tape);
    brume_noise_close(noise);
    brume_noise_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(certain_answers_are_those_of_mpfr_on_tempting_words),
        cmocka_unit_test(certain_answers_of_ratios_are_those_of_mpfr),
        cmocka_unit_test(too_small_a_margin_is_caught_on_tempting_words),
        cmocka_unit_test(single_draws_batches_borders_and_paths_give_the_same_values),
        cmocka_unit_test(forced_refinement_changes_no_value),
        cmocka_unit_test(every_rounding_mode_gives_the_same_values),
        cmocka_unit_test(every_word_through_mpfr_gives_the_same_values),
        cmocka_unit_test(rare_low_digits_are_weighed_as_mpfr_does),
        cmocka_unit_test(the_certified_constants_are_the_nearest_doubles),
        cmocka_unit_test(a_value_beyond_the_range_saturates),
        cmocka_unit_test(a_tiny_scale_keeps_its_support),
        cmocka_unit_test(a_source_that_fails_in_a_batch_leaves_zeros),
        cmocka_unit_test(adding_noise_is_a_fill_and_a_saturating_sum),
        cmocka_unit_test(bad_parameters_are_refused_and_outputs_untouched),
    };
    return cmocka_run_group_tests_name("inversion", tests, NULL, NULL);
}
