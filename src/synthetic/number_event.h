/* Noise on one number, for a price: the number of records, the worst error. */
#ifndef BRUME_SYNTHETIC_NUMBER_EVENT_H
#define BRUME_SYNTHETIC_NUMBER_EVENT_H

#include <brume/synthetic/synthetic.h>

/* Noise on one number of sensitivity 1, for that price, in the options' currency. */
BRUME_MUST_USE brume_status brume_synthetic_number_event(const brume_synthetic_options *options,
                                                         double price, brume_event *event,
                                                         brume_error *error);

#endif
