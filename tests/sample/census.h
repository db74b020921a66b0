/* One attempt of a ziggurat, included just before with short words, over every tape.
 *
 * Each tape that settles an attempt adds its share to the value it gave; tapes that run out are
 * counted beside. The law must lie between what is settled and what is settled or open, for every
 * value: no chance is involved. */
#ifndef BRUME_TESTS_CENSUS_H
#define BRUME_TESTS_CENSUS_H

#include <stdlib.h>

#include "check.h"
#include "random/tape.h"

enum { REACH = 64, DEPTH = 3 };

typedef struct census {
    const brume_noise *noise;
    double settled[2 * REACH + 2]; /* by value + REACH, and rejected */
    double open;                   /* not settled by these words, any value */
    double open_tail;              /* likewise, but surely beyond sigma R */
    long filtered, wrong;
    brume_bits *tape[DEPTH + 1];
} census;

/* Does this word certainly go to the tail? */
static bool goes_to_tail(const brume_noise *noise, uint64_t word);

static void count_tapes(census *c, uint64_t word, uint64_t *more, size_t depth, double share)
{
    /* In the tail two words leave much open: stop there, it concerns the large values only. */
    bool tail_word = goes_to_tail(c->noise, word);
    assert_true(brume_tape_write(c->tape[depth], more, 0, more, depth));
    int64_t value = 0;
    int kept = attempt(c->noise, word << (64 - USED_BITS), c->tape[depth], &value);
    if (kept >= 0) {
        assert_holds(value > -REACH && value < REACH);
        /* Every tape with this beginning agrees; one that reads less was counted before. */
        assert_int_equal(brume_tape_more_read(c->tape[depth]), depth);
        c->settled[kept ? value + REACH : 2 * REACH + 1] += share;
    } else if (depth == DEPTH || (tail_word && depth == 2)) {
        *(tail_word ? &c->open_tail : &c->open) += share;
    } else {
        for (uint64_t next = 0; next < 1 << BRUME_WORD_BITS; next++) {
            more[depth] = next << (64 - BRUME_WORD_BITS);
            count_tapes(c, word, more, depth + 1, share / (1 << BRUME_WORD_BITS));
        }
    }
}

/* Run everything; true if an attempt gives k with probability mass(sigma, k), for every k. Values
 * from `tail_from` on may be those that the tail left open. */
static bool meets_law(const brume_noise *noise, double sigma, double tail_from,
                      long double (*mass)(double sigma, int64_t k), census *c)
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
        int64_t value, same;
        const uint64_t full = word << (64 - USED_BITS);
        filter_block(noise, &full, &value, &open, 1);
        if (!(open >> 63)) {
            c->filtered++;
            assert_true(brume_tape_write(c->tape[0], more, 0, more, 0));
            if (attempt(noise, full, c->tape[0], &same) != 1 || same != value)
                c->wrong++;
        }
        count_tapes(c, word, more, 0, 1.0 / (1 << USED_BITS));
    }
    for (size_t depth = 0; depth <= DEPTH; depth++)
        brume_bits_close(c->tape[depth]);
    bool met = c->wrong == 0;
    for (int64_t k = -REACH; k <= REACH; k++) {
        long double p = mass(sigma, k), open = c->open;
        if ((double)llabs(k) >= tail_from)
            open += c->open_tail;
        met = met && c->settled[k + REACH] <= p + 1e-15L &&
              p <= c->settled[k + REACH] + open + 1e-15L;
    }
    return met;
}

#endif
