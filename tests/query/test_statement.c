/* Where a statement that is being typed ends (src/query/sql/parse.c). */
#include "query/sql/parse.h"

#include "check.h"

static void a_statement_ends_at_its_first_semicolon_outside_quotes_and_comments(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {
        {"SELECT 1;", 9},
        {"SELECT 1; SELECT 2;", 9},
        {"SELECT 1", 0},
        {"", 0},
        {";", 1},
        {"SELECT ';'", 0},
        {"SELECT ';';", 11},
        {"SELECT 'it''s;';", 16},
        {"SELECT 'back\\';", 15},    /* a backslash is a character of a plain text */
        {"SELECT E'back\\';';", 18}, /* and an escape in E'...' */
        {"SELECT e'\\\\';", 13},
        {"SELECT some'x\\';", 16}, /* e ends a word here: no escapes */
        {"SELECT \"a;b\";", 13},
        {"SELECT 1 -- no; end", 0},
        {"SELECT 1 -- no; end\n;", 21},
        {"SELECT 1 /* a; /* b; */ c; */;", 30},
        {"SELECT 1 /* a; /* b; */", 0},
        {"SELECT $$a;b$$;", 15},
        {"SELECT $t$a;$$;b$t$;", 20},
        {"SELECT $t$a;b$u$;", 0},
        {"SELECT a$b;", 11}, /* a dollar inside a name quotes nothing */
        {"SELECT $1;", 10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (brume_statement_length(cases[i].text) != cases[i].length)
            fail_msg("%s: %zu", cases[i].text, brume_statement_length(cases[i].text));
}

static void spaces_semicolons_and_comments_are_no_statement(void **state)
{
    (void)state;
    static const char *const blank[] = {"", "  \n\t", ";;", "-- nothing", "/* a */ -- b\n ;"};
    static const char *const not_blank[] = {"SELECT", "/* open", "'", "-- a\nb"};
    for (size_t i = 0; i < sizeof blank / sizeof *blank; i++)
        if (!brume_statement_is_blank(blank[i]))
            fail_msg("%s", blank[i]);
    for (size_t i = 0; i < sizeof not_blank / sizeof *not_blank; i++)
        if (brume_statement_is_blank(not_blank[i]))
            fail_msg("%s", not_blank[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_statement_ends_at_its_first_semicolon_outside_quotes_and_comments),
        cmocka_unit_test(spaces_semicolons_and_comments_are_no_statement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
