/* 128-bit integers, a compiler extension, under names of our own. */
#ifndef BRUME_NUMBER_WIDE_H
#define BRUME_NUMBER_WIDE_H

__extension__ typedef unsigned __int128 brume_u128;
__extension__ typedef __int128 brume_i128;

#endif
