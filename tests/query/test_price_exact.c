/* Random plans cost no more than their price, in exact rationals: what the scales written by the
 * planner let one unit change is added up without a rounding and compared with what was paid. A
 * share that is rounded up by one unit in its last place is found.
 *
 * A gained or lost cell costs the sum of sensitivity/scale of its measures (of the squares of these
 * under concentrated), a cell in which a replaced unit stays what proofs/query-price.md says; the
 * worst number of cells of either kind is tried. */
#include "check.h"

#include <gmp.h>
#include <mpfr.h>

#include "accountant/exact/delta_bounds.h"
#include "exact_kappas.h"
#include "number/rounding.h"
#include "query/price/price.h"
#include "random_doubles.h"

enum { MEASURES = 24, EXPRESSIONS = 3, PLANS = 2000 };

static brume_error error;

typedef struct plan {
    brume_measure measures[MEASURES];
    size_t count, modes;
    brume_shape shape;
} plan;

/* ---- random plans, of the kinds that queries make ---- */

static void add(plan *p, brume_measure_kind kind, size_t expression, int64_t low, int64_t high)
{
    p->measures[p->count++] =
        (brume_measure){.kind = kind, .expression = expression, .low = low, .high = high};
    p->modes += kind == BRUME_MEASURE_PRIVATE_MODE;
}

static void add_quantiles(plan *p, size_t expression, int64_t low, int64_t high)
{
    static const int64_t lists[][4][2] = {{{1, 2}},         {{0, 1}},
                                          {{1, 1}},         {{9, 10}},
                                          {{1, 4}, {3, 4}}, {{1, 10}, {1, 3}, {1, 2}, {99, 100}}};
    static const size_t counts[] = {1, 1, 1, 1, 2, 4};
    size_t which = below(6);
    add(p, BRUME_MEASURE_QUANTILES, expression, low, high);
    p->measures[p->count - 1].fractions = lists[which];
    p->measures[p->count - 1].fraction_count = counts[which];
}

static void add_expression(plan *p, size_t expression, bool selections, bool wide)
{
    int64_t low = (int64_t)below(40) - 20, high = low + 1 + (int64_t)below(30);
    if (below(2))
        add(p, BRUME_MEASURE_VALUES, expression, low, high);
    uint64_t sums = below(4);
    if (wide) { /* beyond the integers that doubles have; squares only of what has 32 bits */
        low = (int64_t)brume_tape_splitmix(&state_of_draws) >> (sums == 3 ? 33 : 2);
        high = (int64_t)brume_tape_splitmix(&state_of_draws) >> (sums == 3 ? 33 : 2);
        if (low > high) {
            int64_t other = low;
            low = high;
            high = other;
        }
    }
    if (sums == 3)
        add(p, BRUME_MEASURE_SQUARES, expression, low, high);
    if (sums >= 2)
        add(p, BRUME_MEASURE_CENTRED, expression, low, high);
    if (sums == 1)
        add(p, BRUME_MEASURE_DIRECT, expression, low, high);
    if (selections && below(3) == 0)
        add_quantiles(p, expression, low, high);
    if (selections && below(4) == 0)
        add(p, BRUME_MEASURE_MODE, expression, 0, high - low);
    if (selections && below(5) == 0)
        add(p, BRUME_MEASURE_PRIVATE_MODE, expression, 0, 0);
}

static plan random_plan(bool selections, bool wide)
{
    plan p = {.shape = {.max_groups = 1 + below(5),
                        .max_rows = 1 + below(4),
                        .cells = 1 + below(7),
                        .replace = below(2)}};
    if (below(4) == 0) {
        p.shape.private_keys = true;
        p.shape.cells = 0;
    }
    if (p.shape.private_keys || below(2))
        add(&p, BRUME_MEASURE_UNITS, 0, 0, 0);
    if (below(3) == 0)
        add(&p, BRUME_MEASURE_ROWS, 0, 0, 0);
    size_t expressions = below(EXPRESSIONS + 1);
    for (size_t i = 0; i < expressions; i++)
        add_expression(&p, i, selections, wide);
    if (p.count == p.modes)
        add(&p, BRUME_MEASURE_ROWS, 0, 0, 0);
    return p;
}

/* ---- its cost ---- */

/* sum += |moved/scale|^p */
static void add_moved(mpq_t sum, const mpz_t moved, double scale, int p)
{
    mpq_t x, y;
    mpq_inits(x, y, NULL);
    mpq_set_z(x, moved);
    mpq_set_d(y, scale);
    mpq_div(x, x, y);
    if (p == 2)
        mpq_mul(x, x, x);
    mpq_add(sum, sum, x);
    mpq_clears(x, y, NULL);
}

static void add_moved_by(mpq_t sum, uint64_t moved, double scale, int p)
{
    mpz_t whole;
    mpz_init_set_ui(whole, moved);
    add_moved(sum, whole, scale, p);
    mpz_clear(whole);
}

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}

/* Most that R rows move a measure. */
static void sensitivity(mpz_t out, const brume_measure *m, uint64_t rows)
{
    uint64_t reach = brume_measure_reach(m), half = brume_measure_half_square(m);
    uint64_t low = magnitude(m->low), high = magnitude(m->high);
    mpz_set_ui(out, 1);
    if (m->kind == BRUME_MEASURE_CENTRED)
        mpz_set_ui(out, reach);
    if (m->kind == BRUME_MEASURE_SQUARES) /* reach^2 - half, which is half or one more */
        mpz_set_ui(out, reach * reach - half);
    if (m->kind == BRUME_MEASURE_DIRECT)
        mpz_set_ui(out, low > high ? low : high);
    if (m->kind != BRUME_MEASURE_UNITS)
        mpz_mul_ui(out, out, rows);
}

static bool extreme(const brume_measure *m)
{
    return m->fraction_count == 1 &&
           (m->fractions[0][0] == 0 || m->fractions[0][0] == m->fractions[0][1]);
}

/* Quantiles at rate eta: a gained cell costs 2 eta R sum kappa (p = 1), (eta R)^2 sum kappa^2
 * (p = 2); the least or greatest value by itself half of the range, but not the ends of its
 * interval. */
static void quantiles_cost(const brume_measure *m, double rows, int p, mpq_t gain, mpq_t stay)
{
    mpq_t rate, end, sum, part;
    mpq_inits(rate, end, sum, part, NULL);
    sum_kappas(m, p, sum);
    mpq_set_d(rate, m->scale);
    mpq_set_d(part, rows * (p == 1 ? 2 : 1) * (extreme(m) ? .5 : 1));
    mpq_mul(rate, rate, part);
    if (p == 2)
        mpq_mul(rate, rate, rate);
    if (m->fraction_count == 1) { /* both ends of its interval */
        mpq_set_d(end, brume_interval_rate_down(m, p == 1 ? BRUME_NOISE_DISCRETE_LAPLACE
                                                          : BRUME_NOISE_DISCRETE_GAUSSIAN));
        mpq_set_d(part, rows * (p == 1 ? 2 : 1));
        mpq_mul(end, end, part);
        if (p == 2)
            mpq_mul(end, end, end);
        mpq_mul_2exp(end, end, 1);
        mpq_add(rate, rate, end);
    }
    mpq_mul(sum, sum, rate);
    mpq_add(gain, gain, sum);
    if (m->fraction_count > 1) { /* all of it twice */
        mpq_mul_2exp(sum, sum, (mp_bitcnt_t)p);
        mpq_add(stay, stay, sum);
    } else {
        mpq_add(stay, stay, rate);
    }
    mpq_clears(rate, end, sum, part, NULL);
}

/* Permute-and-flip at rate eta, e = eta R: e, or 2 e tanh(e/2) rounded down. */
static void mode_cost(const brume_measure *m, double rows, int p, mpq_t gain, mpq_t stay)
{
    mpfr_t e, bound;
    mpq_t cost;
    mpq_init(cost);
    mpfr_inits2(300, e, bound, (mpfr_ptr)NULL);
    mpfr_set_d(e, m->scale, MPFR_RNDN);
    mpfr_mul_d(e, e, rows, MPFR_RNDN); /* exact */
    if (p == 2) {
        mpfr_div_2ui(bound, e, 1, MPFR_RNDN);
        mpfr_tanh(bound, bound, MPFR_RNDD);
        mpfr_mul(e, e, bound, MPFR_RNDD);
        mpfr_mul_2ui(e, e, 1, MPFR_RNDN);
    }
    mpfr_get_q(cost, e);
    mpq_add(gain, gain, cost);
    mpq_mul_2exp(cost, cost, (mp_bitcnt_t)p);
    mpq_add(stay, stay, cost);
    mpfr_clears(e, bound, (mpfr_ptr)NULL);
    mpq_clear(cost);
}

static bool of_expression(const brume_measure *m, size_t expression)
{
    return !brume_measure_is_selection(m) && m->kind != BRUME_MEASURE_UNITS &&
           m->kind != BRUME_MEASURE_ROWS && m->expression == expression;
}

/* Every noised number of the expression comes or goes. */
static void expression_goes(const plan *all, size_t expression, int p, mpq_t sum)
{
    mpz_t moved;
    mpz_init(moved);
    mpq_set_ui(sum, 0, 1);
    for (size_t i = 0; i < all->count; i++)
        if (of_expression(&all->measures[i], expression)) {
            sensitivity(moved, &all->measures[i], all->shape.max_rows);
            add_moved(sum, moved, all->measures[i].scale, p);
        }
    mpz_clear(moved);
}

/* Every row moves by d, none becomes NULL: the sum by R d, the squares by R d (2h - d) at most; a
 * direct sum may go from nothing to a bound as well. */
static void expression_moves(const plan *all, size_t expression, int p, uint64_t d, mpq_t sum)
{
    mpz_t moved;
    mpz_init(moved);
    mpq_set_ui(sum, 0, 1);
    for (size_t i = 0; i < all->count; i++) {
        const brume_measure *m = &all->measures[i];
        uint64_t width = (uint64_t)m->high - (uint64_t)m->low, by = d < width ? d : width;
        if (!of_expression(m, expression) || m->kind == BRUME_MEASURE_VALUES)
            continue;
        if (m->kind == BRUME_MEASURE_DIRECT) {
            mpz_set_ui(moved, m->high > 0 ? magnitude(m->high) : 0);
            if (m->low < 0)
                mpz_add_ui(moved, moved, magnitude(m->low));
        } else {
            mpz_set_ui(moved, by);
        }
        if (m->kind == BRUME_MEASURE_SQUARES)
            mpz_mul_ui(moved, moved, 2 * brume_measure_reach(m) - by);
        mpz_mul_ui(moved, moved, all->shape.max_rows);
        add_moved(sum, moved, m->scale, p);
    }
    mpz_clear(moved);
}

/* The noised numbers of one expression in a cell where a replaced unit stays, at their worst. */
static void expression_stays(const plan *all, size_t expression, int p, mpq_t stay)
{
    mpq_t worst, sum;
    mpq_inits(worst, sum, NULL);
    expression_goes(all, expression, p, worst);
    for (size_t i = 0; i < all->count; i++) {
        const brume_measure *m = &all->measures[i];
        if (!of_expression(m, expression) || m->kind == BRUME_MEASURE_VALUES)
            continue;
        double reach = (double)brume_measure_reach(m);
        for (uint64_t step = 0; step <= 60; step++) {
            /* small numbers one by one; of large ones the end, and near the maximum: 5/4 of the
             * reach (p = 1), (3 - sqrt(1/2))/2 of it (p = 2) */
            uint64_t near = (uint64_t)(reach * (p == 1 ? 1.25 : (3 - sqrt(.5)) / 2));
            const uint64_t places[] = {step, UINT64_MAX, near > 30 ? near - 30 + step : step};
            for (size_t j = 0; j < 3; j++) {
                expression_moves(all, expression, p, places[j], sum);
                if (mpq_cmp(sum, worst) > 0)
                    mpq_set(worst, sum);
            }
        }
        break; /* the measures of an expression have one range */
    }
    mpq_add(stay, stay, worst);
    mpq_clears(worst, sum, NULL);
}

/* What a gained cell costs, one in which a unit stays, and the pairs of private modes. */
static void cell_costs(const plan *all, int p, bool noise, bool selections, mpq_t gain, mpq_t stay,
                       mpq_t pairs)
{
    double rows = (double)all->shape.max_rows;
    for (size_t i = 0; i < all->count; i++) {
        const brume_measure *m = &all->measures[i];
        bool is_selection = brume_measure_is_selection(m);
        if (is_selection ? !selections : !noise)
            continue;
        if (m->kind == BRUME_MEASURE_PRIVATE_MODE) {
            mpq_t one, each;
            mpq_inits(one, each, NULL);
            add_moved_by(one, 1, m->scale, p);
            mpq_set_d(each, rows); /* R pairs */
            mpq_mul(one, one, each);
            mpq_add(pairs, pairs, one);
            mpq_clears(one, each, NULL);
        } else if (m->kind == BRUME_MEASURE_QUANTILES) {
            quantiles_cost(m, rows, p, gain, stay);
        } else if (m->kind == BRUME_MEASURE_MODE) {
            mode_cost(m, rows, p, gain, stay);
        } else {
            mpz_t moved;
            mpz_init(moved);
            sensitivity(moved, m, all->shape.max_rows);
            add_moved(gain, moved, m->scale, p);
            if (m->kind == BRUME_MEASURE_ROWS) /* one row at least is there before and after */
                add_moved_by(stay, all->shape.max_rows - 1, m->scale, p);
            mpz_clear(moved);
        }
    }
    for (size_t i = 0; noise && i < EXPRESSIONS; i++)
        expression_stays(all, i, p, stay);
}

/* The dearest neighbours. */
static void plan_cost(const plan *all, int p, bool noise, bool selections, mpq_t cost)
{
    mpq_t gain, stay, pairs, sum, part;
    mpq_inits(gain, stay, pairs, sum, part, NULL);
    cell_costs(all, p, noise, selections, gain, stay, pairs);
    uint64_t cells = all->shape.cells ? all->shape.cells : 2 * all->shape.max_groups;
    uint64_t groups = all->shape.max_groups < cells ? all->shape.max_groups : cells;
    mpq_set_ui(cost, 0, 1);
    for (uint64_t stayed = 0; stayed <= (all->shape.replace ? groups : 0); stayed++) {
        uint64_t moved = all->shape.replace ? 2 * (groups - stayed) : groups;
        moved = moved < cells - stayed ? moved : cells - stayed;
        mpq_set_ui(part, moved, 1);
        mpq_mul(sum, gain, part);
        mpq_set_ui(part, stayed, 1);
        mpq_mul(part, part, stay);
        mpq_add(sum, sum, part);
        if (mpq_cmp(sum, cost) > 0)
            mpq_set(cost, sum);
    }
    mpq_set_ui(part, groups * (all->shape.replace ? 2 : 1), 1);
    mpq_mul(part, part, pairs);
    mpq_add(cost, cost, part);
    mpq_clears(gain, stay, pairs, sum, part, NULL);
}

/* ---- the tests ---- */

/* cost <= paid exactly; *tight counts those within a billionth. */
static void within(const mpq_t cost, double paid, size_t plan_number, size_t *tight)
{
    mpq_t limit;
    mpq_init(limit);
    mpq_set_d(limit, paid);
    if (mpq_cmp(cost, limit) > 0) {
        mpq_div(limit, cost, limit);
        fail_msg("plan %zu costs 1 + %.3g of its price", plan_number, mpq_get_d(limit) - 1);
    }
    *tight += mpq_get_d(cost) >= paid * (1 - 1e-9);
    mpq_clear(limit);
}

/* Rejects: share = brume_divide_up(epsilon, total); a scale rounded down; a total rounded down; and
 * with them sensitivities and cells that are too few. */
static void pure_plans_cost_no_more_than_epsilon_in_exact_rationals(void **state)
{
    (void)state;
    state_of_draws = 1;
    size_t tight = 0;
    for (size_t i = 0; i < PLANS; i++) {
        plan p = random_plan(true, false);
        double epsilon = some_double(-6, 3);
        brume_price price;
        mpq_t cost;
        mpq_init(cost);
        assert_ok(
            brume_price_laplace(p.measures, p.count, &p.shape, epsilon, 1e-6, &price, &error));
        plan_cost(&p, 1, true, true, cost);
        within(cost, epsilon, i, &tight);
        assert_holds(price.epsilon == epsilon && price.delta <= 1e-6);
        mpq_clear(cost);
    }
    assert_holds(tight > PLANS * 3 / 4);
}

/* Rejects the same of share and sigma under concentrated: the sum of (sensitivity/sigma)^2 is at
 * most 2 rho. */
static void concentrated_plans_cost_no_more_than_rho_in_exact_rationals(void **state)
{
    (void)state;
    state_of_draws = 2;
    size_t tight = 0;
    for (size_t i = 0; i < PLANS; i++) {
        plan p = random_plan(true, false);
        double rho = some_double(-8, 2);
        brume_price price;
        mpq_t cost;
        mpq_init(cost);
        assert_ok(
            brume_price_concentrated(p.measures, p.count, &p.shape, rho, 1e-6, &price, &error));
        plan_cost(&p, 2, true, true, cost);
        within(cost, 2 * rho, i, &tight);
        assert_holds(price.rho == rho && price.delta <= 1e-6);
        mpq_clear(cost);
    }
    assert_holds(tight > PLANS / 2);
}

/* Rejects: a sensitivity, a width or a total rounded down where its integers have more bits than a
 * double. Such bounds need prices in the millions, so that the noise stays within 2^50 steps. */
static void plans_of_wide_columns_cost_no_more_than_their_price(void **state)
{
    (void)state;
    state_of_draws = 4;
    size_t tight = 0, priced = 0;
    for (size_t i = 0; i < PLANS; i++) {
        plan p = random_plan(false, true);
        double paid = some_double(16, 25);
        brume_price price;
        mpq_t cost;
        mpq_init(cost);
        if (brume_price_laplace(p.measures, p.count, &p.shape, paid, 1e-6, &price, &error) ==
            BRUME_OK) {
            plan_cost(&p, 1, true, true, cost);
            within(cost, paid, i, &tight);
            priced++;
        }
        paid *= paid;
        if (brume_price_concentrated(p.measures, p.count, &p.shape, paid, 1e-6, &price, &error) ==
            BRUME_OK) {
            plan_cost(&p, 2, true, true, cost);
            within(cost, 2 * paid, i, &tight);
            priced++;
        }
        mpq_clear(cost);
    }
    assert_holds(priced > PLANS && tight > priced / 2);
}

/* P[one of `pairs` new pairs of a private mode shows]: the tail of discrete Laplace noise. */
static double mode_delta(const brume_measure *m, double pairs)
{
    double tail = exp(-((double)m->threshold - 1) / m->scale) / (1 + exp(-1 / m->scale));
    return -expm1(pairs * log1p(-tail));
}

/* Rejects: a Gaussian plan whose noise and whose private modes each use all of delta; and scales of
 * either part that its share of epsilon does not pay. */
static void gaussian_plans_with_modes_use_their_delta_once(void **state)
{
    (void)state;
    state_of_draws = 3;
    size_t with_modes = 0, tight = 0, noise_tight = 0, plans = 0;
    for (size_t i = 0; i < PLANS / 4; i++) {
        plan p = random_plan(true, false);
        size_t selections = 0;
        for (size_t j = 0; j < p.count; j++)
            selections += brume_measure_is_selection(&p.measures[j]);
        if (p.shape.private_keys || selections == p.count)
            continue;
        double epsilon = some_double(-4, 2), delta = some_double(-30, -10);
        brume_price price;
        mpq_t cost;
        mpq_init(cost);
        assert_ok(
            brume_price_gaussian(p.measures, p.count, &p.shape, epsilon, delta, &price, &error));
        plan_cost(&p, 1, false, true, cost);
        within(cost, price.epsilon_selection, i, &tight);
        plan_cost(&p, 2, true, false, cost);
        /* mu^2 sigma^2 <= 1, exactly, for the sigma of what is left of epsilon and delta */
        mpq_t square;
        mpq_init(square);
        mpq_set_d(square, brume_profile_gaussian_sigma_upper(
                              brume_subtract_down(epsilon, price.epsilon_selection),
                              p.modes ? delta / 2 : delta));
        mpq_mul(square, square, square);
        mpq_mul(square, square, cost);
        within(square, 1, i, &noise_tight);
        mpq_clear(square);
        double mu = sqrt(mpq_get_d(cost)) * (1 - 1e-14), rest = epsilon - price.epsilon_selection;
        double used = brume_profile_gaussian(mu, rest).lower;
        for (size_t j = 0; j < p.count; j++)
            if (p.measures[j].kind == BRUME_MEASURE_PRIVATE_MODE)
                used += mode_delta(&p.measures[j],
                                   (double)p.shape.max_rows *
                                       fmin((double)p.shape.cells, (double)p.shape.max_groups));
        assert_holds(used <= price.delta * (1 + 1e-9)); /* no more than is said ... */
        assert_holds(price.delta <= delta);             /* ... and allowed */
        with_modes += p.modes > 0;
        plans++;
        mpq_clear(cost);
    }
    assert_holds(with_modes > 50 && noise_tight > plans / 2);
}

/* Rejects: the search for the rate of a mode ended too soon, or on another curve: more noise than
 * is paid for. */
static void a_mode_alone_spends_all_of_its_price(void **state)
{
    (void)state;
    state_of_draws = 5;
    enum { MODES = 200 };
    size_t tight = 0;
    for (size_t i = 0; i < MODES; i++) {
        plan p = {.shape = {.max_groups = 1, .max_rows = 1 + below(3), .cells = 1}};
        double rho = some_double(-10, 4);
        brume_price price;
        mpq_t cost;
        mpq_init(cost);
        add(&p, BRUME_MEASURE_MODE, 0, 0, 9);
        assert_ok(brume_price_concentrated(p.measures, 1, &p.shape, rho, 0, &price, &error));
        plan_cost(&p, 2, true, true, cost);
        within(cost, 2 * rho, i, &tight);
        mpq_clear(cost);
    }
    assert_int_equal(tight, MODES);
}

/* Rejects: other limits than those of the header, by a step: delta below 1/2, scales up to 2^50. */
static void prices_end_where_the_header_says(void **state)
{
    (void)state;
    brume_measure units[] = {{.kind = BRUME_MEASURE_UNITS}};
    brume_shape keys = {.max_groups = 1, .max_rows = 1, .private_keys = true};
    brume_shape cell = {.max_groups = 1, .max_rows = 1, .cells = 1};
    brume_price price;
    double below_half = nextafter(.5, 0);
    assert_fails(brume_price_laplace(units, 1, &keys, 1, .5, &price, &error), BRUME_EARGUMENT);
    assert_fails(brume_price_gaussian(units, 1, &cell, 1, .5, &price, &error), BRUME_EARGUMENT);
    assert_ok(brume_price_laplace(units, 1, &keys, 1, below_half, &price, &error));
    assert_ok(brume_price_laplace(units, 1, &cell, 0x1p-50, 0, &price, &error));
    assert_true(units[0].scale == 0x1p50);
    assert_fails(brume_price_laplace(units, 1, &cell, nextafter(0x1p-50, 0), 0, &price, &error),
                 BRUME_EOVERFLOW);
    brume_shape most = {.max_groups = UINT32_MAX, .max_rows = UINT32_MAX, .cells = 1};
    assert_ok(brume_price_laplace(units, 1, &most, 1, 0, &price, &error));
    brume_shape bad[] = {keys, keys, keys, keys, keys};
    bad[0].max_groups = 0;
    bad[1].max_rows = 0;
    bad[2].max_groups = UINT64_C(1) << 32;
    bad[3].max_rows = UINT64_C(1) << 32;
    bad[4].cells = 1; /* private keys are not counted */
    for (size_t i = 0; i < 5; i++)
        assert_fails(brume_price_laplace(units, 1, &bad[i], 1, .1, &price, &error),
                     BRUME_EINTERNAL);
    assert_fails(brume_price_laplace(units, 0, &keys, 1, .1, &price, &error), BRUME_EINTERNAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pure_plans_cost_no_more_than_epsilon_in_exact_rationals),
        cmocka_unit_test(concentrated_plans_cost_no_more_than_rho_in_exact_rationals),
        cmocka_unit_test(plans_of_wide_columns_cost_no_more_than_their_price),
        cmocka_unit_test(gaussian_plans_with_modes_use_their_delta_once),
        cmocka_unit_test(a_mode_alone_spends_all_of_its_price),
        cmocka_unit_test(prices_end_where_the_header_says),
    };
    return cmocka_run_group_tests_name("exact prices", tests, NULL, NULL);
}
