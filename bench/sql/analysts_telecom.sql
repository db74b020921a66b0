-- Thirty questions of an analyst of a mobile network, typed for PostgreSQL or DuckDB without a look at docs/sql.md,
-- before it was tried which are answered.
-- 1: subscribers by region and plan
SELECT s.region, p.plan_name, COUNT(*) AS subscribers FROM subscribers s JOIN plans p ON p.plan_id = s.plan_id WHERE s.churned_on IS NULL GROUP BY s.region, p.plan_name ORDER BY s.region, subscribers DESC;
-- 2: churn by month
SELECT date_trunc('month', churned_on) AS month, COUNT(*) AS churned FROM subscribers WHERE churned_on IS NOT NULL GROUP BY month ORDER BY month;
-- 3: churn rate by plan
SELECT p.plan_name, COUNT(*) AS subscribers, COUNT(s.churned_on) AS churned, ROUND(COUNT(s.churned_on) * 100.0 / COUNT(*), 2) AS churn_rate FROM subscribers s JOIN plans p USING (plan_id) GROUP BY p.plan_name ORDER BY churn_rate DESC;
-- 4: revenue per user by month
SELECT bill_month, SUM(amount) AS revenue, COUNT(DISTINCT subscriber_id) AS payers, SUM(amount) / NULLIF(COUNT(DISTINCT subscriber_id), 0) AS arpu FROM bills GROUP BY bill_month ORDER BY bill_month;
-- 5: minutes by type of call
SELECT call_type, SUM(duration_sec) / 60.0 AS minutes, AVG(duration_sec) AS avg_seconds, COUNT(*) AS calls FROM calls GROUP BY call_type;
-- 6: dropped calls by technology
SELECT c.technology, AVG(CASE WHEN k.dropped THEN 1 ELSE 0 END) * 100 AS drop_rate FROM calls k JOIN cells c ON c.cell_id = k.cell_id GROUP BY c.technology ORDER BY drop_rate DESC;
-- 7: the twenty worst cells
SELECT cell_id, COUNT(*) AS calls, SUM(dropped::int) AS dropped FROM calls GROUP BY cell_id HAVING COUNT(*) > 100 ORDER BY SUM(dropped::int) * 1.0 / COUNT(*) DESC LIMIT 20;
-- 8: data by day and technology
SELECT usage_date, rat, SUM(mb) / 1024 AS gigabytes FROM data_usage WHERE usage_date >= DATE '2024-09-01' AND usage_date <= DATE '2024-09-30' GROUP BY usage_date, rat ORDER BY usage_date;
-- 9: heavy users
SELECT CASE WHEN total_mb >= 20000 THEN 'heavy' WHEN total_mb >= 5000 THEN 'medium' WHEN total_mb > 0 THEN 'light' ELSE 'none' END AS usage_class, COUNT(*) AS subscribers FROM (SELECT s.subscriber_id, COALESCE(SUM(d.mb), 0) AS total_mb FROM subscribers s LEFT JOIN data_usage d ON d.subscriber_id = s.subscriber_id GROUP BY s.subscriber_id) u GROUP BY usage_class;
-- 10: bills paid late
SELECT date_trunc('quarter', due_on) AS quarter, COUNT(*) AS bills, SUM(CASE WHEN paid_on > due_on THEN 1 ELSE 0 END) AS late, AVG(CASE WHEN paid_on > due_on THEN paid_on - due_on END) AS avg_days_late FROM bills GROUP BY 1 ORDER BY 1;
-- 11: bills that nobody paid
SELECT s.credit_class, COUNT(*) AS unpaid, SUM(b.amount) AS owed FROM bills b JOIN subscribers s ON s.subscriber_id = b.subscriber_id WHERE b.paid_on IS NULL GROUP BY s.credit_class ORDER BY s.credit_class;
-- 12: hours to close a ticket
SELECT topic, COUNT(*) AS tickets, AVG(EXTRACT(EPOCH FROM (closed_at - opened_at)) / 3600) AS avg_hours, PERCENTILE_CONT(0.95) WITHIN GROUP (ORDER BY EXTRACT(EPOCH FROM (closed_at - opened_at)) / 3600) AS p95_hours FROM tickets WHERE closed_at IS NOT NULL GROUP BY topic;
-- 13: satisfaction of those who left and of others
SELECT s.churned_on IS NOT NULL AS churned, AVG(t.satisfaction) AS satisfaction, COUNT(DISTINCT s.subscriber_id) AS subscribers FROM tickets t JOIN subscribers s USING (subscriber_id) GROUP BY 1;
-- 14: subscribers who complained in the 30 days before they left
SELECT COUNT(DISTINCT s.subscriber_id) AS complained_before_churn FROM subscribers s JOIN tickets t ON t.subscriber_id = s.subscriber_id WHERE t.opened_at::date BETWEEN s.churned_on - 30 AND s.churned_on;
-- 15: growth of revenue
SELECT bill_month, revenue, revenue - LAG(revenue) OVER (ORDER BY bill_month) AS change, SUM(revenue) OVER (ORDER BY bill_month) AS cumulative FROM (SELECT bill_month, SUM(amount) AS revenue FROM bills GROUP BY bill_month) t ORDER BY bill_month;
-- 16: months that subscribers stay
SELECT p.plan_name, AVG((COALESCE(s.churned_on, DATE '2024-12-31') - s.activated_on) / 30.0) AS months FROM subscribers s JOIN plans p ON p.plan_id = s.plan_id GROUP BY p.plan_name;
-- 17: survival
SELECT months, COUNT(*) AS subscribers FROM (SELECT date_diff('month', activated_on, COALESCE(churned_on, DATE '2024-12-31')) AS months FROM subscribers) t GROUP BY months ORDER BY months;
-- 18: busy hour
SELECT EXTRACT(hour FROM started_at) AS hour, COUNT(*) AS calls, SUM(duration_sec) / 3600.0 AS erlang FROM calls WHERE EXTRACT(isodow FROM started_at) <= 5 GROUP BY 1 ORDER BY calls DESC LIMIT 3;
-- 19: users of data without calls
SELECT COUNT(DISTINCT d.subscriber_id) AS data_only FROM data_usage d WHERE NOT EXISTS (SELECT 1 FROM calls c WHERE c.subscriber_id = d.subscriber_id);
-- 20: subscribers of both
SELECT COUNT(*) FROM subscribers WHERE subscriber_id IN (SELECT subscriber_id FROM calls WHERE call_type = 'international') AND subscriber_id IN (SELECT subscriber_id FROM data_usage WHERE rat = '5G');
-- 21: calls and data of a subscriber
SELECT s.region, AVG(c.n) AS calls, AVG(d.mb) AS mb FROM subscribers s LEFT JOIN (SELECT subscriber_id, COUNT(*) AS n FROM calls GROUP BY subscriber_id) c ON c.subscriber_id = s.subscriber_id LEFT JOIN (SELECT subscriber_id, SUM(mb) AS mb FROM data_usage GROUP BY subscriber_id) d ON d.subscriber_id = s.subscriber_id GROUP BY s.region;
-- 22: regions above the mean of the network
SELECT region, arpu FROM (SELECT s.region, AVG(b.amount) AS arpu FROM bills b JOIN subscribers s ON s.subscriber_id = b.subscriber_id GROUP BY s.region) r WHERE arpu > (SELECT AVG(amount) FROM bills) ORDER BY arpu DESC;
-- 23: who uses more than the plan has
SELECT p.plan_name, COUNT(*) AS over_limit FROM (SELECT subscriber_id, date_trunc('month', usage_date) AS month, SUM(mb) AS mb FROM data_usage GROUP BY 1, 2) u JOIN subscribers s ON s.subscriber_id = u.subscriber_id JOIN plans p ON p.plan_id = s.plan_id WHERE u.mb > p.data_gb * 1024 GROUP BY p.plan_name;
-- 24: median bill by age
SELECT (2024 - birth_year) / 10 * 10 AS age_band, MEDIAN(amount) AS median_bill FROM bills JOIN subscribers USING (subscriber_id) GROUP BY 1 ORDER BY 1;
-- 25: share of 5G by region
SELECT s.region, SUM(CASE WHEN d.rat = '5G' THEN d.mb ELSE 0 END) / SUM(d.mb) AS share_5g FROM data_usage d JOIN subscribers s ON s.subscriber_id = d.subscriber_id GROUP BY s.region ORDER BY share_5g DESC;
-- 26: does satisfaction fall with the time to close?
SELECT REGR_SLOPE(satisfaction, EXTRACT(EPOCH FROM closed_at - opened_at) / 3600) AS per_hour, CORR(satisfaction, EXTRACT(EPOCH FROM closed_at - opened_at) / 3600) AS r FROM tickets;
-- 27: the last technology that a subscriber used
SELECT rat, COUNT(*) AS subscribers FROM (SELECT DISTINCT ON (subscriber_id) subscriber_id, rat FROM data_usage ORDER BY subscriber_id, usage_date DESC) last_seen GROUP BY rat;
-- 28: tickets by topic, topics across
SELECT EXTRACT(month FROM opened_at) AS month, COUNT(*) FILTER (WHERE topic = 'billing') AS billing, COUNT(*) FILTER (WHERE topic = 'network') AS network, COUNT(*) FILTER (WHERE topic NOT IN ('billing', 'network')) AS other FROM tickets WHERE opened_at >= '2024-01-01' GROUP BY 1 ORDER BY 1;
-- 29: longest call of each subscriber
SELECT AVG(longest) AS mean_longest, MAX(longest) AS longest FROM (SELECT subscriber_id, MAX(duration_sec) AS longest FROM calls GROUP BY subscriber_id) t;
-- 30: everything in one row
SELECT (SELECT COUNT(*) FROM subscribers WHERE churned_on IS NULL) AS active, (SELECT SUM(amount) FROM bills WHERE bill_month = DATE '2024-11-01') AS revenue, (SELECT COUNT(*) FROM tickets WHERE closed_at IS NULL) AS open_tickets;
