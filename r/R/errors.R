# Errors of brume are conditions of class brume_error_<word> (brume_error_budget, brume_error_policy, ...)
# and brume_error, with the fields hint and sqlstate.

checked <- function(value, call = sys.call(-1)) {
  if (!inherits(value, "brume_failure")) return(value)
  message <- value$message
  if (nzchar(value$hint)) message <- paste0(message, "\n  hint: ", value$hint)
  stop(structure(class = c(paste0("brume_error_", value$word), "brume_error", "error", "condition"),
                 list(message = message, call = call, hint = value$hint, sqlstate = value$sqlstate)))
}

refuse <- function(message, hint = "") {
  checked(structure(list(word = "argument", message = message, hint = hint, sqlstate = "22023"),
                    class = "brume_failure"), sys.call(-1))
}
