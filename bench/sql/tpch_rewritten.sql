-- Queries of TPC-H that are refused as they are, each with a small change that asks about many
-- customers instead of one, or for one number of all parts instead of one for each. Order: the
-- numbers in bench/sql.c. Parameters as in tpch.sql.
-- 3: revenue by day of the order, of the last months, not by the order.
select o_orderdate, sum(l_extendedprice * (1 - l_discount)) as revenue
from customer, orders, lineitem
where c_mktsegment = 'BUILDING' and c_custkey = o_custkey and l_orderkey = o_orderkey
  and o_orderdate < date '1995-03-15' and o_orderdate >= date '1995-03-15' - interval '4' month
  and l_shipdate > date '1995-03-15'
group by o_orderdate
order by revenue desc, o_orderdate
limit 10;
-- 10: returned items by the customers' nation, not by the customer.
select n_name, sum(l_extendedprice * (1 - l_discount)) as revenue
from customer, orders, lineitem, nation
where c_custkey = o_custkey and l_orderkey = o_orderkey and o_orderdate >= date '1993-10-01'
  and o_orderdate < date '1993-10-01' + interval '3' month and l_returnflag = 'R'
  and c_nationkey = n_nationkey
group by n_name
order by revenue desc
limit 20;
-- 15: the largest of the noisy revenues, by ORDER BY and LIMIT instead of a maximum.
select s_suppkey, sum(l_extendedprice * (1 - l_discount)) as total_revenue
from lineitem, supplier
where s_suppkey = l_suppkey and l_shipdate >= date '1996-01-01'
  and l_shipdate < date '1996-01-01' + interval '3' month
group by s_suppkey
order by total_revenue desc
limit 1;
-- 17: less than a fifth of the average of all these parts, not of each by itself.
select sum(l_extendedprice) / 7.0 as avg_yearly
from lineitem, part
where p_partkey = l_partkey and p_brand = 'Brand#23' and p_container = 'MED BOX'
  and l_quantity < 0.2 * (
    select avg(l_quantity) from lineitem, part
    where p_partkey = l_partkey and p_brand = 'Brand#23' and p_container = 'MED BOX');
-- 18: how many large orders there are, and their average, not which.
select count(*) as orders, avg(clamp(quantity, 0, 350)) as quantity
from (
  select c_custkey, o_orderkey, sum(l_quantity) as quantity
  from customer, orders, lineitem
  where c_custkey = o_custkey and o_orderkey = l_orderkey
  group by c_custkey, o_orderkey
  having sum(l_quantity) > 300) as large;
