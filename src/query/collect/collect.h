/* Collect: read the rows through the engine and get exact, bounded sums for every group. The last
 * place where true numbers exist; what leaves here goes to draw.h and nowhere else. */
#ifndef BRUME_QUERY_COLLECT_H
#define BRUME_QUERY_COLLECT_H

#include <brume/bits.h>

#include "query/collect/bound.h"
#include "query/collect/totals.h"
#include "query/plan/collection.h"

typedef struct brume_collected brume_collected;

/* Read the rows of a collection. `engine` has the sources in the order of the catalog. A
 * closed domain has every declared group; an open one those that some unit keeps.
 * Errors: ESOURCE, EENGINE, ECANCELLED, EMEMORY, EOVERFLOW: none says anything about a row. */
BRUME_MUST_USE brume_status brume_collect(const brume_collection *collection, brume_engine *engine,
                                          size_t table_count, brume_bits *bits,
                                          brume_collected **out, brume_error *error);
void brume_collected_close(brume_collected *collected);

/* The statement that brume_collect gives to an engine of this dialect, and in it the bounds to
 * which values are clamped, by the engine or when they are here; `tables[i]` is what stands for
 * catalog table i in FROM. *sql is the caller's, to free. */
BRUME_MUST_USE brume_status brume_collect_statement(const brume_collection *collection,
                                                    brume_dialect dialect,
                                                    const char *const *tables, char **sql,
                                                    brume_error *error);

/* Does it take the rows of units one by one: are they streamed, or pushed down? Otherwise the
 * engine sums them up by itself. */
bool brume_collect_streams(const brume_collection *collection);

/* One group of the collection, as if it had `units` units and no value; nothing is read. For
 * rehearsing what comes after. */
BRUME_MUST_USE brume_status brume_collect_nothing(const brume_collection *collection,
                                                  uint64_t units, brume_bits *bits,
                                                  brume_collected **out, brume_error *error);

/* For a collection of totals (totals.h): the units by the norms of a statistic over the groups with
 * shown[number] (NULL: all), and the sums of what is left under limits, in `limited` of each group.
 */
BRUME_MUST_USE brume_status brume_collected_histogram(brume_collected *collected,
                                                      const brume_total *of, int p, size_t bins,
                                                      const bool *shown, uint64_t *counts,
                                                      brume_error *error);
BRUME_MUST_USE brume_status brume_collected_limit(brume_collected *collected,
                                                  const brume_total_limit *limits,
                                                  size_t limit_count, int p, const bool *shown,
                                                  const brume_limited_sum *sums, size_t sum_count,
                                                  brume_error *error);

/* The same of units by their means (totals.h). Not of a collection that is pushed down. */
BRUME_MUST_USE brume_status brume_collected_means(const brume_collected *collected,
                                                  const brume_mean_cells *cells, const bool *shown,
                                                  uint64_t *weights, brume_error *error);

/* What a sum was limited with, by its place in `sums`, or the list of a value; NULL: it was not. */
typedef struct brume_clipped {
    brume_limited_sum sum; /* of a list: its value */
    brume_total_limit limit;
    int p;
} brume_clipped;

const brume_clipped *brume_collected_clipped(const brume_collected *collected, size_t sum);
const brume_clipped *brume_collected_listed(const brume_collected *collected, size_t value);

/* The lists of values with their weights under limits (totals.h), in `values` of each group. */
BRUME_MUST_USE brume_status brume_collected_list(brume_collected *collected,
                                                 const brume_total_limit *limits, const bool *shown,
                                                 const brume_limited_list *lists, size_t list_count,
                                                 brume_error *error);

/* Which groups some unit keeps (totals.h). */
BRUME_MUST_USE brume_status brume_collected_distinct(const brume_collected *collected,
                                                     uint64_t limit, const bool *shown, bool *kept,
                                                     brume_error *error);

/* Are distinct values counted where the rows lie? Then there are no groups here, and: from now on
 * only rows of these groups count, by the first `key_count` keys (of other collections nothing is
 * changed); `groups` must outlive the collection, or the next call. And counts[i] of groups[i]: how
 * many values of the last key some unit keeps, each `limit` at most; groups are in order. */
bool brume_collected_counts_there(const brume_collected *collected);
void brume_collected_restrict(brume_collected *collected, const brume_bounded_group *const *groups,
                              size_t count, size_t key_count);
BRUME_MUST_USE brume_status brume_collected_count_values(const brume_collected *collected,
                                                         uint64_t limit,
                                                         const brume_bounded_group *const *groups,
                                                         size_t count, int64_t *counts,
                                                         brume_error *error);

/* How many numbers there are for groups: all are below. */
size_t brume_collected_numbers(const brume_collected *collected);

/* The groups in the order of their keys; values are indexed as collection->values. */
const brume_bounded_group *brume_collected_groups(const brume_collected *collected, size_t *count);

#endif
