/* Run a loop over [0, count) on all cores, in contiguous pieces.
 *
 * How a loop is cut depends on its size alone, never on the number of cores: a sum that is kept per
 * piece and added up in the order of the pieces is the same on every machine. */
#ifndef BRUME_BASE_PARALLEL_H
#define BRUME_BASE_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

enum { BRUME_PARALLEL_PIECES = 128 }; /* most pieces a loop is cut into */

/* work(context, piece, first, last) handles [first, last); pieces are numbered from 0. */
typedef void (*brume_parallel_work)(void *context, size_t piece, uint64_t first, uint64_t last);

/* How many pieces a loop over `count` items of `cells` cells each is cut into: 1 .. PIECES. */
size_t brume_parallel_pieces(uint64_t count, uint64_t cells);

/* Run brume_parallel_pieces(count, cells) pieces, on as many threads as are worth their start; this
 * one is the first. If no thread can be started all run here. */
void brume_parallel_run(uint64_t count, uint64_t cells, brume_parallel_work work, void *context);

/* The same on at most `most` threads: for the tests. */
void brume_parallel_run_on(size_t most, uint64_t count, uint64_t cells, brume_parallel_work work,
                           void *context);

#endif
