# R's DBI against a server whose place the environment says; stops if something does not hold.
library(DBI)
library(RPostgreSQL)
con <- dbConnect(PostgreSQL(), host = Sys.getenv("PGHOST"), port = as.integer(Sys.getenv("PGPORT")),
                 user = Sys.getenv("PGUSER"), password = Sys.getenv("PGPASSWORD"), dbname = "brume",
                 options = "-c brume.epsilon=0.25")
stopifnot(identical(dbListTables(con), "visits"), dbExistsTable(con, "visits"))
stopifnot(identical(dbListFields(con, "visits"), c("person", "age")))
sql <- "SELECT age > 40 AS old, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY 1"
first <- dbGetQuery(con, sql)
stopifnot(nrow(first) == 3, is.logical(first$old), is.numeric(first$n), is.numeric(first$a))
stopifnot(identical(first, dbGetQuery(con, sql)))
stopifnot(nrow(dbGetQuery(con, "SELECT COUNT(*) AS n FROM visits WHERE age > $1", c(30))) == 1)
dbDisconnect(con)
