/* Printed by tools/ziggurat_table.c with arguments 4 12; do not edit. */
/* clang-format off */
enum { ZIGGURAT_LAYERS = 4, ZIGGURAT_GRID_BITS = 12, ZIGGURAT_EDGE_BITS = 48 };
#define ZIGGURAT_EDGE        0x1.ee4de4a045fap+0 /* R, exact */
#define ZIGGURAT_EDGE_SCALED 543493292312058u /* R 2^48 */
#define ZIGGURAT_AREA        1557u /* A 2^12 */
#define ZIGGURAT_TAIL_HEIGHT 0x1.3d97dd9c253f1p-3 /* c = R (A - R f1), nearest */
#define ZIGGURAT_TAIL_RATIO  0x1.00133e2c76b7fp+0 /* c / f(R), nearest */
/* Share of layer 0 that is its rectangle, R f1 / A, times 2^128, rounded down. */
static const struct ziggurat_fixed ziggurat_rectangle = {0xc9e98f3522ff0766u, 0x1aa2c649fd0a5bbeu};
/* F_i 2^12, exact. */
static const uint64_t ziggurat_floor[5] = {
    0u,
    636u,
    1442u,
    2519u,
    4098u,
};
/* H_i 2^12, exact. */
static const uint64_t ziggurat_height[4] = {
    636u,
    806u,
    1077u,
    1579u,
};
/* A / H_i, to nearest. */
static const double ziggurat_width[4] = {
    0x1.395bc609a90e8p+1,
    0x1.ee87f0c11c95fp+0,
    0x1.72183ec088e9ep+0,
    0x1.f8ddca7f6ebbcp-1,
};
/* A / H_i times 2^126, rounded down. */
static const struct ziggurat_fixed ziggurat_width_fixed[4] = {
    {0x9cade304d4873ecau, 0xde304d4873ecade3u},
    {0x7ba1fc3047257a99u, 0xba1fc3047257a99bu},
    {0x5c860fb0223a7939u, 0xc2ac917883357b5du},
    {0x3f1bb94fedd777d0u, 0x0298137491ea465du},
};
/* Rounded down: exp(-inner^2/2) >= F_(i+1), inner <= R. */
static const double ziggurat_inner[4] = {
    0x1.ee18792c60204p+0,
    0x1.71ea0a0529313p+0,
    0x1.f8dbc1bff4ce6p-1,
    0x0p+0,
};
/* inner_i H_i / A times 2^64, rounded down: the share of the layer below its inner edge. */
static const uint64_t ziggurat_inside[4] = {
    14543175526326106581u,
    13798351611838980001u,
    12581906702147144733u,
    0u,
};
