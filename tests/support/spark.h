/* Statements that a test gives to the Spark server of BRUME_TEST_SPARK. */
#ifndef BRUME_TESTS_SPARK_H
#define BRUME_TESTS_SPARK_H

/* spark://HOST:PORT, or NULL where the test is not beside one. */
const char *spark_url(void);

/* Run a statement; a failure fails the test. */
void spark_run(const char *sql);

/* Make a table of a Parquet file; its own files lie in `folder`/spark. */
void spark_load(const char *table, const char *folder, const char *parquet);

/* The first cell of the first row, a text of the caller's to free. */
char *spark_cell(const char *sql);

/* The connection is closed at the end of the process. */

#endif
