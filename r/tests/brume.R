# Real queries on real files. Each test says in its name what holds; an error ends R CMD check.
library(brume)

folder <- tempfile("brume-r-")
dir.create(folder)
holds <- function(name, ...) {
  good <- vapply(list(...), isTRUE, NA)
  if (!all(good)) stop("does not hold: ", name, " (", paste(which(!good), collapse = ", "), ")")
  cat("ok -", name, "\n")
}
raised <- function(expression) tryCatch({ expression; NULL }, condition = function(e) e)

people <- 3000L
town <- ifelse(seq_len(people) %% 3 == 0, "Cluny", "Dole")
income <- (seq_len(people) * 7919L) %% 60000L
file <- file.path(folder, "survey.csv")
write.csv(data.frame(person = seq_len(people), town = town, income = income), file, row.names = FALSE, quote = FALSE)
con <- brume_connect(file.path(folder, "brume.db"))

# --- owners
registered <- brume_register(con, "survey", file, unit = "person", budget = list(epsilon = 50),
                             bounds = list(income = "0..60000"), domain = list(town = c("Cluny", "Dole")))
holds("a registered dataset is listed with its budget",
      identical(registered$dataset, "survey"), identical(brume_datasets(con)$name, "survey"),
      identical(brume_budget(con, "survey")$remaining.epsilon, 50), identical(brume_budget(con)$spent.epsilon, 0),
      identical(brume_show(con, "survey")$unit, "person"))

# --- asking
sql <- "SELECT town, COUNT(*) AS people, AVG(income) AS mean_income FROM survey GROUP BY town"
plan <- brume_explain(con, sql, epsilon = 20)
holds("explain tells the price and spends nothing",
      identical(plan$cost$epsilon, 20), identical(brume_budget(con, "survey")$spent.epsilon, 0))
answer <- brume_query(con, sql, epsilon = 20)
truth <- c(Cluny = sum(town == "Cluny"), Dole = sum(town == "Dole"))
# noise of scale below 1: 200 of it have a probability below exp(-200)
holds("a query is a data frame with its bars beside the values",
      is.data.frame(answer), identical(names(answer), c("town", "people", "people_error", "mean_income", "mean_income_error")),
      identical(answer$town, c("Cluny", "Dole")), all(abs(answer$people - truth) < 200),
      all(answer$people_error > 0 & answer$people_error < 100), all(answer$mean_income > 20000 & answer$mean_income < 40000))
holds("the price is an attribute, and on the ledger",
      identical(attr(answer, "cost")[["epsilon"]], 20), identical(attr(answer, "remaining")[["epsilon"]], 30),
      identical(brume_budget(con, "survey")$spent.epsilon, 20), !attr(answer, "cached"))
again <- brume_query(con, sql, epsilon = 20)
holds("the same question is read again for free",
      attr(again, "cached"), identical(again$people, answer$people), identical(again$mean_income, answer$mean_income),
      identical(brume_budget(con, "survey")$spent.epsilon, 20))
holds("without bars there are the columns of the question",
      identical(names(brume_query(con, sql, epsilon = 20, bars = FALSE)), c("town", "people", "mean_income")))
printed <- capture.output(print(answer))
holds("an answer prints its price", any(grepl("cost epsilon 20; left: epsilon 30", printed, fixed = TRUE)))
holds("0.1 three times is exactly 0.3", {
  for (i in 1:3) brume_query(con, sprintf("SELECT COUNT(*) AS n%d FROM survey", i), epsilon = 0.1)
  identical(brume_budget(con, "survey")$remaining.epsilon, 29.7)
})
recorded <- paste0("answer_", head(brume_history(con, "survey"), 1)$id)
further <- brume_query(con, paste("SELECT town, people, people - 1 AS others FROM", recorded, "ORDER BY town"))
holds("a recorded answer is a table, for free",
      identical(further$people, answer$people), identical(further$others, answer$people - 1),
      all(further$others_error > 0), identical(brume_budget(con, "survey")$remaining.epsilon, 29.7))
history <- brume_history(con, "survey")
holds("the history has each charge", nrow(history) == 4L, identical(history$cost.epsilon, c(20, 0.1, 0.1, 0.1)))
holds("an accuracy buys a price", {
  counted <- brume_query(con, "SELECT COUNT(*) AS n FROM survey", within = 20, limit = 1)
  counted$n_error <= 25 && attr(counted, "cost")[["epsilon"]] < 1
})

# --- bars, from made answers
made <- function(...) list(columns = list(list(name = "k", role = "key"), list(name = "n", role = "value", error_95 = 3, ...)),
                           rows = list(list("a", 1), list(NULL, NULL)))
bars <- function(answer) brume:::answer_frame(answer, TRUE)$n_error
holds("a bar is the one that every door shows, and where there is none it is NA", identical(bars(made(bar_95 = 5)), c(5, 5)),
      all(is.na(bars(made(bar_95 = NULL, bar_why = "cut")))),
      identical(bars(c(made(bar_95 = 5), list(rows_bar_95 = list(list(NULL, 1), list(NULL, NULL))))), c(1, NA)),
      identical(brume:::answer_frame(made(bar_95 = 5), TRUE)$k, c("a", NA)))
middle <- c(made(bar_95 = NULL, rank_error_95 = 7), list(rows_interval_95 = list(list(NULL, list(-1, 2.5)), list(NULL, NULL))))
holds("a quantile has the ends of its interval in place of a bar",
      identical(as.list(brume:::answer_frame(middle, TRUE))[-1], list(n = c(1, NA), n_low = c(-1, NA), n_high = c(2.5, NA))))
empty <- made()
empty$rows <- list()
holds("an answer without rows has its columns", identical(dim(brume:::answer_frame(empty, TRUE)), c(0L, 3L)))

# --- errors
budget <- raised(brume_query(con, "SELECT COUNT(*) AS n FROM survey", epsilon = 49))
holds("too high a price is a condition of its own, and costs nothing",
      inherits(budget, "brume_error_budget"), inherits(budget, "brume_error"), inherits(budget, "error"),
      nchar(budget$sqlstate) == 5L, brume_budget(con, "survey")$remaining.epsilon > 28)
unknown <- raised(brume_query(con, "SELECT COUNT(*) FROM survy", epsilon = 1))
holds("an unknown table says what was meant", inherits(unknown, "brume_error_unknown"),
      grepl("survey", paste(conditionMessage(unknown), unknown$hint)), grepl("hint:", conditionMessage(unknown)))
holds("a wrong option is refused", inherits(raised(brume_query(con, sql, epsilon = 1, epsilom = 2)), "brume_error"))
holds("options need names", inherits(raised(brume_call(con, "budget", "survey")), "brume_error_argument"))
holds("NaN is no option", inherits(raised(brume_query(con, sql, epsilon = NaN)), "brume_error_argument"))

# --- releases and streams
median <- brume_release(con, "median", "survey", epsilon = 5, column = "income", bounds = "0..60000")
holds("a median is released", median$value > 0, median$value < 60000)
stream <- brume_stream(con, "above-threshold", dataset = "survey", threshold = 1000, epsilon = 2)
low <- stream$ask("income > 59000")
high <- stream$ask("income >= 0")
stream$close()
holds("a stream answers until it halts", identical(low$above, FALSE), identical(high$above, TRUE), identical(high$halted, TRUE))
holds("a stream frees its connection", brume_budget(con, "survey")$remaining.epsilon < 23)

# --- a file of another kind, and a closed connection
json <- file.path(folder, "visits.json")
writeLines(sprintf('{"patient": "p%d", "ward": "%s", "smoker": %s}', 1:400, c("a", "b"), c("true", "false", "null", "true")), json)
brume_register(con, "visits", json, unit = "patient", budget = list(epsilon = 30),
               columns = "patient text, ward text, smoker boolean", domain = list(ward = c("a", "b", "\u00e9")))
wards <- brume_query(con, "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon = 25)
holds("keys are UTF-8, and groups without rows are there", "\u00e9" %in% wards$ward, nrow(wards) == 3L,
      all(abs(wards$n[1:2] - 200) < 100))
brume_disconnect(con)
holds("a closed connection is refused", inherits(raised(brume_budget(con)), "brume_error_argument"))
holds("a ledger that must exist is refused now",
      inherits(raised(brume_connect(file.path(folder, "none.db"), must_exist = TRUE)), "brume_error"))

# --- accounting
spent <- brume_account("laplace(scale=10)*5 + gaussian(sigma=20)*100", delta = 1e-6)
holds("an account is an interval that is narrow", spent$lower <= spent$upper, spent$upper - spent$lower < 1e-9,
      abs(spent$upper - 2.4635487428) < 1e-9)
sigma <- brume_calibrate("gaussian(sigma=?)*100", epsilon = 1, delta = 1e-6)$value
holds("what was calibrated meets its target, and little less does not",
      brume_account(sprintf("gaussian(sigma=%.17g)*100", sigma), delta = 1e-6)$upper <= 1,
      brume_account(sprintf("gaussian(sigma=%.17g)*100", sigma * 0.999), delta = 1e-6)$lower > 1)
holds("mechanisms have cards", "laplace" %in% brume_mechanisms()$name, identical(brume_mechanisms("laplace")$name, "laplace"))
holds("accuracy of Laplace noise", abs(brume_accuracy("laplace(scale=10)", beta = 0.05)$alpha - 10 * log(20)) < 1e-9)

# --- noise: 4,000 draws of standard deviation 141; the mean is within 8 of its own, 9e-16 by Gaussian tails
noisy <- noise_discrete_laplace(rep(1000, 4000), scale = 100)
holds("discrete noise is whole and around the value", all(noisy == trunc(noisy)), abs(mean(noisy) - 1000) < 8 * 141.5 / sqrt(4000),
      length(unique(noisy)) > 100)
grid <- matrix(as.numeric(1:6), 2, dimnames = list(c("a", "b"), NULL))
holds("noise keeps names and dimensions", identical(dim(noise_gaussian(grid, sigma = 1)), c(2L, 3L)),
      identical(rownames(noise_discrete_gaussian(grid, sigma = 3)), c("a", "b")), identical(names(noise_laplace(c(x = 1.5), 1)), "x"))
eighths <- noise_laplace(c(0.25, 1e6), scale = 2, exponent = -3)
holds("reals are on their grid", all(eighths * 8 == trunc(eighths * 8)))
holds("noise refuses what is not finite or not whole", inherits(raised(noise_laplace(NA_real_, 1)), "brume_error_argument"),
      inherits(raised(noise_discrete_laplace(0.5, 1)), "brume_error_argument"),
      inherits(raised(noise_gaussian(1, sigma = -1)), "brume_error_argument"))
told <- randomized_response(rep(c(TRUE, FALSE), 500), epsilon = 30)
holds("randomized response at a high price is the truth, at a low one it is not",
      identical(told, rep(c(1L, 0L), 500)), !identical(randomized_response(rep(0L, 1000), epsilon = 0.1), rep(0L, 1000)))
holds("brume says with which libraries it runs", all(c("version", "libraries", "platform") %in% names(brume_version())))
unlink(folder, recursive = TRUE)
