/* Marks: by what a dataset's source is known, so that the same people have one budget. */
#include "ledger/mark.h"

#include <fnmatch.h>
#include <string.h>

#include "base/error.h"
#include "ledger/digest.h"
#include "ledger/secret.h"

enum { NAME = 256 }; /* room for a dataset's */

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

static brume_status add_hash(brume_ledger *ledger, const char *dataset, const char *hash,
                             brume_error *error)
{
    return brume_store_execute(ledger, error,
                               "INSERT INTO mark(dataset, mark) VALUES(?1,?2) ON CONFLICT DO "
                               "NOTHING",
                               "tt", dataset, hash);
}

brume_status brume_mark_add(brume_ledger *ledger, const char *dataset, const char *mark,
                            brume_error *error)
{
    char hash[BRUME_DIGEST_TEXT];
    BRUME_TRY(hash_mark(ledger, mark, hash, error));
    return add_hash(ledger, dataset, hash, error);
}

/* ---- refusing ---- */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static const char *said_of(const char *mark)
{
    return begins(mark, "contents:") ? "is a copy of a file that is registered already"
           : begins(mark, "inode:")  ? "is another name of a file that is registered already"
           : begins(mark, "table:")  ? "reads a table that is registered already"
                                     : "reads a file that is registered already";
}

/* The name of one dataset that `sql` finds for ?1 (and ?2), copied into name; "" for none. */
static brume_status find_name(brume_ledger *ledger, const char *sql, const char *first,
                              const char *second, char *name, size_t size, brume_error *error)
{
    sqlite3_stmt *statement = NULL;
    bool row = false;
    BRUME_TRY(
        brume_store_prepare(ledger, &statement, error, sql, second ? "tt" : "t", first, second));
    brume_status status = brume_store_step(ledger, statement, &row, error);
    if (status == BRUME_OK)
        sqlite3_snprintf((int)size, name, "%s", row ? brume_store_text(statement, 0) : "");
    sqlite3_finalize(statement);
    return status;
}

static brume_status refuse(const char *mark, const char *name, brume_error *error)
{
    return brume_fail(error, BRUME_EPOLICY,
                      "a second budget for the same people adds to the first; --new-budget if you "
                      "mean it",
                      "the source %s, as '%s'", said_of(mark), name);
}

/* Registered globs that match one of the paths. */
static brume_status refuse_globbed(brume_ledger *ledger, const char *const *marks, size_t count,
                                   brume_error *error)
{
    sqlite3_stmt *statement = NULL;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT name, substr(source, 6) FROM dataset WHERE "
                                  "substr(source, 1, 5) = 'glob:' ORDER BY name",
                                  ""));
    bool row = true;
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && row) {
        status = brume_store_step(ledger, statement, &row, error);
        for (size_t i = 0; status == BRUME_OK && row && i < count; i++)
            if (begins(marks[i], "path:") && fnmatch(brume_store_text(statement, 1), marks[i] + 5,
                                                     FNM_PATHNAME | FNM_PERIOD) == 0)
                status = refuse(marks[i], brume_store_text(statement, 0), error);
    }
    sqlite3_finalize(statement);
    return status;
}

brume_status brume_mark_refuse_known(brume_ledger *ledger, const char *const *marks, size_t count,
                                     brume_error *error)
{
    char hash[BRUME_DIGEST_TEXT], name[NAME];
    for (size_t i = 0; i < count; i++) {
        BRUME_TRY(hash_mark(ledger, marks[i], hash, error));
        BRUME_TRY(find_name(ledger, "SELECT dataset FROM mark WHERE mark = ?1 ORDER BY dataset",
                            hash, NULL, name, sizeof name, error));
        if (*name)
            return refuse(marks[i], name, error);
    }
    return refuse_globbed(ledger, marks, count, error);
}

/* Add one mark that the dataset has now. Two datasets that already share a source or a mark do so
 * by the owner's --new-budget: when their file is written anew they share the new one too. */
static brume_status see_one(brume_ledger *ledger, const char *dataset, const char *mark,
                            brume_error *error)
{
    char hash[BRUME_DIGEST_TEXT], mine[NAME], other[NAME];
    BRUME_TRY(hash_mark(ledger, mark, hash, error));
    BRUME_TRY(find_name(ledger, "SELECT dataset FROM mark WHERE dataset = ?1 AND mark = ?2",
                        dataset, hash, mine, sizeof mine, error));
    if (*mine)
        return BRUME_OK;
    BRUME_TRY(find_name(
        ledger,
        "SELECT other.dataset FROM mark other WHERE other.mark = ?2 AND other.dataset <> ?1 AND "
        "NOT EXISTS (SELECT 1 FROM mark mine JOIN mark theirs ON mine.mark = theirs.mark WHERE "
        "mine.dataset = ?1 AND theirs.dataset = other.dataset) AND NOT EXISTS (SELECT 1 FROM "
        "dataset mine JOIN dataset theirs ON mine.source = theirs.source WHERE mine.name = ?1 AND "
        "theirs.name = other.dataset) ORDER BY other.dataset",
        dataset, hash, other, sizeof other, error));
    if (*other)
        return brume_fail(error, BRUME_EPOLICY, "take the file out of one of the two sources",
                          "the source of '%s' now %s, as '%s'", dataset, said_of(mark), other);
    return add_hash(ledger, dataset, hash, error);
}

brume_status brume_mark_see(brume_ledger *ledger, const char *dataset, const char *const *marks,
                            size_t count, brume_error *error)
{
    for (size_t i = 0; i < count; i++)
        BRUME_TRY(see_one(ledger, dataset, marks[i], error));
    return BRUME_OK;
}
