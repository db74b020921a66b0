/* The statements of push-down for Spark.
 *
 * They are those of pushed_postgresql.c, with t, e and m as there, in the types that Spark has:
 *
 *   Integers have 64 bits and decimals 38 digits, and decimals are many times slower. So a total
 *   is a BIGINT where every value of it is at most 2^22 in size (SMALL) and there are few cells. It
 *   would take more than 2^39 rows of one unit in one group to leave 64 bits; such a total is
 *   saturated, by the number of its rows. Wider values are added up in DECIMAL(38,0): 2^63 values
 *   of 2^63 have 38 digits, and so has 2^80 times 2^44.
 *
 *   What is left of a unit is at most 2^44, and the sums of all units must be exact: the upper and
 *   the lower 22 bits are added up apart.
 *
 * Rows are first brought together by unit, once: groups and norms of a unit are then made where its
 * rows are. */
#include "query/collect/pushed/pushed_spark.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/expression/literal.h"
#include "query/limit/grid.h"
#include "query/print/statement.h"

#define BRUME_SPARK_WIDE "DECIMAL(38,0)"

#define BRUME_SPARK_ROWS (INT64_C(1) << 39) /* of a pair: more may make a total of 64 bits wrap */

/* Push-down to Spark: the totals of each unit, what a limit is on, norms, and ranks. */

enum { SMALL = 1 << 22, FEW_CELLS = 1 << 13 };

#define WIDE BRUME_SPARK_WIDE

/* ---- pieces ---- */

static void push_spark_domain(FILE *out, const brume_collection *collection);

static void spark_put_wide(const brume_push_statement *to, brume_u128 value)
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

/* Are totals of value i, and of its distances from the centre, or of their squares, integers of 64
 * bits? Is what a limit is on, or its norm (for p = 2 the square of it)?
 * Are totals of value i, and of its distances from the centre, integers of 64 bits? */
static bool spark_has_small_sum(const brume_push_statement *to, size_t i)
{
    const brume_plan_value *value = &to->collection->values[i];
    return value->low >= -SMALL && value->high <= SMALL && most_groups(to) <= FEW_CELLS;
}

/* Distances from the centre of at most 2^11. */
static bool spark_has_small_squares(const brume_push_statement *to, size_t i)
{
    const brume_plan_value *value = &to->collection->values[i];
    return spark_has_small_sum(to, i) && value->high - value->low <= 1 << 11;
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
    bool small = squares ? spark_has_small_squares(to, i) : spark_has_small_sum(to, i);
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

/* For each pair of a unit and a group, or with `whole` of each unit in all groups together. */
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
    push_spark_domain(out, to->collection);
    fputs(") AS \"r\" GROUP BY \"r0\"", out);
    if (!whole)
        brume_push_put_keys(to, ", ");
    fputs(") AS \"t\"", out);
}

/* ---- entries and norms ---- */

static bool spark_is_small(const brume_push_statement *to, const brume_total *of)
{
    return of->kind != BRUME_TOTAL_SUM || spark_has_small_sum(to, of->value);
}

/* Print what a limit is on, and what "e<i>" adds to a norm.
 * What a limit is on: BIGINT or WIDE; what is more than brume_limit_size lets pass is saturated,
 * and so is a total that may have wrapped around. Counts are never as large. */
static void spark_put_entry(const brume_push_statement *to, const brume_total *of, bool whole)
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
    bool small = spark_is_small(to, of);
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
static void spark_put_part(const brume_push_statement *to, const brume_total *of, size_t i)
{
    if (to->p == 2)
        fprintf(to->out, "CAST(\"e%zu\" AS DECIMAL(18,0)) * CAST(\"e%zu\" AS DECIMAL(18,0))", i, i);
    else if (of->kind == BRUME_TOTAL_SUM && to->collection->values[of->value].low < 0)
        fprintf(to->out, "abs(\"e%zu\")", i);
    else
        fprintf(to->out, "\"e%zu\"", i);
}

/* Is the norm, or its square, a BIGINT? */
static bool spark_has_small_norm(const brume_push_statement *to, const brume_total *of)
{
    return to->p == 1 && spark_is_small(to, of);
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

/* Push-down to Spark: what can be pushed, and the condition on rows that their group is a declared
 * or a given one. */

enum { DOMAIN_MOST = 10000 }; /* declared values that a statement names */

const char *brume_push_spark_obstacle(const brume_collection *collection)
{
    return brume_push_shared_obstacle(
        collection, DOMAIN_MOST,
        "the groups have more than 10000 declared values, and Spark is asked for no more");
}

/* ---- which rows ---- */

/* A backslash means something in Spark's texts; a zero byte would end the statement. */
static void put_text(FILE *out, brume_text text)
{
    fputc('\'', out);
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        if (c == '\'' || c == '\\')
            fputc('\\', out);
        if (c)
            fputc(c, out);
        else
            fputs("\\u0000", out);
    }
    fputc('\'', out);
}

/* There are many of them in a statement, and a cast of each would take Spark a while to plan. */
void brume_push_spark_integer(FILE *out, int64_t value)
{
    if (value == INT64_MIN)
        fputs("CAST('-9223372036854775808' AS BIGINT)", out);
    else
        fprintf(out, value < 0 ? "(%lldL)" : "%lldL", (long long)value);
}

static void put_domain_value(FILE *out, const brume_key_value *value)
{
    if (value->wire == BRUME_WIRE_INTEGER)
        brume_push_spark_integer(out, value->integer);
    else if (value->wire == BRUME_WIRE_REAL)
        fprintf(out, "CAST('%.17g' AS DOUBLE)", value->real);
    else
        put_text(out, value->text);
}

/* Is key k one of these `count` values? */
static void put_among(FILE *out, size_t k, const brume_key_value *values, size_t count)
{
    bool null = false, any = false;
    fputc('(', out);
    for (size_t i = 0; i < count; i++) {
        null = null || values[i].null;
        if (values[i].null)
            continue;
        if (any)
            fputs(", ", out);
        else
            fprintf(out, "\"r%zu\" IN (", 1 + k);
        any = true;
        put_domain_value(out, &values[i]);
    }
    if (any)
        fputc(')', out);
    if (null)
        fprintf(out, "%s\"r%zu\" IS NULL", any ? " OR " : "", 1 + k);
    fputs(any || null ? ")" : "false)", out);
}

/* ---- given groups ---- */

/* Texts as their bytes: they come from rows, and may have anything in them. */
static void put_given(FILE *out, const brume_key_value *value)
{
    if (value->null) {
        fputs("NULL", out);
    } else if (value->wire == BRUME_WIRE_TEXT) {
        fputs("X'", out);
        for (size_t i = 0; i < value->text.length; i++)
            fprintf(out, "%02x", (unsigned)(unsigned char)value->text.data[i]);
        fputc('\'', out);
    } else {
        put_domain_value(out, value);
    }
}

static const char *type_of(brume_wire wire)
{
    return wire == BRUME_WIRE_INTEGER ? "BIGINT" : wire == BRUME_WIRE_REAL ? "DOUBLE" : "STRING";
}

/* Rows whose first keys are those of a given group. Spark looks a row up among many by hashing, and
 * also where a key is NULL. */
static void put_only(FILE *out, const brume_collection *collection)
{
    const brume_collection_only *only = collection->only;
    fputs(" LEFT SEMI JOIN (SELECT ", out);
    for (size_t k = 0; k < only->key_count; k++)
        fprintf(out, "%sCAST(\"d%zu\" AS %s) AS \"d%zu\"", k ? ", " : "", 1 + k,
                type_of(brume_type_wire(collection->query->keys[k].expression->type)), 1 + k);
    fputs(" FROM VALUES ", out);
    for (size_t i = 0; i < only->count; i++) {
        for (size_t k = 0; k < only->key_count; k++) {
            fputs(k ? ", " : i ? ", (" : "(", out);
            put_given(out, &only->groups[i]->keys[k]);
        }
        fputc(')', out);
    }
    fputs(" AS \"d\"(", out);
    for (size_t k = 0; k < only->key_count; k++)
        fprintf(out, "%s\"d%zu\"", k ? ", " : "", 1 + k);
    fputs(")) AS \"d\" ON ", out);
    for (size_t k = 0; k < only->key_count; k++)
        fprintf(out, "%s\"r%zu\" <=> \"d%zu\"", k ? " AND " : "", 1 + k, 1 + k);
}

/* As brume_push_postgresql_domain, but the condition on collection->only is a join that comes
 * before WHERE. */
static void push_spark_domain(FILE *out, const brume_collection *collection)
{
    const brume_collection_only *only = collection->only;
    if (only && only->key_count > 0 && only->count == 0) {
        fputs(" WHERE false", out);
        return;
    }
    if (only && only->key_count > 0)
        put_only(out, collection);
    if (collection->query->key_count == 0 || collection->cells == 0)
        return;
    fputs(" WHERE ", out);
    brume_push_put_sets(out, collection, put_among);
}

#define WIDE BRUME_SPARK_WIDE

static void put_double(const brume_push_statement *to, double value)
{
    fprintf(to->out, "CAST('%.17g' AS DOUBLE)", value);
}

/* ---- statements ---- */

/* The bin of "m" among low .. high, by halves. Norms are integers: above an edge is at least the
 * edge and 1. */
static void put_bin(const brume_push_statement *to, bool small, size_t low, size_t high)
{
    if (low == high) {
        brume_push_spark_integer(to->out, (int64_t)low);
        return;
    }
    size_t middle = (low + high) / 2;
    brume_u128 edge = brume_limit_edge(middle);
    fputs("CASE WHEN \"m\" <= ", to->out);
    if (small)
        brume_push_spark_integer(to->out, edge > INT64_MAX ? INT64_MAX : (int64_t)edge);
    else
        spark_put_wide(to, to->p == 1 ? edge : edge * edge);
    fputs(" THEN ", to->out);
    put_bin(to, small, low, middle);
    fputs(" ELSE ", to->out);
    put_bin(to, small, middle + 1, high);
    fputs(" END", to->out);
}

brume_status brume_push_spark_histogram(const brume_collection *collection, const char *rows,
                                        const brume_total *of, int p, size_t bins, char **sql,
                                        brume_error *error)
{
    brume_push_statement to;
    BRUME_TRY(brume_push_begin(&to, collection, p, error));
    brume_push_want(&to, of);
    fputs("SELECT \"b\", count(*) FROM (SELECT ", to.out);
    put_bin(&to, spark_has_small_norm(&to, of), 0, bins - 1); /* the last bin is open */
    fputs(" AS \"b\" FROM (SELECT sum(", to.out);
    spark_put_part(&to, of, 0);
    fputs(") AS \"m\" FROM (SELECT \"r0\", ", to.out);
    spark_put_entry(&to, of, brume_push_adds_up(&to, of));
    fputs(" AS \"e0\" FROM ", to.out);
    brume_push_spark_totals(&to, rows, brume_push_adds_up(&to, of));
    fputs(") AS \"e\" GROUP BY \"r0\") AS \"m\" WHERE \"m\" > 0) AS \"b\" GROUP BY \"b\"", to.out);
    return brume_push_end(&to, sql, error);
}

/* ---- what is left under the limits ---- */

/* A total that is limited: its text, and whether it is a BIGINT. */
typedef struct total_text {
    char text[280];
    bool small;
} total_text;

static total_text total_of(const brume_push_statement *to, const brume_limited_sum *sum,
                           const brume_total *of)
{
    total_text total = {.small = spark_is_small(to, of)};
    size_t i = sum->value;
    bool centred = sum->kind == BRUME_MEASURE_CENTRED;
    if (!brume_push_follows(sum->kind)) {
        snprintf(total.text, sizeof total.text, "\"e%zu\"", sum->limit);
        return total;
    }
    if (sum->kind == BRUME_MEASURE_HOLDERS) {
        total.small = true;
        snprintf(total.text, sizeof total.text,
                 "CASE WHEN \"c%zu\" > CAST(0 AS BIGINT) THEN CAST(1 AS BIGINT) ELSE CAST(0 AS "
                 "BIGINT) END",
                 i);
        return total;
    }
    total.small = centred ? spark_has_small_sum(to, i) : spark_has_small_squares(to, i);
    const char *type = total.small ? "BIGINT" : "DECIMAL(19,0)";
    char sum_text[160];
    if (centred)
        snprintf(sum_text, sizeof sum_text,
                 "(\"s%zu\" - CAST('%lld' AS %s) * CAST(\"c%zu\" AS %s))", i,
                 (long long)brume_push_centre(to, i), type, i, type);
    else
        snprintf(sum_text, sizeof sum_text,
                 "(\"q%zu\" - CAST('%llu' AS %s) * CAST(\"c%zu\" AS %s))", i,
                 (unsigned long long)sum->half_square, type, i, type);
    if (total.small) /* what may have wrapped around is nothing: it must be at most h times c */
        snprintf(total.text, sizeof total.text,
                 "CASE WHEN \"n\" > CAST('%lld' AS BIGINT) THEN CAST(0 AS BIGINT) ELSE %s END",
                 (long long)BRUME_SPARK_ROWS, sum_text);
    else
        snprintf(total.text, sizeof total.text, "%s", sum_text);
    return total;
}

/* `total` 2^shift towards zero, as BIGINT: where nothing is cut it is at most 2^44. */
static void put_shifted(const brume_push_statement *to, const total_text *total, int shift)
{
    if (shift >= 0) { /* at most 44, because a limit is at least 1 */
        fprintf(to->out, "CAST(%s AS BIGINT) * ", total->text);
        brume_push_spark_integer(to->out, INT64_C(1) << shift);
    } else if (total->small) {
        fprintf(to->out, "%s div ", total->text);
        brume_push_spark_integer(to->out, shift > -62 ? INT64_C(1) << -shift : INT64_MAX);
    } else {
        fprintf(to->out, "CAST(%s AS " WIDE ") div ", total->text);
        spark_put_wide(to, (brume_u128)1 << -shift);
    }
}

/* brume_limit_factor_of or brume_limit_factor_within, where it cuts: T / norm (1 - 2^-40), then
 * times the total and 2^shift, in this order. The cast cuts the fraction off. */
static void put_scaled(const brume_push_statement *to, const total_text *total,
                       const brume_total_limit *limit, size_t j, int shift)
{
    bool root = to->p == 2 && limit->square;
    fprintf(to->out, "CAST((CAST(%s AS DOUBLE) * ((", total->text);
    put_double(to, root ? sqrt((double)limit->square) : (double)limit->limit);
    fprintf(to->out,
            to->p == 1 ? " / CAST(\"m%zu\" AS DOUBLE)) * "
                       : " / sqrt(CAST(\"m%zu\" AS DOUBLE))) * ",
            j);
    put_double(to, 1 - 0x1p-40);
    fputs(")) * ", to->out);
    put_double(to, ldexp(1, shift));
    fputs(" AS BIGINT)", to->out);
}

/* size t / norm, in integers (brume_limit_clip, p = 1): of 64 bits where the product has no more.
 */
static void put_quotient(const brume_push_statement *to, const total_text *total, uint64_t limit,
                         size_t j, int shift)
{
    brume_u128 reach = shift >= 0 ? (brume_u128)limit << shift : (brume_u128)limit >> -shift;
    const char *e = total->text;
    if (total->small && reach > 0 && reach <= INT64_MAX) {
        int64_t most = INT64_MAX / (int64_t)reach;
        fprintf(to->out, "CASE WHEN %s BETWEEN ", e);
        brume_push_spark_integer(to->out, -most);
        fputs(" AND ", to->out);
        brume_push_spark_integer(to->out, most);
        fprintf(to->out, " THEN (%s * ", e);
        brume_push_spark_integer(to->out, (int64_t)reach);
        fprintf(to->out, ") div \"m%zu\" ELSE ", j);
    }
    fprintf(to->out,
            "(CAST(%s AS DECIMAL(28,0)) * CAST('%llu' AS DECIMAL(20,0))) div CAST(\"m%zu\" "
            "AS " WIDE ")",
            e, (unsigned long long)reach, j);
    if (total->small && reach > 0 && reach <= INT64_MAX)
        fputs(" END", to->out);
}

/* What a pair of a unit and a group adds to a sum. */
static void put_limited(const brume_push_statement *to, const brume_limited_sum *sum,
                        const brume_total_limit *limit)
{
    size_t j = sum->limit;
    if (sum->kind == BRUME_MEASURE_UNITS || brume_measure_kind_selects(sum->kind) ||
        sum->shift <= -126) { /* what is less than 10^38 is less than one step then */
        brume_push_spark_integer(to->out, 0);
        return;
    }
    total_text total = total_of(to, sum, &limit->of);
    brume_u128 most = brume_push_uncut(to, limit);
    fprintf(to->out, "CASE WHEN \"m%zu\" <= ", j);
    if (spark_has_small_norm(to, &limit->of))
        brume_push_spark_integer(to->out, most > INT64_MAX ? INT64_MAX : (int64_t)most);
    else
        spark_put_wide(to, most);
    fputs(" THEN ", to->out);
    put_shifted(to, &total, sum->shift);
    fputs(" ELSE ", to->out);
    if (to->p == 1 && !brume_push_follows(sum->kind))
        put_quotient(to, &total, limit->limit, j, sum->shift);
    else
        put_scaled(to, &total, limit, j, sum->shift);
    fputs(" END", to->out);
}

/* Each pair with the norms of its unit. Where there are no keys a unit has one pair. */
static void put_norms(const brume_push_statement *to, const char *rows,
                      const brume_total_limit *limits, size_t count)
{
    FILE *out = to->out;
    fputs("(SELECT *", out);
    for (size_t j = 0; j < count; j++) {
        fputs(to->keys ? ", sum(" : ", (", out);
        spark_put_part(to, &limits[j].of, j);
        fprintf(out, ")%s AS \"m%zu\"", to->keys ? " OVER (PARTITION BY \"r0\")" : "", j);
    }
    fputs(" FROM (SELECT *", out);
    for (size_t j = 0; j < count; j++) {
        fputs(", ", out);
        spark_put_entry(to, &limits[j].of, false);
        fprintf(out, " AS \"e%zu\"", j);
    }
    fputs(" FROM ", out);
    brume_push_spark_totals(to, rows, false);
    fputs(") AS \"e\") AS \"m\"", out);
}

brume_status brume_push_spark_sums(const brume_collection *collection, const char *rows,
                                   const brume_total_limit *limits, size_t limit_count, int p,
                                   const brume_limited_sum *sums, size_t sum_count, char **sql,
                                   brume_error *error)
{
    brume_push_statement to;
    BRUME_TRY(brume_push_begin(&to, collection, p, error));
    brume_push_want_sums(&to, limits, limit_count, sums, sum_count);
    fputs("SELECT ", to.out);
    brume_push_put_keys(&to, "");
    fprintf(to.out, "%scount(*), CAST(coalesce(sum(\"n\"), 0) AS STRING)", to.keys ? ", " : "");
    for (size_t i = 0; i < sum_count; i++)
        fprintf(to.out,
                ", CAST(CAST(coalesce(sum(shiftright(\"y%zu\", 22)), 0) AS DECIMAL(28,0)) * "
                "CAST('4194304' AS DECIMAL(7,0)) + CAST(coalesce(sum(\"y%zu\" & CAST('4194303' AS "
                "BIGINT)), 0) AS DECIMAL(28,0)) AS STRING)",
                i, i);
    fputs(" FROM (SELECT *", to.out);
    for (size_t i = 0; i < sum_count; i++) {
        fputs(", ", to.out);
        put_limited(&to, &sums[i], &limits[sums[i].limit]);
        fprintf(to.out, " AS \"y%zu\"", i);
    }
    fputs(" FROM ", to.out);
    put_norms(&to, rows, limits, limit_count);
    fputs(") AS \"y\"", to.out);
    brume_push_put_keys(&to, " GROUP BY ");
    return brume_push_end(&to, sql, error);
}
