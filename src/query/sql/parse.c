/* From SQL text to a checked query.
 *
 * The text must be UTF-8 and is cut into tokens first: what may nest too deeply is refused, because
 * long chains of operators exhaust the parser's stack. The tree is read by protobuf: libpg_query's
 * JSON loses negative integers. */
#include "query/sql/parse.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sql_hint.h"
#include "query/sql/grammar.h"
#include "query/sql/normal.h"
#include "query/sql/walk.h"

enum { MOST_TOKENS = 20000, MOST_DEPTH = 2000, MOST_BRACKETS = 200, MOST_BYTES = 1024 * 1024 };

static bool is_utf8(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        size_t more = *at < 0x80                  ? 0
                      : *at >= 0xc2 && *at < 0xe0 ? 1
                      : *at < 0xc2                ? 9
                      : *at < 0xf0                ? 2
                      : *at < 0xf5                ? 3
                                                  : 9;
        unsigned char lead = *at++;
        if (more == 9)
            return false;
        for (size_t i = 0; i < more; i++, at++) {
            if ((*at & 0xc0) != 0x80)
                return false;
            if (i == 0 && ((lead == 0xe0 && *at < 0xa0) || (lead == 0xed && *at > 0x9f) ||
                           (lead == 0xf0 && *at < 0x90) || (lead == 0xf4 && *at > 0x8f)))
                return false;
        }
    }
    return true;
}

static brume_status syntax_error(const PgQueryError *fault, const char *sql, brume_error *error)
{
    char hint[BRUME_SQL_HINT];
    brume_sql_hint(sql, fault->cursorpos, hint);
    return brume_fail(error, BRUME_ESYNTAX, hint, "%.300s at position %d",
                      fault->message ? fault->message : "syntax error", fault->cursorpos);
}

/* An upper bound of how deep the tree of the tokens can be: a path from its root goes through one
 * item of a list in each pair of brackets, and an item nests at most as deep as it has tokens.
 * UNION and its like nest over all items. SIZE_MAX: too many brackets in one another. */
static size_t deepest(const PgQuery__ScanResult *tokens)
{
    size_t item[MOST_BRACKETS] = {0}; /* tokens of the open item at each level of brackets */
    size_t level = 0, sum = 0, most = 0, unions = 0;
    for (size_t i = 0; i < tokens->n_tokens; i++) {
        PgQuery__Token kind = tokens->tokens[i]->token;
        unions += kind == PG_QUERY__TOKEN__UNION || kind == PG_QUERY__TOKEN__INTERSECT ||
                  kind == PG_QUERY__TOKEN__EXCEPT;
        item[level]++;
        sum++;
        most = sum > most ? sum : most;
        if (kind == PG_QUERY__TOKEN__ASCII_40 || kind == PG_QUERY__TOKEN__ASCII_91) {
            if (++level == MOST_BRACKETS)
                return SIZE_MAX;
        } else if ((kind == PG_QUERY__TOKEN__ASCII_41 || kind == PG_QUERY__TOKEN__ASCII_93) &&
                   level > 0) {
            sum -= item[level];
            item[level--] = 0;
        } else if (kind == PG_QUERY__TOKEN__ASCII_44) {
            sum -= item[level];
            item[level] = 0;
        }
    }
    return most + unions;
}

/* Whether a GROUP BY list ends before this token; NULL: the text does. */
static bool ends_list(const PgQuery__ScanToken *token)
{
    static const PgQuery__Token ends[] = {
        PG_QUERY__TOKEN__ASCII_41,  PG_QUERY__TOKEN__ASCII_59, PG_QUERY__TOKEN__HAVING,
        PG_QUERY__TOKEN__ORDER,     PG_QUERY__TOKEN__LIMIT,    PG_QUERY__TOKEN__OFFSET,
        PG_QUERY__TOKEN__FETCH,     PG_QUERY__TOKEN__WINDOW,   PG_QUERY__TOKEN__UNION,
        PG_QUERY__TOKEN__INTERSECT, PG_QUERY__TOKEN__EXCEPT,
    };
    for (size_t i = 0; token && i < sizeof ends / sizeof *ends; i++)
        if (token->token == ends[i])
            return true;
    return !token;
}

/* GROUP BY ALL, which the grammar does not have, as GROUP BY '*': see walk.h. */
static void mark_all(const PgQuery__ScanResult *tokens, char *sql)
{
    static const char mark[] = "'" BRUME_WALK_ALL "'"; /* as long as ALL */
    for (size_t i = 2; i < tokens->n_tokens; i++)
        if (tokens->tokens[i - 2]->token == PG_QUERY__TOKEN__GROUP_P &&
            tokens->tokens[i - 1]->token == PG_QUERY__TOKEN__BY &&
            tokens->tokens[i]->token == PG_QUERY__TOKEN__ALL &&
            ends_list(i + 1 < tokens->n_tokens ? tokens->tokens[i + 1] : NULL))
            for (size_t j = 0; j < sizeof mark - 1; j++)
                sql[(size_t)tokens->tokens[i]->start + j] = mark[j];
}

static brume_status check_text(char *sql, brume_error *error)
{
    if (strlen(sql) > MOST_BYTES)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "the query is longer than 1 MiB");
    if (!is_utf8(sql))
        return brume_fail(error, BRUME_ESYNTAX, NULL, "the query is not valid UTF-8");
    PgQueryScanResult scanned = pg_query_scan(sql);
    brume_status status = BRUME_OK;
    if (scanned.error) {
        status = syntax_error(scanned.error, sql, error);
    } else {
        PgQuery__ScanResult *tokens = pg_query__scan_result__unpack(
            NULL, scanned.pbuf.len, (const uint8_t *)scanned.pbuf.data);
        if (!tokens)
            status = brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
        else if (tokens->n_tokens > MOST_TOKENS)
            status = brume_fail(error, BRUME_EUNSUPPORTED, "split the query",
                                "the query has more than %d tokens", MOST_TOKENS);
        else if (deepest(tokens) > MOST_DEPTH)
            status = brume_fail(error, BRUME_EUNSUPPORTED, "split the query, or name parts of it",
                                "one item of the query has more than %d tokens, or more than %d "
                                "brackets in one another",
                                MOST_DEPTH, MOST_BRACKETS);
        else if (tokens->n_tokens == 0)
            status = brume_fail(error, BRUME_ESYNTAX, NULL, "the query is empty");
        else if ((status = brume_grammar_check_tokens(tokens, sql, error)) == BRUME_OK)
            mark_all(tokens, sql);
        if (tokens)
            pg_query__scan_result__free_unpacked(tokens, NULL);
    }
    pg_query_free_scan_result(scanned);
    return status;
}

struct brume_sql {
    PgQuery__ParseResult *tree; /* of one SELECT */
};

static const PgQuery__SelectStmt *select_of(const brume_sql *sql)
{
    return sql->tree->stmts[0]->stmt->select_stmt;
}

PgQuery__ParseResult *brume_sql_tree(const brume_sql *sql)
{
    return sql->tree;
}

void brume_sql_close(brume_sql *sql)
{
    if (!sql)
        return;
    if (sql->tree)
        pg_query__parse_result__free_unpacked(sql->tree, NULL);
    free(sql);
}

static brume_status unpack(const PgQueryProtobufParseResult *parsed, const char *text,
                           brume_sql *sql, brume_error *error)
{
    if (parsed->error)
        return syntax_error(parsed->error, text, error);
    sql->tree = pg_query__parse_result__unpack(NULL, parsed->parse_tree.len,
                                               (const uint8_t *)parsed->parse_tree.data);
    if (!sql->tree)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    if (sql->tree->n_stmts != 1)
        return brume_fail(error, BRUME_EUNSUPPORTED, "ask them one by one",
                          "one SELECT at a time, please");
    if (!sql->tree->stmts[0]->stmt ||
        sql->tree->stmts[0]->stmt->node_case != PG_QUERY__NODE__NODE_SELECT_STMT)
        return brume_fail(error, BRUME_EUNSUPPORTED, "write SELECT ... FROM ...",
                          "only SELECT is supported");
    BRUME_TRY(brume_grammar_check_tree(sql->tree, error));
    return brume_grammar_rename(sql->tree, error);
}

brume_status brume_sql_parse(const char *text, brume_sql **out, brume_error *error)
{
    char *own = strdup(text);
    brume_sql *sql = calloc(1, sizeof *sql);
    brume_status status = own && sql ? check_text(own, error)
                                     : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    if (status == BRUME_OK) {
        PgQueryProtobufParseResult parsed = pg_query_parse_protobuf(own);
        status = unpack(&parsed, own, sql, error);
        pg_query_free_protobuf_parse_result(parsed);
    }
    free(own);
    if (status != BRUME_OK) {
        brume_sql_close(sql);
        return status;
    }
    *out = sql;
    return BRUME_OK;
}

brume_status brume_sql_check(const brume_sql *sql, const brume_catalog *catalog,
                             brume_query **query, brume_error *error)
{
    brume_arena *arena = brume_arena_open();
    brume_query *made = arena ? brume_arena_allocate(arena, sizeof *made) : NULL;
    brume_walk *walk = arena ? brume_arena_allocate(arena, sizeof *walk) : NULL;
    brume_status status = BRUME_OK;
    if (!made || !walk) {
        status = brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    } else {
        *walk = (brume_walk){.builder = {.arena = arena, .error = error}, .catalog = catalog};
        made->arena = arena;
        if (!brume_walk_query(walk, select_of(sql), made))
            status = walk->builder.status != BRUME_OK
                         ? walk->builder.status
                         : brume_fail(error, BRUME_EINTERNAL, NULL, "the query was not understood");
        else if (!(made->normal = brume_query_normal(made, catalog)))
            status = brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    }
    if (status != BRUME_OK) {
        brume_arena_close(arena);
        return status;
    }
    *query = made;
    return BRUME_OK;
}

brume_status brume_query_parse(const char *text, const brume_catalog *catalog, brume_query **query,
                               brume_error *error)
{
    brume_sql *sql = NULL;
    BRUME_TRY(brume_sql_parse(text, &sql, error));
    brume_status status = brume_sql_check(sql, catalog, query, error);
    brume_sql_close(sql);
    return status;
}
