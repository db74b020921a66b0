/* Charged releases that are not SQL: only under the owner's adjacency, at the price that was typed,
 * in the currency of the budget, and the same one again for free. */
#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "query/release/charged.h"
#include "query/release/spend.h"
#include "registered.h"

static brume_error error;
static int draws; /* from rows, not rehearsals */

static brume_status draw(void *context, const char *path, brume_bits *bits, json_t **answer,
                         brume_error *why)
{
    (void)context;
    (void)bits;
    (void)why;
    char line[64];
    int lines = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        lines++;
    fclose(file);
    draws += lines > 1;
    *answer = json_pack("{s:i}", "value", lines);
    return BRUME_OK;
}

static void open_place(registered *all, brume_rule rule, brume_adjacency adjacency,
                       const char *unit)
{
    registered_terms terms = {"t", rule, "10", rule == BRUME_RULE_PURE ? NULL : "0.01", adjacency};
    FILE *file = registered_begin(all);
    fputs("person,age\n1,20\n2,30\n3,40\n", file);
    registered_open(all, file, 1);
    brume_policy *policy = registered_policy(&(brume_source){.location = all->csv});
    if (unit)
        assert_ok(brume_policy_set_unit(policy, unit, &error));
    registered_enter(all->ledger, policy, &terms);
    draws = 0;
}

static brume_status release(const registered *all, const brume_charged *asked, bool *cached)
{
    json_t *answer = NULL;
    brume_charged charged = *asked;
    charged.dataset = "t";
    charged.what = "a number";
    charged.draw = draw;
    brume_status status =
        brume_charged_release(all->ledger, &charged, all->bits, NULL, &answer, &error);
    *cached = json_is_true(json_object_get(answer, "cached"));
    json_decref(answer);
    return status;
}

static brume_filter filter_of(const registered *all)
{
    brume_dataset *dataset = NULL;
    assert_ok(brume_ledger_dataset(all->ledger, "t", &dataset, &error));
    brume_filter filter = dataset->filter;
    brume_dataset_close(dataset);
    return filter;
}

/* Is the text anywhere in the files of the ledger? */
static bool is_in_ledger(const registered *all, const char *text)
{
    static char bytes[1 << 20];
    bool found = false;
    for (int i = 0; i < 2; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s%s", all->path, i ? "-wal" : "");
        FILE *file = fopen(path, "r");
        size_t length = file ? fread(bytes, 1, sizeof bytes, file) : 0;
        found = found || memmem(bytes, length, text, strlen(text));
        if (file)
            fclose(file);
    }
    return found;
}

/* Rejects: check_adjacency left out: noise for a unit more or less, on data whose units are
 * replaced. */
static void only_the_adjacency_of_the_owner_is_released_under(void **state)
{
    (void)state;
    static const struct {
        brume_adjacency registered, asked;
        const char *unit;
        brume_status expected;
    } cases[] = {
        {BRUME_REPLACE, BRUME_ADD_REMOVE, NULL, BRUME_EPOLICY},
        {BRUME_ADD_REMOVE, BRUME_REPLACE, NULL, BRUME_EPOLICY},
        {BRUME_REPLACE, BRUME_REPLACE, "person", BRUME_EUNSUPPORTED},
        {BRUME_REPLACE, BRUME_EDGE, NULL, BRUME_EPOLICY},
        {BRUME_ADD_REMOVE, BRUME_EDGE, "person", BRUME_EUNSUPPORTED},
        {BRUME_ADD_REMOVE, BRUME_EDGE, NULL, BRUME_OK}, /* a row is an edge */
        {BRUME_ADD_REMOVE, BRUME_ADD_REMOVE, NULL, BRUME_OK},
        {BRUME_REPLACE, BRUME_REPLACE, NULL, BRUME_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        registered all;
        bool cached = false;
        open_place(&all, BRUME_RULE_PURE, cases[i].registered, cases[i].unit);
        brume_charged asked = {.adjacency = cases[i].asked, .epsilon = "0.5"};
        assert_fails(release(&all, &asked, &cached), cases[i].expected);
        bool charged = cases[i].expected == BRUME_OK;
        brume_filter filter = filter_of(&all);
        assert_int_equal(filter.charges, charged);
        assert_int_equal(draws, charged);
        registered_close(&all);
    }
}

/* Rejects: a price that is not in the key of the answer, so that what was bought cheaply comes back
 * for another price; and a fresh release that is kept. */
static void the_same_release_is_free_and_another_price_is_another_release(void **state)
{
    (void)state;
    registered all;
    bool cached = true;
    open_place(&all, BRUME_RULE_APPROXIMATE, BRUME_ADD_REMOVE, NULL);
    brume_charged asked = {.adjacency = BRUME_ADD_REMOVE, .epsilon = "0.5", .delta = "1e-6"};
    assert_ok(release(&all, &asked, &cached));
    assert_false(cached);
    assert_true(
        is_in_ledger(&all, "\"release\":\"statistic\"")); /* the events, where none are given */
    assert_ok(release(&all, &asked, &cached));
    assert_true(cached);
    asked.epsilon = "0.25";
    assert_ok(release(&all, &asked, &cached));
    assert_false(cached);
    asked.delta = "1e-7";
    assert_ok(release(&all, &asked, &cached));
    assert_false(cached);
    asked.fresh = true;
    for (int i = 0; i < 2; i++) {
        assert_ok(release(&all, &asked, &cached));
        assert_false(cached);
    }
    brume_filter filter = filter_of(&all);
    assert_int_equal(filter.charges, 5);
    assert_int_equal(draws, 5);
    assert_close(brume_decimal_nearest(&filter.spent), 0.5 + 4 * 0.25, 1e-15);
    assert_close(brume_decimal_nearest(&filter.spent_delta), 2e-6 + 3e-7, 1e-12);
    registered_close(&all);
}

/* Rejects: an epsilon charged as a rho, or a rho to a budget of epsilon. */
static void the_price_is_in_the_currency_of_the_budget(void **state)
{
    (void)state;
    registered all;
    bool cached = false;
    open_place(&all, BRUME_RULE_CONCENTRATED, BRUME_ADD_REMOVE, NULL);
    brume_charged asked = {.adjacency = BRUME_ADD_REMOVE, .epsilon = "0.5"};
    assert_ok(release(&all, &asked, &cached)); /* any guarantee: epsilon tanh(epsilon/2) */
    double spent = 0.5 * tanh(0.25);
    brume_filter filter = filter_of(&all);
    assert_close(brume_decimal_nearest(&filter.spent), spent, 1e-12);
    asked.rho_upper = 0.01; /* what this one is known to cost */
    asked.epsilon = "0.6";
    assert_ok(release(&all, &asked, &cached));
    filter = filter_of(&all);
    assert_close(brume_decimal_nearest(&filter.spent), spent += 0.01, 1e-12);
    asked.delta = "1e-9"; /* is not in that price, and what is drawn may depend on it */
    assert_ok(release(&all, &asked, &cached));
    assert_false(cached);
    spent += 0.01;
    asked.rho = "0.02";
    assert_ok(release(&all, &asked, &cached));
    filter = filter_of(&all);
    assert_close(brume_decimal_nearest(&filter.spent), spent + 0.02, 1e-12);
    registered_close(&all);
    open_place(&all, BRUME_RULE_PURE, BRUME_ADD_REMOVE, NULL);
    assert_fails(release(&all, &asked, &cached), BRUME_EPOLICY);
    assert_int_equal(draws, 0);
    registered_close(&all);
}

static brume_status answer_stream(void *context, const brume_charged_stream *on, json_t **answer,
                                  brume_error *why)
{
    uint64_t *reservation = context;
    (void)why;
    *reservation = on->reservation;
    *answer = json_pack("{s:i}", "asked", 0);
    return BRUME_OK;
}

/* A stream is asked in the place of rows, by the one who has the ledger's streams. */
static void a_stream_is_the_only_one_and_its_events_are_recorded(void **state)
{
    (void)state;
    registered all;
    open_place(&all, BRUME_RULE_PURE, BRUME_ADD_REMOVE, NULL);
    uint64_t reservation = 0;
    json_t *events = json_pack("[{s:s}]", "release", "a stream of answers"), *answer = NULL;
    brume_charged asked = {.dataset = "t",
                           .adjacency = BRUME_ADD_REMOVE,
                           .epsilon = "0.5",
                           .events = events,
                           .fresh = true,
                           .what = "a stream",
                           .stream = answer_stream,
                           .context = &reservation};
    pid_t other = fork();
    if (other == 0) { /* another process has one open */
        brume_ledger *ledger = NULL;
        brume_status status = brume_ledger_open(all.path, BRUME_LEDGER_CREATE, &ledger, &error);
        if (status == BRUME_OK)
            status = brume_ledger_begin_stream(ledger, &error);
        if (status == BRUME_OK)
            raise(SIGSTOP);
        _exit(status != BRUME_OK);
    }
    int how = 0;
    assert_int_equal(waitpid(other, &how, WUNTRACED), other);
    assert_true(WIFSTOPPED(how));
    assert_fails(brume_charged_release(all.ledger, &asked, all.bits, NULL, &answer, &error),
                 BRUME_EPOLICY);
    assert_int_equal(reservation, 0);
    kill(other, SIGKILL);
    waitpid(other, &how, 0);
    assert_ok(brume_charged_release(all.ledger, &asked, all.bits, NULL, &answer, &error));
    assert_holds(reservation > 0);
    assert_int_equal(draws, 0);
    assert_non_null(json_object_get(answer, "asked"));
    json_decref(answer);
    assert_true(is_in_ledger(&all, "a stream of answers"));
    assert_false(is_in_ledger(&all, "a stream of questions"));
    json_decref(events);
    registered_close(&all);
}

/* In exact decimals: equal parts that are no larger than the whole divided, and the rest. */
static void parts_of_a_price_are_together_the_price(void **state)
{
    (void)state;
    static const char *const prices[] = {"1",
                                         "0.1",
                                         "0.7",
                                         "1e-6",
                                         "0.333333333333333333333",
                                         "100",
                                         "3",
                                         "1e-15",
                                         "0.00000095367431640625"};
    for (size_t i = 0; i < sizeof prices / sizeof *prices; i++)
        for (size_t parts = 1; parts <= 13; parts++) {
            char first[BRUME_DECIMAL_TEXT], last[BRUME_DECIMAL_TEXT];
            brume_decimal whole, part, rest, sum;
            assert_ok(brume_spend_split(prices[i], parts, first, last, &error));
            assert_ok(brume_decimal_parse(prices[i], &whole, &error));
            assert_ok(brume_decimal_parse(first, &part, &error));
            assert_ok(brume_decimal_parse(last, &rest, &error));
            assert_holds(brume_decimal_compare(&part, &rest) <= 0);
            assert_close(brume_decimal_nearest(&part) * (double)parts,
                         brume_decimal_nearest(&whole), 1e-10);
            assert_ok(brume_decimal_multiply(&part, parts - 1, &sum, &error));
            assert_ok(brume_decimal_add(&sum, &rest, &sum, &error));
            assert_int_equal(brume_decimal_compare(&sum, &whole), 0);
        }
}

static void what_divides_without_rest_is_divided_so(void **state)
{
    (void)state;
    char first[BRUME_DECIMAL_TEXT], last[BRUME_DECIMAL_TEXT];
    assert_ok(brume_spend_split("1", 2, first, last, &error));
    assert_string_equal(first, "0.5");
    assert_string_equal(last, "0.5");
    assert_ok(brume_spend_split("0.7", 1, first, last, &error));
    assert_string_equal(last, "0.7");
}

static void costs_are_added_as_decimals_and_shown_no_smaller(void **state)
{
    (void)state;
    assert_holds(brume_spend_add(0.1, 0.2) == 0.3); /* 0.1 + 0.2 is another double */
    assert_holds(brume_spend_add(0, 0.7) == 0.7);
    assert_holds(brume_spend_add(1, 1e-20) > 1); /* no double is that sum: the next one above */
    assert_holds(brume_spend_add(1e-6, 3e-300) > 1e-6);
}

static void what_is_left_is_shown_in_the_currency_of_the_budget(void **state)
{
    (void)state;
    registered all;
    open_place(&all, BRUME_RULE_CONCENTRATED, BRUME_ADD_REMOVE, NULL);
    brume_filter filter = filter_of(&all);
    json_t *left = brume_budget_left(&filter);
    assert_true(json_is_null(json_object_get(left, "epsilon")));
    assert_holds(json_real_value(json_object_get(left, "rho")) > 0);
    json_decref(left);
    registered_close(&all);
    open_place(&all, BRUME_RULE_APPROXIMATE, BRUME_ADD_REMOVE, NULL);
    filter = filter_of(&all);
    left = brume_budget_left(&filter);
    assert_holds(json_real_value(json_object_get(left, "epsilon")) == 10);
    assert_holds(json_real_value(json_object_get(left, "delta")) == 0.01);
    json_decref(left);
    registered_close(&all);
    /* down: no more than there is */
    brume_charge charge = {.rule = BRUME_RULE_APPROXIMATE};
    assert_ok(brume_decimal_parse("0.299999999999999999999", &charge.amount, &error));
    assert_ok(brume_decimal_parse("0.009999999999999999999", &charge.delta, &error));
    left = brume_left_to_json(&charge);
    assert_holds(json_real_value(json_object_get(left, "epsilon")) < 0.3);
    assert_holds(json_real_value(json_object_get(left, "delta")) < 0.01);
    json_decref(left);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_adjacency_of_the_owner_is_released_under),
        cmocka_unit_test(the_same_release_is_free_and_another_price_is_another_release),
        cmocka_unit_test(the_price_is_in_the_currency_of_the_budget),
        cmocka_unit_test(a_stream_is_the_only_one_and_its_events_are_recorded),
        cmocka_unit_test(parts_of_a_price_are_together_the_price),
        cmocka_unit_test(what_divides_without_rest_is_divided_so),
        cmocka_unit_test(costs_are_added_as_decimals_and_shown_no_smaller),
        cmocka_unit_test(what_is_left_is_shown_in_the_currency_of_the_budget),
    };
    return cmocka_run_group_tests_name("prices of charged releases", tests, NULL, NULL);
}
