/* Memory that runs out at any allocation of a call's options and of its rows is an error, EMEMORY,
 * and nothing else. */
#include <stdbool.h>
#include <stdlib.h>

#include "check.h"
#include "command/frame/call.h"
#include "session/arrow_stream.h"

#if defined(__SANITIZE_ADDRESS__)
static const bool failing_works = false;
static long left = -1;
#else
/* glibc's own, under the names it exports for replacements */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static const bool failing_works = true;
static volatile long left = -1; /* so many more succeed; negative: all */

static bool fails(void)
{
    return left >= 0 && left-- == 0;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails() ? NULL : __libc_realloc(memory, size);
}
#endif

/* Fail at the first allocation, the second ..., until one time none is left to fail. */
static void fail_everywhere(brume_status (*run)(void *context, brume_error *error), void *context)
{
    int failures = 0;
    brume_error error = {0};
    assert_ok(run(context, &error)); /* what libc allocates once */
    for (long after = 0; failing_works; after++) {
        error = (brume_error){0};
        left = after;
        brume_status status = run(context, &error);
        bool over = left >= 0;
        left = -1;
        if (over) {
            assert_int_equal(status, BRUME_OK);
            break;
        }
        assert_int_equal(status, BRUME_EMEMORY);
        assert_int_equal(error.status, BRUME_EMEMORY);
        failures++;
    }
    assert_true(failures > 5 || !failing_works);
}

static brume_status read_options(void *context, brume_error *error)
{
    brume_call call = {0};
    brume_status status =
        brume_call_from_json(brume_command_by_name("register"), context, &call, error);
    if (status == BRUME_OK)
        assert_string_equal(brume_call_text(&call, "budget"), "epsilon=1,delta=1e-06");
    brume_call_close(&call);
    return status;
}

static void options_that_do_not_fit_are_an_error(void **state)
{
    (void)state;
    json_t *options = json_pack("{s:s,s:s,s:s,s:{s:i,s:f},s:{s:[s,s],s:s},s:[s,s]}", "name",
                                "people", "source", "people.csv", "unit", "person", "budget",
                                "epsilon", 1, "delta", 1e-6, "domain", "town", "Ulm", "Bonn",
                                "street", "x", "bounds", "age=0..1", "income=2..3");
    assert_non_null(options);
    fail_everywhere(read_options, options);
    json_decref(options);
}

static brume_status make_rows(void *context, brume_error *error)
{
    struct ArrowArrayStream stream = {0};
    BRUME_TRY(brume_arrow_stream(context, &stream, error));
    struct ArrowSchema schema;
    struct ArrowArray batch;
    int failed = stream.get_schema(&stream, &schema);
    if (!failed)
        schema.release(&schema);
    if (stream.get_next(&stream, &batch) == 0)
        batch.release(&batch);
    stream.release(&stream);
    return failed ? brume_fail(error, BRUME_EMEMORY, NULL, "the schema") : BRUME_OK;
}

static void rows_that_do_not_fit_are_an_error(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_query_answer *answer = NULL;
    assert_ok(brume_query_answer_open(2, 3, &answer, &error));
    for (size_t c = 0; c < 2; c++) {
        free(answer->columns[c].name);
        answer->columns[c].name = strdup(c ? "n" : "town");
        answer->columns[c].is_key = c == 0;
    }
    for (size_t r = 0; r < 2; r++) { /* the third row is NULL */
        brume_value town = {.kind = BRUME_VALUE_TEXT, .text = "Ulm", .length = 3};
        brume_value n = {.kind = BRUME_VALUE_NUMBER, .number = 3};
        assert_ok(brume_query_answer_set(answer, r, 0, &town, &error));
        assert_ok(brume_query_answer_set(answer, r, 1, &n, &error));
    }
    fail_everywhere(make_rows, answer);
    brume_query_answer_close(answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_that_do_not_fit_are_an_error),
        cmocka_unit_test(rows_that_do_not_fit_are_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
