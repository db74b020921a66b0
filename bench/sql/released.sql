-- Twenty questions of analysts whose outer part reads groups only: ten of a shop, ten of a hospital. They
-- were written before the code that answers them, for PostgreSQL or DuckDB, without a look at docs/sql.md.
-- 1: revenue by month, beside the same month of the year before
WITH monthly AS (SELECT EXTRACT(year FROM day) AS y, EXTRACT(month FROM day) AS m, SUM(amount) AS revenue FROM orders WHERE day >= DATE '2023-01-01' AND day < DATE '2025-01-01' GROUP BY 1, 2) SELECT a.m, a.revenue AS this_year, b.revenue AS last_year, a.revenue / NULLIF(b.revenue, 0) - 1 AS growth FROM monthly a JOIN monthly b ON b.m = a.m AND b.y = a.y - 1 WHERE a.y = 2024 ORDER BY a.m;
-- 2: how often a customer of a month comes on a day of it
WITH dau AS (SELECT day, COUNT(DISTINCT customer) AS people FROM orders WHERE day >= DATE '2024-03-01' AND day < DATE '2024-04-01' GROUP BY day), mau AS (SELECT COUNT(DISTINCT customer) AS people FROM orders WHERE day >= DATE '2024-03-01' AND day < DATE '2024-04-01') SELECT AVG(dau.people) / MAX(mau.people) AS stickiness FROM dau CROSS JOIN mau;
-- 3: the three best products of each region
SELECT region, product, n FROM (SELECT region, product, n, ROW_NUMBER() OVER (PARTITION BY region ORDER BY n DESC) AS place FROM (SELECT region, product, COUNT(*) AS n FROM orders GROUP BY region, product) g) ranked WHERE place <= 3 ORDER BY region, place;
-- 4: change from month to month
SELECT month, orders, orders - LAG(orders) OVER (ORDER BY month) AS change FROM (SELECT date_trunc('month', day) AS month, COUNT(*) AS orders FROM orders WHERE day BETWEEN '2024-01-01' AND '2024-12-31' GROUP BY 1) t ORDER BY month;
-- 5: a moving average of three months
WITH by_month AS (SELECT date_trunc('month', day) AS month, SUM(amount) AS revenue FROM orders WHERE day BETWEEN '2024-01-01' AND '2024-12-31' GROUP BY 1) SELECT month, revenue, AVG(revenue) OVER (ORDER BY month ROWS 2 PRECEDING) AS smoothed FROM by_month ORDER BY month;
-- 6: regions against the targets of a public table
SELECT r.manager, s.revenue, r.target, s.revenue >= r.target AS reached FROM (SELECT region, SUM(amount) AS revenue FROM orders GROUP BY region) s JOIN regions r ON r.name = s.region ORDER BY r.manager;
-- 7: two questions in one table
SELECT 'all orders' AS what, COUNT(*) AS n FROM orders UNION ALL SELECT 'large orders', COUNT(*) FROM orders WHERE amount > 150;
-- 8: a table of regions and quarters, written across
SELECT region, SUM(CASE WHEN q = 1 THEN n END) AS q1, SUM(CASE WHEN q = 2 THEN n END) AS q2, SUM(CASE WHEN q = 3 THEN n END) AS q3, SUM(CASE WHEN q = 4 THEN n END) AS q4 FROM (SELECT region, EXTRACT(quarter FROM day) AS q, COUNT(*) AS n FROM orders WHERE day BETWEEN '2024-01-01' AND '2024-12-31' GROUP BY 1, 2) t GROUP BY region ORDER BY region;
-- 9: the share of each product, and the running share from the largest on
WITH s AS (SELECT product, SUM(amount) AS revenue FROM orders GROUP BY product), t AS (SELECT SUM(revenue) AS total FROM s) SELECT product, 100.0 * revenue / total AS percent, 100.0 * SUM(revenue) OVER (ORDER BY revenue DESC) / total AS running FROM s, t ORDER BY revenue DESC;
-- 10: regions above the mean of the regions
WITH s AS (SELECT region, AVG(amount) AS mean_amount FROM orders GROUP BY region) SELECT region, mean_amount FROM s WHERE mean_amount > (SELECT AVG(mean_amount) FROM s) ORDER BY region;
-- 11: wards with their share of all stays
SELECT ward, n, ROUND(100.0 * n / SUM(n) OVER (), 1) AS share FROM (SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward) w ORDER BY n DESC;
-- 12: admissions by month and the running total of the year
SELECT month, n, SUM(n) OVER (ORDER BY month) AS so_far FROM (SELECT date_trunc('month', admitted) AS month, COUNT(*) AS n FROM stays WHERE admitted >= '2024-01-01' AND admitted < '2025-01-01' GROUP BY month) m ORDER BY month;
-- 13: readmission: patients with several stays among all
WITH many AS (SELECT COUNT(*) AS n FROM (SELECT patient FROM stays GROUP BY patient HAVING COUNT(*) > 1) p), everybody AS (SELECT COUNT(DISTINCT patient) AS n FROM stays) SELECT many.n AS returned, everybody.n AS patients, 1.0 * many.n / everybody.n AS rate FROM many, everybody;
-- 14: beds in use, from a public table of wards
SELECT b.ward, b.beds, w.n, w.n / 366.0 * w.days / b.beds AS occupancy FROM beds b LEFT JOIN (SELECT ward, COUNT(*) AS n, AVG(nights) AS days FROM stays WHERE admitted >= '2024-01-01' AND admitted < '2025-01-01' GROUP BY ward) w ON w.ward = b.ward ORDER BY b.ward;
-- 15: all groups, every column
SELECT * FROM (SELECT ward, diagnosis, COUNT(*) AS n, AVG(nights) AS nights FROM stays GROUP BY ward, diagnosis) t WHERE n > 20 ORDER BY ward, diagnosis;
-- 16: this year and last year side by side, by ward
SELECT a.ward, a.n AS n_2024, b.n AS n_2023, a.n - b.n AS more FROM (SELECT ward, COUNT(*) AS n FROM stays WHERE admitted >= '2024-01-01' AND admitted < '2025-01-01' GROUP BY ward) a JOIN (SELECT ward, COUNT(*) AS n FROM stays WHERE admitted >= '2023-01-01' AND admitted < '2024-01-01' GROUP BY ward) b USING (ward) ORDER BY more DESC;
-- 17: the busiest month of each ward
SELECT DISTINCT ward, FIRST_VALUE(month) OVER (PARTITION BY ward ORDER BY n DESC) AS busiest FROM (SELECT ward, EXTRACT(month FROM admitted) AS month, COUNT(*) AS n FROM stays GROUP BY ward, EXTRACT(month FROM admitted)) t ORDER BY ward;
-- 18: age groups as text, with the next one beside it
WITH g AS (SELECT CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'senior' END AS grp, AVG(nights) AS nights FROM stays GROUP BY 1) SELECT upper(grp) AS grp, nights, LEAD(nights) OVER (ORDER BY grp) AS next FROM g ORDER BY grp;
-- 19: the spread between wards
SELECT MAX(n) - MIN(n) AS spread, STDDEV(n) AS deviation, string_agg(ward, ', ' ORDER BY ward) AS wards FROM (SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward) t;
-- 20: wards whose mean stay is longer than that of the house
SELECT ward, nights, house, nights - house AS longer FROM (SELECT ward, AVG(nights) AS nights FROM stays GROUP BY ward) w CROSS JOIN (SELECT AVG(nights) AS house FROM stays) h WHERE nights > house ORDER BY longer DESC;
