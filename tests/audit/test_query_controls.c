/* Queries that are broken on purpose, which the auditor must catch at a confidence of .999, each in
 * less than a minute; and each of them sound, which it must acquit.
 *
 * The faults are planted in the plan, after it was priced: a plan is what a release obeys. Where
 * limits are chosen a plan is priced again in every draw, so that a threshold written there would
 * be mended by the first one; what is written there is the delta that it is made from. The draws
 * are those of a seeded tape: the same in every run. */
#include "check.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include <brume/mechanism/stable_histogram.h>

#include "audit/query/answer_features.h"
#include "audit/query/neighbours.h"
#include "audit/query/query_subject.h"
#include "query/plan/make_plan.h"
#include "query/release/ask.h"
#include "query/release/prepare.h"
#include "registered.h"

typedef struct control {
    const char *name, *sql, *epsilon, *delta;
    bool by_rows; /* no unit is declared: every row is one */
    brume_adjacency adjacency;
    void (*plant)(brume_plan *plan, brume_terms *terms); /* the fault */
    size_t samples, few;                                 /* few: in the fast suite, 0: not there */
    bool rehearsed;                                      /* a release would be refused, too */
} control;

/* ---- faults ---- */

/* The terms of a plan that was changed. */
static void make_terms(const brume_plan *plan, brume_terms *terms)
{
    brume_error error = {0};
    brume_terms *made = NULL;
    assert_ok(brume_terms_make(plan, NULL, 0, &made, &error));
    brume_terms before = *terms;
    *terms = *made;
    *made = before;
    brume_terms_close(made);
}

static void no_threshold(brume_plan *plan, brume_terms *terms)
{
    (void)plan;
    terms->price.threshold = 0;
}

static void threshold_off_by_one(brume_plan *plan, brume_terms *terms)
{
    (void)plan;
    terms->price.threshold--;
}

/* The threshold of a plan that is priced again: made for half of the keys of one unit to show. */
static void threshold_of_another_delta(brume_plan *plan, brume_terms *terms)
{
    plan->allowed_delta = .5;
    make_terms(plan, terms);
}

/* Take a clamp out of an expression: what it clamps stands in its place; the grid clamps again. */
static void let_through(const brume_expression *of)
{
    brume_expression *node = (brume_expression *)of; /* the query owns it, and is thrown away */
    if (node->operation == BRUME_OPERATION_CLAMP)
        *node = *node->arguments[0];
    if (node->operation == BRUME_OPERATION_GRID)
        node->text = "-1000000..1000000";
    for (size_t i = 0; i < node->argument_count; i++)
        let_through(node->arguments[i]);
}

static void no_clamp(brume_plan *plan, brume_terms *terms)
{
    (void)terms;
    let_through(plan->values[0].grid);
    plan->values[0].low = -1000000;
    plan->values[0].high = 1000100; /* with the same centre */
}

/* Two rows of a unit are let through, and the noise is for one. */
static void one_row_too_many(brume_plan *plan, brume_terms *terms)
{
    plan->amount *= 2;
    make_terms(plan, terms);
}

/* Noise for a unit that comes or goes, where one is replaced. */
static void another_adjacency(brume_plan *plan, brume_terms *terms)
{
    (void)terms;
    plan->adjacency = BRUME_REPLACE;
}

/* Keys alone, shown as often as one unit that comes or goes may show them. */
static void keys_for_another_adjacency(brume_plan *plan, brume_terms *terms)
{
    (void)terms;
    brume_error error = {0};
    assert_non_null(plan->selection);
    brume_key_selection_close(plan->selection);
    assert_ok(brume_key_selection_open(brume_decimal_lower(&plan->charge.amount),
                                       brume_decimal_lower(&plan->charge.delta), 1,
                                       BRUME_ADD_REMOVE, &plan->selection, &error));
}

static const control controls[] = {
    {"a group-by without threshold", "SELECT age, COUNT(*) FROM visits GROUP BY age", "1",
     "0.00001", true, BRUME_ADD_REMOVE, no_threshold, 2000, 200, true},
    {"a threshold for another delta", "SELECT age, COUNT(DISTINCT person) FROM visits GROUP BY age",
     "1", "0.00001", false, BRUME_ADD_REMOVE, threshold_of_another_delta, 2000, 0, true},
    {"a threshold off by one", "SELECT age, COUNT(*) FROM visits GROUP BY age", "1", "0.1", true,
     BRUME_ADD_REMOVE, threshold_off_by_one, 2000, 0, true},
    {"a column that is not clamped", "SELECT SUM(age) FROM visits", "1", "0.00001", true,
     BRUME_ADD_REMOVE, no_clamp, 2000, 200, false},
    {"a row too many", "SELECT COUNT(*) FROM visits", "1", "0.00001", false, BRUME_ADD_REMOVE,
     one_row_too_many, 4000, 0, false},
    {"noise for add-remove under replace", "SELECT SUM(age - 50) FROM visits", "1", "0.00001", true,
     BRUME_ADD_REMOVE, another_adjacency, 4000, 0, false},
    /* both keys of a unit would have to be near their thresholds: not in the tables of audits */
    {"keys alone, for another adjacency", "SELECT age FROM visits GROUP BY age", "1", "0.001", true,
     BRUME_REPLACE, keys_for_another_adjacency, 0, 0, true},
};

enum { CONTROLS = sizeof controls / sizeof *controls };

/* ---- audits ---- */

/* A ledger with the policy of the control; there are no data. */
static void open_place(registered *all, const control *of)
{
    registered_terms terms = {"visits", BRUME_RULE_APPROXIMATE, of->epsilon, of->delta,
                              of->adjacency};
    brume_error error = {0};
    FILE *file = registered_begin(all);
    fputs("person,age\np1,30\np2,40\n", file);
    registered_open(all, file, 22);
    brume_policy *policy = registered_file(all->csv, "age bigint");
    assert_ok(brume_policy_set_bounds(policy, "age", "0", "100", &error));
    if (!of->by_rows) {
        assert_ok(brume_policy_set_unit(policy, "person", &error));
        policy->max_groups = 1;
        policy->max_rows = 2;
        policy->limits_fixed = true;
    }
    registered_enter(all->ledger, policy, &terms);
}

static brume_plan *plan_of(const control *of, const brume_question *question, brume_terms **terms)
{
    brume_error error = {0};
    brume_payment payment = {.epsilon = of->epsilon, .delta = of->delta};
    brume_plan *plan = NULL;
    assert_ok(brume_query_plan_make(question->query, question->tables, &payment, &plan, &error));
    assert_ok(brume_terms_make(plan, NULL, 0, terms, &error));
    return plan;
}

/* Is it accused of what its charge promises? */
static bool is_accused(const control *of, bool broken, size_t samples)
{
    registered all;
    brume_error error = {0};
    brume_question *question = NULL;
    brume_query_subject *subject = NULL;
    brume_audit_result result;
    open_place(&all, of);
    assert_ok(brume_question_open(all.ledger, of->sql, &question, &error));
    brume_terms *terms = NULL;
    brume_plan *plan = plan_of(of, question, &terms);
    if (broken)
        of->plant(plan, terms);
    brume_query_lane lane = {question, terms};
    brume_audit_options options = {.samples = samples,
                                   .confidence = .999,
                                   .delta = brume_decimal_upper(&plan->charge.delta),
                                   .epsilon = brume_decimal_upper(&plan->charge.amount),
                                   .ordered = true};
    assert_ok(
        brume_query_subject_open(&lane, 1, of->sql, &options, all.bits, NULL, &subject, &error));
    assert_ok(brume_audit_epsilon(brume_query_subject_draw, subject, &options, all.bits, &result,
                                  &error));
    brume_query_subject_close(subject);
    brume_terms_close(terms);
    brume_query_plan_close(plan);
    brume_question_close(question);
    registered_close(&all);
    return result.epsilon_lower > options.epsilon || result.delta_lower > options.delta;
}

/* Processor seconds until a broken one is caught; NaN: it is not. */
static double seconds_until_caught(const control *of, size_t samples)
{
    clock_t before = clock();
    bool caught = is_accused(of, true, samples);
    return caught ? (double)(clock() - before) / CLOCKS_PER_SEC : NAN;
}

static void audit_all(bool at_length)
{
    for (size_t i = 0; i < CONTROLS; i++) {
        const control *of = &controls[i];
        size_t samples = at_length ? of->samples : of->few;
        if (samples == 0)
            continue;
        double seconds = seconds_until_caught(of, samples);
        if (isnan(seconds))
            fail_msg("%s is not caught", of->name);
        if (seconds > 60)
            fail_msg("%s is caught after %.0f seconds of a processor", of->name, seconds);
        if (at_length && is_accused(of, false, samples))
            fail_msg("%s is accused where it is sound", of->name);
    }
}

static void broken_plans_are_caught(void **state)
{
    (void)state;
    audit_all(false);
}

static void broken_plans_are_caught_and_sound_ones_are_not(void **state)
{
    (void)state;
    audit_all(true);
}

/* Several lanes draw at once, each with a question and a plan of its own: what they draw is the
 * query's, and nobody sees another's draw. The second lane's draws are fresh: an accusation has a
 * probability of 1e-14. */
static void lanes_draw_at_once(void **state)
{
    (void)state;
    enum { LANES = 3 };
    const control *of = &controls[0];
    registered all;
    brume_error error = {0};
    brume_question *questions[LANES];
    brume_query_lane lanes[LANES];
    brume_plan *plans[LANES];
    brume_terms *terms[LANES] = {NULL};
    brume_query_subject *subject = NULL;
    brume_audit_result result;
    open_place(&all, of);
    for (size_t i = 0; i < LANES; i++) {
        assert_ok(brume_question_open(all.ledger, of->sql, &questions[i], &error));
        plans[i] = plan_of(of, questions[i], &terms[i]);
        lanes[i] = (brume_query_lane){questions[i], terms[i]};
    }
    brume_audit_options options = {.samples = 100,
                                   .confidence = 1 - 1e-14,
                                   .delta = brume_decimal_upper(&plans[0]->charge.delta),
                                   .epsilon = brume_decimal_upper(&plans[0]->charge.amount),
                                   .threads = LANES,
                                   .ordered = true};
    assert_ok(brume_query_subject_open(lanes, LANES, of->sql, &options, all.bits, NULL, &subject,
                                       &error));
    assert_ok(brume_audit_epsilon(brume_query_subject_draw, subject, &options, all.bits, &result,
                                  &error));
    assert_true(result.epsilon_lower <= options.epsilon && result.delta_lower <= options.delta);
    assert_int_equal(result.draws, 50);
    brume_query_subject_close(subject);
    for (size_t i = 0; i < LANES; i++) {
        brume_terms_close(terms[i]);
        brume_query_plan_close(plans[i]);
        brume_question_close(questions[i]);
    }
    registered_close(&all);
}

/* The numbers behind a mean, as they are seen. */
typedef struct mean_seen {
    double number, sum, value;
} mean_seen;

static void see_mean(void *context, const char *name, double value)
{
    mean_seen *seen = context;
    if (strstr(name, " number "))
        seen->number = value;
    else if (strstr(name, " sum 0 "))
        seen->sum = value;
    else if (strstr(name, " value "))
        seen->value = value;
}

/* Of so many rows, at a price at which there is hardly any noise. */
static mean_seen mean_of(const registered *all, uint64_t rows)
{
    static const char sql[] = "SELECT AVG(age) FROM visits";
    brume_error error = {0};
    brume_question *question = NULL;
    brume_neighbours *made = NULL;
    brume_engine *engine = NULL;
    brume_released released = {0};
    brume_terms *terms = NULL;
    mean_seen seen = {NAN, NAN, NAN};
    assert_ok(brume_question_open(all->ledger, sql, &question, &error));
    control sharp = {.epsilon = "500", .delta = "0.00001"};
    brume_plan *plan = plan_of(&sharp, question, &terms);
    assert_ok(brume_neighbours_open_one(question, sql, rows, &made, &error));
    assert_ok(brume_neighbours_engine(made, 0, false, &engine, &error));
    assert_ok(brume_draw_answer(question, terms, engine, all->bits, NULL, &released, &error));
    assert_true(
        brume_features_visit(&(brume_answered){released.answer, &error, plan}, see_mean, &seen));
    brume_released_close(&released);
    brume_neighbours_close(made);
    brume_terms_close(terms);
    brume_query_plan_close(plan);
    brume_question_close(question);
    return seen;
}

static void both_numbers_behind_a_mean_are_seen(void **state)
{
    (void)state;
    registered all;
    open_place(&all, &controls[0]);
    mean_seen few = mean_of(&all, 200), many = mean_of(&all, 800);
    assert_close(many.number / few.number, 4, .1);
    assert_close(few.sum, (few.value - 50) * few.number, 1e-9);
    assert_close(many.sum, (many.value - 50) * many.number, 1e-9);
    registered_close(&all);
}

/* Nothing is drawn with a threshold that its delta does not allow. */
static void wrong_thresholds_are_refused_before_anything_is_charged(void **state)
{
    (void)state;
    for (size_t i = 0; i < CONTROLS; i++) {
        registered all;
        brume_error error = {0};
        brume_question *question = NULL;
        if (!controls[i].rehearsed)
            continue;
        open_place(&all, &controls[i]);
        assert_ok(brume_question_open(all.ledger, controls[i].sql, &question, &error));
        brume_terms *terms = NULL;
        brume_plan *plan = plan_of(&controls[i], question, &terms);
        assert_ok(brume_rehearse(question, terms, &error));
        controls[i].plant(plan, terms);
        assert_int_equal(brume_rehearse(question, terms, &error), BRUME_EINTERNAL);
        brume_terms_close(terms);
        brume_query_plan_close(plan);
        brume_question_close(question);
        registered_close(&all);
    }
}

/* --draws: a table of how many draws on each neighbour each of them was given, and how much
 * processor time it took until it was caught, search for the neighbours and all. For docs/audit.md.
 */
static int tell_draws(void)
{
    puts("| broken query | draws | processor seconds |\n|---|---|---|");
    for (size_t i = 0; i < CONTROLS; i++)
        if (controls[i].samples > 0)
            printf("| %s: `%s` | %zu | %.1f |\n", controls[i].name, controls[i].sql,
                   controls[i].samples, seconds_until_caught(&controls[i], controls[i].samples));
    return 0;
}

int main(int count, char **words)
{
    if (count > 1 && strcmp(words[1], "--draws") == 0)
        return tell_draws();
    if (count > 1 && strcmp(words[1], "--long") == 0) {
        const struct CMUnitTest long_tests[] = {
            cmocka_unit_test(broken_plans_are_caught_and_sound_ones_are_not)};
        return cmocka_run_group_tests_name("broken queries at length", long_tests, NULL, NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_thresholds_are_refused_before_anything_is_charged),
        cmocka_unit_test(broken_plans_are_caught),
        cmocka_unit_test(lanes_draw_at_once),
        cmocka_unit_test(both_numbers_behind_a_mean_are_seen),
    };
    return cmocka_run_group_tests_name("broken queries", tests, NULL, NULL);
}
