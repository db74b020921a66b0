/* The body of brume_vector_line_filler for one type of vectors: include with LANES (the type),
 * WIDTH (its doubles), MAD(a, b, c), which makes *c ab + *c, rounded once or twice, and the names
 * FILL, FILL_TIMES and FILL_POWER defined. */

/* (re, im) times (x, y). */
static inline __attribute__((always_inline)) void FILL_TIMES(LANES *re, LANES *im, const LANES *x,
                                                             const LANES *y)
{
    LANES new_re = -(*im * *y), new_im = *im * *x;
    MAD(re, x, &new_re);
    MAD(re, y, &new_im);
    *re = new_re;
    *im = new_im;
}

/* f^draws in place of f. */
static inline __attribute__((always_inline)) void FILL_POWER(LANES *re, LANES *im, unsigned draws)
{
    const LANES f_re = *re, f_im = *im;
    unsigned bit = 1;
    while (bit <= draws / 2)
        bit *= 2;
    for (bit /= 2; bit > 0; bit /= 2) {
        LANES square = -(*im * *im);
        MAD(re, re, &square);
        *im = 2 * *re * *im;
        *re = square;
        if (draws & bit)
            FILL_TIMES(re, im, &f_re, &f_im);
    }
}

static inline __attribute__((always_inline)) void FILL(brume_vector_line_nodes *block,
                                                       const brume_vector_line_wave *waves,
                                                       size_t count)
{
    for (int j = 0; j < BRUME_VECTOR_LINE_BLOCK; j += WIDTH) {
        LANES re, im, u_re, u_im; /* u = 1 + g */
        for (int k = 0; k < WIDTH; k++) {
            double y = block->y + (j + k) * block->h;
            double below = 2 * (block->tilt * block->tilt + y * y);
            re[k] = 1;
            im[k] = 0;
            u_re[k] = block->tilt / below;
            u_im[k] = -y / below;
        }
        const LANES less_re = 1 - u_re, less_im = -u_im; /* 1 - g */
        u_re += 1;
        for (size_t i = 0; i < count; i++) {
            const brume_vector_line_wave *w = &waves[i];
            const LANES lead_re = w->lead_re - (LANES){0}, lead_im = w->lead_im - (LANES){0};
            LANES x, y; /* q R/D */
            memcpy(&x, w->turn_re + j, sizeof x);
            memcpy(&y, w->turn_im + j, sizeof y);
            FILL_TIMES(&x, &y, &lead_re, &lead_im);
            LANES f_re = x + w->high, f_im = y;
            if (w->laplace) {
                f_re = w->high * u_re;
                f_im = w->high * u_im;
                MAD(&less_re, &x, &f_re);
                MAD(&less_re, &y, &f_im);
                MAD(&u_im, &y, &f_re);
                MAD(&less_im, &x, &f_im);
            }
            if (w->draws > 1)
                FILL_POWER(&f_re, &f_im, w->draws);
            FILL_TIMES(&re, &im, &f_re, &f_im);
        }
        memcpy(block->re + j, &re, sizeof re);
        memcpy(block->im + j, &im, sizeof im);
    }
}
