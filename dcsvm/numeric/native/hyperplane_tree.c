/* Rows going down trees of hyperplanes. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "hyperplane_tree.h"

/* The leaf of each of n rows, and how many hyperplanes it passed: of rows in single precision. */
EXPORT void dcsvm_oblique_leaves(const oblique_tree *t, const rows *X, int64_t n, int32_t *leaf,
                                 int32_t *depth) {
    for (int64_t i = 0; i < n; i++) {
        int32_t node = 0, passed = 0;
        for (; node >= 0; passed++) node = t->children[2 * node + goes_right(t, X, i, node)];
        leaf[i] = ~node;
        depth[i] = passed;
    }
}

typedef float lanes __attribute__((vector_size(4 * LANES), aligned(4)));
typedef float half __attribute__((vector_size(2 * LANES)));
typedef float quarter __attribute__((vector_size(LANES)));

/* A product in single precision, in whatever order is fast. */
INLINE float fast_product(const float *restrict x, const float *restrict w, int64_t stride) {
    lanes sums = *(const lanes *)x * *(const lanes *)w;
    for (int64_t j = LANES; j < stride; j += LANES)
        sums += *(const lanes *)(x + j) * *(const lanes *)(w + j);
    half low, high;
    memcpy(&low, &sums, sizeof low);
    memcpy(&high, (const char *)&sums + sizeof low, sizeof high);
    low += high;
    quarter left, right;
    memcpy(&left, &low, sizeof left);
    memcpy(&right, (const char *)&low + sizeof left, sizeof right);
    left += right;
    return (left[0] + left[2]) + (left[1] + left[3]);
}

/* Rows that go down together, so that the hyperplanes of one come while another is asked. */
enum { TOGETHER = 16, SMALL = 16384 };
#define BEYOND_FLOAT 1e37

typedef struct {
    const oblique_tree *tree;
    const double *lengths; /* of the hyperplanes' normals, rounded upwards */
    double unit;           /* what a fast product may be wrong by, for lengths of 1 */
    int32_t node[TOGETHER], row[TOGETHER];
    double length[TOGETHER];
} flock;

/* One step of one row. A fast product decides where its rounding cannot matter. */
INLINE int32_t step(const flock *f, const float *x, int32_t node, double length) {
    const oblique_tree *t = f->tree;
    const float *w = t->weights + (int64_t)node * t->stride;
    double scale = length * f->lengths[node], doubt = f->unit * scale + FLT_MIN;
    double away = (double)fast_product(x, w, t->stride) - t->thresholds[node];
    int right = away > 0.0;
    if (!(scale < BEYOND_FLOAT) || fabs(away) <= doubt)
        right = !(exact_dense_product(x, w, t->stride) <= t->thresholds[node]);
    int32_t next = t->children[2 * node + right];
    if (next >= 0) {
        const float *ahead = t->weights + (int64_t)next * t->stride;
        for (int64_t j = 0; j < t->stride && j < 16 * LINE; j += LINE)
            __builtin_prefetch(ahead + j);
    }
    return next;
}

static void go_down(flock *f, const float *X, int64_t count, int32_t *leaf, int32_t *depth) {
    int64_t stride = f->tree->stride;
    for (int64_t i = 0; i < count; i++) {
        f->node[i] = 0;
        f->row[i] = (int32_t)i;
    }
    for (int32_t passed = 1; count; passed++) {
        int64_t left = 0;
        for (int64_t i = 0; i < count; i++) {
            int32_t row = f->row[i];
            int32_t next = step(f, X + row * stride, f->node[i], f->length[row]);
            if (next < 0) {
                leaf[row] = ~next;
                depth[row] = passed;
            } else {
                f->node[left] = next;
                f->row[left++] = row;
            }
        }
        count = left;
    }
}

INLINE float as_single(double value) {
    return value > FLT_MAX ? FLT_MAX : value < -FLT_MAX ? -FLT_MAX : (float)value;
}

/* A row in single precision; gives its length. */
INLINE double to_single(const double *restrict x, int64_t features, const double *restrict offset,
                        const double *restrict factor, float *restrict row) {
    double sums[LANES / 2] = {0}, square = 0.0;
    if (factor)
        for (int64_t j = 0; j < features; j++)
            row[j] = as_single((x[j] - offset[j]) * factor[j]);
    else
        for (int64_t j = 0; j < features; j++) row[j] = as_single(x[j]);
    int64_t stride = (features + LANES - 1) / LANES * LANES;
    for (int64_t j = features; j < stride; j++) row[j] = 0.0f;
    for (int64_t j = 0; j < stride; j += LANES / 2)
        for (int l = 0; l < LANES / 2; l++) sums[l] += (double)row[j + l] * row[j + l];
    for (int l = 0; l < LANES / 2; l++) square += sums[l];
    return sqrt(square);
}

/* The leaves of dense rows x (n, features) in double precision, asked as (x - offset) * factor
   where these are given; -1 where there is no memory, -2 where a row does not fit the tree. */
EXPORT int64_t dcsvm_oblique_route(const oblique_tree *t, const double *lengths, const double *x,
                                   int64_t features, const double *offset, const double *factor,
                                   int64_t n, int32_t *leaf, int32_t *depth) {
    if (t->stride < LANES || features < 0 || features > t->stride) return -2;
    float small[SMALL], *room = small;
    int64_t most = SMALL / t->stride;
    if (most > TOGETHER) most = TOGETHER;
    if (!most) {
        most = 1;
        if (!(room = malloc(sizeof(float) * (size_t)t->stride))) return -1;
    }
    flock f = {.tree = t, .lengths = lengths};
    /* Every lane adds up stride / LANES products, and four sums add up the lanes; the rest is for
       the rounding of the lengths. */
    f.unit = ((double)(t->stride / LANES) + 8.0) * (double)FLT_EPSILON;
    for (int64_t first = 0; first < n; first += most) {
        int64_t count = n - first < most ? n - first : most;
        for (int64_t i = 0; i < count; i++)
            f.length[i] = to_single(x + (first + i) * features, features, offset, factor,
                                    room + i * t->stride);
        go_down(&f, room, count, leaf + first, depth + first);
    }
    if (room != small) free(room);
    return 0;
}
