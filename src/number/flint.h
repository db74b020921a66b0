/* FLINT's integers, fractions and balls of real and complex numbers. FLINT 3 has Arb inside; with
 * FLINT 2 Arb is a library of its own, whose headers are not in FLINT's folder. */
#ifndef BRUME_NUMBER_FLINT_H
#define BRUME_NUMBER_FLINT_H

#include <flint/fmpq.h>
#include <flint/fmpz.h>
#include <flint/fmpz_vec.h>

#if __FLINT_VERSION >= 3
#include <flint/acb.h>
#include <flint/acb_calc.h>
#include <flint/acb_hypgeom.h>
#include <flint/arb.h>
#include <flint/arb_hypgeom.h>
#include <flint/arb_poly.h>
#else
#include <acb.h>
#include <acb_calc.h>
#include <acb_hypgeom.h>
#include <arb.h>
#include <arb_hypgeom.h>
#include <arb_poly.h>
#endif

#endif
