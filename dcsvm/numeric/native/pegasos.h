/* Weighted Pegasos: its settings, and the functions that learn a hyperplane. */
#ifndef DCSVM_PEGASOS_H
#define DCSVM_PEGASOS_H

#include "rows.h"

/* random: seed of batches that are drawn anew at every step, or 0 for batches in turn. */
typedef struct {
    double regularization, bias_rate, tolerance;
    int64_t batch, iterations, project, average, random;
} pegasos_settings;

typedef struct {
    float *now, *sum;             /* stride: the weights, and a batch's subgradient */
    double *base, *fixed, *moving; /* stride, only where batches hold all rows */
    float *reach, *loose;          /* n, likewise */
    int64_t *places;              /* n: what batches are drawn from, or rows near the margin */
    int8_t *inside;               /* n: whether such a row is on the wrong side of it */
    void *memory;
} pegasos_room;

int pegasos_allocate(pegasos_room *room, const pegasos_settings *s, int64_t stride, int64_t n);
int64_t pegasos(const rows *X, const int64_t *order, int64_t n, const float *pulls,
                const pegasos_settings *s, pegasos_room *room, double *w, double *bias);
int64_t pegasos_full_batch(const rows *X, const int64_t *order, int64_t n, const float *pulls,
                           const pegasos_settings *s, pegasos_room *room, double *w,
                           double *bias);

#endif
