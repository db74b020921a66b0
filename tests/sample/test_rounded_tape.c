/* The rounded Gaussian over every tape: 4 layers, words of 10 and 4 bits, up to 4 words. */
#define ZIGGURAT_TABLE                    "sample/ziggurat_small_table.h"
#define ZIGGURAT_LAYER_BITS               2
#define ZIGGURAT_GAP_BITS                 0
#define ZIGGURAT_PLACE_BITS               7
#define BRUME_WORD_BITS                   4
#define BRUME_PREFIX                      4
#define brume_noise_open_rounded_gaussian small_rounded_open
#include "sample/rounded_gaussian.c"

#include "census.h"

static bool goes_to_tail(const brume_noise *noise, uint64_t word)
{
    (void)noise;
    return (word & LAYER_MASK) == 0 &&
           ziggurat_side(word >> PLACE_SHIFT, ZIGGURAT_PLACE_BITS) == ZIGGURAT_TAIL;
}

/* The law of one attempt: kept with the bell's share of the cover. */
static long double rounded_mass(double sigma, int64_t k)
{
    const long double area = ZIGGURAT_AREA / (long double)(1 << ZIGGURAT_GRID_BITS);
    const long double bell = sqrtl(acosl(-1) / 2) / (ZIGGURAT_LAYERS * area);
    const long double scale = sigma * sqrtl(2);
    return bell * (erfl(((long double)k + 0.5L) / scale) - erfl(((long double)k - 0.5L) / scale)) /
           2;
}

static bool rounded_met(const brume_noise *noise, double sigma, census *c)
{
    return meets_law(noise, sigma, sigma * ZIGGURAT_EDGE - 0.5, rounded_mass, c);
}

static void every_tape_gives_the_stated_law(void **state)
{
    (void)state;
    static const double sigmas[] = {0.1, 0.9, 2.3, 7.7};
    static census c;
    brume_error error;
    for (size_t i = 0; i < sizeof sigmas / sizeof *sigmas; i++) {
        brume_noise *noise;
        assert_ok(brume_noise_open_rounded_gaussian(sigmas[i], &noise, &error));
        bool met = rounded_met(noise, sigmas[i], &c);
        if (!met || c.filtered < 100 || c.open > 0.02)
            fail_msg("sigma %g: filtered %ld, wrong %ld, open %g, tail %g", sigmas[i], c.filtered,
                     c.wrong, c.open, c.open_tail);
        brume_noise_close(noise);
    }
}

static void mutants_are_caught(void **state)
{
    (void)state;
    static census c;
    brume_error error;
    brume_noise *noise;
    assert_ok(brume_noise_open_rounded_gaussian(2.3, &noise, &error));
    rounded_noise *z = (rounded_noise *)noise;
    assert_false(rounded_met(noise, 2.3 * 1.1, &c)); /* another sigma */
    double certain = z->certain;
    z->certain = 0.5; /* no margin at half-integers */
    assert_false(rounded_met(noise, 2.3, &c));
    z->certain = certain;
    for (int i = 0; i < ZIGGURAT_LAYERS; i++)
        z->inside[i] += 1; /* one place too many kept unseen */
    assert_false(rounded_met(noise, 2.3, &c));
    assert_holds(c.wrong > 0);
    brume_noise_close(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tape_gives_the_stated_law),
        cmocka_unit_test(mutants_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
