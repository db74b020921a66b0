/* Joins, subqueries and WITH on both engines: the rows that stream out are those that SQL means,
 * with the right unit, and rows without a unit are gone. */
#include "check.h"
#include "columns.h"

#include <stdlib.h>
#include <unistd.h>

#include <libpq-fe.h>

#include "query/expression/query.h"
#include "query/sql/parse.h"
#include "query/print/statement.h"

static brume_engine *engines[2];
static brume_catalog catalogs[2];
static brume_catalog_table tables[2][3];
static brume_catalog_column columns[2][3][8];
static brume_description descriptions[2][3];
static char folder[64];
static brume_error error;

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All rows, each "unit|key|...|argument|...", sorted and joined by spaces. */
static void rows_of(int e, const char *sql, char *out, size_t size)
{
    brume_query *query = NULL;
    brume_status status = brume_query_parse(sql, &catalogs[e], &query, &error);
    if (status != BRUME_OK)
        fail_msg("%s: %s", sql, error.message);
    const brume_expression *nodes[16];
    brume_wire wires[16];
    size_t count = 0, lines = 0;
    nodes[count++] = query->unit;
    for (size_t i = 0; i < query->key_count; i++)
        nodes[count++] = query->keys[i].expression;
    for (size_t i = 0; i < query->aggregate_count; i++)
        if (query->aggregates[i].argument)
            nodes[count++] = query->aggregates[i].argument;
    for (size_t i = 0; i < count; i++)
        wires[i] = brume_type_wire(nodes[i]->type);
    const char *names[] = {brume_engine_table(engines[e], 0), brume_engine_table(engines[e], 1),
                           brume_engine_table(engines[e], 2)};
    char *text = NULL, *line[64];
    assert_ok(brume_query_print_rows(query, (brume_dialect)e, names, nodes, count, &text, &error));
    brume_rows *rows = NULL;
    const brume_chunk *chunk;
    if (brume_engine_select(engines[e], text, wires, count, &rows, &error) != BRUME_OK)
        fail_msg("%s\n%s", error.message, text);
    assert_ok(brume_rows_next(rows, &chunk, &error));
    while (chunk) {
        for (size_t i = 0; i < chunk->row_count && lines < 64; i++) {
            char made[400];
            size_t length = 0;
            for (size_t j = 0; j < count; j++) {
                const brume_chunk_column *column = &chunk->columns[j];
                char cell[64] = "NULL";
                if (!brume_chunk_is_null(column, i)) {
                    if (column->integers)
                        snprintf(cell, sizeof cell, "%lld", (long long)column->integers[i]);
                    else if (column->reals)
                        snprintf(cell, sizeof cell, "%g", column->reals[i]);
                    else
                        snprintf(cell, sizeof cell, "%.*s", (int)column->texts[i].length,
                                 column->texts[i].data);
                }
                length += (size_t)snprintf(made + length, sizeof made - length, "%s%s",
                                           j ? "|" : "", cell);
            }
            line[lines++] = strdup(made);
        }
        assert_ok(brume_rows_next(rows, &chunk, &error));
    }
    brume_rows_close(rows);
    free(text);
    brume_query_free(query);
    qsort(line, lines, sizeof *line, compare_lines);
    size_t length = 0;
    out[0] = 0;
    for (size_t i = 0; i < lines; i++) {
        length += (size_t)snprintf(out + length, size - length, "%s%s", i ? " " : "", line[i]);
        free(line[i]);
    }
}

static void every_relation_gives_the_rows_that_sql_means(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"SELECT clinic, SUM(cost) FROM visits GROUP BY clinic", "1|a|10.5 1|b|20 2|a|5 3|c|500"},
        {"SELECT clinic, SUM(cost) FROM visits GROUP BY ROLLUP (clinic)",
         "1|NULL|1|10.5 1|NULL|1|20 1|a|0|10.5 1|b|0|20 2|NULL|1|5 2|a|0|5 3|NULL|1|500 3|c|0|500"},
        {"SELECT a, SUM(cost) FROM (SELECT 'x' AS a, cost FROM visits UNION ALL SELECT clinic, cost "
         "/ 2 FROM visits WHERE cost > 10) u GROUP BY a",
         "1|a|5.25 1|b|10 1|x|10.5 1|x|20 2|x|5 3|c|250 3|x|500"},
        {"SELECT a, COUNT(b) FROM (SELECT age AS a, NULL AS b FROM visits UNION ALL SELECT 7, clinic "
         "FROM visits WHERE cost > 100) u GROUP BY GROUPING SETS ((a), ())",
         "1|30|0|NULL 1|31|0|NULL 1|NULL|1|NULL 1|NULL|1|NULL 2|40|0|NULL 2|NULL|1|NULL 3|50|0|NULL "
         "3|7|0|c 3|NULL|1|NULL 3|NULL|1|c"},
        {"SELECT COUNT(*) FROM visits WHERE cost * cost > 30", "1 1 3"},
        {"SELECT COUNT(*) FROM visits WHERE cost > 600", "3"},
        {"SELECT sex, SUM(age) FROM visits v JOIN patients p ON v.patient = p.patient GROUP BY sex",
         "1|f|30 1|f|31 2|m|40"},
        {"SELECT sex, SUM(age) FROM visits v, patients p WHERE v.patient = p.patient AND age > 30 "
         "GROUP BY sex",
         "1|f|31 2|m|40"},
        {"SELECT sex, SUM(age) FROM visits LEFT JOIN patients USING (patient) GROUP BY sex",
         "1|f|30 1|f|31 2|m|40 3|NULL|50"},
        {"SELECT sex, SUM(age) FROM visits v LEFT JOIN patients p ON v.patient = p.patient AND age "
         "= 30 GROUP BY sex",
         "1|NULL|31 1|f|30 2|NULL|40 3|NULL|50"},
        {"SELECT sex, SUM(age) FROM visits v RIGHT JOIN patients p ON v.patient = p.patient GROUP "
         "BY sex",
         "1|f|30 1|f|31 2|m|40 4|f|NULL"},
        {"SELECT sex, SUM(age) FROM visits v FULL JOIN patients p ON v.patient = p.patient GROUP BY "
         "sex",
         "1|f|30 1|f|31 2|m|40 3|NULL|50 4|f|NULL"},
        {"SELECT region, COUNT(*) FROM visits LEFT JOIN clinics USING (clinic) GROUP BY region",
         "1|north 1|south 2|north 3|NULL"},
        {"SELECT region, COUNT(*) FROM clinics c JOIN visits v ON c.clinic = v.clinic GROUP BY 1",
         "1|north 1|south 2|north"},
        {"SELECT AVG(n) FROM (SELECT patient, CLAMP(COUNT(*), 0, 20) AS n FROM visits GROUP BY "
         "patient) q",
         "1|2 2|1 3|1"},
        {"SELECT AVG(CLAMP(s, 0, 55)) FROM (SELECT patient, SUM(age) AS s FROM visits GROUP BY "
         "patient HAVING COUNT(*) > 1 OR MIN(age) = 50) q",
         "1|55 3|50"},
        {"SELECT AVG(m) FROM (SELECT AVG(CAST(cost AS numeric(9,2))) AS m FROM visits GROUP BY "
         "patient) q",
         "1|15.25 2|5 3|500"},
        {"SELECT clinic, MEDIAN(m) FROM (SELECT clinic, MAX(cost) AS m FROM visits GROUP BY "
         "patient, clinic) q GROUP BY clinic",
         "1|a|10.5 1|b|20 2|a|5 3|c|500"},
        {"SELECT n, COUNT(*) FROM (SELECT patient, COUNT(DISTINCT clinic) AS n FROM visits GROUP "
         "BY patient) q GROUP BY n",
         "1|2 2|1 3|1"},
        {"WITH old AS (SELECT * FROM visits WHERE age >= 31), cheap AS (SELECT patient, cost / 2 AS "
         "half, day FROM old WHERE cost < 100) SELECT extract(day from day), SUM(half) FROM cheap "
         "GROUP BY 1",
         "1|2|10 2|1|2.5"},
        {"SELECT sex, AVG(n) FROM (SELECT patient, CLAMP(COUNT(*), 0, 9) AS n FROM visits GROUP BY "
         "patient) v JOIN patients p ON v.patient = p.patient GROUP BY sex",
         "1|f|2 2|m|1"},
        {"SELECT SUM(CLAMP(\"Weight\", 0, 75)) FROM visits", "1|7025 1|7100 2|7500 3|NULL"},
        {"SELECT a.clinic, COUNT(*) FROM visits a JOIN visits b ON a.patient = b.patient AND a.age "
         "< b.age GROUP BY a.clinic",
         "1|a"},
        {"SELECT clinic, COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM patients p WHERE "
         "p.patient = v.patient AND sex = 'f') GROUP BY clinic",
         "1|a 1|b"},
        {"SELECT COUNT(*) FROM visits v WHERE age < 100 AND NOT EXISTS (SELECT * FROM patients p "
         "WHERE p.patient = v.patient)",
         "3"},
        {"SELECT clinic, COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE "
         "w.patient = v.patient AND w.age > v.age) GROUP BY 1",
         "1|a"},
        {"SELECT clinic, COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT 1 FROM visits w WHERE "
         "w.patient = v.patient AND w.age > v.age) GROUP BY 1",
         "1|b 2|a 3|c"},
        {"SELECT COUNT(*) FROM visits WHERE patient IN (SELECT patient FROM patients WHERE sex = "
         "'m')",
         "2"},
        {"SELECT COUNT(*) FROM visits WHERE patient = ANY (SELECT DISTINCT patient FROM patients)",
         "1 1 2"},
        {"SELECT SUM(age) FROM visits WHERE patient IN (SELECT patient FROM visits GROUP BY patient "
         "HAVING COUNT(*) > 1 AND SUM(age * age) > 3)",
         "1|30 1|31"},
        {"SELECT COUNT(*) FROM visits WHERE patient NOT IN (SELECT patient FROM visits WHERE age < "
         "40 OR cost > 900)", /* the row without a patient is nobody's */
         "2"},
        {"SELECT COUNT(*) FROM visits WHERE clinic IN (SELECT clinic FROM clinics WHERE region = "
         "'south')",
         "1"},
        {"SELECT COUNT(*) FROM visits WHERE clinic NOT IN (SELECT clinic FROM clinics)", "3"},
        {"SELECT COUNT(*) FROM visits WHERE clinic NOT IN (SELECT nullif(clinic, 'b') FROM "
         "clinics)",
         ""},
        {"SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM clinics c WHERE c.clinic = "
         "v.clinic AND region = 'north') AND age > 30",
         "2"},
        {"SELECT sex, COUNT(*) FROM visits v JOIN patients p USING (patient) WHERE EXISTS (SELECT "
         "1 FROM visits w WHERE w.patient = v.patient AND w.cost * 2 > 30 AND EXISTS (SELECT 1 "
         "FROM patients q WHERE q.patient = w.patient)) GROUP BY sex",
         "1|f 1|f"},
        {"SELECT AVG(n) FROM (SELECT patient, CLAMP(COUNT(*), 0, 9) AS n FROM visits WHERE patient "
         "IN (SELECT patient FROM patients) GROUP BY patient) q",
         "1|2 2|1"},
        {"WITH women AS (SELECT * FROM patients WHERE sex = 'f') SELECT COUNT(*) FROM visits v "
         "WHERE EXISTS (SELECT 1 FROM women WHERE women.patient = v.patient)",
         "1 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int e = 0; e < 2; e++) {
            char found[2000];
            rows_of(e, cases[i][0], found, sizeof found);
            if (strcmp(found, cases[i][1]) != 0)
                fail_msg("%s (engine %d)\n  is       %s\n  expected %s", cases[i][0], e, found,
                         cases[i][1]);
        }
}

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s.csv", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* The rows of one unit ("3", "3|c"), and all the others, of a list that rows_of made. */
static void part_of(const char *rows, char unit, char *own, char *others, size_t size)
{
    own[0] = others[0] = 0;
    for (const char *at = rows; *at;) {
        size_t length = strcspn(at, " ");
        char *to = at[0] == unit && (length == 1 || at[1] == '|') ? own : others;
        size_t used = strlen(to);
        snprintf(to + used, size - used, "%.*s ", (int)length, at);
        at += length + (at[length] == ' ');
    }
}

/* What the price of a join rests on: a unit taken out of the other dataset changes its own rows
 * alone, and these from all to none or from none to all unless the table is charged as nullable. */
static void a_unit_taken_out_of_the_other_dataset_changes_its_own_rows_alone(void **state)
{
    (void)state;
    static const char *const tails[] = {
        "WHERE EXISTS (SELECT 1 FROM patients p WHERE p.patient = v.patient)",
        "WHERE EXISTS (SELECT 1 FROM patients p WHERE p.patient = v.patient AND level > age)",
        "WHERE NOT EXISTS (SELECT 1 FROM patients p WHERE p.patient = v.patient)",
        "WHERE NOT EXISTS (SELECT 1 FROM patients p WHERE p.patient = v.patient AND level > 35)",
        "WHERE NOT EXISTS (SELECT 1 FROM patients p WHERE p.patient = v.patient AND level = age)",
        "WHERE patient IN (SELECT patient FROM patients WHERE sex = 'w')",
        "WHERE patient NOT IN (SELECT patient FROM patients WHERE sex = 'w')",
        "WHERE patient IN (SELECT patient FROM patients GROUP BY patient HAVING COUNT(*) > 1)",
        "WHERE patient NOT IN (SELECT patient FROM patients GROUP BY patient HAVING COUNT(*) > 1)",
        "WHERE NOT EXISTS (SELECT 1 FROM visits w WHERE w.patient = v.patient AND w.age > v.age AND "
        "NOT EXISTS (SELECT 1 FROM patients p WHERE p.patient = w.patient))",
        "JOIN patients p ON v.patient = p.patient",
        "LEFT JOIN patients p ON v.patient = p.patient AND level = age",
    };
    static const char *const lines[] = {"1,w,30", "1,w,99", "2,m,40", "3,w,7", "4,w,1"};
    enum { TAILS = sizeof tails / sizeof *tails };
    static char found[5][TAILS][2000]; /* [the unit taken out; 0: none] */
    bool nullable[TAILS], some_changed[TAILS] = {false};
    brume_engine *usual = engines[0];
    for (int without = 0; without <= 4; without++) {
        char text[200] = "patient,sex,level\n", path[3][128];
        for (size_t i = 0; i < 5; i++)
            if (lines[i][0] - '0' != without) {
                size_t used = strlen(text);
                snprintf(text + used, sizeof text - used, "%s\n", lines[i]);
            }
        write_file("levels", text);
        brume_source sources[3];
        static const char *const names[] = {"visits", "levels", "clinics"};
        static declared_columns declared[3];
        columns_read("patient bigint, age bigint, cost double, day date", &declared[0]);
        columns_read("patient bigint, level bigint", &declared[1]);
        columns_read(NULL, &declared[2]);
        for (int t = 0; t < 3; t++) {
            snprintf(path[t], sizeof path[t], "%s/%s.csv", folder, names[t]);
            sources[t] = columns_source(path[t], &declared[t]);
        }
        brume_description described = {0};
        assert_ok(brume_engine_open(sources, 3, &engines[0], &error));
        assert_ok(brume_engine_describe(engines[0], 1, &described, &error));
        brume_catalog_column level = columns[0][1][2];
        columns[0][1][2] = (brume_catalog_column){.name = "level",
                                                  .type = described.columns[2].type,
                                                  .leaf = described.columns[2].leaf,
                                                  .native = ""};
        tables[0][1].column_count = 3;
        for (size_t i = 0; i < TAILS; i++) {
            char sql[400];
            snprintf(sql, sizeof sql, "SELECT v.age, COUNT(*) FROM visits v %s GROUP BY v.age",
                     tails[i]);
            rows_of(0, sql, found[without][i], sizeof found[without][i]);
            brume_query *query = NULL;
            assert_ok(brume_query_parse(sql, &catalogs[0], &query, &error));
            nullable[i] = query->tables[1].nullable_side;
            brume_query_free(query);
        }
        columns[0][1][2] = level;
        tables[0][1].column_count = 2;
        brume_description_clear(&described);
        brume_engine_close(engines[0]);
    }
    engines[0] = usual;
    for (size_t i = 0; i < TAILS; i++)
        for (int unit = 1; unit <= 4; unit++) {
            char own[2][2000], others[2][2000];
            part_of(found[0][i], (char)('0' + unit), own[0], others[0], sizeof own[0]);
            part_of(found[unit][i], (char)('0' + unit), own[1], others[1], sizeof own[1]);
            assert_string_equal(others[0], others[1]);
            bool changed = strcmp(own[0], own[1]) != 0, turned = *own[0] && *own[1] && changed;
            if (turned && !nullable[i])
                fail_msg("%s: '%s' became '%s'", tails[i], own[0], own[1]);
            some_changed[i] = some_changed[i] || changed;
        }
    /* The two that compare more than the unit do turn rows into others: the charge is needed. */
    assert_true(nullable[4] && some_changed[4] && nullable[9] && some_changed[9]);
    for (size_t i = 0; i < TAILS - 1; i++)
        assert_true(some_changed[i]);
}

static int prepare(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/brume-relations.XXXXXX");
    const char *url = getenv("BRUME_TEST_POSTGRESQL");
    if (!url || !mkdtemp(folder))
        return 1;
    write_file("visits",
               "patient,age,cost,clinic,day,Weight\n1,30,10.5,a,2020-01-01,70.25\n1,31,20,"
               "b,2020-01-02,71\n2,40,5,a,2020-01-01,80\n3,50,1000,c,2020-02-01,\n,20,7,a,"
               "2020-01-01,60\n");
    write_file("patients", "patient,sex\n1,f\n2,m\n4,f\n");
    write_file("clinics", "clinic,region\na,north\nb,south\n");
    PGconn *connection = PQconnectdb(url);
    PGresult *result = PQexec(
        connection,
        "CREATE TABLE visits (patient bigint, age integer, cost double precision, clinic text, day "
        "date, \"Weight\" numeric(6,2)); INSERT INTO visits VALUES "
        "(1,30,10.5,'a','2020-01-01',70.25),(1,31,20,'b','2020-01-02',71),"
        "(2,40,5,'a','2020-01-01',80),(3,50,1000,'c','2020-02-01',NULL),"
        "(NULL,20,7,'a','2020-01-01',60); CREATE TABLE patients (patient integer, sex text); INSERT "
        "INTO patients VALUES (1,'f'),(2,'m'),(4,'f'); CREATE TABLE clinics (clinic text, region "
        "text); INSERT INTO clinics VALUES ('a','north'),('b','south')");
    bool done = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    PQfinish(connection);
    if (!done)
        return 1;
    static const char *const names[] = {"visits", "patients", "clinics"};
    static const brume_privacy privacy[] = {BRUME_PRIVACY_UNIT, BRUME_PRIVACY_UNIT,
                                            BRUME_PRIVACY_PUBLIC};
    static char path[3][128];
    static declared_columns declared[3];
    columns_read("patient bigint, age bigint, cost double, day date, Weight double", &declared[0]);
    columns_read("patient bigint", &declared[1]);
    columns_read(NULL, &declared[2]);
    for (int e = 0; e < 2; e++) {
        brume_source sources[3];
        for (int t = 0; t < 3; t++) {
            snprintf(path[t], sizeof path[t], "%s/%s.csv", folder, names[t]);
            sources[t] = e ? (brume_source){.location = url, .table = names[t]}
                           : columns_source(path[t], &declared[t]);
        }
        if (brume_engine_open(sources, 3, &engines[e], &error) != BRUME_OK)
            return 1;
        for (size_t t = 0; t < 3; t++) {
            brume_description *found = &descriptions[e][t];
            if (brume_engine_describe(engines[e], t, found, &error) != BRUME_OK)
                return 1;
            for (size_t i = 0; i < found->column_count; i++) {
                const brume_column *each = &found->columns[i];
                columns[e][t][i] = (brume_catalog_column){.name = each->name,
                                                          .type = each->type,
                                                          .leaf = each->leaf,
                                                          .native = each->native,
                                                          .not_null = each->not_null};
                if (strcmp(each->name, "age") == 0 || strcmp(each->name, "cost") == 0) {
                    columns[e][t][i].low = "0";
                    columns[e][t][i].high = strcmp(each->name, "age") == 0 ? "120" : "500";
                }
                if (e == 0 && strcmp(each->name, "Weight") == 0) {
                    columns[e][t][i].type = (brume_type){BRUME_TYPE_DECIMAL, 6, 2};
                    columns[e][t][i].leaf = BRUME_LEAF_CAST;
                }
            }
            tables[e][t] = (brume_catalog_table){.name = names[t],
                                                 .privacy = privacy[t],
                                                 .columns = columns[e][t],
                                                 .column_count = found->column_count};
        }
        catalogs[e] = (brume_catalog){tables[e], 3};
    }
    return 0;
}

static int tidy(void **state)
{
    (void)state;
    char command[128];
    for (int e = 0; e < 2; e++) {
        brume_engine_close(engines[e]);
        for (int t = 0; t < 3; t++)
            brume_description_clear(&descriptions[e][t]);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_relation_gives_the_rows_that_sql_means),
        cmocka_unit_test(a_unit_taken_out_of_the_other_dataset_changes_its_own_rows_alone),
    };
    return cmocka_run_group_tests_name("relations", tests, prepare, tidy);
}
