/* Regression by propose-test-release in one dimension, by enumeration: every database of up to nine
 * rows on a small grid, every neighbour, both adjacencies and directions; and broken versions that
 * the same sums reject. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include <brume/adjacency.h>
#include <brume/statistic/tested.h>

#include "chance.h"
#include "multisets.h"

static brume_error error;

/* Rows -1, 0, 1/2 and 1 in units of the norm. ln q is in steps of 1/4; a bound of 4 steps stands
 * for a local sensitivity of at most 1/2. */
enum { ROWS = 4, MOST_ROWS = 9, SETS = 715, NORM = 2, BOUND = 4 };
enum { LEAST = -160, MOST = 420, OUTPUTS = MOST - LEAST + 2 };

static const int64_t rows[ROWS] = {-2, 0, 1, 2};
static const double step = .25, point = 1;

typedef struct database {
    multiset data;
    double square; /* the Gram matrix */
    uint64_t distance;
    int64_t value;
} database;

static database databases[SETS];

static void make_databases(void)
{
    static multiset all[SETS];
    int count = 0;
    for (int size = 0; size <= MOST_ROWS; size++)
        count = multisets_of_size(size, ROWS, all, count);
    assert_int_equal(count, SETS);
    for (int i = 0; i < SETS; i++) {
        brume_gram *gram = NULL;
        assert_ok(brume_gram_open(1, NORM, &gram, &error));
        database *made = &databases[i];
        *made = (database){.data = all[i]};
        for (int j = 0; j < all[i].size; j++) {
            int64_t row = rows[all[i].value[j]];
            brume_gram_add(gram, &row);
            made->square += (double)(row * row) / (NORM * NORM);
        }
        brume_tested_prediction prediction = {gram, &point, step};
        brume_tested tested = brume_tested_regression(&prediction);
        assert_ok(tested.distance(tested.context, BOUND, &made->distance, &error));
        assert_ok(tested.value(tested.context, &made->value, &error));
        brume_gram_close(gram);
    }
}

static bool neighbours(const database *a, const database *b, brume_adjacency adjacency)
{
    if (abs(a->data.size - b->data.size) != (adjacency == BRUME_REPLACE ? 0 : 1))
        return false;
    return multiset_distance(&a->data, &b->data) == (adjacency == BRUME_REPLACE ? 2 : 1);
}

/* ln q of one dimension, at the point 1. */
static double log_q(const database *x)
{
    return -log(x->square) / 2;
}

static void the_distance_is_0_at_sensitive_data_and_moves_by_1(void **state)
{
    (void)state;
    make_databases();
    const brume_adjacency both[] = {BRUME_REPLACE, BRUME_ADD_REMOVE};
    uint64_t furthest = 0;
    int sensitive = 0;
    for (int a = 0; a < 2; a++)
        for (int i = 0; i < SETS; i++)
            for (int j = 0; j < SETS; j++) {
                const database *x = &databases[i], *y = &databases[j];
                if (!neighbours(x, y, both[a]))
                    continue;
                assert_holds(x->distance <= y->distance + 1);
                furthest = x->distance > furthest ? x->distance : furthest;
                bool apart = x->square != y->square && !(fabs(log_q(x) - log_q(y)) <= .5);
                sensitive += apart;
                assert_holds(!apart || x->distance == 0);
                /* What passes the test for a reason has values that the noise is made for. */
                assert_holds(x->distance == 0 || llabs(x->value - y->value) <= BOUND);
            }
    assert_true(sensitive > 0 && furthest >= 6);
}

/* P[X >= k] and P[X = k], X discrete Laplace with exp(-1/scale) = a. */
static double tail(double a, int64_t k)
{
    return k >= 0 ? pow(a, (double)k) / (1 + a) : 1 - pow(a, (double)(1 - k)) / (1 + a);
}

static double mass(double a, int64_t k)
{
    return (1 - a) / (1 + a) * pow(a, (double)llabs(k));
}

/* How the release is broken. */
typedef struct version {
    uint64_t overstated; /* added to the distance */
    double less_noise;   /* divides the scale of the noise */
} version;

/* Outcome 0 is "nothing", then the integers LEAST .. MOST, the ends with all beyond them. */
static double worst_regression(double test, double release, double delta, brume_adjacency adjacency,
                               version broken)
{
    static double law[SETS][OUTPUTS];
    uint64_t m;
    double exact, worst = 0, a = exp(-release / BOUND * broken.less_noise);
    assert_ok(brume_stability_threshold(test, delta, &m, &exact, &error));
    for (int i = 0; i < SETS; i++) {
        const database *x = &databases[i];
        int64_t needed = (int64_t)m - (int64_t)(x->distance + broken.overstated);
        double shown = tail(exp(-test), needed);
        assert_holds(x->distance + broken.overstated > 0 || shown <= exact * (1 + 1e-12));
        law[i][0] = 1 - shown;
        for (int64_t y = LEAST; y <= MOST; y++) {
            int64_t noise = y - x->value;
            double chance = y == LEAST  ? tail(a, -noise) /* by symmetry */
                            : y == MOST ? tail(a, noise)
                                        : mass(a, noise);
            law[i][1 + y - LEAST] = shown * chance;
        }
    }
    for (int i = 0; i < SETS; i++)
        for (int j = 0; j < SETS; j++)
            if (neighbours(&databases[i], &databases[j], adjacency))
                worst = fmax(worst, hockey_stick(law[i], law[j], OUTPUTS, test + release));
    return worst;
}

static void regression_by_proposal_is_private(void **state)
{
    (void)state;
    make_databases();
    const struct {
        double test, release, delta;
    } settings[] = {{1, 1, 1e-2}, {.5, 2, 1e-2}, {2, .7, 1e-4}};
    const brume_adjacency both[] = {BRUME_REPLACE, BRUME_ADD_REMOVE};
    for (int a = 0; a < 2; a++)
        for (int i = 0; i < 3; i++) {
            double test = settings[i].test, release = settings[i].release;
            double delta = settings[i].delta, exact;
            uint64_t m;
            assert_ok(brume_stability_threshold(test, delta, &m, &exact, &error));
            assert_holds(exact <= delta);
            version right = {0, 1}, overstated = {2, 1}, quiet = {0, 8};
            double worst = worst_regression(test, release, delta, both[a], right);
            /* The data without rows lies so far off that delta is used up. */
            assert_holds(worst <= exact * (1 + 1e-9) && worst >= exact * .9);
            assert_holds(worst_regression(test, release, delta, both[a], overstated) > delta);
            assert_holds(worst_regression(test, release, delta, both[a], quiet) > delta);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_distance_is_0_at_sensitive_data_and_moves_by_1),
        cmocka_unit_test(regression_by_proposal_is_private),
    };
    return cmocka_run_group_tests_name("privacy_regression", tests, NULL, NULL);
}
