/* A recorded answer reads back as it was, and what is no record is refused. */
#include "check.h"

#include <stdlib.h>

#include "query/release/answer.h"

static const char record[] =
    "{\"columns\":[{\"name\":\"town\",\"role\":\"key\"},"
    "{\"name\":\"n\",\"role\":\"value\",\"mechanism\":\"discrete_laplace\",\"error_95\":3.5,"
    "\"biased\":true,\"bias\":{\"units\":100.5,\"error_95\":2.25,\"cut\":4.0}},"
    "{\"name\":\"middle\",\"role\":\"value\",\"mechanism\":null,\"error_95\":null,"
    "\"biased\":false,\"rank_error_95\":12.25,\"threshold\":40},"
    "{\"name\":\"cut\",\"role\":\"value\",\"mechanism\":null,\"error_95\":2.0,\"biased\":true,"
    "\"limit\":8.0,\"cut_units\":9.0,\"cut_allowance\":null,\"cut_known\":false},"
    "{\"name\":\"hidden\",\"role\":\"value\",\"mechanism\":null,\"error_95\":2.0,\"biased\":true,"
    "\"limit\":8.0,\"cut_units\":90.0,\"cut_allowance\":4.0,\"cut_hidden\":52.0,\"reach\":256.0,\"limit_counts\":\"rows\",\"limit_chosen\":\"typed\","
    "\"true_if_cut\":\"higher\",\"clamps\":true,\"clamp_low\":0.0,\"clamp_high\":9.0}],"
    "\"rows\":[[\"a\\u0000b\",12,0.1,5,7],[null,-3,true,6,8]],"
    "\"row_error_95\":[[null,3.5,0.5,2.0,2.0],[null,3.5,null,2.0,2.0]],"
    "\"rows_interval_95\":[[null,null,[0,2.5],null,null],"
    "[null,null,[\"2024-01-01\",9007199254740993],null,null]],\"near_threshold\":[false,true],"
    "\"cost\":{\"epsilon\":0.5,\"delta\":1e-9,\"rho\":null},\"events\":[{\"measure\":\"rows\"}],"
    "\"delta_by_default\":true,\"threshold\":31}";

static brume_error error;

static json_t *parse(const char *text)
{
    json_t *json = json_loads(text, JSON_ALLOW_NUL, NULL);
    assert_non_null(json);
    return json;
}

static void a_record_reads_back_as_it_was(void **state)
{
    (void)state;
    json_t *before = parse(record), *after = NULL;
    brume_query_answer *answer = NULL;
    assert_ok(brume_query_answer_recorded(before, &answer, &error));
    assert_int_equal(answer->column_count, 5);
    assert_int_equal(answer->row_count, 2);
    assert_true(answer->columns[0].is_key);
    assert_int_equal(answer->values[0].length, 3);
    assert_true(isnan(answer->columns[1].bias.clamped));
    assert_true(answer->columns[1].bias.cut == 4);
    assert_int_equal(answer->columns[1].threshold, -1);
    assert_int_equal(answer->columns[2].threshold, 40);
    assert_true(answer->errors[3] == 2 && isnan(brume_query_answer_bar(answer, 3)));
    assert_true(brume_query_answer_bar(answer, 1) == 3.5);
    assert_true(isnan(answer->columns[3].cut_hidden) && answer->columns[4].cut_hidden == 52);
    assert_true(brume_query_answer_bar(answer, 4) ==
                6); /* the bar stays, and says what it is not */
    const brume_value *ends = brume_query_answer_interval(answer, 2);
    assert_true(ends[0].number == 0 && ends[1].number == 2.5);
    assert_string_equal(brume_query_answer_interval(answer, 7)[0].text, "2024-01-01");
    assert_null(brume_query_answer_interval(answer, 1));
    assert_ok(brume_query_answer_record(answer, &after, &error));
    assert_true(json_equal(before, after));
    json_decref(after);
    /* An answer that is shown has what is left, and says whether it was read again. */
    answer->remaining = (brume_answer_price){true, 0.25, 0};
    answer->cached = true;
    assert_ok(brume_query_answer_to_json(answer, &after, &error));
    json_object_set_new(before, "cached", json_true());
    json_object_set_new(before, "as_of", json_null()); /* nothing was read */
    assert_true(json_array_size(json_object_get(after, "notes")) > 0);
    json_object_del(after, "rows_bar_95");
    for (size_t i = 1; i < 5; i++) {
        json_t *column = json_array_get(json_object_get(after, "columns"), i);
        assert_true(json_object_get(column, "bar_95") != NULL);
        assert_int_equal(json_is_null(json_object_get(column, "bar_95")),
                         json_is_string(json_object_get(column, "bar_why")));
        json_object_del(column, "bar_95");
        json_object_del(column, "bar_why");
    }
    json_object_del(after, "notes"); /* test_notes.c */
    json_object_set_new(before, "remaining",
                        parse("{\"epsilon\":null,\"delta\":0.0,\"rho\":0.25}"));
    assert_true(json_equal(before, after));
    json_decref(after);
    json_decref(before);
    brume_query_answer_close(answer);
}

/* Errors that are the same in all rows are recorded with their column only. */
static void errors_that_do_not_vary_come_from_their_columns(void **state)
{
    (void)state;
    json_t *json = parse(record);
    brume_query_answer *answer = NULL;
    json_object_del(json, "row_error_95");
    assert_ok(brume_query_answer_recorded(json, &answer, &error));
    assert_false(answer->errors_vary);
    assert_true(answer->errors[1] == 3.5 && answer->errors[6] == 3.5);
    assert_true(isnan(answer->errors[0]) && isnan(answer->errors[2]));
    brume_query_answer_close(answer);
    json_decref(json);
}

static void what_is_no_record_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{}",
        "[]",
        "{\"columns\":{},\"rows\":[]}",
        "{\"columns\":[],\"rows\":3}",
        "{\"columns\":[{\"name\":\"n\"}],\"rows\":[]}",
        "{\"columns\":[{\"role\":\"key\"}],\"rows\":[]}",
        "{\"columns\":[{\"name\":\"n\",\"role\":\"key\"}],\"rows\":[[]]}",
        "{\"columns\":[{\"name\":\"n\",\"role\":\"key\"}],\"rows\":[[1,2]]}",
        "{\"columns\":[{\"name\":\"n\",\"role\":\"key\"}],\"rows\":[1]}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_t *json = parse(bad[i]);
        brume_query_answer *answer = NULL;
        assert_fails(brume_query_answer_recorded(json, &answer, &error), BRUME_EDAMAGED);
        assert_null(answer);
        json_decref(json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_reads_back_as_it_was),
        cmocka_unit_test(errors_that_do_not_vary_come_from_their_columns),
        cmocka_unit_test(what_is_no_record_is_refused),
    };
    return cmocka_run_group_tests_name("answers as JSON", tests, NULL, NULL);
}
