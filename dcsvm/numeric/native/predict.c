/* Kernel expansions of many rows, votes and walks over class pairs, and one row at a time. */
#include "exponential.h"
#include "numeric.h"

enum { TALL = 6 };
enum { LINEAR, RBF, POLYNOMIAL };

INLINE int64_t pair_of(int64_t a, int64_t b, int64_t classes) {
    return a * classes - a * (a + 1) / 2 + b - a - 1;
}

/* The class with most votes, of equals the one with the largest sum of decisions. A decision
   within its doubt may be a gain of the loser and a loss of the winner; *unsure says whether that
   could change the label, or bring about a tie. */
static int64_t count_votes(const double *decisions, const double *doubts, int64_t classes,
                           double *room, int8_t *unsure) {
    double *votes = room, *gains = room + classes, *losses = room + 2 * classes;
    double *sums = room + 3 * classes;
    int64_t winner = 0;
    int doubtful = 0;
    memset(room, 0, sizeof(double) * (size_t)(4 * classes));
    for (int64_t a = 0, pair = 0; a < classes; a++)
        for (int64_t b = a + 1; b < classes; b++, pair++) {
            double value = decisions[pair], size = value < 0.0 ? -value : value;
            int64_t choice = value > 0.0 ? a : b;
            votes[choice] += 1.0;
            sums[a] += value;
            sums[b] -= value;
            doubtful |= doubts[pair] > 0.0;
            if (size < doubts[pair]) {
                losses[choice] += 1.0;
                gains[a + b - choice] += 1.0;
            }
        }
    for (int64_t k = 1; k < classes; k++)
        if (votes[k] > votes[winner] || (votes[k] == votes[winner] && sums[k] > sums[winner]))
            winner = k;
    *unsure = 0;
    for (int64_t k = 0; k < classes; k++) {
        double lead = votes[winner] - losses[winner] - votes[k] - gains[k];
        if (k != winner && (lead < 0.0 || (lead == 0.0 && doubtful))) *unsure = 1;
    }
    return winner;
}

/* The first and the last class left are compared and one of them drops out, until one is left. */
static int64_t walk(const double *decisions, const double *doubts, int64_t classes,
                    int8_t *unsure) {
    int64_t first = 0, last = classes - 1;
    *unsure = 0;
    while (first < last) {
        int64_t pair = pair_of(first, last, classes);
        double value = decisions[pair], size = value < 0.0 ? -value : value;
        if (size < doubts[pair]) *unsure = 1;
        if (value > 0.0) last--;
        else first++;
    }
    return first;
}

#define REAL float
#define SUFFIX f32
#include "tile.h"
#include "expand.h"
#undef REAL
#undef SUFFIX
#define REAL double
#define SUFFIX f64
#include "tile.h"
#include "expand.h"

enum { GROUP = 4 };

/* Kernel values of one row with the panels of one class: four panels at a time, so that their sums
   do not wait for each other. */
static void values_of_class(const expansion_f64 *e, const double *x, double square, int64_t k,
                            double *values) {
    int64_t begin = e->starts[k], count = e->starts[k + 1] - begin, p = 0;
    for (; p < count; p += WIDTH * GROUP) {
        int64_t panels = (count - p) / WIDTH < GROUP ? (count - p) / WIDTH : GROUP;
        const double *from = e->panels + (begin + p) * e->depth;
        vector_f64 sums[2 * GROUP];
        for (int g = 0; g < 2 * GROUP; g++) sums[g] = (vector_f64){0};
        if (panels == GROUP) {
            for (int64_t d = 0; d < e->depth; d++)
                for (int g = 0; g < GROUP; g++) {
                    const double *at = from + (g * e->depth + d) * WIDTH;
                    sums[2 * g] += x[d] * *(const vector_f64 *)at;
                    sums[2 * g + 1] += x[d] * *(const vector_f64 *)(at + 4);
                }
        } else {
            for (int64_t g = 0; g < panels; g++)
                for (int64_t d = 0; d < e->depth; d++) {
                    const double *at = from + (g * e->depth + d) * WIDTH;
                    sums[2 * g] += x[d] * *(const vector_f64 *)at;
                    sums[2 * g + 1] += x[d] * *(const vector_f64 *)(at + 4);
                }
        }
        for (int64_t g = 0; g < panels; g++) {
            double *to = values + p + g * WIDTH;
            *(vector_f64 *)to = sums[2 * g];
            *(vector_f64 *)(to + 4) = sums[2 * g + 1];
            kernel_values_f64(e, to, square, e->squares + begin + p + g * WIDTH);
        }
    }
}

INLINE double long_dot(const double *a, const double *b, int64_t count) {
    vector_f64 first = {0}, second = {0};
    for (int64_t t = 0; t < count; t += WIDTH) {
        first += *(const vector_f64 *)(a + t) * *(const vector_f64 *)(b + t);
        second += *(const vector_f64 *)(a + t + 4) * *(const vector_f64 *)(b + t + 4);
    }
    first += second;
    return (first[0] + first[1]) + (first[2] + first[3]);
}

/* Coefficients of class k against class other, by point. */
INLINE const double *machine(const expansion_f64 *e, int64_t k, int64_t other) {
    int64_t column = other > k ? other - 1 : other, begin = e->starts[k];
    return e->by_column + begin * e->columns + column * (e->starts[k + 1] - begin);
}

/* The class of one row by votes over all pairs; values has room for all points. */
static int64_t vote_one(const expansion_f64 *e, const double *x, const double *biases,
                        double square, double *values, double *decisions) {
    int64_t pairs = e->classes * (e->classes - 1) / 2;
    int8_t unsure;
    memcpy(decisions, biases, sizeof(double) * (size_t)pairs);
    memset(decisions + pairs, 0, sizeof(double) * (size_t)pairs);
    for (int64_t k = 0; k < e->classes; k++) {
        int64_t count = e->starts[k + 1] - e->starts[k];
        values_of_class(e, x, square, k, values);
        for (int64_t other = 0; other < e->classes; other++) {
            if (other == k) continue;
            int64_t pair = other > k ? pair_of(k, other, e->classes) : pair_of(other, k, e->classes);
            decisions[pair] += long_dot(values, machine(e, k, other), count);
        }
    }
    return count_votes(decisions, decisions + pairs, e->classes, decisions + 2 * pairs, &unsure);
}

/* The class of one row by a walk, from its kernel values with all points. */
static int64_t walk_values(const expansion_f64 *e, const double *values, const double *biases) {
    int64_t first = 0, last = e->classes - 1;
    while (first < last) {
        int64_t sides[2] = {first, last};
        double value = biases[pair_of(first, last, e->classes)];
        for (int side = 0; side < 2; side++) {
            int64_t k = sides[side], count = e->starts[k + 1] - e->starts[k];
            value += long_dot(values + e->starts[k], machine(e, k, sides[1 - side]), count);
        }
        if (value > 0.0) last--;
        else first++;
    }
    return first;
}

/* The class of one row by a walk. It meets every class, so it needs the points of all. */
static int64_t walk_one(const expansion_f64 *e, const double *x, const double *biases,
                        double square, double *values) {
    for (int64_t k = 0; k < e->classes; k++)
        values_of_class(e, x, square, k, values + e->starts[k]);
    return walk_values(e, values, biases);
}

/* The classes of many rows by walks: kernel values by tiles of rows, then the coefficients of the
   pairs that each row asks, where votes need those of all pairs; 0 where memory ran out. */
EXPORT int dcsvm_walk(const expansion_f64 *e, const double *X, const double *norms,
                      int64_t count, const double *biases, int64_t *labels) {
    int64_t points = e->starts[e->classes];
    double *known = malloc(sizeof(double) * (size_t)(TALL * points + 1));
    if (!known) return 0;
    for (int64_t start = 0; start < count; start += TALL) {
        const double *rows[TALL];
        double squares[TALL], values[TALL][CHUNK_f64];
        row_pointers_f64(X, start, count, e->depth, rows);
        for (int64_t r = 0; r < TALL; r++)
            squares[r] = norms[start + r < count ? start + r : count - 1];
        for (int64_t from = 0; from < points; from += CHUNK_f64) {
            int64_t size = points - from < CHUNK_f64 ? points - from : CHUNK_f64;
            values_of_chunk_f64(e, rows, squares, from, size, values);
            for (int r = 0; r < TALL; r++)
                memcpy(known + r * points + from, values[r], sizeof(double) * (size_t)size);
        }
        for (int64_t r = 0; r < TALL && start + r < count; r++)
            labels[start + r] = walk_values(e, known + r * points, biases);
    }
    free(known);
    return 1;
}

/* One row's label, by votes or by a walk; room holds depth + points + 2 pairs + 4 classes numbers.
   x has width columns and is moved by -origin first; columns are those that e knows. */
EXPORT int64_t dcsvm_one(const expansion_f64 *e, const double *x, const double *origin,
                         int64_t width, const int64_t *columns, const double *biases,
                         int64_t walks, double *room) {
    double *moved = room, *values = moved + e->depth, *rest = values + e->starts[e->classes];
    double square = 0.0;
    for (int64_t d = 0; d < width; d++) square += (x[d] - origin[d]) * (x[d] - origin[d]);
    for (int64_t d = 0; d < e->depth; d++) moved[d] = x[columns[d]] - origin[columns[d]];
    return walks ? walk_one(e, moved, biases, square, values)
                 : vote_one(e, moved, biases, square, values, rest);
}
