/* What the files of collecting share: collect.c streams rows, collect_groups.c lets the engine sum.
 */
#ifndef BRUME_QUERY_COLLECT_PARTS_H
#define BRUME_QUERY_COLLECT_PARTS_H

#include "query/collect/collect.h"

struct brume_collected {
    brume_bounder *bounder; /* streamed: owns the groups */
    brume_bounded_group *groups;
    size_t count;
    /* summed by the engine: */
    brume_key_value *keys;
    brume_bounded_value *values;
    char **texts;
    size_t group_room, text_count, text_room;
    brume_i128 *limited; /* of a rehearsal */
};

/* Visit every combination of a closed domain, the last key fastest. */
typedef brume_status (*brume_cell_visitor)(void *context, const brume_key_value *cell,
                                           brume_error *error);
BRUME_MUST_USE brume_status brume_collect_visit(const brume_collection *collection,
                                                brume_cell_visitor visit, void *context,
                                                brume_error *error);

/* The statement that lets the engine sum, and what it answers. */
BRUME_MUST_USE brume_status brume_collect_print_groups(const brume_collection *collection,
                                                       brume_dialect dialect,
                                                       const char *const *tables, char **sql,
                                                       brume_error *error);
BRUME_MUST_USE brume_status brume_collect_groups(const brume_collection *collection,
                                                 brume_engine *engine, const char **tables,
                                                 brume_collected *collected, brume_error *error);

/* Room for one more group; the groups' pointers to their keys and values. */
BRUME_MUST_USE brume_status brume_collect_grow(brume_collected *collected,
                                               const brume_collection *collection,
                                               brume_error *error);
void brume_collect_point(brume_collected *collected, const brume_collection *collection);

#endif
