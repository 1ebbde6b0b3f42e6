/* The dual problem's arrays: allocation, bound penalties, gradient, optimality gap. */
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L
#include "numeric.h"
#if defined(_WIN32)
#include <windows.h>
#else
#include <time.h>
#endif
#if defined(__linux__)
#include <sys/mman.h>
#endif

enum { HUGE_PAGE = 1 << 21 };

double seconds_now(void) {
#if defined(_WIN32)
    LARGE_INTEGER now, frequency;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&frequency);
    return (double)now.QuadPart / (double)frequency.QuadPart;
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
#endif
}

/* The best of the libraries built from these sources that this processor can run: 0 any, 1 with
   256-bit vectors, 2 with 512-bit ones. */
EXPORT int dcsvm_level(void) {
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd"))
        return 2;
    return 1;
#else
    return 0;
#endif
}

/* The fingerprint of the sources that this library was built from. */
#if !defined(DCSVM_SOURCES)
#define DCSVM_SOURCES 0
#endif
EXPORT uint64_t dcsvm_sources(void) {
    return DCSVM_SOURCES;
}

/* As malloc; where it is many pages, of the large kind if the system has any. */
void *allocate_large(size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    void *room = NULL;
    if (bytes >= 2 * (size_t)HUGE_PAGE) {
        if (posix_memalign(&room, HUGE_PAGE, bytes)) return NULL;
        madvise(room, bytes, MADV_HUGEPAGE);
        return room;
    }
#endif
    return malloc(bytes);
}

/* Room for so many values, what was there being lost; NULL where memory ran out. */
float *reserve_buffer(buffer *b, size_t count) {
    if (!b->values || count > b->count) {
        free(b->values);
        b->values = allocate_large(sizeof(float) * (count + 1));
        b->count = b->values ? count : 0;
    }
    return b->values;
}

int problem_allocate(problem *p, int64_t n, float *lent) {
    int64_t s = padded(n);
    p->n = n;
    p->stride = s;
    p->shift = 0.0;
    p->lent = lent != NULL;
    p->spare = NULL;
    p->K = lent ? lent : allocate_large(sizeof(float) * (size_t)(s * s) + 64);
    p->room = calloc((size_t)(7 * s), sizeof(double));
    if (!p->K || !p->room) {
        problem_release(p);
        return 0;
    }
    p->beta = p->room;
    p->f = p->room + s;
    p->lower = p->room + 2 * s;
    p->upper = p->room + 3 * s;
    p->up_penalty = p->room + 4 * s;
    p->low_penalty = p->room + 5 * s;
    p->diagonal = (float *)(p->room + 6 * s);
    p->gains = p->diagonal + s;
    for (int64_t t = n; t < s; t++) p->up_penalty[t] = p->low_penalty[t] = BOUND_PENALTY;
    return 1;
}

void problem_release(problem *p) {
    if (!p->lent) free(p->K);
    free(p->room);
    p->K = NULL;
    p->room = NULL;
}

/* Take a copy of a matrix that was lent, to write to it; 0 where memory ran out. */
int problem_own(problem *p) {
    size_t size = sizeof(float) * (size_t)(p->n * p->stride);
    float *own = p->lent ? allocate_large(size) : p->K;
    if (!own) return 0;
    if (p->lent) memcpy(own, p->K, size);
    p->K = own;
    p->lent = 0;
    return 1;
}

void update_bound_penalties(problem *p, int64_t t) {
    p->up_penalty[t] = p->beta[t] < p->upper[t] ? 0.0 : BOUND_PENALTY;
    p->low_penalty[t] = p->beta[t] > p->lower[t] ? 0.0 : BOUND_PENALTY;
}

/* f += sum of steps[a] K[rows[a]], four rows at a time to read f less often */
void add_rows(problem *p, const int64_t *rows, const double *steps, int64_t count) {
    int64_t a = 0, s = p->stride;
    double *restrict f = p->f;
    for (; a + 4 <= count; a += 4) {
        const float *k0 = p->K + rows[a] * s, *k1 = p->K + rows[a + 1] * s;
        const float *k2 = p->K + rows[a + 2] * s, *k3 = p->K + rows[a + 3] * s;
        double d0 = steps[a], d1 = steps[a + 1], d2 = steps[a + 2], d3 = steps[a + 3];
        for (int64_t t = 0; t < s; t++)
            f[t] += d0 * k0[t] + d1 * k1[t] + (d2 * k2[t] + d3 * k3[t]);
    }
    for (; a < count; a++) {
        const float *k0 = p->K + rows[a] * s;
        double d0 = steps[a];
        for (int64_t t = 0; t < s; t++) f[t] += d0 * k0[t];
    }
}

void problem_gradient(problem *p, const double *y) {
    for (int64_t t = 0; t < p->n; t++) p->f[t] = -y[t];
    for (int64_t t = 0; t < p->n; t++)
        if (p->beta[t] != 0.0) add_rows(p, &t, p->beta + t, 1);
}

/* max of f over what can fall minus min of f over what can grow: zero or less at the optimum */
double problem_gap(const problem *p, double *lowest, double *highest) {
    double low = BOUND_PENALTY, high = -BOUND_PENALTY;
    for (int64_t t = 0; t < p->n; t++) {
        double up = p->f[t] + p->up_penalty[t], down = p->f[t] - p->low_penalty[t];
        if (up < low) low = up;
        if (down > high) high = down;
    }
    *lowest = low;
    *highest = high;
    return high - low;
}

/* The best multiple of a solution, up to the growth of C, is where the next C starts. */
double rescale(problem *p, const double *y, double most) {
    double linear = 0.0, quadratic = 0.0;
    for (int64_t t = 0; t < p->n; t++) {
        linear += p->beta[t] * y[t];
        quadratic += p->beta[t] * (p->f[t] + y[t]);
    }
    double factor = quadratic > 0.0 ? linear / quadratic : 1.0;
    factor = factor < 1.0 ? 1.0 : factor > most ? most : factor;
    for (int64_t t = 0; t < p->n; t++) {
        p->f[t] = factor * (p->f[t] + y[t]) - y[t];
        p->beta[t] *= factor;
    }
    return factor;
}

void set_bounds(problem *p, const double *y, const double *weights, double C) {
    for (int64_t t = 0; t < p->n; t++) {
        double bound = C * weights[t];
        p->upper[t] = y[t] > 0.0 ? bound : 0.0;
        p->lower[t] = y[t] > 0.0 ? 0.0 : -bound;
        if (p->beta[t] > p->upper[t]) p->beta[t] = p->upper[t];
        if (p->beta[t] < p->lower[t]) p->beta[t] = p->lower[t];
        update_bound_penalties(p, t);
    }
}
