/* Selection between two over every tape of short words: the stated law is met for certain. */
#define BRUME_WORD_BITS        5
#define BRUME_PREFIX           4
#define brume_select_noisy_max short_select_noisy_max
#define brume_select_run       short_select_run
#include "sample/select.c"
#undef CELL
#include "sample/select_run.c"

#include "check.h"
#include "enumerate.h"

typedef struct question {
    brume_select_noise noise;
    double coefficient, claimed, scores[2];
} question;

static bool answer(brume_bits *tape, const void *context, int64_t *out)
{
    const question *q = context;
    brume_error error;
    size_t index;
    brume_status status =
        brume_select_noisy_max(tape, q->noise, q->coefficient, q->scores, 2, &index, &error);
    if (status == BRUME_OK)
        *out = (int64_t)index;
    return status == BRUME_OK;
}

static double mass(const void *context, int64_t k)
{
    const question *q = context;
    double d = q->claimed * (q->scores[0] - q->scores[1]); /* >= 0: index 0 is ahead */
    double behind = q->noise == BRUME_SELECT_GUMBEL        ? 1 / (1 + exp(d))
                    : q->noise == BRUME_SELECT_EXPONENTIAL ? exp(-d) / 2
                                                           : exp(-d) * (2 + d) / 4;
    return k == 1 ? behind : 1 - behind;
}

static size_t violations(const question *q, double *open)
{
    tape_law law = tape_law_of(answer, q, BRUME_WORD_BITS, 4 * BRUME_WORD_BITS, 0, 2);
    size_t found = tape_law_violations(&law, mass, q);
    *open = ldexp((double)law.open, -(int)law.depth);
    assert_int_equal(law.others, 0);
    tape_law_close(&law);
    return found;
}

static void every_tape_gives_the_stated_choice(void **state)
{
    (void)state;
    for (int noise = BRUME_SELECT_GUMBEL; noise <= BRUME_SELECT_LAPLACE; noise++) {
        double open;
        question q = {(brume_select_noise)noise, 0.5, 0.5, {1.5, -0.25}};
        if (violations(&q, &open) || open > 0.03)
            fail_msg("noise %d: open %g", noise, open);
        q.claimed = 0.62; /* a coefficient a quarter too large is seen */
        assert_holds(violations(&q, &open) > 0);
    }
}

static const uint64_t lengths[3] = {3, 0, 2};
static const int64_t utilities[3] = {-5, 9, 2};

static bool run_answer(brume_bits *tape, const void *context, int64_t *out)
{
    (void)context;
    brume_error error;
    size_t index;
    if (brume_select_run(tape, 0.7, lengths, utilities, 4, 3, &index, &error) != BRUME_OK)
        return false;
    *out = (int64_t)index;
    return true;
}

static double run_mass(const void *context, int64_t k)
{
    double step = *(const double *)context;
    double first = 3 * exp(-step * 7 / 4), third = 2;
    return k == 0 ? first / (first + third) : k == 2 ? third / (first + third) : 0;
}

static void every_tape_gives_the_stated_run(void **state)
{
    (void)state;
    tape_law law = tape_law_of(run_answer, NULL, BRUME_WORD_BITS, 4 * BRUME_WORD_BITS, 0, 3);
    double step = 0.7;
    assert_int_equal(tape_law_violations(&law, run_mass, &step), 0);
    assert_holds(ldexp((double)law.open, -(int)law.depth) < 1e-5);
    step = 0.7001;
    assert_holds(tape_law_violations(&law, run_mass, &step) > 0);
    tape_law_close(&law);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tape_gives_the_stated_choice),
        cmocka_unit_test(every_tape_gives_the_stated_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
