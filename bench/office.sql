-- What a hospital's office asks. Each question stands below its price and its words; ./run bench office asks them.

-- 0.1 How many patients came in two years?
SELECT COUNT(DISTINCT patient_id) AS patients FROM visits;
-- 0.3 How many visits were there?
SELECT COUNT(*) AS visits FROM visits;
-- 0.5 How many patients came in each year?
SELECT EXTRACT(year FROM day) AS year, COUNT(DISTINCT patient_id) AS patients FROM visits GROUP BY year;
-- 0.5 How many visits in each year?
SELECT EXTRACT(year FROM day) AS year, COUNT(*) AS visits FROM visits GROUP BY year;
-- 1 How many visits in each month?
SELECT date_trunc('month', day) AS month, COUNT(*) AS visits FROM visits GROUP BY month;
-- 1 How many visits in each ward?
SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward;
-- 1 How many patients in each ward?
SELECT ward, COUNT(DISTINCT patient_id) AS patients FROM visits GROUP BY ward;
-- 0.3 How many visits of women and of men?
SELECT sex, COUNT(*) AS visits FROM visits GROUP BY sex;
-- 0.3 How many women and men came?
SELECT sex, COUNT(DISTINCT patient_id) AS patients FROM visits GROUP BY sex;
-- 0.5 How many patients of 80 and more came?
SELECT COUNT(DISTINCT patient_id) AS patients FROM visits WHERE age >= 80;
-- 0.5 How many visits of children?
SELECT COUNT(*) AS visits FROM visits WHERE age < 18;
-- 1 How many visits in maternity in 2024?
SELECT COUNT(*) AS visits FROM visits WHERE ward = 'maternity' AND day >= DATE '2024-01-01';
-- 0.5 How many patients had a burn treated?
SELECT COUNT(DISTINCT patient_id) AS patients FROM visits WHERE ward = 'burns';
-- 0.3 What did all visits cost?
SELECT SUM(cost) AS total_cost FROM visits;
-- 1 What did each ward cost?
SELECT ward, SUM(cost) AS total_cost FROM visits GROUP BY ward;
-- 0.5 What did 2024 cost?
SELECT SUM(cost) AS total_cost FROM visits WHERE day >= DATE '2024-01-01';
-- 0.3 What does a visit cost in the mean?
SELECT AVG(cost) AS mean_cost FROM visits;
-- 1 What does a visit cost in each ward?
SELECT ward, AVG(cost) AS mean_cost FROM visits GROUP BY ward;
-- 0.5 How old are those who come, in the mean over visits?
SELECT AVG(age) AS mean_age FROM visits;
-- 0.5 How old are women and men who come?
SELECT sex, AVG(age) AS mean_age FROM visits GROUP BY sex;
-- 0.3 What does the visit in the middle cost?
SELECT MEDIAN(cost) AS median_cost FROM visits;
-- 1 What do most visits cost at most?
SELECT PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY cost) AS quarter, PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY cost) AS half, PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY cost) AS ninety FROM visits;
-- 0.5 How old is the visitor in the middle?
SELECT MEDIAN(age) AS median_age FROM visits;
-- 1 How old is the visitor in the middle of each ward?
SELECT ward, MEDIAN(age) AS median_age FROM visits GROUP BY ward;
-- 0.5 How far apart are costs?
SELECT STDDEV(cost) AS spread FROM visits;
-- 0.5 Which share of the visits is an emergency?
SELECT 100.0 * SUM(CASE WHEN ward = 'emergency' THEN 1 ELSE 0 END) / COUNT(*) AS percent FROM visits;
-- 1 Which share of the visits has each ward?
SELECT ward, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS percent FROM visits GROUP BY ward;
-- 0.5 How many visits per patient?
SELECT COUNT(*) * 1.0 / COUNT(DISTINCT patient_id) AS visits_per_patient FROM visits;
-- 0.3 How many visits has the patient in the mean, at most 20 counted?
SELECT AVG(CLAMP(visits, 0, 20)) AS visits_per_patient FROM (SELECT patient_id, COUNT(*) AS visits FROM visits GROUP BY patient_id) AS p;
-- 0.5 How many patients came more than five times?
SELECT COUNT(*) AS patients FROM (SELECT patient_id, COUNT(*) AS visits FROM visits GROUP BY patient_id) AS p WHERE visits > 5;
-- 0.5 How many visits were dear?
SELECT COUNT(*) AS visits FROM visits WHERE cost >= 5000;
-- 0.3 Which ward has most visits?
SELECT MODE() WITHIN GROUP (ORDER BY ward) AS ward FROM visits;
-- 1 How many visits by ten years of age?
SELECT FLOOR(age / 10) * 10 AS age_from, COUNT(*) AS visits FROM visits GROUP BY age_from;
-- 1 Visits by ward and sex, with totals?
SELECT ward, sex, COUNT(*) AS visits FROM visits GROUP BY ROLLUP (ward, sex);
-- 1 Visits, patients and mean cost together?
SELECT COUNT(*) AS visits, COUNT(DISTINCT patient_id) AS patients, AVG(cost) AS mean_cost FROM visits;
