/* The rows just outside of boxes. */

#include "numeric.h"

/* Farther than any row can be, squared; corners at least as far away are none. */
static const double FAR = 1e250;
/* Bounds and distances may be rounded differently: a box is left out only beyond this factor. */
static const double SLACK = 1.0 + 1e-12;

typedef struct {
    double distance;
    int64_t id;
} candidate;

INLINE int is_farther(candidate a, candidate b) {
    return a.distance > b.distance || (a.distance == b.distance && a.id > b.id);
}

/* Put `one` where it belongs below the root of a heap whose root is the farthest (or, with
 * `nearest_first`, the nearest). */
INLINE void sink(candidate *heap, int64_t size, int64_t at, candidate one, int nearest_first) {
    for (int64_t child = 2 * at + 1; child < size; child = 2 * at + 1) {
        if (child + 1 < size &&
            (nearest_first ? is_farther(heap[child], heap[child + 1])
                           : is_farther(heap[child + 1], heap[child])))
            child++;
        if (!(nearest_first ? is_farther(one, heap[child]) : is_farther(heap[child], one)))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = one;
}

INLINE void order(candidate *heap, int64_t size, int nearest_first) {
    for (int64_t at = size / 2 - 1; at >= 0; at--)
        sink(heap, size, at, heap[at], nearest_first);
}

/* The squared distance to a box of what lies between least and most, or more than `limit`. */
INLINE double outside(const double *least, const double *most, const double *low,
                      const double *high, const int64_t *sides, int64_t count, double limit) {
    double sum = 0.0;
    for (int64_t s = 0; s < count && sum <= limit; s++) {
        int64_t side = sides[s];
        double below = low[side] - most[side], above = least[side] - high[side];
        double gap = below > above ? below : above;
        if (gap > 0.0)
            sum += gap * gap;
    }
    return sum;
}

/* Rows X (n, depth) stand box after box, `starts` says where, and `ids` are their numbers. Boxes
 * have corners low and high, FAR or more away where they are open, and rows between least and
 * most. For each box, `nearest` gets the numbers of the wanted[box] rows of other boxes that have
 * the least distance to it, of equals those with the least numbers: in no order, one box after
 * the other. Returns 0, or -1 where there is no memory. */
EXPORT int64_t dcsvm_borders(const double *X, int64_t depth, const int64_t *starts,
                             const int64_t *ids, int64_t boxes, const double *least,
                             const double *most, const double *low, const double *high,
                             const int64_t *wanted, int64_t *nearest) {
    int64_t largest = 1;
    for (int64_t box = 0; box < boxes; box++)
        largest = wanted[box] > largest ? wanted[box] : largest;
    candidate *others = malloc((size_t)(boxes + largest) * sizeof *others);
    int64_t *sides = malloc((size_t)(depth + 1) * sizeof *sides);
    if (!others || !sides) {
        free(others);
        free(sides);
        return -1;
    }
    candidate *found = others + boxes;
    for (int64_t box = 0; box < boxes; box++) {
        if (!wanted[box])
            continue;
        const double *bottom = low + box * depth, *top = high + box * depth;
        int64_t count = 0, left = 0, size = 0;
        for (int64_t side = 0; side < depth; side++)
            if (bottom[side] > -FAR || top[side] < FAR)
                sides[count++] = side;
        for (int64_t other = 0; other < boxes; other++)
            if (other != box)
                others[left++] = (candidate){
                    outside(least + other * depth, most + other * depth, bottom, top, sides,
                            count, FAR),
                    other};
        order(others, left, 1);
        while (left && (size < wanted[box] ||
                        others[0].distance <= found[0].distance * SLACK)) {
            int64_t other = others[0].id;
            sink(others, left - 1, 0, others[left - 1], 1);
            left--;
            for (int64_t row = starts[other]; row < starts[other + 1]; row++) {
                const double *x = X + row * depth;
                double limit = size < wanted[box] ? FAR : found[0].distance;
                candidate one = {outside(x, x, bottom, top, sides, count, limit), ids[row]};
                if (size < wanted[box]) {
                    found[size++] = one;
                    if (size == wanted[box])
                        order(found, size, 0);
                } else if (is_farther(found[0], one)) {
                    sink(found, size, 0, one, 0);
                }
            }
        }
        for (int64_t at = 0; at < size; at++)
            *nearest++ = found[at].id;
    }
    free(others);
    free(sides);
    return 0;
}
