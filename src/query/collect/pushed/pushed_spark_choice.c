/* Push-down to Spark: the statements that keep something of every unit by a keyed hash.
 *
 * They are those of pushed_choice.c. The rank of a pair of a unit and a group is Spark's xxhash64
 * of the key, the unit and the group's keys. It passes NULL over, so that each of these is hashed
 * with whether it is NULL before it, and (NULL, 'a') is another pair than ('a', NULL). Ties are
 * broken by the keys themselves.
 *
 * Price and proof are those of PostgreSQL's statements: what a unit keeps is a function of its own
 * rows and of the key alone, whatever the hash (proofs/push-down.md). */
#include "base/error.h"
#include "query/collect/pushed/pushed_spark.h"

/* Pairs of a unit and a group, each with its rows "n" and its place "g" among those of the unit. */
static void put_ranked_pairs(const brume_spark_push *to, const char *rows, uint64_t key)
{
    fputs("(SELECT \"n\"", to->out);
    brume_spark_put_keys(to, ", ");
    fputs(", row_number() OVER (PARTITION BY \"r0\" ORDER BY \"h\"", to->out);
    brume_spark_put_keys(to, ", ");
    fputs(") AS \"g\" FROM (SELECT *, xxhash64(", to->out);
    brume_spark_put_big(to, (int64_t)key);
    for (size_t i = 0; i <= to->keys; i++)
        fprintf(to->out, ", \"r%zu\" IS NULL, \"r%zu\"", i, i);
    fputs(") AS \"h\" FROM ", to->out);
    brume_spark_put_totals(to, rows, false);
    fputs(") AS \"h\") AS \"g\"", to->out);
}

/* Of each unit the first `most` pairs. */
static void put_first(const brume_spark_push *to, uint64_t most)
{
    fputs(" WHERE \"g\" <= ", to->out);
    brume_spark_put_big(to, most > INT64_MAX ? INT64_MAX : (int64_t)most);
}

brume_status brume_push_spark_kept(const brume_collection *collection, const char *rows,
                                   uint64_t key, char **sql, brume_error *error)
{
    brume_spark_push to;
    char *text = NULL;
    size_t length = 0;
    BRUME_TRY(brume_spark_open_push(&to, collection, 1, &text, &length, error));
    fputs("SELECT ", to.out);
    brume_spark_put_keys(&to, "");
    fputs(", count(*) FROM ", to.out);
    put_ranked_pairs(&to, rows, key);
    put_first(&to, 1);
    brume_spark_put_keys(&to, " GROUP BY ");
    return brume_spark_close_push(&to, &text, sql, error);
}

brume_status brume_push_spark_distinct(const brume_collection *collection, const char *rows,
                                       uint64_t key, uint64_t limit, char **sql, brume_error *error)
{
    brume_spark_push to;
    char *text = NULL;
    size_t length = 0;
    BRUME_TRY(brume_spark_open_push(&to, collection, 1, &text, &length, error));
    fputs("SELECT ", to.out);
    brume_push_put_keys(to.out, to.keys - 1, "");
    fprintf(to.out, "%scount(*) FROM (SELECT ", to.keys > 1 ? ", " : "");
    brume_spark_put_keys(&to, "");
    fputs(" FROM ", to.out);
    put_ranked_pairs(&to, rows, key);
    put_first(&to, limit);
    brume_spark_put_keys(&to, " GROUP BY ");
    fputs(") AS \"d\"", to.out);
    brume_push_put_keys(to.out, to.keys - 1, " GROUP BY ");
    return brume_spark_close_push(&to, &text, sql, error);
}

brume_status brume_push_spark_bounded(const brume_collection *collection, const char *rows,
                                      uint64_t key, char **sql, brume_error *error)
{
    brume_spark_push to;
    char *text = NULL;
    size_t length = 0;
    int64_t most = collection->max_rows > INT64_MAX ? INT64_MAX : (int64_t)collection->max_rows;
    BRUME_TRY(brume_spark_open_push(&to, collection, 1, &text, &length, error));
    fputs("SELECT ", to.out);
    brume_spark_put_keys(&to, "");
    fprintf(to.out, "%scount(*), coalesce(sum(CASE WHEN \"n\" > ", to.keys ? ", " : "");
    brume_spark_put_big(&to, most);
    fputs(" THEN ", to.out);
    brume_spark_put_big(&to, most);
    fputs(" ELSE \"n\" END), CAST(0 AS BIGINT)) FROM ", to.out);
    put_ranked_pairs(&to, rows, key);
    if (brume_push_cuts_groups(collection))
        put_first(&to, collection->max_groups);
    brume_spark_put_keys(&to, " GROUP BY ");
    return brume_spark_close_push(&to, &text, sql, error);
}
