/* Hints on syntax errors: see sql_hint.h. The text is looked at by words, since no tree is there.
 */
#include "base/sql_hint.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

enum { LONGEST_WORD = 40, SHORTEST_WORD = 3 };

/* Words that a query is made of: what is near one of them is taken for it. */
static const char *const keywords[] = {
    "SELECT",   "FROM", "WHERE",   "GROUP", "BY",    "HAVING",  "ORDER",  "LIMIT",  "JOIN",
    "DISTINCT", "WITH", "BETWEEN", "UNION", "USING", "OFFSET",  "FILTER", "WITHIN", "CASE",
    "WHEN",     "THEN", "ELSE",    "END",   "AND",   "NOT",     "NULL",   "LIKE",   "EXISTS",
    "ROLLUP",   "ASC",  "DESC",    "LEFT",  "INNER", "EXTRACT", "CAST"};
enum { KEYWORDS = sizeof keywords / sizeof *keywords };

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || ((unsigned char)c & 0x80);
}

/* The byte of the character at `position`; the end of the text beyond it. */
static size_t byte_of(const char *sql, int position)
{
    size_t at = 0;
    for (int left = position - 1; left > 0 && sql[at]; left--)
        for (at++; ((unsigned char)sql[at] & 0xc0) == 0x80;)
            at++;
    return at;
}

/* The word that begins at `from`, or an empty one. */
static void word_at(const char *sql, size_t from, char word[LONGEST_WORD])
{
    size_t length = 0;
    while (length < LONGEST_WORD - 1 && is_word(sql[from + length]))
        length++;
    memcpy(word, sql + from, length);
    word[length] = '\0';
}

/* The word before `at`, with blanks between them at most; where it begins, or `at` for none. */
static size_t word_before(const char *sql, size_t at, char word[LONGEST_WORD])
{
    size_t end = at;
    while (end > 0 && isspace((unsigned char)sql[end - 1]))
        end--;
    size_t begin = end;
    while (begin > 0 && is_word(sql[begin - 1]))
        begin--;
    word[0] = '\0';
    if (begin == end)
        return at;
    word_at(sql, begin, word);
    return begin;
}

/* A keyword that the word may be meant to be; NULL where it is one, or none is near. Short keywords
 * are near to too many names. */
static const char *near_keyword(const char *word)
{
    if (strlen(word) < SHORTEST_WORD)
        return NULL;
    const char *near = brume_text_nearest(word, keywords, KEYWORDS);
    return near && strlen(near) > SHORTEST_WORD && strcasecmp(near, word) != 0 ? near : NULL;
}

static bool is_keyword(const char *word)
{
    for (size_t i = 0; i < KEYWORDS; i++)
        if (strcasecmp(keywords[i], word) == 0)
            return true;
    return false;
}

/* A name: no keyword, no number. */
static bool is_name(const char *word)
{
    return *word && !isdigit((unsigned char)*word) && !is_keyword(word);
}

/* Are more brackets opened than closed outside of quotes? */
static bool is_open(const char *sql)
{
    char quote = '\0';
    int depth = 0;
    for (; *sql; sql++) {
        if (quote)
            quote = *sql == quote ? '\0' : quote;
        else if (*sql == '\'' || *sql == '"')
            quote = *sql;
        else
            depth += (*sql == '(') - (*sql == ')');
    }
    return depth > 0;
}

void brume_sql_hint(const char *sql, int position, char hint[BRUME_SQL_HINT])
{
    char here[LONGEST_WORD], before[LONGEST_WORD];
    hint[0] = '\0';
    if (position < 1)
        return;
    size_t at = byte_of(sql, position), begin = word_before(sql, at, before);
    word_at(sql, at, here);
    const char *near = near_keyword(here);
    if (!near)
        near = near_keyword(before);
    if (strcasecmp(before, "top") == 0 || strcasecmp(here, "top") == 0)
        snprintf(hint, BRUME_SQL_HINT, "write LIMIT and the number at the end");
    else if (sql[at] == '`' || sql[at] == '[')
        snprintf(hint, BRUME_SQL_HINT, "a name with odd characters stands in double quotes");
    else if (near)
        snprintf(hint, BRUME_SQL_HINT, "did you mean %s?", near);
    else if (is_keyword(here) &&
             (strcasecmp(before, "from") == 0 || strcasecmp(before, "join") == 0))
        snprintf(hint, BRUME_SQL_HINT,
                 "a table whose name is a word of SQL stands in double quotes");
    else if (is_name(here) && is_name(before))
        snprintf(hint, BRUME_SQL_HINT,
                 "is a comma missing? A name of several words stands in double quotes: \"%.*s\"",
                 (int)(at - begin + strlen(here) < 80 ? at - begin + strlen(here) : 80),
                 sql + begin);
    else if (is_open(sql))
        snprintf(hint, BRUME_SQL_HINT, "is a bracket not closed?");
}
