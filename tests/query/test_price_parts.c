/* The parts that prices are made of, each against its exact value in rationals or in 300 bits:
 * never on the side of too little noise, and no further off than the few roundings on the way
 * explain. Bounds, fractions, costs and shares are random with all bits in use, so that one
 * rounding that goes the wrong way shows in some of them. Nothing here draws fresh bits. */
#include "check.h"

#include <gmp.h>
#include <mpfr.h>

#include "exact_kappas.h"
#include "number/rounding.h"
#include "query/price/price.h"
#include "random_doubles.h"

enum { FRACTIONS = 9 };

static brume_error error;

/* exact <= told <= exact (1 + slack) */
static void is_up(const mpq_t exact, double told, double slack, const char *what)
{
    mpq_t x, y;
    mpq_inits(x, y, NULL);
    mpq_set_d(x, told);
    if (mpq_cmp(x, exact) < 0)
        fail_msg("%s: %.17g is below what is exact", what, told);
    mpq_set_d(y, 1 + slack);
    mpq_mul(y, y, exact);
    if (mpq_cmp(x, y) > 0)
        fail_msg("%s: %.17g is far above %.17g", what, told, mpq_get_d(exact));
    mpq_clears(x, y, NULL);
}

static void power(mpq_t x, int p)
{
    if (p == 2)
        mpq_mul(x, x, x);
}

/* ---- quantiles ---- */

/* Ascending, each once. */
static size_t random_fractions(int64_t (*fractions)[2])
{
    size_t count = 1 + below(FRACTIONS), kept = 0;
    int64_t of = below(3) ? 2 + (int64_t)below(998) : 64;
    for (int64_t i = 0; i <= of && kept < count; i++)
        if (below((uint64_t)(of - i + 1)) < count - kept) {
            fractions[kept][0] = i;
            fractions[kept++][1] = of;
        }
    return kept;
}

/* Rejects: a level that is not the worst of its quantiles or is added to another; a sum, a square
 * or the ratio of a cell stayed in rounded down. */
static void levels_of_quantiles_are_rounded_up(void **state)
{
    (void)state;
    state_of_draws = 21;
    mpq_t sum, one;
    mpq_inits(sum, one, NULL);
    for (int i = 0; i < 6000; i++) {
        int64_t fractions[FRACTIONS][2];
        brume_measure m = {.kind = BRUME_MEASURE_QUANTILES,
                           .fractions = (const int64_t(*)[2])fractions,
                           .fraction_count = random_fractions(fractions)};
        sum_kappas(&m, 1, sum);
        is_up(sum, brume_kappas_up(&m).sum, 0x1p-48, "kappas");
        for (int p = 1; p <= 2 && m.fraction_count == 1; p++) {
            mpq_inv(one, sum);
            power(one, p);
            is_up(one, brume_selection_stays_up(&m, p), 0x1p-48, "a quantile stayed in");
        }
        sum_kappas(&m, 2, sum);
        is_up(sum, brume_kappas_up(&m).squares, 0x1p-48, "squares of kappas");
    }
    mpq_clears(sum, one, NULL);
}

static bool extreme(const brume_measure *m)
{
    return m->fraction_count == 1 &&
           (m->fractions[0][0] == 0 || m->fractions[0][0] == m->fractions[0][1]);
}

/* What a rate costs, with that of the interval's ends: 2 e sum kappa, e^2 sum kappa^2; the least or
 * greatest value alone half of the range. */
static void cost_of_quantiles(brume_measure *m, double rate, int p, mpq_t cost)
{
    mpq_t e, end;
    mpq_inits(e, end, NULL);
    sum_kappas(m, p, cost);
    mpq_set_d(e, rate * (p == 1 ? 2 : 1) * (extreme(m) ? .5 : 1));
    power(e, p);
    if (brume_measure_has_interval(m)) { /* its two ends, each at its own rate: the whole range */
        m->scale = rate;
        mpq_set_d(end, brume_interval_rate_down(m, p == 1 ? BRUME_NOISE_DISCRETE_LAPLACE
                                                          : BRUME_NOISE_DISCRETE_GAUSSIAN) *
                           (p == 1 ? 2 : 1));
        power(end, p);
        mpq_mul_2exp(end, end, 1);
        mpq_add(e, e, end);
    }
    mpq_mul(cost, cost, e);
    mpq_clears(e, end, NULL);
}

/* Rejects: any rounding on the way from a cost to a rate turned. Half of the costs are squares, so
 * that their roots are exact and nothing is lost there. */
static void rates_of_quantiles_cost_no_more_than_is_paid(void **state)
{
    (void)state;
    state_of_draws = 22;
    mpq_t cost;
    mpq_init(cost);
    for (int i = 0; i < 12000; i++) {
        int64_t fractions[FRACTIONS][2];
        brume_measure m = {.kind = BRUME_MEASURE_QUANTILES,
                           .fractions = (const int64_t(*)[2])fractions,
                           .fraction_count = random_fractions(fractions)};
        int p = 1 + i % 2;
        double root = (double)(1 + below(1 << 20)) * 0x1p-20;
        double paid = i % 4 < 2 ? some_double(-8, 4) : root * root;
        double rate = brume_selection_rate_down(&m, paid, p);
        cost_of_quantiles(&m, rate, p, cost);
        mpq_inv(cost, cost); /* no more is told as an upper bound of its reciprocal */
        mpq_t limit;
        mpq_init(limit);
        mpq_set_d(limit, paid);
        mpq_mul(cost, cost, limit);
        mpq_inv(cost, cost); /* the share of what is paid */
        is_up(cost, 1, 0x1p-46, "the cost of a rate");
        mpq_clear(limit);
    }
    mpq_clear(cost);
}

/* Rejects: a search that begins above the root, as where the price is so small that the root is the
 * square root's neighbour; tanh or a product rounded down. */
static void rates_of_modes_cost_no_more_than_is_paid(void **state)
{
    (void)state;
    state_of_draws = 23;
    mpfr_t e, bound;
    mpfr_inits2(300, e, bound, (mpfr_ptr)NULL);
    brume_measure m = {.kind = BRUME_MEASURE_MODE, .high = 9};
    for (int i = 0; i < 1200; i++) {
        double paid = i % 2 ? some_double(-90, -40) : some_double(-20, 6);
        assert_true(brume_selection_rate_down(&m, paid, 1) == paid);
        mpfr_set_d(e, brume_selection_rate_down(&m, paid, 2), MPFR_RNDN);
        mpfr_div_2ui(bound, e, 1, MPFR_RNDN);
        mpfr_tanh(bound, bound, MPFR_RNDD);
        mpfr_mul(e, e, bound, MPFR_RNDD);
        mpfr_mul_2ui(e, e, 1, MPFR_RNDN);
        assert_holds(mpfr_cmp_d(e, paid) <= 0);
        assert_holds(mpfr_cmp_d(e, paid * (1 - 0x1p-45)) >= 0);
    }
    mpfr_clears(e, bound, (mpfr_ptr)NULL);
}

/* ---- B ---- */

static void set_count(mpq_t x, uint64_t count)
{
    mpq_set_ui(x, 1, 1);
    mpz_set_ui(mpq_numref(x), count);
}

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}

/* sum += (a/b)^p, b as sensitivities have it: rounded up to a double. */
static void add_ratio(mpq_t sum, const mpz_t a, uint64_t b, int p)
{
    mpq_t x, y;
    mpq_inits(x, y, NULL);
    mpq_set_z(x, a);
    mpq_set_d(y, brume_count_up(b));
    mpq_div(x, x, y);
    power(x, p);
    mpq_add(sum, sum, x);
    mpq_clears(x, y, NULL);
}

/* All rows of an expression change: a direct sum from one bound (or nothing) to the other, a
 * centred one across its width. */
static void rows_change(const brume_measure *m, int p, mpq_t sum)
{
    uint64_t low = magnitude(m->low), high = magnitude(m->high);
    mpz_t moved;
    mpz_init(moved);
    if (m->kind == BRUME_MEASURE_DIRECT) {
        mpz_set_ui(moved, m->high > 0 ? high : 0);
        mpz_add_ui(moved, moved, m->low < 0 ? low : 0);
        add_ratio(sum, moved, low > high ? low : high, p);
    } else {
        mpz_set_ui(moved, (uint64_t)m->high - (uint64_t)m->low);
        add_ratio(sum, moved, brume_measure_reach(m), p);
    }
    mpz_clear(moved);
}

/* Rejects: any rounding of a ratio, a square or a sum turned; a measure that is found behind the
 * end of the list; one that is forgotten. */
static void cells_stayed_in_are_rounded_up(void **state)
{
    (void)state;
    state_of_draws = 24;
    mpq_t exact, sum, shares;
    mpz_t others;
    mpq_inits(exact, sum, shares, NULL);
    mpz_init(others);
    for (int i = 0; i < 20000; i++) {
        int p = 1 + i % 2, bits = below(2) ? 20 : 62;
        size_t expressions = below(4), count = 0;
        brume_measure list[10];
        brume_shape shape = {.max_groups = 1, .max_rows = 1 + below(i % 3 ? 9 : UINT32_MAX)};
        mpq_set_ui(exact, 0, 1);
        if (below(2))
            list[count++] = (brume_measure){.kind = BRUME_MEASURE_UNITS}; /* stays */
        for (size_t x = 0; x < expressions; x++) {
            int64_t a = (int64_t)brume_tape_splitmix(&state_of_draws) >> (64 - bits);
            int64_t b = (int64_t)brume_tape_splitmix(&state_of_draws) >> (64 - bits);
            brume_measure m = {
                .expression = x, .low = a < b ? a : b, .high = a < b ? b + 1 : a + 1};
            uint64_t which = 1 + below(3);
            mpq_set_ui(sum, 0, 1);
            for (uint64_t kind = 1; kind <= 2; kind++)
                if (which & kind) {
                    m.kind = kind == 1 ? BRUME_MEASURE_DIRECT : BRUME_MEASURE_CENTRED;
                    rows_change(&m, p, sum);
                    list[count++] = m;
                }
            set_count(shares, which == 3 ? 2 : 1);
            mpq_add(exact, exact, mpq_cmp(sum, shares) > 0 ? sum : shares);
        }
        if (below(2)) {
            list[count++] = (brume_measure){.kind = BRUME_MEASURE_ROWS};
            mpz_set_ui(others, shape.max_rows - 1);
            add_ratio(exact, others, shape.max_rows, p);
        }
        list[count] = (brume_measure){
            .kind = BRUME_MEASURE_SQUARES, .expression = below(3), .low = -1000, .high = 1};
        if (mpq_sgn(exact) > 0)
            is_up(exact, brume_stay_up(list, count, &shape, p, true, true), 0x1p-48,
                  "a cell stayed in");
    }
    mpq_clears(exact, sum, shares, NULL);
    mpz_clear(others);
}

/* Sum and squares of one expression: R rows that all move by d, the dearest d of the width.
 * Rejects: a place beyond the width, or one that is not the dearest. */
static void sums_and_squares_stay_at_their_dearest_place(void **state)
{
    (void)state;
    for (int64_t width = 1; width <= 30; width++)
        for (int p = 1; p <= 2; p++) {
            brume_measure list[] = {{.kind = BRUME_MEASURE_SQUARES, .high = width},
                                    {.kind = BRUME_MEASURE_CENTRED, .high = width}};
            brume_shape shape = {.max_groups = 1, .max_rows = 2};
            double h = (double)brume_measure_reach(list), worst = 2;
            double half = ceil(h * h / 2);
            for (int step = 0; step <= 20000; step++) {
                double d = (double)width * step / 20000;
                worst = fmax(worst, pow(d / h, p) + pow(d * (2 * h - d) / half, p));
            }
            double told = brume_stay_up(list, 2, &shape, p, true, true);
            assert_holds(told >= worst && told <= worst * (1 + 1e-8));
        }
}

/* ---- C ---- */

/* Rejects: any rounding turned, for shares that are no integers. */
static void cells_and_pairs_are_rounded_up(void **state)
{
    (void)state;
    state_of_draws = 25;
    mpq_t exact, sum, part, gained, stayed;
    mpq_inits(exact, sum, part, gained, stayed, NULL);
    for (int i = 0; i < 20000; i++) {
        brume_shape shape = {
            .max_groups = 1 + below(7), .max_rows = 1, .cells = below(16), .replace = below(2)};
        double gain = some_double(-2, 6), stay = below(4) ? some_double(-2, 6) : 0;
        size_t modes = below(2) ? 0 : below(2) ? below(20) : below(UINT64_C(1) << 53);
        uint64_t cells = shape.cells ? shape.cells : 2 * shape.max_groups;
        uint64_t groups = shape.max_groups < cells ? shape.max_groups : cells;
        mpq_set_d(gained, gain);
        mpq_set_d(stayed, stay);
        mpq_set_ui(exact, 0, 1);
        for (uint64_t b = 0; b <= (shape.replace ? groups : 0); b++) {
            uint64_t moved = shape.replace ? 2 * (shape.max_groups - b) : groups;
            set_count(part, moved < cells - b ? moved : cells - b);
            mpq_mul(sum, part, gained);
            set_count(part, b);
            mpq_mul(part, part, stayed);
            mpq_add(sum, sum, part);
            if (mpq_cmp(sum, exact) > 0)
                mpq_set(exact, sum);
        }
        set_count(part, modes);
        set_count(sum, (shape.replace ? 2 : 1) * groups);
        mpq_mul(part, part, sum);
        mpq_add(exact, exact, part);
        is_up(exact, brume_total_up(&shape, gain, stay, modes), 0x1p-49, "cells and pairs");
    }
    mpq_clears(exact, sum, part, gained, stayed, NULL);
}

/* ---- kinds ---- */

/* Rejects: a private mode drawn with another noise than it is priced for. */
static void only_a_private_mode_has_another_noise_than_its_plan(void **state)
{
    (void)state;
    for (int kind = BRUME_MEASURE_UNITS; kind <= BRUME_MEASURE_PRIVATE_MODE; kind++)
        for (int noise = BRUME_NOISE_DISCRETE_LAPLACE; noise <= BRUME_NOISE_DISCRETE_GAUSSIAN;
             noise++) {
            brume_measure m = {.kind = (brume_measure_kind)kind};
            bool pure = kind == BRUME_MEASURE_PRIVATE_MODE && noise == BRUME_NOISE_ROUNDED_GAUSSIAN;
            assert_int_equal((int)brume_measure_noise(&m, (brume_noise_kind)noise),
                             pure ? (int)BRUME_NOISE_DISCRETE_LAPLACE : noise);
        }
}

/* Rejects: what nobody limited counted as none; the cells of a query forgotten; a mode stayed in at
 * another cost than twice (its square: four times) that of one gained. */
static void pairs_and_selections_are_as_the_header_says(void **state)
{
    (void)state;
    static const uint64_t shapes[][4] = {/* G, R, K, pairs */
                                         {0, 0, 0, 1},  {3, 0, 0, 3}, {0, 4, 0, 4},
                                         {3, 4, 0, 12}, {3, 4, 2, 8}, {3, 4, 9, 12}};
    for (size_t i = 0; i < 6; i++) {
        brume_shape shape = {
            .max_groups = shapes[i][0], .max_rows = shapes[i][1], .cells = shapes[i][2]};
        assert_int_equal(brume_shape_pairs(&shape), shapes[i][3]);
    }
    static const int64_t quartiles[][2] = {{1, 4}, {3, 4}};
    const brume_measure several[] = {
        {.kind = BRUME_MEASURE_MODE, .high = 4},
        {.kind = BRUME_MEASURE_QUANTILES, .fractions = quartiles, .fraction_count = 2}};
    for (size_t i = 0; i < 2; i++) {
        assert_true(brume_selection_stays_up(&several[i], 1) == 2);
        assert_true(brume_selection_stays_up(&several[i], 2) == 4);
    }
}

/* Rejects: a sensitivity of 0, which no scale can be made of: AVG(1) would be refused. */
static void an_expression_that_is_constant_has_a_price(void **state)
{
    (void)state;
    brume_shape shape = {.max_groups = 1, .max_rows = 3, .cells = 1, .replace = true};
    brume_measure constant[] = {
        {.kind = BRUME_MEASURE_SQUARES, .low = 7, .high = 7},
        {.kind = BRUME_MEASURE_CENTRED, .low = 7, .high = 7},
        {.kind = BRUME_MEASURE_DIRECT, .expression = 1},
    };
    brume_price price;
    assert_ok(brume_price_laplace(constant, 3, &shape, 1, 0, &price, &error));
    assert_ok(brume_price_concentrated(constant, 3, &shape, 1, 0, &price, &error));
    for (size_t i = 0; i < 3; i++)
        assert_true(constant[i].sensitivity == 1);
    assert_close(price.stay_upper, 1, 1e-12); /* each may become NULL, and nothing more */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_of_quantiles_are_rounded_up),
        cmocka_unit_test(rates_of_quantiles_cost_no_more_than_is_paid),
        cmocka_unit_test(rates_of_modes_cost_no_more_than_is_paid),
        cmocka_unit_test(cells_stayed_in_are_rounded_up),
        cmocka_unit_test(sums_and_squares_stay_at_their_dearest_place),
        cmocka_unit_test(cells_and_pairs_are_rounded_up),
        cmocka_unit_test(pairs_and_selections_are_as_the_header_says),
        cmocka_unit_test(only_a_private_mode_has_another_noise_than_its_plan),
        cmocka_unit_test(an_expression_that_is_constant_has_a_price),
    };
    return cmocka_run_group_tests_name("parts of prices", tests, NULL, NULL);
}
