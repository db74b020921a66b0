# Values with noise of the exact law.

whole_numbers <- function(x) {
  if (!is.numeric(x) || !all(is.finite(x)) || any(x != trunc(x)) || any(abs(x) > 2^53))
    refuse("'x' has whole numbers up to 2^53, and no NA", "for reals take noise_laplace or noise_gaussian")
  as.double(x)
}

one_number <- function(x, name) {
  if (!is.numeric(x) || length(x) != 1L || !is.finite(x)) refuse(sprintf("'%s' is one finite number", name))
  as.double(x)
}

# dim, dimnames and names stay
like <- function(out, x) {
  attributes(out) <- attributes(x)[c("dim", "dimnames", "names")[c("dim", "dimnames", "names") %in% names(attributes(x))]]
  out
}

noise_discrete_laplace <- function(x, scale) {
  like(checked(.Call(r_noise_whole, whole_numbers(x), one_number(scale, "scale"), FALSE)), x)
}

noise_discrete_gaussian <- function(x, sigma) {
  like(checked(.Call(r_noise_whole, whole_numbers(x), one_number(sigma, "sigma"), TRUE)), x)
}

real_noise <- function(x, spread, exponent, is_gaussian) {
  if (!is.numeric(x)) refuse("'x' has numbers")
  step <- if (is.null(exponent)) NA_integer_ else as.integer(one_number(exponent, "exponent"))
  like(checked(.Call(r_noise_real, as.double(x), spread, step, is_gaussian), sys.call(-1)), x)
}

noise_laplace <- function(x, scale, exponent = NULL) real_noise(x, one_number(scale, "scale"), exponent, FALSE)

noise_gaussian <- function(x, sigma, exponent = NULL) real_noise(x, one_number(sigma, "sigma"), exponent, TRUE)

randomized_response <- function(truth, epsilon, k = 2) {
  k <- one_number(k, "k")
  if (!(is.logical(truth) || is.numeric(truth)) || anyNA(truth) || any(truth != trunc(truth)) || k < 2 || k > 256 ||
      any(truth < 0 | truth >= k))
    refuse("'truth' has whole numbers from 0 to k-1, k is from 2 to 256")
  like(checked(.Call(r_randomized_response, as.integer(truth), one_number(epsilon, "epsilon"), as.integer(k))), truth)
}
