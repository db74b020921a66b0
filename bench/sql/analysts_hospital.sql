-- Twenty questions of a hospital's controller, typed for PostgreSQL or DuckDB without a look at docs/sql.md, before
-- it was tried which are answered.
-- 1: admissions by department and month
SELECT department, date_trunc('month', admit_time) AS month, COUNT(*) AS admissions FROM admissions GROUP BY department, month ORDER BY department, month;
-- 2: length of stay by department
SELECT department, AVG(EXTRACT(EPOCH FROM (discharge_time - admit_time)) / 86400.0) AS avg_los_days, STDDEV(EXTRACT(EPOCH FROM (discharge_time - admit_time)) / 86400.0) AS sd_los FROM admissions WHERE discharge_time IS NOT NULL GROUP BY department ORDER BY avg_los_days DESC;
-- 3: readmission within 30 days
WITH ordered AS (SELECT patient_id, admit_time, discharge_time, LEAD(admit_time) OVER (PARTITION BY patient_id ORDER BY admit_time) AS next_admit FROM admissions)
SELECT COUNT(*) AS discharges, SUM(CASE WHEN next_admit <= discharge_time + INTERVAL '30 days' THEN 1 ELSE 0 END) AS readmitted, 100.0 * SUM(CASE WHEN next_admit <= discharge_time + INTERVAL '30 days' THEN 1 ELSE 0 END) / COUNT(*) AS readmission_rate FROM ordered;
-- 4: the most frequent diagnoses
SELECT icd_code, COUNT(DISTINCT a.patient_id) AS patients FROM diagnoses d JOIN admissions a ON a.admission_id = d.admission_id GROUP BY icd_code ORDER BY patients DESC LIMIT 10;
-- 5: patients by decade of age and sex
SELECT FLOOR(EXTRACT(YEAR FROM AGE(DATE '2024-12-31', birth_date)) / 10) * 10 AS decade, sex, COUNT(*) AS patients FROM patients GROUP BY decade, sex ORDER BY decade, sex;
-- 6: mortality by department
SELECT department, COUNT(*) AS stays, SUM(CASE WHEN discharge_status = 'died' THEN 1 ELSE 0 END) AS deaths, ROUND(100.0 * SUM(CASE WHEN discharge_status = 'died' THEN 1 ELSE 0 END) / COUNT(*), 2) AS mortality FROM admissions GROUP BY department HAVING COUNT(*) >= 50 ORDER BY mortality DESC;
-- 7: creatinine of diabetics and others
SELECT CASE WHEN EXISTS (SELECT 1 FROM diagnoses d WHERE d.admission_id = l.admission_id AND d.icd_code LIKE 'E11%') THEN 'diabetic' ELSE 'other' END AS grp, AVG(l.result_value) AS mean_creatinine, COUNT(*) AS n FROM labs l WHERE l.test_name = 'creatinine' GROUP BY 1;
-- 8: abnormal values by test
SELECT test_name, COUNT(*) AS tests, AVG(CASE WHEN abnormal THEN 1.0 ELSE 0 END) AS abnormal_share FROM labs GROUP BY test_name ORDER BY abnormal_share DESC;
-- 9: emergencies by hour
SELECT EXTRACT(HOUR FROM admit_time) AS hour, COUNT(*) AS n FROM admissions WHERE admission_type = 'emergency' GROUP BY hour ORDER BY hour;
-- 10: frequent patients
SELECT CASE WHEN n = 1 THEN '1' WHEN n BETWEEN 2 AND 3 THEN '2-3' WHEN n BETWEEN 4 AND 6 THEN '4-6' ELSE '7+' END AS stays, COUNT(*) AS patients FROM (SELECT patient_id, COUNT(*) AS n FROM admissions GROUP BY patient_id) s GROUP BY 1 ORDER BY 1;
-- 11: the last sodium of each stay
SELECT AVG(result_value) AS mean_last_sodium, PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY result_value) AS q1, PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY result_value) AS q3 FROM (SELECT admission_id, result_value, ROW_NUMBER() OVER (PARTITION BY admission_id ORDER BY taken_at DESC) AS rn FROM labs WHERE test_name = 'sodium') x WHERE rn = 1;
-- 12: insurance and cost
SELECT p.insurance, COUNT(DISTINCT p.patient_id) AS patients, SUM(a.cost) AS total_cost, SUM(a.cost) / COUNT(DISTINCT p.patient_id) AS cost_per_patient FROM patients p JOIN admissions a ON a.patient_id = p.patient_id GROUP BY p.insurance;
-- 13: beds in use on a day
SELECT COUNT(*) AS occupied FROM admissions WHERE admit_time <= TIMESTAMP '2024-06-15 12:00:00' AND (discharge_time IS NULL OR discharge_time > TIMESTAMP '2024-06-15 12:00:00');
-- 14: comorbidities
SELECT n_diagnoses, COUNT(*) AS stays, AVG(los) AS mean_los FROM (SELECT a.admission_id, DATE_DIFF('day', a.admit_time, a.discharge_time) AS los, COUNT(d.icd_code) AS n_diagnoses FROM admissions a LEFT JOIN diagnoses d ON d.admission_id = a.admission_id GROUP BY a.admission_id, a.admit_time, a.discharge_time) t GROUP BY n_diagnoses ORDER BY n_diagnoses;
-- 15: months with more admissions than the mean month
WITH m AS (SELECT date_trunc('month', admit_time) AS month, COUNT(*) AS n FROM admissions GROUP BY 1) SELECT month, n FROM m WHERE n > (SELECT AVG(n) FROM m) ORDER BY month;
-- 16: chapters of diagnoses by sex
SELECT LEFT(d.icd_code, 1) AS chapter, p.sex, COUNT(*) AS n FROM diagnoses d JOIN admissions a USING (admission_id) JOIN patients p USING (patient_id) WHERE d.is_primary GROUP BY chapter, p.sex ORDER BY n DESC;
-- 17: does age go with length of stay?
SELECT CORR(EXTRACT(YEAR FROM AGE(a.admit_time, p.birth_date)), EXTRACT(EPOCH FROM a.discharge_time - a.admit_time) / 86400) AS r, COUNT(*) AS n FROM admissions a JOIN patients p ON p.patient_id = a.patient_id;
-- 18: hours to the first lab value
SELECT a.department, AVG(EXTRACT(EPOCH FROM f.first_lab - a.admit_time) / 3600) AS hours_to_first_lab FROM admissions a JOIN (SELECT admission_id, MIN(taken_at) AS first_lab FROM labs GROUP BY admission_id) f ON f.admission_id = a.admission_id GROUP BY a.department ORDER BY 2 DESC;
-- 19: patients who were in more than one department
SELECT COUNT(*) AS patients FROM (SELECT patient_id FROM admissions GROUP BY patient_id HAVING COUNT(DISTINCT department) > 1) t;
-- 20: departments against their beds
SELECT b.department, b.beds, SUM(EXTRACT(EPOCH FROM a.discharge_time - a.admit_time) / 86400) / (b.beds * 366.0) AS occupancy FROM admissions a JOIN beds b ON b.department = a.department WHERE a.admit_time >= '2024-01-01' AND a.admit_time < '2025-01-01' GROUP BY b.department, b.beds ORDER BY occupancy DESC;
