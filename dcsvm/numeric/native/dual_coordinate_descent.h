/* The dual of a linear SVM: its settings, its workspace, and the function that solves it. */
#ifndef DCSVM_DUAL_COORDINATE_DESCENT_H
#define DCSVM_DUAL_COORDINATE_DESCENT_H

#include "rows.h"

typedef struct {
    double regularization, tolerance;
    int64_t passes;
} dual_settings;

/* n entries each. */
typedef struct {
    double *alpha, *square;
    int64_t *places;
} dual_workspace;

int dual_allocate(dual_workspace *workspace, int64_t n);
void dual_release(dual_workspace *workspace);
int64_t dual_plane(const rows *X, const int64_t *order, int64_t n, const float *pulls,
                   const dual_settings *s, dual_workspace *workspace, float *w, double *bias);

#endif
