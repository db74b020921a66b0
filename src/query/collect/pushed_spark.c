/* The statements of push-down for Spark.
 *
 * They are those of pushed_statement.c, with t, e and m as there, in the types that Spark has:
 *
 *   Integers have 64 bits and decimals 38 digits, and decimals are many times slower. So a total
 *   is a BIGINT where every value of it is at most 2^22 in size (SMALL): it would take more than
 *   2^40 rows of one unit to leave 64 bits. Where one did, the total would wrap around, and would
 *   still be a function of that unit's own rows, which is limited like any other. Wider values are
 *   added up in DECIMAL(38,0): 2^80 times 2^44 has 38 digits.
 *
 *   What is left of a unit is at most 2^44, and the sums of all units must be exact: the upper and
 *   the lower 22 bits are added up apart.
 *
 * Rows are first brought together by unit, once: groups and norms of a unit are then made where its
 * rows are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/collect/pushed_spark.h"
#include "query/expression/wide.h"
#include "query/limit/grid.h"
#include "query/print/statement.h"

enum { SMALL = 1 << 22 };

#define WIDE "DECIMAL(38,0)"

/* What is wanted of each value: its number, its sum, its squares. */
typedef struct wanted {
    bool count, sum, squares;
} wanted;

typedef struct push {
    FILE *out;
    const brume_collection *collection;
    wanted *all;
    size_t keys, values;
    int p;
} push;

/* ---- pieces ---- */

static void put_wide(const push *to, brume_u128 value)
{
    char text[BRUME_WIDE_TEXT_SIZE];
    fprintf(to->out, "CAST('%s' AS " WIDE ")", brume_wide_format((brume_wide)value, 0, text));
}

static void put_double(const push *to, double value)
{
    fprintf(to->out, "CAST('%.17g' AS DOUBLE)", value);
}

static void put_big(const push *to, int64_t value)
{
    fprintf(to->out, "CAST('%lld' AS BIGINT)", (long long)value);
}

/* "r0" is the unit, then the keys, then the values. */
static void put_keys(const push *to, const char *before)
{
    for (size_t i = 0; i < to->keys; i++)
        fprintf(to->out, "%s\"r%zu\"", i ? ", " : before, 1 + i);
}

/* Value i of a row, clamped as the bounder does; NULL stays NULL. */
static void put_value(const push *to, size_t i)
{
    const brume_plan_value *value = &to->collection->values[i];
    size_t column = 1 + to->keys + i;
    fprintf(to->out, "CASE WHEN \"r%zu\" < ", column);
    put_big(to, value->low);
    fputs(" THEN ", to->out);
    put_big(to, value->low);
    fprintf(to->out, " WHEN \"r%zu\" > ", column);
    put_big(to, value->high);
    fputs(" THEN ", to->out);
    put_big(to, value->high);
    fprintf(to->out, " ELSE \"r%zu\" END", column);
}

static long long centre_of(const push *to, size_t i)
{
    brume_measure bounds = {.low = to->collection->values[i].low,
                            .high = to->collection->values[i].high};
    return (long long)brume_measure_centre(&bounds);
}

/* Are totals of value i, and of its distances from the centre, integers of 64 bits? */
static bool has_small_sum(const push *to, size_t i)
{
    const brume_plan_value *value = &to->collection->values[i];
    return value->low >= -SMALL && value->high <= SMALL;
}

/* Distances from the centre of at most 2^11. */
static bool has_small_squares(const push *to, size_t i)
{
    const brume_plan_value *value = &to->collection->values[i];
    return has_small_sum(to, i) && value->high - value->low <= 1 << 11;
}

/* ---- totals ---- */

static void put_square(const push *to, size_t i)
{
    for (int time = 0; time < 2; time++) {
        fputs(time ? " * (" : "(", to->out);
        put_value(to, i);
        fputs(" - ", to->out);
        put_big(to, centre_of(to, i));
        fputc(')', to->out);
    }
}

/* The sum of value i or of its squares, 0 where there are none. */
static void put_sum(const push *to, size_t i, bool squares)
{
    bool small = squares ? has_small_squares(to, i) : has_small_sum(to, i);
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
static void put_totals(const push *to, const char *rows, bool whole)
{
    FILE *out = to->out;
    fputs("(SELECT \"r0\"", out);
    if (!whole)
        put_keys(to, ", ");
    fputs(", count(*) AS \"n\"", out);
    for (size_t i = 0; i < to->values; i++) {
        if (to->all[i].count)
            fprintf(out, ", count(\"r%zu\") AS \"c%zu\"", 1 + to->keys + i, i);
        if (to->all[i].sum)
            put_sum(to, i, false);
        if (to->all[i].squares)
            put_sum(to, i, true);
    }
    /* By unit alone Spark adds up before it brings rows together. */
    bool together = !whole && to->keys > 0;
    fprintf(out, " FROM (SELECT %s* FROM (%s) AS \"r\"",
            together ? "/*+ REPARTITION(\"r0\") */ " : "", rows);
    brume_push_spark_put_domain(out, to->collection);
    fputs(") AS \"r\" GROUP BY \"r0\"", out);
    if (!whole)
        put_keys(to, ", ");
    fputs(") AS \"t\"", out);
}

/* ---- entries and norms ---- */

static bool is_small(const push *to, const brume_total *of)
{
    return of->kind != BRUME_TOTAL_SUM || has_small_sum(to, of->value);
}

/* What a limit is on, in one group: BIGINT or WIDE; what is more than brume_limit_size lets pass is
 * saturated. Counts are never as large. */
static void put_entry(const push *to, const brume_total *of)
{
    switch (of->kind) {
    case BRUME_TOTAL_PRESENCE:
        put_big(to, 1);
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
    bool small = is_small(to, of);
    if (small && to->p == 1) { /* less than 2^80 anyway */
        fprintf(to->out, "\"s%zu\"", of->value);
        return;
    }
    char text[BRUME_WIDE_TEXT_SIZE];
    const char *most = brume_wide_format((brume_wide)BRUME_LIMIT_LARGEST(to->p), 0, text);
    const char *type = small ? "BIGINT" : WIDE;
    fprintf(
        to->out,
        "CASE WHEN \"s%zu\" > CAST('%s' AS %s) THEN CAST('%s' AS %s) WHEN \"s%zu\" < CAST('-%s' "
        "AS %s) THEN CAST('-%s' AS %s) ELSE \"s%zu\" END",
        of->value, most, type, most, type, of->value, most, type, most, type, of->value);
}

/* What entry "e<i>" adds to its unit's norm (brume_limit_part). Of BIGINTs the norm is one for
 * p = 1; squares are at most 2^106. */
static void put_part(const push *to, const brume_total *of, size_t i)
{
    if (to->p == 2)
        fprintf(to->out, "CAST(\"e%zu\" AS DECIMAL(18,0)) * CAST(\"e%zu\" AS DECIMAL(18,0))", i, i);
    else if (of->kind == BRUME_TOTAL_SUM && to->collection->values[of->value].low < 0)
        fprintf(to->out, "abs(\"e%zu\")", i);
    else
        fprintf(to->out, "\"e%zu\"", i);
}

/* Is the norm, or its square, a BIGINT? */
static bool has_small_norm(const push *to, const brume_total *of)
{
    return to->p == 1 && is_small(to, of);
}

static void want(const push *to, const brume_total *of)
{
    if (of->kind == BRUME_TOTAL_VALUES)
        to->all[of->value].count = true;
    if (of->kind == BRUME_TOTAL_SUM)
        to->all[of->value].sum = true;
}

/* ---- statements ---- */

static brume_status open_push(push *to, const brume_collection *collection, int p, char **text,
                              size_t *length, brume_error *error)
{
    *to = (push){.collection = collection,
                 .keys = collection->query->key_count,
                 .values = collection->value_count,
                 .p = p};
    to->all = calloc(to->values + 1, sizeof *to->all);
    to->out = to->all ? open_memstream(text, length) : NULL;
    if (to->out)
        return BRUME_OK;
    free(to->all);
    return brume_no_memory(error, "a statement");
}

static brume_status close_push(push *to, char **text, char **sql, brume_error *error)
{
    bool failed = ferror(to->out) != 0;
    failed = fclose(to->out) != 0 || failed;
    free(to->all);
    if (!failed) {
        *sql = *text;
        return BRUME_OK;
    }
    free(*text);
    return brume_no_memory(error, "a statement");
}

/* Is the norm the total over all groups? See pushed_statement.c. */
static bool adds_up(const push *to, const brume_total *of)
{
    if (to->p != 1 || of->kind == BRUME_TOTAL_PRESENCE)
        return false;
    return of->kind != BRUME_TOTAL_SUM || to->collection->values[of->value].low >= 0;
}

/* The bin of "m" among low .. high, by halves. Norms are integers: above an edge is at least the
 * edge and 1. */
static void put_bin(const push *to, bool small, size_t low, size_t high)
{
    if (low == high) {
        put_big(to, (int64_t)low);
        return;
    }
    size_t middle = (low + high) / 2;
    brume_u128 edge = brume_limit_edge(middle);
    fputs("CASE WHEN \"m\" <= ", to->out);
    if (small)
        put_big(to, edge > INT64_MAX ? INT64_MAX : (int64_t)edge);
    else
        put_wide(to, to->p == 1 ? edge : edge * edge);
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
    push to;
    char *text = NULL;
    size_t length = 0;
    BRUME_TRY(open_push(&to, collection, p, &text, &length, error));
    want(&to, of);
    fputs("SELECT \"b\", count(*) FROM (SELECT ", to.out);
    put_bin(&to, has_small_norm(&to, of), 0, bins - 1); /* the last bin is open */
    fputs(" AS \"b\" FROM (SELECT sum(", to.out);
    put_part(&to, of, 0);
    fputs(") AS \"m\" FROM (SELECT \"r0\", ", to.out);
    put_entry(&to, of);
    fputs(" AS \"e0\" FROM ", to.out);
    put_totals(&to, rows, adds_up(&to, of));
    fputs(") AS \"e\" GROUP BY \"r0\") AS \"m\" WHERE \"m\" > 0) AS \"b\" GROUP BY \"b\"", to.out);
    return close_push(&to, &text, sql, error);
}

/* ---- what is left under the limits ---- */

static bool follows(brume_measure_kind kind)
{
    return kind == BRUME_MEASURE_CENTRED || kind == BRUME_MEASURE_SQUARES;
}

/* A total that is limited: its text, and whether it is a BIGINT. */
typedef struct total_text {
    char text[160];
    bool small;
} total_text;

static total_text total_of(const push *to, const brume_limited_sum *sum, const brume_total *of)
{
    total_text total = {.small = is_small(to, of)};
    size_t i = sum->value;
    bool centred = sum->kind == BRUME_MEASURE_CENTRED;
    if (!follows(sum->kind)) {
        snprintf(total.text, sizeof total.text, "\"e%zu\"", sum->limit);
        return total;
    }
    total.small = centred ? has_small_sum(to, i) : has_small_squares(to, i);
    const char *type = total.small ? "BIGINT" : "DECIMAL(19,0)";
    if (centred)
        snprintf(total.text, sizeof total.text,
                 "(\"s%zu\" - CAST('%lld' AS %s) * CAST(\"c%zu\" AS %s))", i, centre_of(to, i),
                 type, i, type);
    else
        snprintf(total.text, sizeof total.text,
                 "(\"q%zu\" - CAST('%llu' AS %s) * CAST(\"c%zu\" AS %s))", i,
                 (unsigned long long)sum->half_square, type, i, type);
    return total;
}

/* `total` 2^shift towards zero, as BIGINT: where nothing is cut it is at most 2^44. */
static void put_shifted(const push *to, const total_text *total, int shift)
{
    if (shift >= 0) {
        fprintf(to->out, "CAST(%s AS BIGINT) * ", total->text);
        put_big(to, INT64_C(1) << shift); /* at most 44, because a limit is at least 1 */
    } else if (total->small) {
        fprintf(to->out, "%s div ", total->text);
        put_big(to, shift > -62 ? INT64_C(1) << -shift : INT64_MAX);
    } else {
        fprintf(to->out, "CAST(%s AS " WIDE ") div ", total->text);
        put_wide(to, (brume_u128)1 << -shift);
    }
}

/* brume_limit_factor_of, where it cuts: T / norm (1 - 2^-40), then times the total and 2^shift, in
 * this order. The cast cuts the fraction off. */
static void put_scaled(const push *to, const total_text *total, uint64_t limit, size_t j, int shift)
{
    fprintf(to->out, "CAST((CAST(%s AS DOUBLE) * ((", total->text);
    put_double(to, (double)limit);
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
static void put_quotient(const push *to, const total_text *total, uint64_t limit, size_t j,
                         int shift)
{
    brume_u128 reach = shift >= 0 ? (brume_u128)limit << shift : (brume_u128)limit >> -shift;
    const char *e = total->text;
    if (total->small && reach > 0 && reach <= INT64_MAX) {
        int64_t most = INT64_MAX / (int64_t)reach;
        fprintf(to->out, "CASE WHEN %s BETWEEN ", e);
        put_big(to, -most);
        fputs(" AND ", to->out);
        put_big(to, most);
        fprintf(to->out, " THEN (%s * ", e);
        put_big(to, (int64_t)reach);
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
static void put_limited(const push *to, const brume_limited_sum *sum,
                        const brume_total_limit *limit)
{
    size_t j = sum->limit;
    if (sum->kind == BRUME_MEASURE_UNITS || brume_measure_kind_selects(sum->kind) ||
        sum->shift <= -126) { /* what is less than 10^38 is less than one step then */
        put_big(to, 0);
        return;
    }
    total_text total = total_of(to, sum, &limit->of);
    brume_u128 most = to->p == 1 ? limit->limit : (brume_u128)limit->limit * limit->limit;
    fprintf(to->out, "CASE WHEN \"m%zu\" <= ", j);
    put_wide(to, most);
    fputs(" THEN ", to->out);
    put_shifted(to, &total, sum->shift);
    fputs(" ELSE ", to->out);
    if (to->p == 1 && !follows(sum->kind))
        put_quotient(to, &total, limit->limit, j, sum->shift);
    else
        put_scaled(to, &total, limit->limit, j, sum->shift);
    fputs(" END", to->out);
}

/* Each pair with the norms of its unit. Where there are no keys a unit has one pair. */
static void put_norms(const push *to, const char *rows, const brume_total_limit *limits,
                      size_t count)
{
    FILE *out = to->out;
    fputs("(SELECT *", out);
    for (size_t j = 0; j < count; j++) {
        fputs(to->keys ? ", sum(" : ", (", out);
        put_part(to, &limits[j].of, j);
        fprintf(out, ")%s AS \"m%zu\"", to->keys ? " OVER (PARTITION BY \"r0\")" : "", j);
    }
    fputs(" FROM (SELECT *", out);
    for (size_t j = 0; j < count; j++) {
        fputs(", ", out);
        put_entry(to, &limits[j].of);
        fprintf(out, " AS \"e%zu\"", j);
    }
    fputs(" FROM ", out);
    put_totals(to, rows, false);
    fputs(") AS \"e\") AS \"m\"", out);
}

brume_status brume_push_spark_sums(const brume_collection *collection, const char *rows,
                                   const brume_total_limit *limits, size_t limit_count, int p,
                                   const brume_limited_sum *sums, size_t sum_count, char **sql,
                                   brume_error *error)
{
    push to;
    char *text = NULL;
    size_t length = 0;
    BRUME_TRY(open_push(&to, collection, p, &text, &length, error));
    for (size_t j = 0; j < limit_count; j++)
        want(&to, &limits[j].of);
    for (size_t i = 0; i < sum_count; i++)
        if (follows(sums[i].kind)) {
            wanted *of = &to.all[sums[i].value];
            of->count = true;
            of->sum = of->sum || sums[i].kind == BRUME_MEASURE_CENTRED;
            of->squares = of->squares || sums[i].kind == BRUME_MEASURE_SQUARES;
        }
    fputs("SELECT ", to.out);
    put_keys(&to, "");
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
    put_keys(&to, " GROUP BY ");
    return close_push(&to, &text, sql, error);
}
