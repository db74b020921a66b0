/* From SQL text to a checked query.
 *
 * The text must be UTF-8 and is cut into tokens first: what may nest too deeply is refused, because
 * long chains of operators exhaust the parser's stack. The tree is read by protobuf: libpg_query's
 * JSON loses negative integers. */
#include "query/sql/parse.h"

#include <brume/session.h>
#include <pg_query/pg_query.pb-c.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sql_hint.h"
#include "query/sql/normal.h"
#include "query/sql/tree.h"
#include "query/sql/walk.h"

/* Where one SQL statement ends and the next begins, in text that a person is still typing: the
 * lexical rules of PostgreSQL for quotes and comments. */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

/* Each skip_ function gets a text that begins with what it skips and returns what follows it, or
 * NULL if the text ends before it does. */
static const char *skip_quoted(const char *text, bool escapes)
{
    char quote = *text++;
    for (; *text; text++) {
        if (escapes && *text == '\\' && text[1])
            text++;
        else if (*text == quote && text[1] == quote)
            text++;
        else if (*text == quote)
            return text + 1;
    }
    return NULL;
}

static const char *skip_line_comment(const char *text)
{
    const char *end = strchr(text, '\n');
    return end ? end + 1 : NULL;
}

static const char *skip_block_comment(const char *text)
{
    size_t depth = 0; /* they nest */
    while (*text) {
        bool open = strncmp(text, "/*", 2) == 0, close = strncmp(text, "*/", 2) == 0;
        depth += open;
        depth -= close;
        text += open || close ? 2 : 1;
        if (close && depth == 0)
            return text;
    }
    return NULL;
}

/* $tag$…$tag$; `text` itself is returned where no such quote begins. */
static const char *skip_dollar_quoted(const char *text)
{
    size_t tag = 1;
    while (is_word(text[tag]))
        tag++;
    if (text[tag] != '$' || (text[1] >= '0' && text[1] <= '9'))
        return text;
    tag++;
    for (const char *at = text + tag; (at = strchr(at, '$')); at++)
        if (strncmp(at, text, tag) == 0)
            return at + tag;
    return NULL;
}

/* What follows the token at `text`; NULL if it does not end. `before` is the character before it.
 */
static const char *skip_token(const char *text, char before, bool after_e)
{
    if (*text == '\'')
        return skip_quoted(text, after_e);
    if (*text == '"')
        return skip_quoted(text, false);
    if (strncmp(text, "--", 2) == 0)
        return skip_line_comment(text);
    if (strncmp(text, "/*", 2) == 0)
        return skip_block_comment(text);
    if (*text == '$' && !is_word(before)) {
        const char *after = skip_dollar_quoted(text);
        return after == text ? text + 1 : after;
    }
    return text + 1;
}

size_t brume_statement_length(const char *text)
{
    const char *at = text;
    char before = 0, before_that = 0;
    while (at && *at) {
        if (*at == ';')
            return (size_t)(at - text) + 1;
        bool after_e = (before == 'e' || before == 'E') && !is_word(before_that);
        const char *after = skip_token(at, before, after_e);
        if (after) {
            before_that = after - at == 1 ? before : 0;
            before = after[-1];
        }
        at = after;
    }
    return 0;
}

bool brume_statement_is_blank(const char *text)
{
    while (text && *text) {
        bool comment = strncmp(text, "--", 2) == 0 || strncmp(text, "/*", 2) == 0;
        if (!comment && !is_space(*text) && *text != ';')
            return false;
        if (strncmp(text, "--", 2) == 0 && !strchr(text, '\n'))
            return true;
        text = skip_token(text, 0, false);
    }
    return text != NULL;
}

/* The statements of a text. */

void brume_sql_split_free(char **statements, size_t count)
{
    for (size_t i = 0; statements && i < count; i++)
        free(statements[i]);
    free(statements);
}

/* Add a copy of the statement, but not of one without anything; false if memory ran out. */
static bool add(char ***list, size_t *count, const char *text, size_t length)
{
    char *copy = strndup(text, length);
    char **grown = copy ? realloc(*list, (*count + 2) * sizeof *grown) : NULL;
    if (grown)
        *list = grown;
    if (!grown || brume_statement_is_blank(copy)) {
        free(copy);
        return grown != NULL;
    }
    grown[(*count)++] = copy;
    return true;
}

brume_status brume_sql_split(const char *text, char ***statements, size_t *count,
                             brume_error *error)
{
    char **list = calloc(1, sizeof *list);
    size_t used = 0, length = 0;
    bool good = list != NULL;
    while (good && (length = brume_statement_length(text)) > 0) {
        good = add(&list, &used, text, length - 1);
        text += length;
    }
    if (!good || !add(&list, &used, text, strlen(text))) {
        brume_sql_split_free(list, used);
        return brume_no_memory(error, "the statements");
    }
    *statements = list;
    *count = used;
    return BRUME_OK;
}

/* The tables that a query names, wherever they stand in it, and which of the names are of WITH.
 *
 * Scopes are those of SQL: a name of WITH is seen in the SELECT that it belongs to, in whatever
 * stands in that SELECT, and in the items of its WITH after it (WITH RECURSIVE: in all of them).
 * The innermost one counts. A name with a schema or a catalog is never one of WITH. */

typedef struct scope {
    const PgQuery__CommonTableExpr *item;
    const struct scope *outer;
} scope;

typedef struct reading {
    brume_sql_table_visitor visit;
    void *context;
    const scope *scope;
    const PgQuery__SelectStmt *inside; /* the SELECT whose parts are read; NULL: of an item */
} reading;

static const PgQuery__CommonTableExpr *find(const scope *in, const PgQuery__RangeVar *table)
{
    if ((table->schemaname && *table->schemaname) || (table->catalogname && *table->catalogname))
        return NULL;
    for (; in; in = in->outer)
        if (strcmp(in->item->ctename, table->relname) == 0)
            return in->item;
    return NULL;
}

static void read_select(const reading *how, const PgQuery__SelectStmt *select, size_t next,
                        const scope *outer);

static bool read_part(void *context, const ProtobufCMessage *message)
{
    const reading *how = context;
    const PgQuery__SelectStmt *inside = how->inside;
    if (inside && message == &inside->base)
        return true;
    if (inside && inside->with_clause && message == &inside->with_clause->base)
        return false; /* read_select reads it */
    if (message->descriptor == &pg_query__into_clause__descriptor)
        return false; /* what would be written, not read; every check of a query refuses it */
    if (message->descriptor == &pg_query__select_stmt__descriptor) {
        read_select(how, (const PgQuery__SelectStmt *)message, 0, how->scope);
        return false;
    }
    if (message->descriptor == &pg_query__range_var__descriptor) {
        PgQuery__RangeVar *table = (PgQuery__RangeVar *)message;
        how->visit(how->context, table, find(how->scope, table));
    }
    return true;
}

static void read_parts(const reading *how, const ProtobufCMessage *message,
                       const PgQuery__SelectStmt *inside, const scope *in)
{
    reading here = {how->visit, how->context, in, inside};
    brume_tree_visit(message, read_part, &here);
}

/* Read the items of its WITH from `next` on, and then the rest. */
static void read_select(const reading *how, const PgQuery__SelectStmt *select, size_t next,
                        const scope *outer)
{
    const PgQuery__WithClause *with = select->with_clause;
    if (with && next < with->n_ctes) {
        const PgQuery__CommonTableExpr *item = with->ctes[next]->common_table_expr;
        const scope here = {item, outer};
        if (!with->recursive)
            read_parts(how, &item->base, NULL, outer);
        read_select(how, select, next + 1, &here);
        return;
    }
    for (size_t i = 0; with && with->recursive && i < with->n_ctes; i++)
        read_parts(how, &with->ctes[i]->common_table_expr->base, NULL, outer);
    read_parts(how, &select->base, select, outer);
}

void brume_sql_visit_tables(const PgQuery__SelectStmt *select, brume_sql_table_visitor visit,
                            void *context)
{
    reading how = {visit, context, NULL, NULL};
    read_select(&how, select, 0, NULL);
}

/* ---- the names of tables ---- */

typedef struct names {
    brume_sql_name *names;
    size_t count;
    brume_status status;
    brume_error *error;
} names;

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void add_name(void *context, PgQuery__RangeVar *table, const PgQuery__CommonTableExpr *item)
{
    names *found = context;
    const char *dataset = table->schemaname && *table->schemaname ? table->schemaname : NULL;
    if (item || found->status != BRUME_OK)
        return;
    if (table->catalogname && *table->catalogname) {
        found->status = brume_fail(found->error, BRUME_EUNSUPPORTED, "write DATASET.TABLE",
                                   "a table name of three parts is not supported");
        return;
    }
    for (size_t i = 0; i < found->count; i++)
        if (same_text(found->names[i].dataset, dataset) &&
            same_text(found->names[i].table, table->relname))
            return;
    brume_sql_name *grown = realloc(found->names, (found->count + 1) * sizeof *grown);
    if (grown)
        found->names = grown;
    brume_sql_name name = {dataset ? strdup(dataset) : NULL, strdup(table->relname)};
    if (!grown || !name.table || (dataset && !name.dataset)) {
        free(name.dataset);
        free(name.table);
        found->status = brume_no_memory(found->error, "a question");
        return;
    }
    grown[found->count++] = name;
}

brume_status brume_sql_names(const brume_sql *sql, brume_sql_name **list, size_t *count,
                             brume_error *error)
{
    names found = {.status = BRUME_OK, .error = error};
    brume_sql_visit_tables(brume_sql_tree(sql)->stmts[0]->stmt->select_stmt, add_name, &found);
    if (found.status != BRUME_OK) {
        brume_sql_names_free(found.names, found.count);
        return found.status;
    }
    *list = found.names;
    *count = found.count;
    return BRUME_OK;
}

void brume_sql_names_free(brume_sql_name *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(list[i].dataset);
        free(list[i].table);
    }
    free(list);
}

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
