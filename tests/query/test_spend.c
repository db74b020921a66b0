/* Spending: in which order, what an interruption finds, and what is said of it; prices of queries
 * of several tables, as they are shown. */
#include "query/release/ask.c"

#include "check.h"

#include <stdio.h>

#include "query/release/spend.h"
#include "random/tape.h"
#include "registered.h"

static brume_error error;

static void set_up(brume_policy *policy)
{
    assert_ok(brume_policy_set_unit(policy, "person", &error));
    policy->max_groups = policy->max_rows = 2;
}

/* Two datasets of the same rows, `much` and `little` by their budgets, and a public table. */
typedef struct place {
    registered all;
    char others[2][96];
} place;

static void write_rows(FILE *file)
{
    fputs("person,ward\n", file);
    for (int i = 0; i < 200; i++)
        fprintf(file, "p%d,%c\n", i, "ab"[i % 2]);
}

static void open_place(place *at)
{
    registered_terms much = {"much", BRUME_RULE_APPROXIMATE, "9", "0.1", BRUME_ADD_REMOVE};
    registered_terms little = {"little", BRUME_RULE_APPROXIMATE, "2", "0.01", BRUME_ADD_REMOVE};
    registered_terms open = {"open", BRUME_RULE_APPROXIMATE, "1", "0.1", BRUME_ADD_REMOVE};
    FILE *file = registered_begin(&at->all);
    write_rows(file);
    registered_open(&at->all, file, 3);
    for (int i = 0; i < 2; i++) {
        snprintf(at->others[i], sizeof at->others[i], "%s/%d.csv", at->all.folder, i);
        file = fopen(at->others[i], "w");
        assert_non_null(file);
        write_rows(file);
        fclose(file);
    }
    brume_policy *policy = registered_file(at->all.csv, "ward text");
    set_up(policy);
    registered_enter(at->all.ledger, policy, &much);
    policy = registered_file(at->others[0], "ward text");
    set_up(policy);
    registered_enter(at->all.ledger, policy, &little);
    policy = registered_file(at->others[1], "ward text");
    policy->is_public = true;
    registered_enter(at->all.ledger, policy, &open);
}

static void close_place(place *at)
{
    remove(at->others[0]);
    remove(at->others[1]);
    registered_close(&at->all);
}

static brume_query_answer *ask(const registered *all, const char *sql, const char *epsilon,
                               const char *delta)
{
    brume_payment payment = {.epsilon = epsilon, .delta = delta};
    brume_query_answer *answer = NULL;
    if (brume_ask(all->ledger, sql, &payment, NULL, all->bits, NULL, &answer, &error) != BRUME_OK)
        fail_msg("%s: %s", sql, error.message);
    return answer;
}

static void costs_are_shown_no_smaller_and_what_is_left_no_larger(void **state)
{
    (void)state;
    place at;
    open_place(&at);
    brume_query_answer *answer = ask(&at.all, "SELECT ward, COUNT(*) FROM much GROUP BY ward",
                                     "0.10000000000000000001", "0.00100000000000000000001");
    assert_holds(answer->cost.amount > 0.1 && answer->cost.amount < 0.1001);
    assert_holds(answer->remaining.amount < 8.9 && answer->remaining.amount > 8.899);
    brume_dataset *dataset = NULL;
    brume_charge left;
    brume_decimal shown;
    assert_ok(brume_ledger_dataset(at.all.ledger, "much", &dataset, &error));
    assert_ok(brume_ledger_left(at.all.ledger, dataset, &left, &error));
    brume_dataset_close(dataset);
    assert_ok(brume_decimal_from_double_shortest(answer->remaining.delta, &shown, &error));
    assert_holds(brume_decimal_compare(&shown, &left.delta) < 0); /* no double is what is left */
    assert_close(answer->remaining.delta, brume_decimal_nearest(&left.delta), 1e-15);
    brume_query_answer_close(answer);
    brume_charge charge = {.rule = BRUME_RULE_APPROXIMATE};
    assert_ok(brume_decimal_parse("0.30000000000000000001", &charge.amount, &error));
    assert_ok(brume_decimal_parse("0.01000000000000000001", &charge.delta, &error));
    brume_answer_price price = price_of(&charge, BRUME_RULE_APPROXIMATE);
    assert_holds(price.amount > 0.3 && price.amount < 0.3001 && !price.concentrated);
    assert_holds(price.delta > 0.01 && price.delta < 0.0101);
    assert_true(price_of(&charge, BRUME_RULE_CONCENTRATED).concentrated);
    close_place(&at);
}

/* What is left of a budget, and an amount that is larger, as large or smaller. */
static void less_is_taken_only_where_less_is_left(void **state)
{
    (void)state;
    place at;
    open_place(&at);
    brume_query_answer_close(ask(&at.all, "SELECT COUNT(*) FROM much", "0.10000000000000000001",
                                 NULL)); /* 8.89999999999999999999 are left */
    for (int i = 0; i < 3; i++) {
        double amount = i == 0 ? INFINITY : i == 1 ? 8.9 : 8;
        brume_answer_price left = {.amount = -1, .delta = -1};
        assert_ok(take_less(at.all.ledger, "much", &amount, &left, &error));
        assert_holds(amount == (i == 2 ? 8 : nextafter(8.9, 0)));
        assert_holds(left.amount == (i == 2 ? -1 : nextafter(8.9, 0)));
        assert_holds(left.delta == (i == 2 ? -1 : 0.1));
    }
    close_place(&at);
}

static brume_marks marks_of(const char *const *texts, size_t count, size_t read)
{
    brume_marks marks = {
        .texts = calloc(count, sizeof *marks.texts), .count = count, .read_count = read};
    assert_non_null(marks.texts);
    for (size_t i = 0; i < count; i++)
        marks.texts[i] = strdup(texts[i]);
    return marks;
}

static void marks_of_one_dataset_are_joined_those_of_views_last(void **state)
{
    (void)state;
    static const char *const first[] = {"a", "b", "view of a"}, *const second[] = {"c", "v", "w"};
    static const char *const joined[] = {"a", "b", "c", "view of a", "v", "w"};
    brume_marks marks = marks_of(first, 3, 1), more = marks_of(second, 3, 2);
    assert_ok(join_marks(&marks, &more, &error));
    assert_int_equal(marks.count, 6);
    assert_int_equal(marks.read_count, 3);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(marks.texts[i], joined[i]);
    assert_int_equal(more.count, 0);
    brume_marks_clear(&marks);
}

/* Only the tables of the query are read, though others lie behind them. */
static void what_is_read_is_what_the_query_names(void **state)
{
    (void)state;
    place at;
    open_place(&at);
    brume_question *question = NULL;
    brume_engine *engine = NULL;
    assert_ok(brume_question_open(at.all.ledger,
                                  "SELECT COUNT(*) FROM much JOIN little ON much.person = "
                                  "little.person JOIN open ON much.ward = open.ward",
                                  &question, &error));
    assert_ok(brume_question_engine(question, &engine, &error));
    brume_query *query = question->query;
    assert_true(query->table_count == 2 && query->public_count == 1);
    for (size_t tables = 1; tables <= 2; tables++)
        for (size_t open = 0; open <= 1; open++) {
            brume_charge price = {.rule = BRUME_RULE_APPROXIMATE};
            brume_readings read = {0};
            query->table_count = tables;
            query->public_count = open;
            assert_ok(brume_readings_find(question, &price, engine, &read, &error));
            assert_int_equal(read.charge_count, tables);
            assert_int_equal(read.count, tables + open);
            for (size_t i = 0; i < read.count; i++) {
                static const char *const names[] = {"much", "little"};
                assert_string_equal(read.charges[i].dataset, i < tables ? names[i] : "open");
                assert_ptr_equal(read.charges[i].price, i < tables ? &price : NULL);
            }
            brume_readings_clear(&read);
            brume_answer_price left = {0};
            assert_ok(find_remaining(at.all.ledger, question, &left, &error));
            assert_holds(left.amount == (tables == 1 ? 9 : 2));
        }
    query->table_count = 2;
    query->public_count = 1;
    brume_engine_close(engine);
    brume_question_close(question);
    close_place(&at);
}

/* Of several tables what is left is that of the tightest; a dataset that stands twice is charged
 * once; public tables cost nothing. */
static void the_tightest_budget_is_what_is_left(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        double left;
        size_t charged;
    } cases[] = {
        {"SELECT COUNT(*) FROM much", 8.5, 1},
        {"SELECT COUNT(*) FROM little", 1.5, 1},
        {"SELECT COUNT(*) FROM much JOIN little ON much.person = little.person", 1, 2},
        {"SELECT COUNT(*) FROM little JOIN much ON much.person = little.person", 0.5, 2},
        {"SELECT COUNT(*) FROM much x JOIN much y ON x.person = y.person", 7, 1},
        {"SELECT COUNT(*) FROM much JOIN open ON much.ward = open.ward WHERE open.person = 'p1'",
         6.5, 1},
    };
    place at;
    open_place(&at);
    uint64_t charge = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_query_answer *answer = ask(&at.all, cases[i].sql, "0.5", NULL), *again = NULL;
        assert_holds(answer->cost.amount == 0.5);
        assert_false(answer->cached);
        if (answer->remaining.amount != cases[i].left)
            fail_msg("%s leaves %g", cases[i].sql, answer->remaining.amount);
        again = ask(&at.all, cases[i].sql, "0.5", NULL); /* free */
        assert_true(again->cached);
        assert_holds(again->remaining.amount == cases[i].left);
        brume_query_answer_close(again);
        again = NULL;
        while (charge < 100 &&
               brume_recall(at.all.ledger, charge, &again, &error) == BRUME_EUNKNOWN)
            charge++; /* other entries have numbers too */
        charge++;
        assert_non_null(again);
        assert_true(again->cached);
        assert_holds(again->remaining.amount == cases[i].left);
        brume_query_answer_close(answer);
        brume_query_answer_close(again);
    }
    brume_query_answer *answer = ask(&at.all, "SELECT COUNT(*) FROM open", NULL, NULL);
    brume_query_answer_close(answer);
    close_place(&at);
}

/* ---- interruptions ---- */

typedef struct watched {
    brume_phase phases[8];
    size_t count, asked, stop_at; /* at this question whether to stop, from 1 on; 0: never */
    double limit;
} watched;

static void enter(void *context, brume_phase phase, brume_engine *engine)
{
    watched *all = context;
    assert_holds(all->count < 8);
    (void)engine;
    all->phases[all->count++] = phase;
}

static const char *stopped(void *context)
{
    watched *all = context;
    all->asked++;
    return all->stop_at && all->asked >= all->stop_at ? "enough" : NULL;
}

static void limit(void *context, double seconds)
{
    watched *all = context;
    all->limit = seconds;
}

static const char *failure_said = "broken";

static brume_status make(void *context, brume_engine *engine, uint64_t reservation, json_t **answer,
                         brume_error *failure)
{
    brume_status *status = context;
    (void)engine;
    assert_holds(reservation > 0);
    if (*status == BRUME_OK)
        *answer = json_pack("{s:i}", "n", 5);
    else
        snprintf(failure->message, sizeof failure->message, "%s", failure_said);
    return *status;
}

static brume_status spend(const registered *all, watched *on, brume_status made, json_t **answer)
{
    brume_watch watch = {.enter = enter, .stopped = stopped, .limit = limit, .context = on};
    brume_charge price;
    brume_decimal amount, none = {0};
    assert_ok(brume_decimal_parse("0.5", &amount, &error));
    assert_ok(brume_charge_guarantee(BRUME_RULE_APPROXIMATE, &amount, &none, &price, &error));
    json_t *events = json_array();
    brume_ledger_charge charge = {.dataset = "much", .price = &price};
    brume_reservation reservation = {.charges = &charge,
                                     .charge_count = 1,
                                     .sql = "made by hand",
                                     .events = events,
                                     .answer_key = "key"};
    error = (brume_error){0};
    brume_status status = brume_spend(all->ledger, &reservation, NULL, make, &made,
                                      on ? &watch : NULL, answer, &error);
    json_decref(events);
    return status;
}

static uint64_t queries(const registered *all)
{
    brume_dataset *dataset = NULL;
    brume_error unread = {0};
    assert_int_equal(brume_ledger_dataset(all->ledger, "much", &dataset, &unread), BRUME_OK);
    uint64_t count = dataset->queries;
    brume_dataset_close(dataset);
    return count;
}

static void an_interruption_says_what_it_cost(void **state)
{
    (void)state;
    place at;
    open_place(&at);
    json_t *answer = NULL;
    watched never = {0}, before = {.stop_at = 1}, reserved = {.stop_at = 2}, made = {.stop_at = 3};
    assert_ok(spend(&at.all, &never, BRUME_OK, &answer));
    assert_int_equal(json_integer_value(json_object_get(answer, "n")), 5);
    json_decref(answer);
    const brume_phase whole[] = {BRUME_PHASE_RESERVING, BRUME_PHASE_RUNNING, BRUME_PHASE_SPENT,
                                 BRUME_PHASE_RECORDED};
    assert_int_equal(never.count, 4);
    assert_memory_equal(never.phases, whole, sizeof whole);
    assert_int_equal(queries(&at.all), 1);
    assert_fails(spend(&at.all, &before, BRUME_OK, &answer), BRUME_ECANCELLED);
    assert_string_equal(error.message, "enough; nothing was spent");
    assert_int_equal(before.count, 0);
    assert_int_equal(queries(&at.all), 1);
    assert_fails(spend(&at.all, &reserved, BRUME_EINTERNAL, &answer), BRUME_ECANCELLED);
    assert_string_equal(error.message, "enough; the price stays spent");
    assert_int_equal(queries(&at.all), 2);
    assert_fails(spend(&at.all, &made, BRUME_OK, &answer), BRUME_ECANCELLED);
    assert_string_equal(error.message, "enough; the price stays spent");
    assert_int_equal(queries(&at.all), 3);
    watched again = {0};
    assert_fails(spend(&at.all, &again, BRUME_EENGINE, &answer), BRUME_EENGINE);
    assert_string_equal(error.message, "broken; the price stays spent");
    assert_fails(spend(&at.all, NULL, BRUME_ECANCELLED, &answer), BRUME_ECANCELLED);
    assert_string_equal(error.message, "interrupted; the price stays spent");
    assert_int_equal(queries(&at.all), 5);
    close_place(&at);
}

/* A message that leaves just the room to say so, and one that leaves a byte too little. */
static void long_messages_say_what_they_cost_where_there_is_room(void **state)
{
    (void)state;
    static const char said[] = "; the price stays spent";
    char text[sizeof error.message];
    place at;
    open_place(&at);
    failure_said = text;
    for (size_t more = 0; more < 2; more++) {
        size_t length = sizeof error.message - sizeof said + more;
        json_t *answer = NULL;
        memset(text, 'x', length);
        text[length] = 0;
        assert_fails(spend(&at.all, NULL, BRUME_EENGINE, &answer), BRUME_EENGINE);
        assert_int_equal(strlen(error.message), more ? length : sizeof error.message - 1);
        assert_memory_equal(error.message, text, length);
        assert_int_equal(strstr(error.message, said) != NULL, more == 0);
    }
    failure_said = "broken";
    close_place(&at);
}

static void an_owners_cap_on_time_is_kept(void **state)
{
    (void)state;
    watched on = {0};
    brume_watch watch = {.enter = enter, .stopped = stopped, .limit = limit, .context = &on};
    assert_ok(brume_spend_limit(NULL, 5, "t", &error));
    assert_ok(brume_spend_limit(&watch, 0, "t", &error));
    assert_holds(on.limit == 0);
    watch.timeout = 3;
    assert_ok(brume_spend_limit(&watch, 0, "t", &error)); /* no cap */
    assert_ok(brume_spend_limit(&watch, 3, "t", &error));
    assert_holds(on.limit == 3);
    watch.timeout = 3.5;
    assert_fails(brume_spend_limit(&watch, 3, "t", &error), BRUME_EPOLICY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_are_shown_no_smaller_and_what_is_left_no_larger),
        cmocka_unit_test(less_is_taken_only_where_less_is_left),
        cmocka_unit_test(marks_of_one_dataset_are_joined_those_of_views_last),
        cmocka_unit_test(what_is_read_is_what_the_query_names),
        cmocka_unit_test(the_tightest_budget_is_what_is_left),
        cmocka_unit_test(an_interruption_says_what_it_cost),
        cmocka_unit_test(long_messages_say_what_they_cost_where_there_is_room),
        cmocka_unit_test(an_owners_cap_on_time_is_kept),
    };
    return cmocka_run_group_tests_name("spending", tests, NULL, NULL);
}
