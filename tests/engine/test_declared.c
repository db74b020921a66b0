/* Columns as an owner declares them. */
#include "check.h"

#include "engine/declared.h"

/* "name:type|name:type" of what is declared, "" for a type that is not said; or the error. */
static const char *parsed(const char *text)
{
    static char out[600];
    char type[BRUME_TYPE_NAME_SIZE];
    brume_declared declared = {0};
    brume_error error = {0};
    size_t used = 0;
    out[0] = 0;
    if (brume_declared_parse(text, &declared, &error) != BRUME_OK)
        snprintf(out, sizeof out, "%s", error.message);
    else
        for (size_t i = 0; i < declared.count; i++)
            used += (size_t)snprintf(out + used, sizeof out - used, "%s%s:%s", i ? "|" : "",
                                     declared.columns[i].name,
                                     declared.columns[i].type.kind == BRUME_TYPE_REFUSED
                                         ? ""
                                         : brume_type_name(declared.columns[i].type, type));
    brume_declared_clear(&declared);
    return out;
}

static void names_and_types_are_read(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"person text, income integer", "person:text|income:integer"},
        {"a", "a:"},
        {" a ,b\tBIGINT ", "a:|b:bigint"},
        {"d decimal( 9 , 2 ),e decimal(38,0)", "d:decimal(9,2)|e:decimal(38,0)"},
        {"\"full name\" text,\"a, b\",\"say \"\"hi\"\"\" date",
         "full name:text|a, b:|say \"hi\":date"},
        {"\"a\"", "a:"},
        {"x boolean,y double,z timestamp", "x:boolean|y:double|z:timestamp"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(parsed(cases[i][0]), cases[i][1]);
}

static void what_is_no_declaration_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {"",
                                        ",",
                                        "a,",
                                        "a,,b",
                                        "a whole",
                                        "a refused",
                                        "a text b",
                                        "full name text",
                                        "\"a",
                                        "\"",
                                        "a, A",
                                        "d decimal(39,1)",
                                        "d decimal(2,3)",
                                        "d decimal",
                                        "d decimal(9,2",
                                        "a \"b\"",
                                        "\"\" text"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_declared declared = {0};
        brume_error error = {0};
        assert_fails(brume_declared_parse(cases[i], &declared, &error), BRUME_EARGUMENT);
        brume_declared_clear(&declared);
    }
}

static void bounds_make_a_number_or_a_time(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"0", "100000", "bigint"},
        {"0.00", "3.00", "decimal(18,2)"},
        {"-5", "5.5", "decimal(18,1)"},
        {"0", "1e6", "bigint"},
        {"0", "1e30", "decimal(38,0)"},
        {"0", "1e-3", "decimal(18,3)"},
        {"0.0", "123456789012345678.5", "decimal(38,1)"},
        {"-1e18", "0", "decimal(38,0)"},
        {"2020-01-01", "2025-12-31", "date"},
        {"2020-01-01", "2025-12-31 12:00:00", "timestamp"},
        {"2020-01-01", "9", NULL},
        {"2020-1-1", "2025-1-1", NULL},
        {"x", "1", NULL},
        {"0", "1e40", NULL},
        {"0", "1e99999999999", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_type type;
        char name[BRUME_TYPE_NAME_SIZE];
        bool fits = brume_declared_type_of_bounds(cases[i][0], cases[i][1], &type);
        assert_int_equal(fits, cases[i][2] != NULL);
        if (fits)
            assert_string_equal(brume_type_name(type, name), cases[i][2]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_types_are_read),
        cmocka_unit_test(what_is_no_declaration_is_refused),
        cmocka_unit_test(bounds_make_a_number_or_a_time),
    };
    return cmocka_run_group_tests_name("declared columns", tests, NULL, NULL);
}
