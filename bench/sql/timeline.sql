-- Twenty questions about what people do over time, as an analyst types them for PostgreSQL: the first
-- fourteen of the shop of timeline_shop.yaml, the others of the hospital of timeline_ward.yaml. They were written before
-- brume answered any of them.
SELECT COUNT(*), AVG(amount) AS first_order
FROM (SELECT DISTINCT ON (user_id) user_id, amount FROM orders ORDER BY user_id, ordered_at) AS f;
SELECT n, COUNT(*) AS orders, AVG(amount) AS amount
FROM (SELECT user_id, amount, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY ordered_at) AS n FROM orders) AS t
WHERE n <= 5 GROUP BY n ORDER BY n;
WITH gaps AS (
  SELECT user_id, ordered_at, LAG(ordered_at) OVER (PARTITION BY user_id ORDER BY ordered_at) AS previous FROM orders)
SELECT AVG(EXTRACT(EPOCH FROM (ordered_at - previous)) / 86400) AS days_between_orders
FROM gaps WHERE previous IS NOT NULL;
WITH firsts AS (SELECT user_id, MIN(ordered_at) AS first_at FROM orders GROUP BY user_id)
SELECT COUNT(DISTINCT f.user_id) AS back_within_30_days
FROM firsts f JOIN orders o ON o.user_id = f.user_id
WHERE o.ordered_at > f.first_at AND o.ordered_at <= f.first_at + INTERVAL '30 days';
SELECT country, AVG(CASE WHEN EXISTS (SELECT 1 FROM orders o WHERE o.user_id = u.user_id) THEN 1 ELSE 0 END) AS buyers
FROM users u GROUP BY country ORDER BY country;
WITH hits AS (
  SELECT s.user_id, e.happened_at,
    LAG(e.happened_at) OVER (PARTITION BY s.user_id ORDER BY e.happened_at) AS before
  FROM events e JOIN sessions s ON s.session_id = e.session_id)
SELECT COUNT(*) AS visits
FROM hits WHERE before IS NULL OR happened_at - before > INTERVAL '30 minutes';
WITH hits AS (
  SELECT s.user_id, e.happened_at,
    LAG(e.happened_at) OVER (PARTITION BY s.user_id ORDER BY e.happened_at) AS before
  FROM events e JOIN sessions s USING (session_id)),
numbered AS (
  SELECT user_id, SUM(CASE WHEN before IS NULL OR happened_at - before > INTERVAL '30 minutes' THEN 1 ELSE 0 END)
    OVER (PARTITION BY user_id ORDER BY happened_at) AS visit
  FROM hits)
SELECT AVG(LEAST(n, 50)) AS events_per_visit
FROM (SELECT user_id, visit, COUNT(*) AS n FROM numbered GROUP BY user_id, visit) AS v;
SELECT SUM(viewed) AS viewed, SUM(added) AS added, SUM(bought) AS bought
FROM (
  SELECT session_id,
    MAX(CASE WHEN kind = 'view' THEN 1 ELSE 0 END) AS viewed,
    MAX(CASE WHEN kind = 'add' THEN 1 ELSE 0 END) AS added,
    MAX(CASE WHEN kind = 'buy' THEN 1 ELSE 0 END) AS bought
  FROM events GROUP BY session_id) AS funnel;
SELECT s.device, AVG(LEAST(e.n, 100)) AS events
FROM sessions s JOIN (SELECT session_id, COUNT(*) AS n FROM events GROUP BY session_id) AS e ON e.session_id = s.session_id
GROUP BY s.device ORDER BY s.device;
SELECT device, COUNT(*)
FROM (SELECT user_id, device, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY started_at DESC) AS latest FROM sessions) AS t
WHERE latest = 1 GROUP BY device ORDER BY device;
SELECT COUNT(*) FILTER (WHERE device <> previous) AS changed, COUNT(previous) AS returns
FROM (SELECT device, LAG(device) OVER (PARTITION BY user_id ORDER BY started_at) AS previous FROM sessions) AS t;
SELECT AVG(days) AS days_to_first_order
FROM (
  SELECT (SELECT MIN(o.ordered_at) FROM orders o WHERE o.user_id = u.user_id)::date - u.signed_up AS days
  FROM users u) AS t
WHERE days >= 0;
SELECT month, COUNT(*) AS active_users
FROM (SELECT DISTINCT user_id, date_trunc('month', started_at) AS month FROM sessions) AS t
GROUP BY month ORDER BY month;
SELECT CASE WHEN NOT EXISTS (
    SELECT 1 FROM sessions s WHERE s.user_id = u.user_id AND s.started_at >= TIMESTAMP '2024-10-01')
  THEN 'gone' ELSE 'active' END AS state, COUNT(*)
FROM users u GROUP BY 1 ORDER BY 1;
SELECT ward, AVG(CASE WHEN next_at - discharged_at <= INTERVAL '30 days' THEN 1 ELSE 0 END) AS readmitted
FROM (
  SELECT ward, discharged_at, LEAD(admitted_at) OVER (PARTITION BY patient_id ORDER BY admitted_at) AS next_at
  FROM stays) AS t
GROUP BY ward ORDER BY ward;
SELECT COUNT(*) FILTER (WHERE EXISTS (
    SELECT 1 FROM stays r WHERE r.patient_id = s.patient_id AND r.admitted_at > s.discharged_at
      AND r.admitted_at <= s.discharged_at + INTERVAL '30 days')) AS readmitted,
  COUNT(*) AS stays
FROM stays s;
SELECT ward, AVG(EXTRACT(EPOCH FROM discharged_at - admitted_at) / 3600) AS hours
FROM stays GROUP BY ward ORDER BY ward;
SELECT s.ward, AVG(EXTRACT(YEAR FROM AGE(s.admitted_at, p.born))) AS age
FROM stays s JOIN patients p ON p.patient_id = s.patient_id GROUP BY s.ward ORDER BY s.ward;
SELECT AVG(last_value - first_value) AS change
FROM (
  SELECT DISTINCT stay_id,
    FIRST_VALUE(value) OVER (PARTITION BY stay_id ORDER BY taken_at) AS first_value,
    LAST_VALUE(value) OVER (PARTITION BY stay_id ORDER BY taken_at
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS last_value
  FROM labs WHERE test = 'creatinine') AS t;
SELECT sex, AVG(LEAST(stays, 20)) AS stays
FROM (SELECT p.sex, (SELECT COUNT(*) FROM stays s WHERE s.patient_id = p.patient_id) AS stays FROM patients p) AS t
GROUP BY sex ORDER BY sex;
