"""Work in blocks on a Dask cluster: tasks travel as a few numbers and strings, everything else lies in shared files."""

from __future__ import annotations

import logging
import os
import queue
import secrets
import socket
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import hopscale
from hopscale.compute.blocks import Checkpoints, Task, finished, in_order, marker_path, run_block, stage_bar
from hopscale.exceptions import ClusterError, HopscaleError, MissingPackageError, ParameterError, in_short

__all__ = ["DaskRunner"]

_DEATHS = 3  # workers that may end while they run one block
_POLL = 0.5  # seconds between looks at the scheduler while no block finishes
_ANSWER = 10.0  # seconds in which a scheduler answers
_SEEN = 5.0  # seconds after which a new file is seen on shared storage
# What keeps blocks from being run, and what to do about it.
_NO_ANSWER = "the Dask scheduler has not answered for {seconds}: look at its log, start it again if need be"
_NO_WORKERS = "the Dask scheduler has had no workers for {seconds}: start some by 'dask worker ADDRESS'"
_PAUSED = (
    "all workers have been paused for {seconds}, because they have used most of their memory: start them with more "
    "(dask worker --memory-limit; Python and the libraries alone take about 250 MiB), or with fewer threads"
)
_log = logging.getLogger("hopscale")


class DaskRunner:
    """Runs tasks on the workers of a Dask cluster: a :class:`~hopscale.compute.blocks.BlockRunner`.

    A block whose worker ends is run again on another one, and given up when three workers have ended with it. No call
    waits for ever: a scheduler that does not answer, or has no workers but those that are paused for want of memory, is
    an error after ``patience`` seconds.

    Parameters
    ----------
    cluster : distributed.Client or str
        A client, which stays open, or the address of a scheduler, such as ``"tcp://10.0.0.1:8786"``.
    verbose : bool, default=False
        Show a progress bar on a terminal that counts the blocks of all workers.
    patience : float, default=60
        Seconds to wait for a first worker, for a scheduler that was there before, and for workers that are paused.

    Examples
    --------
    >>> DaskRunner(8786)
    Traceback (most recent call last):
    hopscale.exceptions.ClusterError: a cluster is a distributed.Client or the address of a scheduler, not 8786
    """

    def __init__(self, cluster: Any, *, verbose: bool = False, patience: float = 60.0) -> None:
        try:
            from distributed import Client
        except ImportError as error:
            raise MissingPackageError('a cluster needs Dask: pip install "hopscale[dask]"') from error
        self._verbose, self._patience = verbose, patience
        self._owned = not isinstance(cluster, Client)
        self._client: Any = _connected(cluster) if self._owned else cluster
        if self._client.status != "running":
            raise ClusterError(f"the Dask client is {self._client.status}, not connected to a scheduler")

    def __enter__(self) -> DaskRunner:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection, if this has made it; the cluster stays."""
        if self._owned:
            with suppress(Exception):
                self._client.close(timeout=_ANSWER)

    @property
    def n_workers(self) -> int:
        """Threads of all workers."""
        return max(1, sum(self._threads().values()))

    def check_folder(self, folder: str | os.PathLike[str]) -> None:
        """Refuse a work folder that some worker does not see, and workers with another version of hopscale."""
        self._wait_for_worker()
        token = secrets.token_hex(8)
        path = Path(os.path.abspath(folder), f"probe-{token}")
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            path.write_text(token)  # read until it is whole
            with self._answers("its workers"):
                found = self._client.sync(
                    self._client._run, _probe, str(path), token, on_error="return", callback_timeout=self._patience
                )
        finally:
            path.unlink(missing_ok=True)
        for worker, answer in found.items():
            if isinstance(answer, OSError):
                continue  # it has ended meanwhile; the one that takes its place is checked with its first block
            if isinstance(answer, BaseException):
                raise ClusterError(
                    f"the worker {worker} cannot run hopscale: {type(answer).__name__}: {answer}. Install hopscale "
                    f"{hopscale.__version__} where the workers run"
                )
            _check_worker(
                worker, answer["host"], (answer["version"], hopscale.__version__), answer["seen"], path.parent
            )

    def run(
        self,
        stage: str,
        function: Callable[..., Any],
        tasks: Sequence[Task],
        checkpoints: Checkpoints,
        *,
        marked: bool = True,
        after: Sequence[int | None] | None = None,
    ) -> list[Any]:
        """Results of ``function(*task)`` for each task, in order; tasks that have a marker are not run again."""
        name = _name_of(function)
        results, left = finished(stage, tasks, checkpoints, marked=marked)
        _deaths_path(checkpoints.folder, stage, 0).parent.mkdir(parents=True, exist_ok=True)
        for index in left:
            _deaths_path(checkpoints.folder, stage, index).unlink(missing_ok=True)
        done: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        waiting: dict[int, Any] = {}
        ready, followers = in_order(left, after)

        def begun() -> Iterator[Path]:
            return (_deaths_path(checkpoints.folder, stage, index) for index in waiting)

        def submit(index: int) -> None:
            place = (str(checkpoints.folder), stage, index, len(tasks))
            block = (*place, name, tasks[index], hopscale.__version__, marked)
            key = f"{marker_path(Path(), stage, index).parent.name}-{index:06d}-{secrets.token_hex(8)}"
            waiting[index] = self._client.submit(_block_on_worker, *block, key=key, pure=False)
            waiting[index].add_done_callback(lambda future: done.put((index, future)))

        with stage_bar(stage, len(tasks), len(left), self._verbose) as bar, self._cancelling(waiting):
            with self._answers("it"):
                for index in ready:
                    submit(index)
            while waiting:
                index, future = self._next(done, stage, begun)
                if str(future.status) == "finished":
                    answer = self._result(future)
                    results[index] = answer["result"]
                    _log.info("%s: block %d of %d done on %s", stage, index + 1, len(tasks), answer["worker"])
                    del waiting[index]
                    bar.update()
                    for follower in followers.pop(index, ()):
                        submit(follower)
                else:
                    self._check_failure(future, stage, index, len(tasks), checkpoints)
                    submit(index)
        return results

    def _next(
        self, done: queue.SimpleQueue[tuple[int, Any]], stage: str, begun: Callable[[], Iterable[Path]]
    ) -> tuple[int, Any]:
        """The next future that has ended; meanwhile a look at the scheduler and its workers now and then.

        A worker that has used most of its memory is paused: it ends what it has begun, and begins nothing else until
        memory is free again, which may be never.
        """
        last_seen = time.monotonic()
        while True:
            with suppress(queue.Empty):
                return done.get(timeout=_POLL)
            if self._client.status in ("closed", "closing"):
                raise _lost(stage)
            try:
                threads = self._threads() if self._client.status == "running" else {}
                active = bool(threads) and (bool(self._running()) or _any_runs(begun(), threads))
                what = _PAUSED if threads else _NO_WORKERS
            except ClusterError:
                active, what = False, _NO_ANSWER
            if active:
                last_seen = time.monotonic()
            elif time.monotonic() - last_seen > self._patience:
                raise ClusterError(
                    f"{stage}: {what.format(seconds=f'{self._patience:g} seconds')}, and run this again; it goes on "
                    "where it stopped"
                )

    def _check_failure(self, future: Any, stage: str, index: int, count: int, checkpoints: Checkpoints) -> None:
        """Raise what a block has raised, unless only its worker has ended, in which case it can be run again."""
        from distributed import KilledWorker

        if future.status in ("lost", "pending"):
            return  # its worker has ended after the block, and with it the result
        if future.status == "cancelled":
            raise _lost(stage)
        error = self._client.sync(future._exception, callback_timeout=_ANSWER)
        if isinstance(error, RuntimeError) and "task graph" in str(error):
            raise ClusterError(
                f"the Dask scheduler {self._address()} cannot read tasks of hopscale: install hopscale "
                f"{hopscale.__version__}, and the same version of Dask, where the scheduler runs"
            ) from error
        if isinstance(error, KilledWorker):
            _check_deaths(checkpoints.folder, stage, index, count)
            return
        _log.error("%s: block %d of %d: %s: %s", stage, index + 1, count, type(error).__name__, error)
        raise error

    def _result(self, future: Any) -> dict[str, Any]:
        with self._answers("it"):
            return dict(self._client.sync(future._result, callback_timeout=self._patience))

    def _threads(self) -> dict[str, int]:
        """Threads of each worker."""
        with self._answers("it"):
            return dict(self._client.sync(self._client.scheduler.ncores, callback_timeout=_ANSWER))

    def _running(self) -> dict[str, int]:
        """Threads of each worker that is not paused."""
        with self._answers("it"):
            return dict(self._client.sync(self._client.scheduler.ncores_running, callback_timeout=_ANSWER))

    def _wait_for_worker(self) -> None:
        end = time.monotonic() + self._patience
        while not self._threads():
            if time.monotonic() > end:
                raise ClusterError(
                    f"the Dask scheduler {self._address()} has no workers: start some by "
                    f"'dask worker {self._address()}'"
                )
            time.sleep(_POLL)

    def _address(self) -> str:
        scheduler = getattr(self._client, "scheduler", None)
        return str(getattr(scheduler, "address", "") or "ADDRESS")

    @contextmanager
    def _answers(self, who: str) -> Iterator[None]:
        """Errors of the connection as errors that a person can act on."""
        try:
            yield
        except HopscaleError:
            raise
        except (OSError, TimeoutError, RuntimeError, AttributeError) as error:  # of a client that was closed
            raise ClusterError(
                f"the Dask scheduler {self._address()} or {who} did not answer in time ({in_short(error)}): see "
                "whether it runs, and run this again; it goes on where it stopped"
            ) from error

    @contextmanager
    def _cancelling(self, waiting: dict[int, Any]) -> Iterator[None]:
        """Cancel what waits if the stage ends early; what runs on workers ends by itself and leaves its marker."""
        try:
            yield
        except BaseException:
            if self._client.status == "running":
                with suppress(Exception):
                    self._client.sync(
                        self._client._cancel, list(waiting.values()), force=True, callback_timeout=_ANSWER
                    )
            raise


def _connected(address: Any) -> Any:
    from distributed import Client
    from distributed.comm.addressing import parse_address, parse_host_port
    from distributed.comm.registry import backends

    if not isinstance(address, str):
        raise ClusterError(f"a cluster is a distributed.Client or the address of a scheduler, not {in_short(address)}")
    try:
        # A client with an address that cannot be one takes long to close.
        kind, place = parse_address(address)  # type: ignore[no-untyped-call]
        if kind not in backends:
            raise ValueError(f"there is no protocol {kind!r}")
        if kind in ("tcp", "tls"):
            parse_host_port(place)  # type: ignore[no-untyped-call]
        return Client(address, timeout=_ANSWER, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(
            f"there is no Dask scheduler at {address!r} ({error}): start one by 'dask scheduler', and give the address "
            "that it prints"
        ) from error


def _name_of(function: Callable[..., Any]) -> str:
    """Name by which workers find a function; the scheduler, which need not have its module, sees the name alone."""
    name = f"{function.__module__}:{function.__qualname__}"
    if not name.partition(":")[2].isidentifier() or _function_of(name) is not function:
        raise ParameterError(f"{name} is not at the top level of a module, where workers could find it")
    return name


def _function_of(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


def _probe(path: str, token: str) -> dict[str, Any]:
    """What a worker sees of a new file; storage that is shared may show it a little later."""
    end = time.monotonic() + _SEEN
    seen = False
    while not seen and time.monotonic() < end:
        with suppress(OSError):
            seen = Path(path).read_text() == token
        if not seen:
            time.sleep(0.1)
    return {"version": hopscale.__version__, "host": socket.gethostname(), "seen": seen}


def _check_worker(worker: str, host: str, versions: tuple[str, str], seen: bool, folder: Path) -> None:
    """Refuse a worker of another version than that of the client, and one that does not see the folder."""
    if versions[0] != versions[1]:
        raise ClusterError(
            f"the worker {worker} on {host} has hopscale {versions[0]}, and the client has {versions[1]}: install one "
            "version everywhere"
        )
    if not seen:
        raise ClusterError(
            f"the worker {worker} on {host} does not see the folder {str(folder)!r}: name a folder on storage that all "
            "machines share, under the same path"
        )


def _block_on_worker(
    folder: str, stage: str, index: int, count: int, name: str, task: Task, version: str, marked: bool
) -> dict[str, Any]:
    """Run one block on a worker; how often workers have ended with it is counted in a file."""
    from distributed import get_worker

    worker = str(get_worker().address)
    # Workers that have joined after the first check are checked here.
    _check_worker(worker, socket.gethostname(), (hopscale.__version__, version), Path(folder).is_dir(), Path(folder))
    _check_deaths(Path(folder), stage, index, count)
    begun = _deaths_path(Path(folder), stage, index)
    with begun.open("a") as file:  # no need to be whole: only lines are counted
        file.write(f"{worker}\n")
    try:
        result = run_block(folder, stage, index, count, _function_of(name), task, f" on {worker}", marked=marked)
    finally:
        begun.unlink(missing_ok=True)  # the block has ended by itself
    return {"result": result, "worker": worker}


def _deaths_path(folder: Path, stage: str, index: int) -> Path:
    marker = marker_path(folder, stage, index)
    return folder / "begun" / marker.parent.name / marker.stem


def _any_runs(begun: Iterable[Path], workers: Collection[str]) -> bool:
    """Whether one of some blocks runs on one of the workers, by the file that it has while it does."""
    for path in begun:
        with suppress(OSError, IndexError):
            if path.read_text().split()[-1] in workers:
                return True
    return False


def _check_deaths(folder: Path, stage: str, index: int, count: int) -> None:
    """Refuse a block with which too many workers have ended."""
    try:
        workers = _deaths_path(folder, stage, index).read_text().split()
    except OSError:
        return
    if len(workers) >= _DEATHS:
        raise ClusterError(
            f"{stage}: block {index + 1} of {count} was given up: {len(workers)} workers have ended while they ran it "
            f"({', '.join(workers)}). Most often a worker has too little memory: see the workers' logs, start them "
            "with more (dask worker --memory-limit) or with fewer threads, or lower memory_limit. If the graph's files "
            "are larger than that limit, let Dask not count their pages: set the environment variable "
            "DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE=False where workers start. Run this again to go "
            "on where it stopped"
        )


def _lost(stage: str) -> ClusterError:
    return ClusterError(
        f"{stage}: the connection to the Dask scheduler was lost, or it was restarted: see whether it runs, and run "
        "this again; it goes on where it stopped"
    )
