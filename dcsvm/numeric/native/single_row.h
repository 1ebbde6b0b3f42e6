/* A template, included once per REAL: the label of one row, by votes or by a walk. */

/* Kernel values of one row with the panels of one class: four panels at a time, so that their sums
   do not wait for each other. */
static void OF(values_of_class)(const OF(expansion) * e, const REAL *x, REAL square, int64_t k,
                                REAL *values) {
    enum { HALF = 32 / sizeof(REAL) };
    int64_t begin = e->starts[k], count = e->starts[k + 1] - begin;
    for (int64_t p = 0; p < count; p += WIDTH * GROUP) {
        int64_t panels = (count - p) / WIDTH < GROUP ? (count - p) / WIDTH : GROUP;
        const REAL *from = e->panels + (begin + p) * e->depth;
        OF(vector) sums[2 * GROUP];
        for (int g = 0; g < 2 * GROUP; g++) sums[g] = (OF(vector)){0};
        if (panels == GROUP) {
            for (int64_t d = 0; d < e->depth; d++)
                for (int g = 0; g < GROUP; g++) {
                    const REAL *at = from + (g * e->depth + d) * WIDTH;
                    sums[2 * g] += x[d] * *(const OF(vector) *)at;
                    sums[2 * g + 1] += x[d] * *(const OF(vector) *)(at + HALF);
                }
        } else {
            for (int64_t g = 0; g < panels; g++)
                for (int64_t d = 0; d < e->depth; d++) {
                    const REAL *at = from + (g * e->depth + d) * WIDTH;
                    sums[2 * g] += x[d] * *(const OF(vector) *)at;
                    sums[2 * g + 1] += x[d] * *(const OF(vector) *)(at + HALF);
                }
        }
        for (int64_t g = 0; g < panels; g++) {
            REAL *to = values + p + g * WIDTH;
            *(OF(vector) *)to = sums[2 * g];
            *(OF(vector) *)(to + HALF) = sums[2 * g + 1];
            OF(kernel_values)(e, to, square, e->squares + begin + p + g * WIDTH);
        }
    }
}

/* A product of whole panels. Only so many terms meet in REAL that rounding stays within doubt. */
INLINE double OF(long_dot)(const REAL *a, const REAL *b, int64_t count) {
    enum { HALF = 32 / sizeof(REAL) };
    double total = 0.0;
    for (int64_t start = 0; start < count; start += STRETCH) {
        int64_t end = start + STRETCH < count ? start + STRETCH : count;
        OF(vector) first = {0}, second = {0};
        for (int64_t t = start; t < end; t += WIDTH) {
            first += *(const OF(vector) *)(a + t) * *(const OF(vector) *)(b + t);
            second += *(const OF(vector) *)(a + t + HALF) * *(const OF(vector) *)(b + t + HALF);
        }
        for (int c = 0; c < HALF; c++) total += (double)first[c] + (double)second[c];
    }
    return total;
}

/* Coefficients of class k in one column, by point. */
INLINE const REAL *OF(line)(const OF(expansion) * e, int64_t k, int64_t column) {
    return e->by_column + e->starts[k] * e->columns + column * (e->starts[k + 1] - e->starts[k]);
}

/* What one class adds to its decision against another, from the kernel values with all points. */
INLINE double OF(side)(const OF(expansion) * e, const REAL *values, int64_t k, int64_t other) {
    return OF(long_dot)(values + e->starts[k], OF(line)(e, k, other > k ? other - 1 : other),
                        e->starts[k + 1] - e->starts[k]);
}

/* The class of one row by a walk down the `order`, from its kernel values with all points; -1 where
   a decision is within its doubt. doubts: what each class adds to that, or NULL. */
static int64_t OF(walk_values)(const OF(expansion) * e, const REAL *values, const double *biases,
                               const double *doubts, const int64_t *order) {
    int64_t first = 0, last = e->classes - 1;
    while (first < last) {
        int64_t a = order ? order[first] : first, b = order ? order[last] : last;
        double value = OF(side)(e, values, a, b) + OF(side)(e, values, b, a);
        value += biases[a < b ? pair_of(a, b, e->classes) : pair_of(b, a, e->classes)];
        if (doubts && (value < 0.0 ? -value : value) < doubts[a] + doubts[b]) return -1;
        if ((value > 0.0) == (a < b)) last--;
        else first++;
    }
    return order ? order[first] : first;
}

/* The class of one row by votes over all pairs, or -1; room for two numbers a pair, four a class. */
static int64_t OF(vote_values)(const OF(expansion) * e, const REAL *values, const double *biases,
                               const double *doubts, double *room) {
    int64_t pairs = e->classes * (e->classes - 1) / 2, winner;
    double *decisions = room, *errors = room + pairs;
    int8_t unsure;
    for (int64_t a = 0, pair = 0; a < e->classes; a++)
        for (int64_t b = a + 1; b < e->classes; b++, pair++) {
            decisions[pair] = biases[pair] + OF(side)(e, values, a, b) + OF(side)(e, values, b, a);
            errors[pair] = doubts ? doubts[a] + doubts[b] : 0.0;
        }
    winner = count_votes(decisions, errors, e->classes, errors + pairs, &unsure);
    return doubts && unsure ? -1 : winner;
}

/* Sums of one row with the points of one class, in the order of `expand_tile`: the same bits. */
INLINE void OF(sums_of_class)(const OF(expansion) * e, const REAL *values, int64_t k, REAL *out) {
    enum { HALF = 32 / sizeof(REAL) };
    int64_t size = e->starts[k + 1] - e->starts[k], wide = OF(padded_columns)(e);
    const REAL *table = e->coefficients + e->starts[k] * wide;
    for (int64_t column = 0; column < wide; column += WIDTH * GROUP) {
        int64_t panels = (wide - column) / WIDTH < GROUP ? (wide - column) / WIDTH : GROUP;
        OF(vector) totals[2 * GROUP];
        for (int g = 0; g < 2 * GROUP; g++) totals[g] = (OF(vector)){0};
        for (int64_t from = 0; from < size; from += OF(CHUNK)) {
            int64_t to = size - from < OF(CHUNK) ? size : from + OF(CHUNK);
            OF(vector) sums[2 * GROUP];
            for (int g = 0; g < 2 * GROUP; g++) sums[g] = (OF(vector)){0};
            for (int64_t p = from; p < to; p++)
                for (int64_t g = 0; g < panels; g++) {
                    const REAL *at = table + (column + g * WIDTH) * size + p * WIDTH;
                    sums[2 * g] += values[p] * *(const OF(vector) *)at;
                    sums[2 * g + 1] += values[p] * *(const OF(vector) *)(at + HALF);
                }
            for (int g = 0; g < 2 * GROUP; g++) totals[g] += sums[g];
        }
        int64_t left = e->columns - column < WIDTH * GROUP ? e->columns - column : WIDTH * GROUP;
        memcpy(out + column, totals, sizeof(REAL) * (size_t)left);
    }
}
