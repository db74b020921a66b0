/* What a charge of windows costs: 3,650 windows that have all spent something else, one window, and
 * one run of ten thousand years; what verifying that ledger costs; and how long it takes to derive
 * which windows a condition of 64 nodes touches, of 3,650 days and of 65,536.
 *
 * usage: windows [ROUNDS]   (15) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ledger/ledger.h"
#include "query/plan/touched.h"
#include "query/sql/parse.h"

enum { WINDOWS = 3650 };

static void must(brume_status status, const brume_error *error)
{
    if (status == BRUME_OK)
        return;
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

static double clock_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static brume_charge price_of(const char *text)
{
    brume_error error = {0};
    brume_decimal amount;
    brume_charge price;
    must(brume_decimal_parse(text, &amount, &error), &error);
    must(brume_charge_make(BRUME_RULE_PURE, &amount, NULL, &price, &error), &error);
    return price;
}

static void add_dataset(brume_ledger *ledger, const char *name)
{
    brume_error error = {0};
    brume_charge budget = price_of("1000");
    brume_filter filter;
    must(brume_filter_make(BRUME_RULE_PURE, &budget.amount, NULL, NULL, &filter, &error), &error);
    json_t *policy = json_pack("{s:{s:s,s:s,s:s,s:s}}", "window", "place", "column", "column",
                               "day", "length", "day", "offset", "");
    brume_registration new = {.name = name,
                              .source = name,
                              .data_version = "",
                              .adjacency = BRUME_ADD_REMOVE,
                              .filter = &filter,
                              .policy = policy,
                              .window_budget = &filter};
    must(brume_ledger_register(ledger, &new, &error), &error);
    json_decref(policy);
}

static void charge(brume_ledger *ledger, const char *name, int64_t first, int64_t last,
                   const char *price)
{
    brume_error error = {0};
    uint64_t id = 0;
    brume_window_range range = {first, last};
    brume_window_set set = {&range, 1, false};
    brume_charge amount = price_of(price);
    brume_ledger_charge one = {
        .dataset = name, .price = &amount, .windows = &set, .window_price = &amount};
    brume_reservation reservation = {
        .charges = &one, .charge_count = 1, .sql = "SELECT 1", .answer_key = "key"};
    must(brume_ledger_reserve(ledger, &reservation, &id, &error), &error);
}

static void measure(brume_ledger *ledger, const char *name, int64_t first, int64_t last, int rounds,
                    const char *what)
{
    double wall = 1e9, processor = 1e9;
    for (int i = 0; i < rounds; i++) {
        double began = clock_of(CLOCK_MONOTONIC), used = clock_of(CLOCK_PROCESS_CPUTIME_ID);
        charge(ledger, name, first, last, "0.0000007");
        began = clock_of(CLOCK_MONOTONIC) - began;
        used = clock_of(CLOCK_PROCESS_CPUTIME_ID) - used;
        wall = began < wall ? began : wall;
        processor = used < processor ? used : processor;
    }
    printf("%-44s least of %d: %6.2f ms of processor time, %6.2f ms\n", what, rounds, processor,
           wall);
}

/* A range of days, and conditions of dates and of another column until there are 64 nodes. */
static void write_question(char *sql, size_t size, const char *first, const char *last)
{
    static const char *const parts[] = {"EXTRACT(isodow FROM d) < 6", "d + 7 <> DATE '2020-02-03'",
                                        "EXTRACT(month FROM d) IN (1, 2, 3)",
                                        "NOT (x = 1 OR d IS NULL)",
                                        "strftime(d, '%Y-%m') <> '2021-05'"};
    size_t length = (size_t)snprintf(
        sql, size, "SELECT COUNT(*) FROM a WHERE d >= DATE '%s' AND d < DATE '%s'", first, last);
    for (int i = 0; i < 12; i++) /* 12 times 5 nodes or so, and 4 */
        length += (size_t)snprintf(sql + length, size - length, " AND (%s%s)",
                                   i % 3 ? "" : "x > 2 OR ", parts[i % 5]);
}

static void measure_derivation(const char *first, const char *last, int rounds, const char *what)
{
    static const brume_catalog_column columns[] = {
        {"u", {BRUME_TYPE_BIGINT, 0, 0}, 0, "", false, NULL, NULL, false, false},
        {"d", {BRUME_TYPE_DATE, 0, 0}, 0, "", false, NULL, NULL, false, false},
        {"x", {BRUME_TYPE_BIGINT, 0, 0}, 0, "", false, NULL, NULL, false, false}};
    static const brume_catalog_table table = {"a",  BRUME_PRIVACY_UNIT, 0, columns, 3,
                                              NULL, {0, 0, 0}};
    const brume_catalog catalog = {&table, 1};
    brume_policy_column named[] = {
        {.name = (char *)"u"}, {.name = (char *)"d"}, {.name = (char *)"x"}};
    brume_policy policy = {.columns = named, .column_count = 3};
    brume_dataset dataset = {.name = (char *)"a"};
    const brume_plan_table tables[] = {{&dataset, &policy}};
    const brume_window_wish wish = {.now = INT64_C(40000) * BRUME_WINDOW_MICROSECONDS * 10};
    brume_error error = {0};
    double least = 1e9;
    char sql[4000];
    policy.window.place = BRUME_WINDOW_BY_COLUMN;
    policy.window.column = (char *)"d";
    must(brume_window_grid_parse("day", NULL, &policy.window.grid, &error), &error);
    write_question(sql, sizeof sql, first, last);
    for (int i = 0; i < rounds; i++) {
        brume_query *query = NULL;
        brume_touched *touched = NULL;
        must(brume_query_parse(sql, &catalog, &query, &error), &error);
        double used = clock_of(CLOCK_PROCESS_CPUTIME_ID);
        must(brume_touched_find(query, tables, &wish, &touched, &error), &error);
        used = clock_of(CLOCK_PROCESS_CPUTIME_ID) - used;
        least = used < least ? used : least;
        brume_touched_close(touched);
        brume_query_free(query);
    }
    printf("%-44s least of %d: %6.2f ms of processor time\n", what, rounds, least);
}

int main(int count, char **words)
{
    int rounds = count > 1 ? atoi(words[1]) : 15;
    char folder[] = "/tmp/brume-bench-XXXXXX", path[64], number[32];
    brume_error error = {0};
    brume_ledger *ledger = NULL;
    brume_ledger_report report;
    if (rounds < 1 || !mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/l.db", folder);
    must(brume_ledger_open(path, BRUME_LEDGER_CREATE, &ledger, &error), &error);
    add_dataset(ledger, "visits");
    add_dataset(ledger, "other");
    for (int i = 0; i < WINDOWS; i++) {
        snprintf(number, sizeof number, "0.0%07d", 1000000 + i);
        charge(ledger, "visits", i, i, number);
    }
    measure(ledger, "visits", 0, WINDOWS - 1, rounds, "3,650 windows, all different");
    measure(ledger, "visits", 7, 7, rounds, "one of them");
    measure(ledger, "other", 20000, 20000, rounds, "one window of an untouched dataset");
    measure(ledger, "other", BRUME_WINDOW_FIRST_DAY, BRUME_WINDOW_LAST_DAY, rounds,
            "ten thousand years in one run");
    double used = clock_of(CLOCK_PROCESS_CPUTIME_ID);
    must(brume_ledger_verify(ledger, &report, &error), &error);
    printf("verify, %llu charges: %.0f ms of processor time\n",
           (unsigned long long)report.reservations, clock_of(CLOCK_PROCESS_CPUTIME_ID) - used);
    measure_derivation("2016-01-01", "2025-12-29", rounds, "deriving windows, 3,650 days");
    measure_derivation("1900-01-01", "2079-06-06", rounds, "deriving windows, 65,536 days");
    measure_derivation("0001-01-01", "9999-12-31", rounds, "deriving windows, all days there are");
    brume_ledger_close(ledger);
    static const char *const endings[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < 3; i++) {
        char each[80];
        snprintf(each, sizeof each, "%s%s", path, endings[i]);
        unlink(each);
    }
    rmdir(folder);
    return 0;
}
