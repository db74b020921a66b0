/* Panels of one subsampled Gaussian. See the header; proofs/accountant.md, section 22.
 *
 * With y = x (a record removed) or y = -x (added), t = e^y - (1-q), z = +-1/(2 sigma) - sigma
 * log(t/q):  removed  f = e^{-y/2} [q Phi(z1) - t Phi(z2)],   or -2 sinh(y/2) if t <= 0;
 *            added    f = e^{-y/2} [t Phi(-z2) - q Phi(-z1)], or 0 if t <= 0.
 * Promise: each polynomial is within its error of the function, for every parameter within 8 units
 * of the law's, and the slopes bound the derivatives. Constants are rounded up; 1.02 covers doubles
 * in the bounds themselves. */
#include "accountant/sampled_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double unit = BRUME_UNIT;
/* errors that are accepted, of f at the panel's lower end: less for differences of integrals */
static const double enough = 1e-11, sharp = 2e-14;
static const double longest = 1.5; /* panels */
static const size_t most_panels = 640;

enum { NODES = BRUME_PANEL_NODES };

/* A panel while it is made: f in T_k(y). */
typedef struct draft {
    double low, high, series[NODES], error, slope;
} draft;

typedef struct maker {
    brume_sampled_draw draw;
    bool none;     /* there is no draw: f is -2 sinh(x/2), and 0 for x >= 0 */
    double corner; /* log(1-q): y there has t = 0 */
    double floor_, enough;
    double stretch; /* of the last panel: its length over the distance from the corner */
    draft *drafts;
    size_t count;
    double cosine[NODES][NODES]; /* cos(k pi (j + 1/2)/NODES) */
} maker;

static double normal(double z)
{
    return 0.5 * erfc(-M_SQRT1_2 * z);
}

static double density(double z)
{
    return 0.4 * exp(-0.5 * z * z);
}

/* z1 and z2 at a t > 0. */
static double z_one(const brume_sampled_draw *draw, double t)
{
    return 0.5 / draw->sigma - draw->sigma * log(t / draw->rate);
}

static double z_two(const brume_sampled_draw *draw, double t)
{
    return -0.5 / draw->sigma - draw->sigma * log(t / draw->rate);
}

/* A bound of |f| on Bernstein's ellipse of radius rho around y in [low, high]; infinite if it
 * leaves the region where f is analytic. */
static double on_ellipse(const maker *m, double low, double high, double rho)
{
    const brume_sampled_draw *draw = &m->draw;
    double half = 0.5 * (high - low), centre = 0.5 * (low + high), q = draw->rate;
    double wide = 0.5 * half * (rho + 1 / rho), tall = 0.5 * half * (rho - 1 / rho);
    double nearest = centre - wide - m->corner, farthest = centre + wide - m->corner;
    if (!(nearest > 0) || !(tall < 3))
        return INFINITY;
    double angle = 0.5 * tall + atan(tan(0.5 * tall) / tanh(0.5 * nearest));
    double rise = sinh(0.5 * farthest), turn = sin(0.5 * tall);
    double least = (1 - q) * expm1(nearest);
    double most = (1 - q) * 2 * exp(0.5 * farthest) * sqrt(rise * rise + turn * turn);
    double size = draw->reversed
                      ? most * normal(-z_two(draw, most)) + q * normal(-z_one(draw, most))
                      : q * normal(z_one(draw, least)) + most * normal(z_two(draw, least));
    double lift = draw->sigma * angle;
    return 1.02 * exp(0.5 * lift * lift - 0.5 * (centre - wide)) * size;
}

/* The error of interpolating at NODES Chebyshev points of the panel. */
static double interpolation(const maker *m, double low, double high)
{
    double half = 0.5 * (high - low), best = INFINITY;
    double room = fmin((low - m->corner) * fmin(0.85, 3.5 / m->draw.sigma), 1.9);
    for (int i = 0; i < 3; i++, room *= 0.7) {
        double reach = 1 + room / half, rho = reach + sqrt(reach * reach - 1);
        best = fmin(best, 4 * on_ellipse(m, low, high, rho) * pow(rho, 1 - NODES) / (rho - 1));
    }
    return best;
}

/* f at x, and a bound of its error. */
static double value_at(const maker *m, double x, double *error)
{
    double value = brume_sampled_value(&m->draw, -x, error), scale = exp(-0.5 * x);
    *error = 1.01 * scale * (*error + 8 * unit * value);
    return scale * value;
}

/* What 8 units of the parameters, and of places as far as they are rounded here, move f by, and its
 * slope; for a panel right of the corner. x in [low, high]. */
static double sway(const maker *m, double low, double high, double at_low, double *slope)
{
    const brume_sampled_draw *draw = &m->draw;
    double q = draw->rate, far = draw->reversed ? -low : low; /* y where the tails are largest */
    double t = (1 - q) * expm1(far - m->corner), one = z_one(draw, t), two = z_two(draw, t);
    double share = draw->reversed ? normal(-two) : normal(one);
    double top = draw->reversed ? (one > 0 ? density(one) : 0.4) : one < 0 ? density(one) : 0.4;
    *slope = 1.05 * (exp(0.5 * high) * normal(draw->reversed ? -two : two) + 0.5 * at_low);
    double front = exp(draw->reversed ? 0.5 * high : -0.5 * low);
    return 10.5 * unit * front * q * (share + top / draw->sigma);
}

/* Interpolate f, or -2 sinh(x/2) left of the corner. `error`: of what is not rounding. */
static bool add_panel(maker *m, double low, double high, bool left, double error, double slope)
{
    if (m->count >= most_panels)
        return false;
    draft *d = &m->drafts[m->count++];
    double centre = 0.5 * (low + high), half = 0.5 * (high - low), value[NODES];
    double largest = 0, worst = 0;
    for (size_t j = 0; j < NODES; j++) {
        double off, x = centre + half * m->cosine[1][j];
        if (left) {
            value[j] = -2 * sinh(0.5 * x);
            off = 5 * unit * fabs(value[j]);
        } else {
            value[j] = value_at(m, x, &off);
        }
        largest = fmax(largest, value[j]);
        worst = fmax(worst, off);
    }
    for (size_t k = 0; k < NODES; k++) {
        double sum = 0;
        for (size_t j = 0; j < NODES; j++)
            sum += value[j] * m->cosine[k][j];
        d->series[k] = sum * ((k > 0 ? 2.0 : 1.0) / NODES);
    }
    /* Lebesgue's constant of 16 points is below 2.8; a sum of 16 products of cosines within 4 units
     * errs by 20 units of the moduli, 16 sums; places by 4 units */
    d->error = error + 2.8 * worst + 2.0 * NODES * (NODES + 8) * unit * largest +
               6 * unit * (fabs(centre) + half) * slope;
    d->slope = slope;
    d->low = low;
    d->high = high;
    return true;
}

/* Panels of -2 sinh(x/2) from low to high < 0, f being within `extra` of it. */
static bool add_left(maker *m, double low, double high, double extra)
{
    while (low < high) { /* each at most as long as what is right of it, and 1 */
        double to = fmin(fmax(fmin(low + 1, 0.5 * low), low), high), wide = fabs(low) + 5;
        if (!(to > low))
            return false;
        if (high - to < 0.2 * (to - low) || to > -1e-9)
            to = high;
        /* rho = 16 reaches 4.02 halves, at most 4.9, beyond the middle */
        double error = 4 * 2 * cosh(0.5 * wide) * 0x1p-60 / 15;
        if (!add_panel(m, low, to, true, error + extra, 1.05 * cosh(0.5 * low)))
            return false;
        low = to;
    }
    return true;
}

/* One panel from y on, at most to `end`; its end in *next. */
static bool add_right(maker *m, double y, double end, double *next)
{
    double room = y - m->corner, stretch = fmin(m->stretch * 1.6, 0.75), off, error, length;
    bool reversed = m->draw.reversed;
    for (int tries = 0;; tries++) {
        length = fmin(fmin(stretch * room, longest), end - y);
        if (!(y + length > y))
            return false;
        double lowest = value_at(m, reversed ? -y : y + length, &off);
        double to = y + length;
        error = interpolation(m, y, to);
        double scale = exp(-0.5 * (reversed ? -y : to));
        if (error <= m->enough * fmax(lowest, 10 * m->floor_ * scale) || tries == 10)
            break;
        stretch *= 0.75;
    }
    m->stretch = stretch;
    if (!(error < INFINITY))
        return false;
    *next = length == end - y ? end : y + length;
    double low = reversed ? -*next : y, high = reversed ? -y : *next, slope;
    double at_low = value_at(m, low, &off);
    double moved = sway(m, low, high, at_low + off, &slope);
    return add_panel(m, low, high, false, error + moved, slope);
}

/* y a little right of the corner, left of which f, or f + 2 sinh(y/2), is at most *extra. */
static double first_place(const maker *m, double *extra)
{
    const brume_sampled_draw *draw = &m->draw;
    double q = draw->rate, wanted = draw->reversed ? m->floor_ : 1e-13 * q, t = 0.5 * q;
    for (;; t *= 0.6) {
        *extra = 1.05 * exp(-0.5 * m->corner) * t * normal(-z_two(draw, t));
        if (*extra <= wanted || t < 1e-11 * q)
            break;
    }
    return m->corner + log1p(t / (1 - q));
}

/* y from which on the other order's f, q Phi(z1) e^{-y/2} at most, is nothing beside 2 sinh(y/2).
 */
static double last_place(const maker *m, double *extra)
{
    double t = 2 * m->draw.rate;
    for (;; t *= 1.3) {
        double y = m->corner + log1p(t / (1 - m->draw.rate));
        *extra = 1.05 * m->draw.rate * normal(z_one(&m->draw, t)) * exp(-0.5 * y);
        if (*extra <= 1e-14 * sinh(0.5 * y) || y > 250)
            return y;
    }
}

static bool make(maker *m, double low, double high)
{
    if (m->none)
        return add_left(m, low, 0, 0);
    double near, far, first = first_place(m, &near), y, end;
    bool reversed = m->draw.reversed;
    m->stretch = fmin(0.6, 1.5 / m->draw.sigma);
    if (reversed) {
        end = last_place(m, &far);
        if (low < -end && !add_left(m, low, fmin(-end, high), far))
            return false;
        y = fmax(first, -high);
        end = fmin(end, -low);
    } else {
        if (low < first && !add_left(m, low, fmin(first, high), near))
            return false;
        y = fmax(first, low);
        end = high;
    }
    size_t left = m->count;
    while (y < end) {
        if (!add_right(m, y, end, &y))
            return false;
        double off;
        if (!reversed && exp(0.5 * y) * value_at(m, y, &off) < 0.9 * m->floor_)
            break;
    }
    for (size_t i = left, j = m->count; reversed && i + 1 < j; i++) { /* from low to high x */
        draft swap = m->drafts[i];
        m->drafts[i] = m->drafts[--j];
        m->drafts[j] = swap;
    }
    return m->count > 0;
}

/* Angles reduced to a quarter of the circle first: within 4 units. */
static void fill_cosines(double cosine[NODES][NODES])
{
    for (size_t k = 0; k < NODES; k++)
        for (size_t j = 0; j < NODES; j++) {
            size_t turn = k * (2 * j + 1) % (4 * NODES); /* of 2 pi: 4 NODES */
            turn = turn > 2 * NODES ? 4 * NODES - turn : turn;
            double angle = (double)(turn > NODES ? 2 * NODES - turn : turn) * (M_PI / (2 * NODES));
            cosine[k][j] = turn > NODES ? -cos(angle) : cos(angle);
        }
}

/* T_k in powers of y, k < NODES: whole numbers. */
static void fill_powers(double power[NODES][NODES])
{
    memset(power, 0, NODES * sizeof *power);
    power[0][0] = power[1][1] = 1;
    for (size_t k = 2; k < NODES; k++)
        for (size_t j = 0; j < NODES; j++)
            power[k][j] = (j > 0 ? 2 * power[k - 1][j - 1] : 0) - power[k - 2][j];
}

/* The row of a series, and what Horner's rule on it errs by at most. */
static double row_of(const double series[NODES], double power[NODES][NODES], double row[NODES])
{
    double sizes = 0, sum = 1, before = 1; /* the moduli of T_k's coefficients add up to `sum` */
    for (size_t j = 0; j < NODES; j++)
        row[j] = 0;
    for (size_t k = 0; k < NODES; k++) {
        for (size_t j = k % 2; j <= k; j += 2)
            row[j] += series[k] * power[k][j];
        sizes += fabs(series[k]) * sum;
        double next = k == 0 ? 1 : 2 * sum + before;
        before = sum;
        sum = next;
    }
    return (4.0 * NODES + 8) * unit * sizes;
}

/* The series of the integral from x on: `at_high` beyond the panel; the error of cutting it. */
static double integrate(double series[NODES], double half, double at_high)
{
    double a[NODES + 2] = {0}, sum = 0, size = 0, last = 0;
    memcpy(a, series, NODES * sizeof *a);
    for (size_t k = 1; k <= NODES; k++) {
        double b = half * ((k == 1 ? 2 * a[0] : a[k - 1]) - a[k + 1]) / (2 * (double)k);
        sum += b;
        size += fabs(b);
        if (k < NODES)
            series[k] = -b;
        else
            last = fabs(b);
    }
    series[0] = at_high + sum;
    return last + 2 * (NODES + 8) * unit * (size + at_high);
}

static double value_at_low(const double series[NODES])
{
    double sum = 0;
    for (size_t k = NODES; k-- > 0;)
        sum += k % 2 ? -series[k] : series[k];
    return sum;
}

static void finish(maker *m, brume_sampled_table *t)
{
    double power[NODES][NODES];
    fill_powers(power);
    double off = 0, end = m->drafts[m->count - 1].high, f = m->none ? 0 : value_at(m, end, &off);
    f += off;
    /* delta falls, so that each integral from there on is at most twice the last, or, where it
     * ends, as many times the last as there is left */
    double rest = m->draw.reversed ? fmin(1.02 * fmax(-m->corner - end, 0) + 1e-15, 2) : 2;
    for (size_t k = 0; k < t->orders; k++, f *= rest)
        t->beyond[k] = 1.02 * f;
    for (size_t k = 0; k < t->orders; k++) {
        double at_high = 0.5 * t->beyond[k], high_error = at_high;
        for (size_t i = m->count; i-- > 0;) {
            draft *d = &m->drafts[i];
            double half = 0.5 * (d->high - d->low), error = d->error, slope = d->slope;
            if (k > 0) { /* a derivative is the order before, largest at low */
                slope = 1.01 * (value_at_low(d->series) + error);
                error = high_error + 2.01 * half * error;
                error += integrate(d->series, half, at_high);
                error += 6 * unit * (fabs(d->low) + fabs(d->high)) * slope;
                at_high = value_at_low(d->series);
                error += 2 * NODES * unit * at_high;
                high_error = d->error = error;
                d->slope = slope;
            }
            size_t at = i * t->orders + k;
            t->errors[at] = 1.01 * (error + row_of(d->series, power, t->rows + at * NODES));
            t->slopes[at] = slope;
        }
    }
}

static bool suits(const brume_law *law)
{
    return law->kind == BRUME_LAW_SAMPLED && law->rate <= 0.95 && law->rate >= 1e-12 &&
           law->a > 0.02 && law->a < 1e4;
}

bool brume_sampled_table_open(const brume_law *law, double low, double high, double floor_,
                              size_t orders, brume_sampled_table *out)
{
    maker m = {.floor_ = floor_, .none = !law, .enough = orders > 4 ? sharp : enough};
    if (orders < 1 || orders > BRUME_TABLE_ORDERS || !(low < high) || !(low > -250) ||
        !(floor_ > 1e-250) || (law ? !suits(law) : !(low < 0)))
        return false;
    high = fmin(high, 250);
    if (law) {
        m.draw =
            (brume_sampled_draw){.sigma = law->a, .rate = law->rate, .reversed = law->reversed};
        m.corner = log1p(-law->rate);
    }
    fill_cosines(m.cosine);
    m.drafts = calloc(most_panels, sizeof *m.drafts);
    brume_sampled_table t = {.orders = orders};
    bool alive = m.drafts && low < high && make(&m, low, high);
    if (alive) {
        size_t cells = m.count * orders;
        t.count = m.count;
        t.panels = malloc(m.count * sizeof *t.panels);
        t.rows = malloc(cells * (NODES + 2) * sizeof *t.rows);
        alive = t.panels && t.rows;
    }
    if (alive) {
        t.errors = t.rows + m.count * orders * NODES;
        t.slopes = t.errors + m.count * orders;
        for (size_t i = 0; i < m.count; i++) {
            const draft *d = &m.drafts[i];
            t.panels[i] = (brume_sampled_panel){d->low, d->high, 0.5 * (d->low + d->high),
                                                2 / (d->high - d->low)};
        }
        finish(&m, &t);
    } else {
        free(t.panels);
        free(t.rows);
    }
    free(m.drafts);
    if (alive)
        *out = t;
    return alive;
}

void brume_sampled_table_close(brume_sampled_table *table)
{
    free(table->panels);
    free(table->rows);
    *table = (brume_sampled_table){0};
}
