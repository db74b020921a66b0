/* Counting draws on several threads. Promises: every draw is counted once; a failure of one thread
 * ends all of them. */
#include "audit/count_draws.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "number/ball.h"

enum { PART = BRUME_AUDIT_WHOLE, MOST_THREADS = 64 };

/* What the threads share. */
typedef struct work {
    brume_audit_draw *draw;
    const void *context;
    const brume_audit_options *options;
    const brume_partition *bins; /* NULL: they are kept in `kept` */
    int64_t *kept;
    uint64_t draws;             /* on each neighbour */
    size_t part;                /* draws at a time */
    atomic_uint_fast64_t taken; /* parts of both neighbours */
    atomic_bool failed;
} work;

typedef struct worker {
    work *all;
    brume_bits *bits; /* of the one that leads */
    bool leads;       /* has the caller's bits and tells the progress; others open their own */
    brume_bin_counts counts;
    brume_status status;
    brume_error error;
    pthread_t thread;
} worker;

brume_status brume_audit_check_stopped(const brume_audit_options *options, brume_error *error)
{
    const char *why = options->stopped ? options->stopped(options->stopped_context) : NULL;
    return why ? brume_fail(error, BRUME_ECANCELLED, NULL, "%s; nothing was spent", why) : BRUME_OK;
}

static uint64_t parts(const work *all)
{
    return (all->draws + all->part - 1) / all->part;
}

/* Part `number`: the neighbours take turns. */
static brume_status draw_part(worker *w, brume_bits *bits, uint64_t number, int64_t *outcomes)
{
    const work *all = w->all;
    bool second = number % 2 != 0;
    uint64_t from = number / 2 * all->part;
    size_t n = all->draws - from < all->part ? (size_t)(all->draws - from) : all->part;
    BRUME_TRY(brume_audit_check_stopped(all->options, &w->error));
    BRUME_TRY(all->draw(all->context, second, bits, outcomes, n, &w->error));
    if (all->bins)
        brume_partition_count(all->bins, outcomes, n, second, &w->counts);
    else
        memcpy(all->kept + (second ? all->draws : 0) + from, outcomes, n * sizeof *outcomes);
    if (w->leads && all->options->progress)
        all->options->progress(all->options->progress_context, (size_t)(number * all->part));
    return BRUME_OK;
}

static void *run(void *context)
{
    worker *w = context;
    brume_bits *bits = w->bits;
    int64_t outcomes[PART];
    if (!w->leads)
        w->status = brume_bits_open(&bits, &w->error);
    while (w->status == BRUME_OK && !atomic_load(&w->all->failed)) {
        uint64_t number = atomic_fetch_add(&w->all->taken, 1);
        if (number >= 2 * parts(w->all))
            break;
        w->status = draw_part(w, bits, number, outcomes);
    }
    if (w->status != BRUME_OK)
        atomic_store(&w->all->failed, true);
    if (!w->leads)
        brume_bits_close(bits);
    flint_cleanup(); /* what FLINT and MPFR keep for a thread */
    return NULL;
}

/* The caller's thread and others; the counts of all of them are added to *counts. */
static brume_status run_all(work *all, brume_bits *bits, brume_bin_counts *counts,
                            brume_error *error)
{
    const brume_audit_options *options = all->options;
    size_t threads = options->threads < 1 ? 1 : options->threads;
    threads = threads > MOST_THREADS ? MOST_THREADS : threads;
    /* small parts where draws are slow, so that threads end together */
    all->part = options->whole || all->draws / 64 >= PART ? PART : (size_t)(all->draws / 64) + 1;
    worker *workers = calloc(threads, sizeof *workers);
    if (!workers)
        return brume_no_memory(error, "an audit");
    size_t started = 1;
    for (size_t i = 0; i < threads; i++)
        workers[i].all = all;
    for (; started < threads; started++)
        if (pthread_create(&workers[started].thread, NULL, run, &workers[started]) != 0)
            break; /* the others do its work */
    workers[0].bits = bits;
    workers[0].leads = true;
    run(&workers[0]);
    for (size_t i = 1; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    brume_status status = BRUME_OK;
    for (size_t i = 0; i < started; i++) {
        if (status == BRUME_OK && workers[i].status != BRUME_OK) {
            status = workers[i].status;
            if (error)
                *error = workers[i].error;
        }
        for (int second = 0; counts && second < 2; second++)
            for (size_t bin = 0; bin < BRUME_BINS; bin++)
                counts->of[second][bin] += workers[i].counts.of[second][bin];
    }
    free(workers);
    return status;
}

brume_status brume_count_draws(brume_audit_draw *draw, const void *context,
                               const brume_audit_options *options, uint64_t draws,
                               const brume_partition *bins, brume_bits *bits,
                               brume_bin_counts *counts, brume_error *error)
{
    work all = {.draw = draw, .context = context, .options = options, .bins = bins, .draws = draws};
    return run_all(&all, bits, counts, error);
}

brume_status brume_keep_draws(brume_audit_draw *draw, const void *context,
                              const brume_audit_options *options, size_t draws, brume_bits *bits,
                              int64_t *outcomes, brume_error *error)
{
    work all = {
        .draw = draw, .context = context, .options = options, .kept = outcomes, .draws = draws};
    return run_all(&all, bits, NULL, error);
}
