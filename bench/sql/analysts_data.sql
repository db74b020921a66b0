-- The tables of analysts_shop.yaml, analysts_hospital.yaml and analysts_telecom.yaml, and that of the group-by benchmark,
-- made by hashes. PEOPLE is the number of customers, of patients and of subscribers, ROWS that of the benchmark's rows.
-- toss(i, salt, n) is a number from 0 to n - 1.
CREATE MACRO toss(i, salt, n) AS CAST(hash(i, salt) % n AS INTEGER);
CREATE MACRO choose(i, salt, list) AS list[toss(i, salt, len(list)) + 1];
CREATE TABLE products AS SELECT CAST(i AS INTEGER) AS product_id, 'product ' || i AS name, choose(i, 'c', ['books', 'games', 'garden', 'toys']) AS category, choose(i, 'b', ['Acme', 'Bolt', 'Crest', 'Dune', 'Elm']) AS brand,
  CAST(5 + toss(i, 'p', 19500) / 100.0 AS DECIMAL(8,2)) AS price, CAST(2 + toss(i, 'p', 19500) / 180.0 AS DECIMAL(8,2)) AS cost FROM range(1, 61) t(i);
CREATE TABLE customers AS SELECT CAST(i AS INTEGER) AS customer_id, 'user' || i || '@example.org' AS email, choose(i, 'cc', ['DE', 'DE', 'FR', 'UK', 'IT', 'ES']) AS country, choose(i, 'cg', ['f', 'm', 'x']) AS gender,
  DATE '1940-01-01' + toss(i, 'cb', 24000) AS birth_date, DATE '2021-01-01' + toss(i, 'cs', 1095) AS signup_date, toss(i, 'cn', 3) = 0 AS newsletter FROM range(1, PEOPLE + 1) t(i);
CREATE TABLE orders AS SELECT CAST(row_number() OVER () AS INTEGER) AS order_id, CAST(i AS INTEGER) AS customer_id, TIMESTAMP '2023-01-01' + to_minutes(CAST(toss(i * 64 + j, 'ot', 1051200) AS BIGINT)) AS order_date,
  choose(i * 64 + j, 'oc', ['web', 'app', 'shop']) AS channel, choose(i * 64 + j, 'os', ['paid', 'paid', 'paid', 'paid', 'returned', 'cancelled']) AS status, 1 + toss(i * 64 + j, 'op', 60) AS product_id, 1 + toss(i * 64 + j, 'oq', 5) AS quantity,
  CAST(1 + toss(i * 64 + j, 'oa', 30000) / 100.0 AS DECIMAL(8,2)) AS total_amount FROM range(1, PEOPLE + 1) t(i), range(12) u(j) WHERE j < toss(i, 'on', 8);
CREATE TABLE sessions AS SELECT CAST(row_number() OVER () AS INTEGER) AS session_id, CAST(i AS INTEGER) AS customer_id, TIMESTAMP '2024-01-01' + to_minutes(CAST(toss(i * 64 + j, 'st', 500000) AS BIGINT)) AS started_at,
  TIMESTAMP '2024-01-01' + to_minutes(CAST(toss(i * 64 + j, 'st', 500000) + 1 + toss(i * 64 + j, 'se', 90) AS BIGINT)) AS ended_at, choose(i * 64 + j, 'sd', ['desktop', 'phone', 'tablet']) AS device,
  choose(i * 64 + j, 'sb', ['chrome', 'firefox', 'safari']) AS browser, choose(i * 64 + j, 'ss', ['ads', 'mail', 'search', 'social', 'direct']) AS source FROM range(1, PEOPLE + 1) t(i), range(12) u(j) WHERE j < toss(i, 'sn', 10);
CREATE TABLE events AS SELECT CAST(row_number() OVER () AS INTEGER) AS event_id, session_id, started_at + to_seconds(CAST(j * 40 AS BIGINT)) AS event_time, choose(session_id * 64 + j, 'et', ['view', 'view', 'view', 'add_to_cart', 'checkout', 'purchase']) AS event_type
  FROM sessions, range(12) u(j) WHERE j <= toss(session_id, 'en', 8);
CREATE TABLE patients AS SELECT CAST(i AS INTEGER) AS patient_id, DATE '1925-01-01' + toss(i, 'pb', 36000) AS birth_date, choose(i, 'px', ['f', 'm']) AS sex, choose(i, 'pi', ['public', 'public', 'private', 'none']) AS insurance FROM range(1, PEOPLE + 1) t(i);
CREATE TABLE admissions AS SELECT CAST(row_number() OVER () AS INTEGER) AS admission_id, CAST(i AS INTEGER) AS patient_id, TIMESTAMP '2023-01-01' + to_hours(CAST(toss(i * 64 + j, 'at', 17000) AS BIGINT)) AS admit_time,
  CASE WHEN toss(i * 64 + j, 'an', 50) > 0 THEN TIMESTAMP '2023-01-01' + to_hours(CAST(toss(i * 64 + j, 'at', 17000) + 5 + toss(i * 64 + j, 'al', 400) AS BIGINT)) END AS discharge_time,
  choose(i * 64 + j, 'ad', ['surgery', 'medicine', 'maternity', 'paediatrics', 'neurology']) AS department, choose(i * 64 + j, 'ay', ['emergency', 'planned', 'transfer']) AS admission_type,
  choose(i * 64 + j, 'as', ['home', 'home', 'home', 'home', 'home', 'transfer', 'died']) AS discharge_status, CAST(500 + toss(i * 64 + j, 'ac', 1500000) / 100.0 AS DECIMAL(9,2)) AS cost FROM range(1, PEOPLE + 1) t(i), range(9) u(j) WHERE j < 1 + toss(i, 'am', 6);
CREATE TABLE diagnoses AS SELECT admission_id, choose(admission_id * 64 + j, 'dc', ['E11.9', 'I10', 'I25.1', 'J44.1', 'N18.3', 'K35', 'O80', 'S72.0', 'F32', 'M16']) AS icd_code, j = 0 AS is_primary FROM admissions, range(6) u(j) WHERE j <= toss(admission_id, 'dn', 4);
CREATE TABLE labs AS SELECT admission_id, choose(admission_id * 64 + j, 'lt', ['creatinine', 'sodium', 'lactate', 'crp']) AS test_name, admit_time + to_hours(CAST(1 + j * 7 AS BIGINT)) AS taken_at,
  CAST(toss(admission_id * 64 + j, 'lv', 2000) / 10.0 AS DECIMAL(8,2)) AS result_value, toss(admission_id * 64 + j, 'lv', 2000) > 1500 AS abnormal FROM admissions, range(9) u(j) WHERE j < toss(admission_id, 'ln', 8);
CREATE TABLE beds AS SELECT * FROM (VALUES ('surgery', 60), ('medicine', 80), ('maternity', 30), ('paediatrics', 25), ('neurology', 20)) t(department, beds);
CREATE TABLE plans AS SELECT * FROM (VALUES (1, 'basic', 9.99, 2), (2, 'plus', 19.99, 10), (3, 'max', 39.99, 50), (4, 'family', 59.99, 100)) t(plan_id, plan_name, monthly_fee, data_gb);
CREATE TABLE cells AS SELECT CAST(i AS INTEGER) AS cell_id, choose(i, 'ct', ['4G', '4G', '5G', '3G']) AS technology, choose(i, 'cr', ['north', 'south', 'east', 'west']) AS region FROM range(1, 201) t(i);
CREATE TABLE subscribers AS SELECT CAST(i AS INTEGER) AS subscriber_id, 1 + toss(i, 'tp', 4) AS plan_id, choose(i, 'tr', ['north', 'south', 'east', 'west']) AS region, choose(i, 'tc', ['A', 'B', 'C', 'D']) AS credit_class, 1935 + toss(i, 'tb', 70) AS birth_year,
  DATE '2020-01-01' + toss(i, 'ta', 1400) AS activated_on, CASE WHEN toss(i, 'tx', 4) = 0 THEN DATE '2024-01-01' + toss(i, 'td', 365) END AS churned_on FROM range(1, PEOPLE + 1) t(i);
CREATE TABLE calls AS SELECT CAST(i AS INTEGER) AS subscriber_id, TIMESTAMP '2024-01-01' + to_seconds(CAST(toss(i * 64 + j, 'kt', 31500000) AS BIGINT)) AS started_at, CAST(-180 * ln((1 + toss(i * 64 + j, 'kd', 999)) / 1000.0) AS INTEGER) AS duration_sec,
  choose(i * 64 + j, 'ky', ['national', 'national', 'national', 'international', 'roaming']) AS call_type, 1 + toss(i * 64 + j, 'kc', 200) AS cell_id, toss(i * 64 + j, 'kx', 40) = 0 AS dropped FROM range(1, PEOPLE + 1) t(i), range(30) u(j) WHERE j < toss(i, 'kn', 20);
CREATE TABLE data_usage AS SELECT CAST(i AS INTEGER) AS subscriber_id, DATE '2024-07-01' + toss(i * 64 + j, 'ud', 180) AS usage_date, choose(i * 64 + j, 'ur', ['4G', '4G', '5G', '3G']) AS rat, CAST(-400 * ln((1 + toss(i * 64 + j, 'um', 999)) / 1000.0) AS INTEGER) AS mb
  FROM range(1, PEOPLE + 1) t(i), range(40) u(j) WHERE j < toss(i, 'un', 30);
CREATE TABLE bills AS SELECT CAST(i AS INTEGER) AS subscriber_id, CAST(DATE '2024-01-01' + to_months(CAST(j AS INTEGER)) AS DATE) AS bill_month, CAST(9.99 + toss(i * 64 + j, 'ba', 12000) / 100.0 AS DECIMAL(8,2)) AS amount,
  CAST(DATE '2024-01-15' + to_months(CAST(j AS INTEGER)) AS DATE) AS due_on, CASE WHEN toss(i * 64 + j, 'bp', 20) > 0 THEN CAST(DATE '2024-01-05' + to_months(CAST(j AS INTEGER)) AS DATE) + toss(i * 64 + j, 'bq', 25) END AS paid_on FROM range(1, PEOPLE + 1) t(i), range(12) u(j) WHERE toss(i, 'bn', 13) > j;
CREATE TABLE tickets AS SELECT CAST(i AS INTEGER) AS subscriber_id, TIMESTAMP '2024-01-01' + to_minutes(CAST(toss(i * 64 + j, 'it', 520000) AS BIGINT)) AS opened_at,
  CASE WHEN toss(i * 64 + j, 'io', 15) > 0 THEN TIMESTAMP '2024-01-01' + to_minutes(CAST(toss(i * 64 + j, 'it', 520000) + 10 + toss(i * 64 + j, 'ic', 9000) AS BIGINT)) END AS closed_at,
  choose(i * 64 + j, 'ip', ['billing', 'network', 'device', 'contract']) AS topic, 1 + toss(i * 64 + j, 'is', 5) AS satisfaction FROM range(1, PEOPLE + 1) t(i), range(4) u(j) WHERE j < toss(i, 'in', 4);
CREATE TABLE x AS SELECT printf('id%03d', toss(i, '1', 100) + 1) AS id1, printf('id%03d', toss(i, '2', 100) + 1) AS id2, printf('id%010d', toss(i, '3', ROWS // 100) + 1) AS id3, toss(i, '4', 100) + 1 AS id4, toss(i, '5', 100) + 1 AS id5,
  toss(i, '6', ROWS // 100) + 1 AS id6, toss(i, '7', 5) + 1 AS v1, toss(i, '8', 15) + 1 AS v2, toss(i, '9', 100000000) / 1000000.0 AS v3 FROM range(ROWS) t(i);
