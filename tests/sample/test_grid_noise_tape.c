/* Noise on a grid over every tape of short words: the stated law is met for certain. */
#define BRUME_WORD_BITS  5
#define brume_grid_noise short_grid_noise
#include "sample/grid_noise.c"

#include "check.h"
#include "enumerate.h"

typedef struct question {
    brume_grid_law law;
    double shape, location, scale, claimed;
} question;

static bool attempt_on(brume_bits *tape, const void *context, int64_t *out)
{
    const question *q = context;
    attempt a = {.law = q->law, .shape = q->shape, .count = uniforms_of(q->law)};
    int kept = try_once(tape, &a, q->location, q->scale, 0, out);
    if (kept == REJECTED)
        *out = 1000;
    return kept != UNDECIDED;
}

static double below(const question *q, double z)
{
    const double pi = acos(-1);
    switch (q->law) {
    case BRUME_GRID_LAPLACE:
        return z < 0 ? exp(z) / 2 : 1 - exp(-z) / 2;
    case BRUME_GRID_GUMBEL:
        return exp(-exp(-z));
    case BRUME_GRID_CAUCHY:
        return 0.5 + atan(z) / pi;
    case BRUME_GRID_STUDENT: /* 2 degrees */
        return 0.5 + z / (2 * sqrt(2 + z * z));
    default:
        return 0.5 * erfc(-z / sqrt(2));
    }
}

/* An attempt's law: the discs keep pi/4 of their points. */
static double mass(const void *context, int64_t k)
{
    const question *q = context;
    double keep = uniforms_of(q->law) == 1 ? 1 : acos(-1) / 4;
    return keep * (below(q, ((double)k + 0.5 - q->location) / q->claimed) -
                   below(q, ((double)k - 0.5 - q->location) / q->claimed));
}

static size_t violations(const question *q, double *open)
{
    tape_law law = tape_law_of(attempt_on, q, BRUME_WORD_BITS, 4 * BRUME_WORD_BITS, -8, 17);
    size_t found = tape_law_violations(&law, mass, q);
    *open = ldexp((double)law.open, -(int)law.depth);
    tape_law_close(&law);
    return found;
}

static void every_tape_gives_the_stated_law(void **state)
{
    (void)state;
    static const question known[] = {
        {BRUME_GRID_LAPLACE, 0, 0.3, 1.1, 1.1},  {BRUME_GRID_GUMBEL, 0, -0.2, 0.8, 0.8},
        {BRUME_GRID_CAUCHY, 0, 0.4, 0.5, 0.5},   {BRUME_GRID_STUDENT, 2, 0.25, 0.6, 0.6},
        {BRUME_GRID_GAUSSIAN, 0, 0.1, 0.7, 0.7},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        question q = known[i];
        double open;
        size_t found = violations(&q, &open);
        if (found || open > 0.06)
            fail_msg("law %d: %zu violations, open %g", (int)q.law, found, open);
    }
}

static void another_scale_or_location_is_caught(void **state)
{
    (void)state;
    double open;
    question q = {BRUME_GRID_CAUCHY, 0, 0.4, 0.5, 0.7};
    assert_holds(violations(&q, &open) > 0);
    q = (question){BRUME_GRID_LAPLACE, 0, 0.3, 1.1, 1.12};
    assert_holds(violations(&q, &open) > 0);
    q = (question){BRUME_GRID_GAUSSIAN, 0, 0.1, 0.7, 0.9};
    assert_holds(violations(&q, &open) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tape_gives_the_stated_law),
        cmocka_unit_test(another_scale_or_location_is_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
