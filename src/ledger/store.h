/* What is under the ledger: transactions and statements, in an engine that keeps tables.
 *
 * All of the ledger's SQL goes through here, in words that every engine of brume_store_engine
 * reads. The code that computes charges does not know which one it is. Nothing outside src/ledger
 * includes this. */
#ifndef BRUME_LEDGER_STORE_H
#define BRUME_LEDGER_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "ledger/ledger.h"

/* A statement with its values, and the row that it stands on. */
typedef struct brume_statement {
    const struct brume_store_engine *engine; /* what it has of its own follows */
} brume_statement;

/* A value of a statement: a text (NULL: none), or a number where `is_text` is false. */
typedef struct brume_store_value {
    bool is_text;
    const char *text;
    int64_t number;
} brume_store_value;

enum { BRUME_STORE_IDENTITY = 160 };

/* An engine. `store` is what it opened. */
typedef struct brume_store_engine {
    bool is_server; /* not a file: nothing stands beside it */
    void (*close)(void *store);
    /* What tells this ledger from every other one of the machine; false where that is not known. */
    bool (*identify)(void *store, char out[BRUME_STORE_IDENTITY]);
    brume_status (*run)(void *store, const char *sql, const char *doing, brume_error *error);
    /* Take the lock of those who write; what is read after it is what the last of them committed.
     */
    brume_status (*begin)(void *store, brume_error *error);
    /* See the tables at one moment until `undo`. */
    brume_status (*begin_reading)(void *store, brume_error *error);
    /* Durable once it returns BRUME_OK. */
    brume_status (*commit)(void *store, brume_error *error);
    void (*undo)(void *store);
    brume_status (*prepare)(void *store, const char *sql, const brume_store_value *values,
                            size_t count, brume_statement **out, brume_error *error);
    brume_status (*step)(void *store, brume_statement *statement, bool *row, brume_error *error);
    const char *(*text)(brume_statement *statement, int column); /* NULL: nothing */
    int (*columns)(brume_statement *statement);
    void (*finish)(brume_statement *statement);
    /* What it finds damaged of its own, apart from what brume wrote. */
    brume_status (*check)(void *store, brume_error *error);
    /* Before texts are taken out, and after that was committed: nothing of them stays. */
    brume_status (*prepare_purge)(void *store, brume_error *error);
    brume_status (*purge)(void *store, brume_error *error);
} brume_store_engine;

struct brume_ledger {
    const brume_store_engine *engine;
    void *store;
    char *place; /* the file's path as the engine opened it; NULL: no file */
    bool writable;
    int schema;                      /* of the file: 1 to BRUME_LEDGER_SCHEMA */
    char *mark_key;                  /* NULL until a mark is hashed */
    char *answer_secret;             /* NULL until an answer is looked for (wording.h) */
    bool stream_on_server;           /* the session has the lock of streams */
    struct held_file *stream_lock;   /* stream.c; NULL: none */
    int stream_note;                 /* the file beside it, while a stream is open; 0: none */
    uint64_t stream_id, stream_mark; /* whose mark is known, and the mark */
    char *user;                      /* for whom it acts; NULL: the owner at the shell */
    uint64_t user_issued;
    char *project;          /* in which it asks (review.h); NULL: none */
    int approvals;          /* that its answers need */
    bool must_name_project; /* the user is in several */
    /* what every transaction does before its first row and after it is on disk (witness.h); NULL
     * while the file is being opened */
    brume_status (*check_before)(struct brume_ledger *, brume_error *);
    brume_status (*tell_after)(struct brume_ledger *, brume_error *);
    bool unwitnessed;                                  /* rows are written without the witness */
    const struct brume_witness_server *witness_server; /* NULL: nobody reaches servers */
    void *witness_state;                               /* theirs */
};

/* The schema this build writes. */
enum { BRUME_LEDGER_SCHEMA = 6, BRUME_LEDGER_APPLICATION = 0x6272756d /* "brum" */ };

/* How long a process waits for another one that holds the ledger. */
enum { BRUME_STORE_BUSY_MILLISECONDS = 30000 };

/* The keys that came after schema `from`, 0: all; of a new ledger the journal's first row too. */
BRUME_MUST_USE brume_status brume_store_add_keys(brume_ledger *ledger, int from,
                                                 brume_error *error);

/* The engine of ledgers that are SQLite files; what it opens is a sqlite3. */
extern const brume_store_engine brume_sqlite_engine;
struct sqlite3;

/* Turn SQLite's last complaint into a status; `doing` says what was being done. */
BRUME_MUST_USE brume_status brume_sqlite_fail(struct sqlite3 *database, const char *doing,
                                              brume_error *error);

/* Run SQL without results. */
BRUME_MUST_USE brume_status brume_store_run(brume_ledger *ledger, const char *sql,
                                            const char *doing, brume_error *error);

/* Has the file one name only? SQLite names the log after the file: under two names there would be
 * two logs and two locks, and charges that do not see each other. Else BRUME_EDAMAGED. */
BRUME_MUST_USE brume_status brume_store_check_names(const struct stat *file, brume_error *error);

/* Take the write lock and begin, with a witness that the ledger is not behind (witness.h); commit
 * durably, and tell the witness; or undo. Undo never fails visibly: what it undoes is undone by the
 * file's recovery at the latest. */
BRUME_MUST_USE brume_status brume_store_begin(brume_ledger *ledger, brume_error *error);
BRUME_MUST_USE brume_status brume_store_begin_reading(brume_ledger *ledger, brume_error *error);
BRUME_MUST_USE brume_status brume_store_commit(brume_ledger *ledger, brume_error *error);
void brume_store_undo(brume_ledger *ledger);

/* Begin without asking the witness: for the witness itself. */
BRUME_MUST_USE brume_status brume_store_lock(brume_ledger *ledger, brume_error *error);

/* Let another stream begin (stream.c); nothing to do where none has. */
void brume_ledger_end_stream(brume_ledger *ledger);

/* How far the newest stream came that is not open any more, as the file beside the ledger says;
 * *id: 0 if it says nothing. */
void brume_stream_left(brume_ledger *ledger, uint64_t *id, uint64_t *asked, uint64_t *hits);

/* Prepare and bind: `types` has one letter per argument, 't' text (const char *, NULL allowed),
 * 'i' integer (int64_t). The statement has ?1 for the first. */
BRUME_MUST_USE brume_status brume_store_prepare(brume_ledger *ledger, brume_statement **out,
                                                brume_error *error, const char *sql,
                                                const char *types, ...);

/* Prepare, bind, run to the end, finish. */
BRUME_MUST_USE brume_status brume_store_execute(brume_ledger *ledger, brume_error *error,
                                                const char *sql, const char *types, ...);

/* Step: *row says whether there is one. */
BRUME_MUST_USE brume_status brume_store_step(brume_ledger *ledger, brume_statement *statement,
                                             bool *row, brume_error *error);

/* Text of a column; "" for NULL. Valid until the next step. */
const char *brume_store_text(brume_statement *statement, int column);

/* A column as a number, 0 for NULL; is it NULL; and how many there are. */
int64_t brume_store_int(brume_statement *statement, int column);
bool brume_store_null(brume_statement *statement, int column);
int brume_store_columns(brume_statement *statement);

/* NULL is allowed. */
void brume_store_finish(brume_statement *statement);

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
