/* Engines over files: how they are described, recorded and read again, and what is refused at
 * registration. */
#include "check.h"
#include "columns.h"

#include <stdlib.h>
#include <unistd.h>

#include "engine/engine.h"
#include "sources.h"

static void a_csv_is_described_and_read_with_nulls_and_text(void **state)
{
    (void)state;
    write_file("visits.csv", "who,age,cost,day,note\n1,30,2.5,2020-01-02,a\n2,,7.25,2020-01-03,\"b,"
                             "c\"\n3,50,,2020-02-29,\n");
    brume_engine *engine =
        open_declared(path_of("visits.csv"), "day date, who bigint, cost double");
    brume_description found = {0};
    static const char *const natives[] = {"bigint", "text", "double", "date", "text"};
    assert_ok(brume_engine_describe(engine, 0, &found, &error));
    assert_int_equal(found.column_count, 5);
    assert_string_equal(found.columns[0].name, "who");
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(found.columns[i].native, natives[i]);
        assert_int_equal(found.columns[i].leaf, BRUME_LEAF_PLAIN);
    }
    assert_string_equal(found.options, "{\"delimiter\":\",\",\"header\":true,"
                                       "\"multiline\":false,\"quote\":\"\\\"\"}");
    assert_true(strncmp(found.identity, "file:/", 6) == 0);

    char sql[256];
    snprintf(sql, sizeof sql, "SELECT who, cost, note FROM %s ORDER BY who",
             brume_engine_table(engine, 0));
    const brume_wire wires[] = {BRUME_WIRE_INTEGER, BRUME_WIRE_REAL, BRUME_WIRE_TEXT};
    brume_rows *rows = NULL;
    assert_ok(brume_engine_select(engine, sql, wires, 3, &rows, &error));
    const brume_chunk *chunk = NULL;
    assert_ok(brume_rows_next(rows, &chunk, &error));
    assert_non_null(chunk);
    assert_int_equal(chunk->row_count, 3);
    assert_int_equal(chunk->columns[0].integers[2], 3);
    assert_true(chunk->columns[1].reals[1] == 7.25);
    assert_true(brume_chunk_is_null(&chunk->columns[1], 2));
    assert_int_equal(chunk->columns[2].texts[1].length, 3);
    assert_memory_equal(chunk->columns[2].texts[1].data, "b,c", 3);
    assert_true(brume_chunk_is_null(&chunk->columns[2], 2));
    assert_ok(brume_rows_next(rows, &chunk, &error));
    assert_null(chunk);
    brume_rows_close(rows);
    brume_description_clear(&found);
    brume_engine_close(engine);
}

static void a_recorded_csv_keeps_its_types_and_every_line_is_a_row(void **state)
{
    (void)state;
    write_file("pinned.csv", "who,age\n1,30\n2,40\n");
    brume_engine *engine = open_declared(path_of("pinned.csv"), "who bigint, age bigint");
    brume_description found = {0};
    assert_ok(brume_engine_describe(engine, 0, &found, &error));
    brume_engine_close(engine);
    /* Rows that are no numbers, are short or long, or are not UTF-8. */
    write_file("pinned.csv", "who,age\n1,30\nx,40\n3\n4,50,9\n5,60\n\xff\xfe,3\n7,\n\n\"8,1\n");
    brume_source source = {.location = path_of("pinned.csv"),
                           .options = found.options,
                           .columns = found.columns,
                           .column_count = found.column_count};
    assert_ok(brume_engine_open(&source, 1, &engine, &error));
    int64_t total;
    size_t count;
    assert_ok(sum(engine, "SELECT age FROM memory.main.source_0 WHERE who > 0", &total, &count));
    assert_int_equal(total, 140);
    assert_int_equal(count, 5);
    assert_ok(sum(engine, "SELECT age FROM memory.main.source_0", &total, &count));
    assert_int_equal(total, 183);
    assert_int_equal(count, 9);
    assert_ok(sum(engine, "SELECT count(*) FROM memory.main.source_0", &total, &count));
    assert_int_equal(total, 9);
    brume_engine_close(engine);
    /* A header only is a table without rows. */
    write_file("pinned.csv", "who,age\n");
    assert_ok(brume_engine_open(&source, 1, &engine, &error));
    assert_ok(sum(engine, "SELECT age FROM memory.main.source_0", &total, &count));
    assert_int_equal(count, 0);
    brume_engine_close(engine);
    /* Gone. */
    unlink(source.location);
    assert_fails(brume_engine_open(&source, 1, &engine, &error), BRUME_ESOURCE);
    brume_description_clear(&found);
}

static void a_value_that_is_quoted_only_later_is_still_one_value(void **state)
{
    (void)state;
    write_file("later.csv", "who,note\n1,a\n2,b\n");
    brume_engine *engine = open_declared(path_of("later.csv"), "who bigint");
    brume_description description;
    assert_ok(brume_engine_describe(engine, 0, &description, &error));
    brume_engine_close(engine);
    write_file("later.csv", "who,note\n1,a\n2,\"b, c\"\n4,\"d\"\n");
    brume_source source = {.location = path_of("later.csv"),
                           .options = description.options,
                           .columns = description.columns,
                           .column_count = description.column_count};
    engine = NULL;
    assert_ok(brume_engine_open(&source, 1, &engine, &error));
    int64_t total = 0;
    size_t count = 0;
    char sql[200];
    snprintf(sql, sizeof sql, "SELECT who FROM %s WHERE note IN ('a', 'b, c', 'd')",
             brume_engine_table(engine, 0));
    assert_ok(sum(engine, sql, &total, &count));
    assert_int_equal(count, 3);
    assert_int_equal(total, 7);
    brume_engine_close(engine);
    brume_description_clear(&description);
}

/* Open the source as it was described when `then` held; its status when it holds `now`. */
static brume_status reopen(const char *name, const char *then, const char *now)
{
    write_file(name, then);
    brume_engine *engine = open_declared(path_of(name), NULL);
    brume_description description;
    assert_ok(brume_engine_describe(engine, 0, &description, &error));
    brume_engine_close(engine);
    write_file(name, now);
    brume_source source = {.location = path_of(name),
                           .options = description.options,
                           .columns = description.columns,
                           .column_count = description.column_count};
    engine = NULL;
    brume_status status = brume_engine_open(&source, 1, &engine, &error);
    brume_engine_close(engine);
    brume_description_clear(&description);
    return status;
}

static void a_recorded_csv_with_another_header_is_refused_whatever_its_rows(void **state)
{
    (void)state;
    static const char *const others[] = {
        "age,who\n", "who\n",         "who,age,more\n", "who,agE\n",     "who,height\n",
        "who;age\n", "\"who,age\"\n", "who,age\"x\"\n", "column1,age\n",
    };
    static const char *const rows[] = {"", "1,30\n2,40\n", "x\n\n,,,,\n"};
    const char *then = "who,age\n1,30\n2,40\n3,50\n";
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        for (size_t j = 0; j < 3; j++) {
            char now[128];
            snprintf(now, sizeof now, "%s%s", others[i], rows[j]);
            if (reopen("header.csv", then, now) != BRUME_ESOURCE)
                fail_msg("read with the header %s", others[i]);
            assert_non_null(strstr(error.message, "other columns than recorded"));
        }
    assert_fails(reopen("header.csv", then, "who,\"age\n1,30\n"), BRUME_ESOURCE);
    assert_fails(reopen("header.csv", then, ""), BRUME_ESOURCE);
}

static void a_recorded_csv_with_its_header_is_read_however_it_is_written(void **state)
{
    (void)state;
    static const char *const kept[] = {
        "who,age\n1,30\n2,40\n",
        "\"who\",\"the \"\"age\"\", now\"\n1,30\n2,40\n",
        "who, age \n1,30\n2,40\n",
        ",who\n1,30\n2,40\n",
        "who;age\n1;30\n2;40\n",
        "who,,age\n1,30,5\n2,40,6\n",
        "\xEF\xBB\xBFwho,age\n1,30\n2,40\n",
        "who,age\r\n1,30\r\n2,40\r\n",
        "who;age\n1;30\n2;40\n",
        "who\tage\n1\t30\n2\t40\n",
        "who|\"a|b\"\n1|30\n2|40\n",
        "1,30\n2,40\n",
        "\xC3\xA2ge,\xE5\x90\x8D\n1,30\n2,40\n",
    };
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (reopen("header.csv", kept[i], kept[i]) != BRUME_OK)
            fail_msg("refused: %s", kept[i]);
    assert_ok(reopen("header.csv", "who,age\n1,30\n2,40\n", "\"who\",age\r\n"));
    assert_ok(reopen("header.csv", "who,age\n1,30\n2,40\n", "who,age"));
}

static void every_file_of_a_glob_and_a_compressed_file_have_their_header_checked(void **state)
{
    (void)state;
    char command[400];
    brume_engine *engine = NULL;
    write_file("many1.csv", "who,age\n1,30\n2,50\n");
    write_file("many2.csv", "who,age\n2,50\n3,50\n");
    snprintf(command, sizeof command, "gzip -k '%s'", path_of("many1.csv"));
    assert_int_equal(system(command), 0);
    const char *const places[] = {path_of("many?.csv"), path_of("many1.csv.gz")};
    brume_description descriptions[2];
    for (int i = 0; i < 2; i++) {
        engine = open_declared(places[i], NULL);
        assert_ok(brume_engine_describe(engine, 0, &descriptions[i], &error));
        brume_engine_close(engine);
    }
    for (int changed = 0; changed < 2; changed++) {
        for (int i = 0; i < 2; i++) {
            brume_source source = {.location = places[i],
                                   .options = descriptions[i].options,
                                   .columns = descriptions[i].columns,
                                   .column_count = descriptions[i].column_count};
            engine = NULL;
            brume_status status = brume_engine_open(&source, 1, &engine, &error);
            assert_int_equal(status, changed ? BRUME_ESOURCE : BRUME_OK);
            brume_engine_close(engine);
        }
        write_file("many2.csv", "age,who\n50,2\n");
        snprintf(command, sizeof command, "gzip -fk '%s' && mv '%s' '%s'", path_of("many2.csv"),
                 path_of("many2.csv.gz"), path_of("many1.csv.gz"));
        assert_int_equal(system(command), 0);
    }
    brume_description_clear(&descriptions[0]);
    brume_description_clear(&descriptions[1]);
}

static void parquet_and_json_globs_are_read_and_a_changed_schema_is_refused(void **state)
{
    (void)state;
    write_file("lines.json", "{\"who\":1,\"age\":30}\n{\"who\":2,\"age\":40}\n");
    brume_engine *engine = open_declared(path_of("lines.json"), "who bigint, age bigint");
    int64_t total;
    size_t count;
    assert_ok(sum(engine, "SELECT age FROM memory.main.source_0", &total, &count));
    assert_int_equal(total, 70);
    brume_engine_close(engine);
    write_file("part1.csv", "who,age\n1,30\n");
    write_file("part2.csv", "who,age\n2,50\n");
    engine = open_declared(path_of("part*.csv"), "age bigint");
    assert_ok(sum(engine, "SELECT age FROM memory.main.source_0", &total, &count));
    assert_int_equal(total, 80);
    brume_description found = {0};
    assert_ok(brume_engine_describe(engine, 0, &found, &error));
    assert_true(strncmp(found.identity, "glob:/", 6) == 0);
    brume_description_clear(&found);
    brume_engine_close(engine);
    write_file("broken.parquet", "this is not parquet");
    brume_source source = {.location = path_of("broken.parquet")};
    assert_fails(brume_engine_open(&source, 1, &engine, &error), BRUME_ESOURCE);
    assert_null(strstr(error.message, "magic"));
    write_parquet("SELECT 1::BIGINT AS who, 30::INTEGER AS age", path_of("table.parquet"));
    engine = open_one(path_of("table.parquet"), NULL);
    assert_ok(brume_engine_describe(engine, 0, &found, &error));
    brume_engine_close(engine);
    source = (brume_source){.location = path_of("table.parquet"),
                            .options = found.options,
                            .columns = found.columns,
                            .column_count = found.column_count};
    assert_ok(brume_engine_open(&source, 1, &engine, &error));
    brume_engine_close(engine);
    write_parquet("SELECT 1::BIGINT AS who, 30::BIGINT AS age", source.location);
    assert_fails(brume_engine_open(&source, 1, &engine, &error), BRUME_ESOURCE);
    write_parquet("SELECT 1::BIGINT AS who", source.location);
    assert_fails(brume_engine_open(&source, 1, &engine, &error), BRUME_ESOURCE);
    brume_description_clear(&found);
    brume_source other = {.location = path_of("no-such-file.parquet")};
    assert_fails(brume_engine_open(&other, 1, &engine, &error), BRUME_ESOURCE);
    other.location = "https://example.org/x.parquet";
    assert_fails(brume_engine_open(&other, 1, &engine, &error), BRUME_EARGUMENT);
    other.location = path_of("visits.txt");
    assert_fails(brume_engine_open(&other, 1, &engine, &error), BRUME_EARGUMENT);
}

/* The status of opening a file at registration. */
static brume_status register_file(const char *name, const char *text, const char *options,
                                  const char *declared)
{
    declared_columns read;
    columns_read(declared, &read);
    write_file(name, text);
    brume_source source = columns_source(path_of(name), &read);
    source.options = options;
    brume_engine *engine = NULL;
    brume_status status = brume_engine_open(&source, 1, &engine, &error);
    brume_engine_close(engine);
    return status;
}

static void declared_columns_must_fit_the_file(void **state)
{
    (void)state;
    static const char *const no_header =
        "{\"delimiter\":\",\",\"quote\":\"\",\"header\":false,\"multiline\":false}";
    const char *text = "who,age,\n1,30,2\n";
    assert_ok(register_file("new.csv", text, NULL, NULL));
    assert_ok(register_file("new.csv", text, NULL, "age integer, column3 bigint"));
    assert_fails(register_file("new.csv", text, NULL, "agee integer"), BRUME_EARGUMENT);
    assert_non_null(strstr(error.message, "'agee'"));
    assert_non_null(strstr(error.hint, "'age'"));
    assert_fails(register_file("new.csv", text, NULL, "age integer, age bigint"), BRUME_EARGUMENT);
    assert_fails(register_file("new.csv", "a,b,A\n", NULL, NULL), BRUME_ESOURCE);
    assert_fails(register_file("new.csv", "column2,\n", NULL, NULL), BRUME_ESOURCE);
    assert_fails(register_file("new.csv", "", NULL, NULL), BRUME_ESOURCE);
    assert_fails(register_file("new.csv", "a,\"b\n", NULL, NULL), BRUME_ESOURCE);
    assert_fails(register_file("new.csv", "a,\xff\n", NULL, NULL), BRUME_ESOURCE);
    assert_fails(register_file("new.csv", text, no_header, NULL), BRUME_EARGUMENT);
    assert_ok(register_file("new.csv", text, no_header, "a text, b text"));
    assert_ok(register_file("new.csv", "", no_header, "a text, b text"));
    assert_fails(register_file("new.json", "{\"who\":1}\n", NULL, NULL), BRUME_EARGUMENT);
    assert_ok(register_file("new.json", "", NULL, "who bigint"));
    assert_fails(register_file("new.csv", text, "{\"delimiter\":\"\"}", NULL), BRUME_EARGUMENT);
    assert_fails(register_file("new.csv", text, ", delim = ','", NULL), BRUME_ESOURCE);
    assert_non_null(strstr(error.hint, "brume amend NAME --columns"));
}

static void a_glob_of_files_with_different_columns_is_not_registered(void **state)
{
    (void)state;
    static const char *const headers[] = {"age,who\n30,1\n", "1,30\n2,40\n",
                                          "who,age,more\n1,2,3\n", "report\nwho,age\n1,30\n", ""};
    brume_source source = {.location = path_of("mixed?.csv")};
    brume_engine *engine = NULL;
    write_file("mixed1.csv", "who,age\n1,30\n2,50\n");
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        write_file("mixed2.csv", headers[i]);
        assert_fails(brume_engine_open(&source, 1, &engine, &error), BRUME_ESOURCE);
    }
    write_file("mixed2.csv", "who,age\n");
    assert_ok(brume_engine_open(&source, 1, &engine, &error));
    brume_engine_close(engine);
    char location[160];
    snprintf(location, sizeof location, "%s/mixed?.parquet", folder);
    source.location = location;
    write_parquet("SELECT 1::BIGINT AS who, 30::INTEGER AS age", path_of("mixed1.parquet"));
    static const char *const selects[] = {"SELECT 1::BIGINT AS who, '30' AS age",
                                          "SELECT 1::BIGINT AS who",
                                          "SELECT 1::BIGINT AS who, 3::INTEGER AS age, 1 AS more"};
    for (size_t i = 0; i < sizeof selects / sizeof *selects; i++) {
        write_parquet(selects[i], path_of("mixed2.parquet"));
        assert_fails(brume_engine_open(&source, 1, &engine, &error), BRUME_ESOURCE);
        assert_null(strstr(error.message, "mixed2"));
    }
    write_parquet("SELECT 40::INTEGER AS age, 1::BIGINT AS who", path_of("mixed2.parquet"));
    assert_ok(brume_engine_open(&source, 1, &engine, &error)); /* columns are found by name */
    int64_t total;
    size_t count;
    assert_ok(sum(engine, "SELECT age::BIGINT FROM memory.main.source_0", &total, &count));
    assert_int_equal(total, 70);
    brume_engine_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_csv_is_described_and_read_with_nulls_and_text),
        cmocka_unit_test(a_recorded_csv_keeps_its_types_and_every_line_is_a_row),
        cmocka_unit_test(a_value_that_is_quoted_only_later_is_still_one_value),
        cmocka_unit_test(a_recorded_csv_with_another_header_is_refused_whatever_its_rows),
        cmocka_unit_test(a_recorded_csv_with_its_header_is_read_however_it_is_written),
        cmocka_unit_test(every_file_of_a_glob_and_a_compressed_file_have_their_header_checked),
        cmocka_unit_test(parquet_and_json_globs_are_read_and_a_changed_schema_is_refused),
        cmocka_unit_test(declared_columns_must_fit_the_file),
        cmocka_unit_test(a_glob_of_files_with_different_columns_is_not_registered),
    };
    return cmocka_run_group_tests_name("files", tests, make_folder, remove_folder);
}
