/* Two neighbouring databases, made from policies alone. Promises: no source of a dataset is opened;
 * the same number gives the same databases again. */
#include "audit/query/neighbours.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/query/made_table.h"
#include "audit/subsets.h"
#include "audit/query/values.h"
#include "base/error.h"

enum { PUBLIC_ROWS = 12 };

/* Numbers of units. */
enum { DIFFERING = 90, FIRST_LOW = 100, FIRST_HIGH = 5000 };

struct brume_neighbours {
    const brume_question *question;
    brume_values **values; /* [table][column] */
    size_t table;          /* the one that differs */
    brume_adjacency adjacency;
    brume_recipe recipe;
    uint64_t first;                    /* chooses the values of the unit that differs */
    char folder[BRUME_MADE_PATH - 60]; /* of the files; empty where there are none */
    brume_made_table *databases[2];    /* [table] */
    brume_engine *engines[BRUME_NEIGHBOUR_LANES][2];
    char words[200];
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
            brume_values_clear(&all->values[t][c]);
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

/* Does the column say whose a row is: the unit, a link, or what a link of another table leads to?
 */
static bool is_of_unit(const brume_question *question, size_t table, const char *column)
{
    const brume_policy *policy = question->policies[table];
    if ((policy->unit && strcmp(policy->unit, column) == 0) ||
        (policy->link_column && strcmp(policy->link_column, column) == 0))
        return true;
    for (size_t t = 0; t < question->table_count; t++) {
        const brume_policy *child = question->policies[t];
        if (child->link_column && same_dataset(question, t, table) &&
            strcmp(child->parent, own_name(question, table)) == 0 &&
            strcmp(child->parent_column, column) == 0)
            return true;
    }
    return false;
}

static bool has_units(const brume_policy *policy)
{
    return policy->unit || policy->link_column;
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
                           uint64_t place, brume_row_choice choice, char text[64])
{
    bool bounded = values->low != values->high;
    if (!bounded || choice == BRUME_ROW_ANY)
        return values->texts[place];
    switch (choice) {
    case BRUME_ROW_HIGH:
        return values->texts[values->high];
    case BRUME_ROW_LOW:
        return values->texts[values->low];
    case BRUME_ROW_LOWER_THIRD:
    case BRUME_ROW_UPPER_THIRD:
        brume_values_between(column, choice == BRUME_ROW_LOWER_THIRD ? 1 / 3. : 2 / 3., text);
        return text;
    case BRUME_ROW_ABOVE:
    case BRUME_ROW_BELOW:
        brume_values_beyond(column, choice == BRUME_ROW_ABOVE, text);
        return text;
    case BRUME_ROW_NOT_A_NUMBER:
        return column->type.kind == BRUME_TYPE_DOUBLE ? "NaN" : "";
    default:
        return "";
    }
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
        texts[c] = cell_of(column, values, place, of->choice, made[c]);
        if (has_units(policy) && is_of_unit(all->question, table, column->name)) {
            status = brume_values_unit(column, unit, made[c], error);
            texts[c] = made[c];
        }
    }
    if (status == BRUME_OK)
        brume_made_table_row(out, texts);
    free(made);
    free(texts);
    return status;
}

/* So many units from `number` on, of one row each. */
static brume_status write_units(const brume_neighbours *all, size_t table, unsigned number,
                                uint64_t count, const row_choice *of, brume_made_table *out,
                                brume_error *error)
{
    for (uint64_t unit = 0; unit < count; unit++)
        BRUME_TRY(write_row(all, table, number + (unsigned)unit, of, out, error));
    return BRUME_OK;
}

/* The units that are in both databases. */
static brume_status write_others(const brume_neighbours *all, size_t table, uint64_t *state,
                                 brume_made_table *out, brume_error *error)
{
    const brume_recipe *recipe = &all->recipe;
    bool is_public = all->question->policies[table]->is_public;
    uint64_t others = is_public ? PUBLIC_ROWS : recipe->others;
    for (unsigned unit = 1; unit <= others; unit++) {
        row_choice any = {brume_public_word(state), 0, BRUME_ROW_ANY};
        BRUME_TRY(write_row(all, table, unit, &any, out, error));
    }
    if (is_public)
        return BRUME_OK;
    row_choice low = {all->first, 0, recipe->low_inside ? BRUME_ROW_LOWER_THIRD : BRUME_ROW_LOW};
    row_choice high = {all->first, 0, recipe->high_inside ? BRUME_ROW_UPPER_THIRD : BRUME_ROW_HIGH};
    row_choice same = {all->first, 0, recipe->choice};
    BRUME_TRY(write_units(all, table, FIRST_LOW, recipe->low, &low, out, error));
    BRUME_TRY(write_units(all, table, FIRST_HIGH, recipe->high, &high, out, error));
    unsigned next = FIRST_LOW + (unsigned)recipe->low;
    BRUME_TRY(write_units(all, table, next, recipe->crowd, &same, out, error));
    row_choice bottom = {all->first, 0, BRUME_ROW_LOW}, top = {all->first, 0, BRUME_ROW_HIGH};
    next += (unsigned)recipe->crowd;
    BRUME_TRY(write_units(all, table, next, recipe->ends, &bottom, out, error));
    next = FIRST_HIGH + (unsigned)recipe->high;
    return write_units(all, table, next, recipe->ends, &top, out, error);
}

/* The unit that differs, in the table whose rows do. */
static brume_status write_differing(const brume_neighbours *all, bool second, brume_made_table *out,
                                    brume_error *error)
{
    const brume_recipe *recipe = &all->recipe;
    bool replaced = all->adjacency == BRUME_REPLACE && !second;
    brume_row_choice choice = replaced ? brume_row_opposite(recipe->choice) : recipe->choice;
    /* under replace the first database has groups of its own */
    uint64_t turn = replaced ? recipe->groups : 0;
    for (uint64_t group = 0; group < recipe->groups; group++)
        for (uint64_t row = 0; row < recipe->rows; row++) {
            row_choice of = {all->first, turn + group, choice};
            BRUME_TRY(write_row(all, all->table, DIFFERING, &of, out, error));
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
    if (table == all->table && present)
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

static size_t private_tables(const brume_question *question)
{
    size_t count = 0;
    for (size_t t = 0; t < question->table_count; t++)
        count += !question->policies[t]->is_public;
    return count;
}

size_t brume_neighbours_count(const brume_question *question, const brume_recipe_hints *hints)
{
    return private_tables(question) * brume_recipe_count(hints);
}

/* The table that differs: the private ones in turn, for each recipe. */
static brume_status choose(brume_neighbours *all, const brume_recipe_hints *hints, size_t number,
                           brume_error *error)
{
    const brume_question *question = all->question;
    size_t tables = private_tables(question);
    if (tables == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "no dataset of the query is private: there is nothing to audit");
    size_t skip = number % tables;
    while (question->policies[all->table]->is_public || skip-- > 0)
        all->table++;
    all->recipe = brume_recipe_of(number / tables, hints, question->policies[all->table]);
    uint64_t state = number;
    all->first = brume_public_word(&state);
    return BRUME_OK;
}

static void choose_words(brume_neighbours *all)
{
    const char *name = all->question->datasets[all->table]->name;
    const brume_recipe *recipe = &all->recipe;
    bool replace = all->adjacency == BRUME_REPLACE;
    bool row = !has_units(all->question->policies[all->table]);
    unsigned long long others = recipe->others + recipe->low + recipe->high + recipe->crowd +
                                2 * recipe->ends;
    unsigned long long rows = recipe->groups * recipe->rows;
    if (row)
        snprintf(all->words, sizeof all->words, "%llu rows made from the policy of '%.60s', and %s",
                 others, name, replace ? "one of two others" : "one more");
    else
        snprintf(all->words, sizeof all->words,
                 "%llu units made from the policy of '%.60s', and one %s %llu %srow%s", others,
                 name, replace ? "that has either" : "more with", rows,
                 replace ? "or as many other " : "", rows == 1 && !replace ? "" : "s");
}

/* The values of one column, with those of columns of its name in the other tables. */
static brume_status find_column(const brume_question *question, size_t table,
                                const brume_policy_column *column, const char *sql,
                                brume_values *values, brume_error *error)
{
    BRUME_TRY(brume_values_find(column, sql, values, error));
    for (size_t t = 0; t < question->table_count; t++) {
        const brume_policy_column *other = brume_policy_find(question->policies[t], column->name);
        if (t != table && other)
            BRUME_TRY(brume_values_share(other, column->type, values, error));
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
