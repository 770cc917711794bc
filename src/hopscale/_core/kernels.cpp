// Compiled once per instruction set (HOPSCALE_ISA); see CMakeLists.txt.
// Nothing here may call a library template that is not inlined: the linker would keep one copy of
// it, perhaps the one with instructions that the processor at hand does not have.
#include "kernels.hpp"
#include "matrix.hpp"
#include "skipgram.hpp"

#define HOPSCALE_JOIN_(a, b) a##b
#define HOPSCALE_JOIN(a, b) HOPSCALE_JOIN_(a, b)
#define HOPSCALE_TEXT_(a) #a
#define HOPSCALE_TEXT(a) HOPSCALE_TEXT_(a)

namespace hopscale {

const Kernels HOPSCALE_JOIN(kernels_, HOPSCALE_ISA) = {
    HOPSCALE_TEXT(HOPSCALE_ISA), propagate, compress, panels_times,
    panel_transposed_times,      csr_times, train,    accumulate,
};

}  // namespace hopscale
