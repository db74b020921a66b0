/* What a server keeps of every unit by a keyed hash: groups that nobody declared, distinct values,
 * keys alone and modes.
 *
 * The hash is computed here too, so that what is kept is known: the server's numbers are those of
 * the kept rows, as counted here or, where each unit keeps several groups, as the bounder of
 * streamed rows counts these rows alone. What one unit moves, removed or replaced, is within the
 * limits, and statements that look at the rows of others, or keep too much, are told apart
 * (kept.h). All of a unit's groups are kept equally often. */
#include "check.h"

#include <stdlib.h>

#include <libpq-fe.h>

#include "kept.h"
#include "postgres_hash.h"
#include "query/collect/pushed/pushed.h"
#include "replaced.h"

static PGconn *server;
static brume_error error;

static PGresult *run(const char *sql)
{
    PGresult *result = PQexec(server, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(server));
    return result;
}

static void fill(const char *name, const kept_table *from, bool all)
{
    char *sql = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&sql, &length);
    fprintf(out, "DELETE FROM %s; INSERT INTO %s VALUES (NULL, 'a', 1, 1)", name, name);
    for (size_t i = 0; i < from->count; i++) {
        const kept_row *one = &from->rows[i];
        if (!all && !one->kept)
            continue;
        char *text = one->k ? PQescapeLiteral(server, one->k, strlen(one->k)) : NULL;
        fputs(", (", out);
        kept_put_number(out, one->u, ", ");
        fprintf(out, "%s, ", text ? text : "NULL");
        kept_put_number(out, one->l, ", ");
        kept_put_number(out, one->x, ")");
        PQfreemem(text);
    }
    fclose(out);
    PQclear(run(sql));
    free(sql);
}

static uint64_t hash_number(int64_t number, uint64_t key)
{
    return number == KEPT_NOTHING
               ? key
               : postgres_hash_number(number, postgres_hash_number(number >> 32, key));
}

static uint64_t hash_text(const char *text, uint64_t key)
{
    return text ? postgres_hash_bytes(text, strlen(text), key) : key;
}

static int64_t rank_of(const kept_row *one, uint64_t key)
{
    uint64_t h = postgres_hash_number((int64_t)hash_number(one->u, key), key);
    h = postgres_hash_number((int64_t)hash_text(one->k, key), h);
    return (int64_t)postgres_hash_number((int64_t)hash_number(one->l, key), h);
}

static void show(const kept_table *from)
{
    fill("c", from, true);
}

static char *cell(const PGresult *result, int row, int column)
{
    return PQgetisnull(result, row, column) ? NULL : strdup(PQgetvalue(result, row, column));
}

static kept_answer ask(const kept_statement *of)
{
    kept_answer made = {0};
    PQclear(run("SET search_path = pg_catalog, public"));
    PGresult *result = run(of->sql);
    PQclear(run("RESET search_path"));
    int rows = PQntuples(result), keys = (int)of->keys;
    assert_true(rows <= KEPT_ROWS + 1);
    for (int i = 0; i < rows; i++, made.count++) {
        for (int k = 0; k < keys; k++)
            made.rows[i].keys[k] = cell(result, i, k);
        for (int c = 0; c < (int)of->columns; c++)
            made.rows[i].numbers[c] = strtod(PQgetvalue(result, i, keys + c), NULL);
    }
    PQclear(result);
    return made;
}

static kept_engine postgresql = {
    .names = {"a", "b", "it's", "\"quoted\\\"", "sixteen bytes ab", NULL},
    .fill = fill,
    .rank = rank_of,
    .show = show,
    .ask = ask,
    .dialect = BRUME_DIALECT_POSTGRESQL,
    .shown_as = "public.c",
    .kinds = {{"SELECT k, l, COUNT(*) FROM c GROUP BY k, l", "PARTITION BY \"r0\" ", "", 0, 0},
              {"SELECT k, COUNT(DISTINCT l) FROM c GROUP BY k", "\"g\" <= '2'", "\"g\" <= '4'", 0,
               0},
              {"SELECT k, l FROM c GROUP BY k, l", "PARTITION BY \"r0\" ", "", 2, 3}},
    .single = 8,
    .shown = 12,
    .distinct = 8,
    .neighbours = 10,
    .least = 1,
    .most = 4,
};

static int connect_here(void **state)
{
    (void)state;
    postgresql.url = getenv("BRUME_TEST_POSTGRESQL");
    assert_non_null(postgresql.url);
    kept_here = &postgresql;
    server = PQconnectdb(postgresql.url);
    assert_int_equal(PQstatus(server), CONNECTION_OK);
    PQclear(run("CREATE TABLE c (u int4, k text, l int8, x int8); CREATE TABLE kept (LIKE c)"));
    return 0;
}

static int disconnect(void **state)
{
    (void)state;
    PQfinish(server);
    return 0;
}

/* ---- the law of the choice ---- */

/* One unit in five groups, one of them NULL, under 4,000 keys: each is kept in a fifth of them.
 * Chi-square with 4 degrees of freedom is above 33.4 with probability 1e-6; keys are fixed, so that
 * the test always does the same. */
static void all_groups_are_kept_equally_often(void **state)
{
    (void)state;
    enum { KEYS = 4000, GROUPS = 5 };
    asked all = kept_open("c", "SELECT k, l, COUNT(*) FROM c GROUP BY k, l", 0, 0);
    const brume_collection *collection = &all.plan->measurements[0].collection;
    static const char *const tables[] = {"public.c"};
    char *rows = NULL, *sql = NULL, key_text[32];
    int64_t counts[GROUPS] = {0};
    PQclear(
        run("DELETE FROM c; INSERT INTO c VALUES (1, 'a', 1, 1), (1, 'b', 1, 1), (1, NULL, 1, 1), "
            "(1, 'a', NULL, 1), (1, 'a', 1099511627777, 1)"));
    assert_ok(brume_collect_statement(collection, BRUME_DIALECT_POSTGRESQL, tables, &rows, &error));
    const uint64_t key = 1234567;
    assert_ok(brume_push_print_kept(brume_push_dialect_of(BRUME_DIALECT_POSTGRESQL), collection,
                                    rows, key, &sql, &error));
    /* the key as a column of numbers, so that all are one statement */
    snprintf(key_text, sizeof key_text, "'%lld'::int8", (long long)key);
    char *by_key = replaced(sql, key_text, "key"), *whole = NULL;
    assert_true(asprintf(&whole,
                         "SELECT r1, r2, count(*) FROM (SELECT hashint8extended(i, 99) AS key FROM "
                         "generate_series(1, %d) AS s(i)) AS keys, LATERAL (%s) AS kept GROUP BY "
                         "r1, r2",
                         KEYS, by_key) > 0);
    PGresult *result = run(whole);
    assert_int_equal(PQntuples(result), GROUPS);
    double far = 0, expected = (double)KEYS / GROUPS;
    for (int i = 0; i < GROUPS; i++) {
        counts[i] = strtoll(PQgetvalue(result, i, 2), NULL, 10);
        far += ((double)counts[i] - expected) * ((double)counts[i] - expected) / expected;
    }
    if (far > 33.4)
        fail_msg("chi-square %g", far);
    PQclear(result);
    free(by_key);
    free(whole);
    free(rows);
    free(sql);
    asked_close(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_check_single),
        cmocka_unit_test(kept_check_shown),
        cmocka_unit_test(kept_check_distinct),
        cmocka_unit_test(kept_check_several),
        cmocka_unit_test(kept_check_neighbours),
        cmocka_unit_test(all_groups_are_kept_equally_often),
    };
    return cmocka_run_group_tests(tests, connect_here, disconnect);
}
