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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unit_is_its_column_its_type_and_how_lines_are_read),
        cmocka_unit_test(a_row_is_a_line_until_lines_are_put_together),
    };
    return cmocka_run_group_tests_name("units of policies", tests, NULL, NULL);
}
