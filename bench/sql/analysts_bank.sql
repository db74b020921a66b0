-- Thirty questions of an analyst of a bank who likes window functions, typed for PostgreSQL or DuckDB without a look at
-- docs/sql.md, before it was tried which are answered.
-- 1: transactions by month with the month before
SELECT date_trunc('month', booked_at) AS month, COUNT(*) AS n, LAG(COUNT(*)) OVER (ORDER BY date_trunc('month', booked_at)) AS previous, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY date_trunc('month', booked_at)) AS delta FROM transactions GROUP BY 1 ORDER BY 1;
-- 2: months as text
SELECT to_char(date_trunc('month', booked_at), 'YYYY-MM') AS month, SUM(amount) AS volume FROM transactions GROUP BY date_trunc('month', booked_at) ORDER BY month;
-- 3: a moving average straight over the groups
SELECT CAST(booked_at AS DATE) AS day, SUM(amount) AS volume, AVG(SUM(amount)) OVER (ORDER BY CAST(booked_at AS DATE) ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS smooth FROM transactions WHERE booked_at >= '2024-10-01' AND booked_at < '2024-12-01' GROUP BY 1 ORDER BY 1;
-- 4: the three largest categories of each segment
WITH t AS (SELECT c.segment, x.category, SUM(x.amount) AS volume, DENSE_RANK() OVER (PARTITION BY c.segment ORDER BY SUM(x.amount) DESC) AS rk FROM transactions x JOIN accounts a USING (account_id) JOIN clients c USING (client_id) GROUP BY c.segment, x.category) SELECT segment, category, volume FROM t WHERE rk <= 3 ORDER BY segment, rk;
-- 5: share of card payments, rounded
SELECT segment, ROUND(CAST(SUM(CASE WHEN channel = 'card' THEN amount ELSE 0 END) AS numeric) / SUM(amount) * 100, 1) || ' %' AS card_share FROM transactions JOIN accounts USING (account_id) JOIN clients USING (client_id) GROUP BY segment;
-- 6: balance of an account at the end of each month
SELECT month, AVG(balance) AS avg_balance FROM (SELECT account_id, date_trunc('month', booked_at) AS month, SUM(signed_amount) AS balance FROM transactions GROUP BY account_id, date_trunc('month', booked_at)) t GROUP BY month ORDER BY month;
-- 7: clients by the number of accounts
SELECT n_accounts, COUNT(*) AS clients FROM (SELECT client_id, COUNT(*) AS n_accounts FROM accounts WHERE closed_on IS NULL GROUP BY client_id) t GROUP BY n_accounts ORDER BY n_accounts;
-- 8: clients without a loan
SELECT COUNT(*) FROM clients c WHERE NOT EXISTS (SELECT 1 FROM loans l WHERE l.client_id = c.client_id);
-- 9: default rate by grade
SELECT grade, COUNT(*) AS loans, SUM(CASE WHEN status = 'default' THEN 1 ELSE 0 END)::float / COUNT(*) AS default_rate, AVG(interest_rate) AS avg_rate, SUM(principal) AS exposure FROM loans GROUP BY grade ORDER BY grade;
-- 10: weighted interest rate
SELECT grade, SUM(interest_rate * principal) / SUM(principal) AS weighted_rate FROM loans GROUP BY grade ORDER BY grade;
-- 11: histogram of loans
SELECT width_bucket(principal, 0, 50000, 10) AS bucket, MIN(principal) AS lowest, MAX(principal) AS highest, COUNT(*) AS n FROM loans GROUP BY bucket ORDER BY bucket;
-- 12: percentiles at once
SELECT percentile_cont(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY amount) FROM transactions WHERE channel = 'card';
-- 13: total with subtotals
SELECT COALESCE(segment, 'all') AS segment, COALESCE(city, 'all') AS city, COUNT(*) AS clients FROM clients GROUP BY ROLLUP (segment, city) ORDER BY 1, 2;
-- 14: active in both halves of the year
SELECT COUNT(*) FROM (SELECT a.client_id FROM transactions t JOIN accounts a ON a.account_id = t.account_id GROUP BY a.client_id HAVING SUM(CASE WHEN booked_at < '2024-07-01' THEN 1 ELSE 0 END) > 0 AND SUM(CASE WHEN booked_at >= '2024-07-01' THEN 1 ELSE 0 END) > 0) active;
-- 15: distinct clients by month, and growth in percent
WITH mau AS (SELECT date_trunc('month', t.booked_at)::date AS month, COUNT(DISTINCT a.client_id) AS clients FROM transactions t JOIN accounts a ON a.account_id = t.account_id GROUP BY 1) SELECT month, clients, 100.0 * (clients - LAG(clients) OVER w) / NULLIF(LAG(clients) OVER w, 0) AS growth FROM mau WINDOW w AS (ORDER BY month) ORDER BY month;
-- 16: first transaction after opening
SELECT AVG(first_day - opened_on) AS days_to_first_use FROM (SELECT a.account_id, a.opened_on, MIN(t.booked_at)::date AS first_day FROM accounts a JOIN transactions t ON t.account_id = a.account_id GROUP BY a.account_id, a.opened_on) u WHERE first_day >= opened_on;
-- 17: weekday and weekend
SELECT CASE EXTRACT(isodow FROM booked_at) WHEN 6 THEN 'weekend' WHEN 7 THEN 'weekend' ELSE 'weekday' END AS kind, COUNT(*) AS n, AVG(amount) AS avg_amount FROM transactions GROUP BY kind;
-- 18: names of weekdays
SELECT dayname(booked_at) AS weekday, COUNT(*) AS n FROM transactions GROUP BY weekday ORDER BY n DESC;
-- 19: two groups compared
SELECT a.volume AS retail, b.volume AS business, a.volume / b.volume AS ratio FROM (SELECT SUM(amount) AS volume FROM transactions JOIN accounts USING (account_id) JOIN clients USING (client_id) WHERE segment = 'retail') a, (SELECT SUM(amount) AS volume FROM transactions JOIN accounts USING (account_id) JOIN clients USING (client_id) WHERE segment = 'business') b;
-- 20: quintiles of cities by clients
SELECT city, COUNT(*) AS clients, NTILE(3) OVER (ORDER BY COUNT(*) DESC) AS third FROM clients GROUP BY city ORDER BY third, city;
-- 21: running total within the year
SELECT EXTRACT(year FROM booked_at) AS y, EXTRACT(month FROM booked_at) AS m, SUM(amount) AS volume, SUM(SUM(amount)) OVER (PARTITION BY EXTRACT(year FROM booked_at) ORDER BY EXTRACT(month FROM booked_at)) AS ytd FROM transactions GROUP BY 1, 2 ORDER BY 1, 2;
-- 22: countries of merchants that matter
SELECT merchant_country, COUNT(*) AS n FROM transactions WHERE merchant_country IS NOT NULL GROUP BY merchant_country HAVING COUNT(*) > (SELECT COUNT(*) * 0.05 FROM transactions) ORDER BY n DESC;
-- 23: salaries
SELECT CASE WHEN salary < 2000 THEN 'under 2000' WHEN salary < 4000 THEN '2000 to 4000' ELSE 'over 4000' END AS band, COUNT(*) AS clients FROM (SELECT a.client_id, AVG(t.amount) AS salary FROM transactions t JOIN accounts a ON a.account_id = t.account_id WHERE t.category = 'salary' GROUP BY a.client_id) s GROUP BY band;
-- 24: days since the last transaction
SELECT CASE WHEN idle < 30 THEN 'active' WHEN idle < 90 THEN 'slipping' ELSE 'dormant' END AS state, COUNT(*) AS accounts FROM (SELECT account_id, DATE '2024-12-31' - MAX(booked_at)::date AS idle FROM transactions GROUP BY account_id) i GROUP BY state ORDER BY accounts DESC;
-- 25: spread of amounts
SELECT channel, AVG(amount) AS mean, STDDEV_SAMP(amount) AS sd, STDDEV_SAMP(amount) / AVG(amount) AS cv, VAR_POP(amount) AS variance FROM transactions GROUP BY channel HAVING COUNT(*) > 1000;
-- 26: the month with the largest volume
SELECT month, volume FROM (SELECT date_trunc('month', booked_at) AS month, SUM(amount) AS volume FROM transactions GROUP BY 1) t ORDER BY volume DESC LIMIT 1;
-- 27: transactions of the hundred largest clients: how concentrated is the volume?
SELECT SUM(CASE WHEN volume > 20000 THEN volume ELSE 0 END) / SUM(volume) AS concentration FROM (SELECT a.client_id, LEAST(SUM(t.amount), 100000) AS volume FROM transactions t JOIN accounts a USING (account_id) GROUP BY a.client_id) v;
-- 28: time between transactions of an account, in hours
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY hours) AS median_hours FROM (SELECT date_diff('hour', LAG(booked_at) OVER (PARTITION BY account_id ORDER BY booked_at), booked_at) AS hours FROM transactions) t;
-- 29: clients by age at the first account
SELECT age_at_opening / 10 * 10 AS decade, COUNT(*) AS clients FROM (SELECT c.client_id, date_part('year', age(MIN(a.opened_on), c.birth_date))::int AS age_at_opening FROM clients c JOIN accounts a ON a.client_id = c.client_id GROUP BY c.client_id, c.birth_date) o GROUP BY 1 ORDER BY 1;
-- 30: share of each channel over time
SELECT date_trunc('quarter', booked_at) AS quarter, channel, COUNT(*) AS n, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER (PARTITION BY date_trunc('quarter', booked_at)) AS share, RANK() OVER (PARTITION BY date_trunc('quarter', booked_at) ORDER BY COUNT(*) DESC) AS place FROM transactions GROUP BY 1, 2 ORDER BY 1, 2;
