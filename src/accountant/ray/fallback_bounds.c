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
