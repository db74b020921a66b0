/* The statements of push-down for PostgreSQL.
 *
 *   t: SELECT unit, keys, the rows and values and sums of each pair FROM rows GROUP BY unit, keys
 *   e: t and "e0", "e1", ...: what each limit is on, as brume_limit_size saturates it
 *   m: e and "m0", "m1", ...: the unit's norms
 *
 * CASE instead of LEAST and GREATEST, because postgres_fdw sends these to no other server. Every
 * literal that leaves int8 is a numeric. */
#include "query/collect/pushed/pushed_postgresql.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/expression/literal.h"
#include "query/limit/grid.h"
#include "query/print/statement.h"

/* Push-down to PostgreSQL: what can be pushed, and the condition on rows that their group is a
 * declared one. */

enum {
    DOMAIN_MOST = 1000000, /* declared values that a statement names */
    LIST_MOST = 100        /* more values of a key are one array: its text is read at once */
};

/* ---- what can be pushed ---- */

const char *brume_push_postgresql_obstacle(const brume_collection *collection)
{
    return brume_push_shared_obstacle(collection, DOMAIN_MOST,
                                      "the groups have more than 1000000 declared values");
}

/* ---- values ---- */

/* `text` between quotes of SQL; inside an array also between its own. */
static void put_text(FILE *out, brume_text text, bool in_array)
{
    if (in_array)
        fputc('"', out);
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] == '\'')
            fputc('\'', out);
        if (in_array && (text.data[i] == '"' || text.data[i] == '\\'))
            fputc('\\', out);
        fputc(text.data[i], out);
    }
    if (in_array)
        fputc('"', out);
}

/* No text of PostgreSQL has a zero byte. */
static bool can_be_there(const brume_key_value *value)
{
    return value->wire != BRUME_WIRE_TEXT || value->text.length == 0 ||
           !memchr(value->text.data, 0, value->text.length);
}

static const char *type_of(brume_wire wire)
{
    return wire == BRUME_WIRE_INTEGER ? "int8" : wire == BRUME_WIRE_REAL ? "float8" : "text";
}

static void put_plain(FILE *out, const brume_key_value *value, bool in_array)
{
    if (value->wire == BRUME_WIRE_INTEGER)
        fprintf(out, "%lld", (long long)value->integer);
    else if (value->wire == BRUME_WIRE_REAL)
        fprintf(out, "%.17g", value->real);
    else
        put_text(out, value->text, in_array);
}

static void put_typed(FILE *out, const brume_key_value *value)
{
    fputc('\'', out);
    put_plain(out, value, false);
    fprintf(out, "'::%s", type_of(value->wire));
}

/* Values of one key: a list of them, or the only keys of groups. */
typedef struct value_list {
    const brume_key_value *values;
    const brume_bounded_group *const *groups;
    size_t count;
} value_list;

static const brume_key_value *value_at(const value_list *list, size_t i)
{
    return list->groups ? &list->groups[i]->keys[0] : &list->values[i];
}

/* Is key k one of these values? */
static void put_among(FILE *out, size_t k, const value_list *list)
{
    const brume_key_value *some = NULL;
    bool null = false, array = list->count > LIST_MOST;
    fputc('(', out);
    for (size_t i = 0; i < list->count; i++) {
        const brume_key_value *value = value_at(list, i);
        null = null || value->null;
        if (value->null || !can_be_there(value))
            continue;
        if (some)
            fputs(array ? "," : ", ", out);
        else
            fprintf(out, array ? "\"r%zu\" = ANY ('{" : "\"r%zu\" IN (", 1 + k);
        some = value;
        if (array)
            put_plain(out, value, true);
        else
            put_typed(out, value);
    }
    if (some && array)
        fprintf(out, "}'::%s[])", type_of(some->wire));
    else if (some)
        fputc(')', out);
    if (null)
        fprintf(out, "%s\"r%zu\" IS NULL", some ? " OR " : "", 1 + k);
    fputs(some || null ? ")" : "false)", out);
}

static void put_declared(FILE *out, size_t k, const brume_key_value *values, size_t count)
{
    put_among(out, k, &(value_list){.values = values, .count = count});
}

/* ---- given groups ---- */

/* Bit k: key k is NULL. */
static uint64_t nulls_of(const brume_key_value *keys, size_t count)
{
    uint64_t nulls = 0;
    for (size_t k = 0; k < count; k++)
        nulls |= keys[k].null ? UINT64_C(1) << k : 0;
    return nulls;
}

/* The groups whose keys are NULL at these places, and there alone: the other keys are one of... */
static void put_alike(FILE *out, const brume_collection_only *only, uint64_t nulls)
{
    const char *between = "(";
    bool any = false;
    for (size_t k = 0; k < only->key_count; k++)
        if (nulls >> k & 1)
            fprintf(out, "\"r%zu\" IS NULL AND ", 1 + k);
    for (size_t k = 0; k < only->key_count; k++)
        if (!(nulls >> k & 1)) {
            fprintf(out, "%s\"r%zu\"", between, 1 + k);
            between = ", ";
            any = true;
        }
    if (!any) {
        fputs("true", out);
        return;
    }
    fputs(") IN (VALUES ", out);
    for (size_t i = 0, printed = 0; i < only->count; i++) {
        const brume_key_value *keys = only->groups[i]->keys;
        if (nulls_of(keys, only->key_count) != nulls)
            continue;
        between = printed++ ? ", (" : "(";
        for (size_t k = 0; k < only->key_count; k++)
            if (!keys[k].null) {
                fputs(between, out);
                put_typed(out, &keys[k]);
                between = ", ";
            }
        fputc(')', out);
    }
    fputc(')', out);
}

/* PostgreSQL finds a row among many by hashing, but no NULL: they are told apart first. */
static void put_only(FILE *out, const brume_collection_only *only)
{
    if (only->count == 0) {
        fputs("false", out);
        return;
    }
    if (only->key_count == 1) {
        put_among(out, 0, &(value_list){.groups = only->groups, .count = only->count});
        return;
    }
    uint64_t last = 0;
    for (bool first = true, found = true; found; first = false) {
        uint64_t least = 0;
        found = false;
        for (size_t i = 0; i < only->count; i++) {
            uint64_t here = nulls_of(only->groups[i]->keys, only->key_count);
            if ((first || here > last) && (!found || here < least)) {
                least = here;
                found = true;
            }
        }
        if (!found)
            break;
        fputs(first ? "((" : " OR (", out);
        put_alike(out, only, least);
        fputc(')', out);
        last = least;
    }
    fputc(')', out);
}

/* Print " WHERE ...": the keys "r1", "r2", ... are those of a declared group, and of one of
 * collection->only; nothing where there is no condition. */
static void push_postgresql_domain(FILE *out, const brume_collection *collection)
{
    const brume_collection_only *only = collection->only;
    bool declared = collection->cells > 0 && collection->query->key_count > 0;
    if (declared) {
        fputs(" WHERE (", out);
        brume_push_put_sets(out, collection, put_declared);
        fputc(')', out);
    }
    if (!only || only->key_count == 0)
        return;
    fputs(declared ? " AND " : " WHERE ", out);
    put_only(out, only);
}

enum { LONG_ROWS = 2000 }; /* bytes of a SELECT of rows */

/* ---- pieces ---- */

static const char *wide(brume_u128 value, char text[BRUME_WIDE_TEXT_SIZE])
{
    return brume_wide_format((brume_wide)value, 0, text);
}

static void put_numeric(FILE *out, brume_u128 value)
{
    char text[BRUME_WIDE_TEXT_SIZE];
    fprintf(out, "'%s'::numeric", wide(value, text));
}

void brume_push_postgresql_integer(FILE *out, int64_t value)
{
    fprintf(out, "'%lld'::int8", (long long)value);
}

static void put_double(FILE *out, double value)
{
    fprintf(out, "'%.17g'::float8", value);
}

/* Value i of a row, clamped as the bounder does; NULL stays NULL. */
static void put_value(const brume_push_statement *to, size_t i)
{
    const brume_plan_value *value = &to->collection->values[i];
    size_t column = 1 + to->keys + i;
    fprintf(to->out,
            "CASE WHEN \"r%zu\" < '%lld'::int8 THEN '%lld'::int8 WHEN \"r%zu\" > '%lld'::int8 THEN "
            "'%lld'::int8 ELSE \"r%zu\" END",
            column, (long long)value->low, (long long)value->low, column, (long long)value->high,
            (long long)value->high, column);
}

/* PostgreSQL copies what it pulls up to each place that names it: long texts are fenced off. */
static const char *fence(const char *rows)
{
    return strlen(rows) > LONG_ROWS ? " OFFSET 0" : "";
}

/* ---- totals ---- */

/* For each pair of a unit and a group, or with `whole` of each unit in all groups together. */
void brume_push_postgresql_totals(const brume_push_statement *to, const char *rows, bool whole)
{
    const brume_push_wanted *of = to->wanted;
    FILE *out = to->out;
    fputs("(SELECT \"r0\"", out);
    if (!whole)
        brume_push_put_keys(to, ", ");
    fputs(", count(*) AS \"n\"", out);
    for (size_t i = 0; i < to->values; i++) {
        long long centre = (long long)brume_push_centre(to, i);
        if (of[i].count)
            fprintf(out, ", count(\"r%zu\") AS \"c%zu\"", 1 + to->keys + i, i);
        if (of[i].sum) {
            fputs(", coalesce(sum(", out);
            put_value(to, i);
            fprintf(out, "), '0'::numeric) AS \"s%zu\"", i);
        }
        if (of[i].squares) { /* |x - centre| <= 2^31 */
            fputs(", coalesce(sum((", out);
            put_value(to, i);
            fprintf(out, " - '%lld'::int8) * (", centre);
            put_value(to, i);
            fprintf(out, " - '%lld'::int8)), '0'::numeric) AS \"q%zu\"", centre, i);
        }
    }
    fprintf(out, " FROM (%s%s) AS \"r\"", rows, fence(rows));
    push_postgresql_domain(out, to->collection);
    fputs(" GROUP BY \"r0\"", out);
    if (!whole)
        brume_push_put_keys(to, ", ");
    fputs(") AS \"t\"", out);
}

/* Fewer than 2^53 rows of less than 2^27 each are less than 2^80. */
static bool can_saturate(const brume_push_statement *to, size_t value)
{
    const brume_plan_value *of = &to->collection->values[value];
    return to->p == 2 || of->low < -(1 << 26) || of->high > 1 << 26;
}

/* What a limit is on, in one group: int8, or of a sum numeric and saturated. Counts are never as
 * large as brume_limit_size lets pass: 2^53 rows are more than anything reads. */
static void put_entry(const brume_push_statement *to, const brume_total *of)
{
    switch (of->kind) {
    case BRUME_TOTAL_PRESENCE:
        fputs("'1'::int8", to->out);
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
    if (!can_saturate(to, of->value)) {
        fprintf(to->out, "\"s%zu\"", of->value);
        return;
    }
    char most[BRUME_WIDE_TEXT_SIZE];
    wide(BRUME_LIMIT_LARGEST(to->p), most);
    fprintf(to->out,
            "CASE WHEN \"s%zu\" > '%s'::numeric THEN '%s'::numeric WHEN \"s%zu\" < '-%s'::numeric "
            "THEN '-%s'::numeric ELSE \"s%zu\" END",
            of->value, most, most, of->value, most, most, of->value);
}

/* What entry "e<i>" adds to its unit's norm (brume_limit_part). */
static void put_part(const brume_push_statement *to, const brume_total *of, size_t i)
{
    if (to->p == 2)
        fprintf(to->out, "\"e%zu\"::numeric * \"e%zu\"::numeric", i, i);
    else if (of->kind == BRUME_TOTAL_SUM && to->collection->values[of->value].low < 0)
        fprintf(to->out, "CASE WHEN \"e%zu\" < '0'::numeric THEN -\"e%zu\" ELSE \"e%zu\" END", i, i,
                i);
    else
        fprintf(to->out, "\"e%zu\"", i);
}

/* ---- the histogram ---- */

/* Norms are integers, so that a norm above an edge is one of at least the edge and 1. */
static void put_bin(const brume_push_statement *to, size_t bins)
{
    if (bins == 1) {
        fputs("'0'::int8", to->out);
        return;
    }
    fputs("width_bucket(\"m\", ARRAY[", to->out);
    for (size_t i = 0; i + 1 < bins; i++) { /* the last bin is open */
        brume_u128 edge = brume_limit_edge(i);
        fputs(i ? ", " : "", to->out);
        put_numeric(to->out, (to->p == 1 ? edge : edge * edge) + 1);
    }
    fputs("])::int8", to->out);
}

brume_status brume_push_postgresql_histogram(const brume_collection *collection, const char *rows,
                                             const brume_total *of, int p, size_t bins, char **sql,
                                             brume_error *error)
{
    brume_push_statement to;
    BRUME_TRY(brume_push_begin(&to, collection, p, error));
    brume_push_want(&to, of);
    fputs("SELECT \"b\", count(*) FROM (SELECT ", to.out);
    put_bin(&to, bins);
    fputs(" AS \"b\" FROM (SELECT sum(", to.out);
    put_part(&to, of, 0);
    fputs(") AS \"m\" FROM (SELECT \"r0\", ", to.out);
    put_entry(&to, of);
    fputs(" AS \"e0\" FROM ", to.out);
    brume_push_postgresql_totals(&to, rows, brume_push_adds_up(&to, of));
    fputs(") AS \"e\" GROUP BY \"r0\") AS \"m\" WHERE \"m\" > '0'::numeric) AS \"b\" GROUP BY "
          "\"b\"",
          to.out);
    return brume_push_end(&to, sql, error);
}

/* ---- what is left under the limits ---- */

/* brume_limit_factor_of or brume_limit_factor_within, where it cuts: T / norm (1 - 2^-40), in this
 * order. */
static void put_factor(const brume_push_statement *to, const brume_total_limit *limit, size_t j)
{
    bool root = to->p == 2 && limit->square;
    fputs("((", to->out);
    put_double(to->out, root ? sqrt((double)limit->square) : (double)limit->limit);
    fprintf(to->out, to->p == 1 ? " / \"m%zu\"::float8) * " : " / sqrt(\"m%zu\"::float8)) * ", j);
    put_double(to->out, 1 - 0x1p-40);
    fputc(')', to->out);
}

/* `total` 2^shift towards zero, as int8: where nothing is cut it is at most 2^44. */
static void put_shifted(const brume_push_statement *to, const char *total, int shift)
{
    if (shift == 0) {
        fprintf(to->out, "(%s)::int8", total);
    } else if (shift > 0) { /* at most 44, because a limit is at least 1 */
        fprintf(to->out, "((%s) * '%llu'::int8)::int8", total, 1ULL << shift);
    } else {
        fprintf(to->out, "div((%s)::numeric, ", total);
        put_numeric(to->out, (brume_u128)1 << -shift);
        fputs(")::int8", to->out);
    }
}

/* `total` times the factor, 2^shift, towards zero. */
static void put_scaled(const brume_push_statement *to, const char *total,
                       const brume_total_limit *limit, size_t j, int shift)
{
    fprintf(to->out, "trunc(((%s)::float8 * ", total);
    put_factor(to, limit, j);
    fputs(") * ", to->out);
    put_double(to->out, ldexp(1, shift));
    fputs(")::int8", to->out);
}

/* size t / norm, in integers (brume_limit_clip, p = 1). */
static void put_quotient(const brume_push_statement *to, const char *total, uint64_t limit,
                         size_t j, int shift)
{
    brume_u128 reach = shift >= 0 ? (brume_u128)limit << shift : (brume_u128)limit >> -shift;
    fprintf(to->out, "div((%s)::numeric * ", total);
    put_numeric(to->out, reach);
    fprintf(to->out, ", \"m%zu\")::int8", j);
}

/* What a pair of a unit and a group adds to a sum. */
static void put_limited(const brume_push_statement *to, const brume_limited_sum *sum,
                        const brume_total_limit *limit)
{
    char total[160];
    size_t j = sum->limit, i = sum->value;
    if (sum->kind == BRUME_MEASURE_UNITS || brume_measure_kind_selects(sum->kind) ||
        sum->shift <= -128) { /* what is less than 2^127 is less than one step then */
        fputs("'0'::int8", to->out);
        return;
    }
    if (sum->kind == BRUME_MEASURE_CENTRED) {
        snprintf(total, sizeof total, "\"s%zu\" - '%lld'::numeric * \"c%zu\"::numeric", i,
                 (long long)brume_push_centre(to, i), i);
    } else if (sum->kind == BRUME_MEASURE_HOLDERS) {
        snprintf(total, sizeof total,
                 "CASE WHEN \"c%zu\" > '0'::int8 THEN '1'::int8 ELSE '0'::int8 END", i);
    } else if (sum->kind == BRUME_MEASURE_SQUARES) {
        snprintf(total, sizeof total, "\"q%zu\" - '%llu'::numeric * \"c%zu\"::numeric", i,
                 (unsigned long long)sum->half_square, i);
    } else {
        snprintf(total, sizeof total, "\"e%zu\"", j);
    }
    fprintf(to->out, "CASE WHEN \"m%zu\" <= ", j);
    put_numeric(to->out, brume_push_uncut(to, limit));
    fputs(" THEN ", to->out);
    put_shifted(to, total, sum->shift);
    fputs(" ELSE ", to->out);
    if (to->p == 1 && !brume_push_follows(sum->kind))
        put_quotient(to, total, limit->limit, j, sum->shift);
    else
        put_scaled(to, total, limit, j, sum->shift);
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
        put_part(to, &limits[j].of, j);
        fprintf(out, ")%s AS \"m%zu\"", to->keys ? " OVER \"u\"" : "::numeric", j);
    }
    fputs(" FROM (SELECT *", out);
    for (size_t j = 0; j < count; j++) {
        fputs(", ", out);
        put_entry(to, &limits[j].of);
        fprintf(out, " AS \"e%zu\"", j);
    }
    fputs(" FROM ", out);
    brume_push_postgresql_totals(to, rows, false);
    fprintf(out, ") AS \"e\"%s) AS \"m\"",
            to->keys && count ? " WINDOW \"u\" AS (PARTITION BY \"r0\")" : "");
}

brume_status brume_push_postgresql_sums(const brume_collection *collection, const char *rows,
                                        const brume_total_limit *limits, size_t limit_count, int p,
                                        const brume_limited_sum *sums, size_t sum_count, char **sql,
                                        brume_error *error)
{
    brume_push_statement to;
    BRUME_TRY(brume_push_begin(&to, collection, p, error));
    brume_push_want_sums(&to, limits, limit_count, sums, sum_count);
    fputs("SELECT ", to.out);
    brume_push_put_keys(&to, "");
    fprintf(to.out, "%scount(*), coalesce(sum(\"n\"), '0'::numeric)::text", to.keys ? ", " : "");
    for (size_t i = 0; i < sum_count; i++) {
        fputs(", coalesce(sum(", to.out);
        put_limited(&to, &sums[i], &limits[sums[i].limit]);
        fputs("), '0'::numeric)::text", to.out);
    }
    fputs(" FROM ", to.out);
    put_norms(&to, rows, limits, limit_count);
    brume_push_put_keys(&to, " GROUP BY ");
    return brume_push_end(&to, sql, error);
}

/* ---- ranks ---- */

/* The keyed hash of one column. hashint8extended folds the halves of its number into one: both are
 * hashed, or numbers would collide under every key. */
static void put_column_hash(FILE *out, const char *column, brume_wire wire, uint64_t key)
{
    fputs("coalesce(", out);
    if (wire == BRUME_WIRE_INTEGER)
        fprintf(out, "hashint8extended(%s, hashint8extended(%s >> 32, ", column, column);
    else
        fprintf(out, wire == BRUME_WIRE_REAL ? "hashfloat8extended(%s, " : "hashtextextended(%s, ",
                column);
    brume_push_postgresql_integer(out, (int64_t)key);
    fputs(wire == BRUME_WIRE_INTEGER ? ")), " : "), ", out);
    brume_push_postgresql_integer(out, (int64_t)key);
    fputc(')', out);
}

static brume_wire wire_of(const brume_expression *expression)
{
    return brume_type_wire(expression->type);
}

/* A chain of the server's own keyed hashes: each column is hashed with the key, and the results are
 * hashed together, so that NULL has a place of its own in it. */
void brume_push_postgresql_rank(const brume_push_statement *to, uint64_t key)
{
    const brume_query *query = to->collection->query;
    for (size_t i = to->keys + 1; i-- > 0;) { /* the last column is hashed outermost */
        char name[32];
        brume_wire wire = wire_of(i == 0 ? query->unit : query->keys[i - 1].expression);
        /* the unit is as narrow as its column */
        snprintf(name, sizeof name,
                 i == 0 && wire == BRUME_WIRE_INTEGER ? "\"r%zu\"::int8" : "\"r%zu\"", i);
        fputs("hashint8extended(", to->out);
        put_column_hash(to->out, name, wire, key);
        fputs(", ", to->out);
    }
    brume_push_postgresql_integer(to->out, (int64_t)key);
    for (size_t i = 0; i <= to->keys; i++)
        fputc(')', to->out);
}
