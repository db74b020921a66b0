-- Thirty questions of an analyst of a shop on the web, typed for PostgreSQL or DuckDB without a look at docs/sql.md,
-- before it was tried which are answered.
-- 1: the month at a glance
SELECT COUNT(*) AS orders, COUNT(DISTINCT customer_id) AS customers, SUM(total_amount) AS revenue, AVG(total_amount) AS avg_order_value FROM orders WHERE order_date >= '2024-03-01' AND order_date < '2024-04-01';
-- 2: revenue by day
SELECT order_date::date AS day, SUM(total_amount) AS revenue FROM orders WHERE order_date BETWEEN '2024-06-01' AND '2024-06-30' GROUP BY 1 ORDER BY 1;
-- 3: revenue and margin by category
SELECT p.category, SUM(o.quantity * p.price) AS revenue, SUM(o.quantity * (p.price - p.cost)) AS margin FROM orders o JOIN products p ON p.product_id = o.product_id WHERE o.status <> 'cancelled' GROUP BY p.category ORDER BY margin DESC;
-- 4: the ten best products
SELECT p.name, SUM(o.quantity) AS units FROM orders o JOIN products p USING (product_id) GROUP BY p.name ORDER BY units DESC LIMIT 10;
-- 5: new and returning customers by month
WITH first_orders AS (SELECT customer_id, MIN(order_date) AS first_order FROM orders GROUP BY customer_id)
SELECT date_trunc('month', o.order_date) AS month,
  COUNT(DISTINCT CASE WHEN o.order_date = f.first_order THEN o.customer_id END) AS new_customers,
  COUNT(DISTINCT CASE WHEN o.order_date > f.first_order THEN o.customer_id END) AS returning_customers
FROM orders o JOIN first_orders f ON f.customer_id = o.customer_id GROUP BY 1 ORDER BY 1;
-- 6: retention of cohorts
WITH cohorts AS (SELECT customer_id, date_trunc('month', MIN(order_date)) AS cohort FROM orders GROUP BY customer_id),
activity AS (SELECT DISTINCT o.customer_id, c.cohort, date_diff('month', c.cohort, o.order_date) AS months_later FROM orders o JOIN cohorts c USING (customer_id))
SELECT cohort, months_later, COUNT(DISTINCT customer_id) AS customers FROM activity WHERE months_later BETWEEN 0 AND 6 GROUP BY cohort, months_later ORDER BY cohort, months_later;
-- 7: conversion by device
SELECT s.device, COUNT(DISTINCT s.session_id) AS sessions, COUNT(DISTINCT CASE WHEN e.event_type = 'purchase' THEN s.session_id END) AS converted,
  100.0 * COUNT(DISTINCT CASE WHEN e.event_type = 'purchase' THEN s.session_id END) / COUNT(DISTINCT s.session_id) AS conversion_rate
FROM sessions s LEFT JOIN events e ON e.session_id = s.session_id GROUP BY s.device ORDER BY conversion_rate DESC;
-- 8: the funnel
SELECT COUNT(DISTINCT s.customer_id) FILTER (WHERE e.event_type = 'view') AS viewed, COUNT(DISTINCT s.customer_id) FILTER (WHERE e.event_type = 'add_to_cart') AS carted,
  COUNT(DISTINCT s.customer_id) FILTER (WHERE e.event_type = 'checkout') AS checked_out, COUNT(DISTINCT s.customer_id) FILTER (WHERE e.event_type = 'purchase') AS purchased
FROM events e JOIN sessions s ON e.session_id = s.session_id WHERE e.event_time >= TIMESTAMP '2024-05-01' AND e.event_time < TIMESTAMP '2024-06-01';
-- 9: quartiles of customers by what they spend
SELECT quartile, COUNT(*) AS customers, AVG(spent) AS avg_spent FROM (SELECT customer_id, SUM(total_amount) AS spent, NTILE(4) OVER (ORDER BY SUM(total_amount) DESC) AS quartile FROM orders GROUP BY customer_id) t GROUP BY quartile ORDER BY quartile;
-- 10: customers without an order, by country
SELECT c.country, COUNT(*) AS never_ordered FROM customers c LEFT JOIN orders o ON o.customer_id = c.customer_id WHERE o.order_id IS NULL GROUP BY c.country ORDER BY never_ordered DESC;
-- 11: the rate of repeat purchases
SELECT 100.0 * COUNT(CASE WHEN n > 1 THEN 1 END) / COUNT(*) AS repeat_rate FROM (SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id) x;
-- 12: days between orders
SELECT AVG(days) AS avg_days, MEDIAN(days) AS median_days FROM (SELECT order_date::date - LAG(order_date::date) OVER (PARTITION BY customer_id ORDER BY order_date) AS days FROM orders) gaps WHERE days IS NOT NULL;
-- 13: order value by channel and month, and its change
SELECT channel, month, aov, ROUND(100.0 * (aov - LAG(aov) OVER (PARTITION BY channel ORDER BY month)) / LAG(aov) OVER (PARTITION BY channel ORDER BY month), 1) AS pct_change
FROM (SELECT channel, date_trunc('month', order_date) AS month, AVG(total_amount) AS aov FROM orders GROUP BY 1, 2) m ORDER BY channel, month;
-- 14: percentiles of order values by channel
SELECT channel, percentile_cont(0.5) WITHIN GROUP (ORDER BY total_amount) AS p50, percentile_cont(0.9) WITHIN GROUP (ORDER BY total_amount) AS p90, percentile_cont(0.99) WITHIN GROUP (ORDER BY total_amount) AS p99 FROM orders GROUP BY channel;
-- 15: abandoned carts
WITH carts AS (SELECT session_id, MAX(CASE WHEN event_type = 'add_to_cart' THEN 1 ELSE 0 END) AS has_cart, MAX(CASE WHEN event_type = 'purchase' THEN 1 ELSE 0 END) AS has_purchase FROM events GROUP BY session_id)
SELECT SUM(has_cart) AS carts, SUM(CASE WHEN has_cart = 1 AND has_purchase = 0 THEN 1 ELSE 0 END) AS abandoned, 1.0 * SUM(CASE WHEN has_cart = 1 AND has_purchase = 0 THEN 1 ELSE 0 END) / SUM(has_cart) AS abandonment_rate FROM carts;
-- 16: bounce rate by source
SELECT s.source, AVG(CASE WHEN e.n = 1 THEN 1.0 ELSE 0.0 END) AS bounce_rate FROM sessions s JOIN (SELECT session_id, COUNT(*) AS n FROM events GROUP BY session_id) e ON e.session_id = s.session_id GROUP BY s.source ORDER BY bounce_rate;
-- 17: minutes of a session by device and browser
SELECT device, browser, AVG(EXTRACT(EPOCH FROM (ended_at - started_at)) / 60) AS avg_minutes FROM sessions GROUP BY device, browser ORDER BY avg_minutes DESC;
-- 18: users per day and their mean over seven days
WITH daily AS (SELECT CAST(started_at AS DATE) AS day, COUNT(DISTINCT customer_id) AS dau FROM sessions WHERE started_at >= '2024-01-01' AND started_at < '2024-04-01' GROUP BY 1)
SELECT day, dau, AVG(dau) OVER (ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS dau_7d FROM daily ORDER BY day;
-- 19: customers by age
SELECT CASE WHEN age < 25 THEN '18-24' WHEN age < 35 THEN '25-34' WHEN age < 50 THEN '35-49' WHEN age < 65 THEN '50-64' ELSE '65+' END AS age_group, gender, COUNT(*) AS customers
FROM (SELECT gender, date_diff('year', birth_date, DATE '2024-12-31') AS age FROM customers) a GROUP BY age_group, gender ORDER BY age_group, gender;
-- 20: share of each country in the revenue
SELECT c.country, SUM(o.total_amount) AS revenue, ROUND(100.0 * SUM(o.total_amount) / SUM(SUM(o.total_amount)) OVER (), 2) AS share FROM orders o JOIN customers c ON o.customer_id = c.customer_id GROUP BY c.country ORDER BY revenue DESC;
-- 21: a heat map of weekdays and hours
SELECT EXTRACT(dow FROM order_date) AS weekday, EXTRACT(hour FROM order_date) AS hour, COUNT(*) AS orders FROM orders GROUP BY weekday, hour ORDER BY weekday, hour;
-- 22: how much customers have spent in all
SELECT FLOOR(spent / 100) * 100 AS bucket, COUNT(*) AS customers FROM (SELECT customer_id, SUM(total_amount) AS spent FROM orders WHERE status = 'paid' GROUP BY customer_id) t GROUP BY 1 ORDER BY 1;
-- 23: the best category of each country
SELECT country, category, revenue FROM (SELECT c.country, p.category, SUM(o.total_amount) AS revenue, RANK() OVER (PARTITION BY c.country ORDER BY SUM(o.total_amount) DESC) AS r
FROM orders o JOIN customers c ON c.customer_id = o.customer_id JOIN products p ON p.product_id = o.product_id GROUP BY c.country, p.category) ranked WHERE r = 1 ORDER BY country;
-- 24: categories that are bought by the same customers
SELECT pa.category AS category_a, pb.category AS category_b, COUNT(DISTINCT a.customer_id) AS customers FROM orders a JOIN orders b ON a.customer_id = b.customer_id JOIN products pa ON pa.product_id = a.product_id JOIN products pb ON pb.product_id = b.product_id WHERE pa.category < pb.category GROUP BY 1, 2 ORDER BY 3 DESC;
-- 25: returns by brand
SELECT p.brand, COUNT(*) AS orders, AVG(CASE WHEN o.status = 'returned' THEN 1 ELSE 0 END) AS return_rate FROM orders o JOIN products p ON p.product_id = o.product_id GROUP BY p.brand HAVING COUNT(*) > 200 ORDER BY return_rate DESC;
-- 26: subscribers of the newsletter by year in which they came
SELECT EXTRACT(year FROM signup_date) AS year, COUNT(*) AS customers, COUNT(*) FILTER (WHERE newsletter) AS subscribed, ROUND(100.0 * COUNT(*) FILTER (WHERE newsletter) / COUNT(*), 1) AS pct FROM customers GROUP BY year ORDER BY year;
-- 27: customers who have not ordered for 90 days
SELECT COUNT(*) AS churned FROM (SELECT customer_id, MAX(order_date) AS last_order FROM orders GROUP BY customer_id) l WHERE last_order < TIMESTAMP '2024-12-31' - INTERVAL '90 days';
-- 28: the first channel and the last
SELECT first_channel, last_channel, COUNT(*) AS customers FROM (SELECT DISTINCT customer_id, FIRST_VALUE(channel) OVER (PARTITION BY customer_id ORDER BY order_date) AS first_channel, FIRST_VALUE(channel) OVER (PARTITION BY customer_id ORDER BY order_date DESC) AS last_channel FROM orders) c GROUP BY 1, 2 ORDER BY 3 DESC;
-- 29: customers who bought from more than one category
SELECT categories, COUNT(*) AS customers FROM (SELECT o.customer_id, COUNT(DISTINCT p.category) AS categories FROM orders o JOIN products p ON p.product_id = o.product_id GROUP BY o.customer_id) t GROUP BY categories ORDER BY categories;
-- 30: revenue of this year beside the last one, by quarter
SELECT EXTRACT(quarter FROM order_date) AS quarter, SUM(CASE WHEN EXTRACT(year FROM order_date) = 2023 THEN total_amount ELSE 0 END) AS revenue_2023, SUM(CASE WHEN EXTRACT(year FROM order_date) = 2024 THEN total_amount ELSE 0 END) AS revenue_2024 FROM orders GROUP BY 1 ORDER BY 1;
