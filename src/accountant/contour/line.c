/* Choosing the line Re s = c and the step between its nodes, and computing the nodes that count.
 * See line.h and proofs/accountant/contour.md. Any choice gives valid bounds. */
#include "accountant/contour/line.h"

#include <math.h>
#include <stdlib.h>

#include "accountant/contour/band.h"

static const double unit = BRUME_UNIT;
static const size_t most_nodes = 400000; /* per line */
static const double most_time = 2.5e8;   /* nanoseconds or so of one line of costly nodes */

long double brume_cumulant(brume_law *laws, size_t count, double c, double *slope, double *error)
{
    long double sum = 0;
    double total_slope = 0, total_error = 0, one_slope = 0, one_error = 0;
    for (size_t i = 0; i < count; i++) {
        long double value =
            brume_law_cumulant(&laws[i], c, slope ? &one_slope : NULL, error ? &one_error : NULL);
        sum += laws[i].count * value;
        total_slope += laws[i].count * one_slope;
        /* a count above 2^53 is itself rounded, by one unit */
        total_error += laws[i].count * (one_error + 2 * unit * 0x1p-9 * (double)fabsl(value) +
                                        (laws[i].count > 0x1p53 ? unit * (double)fabsl(value) : 0));
    }
    if (slope)
        *slope = total_slope;
    if (error)
        *error = total_error * (1 + 1e-9);
    return sum;
}

/* K'(c) - eps - 1/c - 1/(c+1) */
static double saddle_slope(brume_law *laws, size_t count, double epsilon, double c)
{
    double slope;
    brume_cumulant_rough(laws, count, c, &slope);
    return slope - epsilon - 1 / c - 1 / (c + 1);
}

double brume_saddle(brume_law *laws, size_t count, double epsilon)
{
    double low = 1e-12, high = 1;
    while (high < 1e13 && saddle_slope(laws, count, epsilon, high) <= 0) {
        low = high;
        high *= 2;
    }
    for (int i = 0; i < 80 && high - low > 1e-2 * high; i++) {
        double middle = low < high / 4 ? sqrt(low * high) : 0.5 * (low + high);
        if (saddle_slope(laws, count, epsilon, middle) > 0)
            high = middle;
        else
            low = middle;
    }
    return (double)(float)(0.5 * (low + high));
}

/* The common lattice of the losses: unit, and whether the sum of all draws sits at half units. */
static void find_lattice(brume_line *line)
{
    double common = 0;
    bool half = false;
    line->unit = 0;
    for (size_t i = 0; i < line->law_count; i++) {
        const brume_law *law = &line->laws[i];
        double own = law->unit / fmax(law->multiple, 1); /* exact: see shift_parameters.h */
        if (law->unit == 0 || (common != 0 && own != common) || law->count > 0x1p53)
            return;
        if (law->unit_is_rounded && line->law_count > 1)
            return;
        common = own;
        half ^= law->half && fmod(law->count, 2) != 0 && fmod(law->multiple, 2) != 0;
    }
    line->unit = common;
    line->half = half;
}

/* The sum of the laws' centres: each law leaves the phase e^{iy centre} out of its psi. */
static void find_centre(brume_line *line)
{
    long double sum = 0;
    double error = 0;
    for (size_t i = 0; i < line->law_count; i++) {
        const brume_law *law = &line->laws[i];
        sum += law->count * law->centre;
        error += law->count * law->centre_error;
    }
    line->centre = (double)sum;
    line->centre_error = 1.01 * (error + 2 * unit * fabs(line->centre));
}

double brume_line_size(const brume_line *line, double epsilon)
{
    double c = line->c;
    return (double)(line->cumulant - (long double)c * epsilon) - log(c) - log1p(c) +
           log(line->h / M_PI);
}

/* X = 2 pi/h such that the aliases of the line at c are below e^{-3} `share` of T, which is near
 * e^lead: exp(-cX) for those below eps, moments for those above. k is log phi(c). */
static double spacing_for(const brume_line *line, double epsilon, double c, double k, double share)
{
    double lead = line->lead, need = 3 - log(share), spacing = (fmax(-lead, 0) + need) / c,
           best = INFINITY;
    double height = k - c * epsilon - log(c) - log1p(c);
    for (int i = 0; i < BRUME_CHERNOFF_POINTS; i++) {
        double other = brume_chernoff_point(c, i);
        double moment = brume_cumulant_rough(line->laws, line->law_count, other, NULL);
        double bound = moment - other * epsilon - fmin(lead, height) + need;
        best = fmin(best, bound / (other - c));
    }
    return best > 0 && best < INFINITY ? fmax(spacing, best) : spacing;
}

/* The step between nodes may be any number: it is rounded to 24 bits, so that an index times it is
 * exact, but never to 0, which a conversion to float would do below 1e-45. */
static double few_bits(double x)
{
    int power;
    double part = frexp(fmax(x, 1e-280), &power);
    return ldexp((double)(float)part, power);
}

void brume_line_aim(brume_line *line, double epsilon)
{
    double c = brume_saddle(line->laws, line->law_count, epsilon), error;
    line->c = c;
    line->cumulant = brume_cumulant(line->laws, line->law_count, c, NULL, &error);
    line->cumulant_error = error;
    double k = (double)line->cumulant;
    double lead = (double)(line->cumulant - (long double)c * epsilon) - log(c) - log1p(c);
    line->lead = lead;
    double spacing = spacing_for(line, epsilon, c, k, brume_line_tolerance(line));
    line->h = few_bits(2 * M_PI / spacing);
    line->saddle = c;
    find_lattice(line);
    if (line->unit > 0) {
        double fold = ceil(2 * M_PI / (line->unit * line->h));
        if (fold > 1e15) {
            line->unit = 0;
            return;
        }
        fold = fmax(fold, 3);
        line->fold = fmod(fold, 2) == 0 ? fold + 1 : fold;
        line->h = 2 * M_PI / (line->unit * line->fold);
    }
}

bool brume_line_decays(brume_line *line, double epsilon, double goal, double most)
{
    double base = (double)(line->cumulant - (long double)line->c * epsilon);
    for (double nodes = 500; nodes <= most; nodes *= 4) {
        double y = nodes * line->h, bound = base - log(y);
        for (size_t i = 0; i < line->law_count; i++)
            bound += line->laws[i].count * brume_law_envelope(&line->laws[i], y, INFINITY);
        if (bound < log(brume_line_tolerance(line)) + goal)
            return true;
    }
    return false;
}

static bool push(brume_line *line, brume_node node)
{
    if (line->count == line->capacity) {
        size_t capacity = line->capacity ? 2 * line->capacity : 256;
        brume_node *nodes = realloc(line->nodes, capacity * sizeof *nodes);
        if (!nodes)
            return false;
        line->nodes = nodes;
        line->capacity = capacity;
    }
    line->nodes[line->count++] = node;
    return true;
}

/* The log of an upper bound of |psi| of all draws over [low, high]. Laws whose bounds are expensive
 * are not asked once the others bring it below `enough`: |psi| <= 1 for each. */
static double envelope(brume_line *line, double low, double high, double enough)
{
    double sum = 0;
    for (int expensive = 0; expensive < 2 && !(sum < enough); expensive++)
        for (size_t i = 0; i < line->law_count; i++)
            if (brume_law_is_expensive(&line->laws[i]) == (expensive == 1))
                sum += line->laws[i].count * brume_law_envelope(&line->laws[i], low, high);
    return sum;
}

/* The index of the last node: of the fold, or of the band. */
static double last_node(const brume_line *line)
{
    if (line->unit > 0)
        return floor(line->fold / 2);
    return line->band.width > 0 ? floor(line->band.end * (1 - 1e-15) / line->h) : INFINITY;
}

/* Skip nodes after `index`, at most `most` and not below `least` of them, whose bounds together are
 * small enough to be added to the error instead; returns how many were skipped. */
static long skip_band(brume_line *line, long index, double limit, double most, double least)
{
    double y = (double)index * line->h, c = line->c;
    double last = last_node(line);
    double kernel = line->unit > 0 ? 2 / -expm1(-c * line->unit) : 0;
    for (double skip = floor(most); skip >= least; skip = floor(skip / 3)) {
        if ((double)index + skip > last)
            skip = last - (double)index;
        if (skip < 1)
            return 0;
        double high = y + skip * line->h, weight;
        if (line->unit > 0)
            weight = kernel * 2 * skip / line->fold;
        else
            weight = brume_band_weight(&line->band, y, high);
        double bound = envelope(line, y + line->h, high, limit - log(weight));
        if (bound + log(weight) < limit) {
            line->skipped += exp(bound) * weight * 1.0001;
            line->last_skip = skip;
            return (long)skip;
        }
    }
    return 0;
}

/* With a band the interval is as wide as the band makes it, so the aliases (the terms of T at other
 * places than eps) need only be small against that: h may be larger, and there are fewer nodes. The
 * aliases below eps are at most exp(-cX), so a c above the saddle point allows a larger h still; c
 * is not moved so far that the terms of the sum are much larger than T, and cancel. */
static void spread(brume_line *line, double epsilon)
{
    double c = line->saddle > 0 ? line->saddle : line->c;
    double open = c * (c + 1) * line->width * line->width / 8;
    double share = fmin(fmax(1e-3 * open, brume_line_tolerance(line)), 1e-3);
    double least = INFINITY, place = c;
    double saddle = brume_cumulant_rough(line->laws, line->law_count, c, NULL) - c * epsilon;
    bool expensive = 2 * M_PI / (line->width * line->h) > 4000;
    for (int i = 0; i < (expensive ? 8 : 1); i++) {
        double other = (double)(float)(c * (1 + 0.1 * i));
        double k = brume_cumulant_rough(line->laws, line->law_count, other, NULL);
        if (!(k - other * epsilon <= saddle + 3))
            break;
        double spacing = spacing_for(line, epsilon, other, k, share);
        if (spacing < least) {
            least = spacing;
            place = other;
        }
    }
    line->c = place;
    line->h = few_bits(2 * M_PI / least);
}

double brume_line_node_cost(const brume_line *line)
{
    if (brume_line_has_blocks(line))
        return 60 + 20 * (double)line->law_count;
    double sum = 400;
    for (size_t i = 0; i < line->law_count; i++)
        sum += brume_law_node_cost(&line->laws[i]);
    return sum;
}

bool brume_line_ready(brume_line *line)
{
    for (size_t i = 0; i < line->law_count; i++)
        if (!brume_law_settle(&line->laws[i], line->c))
            return false;
    double error;
    line->cumulant = brume_cumulant(line->laws, line->law_count, line->c, NULL, &error);
    line->cumulant_error = error;
    find_centre(line);
    line->count = 0;
    line->skipped = 0;
    line->last_skip = INFINITY;
    line->cut = false;
    line->band = (brume_band){0};
    if (line->width > 0 && line->unit == 0) {
        brume_band_open(line->width, line->c, &line->band);
        /* a node so near the end that rounding says on which side: nothing, up to its error */
        line->skipped = 4 * line->h * brume_band_at(&line->band, line->band.end).error;
    }
    return true;
}

bool brume_line_lay_all(brume_line *line, size_t last, double least)
{
    double size;
    for (size_t index = 0; index <= last; index++)
        if (!push(line, brume_line_node(line, (long)index, least, &size)))
            return false;
    return true;
}

/* The node at `index`, from the block that it is in where there are blocks. */
static brume_node next_node(const brume_line *line, long index, double least,
                            brume_node_block *block, double *size)
{
    if (!block)
        return brume_line_node(line, index, least, size);
    if (index < block->from || index >= block->from + BRUME_PSI_BLOCK)
        brume_line_block(line, index, block);
    *size = block->size[index - block->from];
    return block->node[index - block->from];
}

bool brume_line_lay(brume_line *line, double epsilon, double goal)
{
    if (line->width > 0 && line->unit == 0)
        spread(line, epsilon);
    if (!brume_line_ready(line))
        return false;
    /* how much may be left out, over exp(cumulant - c eps) */
    double scale = (double)(line->cumulant - (long double)line->c * epsilon);
    double limit = log(brume_line_tolerance(line)) + goal - scale;
    double weight = line->unit > 0 ? log(2 / line->fold) : log(line->h / M_PI);
    double last = last_node(line);
    int since = 0, useless = 0;
    size_t most = line->width == 0 && line->unit == 0 ? most_nodes / 8 : most_nodes;
    most = (size_t)fmin((double)most, most_time / brume_line_node_cost(line));
    double large = exp(fmin(limit + 12 - weight, 700)); /* a node above it is not skipped */
    brume_node_block memory = {.from = -BRUME_PSI_BLOCK};
    brume_node_block *block = brume_line_has_blocks(line) ? &memory : NULL;
    for (long index = 0; (double)index <= last; index++) {
        double size;
        if (!push(line, next_node(line, index, limit - weight - 16, block, &size)))
            return false;
        const brume_node *node = &line->nodes[line->count - 1];
        useless += node->first_re == 0 && node->first_im == 0 && node->error > exp(limit);
        bool full = line->count >= most || useless > 1000;
        if (index < 4 || (size > large && !full)) {
            since = 0;
            continue;
        }
        if (since++ % 8 && !full)
            continue;
        double y = (double)index * line->h;
        if (line->unit == 0) {
            double end = last < INFINITY ? last * line->h : INFINITY;
            double share = brume_band_weight(&line->band, y, end);
            double rest = envelope(line, y + line->h, end, limit - log(share));
            if (rest + log(share) < limit || full) {
                line->cut = full;
                line->skipped += exp(rest) * share * 1.0001;
                return true;
            }
        } else if (full) {
            /* the fold was not finished: the rest by |kernel| alone */
            double rest = 2 / -expm1(-line->c * line->unit) * 2 * (last - (double)index) /
                          line->fold;
            line->cut = true;
            double bound = envelope(line, y + line->h, last * line->h, -INFINITY);
            line->skipped += rest * exp(bound) * 1.0001;
            return true;
        }
        /* Several skips one after another, since a node between two of them would be small: the
         * first of up to three times as many nodes as last time, the others of no more than the one
         * before, because more than that were just found to be too many. */
        double some = fmax(fmin(4.0 * (double)index, 3 * line->last_skip), 64);
        for (int times = 0; times < 8 && some > 0; times++) {
            some = (double)skip_band(line, index, limit - 3, some, block ? 8 : 2);
            index += (long)some;
            since = some > 0 ? 0 : since;
        }
    }
    return true;
}

void brume_line_close(brume_line *line)
{
    free(line->nodes);
    line->nodes = NULL;
    line->count = line->capacity = 0;
}
