/* The union of rare draws and a moment. See the header. */
#include "accountant/ray/fallback_bounds.h"

#include <math.h>

#include "accountant/ray/transform.h"

double brume_fallback_log_mass(const brume_law *law, double at)
{
    double mean, sigma;
    brume_transform_normal(law, &mean, &sigma);
    double d = sigma * (at - mean) * (1 - 1e-12) - 1e-12 * (1 + sigma * fabs(mean));
    double mass = 0.5 * erfc(d / sqrt(2));
    if (!law->reversed)
        mass += law->rate * 0.5 * erfc((d - (1 + 1e-12) / sigma - 1e-12) / sqrt(2));
    return log(mass) + 1e-9;
}

double brume_one_jump(const brume_law *law, double epsilon)
{
    double mu = 1 / law->a, q = law->rate, e = log1p(expm1(epsilon) / q) / mu;
    double left = 0.5 * erfc((e - mu / 2) / sqrt(2)), right = 0.5 * erfc((e + mu / 2) / sqrt(2));
    return law->count * (q * left - (expm1(epsilon) + q) * right);
}

double brume_one_jump_epsilon(const brume_law *law, double delta)
{
    double low = -60, high = 8;
    for (int i = 0; i < 40; i++) {
        double middle = 0.5 * (low + high);
        *(brume_one_jump(law, exp(middle)) > delta ? &low : &high) = middle;
    }
    return exp(0.5 * (low + high));
}

double brume_fallback_delta(const brume_parts *whole, double epsilon)
{
    double best = 1;
    for (double y = 2; y < 16; y += 1) {
        brume_parts parts = *whole;
        double beyond = 0;
        for (size_t i = 0; i < parts.count; i++) {
            brume_part *part = &parts.part[i];
            double mean, sigma;
            brume_transform_normal(part->law, &mean, &sigma);
            part->cut = mean + y / sigma;
            beyond += part->count * exp(brume_fallback_log_mass(part->law, part->cut));
        }
        if (!(beyond < best))
            continue;
        brume_ray_aim aim = brume_ray_aim_for(&parts, epsilon, 0);
        double sum = (beyond + exp(brume_ray_ceiling(&parts, aim.start, epsilon))) * (1 + 1e-9);
        if (sum < best)
            best = sum;
    }
    return best + 1e-300; /* masses below the smallest double */
}

/* (1 - e^{-t})_+ <= e^{ct} c^c/(c+1)^{c+1}, c = z - 1 (added: -z) */
double brume_ray_ceiling(const brume_parts *parts, double z, double epsilon)
{
    double c = parts->reversed ? -z : z - 1, far = parts->origin, sum = 0;
    for (size_t i = 0; i < parts->count; i++) {
        const brume_part *part = &parts->part[i];
        brume_transform_aim goal = {z, fabs(z), 0.2, -2, part->from, part->cut};
        brume_contour *contour = brume_transform_open(part->law, &goal);
        if (!contour)
            return INFINITY;
        sum += part->count * (brume_transform_bound(contour, z, 0) + brume_transform_base(contour));
        brume_transform_close(contour);
    }
    double size = fabs(sum) + fabs(z) * (far + epsilon);
    sum += -c * epsilon + (parts->reversed ? c * far : -z * far);
    /* the parameters, as in the origin and in the contours; rounding */
    double off = fabs(z) * parts->origin_error + 1e-9 + 1e-13 * size;
    return sum + c * log(c / (c + 1)) - log1p(c) + off;
}
