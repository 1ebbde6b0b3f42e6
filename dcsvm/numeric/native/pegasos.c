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

/* w <- shrink w + step g, brought back to the ball; gives the squared length of the way made, which
   g holds afterwards where w was brought back. */
static double step_to(float *restrict w, float *restrict g, int64_t stride, double shrink,
                      double step, double radius) {
    float keep = (float)shrink, more = (float)step;
    double square = 0.0, moved = 0.0;
    for (int64_t j = 0; j < stride; j++) {
        float next = keep * w[j] + more * g[j], by = next - w[j];
        g[j] = by;
        w[j] = next;
        square += (double)next * next;
        moved += (double)by * by;
    }
    if (radius > 0.0 && square > radius * radius) {
        float back = (float)(radius / sqrt(square));
        moved = 0.0;
        for (int64_t j = 0; j < stride; j++) {
            float before = w[j] - g[j];
            w[j] *= back;
            moved += ((double)w[j] - before) * ((double)w[j] - before);
        }
    }
    return moved;
}

/* Numbers that look random, by splitmix64. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Move a random set of the places to the front. */
static void draw(int64_t *places, int64_t count, int64_t n, uint64_t *state) {
    for (int64_t c = 0; c < count; c++) {
        int64_t other = c + (int64_t)(next_random(state) % (uint64_t)(n - c)), place = places[c];
        places[c] = places[other];
        places[other] = place;
    }
}

/* The hinge's subgradient over a batch that was drawn, likewise. */
static double drawn_subgradient(const rows *X, const int64_t *order, const float *pulls,
                                const int64_t *places, int64_t count, const float *w, double bias,
                                float *g) {
    double towards = 0.0;
    memset(g, 0, sizeof(float) * (size_t)X->stride);
    for (int64_t c = 0; c < count; c++) {
        int64_t at = places[c];
        if (c + AHEAD < count) call_for(X, order[places[c + AHEAD]]);
        float margin = quick_product(X, order[at], w) + (float)bias;
        if ((pulls[at] > 0.0f ? margin : -margin) < 1.0f) {
            add_row(X, order[at], pulls[at], g);
            towards += pulls[at];
        }
    }
    return towards;
}

/* Learn from rows order[0 .. n - 1]. pulls[i] is the label of row order[i] times its weight.
   Batches go through the rows in their order, again and again, or are drawn anew at every step. w
   and bias come back as the last iterate, or as the mean of the later half of them. */
int64_t pegasos(const rows *X, const int64_t *order, int64_t n, const float *pulls,
                const pegasos_settings *s, pegasos_room *room, double *w, double *bias) {
    if (s->random && s->batch >= n && !s->average)
        return pegasos_full_batch(X, order, n, pulls, s, room, w, bias);
    int64_t stride = X->stride, count = s->batch < n ? s->batch : n, first = 0, t = 1, summed = 0;
    float *now = room->now, *g = room->sum;
    double b = 0.0, radius = s->project ? 1.0 / sqrt(s->regularization) : 0.0;
    uint64_t state = (uint64_t)s->random;
    memset(now, 0, sizeof(float) * (size_t)stride);
    memset(w, 0, sizeof(double) * (size_t)stride);
    *bias = 0.0;
    for (int64_t i = 0; s->random && i < n; i++) room->places[i] = i;
    for (; t <= s->iterations; t++) {
        double rate = 1.0 / (s->regularization * (double)t), towards;
        if (s->random) {
            draw(room->places, count, n, &state);
            towards = drawn_subgradient(X, order, pulls, room->places, count, now, b, g);
        } else {
            towards = subgradient(X, order, pulls, n, first, count, now, b, g);
        }
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

/* Room for nodes of up to n rows, in one piece that the caller frees; 0 without memory. */
int pegasos_allocate(pegasos_room *room, const pegasos_settings *s, int64_t stride, int64_t n) {
    size_t d = (size_t)stride, drawn = s->random ? (size_t)n : 0;
    char *memory = malloc(d * (2 * sizeof(float) + 3 * sizeof(double)) +
                          drawn * (2 * sizeof(float) + sizeof(int64_t) + sizeof(int8_t)));
    *room = (pegasos_room){.memory = memory};
    if (!memory) return 0;
    room->base = (double *)memory;
    room->fixed = room->base + d;
    room->moving = room->fixed + d;
    room->places = (int64_t *)(room->moving + d);
    room->now = (float *)(room->places + drawn);
    room->sum = room->now + d;
    room->reach = room->sum + d;
    room->loose = room->reach + drawn;
    room->inside = (int8_t *)(room->loose + drawn);
    return 1;
}

/* As above, with a workspace of its own; gives the iterations, or -1 where there is no memory. */
EXPORT int64_t dcsvm_pegasos(const rows *X, const int64_t *order, int64_t n, const float *pulls,
                             const pegasos_settings *s, double *w, double *bias) {
    pegasos_room room;
    if (!pegasos_allocate(&room, s, X->stride, n)) return -1;
    int64_t iterations = pegasos(X, order, n, pulls, s, &room, w, bias);
    free(room.memory);
    return iterations;
}
