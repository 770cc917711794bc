// Kernels of the direct solver: propagation over edges, and products with a panelled sparse matrix.
#pragma once
#include "kernels.hpp"
#include "simd.hpp"
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace {

// A row of 16·NV floats, in registers; NV = 0 means "as many as `width` says", in the nearest cache.
template <int NV> struct Row {
    static constexpr int FIXED = NV * PAD / LANES;
    Floats v[NV ? FIXED : hopscale::MAX_WIDTH / LANES];
    int count;
    explicit Row(int width) : count(width / LANES) {}
    int size() const { return NV ? FIXED : count; }
    void zero() {
        for (int i = 0; i < size(); ++i) v[i] = splat(0.0f);
    }
    void read(const float *p) {
        for (int i = 0; i < size(); ++i) v[i] = load(p + LANES * i);
    }
    void write(float *p) const {
        for (int i = 0; i < size(); ++i) store(p + LANES * i, v[i]);
    }
    void add(const float *p) {
        for (int i = 0; i < size(); ++i) v[i] += load(p + LANES * i);
    }
    void add(float a, const float *p) {
        for (int i = 0; i < size(); ++i) v[i] += a * load(p + LANES * i);
    }
    void add_to(float a, float *p) const {
        for (int i = 0; i < size(); ++i) store(p + LANES * i, load(p + LANES * i) + a * v[i]);
    }
    // step += a·p and p += a·this, in one pass over p.
    void exchange(float a, float *p, Row &step) const {
        for (int i = 0; i < size(); ++i) {
            const Floats x = load(p + LANES * i);
            step.v[i] += a * x;
            store(p + LANES * i, x + a * v[i]);
        }
    }
    Floats times(const float *p) const {  // what a dot product sums over
        Floats s = v[0] * load(p);
        for (int i = 1; i < size(); ++i) s += v[i] * load(p + LANES * i);
        return s;
    }
};

// Calls f.run<NV>() with the NV that fits `width`.
template <typename F> inline auto with_registers(int width, F &&f) {
    switch (width / PAD) {
    case 1: return f.template run<1>();
    case 2: return f.template run<2>();
    case 3: return f.template run<3>();
    case 4: return f.template run<4>();
    case 5: return f.template run<5>();
    case 6: return f.template run<6>();
    case 7: return f.template run<7>();
    case 8: return f.template run<8>();
    case 9: return f.template run<9>();
    case 10: return f.template run<10>();
    default: return f.template run<0>();
    }
}

constexpr int AHEAD = 8;  // rows fetched ahead of their use
constexpr int RUN = 256;  // neighbours summed in one go

template <int NV> inline void prefetch_row(const float *row, int width) {
    for (int i = 0; i < (NV ? NV * PAD : width); i += PAD) HOPSCALE_PREFETCH(row + i);
}

struct Propagate {
    const std::int64_t *offsets;
    const std::int32_t *neighbors;
    const float *weights, *scale, *in;
    float *out;
    int width;
    std::int64_t begin, end;
    template <int NV> void run() const {
        const std::int64_t last = offsets[end];
        for (std::int64_t i = begin; i < end; ++i) {
            // Summed in runs, and these summed: at a hub one long sum would lose digits.
            Row<NV> row(width), run(width);
            row.zero();
            for (std::int64_t e = offsets[i]; e < offsets[i + 1];) {
                const std::int64_t stop = e + RUN < offsets[i + 1] ? e + RUN : offsets[i + 1];
                run.zero();
                for (; e < stop; ++e) {
                    if (e + AHEAD < last) prefetch_row<NV>(in + std::int64_t(neighbors[e + AHEAD]) * width, width);
                    const float *p = in + std::int64_t(neighbors[e]) * width;
                    if (weights) run.add(weights[e], p);
                    else run.add(p);
                }
                for (int k = 0; k < row.size(); ++k) row.v[k] += run.v[k];
            }
            for (int k = 0; k < row.size(); ++k) row.v[k] = scale[i] * row.v[k];
            row.write(out + i * width);
        }
    }
};

void propagate(const std::int64_t *offsets, const std::int32_t *neighbors, const float *weights, const float *scale,
               const float *in, float *out, int width, std::int64_t begin, std::int64_t end) {
    with_registers(width, Propagate{offsets, neighbors, weights, scale, in, out, width, begin, end});
}

// Those of 16 products that are above one, and their columns, one after the other; returns their number. What is
// written beyond that has no meaning. Without a branch: it would often be mispredicted.
inline int pick(const float *row, const float *scale, int first, std::uint8_t *columns, float *values) {
#if defined(__AVX512F__)
    const __m512 ratio = _mm512_loadu_ps(row) * _mm512_loadu_ps(scale);
    const __mmask16 above = _mm512_cmp_ps_mask(ratio, _mm512_set1_ps(1.0f), _CMP_GT_OQ);
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i column = _mm512_maskz_compress_epi32(above, _mm512_add_epi32(lanes, _mm512_set1_epi32(first)));
    _mm512_storeu_ps(values, _mm512_maskz_compress_ps(above, ratio));
    _mm_storeu_si128(reinterpret_cast<__m128i *>(columns), _mm512_cvtepi32_epi8(column));
    return __builtin_popcount(above);
#else
    float ratio[PAD];
    for (int c = 0; c < PAD; ++c) ratio[c] = row[c] * scale[c];
    int n = 0;
    for (int c = 0; c < PAD; ++c) {
        values[n] = ratio[c];
        columns[n] = static_cast<std::uint8_t>(first + c);
        n += ratio[c] > 1.0f;
    }
    return n;
#endif
}

std::int64_t compress(const float *block, const float *scale, int width, std::int64_t rows, std::uint32_t *offsets,
                      std::uint8_t *columns, float *values) {
    std::int64_t n = 0;
    offsets[0] = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
        for (int c = 0; c < width; c += PAD) n += pick(block + i * width + c, scale + c, c, columns + n, values + n);
        offsets[i + 1] = static_cast<std::uint32_t>(n);
    }
    for (std::int64_t k = 0; k < n; ++k) values[k] = fast_log(values[k]);
    return n;
}

struct PanelsTimes {
    const std::uint64_t *panels;
    std::int64_t n_panels;
    int panel_width;
    const float *x;
    float *y;
    int width;
    std::int64_t begin, end;
    template <int NV> void run() const {
        for (std::int64_t j = 0; j < n_panels; ++j) {
            auto offsets = reinterpret_cast<const std::uint32_t *>(panels[3 * j]);
            auto columns = reinterpret_cast<const std::uint8_t *>(panels[3 * j + 1]);
            auto values = reinterpret_cast<const float *>(panels[3 * j + 2]);
            const float *xj = x + j * panel_width * width;
            for (std::int64_t i = begin; i < end; ++i) {
                if (offsets[i] == offsets[i + 1]) continue;
                Row<NV> row(width);
                row.read(y + i * width);
                for (std::uint32_t k = offsets[i]; k < offsets[i + 1]; ++k) row.add(values[k], xj + columns[k] * width);
                row.write(y + i * width);
            }
        }
    }
};

void panels_times(const std::uint64_t *panels, std::int64_t n_panels, int panel_width, const float *x, float *y,
                  int width, std::int64_t begin, std::int64_t end) {
    with_registers(width, PanelsTimes{panels, n_panels, panel_width, x, y, width, begin, end});
}

struct PanelTransposedTimes {
    const std::uint32_t *offsets;
    const std::uint8_t *columns;
    const float *values;
    std::int64_t rows;
    const float *y;
    float *w;
    int panel_width, width;
    template <int NV> void run() const {
        std::memset(w, 0, sizeof(float) * panel_width * width);
        for (std::int64_t i = 0; i < rows; ++i) {
            if (offsets[i] == offsets[i + 1]) continue;
            Row<NV> row(width);
            row.read(y + i * width);
            for (std::uint32_t k = offsets[i]; k < offsets[i + 1]; ++k) row.add_to(values[k], w + columns[k] * width);
        }
    }
};

void panel_transposed_times(const std::uint32_t *offsets, const std::uint8_t *columns, const float *values,
                            std::int64_t rows, const float *y, float *w, int panel_width, int width) {
    with_registers(width, PanelTransposedTimes{offsets, columns, values, rows, y, w, panel_width, width});
}

struct CsrTimes {
    const std::int64_t *offsets;
    const std::int32_t *columns;
    const float *values, *x;
    float *y;
    int width;
    std::int64_t begin, end;
    template <int NV> void run() const {
        const std::int64_t last = offsets[end];
        for (std::int64_t i = begin; i < end; ++i) {
            Row<NV> row(width);
            row.zero();
            for (std::int64_t k = offsets[i]; k < offsets[i + 1]; ++k) {
                if (k + AHEAD < last) prefetch_row<NV>(x + std::int64_t(columns[k + AHEAD]) * width, width);
                row.add(values[k], x + std::int64_t(columns[k]) * width);
            }
            row.write(y + i * width);
        }
    }
};

void csr_times(const std::int64_t *offsets, const std::int32_t *columns, const float *values, const float *x, float *y,
               int width, std::int64_t begin, std::int64_t end) {
    with_registers(width, CsrTimes{offsets, columns, values, x, y, width, begin, end});
}

}  // namespace
