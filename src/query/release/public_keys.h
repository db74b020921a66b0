/* The values of keys that read public tables alone, from these tables alone: what the protected
 * rows are joined with does not show in them.
 *
 * A key's tables, and the public tables that WHERE or inner joins tie to them by conditions on
 * public columns, are joined with those conditions; the values that the key has there are a
 * superset of those it can have in the query. No protected table is opened, and a public one that
 * has become a protected dataset's is not read. */
#ifndef BRUME_QUERY_PUBLIC_KEYS_H
#define BRUME_QUERY_PUBLIC_KEYS_H

#include "query/plan/question.h"

/* Fill in brume_key.values of the question's keys, where they read public tables alone and have at
 * most BRUME_KEY_VALUES values of a type that can be listed; and the query's ties, of keys that
 * read the same public tables: which of their values occur together there, if these are not more.
 * ESOURCE and EENGINE: a public table cannot be read; EPOLICY: it is no longer public. */
BRUME_MUST_USE brume_status brume_read_public_keys(brume_ledger *ledger, brume_question *question,
                                                   brume_error *error);

#endif
