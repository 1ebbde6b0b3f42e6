/* Weighted Pegasos: stochastic subgradients of the primal of a linear SVM with a free bias. */
#include <math.h>

#include "pegasos.h"

/* The hinge's subgradient over one batch, added up in g; returns that of the bias. */
static double subgradient(const rows *X, const int64_t *order, const float *pulls, int64_t n,
                          int64_t first, int64_t count, const float *w, double bias, float *g) {
    double towards = 0.0;
    memset(g, 0, sizeof(float) * (size_t)X->stride);
    for (int64_t c = 0, at = first; c < count; c++, at = at + 1 < n ? at + 1 : 0) {
        if (at + AHEAD < n) call_for(X, order[at + AHEAD]);
        float pull = pulls[at], margin = quick_product(X, order[at], w) + (float)bias;
        if ((pull > 0.0f ? margin : -margin) < 1.0f) {
            add_row(X, order[at], pull, g);
            towards += pull;
        }
    }
    return towards;
}

/* w <- shrink w + step g, brought back to the ball; gives the squared length of the step made. */
static double step_to(float *restrict w, const float *restrict g, int64_t stride, double shrink,
                      double step, double radius) {
    float keep = (float)shrink, more = (float)step;
    double square = 0.0, moved = 0.0;
    for (int64_t j = 0; j < stride; j++) {
        float next = keep * w[j] + more * g[j], by = next - w[j];
        w[j] = next;
        square += (double)next * next;
        moved += (double)by * by;
    }
    if (radius > 0.0 && square > radius * radius) {
        float back = (float)(radius / sqrt(square));
        for (int64_t j = 0; j < stride; j++) w[j] *= back;
    }
    return moved;
}

/* Learn from rows order[0 .. n - 1]. pulls[i] is the label of row order[i] times its weight, the
   weights being 1 in the mean. Batches go through the rows in their order, again and again. w and
   bias come back as the last iterate, or as the mean of the later half of them. */
int64_t pegasos(const rows *X, const int64_t *order, int64_t n, const float *pulls,
                const pegasos_settings *s, float *room, double *w, double *bias) {
    int64_t stride = X->stride, count = s->batch < n ? s->batch : n, first = 0, t = 1, summed = 0;
    float *now = room, *g = room + stride;
    double b = 0.0, radius = s->project ? 1.0 / sqrt(s->regularization) : 0.0;
    memset(now, 0, sizeof(float) * (size_t)stride);
    memset(w, 0, sizeof(double) * (size_t)stride);
    *bias = 0.0;
    for (; t <= s->iterations; t++) {
        double rate = 1.0 / (s->regularization * (double)t);
        double towards = subgradient(X, order, pulls, n, first, count, now, b, g);
        double moved =
            step_to(now, g, stride, 1.0 - 1.0 / (double)t, rate / (double)count, radius);
        b += s->bias_rate * rate / (double)count * towards;
        first = (first + count) % n;
        if (s->average && 2 * t > s->iterations) {
            for (int64_t j = 0; j < stride; j++) w[j] += now[j];
            *bias += b;
            summed++;
        }
        if (moved <= s->tolerance * s->tolerance) break;
    }
    if (summed) {
        for (int64_t j = 0; j < stride; j++) w[j] /= (double)summed;
        *bias /= (double)summed;
    } else {
        for (int64_t j = 0; j < stride; j++) w[j] = now[j];
        *bias = b;
    }
    return t < s->iterations ? t : s->iterations;
}

/* As above, with room of its own; gives the iterations, or -1 where there is no memory. */
EXPORT int64_t dcsvm_pegasos(const rows *X, const int64_t *order, int64_t n, const float *pulls,
                             const pegasos_settings *s, double *w, double *bias) {
    float *room = malloc(sizeof(float) * (size_t)pegasos_room(X->stride));
    if (!room) return -1;
    int64_t iterations = pegasos(X, order, n, pulls, s, room, w, bias);
    free(room);
    return iterations;
}
