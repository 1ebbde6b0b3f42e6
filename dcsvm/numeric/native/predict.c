/* Kernel expansions of many rows, votes and walks over class pairs, and one row at a time. */
#include <math.h>

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

enum { GROUP = 4, STRETCH = 4096 };

#define REAL float
#define SUFFIX f32
#include "tile.h"
#include "expand.h"
#include "one.h"
#undef REAL
#undef SUFFIX
#define REAL double
#define SUFFIX f64
#include "tile.h"
#include "expand.h"
#include "one.h"

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
            labels[start + r] = walk_values_f64(e, known + r * points, biases, NULL);
    }
    free(known);
    return 1;
}

/* How far off single precision may be, by the binary exponent of a row's squared norm, from LEAST
   on: the share of the magnitudes, and the largest kernel value (where the kernel has none of its
   own sign, magnitudes are that times weights). lost: what underflow may take, by class. */
enum { LEAST = -63, EXPONENTS = 128 };
typedef struct {
    const double *shares, *largest, *weights, *lost;
} doubt;

/* What each class may add to the error of a decision; 0 where nothing can be said. */
static int doubts_of(const doubt *d, const expansion_f32 *e, const float *values, double square,
                     double *doubts) {
    int exponent;
    frexp(square, &exponent);
    exponent = exponent < LEAST ? 0 : exponent - LEAST;
    if (!(square < INFINITY) || exponent >= EXPONENTS || !(d->shares[exponent] < INFINITY)) return 0;
    for (int64_t k = 0; k < e->classes; k++) {
        int64_t begin = e->starts[k];
        double magnitude = e->kind == RBF
                               ? long_dot_f32(values + begin, line_f32(e, k, e->columns - 1),
                                              e->starts[k + 1] - begin)
                               : d->largest[exponent] * d->weights[k];
        doubts[k] = d->shares[exponent] * (magnitude + d->lost[k]);
    }
    return 1;
}

/* One row's label, by votes or by a walk: in single precision, and again in double precision where
   that may be wrong. room holds 2 depth + points of both + 2 pairs + 5 classes numbers. x has width
   columns and is moved by -origin first; columns are those that the expansions know. */
EXPORT int64_t dcsvm_one(const expansion_f64 *e, const expansion_f32 *quick, const doubt *d,
                         const double *x, const double *origin, int64_t width,
                         const int64_t *columns, const double *biases, int64_t walks,
                         double *room) {
    double *moved = room, *values = moved + e->depth, *rest = values + e->starts[e->classes];
    double *doubts = rest, square = 0.0;
    float *singles = (float *)(doubts + e->classes), *known = singles + e->depth;
    rest = (double *)(known + quick->starts[e->classes]) + 1;
    int64_t label = -1;
    for (int64_t k = 0; k < width; k++) square += (x[k] - origin[k]) * (x[k] - origin[k]);
    for (int64_t k = 0; k < e->depth; k++) moved[k] = x[columns[k]] - origin[columns[k]];
    for (int64_t k = 0; k < e->depth; k++) singles[k] = (float)moved[k];
    for (int64_t k = 0; k < e->classes; k++)
        values_of_class_f32(quick, singles, (float)square, k, known + quick->starts[k]);
    if (doubts_of(d, quick, known, square, doubts))
        label = walks ? walk_values_f32(quick, known, biases, doubts)
                      : vote_values_f32(quick, known, biases, doubts, rest);
    if (label >= 0) return label;
    for (int64_t k = 0; k < e->classes; k++)
        values_of_class_f64(e, moved, square, k, values + e->starts[k]);
    return walks ? walk_values_f64(e, values, biases, NULL)
                 : vote_values_f64(e, values, biases, NULL, rest);
}
