/* LIKE means what PostgreSQL means by it, for every small pattern and text, and takes time linear
 * in the text. */
#include "check.h"

#include <stdlib.h>
#include <time.h>

#include <libpq-fe.h>

#include "engine/like.h"

/* ---- every small pattern and text ---- */

enum { MOST_TEXTS = 8000, LONGEST = 32 };

typedef struct texts {
    size_t count;
    char text[MOST_TEXTS][LONGEST];
} texts;

/* All texts of at most `most` of the tokens. */
static texts *all_texts(const char *const *tokens, size_t token_count, size_t most)
{
    texts *all = calloc(1, sizeof *all);
    assert_non_null(all);
    size_t first = 0, last = 1;
    all->count = 1;
    for (size_t length = 0; length < most; length++) {
        for (size_t i = first; i < last; i++)
            for (size_t j = 0; j < token_count; j++) {
                assert_true(all->count < MOST_TEXTS);
                snprintf(all->text[all->count++], LONGEST, "%.20s%s", all->text[i], tokens[j]);
            }
        first = last;
        last = all->count;
    }
    return all;
}

static texts *small_patterns(void)
{
    static const char *const tokens[] = {"a", "B", "\xc3\xa9", "%", "_", "\\%", "\\\\"};
    return all_texts(tokens, sizeof tokens / sizeof *tokens, 4);
}

static texts *small_texts(void)
{
    static const char *const tokens[] = {"a", "A", "b", "\xc3\xa9", "%", "\\"};
    return all_texts(tokens, sizeof tokens / sizeof *tokens, 3);
}

/* ---- the slow reference: which lengths of the pattern match which lengths of the text ---- */

static size_t next_character(const char *text, size_t at)
{
    at++;
    while (((unsigned char)text[at] & 0xC0) == 0x80)
        at++;
    return at;
}

static int lower(int c)
{
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

static bool same_character(const char *a, const char *b, size_t length, bool folds)
{
    for (size_t i = 0; i < length; i++)
        if (folds ? lower(a[i]) != lower(b[i]) : a[i] != b[i])
            return false;
    return true;
}

static bool matches_slowly(const char *pattern, const char *text, bool folds)
{
    if (!*pattern)
        return !*text;
    if (*pattern == '%') {
        for (size_t at = 0;; at = next_character(text, at)) {
            if (matches_slowly(pattern + 1, text + at, folds))
                return true;
            if (!text[at])
                return false;
        }
    }
    if (!*text)
        return false;
    size_t length = next_character(text, 0);
    if (*pattern == '_')
        return matches_slowly(pattern + 1, text + length, folds);
    if (*pattern == '\\')
        pattern++;
    size_t own = next_character(pattern, 0);
    return own == length && same_character(pattern, text, length, folds) &&
           matches_slowly(pattern + own, text + length, folds);
}

static bool matches(const char *pattern, const char *text, bool folds)
{
    brume_like *like = brume_like_open(pattern, strlen(pattern), folds);
    assert_non_null(like);
    bool matched = brume_like_match(like, text, strlen(text));
    brume_like_close(like);
    return matched;
}

static void small_patterns_match_as_the_definition_says(void **state)
{
    (void)state;
    texts *patterns = small_patterns(), *all = small_texts();
    for (int folds = 0; folds < 2; folds++)
        for (size_t i = 0; i < patterns->count; i++)
            for (size_t j = 0; j < all->count; j++)
                if (matches(patterns->text[i], all->text[j], folds) !=
                    matches_slowly(patterns->text[i], all->text[j], folds))
                    fail_msg("'%s' %s '%s'", all->text[j], folds ? "ILIKE" : "LIKE",
                             patterns->text[i]);
    free(patterns);
    free(all);
}

/* ---- PostgreSQL ---- */

static char *array_of(const texts *all)
{
    char *array = malloc(all->count * 3 * LONGEST), *end = array;
    assert_non_null(array);
    for (size_t i = 0; i < all->count; i++) {
        *end++ = i ? ',' : '{';
        *end++ = '"';
        for (const char *each = all->text[i]; *each; each++) {
            if (*each == '\\' || *each == '"')
                *end++ = '\\';
            *end++ = *each;
        }
        *end++ = '"';
    }
    memcpy(end, "}", 2);
    return array;
}

static void small_patterns_match_as_in_postgresql(void **state)
{
    (void)state;
    PGconn *connection = PQconnectdb(getenv("BRUME_TEST_POSTGRESQL"));
    assert_int_equal(PQstatus(connection), CONNECTION_OK);
    texts *patterns = small_patterns(), *all = small_texts();
    char *array = array_of(all);
    for (int folds = 0; folds < 2; folds++)
        for (size_t i = 0; i < patterns->count; i++) {
            const char *const parameters[] = {patterns->text[i], array};
            PGresult *result = PQexecParams(
                connection,
                folds ? "SELECT string_agg((lower(t COLLATE \"C\") LIKE lower($1 COLLATE \"C\") "
                        "ESCAPE '\\')::int4::text, '' ORDER BY n) FROM unnest($2::text[]) WITH "
                        "ORDINALITY AS x(t, n)"
                      : "SELECT string_agg((t LIKE $1 ESCAPE '\\')::int4::text, '' ORDER BY n) "
                        "FROM unnest($2::text[]) WITH ORDINALITY AS x(t, n)",
                2, NULL, parameters, NULL, NULL, 0);
            assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
            const char *truth = PQgetvalue(result, 0, 0);
            assert_int_equal(strlen(truth), all->count);
            for (size_t j = 0; j < all->count; j++)
                if (matches(patterns->text[i], all->text[j], folds) != (truth[j] == '1'))
                    fail_msg("'%s' %s '%s'", all->text[j], folds ? "ILIKE" : "LIKE",
                             patterns->text[i]);
            PQclear(result);
        }
    PQfinish(connection);
    free(array);
    free(patterns);
    free(all);
}

/* ---- long patterns, whose states are several words ---- */

/* The same by dynamic programming, for letters, % and _ alone. */
static bool matches_by_table(const char *pattern, const char *text)
{
    enum { MOST = 600 };
    static bool row[MOST + 1];
    size_t length = strlen(text);
    assert_true(length <= MOST);
    memset(row, 0, sizeof row);
    row[0] = true;
    for (; *pattern; pattern++) {
        if (*pattern == '%') {
            for (size_t i = 1; i <= length; i++)
                row[i] = row[i] || row[i - 1];
            continue;
        }
        for (size_t i = length; i > 0; i--)
            row[i] = row[i - 1] && (*pattern == '_' || *pattern == text[i - 1]);
        row[0] = false;
    }
    return row[length];
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* A text, and a pattern that is made of it by cutting and blurring, so that about half match. */
static void make_pair(uint64_t *state, char *pattern, char *text)
{
    size_t length = 50 + next_random(state) % 200, used = 0;
    for (size_t i = 0; i < length; i++)
        text[i] = "ab"[next_random(state) % 2];
    text[length] = 0;
    for (size_t i = 0; i < length; i++)
        switch (next_random(state) % 40) {
        case 0:
            pattern[used++] = '%';
            i += next_random(state) % 20;
            break;
        case 1:
            pattern[used++] = '_';
            break;
        default:
            pattern[used++] = text[i];
        }
    pattern[used] = 0;
    if (next_random(state) % 2)
        pattern[next_random(state) % used] = 'b';
}

static void long_patterns_match(void **state)
{
    (void)state;
    uint64_t random = 20261116;
    size_t matched = 0, count = 20000;
    for (size_t i = 0; i < count; i++) {
        char pattern[400], text[400];
        make_pair(&random, pattern, text);
        bool truth = matches_by_table(pattern, text);
        if (matches(pattern, text, false) != truth)
            fail_msg("'%s' LIKE '%s'", text, pattern);
        matched += truth;
    }
    assert_true(matched > count / 4 && matched < count - count / 8);
}

static void a_pattern_has_a_longest_length(void **state)
{
    (void)state;
    char pattern[BRUME_LIKE_MOST + 2];
    memset(pattern, 'a', sizeof pattern);
    pattern[BRUME_LIKE_MOST] = 0;
    assert_true(matches(pattern, pattern, false));
    assert_false(matches(pattern, pattern + 1, false));
    assert_null(brume_like_open(pattern, BRUME_LIKE_MOST + 1, false));
}

/* ---- time ---- */

/* Seconds of the processor for one match, the least of several. */
static double seconds(const brume_like *like, const char *text, size_t length)
{
    double least = 1e9;
    for (int i = 0; i < 9; i++) {
        clock_t start = clock();
        assert_false(brume_like_match(like, text, length));
        double taken = (double)(clock() - start) / CLOCKS_PER_SEC;
        least = taken < least ? taken : least;
    }
    return least;
}

/* A text 32 times as long takes about 32 times as long; one % tried again at each place would make
 * it 1024, two 32768. The limit is a factor of 8 away from the truth. */
static void time_is_linear_in_the_text(void **state)
{
    (void)state;
    static const char *const patterns[] = {"%a%a%a%b", "%aaaaaaaaaaaaaaaaaaab%", "%a_a_a_a_b%",
                                           "%_%_%_%_%b"};
    enum { SHORT = 1 << 17, TIMES = 32 };
    char *text = malloc((size_t)SHORT * TIMES);
    assert_non_null(text);
    memset(text, 'a', (size_t)SHORT * TIMES);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        brume_like *like = brume_like_open(patterns[i], strlen(patterns[i]), false);
        assert_non_null(like);
        double one = seconds(like, text, SHORT), many = seconds(like, text, SHORT * TIMES);
        if (!(many <= 8 * TIMES * (one + 1e-5)))
            fail_msg("'%s': %g s, and %d times the text %g s", patterns[i], one, TIMES, many);
        brume_like_close(like);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_patterns_match_as_the_definition_says),
        cmocka_unit_test(small_patterns_match_as_in_postgresql),
        cmocka_unit_test(long_patterns_match),
        cmocka_unit_test(a_pattern_has_a_longest_length),
        cmocka_unit_test(time_is_linear_in_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
