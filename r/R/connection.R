# A ledger with its datasets.

brume_connect <- function(ledger = NULL, must_exist = FALSE, user = NULL) {
  options <- c(list(must_exist = must_exist), if (!is.null(user)) list(user = user))
  if (!is.null(ledger)) ledger <- path.expand(ledger)
  session <- checked(.Call(r_open, ledger, options))
  structure(list(session = session, ledger = ledger), class = "brume_connection")
}

brume_disconnect <- function(con) invisible(.Call(r_close, con$session))

print.brume_connection <- function(x, ...) {
  cat("<brume connection to ", if (is.null(x$ledger)) "the standard ledger" else x$ledger, ">\n", sep = "")
  invisible(x)
}

brume_call <- function(con, command, ...) {
  if (!inherits(con, "brume_connection")) refuse("'con' is no connection", "open one with brume_connect()")
  options <- list(...)
  options <- options[!vapply(options, is.null, NA)]
  if (length(options) && (is.null(names(options)) || !all(nzchar(names(options)))))
    refuse("options have names", "see brume_call(con, \"help\")")
  checked(.Call(r_call, con$session, command, options), sys.call(-1))
}

brume_version <- function() {
  con <- brume_connect()
  on.exit(brume_disconnect(con))
  brume_call(con, "version")
}

# --- asking ---------------------------------------------------------------------------------------

brume_query <- function(con, sql, epsilon = NULL, delta = NULL, rho = NULL, within = NULL, ..., bars = TRUE) {
  answer_frame(brume_call(con, "query", sql = sql, epsilon = epsilon, delta = delta, rho = rho, within = within, ...),
               bars)
}

brume_explain <- function(con, sql, epsilon = NULL, delta = NULL, rho = NULL, within = NULL, ...) {
  brume_call(con, "explain", sql = sql, epsilon = epsilon, delta = delta, rho = rho, within = within, ...)
}

brume_limits <- function(con, sql, epsilon, ...) brume_call(con, "limits", sql = sql, epsilon = epsilon, ...)

brume_release <- function(con, statistic, source, epsilon = NULL, ...) {
  brume_call(con, "release", statistic = statistic, source = source, epsilon = epsilon, ...)
}

brume_synth <- function(con, source, epsilon = NULL, ...) brume_call(con, "synth", source = source, epsilon = epsilon, ...)

brume_stream <- function(con, kind = c("above-threshold", "sparse-vector", "pmw"), ...) {
  kind <- match.arg(kind)
  options <- list(...)
  checked(.Call(r_stream_open, con$session, paste("stream", kind), options[!vapply(options, is.null, NA)]))
  list(ask = function(question) checked(.Call(r_stream_ask, con$session, question)),
       close = function() invisible(checked(.Call(r_stream_close, con$session))))
}

# --- owners ---------------------------------------------------------------------------------------

brume_register <- function(con, name, source = NULL, ...) {
  invisible(brume_call(con, "register", name = name, source = source, ...))
}

brume_amend <- function(con, name, ...) invisible(brume_call(con, "amend", name = name, ...))

brume_show <- function(con, name) brume_call(con, "show", name = name)

brume_datasets <- function(con) records_frame(brume_call(con, "datasets")$datasets)

brume_budget <- function(con, name = NULL) {
  answer <- brume_call(con, "budget", name = name)
  records_frame(if (is.null(name)) answer$budgets else list(answer))
}

brume_history <- function(con, name = NULL, limit = NULL) {
  events <- list()
  before <- NULL
  repeat {
    page <- brume_call(con, "history", name = name, before = before,
                       limit = if (is.null(limit)) 1000 else limit - length(events))
    events <- c(page$events, events)
    before <- page$before
    if (is.null(before) || (!is.null(limit) && length(events) >= limit)) break
  }
  records_frame(events)
}
