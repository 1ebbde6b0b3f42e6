/* exp and expm1 of numbers that are not positive, written so that compilers vectorise them. */
#ifndef DCSVM_EXPONENTIAL_H
#define DCSVM_EXPONENTIAL_H

#include "numeric.h"

/* x = n ln 2 + r with |r| <= ln 2 / 2; truncation rounds to nearest since x is not positive. */
INLINE float expm1_not_positive_f32(float x) {
    x = x < -87.0f ? -87.0f : x;
    int32_t n = (int32_t)(x * 1.44269504f - 0.5f);
    float whole = (float)n;
    float r = (x - whole * 0.693145752f) - whole * 1.42860677e-6f;
    float p = 1.0f / 5040.0f;
    p = p * r + 1.0f / 720.0f;
    p = p * r + 1.0f / 120.0f;
    p = p * r + 1.0f / 24.0f;
    p = p * r + 1.0f / 6.0f;
    p = p * r + 0.5f;
    p = p * r * r + r;
    union {
        int32_t bits;
        float value;
    } power = {(n + 127) << 23};
    return power.value * p + (power.value - 1.0f);
}

INLINE float exp_not_positive_f32(float x) {
    x = x < -87.0f ? -87.0f : x;
    int32_t n = (int32_t)(x * 1.44269504f - 0.5f);
    float whole = (float)n;
    float r = (x - whole * 0.693145752f) - whole * 1.42860677e-6f;
    float p = 1.0f / 5040.0f;
    p = p * r + 1.0f / 720.0f;
    p = p * r + 1.0f / 120.0f;
    p = p * r + 1.0f / 24.0f;
    p = p * r + 1.0f / 6.0f;
    p = p * r + 0.5f;
    p = p * r * r + r;
    union {
        int32_t bits;
        float value;
    } power = {(n + 127) << 23};
    return power.value * p + power.value;
}

INLINE double exp_not_positive_f64(double x) {
    x = x < -708.0 ? -708.0 : x;
    int32_t n = (int32_t)(x * 1.4426950408889634 - 0.5);
    double whole = (double)n;
    double r = (x - whole * 0.693147180369123816490) - whole * 1.90821492927058770002e-10;
    /* Taylor to order 13: below 1e-17 for |r| <= 0.3466 */
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r * r + r;
    union {
        int64_t bits;
        double value;
    } power = {(int64_t)(n + 1023) << 52};
    return power.value * p + power.value;
}

#endif
