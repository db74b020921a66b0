/* Push-down to Spark: the totals of each unit, what a limit is on, norms, and ranks. */
#include <string.h>

#include "query/collect/pushed/pushed_spark.h"
#include "query/expression/wide.h"
#include "query/limit/grid.h"

enum { SMALL = 1 << 22, FEW_CELLS = 1 << 13 };

#define WIDE BRUME_SPARK_WIDE

/* ---- pieces ---- */

void brume_spark_put_wide(const brume_push_statement *to, brume_u128 value)
{
    char text[BRUME_WIDE_TEXT_SIZE];
    fprintf(to->out, "CAST('%s' AS " WIDE ")", brume_wide_format((brume_wide)value, 0, text));
}

/* Value i of a row, clamped as the bounder does; NULL stays NULL. */
static void put_value(const brume_push_statement *to, size_t i)
{
    const brume_plan_value *value = &to->collection->values[i];
    size_t column = 1 + to->keys + i;
    fprintf(to->out, "CASE WHEN \"r%zu\" < ", column);
    brume_push_spark_integer(to->out, value->low);
    fputs(" THEN ", to->out);
    brume_push_spark_integer(to->out, value->low);
    fprintf(to->out, " WHEN \"r%zu\" > ", column);
    brume_push_spark_integer(to->out, value->high);
    fputs(" THEN ", to->out);
    brume_push_spark_integer(to->out, value->high);
    fprintf(to->out, " ELSE \"r%zu\" END", column);
}

/* How many groups of one unit the rows may have that a statement reads, and not more than one too
 * many: all combinations of declared values, of which some may be no group, or the groups that are
 * given. */
static uint64_t most_groups(const brume_push_statement *to)
{
    const brume_collection *collection = to->collection;
    const brume_collection_only *only = collection->only;
    uint64_t most = 1;
    if (only && only->key_count == to->keys)
        return only->count;
    if (collection->cells == 0)
        return FEW_CELLS + 1;
    for (size_t k = 0; k < to->keys && most <= FEW_CELLS; k++)
        most *= collection->domain_size[k]; /* at most 2^13 times a number of values in memory */
    return most;
}

/* Are totals of value i, and of its distances from the centre, integers of 64 bits? */
bool brume_spark_has_small_sum(const brume_push_statement *to, size_t i)
{
    const brume_plan_value *value = &to->collection->values[i];
    return value->low >= -SMALL && value->high <= SMALL && most_groups(to) <= FEW_CELLS;
}

/* Distances from the centre of at most 2^11. */
bool brume_spark_has_small_squares(const brume_push_statement *to, size_t i)
{
    const brume_plan_value *value = &to->collection->values[i];
    return brume_spark_has_small_sum(to, i) && value->high - value->low <= 1 << 11;
}

/* ---- totals ---- */

static void put_square(const brume_push_statement *to, size_t i)
{
    for (int time = 0; time < 2; time++) {
        fputs(time ? " * (" : "(", to->out);
        put_value(to, i);
        fputs(" - ", to->out);
        brume_push_spark_integer(to->out, brume_push_centre(to, i));
        fputc(')', to->out);
    }
}

/* The sum of value i or of its squares, 0 where there are none. */
static void put_sum(const brume_push_statement *to, size_t i, bool squares)
{
    bool small = squares ? brume_spark_has_small_squares(to, i) : brume_spark_has_small_sum(to, i);
    fputs(small ? ", coalesce(sum(" : ", coalesce(sum(CAST(", to->out);
    if (squares)
        put_square(to, i);
    else
        put_value(to, i);
    fprintf(to->out,
            small ? "), CAST(0 AS BIGINT)) AS \"%c%zu\""
                  : " AS DECIMAL(28,0))), CAST(0 AS " WIDE ")) AS \"%c%zu\"",
            squares ? 'q' : 's', i);
}

/* Of each pair of a unit and a group, or with `whole` of each unit in all groups together. */
void brume_push_spark_totals(const brume_push_statement *to, const char *rows, bool whole)
{
    FILE *out = to->out;
    fputs("(SELECT \"r0\"", out);
    if (!whole)
        brume_push_put_keys(to, ", ");
    fputs(", count(*) AS \"n\"", out);
    for (size_t i = 0; i < to->values; i++) {
        if (to->wanted[i].count)
            fprintf(out, ", count(\"r%zu\") AS \"c%zu\"", 1 + to->keys + i, i);
        if (to->wanted[i].sum)
            put_sum(to, i, false);
        if (to->wanted[i].squares)
            put_sum(to, i, true);
    }
    /* By unit alone Spark adds up before it brings rows together. */
    bool together = !whole && to->keys > 0;
    fprintf(out, " FROM (SELECT %s* FROM (%s) AS \"r\"",
            together ? "/*+ REPARTITION(\"r0\") */ " : "", rows);
    brume_push_spark_domain(out, to->collection);
    fputs(") AS \"r\" GROUP BY \"r0\"", out);
    if (!whole)
        brume_push_put_keys(to, ", ");
    fputs(") AS \"t\"", out);
}

/* ---- entries and norms ---- */

bool brume_spark_is_small(const brume_push_statement *to, const brume_total *of)
{
    return of->kind != BRUME_TOTAL_SUM || brume_spark_has_small_sum(to, of->value);
}

/* What a limit is on: BIGINT or WIDE; what is more than brume_limit_size lets pass is saturated,
 * and so is a total that may have wrapped around. Counts are never as large. */
void brume_spark_put_entry(const brume_push_statement *to, const brume_total *of, bool whole)
{
    switch (of->kind) {
    case BRUME_TOTAL_PRESENCE:
        brume_push_spark_integer(to->out, 1);
        return;
    case BRUME_TOTAL_ROWS:
        fputs("\"n\"", to->out);
        return;
    case BRUME_TOTAL_VALUES:
        fprintf(to->out, "\"c%zu\"", of->value);
        return;
    case BRUME_TOTAL_SUM:
        break;
    }
    /* So that a norm of 64 bits cannot overflow, whatever a unit has. */
    bool small = brume_spark_is_small(to, of);
    brume_u128 most = BRUME_LIMIT_LARGEST(to->p);
    if (small && to->p == 1)
        most = INT64_MAX / (whole || most_groups(to) == 0 ? 1 : most_groups(to));
    char text[BRUME_WIDE_TEXT_SIZE];
    const char *type = small ? "BIGINT" : WIDE;
    brume_wide_format((brume_wide)most, 0, text);
    fputs("CASE WHEN ", to->out);
    if (small)
        fprintf(to->out, "\"n\" > CAST('%lld' AS BIGINT) OR ", (long long)BRUME_SPARK_ROWS);
    fprintf(to->out,
            "\"s%zu\" > CAST('%s' AS %s) THEN CAST('%s' AS %s) WHEN \"s%zu\" < CAST('-%s' AS %s) "
            "THEN CAST('-%s' AS %s) ELSE \"s%zu\" END",
            of->value, text, type, text, type, of->value, text, type, text, type, of->value);
}

/* What entry "e<i>" adds to its unit's norm (brume_limit_part). Of BIGINTs the norm is one for
 * p = 1; squares are at most 2^106. */
void brume_spark_put_part(const brume_push_statement *to, const brume_total *of, size_t i)
{
    if (to->p == 2)
        fprintf(to->out, "CAST(\"e%zu\" AS DECIMAL(18,0)) * CAST(\"e%zu\" AS DECIMAL(18,0))", i, i);
    else if (of->kind == BRUME_TOTAL_SUM && to->collection->values[of->value].low < 0)
        fprintf(to->out, "abs(\"e%zu\")", i);
    else
        fprintf(to->out, "\"e%zu\"", i);
}

/* Is the norm, or its square, a BIGINT? */
bool brume_spark_has_small_norm(const brume_push_statement *to, const brume_total *of)
{
    return to->p == 1 && brume_spark_is_small(to, of);
}

/* ---- ranks ---- */

/* Spark's xxhash64 of the key, the unit and the group's keys. It passes NULL over, so that each of
 * these is hashed with whether it is NULL before it, and (NULL, 'a') is another pair than ('a',
 * NULL). */
void brume_push_spark_rank(const brume_push_statement *to, uint64_t key)
{
    fputs("xxhash64(", to->out);
    brume_push_spark_integer(to->out, (int64_t)key);
    for (size_t i = 0; i <= to->keys; i++)
        fprintf(to->out, ", \"r%zu\" IS NULL, \"r%zu\"", i, i);
    fputc(')', to->out);
}
