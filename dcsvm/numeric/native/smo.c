/* Sequential minimal optimisation with second-order choice of the pair, on a full Gram matrix. */
#include "numeric.h"

/* Move f along the last step (rows i and j by d) and find the extremes: the smallest f that can
   grow, with its block, and the largest that can fall. */
INLINE void update_and_scan(const problem *p, int64_t i, int64_t j, double d, double *lowest,
                            double *highest, int64_t *block) {
    const float *restrict Ki = p->K + i * p->stride, *restrict Kj = p->K + j * p->stride;
    double *restrict f = p->f;
    const double *restrict up = p->up_penalty, *restrict down = p->low_penalty;
    double low = BOUND_PENALTY, high = -BOUND_PENALTY;
    int64_t found = 0;
    for (int64_t s = 0; s < p->stride; s += BLOCK) {
        double here = BOUND_PENALTY;
        for (int64_t t = s; t < s + BLOCK; t++) {
            double value = f[t] + d * ((double)Ki[t] - (double)Kj[t]);
            f[t] = value;
            double grow = value + up[t], fall = value - down[t];
            here = grow < here ? grow : here;
            high = fall > high ? fall : high;
        }
        if (here < low) {
            low = here;
            found = s;
        }
    }
    *lowest = low;
    *highest = high;
    *block = found;
}

/* The first place of the block where that value stands; no early exit, so that it vectorises. */
INLINE int64_t first_at_lowest(const problem *p, int64_t block, double lowest) {
    const double *restrict f = p->f + block, *restrict up = p->up_penalty + block;
    int64_t found = BLOCK;
    for (int64_t t = 0; t < BLOCK; t++) {
        int64_t here = f[t] + up[t] == lowest ? t : BLOCK;
        found = here < found ? here : found;
    }
    return block + (found < BLOCK ? found : 0);
}

INLINE int64_t first_at_best(const float *restrict gains, float best) {
    int32_t found = BLOCK;
    for (int32_t t = 0; t < BLOCK; t++) {
        int32_t here = gains[t] == best ? t : BLOCK;
        found = here < found ? here : found;
    }
    return found < BLOCK ? found : 0;
}

/* The partner that promises the largest decrease: (f_j - f_i)^2 / (K_ii + K_jj - 2 K_ij). */
INLINE int64_t best_partner(const problem *p, int64_t i, double lowest) {
    const float *restrict Ki = p->K + i * p->stride, *restrict D = p->diagonal;
    const double *restrict f = p->f, *restrict down = p->low_penalty;
    float *restrict gains = p->gains;
    float best = -1.0f, own = p->diagonal[i];
    int64_t block = 0;
    for (int64_t s = 0; s < p->stride; s += BLOCK) {
        float here = -1.0f;
        for (int64_t t = s; t < s + BLOCK; t++) {
            float rise = (float)(f[t] - lowest - down[t]);
            rise = rise > 0.0f ? rise : 0.0f;
            float curvature = own + D[t] - 2.0f * Ki[t];
            curvature = curvature > SMALLEST_CURVATURE ? curvature : SMALLEST_CURVATURE;
            float gain = rise * rise / curvature;
            gains[t] = gain;
            here = gain > here ? gain : here;
        }
        if (here > best) {
            best = here;
            block = s;
        }
    }
    return block + first_at_best(gains + block, best);
}

/* Move beta_i up and beta_j down as far as the decrease lasts and the bounds allow. */
INLINE double take_step(problem *p, int64_t i, int64_t j, double rise) {
    double curvature = (double)p->diagonal[i] + p->diagonal[j] - 2.0 * p->K[i * p->stride + j];
    if (curvature < SMALLEST_CURVATURE) curvature = SMALLEST_CURVATURE;
    double step = rise / curvature;
    double room_i = p->upper[i] - p->beta[i], room_j = p->beta[j] - p->lower[j];
    int stops_i = step >= room_i && room_i <= room_j, stops_j = step >= room_j && room_j <= room_i;
    if (stops_i) step = room_i;
    if (stops_j) step = room_j;
    p->beta[i] = stops_i ? p->upper[i] : p->beta[i] + step;
    p->beta[j] = stops_j ? p->lower[j] : p->beta[j] - step;
    update_bound_penalties(p, i);
    update_bound_penalties(p, j);
    return step;
}

int64_t free_rows_of(const problem *p, int64_t *rows) {
    int64_t count = 0;
    for (int64_t t = 0; t < p->n; t++)
        if (p->up_penalty[t] == 0.0 && p->low_penalty[t] == 0.0) rows[count++] = t;
    return count;
}

/* How many iterations of SMO take as long as a Newton phase on m free rows with so many solves:
   it pays to let both have equal shares of the time. Operations, not seconds, are counted, so
   that every run takes the same steps. */
static int64_t price_of_newton(const problem *p, double m, double solves) {
    double factor = m * m * m / 3.0, changes = 12.0 * m * m * solves, update = 4.0 * m * (double)p->stride;
    return (int64_t)((factor + changes + update) / (24.0 * (1.3 * (double)p->stride + 60.0)));
}

static int64_t accelerate(problem *p, effort *e, int64_t *rows) {
    int64_t m = free_rows_of(p, rows), wait = e->newton_after;
    if (price_of_newton(p, (double)m, 1.0) > e->iterations + wait) return e->iterations + wait;
    int64_t solves = newton(p, rows, m);
    e->newton_solves += solves;
    int64_t price = price_of_newton(p, (double)m, (double)solves);
    if (price > wait) wait = price;
    return e->iterations + (solves ? wait : 4 * wait + p->n);
}

/* Iterate until the gap is below the tolerance or the effort is spent; gives the gap. */
double smo(problem *p, effort *e) {
    int64_t i = 0, j = 0, block = 0;
    double step = 0.0, lowest, highest;
    int64_t last = e->iterations + e->iterations_left;
    int64_t next_newton = e->newton_after ? e->iterations + e->newton_after : INT64_MAX;
    int64_t *rows = e->newton_after ? malloc(sizeof(int64_t) * (size_t)p->n) : NULL;
    for (;;) {
        update_and_scan(p, i, j, step, &lowest, &highest, &block);
        if (highest - lowest < e->tolerance || e->iterations >= last) break;
        if (rows && e->iterations >= next_newton) {
            next_newton = accelerate(p, e, rows);
            e->iterations++;
            step = 0.0;
            continue;
        }
        if ((e->iterations & 4095) == 4095 && e->deadline > 0.0 && seconds_now() > e->deadline)
            break;
        i = first_at_lowest(p, block, lowest);
        j = best_partner(p, i, lowest);
        step = take_step(p, i, j, p->f[j] - lowest);
        e->iterations++;
    }
    e->iterations_left = last - e->iterations;
    free(rows);
    return highest - lowest;
}
