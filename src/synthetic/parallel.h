/* Run a loop over [0, count) on all cores, in contiguous pieces. */
#ifndef BRUME_SYNTHETIC_PARALLEL_H
#define BRUME_SYNTHETIC_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

enum { BRUME_PARALLEL_PIECES = 64 }; /* most pieces a loop is cut into */

/* work(context, piece, first, last) handles [first, last); pieces are numbered from 0. */
typedef void (*brume_parallel_work)(void *context, size_t piece, uint64_t first, uint64_t last);

/* How many pieces a loop over `count` items of `cells` cells each is cut into: 1 where starting
 * threads would cost more than it saves, else the number of cores (at most PIECES). */
size_t brume_parallel_pieces(uint64_t count, uint64_t cells);

/* Run the pieces, the first on this thread. If a thread cannot be started its piece runs here. */
void brume_parallel_run(uint64_t count, size_t pieces, brume_parallel_work work, void *context);

#endif
