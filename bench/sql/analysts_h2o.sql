-- The ten group-by questions of the benchmark of h2o.ai (https://github.com/duckdblabs/db-benchmark), as it asks them
-- of DuckDB; the eighth with ROW_NUMBER, as it was until 2023.
SELECT id1, sum(v1) AS v1 FROM x GROUP BY id1;
SELECT id1, id2, sum(v1) AS v1 FROM x GROUP BY id1, id2;
SELECT id3, sum(v1) AS v1, mean(v3) AS v3 FROM x GROUP BY id3;
SELECT id4, mean(v1) AS v1, mean(v2) AS v2, mean(v3) AS v3 FROM x GROUP BY id4;
SELECT id6, sum(v1) AS v1, sum(v2) AS v2, sum(v3) AS v3 FROM x GROUP BY id6;
SELECT id4, id5, quantile_cont(v3, 0.5) AS median_v3, stddev(v3) AS sd_v3 FROM x GROUP BY id4, id5;
SELECT id3, max(v1)-min(v2) AS range_v1_v2 FROM x GROUP BY id3;
SELECT id6, v3 AS largest2_v3 FROM (SELECT id6, v3, row_number() OVER (PARTITION BY id6 ORDER BY v3 DESC) AS order_v3 FROM x WHERE v3 IS NOT NULL) sub_query WHERE order_v3 <= 2;
SELECT id2, id4, pow(corr(v1, v2), 2) AS r2 FROM x GROUP BY id2, id4;
SELECT id1, id2, id3, id4, id5, id6, sum(v3) AS v3, count(*) AS count FROM x GROUP BY id1, id2, id3, id4, id5, id6;
