/* What the three selection mechanisms share: the slots of their parameters. */
#ifndef BRUME_MECHANISM_SELECTION_H
#define BRUME_MECHANISM_SELECTION_H

enum { BRUME_SELECTION_EPSILON, BRUME_SELECTION_MONOTONE, BRUME_SELECTION_CANDIDATES };

#define BRUME_PARAMETER_CANDIDATES_                                                                \
    {                                                                                              \
        .name = "candidates", .type = BRUME_PARAMETER_INTEGER, .least = 1, .most = 0x1p53,         \
        .optional = true, .standard = 1, .direction = BRUME_NOT_MONOTONE, .unit = "",              \
        .help = "how many candidates there are; only the accuracy depends on it"                   \
    }

#endif
