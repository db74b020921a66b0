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

/* ---- the last tier: cells that hold a border are decided by more bits ---- */

enum { FURTHER = 60 };

/* A tape on which every further bit is the same, behind the words that begin it. */
static brume_bits *open_end(bool ones, const uint64_t *begin, size_t count)
{
    uint64_t words[2 * FURTHER];
    for (size_t i = 0; i < 2 * FURTHER; i++)
        words[i] = i < count ? begin[i] << (64 - BRUME_WORD_BITS) : ones ? UINT64_MAX : 0;
    brume_bits *bits = brume_tape_open(words, 0, words, 2 * FURTHER);
    assert_non_null(bits);
    return bits;
}

/* U and V are at the ends of their cells: what is kept of the tail, and the value of it. */
static int true_tail(double sigma, long double u, long double v, int64_t *x)
{
    const long double edge = ZIGGURAT_EDGE, grid = 1 << ZIGGURAT_GRID_BITS;
    const long double height = edge * (ZIGGURAT_AREA - edge * (long double)ziggurat_height[0]) /
                               grid;
    long double s = -logl(u) / edge;
    *x = (int64_t)floorl(sigma * (edge + s) + 0.5L);
    return v * height < expl(-(edge * edge + s * s) / 2);
}

static void the_tail_is_decided_by_more_bits(void **state)
{
    (void)state;
    static const double sigmas[] = {0.93, 2.31, 7.71};
    brume_error error;
    int kept = 0, rejected = 0;
    for (size_t i = 0; i < 3; i++) {
        brume_noise *noise;
        assert_ok(brume_noise_open_rounded_gaussian(sigmas[i], &noise, &error));
        for (uint64_t first = 0; first < 16; first++)
            for (uint64_t second = 0; second < 16; second++)
                for (int ones = first == 0; ones <= 1; ones++) {
                    int64_t x = 0, expected = 0;
                    brume_bits *bits = open_end(ones, NULL, 0);
                    int keep = tail_deep((rounded_noise *)noise, first, second, bits, &x);
                    int right = true_tail(sigmas[i], (long double)(first + (uint64_t)ones) / 16,
                                          (long double)(second + (uint64_t)ones) / 16, &expected);
                    assert_int_equal(keep, right);
                    if (right)
                        assert_int_equal(x, expected);
                    kept += right;
                    rejected += !right;
                    brume_bits_close(bits);
                }
        brume_noise_close(noise);
    }
    assert_holds(kept > 100 && rejected > 100);
}

/* A place in layer 0 whose cell holds R: bits that say it is beyond lead to the tail, and its value
 * is that of the tail. */
static void the_border_of_the_tail_is_decided_by_more_bits(void **state)
{
    (void)state;
    brume_error error;
    brume_noise *noise;
    uint64_t place = 0, words[2 * FURTHER];
    while (ziggurat_side(place, ZIGGURAT_PLACE_BITS) == ZIGGURAT_BODY)
        place++;
    assert_int_equal(ziggurat_side(place, ZIGGURAT_PLACE_BITS), ZIGGURAT_UNDECIDED);
    size_t count = 0;
    brume_cell cell;
    brume_bits *ones = open_end(true, NULL, 0);
    brume_cell_open(&cell, place, ZIGGURAT_PLACE_BITS);
    while (ziggurat_side_deep(&cell) == ZIGGURAT_UNDECIDED) {
        assert_true(brume_cell_extend(&cell, ones));
        words[count++] = 15; /* of the place */
        words[count++] = 0;  /* of the height */
    }
    assert_int_equal(ziggurat_side_deep(&cell), ZIGGURAT_TAIL);
    brume_cell_close(&cell);
    brume_bits_close(ones);
    words[count++] = 2; /* the uniforms of the tail, then zeros */
    words[count++] = 0;
    assert_ok(brume_noise_open_rounded_gaussian(7.71, &noise, &error));
    brume_bits *bits = open_end(false, words, count);
    int64_t x = 0, expected = 0;
    assert_int_equal(wedge_deep((rounded_noise *)noise, 0, place, 0, bits, &x), 1);
    assert_int_equal(true_tail(7.71, 2 / 16.0L, 0, &expected), 1);
    assert_int_equal(x, expected);
    brume_bits_close(bits);
    brume_noise_close(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tape_gives_the_stated_law),
        cmocka_unit_test(mutants_are_caught),
        cmocka_unit_test(the_tail_is_decided_by_more_bits),
        cmocka_unit_test(the_border_of_the_tail_is_decided_by_more_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
