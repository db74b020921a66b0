/* Lower confidence bounds. Promises: draws are never used twice: bins and events are functions of
 * the first part, the bounds of the second part given them. */
#include "audit/epsilon.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <brume/status.h>
#include <stdatomic.h>

#include "audit/draw.h"
#include "audit/proportion.h"
#include "base/error.h"
#include "number/ball.h"

/* How many outcomes of each neighbour are in each bin. */
typedef struct brume_bin_counts {
    uint64_t of[2][BRUME_BINS];
} brume_bin_counts;

/* How good an event looks that has the frequencies p and q on its likelier neighbour and on the
 * other. */
typedef double brume_promise(const void *context, double p, double q);

/* ---- bins of outcomes and events of bins ---- */

/* Outcomes that have a bin of their own: all where they are so few, else those with this share. */
enum { ATOMS = 240, MOST_QUANTILES = 256, LEAST_QUANTILES = 16, IN_QUANTILE = 400 };
static const double ATOM_SHARE = 1 / 256., SIMPLER = 0.05;

static int ascending(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* ---- bins ---- */

/* A new edge, above all that there are. */
static void add_edge(brume_partition *bins, int64_t edge)
{
    if (bins->count < BRUME_BINS && edge > bins->edges[bins->count - 1])
        bins->edges[bins->count++] = edge;
}

static void add_atom(brume_partition *bins, int64_t outcome)
{
    add_edge(bins, outcome);
    add_edge(bins, outcome + 1);
}

/* Is there a cut at this rank? At quantiles, and in the tails at ranks that grow by half. */
static bool is_cut(size_t rank, size_t next, size_t n)
{
    size_t parts = n / IN_QUANTILE; /* few outcomes in a bin are luck */
    parts = parts < LEAST_QUANTILES ? LEAST_QUANTILES : parts;
    parts = parts > MOST_QUANTILES ? MOST_QUANTILES : parts;
    if (rank * parts / n != next * parts / n)
        return true;
    for (size_t tail = 8; tail < n / parts; tail += tail / 2)
        if ((rank < tail && next >= tail) || (n - rank > tail && n - next <= tail))
            return true;
    return false;
}

/* all: both neighbours' outcomes, ascending. */
static void cut(brume_partition *bins, const int64_t *all, size_t n, bool few)
{
    bins->count = 1;
    bins->edges[0] = INT64_MIN;
    for (size_t i = 0, next; i < n; i = next) {
        next = i + 1;
        while (next < n && all[next] == all[i])
            next++;
        if (few || (double)(next - i) >= ATOM_SHARE * (double)n)
            add_atom(bins, all[i]);
        else if (is_cut(i, next, n))
            add_edge(bins, all[i]);
    }
}

/* The bin of an outcome: the last edge that is not above it. */
static size_t bin_of(const brume_partition *bins, int64_t outcome)
{
    size_t low = 0;
    for (size_t left = bins->count; left > 1;) { /* no branch that is hard to foretell */
        size_t half = left / 2;
        low += bins->edges[low + half] <= outcome ? half : 0;
        left -= half;
    }
    return low;
}

static void fill_table(brume_partition *bins, int64_t least, int64_t most)
{
    enum { PLACES = sizeof bins->table / sizeof *bins->table };
    bins->least = least;
    bins->tabled = 0;
    for (int64_t i = 0; i < PLACES && i <= most - least; i++)
        bins->table[bins->tabled++] = (uint16_t)bin_of(bins, least + i);
}

/* Bins for n outcomes on each neighbour; sorts them. */
static brume_status partition_learn(int64_t *first, int64_t *second, size_t n, brume_partition *out,
                                    brume_error *error)
{
    int64_t *all = malloc(2 * n * sizeof *all);
    if (!all)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu outcomes", 2 * n);
    memcpy(all, first, n * sizeof *all);
    memcpy(all + n, second, n * sizeof *all);
    qsort(all, 2 * n, sizeof *all, ascending);
    size_t distinct = 1;
    for (size_t i = 1; i < 2 * n; i++)
        distinct += all[i] != all[i - 1];
    cut(out, all, 2 * n, distinct <= ATOMS);
    fill_table(out, all[0], all[2 * n - 1]);
    free(all);
    return BRUME_OK;
}

/* Add outcomes of the first neighbour, or of the second. */
static void partition_count(const brume_partition *bins, const int64_t *outcomes, size_t n,
                            bool second, brume_bin_counts *counts)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t place = (uint64_t)outcomes[i] - (uint64_t)bins->least;
        counts->of[second][place < bins->tabled ? bins->table[place] : bin_of(bins, outcomes[i])]++;
    }
}

/* ---- events ---- */

typedef struct epsilon_search {
    const brume_partition *bins;
    const brume_bin_counts *counts;
    double n;
    brume_promise *promise;
    const void *context;
    double best;
    brume_bin_event *out;
} epsilon_search;

/* Bins in an order, by their numbers: the first so many of them are an event. It has to be better
 * than what there is by `margin`. */
static void consider(epsilon_search *s, const size_t *order, bool second, double margin)
{
    double hits[2] = {0, 0}, best_before = s->best;
    size_t best = 0;
    s->best += isfinite(s->best) ? margin * fabs(s->best) : 0;
    for (size_t i = 0; i < s->bins->count; i++) {
        for (int side = 0; side < 2; side++)
            hits[side] += (double)s->counts->of[side][order[i]];
        double found = s->promise(s->context, hits[second] / s->n, hits[!second] / s->n);
        if (found > s->best) {
            s->best = found;
            best = i + 1;
        }
    }
    if (best == 0) {
        s->best = best_before;
        return;
    }
    *s->out = (brume_bin_event){.second = second};
    for (size_t i = 0; i < best; i++)
        s->out->in[order[i]] = true;
}

typedef struct ranked {
    size_t bin;
    double quotient;
} ranked;

static int by_quotient(const void *left, const void *right)
{
    const ranked *a = left, *b = right;
    if (a->quotient != b->quotient)
        return a->quotient > b->quotient ? -1 : 1;
    return a->bin < b->bin ? -1 : a->bin > b->bin;
}

/* Bins by how much they speak for one neighbour; among rare ones some always seem to. */
static void rank_bins(const brume_partition *bins, const brume_bin_counts *counts, bool second,
                      size_t order[BRUME_BINS])
{
    ranked all[BRUME_BINS];
    for (size_t i = 0; i < bins->count; i++) {
        double much = (double)counts->of[second][i], less = (double)counts->of[!second][i];
        all[i] = (ranked){i, (much + 1 - sqrt(much)) / (less + 1 + sqrt(less))};
    }
    qsort(all, bins->count, sizeof *all, by_quotient);
    for (size_t i = 0; i < bins->count; i++)
        order[i] = all[i].bin;
}

static double total(const brume_partition *bins, const brume_bin_counts *counts)
{
    double sum = 0;
    for (size_t i = 0; i < bins->count; i++)
        sum += (double)counts->of[0][i];
    return sum;
}

/* The event of the largest promise by counts[1], and that promise; -INFINITY: there is none. Bins
 * are ranked by counts[0], of other draws, so that luck is not counted twice; if `ordered`, they
 * are not, and an event ends at one edge. */
static double partition_choose(const brume_partition *bins, const brume_bin_counts counts[2],
                               bool ordered, brume_promise *promise, const void *context,
                               brume_bin_event *out)
{
    size_t order[BRUME_BINS];
    epsilon_search s = {bins,      &counts[1], total(bins, &counts[1]), promise, context,
                        -INFINITY, out};
    *out = (brume_bin_event){.in = {true}};
    for (int second = 0; second < 2; second++) {
        for (size_t i = 0; i < bins->count; i++)
            order[i] = i;
        consider(&s, order, second, 0);
        for (size_t i = 0; i < bins->count; i++)
            order[i] = bins->count - 1 - i;
        consider(&s, order, second, 0);
    }
    for (int second = 0; !ordered && second < 2;
         second++) { /* simple events before sets that luck favours */
        rank_bins(bins, &counts[0], second, order);
        consider(&s, order, second, SIMPLER);
    }
    return s.best;
}

/* The outcomes that speak most for the second neighbour, about the share `share` on the first.
 */
static void partition_nested(const brume_partition *bins, const brume_bin_counts *counts,
                             double share, brume_bin_event *out)
{
    size_t order[BRUME_BINS];
    double hits = 0, n = total(bins, counts);
    rank_bins(bins, counts, true, order);
    *out = (brume_bin_event){.second = true};
    for (size_t i = 0; i < bins->count && hits < share * n; i++) {
        out->in[order[i]] = true;
        hits += (double)counts->of[0][order[i]];
    }
}

/* ---- text ---- */

/* "%.17g" only where fewer digits are another number. */
static void write_number(FILE *out, double number)
{
    char text[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    fputs(text, out);
}

/* Bins from `from` to below `to`, as "3" or "3..5". */
static void write_range(FILE *out, const brume_partition *bins, size_t from, size_t to, double step)
{
    bool open = to == bins->count;
    bool begins = from > 0 && from < BRUME_BINS;
    if (begins)
        write_number(out, step * (double)bins->edges[from]);
    if (!open && begins && bins->edges[to] - 1 == bins->edges[from])
        return;
    fputs("..", out);
    if (!open)
        write_number(out, step * (double)(bins->edges[to] - 1));
}

void brume_partition_text(const brume_partition *bins, const brume_bin_event *event, double step,
                          char *text, size_t size)
{
    size_t from[BRUME_BINS], to[BRUME_BINS], ranges = 0;
    for (size_t i = 0; i < bins->count; i++) {
        if (!event->in[i])
            continue;
        if (i > 0 && event->in[i - 1])
            to[ranges - 1] = i + 1;
        else {
            from[ranges] = i;
            to[ranges++] = i + 1;
        }
    }
    FILE *out = fmemopen(text, size, "w");
    if (!out) {
        snprintf(text, size, "outcome in a set");
        return;
    }
    if (ranges == 1 && from[0] > 0 && to[0] == bins->count) {
        fputs("outcome >= ", out);
        write_number(out, step * (double)bins->edges[from[0]]);
    } else if (ranges == 1 && from[0] == 0 && to[0] < bins->count) {
        fputs("outcome <= ", out);
        write_number(out, step * (double)(bins->edges[to[0]] - 1));
    } else {
        fputs("outcome in {", out);
        for (size_t i = 0; i < ranges; i++) {
            fputs(i ? ", " : "", out);
            write_range(out, bins, from[i], to[i], step);
        }
        fputs("}", out);
    }
    fclose(out);
    text[size - 1] = 0;
}

/* Counting draws on several threads. Promises: every draw is counted once; a failure of one thread
 * ends all of them. */

enum { PART = BRUME_AUDIT_WHOLE, MOST_THREADS = 64 };

/* What the threads share. */
typedef struct epsilon_work {
    brume_audit_draw *draw;
    const void *context;
    const brume_audit_options *options;
    const brume_partition *bins; /* NULL: they are kept in `kept` */
    int64_t *kept;
    uint64_t draws;             /* on each neighbour */
    size_t part;                /* draws at a time */
    atomic_uint_fast64_t taken; /* parts of both neighbours */
    atomic_bool failed;
} epsilon_work;

typedef struct epsilon_worker {
    epsilon_work *all;
    brume_bits *bits; /* of the one that leads */
    bool leads;       /* has the caller's bits and tells the progress; others open their own */
    brume_bin_counts counts;
    brume_status status;
    brume_error error;
    pthread_t thread;
} epsilon_worker;

brume_status brume_audit_check_stopped(const brume_audit_options *options, brume_error *error)
{
    const char *why = options->stopped ? options->stopped(options->stopped_context) : NULL;
    return why ? brume_fail(error, BRUME_ECANCELLED, NULL, "%s; nothing was spent", why) : BRUME_OK;
}

static uint64_t parts(const epsilon_work *all)
{
    return (all->draws + all->part - 1) / all->part;
}

/* Part `number`: the neighbours take turns. */
static brume_status draw_part(epsilon_worker *w, brume_bits *bits, uint64_t number,
                              int64_t *outcomes)
{
    const epsilon_work *all = w->all;
    bool second = number % 2 != 0;
    uint64_t from = number / 2 * all->part;
    size_t n = all->draws - from < all->part ? (size_t)(all->draws - from) : all->part;
    BRUME_TRY(brume_audit_check_stopped(all->options, &w->error));
    BRUME_TRY(all->draw(all->context, second, bits, outcomes, n, &w->error));
    if (all->bins)
        partition_count(all->bins, outcomes, n, second, &w->counts);
    else
        memcpy(all->kept + (second ? all->draws : 0) + from, outcomes, n * sizeof *outcomes);
    if (w->leads && all->options->progress)
        all->options->progress(all->options->progress_context, (size_t)(number * all->part));
    return BRUME_OK;
}

static void *run(void *context)
{
    epsilon_worker *w = context;
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
static brume_status run_all(epsilon_work *all, brume_bits *bits, brume_bin_counts *counts,
                            brume_error *error)
{
    const brume_audit_options *options = all->options;
    size_t threads = options->threads < 1 ? 1 : options->threads;
    threads = threads > MOST_THREADS ? MOST_THREADS : threads;
    /* small parts where draws are slow, so that threads end together */
    all->part = options->whole || all->draws / 64 >= PART ? PART : (size_t)(all->draws / 64) + 1;
    epsilon_worker *workers = calloc(threads, sizeof *workers);
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

/* `draws` on each neighbour, added to the counts. With several threads each but the first
 * has bits of its own from the kernel. Errors: those of `draw`; BRUME_ECANCELLED where
 * options->stopped says so; BRUME_EMEMORY, BRUME_ESYSTEM. */
static brume_status count_draws(brume_audit_draw *draw, const void *context,
                                const brume_audit_options *options, uint64_t draws,
                                const brume_partition *bins, brume_bits *bits,
                                brume_bin_counts *counts, brume_error *error)
{
    epsilon_work all = {
        .draw = draw, .context = context, .options = options, .bins = bins, .draws = draws};
    return run_all(&all, bits, counts, error);
}

/* `draws` on each neighbour, kept: those of the first, then those of the second. The same errors.
 */
static brume_status keep_draws(brume_audit_draw *draw, const void *context,
                               const brume_audit_options *options, size_t draws, brume_bits *bits,
                               int64_t *outcomes, brume_error *error)
{
    epsilon_work all = {
        .draw = draw, .context = context, .options = options, .kept = outcomes, .draws = draws};
    return run_all(&all, bits, NULL, error);
}

/* The part that events are chosen on: half of few draws, a quarter of more, of very many so many,
 * which take 128 MiB. */
enum { ENOUGH = 1000, MOST_LEARNED = 1 << 23 };

/* The caution (below) with which few draws choose an event that others judge. */
static const double BOLD = 2;

static size_t learned(size_t samples)
{
    size_t part = samples / 4 > ENOUGH ? samples / 4 : samples / 2 < ENOUGH ? samples / 2 : ENOUGH;
    return part < MOST_LEARNED ? part : MOST_LEARNED;
}

/* ---- choosing ---- */

/* What the choice is for. */
typedef struct aim {
    double draws; /* that will count, or what can be foreseen of them */
    double delta, epsilon;
    bool ordered;
    double caution; /* deviations that each bound will be off by, about */
    double never;   /* what is added to the hits of an event, for those that never came */
} aim;

/* About what the bounds of the draws that count will be, were these the true probabilities. */
static void foresee(const aim *of, double *p, double *q)
{
    double n = of->draws;
    double margin = of->never / n;
    *p -= of->caution * sqrt(*p * (1 - *p) / n);
    *q += of->caution * sqrt(*q * (1 - *q) / n) + margin;
}

static double promise_epsilon(const void *context, double p, double q)
{
    const aim *of = context;
    foresee(of, &p, &q);
    return p > of->delta ? log((p - of->delta) / q) : -INFINITY;
}

static double promise_delta(const void *context, double p, double q)
{
    const aim *of = context;
    foresee(of, &p, &q);
    return p - exp(of->epsilon) * q;
}

/* `first` draws choose. They are taken to foresee what 1.75 times as many will see; were it many
 * more, an event that never came on the other neighbour by luck would look better than any other.
 */
static aim aim_of(const brume_audit_options *options, size_t first, size_t draws)
{
    double alarm = -log1p(-options->confidence);
    return (aim){.draws = fmin(1.75 * (double)first, (double)draws),
                 .delta = options->delta,
                 .epsilon = options->epsilon,
                 .ordered = options->ordered,
                 .caution = fmax(sqrt(2 * alarm), 1),
                 .never = fmax(alarm, .5)};
}

/* Bins from n draws on each neighbour, and how many of these are in each: counts[0] of their first
 * half, counts[1] of the other. */
static brume_status learn(brume_audit_draw *draw, const void *context,
                          const brume_audit_options *options, size_t n, brume_bits *bits,
                          brume_partition *bins, brume_bin_counts counts[2], brume_error *error)
{
    int64_t *outcomes = malloc(2 * n * sizeof *outcomes);
    if (!outcomes)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu samples", n);
    brume_audit_options silent = *options;
    silent.progress = NULL;
    brume_status status = keep_draws(draw, context, &silent, n, bits, outcomes, error);
    if (status == BRUME_OK)
        status = partition_learn(outcomes, outcomes + n, n, bins, error);
    memset(counts, 0, 2 * sizeof *counts);
    for (size_t second = 0; status == BRUME_OK && second < 2; second++) {
        const int64_t *of = outcomes + second * n;
        partition_count(bins, of, n / 2, second != 0, &counts[0]);
        partition_count(bins, of + n / 2, n - n / 2, second != 0, &counts[1]);
    }
    free(outcomes);
    return status;
}

static void choose(const aim *of, const brume_bin_counts counts[2], brume_audit_result *out)
{
    /* false alarms of a test, from rare to even */
    static const double shares[BRUME_AUDIT_CURVE] = {.001, .003, .01, .03, .1, .2, .35, .5};
    partition_choose(&out->bins, counts, of->ordered, promise_epsilon, of, &out->event.of);
    partition_choose(&out->bins, counts, of->ordered, promise_delta, of, &out->delta_event.of);
    for (size_t i = 0; i < BRUME_AUDIT_CURVE; i++)
        partition_nested(&out->bins, counts, shares[i], &out->curve[i].of);
}

static void add_counts(brume_bin_counts *to, const brume_bin_counts *more)
{
    for (int second = 0; second < 2; second++)
        for (size_t i = 0; i < BRUME_BINS; i++)
            to->of[second][i] += more->of[second][i];
}

/* ---- bounding ---- */

static void count_hits(const brume_partition *bins, const brume_bin_counts *counts,
                       brume_audit_event *event)
{
    event->hits[0] = event->hits[1] = 0;
    for (size_t i = 0; i < bins->count; i++)
        for (int second = 0; event->of.in[i] && second < 2; second++)
            event->hits[second] += counts->of[second][i];
}

/* Each of the event's probabilities by itself. */
static void bound(const brume_partition *bins, const brume_bin_counts *counts, uint64_t draws,
                  double alarm, brume_audit_event *event)
{
    count_hits(bins, counts, event);
    event->p_lower = brume_proportion_lower(draws, event->hits[event->of.second], alarm / 2);
    event->q_upper = brume_proportion_upper(draws, event->hits[!event->of.second], alarm / 2);
}

/* Rounded down: three operations, each off by a relative 2^-52. */
static double epsilon_of(const void *context, double p, double q)
{
    double delta = ((const brume_audit_options *)context)->delta;
    double lower = p > delta ? log((p - delta) / q) : 0;
    return fmax(lower - 1e-12 * (1 + fabs(lower)), 0);
}

static double delta_of(const void *context, double p, double q)
{
    double epsilon = ((const brume_audit_options *)context)->epsilon;
    return fmax(p - exp(epsilon) * q * (1 + 1e-12) - 1e-15, 0);
}

/* D_a(p || q)/a is at most rho for every a > 1; the best of some. */
static double rho_of(const void *context, double p, double q)
{
    (void)context;
    double best = 0;
    if (!(p > q && q > 0))
        return 0;
    for (double order = 1.001; order < 1000; order *= 1.1) {
        double first = order * log(p) + (1 - order) * log(q);
        double second = p < 1 ? order * log1p(-p) + (1 - order) * log1p(-q) : -INFINITY;
        double most = fmax(first, second);
        double sum = most + log(exp(first - most) + exp(second - most));
        best = fmax(best, sum / (order - 1) / order);
    }
    return fmax(best * (1 - 1e-9) - 1e-12, 0);
}

/* Bounds an event's two probabilities together; each function of one event is of the same region.
 */
static double bound_both(const brume_audit_options *options, const brume_audit_result *result,
                         const brume_audit_event *event, double alarm, brume_of_two *of)
{
    return brume_two_proportions_lower(result->draws, event->hits[event->of.second],
                                       event->hits[!event->of.second], alarm, of, options);
}

static void conclude(const brume_audit_options *options, const brume_bin_counts *counts,
                     brume_audit_result *out)
{
    double alarm = 1 - options->confidence;
    count_hits(&out->bins, counts, &out->event);
    count_hits(&out->bins, counts, &out->delta_event);
    out->epsilon_lower = bound_both(options, out, &out->event, alarm / 2, epsilon_of);
    out->delta_lower = bound_both(options, out, &out->delta_event, alarm / 4, delta_of);
    out->rho_lower = fmax(bound_both(options, out, &out->event, alarm / 2, rho_of),
                          bound_both(options, out, &out->delta_event, alarm / 4, rho_of));
    /* Where delta at the claimed epsilon is above the claim, epsilon at the claimed delta is, too:
     * by the same event, of whose region both are functions. */
    double by_delta = bound_both(options, out, &out->delta_event, alarm / 4, epsilon_of);
    if (by_delta > out->epsilon_lower) {
        out->epsilon_lower = by_delta;
        out->event = out->delta_event;
    }
    for (size_t i = 0; i < BRUME_AUDIT_CURVE; i++) {
        brume_audit_event *point = &out->curve[i];
        bound(&out->bins, counts, out->draws, alarm / 4 / BRUME_AUDIT_CURVE, point);
        out->rho_lower = fmax(out->rho_lower, rho_of(NULL, point->p_lower, point->q_upper));
    }
}

/* ---- all of it ---- */

static brume_status check(const brume_audit_options *options, brume_error *error)
{
    size_t all = options->samples;
    if (all < 100 || all > (size_t)1 << 31)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "there are %zu samples, must be 100 to 2^31", all);
    if (!(options->confidence > 0 && options->confidence < 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "the confidence is %g, must be in (0, 1)",
                          options->confidence);
    if (!(options->delta >= 0 && options->delta < 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "delta is %g, must be in [0, 1)",
                          options->delta);
    if (!(options->epsilon >= 0))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "epsilon is %g, must be at least 0",
                          options->epsilon);
    return BRUME_OK;
}

brume_status brume_audit_epsilon(brume_audit_draw *draw, const void *context,
                                 const brume_audit_options *options, brume_bits *bits,
                                 brume_audit_result *out, brume_error *error)
{
    BRUME_TRY(check(options, error));
    size_t first = learned(options->samples);
    brume_bin_counts *counts = calloc(2, sizeof *counts);
    brume_audit_result *result = calloc(1, sizeof *result);
    brume_status status = counts && result ? BRUME_OK : brume_no_memory(error, "an audit");
    if (status == BRUME_OK)
        status = learn(draw, context, options, first, bits, &result->bins, counts, error);
    if (status == BRUME_OK) {
        aim of = aim_of(options, first, options->samples - first);
        if (options->ordered) /* nothing is ranked: all of them choose */
            add_counts(&counts[1], &counts[0]);
        choose(&of, counts, result);
        result->draws = options->samples - first;
        memset(counts, 0, sizeof *counts);
        status =
            count_draws(draw, context, options, result->draws, &result->bins, bits, counts, error);
    }
    if (status == BRUME_OK) {
        conclude(options, counts, result);
        *out = *result;
    }
    free(result);
    free(counts);
    return status;
}

/* ---- foreseeing ---- */

/* What an event chosen on each half of the draws does on the other half, and what bounds so many
 * draws would then give: chosen and judged on the same draws, luck would look best. */
static double judged(const brume_partition *bins, const brume_bin_counts counts[2],
                     brume_promise *promise, const aim *choosing, const aim *audit)
{
    double p = 0, q = 0, n = 0;
    for (int half = 0; half < 2; half++) {
        brume_bin_event event = {0};
        const brume_bin_counts same[2] = {counts[half], counts[half]};
        partition_choose(bins, same, true, promise, choosing, &event);
        for (size_t i = 0; i < bins->count; i++) {
            n += (double)counts[!half].of[0][i];
            p += event.in[i] ? (double)counts[!half].of[event.second][i] : 0;
            q += event.in[i] ? (double)counts[!half].of[!event.second][i] : 0;
        }
    }
    return n > 0 ? promise(audit, p / n, q / n) : -INFINITY;
}

/* For outcomes in no order: what the best event promises. */
static double promised(const brume_partition *bins, const brume_bin_counts counts[2],
                       brume_promise *promise, const aim *of)
{
    brume_bin_event event = {0};
    return partition_choose(bins, counts, false, promise, of, &event);
}

brume_status brume_audit_guess(brume_audit_draw *draw, const void *context,
                               const brume_audit_options *options, size_t few, brume_bits *bits,
                               double *epsilon, double *delta, brume_error *error)
{
    brume_bin_counts *counts = calloc(2, sizeof *counts);
    brume_partition *bins = calloc(1, sizeof *bins);
    brume_status status = counts && bins ? BRUME_OK : brume_no_memory(error, "an audit");
    if (status == BRUME_OK)
        status = learn(draw, context, options, few, bits, bins, counts, error);
    if (status == BRUME_OK && options->ordered) {
        size_t counted = options->samples - learned(options->samples);
        aim audit = aim_of(options, counted, counted), half = aim_of(options, few / 2, counted);
        /* the bound of both probabilities together is off by less than two would be; a choice that
         * is not judged by others needs more caution than that */
        audit.caution /= sqrt(2);
        half.caution = BOLD;
        half.never = BOLD * BOLD;
        *epsilon = judged(bins, counts, promise_epsilon, &half, &audit);
        /* Delta may be as small as one of these draws: it is what these few are sure of. */
        audit.draws = (double)few;
        audit.caution = audit.never = 1;
        *delta = judged(bins, counts, promise_delta, &half, &audit);
    } else if (status == BRUME_OK) {
        aim of = aim_of(options, few, options->samples);
        *epsilon = promised(bins, counts, promise_epsilon, &of);
        *delta = promised(bins, counts, promise_delta, &of);
    }
    free(bins);
    free(counts);
    return status;
}
