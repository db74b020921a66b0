# Answers as data frames.

# A column of the values of one field; NULL is NA. Numbers, truths and texts keep their type.
column_of <- function(values) {
  if (length(values) == 0L) return(logical(0))
  values[vapply(values, is.null, NA)] <- NA
  if (all(lengths(values) == 1L) && all(vapply(values, is.atomic, NA))) unlist(values) else I(values)
}

# Records with the same fields; fields of fields become field.field, as budget.epsilon.
records_frame <- function(records) {
  flat <- lapply(records, function(record) {
    out <- list()
    for (name in names(record)) {
      value <- record[[name]]
      if (is.list(value) && !is.null(names(value)))
        out[paste(name, names(value), sep = ".")] <- value
      else
        out[name] <- list(value)
    }
    out
  })
  fields <- unique(unlist(lapply(flat, names)))
  columns <- lapply(fields, function(field) column_of(lapply(flat, function(record) record[[field]])))
  names(columns) <- fields
  structure(columns, class = "data.frame", row.names = .set_row_names(length(flat)))
}

# The bar of each value of the j-th column: its own where bars differ, else that of the column. NA: none can be
# claimed, as where it is not known how much limits cut; bar_why in the details says why.
bars_of <- function(answer, j) {
  own <- answer$rows_bar_95
  if (is.null(own)) own <- rep(list(lapply(answer$columns, `[[`, "bar_95")), length(answer$rows))
  vapply(own, function(row) if (is.null(row[[j]])) NA_real_ else as.numeric(row[[j]]), 0)
}

# What stands behind the j-th column, named by what is added to its name: bars, or the ends of a quantile's intervals.
errors_of <- function(answer, j) {
  if (is.null(answer$columns[[j]]$rank_error_95)) return(list(error = bars_of(answer, j)))
  end <- function(at) column_of(lapply(answer$rows_interval_95, function(row) if (length(row[[j]])) row[[j]][[at]]))
  list(low = end(1), high = end(2))
}

# The rows of a query; with bars each column of values is followed by its bars or intervals.
answer_frame <- function(answer, bars) {
  columns <- list()
  for (j in seq_along(answer$columns)) {
    column <- answer$columns[[j]]
    columns <- c(columns, list(column_of(lapply(answer$rows, `[[`, j))))
    names(columns)[length(columns)] <- column$name
    if (bars && identical(column$role, "value")) {
      errors <- errors_of(answer, j)
      names(errors) <- paste(column$name, names(errors), sep = "_")
      columns <- c(columns, errors)
    }
  }
  structure(columns, class = c("brume_answer", "data.frame"), row.names = .set_row_names(length(answer$rows)),
            cost = unlist(answer$cost), remaining = unlist(answer$remaining), cached = answer$cached,
            as_of = answer$as_of$read,
            biased = vapply(answer$columns, function(column) isTRUE(column$biased), NA),
            details = answer[setdiff(names(answer), c("rows", "row_error_95", "rows_bar_95", "rows_interval_95"))])
}

price_text <- function(price) {
  price <- price[!is.na(price) & price > 0]
  if (length(price)) paste(names(price), vapply(price, format, "", digits = 6), collapse = ", ") else "nothing"
}

print.brume_answer <- function(x, ...) {
  details <- attr(x, "details")
  frame <- structure(x, class = "data.frame")
  print(frame, ...)
  cat("cost ", price_text(attr(x, "cost")), "; left: ", price_text(attr(x, "remaining")), "\n", sep = "")
  for (note in unlist(details$notes)) writeLines(strwrap(note, exdent = 2))
  invisible(x)
}
