/* See the header and proofs/accountant.md, section 24.
 *
 * Promise: the two sides bound delta for every parameter within its 8 units. c, the line's step and
 * which law is the one of many draws are free. */
#include "accountant/crowd.h"

#include <math.h>
#include <stdlib.h>

#include "accountant/line.h"
#include "accountant/masses.h"

enum { MOST_LAWS = 8, MOST_ATOMS = 4000 };
static const double unit = BRUME_UNIT;
static const double most_products = 5e5;
static const double closed_nodes = 800, route_nodes = 4000; /* a profile costs as much as these */
static const char route_crowd[] = "sum over atoms of the contour integral of many draws";

/* How the profile of the one law is known. */
typedef enum source { BY_LINE, BY_CLOSED_FORM, BY_ROUTES } source;

struct brume_crowd {
    source from;
    brume_law *many;
    brume_line line;     /* of its draws, if by a line */
    brume_closed closed; /* of its one draw, if by a closed form */
    double nodes;        /* what one profile costs, in nodes of a line */
    double steepness;    /* about how fast log delta falls */
    double *place, *mass;
    size_t count;
    double missed, mass_error, place_error, reach;
};

/* About how many atoms the draws of a law have that count; infinite if it has no atoms alone. */
static double atoms_of(const brume_law *law)
{
    double steps = law->kind == BRUME_LAW_PURE || law->kind == BRUME_LAW_BINARY ? 1
                   : law->kind == BRUME_LAW_TABLE && law->unit > 0 ? round(2 * law->top / law->unit)
                                                                   : INFINITY;
    return fmin(law->count * steps, 20 * sqrt(law->count) * steps) + 1;
}

/* The law with the most atoms; the others' together must not be too many. */
static size_t choose_many(const brume_law *laws, size_t count)
{
    size_t many = count;
    double most = 0, others = 1;
    for (size_t i = 0; i < count; i++)
        if (atoms_of(&laws[i]) > most) {
            most = atoms_of(&laws[i]);
            many = i;
        }
    for (size_t i = 0; i < count; i++)
        others *= i == many ? 1 : atoms_of(&laws[i]);
    bool once = many < count && laws[many].kind == BRUME_LAW_THINNED && laws[many].count == 1;
    if (many == count || (laws[many].count < 8 && !once) || !(laws[many].count <= 0x1p53))
        return count;
    return others <= 4 * MOST_ATOMS ? many : count;
}

bool brume_crowd_is_one(const brume_law *laws, size_t count)
{
    if (count < 2 || count > MOST_LAWS)
        return false;
    size_t many = choose_many(laws, count);
    return many < count && laws[many].kind == BRUME_LAW_THINNED;
}

/* Every atom so far beside every atom of `m`. */
static bool join(brume_crowd *crowd, const brume_masses *m, double step, double floor_)
{
    size_t capacity = crowd->count * m->count, count = 0;
    if (capacity > 16 * MOST_ATOMS)
        return false;
    double *place = malloc(2 * capacity * sizeof *place), lost = 0;
    if (!place)
        return false;
    double *mass = place + capacity;
    for (size_t i = 0; i < crowd->count; i++)
        for (size_t j = 0; j < m->count; j++) {
            double p = crowd->mass[i] * m->mass[j];
            if (p < floor_ / (double)capacity) {
                lost += p;
                continue;
            }
            place[count] = crowd->place[i] + (m->centre + step * (m->half - (double)j));
            mass[count++] = p;
        }
    free(crowd->place);
    crowd->place = place;
    crowd->mass = mass;
    crowd->count = count;
    crowd->missed += (m->missed + lost) * 1.001;
    crowd->mass_error += m->error + 2 * unit;
    double farthest = fabs(m->centre) +
                      step * fmax(fabs(m->half), fabs(m->half - (double)m->count));
    crowd->reach += farthest;
    crowd->place_error += 22 * unit * farthest; /* the unit by 16 and a product */
    return count > 0 && count <= MOST_ATOMS;
}

static bool gather_atoms(brume_crowd *crowd, const brume_law *laws, size_t count, size_t many,
                         double delta)
{
    double depth = 30 - log(delta), work = 0;
    bool alive = (crowd->place = calloc(2, sizeof *crowd->place)) != NULL;
    if (alive) {
        crowd->mass = crowd->place + 1;
        crowd->mass[0] = 1;
        crowd->count = 1;
    }
    for (size_t i = 0; i < count && alive; i++) {
        brume_masses m = {0};
        if (i == many)
            continue;
        alive = brume_masses_open(&laws[i], depth, most_products, &work, &m) &&
                join(crowd, &m, laws[i].unit, exp(-depth));
        brume_masses_close(&m);
    }
    return alive;
}

/* The line of the many draws at the c of all: where `epsilon` less the others' tilted mean is. The
 * others' mean costs c times it less their cumulant, so much smaller all may be than the line. */
static bool lay(brume_crowd *crowd, brume_law *laws, size_t count, size_t many, double epsilon)
{
    brume_line *line = &crowd->line;
    crowd->many = &laws[many];
    if (laws[many].kind == BRUME_LAW_THINNED) {
        crowd->from = BY_CLOSED_FORM;
        crowd->nodes = closed_nodes;
        return brume_amplified_form(&laws[many], &crowd->closed);
    }
    double c = brume_saddle(laws, count, epsilon), all_slope, slope;
    double all = brume_cumulant_rough(laws, count, c, &all_slope);
    double k = laws[many].count * brume_law_cumulant_rough(&laws[many], c, &slope);
    slope *= laws[many].count;
    crowd->steepness = c;
    double lost = fmax(c * (all_slope - slope) - (all - k), 0), at = slope - 1 / c - 1 / (c + 1);
    *line = (brume_line){.laws = &laws[many], .law_count = 1};
    brume_line_aim(line, at);
    if (!brume_law_settle(&laws[many], line->c))
        return false;
    double spacing = 2 * M_PI / line->h + 1.1 * lost / line->c;
    if (line->unit > 0) {
        double fold = ceil(spacing / line->unit);
        line->fold = fmod(fold, 2) == 0 ? fold + 1 : fold;
        line->h = 2 * M_PI / (line->unit * line->fold);
    } else {
        line->h = (double)(float)(2 * M_PI / spacing);
    }
    double goal = brume_line_size(line, at) - lost;
    if (!(line->h > 1e-30))
        return false;
    if (line->unit == 0 &&
        !brume_line_decays(line, at, goal, BRUME_LINE_SHORT)) { /* as any answer about it alone */
        crowd->from = BY_ROUTES;
        crowd->nodes = route_nodes;
        return laws[many].kind == BRUME_LAW_LAPLACE;
    }
    if (!brume_line_lay(line, at, goal))
        return false;
    crowd->nodes = (double)line->count;
    return !line->cut;
}

brume_crowd *brume_crowd_open(brume_law *laws, size_t count, double epsilon, double delta,
                              double most)
{
    if (count < 2 || count > MOST_LAWS || !(delta > 1e-200) || !(delta <= 1))
        return NULL;
    size_t many = choose_many(laws, count);
    brume_crowd *crowd = many < count ? calloc(1, sizeof *crowd) : NULL;
    if (!crowd)
        return NULL;
    bool alive = gather_atoms(crowd, laws, count, many, delta) &&
                 16 * (double)crowd->count <= most && lay(crowd, laws, count, many, epsilon) &&
                 (double)crowd->count * crowd->nodes <= most;
    if (!alive) {
        brume_crowd_close(crowd);
        return NULL;
    }
    return crowd;
}

void brume_crowd_close(brume_crowd *crowd)
{
    if (!crowd)
        return;
    brume_line_close(&crowd->line);
    free(crowd->place);
    free(crowd);
}

size_t brume_crowd_size(const brume_crowd *crowd)
{
    return crowd->count * (size_t)crowd->nodes;
}

/* A bound of the one law's delta at any epsilon, above or below 0. */
static double profile(brume_crowd *crowd, double epsilon, brume_side side)
{
    bool upper = side == BRUME_UPPER_SIDE;
    double one = NAN;
    if (crowd->from == BY_LINE) {
        brume_line_certify(&crowd->line, epsilon, upper ? NULL : &one, upper ? &one : NULL);
    } else if (crowd->from == BY_CLOSED_FORM) {
        one = crowd->closed.delta(crowd->closed.context, epsilon, side);
    } else { /* a law that is its own reverse: delta(x) = 1 - e^x + e^x delta(-x) */
        brume_answer answer;
        if (brume_solve_delta(crowd->many, 1, fabs(epsilon), 1e-11, &answer))
            one = upper ? answer.value.upper : answer.value.lower;
        if (epsilon < 0)
            one = (-expm1(epsilon) + exp(epsilon) * one) * (1 + (upper ? 16 : -16) * unit);
    }
    if (upper) /* what is not a number bounds nothing */
        return one < 1 ? fmax(one, 0) : 1;
    /* delta is at least 1 - e^x */
    return fmax(one > 0 ? one : 0, -expm1(fmin(epsilon, 0)) * (1 - 8 * unit));
}

static double crowd_delta(void *context, double epsilon, brume_side side)
{
    brume_crowd *crowd = context;
    bool upper = side == BRUME_UPPER_SIDE;
    /* places are off by place_error, their sums and epsilon's by a unit each: all move epsilon */
    double moved = 1.01 * (crowd->place_error + 4 * unit * (crowd->reach + fabs(epsilon)));
    double at = upper ? epsilon - moved : epsilon + moved;
    long double sum = 0;
    for (size_t i = 0; i < crowd->count; i++) {
        double x = at - crowd->place[i];
        sum += crowd->mass[i] * profile(crowd, x, side);
    }
    double relative = 1.01 * (crowd->mass_error + 16 * unit); /* masses, products, the sum */
    if (upper)
        return fmin((double)sum * (1 + relative) + crowd->missed, 1);
    return fmax((double)sum * (1 - relative), 0);
}

brume_closed brume_crowd_form(brume_crowd *crowd)
{
    return (brume_closed){
        .delta = crowd_delta, .context = crowd, .route = route_crowd, .slope = crowd->steepness};
}

bool brume_crowd_delta(brume_law *laws, size_t count, double epsilon, double delta, double most,
                       brume_answer *answer)
{
    brume_crowd *crowd = brume_crowd_open(laws, count, epsilon, delta, most);
    if (!crowd)
        return false;
    brume_closed closed = brume_crowd_form(crowd);
    brume_closed_delta(&closed, epsilon, answer);
    answer->balls = false;
    answer->nodes += brume_crowd_size(crowd);
    brume_crowd_close(crowd);
    return true;
}

bool brume_crowd_epsilon(brume_law *laws, size_t count, double delta, double delta_error,
                         double guess, double most, brume_answer *answer)
{
    brume_crowd *crowd = brume_crowd_open(laws, count, guess, delta, most);
    if (!crowd)
        return false;
    brume_closed closed = brume_crowd_form(crowd);
    brume_closed_epsilon(&closed, delta, delta_error, guess, answer);
    answer->balls = false;
    answer->nodes += brume_crowd_size(crowd);
    brume_crowd_close(crowd);
    return true;
}
