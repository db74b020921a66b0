/* A budget for each window: charges against one number per window, all or nothing, whatever dies.
 */
#include "fixture.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger/page_of_windows.h"

/* ---- a write that kills the process: sqlite finds these in place of the library's ---- */

static int writes_left = -1; /* before the next one dies; below 0: none does */

__attribute__((visibility("default"))) ssize_t pwrite64(int file, const void *bytes, size_t size,
                                                        off_t at);
ssize_t pwrite64(int file, const void *bytes, size_t size, off_t at)
{
    bool dies = writes_left == 0;
    writes_left -= writes_left > 0;
    /* half of it is there, as after a cut of power */
    ssize_t written = syscall(SYS_pwrite64, file, bytes, dies ? size / 2 : size, at);
    if (dies)
        _exit(97);
    return written;
}

/* ---- a dataset with windows ---- */

static brume_filter filter_of(const char *epsilon)
{
    brume_error error = {0};
    brume_charge price = price_of(epsilon, NULL);
    brume_filter filter;
    assert_ok(brume_filter_make(BRUME_RULE_PURE, &price.amount, NULL, NULL, &filter, &error));
    return filter;
}

/* `budget` NULL: none. */
static void register_windows(brume_ledger *ledger, const char *name, const char *budget,
                             const char *of_window)
{
    brume_error error = {0};
    brume_filter window = filter_of(of_window), filter = filter_of(budget ? budget : of_window);
    char source[64];
    snprintf(source, sizeof source, "source of %s", name);
    json_t *policy = json_pack("{s:s,s:{s:s,s:s,s:s,s:s}}", "unit", "person", "window", "place",
                               "column", "column", "day", "length", "day", "offset", "");
    brume_registration registration = {.name = name,
                                       .source = source,
                                       .data_version = "",
                                       .adjacency = BRUME_ADD_REMOVE,
                                       .filter = &filter,
                                       .policy = policy,
                                       .window_budget = &window,
                                       .no_budget = !budget};
    assert_ok(brume_ledger_register(ledger, &registration, &error));
    json_decref(policy);
}

static brume_status charge(brume_ledger *ledger, const char *name, const brume_window_set *set,
                           const char *unit_price, const char *window_price, brume_error *error)
{
    uint64_t id = 0;
    brume_charge whole = price_of(unit_price, NULL), window = price_of(window_price, NULL);
    brume_ledger_charge one = {
        .dataset = name, .price = &whole, .windows = set, .window_price = &window};
    brume_reservation reservation = {
        .charges = &one, .charge_count = 1, .sql = "SELECT 1", .answer_key = "key"};
    return brume_ledger_reserve(ledger, &reservation, &id, error);
}

/* ---- one number per window ---- */

enum { FIRST = -300, LAST = 2300, WINDOWS = LAST - FIRST + 1, CHARGES = 1500, BUDGET = 300 };

static uint64_t drawn = 20261119;

/* Which charges are made decides nothing: every one is compared. */
static int draw(int below)
{
    drawn ^= drawn << 13;
    drawn ^= drawn >> 7;
    drawn ^= drawn << 17;
    return (int)(drawn % (uint64_t)below);
}

static void draw_set(brume_window_set *set)
{
    brume_error error = {0};
    *set = (brume_window_set){0};
    for (int i = 0, count = 1 + draw(3); i < count; i++) {
        int first = FIRST + draw(WINDOWS), length = draw(20) ? draw(40) : draw(WINDOWS);
        int last = first + length < LAST ? first + length : LAST;
        assert_ok(brume_window_set_add(set, first, last, &error));
    }
}

static void assert_pages_are(brume_ledger *ledger, const int *spent)
{
    brume_error error = {0};
    brume_window_runs runs;
    brume_window_sum undated;
    brume_u128 hundredth = 1;
    size_t at = 0;
    for (int i = 0; i < 28; i++)
        hundredth *= 10;
    assert_ok(brume_window_pages_read(ledger, "visits", &runs, &undated, &error));
    for (int window = FIRST; window <= LAST; window++) {
        while (at < runs.count && runs.list[at].last < window)
            at++;
        bool in = at < runs.count && runs.list[at].first <= window;
        assert_true((in ? runs.list[at].spent.amount : 0) ==
                    (brume_u128)spent[window - FIRST] * hundredth);
    }
    brume_window_runs_free(&runs);
}

/* What the pages are, in one text. */
static char *pages_of(const place *where)
{
    char *text = NULL;
    assert_int_equal(read_texts(where,
                                "SELECT coalesce(group_concat(dataset || first || hash || body), "
                                "'') FROM (SELECT * FROM window_page ORDER BY dataset, first)",
                                &text, 1),
                     1);
    return text;
}

static void random_charges_equal_one_number_per_window(void **state)
{
    (void)state;
    static int spent[WINDOWS];
    place where;
    brume_error error = {0};
    int refused = 0;
    make_place(&where);
    brume_ledger *ledger = open_ledger(&where);
    register_windows(ledger, "visits", "1000000", "3");
    for (int i = 0; i < CHARGES; i++) {
        brume_window_set set;
        char price[16];
        int cents = 1 + draw(30);
        bool fits = true;
        draw_set(&set);
        snprintf(price, sizeof price, "%d.%02d", cents / 100, cents % 100);
        for (int w = FIRST; w <= LAST; w++)
            fits = fits &&
                   (!brume_window_set_contains(&set, w) || spent[w - FIRST] + cents <= BUDGET);
        char *before = fits || refused % 16 ? NULL : pages_of(&where);
        brume_status status = charge(ledger, "visits", &set, "0.5", price, &error);
        assert_int_equal(status, fits ? BRUME_OK : BRUME_EBUDGET);
        for (int w = FIRST; fits && w <= LAST; w++)
            spent[w - FIRST] += brume_window_set_contains(&set, w) ? cents : 0;
        if (before) { /* every page stays as it was */
            char *after = pages_of(&where);
            assert_string_equal(before, after);
            free(after);
        }
        free(before);
        refused += !fits;
        brume_window_set_free(&set);
        if (i % 50 == 0)
            assert_pages_are(ledger, spent);
    }
    assert_pages_are(ledger, spent);
    assert_holds(refused > 100 && refused < CHARGES - 500);
    char *pages = NULL;
    assert_int_equal(read_texts(&where, "SELECT count(*) FROM window_page", &pages, 1), 1);
    assert_holds(atoi(pages) > 2); /* of several pages */
    free(pages);
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    assert_int_equal(report.reservations, CHARGES - refused);
    brume_ledger_close(ledger);
    remove_place(&where);
}

static brume_window_set from_to(int64_t first, int64_t last)
{
    brume_error error = {0};
    brume_window_set set = {0};
    assert_ok(brume_window_set_add(&set, first, last, &error));
    return set;
}

/* A range of any length is one run: of ten thousand years one page, and one line. */
static void a_long_range_is_one_run(void **state)
{
    place where;
    (void)state;
    brume_error error = {0};
    make_place(&where);
    brume_ledger *ledger = open_ledger(&where);
    register_windows(ledger, "visits", "20", "1");
    brume_window_set ever = from_to(BRUME_WINDOW_FIRST_DAY, BRUME_WINDOW_LAST_DAY);
    brume_window_set day = from_to(20000, 20000);
    assert_ok(charge(ledger, "visits", &ever, "0.1", "0.25", &error));
    char *lines = NULL;
    assert_int_equal(read_texts(&where, "SELECT group_concat(body) FROM window_page", &lines, 1),
                     1);
    assert_string_equal(lines, "-719162 2932896 0.25 0\n");
    free(lines);
    assert_ok(charge(ledger, "visits", &day, "0.1", "0.75", &error));
    assert_int_equal(read_texts(&where, "SELECT group_concat(body) FROM window_page", &lines, 1),
                     1);
    assert_string_equal(lines, "-719162 19999 0.25 0\n20000 20000 1 0\n20001 2932896 0.25 0\n");
    free(lines);
    assert_fails(charge(ledger, "visits", &ever, "0.1", "0.01", &error), BRUME_EBUDGET);
    assert_non_null(strstr(error.message, "2024-10-04 has epsilon 0 left, and 0.01 is needed"));
    brume_window_set_free(&ever);
    brume_window_set_free(&day);
    brume_ledger_close(ledger);
    remove_place(&where);
}

/* ---- what else a charge asks ---- */

static void assert_nothing_moved(const place *where, brume_ledger *ledger, const char *before)
{
    brume_error error = {0};
    brume_ledger_report report;
    char *after = pages_of(where);
    assert_string_equal(before, after);
    free(after);
    assert_ok(brume_ledger_verify(ledger, &report, &error));
}

static void a_charge_is_of_unit_and_windows_or_of_nothing(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    uint64_t id = 0;
    make_place(&where);
    brume_ledger *ledger = open_ledger(&where);
    register_windows(ledger, "visits", "1", "1");
    register_windows(ledger, "tests", "1", "1");
    register_windows(ledger, "free", NULL, "1");
    brume_window_set days = from_to(-2, 3), none = {0}, undated = {.undated = true};
    assert_ok(charge(ledger, "tests", &days, "0.5", "0.75", &error));
    char *before = pages_of(&where);
    /* the windows would carry it, the unit's history does not */
    assert_fails(charge(ledger, "visits", &days, "1.1", "0.1", &error), BRUME_EBUDGET);
    assert_nothing_moved(&where, ledger, before);
    /* two datasets in one question: the second lacks */
    brume_charge half = price_of("0.5", NULL);
    brume_ledger_charge both[] = {
        {.dataset = "visits", .price = &half, .windows = &days, .window_price = &half},
        {.dataset = "tests", .price = &half, .windows = &days, .window_price = &half}};
    brume_reservation reservation = {
        .charges = both, .charge_count = 2, .sql = "SELECT 1", .answer_key = "key"};
    assert_fails(brume_ledger_reserve(ledger, &reservation, &id, &error), BRUME_EBUDGET);
    assert_non_null(strstr(error.message, "1969-12-30..1970-01-04 has epsilon 0.25 left"));
    assert_nothing_moved(&where, ledger, before);
    /* who does not say which windows it reads is refused: it could read all of them */
    assert_fails(reserve(ledger, "visits", "0.1", "key", &id, &error), BRUME_EUNSUPPORTED);
    assert_nothing_moved(&where, ledger, before);
    /* without a budget for histories nothing may be read outside of windows */
    assert_fails(charge(ledger, "free", &undated, "0.1", "0.1", &error), BRUME_EINTERNAL);
    assert_fails(charge(ledger, "free", &none, "0.1", "0.1", &error), BRUME_EINTERNAL);
    assert_nothing_moved(&where, ledger, before);
    /* and the sum over windows may be anything */
    for (int i = 0; i < 30; i++) {
        brume_window_set day = from_to(i, i);
        assert_ok(charge(ledger, "free", &day, "0.5", "0.9", &error));
        assert_fails(charge(ledger, "free", &day, "0.1", "0.2", &error), BRUME_EBUDGET);
        brume_window_set_free(&day);
    }
    /* rows without a date have the limits of a whole history, and a sum of their own */
    assert_ok(charge(ledger, "visits", &undated, "0.25", "0.75", &error));
    assert_fails(charge(ledger, "visits", &undated, "0.25", "0.5", &error), BRUME_EBUDGET);
    assert_non_null(strstr(error.message, "undated has epsilon 0.25 left"));
    assert_ok(charge(ledger, "visits", &days, "0.25", "1", &error));
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    brume_window_set_free(&days);
    free(before);
    brume_ledger_close(ledger);
    remove_place(&where);
}

static void a_window_budget_that_cannot_bind_is_refused(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    brume_filter whole = filter_of("1"), twice = filter_of("2"), more = filter_of("2.01");
    json_t *policy = json_pack("{s:{s:s,s:s}}", "window", "place", "column", "length", "day");
    brume_registration new = {.name = "a",
                              .source = "a",
                              .data_version = "",
                              .filter = &whole,
                              .policy = policy,
                              .window_budget = &more};
    new.adjacency = BRUME_ADD_REMOVE;
    assert_fails(brume_ledger_register(ledger, &new, &error), BRUME_EPOLICY);
    new.window_budget = &twice;
    assert_ok(brume_ledger_register(ledger, &new, &error));
    json_t *plain = json_object();
    brume_registration none = {.name = "b",
                               .source = "b",
                               .data_version = "",
                               .adjacency = BRUME_ADD_REMOVE,
                               .filter = &whole,
                               .policy = plain,
                               .no_budget = true};
    assert_fails(brume_ledger_register(ledger, &none, &error), BRUME_EPOLICY);
    json_decref(policy);
    json_decref(plain);
}

static void an_amendment_stays_above_what_windows_have_spent(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    brume_dataset *dataset = NULL;
    brume_charge least;
    brume_ledger_report report;
    brume_window_set days = from_to(5, 9), other = from_to(1, 2), all = from_to(0, 100);
    brume_filter low = filter_of("0.3"), high = filter_of("1.5");
    register_windows(ledger, "visits", "5", "1");
    assert_ok(charge(ledger, "visits", &days, "0.2", "0.4", &error));
    assert_ok(brume_ledger_dataset(ledger, "visits", &dataset, &error));
    brume_amendment amendment = {
        .name = "visits", .stated = dataset->stated, .window_budget = &low};
    assert_fails(brume_ledger_amend(ledger, &amendment, &error), BRUME_EPOLICY);
    amendment.window_budget = &high;
    assert_ok(brume_ledger_amend(ledger, &amendment, &error));
    brume_dataset_close(dataset);
    assert_ok(brume_ledger_dataset(ledger, "visits", &dataset, &error));
    assert_ok(brume_ledger_least_left(ledger, dataset, &all, &least, &error));
    assert_true(brume_decimal_nearest(&least.amount) == 1.1);
    assert_ok(brume_ledger_least_left(ledger, dataset, &other, &least, &error));
    assert_true(brume_decimal_nearest(&least.amount) == 1.5);
    assert_ok(charge(ledger, "visits", &days, "0.2", "1.1", &error));
    assert_fails(charge(ledger, "visits", &days, "0.2", "0.001", &error), BRUME_EBUDGET);
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    brume_dataset_close(dataset);
    brume_window_set_free(&days);
    brume_window_set_free(&other);
    brume_window_set_free(&all);
}

/* What nothing would protect is refused, also by an amendment. */
static void without_a_budget_every_table_is_in_a_window(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    brume_dataset *dataset = NULL;
    register_windows(ledger, "free", NULL, "1");
    assert_ok(brume_ledger_dataset(ledger, "free", &dataset, &error));
    json_t *policy = json_pack("{s:[{s:s,s:{s:s,s:s}},{s:s,s:{s:s,s:s}},{s:s,s:b}]}", "tables",
                               "name", "a", "window", "place", "column", "length", "day", "name",
                               "b", "window", "place", "none", "length", "day", "name", "c",
                               "public", 1);
    brume_amendment amendment = {.name = "free", .stated = dataset->stated, .policy = policy};
    assert_fails(brume_ledger_amend(ledger, &amendment, &error), BRUME_EPOLICY);
    assert_non_null(strstr(error.message, "'b' is in no window"));
    json_array_remove(json_object_get(policy, "tables"), 1);
    assert_ok(brume_ledger_amend(ledger, &amendment, &error));
    json_decref(policy);
    brume_dataset_close(dataset);
}

/* ---- races ---- */

enum { RACERS = 64, CARRIED = 23 };

/* One charge of windows 5 and others; 0: it was carried, 1: it was refused. */
static int race(const place *where, int number)
{
    brume_error error = {0};
    brume_ledger *ledger = NULL;
    if (brume_ledger_open(where->path, BRUME_LEDGER_WRITE, &ledger, &error) != BRUME_OK)
        return 2;
    brume_window_set set = from_to(5 - number % 3, 5 + number % 5);
    brume_status status = charge(ledger, "visits", &set, "0.1", "0.1", &error);
    brume_window_set_free(&set);
    brume_ledger_close(ledger);
    return status == BRUME_OK ? 0 : status == BRUME_EBUDGET ? 1 : 3;
}

static void of_64_processes_as_many_get_a_window_as_its_budget_carries(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    brume_ledger_report report;
    pid_t children[RACERS];
    int carried = 0;
    make_place(&where);
    brume_ledger *ledger = open_ledger(&where);
    register_windows(ledger, "visits", "1000", "2.3");
    brume_ledger_close(ledger);
    for (int i = 0; i < RACERS; i++)
        if ((children[i] = fork()) == 0)
            _exit(race(&where, i));
    for (int i = 0; i < RACERS; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) <= 1);
        carried += WEXITSTATUS(status) == 0;
    }
    assert_int_equal(carried, CARRIED);
    ledger = open_ledger(&where);
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    assert_int_equal(report.reservations, CARRIED);
    brume_ledger_close(ledger);
    remove_place(&where);
}

/* ---- damage ---- */

static void every_change_of_a_page_is_found(void **state)
{
    (void)state;
    static const char *const edits[] = {
        "UPDATE window_page SET body = replace(body, '0.5', '0.4')",
        "UPDATE window_page SET hash = upper(hash)",
        "UPDATE window_page SET dataset = 'other'",
        "UPDATE window_page SET first = 1 WHERE first = 0",
        "DELETE FROM window_page",
        "DELETE FROM window_page WHERE first < -1000000",
        /* what another set of charges would leave, with its right hash */
        "UPDATE window_page SET body = '0 8 0.5 0' || char(10), hash = "
        "'5ff0cc94a1e2d5d4d5d6bba0b5e20ee2f9aa3d2bb4b9b0ef7c5c9f6a15f2d1f3'",
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        place where;
        brume_error error = {0};
        brume_ledger_report report;
        make_place(&where);
        brume_ledger *ledger = open_ledger(&where);
        register_windows(ledger, "visits", "20", "1");
        brume_window_set days = from_to(0, 9);
        days.undated = true;
        assert_ok(charge(ledger, "visits", &days, "0.5", "0.5", &error));
        assert_ok(brume_ledger_verify(ledger, &report, &error));
        brume_ledger_close(ledger);
        tamper(&where, edits[i]);
        ledger = open_ledger(&where);
        assert_fails(brume_ledger_verify(ledger, &report, &error), BRUME_EDAMAGED);
        assert_fails(charge(ledger, "visits", &days, "0.1", "0.1", &error), BRUME_EDAMAGED);
        brume_window_set_free(&days);
        brume_ledger_close(ledger);
        remove_place(&where);
    }
}

/* ---- deaths ---- */

/* The process dies in its first, its second, ... write to a file, until a charge gets through. */
static void death_at_any_write_leaves_the_charge_whole_or_none_of_it(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    brume_ledger_report report;
    int deaths = 0, charged = 0;
    make_place(&where);
    brume_ledger *ledger = open_ledger(&where);
    register_windows(ledger, "visits", "1000", "1000");
    brume_ledger_close(ledger);
    for (int write = 0; charged < 3; write++) {
        pid_t child = fork();
        if (child == 0) {
            ledger = open_ledger(&where);
            brume_window_set set = from_to(0, 700);
            for (int i = 0; i < 700; i += 3) /* many runs, so that several pages are written */
                assert_ok(brume_window_set_add(&set, 1000 + 2 * i, 1000 + 2 * i, &error));
            writes_left = write;
            brume_status status = charge(ledger, "visits", &set, "0.5", "0.25", &error);
            writes_left = -1;
            _exit(status == BRUME_OK ? 0 : 1);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 97));
        deaths += WEXITSTATUS(status) == 97;
        charged += WEXITSTATUS(status) == 0;
        ledger = open_ledger(&where);
        assert_ok(brume_ledger_verify(ledger, &report, &error)); /* pages are what rows say */
        brume_ledger_close(ledger);
    }
    assert_holds(deaths > 5);
    print_message("# died in %d writes\n", deaths);
    remove_place(&where);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_charges_equal_one_number_per_window),
        cmocka_unit_test(a_long_range_is_one_run),
        cmocka_unit_test(a_charge_is_of_unit_and_windows_or_of_nothing),
        with_fresh_ledger(a_window_budget_that_cannot_bind_is_refused),
        with_fresh_ledger(an_amendment_stays_above_what_windows_have_spent),
        with_fresh_ledger(without_a_budget_every_table_is_in_a_window),
        cmocka_unit_test(of_64_processes_as_many_get_a_window_as_its_budget_carries),
        cmocka_unit_test(every_change_of_a_page_is_found),
        cmocka_unit_test(death_at_any_write_leaves_the_charge_whole_or_none_of_it),
    };
    return cmocka_run_group_tests_name("windows of the ledger", tests, NULL, NULL);
}
