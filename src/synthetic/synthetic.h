/* The plan of a synthetic histogram: how the price is split. */
#ifndef BRUME_SYNTHETIC_SYNTHETIC_H
#define BRUME_SYNTHETIC_SYNTHETIC_H

#include <brume/synthetic/direct.h>
#include <brume/synthetic/multiplicative_weights.h>
#include <brume/synthetic/small_database.h>
#include <brume/synthetic/synthetic.h>

#endif
