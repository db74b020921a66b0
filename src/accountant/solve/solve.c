/* From laws to intervals: laws put on one lattice or moved to either side, then the routes; and
 * epsilon at a delta, the one place where delta is inverted: it is asked for at one epsilon after
 * another. A route that was opened is asked again as long as it is sharp. The search only proposes;
 * an end is moved only to a point at which delta was certified. */
#include "accountant/solve/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <brume/account/compose.h>

#include "accountant/contour/line.h"
#include "accountant/exact/atom_sum.h"
#include "accountant/exact/one_sampled.h"
#include "accountant/law/law.h"
#include "accountant/law/shift_parameters.h"
#include "accountant/ray/solve.h"
#include "accountant/solve/route.h"
#include "base/error.h"

static bool task_aim(brume_task *task);
static bool task_aim_line(brume_task *task);
static bool task_is_decided(const brume_task *task);
static void delta_bounds_close(brume_delta_bounds *opened);
static void task_take(brume_task *task, const brume_delta_bounds *opened);
static bool task_is_met(const brume_task *task);

/* Gathering: sort the losses, merge equal ones, add up the Gaussians. O(n log n).
 *
 * Promise: a merged count is the exact sum, or within one rounding of it above 2^53; the mu of all
 * Gaussians is within 4 units; the failure is within `failure_error`, and exact for one draw.
 *
 * Terms merged into laws: equal ones merged, Gaussians added up, failures multiplied out. */

typedef struct item {
    brume_loss loss;
    long double count;
} item;

static int compare(const void *left, const void *right)
{
    const brume_loss *a = &((const item *)left)->loss, *b = &((const item *)right)->loss;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    if (a->rate != b->rate)
        return a->rate < b->rate ? -1 : 1;
    return a->shift < b->shift ? -1 : a->shift > b->shift;
}

/* The loss a term enters with; kind NONE for a term known by its moments only. */
static brume_status loss_of(const brume_cost *cost, brume_loss *loss, bool *exact,
                            brume_error *error)
{
    *loss = (brume_loss){0};
    *exact = true;
    BRUME_TRY(brume_cost_check(cost, error));
    if (cost->loss != BRUME_ABSENT) {
        *loss = cost->law;
        if (loss->kind != BRUME_LOSS_POISSON_GAUSSIAN && loss->kind != BRUME_LOSS_POISSON_PURE &&
            loss->kind != BRUME_LOSS_POISSON_LAPLACE &&
            loss->kind != BRUME_LOSS_POISSON_DISCRETE_LAPLACE &&
            loss->kind != BRUME_LOSS_POISSON_GAUSSIAN_GROUP)
            loss->rate = 0;
        if (loss->kind != BRUME_LOSS_KARY && loss->kind != BRUME_LOSS_DISCRETE_LAPLACE &&
            loss->kind != BRUME_LOSS_POISSON_DISCRETE_LAPLACE &&
            loss->kind != BRUME_LOSS_DISCRETE_GAUSSIAN &&
            loss->kind != BRUME_LOSS_POISSON_GAUSSIAN_GROUP)
            loss->shift = 0;
        *exact = cost->loss == BRUME_EXACT;
        return BRUME_OK;
    }
    if (cost->pure != BRUME_ABSENT) {
        if (!(cost->epsilon >= 0 && cost->epsilon < INFINITY))
            return brume_fail(error, BRUME_EARGUMENT, NULL,
                              "'epsilon' is %.17g, must be a finite number not below 0",
                              cost->epsilon);
        *loss = (brume_loss){.kind = BRUME_LOSS_PURE, .a = cost->epsilon};
        *exact = cost->pure == BRUME_EXACT;
        return BRUME_OK;
    }
    *exact = false;
    if (cost->concentrated != BRUME_ABSENT || cost->renyi != BRUME_ABSENT)
        return BRUME_OK;
    if (cost->delta_failure == 1)
        return BRUME_OK;
    return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "a term has no stated cost in any currency");
}

/* A sum of many long doubles of one sign, without accumulated rounding (Neumaier's way): off
 * by at most 2^-63 of itself for up to 2^32 of them. */
typedef struct long_sum {
    long double sum, rest;
} long_sum;

static void add(long_sum *to, long double x)
{
    long double sum = to->sum + x;
    to->rest += fabsl(to->sum) >= fabsl(x) ? (to->sum - sum) + x : (x - sum) + to->sum;
    to->sum = sum;
}

static brume_status merge(item *items, size_t count, uint64_t come, brume_merged *out,
                          brume_error *error)
{
    qsort(items, count, sizeof *items, compare);
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;
        long double draws = items[i].count; /* exact up to 2^64 */
        brume_loss loss = items[i].loss;
        if (loss.kind == BRUME_LOSS_GAUSSIAN) { /* all Gaussians are one, of mu^2 = sum n mu^2 */
            long_sum square = {draws * (long double)loss.a * loss.a, 0};
            for (; end < count && items[end].loss.kind == BRUME_LOSS_GAUSSIAN; end++)
                add(&square, items[end].count * (long double)items[end].loss.a * items[end].loss.a);
            if (end > i + 1 || draws != 1)
                loss.a = (double)sqrtl(square.sum + square.rest);
            draws = 1;
        } else {
            for (; end < count && compare(&items[i], &items[end]) == 0; end++)
                draws += items[end].count;
            if (draws > 0x1p64L)
                return brume_fail(error, BRUME_EARGUMENT, NULL, "more than 2^64 draws of one kind");
        }
        BRUME_TRY(brume_law_open(&loss, (double)draws, come, &out->laws[out->law_count], error));
        brume_law *law = &out->laws[out->law_count++];
        if (law->orders_differ) {
            if (!out->symmetric && out->members != law->members)
                return brume_fail(error, BRUME_EUNSUPPORTED, "give every release the same group",
                                  "releases on a sample for groups of different sizes");
            out->symmetric = false;
            out->members = law->members;
        }
        out->bounded &= law->bounded;
        i = end;
    }
    return BRUME_OK;
}

/* 1 - prod (1 - delta_i)^n_i with both ends; `draws` of them can fail, `only` is the last one's
 * probability. */
static void settle_failure(const long_sum *log_survival, long double draws, double only,
                           brume_merged *out)
{
    if (draws == 0)
        return;
    if (draws == 1) { /* one draw fails with just that probability */
        out->failure = out->failure_ends.lower = out->failure_ends.upper = only;
        out->infinite = only >= 1;
        return;
    }
    /* logarithms by 2^-62, their sum by 2^-63, expm1 by 2^-62 and the double by one unit */
    out->failure = (double)-expm1l(log_survival->sum + log_survival->rest);
    out->failure_error = 4 * BRUME_UNIT;
    out->failure_ends.lower = out->failure * (1 - 16 * BRUME_UNIT);
    out->failure_ends.upper = fmin(1, out->failure * (1 + 16 * BRUME_UNIT));
    out->infinite = out->failure >= 1;
}

brume_status brume_merge_terms(const brume_term *terms, size_t count, uint64_t come,
                               brume_merged *out, brume_error *error)
{
    if (count == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "nothing to compose: no term");
    brume_merged merged = {.symmetric = true, .bounded = true, .has_lower = true};
    item *items = calloc(count, sizeof *items);
    merged.laws = calloc(count, sizeof *merged.laws);
    brume_status status = BRUME_OK;
    if (!items || !merged.laws)
        status = brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for %zu terms", count);
    size_t used = 0;
    long_sum log_survival = {0, 0};
    long double can_fail = 0;
    double only = 0;
    bool certain = false;
    for (size_t i = 0; i < count && status == BRUME_OK; i++) {
        const brume_term *term = &terms[i];
        brume_loss loss = {0};
        bool exact = false;
        if (term->count == 0 || term->count > INT64_MAX)
            status = brume_fail(error, BRUME_EARGUMENT, NULL,
                                "a count of %llu, must be from 1 to 2^63 - 1",
                                (unsigned long long)term->count);
        else
            status = loss_of(&term->cost, &loss, &exact, error);
        if (status != BRUME_OK)
            break;
        merged.has_lower &= exact;
        if (term->cost.delta_failure > 0) {
            only = term->cost.delta_failure;
            can_fail += (long double)term->count;
            if (only >= 1)
                certain = true; /* its logarithm is infinite */
            else
                add(&log_survival, (long double)term->count * log1pl(-(long double)only));
        }
        if (loss.kind == BRUME_LOSS_NONE)
            merged.curve_count++;
        else if (loss.kind != BRUME_LOSS_PURE || loss.a != 0)
            items[used++] = (item){.loss = loss, .count = (long double)term->count};
    }
    if (status == BRUME_OK)
        status = merge(items, used, come, &merged, error);
    for (size_t i = 0; i < merged.law_count; i++)
        if (merged.laws[i].lost > 0) {
            add(&log_survival, merged.laws[i].count * log1pl(-(long double)merged.laws[i].lost));
            can_fail += 2; /* not a probability that is known exactly */
        }
    free(items);
    if (certain) { /* whatever else is released */
        merged.failure = merged.failure_ends.lower = merged.failure_ends.upper = 1;
        merged.infinite = true;
    } else {
        settle_failure(&log_survival, can_fail, only, &merged);
    }
    if (status != BRUME_OK) {
        brume_merged_close(&merged);
        return status;
    }
    if (merged.curve_count > 0)
        merged.bounded = false;
    *out = merged;
    return BRUME_OK;
}

void brume_merged_close(brume_merged *merged)
{
    for (size_t i = 0; i < merged->law_count; i++)
        brume_law_close(&merged->laws[i]);
    free(merged->laws);
    merged->laws = NULL;
    merged->law_count = 0;
}

brume_status brume_each_order(const brume_term *terms, size_t count, brume_order_visit *visit,
                              void *context, brume_error *error)
{
    bool done = false;
    for (uint64_t come = 0; !done; come++) {
        brume_merged merged;
        BRUME_TRY(brume_merge_terms(terms, count, come, &merged, error));
        bool last = merged.symmetric || come >= merged.members;
        brume_status status = visit(context, come > 0, &merged, &done, error);
        brume_merged_close(&merged);
        BRUME_TRY(status);
        done |= last;
    }
    return BRUME_OK;
}

/* The routes of routes.def: when each suits, what it is expected to take, and how it
 * is opened. Nothing here decides what is true: what is put into an interval is certified where it
 * comes from. */

/* The contour integral as a route: a line that is laid again with a narrower band until it is
 * sharp. Every time it is opened one line is laid, and the work of the next is estimated, so that
 * other routes may come first. */

static const double band_width = 1e-9; /* a banded line this narrow is not laid again */
/* For mixtures: a line of more work than this is laid only for a width, in epsilon, above that. */
static const double refining_work = 8.5e7, enough_width = 5.5e-7;
static const double sampled_refining_work = 1.2e7; /* ... of mixtures with a sample: two orders */
static const double most_work = 9e7;               /* nanoseconds or so of one line */
static const double sampled_work = 1e7;            /* the same for a law on a Poisson sample */
static const double quick_work = 2.5e6;            /* ... if only the upper end is of use */

const char brume_route_plain[] = "contour integral of the loss transform";
static const char route_fold[] = "contour integral folded onto the lattice of losses";
static const char route_band[] = "contour integral between two band-limited functions";

/* --- a laid line as an open route --- */

/* What it said last is kept: both sides are asked for at one epsilon. */
typedef struct open_line {
    brume_line line;
    double epsilon, lower, upper;
    double band; /* what the band leaves open there: an estimate */
    bool both;   /* else the upper side alone */
} open_line;

static double line_delta(void *context, double epsilon, brume_side side)
{
    open_line *open = context;
    bool both = side == BRUME_LOWER_SIDE;
    if (open->epsilon != epsilon || both > open->both) {
        open->upper = 1;
        open->band =
            brume_line_certify(&open->line, epsilon, both ? &open->lower : NULL, &open->upper);
        open->epsilon = epsilon;
        open->both = both;
    }
    if (side == BRUME_UPPER_SIDE)
        return open->upper < 1 ? open->upper : 1; /* also if it is not a number */
    return open->lower > 0 ? open->lower : 0;
}

static void close_line(void *context)
{
    open_line *open = context;
    brume_line_close(&open->line);
    free(open);
}

/* Takes the line over. If memory runs out: false, and the line is closed. */
static bool keep_line(brume_line *line, brume_delta_bounds *out)
{
    open_line *open = malloc(sizeof *open);
    if (!open) {
        brume_line_close(line);
        return false;
    }
    *open = (open_line){.line = *line, .epsilon = NAN};
    *out = (brume_delta_bounds){.delta = line_delta,
                                .context = open,
                                .route = line->unit > 0    ? route_fold
                                         : line->width > 0 ? route_band
                                                           : brume_route_plain,
                                .slope = line->saddle > 0 ? line->saddle : line->c,
                                .close = close_line,
                                .doubles = true,
                                .nodes = line->count};
    return true;
}

/* --- how it is laid --- */

/* For subsampled Gaussians alone a line that needs a band takes seconds and is not sharper than
 * rays. To be asked of an aimed task. */
static bool task_band_is_useless(const brume_task *task)
{
    if (!(task->line_width > 0))
        return false;
    for (size_t i = 0; i < task->count; i++)
        if (!brume_law_is_sampled_gaussian(&task->laws[i]))
            return false;
    return task->certified.value.upper < 1 || !task->rays_asked;
}

static bool brume_contour_suits(brume_task *task)
{
    return task_aim(task) && !task_band_is_useless(task);
}

static double brume_contour_work(brume_task *task)
{
    return task->line_work;
}

/* How much a line may take: its estimate is rough, and both orders of neighbours are asked. */
static double work_limit(const brume_task *task)
{
    for (size_t i = 0; i < task->count; i++)
        if (task->laws[i].orders_differ && !brume_law_is_sampled_gaussian(&task->laws[i]))
            return task->upper_end ? quick_work : sampled_work;
    return most_work;
}

/* What a laid line took, in nanoseconds or so. */
static double cost_of(const brume_line *line)
{
    return brume_line_node_cost(line) * (double)line->count;
}

/* A smaller width for the next line: what it certifies narrows with the square of the width, and
 * its work grows with the inverse. 0 if that is too much work. `near`: the gap is so small that it
 * follows that law. */
static double next_width(const brume_task *task, const brume_line *line, double gap, double goal,
                         bool near, double *work)
{
    double cost = cost_of(line);
    double factor = sqrt(1.1 * gap / goal);
    factor = fmin(fmax(factor > 16 ? 1.15 * factor : factor, 1.5), near ? 500 : 16);
    factor = fmin(factor, work_limit(task) / cost);
    *work = cost * fmax(factor, 1.5);
    if (factor < 1.5 || line->band.width < 1e-14)
        return 0;
    return line->band.width / factor;
}

/* How narrow, relative, a line has to be; a banded one: what that amounts to in epsilon. */
static double width_to_reach(const brume_task *task, const brume_line *line, double of_epsilon)
{
    if (task->upper_end || !(line->width > 0))
        return task->width;
    /* where epsilon is small, it moves by more than delta does */
    double in_delta = fmin(fmax(line->saddle * task->epsilon, task->searching ? 0.25 : 1), 200);
    return fmax(task->width, of_epsilon * in_delta);
}

/* How much work a line may be that narrows more than the goal of mixtures asks for. (A Gaussian
 * among the laws would end the line without a band.) */
static double refining_limit(const brume_task *task)
{
    for (size_t i = 0; i < task->count; i++)
        if (task->laws[i].orders_differ)
            return sampled_refining_work;
    return task->count > 1 ? refining_work : INFINITY;
}

/* After a line: is the interval narrow, or is there a line that is worth laying? `before`: how wide
 * the interval was. */
static brume_route_outcome plan_next_line(brume_task *task, const brume_line *line, double band,
                                          double before)
{
    brume_certified *certified = &task->certified;
    double gap = certified->value.upper - certified->value.lower,
           goal = width_to_reach(task, line, band_width);
    bool banded = line->width > 0;
    bool rounded = band < 0.2 * gap; /* mostly rounding, which no band narrows */
    if (task->upper_end && banded)
        gap = fmin(gap, certified->excess > 0 ? certified->excess : gap);
    /* an estimate a little above the goal is not worth another line */
    if (!(gap > (task->upper_end ? 1.15 : 1) * fmax(goal, task->own) * certified->value.upper))
        return BRUME_ROUTE_FINAL;
    if (!banded && task->line.tolerance > 0) { /* delta is smaller than the line's size */
        task->line.tolerance = 0;
        return task_aim_line(task) ? BRUME_ROUTE_AGAIN : BRUME_ROUTE_FAILED;
    }
    if (task_is_decided(task))
        return BRUME_ROUTE_FINAL;
    if (!banded || line->cut || task->spent > 2 * most_work ||
        (task->lines > 3 && gap > 0.8 * before) || (rounded && !task->upper_end))
        return BRUME_ROUTE_PASSED;
    bool near = gap < 1e-2 * certified->value.upper;
    double ignored, enough = width_to_reach(task, line, enough_width) * certified->value.upper;
    task->line_width =
        next_width(task, line, gap, goal * certified->value.upper, near, &task->line_work);
    task->enough_width = gap > enough ? next_width(task, line, gap, enough, near, &ignored) : 0;
    return task->line_width > 0 ? BRUME_ROUTE_AGAIN : BRUME_ROUTE_PASSED;
}

/* Few draws make kinks, where the estimate of what a band adds fails. */
static bool has_many_draws(const brume_line *line)
{
    double draws = 0;
    for (size_t i = 0; i < line->law_count; i++)
        draws += line->laws[i].count;
    return draws >= 30;
}

static brume_route_outcome brume_contour_open(brume_task *task, brume_delta_bounds *out)
{
    brume_line line = task->line; /* as aimed */
    line.width = task->line_width;
    if (task->lines > 0 && !task->upper_end && task->line_work > refining_limit(task)) {
        line.width = task->enough_width;
        if (!(line.width > 0))
            return BRUME_ROUTE_FINAL; /* it is narrow enough for so much work */
    }
    if (!brume_line_lay(&line, task->epsilon, task->line_size)) {
        brume_line_close(&line);
        return BRUME_ROUTE_FAILED;
    }
    task->lines++;
    bool usable = line.count > 0 && !line.cut;
    double before = task->certified.value.upper - task->certified.value.lower,
           upper = task->certified.value.upper;
    if (!keep_line(&line, out))
        return BRUME_ROUTE_FAILED;
    task_take(task, out);
    const open_line *open = out->context; /* evaluated at task->epsilon, both sides */
    const brume_line *laid = &open->line;
    task->spent += cost_of(laid);
    double band = laid->width > 0 ? open->band : 0;
    out->gap = band / open->upper; /* 0 where there is no band */
    if (task->certified.value.upper < upper)
        task->certified.excess = has_many_draws(laid) ? BRUME_BAND_SHARE * band : 0;
    brume_route_outcome outcome = plan_next_line(task, laid, band, before);
    if (!usable)
        delta_bounds_close(out); /* it says nothing of other epsilons */
    return outcome;
}

static const double ray_width = 1e-8;    /* rays this narrow are not followed by a line */
static const double line_width = 1e-9;   /* likewise a line of subsampled Gaussians alone */
static const double few_patterns = 5e3;  /* patterns times draws */
static const double many_patterns = 4e4; /* ... some 10 ms */
static const double late = 1e8;          /* work of a route that others come before */
static const double kept_room = 0.97; /* a sum for a search is opened for smaller epsilons, too */

const char brume_route_top[] = "largest possible loss";

static bool always(brume_task *task)
{
    (void)task;
    return true;
}

/* Work of a route whose estimate is the constant of routes.def. */
static double as_listed(brume_task *task)
{
    (void)task;
    return 0;
}

static brume_route_outcome final_if(bool narrow)
{
    return narrow ? BRUME_ROUTE_FINAL : BRUME_ROUTE_PASSED;
}

/* --- the largest loss --- */

#define top_atom_suits always
#define top_atom_work  as_listed

static brume_route_outcome top_atom_open(brume_task *task, brume_delta_bounds *out)
{
    double top, log_mass, slack = (20 + 2 * (double)task->count) * BRUME_UNIT;
    brume_interval *value = &task->certified.value;
    (void)out;
    if (brume_top_atom(task->laws, task->count, &top, &log_mass)) {
        if (task->epsilon >= top * (1 + slack)) {
            value->upper = 0;
            task->certified.route = brume_route_top;
            return BRUME_ROUTE_FINAL;
        }
        double low = top * (1 - slack);
        if (task->epsilon < low) /* the top atom alone, mass and place rounded down */
            value->lower = -expm1(task->epsilon - low) * exp(log_mass * (1 + slack) - 1e-14) *
                           (1 - 1e-15);
    }
    value->lower = fmax(value->lower, -expm1(fmin(task->epsilon, 0)) * (1 - 1e-15));
    return BRUME_ROUTE_PASSED;
}

/* --- closed forms --- */

static bool one_sampled_gaussian_suits(brume_task *task)
{
    return task->count == 1 && brume_law_is_sampled_gaussian(&task->laws[0]) &&
           task->laws[0].count == 1;
}

#define one_sampled_gaussian_work as_listed

static brume_route_outcome one_sampled_gaussian_open(brume_task *task, brume_delta_bounds *out)
{
    *out = brume_sampled_doubles_bounds(task->laws);
    task_take(task, out);
    return final_if(brume_certified_is_narrow(&task->certified, fmax(task->width, line_width)));
}

static bool one_sampled_suits(brume_task *task)
{
    return task->count == 1;
}

#define one_sampled_work as_listed

static brume_route_outcome one_sampled_open(brume_task *task, brume_delta_bounds *out)
{
    if (!brume_one_sampled_bounds(task->laws, out))
        return BRUME_ROUTE_PASSED;
    task_take(task, out);
    return BRUME_ROUTE_FINAL;
}

static bool gaussian_suits(brume_task *task)
{
    return task->count == 1 && brume_law_is_gaussian(&task->laws[0]) && task->laws[0].count == 1 &&
           !brume_certified_is_narrow(&task->certified, task->width);
}

#define gaussian_work as_listed

static brume_route_outcome gaussian_open(brume_task *task, brume_delta_bounds *out)
{
    *out = brume_gaussian_bounds(task->laws);
    task_take(task, out);
    return BRUME_ROUTE_FINAL;
}

/* --- subsampled Gaussians --- */

static bool rays_suits(brume_task *task)
{
    return task->epsilon >= 0 && brume_rays_apply(task->laws, task->count) &&
           !one_sampled_gaussian_suits(task);
}

/* Many draws of several kinds, with a line that ends soon? Rays cannot split them, and rarely give
 * narrower bounds. */
static bool has_short_line(brume_task *task)
{
    double draws = 0;
    for (size_t i = 0; i < task->count; i++)
        draws += task->laws[i].count;
    return task->count > 1 && draws > 1000 && task_aim(task) &&
           brume_line_decays(&task->line, task->epsilon, task->line_size, 2000);
}

static double rays_work(brume_task *task)
{
    bool first = brume_rays_suit(task->laws, task->count) || task->certified.rounds > 0;
    return first && !has_short_line(task) ? 0 : late;
}

static brume_route_outcome rays_open(brume_task *task, brume_delta_bounds *out)
{
    if (task->lines > 0 &&
        (task_is_met(task) || brume_certified_is_narrow(&task->certified, ray_width)))
        return BRUME_ROUTE_FINAL; /* a line was sharp */
    double before = task->certified.value.upper;
    bool narrow = brume_rays_delta(task->laws, task->count, task->epsilon, task->width,
                                   fmax(task->width, ray_width), &task->certified, out);
    task->rays_asked = true;
    if (task->certified.value.upper < before)
        task->certified.excess = 0; /* the estimate was a line's */
    return final_if(narrow);
}

static bool rays_with_atoms_suits(brume_task *task)
{
    return brume_ray_atoms_suits(task->laws, task->count);
}

static double rays_with_atoms_work(brume_task *task)
{
    bool line = task_aim(task) &&
                brume_line_decays(&task->line, task->epsilon, task->line_size, BRUME_LINE_SHORT);
    /* it is exact, or fails, in some milliseconds: a line is enough for a coarse interval */
    return line ? INFINITY : task->width > 1e-5 ? INFINITY : 0;
}

static brume_route_outcome rays_with_atoms_open(brume_task *task, brume_delta_bounds *out)
{
    /* rays narrow to what their rounding allows, at little cost */
    double goal = fmax(task->width, 0.1 * ray_width);
    bool opened =
        brume_ray_atoms_delta(task->laws, task->count, task->epsilon, goal, &task->certified, out);
    return final_if(opened &&
                    brume_certified_is_narrow(&task->certified, fmax(task->width, ray_width)));
}

/* --- sums that replace the line where only a band would end it --- */

static bool needs_band(brume_task *task)
{
    return task_aim(task) && task->line_width > 0 && !task_band_is_useless(task);
}

/* A line sums what is below epsilon to 0 only up to rounding, which is too much next to a point of
 * a wide lattice. */
static bool is_narrow_discrete_gaussian(const brume_task *task)
{
    return task->count == 1 && task->laws[0].source.kind == BRUME_LOSS_DISCRETE_GAUSSIAN &&
           task->laws[0].a < 0.5;
}

static bool atom_sum_suits(brume_task *task)
{
    return (is_narrow_discrete_gaussian(task) && task_aim(task)) || needs_band(task);
}

#define atom_sum_work as_listed

static void close_atoms(void *context)
{
    brume_atom_sum_close(context);
}

/* The sum for deltas of the size of `delta`. */
static bool open_atoms(brume_task *task, double delta, brume_delta_bounds *out)
{
    double least = task->searching ? kept_room * task->epsilon : task->epsilon;
    brume_atom_sum *sum = brume_atom_sum_open(task->laws, task->count, least, delta);
    if (!sum)
        return false;
    *out = brume_atom_sum_bounds(sum);
    out->least = least;
    out->close = close_atoms;
    out->doubles = true;
    out->nodes = brume_atom_sum_size(sum);
    task_take(task, out);
    return true;
}

static brume_route_outcome atom_sum_open(brume_task *task, brume_delta_bounds *out)
{
    double delta = exp(fmin(task->line_size, 0));
    bool opened = open_atoms(task, delta, out);
    /* in a wide lattice delta may be far below the line's size */
    for (int i = 0; i < 3 && opened && is_narrow_discrete_gaussian(task) &&
                    !brume_certified_is_narrow(&task->certified, 1e-12);
         i++) {
        delta_bounds_close(out);
        delta = fmax(fmin(task->certified.value.lower, 1e-10 * delta), 1e-40 * delta);
        opened = open_atoms(task, delta, out);
    }
    return final_if(opened && brume_certified_is_narrow(&task->certified, task->width));
}

static void close_pattern(void *context)
{
    brume_pattern_close(context);
}

static bool open_patterns(brume_task *task, double effort, brume_delta_bounds *out)
{
    double least = task->searching ? kept_room * task->epsilon : task->epsilon;
    brume_pattern *pattern = brume_pattern_open(task->laws, task->count, least, effort);
    if (!pattern && task->searching) {
        least = task->epsilon;
        pattern = brume_pattern_open(task->laws, task->count, least, effort);
    }
    if (!pattern)
        return false;
    *out = brume_pattern_bounds(pattern);
    out->least = least;
    out->close = close_pattern;
    task_take(task, out);
    return true;
}

#define few_patterns_suits needs_band
#define few_patterns_work  as_listed

static brume_route_outcome few_patterns_open(brume_task *task, brume_delta_bounds *out)
{
    return final_if(open_patterns(task, few_patterns, out));
}

static bool many_patterns_suits(brume_task *task)
{
    return (task->lines > 0 || needs_band(task)) && !task_band_is_useless(task) &&
           !task_is_met(task) && !brume_certified_is_narrow(&task->certified, 1e-8);
}

#define many_patterns_work as_listed

static brume_route_outcome many_patterns_open(brume_task *task, brume_delta_bounds *out)
{
    return final_if(open_patterns(task, many_patterns, out));
}

#define contour_suits brume_contour_suits
#define contour_work  brume_contour_work
#define contour_open  brume_contour_open

static const brume_route *brume_routes(size_t *count)
{
    static const brume_route routes[] = {
#define ROUTE(name, least) {#name, least, name##_suits, name##_work, name##_open},
#include "accountant/solve/routes.def"
#undef ROUTE
    };
    _Static_assert(sizeof routes / sizeof *routes <= BRUME_MOST_ROUTES, "more routes than allowed");
    *count = sizeof routes / sizeof *routes;
    return routes;
}

/* delta at one epsilon: routes are opened in the order of their estimated work until an interval is
 * final. */

static const double coarse_goal = 1e-7; /* a goal above it is for finding out where to look */
static const double coarse_cut = 1e-8;  /* of such a goal: what a line may leave out */

static bool task_aim(brume_task *task)
{
    if (task->aimed)
        return true;
    task->line = (brume_line){.laws = task->laws, .law_count = task->count};
    if (task->width > coarse_goal) /* some digits are enough: fewer nodes */
        task->line.tolerance = coarse_cut * task->width;
    if (!task_aim_line(task))
        return false;
    task->own = 1024 * BRUME_UNIT * task->line.c * fabs(task->epsilon);
    task->aimed = true;
    return true;
}

/* Aim the line of the contour integral at epsilon, once; or again, after a change of its
 * tolerance. False if memory ran out. */
static bool task_aim_line(brume_task *task)
{
    brume_line *line = &task->line;
    brume_line_aim(line, task->epsilon);
    for (size_t i = 0; i < task->count; i++)
        if (!brume_law_settle(&task->laws[i], line->c))
            return false;
    task->line_size = brume_line_size(line, task->epsilon);
    bool ends = line->unit > 0 ||
                brume_line_decays(line, task->epsilon, task->line_size, BRUME_LINE_LONG);
    task->line_width = ends ? 0 : 1 / fmax(line->c, 0.5);
    return true;
}

/* Is delta known to be far from the one that is sought? */
static bool task_is_decided(const brume_task *task)
{
    return task->certified.value.upper < 0.3 * task->sought ||
           (task->sought > 0 && task->certified.value.lower > 3 * task->sought);
}

/* Is the estimated excess small enough, where only the upper end is of use? */
static bool task_is_met(const brume_task *task)
{
    return task->upper_end && task->certified.excess > 0 &&
           task->certified.excess <= 1.15 * task->width * task->certified.value.upper;
}

/* Evaluate an open route at task->epsilon, and take its bounds. */
static void task_take(brume_task *task, const brume_delta_bounds *opened)
{
    brume_certified *certified = &task->certified, one = {.value = {0, INFINITY}};
    brume_delta_bounds_take(opened, task->epsilon, &one);
    if (one.value.upper < certified->value.upper) {
        certified->value.upper = one.value.upper;
        certified->route = one.route;
        certified->balls = one.balls;
    }
    certified->value.lower = fmax(certified->value.lower, one.value.lower);
    certified->rounds++;
    certified->nodes += opened->nodes;
    task->taken = (brume_kept){*opened, one.value};
}

static void delta_bounds_close(brume_delta_bounds *opened)
{
    if (opened->delta && opened->close)
        opened->close(opened->context);
    *opened = (brume_delta_bounds){0};
}

static bool contains(brume_interval outer, brume_interval inner)
{
    return outer.lower <= inner.lower && inner.upper <= outer.upper;
}

/* Keep an open route, if other epsilons will be asked for and it knows something that the others
 * kept do not; close those that know no more than it does. */
static void keep_or_close(brume_task *task, brume_delta_bounds *opened)
{
    if (!opened->delta)
        return;
    brume_interval at = task->taken.at; /* evaluated already, or at little cost */
    if (task->taken.route.context != opened->context)
        at = (brume_interval){opened->delta(opened->context, task->epsilon, BRUME_LOWER_SIDE),
                              opened->delta(opened->context, task->epsilon, BRUME_UPPER_SIDE)};
    size_t left = 0;
    bool useful = task->searching;
    for (size_t i = 0; i < task->kept_count; i++) {
        useful = useful && !contains(at, task->kept[i].at);
        if (useful && contains(task->kept[i].at, at))
            delta_bounds_close(&task->kept[i].route);
        else
            task->kept[left++] = task->kept[i];
    }
    task->kept_count = left;
    if (useful && left < BRUME_MOST_KEPT)
        task->kept[task->kept_count++] = (brume_kept){*opened, at};
    else
        delta_bounds_close(opened);
}

static bool task_ask_kept(const brume_task *task, double epsilon, brume_side side, double *out)
{
    double best = side == BRUME_UPPER_SIDE ? 1 : 0;
    for (size_t i = 0; i < task->kept_count; i++) {
        const brume_delta_bounds *route = &task->kept[i].route;
        if (epsilon < route->least)
            return false;
        double delta = route->delta(route->context, epsilon, side);
        best = side == BRUME_UPPER_SIDE ? fmin(best, delta) : fmax(best, delta);
    }
    *out = best;
    return task->kept_count > 0;
}

static void task_close_kept(brume_task *task)
{
    while (task->kept_count > 0)
        delta_bounds_close(&task->kept[--task->kept_count].route);
}

/* The route with the least work left; NULL if there is none. What is estimated only when it may be
 * the least: some estimates take longer than a cheap route. */
static const brume_route *next_route(brume_task *task, const brume_route *routes, size_t count,
                                     double *work, bool *estimated)
{
    for (;;) {
        size_t least = 0;
        for (size_t i = 1; i < count; i++)
            if (work[i] < work[least])
                least = i;
        if (!(work[least] < INFINITY))
            return NULL;
        if (estimated[least])
            return &routes[least];
        estimated[least] = true;
        work[least] = routes[least].suits(task)
                          ? fmax(routes[least].work(task), routes[least].least_work)
                          : INFINITY;
    }
}

/* Ask the routes; the interval is in the task. With `searching` those are left open in `kept` whose
 * bounds none of the others improves at both ends. False if memory ran out. */
static bool task_ask(brume_task *task)
{
    size_t count;
    const brume_route *routes = brume_routes(&count), *route;
    double work[BRUME_MOST_ROUTES] = {0};
    bool estimated[BRUME_MOST_ROUTES] = {false};
    brume_route_outcome outcome = BRUME_ROUTE_PASSED;
    task->certified = (brume_certified){.value = {0, 1}, .route = brume_route_plain};
    for (size_t i = 0; i < count; i++)
        work[i] = routes[i].least_work;
    while (outcome < BRUME_ROUTE_FINAL && !task_is_decided(task) &&
           (route = next_route(task, routes, count, work, estimated)) != NULL) {
        brume_delta_bounds opened = {0};
        outcome = route->open(task, &opened);
        keep_or_close(task, &opened);
        size_t index = (size_t)(route - routes);
        estimated[index] = outcome != BRUME_ROUTE_AGAIN;
        work[index] = estimated[index] ? INFINITY : route->least_work;
    }
    return outcome != BRUME_ROUTE_FAILED;
}

static const double coarse_width = 1e-3; /* of delta, while the place is sought */

static const char route_moments[] = "moments of the loss";

/* delta as a function of epsilon: the last point, since both sides are asked for at one point. */
typedef struct solve_profile {
    brume_task task;
    brume_interval at;
    double epsilon; /* both bounds in `at` are of this one; NAN: of none */
    double checked; /* the open routes were sharp here; NAN: nowhere */
    double sharp;   /* the relative width where the open routes were opened */
    const char *route;
    uint64_t nodes;
    bool failed; /* memory ran out */
} solve_profile;

static double relative_width(brume_interval value)
{
    return value.upper > value.lower ? (value.upper - value.lower) / value.upper : 0;
}

/* By the open routes, if they are about as sharp here as where they were opened: asked for both
 * sides, unless that was seen next to here. */
static bool ask_open_routes(solve_profile *p, double epsilon, brume_side side)
{
    double *end = side == BRUME_UPPER_SIDE ? &p->at.upper : &p->at.lower;
    if (fabs(epsilon - p->checked) <= 1e-4 * epsilon) {
        p->epsilon = NAN; /* one end only */
        return task_ask_kept(&p->task, epsilon, side, end);
    }
    if (!task_ask_kept(&p->task, epsilon, BRUME_UPPER_SIDE, &p->at.upper) ||
        !task_ask_kept(&p->task, epsilon, BRUME_LOWER_SIDE, &p->at.lower) ||
        !(relative_width(p->at) <= 2 * fmax(p->task.width, p->sharp)))
        return false;
    p->checked = p->epsilon = epsilon;
    return true;
}

static void ask_routes(solve_profile *p, double epsilon)
{
    brume_task *task = &p->task;
    task_close_kept(task);
    *task = (brume_task){.laws = task->laws,
                         .count = task->count,
                         .epsilon = epsilon,
                         .width = task->width,
                         .searching = true,
                         .sought = task->sought};
    p->failed = !task_ask(task);
    if (task_is_decided(task))
        task_close_kept(task); /* nothing sharp was opened */
    p->at = task->certified.value;
    p->sharp = relative_width(p->at);
    p->route = task->certified.route;
    p->nodes += task->certified.nodes;
    p->checked = p->epsilon = epsilon;
}

static double delta_at(void *context, double epsilon, brume_side side)
{
    solve_profile *p = context;
    if (p->epsilon != epsilon && !p->failed && !ask_open_routes(p, epsilon, side))
        ask_routes(p, epsilon);
    if (p->failed)
        return side == BRUME_UPPER_SIDE ? 1 : 0; /* always true, and says nothing */
    return side == BRUME_UPPER_SIDE ? p->at.upper : p->at.lower;
}

/* The largest loss bounds epsilon; where it is likely enough, from below too. */
static void take_top_atom(const brume_law *laws, size_t count, const brume_asked *asked,
                          brume_certified *certified)
{
    double top, log_mass, slack = (20 + 2 * (double)count) * BRUME_UNIT;
    if (!brume_top_atom(laws, count, &top, &log_mass))
        return;
    certified->value.upper = top * (1 + slack);
    /* delta(eps) >= p (1 - e^{eps - top}) > delta for eps below top + log(1 - delta/p) */
    double log_delta = log(asked->at), x = log_delta - log_mass * (1 + slack);
    x += asked->delta_error + 8 * BRUME_UNIT * (2 + fabs(log_delta) + fabs(log_mass)); /* up */
    if (x < -1e-9)
        certified->value.lower =
            fmax(0, top * (1 - slack) + log1p(-exp(x) * (1 + 4 * BRUME_UNIT)) * (1 + 1e-12));
}

/* Moments bound epsilon from above; for so many draws that doubles cannot follow their waves mean
 * and deviation bound it from below. Returns a guess, by the saddle point. */
static double take_moments(brume_law *laws, size_t count, const brume_asked *asked,
                           brume_certified *certified)
{
    double moments, place;
    double guess =
        brume_chernoff_epsilon(laws, count, asked->at, asked->delta_error, &moments, &place);
    double saddle = brume_saddle_epsilon(laws, count, log(asked->at), place);
    if (moments < certified->value.upper) {
        certified->value.upper = moments;
        certified->route = route_moments;
    }
    for (size_t i = 0; i < count; i++)
        if (laws[i].count > 0x1p53 && asked->at < 0.3)
            certified->value.lower = fmax(certified->value.lower, brume_mean_epsilon(laws, count));
    return saddle > 0 && saddle < guess ? saddle : guess;
}

/* Ask for delta at one epsilon after another, from a guess on: first coarsely, until the place is
 * known, then as narrowly as asked. */
static bool search(brume_law *laws, size_t count, const brume_asked *asked, double guess,
                   brume_certified *certified)
{
    solve_profile p = {.task = {.laws = laws, .count = count}, .epsilon = NAN, .checked = NAN};
    brume_delta_bounds bounds = {.delta = delta_at,
                                 .context = &p,
                                 .route = "certified deltas, one epsilon after another",
                                 .doubles = true};
    p.task.width = fmax(asked->width, coarse_width);
    p.task.sought = asked->at;
    brume_delta_bounds_invert(&bounds, asked->at, asked->delta_error, guess, certified);
    p.task.width = asked->width;
    p.task.sought = 0;
    if (!p.failed && !brume_certified_is_narrow(certified, asked->width)) {
        if (certified->value.upper < INFINITY)
            guess = 0.5 * (certified->value.lower + certified->value.upper);
        ask_routes(&p, guess); /* routes are sharpest where they are opened */
        if (p.task.kept_count > 0)
            bounds.slope = p.task.kept[0].route.slope;
        if (p.task.kept_count == 1)
            bounds.gap = p.task.kept[0].route.gap;
        brume_delta_bounds_invert(&bounds, asked->at, asked->delta_error, guess, certified);
    }
    if (certified->route == bounds.route && p.route)
        certified->route = p.route;
    certified->nodes += p.nodes;
    task_close_kept(&p.task);
    return !p.failed;
}

/* For laws as they are: the least epsilon >= 0 with delta(epsilon) <= delta. The one place where
 * delta is inverted: it is asked for at one epsilon after another (exact/delta_bounds.c). */
static bool invert_delta(brume_law *laws, size_t count, const brume_asked *asked,
                         brume_certified *out)
{
    brume_certified certified = {.value = {0, INFINITY}, .route = brume_route_top};
    take_top_atom(laws, count, asked, &certified);
    if (!brume_certified_is_narrow(&certified, asked->width)) {
        /* moments of subsampled Gaussians take long tables, and say little at small rates */
        bool rays = brume_rays_apply(laws, count);
        double guess = rays ? brume_rays_guess(laws, count, asked->at)
                            : take_moments(laws, count, asked, &certified);
        if (!rays && !(guess < INFINITY)) { /* beyond what doubles hold, whatever is searched */
            *out = certified;
            return true;
        }
        if (!search(laws, count, asked, guess, &certified))
            return false;
        if (rays && !brume_certified_is_narrow(&certified, 0.5))
            take_moments(laws, count, asked, &certified);
    }
    *out = certified;
    return true;
}

static const double worst_width = 1e-4; /* where this wide, a dominating law may be lower */

/* For laws as they are. */
static bool solve_plain(brume_law *laws, size_t count, const brume_asked *asked,
                        brume_certified *out)
{
    if (asked->of_delta) {
        if (!invert_delta(laws, count, asked, out))
            return false;
    } else {
        brume_task task = {.laws = laws,
                           .count = count,
                           .epsilon = asked->at,
                           .width = asked->width,
                           .upper_end = asked->upper_end,
                           .sought = asked->sought};
        if (!task_ask(&task))
            return false;
        *out = task.certified;
    }
    brume_certified_settle(out);
    return true;
}

bool brume_solve(brume_law *laws, size_t count, const brume_asked *asked, brume_certified *out)
{
    brume_joined joined;
    bool shifted = brume_shifted_needed(laws, count);
    if (shifted) {
        if (!brume_shifted_open(laws, count, asked->upper_end, &joined))
            return false;
    } else if (!brume_lattice_join(laws, count, &joined)) {
        return solve_plain(laws, count, asked, out);
    }
    brume_certified certified, other;
    bool alive = solve_plain(joined.upper, count, asked, &certified);
    brume_law *worst = alive && !brume_certified_is_narrow(&certified, worst_width)
                           ? brume_shifted_worst(joined.upper, count)
                           : NULL;
    if (worst && solve_plain(worst, count, asked, &other))
        brume_certified_take_upper(&certified, &other);
    brume_shifted_close(worst, count);
    if (alive && asked->upper_end && shifted)
        certified.value.lower =
            0; /* for the shifted laws only: it does not hold for the originals */
    if (alive && joined.lower != joined.upper) {
        alive = solve_plain(joined.lower, count, asked, &other);
        if (alive)
            brume_certified_take_lower(&certified, &other);
    }
    brume_joined_close(&joined);
    if (alive)
        *out = certified;
    return alive;
}

bool brume_solve_below(brume_law *laws, size_t count, double epsilon, double target)
{
    brume_asked coarse = {.at = epsilon, .width = 0.03, .upper_end = true};
    brume_certified certified;
    return brume_solve(laws, count, &coarse, &certified) && certified.value.upper <= target;
}
