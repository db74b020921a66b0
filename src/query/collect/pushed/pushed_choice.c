/* The statements that keep something of every unit by a keyed hash.
 *
 * The rank of a pair of a unit and a group is a chain of PostgreSQL's own keyed hashes: each column
 * is hashed with the key, and the results are hashed together, so that NULL has a place of its own
 * in it. Ties are broken by the keys themselves, never by the order in which rows happen to be
 * read, which depends on the rows of others.
 *
 * What a unit keeps is a function of its own rows and of the key alone, for every key and whatever
 * the hash: the price rests on that (proofs/push-down.md). The hash must only be so good that which
 * groups stay has nothing to do with what is in them. */
#include <stdlib.h>

#include "base/error.h"
#include "query/collect/pushed/pushed.h"
#include "query/print/statement.h"

typedef struct choice {
    FILE *out;
    const brume_collection *collection;
    const char *rows;
    size_t keys;
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

/* Of unit and keys. */
static void put_rank(const choice *to, uint64_t key)
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
    put_key(to->out, key);
    for (size_t i = 0; i <= to->keys; i++)
        fputc(')', to->out);
}

/* ---- statements ---- */

static brume_status open_choice(choice *to, const brume_collection *collection, const char *rows,
                                char **text, size_t *length, brume_error *error)
{
    *to = (choice){.out = open_memstream(text, length),
                   .collection = collection,
                   .rows = rows,
                   .keys = collection->query->key_count};
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

/* Pairs of a unit and a group, each with its rows "n" and its place "g" among those of the unit. */
static void put_ranked_pairs(const choice *to, uint64_t key)
{
    FILE *out = to->out;
    fputs("(SELECT \"n\"", out);
    brume_push_put_keys(out, to->keys, ", ");
    fputs(", row_number() OVER (PARTITION BY \"r0\" ORDER BY \"h\"", out);
    brume_push_put_keys(out, to->keys, ", ");
    fputs(") AS \"g\" FROM (SELECT *, ", out);
    put_rank(to, key);
    fputs(" AS \"h\" FROM (SELECT \"r0\"", out);
    brume_push_put_keys(out, to->keys, ", ");
    fprintf(out, ", count(*) AS \"n\" FROM (%s%s) AS \"r\"", to->rows, brume_push_fence(to->rows));
    brume_push_put_domain(out, to->collection);
    fputs(" GROUP BY \"r0\"", out);
    brume_push_put_keys(out, to->keys, ", ");
    fputs(") AS \"t\") AS \"h\") AS \"g\"", out);
}

brume_status brume_push_print_kept(const brume_collection *collection, const char *rows,
                                   uint64_t key, char **sql, brume_error *error)
{
    choice to;
    char *text = NULL;
    size_t length = 0;
    BRUME_TRY(open_choice(&to, collection, rows, &text, &length, error));
    fputs("SELECT ", to.out);
    brume_push_put_keys(to.out, to.keys, "");
    fputs(", count(*) FROM ", to.out);
    put_ranked_pairs(&to, key);
    fputs(" WHERE \"g\" <= '1'::int8 GROUP BY ", to.out);
    brume_push_put_keys(to.out, to.keys, "");
    return close_choice(&to, &text, sql, error);
}

brume_status brume_push_print_distinct(const brume_collection *collection, const char *rows,
                                       uint64_t key, uint64_t limit, char **sql, brume_error *error)
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
    put_ranked_pairs(&to, key);
    fprintf(to.out, " WHERE \"g\" <= '%llu'::int8 GROUP BY ", (unsigned long long)limit);
    brume_push_put_keys(to.out, to.keys, "");
    fputs(") AS \"d\"", to.out);
    brume_push_put_keys(to.out, to.keys - 1, " GROUP BY ");
    return close_choice(&to, &text, sql, error);
}

/* ---- several groups of each unit ---- */

brume_status brume_push_print_bounded(const brume_collection *collection, const char *rows,
                                      uint64_t key, char **sql, brume_error *error)
{
    choice to;
    char *text = NULL;
    size_t length = 0;
    unsigned long long most = collection->max_rows;
    BRUME_TRY(open_choice(&to, collection, rows, &text, &length, error));
    fputs("SELECT ", to.out);
    brume_push_put_keys(to.out, to.keys, "");
    fprintf(to.out,
            "%scount(*), coalesce(sum(CASE WHEN \"n\" > '%llu'::int8 THEN '%llu'::int8 ELSE \"n\" "
            "END), '0'::numeric)::int8 FROM ",
            to.keys ? ", " : "", most, most);
    put_ranked_pairs(&to, key);
    if (brume_push_cuts_groups(collection))
        fprintf(to.out, " WHERE \"g\" <= '%llu'::int8", (unsigned long long)collection->max_groups);
    brume_push_put_keys(to.out, to.keys, " GROUP BY ");
    return close_choice(&to, &text, sql, error);
}
