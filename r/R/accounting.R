# What releases cost together, and how much noise a target needs. No ledger is read.

without_ledger <- function(command, ...) {
  con <- brume_connect()
  on.exit(brume_disconnect(con))
  brume_call(con, command, ...)
}

brume_account <- function(expression, delta = NULL, epsilon = NULL, ...) {
  answer <- without_ledger("account", expr = expression, delta = delta, epsilon = epsilon, ...)
  asked <- if (is.null(delta)) "delta" else "epsilon"
  value <- function(end) {
    found <- answer[[paste(asked, end, sep = "_")]]
    if (is.null(found)) if (end == "upper") Inf else NA_real_ else found
  }
  structure(list(lower = value("lower"), upper = value("upper"), of = asked, details = answer), class = "brume_interval")
}

print.brume_interval <- function(x, ...) {
  cat(x$of, "<=", format(x$upper, digits = 15), "\n")
  if (!is.na(x$lower)) cat(x$of, ">=", format(x$lower, digits = 15), "\n")
  invisible(x)
}

brume_calibrate <- function(expression, epsilon = NULL, delta = NULL, ...) {
  without_ledger("calibrate", expr = expression, epsilon = epsilon, delta = delta, ...)
}

brume_accuracy <- function(expression, alpha = NULL, beta = NULL, ...) {
  without_ledger("accuracy", expr = expression, alpha = alpha, beta = beta, ...)
}

brume_mechanisms <- function(name = NULL) {
  cards <- without_ledger("mechanisms", name = name)$mechanisms
  if (is.null(name)) records_frame(lapply(cards, function(card) card[c("name", "summary", "guarantee")])) else cards[[1]]
}
