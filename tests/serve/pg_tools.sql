-- What graphical tools ask of the catalog when they connect and open a schema.
--
-- Written anew after statements that DBeaver (its PostgreSQL plug-in: PostgreDataSource,
-- PostgreDatabase, PostgreSchema), Metabase (its driver postgres.clj) and others are known to send,
-- which public repositories record: the same relations, joins, functions and casts, with names of our
-- own. The number is that of the rows that must come; no statement may be left unanswered. $NAMESPACE
-- and $TABLE are the numbers of the schema public and of the table visits.

-- start of a session: 1
SELECT current_schema(), session_user;
-- 1
SHOW TRANSACTION ISOLATION LEVEL;
-- 1
SHOW search_path;
-- 0
SET extra_float_digits = 3;
-- 0
SET application_name = 'DBeaver 23 - Main';
-- 0
SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- 1
SELECT s.reset_val FROM pg_settings s WHERE s.name = 'search_path';
-- 1
SELECT base.oid, base.* FROM pg_catalog.pg_database base WHERE 1 = 1 AND datallowconn AND NOT datistemplate OR base.datname = 'brume' ORDER BY base.datname;
-- 1
SELECT string_agg(k.word, ',') FROM pg_catalog.pg_get_keywords() k WHERE k.word <> ALL ('{a,abs,absolute,action}'::text[]);

-- schemas and types: 3
SELECT s.oid, s.*, note.description FROM pg_catalog.pg_namespace s LEFT OUTER JOIN pg_catalog.pg_description note ON note.objoid = s.oid AND note.objsubid = 0 AND note.classoid = 'pg_namespace'::regclass ORDER BY nspname;
-- 1
SELECT y.oid, y.*, c.relkind, format_type(nullif(y.typbasetype, 0), y.typtypmod) AS base_name, note.description FROM pg_catalog.pg_type y LEFT OUTER JOIN pg_catalog.pg_type part ON part.oid = y.typelem LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid = y.typrelid LEFT OUTER JOIN pg_catalog.pg_description note ON y.oid = note.objoid WHERE y.typname = 'numeric' AND (c.relkind IS NULL OR c.relkind = 'c') AND (part.typcategory IS NULL OR part.typcategory <> 'C');
-- 0
SELECT v.contoencoding AS number, pg_catalog.pg_encoding_to_char(v.contoencoding) AS word FROM pg_catalog.pg_conversion v GROUP BY v.contoencoding ORDER BY 2;
-- 2
SELECT who.oid, who.*, note.description FROM pg_catalog.pg_roles who LEFT JOIN pg_catalog.pg_shdescription note ON who.oid = note.objoid ORDER BY who.rolname;
-- 1
SELECT place.oid, place.*, pg_tablespace_location(place.oid) AS path FROM pg_catalog.pg_tablespace place ORDER BY place.oid;

-- tables of a schema: 1
SELECT c.oid, c.*, note.description, pg_catalog.pg_get_expr(c.relpartbound, c.oid) AS part, pg_catalog.pg_get_partkeydef(c.oid) AS part_key, dep.objid, dep.refobjsubid FROM pg_catalog.pg_class c LEFT OUTER JOIN pg_catalog.pg_description note ON note.objoid = c.oid AND note.objsubid = 0 AND note.classoid = 'pg_class'::regclass LEFT OUTER JOIN pg_depend dep ON dep.refobjid = c."oid" AND dep.deptype = 'i' AND dep.refobjsubid <> 0 AND dep.classid = dep.refclassid WHERE c.relnamespace = $NAMESPACE AND c.relkind NOT IN ('i', 'I', 'c');
-- 1
SELECT c.oid, pg_catalog.pg_total_relation_size(c.oid) AS whole, pg_catalog.pg_relation_size(c.oid) AS own FROM pg_class c WHERE c.relnamespace = $NAMESPACE;
-- 2
SELECT c.relname, a.*, pg_catalog.pg_get_expr(def.adbin, def.adrelid, true) AS def_value, note.description FROM pg_catalog.pg_attribute a INNER JOIN pg_catalog.pg_class c ON (a.attrelid = c.oid) LEFT OUTER JOIN pg_catalog.pg_attrdef def ON (a.attrelid = def.adrelid AND a.attnum = def.adnum) LEFT OUTER JOIN pg_catalog.pg_description note ON (c.oid = note.objoid AND a.attnum = note.objsubid) WHERE NOT a.attisdropped AND c.oid = $TABLE ORDER BY a.attnum;
-- 0
SELECT k.oid, k.*, t.relname AS of_table, other.relnamespace AS of_schema, note.description, CASE WHEN k.contype = 'c' THEN "substring"(pg_get_constraintdef(k.oid), 7) ELSE NULL END AS text FROM pg_catalog.pg_constraint k INNER JOIN pg_catalog.pg_class t ON t.oid = k.conrelid LEFT OUTER JOIN pg_catalog.pg_class other ON other.oid = k.confrelid LEFT OUTER JOIN pg_catalog.pg_description note ON note.objoid = k.oid AND note.objsubid = 0 AND note.classoid = 'pg_constraint'::regclass WHERE k.conrelid = $TABLE ORDER BY k.oid;
-- 0
SELECT i.*, i.indkey AS parts, c.relname, c.relam, t.relname AS of_table, pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS condition, pg_catalog.pg_stat_get_numscans(i.indexrelid) AS scans FROM pg_catalog.pg_index i INNER JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid INNER JOIN pg_catalog.pg_class t ON t.oid = i.indrelid WHERE i.indrelid = $TABLE ORDER BY c.relname;
-- 0
SELECT h.*, c.relnamespace FROM pg_catalog.pg_inherits h, pg_catalog.pg_class c WHERE h.inhrelid = $TABLE AND c.oid = h.inhparent ORDER BY h.inhseqno;
-- 0
SELECT g.oid, g.*, p.pronamespace AS of_schema, note.description FROM pg_catalog.pg_trigger g LEFT OUTER JOIN pg_catalog.pg_proc p ON p.oid = g.tgfoid LEFT OUTER JOIN pg_catalog.pg_description note ON note.objoid = g.oid AND note.objsubid = 0 WHERE g.tgrelid = $TABLE AND NOT g.tgisinternal;
-- 0
SELECT r.oid, r.*, pg_get_ruledef(r.oid) AS text FROM pg_rewrite r WHERE r.ev_class = $TABLE AND r.rulename <> '_RETURN'::name;
-- 0
SELECT DISTINCT dep.deptype, dep.objid, c.relkind, CASE WHEN c.relkind IS NOT NULL THEN c.relkind::text || COALESCE(dep.objsubid::text, '')::text ELSE '' END AS type, COALESCE(c.relname, k.conname) AS name FROM pg_depend dep LEFT JOIN pg_class c ON dep.objid = c.oid LEFT JOIN pg_constraint k ON dep.objid = k.oid WHERE dep.refobjid = $TABLE ORDER BY type;

-- a tool that reads the information schema: 2
SELECT "f"."column_name" AS "name", CASE WHEN "f"."udt_schema" IN ('public', 'pg_catalog') THEN FORMAT('%s', "f"."udt_name") ELSE FORMAT('"%s"."%s"', "f"."udt_schema", "f"."udt_name") END AS "database-type", "f"."ordinal_position" - 1 AS "place", "k"."column_name" IS NOT NULL AS "pk?", COL_DESCRIPTION(CAST(CAST(FORMAT('%I.%I', CAST("f"."table_schema" AS TEXT), CAST("f"."table_name" AS TEXT)) AS REGCLASS) AS OID), "f"."ordinal_position") AS "comment", (("column_default" IS NULL) OR (LOWER("column_default") = 'null')) AND ("is_nullable" = 'NO') AND NOT ((("column_default" IS NOT NULL) AND ("column_default" LIKE '%nextval(%')) OR ("is_identity" <> 'NO')) AS "required" FROM "information_schema"."columns" AS "f" LEFT JOIN (SELECT "u"."table_schema", "u"."table_name", "p"."column_name" FROM "information_schema"."table_constraints" AS "u" INNER JOIN "information_schema"."key_column_usage" AS "p" ON ("u"."constraint_name" = "p"."constraint_name") AND ("u"."table_name" = "p"."table_name") WHERE "u"."constraint_type" = 'PRIMARY KEY') AS "k" ON ("f"."table_schema" = "k"."table_schema") AND ("f"."column_name" = "k"."column_name") WHERE f.table_schema !~ '^information_schema|catalog_history|pg_' AND ("f"."table_schema" = 'public') ORDER BY "place" ASC;
-- 0
SELECT "a"."attname" AS "name", FORMAT('%s', "y"."typname") AS "type", "a"."attnum" - 1 AS "place", FALSE AS "pk?", NULL AS "comment" FROM "pg_catalog"."pg_class" AS "c" INNER JOIN "pg_catalog"."pg_attribute" AS "a" ON "a"."attrelid" = "c"."oid" INNER JOIN "pg_catalog"."pg_type" AS "y" ON "y"."oid" = "a"."atttypid" WHERE ("c"."relkind" = 'm') AND ("a"."attnum" >= 1) ORDER BY "place" ASC;
-- 0
SELECT "s"."nspname" AS "schema", "t"."relname" AS "table" FROM "pg_constraint" AS "k" INNER JOIN "pg_class" AS "t" ON "k"."conrelid" = "t"."oid" INNER JOIN "pg_namespace" AS "s" ON "k"."connamespace" = "s"."oid" WHERE s.nspname !~ '^information_schema|catalog_history|pg_' AND ("k"."contype" = 'f'::char) ORDER BY 1, 2;
-- 1
WITH may AS (SELECT NULL AS role, t.schemaname AS schema, t.name AS table, pg_catalog.has_table_privilege(current_user, '"' || t.schemaname || '"' || '.' || '"' || t.name || '"', 'UPDATE') AS update, pg_catalog.has_any_column_privilege(current_user, t.name, 'SELECT') AS select FROM (SELECT schemaname, tablename AS name FROM pg_catalog.pg_tables UNION SELECT schemaname, viewname AS name FROM pg_catalog.pg_views UNION SELECT schemaname, matviewname AS name FROM pg_catalog.pg_matviews) t WHERE t.schemaname !~ '^pg_' AND t.schemaname <> 'information_schema' AND pg_catalog.has_schema_privilege(current_user, t.schemaname, 'USAGE')) SELECT m.* FROM may m;
-- 0
SELECT s.nspname AS schema, y.typname AS name, e.enumlabel AS label FROM pg_enum e INNER JOIN pg_type y ON y.oid = e.enumtypid INNER JOIN pg_namespace s ON s.oid = y.typnamespace WHERE s.nspname = ANY (current_schemas(false));

-- drivers: 1
SELECT y.typname AS name, y.oid, y.typarray AS array_oid, y.oid::regtype::text AS regtype, y.typdelim AS delimiter FROM pg_type y WHERE y.oid = to_regtype('int8') ORDER BY y.oid;
-- 1
SELECT y.typlen FROM pg_catalog.pg_type y, pg_catalog.pg_namespace s WHERE y.typnamespace = s.oid AND y.typname = 'name' AND s.nspname = 'pg_catalog';
-- 1
SELECT setting FROM pg_catalog.pg_settings WHERE name = 'max_index_keys';
-- 1
SELECT 1 FROM pg_settings WHERE name = 'application_name' AND setting = 'DBeaver 23 - Main';
-- 1
SELECT tablename FROM pg_tables WHERE schemaname <> 'information_schema' AND schemaname <> 'pg_catalog';
-- 3
SELECT i, r.x FROM generate_series(1, 3) AS g(i) LEFT JOIN unnest(ARRAY['a', 'b']) WITH ORDINALITY AS r(x, at) ON r.at = g.i;
-- 1
SELECT pg_get_userbyid(10), 'visits'::regclass, 'pg_class'::regclass::oid, 25::regtype, current_setting('server_version_num')::int, now() IS NOT NULL;

-- what a navigator opens one after the other: 1
SELECT m.oid, m.* FROM pg_catalog.pg_am m ORDER BY m.oid;
-- 2
SELECT o.oid, o.* FROM pg_catalog.pg_collation o ORDER BY o.oid;
-- 0
SELECT g.oid, g.* FROM pg_catalog.pg_language g ORDER BY g.oid;
-- 0
SELECT w.oid, w.*, p.pronamespace AS of_schema FROM pg_catalog.pg_foreign_data_wrapper w LEFT OUTER JOIN pg_catalog.pg_proc p ON p.oid = w.fdwhandler ORDER BY w.fdwname;
-- 0
SELECT s.oid, s.* FROM pg_catalog.pg_foreign_server s ORDER BY s.srvname;
-- 0
SELECT name, default_version, installed_version, comment FROM pg_catalog.pg_available_extensions ORDER BY name;
-- 0
SELECT t.*, note.description FROM pg_catalog.pg_event_trigger t LEFT OUTER JOIN pg_catalog.pg_description note ON t."oid" = note.objoid;
-- 0
SELECT x.oid, parts.list, s.nspname AS of_schema, x.* FROM pg_catalog.pg_extension x JOIN pg_namespace s ON s.oid = x.extnamespace LEFT JOIN (SELECT ARRAY_AGG(z.nspname || '.' || c.relname) AS list, owner FROM (SELECT unnest(y.extconfig) AS oid, y.oid AS owner FROM pg_catalog.pg_extension y) AS each JOIN pg_class c ON c.oid = each.oid JOIN pg_namespace z ON z.oid = c.relnamespace GROUP BY owner) AS parts ON parts.owner = x.oid ORDER BY x.oid;
-- 0
SELECT DISTINCT k.connamespace FROM pg_catalog.pg_constraint k WHERE k.confrelid = $TABLE;
-- 1
SELECT 1 FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON a.attrelid = c.oid JOIN pg_catalog.pg_namespace s ON c.relnamespace = s.oid WHERE c.relname = 'visits' AND s.nspname = 'public' AND a.attname = 'age';
-- 0
SELECT * FROM pg_catalog.pg_enum WHERE 1 <> 1 LIMIT 1;

-- a tool that looks for tables, enumerations and the zone: 1
SELECT s.nspname AS schema, c.relname AS name, CASE c.relkind WHEN 'r' THEN 'TABLE' WHEN 'p' THEN 'PARTITIONED TABLE' WHEN 'v' THEN 'VIEW' WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE NULL END AS type, note.description, seen.n_live_tup AS rows FROM pg_catalog.pg_class AS c INNER JOIN pg_catalog.pg_namespace AS s ON c.relnamespace = s.oid LEFT JOIN pg_catalog.pg_description AS note ON (c.oid = note.objoid) AND (note.objsubid = 0) AND (note.classoid = 'pg_class'::regclass) LEFT JOIN pg_stat_user_tables AS seen ON (s.nspname = seen.schemaname) AND (c.relname = seen.relname) WHERE (c.relnamespace = s.oid) AND (s.nspname !~ '^pg_') AND (s.nspname <> 'information_schema') AND c.relkind IN ('r', 'p', 'v', 'f', 'm') AND (s.nspname IN ('public')) ORDER BY type ASC, schema ASC, name ASC;
-- 0
SELECT s.nspname, y.typname FROM pg_type y JOIN pg_namespace s ON s.oid = y.typnamespace WHERE y.oid IN (SELECT DISTINCT enumtypid FROM pg_enum e);
-- 1
SHOW timezone;
-- 1
SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema';

-- what an object mapper reads of constraints, and what else SQL has: 0
SELECT k.conrelid, array_agg(k.attname ORDER BY k.place) AS columns, k.conname FROM (SELECT c.conrelid, c.conname, c.place, a.attname FROM pg_catalog.pg_attribute a JOIN (SELECT conrelid, conname, unnest(conkey) AS number, generate_subscripts(conkey, 1) AS place FROM pg_catalog.pg_constraint WHERE contype = 'p') AS c ON a.attnum = c.number AND a.attrelid = c.conrelid) AS k GROUP BY k.conrelid, k.conname;
-- 1
SELECT DISTINCT ON (c.relnamespace) c.relname, c.tableoid::regclass, x.n FROM pg_class c, LATERAL (SELECT count(*) AS n FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = ANY ('{1,2}'::int2[])) x ORDER BY c.relnamespace;
-- 1
SELECT at.relname AS show, at.oid::regclass || ' is public' COLLATE "C" FROM pg_catalog.pg_class at WHERE at.relname OPERATOR(pg_catalog.~*) '^VIS' FOR UPDATE;
