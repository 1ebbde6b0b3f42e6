/* A linear SVM by its dual, one row at a time: better converged than Pegasos where rows are few. */
#include "dual_coordinate_descent.h"

#include <float.h>
#include <math.h>

int dual_allocate(dual_workspace *workspace, int64_t n) {
    workspace->alpha = malloc(sizeof(double) * (size_t)n);
    workspace->square = malloc(sizeof(double) * (size_t)n);
    workspace->places = malloc(sizeof(int64_t) * (size_t)n);
    return workspace->alpha && workspace->square && workspace->places;
}

void dual_release(dual_workspace *workspace) {
    free(workspace->alpha);
    free(workspace->square);
    free(workspace->places);
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
   sign of a pull is the row's label. Rows whose dual is at a bound and will stay there are left
   out until all others are done. Gives the passes over the rows. */
int64_t dual_plane(const rows *X, const int64_t *order, int64_t n, const float *pulls,
                   const dual_settings *s, dual_workspace *workspace, float *w, double *bias) {
    double cap = 1.0 / (s->regularization * (double)n), above = DBL_MAX, below = -DBL_MAX, b = 0.0;
    int64_t active = n, pass = 0;
    uint64_t state = (uint64_t)n;
    memset(w, 0, sizeof(float) * (size_t)X->stride);
    for (int64_t i = 0; i < n; i++) {
        workspace->square[i] = 1.0 + row_square(X, order[i]);
        workspace->alpha[i] = 0.0;
        workspace->places[i] = i;
    }
    while (pass < s->passes) {
        double highest = -DBL_MAX, lowest = DBL_MAX;
        shuffle(workspace->places, active, &state);
        for (int64_t k = 0; k < active; k++) {
            int64_t i = workspace->places[k];
            double sign = pulls[i] > 0.0f ? 1.0 : -1.0, most = sign * (double)pulls[i] * cap;
            double slope = sign * ((double)quick_product(X, order[i], w) + b) - 1.0;
            int at_zero = workspace->alpha[i] <= 0.0, at_most = workspace->alpha[i] >= most;
            if ((at_zero && slope > above) || (at_most && slope < below)) {
                workspace->places[k--] = workspace->places[--active];
                workspace->places[active] = i;
                continue;
            }
            double free = (at_zero && slope > 0.0) || (at_most && slope < 0.0) ? 0.0 : slope;
            if (free > highest) highest = free;
            if (free < lowest) lowest = free;
            if (free == 0.0) continue;
            double next = workspace->alpha[i] - slope / workspace->square[i];
            next = next < 0.0 ? 0.0 : next > most ? most : next;
            double step = (next - workspace->alpha[i]) * sign;
            workspace->alpha[i] = next;
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

/* As above, with a workspace of its own; gives -1 where there is no memory. */
EXPORT int64_t dcsvm_dual_plane(const rows *X, const int64_t *order, int64_t n,
                                const float *pulls, const dual_settings *s, float *w,
                                double *bias) {
    dual_workspace workspace;
    int64_t passes = -1;
    if (dual_allocate(&workspace, n))
        passes = dual_plane(X, order, n, pulls, s, &workspace, w, bias);
    dual_release(&workspace);
    return passes;
}
