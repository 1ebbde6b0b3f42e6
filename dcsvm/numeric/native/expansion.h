/* A template, included once per REAL: kernel expansions of rows, a class of points at a time. */

/* Points stand class after class, each class padded to whole panels (starts are padded places).
   panels: points packed as in tile.h. squares: squared norms. coefficients: per class, then per
   panel of columns, then per point, WIDTH columns; zero for padding. by_column: per class, then
   per column, the coefficients of its points. */
typedef struct {
    int64_t classes, columns, depth, kind, degree;
    double gamma, coef0;
    const int64_t *starts;
    const REAL *panels, *squares, *coefficients, *by_column;
} OF(expansion);

enum { OF(CHUNK) = 256 };

INLINE int64_t OF(padded_columns)(const OF(expansion) * e) {
    return (e->columns + WIDTH - 1) / WIDTH * WIDTH;
}

/* Inner products to kernel values, in place. */
INLINE void OF(kernel_values)(const OF(expansion) * e, REAL *values, REAL square,
                              const REAL *squares) {
    if (e->kind == RBF) {
        REAL rate = (REAL)-e->gamma;
        for (int64_t c = 0; c < WIDTH; c++) {
            REAL d = square + squares[c] - 2 * values[c];
            values[c] = OF(exp_not_positive)(rate * (d > 0 ? d : 0));
        }
    } else if (e->kind == POLYNOMIAL) {
        for (int64_t c = 0; c < WIDTH; c++) {
            REAL base = (REAL)e->gamma * values[c] + (REAL)e->coef0, power = 1;
            for (int64_t k = 0; k < e->degree; k++) power *= base;
            values[c] = power;
        }
    } else if (e->kind == SIGMOID) {
        for (int64_t c = 0; c < WIDTH; c++)
            values[c] = (REAL)tanh(e->gamma * values[c] + e->coef0);
    } else if (e->kind == TRUNCATED) {
        REAL rate = (REAL)-e->gamma, left = (REAL)exp(rate * square);
        for (int64_t c = 0; c < WIDTH; c++) {
            REAL term = -2 * rate * values[c], series = 1;
            for (int64_t k = e->degree; k > 0; k--) series = series * (term / (REAL)k) + 1;
            REAL right = OF(exp_not_positive)(rate * squares[c]);
            values[c] = series * left * (rate * squares[c] < -700 ? 0 : right);
        }
    }
}

/* Kernel values of TALL rows with `count` points from place `from` on. */
INLINE void OF(values_of_chunk)(const OF(expansion) * e, const REAL *const rows[TALL],
                                const REAL *row_squares, int64_t from, int64_t count,
                                REAL (*values)[OF(CHUNK)]) {
    REAL sums[TALL][64 / sizeof(REAL)];
    for (int64_t p = 0; p < count; p += WIDTH) {
        OF(tile)(rows, e->panels + (from + p) * e->depth, e->depth, sums);
        for (int r = 0; r < TALL; r++) {
            OF(kernel_values)(e, sums[r], row_squares[r], e->squares + from + p);
            memcpy(values[r] + p, sums[r], sizeof(sums[r]));
        }
    }
}

/* totals[r][column] += values[r] . coefficients of the chunk */
INLINE void OF(add_chunk)(const OF(expansion) * e, int64_t class_start, int64_t class_size,
                          int64_t from, int64_t count, REAL (*values)[OF(CHUNK)], REAL *totals) {
    int64_t wide = OF(padded_columns)(e);
    const REAL *rows[TALL];
    REAL sums[TALL][64 / sizeof(REAL)];
    for (int r = 0; r < TALL; r++) rows[r] = values[r];
    for (int64_t column = 0; column < wide; column += WIDTH) {
        const REAL *panel = e->coefficients + class_start * wide + column * class_size +
                            (from - class_start) * WIDTH;
        OF(tile)(rows, panel, count, sums);
        for (int r = 0; r < TALL; r++)
            for (int64_t c = 0; c < WIDTH; c++) totals[r * wide + column + c] += sums[r][c];
    }
}

INLINE void OF(expand_tile)(const OF(expansion) * e, const REAL *X, const REAL *norms,
                            int64_t start, int64_t count, REAL *totals, REAL *out) {
    const REAL *rows[TALL];
    REAL squares[TALL], values[TALL][OF(CHUNK)];
    int64_t wide = OF(padded_columns)(e);
    OF(row_pointers)(X, start, count, e->depth, rows);
    for (int64_t r = 0; r < TALL; r++) squares[r] = norms[start + r < count ? start + r : count - 1];
    for (int64_t k = 0; k < e->classes; k++) {
        int64_t begin = e->starts[k], end = e->starts[k + 1];
        memset(totals, 0, sizeof(REAL) * (size_t)(TALL * wide));
        for (int64_t from = begin; from < end; from += OF(CHUNK)) {
            int64_t size = end - from < OF(CHUNK) ? end - from : OF(CHUNK);
            OF(values_of_chunk)(e, rows, squares, from, size, values);
            OF(add_chunk)(e, begin, end - begin, from, size, values, totals);
        }
        for (int64_t r = 0; r < TALL && start + r < count; r++)
            memcpy(out + ((start + r) * e->classes + k) * e->columns, totals + r * wide,
                   sizeof(REAL) * (size_t)e->columns);
    }
}

/* out[row][class][column]; 0 where memory ran out. norms: squared norms of the rows, with columns
   that e leaves out because all points have the origin there. */
EXPORT int OF(dcsvm_expand)(const OF(expansion) * e, const REAL *X, const REAL *norms,
                            int64_t count, REAL *out) {
    REAL *totals = malloc(sizeof(REAL) * (size_t)(TALL * OF(padded_columns)(e) + 1));
    if (!totals) return 0;
    for (int64_t start = 0; start < count; start += TALL)
        OF(expand_tile)(e, X, norms, start, count, totals, out);
    free(totals);
    return 1;
}

/* Decisions of all pairs (0, 1), (0, 2), ...; positive is for the first class. Where error > 0 the
   last column holds magnitudes, and doubts become the decisions' possible errors. */
INLINE void OF(decide)(const REAL *sums, int64_t classes, int64_t columns, const double *biases,
                       double error, double *decisions, double *doubts) {
    for (int64_t a = 0, pair = 0; a < classes; a++)
        for (int64_t b = a + 1; b < classes; b++, pair++) {
            const REAL *first = sums + a * columns, *second = sums + b * columns;
            decisions[pair] = (double)first[b - 1] + (double)second[a] + biases[pair];
            doubts[pair] = error > 0.0 ? error * (first[columns - 1] + second[columns - 1]) : 0.0;
        }
}

/* Labels of rows whose sums are known, by votes or by a walk. unsure marks rows whose label the
   errors could change. */
EXPORT int OF(dcsvm_label)(const REAL *sums, int64_t count, int64_t classes, int64_t columns,
                           const double *biases, const double *errors, int64_t walks,
                           int64_t *labels, int8_t *unsure) {
    int64_t pairs = classes * (classes - 1) / 2;
    double *decisions = malloc(sizeof(double) * (size_t)(2 * pairs + 4 * classes + 1));
    if (!decisions) return 0;
    double *doubts = decisions + pairs, *room = doubts + pairs;
    for (int64_t row = 0; row < count; row++) {
        OF(decide)(sums + row * classes * columns, classes, columns, biases,
                   errors ? errors[row] : 0.0, decisions, doubts);
        labels[row] = walks ? walk(decisions, doubts, classes, unsure + row)
                            : count_votes(decisions, doubts, classes, room, unsure + row);
    }
    free(decisions);
    return 1;
}
