/* The discrete Gaussian ziggurat over every tape: 4 layers, words of 12 and 5 bits, up to 4 words.
 */
#define ZIGGURAT_TABLE               "sample/ziggurat_small_table.h"
#define ZIGGURAT_LAYER_BITS          2
#define ZIGGURAT_ZERO_BITS           3
#define ZIGGURAT_PLACE_BITS          6
#define BRUME_WORD_BITS              5
#define BRUME_PREFIX                 5
#define brume_gaussian_ziggurat_open small_ziggurat_open
#include "sample/gaussian_ziggurat.c"

#include "census.h"

static bool goes_to_tail(const brume_noise *noise, uint64_t word)
{
    const ziggurat_noise *z = (const ziggurat_noise *)noise;
    return (word & LAYER_MASK) == 0 && (word >> ZERO_SHIFT & ZERO_MASK) > z->zero_high &&
           ziggurat_side(word >> PLACE_SHIFT, ZIGGURAT_PLACE_BITS) == ZIGGURAT_TAIL;
}

/* The law of one attempt: 0, +-k, or rejected. */
static long double gaussian_mass(double sigma, int64_t k)
{
    const long double area = ZIGGURAT_AREA / (long double)(1 << ZIGGURAT_GRID_BITS);
    const long double zero = 1 / (1 + 2 * sigma * ZIGGURAT_LAYERS * area);
    return zero * expl(-(long double)(k * k) / (2 * (long double)sigma * sigma));
}

static bool gaussian_met(const ziggurat_noise *noise, double sigma, census *c)
{
    return meets_law(&noise->noise, sigma, sigma * ZIGGURAT_EDGE, gaussian_mass, c);
}

static void open_small(double sigma, ziggurat_noise **out)
{
    brume_error error;
    brume_sigma exact;
    brume_noise *noise;
    brume_sigma_from_double(&exact, sigma);
    assert_ok(brume_gaussian_ziggurat_open(&exact, &noise, &error));
    *out = (ziggurat_noise *)noise;
}

static void every_tape_gives_the_stated_law(void **state)
{
    (void)state;
    static const double sigmas[] = {3.3, 2.0, 5.71};
    static census c;
    for (size_t i = 0; i < sizeof sigmas / sizeof *sigmas; i++) {
        ziggurat_noise *noise;
        open_small(sigmas[i], &noise);
        bool met = gaussian_met(noise, sigmas[i], &c);
        if (!met || c.filtered < 100 || c.open > 4e-3)
            fail_msg("sigma %g: filtered %ld, wrong %ld, open %g", sigmas[i], c.filtered, c.wrong,
                     c.open);
        brume_noise_close(&noise->noise);
    }
}

static void a_square_root_of_a_ratio_meets_its_law_too(void **state)
{
    (void)state;
    static census c;
    brume_error error;
    brume_sigma exact;
    brume_noise *noise;
    brume_sigma_from_ratio(&exact, 29, 3);
    assert_ok(brume_gaussian_ziggurat_open(&exact, &noise, &error));
    assert_holds(gaussian_met((ziggurat_noise *)noise, sqrt(29.0 / 3.0), &c));
    brume_noise_close(noise);
}

/* Mutants: the same census must reject each. */
static void zero_probability_one_unit_off_is_caught(void **state)
{
    (void)state;
    static census c;
    for (int step = -1; step <= 1; step += 2) {
        ziggurat_noise *noise;
        open_small(3.3, &noise);
        noise->zero_low = (uint64_t)((int64_t)noise->zero_low + step);
        assert_false(gaussian_met(noise, 3.3, &c));
        brume_noise_close(&noise->noise);
    }
}

static void a_filter_without_margin_is_caught(void **state)
{
    (void)state;
    static census c;
    ziggurat_noise *noise;
    open_small(3.3, &noise);
    noise->certain = 0.5;
    assert_false(gaussian_met(noise, 3.3, &c));
    brume_noise_close(&noise->noise);
}

static void an_inner_edge_too_far_out_is_caught(void **state)
{
    (void)state;
    static census c;
    ziggurat_noise *noise;
    open_small(3.3, &noise);
    for (int i = 0; i < ZIGGURAT_LAYERS; i++)
        noise->inner[i] += 1;
    assert_false(gaussian_met(noise, 3.3, &c));
    brume_noise_close(&noise->noise);
}

static void a_sigma_one_part_in_fifty_off_is_caught(void **state)
{
    (void)state;
    static census c;
    ziggurat_noise *noise;
    open_small(3.3, &noise);
    assert_false(gaussian_met(noise, 3.3 * 1.02, &c));
    brume_noise_close(&noise->noise);
}

/* ---- the last tier: cells that hold a border are decided by more bits ---- */

enum { FURTHER = 60, WORDS = 1 << BRUME_WORD_BITS };

/* A tape on which every further bit is the same. */
static brume_bits *open_end(bool ones)
{
    uint64_t words[FURTHER];
    memset(words, ones ? 0xff : 0, sizeof words);
    brume_bits *bits = brume_tape_open(words, 0, words, FURTHER);
    assert_non_null(bits);
    return bits;
}

static void a_wedge_is_decided_by_more_bits(void **state)
{
    (void)state;
    const long double sigma = 3.3, grid = 1 << ZIGGURAT_GRID_BITS;
    ziggurat_noise *z;
    open_small(3.3, &z);
    int kept = 0, rejected = 0;
    for (unsigned layer = 0; layer < ZIGGURAT_LAYERS; layer++)
        for (int64_t x = 1; x < 12; x++)
            for (uint64_t word = 0; word < WORDS; word++)
                for (int ones = 0; ones <= 1; ones++) {
                    long double v = (long double)(word + (uint64_t)ones) / WORDS;
                    long double level = (long double)ziggurat_floor[layer] / grid +
                                        v * (long double)ziggurat_height[layer] / grid;
                    bool right = level < expl(-(long double)(x * x) / (2 * sigma * sigma));
                    brume_bits *bits = open_end(ones);
                    assert_int_equal(wedge_deep(z, layer, word, x, bits), right);
                    brume_bits_close(bits);
                    kept += right;
                    rejected += !right;
                }
    assert_holds(kept > 300 && rejected > 300);
    brume_noise_close(&z->noise);
}

static void a_tail_is_decided_by_more_bits(void **state)
{
    (void)state;
    const long double sigma = 3.3, edge = ZIGGURAT_EDGE, grid = 1 << ZIGGURAT_GRID_BITS;
    const long double height = edge * (ZIGGURAT_AREA - edge * (long double)ziggurat_height[0]) /
                               grid;
    ziggurat_noise *z;
    open_small(3.3, &z);
    int kept = 0, rejected = 0;
    for (uint64_t first = 0; first < WORDS; first++)
        for (uint64_t second = 0; second < WORDS; second++)
            for (int ones = first == 0; ones <= 1; ones++) {
                long double u = (long double)(first + (uint64_t)ones) / WORDS;
                long double v = (long double)(second + (uint64_t)ones) / WORDS;
                int64_t x = 0, expected = (int64_t)floorl(sigma * (edge - logl(u) / edge)) + 1;
                bool right = v * height * u <
                             expl(-(long double)(expected * expected) / (2 * sigma * sigma));
                brume_bits *bits = open_end(ones);
                assert_int_equal(tail_deep(z, first, second, bits, &x), right);
                if (right)
                    assert_int_equal(x, expected);
                brume_bits_close(bits);
                kept += right;
                rejected += !right;
            }
    assert_holds(kept > 100 && rejected > 100);
    brume_noise_close(&z->noise);
}

/* The cell that holds the border of the tail, in layer 0; other layers have no tail. */
static void the_border_of_the_tail_is_decided_by_more_bits(void **state)
{
    (void)state;
    const int seen = ZIGGURAT_PLACE_BITS + BRUME_WORD_BITS;
    ziggurat_noise *z;
    open_small(3.3, &z);
    brume_u128 u = 0;
    while (ziggurat_side(u, seen) == ZIGGURAT_BODY)
        u++;
    assert_int_equal(ziggurat_side(u, seen), ZIGGURAT_UNDECIDED);
    for (int ones = 0; ones <= 1; ones++)
        for (unsigned layer = 0; layer < ZIGGURAT_LAYERS; layer++) {
            int64_t x = 0;
            brume_bits *bits = open_end(ones);
            assert_int_equal(place_deep(z, layer, u, seen, bits, &x),
                             layer == 0 && ones ? ZIGGURAT_TAIL : ZIGGURAT_BODY);
            brume_bits_close(bits);
        }
    brume_noise_close(&z->noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tape_gives_the_stated_law),
        cmocka_unit_test(a_square_root_of_a_ratio_meets_its_law_too),
        cmocka_unit_test(zero_probability_one_unit_off_is_caught),
        cmocka_unit_test(a_filter_without_margin_is_caught),
        cmocka_unit_test(an_inner_edge_too_far_out_is_caught),
        cmocka_unit_test(a_sigma_one_part_in_fifty_off_is_caught),
        cmocka_unit_test(a_wedge_is_decided_by_more_bits),
        cmocka_unit_test(a_tail_is_decided_by_more_bits),
        cmocka_unit_test(the_border_of_the_tail_is_decided_by_more_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
