/* The choice of limits on the release path: it is recorded before anything else is drawn, found by
 * later queries, never drawn twice; typed limits, ceilings and refusals. */
#include "check.h"

#include <unistd.h>

#include <stdlib.h>

#include "ask_json.h"
#include "query/release/explain.h"
#include "query/plan/make_plan.h"
#include "query/plan/plan_limit.h"
#include "query/plan/question.h"
#include "registered.h"

#include "query/release/choice.c"

enum { PEOPLE = 4000 };

/* Nine of ten people have up to eight rows, the others forty. */
static void open_orders(registered *all, uint64_t max_groups, uint64_t max_rows, bool fixed)
{
    static const registered_terms terms = {"orders", BRUME_RULE_APPROXIMATE, "1000", "0.1",
                                           BRUME_ADD_REMOVE};
    static const char *const shops[] = {"a", "b"};
    brume_error error = {0};
    FILE *file = registered_begin(all);
    fputs("person,shop,paid\n", file);
    for (int person = 0; person < PEOPLE; person++)
        for (int row = 0; row < (person % 10 ? person % 8 + 1 : 40); row++)
            fprintf(file, "p%d,%c,%d\n", person, "ab"[row % 2], person % 50);
    registered_open(all, file, 3);
    brume_policy *policy = registered_file(all->csv, "paid bigint");
    assert_ok(brume_policy_set_unit(policy, "person", &error));
    assert_ok(brume_policy_set_bounds(policy, "paid", "0", "100", &error));
    assert_ok(brume_policy_set_domain(policy, "shop", shops, 2, &error));
    policy->max_groups = max_groups;
    policy->max_rows = max_rows;
    policy->limits_fixed = fixed;
    registered_enter(all->ledger, policy, &terms);
}

static const char *chosen_by(const json_t *answer)
{
    return json_string_value(json_object_get(json_object_get(answer, "limits"), "chosen"));
}

static double column_number(const json_t *answer, size_t column, const char *name)
{
    const json_t *found =
        json_object_get(json_array_get(json_object_get(answer, "columns"), column), name);
    return json_is_number(found) ? json_number_value(found) : NAN;
}

static double value(const json_t *answer)
{
    return json_number_value(json_array_get(json_array_get(json_object_get(answer, "rows"), 0), 0));
}

static json_t *ask(const registered *all, const char *sql, const char *epsilon)
{
    brume_error error = {0};
    brume_payment payment = {.epsilon = epsilon};
    json_t *answer = NULL;
    assert_ok(ask_json(all->ledger, sql, &payment, NULL, all->bits, NULL, &answer, &error));
    return answer;
}

static const json_t *column_field(const json_t *answer, const char *name)
{
    return json_object_get(json_array_get(json_object_get(answer, "columns"), 0), name);
}

/* What `explain` says of the first limit: whether it is in the ledger, and what is there. */
static void check_explained(const registered *all, const char *sql, const char *epsilon,
                            const char *source, const char *earlier)
{
    brume_error error = {0};
    brume_payment payment = {.epsilon = epsilon};
    json_t *plan = NULL;
    assert_ok(brume_explain(all->ledger, sql, &payment, NULL, &plan, &error));
    const json_t *limit = json_array_get(json_object_get(plan, "limit_plan"), 0);
    assert_string_equal(json_string_value(json_object_get(limit, "chosen")), source);
    const char *said = json_string_value(json_object_get(limit, "earlier"));
    if (earlier)
        assert_string_equal(said, earlier);
    else
        assert_null(said);
    json_decref(plan);
}

/* Buy looks and nothing else. */
static void buy_limits(const registered *all, const char *sql, const char *epsilon)
{
    brume_error error = {0};
    brume_payment payment = {.epsilon = epsilon, .limits_only = true};
    json_t *answer = NULL;
    assert_ok(ask_json(all->ledger, sql, &payment, NULL, all->bits, NULL, &answer, &error));
    json_decref(answer);
}

/* A look is read for nothing where another could hardly make the bar shorter. Whoever buys limits
 * alone gets another, unless those that are there are enough for the price; all are pooled. */
static void looks_are_pooled_and_then_read_for_free(void **state)
{
    (void)state;
    brume_error error = {0};
    registered all;
    open_orders(&all, 0, 0, false);
    const char *sql = "SELECT COUNT(*) FROM orders";
    json_t *first = ask(&all, sql, "1");
    assert_string_equal(chosen_by(first), "auto");
    /* 40 are there, above 8 a few */
    assert_holds(column_number(first, 0, "limit") >= 32 && column_number(first, 0, "limit") <= 64);
    check_explained(&all, sql, "1.1", "ledger", NULL);
    buy_limits(&all, sql, "1.1");
    json_t *third = ask(&all, sql, "1.05");
    assert_string_equal(chosen_by(third), "ledger");
    assert_holds(column_number(third, 0, "cut_units") >= 0);
    assert_holds(column_number(third, 0, "cut_units") <= column_number(first, 0, "cut_units"));
    /* all of the price measures, against what choosing left, both rounded */
    double share = json_number_value(json_object_get(json_object_get(first, "limits"), "share"));
    double none = json_number_value(json_object_get(json_object_get(third, "limits"), "share"));
    assert_holds(share >= 0.315 && share <= 0.475 && none == 0);
    assert_close(column_number(third, 0, "error_95") / column_number(third, 0, "limit"),
                 (1 - share) / 1.05 * column_number(first, 0, "error_95") /
                     column_number(first, 0, "limit"),
                 0.03);
    json_t *other = ask(&all, "SELECT COUNT(*) FROM orders WHERE paid > 10", "1");
    assert_string_equal(chosen_by(other), "auto"); /* other rows, another choice */
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(all.ledger, &report, &error));
    assert_int_equal(report.reservations, 4);
    assert_int_equal(report.answers, 4);
    json_decref(first);
    json_decref(third);
    json_decref(other);
    registered_close(&all);
}

/* Stops a query the n-th time that something drawn waits to be recorded: 1, the choice; 2, the
 * answer. */
typedef struct stopping {
    int seen, at;
} stopping;

static const char *stop_late(void *context)
{
    const stopping *when = context;
    return when->seen >= when->at ? "interrupted" : NULL;
}

static void note_phase(void *context, brume_phase phase, brume_engine *engine)
{
    stopping *when = context;
    (void)engine;
    when->seen += phase == BRUME_PHASE_SPENT;
}

/* Where the choice comes from when the query is asked again. */
static void ask_stopped_and_again(int at, const char *from)
{
    brume_error error = {0};
    registered all;
    open_orders(&all, 0, 0, false);
    stopping when = {.at = at};
    brume_watch watch = {.enter = note_phase, .stopped = stop_late, .context = &when};
    brume_payment one = {.epsilon = "1"};
    json_t *answer = NULL;
    const char *sql = "SELECT shop, COUNT(*), SUM(paid) FROM orders GROUP BY shop";
    assert_fails(ask_json(all.ledger, sql, &one, NULL, all.bits, &watch, &answer, &error),
                 BRUME_ECANCELLED);
    one.epsilon = "0.7"; /* what was bought for 1 is enough for this */
    assert_ok(ask_json(all.ledger, sql, &one, NULL, all.bits, NULL, &answer, &error));
    assert_string_equal(chosen_by(answer), from);
    json_decref(answer);
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(all.ledger, &report, &error));
    assert_int_equal(report.answers, 1);
    assert_int_equal(report.reservations, 2); /* both are charged */
    registered_close(&all);
}

static void a_choice_survives_what_comes_after_it(void **state)
{
    (void)state;
    ask_stopped_and_again(2, "ledger"); /* never a second draw */
}

/* As if it had been stopped while it read: a deadline must not tell which of the two it was. */
static void a_choice_that_waits_is_dropped_when_stopped(void **state)
{
    (void)state;
    ask_stopped_and_again(1, "auto");
}

/* The same for a choice that was bought alone, which also makes an accuracy possible. */
static void limits_can_be_bought_alone(void **state)
{
    (void)state;
    brume_error error = {0};
    registered all;
    open_orders(&all, 0, 0, false);
    brume_payment alone = {.epsilon = "0.5", .limits_only = true}, none = {0};
    brume_target target = {.within = 200, .confidence = 0.95};
    const char *sql = "SELECT COUNT(*) FROM orders";
    json_t *answer = NULL, *limits = NULL;
    assert_fails(ask_json(all.ledger, sql, &none, &target, all.bits, NULL, &answer, &error),
                 BRUME_EARGUMENT);
    assert_non_null(strstr(error.hint, "brume limits"));
    assert_ok(ask_json(all.ledger, sql, &alone, NULL, all.bits, NULL, &limits, &error));
    assert_ok(ask_json(all.ledger, sql, &none, &target, all.bits, NULL, &answer, &error));
    assert_string_equal(chosen_by(answer), "ledger");
    assert_holds(column_number(answer, 0, "error_95") <= 200);
    alone.epsilon = "0.3"; /* a second one would tell hardly more */
    json_t *again = NULL;
    assert_fails(ask_json(all.ledger, sql, &alone, NULL, all.bits, NULL, &again, &error),
                 BRUME_EARGUMENT);
    json_decref(limits);
    json_decref(answer);
    registered_close(&all);
}

/* Noise of scale 10,000 on 4,000 people hides them all. */
static void a_choice_that_found_nothing_is_no_choice_for_later_queries(void **state)
{
    (void)state;
    brume_error error = {0};
    registered all;
    open_orders(&all, 0, 0, false);
    const char *sql = "SELECT COUNT(*) FROM orders", *sum = "SELECT SUM(paid) FROM orders";
    check_explained(&all, sql, "1", "auto", NULL);
    json_t *little = ask(&all, sql, "0.001"), *nothing = ask(&all, sum, "0.001");
    assert_true(json_is_false(column_field(little, "limit_found")));
    assert_holds(json_number_value(column_field(little, "limit")) == 1);
    assert_true(json_is_null(column_field(little, "error_95"))); /* the noise is not the error */
    assert_true(json_is_null(column_field(little, "cut_units")));
    assert_true(json_is_null(column_field(little, "cut_allowance")));
    assert_true(json_is_false(column_field(nothing, "limit_found")));
    assert_true(json_is_null(column_field(nothing, "limit")));
    brume_payment none = {0};
    brume_target target = {.within = 200, .confidence = 0.95};
    json_t *answer = NULL;
    assert_fails(ask_json(all.ledger, sql, &none, &target, all.bits, NULL, &answer, &error),
                 BRUME_EARGUMENT);
    assert_non_null(strstr(error.message, "not found"));
    check_explained(&all, sql, "1", "auto", "not found");
    check_explained(&all, sum, "1", "auto", "not found");
    json_t *more = ask(&all, sql, "1"), *total = ask(&all, sum, "1");
    assert_string_equal(chosen_by(more), "auto");
    assert_holds(column_number(more, 0, "limit") >= 32 && column_number(more, 0, "limit") <= 64);
    assert_null(column_field(more, "limit_found"));
    assert_true(column_number(more, 0, "cut_allowance") >= 0); /* said also where it is 0 */
    assert_true(column_number(total, 0, "limit") >= 40 * 40);
    check_explained(&all, sql, "0.7", "ledger", NULL); /* now it is there */
    check_explained(&all, sum, "0.7", "ledger", NULL);
    json_t *again = ask(&all, sql, "0.7");
    assert_string_equal(chosen_by(again), "ledger");
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(all.ledger, &report, &error));
    assert_int_equal(report.reservations, 5); /* the refusal was free */
    json_decref(little);
    json_decref(nothing);
    json_decref(more);
    json_decref(total);
    json_decref(again);
    registered_close(&all);
}

/* A hundred times the price is not bound by what the first one saw: then most of the bar would be
 * for what may be cut. */
static void a_noisy_choice_is_not_enough_for_a_higher_price(void **state)
{
    (void)state;
    brume_error error = {0};
    registered all;
    open_orders(&all, 0, 0, false);
    const char *sql = "SELECT COUNT(*) FROM orders";
    json_t *first = ask(&all, sql, "0.1");
    assert_null(column_field(first, "limit_found"));
    check_explained(&all, sql, "0.0774", "ledger", NULL);
    check_explained(&all, sql, "10", "auto", "noisy");
    json_t *second = ask(&all, sql, "0.07"), *third = ask(&all, sql, "10");
    assert_string_equal(chosen_by(second), "ledger");
    assert_string_equal(chosen_by(third), "auto");
    assert_holds(column_number(third, 0, "cut_units") < column_number(first, 0, "cut_units"));
    json_t *fourth = ask(&all, sql, "0.15"); /* of both */
    assert_string_equal(chosen_by(fourth), "ledger");
    assert_holds(column_number(fourth, 0, "cut_units") < column_number(first, 0, "cut_units"));
    json_decref(first);
    json_decref(second);
    json_decref(third);
    json_decref(fourth);
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(all.ledger, &report, &error));
    registered_close(&all);
}

/* A price for an accuracy is searched with the looks that are recorded, however noisy; sharper ones
 * make it lower. */
static void an_accuracy_uses_the_recorded_looks(void **state)
{
    (void)state;
    brume_error error = {0};
    registered all;
    open_orders(&all, 0, 0, false);
    const char *sql = "SELECT COUNT(*) FROM orders";
    brume_payment none = {0}, alone = {.limits_only = true};
    brume_target target = {.confidence = 0.95};
    static const char *const prices[] = {"0.05", "3"};
    static const double within[] = {4000, 300};
    for (size_t i = 0; i < 2; i++) {
        json_t *answer = NULL, *limits = NULL;
        alone.epsilon = prices[i];
        target.within = within[i];
        assert_ok(ask_json(all.ledger, sql, &alone, NULL, all.bits, NULL, &limits, &error));
        assert_ok(ask_json(all.ledger, sql, &none, &target, all.bits, NULL, &answer, &error));
        assert_holds(column_number(answer, 0, "error_95") +
                         column_number(answer, 0, "cut_allowance") <=
                     within[i]);
        assert_string_equal(chosen_by(answer), "ledger");
        json_decref(limits);
        json_decref(answer);
    }
    registered_close(&all);
}

/* ---- records ---- */

/* Record something under the n-th of the keys of looks. */
static void note(const registered *all, const char key[65], size_t number, json_t *record)
{
    brume_error error = {0};
    char one[65];
    uint64_t id = 0;
    json_t *events = json_array();
    const char *record_of = number == 0 ? "none" : number == 1 ? "one" : "two";
    brume_charge price;
    brume_decimal amount, none = {0};
    assert_ok(brume_decimal_parse("1", &amount, &error));
    assert_ok(brume_charge_guarantee(BRUME_RULE_APPROXIMATE, &amount, &none, &price, &error));
    brume_ledger_charge charge = {.dataset = "orders", .price = &price};
    brume_reservation reservation = {.charges = &charge,
                                     .charge_count = 1,
                                     .sql = "looks",
                                     .events = events,
                                     .answer_key = record_of};
    assert_ok(brume_ledger_reserve(all->ledger, &reservation, &id, &error));
    assert_ok(numbered(key, number, one, &error));
    assert_ok(brume_ledger_note(all->ledger, id, one, record, &error));
    json_decref(record);
    json_decref(events);
}

static brume_looks some_looks(size_t tail)
{
    brume_looks looks = {.first = {12, 3}, .tail = tail};
    for (size_t i = 0; i < BRUME_LIMIT_BINS; i++)
        looks.bin[i] = (brume_noisy){(double)i / 3, i < tail ? 2 : 5};
    for (size_t p = 0; tail > 0 && p < BRUME_LIMIT_PARTS; p++)
        looks.part[p] = (brume_noisy){(double)p - 7, 4};
    return looks;
}

static void records_are_read_as_they_were_written(void **state)
{
    (void)state;
    const brume_looks first = {.gaussian = true, .first = {-5, 2}};
    const brume_looks all[] = {some_looks(0), some_looks(1), some_looks(40),
                               some_looks(BRUME_LIMIT_BINS - 1), first};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        json_t *json = to_json(&all[i]);
        brume_looks read;
        assert_true(from_json(json, &read));
        assert_memory_equal(&read, &all[i], sizeof read);
        json_decref(json);
    }
}

static void nobody_decides_by_a_damaged_record(void **state)
{
    (void)state;
    brume_error error = {0};
    registered all;
    open_orders(&all, 0, 0, false);
    const char key[65] = "a key";
    static const char *const damages[] = {"{}",
                                          "{\"tail\": 126}",
                                          "{\"tail\": -1}",
                                          "{\"bins\": [1, 2]}",
                                          "{\"first\": [1, 2]}",
                                          "{\"deviation\": 0}",
                                          "{\"low_deviation\": -1}",
                                          "{\"parts\": []}",
                                          "{\"parts\": [1, 2, 3, null]}",
                                          "{\"first\": [\"1\"]}",
                                          "{\"first_deviation\": null}"};
    const brume_looks good = some_looks(40);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        json_t *json = to_json(&good), *damage = json_loads(damages[i], 0, NULL);
        brume_looks read;
        json_object_update(json, damage);
        assert_int_equal(from_json(json, &read), i == 0);
        json_decref(json);
        json_decref(damage);
    }
    brume_looks looks;
    size_t count = 0;
    assert_ok(read_looks(all.ledger, key, &looks, &count, &error));
    assert_true(count == 0 && !brume_looks_histogram(&looks));
    note(&all, key, 0, to_json(&good));
    note(&all, key, 1, to_json(&good));
    assert_ok(read_looks(all.ledger, key, &looks, &count, &error));
    assert_true(count == 2);
    assert_close(looks.bin[9].value, 3, 1e-15);
    assert_close(looks.bin[90].deviation, 5 / sqrt(2), 1e-15);
    note(&all, key, 2, json_pack("{s:s}", "bins", "none"));
    assert_fails(read_looks(all.ledger, key, &looks, &count, &error), BRUME_EDAMAGED);
    registered_close(&all);
}

/* A sum beside a count is computed from it: its limit is still in the units of the sum. */
static void a_sum_beside_a_count_says_what_was_cut(void **state)
{
    (void)state;
    brume_error error = {0};
    registered all;
    open_orders(&all, 0, 0, false);
    brume_payment typed = {.epsilon = "1000", .limits = {"n=3"}, .limit_count = 1};
    json_t *both = NULL;
    assert_ok(ask_json(all.ledger, "SELECT COUNT(*) AS n, SUM(paid) AS total FROM orders", &typed,
                       NULL, all.bits, NULL, &both, &error));
    assert_holds(column_number(both, 0, "limit") == 3);
    assert_holds(column_number(both, 1, "limit") == 3 * 100 ||
                 column_number(both, 1, "limit") > 1000); /* by rows, or a choice of its own */
    json_decref(both);
    registered_close(&all);
}

static void typed_limits_are_used_and_ceilings_hold(void **state)
{
    (void)state;
    brume_error error = {0};
    registered all;
    open_orders(&all, 2, 30, false);
    json_t *answer = NULL;
    brume_payment typed = {.epsilon = "1000", .limits = {"3"}, .limit_count = 1};
    assert_ok(ask_json(all.ledger, "SELECT COUNT(*) FROM orders WHERE shop = 'a'", &typed, NULL,
                       all.bits, NULL, &answer, &error));
    assert_string_equal(chosen_by(answer), "typed");
    double cut = 0; /* what is left of each person's rows in shop a */
    for (int person = 0; person < PEOPLE; person++)
        cut += fmin(3, person % 10 ? (person % 8 + 2) / 2 : 20);
    assert_close(value(answer), cut, 1e-9); /* noise of scale 3/1000: none in 1 - e^-300 */
    json_decref(answer);
    typed.limits[0] = "31"; /* one group, so 30 rows at most */
    assert_fails(ask_json(all.ledger, "SELECT COUNT(*) FROM orders", &typed, NULL, all.bits, NULL,
                          &answer, &error),
                 BRUME_EPOLICY);
    typed.limits[0] = "n=5";
    assert_fails(ask_json(all.ledger, "SELECT COUNT(*) FROM orders", &typed, NULL, all.bits, NULL,
                          &answer, &error),
                 BRUME_EARGUMENT);
    typed.limits[0] = "5";
    assert_fails(ask_json(all.ledger, "SELECT COUNT(*), SUM(paid) FROM orders", &typed, NULL,
                          all.bits, NULL, &answer, &error),
                 BRUME_EARGUMENT); /* of which? */
    assert_fails(ask_json(all.ledger, "SELECT DISTINCT shop FROM orders", &typed, NULL, all.bits,
                          NULL, &answer, &error),
                 BRUME_EUNSUPPORTED);
    registered_close(&all);
}

static void fixed_limits_are_the_ceilings(void **state)
{
    (void)state;
    brume_error error = {0};
    registered all;
    open_orders(&all, 2, 5, true);
    json_t *answer = NULL, *plan = NULL;
    brume_payment one = {.epsilon = "1"};
    const char *sql = "SELECT shop, COUNT(*) FROM orders GROUP BY shop";
    assert_ok(brume_explain(all.ledger, sql, &one, NULL, &plan, &error));
    assert_ok(ask_json(all.ledger, sql, &one, NULL, all.bits, NULL, &answer, &error));
    assert_string_equal(chosen_by(answer), "policy");
    assert_holds(column_number(answer, 1, "limit") == 10);
    assert_true(json_is_number(json_array_get(json_object_get(plan, "error_95"), 0)));
    json_decref(plan);
    json_decref(answer);
    registered_close(&all);
}

/* ---- the delta of private keys ---- */

/* A plan for private keys, whose limit is still to be chosen. */
static brume_plan *private_plan(const char *epsilon, const char *delta, brume_question **question)
{
    char csv[] = "/tmp/brume-choice-XXXXXX.csv";
    int place = mkstemps(csv, 4);
    assert_true(place >= 0);
    FILE *file = fdopen(place, "w");
    assert_non_null(file);
    fputs("u,g\n", file);
    assert_int_equal(fclose(file), 0);
    brume_error error = {0};
    brume_policy *policy = registered_file(csv, "u text, g text");
    assert_ok(brume_policy_set_unit(policy, "u", &error));
    assert_ok(brume_question_alone(policy, "t", "SELECT g, COUNT(*) FROM t GROUP BY g", question,
                                   &error));
    (*question)->datasets[0]->filter.rule = BRUME_RULE_APPROXIMATE;
    brume_payment payment = {.epsilon = epsilon, .delta = delta};
    brume_plan *plan = NULL;
    assert_ok(
        brume_query_plan_make((*question)->query, (*question)->tables, &payment, &plan, &error));
    unlink(csv);
    return plan;
}

/* The charge is made before a recorded choice is recalled. Recalling makes the share of the keys
 * larger and their threshold another one, so that with all of the typed delta it could use more
 * than was charged: the control finds such prices. */
static void a_recalled_choice_uses_no_more_delta_than_is_charged(void **state)
{
    (void)state;
    static const char *const epsilons[] = {"0.3", "0.5", "1", "1.7", "3"};
    static const char *const deltas[] = {"1e-8", "1e-6", "2.5e-6", "7e-5", "1e-3"};
    size_t above = 0;
    for (size_t i = 0; i < 25; i++)
        for (int control = 0; control < 2; control++) {
            brume_error error = {0};
            brume_question *question = NULL;
            brume_plan *plan = private_plan(epsilons[i / 5], deltas[i % 5], &question);
            double charged = brume_decimal_upper(&plan->charge.delta);
            assert_true(plan->shape.private_keys && plan->limit_count == 1);
            brume_terms *before = NULL, *after = NULL;
            assert_ok(brume_terms_make(plan, NULL, 0, &before, &error));
            assert_holds(before->price.delta <= charged);
            before->limits[0].source = BRUME_LIMIT_LEDGER;
            if (control)
                plan->allowed_delta = strtod(deltas[i % 5], NULL);
            assert_ok(brume_terms_make(plan, before, 0, &after, &error));
            if (control)
                above += after->price.delta > charged;
            else
                assert_holds(after->price.delta <= charged);
            brume_terms_close(after);
            brume_terms_close(before);
            brume_query_plan_close(plan);
            brume_question_close(question);
        }
    assert_true(above > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recalled_choice_uses_no_more_delta_than_is_charged),
        cmocka_unit_test(looks_are_pooled_and_then_read_for_free),
        cmocka_unit_test(a_choice_survives_what_comes_after_it),
        cmocka_unit_test(a_choice_that_waits_is_dropped_when_stopped),
        cmocka_unit_test(limits_can_be_bought_alone),
        cmocka_unit_test(a_choice_that_found_nothing_is_no_choice_for_later_queries),
        cmocka_unit_test(a_noisy_choice_is_not_enough_for_a_higher_price),
        cmocka_unit_test(an_accuracy_uses_the_recorded_looks),
        cmocka_unit_test(records_are_read_as_they_were_written),
        cmocka_unit_test(nobody_decides_by_a_damaged_record),
        cmocka_unit_test(a_sum_beside_a_count_says_what_was_cut),
        cmocka_unit_test(typed_limits_are_used_and_ceilings_hold),
        cmocka_unit_test(fixed_limits_are_the_ceilings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
