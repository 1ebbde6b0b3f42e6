/* A linear SVM by its dual, one row at a time: better converged than Pegasos where rows are few. */
#include "dual_coordinate_descent.h"

#include <float.h>
#include <math.h>

int dual_allocate(dual_room *room, int64_t n) {
    room->alpha = malloc(sizeof(double) * (size_t)n);
    room->square = malloc(sizeof(double) * (size_t)n);
    room->places = malloc(sizeof(int64_t) * (size_t)n);
    return room->alpha && room->square && room->places;
}

void dual_release(dual_room *room) {
    free(room->alpha);
    free(room->square);
    free(room->places);
}

/* The first count places in a new random order. */
static void shuffle(int64_t *places, int64_t count, uint64_t *state) {
    for (int64_t k = 0; k + 1 < count; k++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        int64_t other = k + (int64_t)((*state >> 33) % (uint64_t)(count - k)), here = places[k];
        places[k] = places[other];
        places[other] = here;
    }
}

/* Minimise lambda / 2 (|w|^2 + bias^2) + mean of |pull| hinge over rows order[0 .. n - 1]; the
   sign of a pull is the row's label. Rows whose dual is at a wall and will stay there are left
   out until all others are done. Gives the passes over the rows. */
int64_t dual_plane(const rows *X, const int64_t *order, int64_t n, const float *pulls,
                   const dual_settings *s, dual_room *room, float *w, double *bias) {
    double cap = 1.0 / (s->regularization * (double)n), above = DBL_MAX, below = -DBL_MAX, b = 0.0;
    int64_t active = n, pass = 0;
    uint64_t state = (uint64_t)n;
    memset(w, 0, sizeof(float) * (size_t)X->stride);
    for (int64_t i = 0; i < n; i++) {
        room->square[i] = 1.0 + row_square(X, order[i]);
        room->alpha[i] = 0.0;
        room->places[i] = i;
    }
    while (pass < s->passes) {
        double highest = -DBL_MAX, lowest = DBL_MAX;
        shuffle(room->places, active, &state);
        for (int64_t k = 0; k < active; k++) {
            int64_t i = room->places[k];
            double sign = pulls[i] > 0.0f ? 1.0 : -1.0, most = sign * (double)pulls[i] * cap;
            double slope = sign * ((double)quick_product(X, order[i], w) + b) - 1.0;
            int at_zero = room->alpha[i] <= 0.0, at_most = room->alpha[i] >= most;
            if ((at_zero && slope > above) || (at_most && slope < below)) {
                room->places[k--] = room->places[--active];
                room->places[active] = i;
                continue;
            }
            double free = (at_zero && slope > 0.0) || (at_most && slope < 0.0) ? 0.0 : slope;
            if (free > highest) highest = free;
            if (free < lowest) lowest = free;
            if (free == 0.0) continue;
            double next = room->alpha[i] - slope / room->square[i];
            next = next < 0.0 ? 0.0 : next > most ? most : next;
            double step = (next - room->alpha[i]) * sign;
            room->alpha[i] = next;
            add_row(X, order[i], (float)step, w);
            b += step;
        }
        pass++;
        int done = highest - lowest <= s->tolerance;
        if (done && active == n) break;
        if (done) active = n;
        above = done || highest <= 0.0 ? DBL_MAX : highest;
        below = done || lowest >= 0.0 ? -DBL_MAX : lowest;
    }
    *bias = b;
    return pass;
}

/* As above, with room of its own; gives -1 where there is no memory. */
EXPORT int64_t dcsvm_dual_plane(const rows *X, const int64_t *order, int64_t n,
                                const float *pulls, const dual_settings *s, float *w,
                                double *bias) {
    dual_room room;
    int64_t passes = -1;
    if (dual_allocate(&room, n)) passes = dual_plane(X, order, n, pulls, s, &room, w, bias);
    dual_release(&room);
    return passes;
}
