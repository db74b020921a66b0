/* A location is recorded, shown and exported: it must be without its password. */
#include "check.h"

#include <stdlib.h>

#include "engine/location.h"

static void the_password_leaves_the_url_and_nothing_else_does(void **state)
{
    (void)state;
    static const struct {
        const char *typed, *shown, *password;
    } cases[] = {
        {"visits.csv", "visits.csv", NULL},
        {"a:b@c?password=d.csv", "a:b@c?password=d.csv", NULL},
        {"postgresql://host/db", "postgresql://host/db", NULL},
        {"postgresql://ada@host/db", "postgresql://ada@host/db", NULL},
        {"postgresql://ada:secret@host/db", "postgresql://ada@host/db", "secret"},
        {"postgres://ada:secret@host:5433/db", "postgres://ada@host:5433/db", "secret"},
        {"postgresql://ada:s%40c%3Aret@host", "postgresql://ada@host", "s@c:ret"},
        {"postgresql://ada:a:b@host/db", "postgresql://ada@host/db", "a:b"},
        {"postgresql://ada@/db?host=%2Frun&password=secret", "postgresql://ada@/db?host=%2Frun",
         "secret"},
        {"postgresql:///db?password=secret&user=ada", "postgresql:///db?user=ada", "secret"},
        {"postgresql:///db?password=secret", "postgresql:///db", "secret"},
        {"postgresql://ada:one@host/db?password=two", "postgresql://ada@host/db", "two"},
        {"postgresql://ada:secret@[::1]:5433/db", "postgresql://ada@[::1]:5433/db", "secret"},
        {"postgresql://ada:secret@one:1,two:2/db", "postgresql://ada@one:1,two:2/db", "secret"},
        {"spark://host:15002", "spark://host:15002", NULL},
        {"spark://host:15002/", "spark://host:15002", NULL},
        {"spark://host:15002/;token=secret", "spark://host:15002", "secret"},
        {"spark://host/;use_ssl=true;token=se=cret;user_id=ada",
         "spark://host/;use_ssl=true;user_id=ada", "se=cret"},
        {"spark://host/;user_id=ada", "spark://host/;user_id=ada", NULL},
        {"spark://[::1]:15002/;;token=secret;", "spark://[::1]:15002", "secret"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_error error = {0};
        char *shown = NULL, *password = NULL;
        assert_ok(brume_location_split(cases[i].typed, &shown, &password, &error));
        assert_string_equal(shown, cases[i].shown);
        if (cases[i].password)
            assert_string_equal(password, cases[i].password);
        else
            assert_null(password);
        free(shown);
        free(password);
    }
}

static void a_password_that_cannot_be_told_from_the_rest_is_refused_unquoted(void **state)
{
    (void)state;
    static const char *const typed[] = {
        "postgresql:///db?%70assword=secret",
        "postgresql://ada:secret@host/db?password=%zz",
        "postgresql://ada:secret@host/db?nonsense=1",
        "postgresql:///db?password=secret&password=secret&pass%77ord=secret",
        "spark://ada:secret@host:15002",
        "spark://host;token=secret",
        "spark://host/db;token=secret",
        "spark://host/;x-api-key=secret",
        "spark://host/;token=secret;token=secret",
        "spark://host/;Token=secret",
        "spark:///;token=secret"};
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++) {
        brume_error error = {0};
        char *shown = NULL, *password = NULL;
        assert_fails(brume_location_split(typed[i], &shown, &password, &error), BRUME_EARGUMENT);
        assert_null(shown);
        assert_null(password);
        assert_null(strstr(error.message, "sec"));
        assert_null(strstr(error.hint, "sec"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_password_leaves_the_url_and_nothing_else_does),
        cmocka_unit_test(a_password_that_cannot_be_told_from_the_rest_is_refused_unquoted),
    };
    return cmocka_run_group_tests_name("locations", tests, NULL, NULL);
}
