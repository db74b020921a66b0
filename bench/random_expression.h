/* Random expressions of mechanisms, the same for the same seed: what the sweeps ask about. */
#ifndef BRUME_BENCH_RANDOM_EXPRESSION_H
#define BRUME_BENCH_RANDOM_EXPRESSION_H

#include <brume/brume.h>

enum { TERM_TEXT = 600, MOST_UNKNOWNS = 400 };

/* A number of some card: slot BRUME_SLOT_SENSITIVITY or BRUME_SLOT_COUNT, or an index of its
 * parameters. */
typedef struct number {
    const brume_card *card;
    int slot;
} number;

/* A term: as text with its `?`, if it has one, and with a number in its place. */
typedef struct term {
    char asked[TERM_TEXT], solved[TERM_TEXT];
} term;

/* Start the numbers of case `index`; every case is independent of those before it. */
void random_start(uint64_t seed, uint64_t index);

double random_uniform(void);                    /* in [0, 1) */
double random_between(double low, double high); /* uniform in logarithms */
double random_whole_between(double low, double high);

/* A mechanism that adds noise or randomizes answers. */
const brume_card *random_noise_card(void);

/* A mechanism: noise, most of the time; anything else at times. */
const brume_card *random_card(void);

/* The numbers of a card that a calibration can find; how many there are. */
size_t random_list_numbers(const brume_card *card, number *out);

/* One term that uses up about `share` of epsilon at most `most_count` times; `asked`: with a `?` in
 * the place of `unknown`. */
void random_term(term *t, number unknown, bool asked, double share, double delta,
                 double most_count);

#endif
