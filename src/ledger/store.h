/* The SQLite file under the ledger: transactions and statements (open.c opens it).
 *
 * Nothing outside src/ledger includes this. */
#ifndef BRUME_LEDGER_STORE_H
#define BRUME_LEDGER_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "ledger/ledger.h"

struct brume_ledger {
    sqlite3 *database;
    bool writable;
    int schema;                      /* of the file: 1 to BRUME_LEDGER_SCHEMA */
    char *mark_key;                  /* NULL until a mark is hashed */
    char *answer_secret;             /* NULL until an answer is looked for (wording.h) */
    struct held_file *stream_lock;   /* stream.c; NULL: none */
    int stream_note;                 /* the file beside it, while a stream is open; 0: none */
    uint64_t stream_id, stream_mark; /* whose mark is known, and the mark */
    char *user;                      /* for whom it acts; NULL: the owner at the shell */
    uint64_t user_issued;
};

/* The schema this build writes. */
enum { BRUME_LEDGER_SCHEMA = 5, BRUME_LEDGER_APPLICATION = 0x6272756d /* "brum" */ };

/* How long a process waits for another one that holds the ledger. */
enum { BRUME_STORE_BUSY_MILLISECONDS = 30000 };

/* Turn SQLite's complaint into a status; `doing` says what was being done. */
BRUME_MUST_USE brume_status brume_store_fail(brume_ledger *ledger, const char *doing,
                                             brume_error *error);

/* Run SQL without results. */
BRUME_MUST_USE brume_status brume_store_run(brume_ledger *ledger, const char *sql,
                                            const char *doing, brume_error *error);

/* Has the file one name only? SQLite names the log after the file: under two names there would be
 * two logs and two locks, and charges that do not see each other. Else BRUME_EDAMAGED. */
BRUME_MUST_USE brume_status brume_store_check_names(const struct stat *file, brume_error *error);

/* Take the write lock and begin; commit durably; or undo. Undo never fails visibly: what it undoes
 * is undone by the file's recovery at the latest. */
BRUME_MUST_USE brume_status brume_store_begin(brume_ledger *ledger, brume_error *error);
BRUME_MUST_USE brume_status brume_store_commit(brume_ledger *ledger, brume_error *error);
void brume_store_undo(brume_ledger *ledger);

/* Let another stream begin (stream.c); nothing to do where none has. */
void brume_ledger_end_stream(brume_ledger *ledger);

/* How far the newest stream came that is not open any more, as the file beside the ledger says;
 * *id: 0 if it says nothing. */
void brume_stream_left(brume_ledger *ledger, uint64_t *id, uint64_t *asked, uint64_t *hits);

/* Prepare and bind: `types` has one letter per argument, 't' text (const char *, NULL allowed),
 * 'i' integer (int64_t). */
BRUME_MUST_USE brume_status brume_store_prepare(brume_ledger *ledger, sqlite3_stmt **out,
                                                brume_error *error, const char *sql,
                                                const char *types, ...);

/* Prepare, bind, run to the end, finalize. */
BRUME_MUST_USE brume_status brume_store_execute(brume_ledger *ledger, brume_error *error,
                                                const char *sql, const char *types, ...);

/* Step: *row says whether there is one. */
BRUME_MUST_USE brume_status brume_store_step(brume_ledger *ledger, sqlite3_stmt *statement,
                                             bool *row, brume_error *error);

/* Text of a column; "" for NULL. Valid until the next step. */
const char *brume_store_text(sqlite3_stmt *statement, int column);

/* What the ledger knows and shows nobody: keys, passwords of servers, hashes of tokens.
 *
 * In the file, which only its owner may read, and in no journal row, export or answer. The newest
 * row's digest vouches for it. */

/* Random bytes as hexadecimal digits, two each and the end. */
BRUME_MUST_USE brume_status brume_random_digits(char *digits, size_t bytes, brume_error *error);

/* Draw 32 random bytes under this name, as hexadecimal digits. */
BRUME_MUST_USE brume_status brume_secret_draw(brume_ledger *ledger, const char *name,
                                              brume_error *error);

BRUME_MUST_USE brume_status brume_secret_set(brume_ledger *ledger, const char *name,
                                             const char *value, brume_error *error);

/* In place of the one of this name, if there is one; and without it. */
BRUME_MUST_USE brume_status brume_secret_replace(brume_ledger *ledger, const char *name,
                                                 const char *value, brume_error *error);
BRUME_MUST_USE brume_status brume_secret_forget(brume_ledger *ledger, const char *name,
                                                brume_error *error);

/* The secret, which the caller frees; NULL if there is none of that name. */
BRUME_MUST_USE brume_status brume_secret_read(brume_ledger *ledger, const char *name, char **value,
                                              brume_error *error);

#endif
