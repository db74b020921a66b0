/* Statements that a test gives to a Spark server. */
#include "spark.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "engine/adbc/spark.h"

const char *spark_url(void)
{
    return getenv("BRUME_TEST_SPARK");
}

static brume_adbc *connection(void)
{
    static brume_adbc_library library = {.server = "Spark",
                                         .name = "libadbc_driver_spark.so",
                                         .environment = "BRUME_SPARK_DRIVER",
                                         .entry = "AdbcDriverSparkInit",
                                         .lock = PTHREAD_MUTEX_INITIALIZER};
    static brume_adbc *made;
    brume_error error = {0};
    char uri[200];
    if (made)
        return made;
    assert_non_null(spark_url());
    snprintf(uri, sizeof uri, "sc://%s", strstr(spark_url(), "://") + 3);
    const char *const options[] = {"uri", uri, NULL};
    assert_ok(brume_adbc_open(&library, options, &made, &error));
    return made;
}

void spark_run(const char *sql)
{
    if (!brume_adbc_run(connection(), sql))
        fail_msg("Spark failed: %.1000s", sql);
}

char *spark_cell(const char *sql)
{
    char *cell = brume_adbc_cell(connection(), sql);
    if (!cell)
        fail_msg("Spark failed: %.1000s", sql);
    return cell;
}

void spark_load(const char *table, const char *folder, const char *parquet)
{
    char sql[400];
    snprintf(sql, sizeof sql, "DROP TABLE IF EXISTS %s", table);
    spark_run(sql);
    spark_run("SET spark.sql.parquet.datetimeRebaseModeInRead=CORRECTED");
    spark_run("SET spark.sql.parquet.datetimeRebaseModeInWrite=CORRECTED");
    snprintf(sql, sizeof sql,
             "CREATE TABLE %s USING parquet LOCATION '%s/spark' AS SELECT * FROM parquet.`%s`",
             table, folder, parquet);
    spark_run(sql);
}
