/* One grammar, whichever libpg_query parses: what version 17 (PostgreSQL 17's grammar) reads and
 * version 15 does not is refused, as version 15 does:
 *
 * - numbers that are not decimal digits alone: 1_000, 0x1f, 0o17, 0b11. Those that fit an int are
 *   an integer of the tree, others a text as it was typed;
 * - a subquery in FROM without a name.
 *
 * Otherwise the trees of both are alike in all that brume reads; what only one of them has is
 * refused by whoever walks the tree. */
#ifndef BRUME_QUERY_GRAMMAR_H
#define BRUME_QUERY_GRAMMAR_H

#include <pg_query/pg_query.pb-c.h>

#include <brume/status.h>

/* ESYNTAX: the text has such a number. */
BRUME_MUST_USE brume_status brume_grammar_check_tokens(const PgQuery__ScanResult *tokens,
                                                       const char *sql, brume_error *error);

/* ESYNTAX: the tree has such a subquery. */
BRUME_MUST_USE brume_status brume_grammar_check_tree(const PgQuery__ParseResult *tree,
                                                     brume_error *error);

/* Give aggregates of DuckDB the names that the rest of brume knows: mean is avg, count_if(c) is
 * COUNT(*) FILTER (WHERE c), approx_count_distinct(x) is COUNT(DISTINCT x), quantile and
 * approx_quantile are quantile_disc and quantile_cont. */
BRUME_MUST_USE brume_status brume_grammar_rename(PgQuery__ParseResult *tree, brume_error *error);

#endif
