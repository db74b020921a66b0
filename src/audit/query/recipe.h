/* Which units the tables of an audit have, and what the unit that differs has: a list of recipes,
 * each of which attacks something else. Any of them gives neighbours; the draws say which tell
 * most.
 *
 * Most other units have one row each, so that no limit has to choose among their rows: what differs
 * is what the one unit does. Some have several, so that the limits that are chosen rise. */
#ifndef BRUME_AUDIT_RECIPE_H
#define BRUME_AUDIT_RECIPE_H

#include <stddef.h>
#include <stdint.h>

#include "query/plan/policy.h"

/* The values of a row, in columns that have bounds; the others have any value. */
typedef enum brume_row_choice {
    BRUME_ROW_ANY,
    BRUME_ROW_HIGH, /* at the bound */
    BRUME_ROW_LOW,
    BRUME_ROW_LOWER_THIRD, /* between the bounds */
    BRUME_ROW_UPPER_THIRD,
    BRUME_ROW_ABOVE, /* far beyond it */
    BRUME_ROW_BELOW,
    BRUME_ROW_MISSING,
    BRUME_ROW_NOT_A_NUMBER, /* where the type has such a value, else missing */
} brume_row_choice;

/* What the price says of a query. */
typedef struct brume_recipe_hints {
    uint64_t threshold; /* units that a private key or an undeclared mode needs; 0: there is none */
    double epsilon;
    bool limits;     /* what one unit may add is chosen as part of the answer */
    bool replace;    /* a unit is replaced by another */
    bool shared;     /* rows may be linked to several units */
    bool means;      /* a sum and a number of values are measured for a mean */
    bool quantiles;  /* there is one, */
    double quantile; /* this one */
} brume_recipe_hints;

typedef struct brume_recipe {
    uint64_t others;    /* units with any values */
    uint64_t low, high; /* units at the bounds, with the other values of the one that differs */
    bool low_inside, high_inside; /* these are a third of the way inside */
    uint64_t ends; /* units at each of the bounds, besides: enough for limits to be chosen well */
    uint64_t end_rows; /* of each of these */
    uint64_t spread;   /* units of 3 rows, and as many of 4, 6, 8, 12, 16, 24 and 32 */
    uint64_t crowd; /* units that have the same values as the first row of the one that differs, */
    bool crowd_everywhere;   /* and as many more as its first row in each of its groups */
    brume_row_choice choice; /* of the unit that differs */
    uint64_t groups, rows;   /* of it: rows in each of so many groups */
    bool arrives; /* under replace: in the first database it has one row, of missing values */
    bool shares;  /* the keys by which other tables are linked to it are those of other units */
} brume_recipe;

/* How many there are. */
size_t brume_recipe_count(const brume_recipe_hints *hints);

/* Recipe `number`, for a table with this policy. */
brume_recipe brume_recipe_of(size_t number, const brume_recipe_hints *hints,
                             const brume_policy *policy);

/* What the unit has in the first database under replace. */
brume_row_choice brume_row_opposite(brume_row_choice choice);

#endif
