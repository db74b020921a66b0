/* Registering a dataset, once: its policy, its budget, and by what its source is known. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/dataset.h"
#include "ledger/journal.h"
#include "ledger/mark.h"
#include "ledger/store.h"
#include "ledger/user_row.h"

static bool is_public(const brume_registration *new)
{
    return json_is_true(json_object_get(new->policy, "public"));
}

/* Its marks: what is kept. */
static brume_mark_list marks_of(const brume_registration *new)
{
    size_t wholes = new->whole_mark_count;
    return (brume_mark_list){new->marks + wholes, new->mark_count - wholes, new->read_mark_count,
                             0};
}

static brume_mark_list public_marks_of(const brume_registration *new)
{
    size_t first = new->public_whole_mark_count;
    return (brume_mark_list){new->public_marks ? new->public_marks + first : NULL,
                             new->public_mark_count - first, new->public_read_mark_count, 0};
}

/* With the marks of the tables that it is a part of. */
static brume_mark_list all_marks_of(const brume_registration *new)
{
    return (brume_mark_list){new->marks, new->mark_count, new->read_mark_count,
                             new->whole_mark_count};
}

static brume_mark_list all_public_marks_of(const brume_registration *new)
{
    return (brume_mark_list){new->public_marks, new->public_mark_count, new->public_read_mark_count,
                             new->public_whole_mark_count};
}

static brume_status tables_conflict(brume_ledger *ledger, const brume_registration *new,
                                    bool *conflicts, brume_error *error)
{
    brume_mark_list marks = all_marks_of(new), public_marks = all_public_marks_of(new);
    return brume_mark_tables_conflict(ledger, &marks, &public_marks, conflicts, error);
}

/* The budget of a public source is nobody's: the owner's word for a second one makes nothing
 * public. */
static brume_status is_known(brume_ledger *ledger, const brume_registration *new, bool *known,
                             brume_error *error)
{
    bool insists = new->new_budget && !is_public(new);
    brume_statement *statement = NULL;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT 1 FROM dataset WHERE name = ?1 OR source = ?2", "tt",
                                  new->name, insists ? "" : new->source));
    brume_status status = brume_store_step(ledger, statement, known, error);
    brume_store_finish(statement);
    brume_mark_list marks = all_marks_of(new);
    if (status == BRUME_OK && !*known)
        status = brume_mark_conflicts(ledger, is_public(new), insists, &marks, known, error);
    marks = all_public_marks_of(new);
    if (status == BRUME_OK && !*known)
        status = brume_mark_conflicts(ledger, true, false, &marks, known, error);
    if (status == BRUME_OK && !*known)
        status = tables_conflict(ledger, new, known, error);
    return status;
}

/* One text whatever the reason. */
static brume_status refusal(brume_error *error)
{
    return brume_fail(error, BRUME_EPOLICY,
                      "choose another name or source; a second budget for the same people adds to "
                      "the first: --new-budget if you mean it",
                      "the name or the source is registered already");
}

static brume_status refuse(brume_ledger *ledger, const brume_registration *new, brume_error *error)
{
    BRUME_TRY(
        brume_journal_append(ledger, "refuse", json_pack("{s:s}", "dataset", new->name), error));
    BRUME_TRY(brume_store_commit(ledger, error));
    return refusal(error);
}

brume_status brume_ledger_check_tables(brume_ledger *ledger, const brume_registration *tables,
                                       brume_error *error)
{
    bool conflict = false;
    BRUME_TRY(tables_conflict(ledger, tables, &conflict, error));
    return conflict ? refusal(error) : BRUME_OK;
}

static brume_status write_registration(brume_ledger *ledger, const brume_registration *new,
                                       brume_error *error)
{
    if (new->password) {
        char name[BRUME_PASSWORD_NAME];
        brume_password_name(new->name, name);
        BRUME_TRY(brume_secret_set(ledger, name, new->password, error));
    }
    brume_mark_list marks = marks_of(new);
    BRUME_TRY(brume_mark_add(ledger, new->name, is_public(new), &marks, error));
    marks = public_marks_of(new);
    BRUME_TRY(brume_mark_add(ledger, new->name, true, &marks, error));
    char filter[BRUME_FILTER_TEXT], window[BRUME_FILTER_TEXT];
    uint64_t id = 0;
    BRUME_TRY(brume_filter_print(new->filter, filter, error));
    BRUME_TRY(brume_journal_next(ledger, &id, error));
    BRUME_TRY(brume_store_execute(ledger, error,
                                  "INSERT INTO dataset(name, source, registered, data_version, "
                                  "filter, last, queries) VALUES(?1,?2,?3,?4,?5,?3,0)",
                                  "ttitt", new->name, new->source, (int64_t)id, new->data_version,
                                  filter));
    if (new->window_budget)
        BRUME_TRY(brume_filter_print(new->window_budget, window, error));
    json_t *body = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s?,s:O,s:b,s:s*,s:o*}", "dataset", new->name,
                             "source", new->source, "data_version", new->data_version, "adjacency",
                             brume_adjacency_word(new->adjacency), "filter", filter, "cap",
                             new->cap, "policy", new->policy, "new_budget", new->new_budget,
                             "window_filter", new->window_budget ? window : NULL, "no_budget",
                             new->no_budget ? json_true() : NULL);
    BRUME_TRY(brume_journal_append(ledger, "register", body, error));
    return brume_store_commit(ledger, error);
}

static brume_status register_or_refuse(brume_ledger *ledger, const brume_registration *new,
                                       brume_error *error)
{
    bool known = false;
    BRUME_TRY(brume_journal_check_head(ledger, error));
    BRUME_TRY(brume_user_check_owner(ledger, error));
    BRUME_TRY(is_known(ledger, new, &known, error));
    return known ? refuse(ledger, new, error) : write_registration(ledger, new, error);
}

static brume_status check_windows(const brume_registration *new, brume_error *error)
{
    brume_window_grid grid;
    const char **values = NULL;
    bool has_windows = brume_dataset_grid(new->policy, &grid, &values);
    free(values);
    if (has_windows != (new->window_budget != NULL))
        return brume_fail(error, BRUME_EINTERNAL, NULL, "windows without a budget, or one without");
    if (!new->window_budget)
        return new->no_budget ? brume_fail(error, BRUME_EPOLICY,
                                           "give a budget, or windows with a budget for each",
                                           "'budget: none' without windows: nothing would protect "
                                           "the dataset")
                              : BRUME_OK;
    if (new->no_budget)
        BRUME_TRY(brume_window_cover_check(new->policy, error));
    return brume_window_budget_check(new->window_budget, new->no_budget ? NULL : new->filter,
                                     error);
}

brume_status brume_ledger_register(brume_ledger *ledger, const brume_registration *registration,
                                   brume_error *error)
{
    if (!registration->name || !*registration->name)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a dataset needs a name");
    if (strlen(registration->name) > BRUME_MOST_DATASET_NAME)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a name has at most %d bytes",
                          BRUME_MOST_DATASET_NAME);
    BRUME_TRY(check_windows(registration, error));
    BRUME_TRY(brume_store_begin(ledger, error));
    brume_status status = register_or_refuse(ledger, registration, error);
    if (status != BRUME_OK)
        brume_store_undo(ledger); /* nothing, if it was committed */
    return status;
}
