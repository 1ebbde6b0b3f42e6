/* Tables of text: where the fields of each row are, and the numbers that stand in them. */
#include <float.h>

#include "numeric.h"

enum { FINE, WRONG_COUNT, AFTER_QUOTE, OPEN_QUOTE };
enum { CONSUMED, LINES, WRONG, FOUND, WRONG_LINE, FACTS };
enum { NUMBER, NOTHING, OTHER };

INLINE int ends_line(char c) { return c == '\n' || c == '\r'; }

/* Skip to the end of a quoted field whose quote is open; -1 where the text ends before it does. */
static int64_t closing_quote(const char *text, int64_t size, int64_t at, int64_t *line,
                             int *doubled) {
    for (; at < size; at++) {
        if (text[at] == '"') {
            if (at + 1 >= size || text[at + 1] != '"') return at;
            *doubled = 1;
            at++;
        } else if (text[at] == '\n' || (text[at] == '\r' && at + 1 < size && text[at + 1] != '\n'))
            ++*line;
    }
    return -1;
}

/* Find the fields of whole rows: offsets without the blanks around, ends as ~end where a doubled
   quote stands inside. Lines without content are skipped. An unfinished row at the end is left
   for the next call, unless this is the last. Returns the number of rows; state gets the bytes and
   lines consumed, what was wrong with the row that stopped it, how many fields and which line. */
EXPORT int64_t dcsvm_fields(const char *text, int64_t size, int64_t last, int64_t delimiter,
                            int64_t columns, int64_t room, int32_t *starts, int32_t *ends,
                            int32_t *lines, int64_t *state) {
    const char comma = (char)delimiter;
    int64_t at = 0, line = 0, rows = 0;
    memset(state, 0, FACTS * sizeof *state);
    while (at < size && rows < room) {
        const int64_t row_line = line;
        int64_t count = 0, here = at, start = 0, end = 0;
        int doubled = 0;
        for (;;) {
            doubled = 0;
            while (here < size && text[here] == ' ') here++;
            if (here < size && text[here] == '"') {
                const int64_t open_line = line;
                start = here + 1;
                end = closing_quote(text, size, start, &line, &doubled);
                if (end < 0) {
                    if (!last) return rows;
                    state[WRONG] = OPEN_QUOTE;
                    state[WRONG_LINE] = open_line;
                    return rows;
                }
                here = end + 1;
                if (here < size && text[here] != comma && !ends_line(text[here])) {
                    state[WRONG] = AFTER_QUOTE;
                    state[WRONG_LINE] = line;
                    return rows;
                }
            } else {
                start = here;
                while (here < size && text[here] != comma && !ends_line(text[here])) here++;
                end = here;
            }
            if (here >= size && !last) return rows;
            while (start < end && (text[start] == ' ' || text[start] == '\t')) start++;
            while (end > start && (text[end - 1] == ' ' || text[end - 1] == '\t')) end--;
            if (count < columns) {
                starts[rows * columns + count] = (int32_t)start;
                ends[rows * columns + count] = (int32_t)(doubled ? ~end : end);
            }
            count++;
            if (here >= size || text[here] != comma) break;
            here++;
        }
        if (here < size) {
            if (text[here] == '\r') {
                if (here + 1 >= size && !last) return rows;
                if (here + 1 < size && text[here + 1] == '\n') here++;
            }
            here++;
            line++;
        }
        if (count > 1 || end > start) {
            if (count != columns) {
                state[WRONG] = WRONG_COUNT;
                state[FOUND] = count;
                state[WRONG_LINE] = row_line;
                return rows;
            }
            lines[rows++] = (int32_t)row_line;
        }
        at = here;
        state[CONSUMED] = at;
        state[LINES] = line;
    }
    return rows;
}

static const double POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

#if LDBL_MANT_DIG == 64
static const long double WIDE[] = {
    1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L,
    1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};

/* A quotient or product of exact 64-bit numbers, rounded to 64 bits and then to 53: right unless
   the first rounding may have moved it across, or onto, the middle between two doubles. */
static int by_wide_numbers(uint64_t mantissa, int64_t exponent, double *out) {
    if (exponent < -27 || exponent > 27) return OTHER;
    const long double value = exponent < 0 ? (long double)mantissa / WIDE[-exponent]
                                           : (long double)mantissa * WIDE[exponent];
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t below = bits & 0x7ff;
    if (below >= 0x3ff && below <= 0x401) return OTHER;
    *out = (double)value;
    return NUMBER;
}
#else
static int by_wide_numbers(uint64_t mantissa, int64_t exponent, double *out) {
    (void)mantissa, (void)exponent, (void)out;
    return OTHER;
}
#endif

/* What no product of exact numbers can give is left to the C library. */
static int by_library(const char *from, const char *to, double *out) {
    char copy[64], *end;
    const int64_t length = to - from;
    if (length >= (int64_t)sizeof copy) return OTHER;
    memcpy(copy, from, (size_t)length);
    copy[length] = 0;
    const double value = strtod(copy, &end);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    /* Infinity is told by its bits: the compiler may take for granted that no number is infinite. */
    if (end != copy + length || (bits >> 52 & 0x7ff) == 0x7ff) return OTHER;
    *out = value;
    return NUMBER;
}

/* One decimal number, correctly rounded: [+-]digits[.digits][e[+-]digits] and nothing else. */
static int number(const char *from, const char *to, double *out) {
    const char *at = from;
    uint64_t mantissa = 0;
    int64_t exponent = 0, digits = 0, seen = 0;
    if (at == to) return NOTHING;
    const int negative = *at == '-';
    if (*at == '-' || *at == '+') at++;
    for (int fraction = 0; at < to; at++) {
        const unsigned digit = (unsigned)(*at - '0');
        if (digit < 10) {
            seen = 1;
            if (mantissa || digit) digits++;
            if (digits <= 19) mantissa = 10 * mantissa + digit;
            exponent -= fraction;
        } else if (*at == '.' && !fraction)
            fraction = 1;
        else
            break;
    }
    if (!seen) return OTHER;
    if (at < to && (*at == 'e' || *at == 'E')) {
        int64_t power = 0;
        at++;
        const int down = at < to && *at == '-';
        if (at < to && (*at == '-' || *at == '+')) at++;
        if (at == to || to - at > 5) return OTHER;
        for (; at < to && (unsigned)(*at - '0') < 10; at++) power = 10 * power + (*at - '0');
        exponent += down ? -power : power;
    }
    if (at != to) return OTHER;
    double value;
    if (digits > 19) return by_library(from, to, out);
    if (mantissa <= ((uint64_t)1 << 53) && exponent >= -22 && exponent <= 22)
        value = exponent < 0 ? (double)mantissa / POWERS[-exponent]
                             : (double)mantissa * POWERS[exponent];
    else if (by_wide_numbers(mantissa, exponent, &value) != NUMBER)
        return by_library(from, to, out);
    *out = negative ? -value : value;
    return NUMBER;
}

/* The numbers of one column. kinds: 0 a number, 1 nothing, 2 something for others to judge; out
   is left as it is for the latter two. */
EXPORT void dcsvm_numbers(const char *text, const int32_t *starts, const int32_t *ends,
                          int64_t stride, int64_t rows, double *out, uint8_t *kinds) {
    for (int64_t i = 0; i < rows; i++) {
        const int32_t end = ends[i * stride];
        kinds[i] = end < 0 ? OTHER
                           : (uint8_t)number(text + starts[i * stride], text + end, out + i);
    }
}

static uint64_t hashed(const char *from, int64_t length) {
    uint64_t hash = 1469598103934665603u;
    for (int64_t i = 0; i < length; i++) hash = (hash ^ (uint8_t)from[i]) * 1099511628211u;
    return hash ^ (hash >> 29);
}

/* Number the different texts of one column in the order in which they appear: code gets the number
   of each row's text, firsts the row where each first appeared. Returns how many there are, or -1
   where there are more than half of the table's slots (a power of two, all -1 at first). */
EXPORT int64_t dcsvm_distinct(const char *text, const int32_t *starts, const int32_t *ends,
                              int64_t stride, int64_t rows, int32_t *table, int64_t slots,
                              int32_t *code, int32_t *firsts) {
    int64_t count = 0;
    for (int64_t i = 0; i < rows; i++) {
        const int32_t end = ends[i * stride];
        const char *from = text + starts[i * stride];
        const int64_t length = (end < 0 ? ~end : end) - starts[i * stride];
        uint64_t slot = hashed(from, length) & (uint64_t)(slots - 1);
        for (;; slot = (slot + 1) & (uint64_t)(slots - 1)) {
            if (table[slot] < 0) {
                if (2 * count >= slots) return -1;
                table[slot] = (int32_t)count;
                firsts[count++] = (int32_t)i;
                break;
            }
            const int64_t other = firsts[table[slot]] * stride;
            const int32_t its_end = ends[other];
            if ((its_end < 0) == (end < 0) &&
                (its_end < 0 ? ~its_end : its_end) - starts[other] == length &&
                memcmp(text + starts[other], from, (size_t)length) == 0)
                break;
        }
        code[i] = table[slot];
    }
    return count;
}
