/* Whole questions, replayed on two datasets that agree in the touched windows: with the same bits
 * every answer is the same, byte by byte, with its price, its bars and its chosen limits. So
 * nothing of an answer depends on rows of other windows: no join, no row that another one follows,
 * no look that chooses a limit, no centre, no test of keys.
 *
 *   test_window_replay [ROUNDS [TEST]]
 *
 * The tables: visits and calls have dates, drugs are linked to visits and have none, labs are
 * linked to visits and notes to patients, with dates of their own; patients have no dates, and
 * wards are public. As a control the same questions are asked without the cut, on the same two
 * datasets: then most answers differ. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include <libpq-fe.h>

#include "ask_json.h"
#include "columns.h"
#include "number/decimal.h"
#include "query/collect/unit_count.h"
#include "query/plan/tables.h"
#include "query/release/charged.h"
#include "random/tape.h"
#include "registered.h"

enum { VISITS, CALLS, DRUGS, PATIENTS, WARDS, LABS, NOTES, TABLES, WORLDS = 2 };
enum { PEOPLE = 60, FIRST_KEPT = 5, LAST_KEPT = 9, DAYS = 20 }; /* days of January 2026 */

static const char *const names[TABLES] = {"visits", "calls", "drugs", "patients",
                                          "wards",  "labs",  "notes"};
static const char *const declared[TABLES] = {
    "visit bigint, person bigint, day date, ward text, cost bigint, code bigint",
    "person bigint, day date, length bigint",
    "visit bigint, drug text, dose bigint",
    "person bigint, born bigint, card bigint",
    "ward text, floor bigint",
    "visit bigint, taken date, value bigint",
    "card bigint, day date, pages bigint",
};

static brume_error error;
static char folder[64];
static int rounds = 1;
static uint64_t state_of_rows;

static uint64_t next(uint64_t below)
{
    return brume_tape_splitmix(&state_of_rows) % below;
}

/* ---- two datasets ---- */

static const char *path_of(int world, int table)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s%d.csv", folder, names[table], world);
    return path;
}

static void put_visit(FILE *visits, FILE *drugs, int visit, int day)
{
    char date[32] = "";
    if (day > 0)
        snprintf(date, sizeof date, "2026-01-%02d", day);
    fprintf(visits, "%d,%d,%s,%c,%d,%d\n", visit, (int)next(PEOPLE), date, "abc"[next(3)],
            (int)(next(10) ? next(30) : next(101)), 1000 + (int)next(40));
    for (uint64_t i = next(3); i > 0; i--)
        fprintf(drugs, "%d,%c,%d\n", visit, "xyz"[next(3)], (int)next(21));
}

static int other_day(void)
{
    int day = (int)next(DAYS) + 1;
    return next(9) == 0 ? 0 : day >= FIRST_KEPT && day <= LAST_KEPT ? day + 8 : day;
}

/* Rows of the kept days, the same in both; then rows of other days, of which one has many. Visits
 * of other days have numbers of their own, or (every tenth) that of a visit of a kept day. */
static void write_world(int world, uint64_t seed)
{
    FILE *files[TABLES];
    for (int t = 0; t < TABLES; t++) {
        char head[200];
        size_t length = 0;
        files[t] = fopen(path_of(world, t), "w");
        assert_non_null(files[t]);
        for (const char *at = declared[t]; *at; at++) { /* the names, without the types */
            const char *end = strchr(at, ' '), *comma = strchr(at, ',');
            length += (size_t)snprintf(head + length, sizeof head - length, "%s%.*s",
                                       length ? "," : "", (int)(end - at), at);
            if (!comma)
                break;
            at = comma + 1;
        }
        fprintf(files[t], "%s\n", head);
    }
    state_of_rows = seed;
    for (int i = 0; i < 130; i++)
        put_visit(files[VISITS], files[DRUGS], i,
                  FIRST_KEPT + (int)next(LAST_KEPT - FIRST_KEPT + 1));
    for (int i = 0; i < 70; i++)
        fprintf(files[CALLS], "%d,2026-01-%02d,%d\n", (int)next(PEOPLE),
                FIRST_KEPT + (int)next(LAST_KEPT - FIRST_KEPT + 1), (int)next(61));
    for (int i = 0; i < PEOPLE; i++)
        fprintf(files[PATIENTS], "%d,%d,%d\n", i, 1930 + (int)next(80), 500 + i);
    fprintf(files[WARDS], "a,1\nb,2\nc,2\n");
    for (int i = 0; i < 90; i++) { /* of kept days, some of visits of other days */
        int day = FIRST_KEPT + (int)next(LAST_KEPT - FIRST_KEPT + 1);
        fprintf(files[LABS], "%d,2026-01-%02d,%d\n", (int)(next(4) ? next(130) : 1001 + next(40)),
                day, (int)next(10));
        fprintf(files[NOTES], "%d,2026-01-%02d,%d\n", 500 + (int)next(PEOPLE), day, (int)next(8));
    }
    state_of_rows = seed + 100 + (uint64_t)world;
    for (int i = world ? 40 : 150; i > 0; i--)
        put_visit(files[VISITS], files[DRUGS], 1000 + i, other_day());
    for (int i = 0; i < (world ? 30 : 4); i++) { /* no drugs: those of visit i are of its window */
        int day = other_day();
        fprintf(files[VISITS], "%d,%d,2026-01-%02d,%c,%d,%d\n", i, (int)next(PEOPLE), day ? day : 1,
                "abc"[next(3)], (int)next(101), 1000 + (int)next(900));
    }
    for (int i = world ? 100 : 10; i > 0; i--) {
        int day = other_day();
        fprintf(files[CALLS], "%d,2026-01-%02d,%d\n", (int)next(PEOPLE), day ? day : 1,
                (int)next(61));
    }
    for (int i = world ? 20 : 90; i > 0; i--) {
        int day = other_day();
        fprintf(files[LABS], "%d,2026-01-%02d,%d\n", (int)next(200), day ? day : 1, (int)next(10));
        fprintf(files[NOTES], "%d,2026-01-%02d,%d\n", 500 + (int)next(PEOPLE), day ? day : 1,
                (int)next(8));
    }
    for (int t = 0; t < TABLES; t++)
        assert_int_equal(fclose(files[t]), 0);
}

/* The same rows in a schema of a server. */
static void fill_server(PGconn *to, int world)
{
    for (int t = 0; t < TABLES; t++) {
        char sql[400], line[200];
        snprintf(sql, sizeof sql,
                 "DROP TABLE IF EXISTS w%d_%s; CREATE TABLE w%d_%s (%s); COPY w%d_%s FROM STDIN "
                 "WITH (FORMAT csv, HEADER)",
                 world, names[t], world, names[t], declared[t], world, names[t]);
        PGresult *result = PQexec(to, sql);
        if (PQresultStatus(result) != PGRES_COPY_IN)
            fail_msg("%s", PQerrorMessage(to));
        PQclear(result);
        FILE *file = fopen(path_of(world, t), "r");
        assert_non_null(file);
        while (fgets(line, sizeof line, file))
            assert_int_equal(PQputCopyData(to, line, (int)strlen(line)), 1);
        fclose(file);
        assert_int_equal(PQputCopyEnd(to, NULL), 1);
        while ((result = PQgetResult(to))) {
            assert_int_equal(PQresultStatus(result), PGRES_COMMAND_OK);
            PQclear(result);
        }
    }
}

static const char *server(void)
{
    return getenv("BRUME_TEST_POSTGRESQL");
}

static brume_policy *describe(int world, int table, bool on_server)
{
    char name[64];
    brume_source source = {.location = server(), .table = name};
    snprintf(name, sizeof name, "w%d_%s", world, names[table]);
    brume_policy *policy = on_server ? registered_policy(&source)
                                     : registered_file(path_of(world, table), declared[table]);
    return policy;
}

static brume_tables *describe_all(int world, bool on_server)
{
    static const char *const values[] = {"a", "b", "c"};
    static const char *const drugs[] = {"x", "y", "z"};
    brume_tables *tables = brume_tables_open(TABLES);
    assert_non_null(tables);
    tables->is_listed = true;
    for (int t = 0; t < TABLES; t++) {
        brume_policy *policy = describe(world, t, on_server);
        tables->list[t].name = strdup(names[t]);
        tables->list[t].policy = policy;
        policy->is_public = t == WARDS;
        if (t == VISITS || t == CALLS || t == PATIENTS)
            assert_ok(brume_policy_set_unit(policy, "person", &error));
        if (t == VISITS || t == CALLS) {
            policy->window.place = BRUME_WINDOW_BY_COLUMN;
            policy->window.column = strdup("day");
        }
        if (t == DRUGS) {
            policy->window.place = BRUME_WINDOW_BY_LINK;
            assert_ok(brume_policy_set_link(policy, "visit", "visits", "visit", &error));
            assert_ok(brume_policy_set_bounds(policy, "dose", "0", "20", &error));
            assert_ok(brume_policy_set_domain(policy, "drug", drugs, 3, &error));
        }
        if (t == LABS || t == NOTES) { /* linked, with dates of their own */
            policy->window.place = BRUME_WINDOW_BY_COLUMN;
            policy->window.column = strdup(t == LABS ? "taken" : "day");
            assert_ok(brume_policy_set_link(policy, t == LABS ? "visit" : "card",
                                            t == LABS ? "visits" : "patients",
                                            t == LABS ? "visit" : "card", &error));
            assert_ok(
                brume_policy_set_bounds(policy, t == LABS ? "value" : "pages", "0", "9", &error));
        }
        if (t == PATIENTS) {
            policy->window.place = BRUME_WINDOW_TIMELESS;
            assert_ok(brume_policy_set_bounds(policy, "born", "1900", "2020", &error));
        }
        if (t == VISITS) {
            assert_ok(brume_policy_set_bounds(policy, "cost", "0", "100", &error));
            assert_ok(brume_policy_set_bounds(policy, "code", "0", "5000", &error));
            assert_ok(brume_policy_set_domain(policy, "ward", values, 3, &error));
        }
        if (t == CALLS)
            assert_ok(brume_policy_set_bounds(policy, "length", "0", "60", &error));
        if (t != WARDS)
            assert_ok(brume_window_grid_parse("day", NULL, &policy->window.grid, &error));
    }
    assert_ok(brume_tables_check(tables, &error));
    return tables;
}

static brume_filter filter_of(brume_rule rule, const char *epsilon)
{
    brume_decimal amount, delta;
    brume_filter filter;
    assert_ok(brume_decimal_parse(epsilon, &amount, &error));
    assert_ok(brume_decimal_parse("0.01", &delta, &error));
    assert_ok(brume_filter_make(rule, &amount, rule == BRUME_RULE_PURE ? NULL : &delta, NULL,
                                &filter, &error));
    return filter;
}

static brume_ledger *open_ledger(int world, bool on_server, brume_rule rule,
                                 brume_adjacency adjacency)
{
    char path[128];
    brume_ledger *ledger = NULL;
    snprintf(path, sizeof path, "%s/ledger.db", folder);
    registered_remove_ledger(path);
    assert_ok(brume_ledger_open(path, BRUME_LEDGER_CREATE, &ledger, &error));
    brume_filter whole = filter_of(rule, "100000"), window = filter_of(rule, "100000");
    brume_tables *tables = describe_all(world, on_server);
    json_t *json = brume_tables_to_json(tables);
    brume_registration registration = {.name = "clinic",
                                       .source = "clinic",
                                       .data_version = "",
                                       .adjacency = adjacency,
                                       .filter = &whole,
                                       .window_budget = &window,
                                       .policy = json};
    assert_ok(brume_ledger_register(ledger, &registration, &error));
    json_decref(json);
    brume_tables_close(tables);
    return ledger;
}

/* ---- questions ---- */

#define KEPT "2026-01-05..2026-01-09"

/* None of them bounds its dates: what is kept is the word of '--windows'. */
static const char *const questions[] = {
    "SELECT COUNT(*), COUNT(DISTINCT person) FROM visits",
    "SELECT ward, COUNT(*), SUM(cost) FROM visits GROUP BY ward",
    "SELECT ward, AVG(cost), STDDEV(cost) FROM visits GROUP BY ward",
    "SELECT AVG(cost) FROM visits",
    "SELECT MEDIAN(cost), quantile_cont(cost, 0.9) FROM visits",
    "SELECT MODE() WITHIN GROUP (ORDER BY ward) FROM visits",
    "SELECT MODE() WITHIN GROUP (ORDER BY code) FROM visits",
    "SELECT COUNT(DISTINCT code) FROM visits",
    "SELECT MIN(cost), MAX(cost) FROM visits",
    "SELECT corr(cost, code) FROM visits",
    "SELECT day, COUNT(*) FROM visits GROUP BY day",
    "SELECT code, COUNT(*) FROM visits GROUP BY code",
    "SELECT code FROM visits GROUP BY code",
    /* joins */
    "SELECT COUNT(*), AVG(born) FROM visits v JOIN patients p ON v.person = p.person",
    "SELECT COUNT(*), COUNT(v.cost) FROM patients p LEFT JOIN visits v ON v.person = p.person",
    "SELECT MEDIAN(v.cost) FROM patients p LEFT JOIN visits v ON v.person = p.person",
    "SELECT MEDIAN(COALESCE(v.cost, 50)) FROM patients p LEFT JOIN visits v ON v.person = p.person",
    "SELECT MEDIAN(born) FROM patients p LEFT JOIN visits v ON v.person = p.person WHERE v.day IS NULL",
    "SELECT AVG(born), SUM(cost) FROM visits v RIGHT JOIN patients p ON v.person = p.person",
    "SELECT COUNT(*), SUM(cost), MEDIAN(length) FROM visits v FULL JOIN calls c ON v.person = c.person",
    "SELECT COUNT(*), SUM(length) FROM visits v JOIN calls c ON v.person = c.person AND v.day = c.day",
    "SELECT COUNT(*) FROM visits v LEFT JOIN calls c ON v.person = c.person AND v.day < c.day",
    "SELECT MODE() WITHIN GROUP (ORDER BY c.length) FROM visits v LEFT JOIN calls c ON v.person = c.person",
    "SELECT w.floor, COUNT(*), AVG(cost) FROM visits v JOIN wards w ON v.ward = w.ward GROUP BY w.floor",
    "SELECT w.floor, COUNT(*) FROM visits v LEFT JOIN wards w ON v.ward = w.ward GROUP BY w.floor",
    /* what is there, and what is not */
    "SELECT COUNT(*), AVG(born) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.person = p.person)",
    "SELECT COUNT(*), MEDIAN(born) FROM patients p WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.person "
    "= p.person AND cost > 10)",
    "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM calls c WHERE c.person = v.person AND c.day "
    ">= v.day) OR cost > 50",
    "SELECT SUM(length) FROM calls c WHERE person IN (SELECT person FROM visits WHERE ward = 'a')",
    /* links */
    "SELECT drug, COUNT(*), SUM(dose) FROM drugs GROUP BY drug",
    "SELECT MEDIAN(dose) FROM drugs d JOIN visits v ON d.visit = v.visit",
    "SELECT AVG(dose) FROM patients p LEFT JOIN (SELECT v.person, d.dose FROM visits v JOIN drugs d ON "
    "d.visit = v.visit) s ON s.person = p.person",
    "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM drugs d WHERE d.visit = v.visit AND dose > 5)",
    "SELECT COUNT(*), SUM(value) FROM labs",
    "SELECT MEDIAN(value) FROM visits v LEFT JOIN labs l ON l.visit = v.visit",
    "SELECT COUNT(*), AVG(pages) FROM notes",
    "SELECT MEDIAN(pages) FROM patients p LEFT JOIN notes n ON n.card = p.card",
    /* subqueries */
    "SELECT AVG(CLAMP(n, 0, 9)), MEDIAN(CLAMP(n, 0, 9)) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) s",
    "SELECT n, COUNT(*) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) s GROUP BY n",
    "SELECT COUNT(*), AVG(m) FROM (SELECT person, MAX(cost) AS m FROM visits GROUP BY person) s JOIN patients "
    "p ON p.person = s.person WHERE m > 20",
    "SELECT COUNT(*), SUM(cost) FROM visits WHERE cost > (SELECT AVG(length) FROM calls)",
    "SELECT COUNT(*) FROM (SELECT person, day FROM visits UNION ALL SELECT person, day FROM calls) s",
    /* timelines: rows before and after, of any day */
    "SELECT AVG(CLAMP(day - before, 0, 30)), COUNT(before) FROM (SELECT person, day, LAG(day) OVER (PARTITION BY "
    "person ORDER BY day, visit) AS before FROM visits) s",
    "SELECT SUM(CLAMP(c, 0, 100)) FROM (SELECT person, LEAD(cost, 1, 0) OVER (PARTITION BY person ORDER BY day, visit) AS "
    "c FROM visits) s",
    "SELECT COUNT(*), MEDIAN(cost) FROM (SELECT person, cost, ROW_NUMBER() OVER (PARTITION BY person ORDER BY "
    "day DESC, visit) AS k FROM visits) s WHERE k = 1",
    "SELECT ward, SUM(CLAMP(k, 0, 300)) FROM (SELECT person, ward, SUM(cost) OVER (PARTITION BY person ORDER BY day, visit) "
    "AS k FROM visits) s GROUP BY ward",
    "SELECT COUNT(*) FROM visits",
    "SELECT SUM(cost) FROM visits",
    "SELECT COUNT(*) FROM patients p LEFT JOIN visits v ON v.person = p.person",
    "SELECT ward, SUM(cost) FROM visits v JOIN calls c ON v.person = c.person GROUP BY ward",
};
enum { QUESTIONS = sizeof questions / sizeof *questions };

/* Without when it was read, which is the clock's. */
static char *ask(brume_ledger *ledger, const char *sql, const brume_payment *payment, uint64_t seed)
{
    json_t *answer = NULL;
    brume_bits *bits = brume_tape_open_seeded(seed);
    brume_status status = ask_json(ledger, sql, payment, NULL, bits, NULL, &answer, &error);
    brume_bits_close(bits);
    if (status == BRUME_EUNSUPPORTED || status == BRUME_EARGUMENT || status == BRUME_EPOLICY) {
        char *text = NULL;
        assert_true(asprintf(&text, "refused: %s", error.message) > 0);
        return text;
    }
    if (status != BRUME_OK)
        fail_msg("%s: %s", sql, error.message);
    json_object_del(answer, "as_of");
    json_t *stage;
    size_t i;
    json_array_foreach (json_object_get(answer, "stages"), i, stage)
        json_object_del(stage, "as_of");
    char *text = json_dumps(answer, JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    json_decref(answer);
    assert_non_null(text);
    return text;
}

typedef struct counts {
    size_t asked, refused, different;
} counts;

typedef struct setting {
    const char *name;
    brume_rule rule;
    brume_adjacency adjacency;
    brume_payment payment;
    bool on_server;
} setting;

static char *answers[WORLDS][QUESTIONS];

/* All questions on both datasets. */
static void replay(const setting *of, const char *windows, uint64_t seed, counts *out)
{
    for (int world = 0; world < WORLDS; world++) {
        brume_ledger *ledger = open_ledger(world, of->on_server, of->rule, of->adjacency);
        brume_payment payment = of->payment;
        payment.windows = windows;
        for (size_t i = 0; i < QUESTIONS; i++)
            answers[world][i] = ask(ledger, questions[i], &payment, seed * 1000 + i);
        brume_ledger_close(ledger);
    }
    for (size_t i = 0; i < QUESTIONS; i++) {
        bool refused = strncmp(answers[0][i], "refused", 7) == 0;
        bool differs = strcmp(answers[0][i], answers[1][i]) != 0;
        out->asked++;
        out->refused += refused;
        out->different += differs;
        if (refused && windows && getenv("BRUME_TEST_LOUD"))
            printf("# %s: %s: %s\n", of->name, questions[i], answers[0][i]);
        if (differs && windows)
            printf("# %s: %s\n# %s\n# %s\n", of->name, questions[i], answers[0][i], answers[1][i]);
        free(answers[0][i]);
        free(answers[1][i]);
    }
}

enum { QUICK = 3 }; /* of them, in one round */
static const setting settings[] = {
    {"pure, sharp", BRUME_RULE_PURE, BRUME_ADD_REMOVE, {.epsilon = "500"}, false},
    {"approximate",
     BRUME_RULE_APPROXIMATE,
     BRUME_ADD_REMOVE,
     {.epsilon = "1", .delta = "1e-6"},
     false},
    {"concentrated", BRUME_RULE_CONCENTRATED, BRUME_ADD_REMOVE, {.rho = "0.5"}, false},
    {"pure", BRUME_RULE_PURE, BRUME_ADD_REMOVE, {.epsilon = "1"}, false},
    {"approximate, replace",
     BRUME_RULE_APPROXIMATE,
     BRUME_REPLACE,
     {.epsilon = "20", .delta = "1e-6"},
     false},
    {"limit of 2",
     BRUME_RULE_PURE,
     BRUME_ADD_REMOVE,
     {.epsilon = "2", .limits = {"2"}, .limit_count = 1},
     false},
    {"here",
     BRUME_RULE_PURE,
     BRUME_ADD_REMOVE,
     {.epsilon = "2", .where = BRUME_WHERE_BRUME},
     false},
};

static void make_worlds(uint64_t seed)
{
    for (int world = 0; world < WORLDS; world++)
        write_world(world, seed);
}

static void rows_of_other_windows_change_no_answer(void **state)
{
    (void)state;
    counts all = {0}, uncut = {0};
    for (int round = 0; round < rounds; round++) {
        make_worlds((uint64_t)round + 1);
        for (size_t i = 0; i < (rounds > 1 ? sizeof settings / sizeof *settings : QUICK); i++)
            replay(&settings[i], KEPT, (uint64_t)round + 1, &all);
    }
    replay(&settings[0], NULL, 1, &uncut); /* the control */
    printf("# %zu questions twice, %zu refused: %zu differ; without the cut %zu of %zu\n",
           all.asked, all.refused, all.different, uncut.different, uncut.asked);
    assert_int_equal(all.different, 0);
    assert_true(all.refused * 4 < all.asked);
    assert_true(uncut.different * 10 > uncut.asked * 6);
}

/* Rows that a server adds up, or sends. */
static void rows_of_a_server_change_no_answer(void **state)
{
    (void)state;
    if (!server())
        skip();
    PGconn *to = PQconnectdb(server());
    PQclear(PQexec(to, "SET client_min_messages = warning"));
    counts all = {0}, uncut = {0};
    for (int round = 0; round < rounds; round++) {
        make_worlds((uint64_t)round + 1);
        for (int world = 0; world < WORLDS; world++)
            fill_server(to, world);
        static const brume_where places[] = {BRUME_WHERE_ENGINE, BRUME_WHERE_BRUME};
        for (size_t i = 0; i < 2; i++) {
            setting there = {i ? "rows of a server" : "totals of a server",
                             BRUME_RULE_APPROXIMATE,
                             BRUME_ADD_REMOVE,
                             {.epsilon = "2", .delta = "1e-6", .where = places[i]},
                             true};
            replay(&there, KEPT, (uint64_t)round + 1, &all);
            if (round == 0) {
                there.payment.epsilon = "500";
                replay(&there, NULL, 1, &uncut);
            }
        }
    }
    PQfinish(to);
    printf("# %zu questions twice, %zu refused: %zu differ; without the cut %zu of %zu\n",
           all.asked, all.refused, all.different, uncut.different, uncut.asked);
    assert_int_equal(all.different, 0);
    assert_true(uncut.different * 10 > uncut.asked * 3);
}

/* ---- statistics and streams of one window ---- */

enum { MOST_TEXT = 1 << 16 };

typedef struct seen {
    char text[MOST_TEXT]; /* the rows that the statistic was given, or the counts of the stream */
} seen;

static brume_status keep_rows(void *context, const char *path, brume_bits *bits, json_t **answer,
                              brume_error *why)
{
    seen *to = context;
    FILE *file = fopen(path, "r");
    (void)bits, (void)why;
    assert_non_null(file);
    to->text[fread(to->text, 1, MOST_TEXT - 1, file)] = 0;
    fclose(file);
    *answer = json_object();
    return BRUME_OK;
}

static brume_status keep_counts(void *context, const brume_charged_stream *on, json_t **answer,
                                brume_error *why)
{
    static const char *const conditions[] = {"cost > 10", "ward = 'a' OR cost IS NULL",
                                             "day >= DATE '2026-01-06'", "day IS NOT NULL"};
    seen *to = context;
    brume_unit_counter *counter = NULL;
    size_t length = 0;
    BRUME_TRY(brume_unit_counter_open(on->question, on->engine, on->bits, &counter, why));
    for (size_t i = 0; i < 4; i++) {
        uint64_t units = 0;
        assert_ok(brume_unit_counter_ask(counter, conditions[i], &units, why));
        length += (size_t)snprintf(to->text + length, MOST_TEXT - length, "%llu ",
                                   (unsigned long long)units);
    }
    brume_unit_counter_close(counter);
    *answer = json_object();
    return BRUME_OK;
}

/* A dataset of visits alone, of which something that is no SQL is asked. */
static brume_status release_visits(int world, const char *windows, bool stream, bool row_is_unit,
                                   brume_adjacency adjacency, seen *out)
{
    char path[128];
    brume_ledger *ledger = NULL;
    brume_bits *bits = brume_tape_open_seeded(5);
    snprintf(path, sizeof path, "%s/ledger.db", folder);
    registered_remove_ledger(path);
    assert_ok(brume_ledger_open(path, BRUME_LEDGER_CREATE, &ledger, &error));
    brume_filter whole = filter_of(BRUME_RULE_PURE, "10"), window = filter_of(BRUME_RULE_PURE, "2");
    brume_policy *policy = describe(world, VISITS, false);
    if (!row_is_unit)
        assert_ok(brume_policy_set_unit(policy, "person", &error));
    assert_ok(brume_policy_set_bounds(policy, "cost", "0", "100", &error));
    policy->window.place = BRUME_WINDOW_BY_COLUMN;
    policy->window.column = strdup("day");
    assert_ok(brume_window_grid_parse("day", NULL, &policy->window.grid, &error));
    json_t *json = brume_policy_to_json(policy);
    brume_registration registration = {.name = "visits",
                                       .source = "visits",
                                       .data_version = "",
                                       .adjacency = adjacency,
                                       .filter = &whole,
                                       .window_budget = &window,
                                       .policy = json};
    assert_ok(brume_ledger_register(ledger, &registration, &error));
    brume_charged release = {.dataset = "visits",
                             .adjacency = adjacency,
                             .epsilon = "1.5",
                             .windows = windows,
                             .what = "rows",
                             .fresh = stream,
                             .draw = stream ? NULL : keep_rows,
                             .stream = stream ? keep_counts : NULL,
                             .context = out};
    json_t *answer = NULL;
    brume_status status = brume_charged_release(ledger, &release, bits, NULL, &answer, &error);
    if (status == BRUME_OK) { /* the window paid, and has not enough for it once more */
        seen second;
        release.fresh = true;
        release.context = &second;
        json_decref(answer);
        answer = NULL;
        assert_fails(brume_charged_release(ledger, &release, bits, NULL, &answer, &error),
                     BRUME_EBUDGET);
        release.windows = "2026-01-13"; /* another window has */
        assert_ok(brume_charged_release(ledger, &release, bits, NULL, &answer, &error));
    }
    json_decref(answer);
    json_decref(json);
    brume_policy_close(policy);
    brume_ledger_close(ledger);
    brume_bits_close(bits);
    return status;
}

/* What they are given is of the windows that they pay, whatever there is elsewhere. */
static void statistics_and_streams_read_their_window_alone(void **state)
{
    (void)state;
    static seen kept[WORLDS], other;
    for (int round = 0; round < rounds; round++) {
        make_worlds((uint64_t)round + 1);
        for (int kind = 0; kind < 4; kind++) { /* of a unit one row counts; a row is a unit */
            bool stream = kind % 2, row_is_unit = kind >= 2;
            const char *windows = row_is_unit ? KEPT : "2026-01-06";
            for (int world = 0; world < WORLDS; world++)
                assert_ok(release_visits(world, windows, stream, row_is_unit, BRUME_ADD_REMOVE,
                                         &kept[world]));
            if (strcmp(kept[0].text, kept[1].text) != 0)
                fail_msg("rows of other windows are seen: %.300s\n%.300s", kept[0].text,
                         kept[1].text);
            assert_true(strlen(kept[0].text) > 5);
            assert_ok(
                release_visits(0, "2026-01-12", stream, row_is_unit, BRUME_ADD_REMOVE, &other));
            assert_string_not_equal(kept[0].text, other.text);
        }
    }
    /* several windows, in which a unit's row may be another one; and what is public elsewhere */
    assert_fails(release_visits(0, KEPT, false, false, BRUME_ADD_REMOVE, &other),
                 BRUME_EUNSUPPORTED);
    assert_fails(release_visits(0, NULL, true, false, BRUME_ADD_REMOVE, &other),
                 BRUME_EUNSUPPORTED);
    assert_fails(release_visits(0, "2026-01-06", false, true, BRUME_REPLACE, &other),
                 BRUME_EUNSUPPORTED);
}

static int prepare(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/brume-window-replay-XXXXXX");
    return !mkdtemp(folder);
}

static int clean(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/ledger.db", folder);
    registered_remove_ledger(path);
    for (int world = 0; world < WORLDS; world++)
        for (int t = 0; t < TABLES; t++)
            unlink(path_of(world, t));
    return rmdir(folder);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = atoi(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_other_windows_change_no_answer),
        cmocka_unit_test(rows_of_a_server_change_no_answer),
        cmocka_unit_test(statistics_and_streams_read_their_window_alone),
    };
    if (argc > 2)
        cmocka_set_test_filter(argv[2]);
    return cmocka_run_group_tests_name("replays of windows", tests, prepare, clean);
}
