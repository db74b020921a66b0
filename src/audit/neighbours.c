/* Two neighbouring databases, made from policies alone. Promises: no source of a dataset is opened;
 * the same number gives the same databases again. */
#include "audit/neighbours.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/made_table.h"
#include "audit/subsets.h"
#include "audit/values.h"
#include "base/error.h"

enum { UNITS = 6, ROWS_OF_OTHERS = 2, PUBLIC_ROWS = 12, MOST_GROUPS = 16, MOST_ROWS = 4096 };
enum { FIRST_OF_CROWD = 100, MOST_CROWD = 4096 };

/* How the values of the unit that differs are chosen. */
typedef enum choice { CHOOSE_HIGH, CHOOSE_LOW, CHOOSE_ANY } choice;

struct brume_neighbours {
    const brume_question *question;
    brume_values **values; /* [table][column] */
    size_t table;          /* the one that differs */
    uint64_t groups, rows; /* of the unit that differs */
    uint64_t crowd;        /* units that are in its first group too, in both databases */
    choice choice;
    char folder[BRUME_MADE_PATH - 60]; /* of the files; empty where there are none */
    brume_made_table *databases[2];    /* [table] */
    brume_engine *engines[2];
    char words[200];
};

static void clear_database(brume_neighbours *all, bool second)
{
    brume_made_table *tables = all->databases[second];
    brume_engine_close(all->engines[second]);
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

brume_engine *brume_neighbours_engine(const brume_neighbours *all, bool second)
{
    return all->engines[second];
}

const char *brume_neighbours_words(const brume_neighbours *all)
{
    return all->words;
}

/* ---- rows ---- */

/* Which values a row has: place (first + turn) of each column's, or the bound that is chosen. */
typedef struct row_choice {
    uint64_t first; /* a random word for each row's columns */
    uint64_t turn;
    choice choice;
} row_choice;

static brume_status write_row(const brume_neighbours *all, size_t table, unsigned unit,
                              const row_choice *of, brume_made_table *out, brume_error *error)
{
    const brume_policy *policy = all->question->policies[table];
    const char **texts = calloc(policy->column_count + 1, sizeof *texts);
    uint64_t state = of->first;
    char text[64];
    brume_status status = texts ? BRUME_OK : brume_no_memory(error, "an audit");
    for (size_t c = 0; status == BRUME_OK && c < policy->column_count; c++) {
        const brume_policy_column *column = &policy->columns[c];
        const brume_values *values = &all->values[table][c];
        uint64_t place = (brume_public_word(&state) + of->turn) % values->count;
        if (values->low != values->high && of->choice != CHOOSE_ANY)
            place = of->choice == CHOOSE_HIGH ? values->high : values->low;
        texts[c] = values->texts[place];
        if (policy->unit && strcmp(policy->unit, column->name) == 0) {
            status = brume_values_unit(column, unit, text, error);
            texts[c] = text;
        }
    }
    if (status == BRUME_OK)
        brume_made_table_row(out, texts);
    free(texts);
    return status;
}

/* The rows of the units that are in both databases, and of the other unit where it is. */
static brume_status write_others(const brume_neighbours *all, size_t table, uint64_t *state,
                                 brume_made_table *out, brume_error *error)
{
    const brume_policy *policy = all->question->policies[table];
    unsigned units = policy->is_public || !policy->unit ? PUBLIC_ROWS : UNITS;
    /* in a table that does not differ that unit is in both */
    unsigned more = table != all->table && policy->unit ? 1 : 0;
    for (unsigned unit = 1; unit <= units + more; unit++)
        for (int row = 0; row < (policy->unit ? ROWS_OF_OTHERS : 1); row++) {
            row_choice of = {brume_public_word(state), (uint64_t)row, CHOOSE_ANY};
            BRUME_TRY(write_row(all, table, unit, &of, out, error));
        }
    return BRUME_OK;
}

/* The crowd, and the unit that differs where it is. */
static brume_status write_differing(const brume_neighbours *all, bool second,
                                    brume_adjacency adjacency, uint64_t *state,
                                    brume_made_table *out, brume_error *error)
{
    uint64_t first = brume_public_word(state);
    bool replaced = adjacency == BRUME_REPLACE && !second;
    for (uint64_t unit = 0; unit < all->crowd; unit++) {
        row_choice of = {first, 0, all->choice};
        BRUME_TRY(write_row(all, all->table, FIRST_OF_CROWD + (unsigned)unit, &of, out, error));
    }
    if (adjacency == BRUME_ADD_REMOVE && !second)
        return BRUME_OK;
    choice chosen = all->choice;
    if (replaced && chosen != CHOOSE_ANY)
        chosen = chosen == CHOOSE_HIGH ? CHOOSE_LOW : CHOOSE_HIGH;
    /* under replace the first database has groups of its own */
    uint64_t turn = replaced ? all->groups : 0;
    for (uint64_t group = 0; group < all->groups; group++)
        for (uint64_t row = 0; row < all->rows; row++) {
            row_choice of = {first, turn + group, chosen};
            BRUME_TRY(write_row(all, all->table, UNITS + 1, &of, out, error));
        }
    return BRUME_OK;
}

static brume_status write_table(const brume_neighbours *all, size_t table, bool second,
                                brume_adjacency adjacency, uint64_t number, brume_error *error)
{
    brume_made_table *out = &all->databases[second][table];
    char path[BRUME_MADE_PATH];
    snprintf(path, sizeof path, "%s/%zu-%d.csv", all->folder, table, second ? 2 : 1);
    BRUME_TRY(brume_made_table_begin(out, all->question->policies[table], path, error));
    uint64_t state = (number << 16) + table; /* the same rows in both databases */
    BRUME_TRY(write_others(all, table, &state, out, error));
    if (table == all->table)
        BRUME_TRY(write_differing(all, second, adjacency, &state, out, error));
    return brume_made_table_end(out, error);
}

/* ---- the two databases ---- */

static brume_status open_engine(brume_neighbours *all, bool second, brume_error *error)
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
        status = brume_engine_open(sources, count, &all->engines[second], error);
    for (size_t t = 0; columns && t < count; t++)
        free(columns[t]);
    free(columns);
    free(sources);
    return status;
}

static brume_status make_database(brume_neighbours *all, bool second, brume_adjacency adjacency,
                                  uint64_t number, brume_error *error)
{
    size_t count = all->question->table_count;
    all->databases[second] = calloc(count + 1, sizeof *all->databases[second]);
    if (!all->databases[second])
        return brume_no_memory(error, "an audit");
    for (size_t t = 0; t < count; t++)
        BRUME_TRY(write_table(all, t, second, adjacency, number, error));
    return open_engine(all, second, error);
}

/* The table that differs: the private ones in turn. */
static brume_status choose_table(brume_neighbours *all, uint64_t number, brume_error *error)
{
    const brume_question *question = all->question;
    uint64_t private_tables = 0;
    for (size_t t = 0; t < question->table_count; t++)
        private_tables += !question->policies[t]->is_public;
    if (private_tables == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "no dataset of the query is private: there is nothing to audit");
    uint64_t skip = number % private_tables;
    while (question->policies[all->table]->is_public || skip-- > 0)
        all->table++;
    return BRUME_OK;
}

static void choose_size(brume_neighbours *all, uint64_t threshold, uint64_t number)
{
    const brume_policy *policy = all->question->policies[all->table];
    uint64_t times = number & 1 ? 2 : 1; /* more than may count, in every other pair */
    all->choice = (choice)(number / 2 % 3);
    all->groups = all->rows = 1;
    /* enough for a private key to be shown at times, or nearly always */
    all->crowd = number % 4 < 2 ? threshold : 2 * threshold;
    all->crowd = all->crowd < MOST_CROWD ? all->crowd : MOST_CROWD;
    if (!policy->unit) /* the row is the unit */
        return;
    /* where the owner has no ceiling, a few are enough to be cut or not */
    uint64_t groups = policy->max_groups ? policy->max_groups : 2;
    uint64_t rows = policy->max_rows ? policy->max_rows : 3;
    all->groups = times * (groups < MOST_GROUPS ? groups : MOST_GROUPS);
    uint64_t most = MOST_ROWS / all->groups;
    all->rows = times * (rows < most ? rows : most);
}

static void choose_words(brume_neighbours *all, brume_adjacency adjacency)
{
    const char *name = all->question->datasets[all->table]->name;
    bool replace = adjacency == BRUME_REPLACE, row = !all->question->policies[all->table]->unit;
    unsigned long long others = all->crowd + (row ? PUBLIC_ROWS : UNITS);
    unsigned long long rows = all->groups * all->rows;
    if (row)
        snprintf(all->words, sizeof all->words, "%llu rows made from the policy of '%.60s', and %s",
                 others, name, replace ? "one of two others" : "one more");
    else
        snprintf(all->words, sizeof all->words,
                 "%llu units made from the policy of '%.60s', and one %s %llu %srows", others, name,
                 replace ? "that has either" : "more with", rows,
                 replace ? "or as many other " : "");
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

static brume_status make(brume_neighbours *all, brume_adjacency adjacency, const char *sql,
                         uint64_t threshold, uint64_t number, brume_error *error)
{
    BRUME_TRY(choose_table(all, number, error));
    choose_size(all, threshold, number);
    choose_words(all, adjacency);
    BRUME_TRY(find_values(all, sql, error));
    if (!all->question->policies[0]->table) /* files and tables are never in one question */
        BRUME_TRY(make_folder(all, error));
    BRUME_TRY(make_database(all, false, adjacency, number, error));
    return make_database(all, true, adjacency, number, error);
}

brume_status brume_neighbours_open(const brume_question *question, brume_adjacency adjacency,
                                   const char *sql, uint64_t threshold, uint64_t number,
                                   brume_neighbours **out, brume_error *error)
{
    brume_neighbours *all = calloc(1, sizeof *all);
    if (!all)
        return brume_no_memory(error, "an audit");
    all->question = question;
    brume_status status = make(all, adjacency, sql, threshold, number, error);
    if (status != BRUME_OK) {
        brume_neighbours_close(all);
        return status;
    }
    *out = all;
    return BRUME_OK;
}
