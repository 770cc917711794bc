// Large arrays in huge pages, where the system has them: most of the time of filling a new array is the first touch of
// its pages.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace hopscale {

constexpr std::size_t HUGE_PAGE = std::size_t(1) << 21, SMALL_PAGE = std::size_t(1) << 12;

// Asks for huge pages; what lies beside the bytes is not touched.
inline void prefer_huge_pages([[maybe_unused]] void *p, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
    const auto begin = (reinterpret_cast<std::uintptr_t>(p) + SMALL_PAGE - 1) / SMALL_PAGE * SMALL_PAGE;
    const auto end = (reinterpret_cast<std::uintptr_t>(p) + bytes) / SMALL_PAGE * SMALL_PAGE;
    if (end > begin + HUGE_PAGE) madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

// Of numbers, which are not set to zero where none is given.
template <typename T> struct HugePages {
    using value_type = T;
    HugePages() = default;
    template <typename U> HugePages(const HugePages<U> &) {}

    T *allocate(std::size_t count) {
        if (!is_large(count)) return std::allocator<T>().allocate(count);
        if (count > SIZE_MAX / sizeof(T)) throw std::bad_alloc();
        void *p = ::operator new(count * sizeof(T), std::align_val_t(HUGE_PAGE));
        prefer_huge_pages(p, count * sizeof(T));
        return static_cast<T *>(p);
    }
    void deallocate(T *p, std::size_t count) {
        if (is_large(count)) ::operator delete(p, std::align_val_t(HUGE_PAGE));
        else std::allocator<T>().deallocate(p, count);
    }
    template <typename U> void construct(U *p) { ::new (static_cast<void *>(p)) U; }
    template <typename U, typename... Arguments> void construct(U *p, Arguments &&...arguments) {
        ::new (static_cast<void *>(p)) U(std::forward<Arguments>(arguments)...);
    }
    bool operator==(const HugePages &) const { return true; }
    bool operator!=(const HugePages &) const { return false; }

private:
    static bool is_large(std::size_t count) { return count > 2 * HUGE_PAGE / sizeof(T); }
};

template <typename T> using LargeVector = std::vector<T, HugePages<T>>;

// The same, for arrays of which many are kept for a while: each has pages of its own, which the system gets back as
// soon as it is freed. The usual allocator keeps them, and cannot use all of them again.
template <typename T> struct OwnPages : HugePages<T> {
    using value_type = T;
    OwnPages() = default;
    template <typename U> OwnPages(const OwnPages<U> &) {}
    template <typename U> struct rebind {
        using other = OwnPages<U>;
    };

#if defined(__linux__)
    T *allocate(std::size_t count) {
        if (!is_mapped(count)) return HugePages<T>::allocate(count);
        if (count > SIZE_MAX / sizeof(T)) throw std::bad_alloc();
        void *p = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) throw std::bad_alloc();
        return static_cast<T *>(p);
    }
    void deallocate(T *p, std::size_t count) {
        if (is_mapped(count)) munmap(p, count * sizeof(T));
        else HugePages<T>::deallocate(p, count);
    }

private:
    static bool is_mapped(std::size_t count) { return count > 16 * SMALL_PAGE / sizeof(T); }
#endif
};

template <typename T> using KeptVector = std::vector<T, OwnPages<T>>;

}  // namespace hopscale
