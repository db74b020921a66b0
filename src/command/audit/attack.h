/* What the table and the picture of `brume attack reconstruct` share. */
#ifndef BRUME_COMMAND_ATTACK_H
#define BRUME_COMMAND_ATTACK_H

#include "audit/reconstruct.h"
#include "command/command.h"

enum { BRUME_ASSAULT_PEOPLE = 1 << 20 };

typedef struct brume_assault {
    brume_adversary adversary;
    size_t people, queries; /* queries of the polynomial adversary */
    size_t moved;           /* answers that one person's bit can move */
    uint64_t runs;
    uint8_t *secret; /* of a file; NULL: generated, others in each run */
    double likelier; /* probability of the likelier value of a bit */
    double delta;
    brume_bits *bits;
} brume_assault;

/* The target as typed: everything but `bits`. The caller wipes and frees the secret. */
BRUME_MUST_USE brume_status brume_assault_read(const brume_call *call, brume_assault *assault,
                                               brume_error *error);

/* Several runs against one curator. */
typedef struct brume_outcome {
    double recovered, square_error; /* means */
    size_t least_recovered, most_recovered;
    double survivors, gap; /* mean; largest */
    size_t farthest;       /* largest */
} brume_outcome;

BRUME_MUST_USE brume_status brume_assault_run(const brume_assault *assault,
                                              const brume_curator *curator, brume_outcome *out,
                                              brume_error *error);

/* Bits recovered over noise, as SVG. BRUME_EDISK if the file cannot be written. */
BRUME_MUST_USE brume_status brume_assault_plot(const brume_call *call, const brume_assault *assault,
                                               const char *path, brume_error *error);

#endif
