-- A shop, a hospital and the table of the group-by benchmark, made by hashes. PEOPLE is the number of
-- customers and of patients, ROWS that of the benchmark's rows. part(i, salt) is a number from 0 to 1.
CREATE MACRO whole(i, salt, n) AS CAST(hash(i, salt) % n AS INTEGER);
CREATE MACRO part(i, salt) AS (hash(i, salt) % 1000000) / 1000000.0;
CREATE MACRO one_of(i, salt, list) AS list[whole(i, salt, len(list)) + 1];
CREATE TABLE products AS SELECT CAST(i AS INTEGER) AS product_id, one_of(i, 'pc', ['books', 'games', 'garden', 'toys']) AS category,
  CAST(5 + whole(i, 'pp', 19500) / 100.0 AS DECIMAL(8,2)) AS price FROM range(1, 201) t(i);
CREATE TABLE customers AS SELECT CAST(i AS INTEGER) AS customer_id, DATE '2023-01-01' + whole(i, 'cs', 730) AS signed_up,
  one_of(i, 'cc', ['DE', 'DE', 'FR', 'UK', 'UK', 'IT', 'ES', 'PL']) AS country, 18 + whole(i, 'ca', 70) AS age FROM range(1, PEOPLE + 1) t(i);
CREATE TABLE orders AS SELECT CAST(row_number() OVER () AS INTEGER) AS order_id, CAST(i AS INTEGER) AS customer_id,
  TIMESTAMP '2024-01-01' + to_minutes(CAST(whole(i * 64 + j, 'ot', 525600) AS BIGINT)) AS ordered_at,
  one_of(i * 64 + j, 'oc', ['web', 'app', 'shop']) AS channel, whole(i * 64 + j, 'op', 200) + 1 AS product_id, 1 + whole(i * 64 + j, 'oq', 9) AS quantity,
  CAST((1 + whole(i * 64 + j, 'oq', 9)) * 40 + whole(i * 64 + j, 'oa', 10000) / 100.0 AS DECIMAL(8,2)) AS amount
  FROM range(1, PEOPLE + 1) t(i), range(40) u(j) WHERE j < floor(-3 * ln(1 - part(i, 'on')));
CREATE TABLE events AS SELECT CAST(i AS INTEGER) AS customer_id, ['control', 'new'][i % 2 + 1] AS variant, step
  FROM range(1, PEOPLE + 1) t(i), (VALUES ('visit', 1.0), ('cart', 0.4), ('purchase', 0.12)) s(step, share), range(5) u(j)
  WHERE part(i, 'es') < share AND j <= whole(i, step, 5);
CREATE TABLE patients AS SELECT CAST(i AS INTEGER) AS patient_id, ['f', 'm'][whole(i, 'hs', 2) + 1] AS sex, 1930 + whole(i, 'hb', 80) AS birth_year,
  CAST(18 + whole(i, 'hb', 80) / 10.0 + 12 * part(i, 'hw') AS DECIMAL(5,1)) AS bmi FROM range(1, PEOPLE + 1) t(i);
CREATE TABLE stays AS SELECT CAST(i AS INTEGER) AS patient_id, one_of(i * 64 + j, 'sw', ['surgery', 'medicine', 'maternity', 'children']) AS ward,
  DATE '2024-01-01' + whole(i * 64 + j, 'sa', 366) AS admitted, 1 + whole(i * 64 + j, 'sd', 30) AS days,
  CASE WHEN part(i * 64 + j, 'sn') < 0.9 THEN whole(i * 64 + j, 'sv', 5) END AS severity,
  CAST(300 * (1 + whole(i * 64 + j, 'sd', 30)) + 4000 * part(i * 64 + j, 'sc') AS DECIMAL(9,2)) AS cost
  FROM range(1, PEOPLE + 1) t(i), range(30) u(j) WHERE j < floor(1 - 2 * ln(1 - part(i, 'sk')));
CREATE TABLE x AS SELECT printf('id%03d', whole(i, '1', 100) + 1) AS id1, printf('id%03d', whole(i, '2', 100) + 1) AS id2,
  printf('id%010d', whole(i, '3', ROWS // 100) + 1) AS id3, whole(i, '4', 100) + 1 AS id4, whole(i, '5', 100) + 1 AS id5,
  whole(i, '6', ROWS // 100) + 1 AS id6, whole(i, '7', 5) + 1 AS v1, whole(i, '8', 15) + 1 AS v2, round(100 * part(i, '9'), 6) AS v3 FROM range(ROWS) t(i);
