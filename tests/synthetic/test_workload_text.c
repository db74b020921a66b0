/* Workloads as text: what each statement means, and what is refused, where and why. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <brume/synthetic/workload_text.h>

/* sex: f m (other); age: 4 bins of 0..80; city: lyon, lille, "saint-denis" */
static brume_schema *people(void)
{
    static const char *const sexes[] = {"f", "m"};
    static const char *const cities[] = {"lyon", "lille", "saint denis"};
    brume_error error = {0};
    brume_schema *schema = NULL;
    assert_ok(brume_schema_open(&schema, &error));
    assert_ok(brume_schema_add_labels(schema, "sex", sexes, 2, true, &error));
    assert_ok(brume_schema_add_bins(schema, "age", 0, 80, 4, false, &error));
    assert_ok(brume_schema_add_labels(schema, "city", cities, 3, false, &error));
    return schema;
}

enum { SEX = 3, AGE = 4, CITY = 3, CELLS = SEX * AGE * CITY, MOST = 64 };

/* What a query says of each cell: the answer on the histogram that has that cell alone. */
static size_t values_of(const char *text, double values[MOST][CELLS])
{
    brume_error error = {0};
    brume_schema *schema = people();
    brume_workload *workload = NULL;
    assert_ok(brume_workload_parse(schema, text, &workload, &error));
    size_t size = brume_workload_size(workload);
    assert_holds(size <= MOST);
    for (int cell = 0; cell < CELLS; cell++) {
        double weights[CELLS] = {0}, answers[MOST];
        weights[cell] = 1;
        assert_ok(brume_workload_answer(workload, weights, answers, &error));
        for (size_t q = 0; q < size; q++)
            values[q][cell] = answers[q];
    }
    brume_workload_close(workload);
    brume_schema_close(schema);
    return size;
}

typedef double meaning(int sex, int age, int city);

static double total(int sex, int age, int city)
{
    return sex >= 0 && age >= 0 && city >= 0;
}

static double women(int sex, int age, int city)
{
    return total(sex, age, city) * (sex == 0);
}

static double not_women(int sex, int age, int city)
{
    return 1 - women(sex, age, city);
}

static double adults_of_lille(int sex, int age, int city)
{
    return total(sex, age, city) * (age >= 1 && city == 1);
}

static double young_or_men(int sex, int age, int city)
{
    return total(sex, age, city) * (age < 2 || (sex == 1 && city != 0));
}

static double middle(int sex, int age, int city)
{
    return total(sex, age, city) * (age == 1 || age == 2);
}

static double strangers(int sex, int age, int city)
{
    return total(sex, age, city) * (sex == 2);
}

static double known(int sex, int age, int city)
{
    return total(sex, age, city) * (sex != 2);
}

static double first_two_cities(int sex, int age, int city)
{
    return total(sex, age, city) * (city < 2);
}

static double last_city(int sex, int age, int city)
{
    return total(sex, age, city) * (city == 2);
}

static double weighed(int sex, int age, int city)
{
    return (sex == 0 ? .5 : 0) + (age >= 2 ? .25 : 0) + (city == 0 || sex == 2 ? .125 : 0) + .125;
}

static void conditions_and_sums_mean_what_they_say(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        meaning *meaning;
    } cases[] = {
        {"total", total},
        {"count sex = f", women},
        {"  count\t'sex' = \"f\"   # women\r\n\n# nothing", women},
        {"count sex != f", not_women},
        {"count SEX not in (f)", not_women},
        {"count age >= 20 and city = lille", adults_of_lille},
        {"count age in 20 .. 80 and city in (lille, lyon) and city != lyon", adults_of_lille},
        {"count age < 40 or sex = m and city not in (lyon)", young_or_men},
        {"count age in 20..60", middle},
        {"count age in 2e1..60.0", middle},
        {"count age < 40 OR (sex = 'm' AND NOT city = 'lyon')", young_or_men},
        {"count NOT (age >= 40 AND (sex <> 'm' OR city = 'lyon'))", young_or_men},
        {"count not not (age < 40) or sex = m and not (city = lyon)", young_or_men},
        {"count (NOT age < 20) AND city IN ('lille')", adults_of_lille},
        {"count NOT age < 20 AND city = 'lille'", adults_of_lille},
        {"count TRUE", total},
        {"count true AND sex = 'f'", women},
        {"count NOT sex = 'f'", not_women},
        {"count sex <> 'f'", not_women},
        {"count sex between 'f' and 'm'", known},
        {"count city BETWEEN 'lyon' AND 'lille'", first_two_cities},
        {"count city NOT BETWEEN 'lyon' AND 'lille'", last_city},
        {"count city <= 'lille'", first_two_cities},
        {"count city > 'lille'", last_city},
        {"count sex is other", strangers},
        {"count sex is not other", known},
        {"count sex in f..m", known},
        {"count sex >= f", known},
        {"count city in lyon .. lille", first_two_cities},
        {"count city < 'saint denis'", first_two_cities},
        {"count city >= \"saint denis\"", last_city},
        {"sum .5 where sex = f, 0.25 where age >= 40, 0.125 where city = lyon or sex is other, "
         "0.125",
         weighed},
        {"sum 1, -1 where sex = f", not_women},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static double values[MOST][CELLS];
        assert_int_equal(values_of(cases[i].text, values), 1);
        for (int cell = 0; cell < CELLS; cell++) {
            double wanted = cases[i].meaning(cell / (AGE * CITY), cell / CITY % AGE, cell % CITY);
            if (values[0][cell] != wanted)
                print_message("%s: cell %d\n", cases[i].text, cell);
            assert_holds(values[0][cell] == wanted);
        }
    }
}

static void tables_and_ranges_have_their_queries(void **state)
{
    (void)state;
    static double values[MOST][CELLS];
    static const struct {
        const char *text;
        size_t size;
    } cases[] = {
        {"marginal sex", 3},
        {"marginal city, sex", 9},
        {"marginals 0", 1},
        {"marginals 1", 3 + 4 + 3},
        {"marginals 2", 12 + 9 + 12},
        {"histogram", CELLS},
        {"marginals 3", CELLS},
        {"prefixes age", 3},
        {"prefixes sex", 1},
        {"ranges age", 10},
        {"ranges sex", 3},
        {"total\nranges city\n\nmarginal sex\ncount age < 20", 1 + 6 + 3 + 1},
        {"sum 0.1 where sex = f, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(values_of(cases[i].text, values), cases[i].size);
    /* the second range of ages is bins 0 and 1; `other` is in no range */
    values_of("ranges age", values);
    for (int cell = 0; cell < CELLS; cell++)
        assert_holds(values[1][cell] == (cell / CITY % AGE < 2));
    values_of("ranges sex", values);
    for (int cell = 0; cell < CELLS; cell++)
        assert_holds(values[1][cell] == (cell / (AGE * CITY) < 2));
}

static void faults_are_told_with_line_and_column(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        brume_status status;
        const char *message, *hint;
    } cases[] = {
        {"", BRUME_EARGUMENT, "a workload without queries", "for example: marginals 2"},
        {"# nothing\n\n", BRUME_EARGUMENT, "a workload without queries", NULL},
        {"total\n marginl sex", BRUME_ESYNTAX,
         "line 2, column 2: expected total, histogram, marginal, marginals, prefixes, ranges, "
         "count or sum, found 'marginl'",
         NULL},
        {"marginal sxe", BRUME_EUNKNOWN, "line 1, column 10: no column 'sxe'",
         "did you mean 'sex'?"},
        {"marginal sex, age,", BRUME_ESYNTAX,
         "line 1, column 19: expected a column, found the end of the line", NULL},
        {"marginal sex, sex", BRUME_EARGUMENT, "line 1, column 15: 'sex' is there twice", NULL},
        {"marginals 4", BRUME_EARGUMENT, "line 1, column 11: marginals of 4 columns, there are 3",
         NULL},
        {"marginals two", BRUME_ESYNTAX,
         "line 1, column 11: expected how many columns, found 'two'", NULL},
        {"marginals 1.5", BRUME_ESYNTAX,
         "line 1, column 11: expected how many columns, found '1.5'", NULL},
        {"total sex", BRUME_ESYNTAX, "line 1, column 7: expected the end of the line, found 'sex'",
         NULL},
        {"count sex = w", BRUME_EARGUMENT, "line 1, column 13: 'w' is not in the domain of 'sex'",
         NULL},
        {"count age = 20", BRUME_EARGUMENT,
         "line 1, column 13: 'age' is cut into bins and has no single values",
         "compare it with <, >= or in LO .. HI"},
        {"count age < 33", BRUME_EARGUMENT,
         "line 1, column 13: 33 is no edge of the 4 bins of 'age'", "the nearest edge is 40"},
        {"count age in 60..20", BRUME_EARGUMENT, "line 1, column 14: an empty range", NULL},
        {"count age in 20..20", BRUME_EARGUMENT, "line 1, column 14: an empty range", NULL},
        {"count age < forty", BRUME_ESYNTAX, "line 1, column 13: expected a number, found 'forty'",
         NULL},
        {"count sex", BRUME_ESYNTAX,
         "line 1, column 10: expected =, <>, <, <=, >, >=, in, between, not in or is, found the end of the "
         "line",
         NULL},
        {"count (sex = f", BRUME_ESYNTAX,
         "line 1, column 15: expected ')', found the end of the line", NULL},
        {"count sex = f)", BRUME_ESYNTAX,
         "line 1, column 14: expected the end of the line, found ')'", NULL},
        {"count not", BRUME_ESYNTAX,
         "line 1, column 10: expected a column, found the end of the line", NULL},
        {"count ((((((((((((((((( sex = f", BRUME_ESYNTAX,
         "line 1, column 23: expected fewer brackets, found '('", NULL},
        {"count age <= 40", BRUME_EARGUMENT,
         "line 1, column 11: 'age' is cut into bins: compare it with < or >=",
         "a bin has its lower end, not its upper one"},
        {"count age > 40", BRUME_EARGUMENT,
         "line 1, column 11: 'age' is cut into bins: compare it with < or >=", NULL},
        {"count age between 20 and 40", BRUME_EARGUMENT,
         "line 1, column 11: 'between' includes its upper end, which 'age', cut into bins, cannot",
         "write NAME >= LO and NAME < HI"},
        {"count sex in (f, m", BRUME_ESYNTAX,
         "line 1, column 19: expected ',' or ')', found the end of the line", NULL},
        {"count sex is f", BRUME_ESYNTAX, "line 1, column 14: expected 'other', found 'f'", NULL},
        {"count city is other", BRUME_EARGUMENT,
         "line 1, column 15: 'city' has no value for what is outside its domain", NULL},
        {"count city = 'lyon", BRUME_ESYNTAX, "line 1, column 14: a quote that is not closed",
         NULL},
        {"count city = lyon; total", BRUME_ESYNTAX, "line 1, column 18: unexpected ';'", NULL},
        {"sum 0.75, 0.5 where sex = f and age >= 40", BRUME_EARGUMENT,
         "line 1, column 1: the sum is 1.25 where sex = f and age about 50 and city = lyon",
         "a linear query maps each record to [0, 1]"},
        {"total\nsum -0.5 where sex is other", BRUME_EARGUMENT,
         "line 2, column 1: the sum is -0.5 where sex = other and age about 10 and city = lyon",
         NULL},
        {"sum 1e99", BRUME_EARGUMENT, "line 1, column 5: 1e99 is far outside [0, 1]", NULL},
        {"sum", BRUME_ESYNTAX, "line 1, column 4: expected a number, found the end of the line",
         NULL},
    };
    brume_schema *schema = people();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_error error = {0};
        brume_workload *workload = NULL;
        assert_fails(brume_workload_parse(schema, cases[i].text, &workload, &error),
                     cases[i].status);
        assert_null(workload);
        assert_string_equal(error.message, cases[i].message);
        if (cases[i].hint)
            assert_string_equal(error.hint, cases[i].hint);
    }
    brume_schema_close(schema);
}

static void what_is_too_large_is_refused_with_its_size(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_schema *schema = NULL;
    brume_workload *workload = NULL;
    assert_ok(brume_schema_open(&schema, &error));
    assert_ok(brume_schema_add_bins(schema, "x", 0, 1, 1100, false, &error));
    assert_ok(brume_schema_add_bins(schema, "y", 0, 1, 1 << 20, false, &error));
    assert_fails(brume_workload_parse(schema, "total\nranges x", &workload, &error),
                 BRUME_EOVERFLOW);
    assert_string_equal(error.message, "line 2, column 1: 605550 queries outside marginals, at "
                                       "most 65536 are possible");
    assert_fails(brume_workload_parse(schema, "histogram", &workload, &error), BRUME_EOVERFLOW);
    assert_non_null(strstr(error.message, "1153433600 queries"));
    assert_fails(brume_workload_parse(schema, "sum 1", &workload, &error), BRUME_EOVERFLOW);
    assert_fails(brume_workload_parse(schema, "count x < 0.5 or x >= 0.5\n", &workload, &error),
                 BRUME_EOVERFLOW);
    for (int i = 2; i < BRUME_UNIVERSE_COLUMNS; i++) {
        char name[8];
        snprintf(name, sizeof name, "c%d", i);
        assert_ok(brume_schema_add_bins(schema, name, 0, 1, 1, false, &error));
    }
    assert_fails(brume_workload_parse(schema, "marginals 16", &workload, &error), BRUME_EOVERFLOW);
    assert_string_equal(error.message,
                        "line 1, column 1: 601080390 marginals, at most 65536 are possible");
    brume_schema_close(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_and_sums_mean_what_they_say),
        cmocka_unit_test(tables_and_ranges_have_their_queries),
        cmocka_unit_test(faults_are_told_with_line_and_column),
        cmocka_unit_test(what_is_too_large_is_refused_with_its_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
