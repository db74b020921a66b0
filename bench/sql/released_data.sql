-- The tables of bench/sql/released.sql: a shop with ROWS orders of CUSTOMERS customers, a hospital with STAYS
-- stays of PATIENTS patients. dice(i, salt, n) is a number from 0 to n - 1.
CREATE MACRO dice(i, salt, n) AS CAST(hash(i, salt) % n AS INTEGER);
CREATE TABLE orders AS SELECT
  dice(i, 'customer', CUSTOMERS) AS customer,
  ['north', 'south', 'east', 'west'][dice(i // 7, 'region', 4) + 1] AS region,
  'p' || (1 + least(dice(i, 'p', 5), dice(i, 'q', 5))) AS product,
  1 + dice(i, 'amount', 200) AS amount,
  DATE '2023-01-01' + dice(i, 'day', 731) AS day
FROM range(ROWS) t(i);
CREATE TABLE regions AS SELECT * FROM (VALUES ('north', 'Ann', 2000000), ('south', 'Bob', 2500000), ('east', 'Cid', 1500000), ('west', 'Dee', 3000000)) t(name, manager, target);
CREATE TABLE stays AS SELECT
  dice(i, 'patient', PATIENTS) AS patient,
  ['cardio', 'ortho', 'neuro'][1 + least(dice(i, 'w', 3), dice(i, 'v', 3))] AS ward,
  ['A', 'B', 'C'][1 + dice(i, 'diagnosis', 3)] AS diagnosis,
  dice(i, 'nights', 31) AS nights,
  dice(i, 'age', 100) AS age,
  DATE '2023-01-01' + dice(i, 'admitted', 731) AS admitted
FROM range(STAYS) t(i);
CREATE TABLE beds AS SELECT * FROM (VALUES ('cardio', 40), ('ortho', 30), ('neuro', 20), ('derma', 10)) t(ward, beds);
