/* The statements that keep something of every unit by a keyed hash.
 *
 * A pair of a unit and a group is ranked by the dialect's hash of it. Ties are broken by the keys
 * themselves, never by the order in which rows happen to be read, which depends on the rows of
 * others.
 *
 * What a unit keeps is a function of its own rows and of the key alone, for every key and whatever
 * the hash: the price rests on that (proofs/push-down.md). The hash must only be so good that which
 * groups stay has nothing to do with what is in them. */
#include "base/error.h"
#include "query/collect/pushed/pushed.h"

/* Pairs of a unit and a group, each with its rows "n" and its place "g" among those of the unit. */
static void put_ranked_pairs(const brume_push_statement *to, const brume_push_dialect *dialect,
                             const char *rows, uint64_t key)
{
    fputs("(SELECT \"n\"", to->out);
    brume_push_put_keys(to, ", ");
    fputs(", row_number() OVER (PARTITION BY \"r0\" ORDER BY \"h\"", to->out);
    brume_push_put_keys(to, ", ");
    fputs(") AS \"g\" FROM (SELECT *, ", to->out);
    dialect->put_rank(to, key);
    fputs(" AS \"h\" FROM ", to->out);
    dialect->put_totals(to, rows, false);
    fputs(") AS \"h\") AS \"g\"", to->out);
}

static void put_at_most(const brume_push_statement *to, const brume_push_dialect *dialect,
                        uint64_t most)
{
    dialect->put_integer(to->out, most > INT64_MAX ? INT64_MAX : (int64_t)most);
}

/* Of each unit the first `most` pairs. */
static void put_first(const brume_push_statement *to, const brume_push_dialect *dialect,
                      uint64_t most)
{
    fputs(" WHERE \"g\" <= ", to->out);
    put_at_most(to, dialect, most);
}

brume_status brume_push_print_kept(const brume_push_dialect *dialect,
                                   const brume_collection *collection, const char *rows,
                                   uint64_t key, char **sql, brume_error *error)
{
    brume_push_statement to;
    BRUME_TRY(brume_push_begin(&to, collection, 1, error));
    fputs("SELECT ", to.out);
    brume_push_put_keys(&to, "");
    fputs(", count(*) FROM ", to.out);
    put_ranked_pairs(&to, dialect, rows, key);
    put_first(&to, dialect, 1);
    brume_push_put_keys(&to, " GROUP BY ");
    return brume_push_end(&to, sql, error);
}

brume_status brume_push_print_distinct(const brume_push_dialect *dialect,
                                       const brume_collection *collection, const char *rows,
                                       uint64_t key, uint64_t limit, char **sql, brume_error *error)
{
    brume_push_statement to;
    BRUME_TRY(brume_push_begin(&to, collection, 1, error));
    fputs("SELECT ", to.out);
    brume_push_put_first_keys(&to, to.keys - 1, "");
    fprintf(to.out, "%scount(*) FROM (SELECT ", to.keys > 1 ? ", " : "");
    brume_push_put_keys(&to, "");
    fputs(" FROM ", to.out);
    put_ranked_pairs(&to, dialect, rows, key);
    put_first(&to, dialect, limit);
    brume_push_put_keys(&to, " GROUP BY ");
    fputs(") AS \"d\"", to.out);
    brume_push_put_first_keys(&to, to.keys - 1, " GROUP BY ");
    return brume_push_end(&to, sql, error);
}

brume_status brume_push_print_bounded(const brume_push_dialect *dialect,
                                      const brume_collection *collection, const char *rows,
                                      uint64_t key, char **sql, brume_error *error)
{
    brume_push_statement to;
    BRUME_TRY(brume_push_begin(&to, collection, 1, error));
    fputs("SELECT ", to.out);
    brume_push_put_keys(&to, "");
    fprintf(to.out, "%scount(*) FROM ", to.keys ? ", " : "");
    put_ranked_pairs(&to, dialect, rows, key);
    if (brume_push_cuts_groups(collection))
        put_first(&to, dialect, collection->max_groups);
    brume_push_put_keys(&to, " GROUP BY ");
    return brume_push_end(&to, sql, error);
}
