/* Marks: by what a dataset's source is known. The table `mark` has the hash of every mark of a
 * dataset; for the own marks of a public table also "public " and the hash, for those of tables
 * that a public view reads "seen " and the hash. */
#include "ledger/mark.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/dataset.h"
#include "ledger/digest.h"
#include "ledger/store.h"

static const char key_name[] = "key of marks";

brume_status brume_mark_make_key(brume_ledger *ledger, brume_error *error)
{
    return brume_secret_draw(ledger, key_name, error);
}

/* Read the key once: if somebody changes it in the file, the newest row's digest tells. */
static brume_status know_key(brume_ledger *ledger, brume_error *error)
{
    if (ledger->mark_key)
        return BRUME_OK;
    BRUME_TRY(brume_secret_read(ledger, key_name, &ledger->mark_key, error));
    return ledger->mark_key ? BRUME_OK
                            : brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                                         "the key of the ledger's marks is missing");
}

/* SHA-256(key, SHA-256(key, mark)). */
static brume_status hash_mark(brume_ledger *ledger, const char *mark, char out[BRUME_DIGEST_TEXT],
                              brume_error *error)
{
    char inner[BRUME_DIGEST_TEXT];
    BRUME_TRY(know_key(ledger, error));
    const char *parts[] = {ledger->mark_key, mark};
    BRUME_TRY(brume_digest(parts, 2, inner, error));
    parts[1] = inner;
    return brume_digest(parts, 2, out, error);
}

static bool is_own(const brume_mark_list *marks, size_t index)
{
    return index + marks->read_count < marks->count;
}

static brume_status add_hash(brume_ledger *ledger, const char *dataset, const char *hash,
                             bool is_public, bool own, brume_error *error)
{
    BRUME_TRY(brume_store_execute(ledger, error,
                                  "INSERT INTO mark(dataset, mark) VALUES(?1,?2) ON CONFLICT DO "
                                  "NOTHING",
                                  "tt", dataset, hash));
    if (!is_public)
        return BRUME_OK;
    return brume_store_execute(ledger, error,
                               "INSERT INTO mark(dataset, mark) VALUES(?1,?3 || ?2) ON CONFLICT DO "
                               "NOTHING",
                               "ttt", dataset, hash, own ? "public " : "seen ");
}

brume_status brume_mark_add(brume_ledger *ledger, const char *dataset, bool is_public,
                            const brume_mark_list *marks, brume_error *error)
{
    char hash[BRUME_DIGEST_TEXT];
    for (size_t i = 0; i < marks->count; i++) {
        BRUME_TRY(hash_mark(ledger, marks->texts[i], hash, error));
        BRUME_TRY(add_hash(ledger, dataset, hash, is_public, is_own(marks, i), error));
    }
    return BRUME_OK;
}

/* ---- conflicts ---- */

/* Does `sql` give a row for ?1 and ?2? */
static brume_status finds(brume_ledger *ledger, const char *sql, const char *first,
                          const char *second, bool *found, brume_error *error)
{
    brume_statement *statement = NULL;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error, sql, "tt", first, second));
    brume_status status = brume_store_step(ledger, statement, found, error);
    brume_store_finish(statement);
    return status;
}

/* Did the owner let these two protected datasets share a source? They have the same one, or a mark
 * that is not public. When their file is written anew they share the new one too. */
static const char shared_by_will[] =
    "SELECT 1 FROM dataset mine JOIN dataset theirs ON mine.source = theirs.source WHERE mine.name "
    "= ?1 AND theirs.name = ?2 UNION ALL SELECT 1 FROM mark mine JOIN mark theirs ON mine.mark = "
    "theirs.mark WHERE mine.dataset = ?1 AND theirs.dataset = ?2 AND instr(mine.mark, ' ') = 0 AND "
    "NOT EXISTS (SELECT 1 FROM mark open WHERE open.mark = 'public ' || mine.mark)";

/* Who has a mark: a registered dataset, or a new one. */
typedef struct marked {
    const char *dataset; /* NULL: a new one */
    bool is_public;
    bool insists; /* the owner lets it share a source with other protected ones */
} marked;

/* Does its mark conflict with that of `other`, which has it too? */
static brume_status conflicts_with(brume_ledger *ledger, const marked *new, const char *other,
                                   bool *conflicts, brume_error *error)
{
    bool is_public = new->is_public, other_public = false, shared = new->insists;
    BRUME_TRY(brume_dataset_is_public(ledger, other, &other_public, error));
    if (new->dataset && !is_public && !other_public)
        BRUME_TRY(finds(ledger, shared_by_will, new->dataset, other, &shared, error));
    shared = shared && !is_public && !other_public;
    *conflicts = !(is_public && other_public) && !shared;
    return BRUME_OK;
}

/* Is the mark ?2 an own mark of a public table? */
static const char marked_public[] = "SELECT 1 FROM mark WHERE mark = 'public ' || ?2";

/* One mark, which is not one of its own yet, against those of all datasets. */
static brume_status mark_conflicts(brume_ledger *ledger, const marked *new, const char *hash,
                                   bool own, bool *conflicts, brume_error *error)
{
    bool open = false, row = true;
    BRUME_TRY(finds(ledger, marked_public, "", hash, &open, error));
    if (open && (new->is_public || !own))
        return BRUME_OK;
    *conflicts = open && new->insists; /* rule 3, also against a public table of a dataset */
    brume_statement *statement = NULL;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT dataset FROM mark WHERE mark = ?1", "t", hash));
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && row && !*conflicts) {
        status = brume_store_step(ledger, statement, &row, error);
        if (status == BRUME_OK && row)
            status = conflicts_with(ledger, new, brume_store_text(statement, 0), conflicts, error);
    }
    brume_store_finish(statement);
    return status;
}

static bool matches_a_path(const char *pattern, const brume_mark_list *marks)
{
    for (size_t i = 0; i < marks->count; i++)
        if (strncmp(marks->texts[i], "path:", 5) == 0 &&
            fnmatch(pattern, marks->texts[i] + 5, FNM_PATHNAME | FNM_PERIOD) == 0)
            return true;
    return false;
}

/* Does a glob among the sources match one of the paths? A dataset of several tables has a line for
 * each of its sources. */
static brume_status glob_matches(const char *sources, const brume_mark_list *marks, bool *matches,
                                 brume_error *error)
{
    char *copy = strdup(sources), *rest = copy, *line = NULL;
    if (!copy)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    while ((line = strsep(&rest, "\n")))
        *matches = *matches || (strncmp(line, "glob:", 5) == 0 && matches_a_path(line + 5, marks));
    free(copy);
    return BRUME_OK;
}

/* Registered globs that match one of the paths. */
static brume_status glob_conflicts(brume_ledger *ledger, const marked *new,
                                   const brume_mark_list *marks, bool *conflicts,
                                   brume_error *error)
{
    brume_statement *statement = NULL;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT name, source FROM dataset WHERE instr(source, 'glob:') "
                                  "> 0 ORDER BY name",
                                  ""));
    bool row = true;
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && row && !*conflicts) {
        bool matches = false;
        status = brume_store_step(ledger, statement, &row, error);
        if (status == BRUME_OK && row)
            status = glob_matches(brume_store_text(statement, 1), marks, &matches, error);
        if (status == BRUME_OK && matches)
            status = conflicts_with(ledger, new, brume_store_text(statement, 0), conflicts, error);
    }
    brume_store_finish(statement);
    return status;
}

static brume_status any_conflicts(brume_ledger *ledger, const marked *new,
                                  const brume_mark_list *marks, bool *conflicts, brume_error *error)
{
    char hash[BRUME_DIGEST_TEXT];
    bool found = false;
    for (size_t i = 0; i < marks->count && !found; i++) {
        BRUME_TRY(hash_mark(ledger, marks->texts[i], hash, error));
        BRUME_TRY(mark_conflicts(ledger, new, hash, is_own(marks, i), &found, error));
    }
    *conflicts = found;
    return BRUME_OK;
}

brume_status brume_mark_is_protected(brume_ledger *ledger, const brume_mark_list *marks,
                                     bool *conflicts, brume_error *error)
{
    const marked public = {.is_public = true};
    return any_conflicts(ledger, &public, marks, conflicts, error);
}

brume_status brume_mark_conflicts(brume_ledger *ledger, bool is_public, bool insists,
                                  const brume_mark_list *marks, bool *conflicts, brume_error *error)
{
    bool found = false;
    const marked new = {NULL, is_public, insists && !is_public};
    BRUME_TRY(any_conflicts(ledger, &new, marks, &found, error));
    if (!found)
        BRUME_TRY(glob_conflicts(ledger, &new, marks, &found, error));
    *conflicts = found;
    return BRUME_OK;
}

/* ---- tables that are registered together ---- */

/* Whose mark it is: of a table that it is a part of, its own, or of a table that a view reads. */
enum { WHOLE = 1, OWN = 2, READ = 4 };

static unsigned class_of(const brume_mark_list *marks, size_t index)
{
    return index < marks->whole_count ? WHOLE : is_own(marks, index) ? OWN : READ;
}

static int compare_texts(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* As what the marks have this text: a set of classes. `sorted` points into marks->texts. */
static unsigned classes_of(const char *text, const brume_mark_list *marks,
                           const char *const *const *sorted)
{
    unsigned classes = 0;
    size_t low = 0, high = marks->count;
    while (low < high) { /* the first that is not below the text */
        size_t middle = low + (high - low) / 2;
        if (strcmp(*sorted[middle], text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < marks->count && strcmp(*sorted[low], text) == 0; low++)
        classes |= class_of(marks, (size_t)(sorted[low] - marks->texts));
    return classes;
}

static int compare_places(const void *left, const void *right)
{
    return compare_texts(*(const char *const *const *)left, *(const char *const *const *)right);
}

/* One mark of a protected table, which public tables have in these ways. */
static brume_status table_conflicts(brume_ledger *ledger, const char *text, unsigned mine,
                                    unsigned theirs, bool *conflicts, brume_error *error)
{
    char hash[BRUME_DIGEST_TEXT];
    bool open = (theirs & OWN) != 0;
    if (mine == OWN) /* a table, a part of it, or a view of it would be public */
        *conflicts = theirs != 0;
    else if (mine == WHOLE) /* it would be a part of what is public */
        *conflicts = (theirs & (OWN | READ)) != 0;
    else if (theirs != 0 && !open) { /* both read it, and it may be public already */
        BRUME_TRY(hash_mark(ledger, text, hash, error));
        BRUME_TRY(finds(ledger, marked_public, "", hash, &open, error));
        *conflicts = !open;
    }
    return BRUME_OK;
}

brume_status brume_mark_tables_conflict(brume_ledger *ledger,
                                        const brume_mark_list *protected_marks,
                                        const brume_mark_list *public_marks, bool *conflicts,
                                        brume_error *error)
{
    bool found = false;
    const char *const **sorted = calloc(public_marks->count + 1, sizeof *sorted);
    if (!sorted)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    for (size_t i = 0; i < public_marks->count; i++)
        sorted[i] = &public_marks->texts[i];
    qsort(sorted, public_marks->count, sizeof *sorted, compare_places);
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && !found && i < protected_marks->count; i++) {
        const char *text = protected_marks->texts[i];
        status = table_conflicts(ledger, text, class_of(protected_marks, i),
                                 classes_of(text, public_marks, sorted), &found, error);
    }
    free(sorted);
    if (status == BRUME_OK)
        *conflicts = found;
    return status;
}

/* ---- what is read ---- */

/* Rule 2 within a dataset of several tables: a public one has a mark that only protected ones have
 * had so far, as when a link was turned or a view was changed. */
static brume_status shows_own(brume_ledger *ledger, const char *dataset, const char *hash, bool own,
                              bool *conflicts, brume_error *error)
{
    bool all_public = false, open = false, seen = false;
    BRUME_TRY(brume_dataset_is_public(ledger, dataset, &all_public, error));
    BRUME_TRY(finds(ledger,
                    "SELECT 1 FROM mark WHERE mark = 'public ' || ?2 AND (dataset = ?1 OR ?1 = '')",
                    own ? dataset : "", hash, &open, error));
    if (!own)
        BRUME_TRY(finds(ledger, "SELECT 1 FROM mark WHERE dataset = ?1 AND mark = 'seen ' || ?2",
                        dataset, hash, &seen, error));
    *conflicts = !all_public && !open && !seen;
    return BRUME_OK;
}

brume_status brume_mark_see(brume_ledger *ledger, const char *dataset, bool is_public,
                            const brume_mark_list *marks, brume_error *error)
{
    char hash[BRUME_DIGEST_TEXT];
    const marked known = {dataset, is_public, false};
    for (size_t i = 0; i < marks->count; i++) {
        bool mine = false, conflicts = false, own = is_own(marks, i);
        BRUME_TRY(hash_mark(ledger, marks->texts[i], hash, error));
        BRUME_TRY(finds(ledger, "SELECT 1 FROM mark WHERE dataset = ?1 AND mark = ?2", dataset,
                        hash, &mine, error));
        if (!mine)
            BRUME_TRY(mark_conflicts(ledger, &known, hash, own, &conflicts, error));
        else if (is_public)
            BRUME_TRY(shows_own(ledger, dataset, hash, own, &conflicts, error));
        if (conflicts)
            return brume_fail(error, BRUME_EPOLICY, "its owner takes it out of one of the two",
                              mine ? "a public table of '%s' now has data of a protected one"
                                   : "the source of '%s' now has data of another dataset",
                              dataset);
        BRUME_TRY(add_hash(ledger, dataset, hash, is_public, own, error));
    }
    return BRUME_OK;
}
