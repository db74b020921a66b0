/* The auditor of SQL: sound queries are acquitted, broken ones caught, and neither the data nor the
 * budget is touched. */
#include "check.h"

#include <unistd.h>

#include "audit/neighbours.h"
#include "audit/query_subject.h"
#include "chance.h"
#include "query/answer.h"
#include "registered.h"

/* Visits of people, registered, with three rows and two groups of a person that count. Then the
 * file is removed: whoever opens it fails. */
static void open_place(registered *all, brume_adjacency adjacency)
{
    registered_terms terms = {"visits", BRUME_RULE_APPROXIMATE, "1", "0.00001", adjacency};
    static const char *const wards[] = {"a", "b", "c"};
    brume_error error = {0};
    FILE *file = registered_begin(all);
    fputs("person,ward,age\np1,a,30\np2,b,40\n", file);
    registered_open(all, file, 20);
    brume_policy *policy = registered_policy(&(brume_source){.location = all->csv});
    assert_ok(brume_policy_set_unit(policy, "person", &error));
    assert_ok(brume_policy_set_bounds(policy, "age", "0", "100", &error));
    assert_ok(brume_policy_set_domain(policy, "ward", wards, 3, &error));
    policy->max_groups = 2;
    policy->max_rows = 3;
    registered_enter(all->ledger, policy, &terms);
    assert_int_equal(unlink(all->csv), 0);
}

static brume_plan *plan_at(const brume_question *question, const char *epsilon)
{
    brume_error error = {0};
    brume_payment payment = {epsilon, NULL, NULL};
    brume_plan *plan = NULL;
    assert_ok(brume_query_plan_make(question->query, question->tables, &payment, &plan, &error));
    return plan;
}

/* What may be broken on the way. */
typedef enum fault { SOUND, UNDERSTATED, UNBOUNDED } fault;

/* The lower bound of epsilon for `sql` at epsilon 1. */
static double audit(const registered *all, const char *sql, fault broken, size_t samples,
                    double confidence)
{
    brume_error error = {0};
    brume_question *question = NULL;
    brume_query_subject *subject = NULL;
    brume_audit_result result;
    assert_ok(brume_question_open(all->ledger, sql, &question, &error));
    brume_plan *plan = plan_at(question, broken == UNDERSTATED ? "8" : "1");
    brume_plan *sharp = plan_at(question, "200");
    for (int i = 0; i < 2; i++) {
        brume_plan *one = i ? sharp : plan;
        one->shape.max_rows *= broken == UNBOUNDED ? 4 : 1;
    }
    brume_audit_options options = {samples, confidence, brume_decimal_upper(&plan->charge.delta)};
    assert_ok(brume_query_subject_open(question, plan, sharp, sql, all->bits, &subject, &error));
    assert_ok(brume_audit_epsilon(brume_query_subject_draw, subject, &options, all->bits, &result,
                                  &error));
    brume_query_subject_close(subject);
    brume_query_plan_close(sharp);
    brume_query_plan_close(plan);
    brume_question_close(question);
    return result.epsilon_lower;
}

static const char COUNT[] = "SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward";
static const char SUM[] = "SELECT SUM(age) FROM visits WHERE age >= 50";
static const char KEYS[] = "SELECT age, COUNT(DISTINCT person) FROM visits GROUP BY age";

static uint64_t queries(const registered *all)
{
    brume_error error = {0};
    brume_dataset *dataset = NULL;
    assert_ok(brume_ledger_dataset(all->ledger, "visits", &dataset, &error));
    uint64_t count = dataset->queries;
    brume_dataset_close(dataset);
    return count;
}

/* Two audits share the alarm. */
static void sound_queries_are_acquitted_and_cost_nothing(void **state)
{
    (void)state;
    double confidence = 1 - false_alarm_share(false_alarm_query_audits) / 2;
    for (int replace = 0; replace < 2; replace++) {
        registered all;
        open_place(&all, replace ? BRUME_REPLACE : BRUME_ADD_REMOVE);
        assert_holds(audit(&all, replace ? SUM : KEYS, SOUND, 200, confidence) <= 1);
        assert_int_equal(queries(&all), 0);
        registered_close(&all);
    }
}

static void what_is_released_is_found_to_differ(void **state)
{
    (void)state;
    registered all;
    open_place(&all, BRUME_ADD_REMOVE);
    /* an auditor that sees nothing would acquit everything */
    assert_holds(audit(&all, SUM, SOUND, 600, 0.99) > 0.2);
    registered_close(&all);
}

static void broken_queries_are_caught(void **state)
{
    (void)state;
    registered all;
    open_place(&all, BRUME_ADD_REMOVE);
    assert_holds(audit(&all, COUNT, UNDERSTATED, 200, 1 - 1e-6) > 1);
    assert_holds(audit(&all, SUM, UNBOUNDED, 600, 1 - 1e-6) > 1);
    registered_close(&all);
}

/* The rows of a database, as text in the engine's order. */
static json_t *answer_on(const registered *all, const brume_question *question,
                         brume_engine *engine)
{
    brume_error error = {0};
    brume_plan *sharp = plan_at(question, "600");
    json_t *answer = NULL;
    assert_ok(brume_answer_draw(question, sharp, engine, all->bits, &answer, &error));
    brume_query_plan_close(sharp);
    return answer;
}

static void neighbours_differ_by_one_unit(void **state)
{
    (void)state;
    static const char sql[] = "SELECT COUNT(DISTINCT person) FROM visits";
    for (int replace = 0; replace < 2; replace++) {
        registered all;
        brume_error error = {0};
        brume_question *question = NULL;
        brume_adjacency adjacency = replace ? BRUME_REPLACE : BRUME_ADD_REMOVE;
        open_place(&all, adjacency);
        assert_ok(brume_question_open(all.ledger, sql, &question, &error));
        for (uint64_t number = 0; number < 6; number++) {
            brume_neighbours *pair = NULL;
            json_int_t units[2];
            assert_ok(brume_neighbours_open(question, adjacency, sql, 5, number, &pair, &error));
            for (int second = 0; second < 2; second++) {
                json_t *answer =
                    answer_on(&all, question, brume_neighbours_engine(pair, second != 0));
                units[second] = json_integer_value(
                    json_array_get(json_array_get(json_object_get(answer, "rows"), 0), 0));
                json_decref(answer);
            }
            assert_int_equal(units[1] - units[0], replace ? 0 : 1);
            brume_neighbours_close(pair);
        }
        brume_question_close(question);
        registered_close(&all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_queries_are_acquitted_and_cost_nothing),
        cmocka_unit_test(what_is_released_is_found_to_differ),
        cmocka_unit_test(broken_queries_are_caught),
        cmocka_unit_test(neighbours_differ_by_one_unit),
    };
    return cmocka_run_group_tests_name("audits of queries", tests, NULL, NULL);
}
