/* Run a loop over [0, count) on all cores, in contiguous pieces. */
#include "synthetic/parallel.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

enum { CELLS_PER_THREAD = 1 << 17 }; /* about 100 us of work, a few times the cost of a thread */

typedef struct job {
    brume_parallel_work work;
    void *context;
    size_t piece;
    uint64_t first, last;
} job;

static void *run_job(void *argument)
{
    job *one = argument;
    one->work(one->context, one->piece, one->first, one->last);
    return NULL;
}

size_t brume_parallel_pieces(uint64_t count, uint64_t cells)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t pieces = cores < 1 ? 1 : (uint64_t)cores;
    uint64_t useful = count * cells / CELLS_PER_THREAD;
    if (pieces > useful)
        pieces = useful;
    if (pieces > count)
        pieces = count;
    if (pieces > BRUME_PARALLEL_PIECES)
        pieces = BRUME_PARALLEL_PIECES;
    return pieces < 1 ? 1 : (size_t)pieces;
}

void brume_parallel_run(uint64_t count, size_t pieces, brume_parallel_work work, void *context)
{
    job jobs[BRUME_PARALLEL_PIECES];
    pthread_t threads[BRUME_PARALLEL_PIECES];
    bool started[BRUME_PARALLEL_PIECES] = {false};
    for (size_t i = 0; i < pieces; i++) {
        uint64_t share = count / pieces, rest = count % pieces;
        uint64_t first = share * i + (i < rest ? i : rest);
        jobs[i] = (job){work, context, i, first, first + share + (i < rest)};
        if (i > 0)
            started[i] = pthread_create(&threads[i], NULL, run_job, &jobs[i]) == 0;
    }
    for (size_t i = 0; i < pieces; i++)
        if (!started[i])
            run_job(&jobs[i]);
    for (size_t i = 1; i < pieces; i++)
        if (started[i])
            pthread_join(threads[i], NULL);
}
