-- The tables of timeline_shop.yaml and timeline_ward.yaml. USERS, SESSIONS, EVENTS, ORDERS, PATIENTS, STAYS and LABS are
-- the numbers of rows. roll(i, salt, n) is a number from 0 to n - 1.
CREATE MACRO roll(i, salt, n) AS CAST(hash(i, salt) % n AS BIGINT);
CREATE MACRO pick(i, salt, list) AS list[roll(i, salt, len(list)) + 1];
CREATE TABLE users AS SELECT CAST(i AS INTEGER) AS user_id, DATE '2023-01-01' + CAST(roll(i, 'us', 600) AS INTEGER) AS signed_up,
  pick(i, 'uc', ['DE', 'FR', 'PL', 'US']) AS country FROM range(1, USERS + 1) t(i);
CREATE TABLE sessions AS SELECT CAST(i AS INTEGER) AS session_id, CAST(roll(i, 'su', USERS) + 1 AS INTEGER) AS user_id,
  TIMESTAMP '2023-01-01' + to_seconds(roll(i, 'st', 700 * 86400)) AS started_at,
  pick(i, 'sd', ['desktop', 'phone', 'tablet']) AS device FROM range(1, SESSIONS + 1) t(i);
CREATE TABLE events AS SELECT CAST(i AS INTEGER) AS event_id, CAST(roll(i, 'es', SESSIONS) + 1 AS INTEGER) AS session_id,
  TIMESTAMP '2023-01-01' + to_seconds(roll(roll(i, 'es', SESSIONS) + 1, 'st', 700 * 86400) + roll(i, 'et', 3600)) AS happened_at,
  pick(i, 'ek', ['view', 'view', 'view', 'add', 'buy']) AS kind FROM range(1, EVENTS + 1) t(i);
CREATE TABLE orders AS SELECT CAST(i AS INTEGER) AS order_id, CAST(roll(i, 'ou', USERS) + 1 AS INTEGER) AS user_id,
  TIMESTAMP '2023-01-01' + to_seconds(roll(i, 'ot', 700 * 86400)) AS ordered_at,
  CAST(roll(i, 'oa', 90000) / 100 AS DECIMAL(10,2)) AS amount FROM range(1, ORDERS + 1) t(i);
CREATE TABLE patients AS SELECT CAST(i AS INTEGER) AS patient_id, DATE '1930-01-01' + CAST(roll(i, 'pb', 30000) AS INTEGER) AS born,
  pick(i, 'ps', ['f', 'm']) AS sex FROM range(1, PATIENTS + 1) t(i);
CREATE TABLE stays AS SELECT CAST(i AS INTEGER) AS stay_id, CAST(roll(i, 'pp', PATIENTS) + 1 AS INTEGER) AS patient_id,
  TIMESTAMP '2022-01-01' + to_hours(roll(i, 'pa', 24 * 900)) AS admitted_at,
  TIMESTAMP '2022-01-01' + to_hours(roll(i, 'pa', 24 * 900) + 6 + roll(i, 'pd', 480)) AS discharged_at,
  pick(i, 'pw', ['surgery', 'medicine', 'maternity', 'intensive']) AS ward FROM range(1, STAYS + 1) t(i);
CREATE TABLE labs AS SELECT CAST(i AS INTEGER) AS lab_id, CAST(roll(i, 'ls', STAYS) + 1 AS INTEGER) AS stay_id,
  TIMESTAMP '2022-01-01' + to_hours(roll(roll(i, 'ls', STAYS) + 1, 'pa', 24 * 900) + roll(i, 'lh', 200)) AS taken_at,
  pick(i, 'lt', ['creatinine', 'sodium', 'lactate']) AS test, CAST(roll(i, 'lv', 4000) / 10 AS DECIMAL(8,2)) AS value
  FROM range(1, LABS + 1) t(i);
