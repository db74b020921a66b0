/* A small clinic for the tests of SQL: visits of patients, patients, public clinics, people by row.
 */
#ifndef BRUME_TESTS_CLINIC_H
#define BRUME_TESTS_CLINIC_H

#include "query/expression/query.h"

#define CLINIC_COLUMN(name, kind, leaf, low, high)                                                 \
    {                                                                                              \
        name, {BRUME_TYPE_##kind, 0, 0}, BRUME_LEAF_##leaf, "", false, low, high, false, false     \
    }

static const brume_catalog_column clinic_visits[] = {
    CLINIC_COLUMN("patient", BIGINT, PLAIN, NULL, NULL),
    CLINIC_COLUMN("age", INTEGER, PLAIN, "0", "120"),
    CLINIC_COLUMN("cost", DOUBLE, FINITE, "0", "500"),
    CLINIC_COLUMN("clinic", TEXT, PLAIN, NULL, NULL),
    CLINIC_COLUMN("day", DATE, CALENDAR, NULL, NULL),
    {"Weight", {BRUME_TYPE_DECIMAL, 6, 2}, BRUME_LEAF_CAST, "", false, NULL, NULL, false, false},
    CLINIC_COLUMN("scan", REFUSED, PLAIN, NULL, NULL),
};
static const brume_catalog_column clinic_patients[] = {
    CLINIC_COLUMN("patient", INTEGER, PLAIN, NULL, NULL),
    CLINIC_COLUMN("sex", TEXT, PLAIN, NULL, NULL),
};
static const brume_catalog_column clinic_clinics[] = {
    CLINIC_COLUMN("clinic", TEXT, PLAIN, NULL, NULL),
    CLINIC_COLUMN("region", TEXT, PLAIN, NULL, NULL),
};
static const brume_catalog_table clinic_tables[] = {
    {"visits", BRUME_PRIVACY_UNIT, 0, clinic_visits, 7, NULL, {0, 0, 0}},
    {"patients", BRUME_PRIVACY_UNIT, 0, clinic_patients, 2, NULL, {0, 0, 0}},
    {"clinics", BRUME_PRIVACY_PUBLIC, 0, clinic_clinics, 2, NULL, {0, 0, 0}},
    {"people", BRUME_PRIVACY_ROW, 0, clinic_visits, 7, NULL, {0, 0, 0}},
};
static const brume_catalog clinic_catalog = {clinic_tables, 4};

#endif
