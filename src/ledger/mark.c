/* Marks: by what a dataset's source is known. The table `mark` has the hash of every mark of a
 * dataset and, for the own marks of a public one, also "public " and the hash. */
#include "ledger/mark.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/dataset.h"
#include "ledger/digest.h"
#include "ledger/secret.h"

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
                             bool public_mark, brume_error *error)
{
    BRUME_TRY(brume_store_execute(ledger, error,
                                  "INSERT INTO mark(dataset, mark) VALUES(?1,?2) ON CONFLICT DO "
                                  "NOTHING",
                                  "tt", dataset, hash));
    if (!public_mark)
        return BRUME_OK;
    return brume_store_execute(ledger, error,
                               "INSERT INTO mark(dataset, mark) VALUES(?1,'public ' || ?2) ON "
                               "CONFLICT DO NOTHING",
                               "tt", dataset, hash);
}

brume_status brume_mark_add(brume_ledger *ledger, const char *dataset, bool is_public,
                            const brume_mark_list *marks, brume_error *error)
{
    char hash[BRUME_DIGEST_TEXT];
    for (size_t i = 0; i < marks->count; i++) {
        BRUME_TRY(hash_mark(ledger, marks->texts[i], hash, error));
        BRUME_TRY(add_hash(ledger, dataset, hash, is_public && is_own(marks, i), error));
    }
    return BRUME_OK;
}

/* ---- conflicts ---- */

/* Does `sql` give a row for ?1 and ?2? */
static brume_status finds(brume_ledger *ledger, const char *sql, const char *first,
                          const char *second, bool *found, brume_error *error)
{
    sqlite3_stmt *statement = NULL;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error, sql, "tt", first, second));
    brume_status status = brume_store_step(ledger, statement, found, error);
    sqlite3_finalize(statement);
    return status;
}

/* Did the owner let these two protected datasets share a source? They have the same one, or a mark
 * that is not public. When their file is written anew they share the new one too. */
static const char shared_by_will[] =
    "SELECT 1 FROM dataset mine JOIN dataset theirs ON mine.source = theirs.source WHERE mine.name "
    "= ?1 AND theirs.name = ?2 UNION ALL SELECT 1 FROM mark mine JOIN mark theirs ON mine.mark = "
    "theirs.mark WHERE mine.dataset = ?1 AND theirs.dataset = ?2 AND NOT EXISTS (SELECT 1 FROM "
    "mark open WHERE open.mark = 'public ' || mine.mark)";

/* Does the mark of `dataset` conflict with that of `other`, which has it too? */
static brume_status conflicts_with(brume_ledger *ledger, const char *dataset, bool is_public,
                                   const char *other, bool *conflicts, brume_error *error)
{
    bool other_public = false, shared = false;
    BRUME_TRY(brume_dataset_is_public(ledger, other, &other_public, error));
    if (dataset && !is_public && !other_public)
        BRUME_TRY(finds(ledger, shared_by_will, dataset, other, &shared, error));
    *conflicts = !(is_public && other_public) && !shared;
    return BRUME_OK;
}

/* One mark against all datasets but `dataset` (NULL: a new one). */
static brume_status mark_conflicts(brume_ledger *ledger, const char *dataset, bool is_public,
                                   const char *hash, bool own, bool *conflicts, brume_error *error)
{
    bool open = false, row = true;
    const char *name = dataset ? dataset : "";
    BRUME_TRY(finds(ledger, "SELECT 1 FROM mark WHERE mark = 'public ' || ?2 AND dataset <> ?1",
                    name, hash, &open, error));
    if (open && (is_public || !own))
        return BRUME_OK;
    sqlite3_stmt *statement = NULL;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT dataset FROM mark WHERE mark = ?2 AND dataset <> ?1",
                                  "tt", name, hash));
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && row && !*conflicts) {
        status = brume_store_step(ledger, statement, &row, error);
        if (status == BRUME_OK && row)
            status = conflicts_with(ledger, dataset, is_public, brume_store_text(statement, 0),
                                    conflicts, error);
    }
    sqlite3_finalize(statement);
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
static brume_status glob_conflicts(brume_ledger *ledger, bool is_public,
                                   const brume_mark_list *marks, bool *conflicts,
                                   brume_error *error)
{
    sqlite3_stmt *statement = NULL;
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
            status = conflicts_with(ledger, NULL, is_public, brume_store_text(statement, 0),
                                    conflicts, error);
    }
    sqlite3_finalize(statement);
    return status;
}

static brume_status any_conflicts(brume_ledger *ledger, bool is_public,
                                  const brume_mark_list *marks, bool *conflicts, brume_error *error)
{
    char hash[BRUME_DIGEST_TEXT];
    bool found = false;
    for (size_t i = 0; i < marks->count && !found; i++) {
        BRUME_TRY(hash_mark(ledger, marks->texts[i], hash, error));
        BRUME_TRY(mark_conflicts(ledger, NULL, is_public, hash, is_own(marks, i), &found, error));
    }
    *conflicts = found;
    return BRUME_OK;
}

brume_status brume_mark_is_protected(brume_ledger *ledger, const brume_mark_list *marks,
                                     bool *conflicts, brume_error *error)
{
    return any_conflicts(ledger, true, marks, conflicts, error);
}

brume_status brume_mark_conflicts(brume_ledger *ledger, bool is_public,
                                  const brume_mark_list *marks, bool *conflicts, brume_error *error)
{
    bool found = false;
    BRUME_TRY(any_conflicts(ledger, is_public, marks, &found, error));
    if (!found)
        BRUME_TRY(glob_conflicts(ledger, is_public, marks, &found, error));
    *conflicts = found;
    return BRUME_OK;
}

brume_status brume_mark_see(brume_ledger *ledger, const char *dataset, bool is_public,
                            const brume_mark_list *marks, brume_error *error)
{
    char hash[BRUME_DIGEST_TEXT];
    for (size_t i = 0; i < marks->count; i++) {
        bool mine = false, conflicts = false, own = is_own(marks, i);
        BRUME_TRY(hash_mark(ledger, marks->texts[i], hash, error));
        BRUME_TRY(finds(ledger, "SELECT 1 FROM mark WHERE dataset = ?1 AND mark = ?2", dataset,
                        hash, &mine, error));
        if (!mine)
            BRUME_TRY(mark_conflicts(ledger, dataset, is_public, hash, own, &conflicts, error));
        if (conflicts)
            return brume_fail(error, BRUME_EPOLICY, "its owner takes it out of one of the two",
                              "the source of '%s' now has data of another dataset", dataset);
        BRUME_TRY(add_hash(ledger, dataset, hash, is_public && own, error));
    }
    return BRUME_OK;
}
