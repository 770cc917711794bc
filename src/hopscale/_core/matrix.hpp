// Kernels of the direct solver: propagation over edges, and products with a panelled sparse matrix.
#pragma once
#include "kernels.hpp"
#include "simd.hpp"

#include <type_traits>

namespace hopscale {
namespace {

// A row of 16·NV floats, in registers; NV = 0 means "as many as `width` says", in the nearest cache.
template <int NV> struct Row {
    static constexpr int FIXED = NV * PAD / LANES;
    Floats v[NV ? FIXED : MAX_WIDTH / LANES];
    int count;
    explicit Row(int width) : count(width / LANES) {}
    int size() const { return NV ? FIXED : count; }
    void zero() {
        for (int i = 0; i < size(); ++i) v[i] = splat(0.0f);
    }
    template <typename T> void read(const T *p) {
        for (int i = 0; i < size(); ++i) v[i] = load(p + LANES * i);
    }
    template <typename T> void write(T *p) const {
        for (int i = 0; i < size(); ++i) store(p + LANES * i, v[i]);
    }
    template <typename T> void add(const T *p) {
        for (int i = 0; i < size(); ++i) v[i] += load(p + LANES * i);
    }
    template <typename T> void add(float a, const T *p) {
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

template <int NV> using Registers = std::integral_constant<int, NV>;

// Calls f(Registers<NV>()) with the NV that fits `width`, of those up to 10, or else with 0.
template <int NV = 1, typename F> inline auto with_registers(int width, F &&f) {
    if constexpr (NV > 10) return f(Registers<0>());
    else return width == NV * PAD ? f(Registers<NV>()) : with_registers<NV + 1>(width, f);
}

constexpr int AHEAD = 8;             // rows fetched ahead of their use
constexpr int RUN = 256;             // neighbours summed in one go
constexpr int ROWS_TOGETHER = 1024;  // rows that are multiplied by the same part of a matrix, one after the other

template <int NV, typename T> inline void prefetch_row(const T *row, int width) {
    for (int i = 0; i < (NV ? NV * PAD : width); i += 64 / int(sizeof(T))) HOPSCALE_PREFETCH(row + i);
}

void propagate(const Graph &graph, const float *in, float *out, int width) {
    with_registers(width, [=](auto registers) {
        constexpr int NV = registers;
        const int64_t *offsets = graph.offsets, last = offsets[graph.n_nodes];
        const int32_t *neighbors = graph.neighbors;
        for (int64_t i = 0; i < graph.n_nodes; ++i) {
            // Summed in runs, and these summed: at a hub one long sum would lose digits.
            Row<NV> row(width), run(width);
            row.zero();
            for (int64_t e = offsets[i]; e < offsets[i + 1];) {
                const int64_t stop = e + RUN < offsets[i + 1] ? e + RUN : offsets[i + 1];
                run.zero();
                for (; e < stop; ++e) {
                    if (e + AHEAD < last) prefetch_row<NV>(in + int64_t(neighbors[e + AHEAD]) * width, width);
                    const float *p = in + int64_t(neighbors[e]) * width;
                    if (graph.weights) run.add(graph.weights[e], p);
                    else run.add(p);
                }
                for (int k = 0; k < row.size(); ++k) row.v[k] += run.v[k];
            }
            for (int k = 0; k < row.size(); ++k) row.v[k] = graph.inverse_degrees[i] * row.v[k];
            row.write(out + i * width);
        }
    });
}

// Those of 16 products that are above one, and their columns, one after the other; returns their number. What is
// written beyond that has no meaning. Without a branch: it would often be mispredicted.
inline int pick(const float *row, const float *scale, int first, uint8_t *columns, float *values) {
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
        columns[n] = static_cast<uint8_t>(first + c);
        n += ratio[c] > 1.0f;
    }
    return n;
#endif
}

int64_t compress(const float *block, const float *scale, int width, int64_t rows, uint32_t *offsets, uint8_t *columns,
                 float *values) {
    int64_t n = 0;
    offsets[0] = 0;
    for (int64_t i = 0; i < rows; ++i) {
        for (int c = 0; c < width; c += PAD) n += pick(block + i * width + c, scale + c, c, columns + n, values + n);
        offsets[i + 1] = static_cast<uint32_t>(n);
    }
    for (int64_t k = 0; k < n; ++k) values[k] = fast_log(values[k]);
    return n;
}

// Columns of those sums that are above one once they are scaled, and the ratios; the sums are set to zero. There is
// room for 16 entries beyond them.
int64_t above_one(double *sums, const float *scale, int64_t count, int32_t *columns, float *ratios) {
    int64_t n = 0, c = 0;
#if defined(__AVX512F__)
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (; c + PAD <= count; c += PAD) {
        const __m256 low = _mm512_cvtpd_ps(_mm512_loadu_pd(sums + c));
        const __m256 high = _mm512_cvtpd_ps(_mm512_loadu_pd(sums + c + 8));
        _mm512_storeu_pd(sums + c, _mm512_setzero_pd());
        _mm512_storeu_pd(sums + c + 8, _mm512_setzero_pd());
        const __m512 ratio = _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1) * _mm512_loadu_ps(scale + c);
        const __mmask16 above = _mm512_cmp_ps_mask(ratio, _mm512_set1_ps(1.0f), _CMP_GT_OQ);
        const __m512i column = _mm512_add_epi32(lanes, _mm512_set1_epi32(int32_t(c)));
        _mm512_storeu_ps(ratios + n, _mm512_maskz_compress_ps(above, ratio));
        _mm512_storeu_si512(columns + n, _mm512_maskz_compress_epi32(above, column));
        n += __builtin_popcount(above);
    }
#endif
    for (; c < count; ++c) {
        const float ratio = float(sums[c]) * scale[c];
        sums[c] = 0.0;
        columns[n] = int32_t(c);
        ratios[n] = ratio;
        n += ratio > 1.0f;
    }
    return n;
}

void logs(float *values, int64_t count) {
    for (int64_t k = 0; k < count; ++k) values[k] = fast_log(values[k]);
}

void panels_times(const Panels &panels, const float *x, float *y, int width, int64_t begin, int64_t end) {
    with_registers(width, [=](auto registers) {
        constexpr int NV = registers;
        for (int64_t j = 0; j < panels.count; ++j) {
            const auto [offsets, columns, values] = panels.panels[j];
            const float *xj = x + j * panels.width * width;
            for (int64_t i = begin; i < end; ++i) {
                if (offsets[i] == offsets[i + 1]) continue;
                Row<NV> row(width);
                row.read(y + i * width);
                for (uint32_t k = offsets[i]; k < offsets[i + 1]; ++k) row.add(values[k], xj + columns[k] * width);
                row.write(y + i * width);
            }
        }
    });
}

void panel_transposed_times(const Panels &panels, int64_t j, const float *y, float *w, int width) {
    with_registers(width, [=](auto registers) {
        constexpr int NV = registers;
        const auto [offsets, columns, values] = panels.panels[j];
        for (int64_t i = 0; i < panels.n_rows; ++i) {
            if (offsets[i] == offsets[i + 1]) continue;
            Row<NV> row(width);
            row.read(y + i * width);
            for (uint32_t k = offsets[i]; k < offsets[i + 1]; ++k) row.add_to(values[k], w + columns[k] * width);
        }
    });
}

void csr_times(const Csr &matrix, const float *x, float *y, int width, int64_t begin, int64_t end) {
    with_registers(width, [=](auto registers) {
        constexpr int NV = registers;
        const int64_t *offsets = matrix.offsets, last = offsets[end];
        const int32_t *columns = matrix.columns;
        for (int64_t i = begin; i < end; ++i) {
            Row<NV> row(width);
            row.zero();
            for (int64_t k = offsets[i]; k < offsets[i + 1]; ++k) {
                if (k + AHEAD < last) prefetch_row<NV>(x + int64_t(columns[k + AHEAD]) * width, width);
                row.add(matrix.values[k], x + int64_t(columns[k]) * width);
            }
            row.write(y + i * width);
        }
    });
}

constexpr int64_t NEAR = int64_t(1) << 17;  // floats of x that stay in the cache

void rows_times(const Csr &rows, const float *x, float *y, int width) {
    with_registers(width, [=](auto registers) {
        constexpr int NV = registers;
        const int64_t panel = NEAR / width;
        std::memset(y, 0, sizeof(float) * rows.n_rows * width);
        int64_t at[ROWS_TOGETHER];  // where each row goes on
        for (int64_t first = 0; first < rows.n_rows; first += ROWS_TOGETHER) {
            const int64_t last = first + ROWS_TOGETHER < rows.n_rows ? first + ROWS_TOGETHER : rows.n_rows;
            for (int64_t i = first; i < last; ++i) at[i - first] = rows.offsets[i];
            for (int64_t limit = panel; limit - panel < rows.n_columns; limit += panel)
                for (int64_t i = first; i < last; ++i) {
                    int64_t k = at[i - first];
                    const int64_t end = rows.offsets[i + 1];
                    if (k == end || rows.columns[k] >= limit) continue;
                    Row<NV> row(width);
                    row.read(y + i * width);
                    for (; k < end && rows.columns[k] < limit; ++k)
                        row.add(rows.values[k], x + int64_t(rows.columns[k]) * width);
                    row.write(y + i * width);
                    at[i - first] = k;
                }
        }
    });
}

}  // namespace
}  // namespace hopscale
