// What this machine can do: bandwidth of reading, rows of a table gathered and updated in random order, and fused
// multiply-adds. Prints JSON; compiled and run by roofline.py.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <thread>
#include <vector>
#if defined(__linux__)
#include <sys/mman.h>
#endif

typedef float Floats __attribute__((vector_size(64)));
constexpr int AHEAD = 32;  // registers of rows that are fetched before the first of them is used
constexpr double SECONDS = 0.3;

// Of processor time, so that other programs disturb less.
double seconds() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

// Calls of `work`, each worth `units`, per second, over threads that each have their own.
double rate(int threads, const std::function<std::function<double()>(int)> &prepare) {
    std::vector<std::function<double()>> work(threads);
    std::vector<std::thread> pool;
    for (int t = 0; t < threads; ++t) pool.emplace_back([&, t] { (work[t] = prepare(t))(); });
    for (auto &thread : pool) thread.join();
    pool.clear();
    std::vector<double> rates(threads);
    for (int t = 0; t < threads; ++t)
        pool.emplace_back([&, t] {
            const double start = seconds();
            double units = 0, taken = 0;
            while (taken < SECONDS) {
                units += work[t]();
                taken = seconds() - start;
            }
            rates[t] = units / taken;
        });
    for (auto &thread : pool) thread.join();
    double total = 0;
    for (const double r : rates) total += r;
    return total;
}

volatile float sink;

// Zeros, in huge pages where the system has them, as the arrays of the kernels are.
Floats *zeros(int64_t count) {
    const size_t bytes = (size_t(count) * sizeof(Floats) + (1 << 21)) >> 21 << 21;
    auto *data = static_cast<Floats *>(std::aligned_alloc(1 << 21, bytes));
#if defined(__linux__)
    madvise(data, bytes, MADV_HUGEPAGE);
#endif
    for (int64_t i = 0; i < count; ++i) data[i] = Floats{};
    return data;
}

std::function<double()> reader(int64_t bytes) {
    const int64_t n = bytes / 64;
    auto *data = zeros(n);
    return [=] {
        Floats sum[8] = {};
        for (int64_t i = 0; i + 8 <= n; i += 8)
            for (int k = 0; k < 8; ++k) sum[k] += data[i + k];
        for (int k = 1; k < 8; ++k) sum[0] += sum[k];
        sink = sum[0][0];
        return double(n) * 64;
    };
}

// Rows of so many registers in random order: read, or read and written.
template <int ROW> std::function<double()> rows(int64_t bytes, bool update) {
    const int64_t n = bytes / (64 * ROW), steps = 1 << 20;
    auto *data = zeros(n * ROW);
    auto *order = static_cast<uint32_t *>(std::malloc(4 * (steps + AHEAD)));
    uint64_t state = 1;
    for (int64_t i = 0; i < steps + AHEAD; ++i) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        order[i] = uint32_t(((state >> 32) * uint64_t(n)) >> 32);
    }
    return [=] {
        Floats sum[ROW] = {};
        for (int64_t i = 0; i < steps; ++i) {
            Floats *next = data + int64_t(order[i + AHEAD / ROW]) * ROW, *row = data + int64_t(order[i]) * ROW;
            for (int k = 0; k < ROW; ++k) __builtin_prefetch(next + k);
            for (int k = 0; k < ROW; ++k) {
                sum[k] += row[k];
                if (update) row[k] += sum[k] * 0.0f;
            }
        }
        for (int k = 1; k < ROW; ++k) sum[0] += sum[k];
        sink = sum[0][0];
        return double(steps);
    };
}

std::function<double()> multiplier() {
    return [] {
        constexpr int CHAINS = 12;
        constexpr int64_t steps = 1 << 18;
        Floats a[CHAINS], x = Floats{} + 0.5f, y = Floats{} + float(sink) * 0.0f + 1.0f;
        for (int k = 0; k < CHAINS; ++k) a[k] = Floats{} + float(k);  // chains that differ cannot become one
        for (int64_t i = 0; i < steps; ++i)
            for (int k = 0; k < CHAINS; ++k) a[k] = a[k] * x + y;
        for (int k = 1; k < CHAINS; ++k) a[0] += a[k];
        sink = a[0][0];
        return double(steps) * CHAINS * 16 * 2;
    };
}

int main(int count, char **arguments) {
    std::printf("[");
    for (int i = 1; i < count; ++i) {
        const int threads = std::atoi(arguments[i]);
        const auto print = [&](const char *what, int64_t bytes, double value, int row = 0) {
            std::printf("{\"what\": \"%s\", \"threads\": %d, \"row\": %d, \"bytes\": %lld, \"per_second\": %.4g},\n",
                        what, threads, row, static_cast<long long>(bytes), value);
        };
        print("multiply-adds", 0, rate(threads, [](int) { return multiplier(); }));
        print("read", int64_t(1) << 28, rate(threads, [](int) { return reader(int64_t(1) << 28); }));
        for (const int64_t bytes : {int64_t(1) << 19, int64_t(6400000), int64_t(1) << 28})
            for (const bool update : {false, true}) {
                const char *what = update ? "rows updated" : "rows read";
                print(what, bytes, rate(threads, [=](int) { return rows<1>(bytes, update); }), 64);
                print(what, bytes, rate(threads, [=](int) { return rows<2>(bytes, update); }), 128);
                print(what, bytes, rate(threads, [=](int) { return rows<4>(bytes, update); }), 256);
            }
    }
    std::printf("null]\n");
}
