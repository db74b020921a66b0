-- The questions of analysts_*.sql that are refused as they were typed, in words that are answered: quartiles by sums
-- that one says (shop 9), bounds for sums of a person's rows (network 21, bank 6), the largest values as a quantile of
-- each group (group-by 8).
SELECT CASE WHEN spent < 150 THEN 4 WHEN spent < 400 THEN 3 WHEN spent < 700 THEN 2 ELSE 1 END AS quartile, COUNT(*) AS customers, AVG(CLAMP(spent, 0, 3000)) AS avg_spent FROM (SELECT customer_id, SUM(total_amount) AS spent FROM orders GROUP BY customer_id) t GROUP BY quartile ORDER BY quartile;
SELECT s.region, AVG(CLAMP(c.n, 0, 50)) AS calls, AVG(CLAMP(d.mb, 0, 50000)) AS mb FROM subscribers s LEFT JOIN (SELECT subscriber_id, COUNT(*) AS n FROM calls GROUP BY subscriber_id) c ON c.subscriber_id = s.subscriber_id LEFT JOIN (SELECT subscriber_id, SUM(mb) AS mb FROM data_usage GROUP BY subscriber_id) d ON d.subscriber_id = s.subscriber_id GROUP BY s.region;
SELECT month, AVG(CLAMP(balance, -50000, 50000)) AS avg_balance FROM (SELECT account_id, date_trunc('month', booked_at) AS month, SUM(signed_amount) AS balance FROM transactions GROUP BY account_id, date_trunc('month', booked_at)) t GROUP BY month ORDER BY month;
SELECT id6, quantile_cont(v3, 0.98) AS largest_v3 FROM x GROUP BY id6;
