/* Weighted Pegasos: its settings, and the one function that learns a hyperplane. */
#ifndef DCSVM_PEGASOS_H
#define DCSVM_PEGASOS_H

#include "rows.h"

typedef struct {
    double regularization, bias_rate, tolerance;
    int64_t batch, iterations, project, average;
} pegasos_settings;

int64_t pegasos(const rows *X, const int64_t *order, int64_t n, const float *pulls,
                const pegasos_settings *s, float *room, double *w, double *bias);

/* Floats of room that pegasos needs. */
INLINE int64_t pegasos_room(int64_t stride) { return 2 * stride; }

#endif
