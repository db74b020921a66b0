/* Which windows a query touches: random conditions and random queries of several tables, on DuckDB
 * and PostgreSQL. With each scan cut to its windows an answer's rows are those without the cut; a
 * row in a window that is not touched changes nothing.
 *
 *   test_touched [SEED [CONDITIONS [QUERIES]]]
 *
 * 'tools/mutation/planted' has the faults that it must find. */
#include "check.h"
#include "columns.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <libpq-fe.h>

#include "query/expression/literal.h"
#include "query/plan/touched.h"
#include "query/print/statement.h"
#include "query/sql/parse.h"

enum { MOVED = 2, TABLES = 3, COLUMNS = 5, MOST_ROWS = 4000, LINE = 160 };

static uint64_t seed = 1;
static size_t conditions = 140, queries = 90;

static const char *const table_names[TABLES] = {"days", "a", "b"};
static brume_engine *engines[2], *moved; /* `moved` has other rows outside of some windows */
static int engine_count;
static brume_catalog catalogs[2];
static brume_catalog_table tables[2][TABLES];
static brume_catalog_column columns[2][TABLES][COLUMNS];
static brume_description descriptions[2][TABLES];
static brume_policy policies[TABLES];
static brume_policy_column policy_columns[COLUMNS];
static brume_dataset dataset = {.name = (char *)"clinic"};
static brume_plan_table plan_tables[TABLES];
static char folder[64];
static brume_error error;

static uint64_t next(uint64_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
}

static bool chance(unsigned percent)
{
    return next(100) < percent;
}

/* ---- random conditions ---- */

typedef struct text {
    char *data;
    size_t length, room;
} text;

static void say(text *to, const char *format, ...) BRUME_PRINTF(2, 3);
static void say(text *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    to->length +=
        (size_t)vsnprintf(to->data + to->length, to->room - to->length, format, arguments);
    va_end(arguments);
    assert_true(to->length < to->room);
}

static void day_text(int64_t day, char out[BRUME_WINDOW_LABEL])
{
    brume_window_grid days = {.length = BRUME_WINDOW_DAY};
    (void)brume_window_label(&days, day, out);
}

/* Mostly in the first half of 2024, and often about 1970: there division towards zero shows. */
static int64_t random_day(void)
{
    return chance(80) ? 19723 - 20 + (int64_t)next(70) : -7 + (int64_t)next(14);
}

/* A constant: at midnight, one microsecond beside it, or at noon. */
static void put_time(text *to, bool timestamp)
{
    static const char *const clocks[] = {"00:00:00", "00:00:00.000001", "12:00:00",
                                         "23:59:59.999999", "14:30:00"};
    char date[BRUME_WINDOW_LABEL];
    day_text(random_day(), date);
    if (chance(timestamp ? 50 : 20))
        say(to, "TIMESTAMP '%s %s'", date, clocks[next(5)]);
    else
        say(to, "DATE '%s'", date);
}

static const char *operator(void)
{
    static const char *const all[] = {"<", "<=", ">", ">=", "=", "<>"};
    return all[next(6)];
}

/* Functions of the date alone. */
static void put_function(text *to, const char *d, bool timestamp)
{
    static const char *const units[] = {"day", "week", "month", "quarter", "year", "hour"};
    static const char *const fields[] = {"month", "day",  "dow",     "isodow", "doy",
                                         "week",  "year", "isoyear", "quarter"};
    char date[BRUME_WINDOW_LABEL];
    day_text(random_day(), date);
    switch (next(9)) {
    case 0: /* mostly of no edge, where DuckDB by itself would say false of NULL */
        say(to, "date_trunc('%s', %s) %s TIMESTAMP '%s %s'", units[next(6)], d, operator(), date,
            chance(70) ? "00:00:00" : "00:00:00.000001");
        break;
    case 1:
        say(to, "EXTRACT(year FROM %s) %s %d", d, operator(),
            (int)(chance(50) ? 1968 + next(4) : 2023 + next(3)));
        break;
    case 2:
        say(to, "EXTRACT(%s FROM %s) %s %d", fields[next(9)], d, operator(), (int)next(14));
        break;
    case 3:
        say(to, "CAST(%s AS DATE) %s DATE '%s'", d, operator(), date);
        break;
    case 4:
        say(to, "%s %c INTERVAL '%d %s' %s TIMESTAMP '%s 00:00:00'", d, chance(50) ? '+' : '-',
            (int)next(40),
            chance(50)   ? "days"
            : chance(50) ? "months"
                         : "hours",
            operator(), date);
        break;
    case 5:
        say(to, "CAST(%s AS DATE) %c %d %s DATE '%s'", d, chance(50) ? '+' : '-',
            (int)next(60), operator(), date);
        break;
    case 6:
        say(to, "CAST(%s AS DATE) - DATE '%s' %s %d", d, date, operator(), (int)next(40) - 20);
        break;
    case 7:
        date[7] = 0;
        say(to, "strftime(%s, '%%Y-%%m') %s '%s'", d, operator(), date);
        break;
    default:
        if (timestamp)
            say(to, "EXTRACT(hour FROM %s) %s %d", d, operator(), (int)next(24));
        else
            say(to, "EXTRACT(day FROM %s) %% 7 %s %d", d, operator(), (int)next(7));
    }
}

static void put_atom(text *to, const char *table, bool timestamp)
{
    char d[16];
    snprintf(d, sizeof d, "%s.%c", table, timestamp ? 't' : 'd');
    switch (next(9)) {
    case 0:
    case 1:
        if (chance(30)) {
            put_time(to, timestamp);
            say(to, " %s %s", operator(), d);
        } else {
            say(to, "%s %s ", d, operator());
            put_time(to, timestamp);
        }
        break;
    case 2:
        say(to, "%s %sBETWEEN ", d, chance(30) ? "NOT " : "");
        put_time(to, timestamp);
        say(to, " AND ");
        put_time(to, timestamp);
        break;
    case 3: {
        char date[BRUME_WINDOW_LABEL];
        say(to, timestamp ? "CAST(%s AS DATE)" : "%s", d);
        say(to, " %sIN (", chance(30) ? "NOT " : "");
        for (uint64_t i = next(3) + 1; i > 0; i--) {
            day_text(random_day(), date);
            say(to, "DATE '%s'%s", date, i > 1 ? ", " : chance(20) ? ", NULL)" : ")");
        }
        break;
    }
    case 4:
        say(to, "%s IS %sNULL", d, chance(50) ? "NOT " : "");
        break;
    case 5:
    case 6:
        put_function(to, d, timestamp);
        break;
    case 7:
        say(to, "COALESCE(%s, ", d);
        put_time(to, timestamp);
        say(to, ") %s ", operator());
        put_time(to, timestamp);
        break;
    default:
        say(to, "%s.x %s %d", table, operator(), (int)next(3));
    }
}

static void put_condition(text *to, const char *table, bool timestamp, int depth)
{
    uint64_t kind = next(100);
    if (depth == 0 || kind < 20) {
        put_atom(to, table, timestamp);
        return;
    }
    say(to, kind < 72 ? "(" : kind < 87 ? "(NOT (" : kind < 94 ? "((" : "(CASE WHEN ");
    put_condition(to, table, timestamp, depth - 1);
    if (kind < 72) {
        say(to, kind < 50 ? " AND " : " OR ");
        put_condition(to, table, timestamp, depth - 1);
        say(to, ")");
    } else if (kind < 87) {
        say(to, "))");
    } else if (kind < 94) {
        static const char *const words[] = {"TRUE", "FALSE", "NULL"};
        const char *word = words[next(3)];
        say(to, ") IS %s%s)", chance(40) ? "NOT " : "", word);
    } else {
        say(to, " THEN ");
        put_condition(to, table, timestamp, depth - 1);
        say(to, " ELSE ");
        put_condition(to, table, timestamp, depth - 1);
        say(to, " END)");
    }
}

/* ---- rows ---- */

typedef struct rows {
    char (*lines)[LINE];
    size_t count;
} rows;

static int compare_lines(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The unit and the arguments of all aggregates, row by row, sorted. */
static void read_rows(int e, const brume_query *query, rows *out)
{
    const brume_expression *nodes[16];
    brume_wire wires[16];
    size_t count = 0;
    nodes[count++] = query->unit;
    for (size_t i = 0; i < query->aggregate_count; i++)
        if (query->aggregates[i].argument)
            nodes[count++] = query->aggregates[i].argument;
    for (size_t i = 0; i < count; i++)
        wires[i] = brume_type_wire(nodes[i]->type);
    const char *names[TABLES];
    brume_engine *engine = e == MOVED ? moved : engines[e];
    for (size_t i = 0; i < TABLES; i++)
        names[i] = brume_engine_table(engine, i);
    char *sql = NULL;
    assert_ok(brume_query_print_rows(query,
                                     e == 1 ? BRUME_DIALECT_POSTGRESQL : BRUME_DIALECT_DUCKDB,
                                     names, nodes, count, &sql, &error));
    brume_rows *from = NULL;
    const brume_chunk *chunk;
    if (brume_engine_select(engine, sql, wires, count, &from, &error) != BRUME_OK)
        fail_msg("%s\n%s", error.message, sql);
    out->count = 0;
    assert_ok(brume_rows_next(from, &chunk, &error));
    while (chunk) {
        for (size_t i = 0; i < chunk->row_count; i++) {
            assert_true(out->count < MOST_ROWS);
            char *line = out->lines[out->count++];
            size_t length = 0;
            for (size_t j = 0; j < count; j++)
                length += (size_t)(brume_chunk_is_null(&chunk->columns[j], i)
                                       ? snprintf(line + length, LINE - length, "|")
                                       : snprintf(line + length, LINE - length, "%lld|",
                                                  (long long)chunk->columns[j].integers[i]));
        }
        assert_ok(brume_rows_next(from, &chunk, &error));
    }
    brume_rows_close(from);
    free(sql);
    qsort(out->lines, out->count, LINE, compare_lines);
}

static bool same_rows(const rows *a, const rows *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->lines[i], b->lines[i]) != 0)
            return false;
    return true;
}

/* Windows of the tables: by d or t, of some length. */
static void set_windows(const char *column, const char *length)
{
    for (size_t i = 0; i < TABLES; i++) {
        policies[i] = (brume_policy){.columns = policy_columns, .column_count = COLUMNS};
        policies[i].window.place = BRUME_WINDOW_BY_COLUMN;
        policies[i].window.column = (char *)(uintptr_t)column;
        assert_ok(brume_window_grid_parse(length, NULL, &policies[i].window.grid, &error));
        plan_tables[i] = (brume_plan_table){&dataset, &policies[i]};
    }
}

static int64_t now(void)
{
    return INT64_C(21000) * BRUME_DAY; /* 2027, after all rows */
}

typedef struct counts {
    size_t asked, refused, empty, cut, missed, exact;
} counts;

static rows whole, part;

/* One query with and without its cut. `exact`: how many windows have a row that counts. */
static void try_query(int e, const char *sql, counts *out)
{
    brume_query *query = NULL;
    brume_touched *touched = NULL;
    brume_window_wish wish = {.now = now()};
    brume_status status = brume_query_parse(sql, &catalogs[e], &query, &error);
    if (status == BRUME_EUNSUPPORTED || status == BRUME_EARGUMENT) {
        out->refused++;
        return;
    }
    if (status != BRUME_OK)
        fail_msg("%s: %s", sql, error.message);
    out->asked++;
    read_rows(e, query, &whole);
    status = brume_touched_find(query, plan_tables, &wish, &touched, &error);
    if (status == BRUME_EARGUMENT) { /* it can only be empty */
        out->empty++;
        part.count = 0;
    } else {
        if (status != BRUME_OK)
            fail_msg("%s: %s", sql, error.message);
        out->cut += touched->count > 0 && !touched->datasets[0].unbounded;
        assert_true(query->cut_count > 0);
        read_rows(e, query, &part);
    }
    if (!same_rows(&whole, &part)) {
        out->missed++;
        if (out->missed <= 3)
            printf("# misses rows (%zu of %zu): %s\n", part.count, whole.count, sql);
    }
    brume_touched_close(touched);
    brume_query_free(query);
}

static const char *random_length(bool timestamp)
{
    static const char *const lengths[] = {"day",     "week", "month", "3d from 2024-01-02",
                                          "quarter", "year", "hour"};
    return lengths[chance(60) ? 0 : next(timestamp ? 7 : 6)];
}

static void no_condition_misses_a_window(void **state)
{
    (void)state;
    char made[20000];
    counts all = {0};
    for (size_t i = 0; i < conditions; i++) {
        bool timestamp = chance(50);
        text sql = {made, 0, sizeof made};
        say(&sql, "SELECT COUNT(days.d), COUNT(days.t), COUNT(days.x) FROM days WHERE ");
        put_condition(&sql, "days", timestamp, (int)next(5));
        set_windows(timestamp ? "t" : "d", random_length(timestamp));
        try_query((int)next((uint64_t)engine_count), made, &all);
    }
    printf("# %zu conditions, %zu refused: %zu missed a window, %zu cut, %zu empty\n", all.asked,
           all.refused, all.missed, all.cut, all.empty);
    assert_int_equal(all.missed, 0);
    assert_true(all.asked * 10 > conditions * 8 && all.cut * 2 > all.asked);
}

/* ---- several tables ---- */

static void put_conjuncts(text *to, const char *first, const char *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        say(to, "%s", first);
        put_condition(to, table, false, (int)next(3));
        first = " AND ";
    }
}

#define ALL_COUNTS "COUNT(a.d), COUNT(a.x), COUNT(b.d), COUNT(b.x)"

static void put_query(text *sql)
{
    static const char *const joins[] = {"JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"};
    const char *equal = chance(40) ? " AND a.d = b.d" : "";
    size_t wa = next(3), wb = next(3), oa = next(2), ob = next(2);
    switch (next(7)) {
    default: {
        say(sql, "SELECT " ALL_COUNTS " FROM a %s b ON a.u = b.u%s", joins[next(4)], equal);
        put_conjuncts(sql, " AND ", "a", oa);
        put_conjuncts(sql, " AND ", "b", ob);
        say(sql, " WHERE %s", chance(15) ? "(a.x = 1 OR b.x = 2)" : "1 = 1");
        put_conjuncts(sql, " AND ", "a", wa);
        put_conjuncts(sql, " AND ", "b", wb);
        break;
    }
    case 3:
        say(sql,
            "SELECT COUNT(a.d), COUNT(a.x) FROM a WHERE %s%sEXISTS (SELECT 1 FROM b WHERE a.u = b.u%s",
            chance(20) ? "a.x = 1 OR " : "", chance(50) ? "NOT " : "", equal);
        put_conjuncts(sql, " AND ", "a", oa);
        put_conjuncts(sql, " AND ", "b", ob);
        say(sql, ")");
        put_conjuncts(sql, " AND ", "a", wa);
        break;
    case 4:
        say(sql, "SELECT COUNT(s.d), COUNT(s.x) FROM (SELECT u, %s, count(*) AS x FROM b",
            chance(60) ? "d" : "max(d) AS d");
        put_conjuncts(sql, " WHERE ", "b", wb);
        say(sql, " GROUP BY u%s) s WHERE ", strstr(sql->data, "max(d)") ? "" : ", d");
        put_condition(sql, "s", false, 2);
        break;
    case 5:
        say(sql, "SELECT COUNT(s.d), COUNT(s.x) FROM (SELECT u, d, x FROM a");
        put_conjuncts(sql, " WHERE ", "a", wa);
        say(sql, " UNION ALL SELECT u, %s, x FROM b", chance(70) ? "d" : "d + 3");
        put_conjuncts(sql, " WHERE ", "b", wb);
        say(sql, ") s WHERE ");
        put_condition(sql, "s", false, 2);
        break;
    case 6:
        say(sql,
            "SELECT COUNT(s.d), COUNT(NULLIF(s.x, 0)) FROM (SELECT u, d %s AS d, %s AS x FROM b",
            chance(50) ? "+ 1" : "- 2",
            chance(50) ? "ROW_NUMBER() OVER (PARTITION BY u ORDER BY d, x)" : "x");
        put_conjuncts(sql, " WHERE ", "b", wb);
        say(sql, ") s WHERE ");
        put_condition(sql, "s", false, 2);
        break;
    }
}

static void no_query_of_several_tables_misses_a_row(void **state)
{
    (void)state;
    char made[20000];
    counts all = {0};
    for (size_t i = 0; i < queries; i++) {
        text sql = {made, 0, sizeof made};
        put_query(&sql);
        set_windows("d", random_length(false));
        try_query((int)next((uint64_t)engine_count), made, &all);
    }
    printf("# %zu queries of several tables, %zu refused: %zu missed a row, %zu cut, %zu empty\n",
           all.asked, all.refused, all.missed, all.cut, all.empty);
    assert_int_equal(all.missed, 0);
    assert_true(all.asked * 10 > queries * 7 && (all.cut + all.empty) * 2 > all.asked);
}

/* ---- rows elsewhere ---- */

/* Places at which a condition must not cut a table. */
static void rows_that_change_others_are_read(void **state)
{
    (void)state;
    static const char *const all[] = {
        /* a partner that goes leaves a row without one, which WHERE keeps */
        "SELECT COUNT(a.d), COUNT(a.x) FROM a LEFT JOIN b ON a.u = b.u AND b.d > DATE '2024-01-01' "
        "WHERE b.d IS NULL",
        "SELECT COUNT(b.d), COUNT(b.x) FROM a RIGHT JOIN b ON a.u = b.u AND a.d > DATE '2024-01-01' "
        "WHERE a.d IS NULL",
        /* the rows before it number it */
        "SELECT COUNT(s.d), COUNT(NULLIF(s.x, 0)) FROM (SELECT u, d, ROW_NUMBER() OVER (PARTITION BY "
        "u ORDER BY d, x) AS x FROM b) s WHERE s.d > DATE '2024-01-10'",
    };
    counts found = {0};
    set_windows("d", "day");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int e = 0; e < engine_count; e++)
            try_query(e, all[i], &found);
    assert_int_equal(found.asked, 3 * engine_count);
    assert_int_equal(found.missed, 0);
}

#define KEPT "2024-01-01..2024-01-20"

/* Whatever is asked, and though all windows matter to it: of two tables that differ outside of the
 * windows that are read, the same rows come out. Without the cut they do not. */
static void rows_in_other_windows_change_nothing(void **state)
{
    (void)state;
    char made[20000];
    size_t asked = 0, different = 0;
    for (size_t i = 0; i < queries; i++) {
        text sql = {made, 0, sizeof made};
        brume_query *query = NULL;
        brume_touched *touched = NULL;
        brume_window_wish wish = {KEPT, now()};
        put_query(&sql);
        set_windows("d", "day");
        if (brume_query_parse(made, &catalogs[0], &query, &error) != BRUME_OK)
            continue;
        read_rows(0, query, &whole);
        read_rows(MOVED, query, &part);
        bool differs = !same_rows(&whole, &part);
        if (brume_touched_find(query, plan_tables, &wish, &touched, &error) == BRUME_OK) {
            asked++;
            different += differs;
            read_rows(0, query, &whole);
            read_rows(MOVED, query, &part);
            if (!same_rows(&whole, &part))
                fail_msg("rows outside of %s change %s", KEPT, made);
        }
        brume_touched_close(touched);
        brume_query_free(query);
    }
    printf("# %zu queries, of which %zu differ without the cut\n", asked, different);
    assert_true(asked * 2 > queries && different * 2 > asked);
}

/* ---- known sets ---- */

static void label_set(const brume_window_grid *grid, const brume_window_set *set, char *out,
                      size_t size)
{
    size_t length = 0;
    char first[BRUME_WINDOW_LABEL], last[BRUME_WINDOW_LABEL];
    out[0] = 0;
    for (size_t i = 0; i < set->count; i++)
        length += (size_t)snprintf(out + length, size - length, "%s%s..%s", length ? "," : "",
                                   brume_window_label(grid, set->ranges[i].first, first),
                                   brume_window_label(grid, set->ranges[i].last, last));
    if (set->undated)
        snprintf(out + length, size - length, "%sundated", length ? "," : "");
}

static void expect(const char *sql, const char *windows, const char *wanted, bool driven)
{
    brume_query *query = NULL;
    brume_touched *touched = NULL;
    brume_window_wish wish = {windows, now()};
    char found[400];
    if (brume_query_parse(sql, &catalogs[0], &query, &error) != BRUME_OK)
        fail_msg("%s: %s", sql, error.message);
    if (brume_touched_find(query, plan_tables, &wish, &touched, &error) != BRUME_OK)
        fail_msg("%s: %s", sql, error.message);
    assert_int_equal(touched->count, 1);
    label_set(&touched->datasets[0].policy->window.grid, &touched->datasets[0].set, found,
              sizeof found);
    if (strcmp(found, wanted) != 0)
        fail_msg("%s: touches %s, not %s", sql, found, wanted);
    assert_int_equal(touched->datasets[0].driven, driven);
    brume_touched_close(touched);
    brume_query_free(query);
}

static void sets_are_as_small_as_conditions_say(void **state)
{
    (void)state;
    set_windows("d", "day");
    expect("SELECT COUNT(*) FROM a WHERE d = '2026-01-03'", NULL, "2026-01-03..2026-01-03", true);
    expect("SELECT COUNT(*) FROM a WHERE d >= '2026-01-03' AND d < '2026-02-01' AND x = 1", NULL,
           "2026-01-03..2026-01-31", true);
    expect("SELECT COUNT(*) FROM a WHERE EXTRACT(year FROM d) = 2025 AND EXTRACT(month FROM d) = 2",
           NULL, "2025-02-01..2025-02-28", true);
    expect("SELECT COUNT(*) FROM a WHERE strftime(d, '%Y-%m') = '2024-02'", NULL,
           "2024-02-01..2024-02-29", true);
    expect("SELECT COUNT(*) FROM a WHERE d >= '2026-01-01' AND d < '2026-01-15' AND EXTRACT(isodow "
           "FROM d) = 1",
           NULL, "2026-01-05..2026-01-05,2026-01-12..2026-01-12", true);
    expect("SELECT COUNT(*) FROM a WHERE d IS NULL OR d = '2026-01-03'", NULL,
           "2026-01-03..2026-01-03,undated", true);
    expect("SELECT COUNT(*) FROM a WHERE d >= '2027-06-01'", NULL, "2027-06-01..2027-07-01", true);
    expect("SELECT COUNT(*) FROM a", "2026-01-03..2026-01-05", "2026-01-03..2026-01-05", true);
    expect("SELECT COUNT(*) FROM a", "undated", "undated", true);
    expect("SELECT COUNT(*) FROM a WHERE d < '2026-01-03'", "2026-01-01..2027-01-05",
           "2026-01-01..2026-01-02", true);
    expect("SELECT COUNT(*) FROM a JOIN b ON a.u = b.u AND a.d = b.d WHERE a.d = '2026-01-03'",
           NULL, "2026-01-03..2026-01-03", true);
    expect(
        "SELECT COUNT(*) FROM a JOIN b ON a.u = b.u WHERE a.d = '2026-01-03' AND b.d = '2026-01-05'",
        NULL, "2026-01-03..2026-01-03,2026-01-05..2026-01-05", true);
    expect("SELECT COUNT(*) FROM (SELECT u, d, COUNT(*) AS n FROM a GROUP BY u, d) s WHERE d = "
           "'2026-01-03' AND n > 2",
           NULL, "2026-01-03..2026-01-03", true);
    set_windows("t", "hour");
    expect("SELECT COUNT(*) FROM a WHERE t >= '2026-01-03 12:30:00' AND t < '2026-01-03 14:00:00'",
           NULL, "2026-01-03T12..2026-01-03T13", true);
    set_windows("d", "month");
    expect("SELECT COUNT(*) FROM a WHERE d BETWEEN '2025-12-31' AND '2026-01-01'", NULL,
           "2025-12..2026-01", true);
    expect("SELECT COUNT(*) FROM a", NULL, "0001-01..2027-07,undated", true);
}

static void expect_refused(const char *sql, const char *windows, const char *message)
{
    brume_query *query = NULL;
    brume_touched *touched = NULL;
    brume_window_wish wish = {windows, now()};
    assert_ok(brume_query_parse(sql, &catalogs[0], &query, &error));
    assert_fails(brume_touched_find(query, plan_tables, &wish, &touched, &error), BRUME_EARGUMENT);
    if (!strstr(error.message, message))
        fail_msg("%s: '%s'", sql, error.message);
    brume_query_free(query);
}

static void what_can_only_be_empty_is_refused(void **state)
{
    (void)state;
    set_windows("d", "day");
    expect_refused("SELECT COUNT(*) FROM a WHERE d > '2026-01-03' AND d < '2026-01-03'", NULL,
                   "no window");
    expect_refused("SELECT COUNT(*) FROM a WHERE d > '2028-01-03'", NULL, "no window");
    expect_refused("SELECT COUNT(*) FROM a WHERE d > '2026-01-03'", "2025-01-01..2025-01-31",
                   "'windows'");
    expect_refused("SELECT COUNT(*) FROM a", "2025-01-31..2025-01-01", "ends before it begins");
    expect_refused("SELECT COUNT(*) FROM a", "soon", "no window is called");
    for (size_t i = 0; i < TABLES; i++)
        policies[i].window.place = BRUME_WINDOW_TIMELESS;
    expect_refused("SELECT COUNT(*) FROM a", "2025-01-31", "reads none");
}

/* a has windows, b has none: like patients beside visits. */
static void what_no_window_drives_is_known(void **state)
{
    (void)state;
    set_windows("d", "day");
    policies[2].window.place = BRUME_WINDOW_TIMELESS;
    const char *day = "2026-01-03..2026-01-03";
    expect("SELECT COUNT(*) FROM a JOIN b ON a.u = b.u WHERE a.d = '2026-01-03'", NULL, day, true);
    expect("SELECT COUNT(*) FROM a LEFT JOIN b ON a.u = b.u WHERE a.d = '2026-01-03'", NULL, day,
           true);
    expect("SELECT COUNT(*) FROM b LEFT JOIN a ON a.u = b.u AND a.d = '2026-01-03'", NULL, day,
           false);
    expect("SELECT COUNT(*) FROM a RIGHT JOIN b ON a.u = b.u AND a.d = '2026-01-03'", NULL, day,
           false);
    expect("SELECT COUNT(*) FROM b WHERE EXISTS (SELECT 1 FROM a WHERE a.u = b.u AND a.d = "
           "'2026-01-03')",
           NULL, day, true);
    expect("SELECT COUNT(*) FROM b WHERE NOT EXISTS (SELECT 1 FROM a WHERE a.u = b.u AND a.d = "
           "'2026-01-03')",
           NULL, day, false);
    expect(
        "SELECT COUNT(*) FROM (SELECT u FROM a WHERE d = '2026-01-03' UNION ALL SELECT u FROM b) s",
        NULL, day, false);
    expect(
        "SELECT COUNT(*) FROM (SELECT u, COUNT(*) AS n FROM a WHERE d = '2026-01-03' GROUP BY u) s "
        "JOIN b ON s.u = b.u",
        NULL, day, true);
}

/* A condition of many ranges stays short, and a long one is quick to derive. */
static void many_ranges_are_few_and_quick(void **state)
{
    (void)state;
    set_windows("d", "day");
    brume_query *query = NULL;
    brume_touched *touched = NULL;
    brume_window_wish wish = {.now = now()};
    assert_ok(
        brume_query_parse("SELECT COUNT(*) FROM a WHERE d >= '1990-01-01' AND d < '2020-01-01' "
                          "AND EXTRACT(isodow FROM d) IN (2, 4)",
                          &catalogs[0], &query, &error));
    assert_ok(brume_touched_find(query, plan_tables, &wish, &touched, &error));
    assert_true(touched->datasets[0].set.count <= 200);
    assert_true(brume_window_set_size(&touched->datasets[0].set) >= 3130);
    assert_true(brume_window_set_size(&touched->datasets[0].set) <= 10957);
    brume_touched_close(touched);
    brume_query_free(query);
}

/* ---- tables ---- */

/* A row of the other table: where its day is outside of the kept windows it is another one, whose
 * day is outside too. */
static void put_moved(FILE *other, const char *row, int64_t day, bool null)
{
    char date[BRUME_WINDOW_LABEL];
    int64_t elsewhere = day;
    if (!null && day >= 19723 && day < 19723 + 20) {
        fputs(row, other);
        return;
    }
    while (elsewhere >= 19723 && elsewhere < 19723 + 20)
        elsewhere = random_day();
    if (chance(30))
        return;
    day_text(elsewhere, date);
    fprintf(other, "%d,%s,%s,%d\n", (int)next(3), chance(20) ? "" : date, chance(20) ? "" : date,
            (int)next(3));
}

static void fill_table(FILE *csv, FILE *other, char *insert, size_t size, const char *name,
                       int copies, size_t random_rows)
{
    static const char *const clocks[] = {"00:00:00", "00:00:00.000001", "12:00:00",
                                         "23:59:59.999999"};
    size_t length = 0, written = 0;
    char date[BRUME_WINDOW_LABEL], date_cell[BRUME_WINDOW_LABEL], time_cell[200];
    fprintf(csv, "u,d,t,x\n");
    fprintf(other, "u,d,t,x\n");
    length += (size_t)snprintf(insert, size,
                               "CREATE TABLE %s (u bigint, d date, t timestamp, x "
                               "integer); INSERT INTO %s VALUES ",
                               name, name);
    for (int64_t i = 0; i < (copies ? 104 * copies : (int64_t)random_rows); i++) {
        int64_t at = i / (copies ? copies : 1);
        int64_t day = copies ? (at < 84 ? 19723 - 24 + at : -10 + at - 84) : random_day();
        bool null = copies ? i == 0 || i == 1 : chance(12);
        int x = copies ? (int)(i % 4) : (int)next(4);
        day_text(day, date);
        const char *clock = clocks[copies ? (uint64_t)i / 4 % 4 : next(4)];
        snprintf(date_cell, sizeof date_cell, null ? "" : "%s", date);
        snprintf(time_cell, sizeof time_cell, null ? "" : "%s %s", date, clock);
        int unit = (int)next(3);
        char row[600];
        snprintf(row, sizeof row, x < 3 ? "%d,%s,%s,%d\n" : "%d,%s,%s,\n", unit, date_cell,
                 time_cell, x);
        fputs(row, csv);
        put_moved(other, row, day, null);
        length +=
            (size_t)snprintf(insert + length, size - length, "%s(%d,", written++ ? "," : "", unit);
        length += (size_t)snprintf(insert + length, size - length,
                                   null ? "NULL,NULL," : "'%s','%s',", date_cell, time_cell);
        length += (size_t)snprintf(insert + length, size - length, x < 3 ? "%d)" : "NULL)", x);
    }
}

static int open_tables(int e, const char *url)
{
    static const brume_type types[] = {{BRUME_TYPE_BIGINT, 0, 0},
                                       {BRUME_TYPE_DATE, 0, 0},
                                       {BRUME_TYPE_TIMESTAMP, 0, 0},
                                       {BRUME_TYPE_INTEGER, 0, 0}};
    brume_source sources[TABLES];
    declared_columns declared[TABLES];
    char path[TABLES][100];
    for (int t = 0; t < TABLES; t++) {
        columns_read("u bigint, d date, t timestamp, x integer", &declared[t]);
        snprintf(path[t], sizeof path[t], "%s/%s.csv", folder, table_names[t]);
        sources[t] = e ? (brume_source){.location = url, .table = table_names[t]}
                       : columns_source(path[t], &declared[t]);
    }
    if (brume_engine_open(sources, TABLES, &engines[e], &error) != BRUME_OK) {
        printf("# %s\n", error.message);
        return 1;
    }
    for (size_t t = 0; t < TABLES; t++) {
        brume_description *found = &descriptions[e][t];
        if (brume_engine_describe(engines[e], t, found, &error) != BRUME_OK)
            return 1;
        for (size_t i = 0; i < found->column_count; i++) {
            columns[e][t][i] = (brume_catalog_column){.name = found->columns[i].name,
                                                      .type = found->columns[i].type,
                                                      .leaf = found->columns[i].leaf,
                                                      .native = found->columns[i].native,
                                                      .not_null = found->columns[i].not_null};
            if (!brume_type_equal(found->columns[i].type, types[i]))
                return 1;
            policy_columns[i].name = (char *)(uintptr_t)columns[e][t][i].name;
        }
        tables[e][t] = (brume_catalog_table){.name = table_names[t],
                                             .privacy = BRUME_PRIVACY_UNIT,
                                             .columns = columns[e][t],
                                             .column_count = found->column_count,
                                             .dataset = "clinic"};
    }
    catalogs[e] = (brume_catalog){tables[e], TABLES};
    return 0;
}

static int open_moved(void)
{
    brume_source sources[TABLES];
    declared_columns declared[TABLES];
    char path[TABLES][100];
    for (int t = 0; t < TABLES; t++) {
        columns_read("u bigint, d date, t timestamp, x integer", &declared[t]);
        snprintf(path[t], sizeof path[t], "%s/moved-%s.csv", folder, table_names[t]);
        sources[t] = columns_source(path[t], &declared[t]);
    }
    return brume_engine_open(sources, TABLES, &moved, &error) != BRUME_OK;
}

static int prepare(void **state)
{
    (void)state;
    const char *url = getenv("BRUME_TEST_POSTGRESQL");
    size_t size = 1 << 20;
    char *insert = malloc(size);
    snprintf(folder, sizeof folder, "/tmp/brume-touched.XXXXXX");
    whole.lines = malloc(MOST_ROWS * LINE);
    part.lines = malloc(MOST_ROWS * LINE);
    if (!insert || !whole.lines || !part.lines || !mkdtemp(folder))
        return 1;
    engine_count = url ? 2 : 1;
    for (int t = 0; t < TABLES; t++) {
        char path[100];
        snprintf(path, sizeof path, "%s/%s.csv", folder, table_names[t]);
        FILE *csv = fopen(path, "w");
        snprintf(path, sizeof path, "%s/moved-%s.csv", folder, table_names[t]);
        FILE *other = fopen(path, "w");
        fill_table(csv, other, insert, size, table_names[t], t ? 0 : 16, 20);
        if (fclose(csv) != 0 || fclose(other) != 0)
            return 1;
        if (url) {
            PGconn *connection = PQconnectdb(url);
            PGresult *result = PQexec(connection, insert);
            bool done = PQresultStatus(result) == PGRES_COMMAND_OK;
            PQclear(result);
            PQfinish(connection);
            if (!done)
                return 1;
        }
    }
    free(insert);
    for (int e = 0; e < engine_count; e++)
        if (open_tables(e, url))
            return 1;
    return open_moved();
}

static int clean(void **state)
{
    (void)state;
    char path[100];
    for (int e = 0; e < engine_count; e++) {
        for (size_t t = 0; t < TABLES; t++)
            brume_description_clear(&descriptions[e][t]);
        brume_engine_close(engines[e]);
    }
    for (int t = 0; t < TABLES; t++) {
        snprintf(path, sizeof path, "%s/%s.csv", folder, table_names[t]);
        unlink(path);
        snprintf(path, sizeof path, "%s/moved-%s.csv", folder, table_names[t]);
        unlink(path);
    }
    rmdir(folder);
    brume_engine_close(moved);
    free(whole.lines);
    free(part.lines);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        seed = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        conditions = strtoul(argv[2], NULL, 10);
    if (argc > 3)
        queries = strtoul(argv[3], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_are_as_small_as_conditions_say),
        cmocka_unit_test(what_can_only_be_empty_is_refused),
        cmocka_unit_test(what_no_window_drives_is_known),
        cmocka_unit_test(many_ranges_are_few_and_quick),
        cmocka_unit_test(no_condition_misses_a_window),
        cmocka_unit_test(no_query_of_several_tables_misses_a_row),
        cmocka_unit_test(rows_that_change_others_are_read),
        cmocka_unit_test(rows_in_other_windows_change_nothing),
    };
    return cmocka_run_group_tests(tests, prepare, clean);
}
