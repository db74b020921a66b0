/* What the files of collecting share: collect.c streams rows, or lets the engine sum where every
 * row is a unit; pushed.c does where a unit has several. */
#ifndef BRUME_QUERY_COLLECT_PARTS_H
#define BRUME_QUERY_COLLECT_PARTS_H

#include "query/collect/collect.h"

/* Totals that the engine adds up (pushed.h). */
typedef struct brume_push {
    const brume_collection *collection; /* NULL: rows were streamed, or every row is a unit */
    brume_engine *engine;
    const struct brume_push_dialect *dialect; /* how the engine is asked */
    char *rows;                               /* the SELECT of the rows */
    bool held;                                /* one snapshot is kept for all statements */
    /* Where something is kept by hash: */
    uint64_t key;
    brume_collection restricted; /* to `only`; `collection` points to it then */
    brume_collection_only only;
    const brume_bounded_group **only_groups; /* owned */
} brume_push;

struct brume_collected {
    brume_bounder *bounder; /* streamed: owns the groups */
    brume_bounded_group *groups;
    size_t count;
    /* summed by the engine: */
    brume_key_value *keys;
    brume_bounded_value *values;
    char **texts;
    size_t group_room, text_count, text_room;
    brume_i128 *limited; /* of a rehearsal, or pushed */
    brume_clipped *clipped, *listed;
    size_t clipped_count, listed_count;
    brume_push push;
};

/* The statement that lets the engine sum, and what it answers. */
BRUME_MUST_USE brume_status brume_collect_print_groups(const brume_collection *collection,
                                                       brume_dialect dialect,
                                                       const char *const *tables, char **sql,
                                                       brume_error *error);

/* The SELECT of the rows: unit, keys, values, which are clamped when they are here. */
BRUME_MUST_USE brume_status brume_collect_print_rows(const brume_collection *collection,
                                                     brume_dialect dialect,
                                                     const char *const *tables, char **sql,
                                                     brume_error *error);

/* The same where the rows stay on their server and are grouped there. */
BRUME_MUST_USE brume_status brume_collect_print_staying(const brume_collection *collection,
                                                        brume_engine *engine,
                                                        const char *const *tables, char **sql,
                                                        brume_error *error);

/* Replace the groups found by those declared: others are dropped, missing ones are empty. */
BRUME_MUST_USE brume_status brume_collect_close_domain(brume_collected *collected,
                                                       const brume_collection *collection,
                                                       brume_error *error);

/* A key of a result row; its text lives as long as the chunk. The place of a group with these keys
 * among groups in order, `count` if there is none. A 128-bit integer. EENGINE for what no engine
 * answers. */
brume_key_value brume_collect_key(const brume_chunk_column *column, size_t at);
size_t brume_collect_find(const brume_bounded_group *groups, size_t count,
                          const brume_key_value *keys, size_t key_count);
bool brume_collect_read_wide(brume_text text, brume_i128 *out);
brume_status brume_collect_strange(brume_error *error);

/* Pushed down: the groups, and a snapshot that is held until it is closed; then as
 * brume_collected_histogram and brume_collected_limit. Groups that are declared are empty; those
 * that nobody declared have the units that keep them. */
BRUME_MUST_USE brume_status brume_push_open(const brume_collection *collection,
                                            brume_engine *engine, const char *const *tables,
                                            brume_bits *bits, brume_collected *collected,
                                            brume_error *error);
void brume_push_close(brume_collected *collected);
BRUME_MUST_USE brume_status brume_push_histogram(brume_collected *collected, const brume_total *of,
                                                 int p, size_t bins, const bool *shown,
                                                 uint64_t *counts, brume_error *error);
BRUME_MUST_USE brume_status brume_push_limit(brume_collected *collected,
                                             const brume_total_limit *limits, size_t limit_count,
                                             int p, const bool *shown,
                                             const brume_limited_sum *sums, size_t sum_count,
                                             brume_error *error);

/* Run a statement and give each of its rows to `take`. */
typedef brume_status (*brume_push_taker)(void *context, const brume_chunk *chunk, size_t at,
                                         brume_error *error);

/* Add a group with the keys in the first columns of a row; its numbers are the caller's to fill in:
 * *values points to them. */
BRUME_MUST_USE brume_status brume_collect_add(brume_collected *collected,
                                              const brume_collection *collection,
                                              const brume_chunk *chunk, size_t at,
                                              brume_bounded_group **group,
                                              brume_bounded_value **values, brume_error *error);

/* Room for one more group; the groups' pointers to their keys and values. */
void brume_collect_point(brume_collected *collected, const brume_collection *collection);

#endif
