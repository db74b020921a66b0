/* Balls of real numbers: Arb, which is a library of its own or part of FLINT 3. */
#ifndef BRUME_NUMBER_FLINT_H
#define BRUME_NUMBER_FLINT_H

#include <flint/fmpq.h>
#include <flint/fmpz.h>
#if __has_include(<flint/arb.h>)
#include <flint/arb.h>
#else
#include <arb.h>
#endif

#endif
