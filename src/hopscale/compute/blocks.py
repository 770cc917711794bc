"""Work in blocks: stages of small tasks that read and write files, and can be repeated at any time.

A stage is a list of tasks, each a call of one function with a few numbers and short strings. The function reads files
of a work folder, writes its output there, and returns a small value that JSON holds. Called again, it writes the same
bytes. A finished task leaves a marker in the work folder, so that work which was interrupted goes on where it stopped.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

from tqdm import tqdm

from hopscale.atomic import replacing
from hopscale.compute.threads import Threads, checked_jobs
from hopscale.exceptions import OutputError, ParameterError

__all__ = [
    "BlockRunner",
    "Checkpoints",
    "Task",
    "ThreadRunner",
    "files_state",
    "finished",
    "in_order",
    "marker_path",
    "run_block",
    "stage_bar",
]

Task = tuple[Any, ...]  # numbers, short strings, None and lists of these: what JSON holds

_MANIFEST = "work.json"
_FORMAT = "hopscale work folder 1"
_OVER = "over"  # the identity of work that is done or given up
_log = logging.getLogger("hopscale")


class BlockRunner(Protocol):
    """Runs the tasks of a stage; the results do not depend on which worker runs which task, nor when."""

    @property
    def n_workers(self) -> int:
        """Tasks that run at once, as far as known."""

    def check_folder(self, folder: str | os.PathLike[str]) -> None:
        """Refuse a work folder that some worker does not see, and workers that cannot run the tasks."""

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
        """Results of ``function(*task)`` for each task, in order; tasks that have a marker are not run again.

        Parameters
        ----------
        stage : str
            What is done, in a few words: names the markers, the progress bar and errors. Distinct within a work folder.
        function : callable
            Defined at the top level of a module; its result must be what JSON holds, and small.
        tasks : sequence of tuples
        checkpoints : Checkpoints
        marked : bool, default=True
            Leave markers. Stages of many short tasks do without them, where the caller knows how far it has come.
        after : sequence of int or None, optional
            For each task the position of an earlier one that must have ended before it begins.
        """


class Checkpoints:
    """Markers of finished tasks in a work folder, which belongs to one set of parameters and inputs.

    Parameters
    ----------
    folder : path-like
        Work folder; made if it is not there. One that has other files in it is refused.
    identity : mapping
        All that the results depend on, as JSON holds it: parameters, and :func:`files_state` of the inputs.
    stale : {"restart", "refuse"}, default="restart"
        What to do with unfinished work of another identity: remove it and start anew, or raise an error. Results of
        different identities are never mixed.
    say : callable, optional
        Called with a line of text where work is taken up again, or removed.

    Attributes
    ----------
    folder : Path
        The work folder, as an absolute path.
    resumed : bool
        Whether there was unfinished work of this identity.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     work = Checkpoints(f"{folder}/work", {"power": 2})
    ...     first = ThreadRunner().run("square", pow, [(3, 2), (4, 2)], work)
    ...     again = Checkpoints(f"{folder}/work", {"power": 2})
    ...     again.resumed, again.result("square", 1, (4, 2)), first
    (True, (16,), [9, 16])
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        identity: Mapping[str, Any],
        *,
        stale: Literal["restart", "refuse"] = "restart",
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.folder = Path(os.path.abspath(folder))
        self.resumed = False
        wanted = json.loads(json.dumps(identity))
        say = _log.info if say is None else say
        found = _identity_of(self.folder)
        if found is not None:
            different = sorted(key for key in {*found, *wanted} if found.get(key) != wanted.get(key))
            self.resumed = not different
            if different and stale == "refuse":
                raise ParameterError(
                    f"the work folder {str(self.folder)!r} has unfinished work that differs in "
                    f"{', '.join(different)}: remove the folder, or name another one"
                )
            if different:
                say(
                    f"the unfinished work in {str(self.folder)!r} differs in {', '.join(different)}: it is removed, "
                    "and work starts anew"
                )
                remove_folder(self.folder)
            else:
                say(f"going on with the unfinished work in {str(self.folder)!r}")
        if not self.resumed:
            _make_folder(self.folder)
            _write_json(self.folder / _MANIFEST, {"format": _FORMAT, "identity": wanted})

    def result(self, stage: str, index: int, task: Task) -> tuple[Any] | None:
        """The result of a finished task, alone in a tuple; None if the task has not finished."""
        try:
            marker = json.loads(marker_path(self.folder, stage, index).read_bytes())
            return (marker["result"],) if marker["task"] == json.loads(json.dumps(task)) else None
        except (OSError, ValueError, KeyError, TypeError):  # not there, or not a marker
            return None

    def end(self) -> None:
        """Say that the work is over: what is left of it from now on is removed, and not gone on with."""
        _write_json(self.folder / _MANIFEST, {"format": _FORMAT, "identity": _OVER})

    def remove(self) -> None:
        """Remove the work folder and all that is in it."""
        remove_folder(self.folder)


class ThreadRunner:
    """Runs tasks on threads of this process: a :class:`BlockRunner`.

    Parameters
    ----------
    n_jobs : int, optional
        Threads; negative counts back from the number of cores, None means 1.
    verbose : bool, default=False
        Show a progress bar of each stage on a terminal.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ThreadRunner(2).run("square", pow, [(3, 2), (4, 2)], Checkpoints(f"{folder}/work", {}))
    [9, 16]
    """

    def __init__(self, n_jobs: int | None = None, *, verbose: bool = False) -> None:
        checked_jobs("n_jobs", n_jobs)
        self._n_jobs, self._verbose = n_jobs, verbose
        self.n_workers = Threads(n_jobs).n_jobs

    def check_folder(self, folder: str | os.PathLike[str]) -> None:
        """A folder that this process sees is seen by its threads."""

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
        results, left = finished(stage, tasks, checkpoints, marked=marked)
        counting = threading.Lock()
        with Threads(self._n_jobs) as engine, stage_bar(stage, len(tasks), len(left), self._verbose) as bar:

            def one(index: int) -> None:
                folder = str(checkpoints.folder)
                results[index] = run_block(folder, stage, index, len(tasks), function, tasks[index], marked=marked)
                with counting:
                    bar.update()

            ready, followers = in_order(left, after)
            while ready:
                engine.run(one, ready)
                ready = [follower for index in ready for follower in followers.get(index, ())]
        return results


def run_block(
    folder: str,
    stage: str,
    index: int,
    count: int,
    function: Callable[..., Any],
    task: Task,
    where: str = "",
    *,
    marked: bool = True,
) -> Any:
    """Run one task and leave its marker; what every runner calls, on whatever worker."""
    begin = time.perf_counter()
    result = json.loads(json.dumps(function(*task)))  # what a marker gives back must be what a run gives
    if marked:
        _write_json(marker_path(Path(folder), stage, index), {"task": task, "result": result})
    _log.info("%s: block %d of %d done%s in %.1f s", stage, index + 1, count, where, time.perf_counter() - begin)
    return result


def finished(
    stage: str, tasks: Sequence[Task], checkpoints: Checkpoints, *, marked: bool = True
) -> tuple[list[Any], list[int]]:
    """Results of the tasks that have a marker, None for the others, and the positions of these others."""
    if not marked:
        return [None] * len(tasks), list(range(len(tasks)))
    marker_path(checkpoints.folder, stage, 0).parent.mkdir(parents=True, exist_ok=True)
    markers = [checkpoints.result(stage, index, task) for index, task in enumerate(tasks)]
    left = [index for index, marker in enumerate(markers) if marker is None]
    return [None if marker is None else marker[0] for marker in markers], left


def in_order(left: Sequence[int], after: Sequence[int | None] | None) -> tuple[list[int], dict[int, list[int]]]:
    """Of the tasks that are left those that can begin at once, and those that can begin once another has ended.

    >>> in_order([1, 2, 3], [None, 0, None, 2])
    ([1, 2], {2: [3]})
    """
    waits, ready, followers = {*left}, list[int](), dict[int, list[int]]()
    for index in left:
        before = None if after is None else after[index]
        if before is not None and before in waits:
            followers.setdefault(before, []).append(index)
        else:
            ready.append(index)
    return ready, followers


def stage_bar(stage: str, count: int, left: int, verbose: bool) -> Any:
    """Progress bar that counts the blocks of a stage."""
    hidden = None if verbose else True  # None: hidden unless on a terminal
    return tqdm(total=count, initial=count - left, desc=stage, unit=" blocks", leave=False, disable=hidden)


def marker_path(folder: Path, stage: str, index: int) -> Path:
    """Where the marker of a task lies."""
    return folder / "done" / re.sub(r"[^\w-]+", "-", stage) / f"{index:06d}.json"


def files_state(paths: Iterable[str | os.PathLike[str]]) -> list[list[Any]]:
    """Name, size and time of change of some files: what tells whether inputs have changed since."""
    states = []
    for path in paths:
        try:
            found = os.stat(path)
        except OSError as error:
            raise ParameterError(f"{path} cannot be read: {error.strerror}") from error
        states.append([os.path.abspath(path), found.st_size, found.st_mtime_ns])
    return states


def remove_folder(folder: Path) -> None:
    """Remove a folder, its manifest last: what is left of an interrupted removal is removed by the next run."""
    if folder.is_dir():
        _write_json(folder / _MANIFEST, {"format": _FORMAT, "identity": _OVER})  # markers are void from now on
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name == _MANIFEST:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _identity_of(folder: Path) -> dict[str, Any] | None:
    """Identity of the work in a folder, None if the folder is empty or not there; another folder is refused."""
    try:
        if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
            return None
        manifest = json.loads((folder / _MANIFEST).read_bytes())
        if manifest["format"] == _FORMAT and manifest["identity"] == _OVER:
            remove_folder(folder)
            return None
        if manifest["format"] == _FORMAT and isinstance(manifest["identity"], dict):
            return dict(manifest["identity"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise OutputError(
        f"the work folder {str(folder)!r} has files of something else in it: name a folder that is empty or not there"
    )


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the work folder {str(folder)!r}: {error.strerror or error}") from error


def _write_json(path: Path, value: Any) -> None:
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(value))
