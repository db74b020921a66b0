/* Rays of subsampled Gaussians: against lines, against another quadrature, and in balls. */
#include "check.h"

#include <math.h>

#include <brume/account/compose.h>

#include "accountant/ray/ray.h"
#include "accountant/ray/transform.h"
#include "accountant/ray/solve.h"
#include "accountant/contour/line.h"
#include "balls.h"
#include "solved.h"
#include "terms.h"

/* Rays and lines have nothing in common but the theory. */
static void rays_and_lines_overlap(void **state)
{
    (void)state;
    static const struct {
        double rate, sigma, count, epsilon;
    } cases[] = {{0.05, 1, 30, 3},     {0.05, 1, 30, 0.5},    {0.2, 2, 50, 4},
                 {0.02, 1.2, 300, 1},  {0.02, 1.2, 300, 4},   {0.5, 5, 20, 1},
                 {0.1, 4, 1000, 3},    {0.01, 1, 3000, 5},    {0.3, 0.8, 12, 20},
                 {0.01, 1.5, 500, .2}, {0.001, 4, 1e4, 0.13}, {0.001, 2, 1e6, 2.4},
                 {0.001, 10, 1e6, 0.6}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned reversed = 0; reversed < 2; reversed++) {
            brume_loss loss = {.kind = BRUME_LOSS_POISSON_GAUSSIAN};
            loss.a = cases[i].sigma;
            loss.rate = cases[i].rate;
            brume_law law;
            brume_error error;
            assert_ok(brume_law_open(&loss, cases[i].count, reversed, &law, &error));
            double epsilon = cases[i].epsilon, top = -cases[i].count * log1p(-loss.rate);
            if (reversed)
                epsilon = fmin(epsilon, 0.3 * top);
            brume_line line = {.laws = &law, .law_count = 1};
            brume_line_aim(&line, epsilon);
            assert_true(brume_line_lay(&line, epsilon, brume_line_size(&line, epsilon)));
            double lower, upper;
            brume_line_certify(&line, epsilon, &lower, &upper);
            brume_line_close(&line);
            brume_law_close(&law);
            brume_interval value = solved(loss.rate, loss.a, cases[i].count, reversed, epsilon);
            if (!(value.lower <= upper && value.upper >= lower))
                fail_msg("case %zu, order %d: ray [%.17g, %.17g], line [%.17g, %.17g]", i, reversed,
                         value.lower, value.upper, lower, upper);
            if (!(value.upper - value.lower <= 1e-6 * value.upper))
                fail_msg("case %zu, order %d is wide: [%.17g, %.17g]", i, reversed, value.lower,
                         value.upper);
            value = solved(loss.rate, loss.a * 1.001, cases[i].count, reversed, epsilon);
            assert_true(value.upper < lower);
        }
}

/* By another program, in 64-bit significands: trapezoid rules over smooth paths, T = u + i(1.1 (1 +
 * tanh(u + 2.7))/2 + log(1 + e^u)/2) for the transform and a hyperbola for the integral, each to
 * 1e-9 and better as the steps shrink. Nothing there is bounded, and nothing shared. */
static void another_quadrature_lies_inside(void **state)
{
    (void)state;
    static const struct {
        double rate, sigma, count, epsilon, delta;
    } cases[] = {
        {0.001, 0.8, 3, 0.55, 9.76187951995239e-10},
        {0.001, 0.8, 30, 0.8, 1.16059927443697e-09},
        {0.001, 0.8, 100, 0.25, 1.1758701579545e-06},
        {0.001, 0.8, 100, 0.0625, 0.00015722613269462},
        {0.001, 0.8, 1000, 0.5, 6.98806506618432e-07},
        {0.001, 0.8, 1000, 0.125, 0.000991354027461409},
        {0.01, 1, 10, 0.5, 2.54972341552777e-06},
        {0.01, 1, 100, 2, 3.24226174519453e-10},
        {0.1, 2, 30, 2.5, 7.22691334096954e-12},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double low = cases[i].delta * (1 - 1e-9), high = cases[i].delta * (1 + 1e-9);
        brume_interval value =
            solved(cases[i].rate, cases[i].sigma, cases[i].count, false, cases[i].epsilon);
        if (!(value.lower <= high && value.upper >= low))
            fail_msg("case %zu: [%.17g, %.17g], not %.15g", i, value.lower, value.upper,
                     cases[i].delta);
        if (!(value.upper - value.lower <= 1e-7 * value.upper))
            fail_msg("case %zu is wide: [%.17g, %.17g]", i, value.lower, value.upper);
        /* either parameter off by 1e-6 is found out */
        value = solved(cases[i].rate, cases[i].sigma * (1 + 1e-6), cases[i].count, false,
                       cases[i].epsilon);
        assert_true(value.upper < low);
        value = solved(cases[i].rate * (1 + 1e-6), cases[i].sigma, cases[i].count, false,
                       cases[i].epsilon);
        assert_true(value.lower > high);
    }
}

/* Contours that sum Phi - 1, T confined or not: within the claimed error, but not within a
 * thousandth of it, so that an allowance which forgets the least is caught; nor is another law. */
static void audit_small_rates(void)
{
    static const struct {
        double count, cut, epsilon, start;
        bool reversed;
    } cases[] = {{3, INFINITY, 0.55, 8.4, false},   {100, INFINITY, 0.25, 5.24, false},
                 {1000, INFINITY, 0.5, 8.4, false}, {100, INFINITY, 0.03, NAN, true},
                 {100, 1, 0.03, NAN, true},         {1000, -2.5, 0.3, NAN, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_loss loss = {.kind = BRUME_LOSS_POISSON_GAUSSIAN, .a = 0.8, .rate = 0.001};
        brume_law law, other;
        brume_error error;
        assert_ok(brume_law_open(&loss, cases[i].count, cases[i].reversed, &law, &error));
        loss.rate *= 1 + 1e-9;
        assert_ok(brume_law_open(&loss, cases[i].count, cases[i].reversed, &other, &error));
        brume_ray_parts parts = {.count = 1, .reversed = cases[i].reversed};
        parts.part[0] = (brume_ray_part){&law, -INFINITY, cases[i].cut, law.count};
        parts.origin = -law.count * log1p(-law.rate);
        brume_ray_aim aim = brume_ray_aim_for(&parts, cases[i].epsilon, 0);
        if (!isnan(cases[i].start))
            aim.start = cases[i].start;
        brume_ray *ray = brume_ray_open(&parts, &aim);
        if (!ray)
            fail_msg("case %zu: no ray", i);
        assert_true(brume_transform_offset(brume_ray_contour(ray, 0)) == 1);
        ball_audit audit = {.agrees = true};
        balls_audit_ray(ray, &parts, 24, &audit);
        if (!audit.agrees || !(audit.ratio > 1e-3))
            fail_msg("case %zu: %.3g of the claimed error", i, audit.ratio);
        brume_ray_parts moved = parts;
        moved.part[0].law = &other;
        balls_audit_ray(ray, &moved, 24, &audit);
        assert_false(audit.agrees);
        brume_ray_close(ray);
        brume_law_close(&law);
        brume_law_close(&other);
    }
}

/* What the rules miss lies within its bounds; and these are such that a mutant whose panels' bounds
 * are 1e-7 of what they should be is caught. */
static void bounds_of_rules_hold_in_balls(void **state)
{
    (void)state;
    static const struct {
        double rate, sigma, count, cut, epsilon;
        bool reversed;
    } cases[] = {{0.1, 1, 5, INFINITY, 0.5, false},
                 {0.01, 1, 30, INFINITY, 0.05, true},
                 {0.001, 0.8, 3, INFINITY, 0.55, false},
                 {0.001, 2, 1000, -2, 0.08, false}};
    double largest = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_loss loss = {.kind = BRUME_LOSS_POISSON_GAUSSIAN};
        loss.a = cases[i].sigma;
        loss.rate = cases[i].rate;
        brume_law law;
        brume_error error;
        assert_ok(brume_law_open(&loss, cases[i].count, cases[i].reversed, &law, &error));
        brume_ray_parts parts = {.count = 1, .reversed = cases[i].reversed};
        parts.part[0] = (brume_ray_part){&law, -INFINITY, cases[i].cut, law.count};
        parts.origin = -law.count * log1p(-law.rate);
        brume_ray_aim aim = brume_ray_aim_for(&parts, cases[i].epsilon, 0);
        brume_ray_lower(&parts, &aim, false);
        brume_ray *ray = brume_ray_open(&parts, &aim);
        if (!ray)
            fail_msg("case %zu: no ray", i);
        ball_audit audit = {.agrees = true}, panels = {.agrees = true};
        balls_audit_transforms(ray, &parts, 6, &audit);
        if (!audit.agrees || audit.nodes == 0)
            fail_msg("case %zu: %.3g of the bound", i, audit.ratio);
        balls_audit_panels(ray, &parts, aim.x, 3, &panels);
        if (!panels.agrees || panels.nodes == 0)
            fail_msg("case %zu: %.3g of the panels' bound", i, panels.ratio);
        largest = fmax(largest, panels.ratio);
        brume_ray_close(ray);
        brume_law_close(&law);
    }
    assert_true(largest > 1e-7);
}

/* Every node of a ray within its claimed error, and not within that of another law's. */
static void balls_agree_with_rays(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        brume_loss loss = {.kind = BRUME_LOSS_POISSON_GAUSSIAN};
        loss.a = 0.5 + 0.4 * i;
        loss.rate = 0.3 / (1 + i);
        brume_law law, other;
        brume_error error;
        bool reversed = i % 2;
        assert_ok(brume_law_open(&loss, 3 + 20 * i, reversed, &law, &error));
        loss.a *= 1 + 1e-9;
        assert_ok(brume_law_open(&loss, 3 + 20 * i, reversed, &other, &error));
        brume_ray_parts parts = {.count = 1, .reversed = reversed};
        parts.part[0] = (brume_ray_part){&law, -INFINITY, INFINITY, law.count};
        parts.origin = -law.count * log1p(-law.rate);
        double epsilon = reversed ? 0.3 * parts.origin : parts.origin;
        brume_ray_aim aim = brume_ray_aim_for(&parts, epsilon, 0);
        brume_ray *ray = brume_ray_open(&parts, &aim);
        assert_non_null(ray);
        ball_audit audit = {.agrees = true};
        balls_audit_ray(ray, &parts, 12, &audit);
        assert_true(audit.nodes > 0);
        if (!audit.agrees)
            fail_msg("case %d: %.3g of the claimed error", i, audit.ratio);
        brume_ray_parts moved = parts;
        moved.part[0].law = &other;
        balls_audit_ray(ray, &moved, 12, &audit);
        assert_false(audit.agrees);
        brume_ray_close(ray);
        brume_law_close(&law);
        brume_law_close(&other);
    }
    audit_small_rates();
    brume_term term = poisson_gaussian(0.01, 1, 2);
    brume_composition found;
    brume_error error;
    assert_ok(brume_compose_epsilon(&term, 1, 1e-6, NULL, &found, &error));
    balls_agree(&term, 1, found.value.upper);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rays_and_lines_overlap),
        cmocka_unit_test(another_quadrature_lies_inside),
        cmocka_unit_test(balls_agree_with_rays),
        cmocka_unit_test(bounds_of_rules_hold_in_balls),
    };
    return cmocka_run_group_tests_name("accountant rays", tests, NULL, NULL);
}
