/* The dual of a linear SVM: its settings, the room it needs, and the function that solves it. */
#ifndef DCSVM_DUAL_H
#define DCSVM_DUAL_H

#include "rows.h"

typedef struct {
    double regularization, tolerance;
    int64_t passes;
} dual_settings;

/* n entries each. */
typedef struct {
    double *alpha, *square;
    int64_t *places;
} dual_room;

int dual_allocate(dual_room *room, int64_t n);
void dual_release(dual_room *room);
int64_t dual_plane(const rows *X, const int64_t *order, int64_t n, const float *pulls,
                   const dual_settings *s, dual_room *room, float *w, double *bias);

#endif
