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

/* The number of a unit in a column that says whose a row is. Of every second table with shared keys
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
        brume_values_between(column, (1 + (double)(of->turn % (STEPS - 1))) / STEPS, text);
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
        texts[c] = cell_of(column, values, place, of, made[c]);
        if (has_units(policy) && is_of_unit(all->question, table, column->name)) {
            unsigned whose = unit;
            if (all->recipe.shares && unit == DIFFERING && all->recipe.others > 0 &&
                is_shared_key(all->question, table, column->name))
                whose = FIRST_OTHER + (unsigned)(of->turn % all->recipe.others);
            whose = number_in(all->question, table, column->name, whose);
            status = brume_values_unit(column, whose, made[c], error);
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
    brume_row_choice choice = replaced ? brume_row_opposite(recipe->choice) : recipe->choice;
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

bool brume_neighbours_share(const brume_question *question)
{
    for (size_t t = 0; t < question->table_count; t++)
        for (size_t c = 0; c < question->policies[t]->column_count; c++)
            if (!question->policies[t]->is_public &&
                is_shared_key(question, t, question->policies[t]->columns[c].name))
                return true;
    return false;
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
                                2 * recipe->ends + SPREAD_STEPS * recipe->spread;
    if (recipe->crowd_everywhere)
        others += (recipe->groups - 1) * recipe->crowd;
    unsigned long long rows = recipe->groups * recipe->rows;
    if (row)
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
