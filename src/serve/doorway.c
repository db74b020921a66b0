/* Which unknown connection makes room for a newcomer. Promises: doorway.h. */
#include "serve/doorway.h"

#include <netinet/in.h>
#include <string.h>

brume_peer brume_peer_of(const struct sockaddr *address)
{
    brume_peer peer = {{0}};
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;
        memcpy(peer.bytes, &four->sin_addr, sizeof four->sin_addr);
    } else if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;
        memcpy(peer.bytes, &six->sin6_addr, 8); /* a network of 64 bits is one machine's */
        peer.bytes[15] = 6;
    }
    return peer;
}

void brume_doorway_see(brume_doorway *doorway, const brume_peer *peer, double since, void *one)
{
    bool here = memcmp(peer, &doorway->newcomer, sizeof *peer) == 0;
    if (doorway->count++ == 0 || since < doorway->since) {
        doorway->oldest = one;
        doorway->since = since;
    }
    if (here && (doorway->count_here++ == 0 || since < doorway->since_here)) {
        doorway->oldest_here = one;
        doorway->since_here = since;
    }
}

void *brume_doorway_evicted(const brume_doorway *doorway)
{
    if (doorway->count < doorway->places)
        return NULL;
    return doorway->count_here > doorway->places / 8 ? doorway->oldest_here : doorway->oldest;
}
