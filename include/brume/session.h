/* Sessions: SQL over private data, budgets and every command of brume inside a program.
 *
 * Part of the library libbrume-sql (pkg-config: brume-sql). What stands in <brume/brume.h> is of
 * libbrume and needs neither a session nor a ledger.
 *
 *  1. Threads: a process may have many sessions, and each is used by one thread at a time; a second
 *     call while one runs is refused (EARGUMENT). Only brume_session_cancel, brume_session_phase
 *     and brume_session_stopping may be called from any thread at any time between open and close.
 *     Sessions of one ledger, in one process or in many, share its budgets: a price is checked and
 *     charged in one transaction.
 *  2. A session does not survive a fork: in the child every call but brume_session_close is refused
 *     (EARGUMENT). Open a session of its own there.
 *  3. The library never prints, exits, aborts, reads standard input or touches signals. It works in
 *     the locale C and with the default floating-point environment, whatever the host has set, and
 *     puts both back. It may start threads, with all signals blocked.
 *  4. Options are a JSON object, of which NULL is an empty one. Its members are the options of the
 *     command line by their names, and its arguments by their names in lower case ('brume help
 *     COMMAND' lists both); an underscore stands for a dash. A value is a text as it would be
 *     typed, or a number (which is taken as the shortest decimal that reads back as it: 0.1 is
 *     exactly 0.1); flags are true; what may be given several times is an array, or an object
 *     {"age": "0..100"} for ["age=0..100"]. What is null or false is not given. In messages options
 *     are written as on the command line, with dashes.
 *  5. Answers are texts that the caller frees with brume_free. They are those of the command line
 *     with --json: one object; with "format": "text" what it shows to a person.
 *  6. On an error outputs are untouched, and `error` (may be NULL) has status, message and hint;
 *     <brume/status.h> has the word, SQLSTATE and exit code of each status. An error after the
 *     price was charged says that it stays spent.
 *  7. Whatever an answer costs is on the ledger, on disk, before the answer exists. */
#ifndef BRUME_SESSION_H
#define BRUME_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/arrow.h>
#include <brume/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct brume_session brume_session;

/* Open a session on a ledger, which a first `register` makes; NULL: $BRUME_LEDGER, else ./brume.db.
 *
 * Options: "must_exist": true refuses a ledger that is not there, or cannot be read, now instead of
 * at the first call that needs it; "colour": true writes texts for a terminal; "input": true lets
 * commands read standard input where they are told to with "-" (else that is refused).
 *
 * "user": NAME runs the session for a user of the ledger ('brume user add'), whom the caller has
 * authenticated. Then, at every call, the user must be there and must not have expired, and what
 * the role may not do is refused (EPOLICY); charges count in the user's allotments, are refused
 * where these do not carry them (EBUDGET) and where the user was removed or has expired meanwhile
 * (EPOLICY); every row of the journal says the user; 'budget' also has "mine". "issued": the
 * journal row of the token that was shown, so that another token ends the session too. Without
 * "user" the session is the owner's at the shell.
 *
 * The session keeps no file open between calls. Errors: ESYNTAX, EARGUMENT, EUNKNOWN (options),
 * EMEMORY, those of reading the ledger. */
BRUME_API BRUME_MUST_USE brume_status brume_session_open(const char *ledger, const char *options,
                                                         brume_session **out, brume_error *error);

/* NULL is nothing to close. Ends an open stream. No call may be running. */
BRUME_API void brume_session_close(brume_session *session);

/* Free an answer; NULL is nothing to free. */
BRUME_API void brume_free(void *memory);

/* The version of the library that runs, "1.2.3"; that of the headers is BRUME_VERSION. */
BRUME_API const char *brume_session_version(void);

/* Load DuckDB from this file now, for the whole process: for a program that brings its own copy.
 * Without this it is loaded by the first question about a file, from $BRUME_DUCKDB or where
 * libraries are found. Once it is loaded, this changes nothing. Any thread. EENGINE: it cannot be
 * loaded, or is not of the version that brume was built with. */
BRUME_API BRUME_MUST_USE brume_status brume_session_load_duckdb(const char *path,
                                                                brume_error *error);

/* --- asking ----------------------------------------------------------------------------------- */

/* What a query would measure, at what price, with what error: the answer of 'brume explain'. Spends
 * nothing and reads no row. */
BRUME_API BRUME_MUST_USE brume_status brume_session_explain(brume_session *session, const char *sql,
                                                            const char *options, char **json,
                                                            brume_error *error);

/* Ask one statement: options are those of 'brume query' ("epsilon", "delta", "rho", "within", ...).
 * The same question at the same price is read again for free.
 *
 * `json` (NULL: not wanted) is the answer of 'brume query --json'. `rows` (NULL: not wanted) are
 * the rows of it as an Arrow stream of one batch: boolean (b), int64 (l), float64 (g) and utf8 (u)
 * columns, all nullable, under the names of the columns. The metadata of a field has "role" (key or
 * value) and, where there is one, "error_95". The stream outlives the session; release it. */
BRUME_API BRUME_MUST_USE brume_status brume_session_query(brume_session *session, const char *sql,
                                                          const char *options,
                                                          struct ArrowArrayStream *rows,
                                                          char **json, brume_error *error);

/* Run a command by its name ("register", "budget", "ledger verify", "account", ...). 'shell' is the
 * command line's, and streams are opened below: both are EUNSUPPORTED. Where a command reads or
 * writes files, their names are taken from the working directory of the process. */
BRUME_API BRUME_MUST_USE brume_status brume_session_call(brume_session *session,
                                                         const char *command, const char *options,
                                                         char **answer, brume_error *error);

/* --- streams ---------------------------------------------------------------------------------- */

/* Open a stream: "stream above-threshold", "stream sparse-vector" or "stream pmw". Its price is
 * charged here, once, for all questions. Until it is closed the session takes no other call. */
BRUME_API BRUME_MUST_USE brume_status brume_session_stream_open(brume_session *session,
                                                                const char *command,
                                                                const char *options,
                                                                brume_error *error);

/* Put one question, a line of the command's input; *answer is one line of its output. *halted
 * (NULL: not wanted) becomes true with the last answer the stream gives. A question that is wrong
 * (exit code 2 or 4) costs nothing, and the stream goes on; any other error ends it. EHALTED: it
 * has ended before. */
BRUME_API BRUME_MUST_USE brume_status brume_session_stream_ask(brume_session *session,
                                                               const char *question, char **answer,
                                                               bool *halted, brume_error *error);

/* End it, and record how far it came; an error is that of the record, or what ended it. In any case
 * the session is free again. Nothing to do, and BRUME_OK, where no stream is open. */
BRUME_API BRUME_MUST_USE brume_status brume_session_stream_close(brume_session *session,
                                                                 brume_error *error);

/* --- from other threads, and callbacks -------------------------------------------------------- */

/* Where a call is. */
typedef enum brume_session_phase_word {
    BRUME_SESSION_IDLE = 0,      /* no call runs */
    BRUME_SESSION_WORKING = 1,   /* a call that spends nothing, and runs to its end */
    BRUME_SESSION_STOPPABLE = 2, /* a call that spends nothing, and stops when cancelled */
    BRUME_SESSION_FREE = 3,      /* a call that may spend, and has not yet */
    BRUME_SESSION_RESERVING = 4, /* the price is being written: only the ledger knows */
    BRUME_SESSION_RUNNING = 5,   /* spent; an engine runs, or a stream waits */
    BRUME_SESSION_SPENT = 6,     /* spent; the answer is being recorded */
    BRUME_SESSION_RECORDED = 7,  /* the answer is recorded: asking again is free */
} brume_session_phase_word;
BRUME_API brume_session_phase_word brume_session_phase(const brume_session *session);

/* Ask the call that runs now to stop; without effect where none runs, or on one that spends
 * nothing.
 *
 * Guaranteed: it returns at once or, while a server is told to stop, soon; before the price is
 * charged the call ends with ECANCELLED and nothing is spent; after it the engine is told to stop
 * and the call ends with ECANCELLED, the price spent and no answer recorded; once the answer is
 * recorded the call ends as if nothing had happened. Not guaranteed: how soon. A call ends when the
 * engine, a server or a lock lets it, for a library cannot end its process. */
BRUME_API void brume_session_cancel(brume_session *session);

/* Why the call that runs now is to stop ("interrupted", "the deadline of 5 s has passed"); NULL: it
 * is not, or none runs. Valid until the next call. From any thread: for hosts that end themselves
 * when a call does not. */
BRUME_API const char *brume_session_stopping(const brume_session *session);

/* Tell of long work, at most ten times a second, from the thread that calls: so much of `total` is
 * done (0: nobody knows of how much). A label that is NULL: this work is over. `tell` may cancel
 * the session, and must not call it. NULL: no more. */
BRUME_API void brume_session_on_progress(brume_session *session,
                                         void (*tell)(void *context, const char *label,
                                                      uint64_t done, uint64_t total),
                                         void *context);

/* Tell of each phase of a call as it begins, from the thread that calls; `tell` may wait, and must
 * not call the session. Between SPENT and what follows it everything is written to the ledger that
 * shows how far a paid call came: who keeps calls waiting there decides when others can see that
 * one has ended. NULL: no more. */
BRUME_API void brume_session_on_phase(brume_session *session,
                                      void (*tell)(void *context, brume_session_phase_word phase),
                                      void *context);

/* Give long answers away in parts (lines of 'noise', answers of a script), from the thread that
 * calls; what is left is the answer of the call. An error of `take` ends the call. NULL: answers
 * are whole. */
BRUME_API void brume_session_on_text(brume_session *session,
                                     brume_status (*take)(void *context, const char *text,
                                                          size_t length, brume_error *error),
                                     void *context);

/* Tell of what a person should know but a file should not have: what stands beside the token of
 * 'user add', whose answer as text is the token alone. One line without its end, from the thread
 * that calls. NULL: nobody is told. */
BRUME_API void brume_session_on_note(brume_session *session,
                                     void (*note)(void *context, const char *line), void *context);

/* Have queries of public tables asked elsewhere, from the thread that calls: they are free, may be
 * any that their engine takes, and so may take as long as they like. `ask` gives the answer of
 * 'query' to one statement, which the session frees with brume_free; it must not call the session.
 * For hosts that run such work where it can be ended. NULL: here. */
BRUME_API void brume_session_on_public(brume_session *session,
                                       brume_status (*ask)(void *context, const char *sql,
                                                           char **json, brume_error *error),
                                       void *context);

/* Have SQL over released tables run elsewhere, from the thread that calls: it is free, and may be
 * any that DuckDB takes. `run` gives what brume_session_run_released gives for `work`, which the
 * session frees with brume_free; it must not call the session. NULL: here. */
BRUME_API void brume_session_on_released(brume_session *session,
                                         brume_status (*run)(void *context, const char *work,
                                                             char **json, brume_error *error),
                                         void *context);

/* Run it, in a process that can be ended. It reads nothing but `work`, which has released numbers
 * and public tables. Free *json with brume_free. */
BRUME_API BRUME_MUST_USE brume_status brume_session_run_released(const char *work, char **json,
                                                                 brume_error *error);

/* --- words of a command line ------------------------------------------------------------------ */

/* Run what the words after "brume" say; --help and "help" answer too. The answer is a text for a
 * person unless --json is among the words, of *length bytes and a 0 behind them: a key of the data
 * may have a 0 in it. Else as brume_session_call. */
BRUME_API BRUME_MUST_USE brume_status brume_session_run(brume_session *session, int count,
                                                        const char *const *words, char **answer,
                                                        size_t *length, brume_error *error);

/* The command and the options that the words say, for brume_session_call and
 * brume_session_stream_open; the caller frees both. --help becomes the command "help". Words that
 * are not UTF-8 are refused, for JSON has no others. Unlike all else, *command is set also on an
 * error if it is known, so that a message can name it. */
BRUME_API BRUME_MUST_USE brume_status brume_session_words(int count, const char *const *words,
                                                          char **command, char **options,
                                                          brume_error *error);

/* The number of bytes of the first statement of a SQL text, with its semicolon; 0 if it has not
 * ended yet. A semicolon inside quotes or a comment ends nothing. */
BRUME_API size_t brume_statement_length(const char *text);

/* Is there nothing in a SQL text but spaces, semicolons and comments that are closed? */
BRUME_API bool brume_statement_is_blank(const char *text);

#ifdef __cplusplus
}
#endif

#endif
