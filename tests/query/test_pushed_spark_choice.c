/* What Spark keeps of every unit by a keyed hash: groups that nobody declared, distinct values,
 * keys alone and modes.
 *
 * The hash is computed here too, so that what is kept is known: Spark's numbers are those of the
 * kept rows, as counted here or, where each unit keeps several groups, as the bounder of streamed
 * rows counts these rows alone. What one unit moves, removed or replaced, is within the limits, and
 * statements that look at the rows of others, or keep too much, are told apart (kept.h). All of a
 * unit's groups are kept equally often.
 *
 *   test_pushed_spark_choice       needs a Spark server, at the URL in BRUME_TEST_SPARK */
#include "check.h"

#include <stdlib.h>

#include <jansson.h>

#include "kept.h"
#include "replaced.h"
#include "spark.h"
#include "spark_hash.h"

/* SELECT of the rows, or of those that are kept. */
static char *select_of(const kept_table *from, bool all)
{
    char *sql = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&sql, &length);
    fputs(
        "SELECT CAST(u AS BIGINT) AS u, CAST(k AS STRING) AS k, CAST(l AS BIGINT) AS l, CAST(x AS "
        "BIGINT) AS x FROM VALUES (NULL, X'61', 1, 1)",
        out);
    for (size_t i = 0; i < from->count; i++) {
        const kept_row *one = &from->rows[i];
        if (!all && !one->kept)
            continue;
        fputs(", (", out);
        kept_put_number(out, one->u, one->k ? ", X'" : ", NULL, ");
        for (const char *at = one->k; at && *at; at++)
            fprintf(out, "%02x", (unsigned)(unsigned char)*at);
        fputs(one->k ? "', " : "", out);
        kept_put_number(out, one->l, ", ");
        kept_put_number(out, one->x, ")");
    }
    fputs(" AS t(u, k, l, x)", out);
    fclose(out);
    return sql;
}

/* Fill a stored table with rows, or a view, which is quicker. */
static void fill(const char *name, const kept_table *from, bool all)
{
    char *rows = select_of(from, all), *sql = NULL;
    assert_true(asprintf(&sql, "DROP TABLE IF EXISTS %s", name) > 0);
    spark_run(sql);
    free(sql);
    assert_true(asprintf(&sql, "CREATE TABLE %s USING parquet AS %s", name, rows) > 0);
    spark_run(sql);
    free(sql);
    free(rows);
}

static void show(const kept_table *from)
{
    char *rows = select_of(from, true), *sql = NULL;
    assert_true(asprintf(&sql, "CREATE OR REPLACE TEMPORARY VIEW v AS %s", rows) > 0);
    spark_run(sql);
    free(sql);
    free(rows);
}

static uint64_t hash_number(int64_t number, uint64_t h)
{
    h = spark_hash_flag(number == KEPT_NOTHING, h);
    return number == KEPT_NOTHING ? h : spark_hash_number(number, h);
}

static uint64_t hash_text(const char *text, uint64_t h)
{
    h = spark_hash_flag(!text, h);
    return text ? spark_hash_bytes(text, strlen(text), h) : h;
}

static int64_t rank_of(const kept_row *one, uint64_t key)
{
    uint64_t h = hash_number(one->u, spark_hash_number((int64_t)key, SPARK_HASH_SEED));
    return (int64_t)hash_number(one->l, hash_text(one->k, h));
}

/* The text of a key, NULL where there is none. */
static char *key_text(const json_t *key)
{
    return key ? json_dumps(key, JSON_ENCODE_ANY) : NULL;
}

static kept_answer ask(const kept_statement *of)
{
    static const char *const keys[] = {"k0", "k1"}, *const numbers[] = {"n0", "n1"};
    kept_answer made = {0};
    char *quoted = replaced(of->sql, "\"", "`"), *whole = NULL;
    /* Rows as objects: "k0", "k1" are keys, left out where NULL; "n0", "n1" numbers. */
    assert_true(asprintf(&whole, "SELECT to_json(collect_list(struct(*))) FROM (%s) AS t(%s%s)",
                         quoted, of->keys == 1 ? "k0" : "k0, k1",
                         of->columns == 1 ? ", n0" : ", n0, n1") > 0);
    char *cell = spark_cell(whole);
    json_t *rows = json_loads(cell, 0, NULL), *one;
    size_t i;
    assert_non_null(rows);
    made.count = json_array_size(rows);
    assert_true(made.count <= KEPT_ROWS + 1);
    json_array_foreach (rows, i, one) {
        for (size_t k = 0; k < of->keys; k++)
            made.rows[i].keys[k] = key_text(json_object_get(one, keys[k]));
        for (size_t c = 0; c < of->columns; c++)
            made.rows[i].numbers[c] = json_number_value(json_object_get(one, numbers[c]));
    }
    json_decref(rows);
    free(cell);
    free(quoted);
    free(whole);
    return made;
}

static kept_engine spark = {
    .names = {"a", "b", "it's", "\"quoted\\\" `too`", "thirty-two bytes and some more \xc3\xa9",
              NULL},
    .fill = fill,
    .rank = rank_of,
    .show = show,
    .ask = ask,
    .dialect = BRUME_DIALECT_SPARK,
    .shown_as = "v",
    .kinds = {{"SELECT k, l, COUNT(*) FROM c GROUP BY k, l", "PARTITION BY \"r0\" ", "", 0, 0},
              {"SELECT k, COUNT(DISTINCT l) FROM c GROUP BY k", "\"g\" <= 2L", "\"g\" <= 4L", 0, 0},
              {"SELECT k, l FROM c GROUP BY k, l", "PARTITION BY \"r0\" ", "", 2, 3}},
    .single = 4,
    .shown = 6,
    .distinct = 3,
    .neighbours = 4,
    .least = 2,
    .most = 2,
};

static int prepare(void **state)
{
    (void)state;
    spark.url = spark_url();
    kept_here = &spark;
    kept_table nothing = {0};
    fill("c", &nothing, true);
    fill("kept", &nothing, true);
    return 0;
}

static int tidy(void **state)
{
    (void)state;
    spark_run("DROP TABLE IF EXISTS c");
    spark_run("DROP TABLE IF EXISTS kept");
    return 0;
}

/* ---- the law of the choice ---- */

/* One unit in five groups, two of them with a NULL, under 4,000 keys: each is kept in a fifth of
 * them. That Spark ranks as it is computed here is tested above. Chi-square with 4 degrees of
 * freedom is above 33.4 with probability 1e-6; keys are fixed, so that the test always does the
 * same. */
static void all_groups_are_kept_equally_often(void **state)
{
    (void)state;
    enum { KEYS = 4000, GROUPS = 5 };
    const kept_row groups[GROUPS] = {{.u = 1, .k = "a", .l = 1},
                                     {.u = 1, .k = "b", .l = 1},
                                     {.u = 1, .k = NULL, .l = 1},
                                     {.u = 1, .k = "a", .l = KEPT_NOTHING},
                                     {.u = 1, .k = "a", .l = INT64_C(1099511627777)}};
    double counts[GROUPS] = {0}, far = 0, expected = (double)KEYS / GROUPS;
    for (uint64_t i = 0; i < KEYS; i++) {
        size_t least = 0;
        for (size_t g = 1; g < GROUPS; g++)
            if (rank_of(&groups[g], i) < rank_of(&groups[least], i))
                least = g;
        counts[least]++;
    }
    for (size_t g = 0; g < GROUPS; g++)
        far += (counts[g] - expected) * (counts[g] - expected) / expected;
    if (far > 33.4)
        fail_msg("chi-square %g", far);
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
    return cmocka_run_group_tests_name("what Spark keeps by hash", tests, prepare, tidy);
}
