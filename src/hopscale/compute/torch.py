"""The engine of a device of PyTorch, a GPU above all: tall arrays are tensors in its memory.

No sum is added up by atomic operations: a matrix and its transpose are held by rows, each row is summed in one order,
and products of dense matrices are those of one stream. Results have the same bits from run to run on the same device.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from types import ModuleType, TracebackType
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor
from tqdm import tqdm

from hopscale.checks import in_words
from hopscale.compute import skipgram_plain, torch_plain
from hopscale.compute.engine import NormalNumbers
from hopscale.compute.operators import Operator
from hopscale.compute.threads import single_threaded_blas
from hopscale.compute.torch_plain import Csr
from hopscale.exceptions import DeviceError, Setting

__all__ = ["Csr", "DenseRows", "Torch"]

Task = TypeVar("Task")
Result = TypeVar("Result")

GRAM_ROWS = 2**18  # rows of a tall array that are held in double precision at once
STAGED = 2**26  # bytes from which a copy to the machine's memory is worth buffers of its own
EVEN = 64  # columns: kernels read rows of such a length without looking where they end
KEPT_FREE = 0.92  # share of the device's free memory that work may take: the rest is the allocator's and cuBLAS's
HOST_MEMORY = 4 * 2**30  # bytes, where the device is the processor
PRECISE: dict[Any, torch.dtype] = {np.float32: torch.float32, np.float64: torch.float64}


class Torch:
    """An :class:`~hopscale.compute.Engine` on a device of PyTorch.

    ``kernels`` are the products that PyTorch has not, ``skipgram`` what training takes: Triton's on a GPU, plain
    PyTorch elsewhere. ``halves`` says whether products know half precision.
    """

    def __init__(self, device: torch.device, *, verbose: bool = False) -> None:
        self.device = device
        if device.type == "cuda" and device.index is None:
            self.device = torch.device("cuda", torch.cuda.current_device())
        self.stop: NDArray[np.uint8] = np.zeros(1, dtype=np.uint8)
        self.memory: int | None = None  # bytes that work may take; None for what is free
        self.on_gpu = device.type == "cuda"
        self.kernels: ModuleType = torch_plain
        self.skipgram: ModuleType = skipgram_plain
        self.halves = False
        self._verbose = verbose
        if self.on_gpu:
            try:
                from hopscale.compute import skipgram_triton, torch_triton
            except ImportError:  # PyTorch for Windows comes without Triton
                return
            self.kernels, self.skipgram, self.halves = torch_triton, skipgram_triton, True

    def __enter__(self) -> Torch:
        self.stop[0] = 0
        with ExitStack() as settings:  # undone at the end, and here if one of them fails
            single_threaded_blas.enter()
            settings.callback(single_threaded_blas.leave)
            settings.enter_context(torch.inference_mode())
            settings.enter_context(_full_precision())
            if self.on_gpu:
                settings.enter_context(torch.cuda.device(self.device))
            self._settings = settings.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._settings.__exit__(kind, error, trace)
        if isinstance(error, torch.cuda.OutOfMemoryError):
            raise DeviceError(
                f"the device ran out of memory ({str(error).partition('. ')[0]}): free memory that others hold, "
                "ask for fewer dimensions, or leave ",
                Setting("device"),
                " out to compute on the processor",
            ) from error

    @property
    def room(self) -> int:
        """Bytes of the device that work may take now."""
        if self.memory is not None:
            return self.memory
        if not self.on_gpu:
            return HOST_MEMORY
        free, _ = torch.cuda.mem_get_info(self.device)
        return int(
            KEPT_FREE * (free + torch.cuda.memory_reserved(self.device) - torch.cuda.memory_allocated(self.device))
        )

    def check_room(self, what: str, needed: float, instead: str) -> None:
        """Refuse work that takes more memory than the device has."""
        if needed > self.room:
            raise DeviceError(
                f"{what} needs about {in_words(needed)} on the device, which has {in_words(self.room)} left: free "
                f"memory that other programs hold, {instead}, or leave ",
                Setting("device"),
                " out to compute on the processor",
            )

    def at_once(self, each: float) -> int:
        """Pieces that may be held at once: work is queued on the device one piece after the other."""
        return 1

    def map(
        self, function: Callable[[Task], Result], tasks: Iterable[Task], *, at_once: int | None = None
    ) -> Iterator[Result]:
        """Results of ``function`` over ``tasks``, one after the other."""
        return map(function, tasks)

    def taking_turns(self, works: Sequence[Generator[None, None, Result]]) -> list[Result]:
        """What generators return, a step of each in turn: on a GPU each has a stream of its own.

        On the CPU, PyTorch is limited to one thread: the steps are too small for more.
        """
        threads = torch.get_num_threads()
        if not self.on_gpu:
            torch.set_num_threads(1)
        streams: list[Any] = [torch.cuda.Stream(self.device) for _ in works] if self.on_gpu else []  # type: ignore[no-untyped-call]
        found: dict[int, Result] = {}
        try:
            for stream in streams:
                stream.wait_stream(torch.cuda.current_stream(self.device))
            while len(found) < len(works):
                for k, work in enumerate(works):
                    if k not in found:
                        with torch.cuda.stream(streams[k]) if streams else nullcontext():
                            try:
                                next(work)
                            except StopIteration as end:
                                found[k] = end.value
        finally:
            torch.set_num_threads(threads)
            if streams:  # memory that one stream still reads must not be given to others, also after an error
                torch.cuda.synchronize(self.device)
        return [found[k] for k in range(len(works))]

    # Tall arrays.

    def normal(self, rows: int, columns: int, random: NormalNumbers) -> Tensor:
        """Standard normal numbers: the same as on the processor."""
        return self.tensor(random.standard_normal((rows, columns), dtype=np.float32))

    def matmul(self, x: Tensor, small: NDArray[Any]) -> Tensor:
        """x·small."""
        right = self.tensor(small)
        precise = torch.promote_types(x.dtype, right.dtype)
        return x.to(precise) @ right.to(precise)

    def gram(self, x: Tensor, y: Tensor, dtype: type = np.float64) -> NDArray[Any]:
        """xᵀ·y in the precision asked for, some rows at a time, added up in order."""
        return self.gram_later(x, y, dtype)()

    def gram_later(self, x: Tensor, y: Tensor, dtype: type = np.float64) -> Callable[[], NDArray[Any]]:
        """The same, once it is asked for: the device computes it meanwhile."""
        precise = PRECISE[dtype]
        total: Tensor | None = None
        for begin in range(0, max(1, len(x)), GRAM_ROWS):
            left = x[begin : begin + GRAM_ROWS].to(precise)
            part = left.T @ (left if y is x else y[begin : begin + GRAM_ROWS].to(precise))
            total = part if total is None else total.add_(part)
        assert total is not None
        if not self.on_gpu:
            return total.numpy
        here = torch.empty(total.shape, dtype=precise, pin_memory=True)
        here.copy_(total, non_blocking=True)
        copied = torch.cuda.current_stream(self.device).record_event()

        def result() -> NDArray[Any]:
            copied.synchronize()
            return here.numpy()

        return result

    def peaks(self, x: Tensor) -> NDArray[Any]:
        """The entry of the largest absolute value in each column; the first of several."""
        return self.host(x.gather(0, x.abs().argmax(dim=0, keepdim=True))[0])

    def scale(self, x: Tensor, factors: NDArray[Any]) -> Tensor:
        """Each column of x times a number, in place."""
        x *= self.tensor(factors.astype(np.float32))
        return x

    def widen(self, x: Tensor, columns: int) -> Tensor:
        """x with columns of zeros up to that many."""
        return x if x.shape[1] == columns else torch.nn.functional.pad(x, (0, columns - x.shape[1]))

    def concatenate(self, parts: Sequence[Tensor]) -> Tensor:
        """Arrays one below the other."""
        return torch.cat(list(parts))

    def empty(self, rows: int, columns: int) -> Tensor:
        """A tensor of any content."""
        return torch.empty((rows, columns), device=self.device)

    def put(self, x: Tensor, columns: slice, part: Tensor) -> None:
        """Set some columns of x."""
        x[:, columns] = part

    def double(self, x: Tensor) -> Tensor:
        """A copy in double precision."""
        return x.double()

    def tall(self, x: NDArray[Any]) -> Tensor:
        """A copy of NumPy's array on the device."""
        return self.tensor(x)

    def host(self, x: Tensor) -> NDArray[Any]:
        """A copy of the tensor as NumPy's array."""
        if not self.on_gpu:
            return x.clone().numpy()
        if x.numel() * x.element_size() < STAGED or not x.is_contiguous():
            found: NDArray[Any] = np.empty(tuple(x.shape), dtype=str(x.dtype).removeprefix("torch."))
            torch.from_numpy(found).copy_(x)  # NumPy asks for huge pages: most of a copy is the first touch of new ones
            return found
        return _staged(x).numpy()

    def tensor(self, x: NDArray[Any]) -> Tensor:
        """Any array of NumPy, copied to the device."""
        x = np.ascontiguousarray(x)
        if x.flags.writeable:
            here = torch.from_numpy(x)
        else:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "The given NumPy array is not writable")  # nobody writes to it
                here = torch.from_numpy(x)
        return here.to(self.device) if self.on_gpu else here.clone()

    def sparse(self, matrix: sp.csr_array) -> Operator:
        """Products with a sparse matrix, held by rows and by columns."""
        return self.operator(self.csr(matrix))

    def operator(self, matrix: Csr) -> Operator:
        """Products with a sparse matrix that is on the device already."""
        return _Sparse(matrix, self)

    def csr(self, matrix: sp.csr_array, scale: NDArray[Any] | None = None, *, weighted: bool = True) -> Csr:
        """A sparse matrix by rows, each times a number of ``scale``; all its entries count 1 if not ``weighted``."""
        return Csr(
            self.tensor(matrix.indptr.astype(np.int64)),
            self.tensor(matrix.indices.astype(np.int32, copy=False)),
            self.tensor(matrix.data.astype(np.float32, copy=False)) if weighted else None,
            None if scale is None else self.tensor(scale.astype(np.float32)),
            int(matrix.shape[1]),
        )

    # Telling the user.

    def bar(self, total: int, description: str, unit: str) -> tqdm[None]:
        """Progress bar on the error stream; silent unless asked for and on a terminal."""
        return tqdm(total=total, desc=description, unit=unit, leave=False, disable=None if self._verbose else True)

    def say(self, message: str) -> None:
        """A line on the error stream, if asked for."""
        if self._verbose:
            tqdm.write(message, file=sys.stderr)


@contextmanager
def _full_precision() -> Iterator[None]:
    """Products of single precision in single precision; what the caller has chosen holds again afterwards."""
    # From PyTorch 2.9 on there is a setting for each library; the older one is an error for those who use the new ones.
    libraries: list[Any] = [getattr(each, "matmul", None) for each in (torch.backends.cuda, torch.backends.mkldnn)]
    if all(hasattr(library, "fp32_precision") for library in libraries):
        before = [library.fp32_precision for library in libraries]
        try:
            for library in libraries:
                library.fp32_precision = "ieee"
            yield
        finally:
            for library, precision in zip(libraries, before, strict=True):
                library.fp32_precision = precision
        return
    chosen = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(chosen)


def _staged(x: Tensor) -> Tensor:
    """A copy in the machine's memory, by way of two buffers that the device can write to on its own."""
    found = torch.empty(x.shape, dtype=x.dtype)
    rows = max(1, STAGED * len(x) // (4 * x.numel() * x.element_size()))
    buffers = [torch.empty((rows, *x.shape[1:]), dtype=x.dtype, pin_memory=True) for _ in range(2)]
    copied: list[Any] = [torch.cuda.Event() for _ in range(2)]  # type: ignore[no-untyped-call]
    begins = range(0, len(x), rows)
    for k in range(len(begins) + 1):
        if k < len(begins):
            part = x[begins[k] : begins[k] + rows]
            buffers[k % 2][: len(part)].copy_(part, non_blocking=True)
            copied[k % 2].record()
        if k:
            copied[(k - 1) % 2].synchronize()
            out = found[begins[k - 1] : begins[k - 1] + rows]
            out.copy_(buffers[(k - 1) % 2][: len(out)])  # by several threads, which the first use of memory needs
    return found


class _Sparse(Operator):
    """A sparse matrix and its transpose, each multiplied by rows."""

    def __init__(self, rows: Csr, engine: Torch) -> None:
        self.shape = (rows.height, rows.width)
        self._rows, self._columns, self._engine = rows, rows.transposed(), engine

    def _times(self, x: Tensor) -> Tensor:
        return self._product(self._rows, x)

    def _transposed_times(self, y: Tensor) -> Tensor:
        return self._product(self._columns, y)

    def _product(self, matrix: Csr, x: Tensor) -> Tensor:
        out = torch.empty((matrix.height, x.shape[1]), dtype=torch.float32, device=self._engine.device)
        self._engine.kernels.product(matrix, x.to(torch.float32).contiguous(), out)
        return out


class DenseRows(Operator):
    """The first ``width`` columns of a dense matrix on the device, of single or half precision; others are zeros.

    Products take in as many of these as make an even number of columns, where the matrix has them.
    """

    def __init__(self, matrix: Tensor, engine: Torch, width: int) -> None:
        self.shape = (int(matrix.shape[0]), width)
        self._matrix, self._engine = matrix[:, : -(-width // EVEN) * EVEN], engine

    def _times(self, x: Tensor) -> Tensor:
        more = self._matrix.shape[1] - len(x)
        return self._product(self._matrix, torch.nn.functional.pad(x, (0, 0, 0, more)) if more else x)

    def _transposed_times(self, y: Tensor) -> Tensor:
        return self._product(self._matrix.T, y)[: self.shape[1]]

    def _product(self, matrix: Tensor, x: Tensor) -> Tensor:
        if matrix.dtype == torch.float32:
            return matrix @ x
        return self._engine.kernels.half_product(matrix, x)  # type: ignore[no-any-return]
