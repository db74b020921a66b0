/* By which marks a source is known: two names of the same data share one, different data none. */
#include "check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/engine.h"
#include "postgresql.h"

static char folder[64];
static brume_error error;

static const char *path_of(const char *name)
{
    static char path[8][256];
    static int turn;
    turn = (turn + 1) % 8;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void write_rows(const char *name, int first, int count)
{
    FILE *file = fopen(path_of(name), "w");
    assert_non_null(file);
    fputs("who,age\n", file);
    for (int i = 0; i < count; i++)
        fprintf(file, "%07d,%02d\n", first + i, i % 90);
    assert_int_equal(fclose(file), 0);
}

static brume_marks marks_of(const char *location, const char *table, bool contents)
{
    static char name[] = "who";
    const brume_column who = {.name = name, .type = {BRUME_TYPE_BIGINT, 0, 0}};
    brume_source source = {.location = location, .table = table};
    brume_engine *engine = NULL;
    brume_marks marks = {0};
    if (strstr(location, ".json")) { /* which has no header */
        source.declared = &who;
        source.declared_count = 1;
    }
    assert_ok(brume_engine_open(&source, 1, &engine, &error));
    assert_ok(brume_engine_marks(engine, 0, contents, &marks, &error));
    brume_engine_close(engine);
    return marks;
}

/* How many marks of that kind both have. */
static size_t shared(const char *kind, const char *one, const char *table, const char *other,
                     const char *other_table)
{
    brume_marks a = marks_of(one, table, true), b = marks_of(other, other_table, true);
    size_t count = 0;
    for (size_t i = a.whole_count; i < a.count; i++)
        for (size_t j = b.whole_count; j < b.count; j++)
            count += strncmp(a.texts[i], kind, strlen(kind)) == 0 &&
                     strcmp(a.texts[i], b.texts[j]) == 0;
    brume_marks_clear(&a);
    brume_marks_clear(&b);
    return count;
}

static size_t shared_files(const char *kind, const char *one, const char *other)
{
    return shared(kind, path_of(one), NULL, path_of(other), NULL);
}

static void another_name_of_a_file_shares_a_mark_with_it(void **state)
{
    (void)state;
    write_rows("visits.csv", 0, 50);
    write_rows("others.csv", 1000, 50); /* of the same size */
    assert_int_equal(shared_files("", "visits.csv", "others.csv"), 0);
    assert_int_equal(shared_files("", "visits.csv", "visits.csv"), 3);
    assert_int_equal(link(path_of("visits.csv"), path_of("hard.csv")), 0);
    assert_int_equal(shared_files("inode:", "visits.csv", "hard.csv"), 1);
    assert_int_equal(symlink(path_of("visits.csv"), path_of("soft.csv")), 0);
    assert_int_equal(shared_files("path:", "visits.csv", "soft.csv"), 1);
    write_rows("copy.csv", 0, 50);
    assert_int_equal(shared_files("contents:", "visits.csv", "copy.csv"), 1);
    assert_int_equal(shared_files("", "visits.csv", "copy.csv"), 1);
    assert_int_equal(shared_files("path:", "visits.csv", "visit?.csv"), 1);
    assert_int_equal(shared_files("path:", "[vo]*s.csv", "o*.csv"), 1);
}

static void a_renamed_file_keeps_a_mark_and_a_new_one_of_its_name_has_other_contents(void **state)
{
    (void)state;
    write_rows("old.csv", 0, 70);
    brume_marks before = marks_of(path_of("old.csv"), NULL, true);
    assert_int_equal(rename(path_of("old.csv"), path_of("moved.csv")), 0);
    brume_marks moved = marks_of(path_of("moved.csv"), NULL, true);
    assert_int_equal(before.count, 3);
    assert_string_not_equal(before.texts[0], moved.texts[0]);
    assert_string_equal(before.texts[1], moved.texts[1]);
    assert_string_equal(before.texts[2], moved.texts[2]);
    write_rows("old.csv", 5000, 70);
    brume_marks after = marks_of(path_of("old.csv"), NULL, true);
    assert_string_equal(before.texts[0], after.texts[0]);
    assert_string_not_equal(before.texts[1], after.texts[1]);
    assert_string_not_equal(before.texts[2], after.texts[2]);
    brume_marks_clear(&before);
    brume_marks_clear(&moved);
    brume_marks_clear(&after);
}

static void an_inode_that_is_used_again_is_another_file(void **state)
{
    (void)state;
    struct stat old, new;
    write_rows("first.csv", 0, 10);
    brume_marks before = marks_of(path_of("first.csv"), NULL, false);
    assert_int_equal(stat(path_of("first.csv"), &old), 0);
    unlink(path_of("first.csv"));
    bool reused = false;
    for (int i = 0; i < 50 && !reused; i++) {
        usleep(5000); /* times of birth may be as coarse as the clock's tick */
        write_rows("second.csv", 100, 10);
        assert_int_equal(stat(path_of("second.csv"), &new), 0);
        reused = old.st_ino == new.st_ino;
        if (!reused)
            unlink(path_of("second.csv"));
    }
    if (!reused) {
        print_message("# the file system did not use the inode again\n");
    } else {
        struct statx file;
        brume_marks after = marks_of(path_of("second.csv"), NULL, false);
        assert_int_equal(statx(0, path_of("second.csv"), 0, STATX_BTIME, &file), 0);
        if (file.stx_mask & STATX_BTIME)
            assert_string_not_equal(before.texts[1], after.texts[1]);
        brume_marks_clear(&after);
    }
    brume_marks_clear(&before);
}

static void a_large_file_is_marked_by_blocks_from_its_first_to_its_last(void **state)
{
    (void)state;
    enum { ROWS = 500000 }; /* 5.5 MB: more than is read whole */
    write_rows("large.csv", 0, ROWS);
    write_rows("same.csv", 0, ROWS);
    assert_int_equal(shared_files("contents:", "large.csv", "same.csv"), 1);
    for (int end = 0; end < 2; end++) {
        FILE *file = fopen(path_of("same.csv"), "r+");
        assert_non_null(file);
        assert_int_equal(fseek(file, end ? -3 : 10, end ? SEEK_END : SEEK_SET), 0);
        fputc('7', file);
        fclose(file);
        assert_int_equal(shared_files("contents:", "large.csv", "same.csv"), 0);
        write_rows("same.csv", 0, ROWS);
    }
}

/* What the marks of two files have in common that were made by the same command. */
static size_t shared_by_copies(const char *command, const char *ending)
{
    char line[512], names[2][64];
    for (int i = 0; i < 2; i++) {
        snprintf(names[i], sizeof names[i], "copy%d.%s", i, ending);
        snprintf(line, sizeof line, "%s > '%s'", command, path_of(names[i]));
        assert_int_equal(system(line), 0);
    }
    size_t count = shared_files("", names[0], names[1]);
    for (int i = 0; i < 2; i++)
        unlink(path_of(names[i]));
    return count;
}

/* Else whether an owner may register a table would tell whether it has rows. */
static void only_files_with_rows_are_copies(void **state)
{
    (void)state;
    static const struct {
        const char *command, *ending;
        size_t copies;
    } cases[] = {
        {"true", "json", 0},
        {"printf 'who,age\\n'", "csv", 0},
        {"printf 'who,age'", "csv", 0},
        {"printf '\"who\",\"age\"\\r\\n'", "csv", 0},
        {"printf 'who,age\\n' | gzip -n", "csv.gz", 0},
        {"cat " READER_DATA "/pyarrow_empty.parquet", "parquet", 0},
        {"cat " READER_DATA "/duckdb_empty.parquet", "parquet", 0},
        {"cat " READER_DATA "/fastparquet_empty.parquet", "parquet", 0},
        {"cat " READER_DATA "/spark_empty.parquet", "parquet", 0},
        {"printf '{}'", "json", 1},
        {"printf 'who,age\\n1,2'", "csv", 1},
        {"printf 'who,age\\n\\n'", "csv", 1}, /* an empty line is a row */
        {"printf 'who,age\\n1,2\\n' | gzip -n", "csv.gz", 1},
        {"cat " READER_DATA "/pyarrow_batches.parquet", "parquet", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (shared_by_copies(cases[i].command, cases[i].ending) != cases[i].copies)
            fail_msg("copies of '%s'", cases[i].command);
}

static void a_query_reads_no_contents(void **state)
{
    (void)state;
    write_rows("a.csv", 0, 3);
    brume_marks marks = marks_of(path_of("a.csv"), NULL, false);
    assert_int_equal(marks.count, 2);
    for (size_t i = 0; i < marks.count; i++)
        assert_int_not_equal(strncmp(marks.texts[i], "contents:", 9), 0);
    brume_marks_clear(&marks);
}

static size_t shared_tables(const char *one, const char *other)
{
    const char *url = getenv("BRUME_TEST_POSTGRESQL");
    return shared("table:", url, one, url, other);
}

static void a_view_a_part_or_a_new_name_of_a_table_shares_a_mark_with_it(void **state)
{
    (void)state;
    postgresql_run("CREATE TABLE visits(who bigint, age int); CREATE TABLE staff(who bigint);"
                   "CREATE VIEW young AS SELECT * FROM visits WHERE age < 30;"
                   "CREATE VIEW younger AS SELECT who FROM young WHERE age < 20;"
                   "CREATE MATERIALIZED VIEW stored AS SELECT count(*) FROM younger;"
                   "CREATE TABLE years(who bigint, year int) PARTITION BY LIST (year);"
                   "CREATE TABLE year1 PARTITION OF years FOR VALUES IN (1);"
                   "CREATE TABLE year2 PARTITION OF years FOR VALUES IN (2)");
    assert_int_equal(shared_tables("visits", "staff"), 0);
    assert_int_equal(shared_tables("visits", "young"), 1);
    assert_int_equal(shared_tables("visits", "younger"), 1);
    assert_int_equal(shared_tables("visits", "stored"), 1);
    assert_int_equal(shared_tables("young", "younger"), 2);
    assert_int_equal(shared_tables("staff", "stored"), 0);
    assert_int_equal(shared_tables("years", "year1"), 1);
    assert_int_equal(shared_tables("year1", "year2"), 0);
    /* Which of them are its own, and which are of tables that it reads. */
    const char *url = getenv("BRUME_TEST_POSTGRESQL");
    static const struct {
        const char *table;
        size_t count, read;
    } expected[] = {
        {"visits", 1, 0}, {"young", 2, 1}, {"younger", 3, 2}, {"stored", 4, 3}, {"years", 3, 0}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        brume_marks marks = marks_of(url, expected[i].table, false);
        assert_int_equal(marks.count, expected[i].count);
        assert_int_equal(marks.read_count, expected[i].read);
        brume_marks_clear(&marks);
    }
    /* At registration a part is also compared with the whole, which it does not become. */
    brume_marks part = marks_of(url, "year1", true), whole = marks_of(url, "years", true);
    assert_int_equal(part.count, 2);
    assert_int_equal(part.whole_count, 1);
    assert_int_equal(whole.whole_count, 0);
    assert_string_equal(part.texts[0], whole.texts[0]);
    brume_marks_clear(&part);
    brume_marks_clear(&whole);
    brume_marks before = marks_of(url, "visits", false);
    postgresql_run("ALTER TABLE visits RENAME TO renamed");
    brume_marks after = marks_of(url, "renamed", false);
    assert_int_equal(before.count, 1);
    assert_int_equal(after.count, 1);
    assert_string_equal(before.texts[0], after.texts[0]);
    brume_marks_clear(&before);
    brume_marks_clear(&after);
}

static int prepare(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/brume-marks.XXXXXX");
    return mkdtemp(folder) ? 0 : 1;
}

static int tidy(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_name_of_a_file_shares_a_mark_with_it),
        cmocka_unit_test(a_renamed_file_keeps_a_mark_and_a_new_one_of_its_name_has_other_contents),
        cmocka_unit_test(an_inode_that_is_used_again_is_another_file),
        cmocka_unit_test(a_large_file_is_marked_by_blocks_from_its_first_to_its_last),
        cmocka_unit_test(only_files_with_rows_are_copies),
        cmocka_unit_test(a_query_reads_no_contents),
        cmocka_unit_test(a_view_a_part_or_a_new_name_of_a_table_shares_a_mark_with_it),
    };
    return cmocka_run_group_tests_name("marks of sources", tests, prepare, tidy);
}
