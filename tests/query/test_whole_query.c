/* The law of whole queries on neighbouring tables, against their price: what the planner says of
 * scales and thresholds, and all that a reader of the answer sees, summed exactly in both
 * directions.
 *
 * A neighbour gains or loses one unit in up to G groups (add-remove), or takes it out of up to G
 * and puts it into up to G (replace; a group may be in both). Beside it each group has no other
 * unit, one, or enough to be shown nearly always. What the unit has in a group is any of its
 * extreme contributions: 1 to R rows of NULL or a bound. */
#include "check.h"

#include "atoms.h"
#include "query/price/price.h"

enum { STATISTICS = 3, FULL = 5, LOW = 0, HIGH = 2 };

typedef struct contribution {
    int value[STATISTICS];
} contribution;

static const contribution nothing = {{0}};

typedef struct setting {
    const char *name;
    size_t count; /* of measures */
    brume_measure_kind kinds[STATISTICS];
} setting;

static const setting settings[] = {
    {"units", 1, {BRUME_MEASURE_UNITS}},
    {"units and rows", 2, {BRUME_MEASURE_UNITS, BRUME_MEASURE_ROWS}},
    {"units, values and sum",
     3,
     {BRUME_MEASURE_UNITS, BRUME_MEASURE_VALUES, BRUME_MEASURE_CENTRED}},
};

/* One row: 0 NULL, 1 the lower bound, 2 the upper. */
static void add_row(const setting *of, int row, contribution *to)
{
    int centre = (LOW + HIGH) / 2, x = row == 1 ? LOW : HIGH;
    for (size_t i = 0; i < of->count; i++)
        switch (of->kinds[i]) {
        case BRUME_MEASURE_UNITS:
            to->value[i] = 1;
            break;
        case BRUME_MEASURE_ROWS:
            to->value[i]++;
            break;
        case BRUME_MEASURE_VALUES:
            to->value[i] += row > 0;
            break;
        default:
            to->value[i] += row > 0 ? x - centre : 0;
        }
}

/* Every different contribution of 1 to R rows, at most FULL of them. */
static size_t contributions(const setting *of, int rows, contribution *out)
{
    size_t count = 0;
    for (int a = 2; a >= 0; a--)
        for (int b = rows > 1 ? 3 : 0; b >= 0; b--) { /* 3 .. 1: a second row; 0: none */
            contribution one = nothing;
            add_row(of, a, &one);
            if (b)
                add_row(of, b - 1, &one);
            bool known = false;
            for (size_t i = 0; i < count; i++)
                known = known || memcmp(&out[i], &one, sizeof one) == 0;
            if (!known && count < FULL)
                out[count++] = one;
        }
    return count;
}

typedef struct query {
    setting of;
    brume_measure measures[STATISTICS];
    brume_noise_kind noise;
    double threshold, bin;
} query;

/* What one group shows, `others` units beside ours. */
static atoms group_law(const query *q, int others, const contribution *before,
                       const contribution *after)
{
    atoms shown = atoms_one();
    for (size_t i = 1; i < q->of.count; i++)
        if (before->value[i] != after->value[i])
            shown = atoms_product(shown,
                                  atoms_shift(q->noise, q->measures[i].scale,
                                              after->value[i] - before->value[i], q->bin),
                                  q->bin);
    return atoms_tested(q->noise, q->measures[0].scale, q->threshold, others + before->value[0],
                        others + after->value[0], shown, q->bin);
}

typedef struct group_change {
    const contribution *before, *after;
} group_change;

/* Calls `visit` for every pair of neighbours up to names of groups. */
typedef struct search {
    const query *query;
    double worst;
    double (*divergence)(const atoms *all, double price);
    double price;
    const int *others;
    size_t others_count;
} search;

static void try_changes(search *all, const group_change *changes, size_t count)
{
    size_t choices = 1, kinds = all->others_count;
    size_t step = count > 2 && kinds > 2 ? 2 : 1; /* of many groups none or enough, not one */
    kinds = (kinds + step - 1) / step;
    for (size_t i = 0; i < count; i++)
        choices *= kinds;
    for (size_t choice = 0; choice < choices; choice++) {
        atoms law = atoms_one();
        size_t rest = choice;
        for (size_t i = 0; i < count; i++, rest /= kinds)
            law = atoms_product(law,
                                group_law(all->query, all->others[rest % kinds * step],
                                          changes[i].before, changes[i].after),
                                all->query->bin);
        all->worst = fmax(all->worst, all->divergence(&law, all->price));
        atoms_free(&law);
    }
}

static double worst_neighbours(const query *q, uint64_t groups, bool replace, int rows,
                               const int *others, size_t others_count,
                               double (*divergence)(const atoms *, double), double price)
{
    contribution full[FULL];
    search all = {q, 0, divergence, price, others, others_count};
    size_t count = contributions(&q->of, rows, full);
    for (size_t a = 0; a < count; a++) {
        group_change gone = {&full[a], &nothing};
        if (!replace && groups == 1)
            try_changes(&all, &gone, 1);
        for (size_t b = 0; b < count; b++) {
            group_change also = {&full[b], &nothing}, come = {&nothing, &full[b]};
            group_change stays = {&full[a], &full[b]};
            if (!replace && groups == 2 && b >= a)
                try_changes(&all, (group_change[]){gone, also}, 2);
            if (replace && a != b)
                try_changes(&all, &stays, 1);
            if (replace)
                try_changes(&all, (group_change[]){gone, come}, 2);
            if (replace && groups == 2 && a != b) /* one stayed in, one left, one entered */
                try_changes(&all, (group_change[]){stays, gone, come}, 3);
        }
    }
    if (replace && groups == 2) { /* two left, two entered: the extremes alone */
        group_change moved[] = {{&full[0], &nothing},
                                {&full[count - 1], &nothing},
                                {&nothing, &full[0]},
                                {&nothing, &full[count - 1]}};
        try_changes(&all, moved, 4);
    }
    return all.worst;
}

static query make(const setting *of, brume_noise_kind noise, double bin)
{
    query q = {.of = *of, .noise = noise, .bin = bin};
    for (size_t i = 0; i < of->count; i++)
        q.measures[i] =
            (brume_measure){.kind = of->kinds[i], .expression = 1, .low = LOW, .high = HIGH};
    return q;
}

/* ---- Laplace ---- */

static const double prices[][2] = {{1, 1e-3}, {0.3, 1e-2}, {2.5, 1e-5}};

static void laplace_queries_cost_what_is_charged(void **state)
{
    (void)state;
    brume_error error = {0};
    for (size_t s = 0; s < 3; s++)
        for (int rows = 1; rows <= 2; rows++)
            for (uint64_t groups = 1; groups <= 2; groups++)
                for (int replace = 0; replace <= 1; replace++)
                    for (size_t i = 0; i < 3; i++) {
                        query q = make(&settings[s], BRUME_NOISE_DISCRETE_LAPLACE, 1e-9);
                        brume_shape shape = {.max_groups = groups,
                                             .max_rows = (uint64_t)rows,
                                             .replace = replace,
                                             .private_keys = true};
                        brume_price price;
                        assert_ok(brume_price_laplace(q.measures, q.of.count, &shape, prices[i][0],
                                                      prices[i][1], &price, &error));
                        q.threshold = (double)price.threshold;
                        const int others[] = {0, 1, (int)price.threshold + 2};
                        double worst = worst_neighbours(&q, groups, replace, rows, others, 3,
                                                        atoms_hockey_stick, prices[i][0]);
                        if (!(worst <= price.delta * (1 + 1e-6)))
                            fail_msg("%s, R %d, G %d, replace %d: %g for %g", settings[s].name,
                                     rows, (int)groups, replace, worst, price.delta);
                        assert_holds(price.delta <= prices[i][1]);
                        assert_holds(worst >= 0.99 * price.delta); /* tight */
                    }
}

/* What the same search says of plans that are wrong in one place. */
static void broken_laplace_plans_are_caught(void **state)
{
    (void)state;
    brume_error error = {0};
    query q = make(&settings[2], BRUME_NOISE_DISCRETE_LAPLACE, 1e-9);
    brume_shape shape = {.max_groups = 1, .max_rows = 2, .private_keys = true};
    brume_price price;
    assert_ok(brume_price_laplace(q.measures, 3, &shape, 1, 1e-3, &price, &error));
    const int others[] = {0, 1, (int)price.threshold + 2};
    query low = q, one_row = q, unpaid = q;
    q.threshold = (double)price.threshold;
    low.threshold = q.threshold - 1; /* a threshold one less */
    one_row.threshold = unpaid.threshold = q.threshold;
    one_row.measures[2].scale /= 2;     /* the sum as if R were 1 */
    unpaid.measures[1].scale *= 2. / 3; /* the count as if there were two measures */
    assert_holds(worst_neighbours(&q, 1, false, 2, others, 3, atoms_hockey_stick, 1) <= 1e-3);
    assert_holds(worst_neighbours(&low, 1, false, 2, others, 3, atoms_hockey_stick, 1) > 1e-3);
    assert_holds(worst_neighbours(&one_row, 1, false, 2, others, 3, atoms_hockey_stick, 1) > 1e-2);
    assert_holds(worst_neighbours(&unpaid, 1, false, 2, others, 3, atoms_hockey_stick, 1) > 1e-2);
    assert_holds(worst_neighbours(&q, 1, true, 2, others, 3, atoms_hockey_stick, 1) > 1e-2);
}

/* ---- rounded Gaussian ---- */

static void gaussian_queries_cost_what_is_charged(void **state)
{
    (void)state;
    brume_error error = {0};
    const double gaussian[][2] = {{1, 1e-3}, {2.5, 1e-4}};
    for (size_t s = 0; s < 2; s++)
        for (int rows = 1; rows <= 2; rows++)
            for (int replace = 0; replace <= 1; replace++)
                for (size_t i = 0; i < 2; i++) {
                    query q = make(&settings[s], BRUME_NOISE_ROUNDED_GAUSSIAN, 5e-3);
                    brume_shape shape = {.max_groups = 1,
                                         .max_rows = (uint64_t)rows,
                                         .replace = replace,
                                         .private_keys = true};
                    brume_price price;
                    assert_ok(brume_price_gaussian(q.measures, q.of.count, &shape, gaussian[i][0],
                                                   gaussian[i][1], &price, &error));
                    q.threshold = (double)price.threshold;
                    const int others[] = {0, (int)price.threshold + 2};
                    double worst = worst_neighbours(&q, 1, replace, rows, others, 2,
                                                    atoms_hockey_stick, gaussian[i][0]);
                    if (!(worst <= price.delta))
                        fail_msg("%s, R %d, replace %d: %g for %g", settings[s].name, rows, replace,
                                 worst, price.delta);
                    assert_holds(price.delta <= gaussian[i][1]);
                    assert_holds(worst >= 0.5 * price.delta);
                    if (i == 0 && rows == 1) { /* the mutants */
                        query low = q;         /* sigma for half of the price */
                        for (size_t j = 0; j < low.of.count; j++)
                            low.measures[j].scale /= 2;
                        assert_holds(worst_neighbours(&low, 1, replace, rows, others, 2,
                                                      atoms_hockey_stick, 1) > gaussian[i][1]);
                        if (!replace)
                            assert_holds(worst_neighbours(&q, 1, true, rows, others, 2,
                                                          atoms_hockey_stick, 1) > gaussian[i][1]);
                    }
                }
}

/* ---- discrete Gaussian, concentrated ---- */

/* Largest D_alpha / alpha, for outputs that both sides can have. */
static double concentrated(const atoms *all, double unused)
{
    (void)unused;
    double worst = 0;
    const double orders[] = {1.5, 2, 4, 8};
    for (size_t i = 0; i < 4; i++)
        worst = fmax(worst, atoms_renyi(all, orders[i]) / orders[i]);
    return worst;
}

static void concentrated_queries_cost_what_is_charged(void **state)
{
    (void)state;
    brume_error error = {0};
    double tightest = 0;
    for (size_t s = 0; s < 3; s++)
        for (int rows = 1; rows <= 2; rows++)
            for (int replace = 0; replace <= 1; replace++) {
                double rho = 0.2;
                query q = make(&settings[s], BRUME_NOISE_DISCRETE_GAUSSIAN, 1e-3);
                brume_shape shape = {.max_groups = 1,
                                     .max_rows = (uint64_t)rows,
                                     .replace = replace,
                                     .private_keys = true};
                brume_price price;
                assert_ok(brume_price_concentrated(q.measures, q.of.count, &shape, rho, 1e-3,
                                                   &price, &error));
                q.threshold = 6;
                const int others[] = {7}; /* every group is on both sides: no failure */
                double worst = worst_neighbours(&q, 1, replace, rows, others, 1, concentrated, 0);
                if (!(worst <= rho * (1 + 1e-6)))
                    fail_msg("%s, R %d, replace %d: %g", settings[s].name, rows, replace, worst);
                tightest = fmax(tightest, worst / rho);
                if (!replace) /* a replacement is not paid by the price of one unit more */
                    assert_holds(worst_neighbours(&q, 1, true, rows, others, 1, concentrated, 0) >
                                 rho * 1.05);
            }
    assert_holds(tightest > 0.98);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laplace_queries_cost_what_is_charged),
        cmocka_unit_test(broken_laplace_plans_are_caught),
        cmocka_unit_test(gaussian_queries_cost_what_is_charged),
        cmocka_unit_test(concentrated_queries_cost_what_is_charged),
    };
    return cmocka_run_group_tests_name("whole queries", tests, NULL, NULL);
}
