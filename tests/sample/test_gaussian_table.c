/* The table sampler over every word, with thresholds of 8 bits: its law is met for certain. */
#define GAUSSIAN_TABLE_BITS       8
#define GAUSSIAN_TABLE_GUIDE_BITS 3
#define BRUME_WORD_BITS           7
#define brume_gaussian_table_open short_table_open
#include "sample/gaussian_table.c"

#include "check.h"
#include "random/tape.h"

enum { REACH = 40, DEPTH = 2, MAIN_BITS = GAUSSIAN_TABLE_BITS + 1 };

static double settled[2 * REACH + 1], unsettled;

static void count_tapes(const table_noise *t, uint64_t word, uint64_t *more, size_t depth,
                        double share)
{
    brume_bits *tape = brume_tape_open(&word, 1, more, depth);
    int64_t value;
    if (draw(&t->noise, tape, &value)) {
        assert_holds(value >= -REACH && value <= REACH);
        settled[value + REACH] += share;
    } else if (depth == DEPTH) {
        unsettled += share;
    } else {
        for (uint64_t next = 0; next < 1 << BRUME_WORD_BITS; next++) {
            more[depth] = next << (64 - BRUME_WORD_BITS);
            count_tapes(t, word, more, depth + 1, share / (1 << BRUME_WORD_BITS));
        }
    }
    brume_bits_close(tape);
}

static bool meets_law(const table_noise *t, double sigma)
{
    memset(settled, 0, sizeof settled);
    unsettled = 0;
    uint64_t more[DEPTH];
    for (uint64_t word = 0; word < 1 << MAIN_BITS; word++)
        count_tapes(t, word << (64 - MAIN_BITS), more, 0, 1.0 / (1 << MAIN_BITS));
    long double total = 0, s = sigma;
    for (int k = -400; k <= 400; k++)
        total += expl(-(long double)(k * k) / (2 * s * s));
    bool met = true;
    for (int k = -REACH; k <= REACH; k++) {
        long double p = expl(-(long double)(k * k) / (2 * s * s)) / total;
        met = met && settled[k + REACH] <= p + 1e-15L &&
              p <= settled[k + REACH] + unsettled + 1e-15L;
    }
    return met && unsettled < 1e-3;
}

static table_noise *open_short(double sigma)
{
    brume_error error;
    brume_noise *noise;
    brume_sigma exact;
    brume_sigma_from_double(&exact, sigma);
    assert_ok(brume_gaussian_table_open(&exact, &noise, &error));
    return (table_noise *)noise;
}

static void every_word_gives_the_stated_law(void **state)
{
    (void)state;
    static const double sigmas[] = {1e-5, 0.2, 0.35, 1, 1.7, 4.4};
    for (size_t i = 0; i < sizeof sigmas / sizeof *sigmas; i++) {
        table_noise *t = open_short(sigmas[i]);
        if (!meets_law(t, sigmas[i]))
            fail_msg("sigma %g: open %g", sigmas[i], unsettled);
        brume_noise_close(&t->noise);
    }
}

static void a_threshold_one_unit_off_is_caught(void **state)
{
    (void)state;
    for (int k = 0; k < 6; k++) {
        for (int step = -1; step <= 1; step += 2) {
            table_noise *t = open_short(1.7);
            t->threshold[k] = (uint64_t)((int64_t)t->threshold[k] + step);
            if (t->threshold[k] < LARGEST)
                assert_false(meets_law(t, 1.7));
            brume_noise_close(&t->noise);
        }
    }
}

static void a_tail_that_is_cut_is_caught(void **state)
{
    (void)state;
    table_noise *t = open_short(1.7);
    size_t last = 0;
    while (t->threshold[last] < LARGEST)
        last++;
    t->threshold[last] = LARGEST + 1; /* decides every word left: nothing beyond `last` */
    assert_false(meets_law(t, 1.7));
    brume_noise_close(&t->noise);
}

/* The guide leads to the first threshold that is not below its cell, also where it is just there:
 * in 200 tables of 8 bits that happens often. */
static void the_guide_leads_to_the_first_threshold_that_may_decide(void **state)
{
    (void)state;
    brume_error error;
    size_t just_there = 0;
    for (int i = 1; i <= 200; i++) {
        brume_sigma sigma;
        brume_noise *noise;
        brume_sigma_from_double(&sigma, 0.3 + i * 0.0173);
        assert_ok(brume_gaussian_table_open(&sigma, &noise, &error));
        const table_noise *t = (const table_noise *)noise;
        for (uint64_t cell = 0; cell < GUIDE; cell++) {
            uint64_t least = cell << (GAUSSIAN_TABLE_BITS - GAUSSIAN_TABLE_GUIDE_BITS);
            size_t first = 0;
            while (t->threshold[first] < least)
                first++;
            assert_int_equal(t->guide[cell], first);
            just_there += t->threshold[first] == least;
        }
        brume_noise_close(noise);
    }
    assert_holds(just_there > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_guide_leads_to_the_first_threshold_that_may_decide),
        cmocka_unit_test(every_word_gives_the_stated_law),
        cmocka_unit_test(a_threshold_one_unit_off_is_caught),
        cmocka_unit_test(a_tail_that_is_cut_is_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
