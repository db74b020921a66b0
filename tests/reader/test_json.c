/* JSON lines: every short line against another parser; decoding; lines of every nastiness. */
#include "check.h"

#include <stdlib.h>

#include <jansson.h>

#include "reader/find.h"
#include "reader/text_files.h"
#include "rows_of.h"

static const brume_text names[] = {{"a", 1}, {"b", 1}};
static brume_text found[2][1];
static brume_text *targets[] = {found[0], found[1]};
static const brume_json_splitter splitter = {2, names, targets};

/* Read a line that is followed by another one. */
static void split(const char *line, size_t length, char *room)
{
    memcpy(room, line, length);
    strcpy(room + length, "\n{\"a\":\"of the next line\"}\n");
    memset(room + length + strlen(room + length), 0, BRUME_FIND_PADDING);
    char *end = brume_json_split(&splitter, room, 0);
    assert_int_equal(end - room, length + 1); /* neither less nor more than the line */
}

static void text_of(const json_t *value, char *out, size_t room)
{
    if (json_is_string(value))
        snprintf(out, room, "%s", json_string_value(value));
    else if (json_is_integer(value))
        snprintf(out, room, "%lld", (long long)json_integer_value(value));
    else if (json_is_boolean(value))
        snprintf(out, room, "%s", json_is_true(value) ? "true" : "false");
    else
        snprintf(out, room, "~");
}

static void compare(const char *line, size_t length)
{
    char room[128], expected[64];
    json_t *json = json_loadb(line, length, 0, NULL);
    split(line, length, room);
    for (size_t i = 0; i < 2; i++) {
        text_of(json_is_object(json) ? json_object_get(json, names[i].data) : NULL, expected,
                sizeof expected);
        brume_text text = found[i][0].data ? found[i][0] : (brume_text){"~", 1};
        if (text.length != strlen(expected) || memcmp(text.data, expected, text.length) != 0)
            fail_msg("%.*s: '%.*s', expected '%s'", (int)length, line, (int)text.length, text.data,
                     expected);
    }
    json_decref(json);
}

static void every_short_line_is_read_as_another_parser_reads_it(void **state)
{
    (void)state;
    static const char bytes[] = "{}[]:,\"ab1 \\";
    static const char *const frames[][2] = {
        {"", ""}, {"{\"a\":", "}"}, {"{\"b\":[1,", "]}"}, {"{\"a\":\"x\",", "\"b\":2}"}};
    enum { BYTES = sizeof bytes - 1, MOST = 4 };
    for (size_t frame = 0; frame < 4; frame++)
        for (size_t length = 0, total = 1; length <= MOST; length++, total *= BYTES)
            for (size_t number = 0; number < total; number++) {
                char line[64];
                size_t used = strlen(frames[frame][0]);
                memcpy(line, frames[frame][0], used);
                for (size_t i = 0, rest = number; i < length; i++, rest /= BYTES)
                    line[used++] = bytes[rest % BYTES];
                strcpy(line + used, frames[frame][1]);
                compare(line, strlen(line));
            }
}

/* In place of NULL: the row's fields are NULL. */
static void expect(const char *line, const char *a)
{
    char room[512];
    split(line, strlen(line), room);
    if (!a) {
        if (found[0][0].data)
            fail_msg("%s: '%.*s', expected NULL", line, (int)found[0][0].length, found[0][0].data);
        return;
    }
    if (!found[0][0].data || found[0][0].length != strlen(a) ||
        memcmp(found[0][0].data, a, strlen(a)) != 0)
        fail_msg("%s: '%.*s', expected '%s'", line, (int)found[0][0].length,
                 found[0][0].data ? found[0][0].data : "", a);
}

static void values_are_decoded_and_what_is_none_is_null(void **state)
{
    (void)state;
    expect("{\"a\":\"x\\n\\\"\\\\\\/\\t\\r\\b\\f\"}", "x\n\"\\/\t\r\b\f");
    expect("{\"a\":\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"}",
           "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    expect("{\"\\u0061\":5}", "5");
    expect("{\"a\":\"\"}", "");
    expect("{\"a\":null}", NULL);
    expect("{\"a\":\"\\u0000\"}", NULL);
    expect("{\"a\":\"\\ud83d\"}", NULL);
    expect("{\"a\":\"\\ude00\\ud83d\"}", NULL);
    expect("{\"a\":\"\\ud83dx\"}", NULL);
    expect("{\"a\":{\"a\":1}}", NULL);
    expect("{\"a\":[1,2]}", NULL);
    expect("{\"a\":1,\"a\":2}", "2");
    expect("{\"a\":1,\"a\":[]}", NULL);
    expect("{\"b\":{\"a\":3},\"a\":4}", "4");
    expect(" {\t\"a\" : -0.5e+07 } \r", "-0.5e+07");
    expect("{\"a\":true}", "true");
    expect("{\"A\":1}", NULL);
    static const char *const broken[] = {"",
                                         "{",
                                         "{\"a\":1",
                                         "{\"a\":1}}",
                                         "{\"a\":1} x",
                                         "[{\"a\":1}]",
                                         "{\"a\":01}",
                                         "{\"a\":1.}",
                                         "{\"a\":.5}",
                                         "{\"a\":+1}",
                                         "{\"a\":1e}",
                                         "{\"a\":-}",
                                         "{a:1}",
                                         "{'a':1}",
                                         "{\"a\":1,}",
                                         "{,}",
                                         "{\"a\":nul}",
                                         "{\"a\":NaN}",
                                         "{\"a\":\"\t\"}",
                                         "{\"a\":\"\\x\"}",
                                         "{\"a\":\"\\u12\"}",
                                         "{\"a\" 1}",
                                         "{\"a\":[1,]}",
                                         "{\"a\":1 \"b\":2}",
                                         "{\"a\":\"x\\ny\",",
                                         "\xef\xbb\xbf{\"a\":1}",
                                         "null",
                                         "1",
                                         "\"a\"",
                                         "{\"id\":101,\"a\":"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        expect(broken[i], NULL);
}

static void deep_nesting_ends_at_1024_and_long_lines_take_linear_time(void **state)
{
    (void)state;
    enum { LONG = 40 << 20 };
    char *room = malloc(LONG + 200);
    assert_non_null(room);
    for (int depth = 1000; depth <= 1050; depth++) {
        size_t used = (size_t)sprintf(room, "{\"a\":7,\"c\":");
        memset(room + used, '[', (size_t)depth);
        used += (size_t)depth;
        memset(room + used, ']', (size_t)depth);
        used += (size_t)depth;
        used += (size_t)sprintf(room + used, "}\n");
        memset(room + used, 0, BRUME_FIND_PADDING);
        assert_true(brume_json_split(&splitter, room, 0) == room + used);
        assert_int_equal(found[0][0].data != NULL, depth + 1 <= 1024);
    }
    static const char fills[] = {'[', '"', ',', 'x', '{', ' ', '\\', '1'};
    for (size_t i = 0; i < sizeof fills; i++) {
        size_t used = (size_t)sprintf(room, "{\"a\":7,\"c\":\"");
        memset(room + used, fills[i], LONG);
        used += LONG;
        used += (size_t)sprintf(room + used, "\"}\n");
        memset(room + used, 0, BRUME_FIND_PADDING);
        assert_true(brume_json_split(&splitter, room, 0) == room + used);
        assert_int_equal(found[0][0].data != NULL, fills[i] != '"');
    }
    free(room);
}

static void a_file_of_lines_is_read_however_it_is_cut(void **state)
{
    (void)state;
    static const brume_reader_column columns[] = {{"a", {BRUME_TYPE_TEXT, 0, 0}},
                                                  {"b", {BRUME_TYPE_TEXT, 0, 0}}};
    static const char text[] =
        "\xef\xbb\xbf{\"a\":1}\n{\"b\":\"x\\ny\"\n\n\xef\xbb\xbf{\"b\":\"x\\ny\"}\r\n"
        "{\"a\":\"\xff\",\"b\":2}\n{\"a\":3";
    static const char expected[] = "1\1~\1\2~\1~\1\2~\1~\1\2~\1x\ny\1\2~\1"
                                   "2\1\2~\1~\1\2";
    memory_file file;
    const char *const paths[] = {file.path};
    memory_file_open(&file);
    memory_file_write(&file, text, sizeof text - 1);
    for (size_t part_bytes = 1; part_bytes < 80; part_bytes++) {
        char rows[400];
        brume_text_table table = {.paths = paths,
                                  .path_count = 1,
                                  .named = "test",
                                  .json = true,
                                  .format = {',', '"', true, false},
                                  .columns = columns,
                                  .column_count = 2,
                                  .part_bytes = part_bytes};
        rows_of(&table, (size_t[]){0, 1}, 2, rows, sizeof rows);
        assert_string_equal(rows, expected);
    }
    memory_file_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_short_line_is_read_as_another_parser_reads_it),
        cmocka_unit_test(values_are_decoded_and_what_is_none_is_null),
        cmocka_unit_test(deep_nesting_ends_at_1024_and_long_lines_take_linear_time),
        cmocka_unit_test(a_file_of_lines_is_read_however_it_is_cut),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
