/* Connections of which nobody knows yet whose they are.
 *
 * Anybody can open them, and say nothing. So there are few of them at a time, apart from those of
 * users: one that comes when there is no place takes that of another, of its own address if many
 * are of it, else of the oldest of all. Who shows a token in the ordinary time keeps the place. */
#ifndef BRUME_SERVE_DOORWAY_H
#define BRUME_SERVE_DOORWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/socket.h>

/* The address of the other end, without its port: 16 bytes, 0 where there is none. */
typedef struct brume_peer {
    uint8_t bytes[16];
} brume_peer;

brume_peer brume_peer_of(const struct sockaddr *address);

/* Who is to go: begin with the peer of the newcomer, see each that waits, oldest or not. */
typedef struct brume_doorway {
    brume_peer newcomer;
    size_t places, count, count_here; /* count_here: of the newcomer's address */
    void *oldest, *oldest_here;
    double since, since_here;
} brume_doorway;

void brume_doorway_see(brume_doorway *doorway, const brume_peer *peer, double since, void *one);

/* NULL: there is a place. */
void *brume_doorway_evicted(const brume_doorway *doorway);

#endif
