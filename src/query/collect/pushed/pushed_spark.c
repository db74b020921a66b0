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
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "query/collect/pushed/pushed_spark.h"
#include "query/limit/grid.h"
#include "query/print/statement.h"

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
        brume_spark_put_wide(to, to->p == 1 ? edge : edge * edge);
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
    put_bin(&to, brume_spark_has_small_norm(&to, of), 0, bins - 1); /* the last bin is open */
    fputs(" AS \"b\" FROM (SELECT sum(", to.out);
    brume_spark_put_part(&to, of, 0);
    fputs(") AS \"m\" FROM (SELECT \"r0\", ", to.out);
    brume_spark_put_entry(&to, of, brume_push_adds_up(&to, of));
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
    total_text total = {.small = brume_spark_is_small(to, of)};
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
    total.small = centred ? brume_spark_has_small_sum(to, i) : brume_spark_has_small_squares(to, i);
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
        brume_spark_put_wide(to, (brume_u128)1 << -shift);
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
    if (brume_spark_has_small_norm(to, &limit->of))
        brume_push_spark_integer(to->out, most > INT64_MAX ? INT64_MAX : (int64_t)most);
    else
        brume_spark_put_wide(to, most);
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
        brume_spark_put_part(to, &limits[j].of, j);
        fprintf(out, ")%s AS \"m%zu\"", to->keys ? " OVER (PARTITION BY \"r0\")" : "", j);
    }
    fputs(" FROM (SELECT *", out);
    for (size_t j = 0; j < count; j++) {
        fputs(", ", out);
        brume_spark_put_entry(to, &limits[j].of, false);
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
