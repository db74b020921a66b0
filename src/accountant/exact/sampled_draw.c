/* The profile of one Poisson-subsampled Gaussian in doubles. See the header;
 * proofs/accountant/exact.md, section exact.4.
 *
 * u = e^eps, m = u - 1. With h = q, t = q + m (a record removed) or h = q - m (1 - q), t = q u (a
 * record added): delta = h Phi(z1) - t Phi(z2), z1, z2 = +-1/(2 sigma) - sigma log(t/h), and t/h =
 * 1 + m/h. Promise: the value is within *error of the truth, for the parameters as given. */
#include "accountant/exact/sampled_draw.h"

#include <math.h>

static const double unit = BRUME_UNIT;

brume_sampled_draw brume_sampled_draw_of(const brume_law *law, brume_side side)
{
    /* delta grows with the rate and falls with sigma */
    return (brume_sampled_draw){.sigma = brume_parameter_moved(law->a, -side),
                                .rate = fmin(1, brume_parameter_moved(law->rate, side)),
                                .reversed = law->reversed};
}

/* Phi(z), and a bound of its error for a z that is off by `off`. */
static double normal(double z, double off, double *error)
{
    double value = 0.5 * erfc(-M_SQRT1_2 * z), size = fabs(z);
    off += 2 * unit * size;
    if ((size + 1 + off) * off <= 0.05) {
        /* density/Phi is at most |z| + 1 below 0; it changes by less than a tenth over `off` */
        double density = z < 0 ? value * (size + 1) : 0.4 * exp(-0.5 * z * z);
        *error = 1.1 * density * off;
    } else { /* all that lies on the far side */
        double near = fmax(size - off, 0);
        *error = exp(-0.5 * near * near) * (1 + 1e-9);
    }
    *error += 12 * unit * value + 1e-300; /* erfc: 5 units in the last place; underflow */
    return value;
}

double brume_sampled_value(const brume_sampled_draw *draw, double x, double *error)
{
    double epsilon = -x, q = draw->rate, sigma = draw->sigma;
    if (!(fabs(epsilon) < 300)) { /* not worth the care */
        *error = 1;
        return 0;
    }
    double m = expm1(epsilon), size = fabs(m), head, tail, head_off = 0, tail_off;
    if (draw->reversed) {
        head = q - m * (1 - q);
        tail = q * exp(epsilon);
        head_off = unit * (fabs(head) + 6 * size * (1 - q));
        tail_off = 6 * unit * tail;
        if (head <= 0) { /* delta is at most the true head */
            *error = 1.01 * (head_off + fabs(head) * unit);
            return 0;
        }
    } else {
        head = q;
        tail = q + m;
        tail_off = unit * (fabs(tail) + 4 * size);
        if (tail <= 0) { /* delta = 1 - u, or above it by at most the true tail */
            *error = 1.01 * (tail_off + 4 * unit * size);
            return -m;
        }
    }
    double head_share = head_off / head, tail_share = tail_off / tail;
    double ratio = m / head, growth, growth_off;
    if (fabs(ratio) < 0.5) { /* relative to itself where it is small */
        growth = log1p(ratio);
        growth_off = 2.2 * fabs(ratio) * (5 * unit + head_share);
    } else {
        growth = log(tail / head);
        growth_off = 1.1 * (head_share + tail_share) + 2 * unit;
    }
    if (!(head_share + tail_share < 0.05)) {
        *error = fmin(1, 1.1 * (head + head_off)); /* delta is at most h */
        return 0;
    }
    growth_off += 4 * unit * fabs(growth);
    double turn = sigma * growth, half = 0.5 / sigma;
    double off = 1.01 * (sigma * growth_off + 2 * unit * (fabs(turn) + half)), first_off,
           second_off;
    double first = normal(half - turn, off + unit * fabs(half - turn), &first_off);
    double second = normal(-half - turn, off + unit * fabs(half + turn), &second_off);
    double value = head * first - tail * second;
    /* 1.06: both factors may be off by a twentieth at once */
    *error = 1.06 * (head * first_off + tail * second_off + head_off * first + tail_off * second +
                     3 * unit * (head * first + tail * second));
    return fmax(value, 0);
}
