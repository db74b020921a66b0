-- Twenty questions as analysts of a shop, of a hospital and of the group-by benchmark of h2o.ai
-- (https://github.com/duckdblabs/db-benchmark) type them for PostgreSQL or DuckDB: funnels, A/B
-- tests, correlations, regressions, percentiles, histograms. They were written before the code.
SELECT variant, COUNT(DISTINCT customer_id) AS people, COUNT(DISTINCT customer_id) FILTER (WHERE step = 'purchase') AS buyers FROM events GROUP BY variant ORDER BY variant;
SELECT COUNT(DISTINCT CASE WHEN step = 'visit' THEN customer_id END) AS visited, COUNT(DISTINCT CASE WHEN step = 'cart' THEN customer_id END) AS filled_cart, COUNT(DISTINCT CASE WHEN step = 'purchase' THEN customer_id END) AS bought FROM events;
SELECT variant, 1.0 * COUNT(DISTINCT CASE WHEN step = 'purchase' THEN customer_id END) / NULLIF(COUNT(DISTINCT customer_id), 0) AS conversion FROM events GROUP BY variant;
SELECT c.country, COUNT(DISTINCT c.customer_id) AS customers, COUNT(DISTINCT o.customer_id) AS buyers FROM customers c LEFT JOIN orders o ON o.customer_id = c.customer_id GROUP BY c.country ORDER BY buyers DESC;
SELECT CASE WHEN country IN ('DE', 'FR', 'UK') THEN country ELSE 'other' END AS market, SUM(amount) AS revenue FROM orders JOIN customers USING (customer_id) GROUP BY 1 ORDER BY 2 DESC;
SELECT channel, SUM(quantity * price) AS list_value FROM orders JOIN products USING (product_id) GROUP BY channel;
SELECT category, SUM(amount * quantity) / NULLIF(SUM(quantity), 0) AS price_by_quantity FROM orders JOIN products USING (product_id) GROUP BY category;
SELECT CORR(quantity, amount) AS correlation FROM orders;
SELECT channel, quantile_cont(amount, 0.9) AS p90, quantile_disc(quantity, 0.5) AS middle FROM orders GROUP BY channel;
SELECT COUNT(DISTINCT (channel, product_id)) AS combinations FROM orders;
SELECT width_bucket(amount, 0, 500, 10) AS bucket, COUNT(*) AS n FROM orders GROUP BY bucket ORDER BY bucket;
SELECT AVG(COALESCE(largest, 0)) AS mean_largest FROM (SELECT customer_id, MAX(amount) AS largest FROM orders GROUP BY customer_id) t;
SELECT ward, REGR_SLOPE(cost, days) AS per_day, REGR_INTERCEPT(cost, days) AS base, REGR_R2(cost, days) AS r2, REGR_COUNT(cost, days) AS n FROM stays GROUP BY ward;
SELECT sex, CORR(bmi, 2025 - birth_year) AS bmi_with_age, COVAR_SAMP(bmi, birth_year) AS covariance FROM patients GROUP BY sex;
SELECT date_trunc('month', admitted) AS month, AVG(COALESCE(severity, 0)) AS severity, COUNT(DISTINCT patient_id) AS patients FROM stays GROUP BY 1 ORDER BY 1;
SELECT concat_ws(' / ', ward, sex) AS section, SUM(cost) / NULLIF(SUM(days), 0) AS cost_of_a_day FROM stays JOIN patients USING (patient_id) GROUP BY 1;
SELECT lpad(CAST(EXTRACT(month FROM admitted) AS text), 2, '0') AS month, COUNT(*) AS stays FROM stays GROUP BY 1 ORDER BY 1;
SELECT id1, SUM(CLAMP(v1, 1, 5)) AS v1 FROM x GROUP BY id1;
SELECT id2, id4, POWER(CORR(v2, v3), 2) AS r2 FROM x GROUP BY id2, id4;
SELECT id4, id5, MEDIAN(v3) AS median_v3, STDDEV(v3) AS sd_v3 FROM x GROUP BY id4, id5;
