/* What a split is judged by, and which classes it sets apart. */
#ifndef DCSVM_SPLIT_IMPURITY_H
#define DCSVM_SPLIT_IMPURITY_H

#include "rows.h"

/* A split must lower the impurity by more than rounding does. */
#define NO_GAIN 1e-12

/* A row of a node: its product with the node's hyperplane, its class and its weight. */
typedef struct {
    double score;
    int32_t label;
    double mass;
} scored;

double entropy(const double *counts, int64_t classes);
void sort_by_score(scored *rows_, int64_t n);
double best_cut(const scored *rows_, int64_t n, int64_t classes, const double *counts,
                double *left, double *right, double *threshold);
double impurity_of_cut(const scored *rows_, int64_t n, int64_t classes, double *left,
                       double *right, double threshold);
void choose_sides(const rows *X, const int64_t *order, int64_t n, const int32_t *y,
                  const double *masses, int64_t classes, const double *counts, double *means,
                  double *room, int8_t *side);

#endif
