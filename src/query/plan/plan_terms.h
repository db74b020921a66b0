/* The terms of a release: what it has found out about its limits, and what follows from that. The
 * plan says what is asked and paid; the terms say how much noise each number gets.
 *
 * 1. A limit that nobody knows beforehand is found by looking: noisy counts of units, which this
 *    release buys or an earlier one left in the ledger. The looks are the only thing in here that
 *    comes from data, with noise; all else is a function of them and of the plan.
 * 2. brume_terms_make is that function. It may be called as often as more is found out: whoever
 *    finds a look puts it into a copy and makes new terms of it. Nobody else writes scales.
 * 3. What choosing costs follows from the looks that were bought; the rest of the price buys the
 *    noise of the measures, in proportion to the limits (price/limited.h, proofs/limits.md). */
#ifndef BRUME_QUERY_PLAN_TERMS_H
#define BRUME_QUERY_PLAN_TERMS_H

#include "query/limit/bar.h"
#include "query/plan/plan.h"
#include "query/price/limited.h"

/* What the ledger has of a limit that is chosen all the same. */
typedef enum brume_limit_earlier {
    BRUME_EARLIER_NONE,
    BRUME_EARLIER_NOT_FOUND, /* choices, none of which found a limit */
    BRUME_EARLIER_NOISY,     /* choices that were bought for far less than this price pays */
} brume_limit_earlier;

/* One limit of the plan. */
typedef struct brume_found_limit {
    const brume_plan_limit *of; /* NULL: there is none (a measurement that is not DISTINCT) */
    /* Found out: */
    brume_limit_source source; /* the plan's; LEDGER where looks that were read are enough */
    brume_limit_earlier earlier;
    brume_looks read;       /* what the ledger has of earlier releases, pooled */
    brume_looks bought;     /* what this release drew */
    brume_choice_step step; /* how far it went; nothing where `bought` is empty */
    bool has_centre;        /* of->centred: the centre is known, and the looks are about it, */
    int64_t centre;         /* on the grid, within the bounds; 0 before */
    bool capped;            /* and there are none: the limit follows that of the number */
    /* What follows: */
    brume_limit_choice choice; /* by all looks; where there are none, what is known without */
    bool known;      /* false: nobody looked yet, or too few units to find one; it counts as 1 */
    uint64_t limit;  /* T, in grid steps, at least 1; rounded up where `square` is not 0, */
    uint64_t square; /* the square of a T that is no whole number; else 0 */
} brume_found_limit;

/* The limit on the pairs of a count of values, and noise that its part of the price buys. */
typedef struct brume_distinct_terms {
    brume_found_limit limit;
    double scale;                       /* for a limit of 1 */
    double histogram_scale, tail_scale; /* of the choice; 0: it is not bought */
} brume_distinct_terms;

typedef struct brume_terms {
    const brume_plan *plan;         /* outlives the terms */
    double groups;                  /* over which limits are chosen, at least 1 */
    brume_found_limit *limits;      /* one for each of plan->limits */
    brume_measure *measures;        /* the plan's, with sensitivities, scales and shifts; CENTRED in
                                       place of DIRECT where the sum of a mean follows its number */
    brume_distinct_terms *distinct; /* one for each measurement; empty but for those of DISTINCT */
    brume_price price;
    brume_limited_price limited;      /* noise of the looks that can be bought */
    brume_choice_step step;           /* how far choosing went, or will go at least, */
    brume_choice_step deviation_step; /* and that of limits about a centre */
} brume_terms;

/* The terms that follow from what `found` has found out (NULL: nothing), where limits are chosen
 * over so many groups (0: those of the plan). Draws nothing.
 * Errors: BRUME_EARGUMENT, BRUME_EOVERFLOW: a price that buys no noise the samplers can draw. */
BRUME_MUST_USE brume_status brume_terms_make(const brume_plan *plan, const brume_terms *found,
                                             double groups, brume_terms **out, brume_error *error);
BRUME_MUST_USE brume_status brume_terms_copy(const brume_terms *terms, brume_terms **out,
                                             brume_error *error);
void brume_terms_close(brume_terms *terms);

/* ---- limits ---- */

/* Is a limit to be chosen for a share of this price: of the groups, or of a count of values? */
bool brume_terms_choose(const brume_terms *terms);

/* The limit of a measure, and the one that an aggregate is mostly about; NULL: it has none. */
const brume_found_limit *brume_terms_measure_limit(const brume_terms *terms, size_t measure);
const brume_found_limit *brume_terms_limit_of(const brume_terms *terms, size_t aggregate);

/* Decide limit number `index` of the groups, and that of a count of values, by the looks in *limit.
 * Where none is found it is the ceiling, 1 for counts, else none. EMEMORY. */
BRUME_MUST_USE brume_status brume_terms_decide(const brume_terms *terms, size_t index,
                                               brume_found_limit *limit, brume_error *error);
BRUME_MUST_USE brume_status brume_terms_decide_distinct(const brume_terms *terms,
                                                        size_t measurement,
                                                        brume_found_limit *limit,
                                                        brume_error *error);

/* Could looks of its own make the bar of what has limit number `index` clearly shorter than the
 * looks in *limit make it, which find a limit? `terms` are those of a release that buys them. A
 * look takes a share of the price, so that it only pays where much of the bar is for what may be
 * cut. EMEMORY. */
BRUME_MUST_USE brume_status brume_terms_look_pays(const brume_terms *terms, size_t index,
                                                  const brume_found_limit *limit, bool *pays,
                                                  brume_error *error);

/* All looks at a limit, those that were read and those that were bought. */
brume_looks brume_found_looks(const brume_found_limit *limit);

/* What is limited, about its centre; and the most that one row adds to it, in grid steps. */
brume_total brume_found_total(const brume_found_limit *limit);
double brume_found_reach(const brume_found_limit *limit);

/* Number and sum of a mean about a centre are cut apart, and a unit that is cut in one of them
 * alone would pull the mean. So each is scaled down where the other is cut by half and more: what a
 * unit has of the measure is scaled by *limit / the norm of *of where that is more. False: it is
 * not. */
bool brume_terms_scaled_down(const brume_terms *terms, size_t measure, brume_total *of,
                             uint64_t *limit);

/* Does a limit that is to be chosen take the centre that is drawn for the sum beside it? */
bool brume_terms_shares_centre(const brume_terms *terms, const brume_found_limit *limit);

/* Does the limit of a sum about its centre follow that of the number without a look, because no
 * look is worth its price? A function of the centre and of the number's limit. */
bool brume_terms_follows_number(const brume_terms *terms, const brume_found_limit *limit);

/* Does one row add 1 to what is limited? Then the first count comes before the histogram (looks.h).
 */
bool brume_limit_counts_rows(const brume_plan_limit *limit);

/* Was the limit looked for and not found? It is then the ceiling or, of counts, 1. */
bool brume_found_nothing(const brume_found_limit *limit);

/* Was it found by looking, so that the units above it were counted too? Nobody counted those above
 * a limit that was typed or registered. */
bool brume_found_is_counted(const brume_found_limit *limit);

/* What the ledger has of a limit that is chosen all the same: "noisy", "not found"; NULL: nothing.
 */
const char *brume_found_earlier_word(const brume_found_limit *limit);

/* The limit in grid steps, rounded up. */
double brume_found_value(const brume_found_limit *limit);

/* A count or a sum whose limit was not found, without a ceiling: nobody knows what was cut of it.
 */
bool brume_terms_cut_is_unknown(const brume_terms *terms, size_t aggregate);

/* By how much the bar of a count, a sum or a count of values is longer than that of its noise, in
 * the units of the query: for what a limit that was chosen cuts. 0 where a limit cuts nothing or is
 * not of this kind; NaN: nobody knows. */
double brume_terms_allowance(const brume_terms *terms, size_t aggregate);

/* By what noise and cut the bar of a sum under limit number `index` is long, in grid steps;
 * INFINITY: no limit is known. */
double brume_terms_limit_bar(const brume_terms *terms, size_t index);

/* Which part of the price is for choosing limits, by the steps that were bought; of the groups'
 * limits alone. */
double brume_terms_choice_share(const brume_terms *terms);
double brume_terms_groups_choice_share(const brume_terms *terms);

/* "auto", "typed", "policy", "ledger" or "none": of several limits the one that costs most. */
const char *brume_terms_limits_word(const brume_terms *terms);

/* ---- noise ---- */

/* For a measure's number in a group of a grouping set (-1: of all groups the one with the most
 * noise), in grid steps: the scale of noise of the variance that it has when it is released. That
 * is what was drawn, or less where sets are fitted (plan_sets.h), with what rounding to whole
 * steps adds. */
double brume_terms_scale(const brume_terms *terms, size_t measure, int set);

/* Half-width at 1 - beta of a measure's own noise, in the units of the query; in a group of a
 * grouping set, or at most. */
double brume_terms_width_in(const brume_terms *terms, size_t measure, int set, double beta);
double brume_terms_width(const brume_terms *terms, size_t measure, double beta);

/* The same for the sum of `count` groups. Those of fitted sets have no more noise together than
 * they were drawn with: the fit is a projection. */
double brume_terms_width_of_sum(const brume_terms *terms, size_t measure, size_t count,
                                double beta);

/* Half-width at 95 % of a measure's noise if its limit were T, in the units of the query; of a
 * quantile in ranks, of a declared mode in rows. */
double brume_terms_width_at(const brume_terms *terms, size_t measure, double limit);

/* What is known of a quantile or a mode, which has no error in its own units; NaN: does not apply.
 */
typedef struct brume_selection_error {
    double rank_95;  /* of a quantile: with probability 95 % its rank is within this many rows */
    double count_95; /* of a declared mode: it has at most this many rows fewer than the true one,
                        those that limits may have cut of it included */
    double gap_95;   /* of an undeclared mode: two given values whose units differ by more come out
                        in the wrong order in 5 % at most */
} brume_selection_error;

brume_selection_error brume_terms_selection_error(const brume_terms *terms, size_t measure);

/* Does what is said of a quantile (its interval) or a declared mode (count_95) allow for what its
 * limit cuts? */
bool brume_terms_allows_for_cut(const brume_terms *terms, size_t measure);

/* In rows of one group: so many may be left out (limit/bar.h); 0 where that is not allowed for. */
double brume_terms_cut_of_selection(const brume_terms *terms, size_t measure);

/* With probability 1 - beta a quantile's rank is within this many rows, or a declared mode has not
 * more rows fewer than the true one; at this rate. Rows of units above the limit count less. */
double brume_selection_width(const brume_measure *measure, double rate, double beta);

/* The scale of a count of values under its limit, rounded up; and its half-width at 1 - beta. */
double brume_distinct_scale(const brume_distinct_terms *distinct);
double brume_terms_distinct_width(const brume_terms *terms, size_t measurement, double beta);

#endif
