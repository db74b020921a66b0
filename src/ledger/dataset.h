/* Words for adjacencies, as the command line and the journal write them. */
#ifndef BRUME_LEDGER_DATASET_H
#define BRUME_LEDGER_DATASET_H

#include "ledger/ledger.h"

/* "add-remove", "replace", "edge". */
const char *brume_adjacency_word(brume_adjacency adjacency);

/* False if the word is none of them; *out is untouched then. */
bool brume_adjacency_parse(const char *word, brume_adjacency *out);

#endif
