/* Kernel expansions of many rows, votes and walks over class pairs, and one row at a time. */
#include <math.h>

#include "exponential.h"
#include "numeric.h"
#include "plan.h"

enum { TALL = 6 };
enum { LINEAR, RBF, POLYNOMIAL, SIGMOID, TRUNCATED, LAPLACIAN, PRECOMPUTED };

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
#include "expansion.h"
#include "single_row.h"
#undef REAL
#undef SUFFIX
#define REAL double
#define SUFFIX f64
#include "tile.h"
#include "expansion.h"
#include "single_row.h"

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
            labels[start + r] = walk_values_f64(e, known + r * points, biases, NULL, NULL);
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

/* Moves a row to the origin; keeps the columns that the expansion knows, gives the squared norm. */
static double move_row(const step *s, const double *x, int64_t depth, double *moved) {
    const double *origin = s->arrays[ORIGIN];
    const int64_t *known = s->arrays[KNOWN];
    double square = 0.0;
    for (int64_t k = 0; k < s->inputs; k++) square += (x[k] - origin[k]) * (x[k] - origin[k]);
    for (int64_t k = 0; k < depth; k++) moved[k] = x[known[k]] - origin[known[k]];
    return square;
}

/* Kernel values of one row in single precision, and what each class may add to the error of a
   decision; NULL where nothing can be said. */
static const float *quick_values(const step *s, const double *moved, double square, double *doubts,
                                 room *r) {
    const expansion_f32 *e = s->arrays[QUICK];
    int64_t k = e->classes;
    float *x = take(r, e->depth, sizeof(float)), *values = take(r, e->starts[k], sizeof(float));
    if (!x || !values) return NULL;
    for (int64_t j = 0; j < e->depth; j++) x[j] = (float)moved[j];
    for (int64_t c = 0; c < k; c++)
        values_of_class_f32(e, x, (float)square, c, values + e->starts[c]);
    return doubts_of(s->arrays[DOUBT], e, values, square, doubts) ? values : NULL;
}

/* One row's label in single precision; -1 where that may be wrong, and where memory ran out. */
static int64_t quick_label(const step *s, const double *moved, double square, const int64_t *order,
                           room *r) {
    const expansion_f32 *e = s->arrays[QUICK];
    const double *biases = s->arrays[BIASES];
    int64_t k = e->classes;
    double *doubts = take_numbers(r, k * (k - 1) + 5 * k);
    const float *values = doubts ? quick_values(s, moved, square, doubts, r) : NULL;
    if (!values) return -1;
    return order ? walk_values_f32(e, values, biases, doubts, order)
                 : vote_values_f32(e, values, biases, doubts, doubts + k);
}

/* A vote in doubt may be lost or won; the term that breaks ties changes by a third of the sum of
   decisions at most. */
int quick_scores(const step *s, const double *x, double *scores, double *errors, room *r) {
    const expansion_f32 *e = s->arrays[QUICK];
    const double *biases = s->arrays[BIASES];
    int64_t k = e->classes;
    double *doubts = take_numbers(r, 2 * k), *sums = doubts + k, *moved = take_numbers(r, e->depth);
    if (!doubts || !moved) return 0;
    double square = move_row(s, x, e->depth, moved);
    const float *values = quick_values(s, moved, square, doubts, r);
    if (!values) return 0;
    memset(sums, 0, sizeof(double) * (size_t)k);
    memset(scores, 0, sizeof(double) * (size_t)k);
    memset(errors, 0, sizeof(double) * (size_t)k);
    for (int64_t a = 0; a < k; a++)
        for (int64_t b = a + 1; b < k; b++) {
            double value = side_f32(e, values, a, b) + side_f32(e, values, b, a) + *biases++;
            double error = doubts[a] + doubts[b], unsure = fabs(value) < error;
            scores[value > 0.0 ? a : b] += 1.0;
            sums[a] += value;
            sums[b] -= value;
            errors[a] += error / 3.0 + unsure;
            errors[b] += error / 3.0 + unsure;
        }
    for (int64_t a = 0; a < k; a++) {
        double half = (double)(k - 1) / 2.0;
        scores[a] = (scores[a] + sums[a] / (3.0 * (fabs(sums[a]) + 1.0))) / half - 1.0;
        errors[a] /= half;
    }
    return 1;
}

static void plain_sums(const step *s, const double *x, double *sums);

/* The label of one row by votes, with a kernel that is computed plainly. */
static int64_t plain_label(const step *s, const double *x, room *r) {
    int64_t k = s->sizes[CLASSES], pairs = k * (k - 1) / 2;
    double *sums = take_numbers(r, k * s->sizes[WIDE]), *decisions = take_numbers(r, pairs);
    double *doubts = take_numbers(r, pairs), *votes = take_numbers(r, 4 * k);
    int8_t unsure;
    if (!sums || !decisions || !doubts || !votes) return -1;
    plain_sums(s, x, sums);
    decide_f64(sums, k, s->sizes[WIDE], s->arrays[BIASES], 0.0, decisions, doubts);
    return count_votes(decisions, doubts, k, votes, &unsure);
}

int64_t expansion_label(const step *s, const double *x, const int64_t *order, room *r) {
    const expansion_f64 *e = s->arrays[EXACT];
    if (!e) return plain_label(s, x, r);
    const double *biases = s->arrays[BIASES];
    int64_t k = e->classes;
    double *moved = take_numbers(r, e->depth);
    if (!moved) return -1;
    double square = move_row(s, x, e->depth, moved);
    int64_t label = s->arrays[QUICK] ? quick_label(s, moved, square, order, r) : -1;
    if (label >= 0) return label;
    double *values = take_numbers(r, e->starts[k]);
    double *decisions = order ? values : take_numbers(r, k * (k - 1) + 4 * k);
    if (!values || !decisions) return -1;
    for (int64_t c = 0; c < k; c++) values_of_class_f64(e, moved, square, c, values + e->starts[c]);
    return order ? walk_values_f64(e, values, biases, NULL, order)
                 : vote_values_f64(e, values, biases, NULL, decisions);
}

/* One kernel value, for kernels without packed points. */
static double plain_value(const step *s, const double *x, const double *point) {
    double sum = 0.0;
    if (s->sizes[KERNEL] == PRECOMPUTED) return x[(int64_t)*point];
    for (int64_t j = 0; j < s->inputs; j++) sum += fabs(x[j] - point[j]);
    return exp(-s->numbers[0] * sum);
}

static void plain_sums(const step *s, const double *x, double *sums) {
    const double *points = s->arrays[ROWS], *coefficients = s->arrays[COEFFICIENTS];
    const int64_t *starts = s->arrays[STARTS];
    int64_t wide = s->sizes[WIDE], depth = s->sizes[KERNEL] == PRECOMPUTED ? 1 : s->inputs;
    memset(sums, 0, sizeof(double) * (size_t)(s->sizes[CLASSES] * wide));
    for (int64_t k = 0; k < s->sizes[CLASSES]; k++, sums += wide)
        for (int64_t i = starts[k]; i < starts[k + 1]; i++) {
            double value = plain_value(s, x, points + i * depth);
            for (int64_t j = 0; j < wide; j++) sums[j] += value * coefficients[i * wide + j];
        }
}

int expansion_sums(const step *s, const double *X, int64_t n, double *sums, room *r) {
    const expansion_f64 *e = s->arrays[EXACT];
    int64_t size = s->sizes[CLASSES] * s->sizes[WIDE], widest = 0;
    for (int64_t i = 0; !e && i < n; i++) plain_sums(s, X + i * s->inputs, sums + i * size);
    if (!e) return 1;
    double *moved = take_numbers(r, n * e->depth), *squares = take_numbers(r, n);
    if (!moved || !squares) return 0;
    for (int64_t i = 0; i < n; i++)
        squares[i] = move_row(s, X + i * s->inputs, e->depth, moved + i * e->depth);
    if (n > TALL / 2) return dcsvm_expand_f64(e, moved, squares, n, sums);
    for (int64_t k = 0; k < e->classes; k++)
        widest = e->starts[k + 1] - e->starts[k] > widest ? e->starts[k + 1] - e->starts[k] : widest;
    double *values = take_numbers(r, widest);
    if (!values) return 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < e->classes; k++) {
            values_of_class_f64(e, moved + i * e->depth, squares[i], k, values);
            sums_of_class_f64(e, values, k, sums + i * size + k * e->columns);
        }
    return 1;
}
