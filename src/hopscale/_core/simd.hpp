// The widest register of an instruction set, and scalar functions that compilers turn into vector ones.
// Everything is in an unnamed namespace: each instruction set's object file must keep its own copy.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#if defined(__AVX512F__) || defined(__F16C__)
#include <immintrin.h>
#endif

namespace {

constexpr int PAD = 16;  // floats to which rows are padded, on every instruction set

#if defined(__GNUC__) || defined(__clang__)
#define HOPSCALE_PREFETCH(address) __builtin_prefetch(address)
typedef float Floats4 __attribute__((vector_size(16)));
typedef float Floats8 __attribute__((vector_size(32)));
typedef float Floats16 __attribute__((vector_size(64)));

// The sum of both halves of a register.
template <typename Half, typename Whole> inline Half folded(const Whole &v) {
    Half half[2];
    std::memcpy(half, &v, sizeof half);
    return half[0] + half[1];
}
inline Floats4 quarter(const Floats4 &v) { return v; }
inline Floats4 quarter(const Floats8 &v) { return folded<Floats4>(v); }
#if defined(__AVX512F__)
typedef Floats16 Floats;
inline Floats4 quarter(const Floats16 &v) { return quarter(folded<Floats8>(v)); }
#elif defined(__AVX__)
typedef Floats8 Floats;
#else
typedef Floats4 Floats;
#endif
inline float lane(const Floats4 &v, int i) { return v[i]; }
inline Floats splat(float x) { return Floats{} + x; }

#else  // a compiler without vector types
#define HOPSCALE_PREFETCH(address) ((void)(address))
struct Floats {
    float x[4];
};
inline Floats splat(float x) { return {{x, x, x, x}}; }
inline Floats operator+(const Floats &a, const Floats &b) {
    return {{a.x[0] + b.x[0], a.x[1] + b.x[1], a.x[2] + b.x[2], a.x[3] + b.x[3]}};
}
inline Floats operator*(const Floats &a, const Floats &b) {
    return {{a.x[0] * b.x[0], a.x[1] * b.x[1], a.x[2] * b.x[2], a.x[3] * b.x[3]}};
}
inline Floats operator*(float a, const Floats &b) { return splat(a) * b; }
inline Floats &operator+=(Floats &a, const Floats &b) { return a = a + b; }
typedef Floats Floats4;
inline Floats4 quarter(const Floats &v) { return v; }
inline float lane(const Floats4 &v, int i) { return v.x[i]; }
#endif

constexpr int LANES = int(sizeof(Floats) / sizeof(float));

inline Floats load(const float *p) {
    Floats v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
inline void store(float *p, const Floats &v) { std::memcpy(p, &v, sizeof v); }

// Numbers of half precision, from 0 to 65,504: loaded as floats, stored as the nearest ones.
typedef std::uint16_t Half;

#if defined(__AVX512F__)
inline Floats load(const Half *p) { return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(p))); }
inline void store(Half *p, const Floats &v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(p), _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
#elif defined(__F16C__)
inline Floats load(const Half *p) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p))); }
inline void store(Half *p, const Floats &v) {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(p), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
#else
// The exponents of the two formats are 112 apart; multiplying by a power of two makes up for it.
inline Floats load(const Half *p) {
    float x[LANES];
    for (int i = 0; i < LANES; ++i) {
        const std::uint32_t bits = std::uint32_t(p[i]) << 13;
        std::memcpy(x + i, &bits, 4);
        x[i] *= 0x1p112f;
    }
    return load(x);
}
inline void store(Half *p, const Floats &v) {
    float x[LANES];
    store(x, v);
    for (int i = 0; i < LANES; ++i) {
        x[i] *= 0x1p-112f;
        std::uint32_t bits;
        std::memcpy(&bits, x + i, 4);
        p[i] = Half((bits + 0xfffu + ((bits >> 13) & 1u)) >> 13);
    }
}
#endif

// Sum of the lanes.
inline float sum(const Floats &v) {
    const Floats4 q = quarter(v);
    return (lane(q, 0) + lane(q, 2)) + (lane(q, 1) + lane(q, 3));
}

// Sums of the lanes of four registers: a transposition costs less than four sums.
inline void sum4(const Floats &a, const Floats &b, const Floats &c, const Floats &d, float *out) {
    const Floats4 p = quarter(a), q = quarter(b), r = quarter(c), s = quarter(d);
    const Floats4 pq = Floats4{lane(p, 0), lane(q, 0), lane(p, 1), lane(q, 1)} +
                       Floats4{lane(p, 2), lane(q, 2), lane(p, 3), lane(q, 3)};
    const Floats4 rs = Floats4{lane(r, 0), lane(s, 0), lane(r, 1), lane(s, 1)} +
                       Floats4{lane(r, 2), lane(s, 2), lane(r, 3), lane(s, 3)};
    const Floats4 t = Floats4{lane(pq, 0), lane(pq, 1), lane(rs, 0), lane(rs, 1)} +
                      Floats4{lane(pq, 2), lane(pq, 3), lane(rs, 2), lane(rs, 3)};
    std::memcpy(out, &t, sizeof t);
}

// log of a positive, normal float: x = m·2^e with m in [√½, √2), then the series of atanh in s = (m-1)/(m+1); the error
// stays below 2 units in the last place.
inline float fast_log(float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, 4);
    const std::int32_t e = static_cast<std::int32_t>(bits - 0x3f3504f3u) >> 23;
    bits -= static_cast<std::uint32_t>(e) << 23;  // unsigned: a negative number must not be shifted to the left
    float m;
    std::memcpy(&m, &bits, 4);
    float s = (m - 1.0f) / (m + 1.0f), z = s * s;
    float series = 0.6666666666f + z * (0.4000000006f + z * (0.28571428f + z * (0.2222222f + z * 0.1818182f)));
    return static_cast<float>(e) * 0.69314718056f + (2.0f * s + s * z * series);
}

// exp on [-60, 60] by 2^n·P(r); enough for a sigmoid, which is flat outside.
inline float fast_exp(float x) {
    x = x < -60.0f ? -60.0f : (x > 60.0f ? 60.0f : x);
    float n = std::floor(x * 1.44269504089f + 0.5f);
    float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    float p =
        1.0f + r * (1.0f + r * (0.5f + r * (0.166666665f + r * (0.0416664f + r * (0.00833336f + r * 0.0013889f)))));
    // NaN must not be cast to an integer; p is NaN then, whatever the exponent.
    std::uint32_t bits = static_cast<std::uint32_t>(static_cast<std::int32_t>(n > -100.0f ? n : -100.0f) + 127) << 23;
    float scale;
    std::memcpy(&scale, &bits, 4);
    return p * scale;
}

inline float sigmoid(float x) { return 1.0f / (1.0f + fast_exp(-x)); }

}  // namespace
