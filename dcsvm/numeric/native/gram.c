/* Distances and Gram matrices: float64 inside, float32 as the solver keeps them. */
#include "exponential.h"
#include "numeric.h"

enum { TALL = 6 };
#define REAL double
#define SUFFIX f64
#include "tile.h"

/* Below this share of the two squared norms an expanded distance has lost its digits. */
#define SUSPECT 1e-7

/* out = exp(-gamma d) - 1 for each of the distances, in rows of width entries, zeros at their end */
EXPORT void dcsvm_exponentials(const double *distances, int64_t rows, int64_t columns,
                               double gamma, float *out, int64_t width) {
    for (int64_t i = 0; i < rows; i++, distances += columns, out += width) {
        for (int64_t t = 0; t < columns; t++)
            out[t] = expm1_not_positive_f32((float)(-gamma * distances[t]));
        for (int64_t t = columns; t < width; t++) out[t] = 0.0f;
    }
}

/* out = exp(-gamma d) for each of count distances */
EXPORT void dcsvm_values(const double *distances, int64_t count, double gamma, double *out) {
    for (int64_t t = 0; t < count; t++) out[t] = exp_not_positive_f64(-gamma * distances[t]);
}

INLINE double from_differences(const double *x, const double *y, int64_t depth) {
    double sum = 0.0;
    for (int64_t k = 0; k < depth; k++) sum += (x[k] - y[k]) * (x[k] - y[k]);
    return sum;
}

/* Squared distances of up to TALL rows to one panel. */
INLINE void distance_tile(const double *const rows[TALL], const double *row_squares,
                          const double *panel, const double *Y, const double *Y_squares,
                          int64_t depth, int64_t valid, double tile[TALL][8]) {
    tile_f64(rows, panel, depth, tile);
    for (int r = 0; r < TALL; r++) {
        int suspects = 0;
        for (int64_t c = 0; c < WIDTH; c++) {
            double both = row_squares[r] + Y_squares[c];
            double d = both - 2.0 * tile[r][c];
            suspects += d < SUSPECT * both;
            tile[r][c] = d > 0.0 ? d : 0.0;
        }
        for (int64_t c = 0; suspects && c < valid; c++)
            if (tile[r][c] < SUSPECT * (row_squares[r] + Y_squares[c]))
                tile[r][c] = from_differences(rows[r], Y + c * depth, depth);
    }
}

typedef struct {
    const double *X, *Y, *X_squares, *Y_squares, *panels;
    int64_t n, m, depth;
} pairing;

typedef struct {
    double gamma;
    double *distances; /* squared distances, or NULL */
    float *values;     /* exp(-gamma d) - 1, or NULL */
    int64_t width;     /* entries of a row */
} target;

INLINE void store(const target *out, int64_t at, const double *tile, int64_t valid) {
    if (out->distances) {
        memcpy(out->distances + at, tile, sizeof(double) * (size_t)valid);
        return;
    }
    if (valid == WIDTH) { /* of constant length, so that it is no call */
        for (int64_t t = 0; t < WIDTH; t++)
            out->values[at + t] = expm1_not_positive_f32((float)(-out->gamma * tile[t]));
        return;
    }
    float values[8];
    for (int64_t t = 0; t < WIDTH; t++)
        values[t] = expm1_not_positive_f32((float)(-out->gamma * tile[t]));
    memcpy(out->values + at, values, sizeof(float) * (size_t)valid);
}

/* Y_squares and panels are padded to whole panels. */
INLINE void rows_of_tiles(const pairing *w, int64_t start, int64_t first_panel,
                          const target *out) {
    const double *rows[TALL];
    double squares[TALL], tile[TALL][8];
    row_pointers_f64(w->X, start, w->n, w->depth, rows);
    for (int64_t r = 0; r < TALL; r++)
        squares[r] = w->X_squares[start + r < w->n ? start + r : w->n - 1];
    for (int64_t c = first_panel * WIDTH; c < w->m; c += WIDTH) {
        int64_t valid = w->m - c < WIDTH ? w->m - c : WIDTH;
        distance_tile(rows, squares, w->panels + c * w->depth, w->Y + c * w->depth,
                      w->Y_squares + c, w->depth, valid, tile);
        for (int64_t r = 0; r < TALL && start + r < w->n; r++)
            store(out, (start + r) * out->width + c, tile[r], valid);
    }
}

/* Below the diagonal what is above it, a small square at a time to stay in the cache. */
#define MIRROR(name, type)                                                                  \
    static void name(type *out, int64_t n, int64_t width) {                                 \
        enum { SIDE = 32 };                                                                 \
        for (int64_t top = 0; top < n; top += SIDE)                                         \
            for (int64_t left = 0; left <= top; left += SIDE)                               \
                for (int64_t i = top; i < top + SIDE && i < n; i++) {                       \
                    int64_t stop = left + SIDE < i ? left + SIDE : i;                       \
                    for (int64_t j = left; j < stop; j++)                                   \
                        out[i * width + j] = out[j * width + i];                            \
                }                                                                           \
        for (int64_t i = 0; i < n; i++) out[i * width + i] = 0;                             \
    }
MIRROR(mirror_distances, double)
MIRROR(mirror_values, float)

/* Squared distances of n rows of X to m rows of Y, or exp(-gamma d) - 1 of them: one of the two
   outputs is NULL, the other has rows of width entries. With symmetric, X is Y: what lies left of
   the diagonal is mirrored. */
EXPORT int dcsvm_distances(const double *X, int64_t n, const double *Y, int64_t m, int64_t depth,
                           double gamma, int64_t symmetric, double *distances, float *values,
                           int64_t width) {
    int64_t whole = (m + WIDTH - 1) / WIDTH * WIDTH;
    double *room = calloc((size_t)(n + whole + whole * depth), sizeof(double));
    if (!room) return 0;
    pairing w = {X, Y, room, room + n, room + n + whole, n, m, depth};
    target out = {gamma, distances, values, width};
    for (int64_t i = 0; i < n; i++) room[i] = dot_f64(X + i * depth, X + i * depth, depth);
    for (int64_t j = 0; j < m; j++)
        room[n + j] = dot_f64(Y + j * depth, Y + j * depth, depth);
    pack_f64(Y, m, depth, room + n + whole);
    for (int64_t start = 0; start < n; start += TALL)
        rows_of_tiles(&w, start, symmetric ? start / WIDTH : 0, &out);
    free(room);
    if (symmetric && distances) mirror_distances(distances, n, width);
    if (symmetric && values) mirror_values(values, n, width);
    for (int64_t i = 0; values && i < n; i++)
        for (int64_t j = m; j < width; j++) values[i * width + j] = 0.0f;
    return 1;
}
