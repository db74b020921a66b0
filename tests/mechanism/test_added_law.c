/* The law of every function that adds noise to integers (brume_*_add), against its masses.
 *
 * Laplace noise comes from one word: the words that give a magnitude of k or more are counted by
 * bisection, and are as many as the law says, to one or two of 2^63. Gaussian noise is drawn word
 * by word as by the sampler, whose law the tests of sample/ find on all tapes. And all four are
 * held against their masses, drawn. */
#include "check.h"

#include <mpfr.h>
#include <stdlib.h>

#include <brume/noise/gaussian.h>
#include <brume/noise/laplace.h>
#include <brume/noise/noise.h>

#include "chance.h"
#include "random/tape.h"

static brume_error error;

typedef brume_status add_function(brume_bits *, double, const int64_t *, int64_t *, size_t,
                                  brume_error *);
typedef brume_status open_function(double, brume_noise **, brume_error *);

/* ---- Laplace, by words ---- */

/* What a word with this sign and these 63 bits adds to 1000; where they do not decide, the upper
 * end of the numbers that begin with them does. */
static int64_t added(add_function *add, brume_bits *tape, double scale, uint64_t prefix, int sign)
{
    const uint64_t word = prefix << 1 | (unsigned)sign, ones[] = {UINT64_MAX, UINT64_MAX};
    int64_t value = 1000;
    assert_true(brume_tape_write(tape, &word, 1, ones, 2));
    assert_ok(add(tape, scale, &value, &value, 1, &error));
    return value - 1000;
}

/* How many of the 2^63 prefixes have magnitude k or more; k >= 1. */
static uint64_t reaching(add_function *add, brume_bits *tape, double scale, int sign, int64_t k)
{
    uint64_t least = 0, most = (UINT64_C(1) << 63) - 1;
    while (most - least > 1) {
        uint64_t middle = least + (most - least) / 2;
        int64_t found = added(add, tape, scale, middle, sign);
        if ((sign ? -found : found) >= k)
            least = middle;
        else
            most = middle;
    }
    return most;
}

/* P[magnitude >= k]: 2 a^k/(1+a) of integer noise, a = exp(-1/scale); continuous noise is rounded,
 * so that it reaches k from k - 1/2 on. */
static void tail(mpfr_t out, bool integers, double scale, int64_t k)
{
    mpfr_t a;
    mpfr_init2(a, 200);
    mpfr_set_d(out, integers ? -(double)k : .5 - (double)k, MPFR_RNDN);
    mpfr_div_d(out, out, scale, MPFR_RNDN);
    mpfr_exp(out, out, MPFR_RNDN);
    if (integers) {
        mpfr_set_d(a, -1, MPFR_RNDN);
        mpfr_div_d(a, a, scale, MPFR_RNDN);
        mpfr_exp(a, a, MPFR_RNDN);
        mpfr_add_ui(a, a, 1, MPFR_RNDN);
        mpfr_div(out, out, a, MPFR_RNDN);
        mpfr_mul_2ui(out, out, 1, MPFR_RNDN);
    }
    mpfr_clear(a);
}

/* Rejects: noise computed in floating point from a uniform double (its masses are off by 2^-53, and
 * no draw is beyond 53 ln 2 scales), another scale, another grid. */
static void laplace_noise_has_its_masses_to_the_last_bit_of_a_word(void **state)
{
    (void)state;
    static const double scales[] = {.3, 1, 2.5, 17.125, 1000.7};
    static const double steps[] = {0, 1, 2, 5, 12, 25, 36}; /* magnitudes, in scales */
    add_function *const functions[] = {brume_discrete_laplace_add, brume_laplace_add};
    mpfr_t exact;
    mpfr_init2(exact, 200);
    brume_bits *tape = brume_tape_open(NULL, 0, NULL, 0);
    for (int f = 0; f < 2; f++)
        for (size_t s = 0; s < 5; s++)
            for (size_t i = 0; i < 7; i++)
                for (int sign = 0; sign < 2; sign++) {
                    int64_t k = 1 + (int64_t)(steps[i] * scales[s]);
                    tail(exact, f == 0, scales[s], k);
                    mpfr_mul_2ui(exact, exact, 63, MPFR_RNDN);
                    uint64_t count = reaching(functions[f], tape, scales[s], sign, k);
                    mpfr_sub_ui(exact, exact, count, MPFR_RNDN);
                    if (fabs(mpfr_get_d(exact, MPFR_RNDN)) > 2)
                        fail_msg("function %d, scale %g: %.3g words too few reach %lld", f,
                                 scales[s], mpfr_get_d(exact, MPFR_RNDN), (long long)k);
                }
    brume_bits_close(tape);
    mpfr_clear(exact);
}

/* ---- all of them, draw by draw ---- */

static const struct {
    add_function *add;
    open_function *open;
} laws[] = {{brume_discrete_laplace_add, brume_noise_open_discrete_laplace},
            {brume_laplace_add, brume_noise_open_rounded_laplace},
            {brume_discrete_gaussian_add, brume_noise_open_discrete_gaussian},
            {brume_gaussian_add, brume_noise_open_rounded_gaussian}};

/* Rejects: any other noise than the sampler's, at any scale; a draw that is used twice. */
static void what_is_added_is_the_samplers_noise(void **state)
{
    (void)state;
    enum { N = 700 }; /* more than a block */
    static const double scales[] = {.2, 1, 37.5, 1e6, 1e9, 0x1p40, 0x1p50};
    for (size_t l = 0; l < 4; l++)
        for (size_t s = 0; s < 7; s++) {
            brume_bits *one = brume_tape_open_seeded(s), *other = brume_tape_open_seeded(s);
            int64_t values[N], out[N], draws[N];
            brume_noise *noise = NULL;
            for (int i = 0; i < N; i++)
                values[i] = 3 * i - 1000;
            assert_ok(laws[l].open(scales[s], &noise, &error));
            assert_ok(brume_noise_fill(noise, other, draws, N, &error));
            assert_ok(laws[l].add(one, scales[s], values, out, N, &error));
            for (int i = 0; i < N; i++)
                assert_true(out[i] == values[i] + draws[i]);
            /* brume_noise_add of the same noise: the next draws of the tape */
            assert_ok(brume_noise_fill(noise, other, draws, N, &error));
            assert_ok(brume_noise_add(noise, one, values, out, N, &error));
            for (int i = 0; i < N; i++)
                assert_true(out[i] == values[i] + draws[i]);
            brume_noise_close(noise);
            brume_bits_close(one);
            brume_bits_close(other);
        }
}

/* P[noise = k] of law l. */
static double mass(size_t l, double scale, int64_t k)
{
    double x = fabs((double)k), a = exp(-1 / scale), sum = 1;
    switch (l) {
    case 0:
        return (1 - a) / (1 + a) * exp(-x / scale);
    case 1:
        return k == 0 ? -expm1(-.5 / scale) : exp(-x / scale) * sinh(.5 / scale);
    case 2:
        for (int i = 1; i < 20 * scale + 20; i++)
            sum += 2 * exp(-i * i / (2 * scale * scale));
        return exp(-x * x / (2 * scale * scale)) / sum;
    default:
        return (erfc((x - .5) / (scale * sqrt(2))) - erfc((x + .5) / (scale * sqrt(2)))) / 2;
    }
}

static bool meets(const int64_t *draws, size_t n, size_t l, double scale, double alarm)
{
    enum { REACH = 12 };
    uint64_t counts[2 * REACH + 1] = {0};
    for (size_t i = 0; i < n; i++)
        if (draws[i] >= -REACH && draws[i] <= REACH)
            counts[draws[i] + REACH]++;
    for (int k = -REACH; k <= REACH; k++) {
        double p = mass(l, scale, k);
        if (!binomial_plausible(n, counts[k + REACH], p * (1 - 1e-9), p * (1 + 1e-9),
                                alarm / (2 * REACH + 1)))
            return false;
    }
    return true;
}

/* Rejects: a scale that is off by an eighth. */
static void every_function_that_adds_noise_has_its_masses(void **state)
{
    (void)state;
    enum { N = 50000 };
    static const double scales[] = {.7, 3};
    int64_t *zeros = calloc(N, sizeof *zeros), *draws = malloc(N * sizeof *draws);
    double alarm = false_alarm_share(false_alarm_added_masses) / 8;
    for (size_t l = 0; l < 4; l++)
        for (size_t s = 0; s < 2; s++) {
            brume_bits *bits = brume_tape_open_seeded(500 + 10 * l + s);
            assert_ok(laws[l].add(bits, scales[s], zeros, draws, N, &error));
            assert_true(meets(draws, N, l, scales[s], alarm));
            assert_false(meets(draws, N, l, scales[s] * 1.125, alarm));
            assert_false(meets(draws, N, l, scales[s] / 1.125, alarm));
            brume_bits_close(bits);
        }
    free(zeros);
    free(draws);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laplace_noise_has_its_masses_to_the_last_bit_of_a_word),
        cmocka_unit_test(what_is_added_is_the_samplers_noise),
        cmocka_unit_test(every_function_that_adds_noise_has_its_masses),
    };
    return cmocka_run_group_tests_name("added_law", tests, NULL, NULL);
}
