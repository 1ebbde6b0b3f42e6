/* A large C is approached over smaller ones: where many rows end at a bound, they get there
   together, by a factor on all coefficients, and not pair by pair. */
#include "numeric.h"

enum { LEAST_ROWS = 300, SAMPLED_ROWS = 16 };
/* The mean bound times the mean curvature: from where on it is worth it, and where it begins at least. */
#define FAR 100.0
#define NEAR 10.0
/* The gap to stop at on the way, and the share at a bound below which the way is given up. */
#define ROUGH 0.1
#define MANY 0.25

/* What two rows differ by in the space of the kernel, halved: the mean over some rows. */
static double mean_curvature(const problem *p) {
    int64_t every = p->n / SAMPLED_ROWS + 1, rows = 0;
    double sum = 0.0;
    for (int64_t a = 0; a < p->n; a += every, rows++) {
        const float *row = p->K + a * p->stride;
        for (int64_t b = 0; b < p->n; b++)
            sum += 0.5 * ((double)p->diagonal[a] + p->diagonal[b]) - (double)row[b];
    }
    return sum / (double)(rows * p->n);
}

static double mean(const double *values, int64_t n) {
    double sum = 0.0;
    for (int64_t t = 0; t < n; t++) sum += values[t];
    return sum / (double)n;
}

/* Of the rows that could be at a bound, the smaller side and as many others, how many are. */
static double bounded_share(const problem *p, const double *y) {
    int64_t count = 0, positive = 0;
    for (int64_t t = 0; t < p->n; t++) {
        if (p->beta[t] != 0.0 && (p->up_penalty[t] != 0.0 || p->low_penalty[t] != 0.0)) count++;
        if (y[t] > 0.0) positive++;
    }
    int64_t smaller = positive < p->n - positive ? positive : p->n - positive;
    return smaller ? 0.5 * (double)count / (double)smaller : 0.0;
}

static void begin_at_zero(problem *p, const double *y) {
    for (int64_t t = 0; t < p->n; t++) {
        p->beta[t] = 0.0;
        p->f[t] = -y[t];
    }
}

/* From coefficients of zero to a start for C; what `solve` gives, or 1 where none is needed. */
int run_continuation(problem *p, const double *y, const double *weights, double C, effort *e) {
    if (p->n < LEAST_ROWS) return 1;
    double size = C * mean(weights, p->n) * mean_curvature(p), share = 1.0;
    if (size < FAR) return 1;
    while (share * size >= 10.0 * NEAR) share *= 0.1;
    int status = 1;
    effort rough = *e;
    rough.tolerance = ROUGH;
    for (; share < 0.5 && status == 1; share *= 10.0) {
        set_bounds(p, y, weights, share * C);
        status = solve(p, &rough);
        if (bounded_share(p, y) < MANY) {
            begin_at_zero(p, y);
            break;
        }
        rescale(p, y, 10.0);
    }
    rough.tolerance = e->tolerance;
    *e = rough;
    return status;
}
