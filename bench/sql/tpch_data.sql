-- Tables like those of TPC-H at scale 0.1, after clause 4.2.3 of its specification: the same columns,
-- numbers of rows, keys and rules of values; the texts of comments are shorter. SUPPLIERS, PARTS,
-- CUSTOMERS and ORDERS are the numbers of rows. roll(i, salt, n) is a number from 0 to n - 1.
CREATE MACRO roll(i, salt, n) AS CAST(hash(i, salt) % n AS BIGINT);
CREATE MACRO pick(i, salt, list) AS list[roll(i, salt, len(list)) + 1];
CREATE MACRO words(i, salt) AS pick(i, salt || 'a', ['furiously', 'carefully', 'quickly', 'blithely', 'slyly', 'fluffily'])
  || ' ' || pick(i, salt || 'b', ['special', 'pending', 'regular', 'express', 'final', 'ironic', 'even', 'bold'])
  || ' ' || pick(i, salt || 'c', ['requests', 'deposits', 'accounts', 'packages', 'theodolites', 'foxes', 'ideas', 'pinto beans'])
  || ' ' || pick(i, salt || 'd', ['sleep', 'wake', 'haggle', 'nag', 'cajole', 'detect', 'integrate', 'boost']);
CREATE TABLE region AS SELECT CAST(i AS INTEGER) AS r_regionkey,
  ['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST'][i + 1] AS r_name, words(i, 'r') AS r_comment FROM range(5) t(i);
CREATE TABLE nation AS SELECT CAST(i AS INTEGER) AS n_nationkey,
  ['ALGERIA', 'ARGENTINA', 'BRAZIL', 'CANADA', 'EGYPT', 'ETHIOPIA', 'FRANCE', 'GERMANY', 'INDIA', 'INDONESIA', 'IRAN', 'IRAQ', 'JAPAN', 'JORDAN', 'KENYA', 'MOROCCO', 'MOZAMBIQUE', 'PERU', 'CHINA', 'ROMANIA', 'SAUDI ARABIA', 'VIETNAM', 'RUSSIA', 'UNITED KINGDOM', 'UNITED STATES'][i + 1] AS n_name,
  CAST([0, 1, 1, 1, 4, 0, 3, 3, 2, 2, 4, 4, 2, 4, 0, 0, 0, 1, 2, 3, 4, 2, 3, 3, 1][i + 1] AS INTEGER) AS n_regionkey, words(i, 'n') AS n_comment FROM range(25) t(i);
CREATE TABLE supplier AS SELECT CAST(i AS INTEGER) AS s_suppkey, printf('Supplier#%09d', i) AS s_name, 'address ' || roll(i, 'sa', 100000) AS s_address,
  CAST(roll(i, 'sn', 25) AS INTEGER) AS s_nationkey, printf('%d-%03d-%03d-%04d', roll(i, 'sn', 25) + 10, roll(i, 's1', 900) + 100, roll(i, 's2', 900) + 100, roll(i, 's3', 9000) + 1000) AS s_phone,
  CAST((roll(i, 'sb', 1099999) - 99999) / 100 AS DECIMAL(12,2)) AS s_acctbal,
  CASE WHEN i % 200 = 7 THEN 'slow Customer heard Complaints' ELSE words(i, 's') END AS s_comment FROM range(1, SUPPLIERS + 1) t(i);
CREATE TABLE part AS SELECT CAST(i AS INTEGER) AS p_partkey,
  pick(i, 'p1', colours) || ' ' || pick(i, 'p2', colours) || ' ' || pick(i, 'p3', colours) || ' ' || pick(i, 'p4', colours) || ' ' || pick(i, 'p5', colours) AS p_name,
  'Manufacturer#' || m AS p_mfgr, 'Brand#' || m || (roll(i, 'pb', 5) + 1) AS p_brand,
  pick(i, 't1', ['STANDARD', 'SMALL', 'MEDIUM', 'LARGE', 'ECONOMY', 'PROMO']) || ' ' || pick(i, 't2', ['ANODIZED', 'BURNISHED', 'PLATED', 'POLISHED', 'BRUSHED']) || ' ' || pick(i, 't3', ['TIN', 'NICKEL', 'BRASS', 'STEEL', 'COPPER']) AS p_type,
  CAST(roll(i, 'ps', 50) + 1 AS INTEGER) AS p_size,
  pick(i, 'c1', ['SM', 'LG', 'MED', 'JUMBO', 'WRAP']) || ' ' || pick(i, 'c2', ['CASE', 'BOX', 'BAG', 'JAR', 'PKG', 'PACK', 'CAN', 'DRUM']) AS p_container,
  CAST((90000 + (i // 10) % 20001 + 100 * (i % 1000)) / 100 AS DECIMAL(12,2)) AS p_retailprice, words(i, 'p') AS p_comment
  FROM (SELECT i, roll(i, 'pm', 5) + 1 AS m, ['almond', 'antique', 'aquamarine', 'azure', 'beige', 'bisque', 'black', 'blue', 'brown', 'chocolate', 'coral', 'cornsilk', 'cream', 'cyan', 'dark', 'deep', 'dim', 'dodger', 'drab', 'firebrick', 'floral', 'forest', 'frosted', 'gainsboro', 'ghost', 'goldenrod', 'green', 'grey', 'honeydew', 'hot', 'indian', 'ivory', 'khaki', 'lace', 'lavender', 'lawn', 'lemon', 'light', 'lime', 'linen', 'magenta', 'maroon', 'medium', 'metallic', 'midnight', 'mint', 'misty', 'moccasin', 'navajo', 'navy', 'olive', 'orange', 'orchid', 'pale', 'papaya', 'peach', 'peru', 'pink', 'plum', 'powder', 'puff', 'purple', 'red', 'rose', 'rosy', 'royal', 'saddle', 'salmon', 'sandy', 'seashell', 'sienna', 'sky', 'slate', 'smoke', 'snow', 'spring', 'steel', 'tan', 'thistle', 'tomato', 'turquoise', 'violet', 'wheat', 'white', 'yellow'] AS colours FROM range(1, PARTS + 1) t(i));
CREATE MACRO supplier_of(part, j) AS (part + j * (SUPPLIERS // 4 + (part - 1) // SUPPLIERS)) % SUPPLIERS + 1;
CREATE TABLE partsupp AS SELECT CAST(i AS INTEGER) AS ps_partkey, CAST(supplier_of(i, j) AS INTEGER) AS ps_suppkey,
  CAST(roll(i * 4 + j, 'pq', 9999) + 1 AS INTEGER) AS ps_availqty, CAST((roll(i * 4 + j, 'pc', 99901) + 100) / 100 AS DECIMAL(12,2)) AS ps_supplycost, words(i * 4 + j, 'q') AS ps_comment
  FROM range(1, PARTS + 1) t(i), range(4) u(j);
CREATE TABLE customer AS SELECT CAST(i AS INTEGER) AS c_custkey, printf('Customer#%09d', i) AS c_name, 'address ' || roll(i, 'ca', 100000) AS c_address,
  CAST(roll(i, 'cn', 25) AS INTEGER) AS c_nationkey, printf('%d-%03d-%03d-%04d', roll(i, 'cn', 25) + 10, roll(i, 'k1', 900) + 100, roll(i, 'k2', 900) + 100, roll(i, 'k3', 9000) + 1000) AS c_phone,
  CAST((roll(i, 'cb', 1099999) - 99999) / 100 AS DECIMAL(12,2)) AS c_acctbal,
  pick(i, 'cm', ['AUTOMOBILE', 'BUILDING', 'FURNITURE', 'HOUSEHOLD', 'MACHINERY']) AS c_mktsegment, words(i, 'c') AS c_comment FROM range(1, CUSTOMERS + 1) t(i);
CREATE TABLE line AS SELECT o, n, roll(o * 8 + n, 'lp', PARTS) + 1 AS part, roll(o * 8 + n, 'ls', 4) AS which, roll(o * 8 + n, 'lq', 50) + 1 AS quantity,
  DATE '1992-01-01' + CAST(roll(o, 'od', 2406) AS INTEGER) AS ordered, CAST(roll(o * 8 + n, 'l1', 121) + 1 AS INTEGER) AS ship_days, CAST(roll(o * 8 + n, 'l2', 61) + 30 AS INTEGER) AS commit_days, CAST(roll(o * 8 + n, 'l3', 30) + 1 AS INTEGER) AS receipt_days
  FROM range(1, ORDERS + 1) t(o), range(1, 8) u(n) WHERE n <= roll(o, 'ol', 7) + 1;
CREATE TABLE lineitem AS SELECT CAST(o AS INTEGER) AS l_orderkey, CAST(part AS INTEGER) AS l_partkey, CAST(supplier_of(part, which) AS INTEGER) AS l_suppkey, CAST(n AS INTEGER) AS l_linenumber,
  CAST(quantity AS DECIMAL(12,2)) AS l_quantity, CAST(quantity * (90000 + (part // 10) % 20001 + 100 * (part % 1000)) / 100 AS DECIMAL(12,2)) AS l_extendedprice,
  CAST(roll(o * 8 + n, 'ld', 11) / 100 AS DECIMAL(12,2)) AS l_discount, CAST(roll(o * 8 + n, 'lt', 9) / 100 AS DECIMAL(12,2)) AS l_tax,
  CASE WHEN ordered + ship_days + receipt_days <= DATE '1995-06-17' THEN pick(o * 8 + n, 'lr', ['R', 'A']) ELSE 'N' END AS l_returnflag,
  CASE WHEN ordered + ship_days > DATE '1995-06-17' THEN 'O' ELSE 'F' END AS l_linestatus,
  ordered + ship_days AS l_shipdate, ordered + commit_days AS l_commitdate, ordered + ship_days + receipt_days AS l_receiptdate,
  pick(o * 8 + n, 'li', ['DELIVER IN PERSON', 'COLLECT COD', 'NONE', 'TAKE BACK RETURN']) AS l_shipinstruct,
  pick(o * 8 + n, 'lm', ['REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB']) AS l_shipmode, words(o * 8 + n, 'l') AS l_comment FROM line;
CREATE TABLE orders AS SELECT CAST(l_orderkey AS INTEGER) AS o_orderkey,
  CAST(3 * roll(l_orderkey, 'oc', CUSTOMERS // 3) + 1 + roll(l_orderkey, 'o2', 2) AS INTEGER) AS o_custkey,
  CASE WHEN min(l_linestatus) = max(l_linestatus) THEN min(l_linestatus) ELSE 'P' END AS o_orderstatus,
  CAST(sum(l_extendedprice * (1 + l_tax) * (1 - l_discount)) AS DECIMAL(12,2)) AS o_totalprice,
  DATE '1992-01-01' + CAST(roll(l_orderkey, 'od', 2406) AS INTEGER) AS o_orderdate,
  pick(l_orderkey, 'op', ['1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW']) AS o_orderpriority,
  printf('Clerk#%09d', roll(l_orderkey, 'ok', 100) + 1) AS o_clerk, 0 AS o_shippriority, words(l_orderkey, 'o') AS o_comment FROM lineitem GROUP BY l_orderkey;
