-- the wards, one by one
SELECT ward, COUNT(*) AS patients
  FROM visits GROUP BY ward;
SELECT AVG(age) AS mean_age FROM visits;
