/* A template, included once with REAL float and once with REAL double: products of six rows with
   a panel of packed points, kept in registers, and the exponential of a few values at once. */

#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)
#define OF(name) JOIN(name, SUFFIX)
#define WIDTH ((int64_t)(64 / sizeof(REAL)))

typedef REAL OF(vector) __attribute__((vector_size(32), aligned(sizeof(REAL)), may_alias));
/* Arrays of callers are aligned to their numbers only, so loads of vectors must be, too. */
_Static_assert(_Alignof(OF(vector)) == sizeof(REAL), "vectors are aligned to their numbers");

/* Points by panels of WIDTH: out[panel][column][point], zeros where the last panel has none. */
static inline void OF(pack)(const REAL *points, int64_t count, int64_t depth, REAL *out) {
    for (int64_t start = 0; start < count; start += WIDTH)
        for (int64_t k = 0; k < depth; k++)
            for (int64_t c = 0; c < WIDTH; c++)
                *out++ = start + c < count ? points[(start + c) * depth + k] : (REAL)0;
}

/* sums[r][c] = rows[r] . panel point c */
INLINE void OF(tile)(const REAL *const rows[TALL], const REAL *panel, int64_t depth,
                     REAL sums[TALL][64 / sizeof(REAL)]) {
    enum { HALF = 32 / sizeof(REAL) };
    OF(vector) left[TALL], right[TALL];
    for (int r = 0; r < TALL; r++) left[r] = right[r] = (OF(vector)){0};
    for (int64_t k = 0; k < depth; k++, panel += WIDTH) {
        OF(vector) first = *(const OF(vector) *)panel;
        OF(vector) second = *(const OF(vector) *)(panel + HALF);
        for (int r = 0; r < TALL; r++) {
            left[r] += rows[r][k] * first;
            right[r] += rows[r][k] * second;
        }
    }
    for (int r = 0; r < TALL; r++) {
        *(OF(vector) *)sums[r] = left[r];
        *(OF(vector) *)(sums[r] + HALF) = right[r];
    }
}

/* The rows start..start+TALL-1, the last one repeated past the end. */
INLINE void OF(row_pointers)(const REAL *X, int64_t start, int64_t count, int64_t depth,
                             const REAL *rows[TALL]) {
    for (int64_t r = 0; r < TALL; r++) {
        int64_t row = start + r < count ? start + r : count - 1;
        rows[r] = X + row * depth;
    }
}

INLINE REAL OF(dot)(const REAL *a, const REAL *b, int64_t count) {
    REAL sum = 0;
    for (int64_t k = 0; k < count; k++) sum += a[k] * b[k];
    return sum;
}
