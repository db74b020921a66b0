/* The statements that keep something of every unit by a keyed hash.
 *
 * The rank of a pair of a unit and a group is a chain of PostgreSQL's own keyed hashes: each column
 * is hashed with the key, and the results are hashed together, so that NULL has a place of its own
 * in it. The same of a row, by what it measures. Ties are broken by the keys or values themselves,
 * never by the order in which rows happen to be read, which depends on the rows of others.
 *
 * What a unit keeps is a function of its own rows and of the key alone, for every key and whatever
 * the hash: the price rests on that (proofs/push-down.md). The hash must only be so good that which
 * rows stay has nothing to do with what they say. */
#include <stdlib.h>

#include "base/error.h"
#include "query/collect/pushed.h"
#include "query/print/statement.h"

typedef struct choice {
    FILE *out;
    const brume_collection *collection;
    const char *rows;
    size_t keys, values;
} choice;

/* ---- ranks ---- */

static void put_key(FILE *out, uint64_t key)
{
    fprintf(out, "'%lld'::int8", (long long)key);
}

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
    put_key(out, key);
    fputs(wire == BRUME_WIRE_INTEGER ? ")), " : "), ", out);
    put_key(out, key);
    fputc(')', out);
}

static brume_wire wire_of(const brume_expression *expression)
{
    return brume_type_wire(expression->type);
}

/* Of unit and keys, and with `measured` of the values "x0", "x1", ... too. */
static void put_rank(const choice *to, uint64_t key, bool measured)
{
    const brume_query *query = to->collection->query;
    size_t columns = 1 + to->keys + (measured ? to->values : 0);
    for (size_t i = columns; i-- > 0;) {
        char name[32];
        size_t value = i - 1 - to->keys;
        bool is_value = i > to->keys;
        brume_wire wire = is_value ? BRUME_WIRE_INTEGER
                          : i == 0 ? wire_of(query->unit)
                                   : wire_of(query->keys[i - 1].expression);
        snprintf(name, sizeof name, is_value ? "\"x%zu\"" : "\"r%zu\"", is_value ? value : i);
        if (i == 0 && wire == BRUME_WIRE_INTEGER) /* the unit is as narrow as its column */
            snprintf(name, sizeof name, "\"r0\"::int8");
        fputs("hashint8extended(", to->out);
        put_column_hash(to->out, name, wire, key);
        fputs(", ", to->out);
    }
    put_key(to->out, key);
    for (size_t i = 0; i < columns; i++)
        fputc(')', to->out);
}

/* ---- statements ---- */

static brume_status open_choice(choice *to, const brume_collection *collection, const char *rows,
                                char **text, size_t *length, brume_error *error)
{
    *to = (choice){.out = open_memstream(text, length),
                   .collection = collection,
                   .rows = rows,
                   .keys = collection->query->key_count,
                   .values = collection->value_count};
    return to->out ? BRUME_OK : brume_no_memory(error, "a statement");
}

static brume_status close_choice(choice *to, char **text, char **sql, brume_error *error)
{
    bool failed = ferror(to->out) != 0;
    failed = fclose(to->out) != 0 || failed;
    if (!failed) {
        *sql = *text;
        return BRUME_OK;
    }
    free(*text);
    return brume_no_memory(error, "a statement");
}

/* Pairs of a unit and a group, each once, with their places "g" among those of the unit. */
static void put_ranked_pairs(const choice *to, uint64_t key)
{
    FILE *out = to->out;
    fputs("(SELECT ", out);
    brume_push_put_keys(out, to->keys, "");
    fputs(", row_number() OVER (PARTITION BY \"r0\" ORDER BY \"h\"", out);
    brume_push_put_keys(out, to->keys, ", ");
    fputs(") AS \"g\" FROM (SELECT \"r0\"", out);
    brume_push_put_keys(out, to->keys, ", ");
    fputs(", ", out);
    put_rank(to, key, false);
    fputs(" AS \"h\" FROM (SELECT \"r0\"", out);
    brume_push_put_keys(out, to->keys, ", ");
    fprintf(out, " FROM (%s%s) AS \"r\"", to->rows, brume_push_fence(to->rows));
    brume_push_put_domain(out, to->collection);
    fputs(" GROUP BY \"r0\"", out);
    brume_push_put_keys(out, to->keys, ", ");
    fputs(") AS \"t\") AS \"h\") AS \"g\"", out);
}

brume_status brume_push_print_kept(const brume_collection *collection, const char *rows,
                                   const brume_push_key *key, char **sql, brume_error *error)
{
    choice to;
    char *text = NULL;
    size_t length = 0;
    BRUME_TRY(open_choice(&to, collection, rows, &text, &length, error));
    fputs("SELECT ", to.out);
    brume_push_put_keys(to.out, to.keys, "");
    fputs(", count(*) FROM ", to.out);
    put_ranked_pairs(&to, key->pairs);
    fputs(" WHERE \"g\" <= '1'::int8 GROUP BY ", to.out);
    brume_push_put_keys(to.out, to.keys, "");
    return close_choice(&to, &text, sql, error);
}

brume_status brume_push_print_distinct(const brume_collection *collection, const char *rows,
                                       const brume_push_key *key, uint64_t limit, char **sql,
                                       brume_error *error)
{
    choice to;
    char *text = NULL;
    size_t length = 0;
    BRUME_TRY(open_choice(&to, collection, rows, &text, &length, error));
    fputs("SELECT ", to.out);
    brume_push_put_keys(to.out, to.keys - 1, "");
    fprintf(to.out, "%scount(*) FROM (SELECT ", to.keys > 1 ? ", " : "");
    brume_push_put_keys(to.out, to.keys, "");
    fputs(" FROM ", to.out);
    put_ranked_pairs(&to, key->pairs);
    fprintf(to.out, " WHERE \"g\" <= '%llu'::int8 GROUP BY ", (unsigned long long)limit);
    brume_push_put_keys(to.out, to.keys, "");
    fputs(") AS \"d\"", to.out);
    brume_push_put_keys(to.out, to.keys - 1, " GROUP BY ");
    return close_choice(&to, &text, sql, error);
}

/* ---- fixed limits ---- */

/* The rows with their values clamped: unit, keys, "x0", "x1", ... */
static void put_clamped(const choice *to)
{
    fputs("(SELECT \"r0\"", to->out);
    brume_push_put_keys(to->out, to->keys, ", ");
    for (size_t i = 0; i < to->values; i++) {
        fputs(", ", to->out);
        brume_push_put_value(to->out, to->collection, i);
        fprintf(to->out, " AS \"x%zu\"", i);
    }
    fprintf(to->out, " FROM (%s%s) AS \"r\"", to->rows, brume_push_fence(to->rows));
    brume_push_put_domain(to->out, to->collection);
    fputs(") AS \"v\"", to->out);
}

/* Those of them that stay in their pair. */
static void put_kept_rows(const choice *to, uint64_t key)
{
    fputs("(SELECT *, row_number() OVER (PARTITION BY \"r0\"", to->out);
    brume_push_put_keys(to->out, to->keys, ", ");
    fputs(" ORDER BY \"w\"", to->out);
    for (size_t i = 0; i < to->values; i++)
        fprintf(to->out, ", \"x%zu\"", i);
    fputs(") AS \"i\" FROM (SELECT *, ", to->out);
    put_rank(to, key, true);
    fputs(" AS \"w\" FROM ", to->out);
    put_clamped(to);
    fprintf(to->out, ") AS \"w\") AS \"i\" WHERE \"i\" <= '%llu'::int8",
            (unsigned long long)to->collection->max_rows);
}

/* What stays of each pair: "n" rows, and of each value the number, the sum and the squares. */
static void put_kept_pairs(const choice *to, uint64_t key)
{
    FILE *out = to->out;
    unsigned long long most = to->collection->max_rows;
    fputs("(SELECT \"r0\"", out);
    brume_push_put_keys(out, to->keys, ", ");
    if (to->values == 0) /* rows are alike: how many is all that is kept of them */
        fprintf(out, ", CASE WHEN count(*) > '%llu'::int8 THEN '%llu'::int8 ELSE count(*) END",
                most, most);
    else
        fputs(", count(*)", out);
    fputs(" AS \"n\"", out);
    for (size_t i = 0; i < to->values; i++) {
        const brume_plan_value *value = &to->collection->values[i];
        brume_measure bounds = {.low = value->low, .high = value->high};
        long long centre = (long long)brume_measure_centre(&bounds);
        fprintf(out,
                ", count(\"x%zu\") AS \"c%zu\", coalesce(sum(\"x%zu\"), '0'::numeric) AS \"s%zu\"",
                i, i, i, i);
        if (value->squares) /* |x - centre| <= 2^31 */
            fprintf(out,
                    ", coalesce(sum((\"x%zu\" - '%lld'::int8) * (\"x%zu\" - '%lld'::int8)), "
                    "'0'::numeric) AS \"q%zu\"",
                    i, centre, i, centre, i);
    }
    fputs(" FROM ", out);
    if (to->values == 0)
        put_clamped(to);
    else
        put_kept_rows(to, key);
    fputs(" GROUP BY \"r0\"", out);
    brume_push_put_keys(out, to->keys, ", ");
    fputs(") AS \"t\"", out);
}

/* May a unit be in more groups than stay? Public: declared groups are counted, not rows. */
static bool cuts_groups(const choice *to)
{
    const brume_collection *collection = to->collection;
    return to->keys > 0 && (collection->cells == 0 || collection->max_groups < collection->cells);
}

brume_status brume_push_print_bounded(const brume_collection *collection, const char *rows,
                                      const brume_push_key *key, char **sql, brume_error *error)
{
    choice to;
    char *text = NULL;
    size_t length = 0;
    BRUME_TRY(open_choice(&to, collection, rows, &text, &length, error));
    bool cuts = cuts_groups(&to);
    FILE *out = to.out;
    fputs("SELECT ", out);
    brume_push_put_keys(out, to.keys, "");
    fprintf(out, "%scount(*), coalesce(sum(\"n\"), '0'::numeric)::int8", to.keys ? ", " : "");
    for (size_t i = 0; i < to.values; i++) {
        const brume_plan_value *value = &collection->values[i];
        brume_measure bounds = {.low = value->low, .high = value->high};
        fprintf(out,
                ", coalesce(sum(\"c%zu\"), '0'::numeric)::int8, coalesce(sum(\"s%zu\") - "
                "'%lld'::numeric * sum(\"c%zu\"), '0'::numeric)::text",
                i, i, (long long)brume_measure_centre(&bounds), i);
        if (value->squares)
            fprintf(out, ", coalesce(sum(\"q%zu\"), '0'::numeric)::text", i);
    }
    fputs(" FROM ", out);
    if (cuts) {
        fputs("(SELECT *, row_number() OVER (PARTITION BY \"r0\" ORDER BY \"h\"", out);
        brume_push_put_keys(out, to.keys, ", ");
        fputs(") AS \"g\" FROM (SELECT *, ", out);
        put_rank(&to, key->pairs, false);
        fputs(" AS \"h\" FROM ", out);
    }
    put_kept_pairs(&to, key->rows);
    if (cuts)
        fprintf(out, ") AS \"h\") AS \"g\" WHERE \"g\" <= '%llu'::int8",
                (unsigned long long)collection->max_groups);
    brume_push_put_keys(out, to.keys, " GROUP BY ");
    return close_choice(&to, &text, sql, error);
}
