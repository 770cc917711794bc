"""The engine of one machine: threads over fixed pieces of work, NumPy's arrays, and the compiled kernels.

Kernels release the interpreter's lock, so plain threads suffice. What a piece computes never depends on the number of
threads, and sums are added up in the order of the pieces: the result has the same bits for any number of threads.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from hopscale._core import _native
from hopscale.compute.aligned import Floats, aligned, aligned_empty, aligned_zeros, padded
from hopscale.compute.chunks import TALL_CHUNK, gram_bytes, ranges
from hopscale.compute.engine import NormalNumbers
from hopscale.compute.operators import Operator
from hopscale.compute.progress import Progress
from hopscale.exceptions import ParameterError, in_short

__all__ = [
    "TALL_CHUNK",
    "Threads",
    "checked_jobs",
    "checkpoint",
    "effective_jobs",
    "gram_bytes",
    "instruction_set",
    "kernel_csr",
    "ranges",
    "single_threaded_blas",
    "sparse_times",
]

Task = TypeVar("Task")
Result = TypeVar("Result")

ROW_CHUNK = 512  # rows of a sparse matrix that one thread multiplies: their part of the product stays in its cache
_IDLE = 0.5  # seconds between two calls of what is to be done while waiting

_NO_TASK: Any = object()
_working = threading.local()  # on a thread of an engine, `stop` is that engine's


def checked_jobs(name: str, n_jobs: Any) -> int | None:
    """A number of threads, or None."""
    if n_jobs is None:
        return None
    if not isinstance(n_jobs, (int, np.integer)) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ParameterError(f"must be a whole number other than 0, or None, not {in_short(n_jobs)}", parameter=name)
    return int(n_jobs)


def effective_jobs(n_jobs: int | None) -> int:
    """Number of threads that ``n_jobs`` asks for; negative counts back from the number of cores.

    >>> effective_jobs(3)
    3
    """
    n_jobs = checked_jobs("n_jobs", n_jobs)
    if n_jobs is None or n_jobs > 0:
        return n_jobs or 1
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, cores + 1 + n_jobs)


def checkpoint() -> None:
    """End this piece of work if its engine was stopped. Loops in Python call it every tenth of a second or so.

    It does nothing on threads that belong to no engine: the main thread is interrupted by signals themselves.
    """
    stop = getattr(_working, "stop", None)
    if stop is not None and stop[0]:
        raise CancelledError


class _SingleThreadedBlas:
    """The limit on BLAS threads of the process: set by the first engine that starts, lifted by the last that ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._controller: ThreadpoolController | None = None  # looking for libraries takes longer than a small fit
        self._limits: Any = None

    def enter(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._controller = self._controller or ThreadpoolController()
                self._take_control()
                self._limits = self._controller.limit(limits=1, user_api="blas")
                self._take_control()  # and leave it to whoever wants it next

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._lift()

    def forget(self) -> None:
        """Be as new in a forked process: the fits that were running, and the lock's holder, are not there."""
        self._lock, self._users = threading.Lock(), 0
        self._lift()

    def _lift(self) -> None:
        if self._limits is not None:
            self._take_control()
            self._limits.restore_original_limits()
            self._take_control()
            self._limits = None

    def _take_control(self) -> None:
        """Let this thread set limits: threadpoolctl ignores those of all threads but the first that has set one."""
        for library in self._controller.lib_controllers if self._controller else ():
            if hasattr(library, "clear_controlling_thread"):  # from threadpoolctl 3.7 on
                library.clear_controlling_thread(force=True)


single_threaded_blas = _SingleThreadedBlas()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=single_threaded_blas.forget)


class Threads:
    """A pool of threads that stops within a moment of being interrupted: an :class:`~hopscale.compute.Engine`.

    Inside the context BLAS runs single-threaded: its bits, too, must not depend on a number of threads.
    """

    def __init__(self, n_jobs: int | None = None, *, verbose: bool = False) -> None:
        self.n_jobs = effective_jobs(n_jobs)
        self.stop: NDArray[np.uint8] = np.zeros(1, dtype=np.uint8)  # kernels look at it as they go
        self.memory: int | None = None  # a limit, of which what all threads hold at once is to take little
        self._progress = Progress(verbose=verbose)

    def __enter__(self) -> Threads:
        single_threaded_blas.enter()
        outer = getattr(_working, "stop", None)  # of the engine that this thread works for: what ends that ends this
        if outer is None:
            self.stop[0] = 0
        else:
            self.stop = outer
        report = np.geterr()

        def begin() -> None:
            np.seterr(**report)  # threads start with NumPy's default for overflows; they report them as the caller does
            _working.stop = self.stop

        self._pool = ThreadPoolExecutor(self.n_jobs, thread_name_prefix="hopscale", initializer=begin)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.stop[0] = 1
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._progress.close()
        single_threaded_blas.leave()

    def at_once(self, each: float) -> int:
        """Pieces of so many bytes that may be held at once: as many as threads, or as an eighth of the memory holds."""
        return self.n_jobs if self.memory is None else max(1, min(self.n_jobs, int(self.memory / 8 / max(each, 1))))

    # Running work.

    def map(
        self,
        function: Callable[[Task], Result],
        tasks: Iterable[Task],
        *,
        at_once: int | None = None,
        kept: bool = False,
        idle: Callable[[], object] | None = None,
    ) -> Iterator[Result]:
        """Results of ``function`` over ``tasks``, in order, of which at most ``at_once`` run at a time.

        As many are made before the caller asks for them; or all, if the caller keeps them in any case and every thread
        may run: then none waits for a slow one. While the caller waits for a result, ``idle`` is called now and then.
        """
        limit: float = min(self.n_jobs, at_once or self.n_jobs)
        if kept and limit == self.n_jobs:
            limit = np.inf
        waiting: deque[Future[Result]] = deque()

        def first() -> Result:
            future = waiting.popleft()
            while idle is not None and not wait([future], timeout=_IDLE).done:
                idle()
            return future.result()

        for task in tasks:
            if len(waiting) >= limit:
                yield first()
            waiting.append(self._pool.submit(function, task))
        while waiting:
            yield first()

    def run(self, function: Callable[[Task], object], tasks: Sequence[Task]) -> None:
        """Call ``function`` on every task; the results are dropped."""
        self.start(function, tasks)()

    def start(self, function: Callable[[Task], object], tasks: Sequence[Task]) -> Callable[[], None]:
        """Begin to call ``function`` on every task; what is returned waits until all are done.

        Each thread takes the next task when it is done with one: submitting a task costs as much as a small one takes.
        """
        left, taking = iter(tasks), threading.Lock()

        def several() -> None:
            while not self.stop[0]:
                with taking:
                    task = next(left, _NO_TASK)
                if task is _NO_TASK:
                    return
                function(task)

        futures = [self._pool.submit(several) for _ in range(min(len(tasks), self.n_jobs))]

        def wait_for_all() -> None:
            try:
                for future in futures:
                    future.result()
            except CancelledError:
                for future in futures:  # a task that has failed has stopped the others: its error is the one to tell
                    if not future.cancelled() and not isinstance(future.exception(), CancelledError):
                        future.result()
                raise

        return wait_for_all

    def together(self, function: Callable[[Task], Result], tasks: Sequence[Task], *, at_once: int) -> Sequence[Result]:
        """Results of a function that runs work of its own on this engine, in order; so many calls at a time.

        While one of them waits for the last pieces of its work, threads go on with the pieces of another.
        """
        if at_once == 1:
            return [function(task) for task in tasks]
        with ThreadPoolExecutor(at_once, thread_name_prefix="hopscale-together") as callers:
            try:
                return list(callers.map(function, tasks))
            except BaseException:
                self.stop[0] = 1  # the others end as well
                callers.shutdown(wait=False, cancel_futures=True)
                raise

    # Tall arrays.

    def normal(self, rows: int, columns: int, random: NormalNumbers) -> Floats:
        """An array of standard normal numbers."""
        out = aligned_empty(rows, columns)[:, :columns]
        for begin, end in ranges(rows, TALL_CHUNK):  # one call for all could not be interrupted
            out[begin:end] = random.standard_normal((end - begin, columns), dtype=np.float32)
        return out

    def matmul(self, x: NDArray[Any], small: NDArray[Any]) -> NDArray[Any]:
        """x·small, some rows at a time."""
        dtype = np.result_type(x, small)
        single = dtype == np.float32 and small.shape[1] == padded(small.shape[1])
        out = aligned_empty(len(x), small.shape[1]) if single else np.empty((len(x), small.shape[1]), dtype)

        def one(piece: tuple[int, int]) -> None:
            begin, end = piece
            with np.errstate(over="ignore", invalid="ignore"):  # the caller checks the result
                np.matmul(x[begin:end], small, out=out[begin:end])

        self.run(one, ranges(len(x), TALL_CHUNK))
        return out

    def gram(self, x: NDArray[Any], y: NDArray[Any], dtype: type = np.float64) -> NDArray[Any]:
        """xᵀ·y in the precision asked for, some rows at a time, added up in order."""
        out: NDArray[Any] = np.zeros((x.shape[1], y.shape[1]), dtype=dtype)

        def one(piece: tuple[int, int]) -> NDArray[Any]:
            left: NDArray[Any] = x[slice(*piece)].astype(dtype, copy=False)
            right = left if y is x else y[slice(*piece)].astype(dtype, copy=False)
            part: NDArray[Any] = np.empty(out.shape, dtype)
            for begin, end in ranges(x.shape[1], TALL_CHUNK):  # one product of very wide arrays would take seconds
                if self.stop[0]:
                    break
                with np.errstate(over="ignore", invalid="ignore"):
                    np.matmul(left[:, begin:end].T, right, out=part[begin:end])
            return part

        for part in self.map(one, ranges(len(x), TALL_CHUNK), at_once=self.at_once(gram_bytes(len(x), x.shape[1]))):
            out += part
        return out

    def gram_later(self, x: NDArray[Any], y: NDArray[Any], dtype: type = np.float64) -> Callable[[], NDArray[Any]]:
        """The same, computed already."""
        found = self.gram(x, y, dtype)
        return lambda: found

    def peaks(self, x: Floats) -> Floats:
        """The entry of the largest absolute value in each column; the first of several."""
        found, each = np.zeros(x.shape[1], dtype=x.dtype), np.arange(x.shape[1])
        for begin, end in ranges(len(x), TALL_CHUNK):  # absolute values of all would be a second array
            part = x[begin:end]
            peaks = part[np.argmax(np.abs(part), axis=0), each]
            np.copyto(found, peaks, where=np.abs(peaks) > np.abs(found))
        return found

    def scale(self, x: Floats, factors: NDArray[Any]) -> Floats:
        """Each column of x times a number, in place."""
        x *= factors.astype(np.float32)
        return x

    def widen(self, x: Floats, columns: int) -> Floats:
        """x with columns of zeros up to that many."""
        return x if x.shape[1] == columns else np.pad(x, ((0, 0), (0, columns - x.shape[1])))

    def concatenate(self, parts: Sequence[Floats]) -> Floats:
        """Arrays one below the other."""
        return np.concatenate(parts)

    def empty(self, rows: int, columns: int) -> Floats:
        """An array of any content."""
        return np.empty((rows, columns), dtype=np.float32)

    def put(self, x: Floats, columns: slice, part: Floats) -> None:
        """Set some columns of x."""
        x[:, columns] = part

    def double(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """A copy in double precision."""
        return x.astype(np.float64)

    def tall(self, x: NDArray[Any]) -> NDArray[Any]:
        """The array itself."""
        return x

    def host(self, x: NDArray[Any]) -> NDArray[Any]:
        """The array itself."""
        return x

    def sparse(self, matrix: sp.csr_array) -> Operator:
        """Products with a sparse matrix, held by rows and by columns."""
        return _Sparse(matrix, sp.csr_array(matrix.T), self)

    # Telling the user.

    def bar(self, total: int, description: str, unit: str) -> Any:
        """Progress bar on the error stream; silent unless asked for and on a terminal.

        Where the costs of all stages are known, one bar goes through all of them and tells the time that all take.
        """
        return self._progress.bar(total, description, unit)

    def expect(self, costs: Sequence[float]) -> None:
        """What the stages to come cost, each with a bar of its own, in any unit."""
        self._progress.expect(costs)

    def say(self, message: str) -> None:
        """A line on the error stream, if asked for; bars make room for it."""
        self._progress.say(message)


class _Sparse(Operator):
    """A sparse matrix and its transpose, each multiplied by rows."""

    def __init__(self, rows: sp.csr_array, columns: sp.csr_array, engine: Threads) -> None:
        self.shape = (int(rows.shape[0]), int(rows.shape[1]))
        self._rows, self._columns, self._engine = kernel_csr(rows), kernel_csr(columns), engine

    def _times(self, x: Floats) -> Floats:
        return self._product(self._rows, self.shape[0], x)

    def _transposed_times(self, y: Floats) -> Floats:
        return self._product(self._columns, self.shape[1], y)

    def _product(self, matrix: _native.Csr, rows: int, x: Floats) -> Floats:
        right, out = aligned(x), aligned_zeros(rows, x.shape[1])
        self._engine.run(lambda piece: _native.csr_times(matrix, right, out, *piece), ranges(rows, ROW_CHUNK))
        return out[:, : x.shape[1]]


def instruction_set() -> str:
    """The instructions that kernels use on this processor."""
    return _native.instruction_set()


def sparse_times(matrix: sp.csr_array, x: Floats) -> Floats:
    """matrix·x on this thread alone; the product has padded rows, as x may have."""
    right, out = aligned(x), aligned_zeros(matrix.shape[0], x.shape[1])
    _native.csr_times(kernel_csr(matrix), right, out, 0, matrix.shape[0])
    return out


def kernel_csr(matrix: sp.csr_array | sp.csc_array) -> _native.Csr:
    """A compressed matrix as the kernels take it; one by columns is its transpose by rows."""
    offsets, columns = matrix.indptr.astype(np.int64, copy=False), matrix.indices.astype(np.int32, copy=False)
    width = matrix.shape[1 if matrix.format == "csr" else 0]
    return _native.Csr(offsets, columns, matrix.data.astype(np.float32, copy=False), width)
