// Compiled once per instruction set, see CMakeLists.txt. Nothing here may call a library template that is not inlined:
// the linker would keep one copy of it, perhaps the one with instructions that the processor at hand does not have.
#include "kernels.hpp"
#include "hop.hpp"
#include "matrix.hpp"
#include "skipgram.hpp"

namespace hopscale {

const Kernels HOPSCALE_TABLE = {
    HOPSCALE_ISA,           propagate, one_hop,    no_hop, fill,    compress, panels_times, above_one, logs,
    panel_transposed_times, csr_times, rows_times, train,  average,
};

}  // namespace hopscale
