/* Recipes for neighbouring tables. */
#include "audit/query/recipe.h"

#include <math.h>

enum {
    FEW = 6,
    SHARING = 60,
    MANY = 40,
    MOST_GROUPS = 16,
    MOST_ROWS = 4096,
    MOST_CROWD = 4096,
    MOST_ENDS = 400,
    MOST_SPREAD = 40
};

/* How many rows: one, two, as many as may count, twice as many groups and rows, or very many. */
typedef enum size { ONE, TWO, ALLOWED, TWICE, VERY_MANY } size;

typedef struct plain {
    brume_row_choice choice;
    size size, ends_size;
    bool low_inside, high_inside, arrives, shares; /* the first two: of low and high */
    uint64_t others;
    double low, high, ends, spread; /* times 1/epsilon */
} plain;

static const plain plains[] = {
    {.choice = BRUME_ROW_HIGH},
    {.choice = BRUME_ROW_HIGH, .size = ALLOWED},
    {.choice = BRUME_ROW_LOW},
    {.choice = BRUME_ROW_LOW, .size = ALLOWED}, /* negative totals */
    {.choice = BRUME_ROW_HIGH, .size = TWICE},
    {.choice = BRUME_ROW_LOW, .size = TWICE},
    {.choice = BRUME_ROW_ABOVE},
    {.choice = BRUME_ROW_BELOW},
    {.choice = BRUME_ROW_ANY, .size = ALLOWED, .others = FEW},
    {.choice = BRUME_ROW_MISSING},
    {.choice = BRUME_ROW_NOT_A_NUMBER, .others = FEW},
    {.choice = BRUME_ROW_HIGH, .low = 3}, /* averages: all but one are low */
    {.choice = BRUME_ROW_HIGH, .low = 12},
    {.choice = BRUME_ROW_LOW, .high = 12},
    {.choice = BRUME_ROW_LOW, .low = 1, .high = 1, .low_inside = true, .high_inside = true},
    {.choice = BRUME_ROW_HIGH, .low = 3, .high = 3, .low_inside = true, .high_inside = true},
    {.choice = BRUME_ROW_HIGH, .size = ALLOWED, .others = MANY},
    {.choice = BRUME_ROW_ANY, .size = TWICE, .others = FEW},
};

/* With a threshold: the unit's first key or value has so many others, times the threshold, or all
 * of its keys have. */
static const struct {
    brume_row_choice choice;
    size size;
    double crowd;
    bool everywhere;
} crowded[] = {
    {BRUME_ROW_ANY, ONE, 1, false},      {BRUME_ROW_HIGH, ONE, 1, false},
    {BRUME_ROW_HIGH, ALLOWED, 1, false}, {BRUME_ROW_HIGH, ONE, 2, false},
    {BRUME_ROW_HIGH, TWICE, 2, false},   {BRUME_ROW_LOW, ONE, 2, false},
    {BRUME_ROW_ANY, TWICE, 1, true},     {BRUME_ROW_ANY, TWICE, 2, true},
};

enum { PLAINS = sizeof plains / sizeof *plains, CROWDED = sizeof crowded / sizeof *crowded };

/* ---- for what a query measures ---- */

/* Both numbers behind a mean are seen where the rows are so many that an error is shown, and their
 * mean is so far from the bounds that it is not cut. */
static const plain of_means[] = {
    {.choice = BRUME_ROW_HIGH, .low = 12, .high = 12},
    {.choice = BRUME_ROW_HIGH, .size = ALLOWED, .ends = 12, .ends_size = ALLOWED}};

/* The choice of a limit sees so many units at once, in a bin of small totals or in any, of one row
 * or of several; the unit that differs has more than any limit, so that it adds all that a unit
 * may, or two rows, which are above the limit and below twice the limit. */
static const plain of_limits[] = {
    {.choice = BRUME_ROW_HIGH, .size = TWICE, .ends = 60},
    {.choice = BRUME_ROW_HIGH, .size = TWICE, .high = 160},
    {.choice = BRUME_ROW_LOW, .size = TWICE, .high = 160},
    {.choice = BRUME_ROW_HIGH, .size = TWO, .ends = 60},
    {.choice = BRUME_ROW_HIGH, .size = TWICE, .ends = 60, .ends_size = ALLOWED},
    {.choice = BRUME_ROW_HIGH, .size = VERY_MANY, .ends = 60, .spread = 12}};

/* A unit whose rows do not count in the first database, and do in the second: what is counted moves
 * by a limit then, as large as it may be chosen. */
static const plain of_replacing[] = {
    {.choice = BRUME_ROW_HIGH, .size = ALLOWED, .arrives = true},
    {.choice = BRUME_ROW_HIGH, .size = TWICE, .ends = 60, .ends_size = ALLOWED, .arrives = true}};

/* Rows that are linked to two units each: one of its own, and to all of them the one that differs.
 */
static const plain of_links = {.choice = BRUME_ROW_HIGH, .others = SHARING, .shares = true};

/* A quantile q beyond the bulk is rarely drawn, and one unit there makes it likelier by as much as
 * a unit may, and all of the bulk less likely by as much. Of m units q m are at the lower bound,
 * the others a third of the way inside of the upper one; above those the utility is lower by (1 -
 * q) m, at a rate of epsilon/(2 q): m is such that this is 2, where the place beyond is a twentieth
 * or so. For quantiles up to the middle the same upside down. */
static plain of_quantile(const brume_recipe_hints *hints, double ends)
{
    bool upper = hints->quantile > .5;
    double far = fmin(fmax(hints->quantile, 1 - hints->quantile), .98), near = 1 - far;
    double units = 4 * far / near;
    return (plain){.choice = upper ? BRUME_ROW_HIGH : BRUME_ROW_LOW,
                   .size = ONE,
                   .low = units * (upper ? far : near),
                   .high = units * (upper ? near : far),
                   .low_inside = !upper,
                   .high_inside = upper,
                   .ends = ends};
}

enum { SPECIALS = 16 };

static size_t add_all(const plain *from, size_t count, plain *to)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from[i];
    return count;
}

/* Those that the hints ask for; how many. */
static size_t specials_of(const brume_recipe_hints *hints, plain out[SPECIALS])
{
    size_t count = 0;
    if (hints->means)
        count += add_all(of_means, sizeof of_means / sizeof *of_means, out + count);
    if (hints->limits)
        count += add_all(of_limits, sizeof of_limits / sizeof *of_limits, out + count);
    if (hints->replace)
        count += add_all(of_replacing, sizeof of_replacing / sizeof *of_replacing, out + count);
    if (hints->quantiles)
        out[count++] = of_quantile(hints, 0);
    if (hints->quantiles && hints->limits)
        out[count++] = of_quantile(hints, 60);
    if (hints->shared)
        out[count++] = of_links;
    return count;
}

/* ---- all of them: the plain ones, the crowded ones, the special ones ---- */

static size_t ordinary(const brume_recipe_hints *hints)
{
    return hints->threshold > 0 ? PLAINS + CROWDED : PLAINS;
}

size_t brume_recipe_count(const brume_recipe_hints *hints)
{
    plain specials[SPECIALS];
    return ordinary(hints) + specials_of(hints, specials);
}

static uint64_t at_most(double count, uint64_t most)
{
    return count < (double)most ? (uint64_t)fmax(count, 0) : most;
}

/* Rows in each of so many groups. */
static void choose_size(uint64_t *groups, uint64_t *rows, size chosen, const brume_policy *policy)
{
    *groups = *rows = 1;
    if (chosen == ONE || (!policy->unit && !policy->link_column))
        return;
    if (chosen == TWO || chosen == VERY_MANY) {
        *rows = chosen == TWO ? 2 : 128;
        return;
    }
    /* where the owner has no ceiling, a few are enough to be cut or not */
    uint64_t times = chosen == TWICE ? 2 : 1;
    uint64_t most_groups = policy->max_groups ? policy->max_groups : 2;
    uint64_t most_rows = policy->max_rows ? policy->max_rows : 3;
    *groups = times * (most_groups < MOST_GROUPS ? most_groups : MOST_GROUPS);
    uint64_t most = MOST_ROWS / *groups;
    *rows = times * (most_rows < most ? most_rows : most);
}

static brume_recipe recipe_of(const plain *of, double epsilon, const brume_policy *policy)
{
    enum { MOST_END_ROWS = 8 };
    double inverse = 1 / fmax(epsilon, 1e-3);
    uint64_t groups, rows;
    choose_size(&groups, &rows, of->ends_size, policy);
    brume_recipe recipe = {.choice = of->choice,
                           .others = of->others,
                           .low = at_most(ceil(of->low * inverse), MOST_CROWD),
                           .high = at_most(ceil(of->high * inverse), MOST_CROWD),
                           .low_inside = of->low_inside,
                           .high_inside = of->high_inside,
                           .ends = at_most(ceil(of->ends * inverse), MOST_ENDS),
                           .end_rows = rows < MOST_END_ROWS ? rows : MOST_END_ROWS,
                           .spread = at_most(ceil(of->spread * inverse), MOST_SPREAD),
                           .arrives = of->arrives,
                           .shares = of->shares};
    choose_size(&recipe.groups, &recipe.rows, of->size, policy);
    if (of->shares) /* a row for each of them */
        recipe.groups = of->others;
    return recipe;
}

brume_recipe brume_recipe_of(size_t number, const brume_recipe_hints *hints,
                             const brume_policy *policy)
{
    if (number < PLAINS)
        return recipe_of(&plains[number], hints->epsilon, policy);
    if (number >= ordinary(hints)) {
        plain specials[SPECIALS] = {{0}};
        size_t count = specials_of(hints, specials), which = number - ordinary(hints);
        return recipe_of(&specials[which < count ? which : 0], hints->epsilon, policy);
    }
    brume_recipe recipe = {.end_rows = 1};
    double threshold = (double)hints->threshold;
    double crowd = crowded[number - PLAINS].crowd;
    recipe.choice = crowded[number - PLAINS].choice;
    /* just below it, where one unit more shows the key e^epsilon times as often */
    choose_size(&recipe.groups, &recipe.rows, crowded[number - PLAINS].size, policy);
    recipe.crowd_everywhere = crowded[number - PLAINS].everywhere;
    recipe.crowd = at_most(crowd == 1 ? threshold - 1 : crowd * threshold,
                           MOST_CROWD / (recipe.crowd_everywhere ? recipe.groups : 1));
    return recipe;
}

brume_row_choice brume_row_opposite(brume_row_choice choice)
{
    switch (choice) {
    case BRUME_ROW_HIGH:
    case BRUME_ROW_MISSING:
    case BRUME_ROW_NOT_A_NUMBER:
        return BRUME_ROW_LOW;
    case BRUME_ROW_LOW:
        return BRUME_ROW_HIGH;
    case BRUME_ROW_ABOVE:
        return BRUME_ROW_BELOW;
    case BRUME_ROW_BELOW:
        return BRUME_ROW_ABOVE;
    default:
        return BRUME_ROW_ANY;
    }
}
