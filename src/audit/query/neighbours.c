/* Two neighbouring databases, made from policies alone. Promises: no source of a dataset is opened;
 * the same number gives the same databases again. */
#include "audit/query/neighbours.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/query/made_table.h"
#include "audit/subsets.h"
#include "base/error.h"
#include "query/expression/literal.h"
#include "query/plan/key_value.h"
#include "query/plan/policy.h"
#include "query/plan/question.h"

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

enum { BRUME_VALUES = 48 };

typedef struct brume_values {
    char *texts[BRUME_VALUES];
    size_t count;     /* at least 1 */
    size_t low, high; /* where the bounds are; equal: there are none */
} brume_values;

/* ---- values to try in a column, from what is public of it ---- */

static void values_clear(brume_values *values)
{
    for (size_t i = 0; i < values->count; i++)
        free(values->texts[i]);
    *values = (brume_values){0};
}

static bool is_whole(const char *text)
{
    text += *text == '-' || *text == '+';
    return *text && strspn(text, "0123456789") == strlen(text);
}

static bool is_number(const char *text)
{
    char *end = NULL;
    strtod(text, &end);
    return end != text && !*end && strspn(text, "+-.0123456789eE") == strlen(text);
}

static bool is_whole_within(const char *text, int64_t low, int64_t high)
{
    errno = 0;
    long long value = strtoll(text, NULL, 10);
    return is_whole(text) && errno == 0 && value >= low && value <= high;
}

/* Does the text convert to the type on every engine? A row of another would be skipped, or be an
 * error. */
static bool fits(brume_type type, const char *text)
{
    char canonical[32];
    switch (type.kind) {
    case BRUME_TYPE_REFUSED:
        return false;
    case BRUME_TYPE_BOOLEAN:
        return strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
    case BRUME_TYPE_INTEGER:
        return is_whole_within(text, INT32_MIN, INT32_MAX);
    case BRUME_TYPE_BIGINT:
        return is_whole_within(text, INT64_MIN, INT64_MAX);
    case BRUME_TYPE_DECIMAL: /* half a unit of room: it may be rounded up */
        return is_number(text) && !strpbrk(text, "eE") &&
               fabs(strtod(text, NULL)) < pow(10, type.precision - type.scale) - 0.5;
    case BRUME_TYPE_DOUBLE:
        return is_number(text) && fabs(strtod(text, NULL)) < 1e150;
    case BRUME_TYPE_TEXT:
        return true;
    case BRUME_TYPE_DATE:
        return brume_literal_date(text, canonical);
    case BRUME_TYPE_TIMESTAMP:
        return brume_literal_timestamp(text, canonical);
    }
    return false;
}

/* The place of the value; it is added where it is new and there is room. False: out of memory. */
static bool add(brume_values *values, const char *text, size_t *place)
{
    for (size_t i = 0; i < values->count; i++)
        if (strcmp(values->texts[i], text) == 0) {
            *place = i;
            return true;
        }
    *place = values->count ? values->count - 1 : 0;
    if (values->count == BRUME_VALUES)
        return true;
    char *copy = strdup(text);
    if (!copy)
        return false;
    *place = values->count;
    values->texts[values->count++] = copy;
    return true;
}

/* A literal; around a number also its neighbours, since conditions turn there. */
static bool add_literal(brume_values *values, brume_type type, const char *text)
{
    size_t place;
    char near[40];
    if (!fits(type, text))
        return true;
    bool good = add(values, text, &place);
    bool number = brume_type_is_number(type) && strlen(text) < 16;
    for (int step = -1; good && number && step <= 1; step += 2) {
        snprintf(near, sizeof near, "%.10g", strtod(text, NULL) + step);
        if (fits(type, near))
            good = add(values, near, &place);
    }
    return good;
}

/* Every 'text' and every number that stands in the SQL. */
static bool add_literals(brume_values *values, brume_type type, const char *sql)
{
    bool good = true;
    while (good && *sql) {
        char text[80];
        size_t length = 0;
        if (*sql == '\'') {
            for (sql++; *sql && (*sql != '\'' || sql[1] == '\''); sql++) {
                sql += *sql == '\''; /* doubled */
                if (length + 1 < sizeof text)
                    text[length++] = *sql;
            }
            sql += *sql != 0;
        } else if (isdigit((unsigned char)*sql)) {
            for (; isdigit((unsigned char)*sql) || *sql == '.'; sql++)
                if (length + 1 < sizeof text)
                    text[length++] = *sql;
        } else if (isalpha((unsigned char)*sql) || *sql == '_') {
            sql += strspn(sql, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
            continue;
        } else {
            sql++;
            continue;
        }
        text[length] = 0;
        good = add_literal(values, type, text);
    }
    return good;
}

/* A few values of the type, where nothing better is known. */
static bool add_plain(brume_values *values, brume_type type)
{
    static const char *const plain[] = {"0",          "1",          "2",          "3",
                                        "true",       "false",      "2020-01-01", "2020-06-15",
                                        "2021-12-31", "1999-02-28", "a",          "b"};
    size_t place;
    bool good = true;
    for (size_t i = 0; good && i < sizeof plain / sizeof *plain; i++)
        if (fits(type, plain[i]))
            good = add(values, plain[i], &place);
    return good;
}

/* Those of `column`, with the literals of `sql` that fit its type. Free with values_clear,
 * also after a failure. */
static brume_status values_find(const brume_policy_column *column, const char *sql,
                                brume_values *out, brume_error *error)
{
    size_t place;
    bool good = true;
    *out = (brume_values){0};
    if (column->low && column->high)
        good = add(out, column->low, &out->low) && add(out, column->high, &out->high);
    for (size_t i = 0; good && i < column->domain_count; i++)
        good = add(out, column->domain[i], &place);
    good = good && add_literals(out, column->type, sql);
    if (good && !column->domain && !(column->low && column->high))
        good = add_plain(out, column->type);
    if (good && out->count == 0)
        good = add(out, "", &place); /* missing */
    return good ? BRUME_OK : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for an audit");
}

/* Add what is public of `other`, a column of the same name in another table: they may be joined on.
 */
static brume_status values_share(const brume_policy_column *other, brume_type type,
                                 brume_values *values, brume_error *error)
{
    const char *const bounds[] = {other->low, other->high};
    size_t place;
    bool good = true;
    for (size_t i = 0; good && i < 2; i++)
        good = !bounds[i] || !fits(type, bounds[i]) || add(values, bounds[i], &place);
    for (size_t i = 0; good && i < other->domain_count; i++)
        good = !fits(type, other->domain[i]) || add(values, other->domain[i], &place);
    return good ? BRUME_OK : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for an audit");
}

/* A value between the column's bounds, this share of the way up; "" where it has none. */
static void values_between(const brume_policy_column *column, double share, char text[64])
{
    text[0] = 0;
    if (!column->low || !column->high || !brume_type_is_number(column->type))
        return;
    double low = strtod(column->low, NULL), high = strtod(column->high, NULL);
    bool whole = column->type.kind == BRUME_TYPE_INTEGER || column->type.kind == BRUME_TYPE_BIGINT;
    snprintf(text, 64, whole ? "%.0f" : "%.4f", low + share * (high - low));
    if (!fits(column->type, text))
        text[0] = 0;
}

/* A value far above the column's bounds, or far below; "" where it has none or its type has no such
 * value. */
static void values_beyond(const brume_policy_column *column, bool above, char text[64])
{
    text[0] = 0;
    if (!column->low || !column->high || !brume_type_is_number(column->type))
        return;
    double low = strtod(column->low, NULL), high = strtod(column->high, NULL);
    for (double times = 10; times > .1; times /= 2) { /* as far as the type lets it */
        double beyond = above ? high + times * (high - low) + 1 : low - times * (high - low) - 1;
        snprintf(text, 64, "%.0f", beyond);
        if (fits(column->type, text))
            return;
    }
    text[0] = 0;
}

/* Unit number `unit`, as a value of the column. BRUME_EUNSUPPORTED where its type has too few. */
static brume_status values_unit(const brume_policy_column *column, unsigned unit, char text[64],
                                brume_error *error)
{
    enum { WHOLE_DIGITS = 4 }; /* of the largest number of a unit */
    brume_type type = column->type;
    bool date = type.kind == BRUME_TYPE_DATE || type.kind == BRUME_TYPE_TIMESTAMP;
    bool few = type.kind == BRUME_TYPE_DECIMAL && type.precision - type.scale < WHOLE_DIGITS;
    if (strcmp(column->native, "UUID") == 0)
        snprintf(text, 64, "00000000-0000-0000-0000-%012u", unit);
    else if (type.kind == BRUME_TYPE_BOOLEAN || strncmp(column->native, "ENUM(", 5) == 0 || few)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                          "units of the type %.40s cannot be made for an audit", column->native);
    else
        snprintf(text, 64, date ? "%u-01-01" : "%u", date ? 1000 + unit : unit); /* below 9999 */
    return BRUME_OK;
}

/* ---- recipes for neighbouring tables ---- */

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

typedef struct plain_recipe {
    brume_row_choice choice;
    size size, ends_size;
    bool low_inside, high_inside, arrives, shares; /* the first two: of low and high */
    uint64_t others;
    double low, high, ends, spread; /* times 1/epsilon */
} plain_recipe;

static const plain_recipe plains[] = {
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
static const plain_recipe of_means[] = {
    {.choice = BRUME_ROW_HIGH, .low = 12, .high = 12},
    {.choice = BRUME_ROW_HIGH, .size = ALLOWED, .ends = 12, .ends_size = ALLOWED}};

/* The choice of a limit sees so many units at once, in a bin of small totals or in any, of one row
 * or of several; the unit that differs has more than any limit, so that it adds all that a unit
 * may, or two rows, which are above the limit and below twice the limit. */
static const plain_recipe of_limits[] = {
    {.choice = BRUME_ROW_HIGH, .size = TWICE, .ends = 60},
    {.choice = BRUME_ROW_HIGH, .size = TWICE, .high = 160},
    {.choice = BRUME_ROW_LOW, .size = TWICE, .high = 160},
    {.choice = BRUME_ROW_HIGH, .size = TWO, .ends = 60},
    {.choice = BRUME_ROW_HIGH, .size = TWICE, .ends = 60, .ends_size = ALLOWED},
    {.choice = BRUME_ROW_HIGH, .size = VERY_MANY, .ends = 60, .spread = 12}};

/* A unit whose rows do not count in the first database, and do in the second: what is counted moves
 * by a limit then, as large as it may be chosen. A number of rows moves by all but one of the
 * limit, which is above 1 where some 400/epsilon units have many rows. */
static const plain_recipe of_replacing[] = {
    {.choice = BRUME_ROW_HIGH, .size = ALLOWED, .arrives = true},
    {.choice = BRUME_ROW_HIGH, .size = TWICE, .ends = 60, .ends_size = ALLOWED, .arrives = true},
    {.choice = BRUME_ROW_HIGH,
     .size = VERY_MANY,
     .ends = 300,
     .ends_size = VERY_MANY,
     .arrives = true}};

/* Rows that are linked to two units each: one of its own, and to all of them the one that differs.
 */
static const plain_recipe of_links = {.choice = BRUME_ROW_HIGH, .others = SHARING, .shares = true};

/* A quantile q beyond the bulk is rarely drawn, and one unit there makes it likelier by as much as
 * a unit may, and all of the bulk less likely by as much. With m units, q m are at the lower bound,
 * the others a third of the way inside of the upper one; above those the utility is lower by (1 -
 * q) m, at a rate of epsilon/(2 q): m is such that this is 2, where the place beyond is a twentieth
 * or so. For quantiles up to the middle the same upside down. */
static plain_recipe of_quantile(const brume_recipe_hints *hints, double ends)
{
    bool upper = hints->quantile > .5;
    double far = fmin(fmax(hints->quantile, 1 - hints->quantile), .98), near = 1 - far;
    double units = 4 * far / near;
    return (plain_recipe){.choice = upper ? BRUME_ROW_HIGH : BRUME_ROW_LOW,
                          .size = ONE,
                          .low = units * (upper ? far : near),
                          .high = units * (upper ? near : far),
                          .low_inside = !upper,
                          .high_inside = upper,
                          .ends = ends};
}

enum { SPECIALS = 16 };

static size_t add_all(const plain_recipe *from, size_t count, plain_recipe *to)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from[i];
    return count;
}

/* Those that the hints ask for; how many. */
static size_t specials_of(const brume_recipe_hints *hints, plain_recipe out[SPECIALS])
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

/* How many there are. */
static size_t recipe_count(const brume_recipe_hints *hints)
{
    plain_recipe specials[SPECIALS];
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

static brume_recipe recipe_of(const plain_recipe *of, double epsilon, const brume_policy *policy)
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

/* Recipe `number`, for a table with this policy. */
static brume_recipe brume_recipe_of(size_t number, const brume_recipe_hints *hints,
                                    const brume_policy *policy)
{
    if (number < PLAINS)
        return recipe_of(&plains[number], hints->epsilon, policy);
    if (number >= ordinary(hints)) {
        plain_recipe specials[SPECIALS] = {{0}};
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

/* What the unit has in the first database under replace. */
static brume_row_choice row_opposite(brume_row_choice choice)
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

enum { PUBLIC_ROWS = 12, SPREAD_STEPS = 8 };

/* Numbers of units. */
enum { FIRST_OTHER = 1, DIFFERING = 90, FIRST_LOW = 100, FIRST_HIGH = 5000 };

struct brume_neighbours {
    const brume_question *question;
    brume_values **values; /* [table][column] */
    size_t table;          /* the one that differs */
    brume_adjacency adjacency;
    brume_recipe recipe;
    uint64_t first;                    /* chooses the values of the unit that differs */
    bool window;                       /* it differs in its rows of one window: */
    char dates[2][64], label[64];      /* a day of it, one of another (or ""), and its name */
    char folder[BRUME_MADE_PATH - 60]; /* of the files; empty where there are none */
    brume_made_table *databases[2];    /* [table] */
    brume_engine *engines[BRUME_NEIGHBOUR_LANES][2];
    char words[300];
};

static void clear_database(brume_neighbours *all, bool second)
{
    brume_made_table *tables = all->databases[second];
    for (size_t lane = 0; lane < BRUME_NEIGHBOUR_LANES; lane++)
        brume_engine_close(all->engines[lane][second]);
    for (size_t t = 0; tables && t < all->question->table_count; t++)
        brume_made_table_clear(&tables[t]);
    free(tables);
}

void brume_neighbours_close(brume_neighbours *all)
{
    if (!all)
        return;
    for (size_t t = 0; all->values && t < all->question->table_count; t++) {
        for (size_t c = 0; all->values[t] && c < all->question->policies[t]->column_count; c++)
            values_clear(&all->values[t][c]);
        free(all->values[t]);
    }
    free(all->values);
    clear_database(all, false);
    clear_database(all, true);
    if (all->folder[0])
        rmdir(all->folder);
    free(all);
}

const char *brume_neighbours_words(const brume_neighbours *all)
{
    return all->words;
}

/* ---- units and links ---- */

/* The table's own name, without that of its dataset. */
static const char *own_name(const brume_question *question, size_t table)
{
    const char *name = question->catalog_tables[table].name;
    const char *point = strrchr(name, '.');
    return point ? point + 1 : name;
}

static bool same_dataset(const brume_question *question, size_t a, size_t b)
{
    return strcmp(question->datasets[a]->name, question->datasets[b]->name) == 0;
}

static bool is_column(const char *name, const char *column)
{
    return name && strcmp(name, column) == 0;
}

static bool is_child_of(const brume_question *question, size_t child, size_t table)
{
    const brume_policy *policy = question->policies[child];
    return policy->link_column && same_dataset(question, child, table) &&
           strcmp(policy->parent, own_name(question, table)) == 0;
}

/* Do links of other tables lead to the column, or, NULL, to any column of the table? */
static bool is_linked_to(const brume_question *question, size_t table, const char *column)
{
    for (size_t t = 0; t < question->table_count; t++)
        if (is_child_of(question, t, table) &&
            (!column || strcmp(question->policies[t]->parent_column, column) == 0))
            return true;
    return false;
}

static bool has_units(const brume_policy *policy)
{
    return policy->unit || policy->link_column;
}

/* A column by which rows of other tables may be linked to several units: it does not say by itself
 * whose a row is. */
static bool is_shared_key(const brume_question *question, size_t table, const char *column)
{
    const brume_policy *policy = question->policies[table];
    return !is_column(policy->unit, column) && !is_column(policy->link_column, column) &&
           is_linked_to(question, table, column);
}

/* Does the column say whose a row is: the unit, a link, or what a link of another table leads to?
 */
static bool is_of_unit(const brume_question *question, size_t table, const char *column)
{
    const brume_policy *policy = question->policies[table];
    return is_column(policy->unit, column) || is_column(policy->link_column, column) ||
           is_linked_to(question, table, column);
}

/* The number of a unit in a column that says whose a row is. In every second table with shared keys
 * two units have each other's: joins of keys of different tables then make rows of two units. */
static unsigned number_in(const brume_question *question, size_t table, const char *column,
                          unsigned unit)
{
    const brume_policy *policy = question->policies[table];
    if (is_column(policy->unit, column))
        return unit;
    for (size_t t = 0; is_column(policy->link_column, column) && t < question->table_count; t++)
        if (is_child_of(question, table, t))
            return number_in(question, t, policy->parent_column, unit); /* links have no circle */
    size_t before = 0;
    for (size_t t = 0; t < table; t++)
        before += is_linked_to(question, t, NULL);
    if (before % 2 == 0 || (unit != DIFFERING && unit != FIRST_OTHER))
        return unit;
    return unit == DIFFERING ? FIRST_OTHER : DIFFERING;
}

/* Is the unit that differs missing from this table too, under add-remove? */
static bool goes_along(const brume_neighbours *all, size_t table)
{
    return table == all->table || (has_units(all->question->policies[table]) &&
                                   same_dataset(all->question, table, all->table));
}

/* ---- rows ---- */

/* Which values a row has: place (first + turn) of each column's, or what is chosen. */
typedef struct row_choice {
    uint64_t first; /* a random word for each row's columns */
    uint64_t turn;
    brume_row_choice choice;
} row_choice;

/* The text of a cell; `text` is room for one that is made. */
static const char *cell_of(const brume_policy_column *column, const brume_values *values,
                           uint64_t place, const row_choice *of, char text[64])
{
    enum { STEPS = 8 };
    bool bounded = values->low != values->high;
    brume_row_choice choice = of->choice;
    if (bounded && choice == BRUME_ROW_ANY && of->turn > 0) { /* groups have keys of their own */
        values_between(column, (1 + (double)(of->turn % (STEPS - 1))) / STEPS, text);
        return text[0] ? text : values->texts[place];
    }
    if (!bounded || choice == BRUME_ROW_ANY)
        return values->texts[place];
    switch (choice) {
    case BRUME_ROW_HIGH:
        return values->texts[values->high];
    case BRUME_ROW_LOW:
        return values->texts[values->low];
    case BRUME_ROW_LOWER_THIRD:
    case BRUME_ROW_UPPER_THIRD:
        values_between(column, choice == BRUME_ROW_LOWER_THIRD ? 1 / 3. : 2 / 3., text);
        return text;
    case BRUME_ROW_ABOVE:
    case BRUME_ROW_BELOW:
        values_beyond(column, choice == BRUME_ROW_ABOVE, text);
        return text;
    case BRUME_ROW_NOT_A_NUMBER:
        return column->type.kind == BRUME_TYPE_DOUBLE ? "NaN" : "";
    default:
        return "";
    }
}

static bool is_window_column(const brume_policy *policy, const brume_policy_column *column)
{
    return policy->window.place == BRUME_WINDOW_BY_COLUMN &&
           strcmp(policy->window.column, column->name) == 0;
}

static brume_status write_row(const brume_neighbours *all, size_t table, unsigned unit,
                              const row_choice *of, brume_made_table *out, brume_error *error)
{
    const brume_policy *policy = all->question->policies[table];
    const char **texts = calloc(policy->column_count + 1, sizeof *texts);
    char(*made)[64] = calloc(policy->column_count + 1, sizeof *made);
    uint64_t state = of->first;
    brume_status status = texts && made ? BRUME_OK : brume_no_memory(error, "an audit");
    for (size_t c = 0; status == BRUME_OK && c < policy->column_count; c++) {
        const brume_policy_column *column = &policy->columns[c];
        const brume_values *values = &all->values[table][c];
        uint64_t place = (brume_public_word(&state) + of->turn) % values->count;
        texts[c] = cell_of(column, values, place, of, made[c]);
        if (all->window && is_window_column(policy, column))
            texts[c] = all->dates[of->turn > 0 && *all->dates[1]];
        if (has_units(policy) && is_of_unit(all->question, table, column->name)) {
            unsigned whose = unit;
            if (all->recipe.shares && unit == DIFFERING && all->recipe.others > 0 &&
                is_shared_key(all->question, table, column->name))
                whose = FIRST_OTHER + (unsigned)(of->turn % all->recipe.others);
            whose = number_in(all->question, table, column->name, whose);
            status = values_unit(column, whose, made[c], error);
            texts[c] = made[c];
        }
    }
    if (status == BRUME_OK)
        brume_made_table_row(out, texts);
    free(made);
    free(texts);
    return status;
}

/* So many units, of so many rows each; *next is the number of the first, and of the next unit. */
static brume_status write_units(const brume_neighbours *all, size_t table, unsigned *next,
                                uint64_t count, uint64_t rows, const row_choice *of,
                                brume_made_table *out, brume_error *error)
{
    for (uint64_t unit = 0; unit < count; unit++, ++*next)
        for (uint64_t row = 0; row < rows; row++)
            BRUME_TRY(write_row(all, table, *next, of, out, error));
    return BRUME_OK;
}

/* The units that are in both databases. */
static brume_status write_others(const brume_neighbours *all, size_t table, uint64_t *state,
                                 brume_made_table *out, brume_error *error)
{
    const brume_recipe *recipe = &all->recipe;
    bool is_public = all->question->policies[table]->is_public;
    uint64_t others = is_public ? PUBLIC_ROWS : recipe->others;
    for (unsigned unit = FIRST_OTHER; unit < FIRST_OTHER + others; unit++) {
        row_choice any = {brume_public_word(state), 0, BRUME_ROW_ANY};
        BRUME_TRY(write_row(all, table, unit, &any, out, error));
    }
    if (is_public)
        return BRUME_OK;
    row_choice low = {all->first, 0, recipe->low_inside ? BRUME_ROW_LOWER_THIRD : BRUME_ROW_LOW};
    row_choice high = {all->first, 0, recipe->high_inside ? BRUME_ROW_UPPER_THIRD : BRUME_ROW_HIGH};
    row_choice bottom = {all->first, 0, BRUME_ROW_LOW}, top = {all->first, 0, BRUME_ROW_HIGH};
    unsigned next = FIRST_LOW, next_high = FIRST_HIGH;
    uint64_t crowds = recipe->crowd_everywhere ? recipe->groups : 1, ends = recipe->ends;
    bool several = table == all->table; /* joins of many rows with many would take long */
    uint64_t end_rows = several ? recipe->end_rows : 1;
    BRUME_TRY(write_units(all, table, &next, recipe->low, 1, &low, out, error));
    BRUME_TRY(write_units(all, table, &next_high, recipe->high, 1, &high, out, error));
    for (uint64_t group = 0; group < crowds; group++) {
        row_choice same = {all->first, group, recipe->choice};
        BRUME_TRY(write_units(all, table, &next, recipe->crowd, 1, &same, out, error));
    }
    BRUME_TRY(write_units(all, table, &next, ends, end_rows, &bottom, out, error));
    for (uint64_t step = 0; step < SPREAD_STEPS; step++) {
        uint64_t rows = UINT64_C(3) << step / 2;
        rows += step % 2 ? rows / 3 : 0; /* 3, 4, 6, 8 ... */
        BRUME_TRY(write_units(all, table, &next_high, recipe->spread, several ? rows : 1, &top, out,
                              error));
    }
    return write_units(all, table, &next_high, ends, end_rows, &top, out, error);
}

/* The unit that differs, in the table whose rows do. */
static brume_status write_differing(const brume_neighbours *all, bool second, brume_made_table *out,
                                    brume_error *error)
{
    const brume_recipe *recipe = &all->recipe;
    bool replaced = all->adjacency == BRUME_REPLACE && !second;
    brume_row_choice choice = replaced ? row_opposite(recipe->choice) : recipe->choice;
    /* under replace the first database has groups of its own */
    uint64_t turn = replaced ? recipe->groups : 0;
    bool arrives = replaced && recipe->arrives;
    uint64_t groups = arrives ? 1 : recipe->groups, rows = arrives ? 1 : recipe->rows;
    for (uint64_t group = 0; group < groups; group++)
        for (uint64_t row = 0; row < rows; row++) {
            row_choice of = {all->first, turn + group, arrives ? BRUME_ROW_MISSING : choice};
            BRUME_TRY(write_row(all, all->table, DIFFERING, &of, out, error));
        }
    return BRUME_OK;
}

static uint64_t rows_there(const brume_neighbours *all)
{
    enum { TIMES = 16 };
    uint64_t rows = all->recipe.rows;
    return !*all->dates[1] ? rows : rows * TIMES < MOST_ROWS ? rows * TIMES : MOST_ROWS;
}

/* The unit's rows of one window, in its first group: in the second database, or under replace
 * others in the first. Where a second window is touched, they are many times as many as its rows
 * there, in another group and in both databases: a limit on all of them is filled by these when the
 * first go.
 */
static brume_status write_window(const brume_neighbours *all, bool second, brume_made_table *out,
                                 brume_error *error)
{
    const brume_recipe *recipe = &all->recipe;
    bool replaced = all->adjacency == BRUME_REPLACE && !second;
    uint64_t groups = *all->dates[1] ? (recipe->groups > 2 ? recipe->groups : 2) : 1;
    row_choice there = {all->first, 0, replaced ? row_opposite(recipe->choice) : recipe->choice};
    for (uint64_t row = 0; (second || replaced) && row < rows_there(all); row++)
        BRUME_TRY(write_row(all, all->table, DIFFERING, &there, out, error));
    for (uint64_t group = 1; group < groups; group++) {
        row_choice stays = {all->first, group, recipe->choice};
        for (uint64_t row = 0; row < (group == 1 ? recipe->rows : 1); row++)
            BRUME_TRY(write_row(all, all->table, DIFFERING, &stays, out, error));
    }
    return BRUME_OK;
}

static brume_status write_table(const brume_neighbours *all, size_t table, bool second,
                                uint64_t number, brume_error *error)
{
    const brume_policy *policy = all->question->policies[table];
    brume_made_table *out = &all->databases[second][table];
    char path[BRUME_MADE_PATH];
    snprintf(path, sizeof path, "%s/%zu-%d.csv", all->folder, table, second ? 2 : 1);
    BRUME_TRY(brume_made_table_begin(out, policy, path, error));
    uint64_t state = (number << 16) + table; /* the same rows in both databases */
    BRUME_TRY(write_others(all, table, &state, out, error));
    bool present = second || all->adjacency == BRUME_REPLACE || !goes_along(all, table);
    row_choice plain = {all->first, 0, BRUME_ROW_HIGH};
    present = present || all->window; /* it has rows of no window, or of others */
    if (table == all->table && all->window)
        BRUME_TRY(write_window(all, second, out, error));
    else if (table == all->table && present)
        BRUME_TRY(write_differing(all, second, out, error));
    else if (present && !policy->is_public && has_units(policy))
        BRUME_TRY(write_row(all, table, DIFFERING, &plain, out, error));
    return brume_made_table_end(out, error);
}

/* ---- the two databases ---- */

static brume_status open_engine(const brume_neighbours *all, bool second, brume_engine **out,
                                brume_error *error)
{
    size_t count = all->question->table_count;
    brume_source *sources = calloc(count + 1, sizeof *sources);
    brume_column **columns = calloc(count + 1, sizeof *columns);
    brume_status status = sources && columns ? BRUME_OK : brume_no_memory(error, "an audit");
    for (size_t t = 0; status == BRUME_OK && t < count; t++) {
        status =
            brume_made_table_source(&all->databases[second][t], &sources[t], &columns[t], error);
        sources[t].password = all->question->datasets[t]->password;
    }
    if (status == BRUME_OK)
        status = brume_engine_open(sources, count, out, error);
    for (size_t t = 0; columns && t < count; t++)
        free(columns[t]);
    free(columns);
    free(sources);
    return status;
}

brume_status brume_neighbours_engine(brume_neighbours *all, size_t lane, bool second,
                                     brume_engine **out, brume_error *error)
{
    if (lane >= BRUME_NEIGHBOUR_LANES)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "lane %zu, must be below %d", lane,
                          BRUME_NEIGHBOUR_LANES);
    if (!all->engines[lane][second])
        BRUME_TRY(open_engine(all, second, &all->engines[lane][second], error));
    *out = all->engines[lane][second];
    return BRUME_OK;
}

static brume_status make_database(brume_neighbours *all, bool second, uint64_t number,
                                  brume_error *error)
{
    size_t count = all->question->table_count;
    all->databases[second] = calloc(count + 1, sizeof *all->databases[second]);
    if (!all->databases[second])
        return brume_no_memory(error, "an audit");
    for (size_t t = 0; t < count; t++)
        BRUME_TRY(write_table(all, t, second, number, error));
    return BRUME_OK;
}

bool brume_neighbours_share(const brume_question *question)
{
    for (size_t t = 0; t < question->table_count; t++)
        for (size_t c = 0; c < question->policies[t]->column_count; c++)
            if (!question->policies[t]->is_public &&
                is_shared_key(question, t, question->policies[t]->columns[c].name))
                return true;
    return false;
}

/* May the table be the one that differs? */
static bool may_differ(const brume_policy *policy, const brume_recipe_hints *hints)
{
    return !policy->is_public && (!hints->window || policy->window.place == BRUME_WINDOW_BY_COLUMN);
}

static size_t private_tables(const brume_question *question, const brume_recipe_hints *hints)
{
    size_t count = 0;
    for (size_t t = 0; t < question->table_count; t++)
        count += may_differ(question->policies[t], hints);
    return count;
}

size_t brume_neighbours_count(const brume_question *question, const brume_recipe_hints *hints)
{
    return private_tables(question, hints) * recipe_count(hints);
}

/* A value of the window column in a window of time. */
static void write_date(const brume_policy *policy, int64_t window, char text[64])
{
    const brume_window_grid *grid = &policy->window.grid;
    const brume_policy_column *column = brume_policy_find(policy, policy->window.column);
    bool date = column->type.kind == BRUME_TYPE_DATE;
    brume_integer_text(column->type,
                       date ? brume_window_first_day(grid, window)
                            : brume_window_first_instant(grid, window),
                       text, 64);
}

/* The first window that is touched, and the last, if it is another. */
static brume_status choose_windows(brume_neighbours *all, brume_error *error)
{
    const brume_touched *touched = all->question->touched;
    const brume_dataset *dataset = all->question->datasets[all->table];
    const brume_policy *policy = all->question->policies[all->table];
    const brume_window_set *set = NULL;
    char label[BRUME_WINDOW_LABEL];
    for (size_t i = 0; touched && i < touched->count; i++)
        if (strcmp(touched->datasets[i].dataset->name, dataset->name) == 0)
            set = &touched->datasets[i].set;
    if (!set || set->count == 0 || policy->window.grid.length == BRUME_WINDOW_VALUES)
        return brume_fail(error, BRUME_EUNSUPPORTED, "name days with --windows FIRST..LAST",
                          "neighbours of a window are made of windows of time");
    int64_t first = set->ranges[0].first, last = set->ranges[set->count - 1].last;
    all->window = true;
    snprintf(all->label, sizeof all->label, "%s",
             brume_window_label(&policy->window.grid, first, label));
    write_date(policy, first, all->dates[0]);
    if (last != first)
        write_date(policy, last, all->dates[1]);
    return BRUME_OK;
}

/* The table that differs: the private ones in turn, for each recipe. */
static brume_status choose(brume_neighbours *all, const brume_recipe_hints *hints, size_t number,
                           brume_error *error)
{
    const brume_question *question = all->question;
    size_t tables = private_tables(question, hints);
    if (tables == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "no dataset of the query is private: there is nothing to audit");
    size_t skip = number % tables;
    while (!may_differ(question->policies[all->table], hints) || skip-- > 0)
        all->table++;
    all->recipe = brume_recipe_of(number / tables, hints, question->policies[all->table]);
    uint64_t state = number;
    all->first = brume_public_word(&state);
    return hints->window ? choose_windows(all, error) : BRUME_OK;
}

static void choose_words(brume_neighbours *all)
{
    const char *name = all->question->datasets[all->table]->name;
    const brume_recipe *recipe = &all->recipe;
    bool replace = all->adjacency == BRUME_REPLACE;
    bool row = !has_units(all->question->policies[all->table]);
    unsigned long long others = recipe->others + recipe->low + recipe->high + recipe->crowd +
                                2 * recipe->ends + SPREAD_STEPS * recipe->spread;
    if (recipe->crowd_everywhere)
        others += (recipe->groups - 1) * recipe->crowd;
    unsigned long long rows = recipe->groups * recipe->rows;
    if (all->window)
        snprintf(all->words, sizeof all->words,
                 "%llu units made from the policy of '%.60s', and one that has %s %llu rows in %s",
                 others, name, replace ? "either or other" : "or has not",
                 (unsigned long long)rows_there(all), all->label);
    else if (row)
        snprintf(all->words, sizeof all->words, "%llu rows made from the policy of '%.60s', and %s",
                 others, name, replace ? "one of two others" : "one more");
    else
        snprintf(all->words, sizeof all->words,
                 "%llu units made from the policy of '%.60s', and one %s %llu %srow%s", others,
                 name, replace ? "that has either" : "more with", rows,
                 !replace          ? ""
                 : recipe->arrives ? "or one other "
                                   : "or as many other ",
                 rows == 1 && !replace ? "" : "s");
}

/* The values of one column, with those of columns of its name in the other tables. */
static brume_status find_column(const brume_question *question, size_t table,
                                const brume_policy_column *column, const char *sql,
                                brume_values *values, brume_error *error)
{
    BRUME_TRY(values_find(column, sql, values, error));
    for (size_t t = 0; t < question->table_count; t++) {
        const brume_policy_column *other = brume_policy_find(question->policies[t], column->name);
        if (t != table && other)
            BRUME_TRY(values_share(other, column->type, values, error));
    }
    return BRUME_OK;
}

static brume_status find_values(brume_neighbours *all, const char *sql, brume_error *error)
{
    const brume_question *question = all->question;
    all->values = calloc(question->table_count + 1, sizeof *all->values);
    if (!all->values)
        return brume_no_memory(error, "an audit");
    for (size_t t = 0; t < question->table_count; t++) {
        const brume_policy *policy = question->policies[t];
        all->values[t] = calloc(policy->column_count + 1, sizeof **all->values);
        if (!all->values[t])
            return brume_no_memory(error, "an audit");
        for (size_t c = 0; c < policy->column_count; c++)
            BRUME_TRY(
                find_column(question, t, &policy->columns[c], sql, &all->values[t][c], error));
    }
    return BRUME_OK;
}

static brume_status make_folder(brume_neighbours *all, brume_error *error)
{
    const char *folder = getenv("TMPDIR");
    int length = snprintf(all->folder, sizeof all->folder, "%s/brume-audit-XXXXXX",
                          folder && *folder ? folder : "/tmp");
    if (length < (int)sizeof all->folder && mkdtemp(all->folder))
        return BRUME_OK;
    all->folder[0] = 0;
    return brume_fail(error, BRUME_EDISK, "is $TMPDIR a folder that may be written?",
                      "cannot make a folder for an audit");
}

/* Both databases of a pair or, for so many units (0: none), one. */
static brume_status make(brume_neighbours *all, const char *sql, const brume_recipe_hints *hints,
                         size_t number, uint64_t units, brume_error *error)
{
    BRUME_TRY(choose(all, hints, number, error));
    if (units > 0)
        all->recipe = (brume_recipe){.others = units};
    choose_words(all);
    BRUME_TRY(find_values(all, sql, error));
    if (!all->question->policies[0]->table) /* files and tables are never in one question */
        BRUME_TRY(make_folder(all, error));
    BRUME_TRY(make_database(all, false, number, error));
    return units > 0 ? BRUME_OK : make_database(all, true, number, error);
}

static brume_status open_made(const brume_question *question, brume_adjacency adjacency,
                              const char *sql, const brume_recipe_hints *hints, size_t number,
                              uint64_t units, brume_neighbours **out, brume_error *error)
{
    brume_neighbours *all = calloc(1, sizeof *all);
    if (!all)
        return brume_no_memory(error, "an audit");
    all->question = question;
    all->adjacency = adjacency;
    brume_status status = make(all, sql, hints, number, units, error);
    if (status != BRUME_OK)
        brume_neighbours_close(all);
    else
        *out = all;
    return status;
}

brume_status brume_neighbours_open(const brume_question *question, brume_adjacency adjacency,
                                   const char *sql, const brume_recipe_hints *hints, size_t number,
                                   brume_neighbours **out, brume_error *error)
{
    return open_made(question, adjacency, sql, hints, number, 0, out, error);
}

brume_status brume_neighbours_open_one(const brume_question *question, const char *sql,
                                       uint64_t units, brume_neighbours **out, brume_error *error)
{
    /* under add-remove the first database is without the unit that differs */
    return open_made(question, BRUME_ADD_REMOVE, sql, &(brume_recipe_hints){.epsilon = 1}, 0, units,
                     out, error);
}

/* ---- keeping them ---- */

brume_status brume_neighbours_save(const brume_neighbours *all, const char *folder,
                                   brume_error *error)
{
    for (int second = 0; second < 2; second++)
        for (size_t t = 0; t < all->question->table_count; t++) {
            char path[BRUME_MADE_PATH];
            snprintf(path, sizeof path, "%s/%d-%s.csv", folder, second + 1,
                     own_name(all->question, t));
            BRUME_TRY(brume_made_table_save(&all->databases[second][t], path, error));
        }
    return BRUME_OK;
}
