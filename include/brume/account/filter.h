/* A privacy filter: may this analyst ask one more?
 *
 * 1. The rule, the budget and what the sums may reach are fixed when the filter is made. A charge
 *    fits if the sums including it stay within those limits; nothing else is asked.
 * 2. Sound although the next charge is chosen after seeing every answer before it: as long as each
 *    release has the guarantee it was charged for, all releases together are (epsilon, delta)-DP.
 *    Proof: proofs/filters.md. Tight composition (compose.h) is not sound for that and not used.
 * 3. Prices that a person types are exact decimals, budgets too: 0.1 fits ten times in 1.
 *    Everything else is rounded up to a decimal, and limits are rounded down.
 * 4. Constant size, constant time, however long the history. The text form reads back to the very
 *    same filter and is checked when it is read.
 *
 * A filter is a plain value: copy it to ask "what if". Threads: as for any value. */
#ifndef BRUME_FILTER_H
#define BRUME_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/account/cost.h>
#include <brume/decimal.h>
#include <brume/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum brume_rule {
    BRUME_RULE_PURE = 1,         /* sum of epsilon */
    BRUME_RULE_APPROXIMATE = 2,  /* sum of epsilon, sum of delta */
    BRUME_RULE_CONCENTRATED = 3, /* sum of rho, sum of the probabilities of failure */
} brume_rule;

/* Sums are kept to this many decimal places; finer prices are rounded up to it, finer budgets
 * refused. */
enum { BRUME_FILTER_PLACES = 60, BRUME_CHARGE_TEXT = 320, BRUME_FILTER_TEXT = 1024 };

/* The price of one release (or of a query that makes several) in the currency of a rule. */
typedef struct brume_charge {
    brume_rule rule;
    brume_decimal amount; /* epsilon under pure and approximate, rho under concentrated */
    brume_decimal delta;  /* delta; under concentrated the probability of failure; 0 under pure */
} brume_charge;

typedef struct brume_filter {
    brume_rule rule;
    brume_decimal epsilon, delta;     /* the budget as given; delta is 0 under pure */
    brume_decimal limit, limit_delta; /* what the sums may reach, fixed for good */
    brume_decimal spent, spent_delta; /* the sums */
    uint64_t charges;                 /* how many */
} brume_filter;

/* "pure", "approximate", "concentrated"; NULL for anything else. */
BRUME_API const char *brume_rule_word(brume_rule rule);
/* The rule of a word. BRUME_EUNKNOWN with the nearest. */
BRUME_API BRUME_MUST_USE brume_status brume_rule_parse(const char *word, brume_rule *out,
                                                       brume_error *error);

/* Make a fresh filter. `delta` may be NULL or zero under pure, must be below 1 and above 0 under
 * the others. Under concentrated, `failure` (NULL: a tenth of delta) is the share of delta kept for
 * failures, and rho's limit is the largest, rounded down, for which
 *     failure + (1 - failure) delta(rho, epsilon) <= delta                     [CKS20, Prop 12];
 * under the other rules it must be NULL.
 * Errors: BRUME_EARGUMENT with the range. */
BRUME_API BRUME_MUST_USE brume_status brume_filter_make(brume_rule rule,
                                                        const brume_decimal *epsilon,
                                                        const brume_decimal *delta,
                                                        const brume_decimal *failure,
                                                        brume_filter *out, brume_error *error);

/* Would it fit? BRUME_OK, or BRUME_EBUDGET with what is asked and what is left; BRUME_EPOLICY if
 * the charge is in the currency of another rule. The filter is not changed. */
BRUME_API BRUME_MUST_USE brume_status brume_filter_check(const brume_filter *filter,
                                                         const brume_charge *charge,
                                                         brume_error *error);

/* The same, and charge it if it fits. On failure the filter is untouched. */
BRUME_API BRUME_MUST_USE brume_status brume_filter_charge(brume_filter *filter,
                                                          const brume_charge *charge,
                                                          brume_error *error);

/* The largest charge that still fits: exactly what is left. */
BRUME_API BRUME_MUST_USE brume_status brume_filter_left(const brume_filter *filter,
                                                        brume_charge *left, brume_error *error);

/* Has nothing been charged yet? */
BRUME_API bool brume_filter_is_fresh(const brume_filter *filter);

/* --- prices ----------------------------------------------------------------------------------- */

/* A typed price, exactly. `delta` may be NULL for 0.
 * Errors: BRUME_EARGUMENT for a delta of 1 or more, or a delta other than 0 under pure. */
BRUME_API BRUME_MUST_USE brume_status brume_charge_make(brume_rule rule,
                                                        const brume_decimal *amount,
                                                        const brume_decimal *delta,
                                                        brume_charge *out, brume_error *error);

/* An (epsilon, delta) guarantee in the currency of `rule`: itself under pure and approximate;
 * (epsilon tanh(epsilon/2), delta), rounded up, under concentrated. */
BRUME_API BRUME_MUST_USE brume_status brume_charge_guarantee(brume_rule rule,
                                                             const brume_decimal *epsilon,
                                                             const brume_decimal *delta,
                                                             brume_charge *out, brume_error *error);

/* rho = epsilon^2 / 2, which a typed epsilon stands for under concentrated: exactly, or rounded up
 * to 17 digits where it does not fit a decimal. `rho` may be `epsilon`. */
BRUME_API BRUME_MUST_USE brume_status brume_charge_rho_of_epsilon(const brume_decimal *epsilon,
                                                                  brume_decimal *rho,
                                                                  brume_error *error);

/* `count` releases of this cost, rounded up to 17 digits. BRUME_EUNSUPPORTED where the cost is not
 * known in the currency of the rule: no pure epsilon, or a failure under pure. */
BRUME_API BRUME_MUST_USE brume_status brume_charge_cost(brume_rule rule, const brume_cost *cost,
                                                        uint64_t count, brume_charge *out,
                                                        brume_error *error);

/* --- texts ------------------------------------------------------------------------------------ */

/* One line without a line end; reading it back gives the same bytes. */
BRUME_API BRUME_MUST_USE brume_status brume_charge_print(const brume_charge *charge,
                                                         char text[BRUME_CHARGE_TEXT],
                                                         brume_error *error);
BRUME_API BRUME_MUST_USE brume_status brume_charge_parse(const char *text, brume_charge *out,
                                                         brume_error *error);
BRUME_API BRUME_MUST_USE brume_status brume_filter_print(const brume_filter *filter,
                                                         char text[BRUME_FILTER_TEXT],
                                                         brume_error *error);

/* Refuses (BRUME_EDAMAGED) what brume_filter_print cannot have written: another order or spelling,
 * sums over their limits, limits that the budget does not justify. */
BRUME_API BRUME_MUST_USE brume_status brume_filter_parse(const char *text, brume_filter *out,
                                                         brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
