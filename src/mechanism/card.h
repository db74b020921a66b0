/* The card of a mechanism, for those who write one: everything anybody needs to know of it, said
 * once. The struct itself is public (brume/mechanism/mechanism.h).
 *
 * src/mechanism/<family>/<name>.c exports one const card, registry.def has one line for it. */
#ifndef BRUME_MECHANISM_CARD_H
#define BRUME_MECHANISM_CARD_H

#include <math.h>

#include <brume/mechanism/mechanism.h>

/* The parameters that many cards share. */
#define BRUME_PARAMETER_PRICE_(name_text, unit_text, help_text)                                    \
    {                                                                                              \
        .name = name_text, .type = BRUME_PARAMETER_REAL, .least = 0, .least_open = true,           \
        .most = INFINITY, .most_open = true, .direction = BRUME_LESS_NOISE, .unit = unit_text,     \
        .help = help_text                                                                          \
    }

#define BRUME_PARAMETER_EPSILON_(help_text) BRUME_PARAMETER_PRICE_("epsilon", "nats", help_text)

/* The scale or the standard deviation of noise. */
#define BRUME_PARAMETER_NOISE_(name_text, help_text)                                               \
    {                                                                                              \
        .name = name_text, .type = BRUME_PARAMETER_REAL, .least = 0, .least_open = true,           \
        .most = INFINITY, .most_open = true, .direction = BRUME_MORE_NOISE,                        \
        .unit = "of the query's unit", .help = help_text                                           \
    }

#define BRUME_PARAMETER_DELTA_(help_text)                                                          \
    {                                                                                              \
        .name = "delta", .type = BRUME_PARAMETER_REAL, .least = 0, .least_open = true,             \
        .most = 0.5, .most_open = true, .direction = BRUME_LESS_NOISE, .unit = "",                 \
        .help = help_text                                                                          \
    }

#define BRUME_PARAMETER_COORDINATES_                                                               \
    {                                                                                              \
        .name = "coordinates", .type = BRUME_PARAMETER_INTEGER, .least = 1, .most = 0x1p53,        \
        .optional = true, .standard = 1, .direction = BRUME_NOT_MONOTONE, .unit = "",              \
        .help = "how many numbers are released; 1 is ONE number and its absolute sensitivity; "    \
                "for a vector give its length and its sensitivity (Gaussian: L2, Laplace: L1), "   \
                "privacy depends on it; the accuracy is that of all of them at once"               \
    }

#define BRUME_PARAMETER_MONOTONE_                                                                  \
    {                                                                                              \
        .name = "monotone", .type = BRUME_PARAMETER_FLAG, .least = 0, .most = 1, .optional = true, \
        .standard = 0, .direction = BRUME_NOT_MONOTONE, .unit = "",                                \
        .help = "true if one unit moves all values in the same direction: half the noise"          \
    }

#define BRUME_PARAMETER_QUERIES_                                                                   \
    {                                                                                              \
        .name = "queries", .type = BRUME_PARAMETER_INTEGER, .least = 0, .most = 0x1p53,            \
        .optional = true, .standard = 0, .direction = BRUME_MORE_NOISE, .unit = "",                \
        .help = "how many queries are asked, for the accuracy; 0: not said"                        \
    }

/* Of MWEM. */
#define BRUME_PARAMETER_ROUNDS_                                                                    \
    {                                                                                              \
        .name = "rounds", .type = BRUME_PARAMETER_INTEGER, .least = 1, .most = 1048576,            \
        .direction = BRUME_MORE_NOISE, .unit = "", .help = "how many queries are measured"         \
    }

#define BRUME_PARAMETER_RECORDS_SHARE_                                                             \
    {                                                                                              \
        .name = "records_share", .type = BRUME_PARAMETER_REAL, .least = 0, .most = 1,              \
        .most_open = true, .optional = true, .standard = 0, .direction = BRUME_NOT_MONOTONE,       \
        .unit = "",                                                                                \
        .help = "the share of the price that buys the number of records; 0: it is public"          \
    }

/* The sensitivity as a parameter, for messages and the unknown. */
extern const brume_parameter brume_parameter_sensitivity;

/* Does the card take a sensitivity other than 1? */
bool brume_card_has_sensitivity(const brume_card *card);

/* How many slots of event.parameter the card itself uses; the base's follow. */
size_t brume_card_slots(const brume_card *card);

/* brume_event_check, but the value in `slot` (or the sensitivity) is not looked at. */
enum { BRUME_SLOT_NONE = -2 };
BRUME_MUST_USE brume_status brume_event_check_except(const brume_event *event, int slot,
                                                     brume_error *error);

#endif
