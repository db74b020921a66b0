/* The ziggurat's attempt over every tape: 4 layers, words of 12 and 5 bits, up to 4 words.
 *
 * Each tape that settles an attempt adds its share to the value it gave; tapes that run out are
 * counted beside. The stated law must lie between what is settled and what is settled or open, for
 * every value: no chance is involved. */
#define ZIGGURAT_TABLE               "sample/ziggurat_small_table.h"
#define ZIGGURAT_LAYER_BITS          2
#define ZIGGURAT_ZERO_BITS           3
#define ZIGGURAT_PLACE_BITS          6
#define BRUME_WORD_BITS              5
#define BRUME_PREFIX                 5
#define brume_gaussian_ziggurat_open small_ziggurat_open
#include "sample/gaussian_ziggurat.c"

#include <stdlib.h>

#include "check.h"
#include "random/tape.h"

enum { REACH = 64, DEPTH = 3 };

typedef struct census {
    const ziggurat_noise *noise;
    double settled[2 * REACH + 2]; /* by value + REACH, and rejected */
    double open;                   /* not settled by these words, any value */
    double open_tail;              /* likewise, but surely beyond sigma R */
    long filtered, wrong;
    brume_bits *tape[DEPTH + 1];
} census;

static void count_tapes(census *c, uint64_t word, uint64_t *more, size_t depth, double share)
{
    /* In the tail two words leave much open: stop there, it concerns the large values only. */
    bool tail = (word & LAYER_MASK) == 0 &&
                (word >> ZERO_SHIFT & ZERO_MASK) > c->noise->zero_high &&
                ziggurat_side(word >> PLACE_SHIFT, ZIGGURAT_PLACE_BITS) == ZIGGURAT_TAIL;
    assert_true(brume_tape_write(c->tape[depth], more, 0, more, depth));
    int64_t value = 0;
    int kept = attempt(c->noise, word, c->tape[depth], &value);
    if (kept >= 0) {
        assert_holds(value > -REACH && value < REACH);
        /* Every tape with this beginning agrees; one that reads less was counted before. */
        assert_int_equal(brume_tape_more_read(c->tape[depth]), depth);
        c->settled[kept ? value + REACH : 2 * REACH + 1] += share;
    } else if (depth == DEPTH || (tail && depth == 2)) {
        *(tail ? &c->open_tail : &c->open) += share;
    } else {
        for (uint64_t next = 0; next < 1 << BRUME_WORD_BITS; next++) {
            more[depth] = next << (64 - BRUME_WORD_BITS);
            count_tapes(c, word, more, depth + 1, share / (1 << BRUME_WORD_BITS));
        }
    }
}

/* Run everything; true if the law of `sigma` is met. */
static bool meets_law(const ziggurat_noise *noise, double sigma, census *c)
{
    memset(c, 0, sizeof *c);
    c->noise = noise;
    static const uint64_t zeros[DEPTH];
    for (size_t depth = 0; depth <= DEPTH; depth++) {
        c->tape[depth] = brume_tape_open(zeros, 0, zeros, depth);
        assert_non_null(c->tape[depth]);
    }
    uint64_t more[DEPTH];
    for (uint64_t word = 0; word < 1 << USED_BITS; word++) {
        uint64_t open;
        int64_t value = filter(noise, word, &open), same;
        if (!(open >> 63)) {
            c->filtered++;
            assert_true(brume_tape_write(c->tape[0], more, 0, more, 0));
            if (attempt(noise, word, c->tape[0], &same) != 1 || same != value)
                c->wrong++;
        }
        count_tapes(c, word, more, 0, 1.0 / (1 << USED_BITS));
    }
    for (size_t depth = 0; depth <= DEPTH; depth++)
        brume_bits_close(c->tape[depth]);
    const long double area = ZIGGURAT_AREA / (long double)(1 << ZIGGURAT_GRID_BITS);
    const long double zero = 1 / (1 + 2 * sigma * ZIGGURAT_LAYERS * area);
    bool met = c->wrong == 0;
    for (int64_t k = -REACH; k <= REACH; k++) {
        /* the law of one attempt: 0, +-k, or rejected */
        long double p = zero * expl(-(long double)(k * k) / (2 * (long double)sigma * sigma));
        met = met && c->settled[k + REACH] <= p + 1e-15L &&
              p <= c->settled[k + REACH] + c->open + 1e-15L;
    }
    return met;
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
        bool met = meets_law(noise, sigmas[i], &c);
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
    assert_holds(meets_law((ziggurat_noise *)noise, sqrt(29.0 / 3.0), &c));
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
        assert_false(meets_law(noise, 3.3, &c));
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
    assert_false(meets_law(noise, 3.3, &c));
    assert_holds(c.wrong > 0);
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
    assert_false(meets_law(noise, 3.3, &c));
    brume_noise_close(&noise->noise);
}

static void a_sigma_one_part_in_fifty_off_is_caught(void **state)
{
    (void)state;
    static census c;
    ziggurat_noise *noise;
    open_small(3.3, &noise);
    assert_false(meets_law(noise, 3.3 * 1.02, &c));
    brume_noise_close(&noise->noise);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
