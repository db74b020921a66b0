/* Links, by enumeration: the rows that a query has of a unit are a function of that unit's view of
 * the dataset (proofs/links.md), in all databases of three small tables, with keys that repeat,
 * that are shared by units, and that find nothing.
 *
 * All databases stand in one: each has keys and units of its own, so that one statement asks them
 * all. Databases in which a unit has the same view are neighbours in the others, under add-remove
 * (a view is empty) and under replace, in both directions; all such pairs are compared. */
#include "check.h"
#include "columns.h"

#include <stdlib.h>
#include <unistd.h>

#include "query/expression/query.h"
#include "query/print/statement.h"
#include "query/sql/parse.h"

enum { WORLDS = 2048, UNITS = 2, CELLS = WORLDS * UNITS, TABLES = 4 };

static brume_engine *engine;
static brume_error error;
static char folder[64];
static brume_description descriptions[TABLES];
static brume_catalog_column columns[TABLES][8];
static const char *const names[TABLES] = {"customer", "orders", "lines", "label"};
static brume_catalog_table tables[TABLES];
static const brume_catalog catalog = {tables, TABLES};

/* ---- the databases ---- */

/* Customers (unit, key), orders (key, customer's key), lines (order's key, x); 1 or 2 each. The
 * keys of customers and of orders have the same place in their tables. */
static const int customers[4][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}};
static const int orders[4][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}};
static const int lines[3][2] = {{1, 1}, {2, 1}, {1, 2}};

static bool has_customer(int world, int i)
{
    return (world >> i) & 1;
}
static bool has_order(int world, int i)
{
    return (world >> (4 + i)) & 1;
}
static bool has_line(int world, int i)
{
    return (world >> (8 + i)) & 1;
}

static FILE *begin(const char *name, const char *head)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s.csv", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "%s\n", head);
    return out;
}

/* Keys and units are those of the world; n, s and x say which row it is in any world. */
static void write_worlds(void)
{
    FILE *files[] = {begin("customer", "unit,ckey,n"), begin("orders", "ocust,okey,s"),
                     begin("lines", "lorder,x"), begin("label", "lx,g")};
    for (int w = 0; w < WORLDS; w++) {
        for (int i = 0; i < 4; i++)
            if (has_customer(w, i))
                fprintf(files[0], "%d,%d,%d\n", 4 * w + customers[i][0], 4 * w + customers[i][1],
                        i);
        for (int i = 0; i < 4; i++)
            if (has_order(w, i))
                fprintf(files[1], "%d,%d,%d\n", 4 * w + orders[i][1], 4 * w + orders[i][0], i);
        for (int i = 0; i < 3; i++)
            if (has_line(w, i))
                fprintf(files[2], "%d,%d\n", 4 * w + lines[i][0], lines[i][1]);
    }
    fprintf(files[3], "1,7\n2,8\n2,9\n");
    for (size_t t = 0; t < TABLES; t++)
        assert_int_equal(fclose(files[t]), 0);
}

/* ---- views and classes: sorted lists of numbers, one for each world and unit ---- */

typedef struct lists {
    int *numbers[CELLS];
    size_t count[CELLS];
} lists;

static void add(lists *to, int world, int unit, int number)
{
    size_t cell = (size_t)(world * UNITS + unit - 1);
    if ((to->count[cell] & (to->count[cell] + 1)) == 0)
        to->numbers[cell] =
            realloc(to->numbers[cell], (2 * to->count[cell] + 1) * sizeof *to->numbers[cell]);
    assert_non_null(to->numbers[cell]);
    to->numbers[cell][to->count[cell]++] = number;
}

static int compare_numbers(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static void sort(lists *all)
{
    for (size_t i = 0; i < CELLS; i++)
        if (all->count[i])
            qsort(all->numbers[i], all->count[i], sizeof **all->numbers, compare_numbers);
}

static void clear(lists *all)
{
    for (size_t i = 0; i < CELLS; i++)
        free(all->numbers[i]);
    memset(all, 0, sizeof *all);
}

static int compare_lists(const lists *all, size_t a, size_t b)
{
    if (all->count[a] != all->count[b])
        return all->count[a] < all->count[b] ? -1 : 1;
    return all->count[a]
               ? memcmp(all->numbers[a], all->numbers[b], all->count[a] * sizeof **all->numbers)
               : 0;
}

static lists views, classes;

/* The definition of proofs/links.md, word by word. */
static void find_views(void)
{
    for (int w = 0; w < WORLDS; w++)
        for (int c = 0; c < 4; c++) {
            if (!has_customer(w, c))
                continue;
            add(&views, w, customers[c][0], 1 + c);
            for (int o = 0; o < 4; o++) {
                if (!has_order(w, o) || orders[o][1] != customers[c][1])
                    continue;
                add(&views, w, customers[c][0], 100 + 10 * o + c);
                for (int l = 0; l < 3; l++)
                    if (has_line(w, l) && lines[l][0] == orders[o][0])
                        add(&views, w, customers[c][0], 1000 + 100 * l + 10 * o + c);
            }
        }
    sort(&views);
}

/* Run a statement whose rows are a unit and numbers below 100. */
static void find_classes(const char *sql, size_t count)
{
    brume_wire wires[8] = {0};
    brume_rows *rows = NULL;
    const brume_chunk *chunk = NULL;
    clear(&classes);
    if (brume_engine_select(engine, sql, wires, count, &rows, &error) != BRUME_OK)
        fail_msg("%s\n%s", error.message, sql);
    assert_ok(brume_rows_next(rows, &chunk, &error));
    while (chunk) {
        for (size_t i = 0; i < chunk->row_count; i++) {
            int code = 0, unit = (int)chunk->columns[0].integers[i];
            for (size_t j = 1; j < count; j++)
                code = 100 * code + (brume_chunk_is_null(&chunk->columns[j], i)
                                         ? 99
                                         : (int)chunk->columns[j].integers[i]);
            add(&classes, unit / 4, unit % 4, code);
        }
        assert_ok(brume_rows_next(rows, &chunk, &error));
    }
    brume_rows_close(rows);
    sort(&classes);
}

static int compare_views(const void *a, const void *b)
{
    return compare_lists(&views, *(const size_t *)a, *(const size_t *)b);
}

/* Cells with equal views must have equal classes, and an empty view an empty class. Returns how
 * many neighbouring cells differ; *different: how many classes there are, so that something is
 * tested. */
static size_t count_faults(size_t *different)
{
    size_t *order = calloc(CELLS, sizeof *order), faults = 0;
    assert_non_null(order);
    for (size_t i = 0; i < CELLS; i++)
        order[i] = i;
    /* units apart: a view has rows of its unit alone, and tells it but where it is empty */
    qsort(order, CELLS, sizeof *order, compare_views);
    *different = 0;
    for (size_t i = 1; i < CELLS; i++) {
        bool same = compare_lists(&classes, order[i - 1], order[i]) == 0;
        if (compare_lists(&views, order[i - 1], order[i]) == 0)
            faults += !same;
        else
            *different += !same;
    }
    for (size_t i = 0; i < CELLS; i++)
        faults += views.count[i] == 0 && classes.count[i] != 0;
    free(order);
    return faults;
}

/* ---- queries ---- */

static void ask(const char *sql)
{
    brume_query *query = NULL;
    if (brume_query_parse(sql, &catalog, &query, &error) != BRUME_OK)
        fail_msg("%s: %s", sql, error.message);
    const brume_expression *nodes[8];
    size_t count = 0;
    assert_non_null(query->unit);
    nodes[count++] = query->unit;
    for (size_t i = 0; i < query->key_count; i++)
        nodes[count++] = query->keys[i].expression;
    for (size_t i = 0; i < query->aggregate_count; i++)
        if (query->aggregates[i].argument)
            nodes[count++] = query->aggregates[i].argument;
    for (size_t i = 0; i < query->table_count; i++) /* one dataset: no row turns into another */
        assert_false(query->tables[i].nullable_side);
    const char *places[TABLES];
    for (size_t t = 0; t < TABLES; t++)
        places[t] = brume_engine_table(engine, t);
    char *text = NULL;
    assert_ok(
        brume_query_print_rows(query, BRUME_DIALECT_DUCKDB, places, nodes, count, &text, &error));
    find_classes(text, count);
    free(text);
    brume_query_free(query);
}

#define SUMS "SELECT SUM(clamp(n, 0, 9)), SUM(clamp(s, 0, 9)), SUM(clamp(x, 0, 9)) "

static void a_units_rows_are_a_function_of_its_view(void **state)
{
    (void)state;
    static const char *const queries[] = {
        "SELECT COUNT(*) FROM customer",
        "SELECT s, COUNT(*) FROM orders GROUP BY s",
        "SELECT x, COUNT(*) FROM lines GROUP BY x",
        "SELECT x, COUNT(*) FROM shop.lines GROUP BY x",
        SUMS "FROM lines, orders, customer WHERE lorder = okey AND ocust = ckey",
        SUMS "FROM lines, customer, orders WHERE ckey = ocust AND okey = lorder",
        SUMS "FROM customer JOIN orders ON ckey = ocust JOIN lines ON okey = lorder AND x = 1",
        "SELECT s, x, COUNT(*) FROM lines JOIN orders ON lorder = okey GROUP BY s, x",
        "SELECT s, x, COUNT(*) FROM orders LEFT JOIN lines ON lorder = okey AND x = 2 GROUP BY 1, 2",
        "SELECT s, x, COUNT(*) FROM lines LEFT JOIN orders ON lorder = okey AND s = 1 GROUP BY 1, 2",
        "SELECT s, x, COUNT(*) FROM lines RIGHT JOIN orders ON lorder = okey GROUP BY 1, 2",
        "SELECT s, x, COUNT(*) FROM lines FULL JOIN orders ON lorder = okey GROUP BY 1, 2",
        "SELECT a.x, b.x, COUNT(*) FROM lines a JOIN lines b ON a.lorder = b.lorder GROUP BY 1, 2",
        "SELECT a.x, b.x, COUNT(*) FROM lines a LEFT JOIN lines b ON a.lorder = b.lorder AND a.x < "
        "b.x GROUP BY 1, 2",
        "SELECT a.s, b.s, COUNT(*) FROM orders a JOIN orders b ON a.ocust = b.ocust GROUP BY 1, 2",
        "SELECT a.s, b.s, x, COUNT(*) FROM lines, orders a, orders b WHERE lorder = a.okey AND "
        "a.okey = b.okey GROUP BY 1, 2, 3",
        "SELECT s, COUNT(*) FROM orders WHERE EXISTS (SELECT 1 FROM lines WHERE lorder = okey AND x "
        "= 2) GROUP BY s",
        "SELECT s, COUNT(*) FROM orders WHERE NOT EXISTS (SELECT 1 FROM lines WHERE lorder = okey "
        "AND x + 1 > s) GROUP BY s",
        "SELECT x, COUNT(*) FROM lines WHERE EXISTS (SELECT 1 FROM orders WHERE lorder = okey AND s "
        "= 1) GROUP BY x",
        "SELECT x, COUNT(*) FROM lines WHERE NOT EXISTS (SELECT 1 FROM orders WHERE lorder = okey "
        "AND s = 1) GROUP BY x",
        "SELECT x, COUNT(*) FROM lines WHERE lorder IN (SELECT okey FROM orders WHERE s = 1) GROUP "
        "BY x",
        "SELECT a.x, COUNT(*) FROM lines a WHERE NOT EXISTS (SELECT 1 FROM lines b WHERE a.lorder "
        "= b.lorder AND b.x > a.x) GROUP BY a.x",
        "SELECT n, COUNT(*) FROM customer WHERE EXISTS (SELECT 1 FROM orders, lines WHERE ckey = "
        "ocust AND okey = lorder) GROUP BY n",
        "SELECT s, x, COUNT(*) FROM (SELECT * FROM lines WHERE x < 2) l JOIN orders o ON l.lorder "
        "= o.okey GROUP BY s, x",
        "SELECT q, COUNT(*) FROM (SELECT unit, COUNT(*) AS q FROM lines, orders, customer WHERE "
        "lorder = okey AND ocust = ckey GROUP BY unit) t GROUP BY q",
        "SELECT s, g, COUNT(*) FROM lines JOIN label ON x = lx JOIN orders ON okey = lorder GROUP "
        "BY s, g",
        "SELECT g, COUNT(*) FROM label, lines WHERE x = lx GROUP BY g",
        "SELECT s, x, COUNT(*) FROM lines JOIN orders ON lorder = okey GROUP BY ROLLUP (s, x)",
        "SELECT q, COUNT(*) FROM (SELECT lorder, COUNT(*) AS q FROM lines GROUP BY lorder) t GROUP BY q",
        /* subqueries in expressions */
        "SELECT n, q, COUNT(*) FROM (SELECT n, CASE WHEN EXISTS (SELECT 1 FROM orders WHERE ocust = ckey "
        "AND s = 1) THEN 1 ELSE 0 END AS q FROM customer) t GROUP BY n, q",
        "SELECT x, CASE WHEN EXISTS (SELECT 1 FROM orders WHERE lorder = okey AND s > x) THEN 1 ELSE 2 "
        "END AS q, COUNT(*) FROM lines GROUP BY x, 2",
        "SELECT x, CASE WHEN NOT lorder IN (SELECT okey FROM orders WHERE s = 1) THEN 1 ELSE 2 END AS "
        "q, COUNT(*) FROM lines GROUP BY x, 2",
        "SELECT a.x, COUNT(*) FROM lines a WHERE a.x = 1 OR EXISTS (SELECT 1 FROM lines b WHERE "
        "a.lorder = b.lorder AND b.x + 1 > a.x) GROUP BY a.x",
        "SELECT n, q, COUNT(*) FROM (SELECT n, (SELECT COUNT(*) FROM orders WHERE ocust = "
        "customer.ckey) AS q FROM customer) t GROUP BY n, q",
        "SELECT x, q, COUNT(*) FROM (SELECT x, (SELECT MAX(o.s) FROM orders o WHERE o.okey = l.lorder) "
        "AS q FROM lines l) t GROUP BY x, q",
        "SELECT s, q, COUNT(*) FROM (SELECT s, (SELECT SUM(b.x) FROM lines b WHERE b.lorder = o.okey "
        "AND b.x = o.s) AS q FROM orders o) t GROUP BY s, q",
        "SELECT x, COUNT(*) FROM lines l WHERE x = (SELECT MAX(b.x) FROM lines b WHERE b.lorder = "
        "l.lorder) GROUP BY x",
        /* timelines: proofs/unit-local.md */
        "SELECT x, q, COUNT(*) FROM (SELECT x, ROW_NUMBER() OVER (PARTITION BY lorder ORDER BY x DESC) "
        "AS q FROM lines) t GROUP BY x, q",
        "SELECT x, q, COUNT(*) FROM (SELECT x, LAG(s) OVER (PARTITION BY ocust ORDER BY x) AS q FROM "
        "lines JOIN orders ON lorder = okey) t GROUP BY x, q",
        "SELECT x, q, COUNT(*) FROM (SELECT x, LEAD(x, 2, 7) OVER (PARTITION BY unit, s ORDER BY n) AS "
        "q FROM lines, orders, customer WHERE lorder = okey AND ocust = ckey) t GROUP BY x, q",
        "SELECT a, b, COUNT(*) FROM (SELECT FIRST_VALUE(s) OVER (PARTITION BY unit ORDER BY x) AS a, "
        "LAST_VALUE(s) OVER (PARTITION BY unit ORDER BY x) AS b FROM lines, orders, customer WHERE "
        "lorder = okey AND ocust = ckey AND n < 3) t GROUP BY a, b",
        "SELECT a, b, COUNT(*) FROM (SELECT SUM(x) OVER (PARTITION BY ocust ORDER BY s) AS a, COUNT(*) "
        "OVER (PARTITION BY ocust ORDER BY s ROWS 1 PRECEDING) AS b FROM lines JOIN orders ON lorder = "
        "okey) t GROUP BY a, b",
        "SELECT a, b, COUNT(*) FROM (SELECT RANK() OVER (PARTITION BY okey ORDER BY x) AS a, NTILE(2) "
        "OVER (PARTITION BY okey ORDER BY s) AS b FROM lines JOIN orders ON lorder = okey) t GROUP BY "
        "a, b",
        "SELECT x, COUNT(*) FROM (SELECT DISTINCT ON (okey) okey, x FROM lines JOIN orders ON lorder = "
        "okey ORDER BY okey, s DESC) t GROUP BY x",
        "SELECT s, q, COUNT(*) FROM (SELECT DISTINCT lorder, x AS q FROM lines) t JOIN orders ON "
        "lorder = okey GROUP BY s, q",
        "SELECT q, r, COUNT(*) FROM (SELECT ocust, s, COUNT(*) AS q, ROW_NUMBER() OVER (PARTITION BY "
        "ocust ORDER BY COUNT(*)) AS r FROM lines JOIN orders ON lorder = okey GROUP BY ocust, s) t "
        "GROUP BY q, r",
        "SELECT q, COUNT(*) FROM (SELECT x, ROW_NUMBER() OVER (PARTITION BY unit ORDER BY x) AS q FROM "
        "lines, orders, customer WHERE lorder = okey AND ocust = ckey) t WHERE q = 1 GROUP BY q",
        "SELECT s, q, COUNT(*) FROM orders o JOIN (SELECT lorder, SUM(x) AS q FROM lines GROUP BY "
        "lorder) t ON t.lorder = o.okey GROUP BY s, q",
        "SELECT x, q, COUNT(*) FROM lines l JOIN (SELECT okey, COUNT(*) AS q FROM orders GROUP BY okey) "
        "t ON t.okey = l.lorder GROUP BY x, q",
        "SELECT q, COUNT(*) FROM (SELECT ocust, MAX(x) AS q FROM lines JOIN orders ON lorder = okey "
        "GROUP BY ocust) t GROUP BY q",
        "SELECT a, COUNT(*) FROM (SELECT s AS a FROM orders UNION ALL SELECT x FROM lines) u GROUP BY "
        "a",
        "SELECT a, b, COUNT(*) FROM (SELECT n AS a, 1 AS b FROM customer UNION ALL SELECT x, 2 FROM "
        "lines WHERE x < 2 UNION ALL SELECT s, 3 FROM orders JOIN lines ON lorder = okey) u GROUP BY "
        "CUBE (a, b)",
        "SELECT q, COUNT(*) FROM (SELECT unit, COUNT(*) AS q FROM (SELECT unit, n FROM customer UNION "
        "ALL SELECT unit, s FROM orders JOIN customer ON ocust = ckey) u GROUP BY unit) t GROUP BY q",
    };
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        size_t different = 0;
        ask(queries[i]);
        size_t faults = count_faults(&different);
        if (faults)
            fail_msg("%zu cells depend on others: %s", faults, queries[i]);
        if (different < 3)
            fail_msg("nothing is tested: %s", queries[i]);
    }
}

/* With keys that are unique and find something, a query along links is what SQL says it is. */
static void a_row_counts_once_for_each_parent(void **state)
{
    (void)state;
    ask("SELECT x, COUNT(*) FROM lines GROUP BY x");
    for (int w = 0; w < WORLDS; w++)
        for (int u = 1; u <= UNITS; u++) {
            size_t expected = 0, cell = (size_t)(w * UNITS + u - 1);
            for (size_t i = 0; i < views.count[cell]; i++)
                expected += views.numbers[cell][i] >= 1000;
            assert_int_equal(classes.count[cell], expected);
        }
}

/* What the walk must not do, written out: the check finds each. */
static void wrong_units_are_found(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        /* UNION without ALL over what is shown, and then back to the units: who else has the same
         * row decides */
        "SELECT min(unit), n FROM (SELECT c.unit, c.n FROM $0 c UNION ALL SELECT c.unit, o.s FROM $1 "
        "o JOIN $0 c ON o.ocust = c.ckey) u GROUP BY unit // 4, n",
        /* windows over rows of several units: not partitioned, by a key of theirs, or by a value */
        "SELECT c.unit, row_number() OVER (PARTITION BY c.unit // 4 ORDER BY o.s, c.n) FROM $1 o JOIN "
        "$0 c ON o.ocust = c.ckey",
        "SELECT c.unit, lag(o.s) OVER (PARTITION BY o.okey ORDER BY o.s, c.n) FROM $1 o JOIN $0 c ON "
        "o.ocust = c.ckey",
        "SELECT c.unit, CAST(sum(o.s) OVER (PARTITION BY c.ckey ORDER BY o.s) AS BIGINT) FROM $1 o JOIN $0 c ON o.ocust "
        "= c.ckey",
        /* ties are broken by the place of a row in its table, which other rows move */
        "SELECT unit, s FROM (SELECT c.unit, o.s, row_number() OVER (PARTITION BY c.unit ORDER BY place "
        "% 3) AS r FROM (SELECT *, row_number() OVER (ORDER BY ocust, okey, s) AS place FROM $1) o JOIN "
        "$0 c ON o.ocust = c.ckey) t WHERE r = 1",
        /* DISTINCT ON something else than the unit */
        "SELECT unit, s FROM (SELECT DISTINCT ON (o.okey) c.unit, o.s FROM $1 o JOIN $0 c ON o.ocust = "
        "c.ckey ORDER BY o.okey, o.s, c.unit) t",
        "SELECT min(unit), s FROM (SELECT DISTINCT c.unit, o.s FROM $1 o JOIN $0 c ON o.ocust = c.ckey) "
        "t GROUP BY unit // 4, s",
        /* a column that says whether another unit's row matches, and one that counts these */
        "SELECT c.unit, CAST(EXISTS (SELECT 1 FROM $1 p WHERE p.okey = l.lorder AND p.s = 1) AS BIGINT) "
        "FROM $2 l JOIN $1 o ON l.lorder = o.okey JOIN $0 c ON o.ocust = c.ckey",
        "SELECT c.unit, (SELECT count(*) FROM $1 p WHERE p.okey = o.okey) FROM $1 o JOIN $0 c ON o.ocust "
        "= c.ckey",
        /* groups by the key of a link, without the unit */
        "SELECT min(c.unit), count(*) FROM $2 l JOIN $1 o ON l.lorder = o.okey JOIN $0 c ON o.ocust "
        "= c.ckey GROUP BY l.lorder",
        /* the link is ignored: the order's key is taken for the unit */
        "SELECT CAST(l.lorder AS BIGINT), l.x FROM $2 l",
        /* of two orders with one key the other one's unit is taken */
        "SELECT c.unit, a.s FROM $1 a JOIN $1 b ON a.okey = b.okey JOIN $0 c ON b.ocust = "
        "c.ckey",
        /* a row of another unit decides: EXISTS without the equality of units */
        "SELECT c.unit, l.x FROM $2 l JOIN $1 o ON l.lorder = o.okey JOIN $0 c ON o.ocust = "
        "c.ckey WHERE EXISTS (SELECT 1 FROM $1 p WHERE p.okey = l.lorder AND p.s = 1)",
        "SELECT c.unit, l.x FROM $2 l JOIN $1 o ON l.lorder = o.okey JOIN $0 c ON o.ocust = "
        "c.ckey WHERE NOT EXISTS (SELECT 1 FROM $1 p WHERE p.okey = l.lorder AND p.s = 1)",
        /* an outer join keeps a row that has no parent with that condition, whoever the others are
         */
        "SELECT c.unit, l.x, p.s FROM $2 l JOIN $1 o ON l.lorder = o.okey JOIN $0 c ON "
        "o.ocust = c.ckey LEFT JOIN $1 p ON p.okey = l.lorder AND p.s = 1",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char sql[1000];
        size_t different = 0;
        size_t length = 0;
        for (const char *c = wrong[i]; *c; c++) { /* $0 is the first table */
            length +=
                (size_t)snprintf(sql + length, sizeof sql - length, *c == '$' ? "%s" : "%.1s",
                                 *c == '$' ? brume_engine_table(engine, (size_t)(c[1] - '0')) : c);
            c += *c == '$';
        }
        find_classes(sql, i == sizeof wrong / sizeof *wrong - 1 ? 3 : 2);
        if (count_faults(&different) == 0)
            fail_msg("not found: %s", wrong[i]);
    }
}

static void what_would_mix_units_is_refused(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "SELECT COUNT(*) FROM lines JOIN orders ON x = s",
        "SELECT COUNT(*) FROM lines JOIN customer ON lorder = ckey", /* the key of another table */
        "SELECT COUNT(*) FROM lines JOIN orders ON lorder = ocust",
        "SELECT COUNT(*) FROM orders JOIN customer ON okey = ckey",
        "SELECT COUNT(*) FROM orders a JOIN orders b ON a.okey = b.ocust",
        "SELECT COUNT(*) FROM customer WHERE EXISTS (SELECT 1 FROM lines WHERE lorder = ckey)",
        "SELECT COUNT(*) FROM lines WHERE lorder IN (SELECT ckey FROM customer)",
        "SELECT COUNT(*) FROM lines, orders",
        "SELECT COUNT(*) FROM lines JOIN orders ON lorder > okey",
        "SELECT COUNT(*) FROM lines JOIN orders ON lorder = okey OR x = 1",
        "SELECT COUNT(*) FROM orders a JOIN orders b ON a.s = b.s",
        "SELECT COUNT(*) FROM orders WHERE EXISTS (SELECT 1 FROM lines WHERE x = s)",
        "SELECT COUNT(*) FROM orders WHERE s IN (SELECT x FROM lines)",
        "SELECT COUNT(*) FROM label LEFT JOIN lines ON x = lx",
        "SELECT COUNT(*) FROM (SELECT x, COUNT(*) FROM lines GROUP BY x) t",
        "SELECT COUNT(*) FROM (SELECT x, ROW_NUMBER() OVER (ORDER BY x) AS q FROM lines) t",
        "SELECT SUM(CASE WHEN EXISTS (SELECT 1 FROM lines WHERE x = s) THEN 1 ELSE 0 END) FROM orders",
        "SELECT SUM(CASE WHEN s IN (SELECT x FROM lines) THEN 1 ELSE 0 END) FROM orders",
        "SELECT COUNT(*) FROM (SELECT (SELECT MAX(l.x) FROM lines l WHERE l.x = o.s) FROM orders o) t",
        "SELECT COUNT(*) FROM (SELECT (SELECT MAX(l.x) FROM lines l WHERE l.lorder > o.okey) FROM orders "
        "o) t",
        "SELECT COUNT(*) FROM (SELECT (SELECT COUNT(*) FROM lines l WHERE l.lorder = o.okey AND l.x < "
        "o.s) FROM orders o) t",
        "SELECT COUNT(*) FROM (SELECT x, ROW_NUMBER() OVER (PARTITION BY x) AS q FROM lines) t",
        "SELECT COUNT(*) FROM (SELECT x, SUM(x) OVER (PARTITION BY unit // 2) AS q FROM lines, orders, "
        "customer WHERE lorder = okey AND ocust = ckey) t",
        "SELECT COUNT(*) FROM (SELECT DISTINCT x FROM lines) t",
        "SELECT COUNT(*) FROM (SELECT DISTINCT ON (x) x FROM lines ORDER BY x) t",
        "SELECT COUNT(*) FROM (SELECT x FROM lines ORDER BY x LIMIT 1) t",
        "SELECT COUNT(*) FROM (SELECT ocust, ROW_NUMBER() OVER (PARTITION BY COUNT(*)) AS q FROM orders "
        "GROUP BY ocust) t",
        "SELECT COUNT(*) FROM (SELECT s FROM orders UNION SELECT x FROM lines) t",
        "SELECT COUNT(*) FROM (SELECT s FROM orders EXCEPT ALL SELECT x FROM lines) t",
        "SELECT COUNT(*) FROM (SELECT s FROM orders UNION ALL SELECT g FROM label) t",
        "SELECT COUNT(*) FROM orders UNION ALL SELECT COUNT(*) FROM lines",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        brume_query *query = NULL;
        if (brume_query_parse(refused[i], &catalog, &query, &error) != BRUME_EUNSUPPORTED)
            fail_msg("%s", refused[i]);
    }
}

/* "notes" is linked to another column of orders than lines are. */
static void links_to_two_columns_of_a_table_do_not_meet(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"SELECT COUNT(*) FROM notes JOIN orders ON lorder = ocust", "answered"},
        {"SELECT COUNT(*) FROM lines JOIN orders ON lorder = okey", "answered"},
        {"SELECT COUNT(*) FROM notes JOIN orders ON lorder = okey", "refused"},
        {"SELECT COUNT(*) FROM lines JOIN orders ON lorder = ocust", "refused"},
        {"SELECT COUNT(*) FROM lines a JOIN notes b ON a.lorder = b.lorder", "refused"},
        {"SELECT COUNT(*) FROM lines WHERE lorder IN (SELECT lorder FROM notes)", "refused"}};
    brume_catalog_table five[TABLES + 1];
    memcpy(five, tables, sizeof tables);
    five[TABLES] = tables[2];
    five[TABLES].name = "notes";
    five[TABLES].link = (brume_catalog_link){0, 1, 0};
    const brume_catalog more = {five, TABLES + 1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_query *query = NULL;
        brume_status status = brume_query_parse(cases[i][0], &more, &query, &error);
        if (status != (*cases[i][1] == 'a' ? BRUME_OK : BRUME_EUNSUPPORTED))
            fail_msg("not %s: %s", cases[i][1], cases[i][0]);
        if (status == BRUME_OK)
            brume_query_free(query);
    }
}

/* ---- the program ---- */

static void describe(size_t t)
{
    assert_ok(brume_engine_describe(engine, t, &descriptions[t], &error));
    for (size_t i = 0; i < descriptions[t].column_count; i++) {
        const brume_column *each = &descriptions[t].columns[i];
        columns[t][i] = (brume_catalog_column){
            .name = each->name, .type = each->type, .leaf = each->leaf, .native = each->native};
    }
    tables[t] = (brume_catalog_table){.name = names[t],
                                      .privacy = t == 0   ? BRUME_PRIVACY_UNIT
                                                 : t == 3 ? BRUME_PRIVACY_PUBLIC
                                                          : BRUME_PRIVACY_LINK,
                                      .columns = columns[t],
                                      .column_count = descriptions[t].column_count,
                                      .dataset = "shop"};
    if (t == 1)
        tables[t].link = (brume_catalog_link){0, 0, 1};
    if (t == 2)
        tables[t].link = (brume_catalog_link){0, 1, 1};
}

static int prepare(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/brume-links.XXXXXX");
    assert_non_null(mkdtemp(folder));
    write_worlds();
    static const char *const declared[] = {"unit bigint, ckey bigint, n bigint",
                                           "ocust integer, okey bigint, s bigint",
                                           "lorder integer, x bigint", "lx bigint, g bigint"};
    static declared_columns read[TABLES];
    static char paths[TABLES][128];
    brume_source sources[TABLES];
    for (size_t t = 0; t < TABLES; t++) {
        snprintf(paths[t], sizeof paths[t], "%s/%s.csv", folder, names[t]);
        columns_read(declared[t], &read[t]);
        sources[t] = columns_source(paths[t], &read[t]);
    }
    assert_ok(brume_engine_open(sources, TABLES, &engine, &error));
    for (size_t t = 0; t < TABLES; t++)
        describe(t);
    find_views();
    return 0;
}

static int finish(void **state)
{
    (void)state;
    brume_engine_close(engine);
    clear(&views);
    clear(&classes);
    for (size_t t = 0; t < TABLES; t++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s.csv", folder, names[t]);
        unlink(path);
        brume_description_clear(&descriptions[t]);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_units_rows_are_a_function_of_its_view),
        cmocka_unit_test(a_row_counts_once_for_each_parent),
        cmocka_unit_test(wrong_units_are_found),
        cmocka_unit_test(what_would_mix_units_is_refused),
        cmocka_unit_test(links_to_two_columns_of_a_table_do_not_meet),
    };
    return cmocka_run_group_tests(tests, prepare, finish);
}
