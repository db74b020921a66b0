/* Recipes for neighbouring tables. */
#include "audit/recipe.h"

#include <math.h>

enum { FEW = 6, MANY = 40, MOST_GROUPS = 16, MOST_ROWS = 4096, MOST_CROWD = 4096, MOST_ENDS = 400 };

/* How many rows: one, as many as may count, or twice as many groups and rows. */
typedef enum size { ONE, ALLOWED, TWICE } size;

typedef struct plain {
    brume_row_choice choice;
    size size;
    uint64_t others;
    double low, high;                             /* times 1/epsilon */
    enum { AT_BOUNDS, INSIDE, LOW_INSIDE } where; /* of these */
    double ends;                                  /* times 1/epsilon */
} plain;

static const plain plains[] = {
    {BRUME_ROW_HIGH, ONE, 0, 0, 0, AT_BOUNDS, 0},
    {BRUME_ROW_HIGH, ALLOWED, 0, 0, 0, AT_BOUNDS, 0},
    {BRUME_ROW_LOW, ONE, 0, 0, 0, AT_BOUNDS, 0},
    {BRUME_ROW_HIGH, TWICE, 0, 0, 0, AT_BOUNDS, 0},
    {BRUME_ROW_ABOVE, ONE, 0, 0, 0, AT_BOUNDS, 0},
    {BRUME_ROW_BELOW, ONE, 0, 0, 0, AT_BOUNDS, 0},
    {BRUME_ROW_ANY, ALLOWED, FEW, 0, 0, AT_BOUNDS, 0},
    {BRUME_ROW_MISSING, ONE, 0, 0, 0, AT_BOUNDS, 0},
    {BRUME_ROW_NOT_A_NUMBER, ONE, FEW, 0, 0, AT_BOUNDS, 0},
    {BRUME_ROW_HIGH, ONE, 0, 3, 0, AT_BOUNDS, 0}, /* averages: the others are low, one is high */
    {BRUME_ROW_HIGH, ONE, 0, 12, 0, AT_BOUNDS, 0},
    {BRUME_ROW_HIGH, ONE, 0, 30, 0, AT_BOUNDS, 0},
    {BRUME_ROW_LOW, ONE, 0, 0, 12, AT_BOUNDS, 0},
    {BRUME_ROW_LOW, ONE, 0, 1, 1, INSIDE,
     0}, /* medians: a value outside of the middle is seldom, and */
    {BRUME_ROW_LOW, ONE, 0, 2, 2, INSIDE,
     0}, /* one unit there makes it likelier, the middle less */
    {BRUME_ROW_HIGH, ONE, 0, 3, 3, INSIDE, 0},
    {BRUME_ROW_LOW, ONE, 0, 1, 1, LOW_INSIDE, 0}, /* nothing is above the middle */
    {BRUME_ROW_LOW, ONE, 0, 2, 2, LOW_INSIDE, 0},
    {BRUME_ROW_LOW, ONE, 0, 2, 2, LOW_INSIDE, 60}, /* the same where the limits are chosen */
    {BRUME_ROW_HIGH, ONE, 0, 0, 0, AT_BOUNDS, 60},
    {BRUME_ROW_HIGH, ALLOWED, MANY, 0, 0, AT_BOUNDS, 0},
    {BRUME_ROW_ANY, TWICE, FEW, 0, 0, AT_BOUNDS, 0},
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

size_t brume_recipe_count(const brume_recipe_hints *hints)
{
    return hints->threshold > 0 ? PLAINS + CROWDED : PLAINS;
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

brume_recipe brume_recipe_of(size_t number, const brume_recipe_hints *hints,
                             const brume_policy *policy)
{
    brume_recipe recipe = {0};
    if (number < PLAINS) {
        const plain *of = &plains[number];
        double seldom = 1 / fmax(hints->epsilon, 1e-3);
        recipe.choice = of->choice;
        recipe.others = of->others;
        recipe.low = at_most(ceil(of->low * seldom), MOST_CROWD);
        recipe.high = at_most(ceil(of->high * seldom), MOST_CROWD);
        recipe.low_inside = of->where != AT_BOUNDS;
        recipe.high_inside = of->where == INSIDE;
        recipe.ends = at_most(ceil(of->ends * seldom), MOST_ENDS);
        choose_size(&recipe, of->size, policy);
        return recipe;
    }
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
