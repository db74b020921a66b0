/* What a query costs for a unit's rows in one window of a growing table.
 *
 * It is not always what the query costs for a unit's whole history. A limit is on a unit's vector
 * over all groups and windows: if its rows of one window go, what it has in others is scaled up
 * again, and the change is that of a replaced unit, up to twice the limit. proofs/windows.md,
 * claim 3. */
#ifndef BRUME_QUERY_WINDOW_PRICE_H
#define BRUME_QUERY_WINDOW_PRICE_H

#include <jansson.h>

#include "query/plan/plan.h"
#include "query/plan/touched.h"

/* Why a window pays what it pays, in words that follow a price; for explain. */
typedef struct brume_window_price {
    brume_charge charge; /* each touched window, in the currency of the rule */
    bool as_replace;     /* several windows, or one that a unit may be in the answer without */
    const char *why;
} brume_window_price;

/* EOVERFLOW: more than a price can be. */
BRUME_MUST_USE brume_status brume_window_price_of(const brume_plan *plan,
                                                  const brume_touched *touched,
                                                  brume_window_price *out, brume_error *error);

/* The price of the plan's noise where a unit is replaced, to the price where it comes or goes: of
 * epsilon (p = 1), or of rho and mu^2. Rounded up; 1 where the plan is priced for replacement. */
double brume_window_factor(const brume_plan *plan, int p);

/* The price of noise that costs `price`, where the square of the change is `squares` times as
 * large (2 or 4): under pure 2 epsilon, under concentrated `squares` times rho, and for one rounded
 * Gaussian noise the least epsilon that is certified for it at the same delta. Rounded up. */
BRUME_MUST_USE brume_status brume_window_price_replaced(const brume_charge *price, int squares,
                                                        brume_charge *out, brume_error *error);

/* What is said of windows: {"dataset","column","length","ranges":[[FIRST,LAST]],"undated","count",
 * "price","why","all","open"}, where there are several datasets the others in a list "others";
 * NULL: no memory. "all": no condition bounds the column. "open": how many of them had not closed
 * at `now` (microseconds). */
json_t *brume_window_price_to_json(const brume_touched *touched, const brume_window_price *price,
                                   brume_rule rule, int64_t now);

#endif
