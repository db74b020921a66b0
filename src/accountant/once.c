/* Few subsampled Gaussians beside laws without a Gaussian. See the header; proofs/accountant.md,
 * section 21.
 *
 * Promise: the two sides bound delta for every parameter within its 8 units. */
#include "accountant/once.h"

#include <math.h>
#include <stdlib.h>

#include "accountant/atom_sum.h"
#include "accountant/once_sum.h"
#include "accountant/sampled_table.h"

static const double unit = BRUME_UNIT;
static const size_t first_cells = 192;
static const size_t few_atoms = 100;     /* fewer take less time than a table */
static const double quick_terms = 2.5e5; /* of a table's sum, some 3 ns each */
static const double long_terms = 1.5e6;
static const double none_terms = 6e5;  /* without a sampled draw banded lines are quick */
static const double most_work = 1.5e6; /* terms of one sum, some 50 ns each */
enum { MOST_LAWS = 12 };

static const char route_once[] = "sum over cells of a subsampled Gaussian's loss";
static const char route_table[] = "sum over atoms of a subsampled Gaussian's profile";
static const char route_none[] = "sum over atoms and Laplace draws";

struct brume_once {
    brume_once_sum *sum;   /* if there is one, nothing else is */
    bool none;             /* it has no sampled draw */
    brume_atom_sum *atoms; /* all but the draw that is cut */
    bool cut;
    brume_sampled_draw draws[2]; /* the draw that is cut, lower and upper */
    brume_cells cells[2];
    uint64_t terms; /* summed so far */
};

void brume_once_close(brume_once *once)
{
    if (!once)
        return;
    brume_once_sum_close(once->sum);
    brume_atom_sum_close(once->atoms);
    brume_cells_close(&once->cells[0]);
    brume_cells_close(&once->cells[1]);
    free(once);
}

static bool set_edges(brume_once *once, const double *edge, size_t count)
{
    brume_cells lower, upper;
    if (!brume_cells_open(&once->draws[0], BRUME_LOWER_SIDE, edge, count, &lower))
        return false;
    if (!brume_cells_open(&once->draws[1], BRUME_UPPER_SIDE, edge, count, &upper)) {
        brume_cells_close(&lower);
        return false;
    }
    brume_cells_close(&once->cells[0]);
    brume_cells_close(&once->cells[1]);
    once->cells[0] = lower;
    once->cells[1] = upper;
    return true;
}

static bool first_edges(brume_once *once, double delta)
{
    double low, high, edge[193];
    brume_cells_range(&once->draws[1], 46 - log(delta), &low, &high);
    for (size_t i = 0; i <= first_cells; i++)
        edge[i] = low + (high - low) * (double)i / (double)first_cells;
    return set_edges(once, edge, first_cells);
}

brume_once *brume_once_open_table(const brume_law *laws, size_t count, double least, double delta,
                                  double most_terms)
{
    brume_law others[MOST_LAWS];
    const brume_law *sampled = NULL;
    size_t rest = 0;
    if (count > MOST_LAWS)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (laws[i].kind != BRUME_LAW_SAMPLED)
            others[rest++] = laws[i]; /* shared, and only read */
        else if (sampled || laws[i].count != 1)
            return NULL;
        else
            sampled = &laws[i];
    }
    if (rest == 0)
        return NULL;
    brume_once *once = calloc(1, sizeof *once);
    if (!once)
        return NULL;
    once->none = !sampled;
    once->sum = brume_once_sum_open(sampled, others, rest, least, delta,
                                    sampled ? most_terms : fmin(most_terms, none_terms));
    if (!once->sum) {
        brume_once_close(once);
        return NULL;
    }
    return once;
}

brume_once *brume_once_open(const brume_law *laws, size_t count, double delta)
{
    brume_law others[MOST_LAWS];
    const brume_law *sampled[2] = {NULL, NULL};
    size_t rest = 0;
    double draws = 0, laplaces = 0;
    if (count > MOST_LAWS || !(delta > 1e-200) || !(delta <= 1))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (laws[i].kind == BRUME_LAW_SAMPLED) {
            draws += laws[i].count;
            if (draws > 2)
                return NULL;
            sampled[sampled[0] != NULL] = &laws[i];
        } else {
            laplaces += laws[i].kind == BRUME_LAW_LAPLACE;
            others[rest++] = laws[i]; /* shared, and only read */
        }
    }
    if (draws == 0 || (draws == 2 && laplaces > 0))
        return NULL;
    brume_once *once = calloc(1, sizeof *once);
    if (!once)
        return NULL;
    once->atoms = brume_atom_sum_open(others, rest, -INFINITY, delta);
    bool alive = once->atoms != NULL;
    const brume_law *second = sampled[1] ? sampled[1] : sampled[0];
    if (alive && laplaces == 0) { /* the other draw's closed form, or the only one's */
        brume_sampled_draw closed[2] = {brume_sampled_draw_of(second, BRUME_LOWER_SIDE),
                                        brume_sampled_draw_of(second, BRUME_UPPER_SIDE)};
        brume_atom_sum_beside(once->atoms, closed);
    }
    once->cut = draws == 2 || laplaces > 0;
    if (alive && once->cut) {
        once->draws[0] = brume_sampled_draw_of(sampled[0], BRUME_LOWER_SIDE);
        once->draws[1] = brume_sampled_draw_of(sampled[0], BRUME_UPPER_SIDE);
        alive = first_edges(once, delta);
    }
    if (!alive) {
        brume_once_close(once);
        return NULL;
    }
    return once;
}

static const char *route_of(const brume_once *once)
{
    return once->none ? route_none : once->sum ? route_table : route_once;
}

static double once_delta(void *context, double epsilon, brume_side side)
{
    brume_once *once = context;
    if (once->sum) {
        once->terms += brume_once_sum_size(once->sum);
        return brume_once_sum_delta(once->sum, epsilon, side);
    }
    size_t size = brume_atom_sum_size(once->atoms);
    if (!once->cut) {
        once->terms += size;
        return brume_atom_sum_delta(once->atoms, epsilon, side);
    }
    bool up = side == BRUME_UPPER_SIDE;
    const brume_cells *cells = &once->cells[up];
    size_t atoms = cells->count + up;
    once->terms += size * atoms;
    long double sum = 0;
    /* losses up by the shift, and epsilon - loss rounded: both in the direction of the side, in
     * which delta of the others moves against epsilon */
    for (size_t i = 0; i < atoms; i++) {
        double loss = cells->loss[i], mass = cells->mass[i];
        double off = cells->shift + 2 * unit * (fabs(loss) + fabs(epsilon));
        double at = up ? epsilon - loss - off : epsilon - loss + off;
        sum += (long double)mass * brume_atom_sum_delta(once->atoms, at, side);
    }
    if (up)
        return fmin((double)sum * (1 + 8 * unit) + cells->missed, 1);
    return fmax((double)sum * (1 - 8 * unit), 0);
}

brume_closed brume_once_form(brume_once *once)
{
    return (brume_closed){.delta = once_delta, .context = once, .route = route_of(once)};
}

/* What a cell leaves open at epsilon, about: the chord less the value at the mean. */
static double open_part(const brume_once *once, double epsilon, size_t i, double left, double right)
{
    const brume_cells *lower = &once->cells[0], *upper = &once->cells[1];
    double low = upper->loss[i], span = upper->loss[i + 1] - low;
    double share = span != 0 ? expm1(low - lower->loss[i]) / expm1(-span) : 0.5;
    double mean = brume_atom_sum_delta(once->atoms, epsilon - lower->loss[i], BRUME_UPPER_SIDE);
    double gap = left + (right - left) * fmin(fmax(share, 0), 1) - mean;
    return lower->mass[i] * fmax(gap, 0);
}

bool brume_once_refine(brume_once *once, double epsilon, size_t cells)
{
    if (!once->cut)
        return false;
    const brume_cells *upper = &once->cells[1];
    size_t size = brume_atom_sum_size(once->atoms), count = upper->count, total = 0;
    if (!((double)cells * (double)size <= most_work))
        return false;
    double *part = malloc(count * sizeof *part), sum = 0;
    if (!part)
        return false;
    double left = brume_atom_sum_delta(once->atoms, epsilon - upper->loss[0], BRUME_UPPER_SIDE);
    for (size_t i = 0; i < count; i++) {
        double right =
            brume_atom_sum_delta(once->atoms, epsilon - upper->loss[i + 1], BRUME_UPPER_SIDE);
        /* n pieces leave part/n^2: least in all for n as the cube root */
        sum += part[i] = cbrt(open_part(once, epsilon, i, left, right));
        left = right;
    }
    once->terms += 2 * count * size;
    for (size_t i = 0; i < count; i++) {
        part[i] = sum > 0 ? floor(1 + (double)cells * part[i] / sum) : 1;
        total += (size_t)part[i];
    }
    double *edge = malloc((total + 1) * sizeof *edge);
    size_t at = 0;
    for (size_t i = 0; edge && i < count; i++) {
        double low = upper->edge[i], width = upper->edge[i + 1] - low;
        for (double j = 0; j < part[i]; j++)
            edge[at++] = low + width * j / part[i];
    }
    bool alive = edge != NULL;
    if (alive) {
        edge[at] = upper->edge[count];
        alive = set_edges(once, edge, at);
    }
    free(edge);
    free(part);
    return alive;
}

static double open_share(const brume_answer *answer)
{
    double upper = answer->value.upper;
    return upper > 0 ? (upper - answer->value.lower) / upper : 0;
}

/* How many cells for the next round: what is open falls with their square. 0: enough. */
static size_t next_cells(const brume_once *once, const brume_answer *answer, double goal,
                         double before)
{
    double gap = open_share(answer), count = (double)once->cells[1].count;
    if (!once->cut || !(gap > goal) || !(gap < 0.5 * before))
        return 0;
    double factor = fmin(1.3 * sqrt(gap / goal), 12);
    return (size_t)fmin(ceil(count * fmax(factor, 1.5)),
                        most_work / (double)brume_atom_sum_size(once->atoms));
}

/* What both certify. */
static void take(brume_answer *answer, const brume_answer *own, const brume_once *once)
{
    if (own->value.upper < answer->value.upper) {
        answer->value.upper = own->value.upper;
        answer->route = route_of(once);
        answer->balls = false;
    }
    answer->value.lower = fmax(answer->value.lower, own->value.lower);
    /* Rounding may pass an end of the range, 0 or 1; any other crossing is left to be marked. */
    if (answer->value.lower > answer->value.upper &&
        (answer->value.upper == 0 || answer->value.upper == 1))
        answer->value.lower = answer->value.upper;
    answer->nodes += once->terms;
    answer->rounds += own->rounds;
}

/* Which ways there are: few atoms have closed forms, many a table; where that is not sharp, and for
 * two draws, cells. */
typedef enum way { FEW_ATOMS, QUICK_TABLE, LONG_TABLE, CELLS, WAYS } way;

static brume_once *open_way(const brume_law *laws, size_t count, double least, double delta,
                            way chosen)
{
    if (chosen == QUICK_TABLE || chosen == LONG_TABLE)
        return brume_once_open_table(laws, count, least, delta,
                                     chosen == QUICK_TABLE ? quick_terms : long_terms);
    brume_once *once = brume_once_open(laws, count, delta);
    bool few = once && !once->cut && brume_atom_sum_size(once->atoms) <= few_atoms;
    if (once && few != (chosen == FEW_ATOMS)) {
        brume_once_close(once);
        return NULL;
    }
    return once;
}

/* Cells wait until a table was tried at length, if there may be one. */
static bool has_way(const brume_law *laws, size_t count, brume_once_effort effort, way chosen)
{
    double draws = 0;
    for (size_t i = 0; i < count; i++)
        draws += laws[i].kind == BRUME_LAW_SAMPLED ? laws[i].count : 0;
    if (draws == 0)
        return count > 1 && chosen == LONG_TABLE && effort == BRUME_ONCE_LONG;
    if (draws != 1)
        return draws == 2 && chosen == CELLS && effort == BRUME_ONCE_QUICK;
    bool late = chosen == LONG_TABLE || chosen == CELLS;
    return late == (effort == BRUME_ONCE_LONG);
}

static bool delta_by(const brume_law *laws, size_t count, double epsilon, double goal, way chosen,
                     brume_answer *answer)
{
    /* deltas of any size: the first values tell */
    static const double sizes[] = {1e-18, 1e-60, 1e-190};
    brume_once *once = NULL;
    uint64_t terms = 0;
    double before = INFINITY;
    for (size_t i = 0; i < 3; i++) {
        brume_once *next = open_way(laws, count, epsilon, sizes[i], chosen);
        if (!next)
            break;
        brume_once_close(once);
        once = next;
        once->terms = terms;
        if (once_delta(once, epsilon, BRUME_UPPER_SIDE) > 100 * sizes[i])
            break;
        terms = once->terms;
    }
    if (!once)
        return false;
    brume_closed closed = brume_once_form(once);
    brume_answer own = {.value = {0, 1}}; /* its own width tells how many cells it takes */
    for (;;) {
        brume_closed_delta(&closed, epsilon, &own);
        size_t cells = next_cells(once, &own, goal, before);
        before = open_share(&own);
        if (cells == 0 || !brume_once_refine(once, epsilon, cells))
            break;
    }
    take(answer, &own, once);
    brume_once_close(once);
    return true;
}

static bool epsilon_by(const brume_law *laws, size_t count, double delta, double delta_error,
                       double goal, way chosen, brume_answer *answer)
{
    brume_once *once = open_way(laws, count, 0, delta, chosen);
    if (!once)
        return false;
    brume_closed closed = brume_once_form(once);
    brume_answer own = {.value = {0, INFINITY}};
    double before = INFINITY, guess = answer->value.upper;
    for (;;) {
        brume_closed_epsilon(&closed, delta, delta_error, guess, &own);
        size_t cells = next_cells(once, &own, goal, before);
        before = open_share(&own);
        if (cells == 0 || !(own.value.upper < INFINITY))
            break;
        guess = 0.3 * own.value.lower + 0.7 * own.value.upper;
        if (!brume_once_refine(once, guess, cells))
            break;
    }
    take(answer, &own, once);
    brume_once_close(once);
    return true;
}

bool brume_once_delta(const brume_law *laws, size_t count, double epsilon, double goal,
                      brume_once_effort effort, brume_answer *answer)
{
    bool tried = false;
    for (way chosen = FEW_ATOMS; chosen < WAYS; chosen++) {
        tried |= has_way(laws, count, effort, chosen) &&
                 delta_by(laws, count, epsilon, goal, chosen, answer);
        if (tried && open_share(answer) <= goal)
            break;
    }
    return tried;
}

bool brume_once_epsilon(const brume_law *laws, size_t count, double delta, double delta_error,
                        double goal, brume_once_effort effort, brume_answer *answer)
{
    bool tried = false;
    for (way chosen = FEW_ATOMS; chosen < WAYS; chosen++) {
        tried |= has_way(laws, count, effort, chosen) &&
                 epsilon_by(laws, count, delta, delta_error, goal, chosen, answer);
        if (tried && answer->value.upper < INFINITY && open_share(answer) <= goal)
            break;
    }
    return tried;
}

bool brume_once_answered(const brume_answer *answer)
{
    return answer->route == route_once || answer->route == route_table;
}

/* Are the table's polynomials within their errors of balls? */
static void audit_table(brume_law *law, const brume_closed *balls, double epsilon,
                        brume_audit *audit)
{
    brume_sampled_table table;
    if (!brume_sampled_table_open(law, -1 - fabs(epsilon), 250, 1e-40, 1, &table))
        return;
    for (size_t i = 0; i < table.count; i++) {
        const brume_sampled_panel *panel = &table.panels[i];
        double at = panel->low + 0.3 * (panel->high - panel->low), value = 0;
        double y = (at - panel->centre) * panel->scale, scale = exp(0.5 * at);
        for (size_t k = BRUME_PANEL_NODES; k-- > 0;)
            value = value * y + table.rows[i * BRUME_PANEL_NODES + k];
        double lower = balls->delta(balls->context, at, BRUME_LOWER_SIDE);
        double upper = balls->delta(balls->context, at, BRUME_UPPER_SIDE);
        double beyond = fmax(scale * value - upper, lower - scale * value);
        double ratio = beyond / (scale * table.errors[i] + 8 * unit * upper + 1e-300);
        audit->agrees = audit->agrees && ratio <= 1; /* not if it is not a number */
        audit->ratio = ratio <= audit->ratio ? audit->ratio : ratio;
        audit->nodes++;
    }
    brume_sampled_table_close(&table);
}

void brume_once_audit(brume_law *laws, size_t count, double epsilon, brume_audit *out)
{
    enum { PLACES = 64 };
    brume_audit audit = {.agrees = true};
    for (size_t i = 0; i < count; i++) {
        if (laws[i].kind != BRUME_LAW_SAMPLED)
            continue;
        brume_closed balls = brume_sampled_form(&laws[i]);
        for (int j = 0; j < PLACES; j++) { /* moved to either side, as the sums take them */
            brume_side side = j % 2 ? BRUME_UPPER_SIDE : BRUME_LOWER_SIDE;
            brume_sampled_draw draw = brume_sampled_draw_of(&laws[i], side);
            double error, at = epsilon * (j - PLACES / 4) * (2.0 / PLACES);
            double value = brume_sampled_value(&draw, -at, &error);
            double ball = balls.delta(balls.context, at, side);
            double ratio = fabs(value - ball) / (error + 8 * unit * ball + 1e-300);
            audit.agrees = audit.agrees && ratio <= 1; /* not if it is not a number */
            audit.ratio = ratio <= audit.ratio ? audit.ratio : ratio;
            audit.nodes++;
        }
        audit_table(&laws[i], &balls, epsilon, &audit);
    }
    *out = audit;
}
