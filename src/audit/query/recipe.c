/* Recipes for neighbouring tables. */
#include "audit/query/recipe.h"

#include <math.h>

enum { FEW = 6, MANY = 40, MOST_GROUPS = 16, MOST_ROWS = 4096, MOST_CROWD = 4096, MOST_ENDS = 400 };

/* How many rows: one, as many as may count, or twice as many groups and rows. */
typedef enum size { ONE, ALLOWED, TWICE } size;

typedef struct plain {
    brume_row_choice choice;
    size size;
    uint64_t others;
    double low, high;             /* times 1/epsilon */
    bool low_inside, high_inside; /* of these */
    double ends;                  /* times 1/epsilon */
} plain;

static const plain plains[] = {
    {BRUME_ROW_HIGH, ONE, 0, 0, 0, false, false, 0},
    {BRUME_ROW_HIGH, ALLOWED, 0, 0, 0, false, false, 0},
    {BRUME_ROW_LOW, ONE, 0, 0, 0, false, false, 0},
    {BRUME_ROW_HIGH, TWICE, 0, 0, 0, false, false, 0},
    {BRUME_ROW_ABOVE, ONE, 0, 0, 0, false, false, 0},
    {BRUME_ROW_BELOW, ONE, 0, 0, 0, false, false, 0},
    {BRUME_ROW_ANY, ALLOWED, FEW, 0, 0, false, false, 0},
    {BRUME_ROW_MISSING, ONE, 0, 0, 0, false, false, 0},
    {BRUME_ROW_NOT_A_NUMBER, ONE, FEW, 0, 0, false, false, 0},
    {BRUME_ROW_HIGH, ONE, 0, 3, 0, false, false, 0}, /* averages: all but one are low */
    {BRUME_ROW_HIGH, ONE, 0, 12, 0, false, false, 0},
    {BRUME_ROW_LOW, ONE, 0, 0, 12, false, false, 0},
    {BRUME_ROW_LOW, ONE, 0, 1, 1, true, true, 0},
    {BRUME_ROW_HIGH, ONE, 0, 3, 3, true, true, 0},
    {BRUME_ROW_HIGH, ALLOWED, MANY, 0, 0, false, false, 0},
    {BRUME_ROW_ANY, TWICE, FEW, 0, 0, false, false, 0},
};

/* With a threshold: the unit's first key or value has so many others, times the threshold. */
static const struct {
    brume_row_choice choice;
    size size;
    double crowd;
} crowded[] = {
    {BRUME_ROW_ANY, ONE, 1},  {BRUME_ROW_HIGH, ONE, 1},   {BRUME_ROW_HIGH, ALLOWED, 1},
    {BRUME_ROW_HIGH, ONE, 2}, {BRUME_ROW_HIGH, TWICE, 2}, {BRUME_ROW_LOW, ONE, 2},
};

enum { PLAINS = sizeof plains / sizeof *plains, CROWDED = sizeof crowded / sizeof *crowded };

/* ---- for what a query measures ---- */

/* Both numbers behind a mean are seen where the rows are so many that an error is shown, and their
 * mean is so far from the bounds that it is not cut. */
static const plain of_means = {BRUME_ROW_HIGH, ONE, 0, 12, 12, false, false, 0};

/* The choice of a limit sees so many units at once, in a bin of small totals or in any; the unit
 * that differs has more than any limit, so that it adds all that a unit may. */
static const plain of_limits[] = {{BRUME_ROW_HIGH, TWICE, 0, 0, 0, false, false, 60},
                                  {BRUME_ROW_HIGH, TWICE, 0, 0, 160, false, false, 0}};

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

enum { SPECIALS = 5 };

/* Those that the hints ask for; how many. */
static size_t specials_of(const brume_recipe_hints *hints, plain out[SPECIALS])
{
    size_t count = 0;
    if (hints->means)
        out[count++] = of_means;
    for (size_t i = 0; hints->limits && i < 2; i++)
        out[count++] = of_limits[i];
    if (hints->quantiles)
        out[count++] = of_quantile(hints, 0);
    if (hints->quantiles && hints->limits)
        out[count++] = of_quantile(hints, 60);
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

bool brume_recipe_is_special(size_t number, const brume_recipe_hints *hints)
{
    return number >= ordinary(hints);
}

static uint64_t at_most(double count, uint64_t most)
{
    return count < (double)most ? (uint64_t)fmax(count, 0) : most;
}

static void choose_size(brume_recipe *recipe, size chosen, const brume_policy *policy)
{
    recipe->groups = recipe->rows = 1;
    if (chosen == ONE || (!policy->unit && !policy->link_column))
        return;
    /* where the owner has no ceiling, a few are enough to be cut or not */
    uint64_t times = chosen == TWICE ? 2 : 1;
    uint64_t groups = policy->max_groups ? policy->max_groups : 2;
    uint64_t rows = policy->max_rows ? policy->max_rows : 3;
    recipe->groups = times * (groups < MOST_GROUPS ? groups : MOST_GROUPS);
    uint64_t most = MOST_ROWS / recipe->groups;
    recipe->rows = times * (rows < most ? rows : most);
}

static brume_recipe recipe_of(const plain *of, double epsilon, const brume_policy *policy)
{
    double inverse = 1 / fmax(epsilon, 1e-3);
    brume_recipe recipe = {.choice = of->choice,
                           .others = of->others,
                           .low = at_most(ceil(of->low * inverse), MOST_CROWD),
                           .high = at_most(ceil(of->high * inverse), MOST_CROWD),
                           .low_inside = of->low_inside,
                           .high_inside = of->high_inside,
                           .ends = at_most(ceil(of->ends * inverse), MOST_ENDS)};
    choose_size(&recipe, of->size, policy);
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
    brume_recipe recipe = {0};
    double threshold = (double)hints->threshold;
    double crowd = crowded[number - PLAINS].crowd;
    recipe.choice = crowded[number - PLAINS].choice;
    /* just below it, where one unit more shows the key e^epsilon times as often */
    recipe.crowd = at_most(crowd == 1 ? threshold - 1 : crowd * threshold, MOST_CROWD);
    choose_size(&recipe, crowded[number - PLAINS].size, policy);
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
