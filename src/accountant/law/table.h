/* Tables of atoms as laws, for those who read the atoms. */
#ifndef BRUME_ACCOUNTANT_LAW_TABLE_H
#define BRUME_ACCOUNTANT_LAW_TABLE_H

#include "accountant/law/points.h"

enum { BRUME_TABLE_MOST_SHIFT = 64 }; /* of a discrete Laplace; a larger one has a closed form */

/* The atoms of a law that is a table; NULL if it is none. */
const brume_points *brume_table_points(const brume_law *law);

#endif
