/* Very many draws: the error of one logarithm is multiplied by their number. */
#include "check.h"

#include <math.h>

#include <brume/account/compose.h>

#include "accountant/law/law.h"
#include "accountant/terms.h"
#include "number/flint.h"

enum { BITS = 300 };

/* log E e^{cL} in balls, by the textbook forms */
static void cumulant_in_balls(arb_t out, brume_loss_kind kind, double a, double c)
{
    arb_t x, y, e, s;
    arb_init(x);
    arb_init(y);
    arb_init(e);
    arb_init(s);
    arb_set_d(e, a);
    arb_set_d(s, c);
    arb_mul(x, s, e, BITS); /* e^{ca} */
    arb_exp(x, x, BITS);
    arb_add_ui(y, s, 1, BITS); /* e^{-(c+1)a} */
    arb_mul(y, y, e, BITS);
    arb_neg(y, y);
    arb_exp(y, y, BITS);
    if (kind == BRUME_LOSS_KARY) { /* five answers: [e^a e^{ca} + e^{-ca} + 3]/(e^a + 4) */
        arb_inv(y, x, BITS);
        arb_exp(e, e, BITS);
        arb_addmul(y, x, e, BITS);
        arb_add_ui(y, y, 3, BITS);
        arb_add_ui(e, e, 4, BITS);
        arb_div(out, y, e, BITS);
    } else if (kind == BRUME_LOSS_PURE) {
        arb_add(out, x, y, BITS);
        arb_neg(e, e);
        arb_exp(e, e, BITS);
        arb_add_ui(e, e, 1, BITS);
        arb_div(out, out, e, BITS);
    } else {
        arb_mul(y, y, s, BITS);
        arb_add_ui(s, s, 1, BITS);
        arb_addmul(y, x, s, BITS); /* (c+1) e^{ca} + c e^{-(c+1)a} */
        arb_mul_2exp_si(s, s, 1);
        arb_sub_ui(s, s, 1, BITS);
        arb_div(out, y, s, BITS);
    }
    arb_log(out, out, BITS);
    arb_clear(x);
    arb_clear(y);
    arb_clear(e);
    arb_clear(s);
}

static void cumulants_are_within_their_errors(void **state)
{
    (void)state;
    const brume_loss_kind kinds[] = {BRUME_LOSS_LAPLACE, BRUME_LOSS_PURE, BRUME_LOSS_KARY};
    arb_t ball, mine;
    arb_init(ball);
    arb_init(mine);
    for (size_t k = 0; k < 3; k++)
        for (double a = 1e-5; a < 60; a *= 1.37)
            for (double c = 1e-11; c < 1e5; c *= 1.9) {
                brume_loss loss = {.kind = kinds[k], .a = a, .shift = k == 2 ? 5 : 0};
                brume_law law;
                brume_error error;
                assert_ok(brume_law_open(&loss, 1, false, &law, &error));
                double bound;
                long double value = brume_law_cumulant(&law, c, NULL, &bound);
                double high = (double)value, low = (double)(value - high);
                cumulant_in_balls(ball, law.source.kind, a, c);
                arb_set_d(mine, high);
                arb_sub(ball, ball, mine, BITS);
                arb_set_d(mine, low);
                arb_sub(ball, ball, mine, BITS);
                double off = fabs(arf_get_d(arb_midref(ball), ARF_RND_NEAR));
                /* the bound covers parameters 8 units away: of itself rounding may take a sixth */
                if (!(off <= bound / 6))
                    fail_msg("kind %zu a %g c %g: off by %g, bound %g", k, a, c, off, bound);
                brume_law_close(&law);
            }
    arb_clear(ball);
    arb_clear(mine);
}

/* n losses of deviation d: delta(eps) is P(L > eps) up to 1/(n d), and that is normal up to
 * 1/(n d)^(1/2): at 2^50 draws and more far below what is compared here. */
static void the_normal_limit_is_inside(void **state)
{
    (void)state;
    const struct {
        double delta, place;
    } cases[] = {
        {1e-3, 3.0902323061678135}, {1e-6, 4.753424308822899}, {1e-12, 7.0344838253011319}};
    for (int shift = 44; shift <= 62; shift += 6)
        for (size_t i = 0; i < 3; i++) {
            uint64_t count = UINT64_C(1) << shift;
            /* E L^2: the atoms, and int t^2/4 e^{(t-e)/2} = [t^2/2 - 2t + 4] e^{(t-e)/2} */
            long double e = 1, fade = expl(-e), mean = e - 1 + fade;
            long double square = e * e / 2 * (1 + fade) + (e * e / 2 - 2 * e + 4) -
                                 (e * e / 2 + 2 * e + 4) * fade;
            long double deviation = sqrtl((square - mean * mean) * (long double)count);
            brume_term term = laplace(1, count);
            brume_composition out;
            brume_error error;
            assert_ok(brume_compose_epsilon(&term, 1, cases[i].delta, NULL, &out, &error));
            long double truth = mean * (long double)count + cases[i].place * deviation;
            long double slack = 1e-5L * deviation;
            if (!(out.value.upper >= truth - slack && out.value.lower <= truth + slack))
                fail_msg("2^%d draws at %g: [%.17g, %.17g] misses %.20Lg by %Lg deviations", shift,
                         cases[i].delta, out.value.lower, out.value.upper, truth,
                         (out.value.upper - truth) / deviation);
            assert_true(out.value.upper - out.value.lower <= 1e-6 * out.value.upper);
        }
}

static void draws_beyond_counting_are_refused(void **state)
{
    (void)state;
    brume_term terms[3] = {laplace(1, INT64_MAX), laplace(1, INT64_MAX), laplace(1, INT64_MAX)};
    brume_composition out;
    brume_error error;
    assert_ok(brume_compose_epsilon(terms, 2, 1e-6, NULL, &out, &error));
    assert_fails(brume_compose_epsilon(terms, 3, 1e-6, NULL, &out, &error), BRUME_EARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cumulants_are_within_their_errors),
        cmocka_unit_test(the_normal_limit_is_inside),
        cmocka_unit_test(draws_beyond_counting_are_refused),
    };
    return cmocka_run_group_tests_name("accountant huge counts", tests, NULL, NULL);
}
