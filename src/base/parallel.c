/* Run a loop over [0, count) on all cores, in contiguous pieces. Threads take the next piece that
 * nobody has, so that one that is held up holds nobody else up. */
#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum {
    CELLS_PER_PIECE = 1 << 14,  /* a few microseconds */
    CELLS_PER_THREAD = 1 << 17, /* about 100 us of work, a few times the cost of a thread */
};

typedef struct loop {
    brume_parallel_work work;
    void *context;
    uint64_t count;
    size_t pieces;
    atomic_size_t next;
} loop;

static void *run_pieces(void *argument)
{
    loop *all = argument;
    uint64_t share = all->count / all->pieces, rest = all->count % all->pieces;
    for (size_t piece; (piece = atomic_fetch_add(&all->next, 1)) < all->pieces;) {
        uint64_t first = share * piece + (piece < rest ? piece : rest);
        all->work(all->context, piece, first, first + share + (piece < rest));
    }
    return NULL;
}

size_t brume_parallel_pieces(uint64_t count, uint64_t cells)
{
    uint64_t pieces = count * cells / CELLS_PER_PIECE;
    if (pieces > count)
        pieces = count;
    if (pieces > BRUME_PARALLEL_PIECES)
        pieces = BRUME_PARALLEL_PIECES;
    return pieces < 1 ? 1 : (size_t)pieces;
}

void brume_parallel_run_on(size_t most, uint64_t count, uint64_t cells, brume_parallel_work work,
                           void *context)
{
    loop all = {.work = work,
                .context = context,
                .count = count,
                .pieces = brume_parallel_pieces(count, cells)};
    pthread_t threads[BRUME_PARALLEL_PIECES];
    uint64_t useful = count * cells / CELLS_PER_THREAD;
    size_t started = 0;
    most = most < all.pieces ? most : all.pieces;
    while (started + 1 < most && started + 1 < useful &&
           pthread_create(&threads[started], NULL, run_pieces, &all) == 0)
        started++;
    run_pieces(&all);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

void brume_parallel_run(uint64_t count, uint64_t cells, brume_parallel_work work, void *context)
{
    /* the system is asked only where it matters: it opens a file to know */
    long cores = count * cells >= 2 * CELLS_PER_THREAD ? sysconf(_SC_NPROCESSORS_ONLN) : 1;
    brume_parallel_run_on(cores < 1 ? 1 : (size_t)cores, count, cells, work, context);
}
