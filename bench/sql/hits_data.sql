-- A table like ClickBench's hits: the columns that its queries name, with the published types, and
-- ROWS rows of USERS persons, whose numbers of rows are skewed. roll(i, salt, n) is a number from 0
-- to n - 1, skew(i, salt, n) one that is small far more often.
CREATE MACRO roll(i, salt, n) AS CAST(hash(i, salt) % n AS BIGINT);
CREATE MACRO skew(i, salt, n) AS CAST(floor(n * pow(roll(i, salt, 1000003) / 1000003, 4)) AS BIGINT);
CREATE TABLE hits AS SELECT
  CAST(hash(i) % 9000000000000000000 AS BIGINT) AS WatchID,
  CASE WHEN roll(i, 'ti', 7) = 0 THEN '' ELSE 'Page ' || skew(i, 'title', 5000) || CASE WHEN roll(i, 'tg', 50) = 0 THEN ' Google' ELSE '' END END AS Title,
  DATE '2013-07-01' + CAST(roll(i, 'day', 31) AS INTEGER) AS EventDate,
  CAST(DATE '2013-07-01' + CAST(roll(i, 'day', 31) AS INTEGER) AS TIMESTAMP) + to_seconds(roll(i, 'second', 86400)) AS EventTime,
  CAST(CASE WHEN roll(i, 'c62', 3) = 0 THEN 62 ELSE skew(i, 'counter', 6000) END AS INTEGER) AS CounterID,
  CAST(roll(u // 2, 'ip', 4000000000) - 2000000000 AS INTEGER) AS ClientIP,
  CAST(skew(u, 'region', 5000) + 1 AS INTEGER) AS RegionID,
  CAST(hash(u, 'user') % 9000000000000000000 AS BIGINT) AS UserID,
  'http://' || CASE WHEN roll(i, 'g', 60) = 0 THEN 'www.google.com/' ELSE 'example.org/' END || 'path' || skew(i, 'url', 100000) AS URL,
  CASE WHEN roll(i, 'r', 5) = 0 THEN '' ELSE 'https://www.host' || skew(i, 'host', 400) || '.net/page' || roll(i, 'referer', 9999) END AS Referer,
  CAST(roll(i, 'refresh', 6) = 0 AS SMALLINT) AS IsRefresh,
  CAST([0, 1024, 1280, 1366, 1440, 1600, 1638, 1920][roll(u, 'width', 8) + 1] AS SMALLINT) AS ResolutionWidth,
  CAST(CASE WHEN roll(u, 'mobile', 12) = 0 THEN roll(u, 'phone', 100) ELSE 0 END AS SMALLINT) AS MobilePhone,
  CASE WHEN roll(u, 'mobile', 12) = 0 THEN 'Model ' || skew(u, 'model', 60) ELSE '' END AS MobilePhoneModel,
  CAST(roll(i, 'source', 11) - 1 AS SMALLINT) AS TraficSourceID,
  CAST(CASE WHEN roll(i, 'engine', 8) < 6 THEN 0 ELSE skew(i, 'which', 40) END AS SMALLINT) AS SearchEngineID,
  CASE WHEN roll(i, 'engine', 8) < 6 THEN '' ELSE 'words ' || skew(i, 'phrase', 40000) END AS SearchPhrase,
  CAST(CASE WHEN roll(i, 'ad', 30) = 0 THEN skew(i, 'adv', 60) + 1 ELSE 0 END AS SMALLINT) AS AdvEngineID,
  CAST(roll(i, 'link', 9) = 0 AS SMALLINT) AS IsLink,
  CAST(roll(i, 'download', 90) = 0 AS SMALLINT) AS IsDownload,
  CAST(roll(i, 'dont', 20) = 0 AS SMALLINT) AS DontCountHits,
  CAST(roll(u, 'w', 1900) + 100 AS SMALLINT) AS WindowClientWidth,
  CAST(roll(u, 'h', 1000) + 100 AS SMALLINT) AS WindowClientHeight,
  CASE WHEN roll(i, 'rh', 40) = 0 THEN 3594120000172545465 ELSE CAST(hash(i, 'rh') % 9000000000000000000 AS BIGINT) END AS RefererHash,
  CASE WHEN roll(i, 'uh', 20) = 0 THEN 2868770270353813622 ELSE CAST(hash(skew(i, 'url', 100000)) % 9000000000000000000 AS BIGINT) END AS URLHash
  FROM (SELECT i, skew(i, 'u', USERS) AS u FROM range(ROWS) t(i));
