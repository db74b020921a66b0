/* Whether an amended policy leaves every row with the unit it had. */
#include "check.h"

#include "query/plan/policy.h"

#define FORMAT(delimiter, quote, header, multiline)                                                \
    "{\"delimiter\":\"" delimiter "\",\"quote\":\"" quote "\",\"header\":" header                  \
    ",\"multiline\":" multiline "}"
static const char usual[] = FORMAT(",", "\\\"", "true", "false");
static const char headless[] = FORMAT(",", "\\\"", "false", "false");

/* Two columns: `first` of that kind, and "town"; or the other way round. */
static brume_policy *policy_of(const char *options, brume_type_kind kind, bool turned,
                               const char *unit)
{
    brume_error error = {0};
    brume_column columns[] = {
        {.name = (char *)"person", .type = {kind, 0, 0}, .native = (char *)""},
        {.name = (char *)"town", .type = {BRUME_TYPE_TEXT, 0, 0}, .native = (char *)""}};
    brume_column other[] = {columns[1], columns[0]};
    brume_description description = {
        .options = (char *)options, .columns = turned ? other : columns, .column_count = 2};
    brume_policy *policy = NULL;
    assert_ok(brume_policy_make("t.csv", NULL, &description, &policy, &error));
    if (unit)
        assert_ok(brume_policy_set_unit(policy, unit, &error));
    return policy;
}

static bool same(brume_policy *before, brume_policy *after)
{
    bool answer = brume_policy_same_units(before, after);
    brume_policy_close(before);
    brume_policy_close(after);
    return answer;
}

static void a_unit_is_its_column_its_type_and_how_lines_are_read(void **state)
{
    (void)state;
    static const char *const others[] = {
        FORMAT(";", "\\\"", "true", "false"), FORMAT(",", "", "true", "false"),
        FORMAT(",", "\\\"", "false", "false"), FORMAT(",", "\\\"", "true", "true")};
    const brume_type_kind text = BRUME_TYPE_TEXT, whole = BRUME_TYPE_BIGINT;
    assert_true(
        same(policy_of(usual, text, false, "person"), policy_of(usual, text, false, "person")));
    assert_true(
        same(policy_of(usual, text, false, "person"), policy_of(usual, text, true, "person")));
    assert_false(
        same(policy_of(usual, text, false, "person"), policy_of(usual, text, false, "town")));
    assert_false(
        same(policy_of(usual, text, false, "person"), policy_of(usual, text, false, NULL)));
    assert_false(
        same(policy_of(usual, text, false, NULL), policy_of(usual, text, false, "person")));
    /* '01' and '1' are two texts and one number */
    assert_false(
        same(policy_of(usual, text, false, "person"), policy_of(usual, whole, false, "person")));
    assert_true(
        same(policy_of(usual, text, false, "town"), policy_of(usual, whole, false, "town")));
    for (size_t i = 0; i < 4; i++)
        assert_false(same(policy_of(usual, text, false, "person"),
                          policy_of(others[i], text, false, "person")));
    /* without a header the place is the name */
    assert_true(same(policy_of(headless, text, false, "person"),
                     policy_of(headless, text, false, "person")));
    assert_false(same(policy_of(headless, text, false, "person"),
                      policy_of(headless, text, true, "person")));
}

static void a_row_is_a_line_until_lines_are_put_together(void **state)
{
    (void)state;
    const brume_type_kind text = BRUME_TYPE_TEXT;
    assert_true(same(policy_of(usual, text, false, NULL),
                     policy_of(FORMAT(";", "", "true", "false"), text, false, NULL)));
    assert_true(same(policy_of(usual, text, false, NULL), policy_of(headless, text, true, NULL)));
    assert_false(same(policy_of(usual, text, false, NULL),
                      policy_of(FORMAT(",", "\\\"", "true", "true"), text, false, NULL)));
    assert_false(same(policy_of(FORMAT(",", "'", "true", "true"), text, false, NULL),
                      policy_of(FORMAT(",", "\\\"", "true", "true"), text, false, NULL)));
}

/* The same with windows; NULL: without any. */
static brume_policy *windowed(const char *options, const char *place, const char *length,
                              const char *offset)
{
    brume_error error = {0};
    brume_policy *policy = policy_of(options, BRUME_TYPE_TIMESTAMP, false, NULL), *read = NULL;
    const char *const values[] = {"Dole", "Cluny"};
    assert_ok(brume_policy_set_domain(policy, "town", values, 2, &error));
    if (length)
        assert_ok(brume_policy_set_window(policy, place, length, offset, &error));
    json_t *json = brume_policy_to_json(policy); /* and back */
    assert_ok(brume_policy_from_json(json, &read, &error));
    assert_true(brume_policy_same_units(policy, read));
    json_decref(json);
    brume_policy_close(policy);
    return read;
}

static void windows_are_a_column_a_length_an_offset_and_values(void **state)
{
    (void)state;
    assert_true(same(windowed(usual, "person", "day", NULL), windowed(usual, "person", "day", "")));
    assert_false(same(windowed(usual, "person", "day", NULL), windowed(usual, NULL, NULL, NULL)));
    assert_false(same(windowed(usual, NULL, NULL, NULL), windowed(usual, "person", "day", NULL)));
    assert_false(
        same(windowed(usual, "person", "day", NULL), windowed(usual, "person", "week", NULL)));
    assert_false(
        same(windowed(usual, "person", "day", NULL), windowed(usual, "person", "day", "+02:00")));
    assert_false(same(windowed(usual, "person", "14d from 2026-01-05", NULL),
                      windowed(usual, "person", "14d from 2026-01-06", NULL)));
    assert_false(
        same(windowed(usual, "town", "values", NULL), windowed(usual, "person", "hour", NULL)));
    assert_false(
        same(windowed(usual, "person", "day", NULL), windowed(usual, "none", "day", NULL)));
    assert_true(
        same(windowed(usual, "town", "values", NULL), windowed(usual, "town", "values", NULL)));
    /* where lines are read in another way, the column may be another one */
    assert_false(same(windowed(usual, "person", "day", NULL),
                      windowed(FORMAT(";", "\\\"", "true", "false"), "person", "day", NULL)));
}

static void wrong_windows_are_refused_with_a_reason(void **state)
{
    (void)state;
    static const struct {
        brume_type_kind type; /* of the column 'person' */
        const char *place, *length, *offset, *said;
        brume_status status;
    } cases[] = {
        {BRUME_TYPE_TEXT, "person", "day", NULL, "is text", BRUME_EARGUMENT},
        {BRUME_TYPE_DATE, "person", "hour", NULL, "no hours", BRUME_EARGUMENT},
        {BRUME_TYPE_DATE, "person", "day", "+02:00", "no zone", BRUME_EARGUMENT},
        {BRUME_TYPE_DATE, "person", "fortnight", NULL, "fortnight", BRUME_EARGUMENT},
        {BRUME_TYPE_TIMESTAMP, "person", "day", "Europe/Paris", "Europe/Paris", BRUME_EARGUMENT},
        {BRUME_TYPE_DATE, "persn", "day", NULL, "persn", BRUME_EUNKNOWN},
        {BRUME_TYPE_DATE, "link", "day", NULL, "no link", BRUME_EARGUMENT},
        {BRUME_TYPE_DATE, "town", "values", NULL, "no declared values", BRUME_EARGUMENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_error error = {0};
        brume_policy *policy = policy_of(usual, cases[i].type, false, NULL);
        assert_fails(brume_policy_set_window(policy, cases[i].place, cases[i].length,
                                             cases[i].offset, &error),
                     cases[i].status);
        assert_non_null(strstr(error.message, cases[i].said));
        assert_int_equal(policy->window.place, BRUME_WINDOW_NOWHERE);
        brume_policy_close(policy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unit_is_its_column_its_type_and_how_lines_are_read),
        cmocka_unit_test(a_row_is_a_line_until_lines_are_put_together),
        cmocka_unit_test(windows_are_a_column_a_length_an_offset_and_values),
        cmocka_unit_test(wrong_windows_are_refused_with_a_reason),
    };
    return cmocka_run_group_tests_name("units of policies", tests, NULL, NULL);
}
