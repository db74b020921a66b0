/* Panels of one subsampled Gaussian: every polynomial within its error of the closed form,
 * integrals against quadratures of it, both orders; and bounds with a fault built in, which the
 * same comparison rejects. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "accountant/draws.h"
#include "accountant/sampled_table.h"

/* e^{-x/2} delta(x) from the definition, by the place beyond which the loss exceeds x. */
static long double exact_at(const brume_law *law, long double x)
{
    long double q = law->rate, sigma = law->a, y = law->reversed ? -x : x;
    long double v = (expm1l(y) + q) / q, root = sqrtl(2) * sigma;
    if (!(v > 0))
        return law->reversed ? 0 : -2 * sinhl(x / 2);
    long double place = sigma * sigma * logl(v) + 0.5L, sign = law->reversed ? -1 : 1;
    long double zero = erfcl(sign * place / root) / 2, one = erfcl(sign * (place - 1) / root) / 2;
    return fmaxl(0, law->reversed
                        ? expl(-x / 2) * (zero * (q - expm1l(x) * (1 - q)) - expl(x) * q * one)
                        : expl(-x / 2) * (q * one - (expm1l(x) + q) * zero));
}

static double polynomial(const brume_sampled_table *t, size_t panel, size_t order, double x)
{
    const brume_sampled_panel *p = &t->panels[panel];
    const double *row = t->rows + (panel * t->orders + order) * BRUME_PANEL_NODES;
    double y = (x - p->centre) * p->scale, value = 0;
    for (size_t j = BRUME_PANEL_NODES; j-- > 0;)
        value = value * y + row[j];
    return value;
}

static brume_law random_law(void)
{
    brume_law law = {.kind = BRUME_LAW_SAMPLED, .count = 1};
    law.a = uniform() < 0.5 ? between(0.3, 3) : between(0.05, 60);
    law.rate = between(1e-5, 0.9);
    law.reversed = uniform() < 0.5;
    return law;
}

static void polynomials_are_within_their_errors(void **state)
{
    (void)state;
    draws_state = 1;
    size_t panels = 0, sharp = 0, points = 0, opened = 0, rejected = 0;
    for (int i = 0; i < 80; i++) {
        brume_law law = random_law();
        brume_sampled_table t;
        double floor_ = between(1e-40, 1e-12), low = -between(0.01, 20), high = between(0.1, 80);
        if (!brume_sampled_table_open(&law, low, high, floor_, 1, &t))
            continue;
        opened++;
        panels += t.count;
        assert_true(t.panels[0].low == low);
        for (size_t p = 0; p < t.count; p++) {
            assert_true(p == 0 || t.panels[p].low == t.panels[p - 1].high);
            bool faulty = false;
            for (int j = 0; j < 24; j++) {
                double share = j == 0 ? 0 : j == 1 ? 1 : uniform();
                double x = t.panels[p].low + (t.panels[p].high - t.panels[p].low) * share;
                long double exact = exact_at(&law, x), value = polynomial(&t, p, 0, x);
                long double own = 1e-17L * (expl(-x / 2) * law.rate + fabsl(sinhl(x / 2)));
                if (!(fabsl(value - exact) <= t.errors[p] + own))
                    fail_msg(
                        "trial %d: sigma %g rate %g reversed %d x %.17g in [%.17g, %.17g]: %Lg "
                        "and %Lg, off by %Lg, error %g",
                        i, law.a, law.rate, law.reversed, x, t.panels[p].low, t.panels[p].high,
                        value, exact, value - exact, t.errors[p]);
                sharp += t.errors[p] <= 1e-10 * (double)value || t.errors[p] < 1e3 * floor_ ||
                         t.errors[p] < 1e-13 * law.rate; /* what places can tell */
                points++;
                /* places taken for those of a panel shifted by a hundred-thousandth */
                double wrong = polynomial(&t, p, 0, x + 1e-5 / t.panels[p].scale);
                faulty |= !(fabsl(wrong - exact) <= t.errors[p] + own);
            }
            rejected += faulty;
        }
        long double end = exact_at(&law, t.panels[t.count - 1].high);
        assert_true(end <= t.beyond[0]);
        assert_true(t.panels[t.count - 1].high == high || t.beyond[0] <= 1.1 * floor_ ||
                    law.reversed);
        brume_sampled_table_close(&t);
    }
    print_message("# %zu tables, %zu panels each, %.3f sharp, %.3f faults rejected\n", opened,
                  panels / opened, (double)sharp / (double)points,
                  (double)rejected / (double)panels);
    assert_true(opened >= 76 && sharp >= 0.95 * (double)points);
    assert_true(rejected >= 0.7 * (double)panels);
}

static const long double nodes[5] = {0.1488743389816312108848L, 0.4333953941292471907993L,
                                     0.6794095682990244062343L, 0.8650633666889845107321L,
                                     0.9739065285171717200780L};
static const long double weights[5] = {0.2955242247147528701739L, 0.2692667193099963550912L,
                                       0.2190863625159820439955L, 0.1494513491505805931458L,
                                       0.0666713443086881375936L};

/* The k-fold integral from x to the table's end: of f(w) (w - x)^{k-1}/(k-1)!, panel by panel. */
static long double integral(const brume_law *law, const brume_sampled_table *t, size_t order,
                            double x)
{
    enum { PIECES = 6 };
    long double sum = 0, factorial = 1;
    for (size_t k = 2; k < order; k++)
        factorial *= (long double)k;
    for (size_t p = 0; p < t->count; p++) {
        long double from = fmaxl(t->panels[p].low, x), to = t->panels[p].high;
        for (int i = 0; to > from && i < PIECES; i++) {
            long double half = (to - from) / (2 * PIECES), middle = from + half * (2 * i + 1);
            for (int j = 0; j < 10; j++) {
                long double w = middle + (j < 5 ? half : -half) * nodes[j % 5];
                sum += half * weights[j % 5] * exact_at(law, w) *
                       powl(w - x, (long double)order - 1) / factorial;
            }
        }
    }
    return sum;
}

static void integrals_are_within_their_errors(void **state)
{
    (void)state;
    draws_state = 2;
    size_t sharp = 0, points = 0, rejected = 0;
    for (int i = 0; i < 16; i++) {
        brume_law law = random_law();
        brume_sampled_table t;
        double low = -between(0.01, 5), high = 250; /* integrals end where delta does */
        if (!brume_sampled_table_open(&law, low, high, 1e-25, 5, &t))
            continue;
        for (int j = 0; j < 40; j++) {
            size_t p = (size_t)(uniform() * (double)t.count), order = 1 + (size_t)(uniform() * 4);
            double x = t.panels[p].low + (t.panels[p].high - t.panels[p].low) * uniform();
            long double exact = integral(&law, &t, order, x), end = t.panels[t.count - 1].high - x;
            long double tail = 0, power = 1; /* what the orders may be beyond the end */
            for (size_t k = order; k >= 1; power *= end / (long double)(order - k + 1), k--)
                tail += t.beyond[k] * power;
            double value = polynomial(&t, p, order, x), error = t.errors[p * t.orders + order];
            if (!(value <= exact * (1 + 1e-13L) + tail + error) ||
                !(value >= exact * (1 - 1e-13L) - error))
                fail_msg(
                    "trial %d: sigma %g rate %g reversed %d order %zu x %.17g: %.17g and %.17Lg, "
                    "error %g",
                    i, law.a, law.rate, law.reversed, order, x, value, exact, error);
            assert_true(t.slopes[p * t.orders + order] * 1.000001 + error >=
                        polynomial(&t, p, order - 1, t.panels[p].low));
            sharp += error <= 1e-9 * value || error < 1e-13 * law.rate;
            rejected += !(polynomial(&t, p, order, x) <=
                          1.0001L * integral(&law, &t, order, x + 0.01 * (double)end)) ||
                        value < 1e-20;
            points++;
        }
        brume_sampled_table_close(&t);
    }
    print_message("# %.3f of %zu sharp, %zu faults rejected\n", (double)sharp / (double)points,
                  points, rejected);
    assert_true(points >= 400 && sharp >= 0.95 * (double)points &&
                rejected >= 0.9 * (double)points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polynomials_are_within_their_errors),
        cmocka_unit_test(integrals_are_within_their_errors),
    };
    return cmocka_run_group_tests_name("accountant sampled table", tests, NULL, NULL);
}
