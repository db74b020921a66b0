/* Reading CSV and Parquet files: brume's readers compared with DuckDB's own. */
#ifndef BRUME_BENCH_QUERY_READING_H
#define BRUME_BENCH_QUERY_READING_H

/* Files of `rows` rows in `folder`, a CSV without quotes, one with, and a Parquet file as DuckDB
 * writes it, on one thread and on all cores; prints the best times of `rounds` and their ratio. */
void measure_reading(const char *folder, unsigned long long rows, int rounds);

#endif
