/* Marks: by what a dataset's source is known, so that the same people have one budget, and so that
 * what is protected is not public under another name.
 *
 * A mark is a text such as "path:/data/visits.csv" that two sources share only if they hold the
 * same data or part of it; what marks there are is the engine's business. The ledger keeps a keyed
 * hash of each, under a key of its own (store.h): an export has neither, since a file's contents,
 * and even the names of the files behind a glob, may say who is in the data. What was ever read
 * under a budget stays marked.
 *
 * A source's own marks are those of itself and its parts; a view also has the marks of the tables
 * that it reads. An own mark of a public dataset is a public mark. Two sources conflict
 *
 *   1. if both are protected and share a mark that is not public;
 *   2. if one is protected, the other public, and they share a mark that is not public: a public
 *      view of a protected table would give it away;
 *   3. if one is protected and an own mark of it is public: it would be no secret.
 *
 * So a protected view may read public tables that were registered as such before it, or with it.
 * The owner may insist on a second budget for the same people, which waives rule 1 and no other.
 * The tables of one dataset share a budget, so that rules 2 and 3 alone hold between them. */
#ifndef BRUME_LEDGER_MARK_H
#define BRUME_LEDGER_MARK_H

#include "ledger/store.h"

typedef struct brume_mark_list {
    const char *const *texts;
    size_t count, read_count; /* the last `read_count` are of tables that a view reads */
    size_t whole_count;       /* the first so many are of tables that it is a part of */
} brume_mark_list;

/* Draw the key of the marks, once. */
BRUME_MUST_USE brume_status brume_mark_make_key(brume_ledger *ledger, brume_error *error);

/* The dataset has these marks from now on. */
BRUME_MUST_USE brume_status brume_mark_add(brume_ledger *ledger, const char *dataset,
                                           bool is_public, const brume_mark_list *marks,
                                           brume_error *error);

/* Does a new source with these marks conflict with a registered one, also with a glob that matches
 * a file of these paths? `insists`: rule 1 is waived. */
BRUME_MUST_USE brume_status brume_mark_conflicts(brume_ledger *ledger, bool is_public, bool insists,
                                                 const brume_mark_list *marks, bool *conflicts,
                                                 brume_error *error);

/* Do protected and public tables that are registered together conflict? Two parts of one table do
 * not. */
BRUME_MUST_USE brume_status brume_mark_tables_conflict(brume_ledger *ledger,
                                                       const brume_mark_list *protected_marks,
                                                       const brume_mark_list *public_marks,
                                                       bool *conflicts, brume_error *error);

/* Does a public source that is registered have a mark that conflicts with a protected dataset?
 * Reads only, and looks at no glob. */
BRUME_MUST_USE brume_status brume_mark_is_protected(brume_ledger *ledger,
                                                    const brume_mark_list *marks, bool *conflicts,
                                                    brume_error *error);

/* What a registered dataset reads now: add the marks that are new for it. BRUME_EPOLICY if one of
 * those conflicts with another dataset, or between its own tables, unless the owner let these two,
 * both protected, share a source. */
BRUME_MUST_USE brume_status brume_mark_see(brume_ledger *ledger, const char *dataset,
                                           bool is_public, const brume_mark_list *marks,
                                           brume_error *error);

#endif
