/* Files of the page by path, and the headers that they are sent with. */
#include "serve/page/page.h"

#include <string.h>

/* Everything is the server's own; nothing is inline, framed, sent elsewhere or loaded from
 * elsewhere. Downloads are made by the page itself, from blobs, which no directive governs. */
static const char security_policy[] = "default-src 'none'; "
                                      "script-src 'self'; "
                                      "style-src 'self'; "
                                      "img-src 'self'; "
                                      "font-src 'self'; "
                                      "connect-src 'self'; "
                                      "base-uri 'none'; "
                                      "form-action 'none'; "
                                      "frame-ancestors 'none'; "
                                      "require-trusted-types-for 'script'";

const brume_page_header brume_page_headers[] = {
    {"Content-Security-Policy", security_policy},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"},
    {"Cache-Control", "no-cache"},
    {NULL, NULL},
};

const brume_page_file *brume_page_find(const char *path)
{
    if (strcmp(path, "/") == 0)
        path = "/index.html";
    size_t low = 0, high = brume_page_file_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(path, brume_page_files[middle].path);
        if (order == 0)
            return &brume_page_files[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}
