/* Bins of outcomes and events of bins. */
#include "audit/partition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

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

brume_status brume_partition_learn(int64_t *first, int64_t *second, size_t n, brume_partition *out,
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

void brume_partition_count(const brume_partition *bins, const int64_t *outcomes, size_t n,
                           bool second, brume_bin_counts *counts)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t place = (uint64_t)outcomes[i] - (uint64_t)bins->least;
        counts->of[second][place < bins->tabled ? bins->table[place] : bin_of(bins, outcomes[i])]++;
    }
}

/* ---- events ---- */

typedef struct search {
    const brume_partition *bins;
    const brume_bin_counts *counts;
    double n;
    brume_promise *promise;
    const void *context;
    double best;
    brume_bin_event *out;
} search;

/* Bins in an order, by their numbers: the first so many of them are an event. It has to be better
 * than what there is by `margin`. */
static void consider(search *s, const size_t *order, bool second, double margin)
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

double brume_partition_choose(const brume_partition *bins, const brume_bin_counts counts[2],
                              bool ordered, brume_promise *promise, const void *context,
                              brume_bin_event *out)
{
    size_t order[BRUME_BINS];
    search s = {bins, &counts[1], total(bins, &counts[1]), promise, context, -INFINITY, out};
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

void brume_partition_nested(const brume_partition *bins, const brume_bin_counts *counts,
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
