/* The ledger: the durable account of what each dataset has paid.
 *
 * It is one SQLite file (application id "brum", write-ahead log, synchronous=FULL), or a schema of
 * a PostgreSQL database (postgres.c); store.h is what is between them and all else. Its tables:
 *
 *   journal      append-only, hash-chained: every fact, in order. Row i carries
 *                hash_i = SHA-256(hash_{i-1} | id | time | kind | body); see journal.h.
 *   dataset      one row per registered dataset: which journal row states its policy, and the
 *                filter's state, a copy of what the journal row `last` says.
 *   reservation  one row per reservation: its state, `reserved`, `committed` or `failed`.
 *   answer       recorded answers, for free re-reads; their hashes are in the journal.
 *   mark         by what each dataset's source is known, as keyed hashes; see mark.h.
 *   secret       the key of these hashes, passwords of servers, hashes of tokens; in no row of the
 *                journal.
 *   user         who may ask through a server; see user.h.
 *   allotment    what one of them may take of a dataset's budget: a second filter's state.
 *   window_page  what each window of a growing table has spent: a filter each; see
 * page_of_windows.h. wording      what was typed, with a salt: it can be redacted; see wording.h
 * and redact.c.
 *
 * Everything but the journal can be recomputed from it, or (marks, secrets) is vouched for by its
 * newest row; `verify` does so.
 *
 * Rules.
 *  1. A reservation is durable (on disk, synced) before brume_ledger_reserve returns.
 *  2. Check and charge are one transaction that holds the write lock: of processes racing for a
 *     budget exactly those succeed whose charges fit, in the order of the journal.
 *  3. A reservation that touches several datasets, or windows, charges all of them or none.
 *  4. Nothing is ever refunded. A crash, a failed engine, a closed pipe: what was reserved stays
 *     spent, because whether an answer was seen cannot be known.
 *  5. The filter's rule and the adjacency are fixed at registration. The budget and the policy
 *     change by the owner's amendment only, which is a row of the journal; what was spent stays
 *     spent (brume_ledger_amend).
 *  6. Before it writes, the ledger checks that the newest row's hash is right and that the dataset
 *     table is the one this row vouches for, and a dataset's state against the row that set it;
 *     otherwise BRUME_EDAMAGED.
 *
 * Crash argument. A killed process leaves either no trace of a transaction or all of it (SQLite's
 * log). The caller prints an answer only after commit returned, hence after reserve returned, hence
 * after the charge was on disk. So every answer that was seen is charged.
 *
 * What it cannot do: somebody who may write the file may put back an older copy of it, or write a
 * new history with new hashes. That is detected against an earlier export
 * (brume_ledger_verify_against), and by nothing that is in the file itself. */
#ifndef BRUME_LEDGER_LEDGER_H
#define BRUME_LEDGER_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include <brume/adjacency.h>
#include <brume/account/filter.h>
#include <brume/status.h>

#include "ledger/window.h"

typedef struct brume_ledger brume_ledger;

typedef enum brume_ledger_mode {
    BRUME_LEDGER_CREATE, /* open for writing, make the file if there is none */
    BRUME_LEDGER_WRITE,  /* open for writing; no file: BRUME_ESOURCE */
    BRUME_LEDGER_READ,   /* open for reading only */
    BRUME_LEDGER_EMPTY,  /* make one without a row for brume_ledger_copy; EPOLICY if one is there */
} brume_ledger_mode;

/* Open the ledger at `path`; close it with brume_ledger_close. A newer schema is refused; an older
 * one is migrated when it is opened for writing, and read as it is otherwise. Errors: BRUME_ESOURCE
 * no such file; BRUME_EDISK cannot be opened, locked or written; BRUME_EDAMAGED not a ledger, or
 * its structure is not what brume made; BRUME_EUNSUPPORTED newer.
 */
BRUME_MUST_USE brume_status brume_ledger_open(const char *path, brume_ledger_mode mode,
                                              brume_ledger **out, brume_error *error);
void brume_ledger_close(brume_ledger *ledger);

/* Is this a database's URL and not the path of a file? */
bool brume_ledger_is_on_a_server(const char *place);

/* The statements that make the tables of a ledger in a PostgreSQL database, for who may make them;
 * and, where `role` is not NULL, grant that role what brume needs: it adds
 * to the journal, and cannot change or remove a row of it. The caller frees *out. */
BRUME_MUST_USE brume_status brume_ledger_install_sql(const char *role, char **out,
                                                     brume_error *error);

/* ---- datasets ---- */

/* An adjacency as the command line and the journal write it: "add-remove", "replace", "edge". */
const char *brume_adjacency_word(brume_adjacency adjacency);

/* False if the word is none of them; *out is untouched then. */
bool brume_adjacency_parse(const char *word, brume_adjacency *out);

typedef struct brume_registration {
    const char *name;         /* unique, not empty */
    const char *source;       /* identity of the source; the same one twice is refused */
    const char *password;     /* that opens the source; kept, and never shown; NULL: none */
    const char *const *marks; /* what else it is known by (mark.h) */
    size_t mark_count;
    size_t read_mark_count;  /* the last so many of them are of tables that it, a view, reads */
    size_t whole_mark_count; /* the first so many are of tables it is a part of: not kept */
    const char *const *public_marks; /* those of its public tables, in the same order */
    size_t public_mark_count, public_read_mark_count, public_whole_mark_count;
    const char *data_version; /* the owner's public label; may be "" */
    brume_adjacency adjacency;
    const brume_filter *filter; /* fresh: the budget and its rule */
    const char *cap;            /* most epsilon of one query, as a decimal; NULL: no cap */
    const json_t *policy;       /* everything else; the ledger reads "public" and "window" of it */
    bool new_budget;            /* the owner insists: same source under another name */
    const brume_filter *window_budget; /* fresh, of each window; NULL: the policy has no windows */
    bool no_budget; /* of whole histories: `filter` is the window budget then, and sums nothing */
} brume_registration;

/* Register a dataset. BRUME_EPOLICY if the name or the source is registered already, or if it
 * shares data with a registered one, or its public tables with its others, by its marks (mark.h
 * says when): with one text whatever the reason, and recorded in the journal, where the name that
 * was asked for is all that it says. */
BRUME_MUST_USE brume_status brume_ledger_register(brume_ledger *ledger,
                                                  const brume_registration *registration,
                                                  brume_error *error);

/* Do protected and public tables of one policy share data (mark.h)? Of `tables` the marks are read.
 * BRUME_EPOLICY with the text of a registration that is refused. */
BRUME_MUST_USE brume_status brume_ledger_check_tables(brume_ledger *ledger,
                                                      const brume_registration *tables,
                                                      brume_error *error);

/* ---- amendments ----
 *
 * The owner's correction of a registered dataset: a row of the journal that states the policy anew.
 * Its source, its rule and its adjacency stay.
 *
 * 1. What was spent stays spent. With a new budget the filter's limits are those of a fresh filter
 *    of that budget, its sums are kept, and sums above the limits are refused. Under concentrated
 *    the share of delta for failures stays a tenth: an amendment cannot move delta from one share
 *    to the other.
 * 2. What that guarantees. If the owner's decision does not depend on answers, all releases
 *    together meet the budget as it stands after its last amendment, because the sums are within
 *    the limits of that budget whatever the answers were. If it does depend on them, they meet
 *    (largest epsilon, largest delta) of the budgets that the owner would have given after any
 *    answers, because every limit grows with both.
 * 3. Charges are prices for one unit. An amendment after which rows may belong to other units than
 *    before is refused once anything was charged: what was paid says nothing about other units.
 * 4. Limits, bounds, domains and types of other columns may change at any time: a release was
 *    priced for the policy of its time, and keeps that guarantee.
 * 5. Amending and charging are transactions that exclude each other: a query that was planned under
 *    another policy than the one in force is not charged (brume_ledger_charge.stated). */

typedef struct brume_amendment {
    const char *name;
    uint64_t stated;                   /* brume_dataset.stated of the policy that is amended */
    const char *epsilon;               /* the new budget, as decimals; NULL: as it is */
    const char *delta;                 /* NULL: none */
    const brume_filter *window_budget; /* fresh, of the dataset's rule; NULL: as it is */
    const char *cap;                   /* the new cap; "": none; NULL: as it is */
    const char *data_version; /* NULL: as it is. Recorded answers of the old label stay, but are not
                                 found by queries on the new one */
    const json_t *policy;     /* NULL: as it is */
    bool moves_units;         /* rows may belong to other units than under the old policy */
    const json_t *changes;    /* words for what is amended, an array of texts, for the history */
} brume_amendment;

/* BRUME_EPOLICY: a budget below what was spent, clause 3, or somebody amended it meanwhile;
 * BRUME_EARGUMENT: a budget that the rule does not take; BRUME_EUNKNOWN. */
BRUME_MUST_USE brume_status brume_ledger_amend(brume_ledger *ledger,
                                               const brume_amendment *amendment,
                                               brume_error *error);

/* ---- datasets as they are ---- */

typedef struct brume_dataset {
    char *name, *source, *data_version;
    char *cap, *password; /* may be NULL */
    brume_adjacency adjacency;
    brume_filter filter;        /* the state now */
    bool has_windows;           /* each has a filter of its own, with these limits */
    brume_filter window_budget; /* fresh */
    bool no_budget;             /* of whole histories: `filter` has the window budget, unspent */
    json_t *policy;
    uint64_t queries; /* reservations so far; free re-reads do not count */
    uint64_t stated;  /* the journal row that states the policy */
} brume_dataset;

/* Load one dataset; free with brume_dataset_close. BRUME_EUNKNOWN with the nearest name. */
BRUME_MUST_USE brume_status brume_ledger_dataset(brume_ledger *ledger, const char *name,
                                                 brume_dataset **out, brume_error *error);
void brume_dataset_close(brume_dataset *dataset);

/* The grid of a policy's windows; false if it has none. Its values, if any, point into the policy;
 * the caller frees *values with free(). */
bool brume_dataset_grid(const json_t *policy, brume_window_grid *grid, const char ***values);

/* Every name in order, as a JSON array of strings the caller frees. */
BRUME_MUST_USE brume_status brume_ledger_names(brume_ledger *ledger, json_t **out,
                                               brume_error *error);

/* The datasets that have a table of this name: one whose policy lists it under "tables" (exactly,
 * else without regard to case), or one of that name whose policy lists none. A JSON array of
 * strings the caller frees. */
BRUME_MUST_USE brume_status brume_ledger_holders(brume_ledger *ledger, const char *table,
                                                 json_t **out, brume_error *error);

/* The names of all tables that a query can ask: those that policies list, and the datasets whose
 * policies list none. A JSON array of strings the caller frees. */
BRUME_MUST_USE brume_status brume_ledger_tables(brume_ledger *ledger, json_t **out,
                                                brume_error *error);

/* ---- reservations ---- */

typedef struct brume_ledger_charge {
    const char *dataset;
    const brume_charge *price; /* in the currency of that dataset's rule */
    uint64_t stated;           /* brume_dataset.stated of the policy it was planned under; 0: any */
    const char *const *marks;  /* of what will be read; new ones are recorded */
    size_t mark_count, read_mark_count;
    /* of a dataset with windows, which refuses a charge that does not say them: those whose rows
     * may be read, and what each of them pays */
    const brume_window_set *windows;
    const brume_charge *window_price;
} brume_ledger_charge;

typedef struct brume_reservation {
    const brume_ledger_charge *charges; /* one per dataset, all charged or none */
    size_t charge_count;
    const brume_ledger_charge *public_tables; /* what is read beside them and needs no protection;
                                                 without a price */
    size_t public_count;
    const char *sql;      /* what was asked, normalised */
    const char *typed;    /* as it was typed; NULL: nothing else than `sql` */
    const json_t *events; /* what will be released: mechanisms and parameters, for third parties. It
                             stays when texts are redacted: nothing that was typed may be in it */
    const char *answer_key; /* see brume_ledger_recall */
    bool anew; /* there may be an answer under the key: this one is recorded beside it */
} brume_reservation;

/* Whether a public table (`price` is not read) is still no other dataset's data, without charging
 * or recording anything; of a ledger that is open for reading as brume_ledger_look_public does.
 * EPOLICY: it is not. */
BRUME_MUST_USE brume_status brume_ledger_check_public(brume_ledger *ledger,
                                                      const brume_ledger_charge *table,
                                                      brume_error *error);

/* May these marks be of a table that is public? EPOLICY if a protected dataset has one of them.
 * Reads only, and takes no lock: for what is read before anything is charged. */
BRUME_MUST_USE brume_status brume_ledger_look_public(brume_ledger *ledger,
                                                     const brume_ledger_charge *table,
                                                     brume_error *error);

/* Charge and record. *id names the reservation. On failure nothing is charged.
 * Errors: BRUME_EBUDGET does not fit; BRUME_EPOLICY over the cap, datasets of different adjacency,
 * a source that has become another dataset's, or a policy that was amended meanwhile;
 * BRUME_EUNKNOWN; BRUME_EDAMAGED; BRUME_EDISK. */
BRUME_MUST_USE brume_status brume_ledger_reserve(brume_ledger *ledger,
                                                 const brume_reservation *reservation, uint64_t *id,
                                                 brume_error *error);

/* Record the answer of a reservation, durably. BRUME_EARGUMENT if it is not in state `reserved`. */
BRUME_MUST_USE brume_status brume_ledger_commit(brume_ledger *ledger, uint64_t id,
                                                const json_t *answer, brume_error *error);

/* Record a part of what an open reservation releases, durably and under a key of its own, before
 * the rest of it is drawn: it is not lost when what follows fails, and brume_ledger_recall finds
 * it. The first one under a key stays. */
BRUME_MUST_USE brume_status brume_ledger_note(brume_ledger *ledger, uint64_t id, const char *key,
                                              const json_t *part, brume_error *error);

/* Record that a reservation gave no answer. It stays charged. */
BRUME_MUST_USE brume_status brume_ledger_fail(brume_ledger *ledger, uint64_t id,
                                              brume_status reason, brume_error *error);

/* Record how far a stream of questions came, durably: so many were asked, so many of them were
 * answered "above" or paid for. Both are public: they were told. The charge does not depend on it.
 * BRUME_EARGUMENT if the reservation is not in state `reserved`. */
BRUME_MUST_USE brume_status brume_ledger_progress(brume_ledger *ledger, uint64_t id, uint64_t asked,
                                                  uint64_t hits, brume_error *error);

/* The same for each answer, before it is told, of the stream that this handle began: it waits for
 * no disk, survives a kill of the process, and is seen by others once the stream is not open any
 * more. EDISK. */
BRUME_MUST_USE brume_status brume_ledger_stream_note(brume_ledger *ledger, uint64_t id,
                                                     uint64_t asked, uint64_t hits,
                                                     brume_error *error);

/* Be the one stream of questions on this ledger until it is closed: streams run one at a time.
 * BRUME_EPOLICY while another process has one open. */
BRUME_MUST_USE brume_status brume_ledger_begin_stream(brume_ledger *ledger, brume_error *error);

/* When a reservation was written, in UTC: "2026-11-18T06:09:02.120Z". What it paid for was read
 * after that, so this is the date of its answer. The time at which the answer was recorded would
 * tell how long reading took, and so something of the rows. */
enum { BRUME_WHEN_TEXT = 32 };

BRUME_MUST_USE brume_status brume_ledger_reserved_at(brume_ledger *ledger, uint64_t id,
                                                     char when[BRUME_WHEN_TEXT],
                                                     brume_error *error);

/* The newest recorded answer under a key, or NULL in *answer if there is none, and in `when` (NULL:
 * not asked for) when its reservation was written. The recorded text must have the hash the journal
 * says, else BRUME_EDAMAGED. The key must name everything a re-read may depend on, all of it
 * public: dataset, normalised query, price, policy, data version. */
BRUME_MUST_USE brume_status brume_ledger_recall(brume_ledger *ledger, const char *answer_key,
                                                json_t **answer, char when[BRUME_WHEN_TEXT],
                                                brume_error *error);

/* The recorded answer of the reservation with this number (the "id" of brume_ledger_history), and
 * the names of the datasets that were charged. It is the answer under the reservation's key: where
 * the same question was paid for twice at once, the one that was kept. BRUME_EUNKNOWN: there is no
 * such reservation, or it has no recorded answer. The caller frees both. `when`: as above. */
BRUME_MUST_USE brume_status brume_ledger_recall_reservation(brume_ledger *ledger, uint64_t id,
                                                            json_t **answer, json_t **datasets,
                                                            char when[BRUME_WHEN_TEXT],
                                                            brume_error *error);

/* A page of the history: the newest events. It also ends where their rows have BRUME_HISTORY_BYTES
 * together, for a question may be long. */
typedef struct brume_history_page {
    uint64_t before; /* a number: only events with a lower one; 0: all */
    size_t most;     /* events; 0: any number. A row of the journal is not divided */
} brume_history_page;

enum { BRUME_HISTORY_BYTES = 4 << 20, BRUME_HISTORY_EVENTS = 100 };

/* Ranges of windows by their names, [[FIRST,LAST]], on the grid of a dataset as it is. The caller
 * frees *out. */
BRUME_MUST_USE brume_status brume_ledger_name_windows(brume_ledger *ledger, const char *dataset,
                                                      const brume_window_set *set, json_t **out,
                                                      brume_error *error);

/* What the windows of a dataset that has them may still spend. */
typedef struct brume_windows_left {
    json_t *runs; /* [{"first","last","left":{"epsilon","delta","rho"}}], the newest first: those
                     that have spent something; the caller frees it */
    brume_charge untouched, undated; /* what all other windows have left, and `undated` */
} brume_windows_left;

BRUME_MUST_USE brume_status brume_ledger_windows(brume_ledger *ledger, const brume_dataset *dataset,
                                                 brume_windows_left *out, brume_error *error);

/* The least that a window of a set has left; of an empty set the budget of a window. */
BRUME_MUST_USE brume_status brume_ledger_least_left(brume_ledger *ledger,
                                                    const brume_dataset *dataset,
                                                    const brume_window_set *set,
                                                    brume_charge *least, brume_error *error);

/* What the windows of a dataset would have left after charges that are not made: do several fit
 * together? EBUDGET, which names the first windows that lack something: `what` are the charges. */
typedef struct brume_window_rest brume_window_rest;
BRUME_MUST_USE brume_status brume_window_rest_open(brume_ledger *ledger,
                                                   const brume_dataset *dataset,
                                                   brume_window_rest **out, brume_error *error);
BRUME_MUST_USE brume_status brume_window_rest_take(brume_window_rest *rest,
                                                   const brume_dataset *dataset,
                                                   const brume_window_set *set,
                                                   const brume_charge *price, const char *what,
                                                   brume_error *error);
void brume_window_rest_close(brume_window_rest *rest);

/* What happened to one dataset (NULL: all), oldest first: {"events":[{"id","time","dataset","sql",
 * "cost","state"}],"before"}, "before" being that of the next page, null if there is none. A page
 * that is NULL is everything. Reservations, with the SQL as it was typed and, where that is another
 * text, "normal", where a user asked also "user", of a stream also "progress":{"asked","hits"}, of
 * a dataset with windows also "windows":{"ranges","undated","count","price"}; where the text was
 * redacted "sql" is "(redacted)" and "redacted" true;
 * amendments (state "amended", "changes") and refused registrations under its name (state
 * "refused"), both without SQL and cost. BRUME_EDAMAGED if a row is not what brume writes. */
BRUME_MUST_USE brume_status brume_ledger_history(brume_ledger *ledger, const char *dataset,
                                                 const brume_history_page *page, json_t **out,
                                                 brume_error *error);

/* ---- audit ---- */

typedef struct brume_ledger_report {
    uint64_t rows, datasets, reservations, answers, users;
} brume_ledger_report;

/* Recompute everything from the journal: the chain, each policy, each filter state and bound, each
 * recorded answer. BRUME_EDAMAGED with the first row that does not hold. */
BRUME_MUST_USE brume_status brume_ledger_verify(brume_ledger *ledger, brume_ledger_report *report,
                                                brume_error *error);

/* Does the ledger continue this earlier export? BRUME_EDAMAGED if a row of the export is missing or
 * different: an older copy was put back, or history was rewritten. */
BRUME_MUST_USE brume_status brume_ledger_verify_against(brume_ledger *ledger, const json_t *export,
                                                        brume_error *error);

/* Copy the ledger to `path`, whole, while others use it: a snapshot of one moment, which is
 * verified before this returns. It has the ledger's secrets and is readable by its owner only.
 * EPOLICY if there is something at `path` already; EDISK; EDAMAGED. */
BRUME_MUST_USE brume_status brume_ledger_backup(brume_ledger *ledger, const char *path,
                                                brume_ledger_report *report, brume_error *error);

/* Move the ledger at `from` to `to`, another file or a database that has none. What was at `from`
 * can be read, and not charged any more; every row and hash is the same at both. `again`: it was
 * moved before, and what arrived is lost. EPOLICY: there is a ledger at `to`, a stream is open, or
 * it was moved before. After any later error nothing can be charged until it is moved again. */
BRUME_MUST_USE brume_status brume_ledger_copy(const char *from, const char *to, bool again,
                                              brume_ledger_report *report, brume_error *error);

/* The whole journal as JSON: {"format","version","rows":[{"id","time","kind","body","hash"}]}. A
 * third party can recompute the chain and re-account every charge from it. With `texts` the row of
 * a charge also has "text", what was asked, and "salt": its "wording" is SHA-256 of both. */
BRUME_MUST_USE brume_status brume_ledger_export(brume_ledger *ledger, bool texts, json_t **out,
                                                brume_error *error);

/* The recorded answer of a charge, word by word as its hash in the journal is of:
 * {"row","text","salt","wording":{"text","salt"}}: the row that has the hash, the text, its salt,
 * and the same of what was asked (null where the charge's row has that itself, before schema 5).
 * EUNKNOWN: it has none; EPOLICY: it was redacted, be its answer there or not. The caller frees
 * it. */
BRUME_MUST_USE brume_status brume_ledger_recorded(brume_ledger *ledger, uint64_t id, json_t **out,
                                                  brume_error *error);

/* Answers that leave the ledger together. */
typedef struct brume_publication {
    const char *dataset;
    const uint64_t *answers; /* their charges, which ascend; each has a recorded answer */
    size_t count;
    const char *tables; /* a digest of the files that hold them */
} brume_publication;

/* Record that these answers are published, with what the dataset has spent at this moment, and
 * prove (brume_ledger_prove) the rows of their charges, of their records and the row of this; all
 * or nothing. It costs nothing. EPOLICY: the caller is no owner. */
BRUME_MUST_USE brume_status brume_ledger_publish(brume_ledger *ledger,
                                                 const brume_publication *what, json_t **proof,
                                                 brume_error *error);

/* Proof that these rows, which ascend, are in the journal as it is now (merkle.h), for somebody who
 * sees no other row: {"size","root","rows":[{"id","time","kind","body","previous","hash","path"}]}.
 * BRUME_EUNKNOWN: there is no such row. */
BRUME_MUST_USE brume_status brume_ledger_prove(brume_ledger *ledger, const uint64_t *rows,
                                               size_t count, json_t **out, brume_error *error);

/* Does such a proof hold: is each row's hash right, and does its path lead to the root? It needs no
 * ledger. EDAMAGED. */
BRUME_MUST_USE brume_status brume_ledger_check_proof(const json_t *proof, brume_error *error);

/* The hash that the journal has of a text with this salt ("": none): 64 digits. */
enum { BRUME_RECORDED_HASH = 65 };
BRUME_MUST_USE brume_status brume_ledger_hash(const char *salt, const char *text,
                                              char hash[BRUME_RECORDED_HASH], brume_error *error);

#endif
