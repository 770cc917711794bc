"""Runs inputs in processes of their own, and says what became of them."""

import argparse
import faulthandler
import json
import os
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECONDS = 5  # of processor time, after which an input hangs
PATIENCE = 60  # seconds by the clock, for one that waits for something
MEMORY = 4 << 30  # address space of a process
SANE = ("accepted", "refused", "unmade")
_COUNTS = struct.Struct("<QQQQ")  # the number of the input that runs, and how many were accepted, refused, unmade


# In the process that evaluates inputs.


def verdict(text):
    """What became of an input, and, if that is a defect, the signature of the place and the traceback."""
    from fuzz.names import SPACE, DifferenceError, HopscaleError, NotFiniteError, check, clear

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            check(eval(compile(text, "<input>", "eval"), SPACE))
            return "accepted", "", ""
        except HopscaleError:
            return "refused", "", ""
        except (NotFiniteError, DifferenceError) as error:
            return "not finite", f"{type(error).__name__}: {error}"[:200], traceback.format_exc()
        except (KeyboardInterrupt, SystemExit, NameError, SyntaxError):  # the fuzzer's own mistakes
            raise
        except BaseException as error:  # a panic of Rust is no Exception
            places = [f for f in traceback.extract_tb(error.__traceback__) if "/hopscale/" in f.filename]
            if not places:
                return "unmade", "", traceback.format_exc()
            if type(error).__name__ == "NotFittedError":
                return "refused", "", ""
            where = f"{places[-1].filename.rpartition('/hopscale/')[2]}:{places[-1].lineno}"
            return "foreign", f"{type(error).__name__} at {where}: {str(error)[:120]}", traceback.format_exc()
        finally:
            clear()


def evaluate_all(door, first, count, seconds, report):
    """Evaluate inputs from ``first`` on; defects go to a file of lines, progress to another."""
    from fuzz.doors import line

    limited = "libasan" not in os.environ.get("LD_PRELOAD", "") and "libtsan" not in os.environ.get("LD_PRELOAD", "")
    if limited and sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    faulthandler.enable()
    for each in (signal.SIGPROF, signal.SIGALRM):  # whose default is to end the process, in whatever code it is
        faulthandler.register(each, chain=True)
    progress = os.open(f"{report}.progress", os.O_CREAT | os.O_WRONLY)
    counts, end = Counter(), time.monotonic() + seconds
    slack = 1 if limited else 10
    with open(f"{report}.defects", "a") as defects:
        for seed in range(first, first + count):
            text = line(door, seed)
            os.pwrite(progress, _COUNTS.pack(seed, *(counts[each] for each in SANE)), 0)
            signal.setitimer(signal.ITIMER_PROF, SECONDS * slack)
            signal.setitimer(signal.ITIMER_REAL, PATIENCE * slack)
            kind, place, trace = verdict(text)
            counts[kind] += 1
            if kind not in SANE:
                found = {"seed": seed, "verdict": kind, "place": place, "input": text[:20000], "trace": trace[-3000:]}
                print(json.dumps(found), file=defects, flush=True)
            if time.monotonic() > end:
                break
    for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
        signal.setitimer(timer, 0)
    os.pwrite(progress, _COUNTS.pack(seed + 1, *(counts[each] for each in SANE)), 0)


# In the process that starts them.


@dataclass
class Tally:
    """What became of the inputs of a door."""

    inputs: int = 0
    counts: Counter = field(default_factory=Counter)
    defects: list = field(default_factory=list)

    def add(self, kind, **more):
        self.counts[kind] += 1
        self.defects.append({"verdict": kind, **more})


def fuzz(door, first, count, seconds, tally):
    """Run inputs of a door in a process, and go on behind one that ends it."""
    end, last = time.monotonic() + seconds, first + count
    while first < last and (left := end - time.monotonic()) > 0:
        reached, code, words = _process(door, first, last - first, left, tally)
        if code == 0:
            return
        kind = "hang" if -code in (signal.SIGPROF, signal.SIGALRM) else "crash"
        alone = reached
        if kind == "crash":  # what an input damages may break a later one
            for back in (0, 1, 10, 100, 1000):
                alone = max(first, reached - back)
                if _process(door, alone, reached - alone + 1, 3600, Tally())[1]:
                    break
        tally.inputs += 1
        seeds = {"seed": reached} if alone == reached else {"seed": reached, "from": alone}
        place = _place(words) or f"exit code {code}"
        tally.add(kind, **seeds, place=place, input=_shown(door, reached), trace=words[-3000:])
        first = reached + 1


def _process(door, first, count, seconds, tally):
    """A process that runs inputs: the number it came to, its exit code and what it said."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        report = f"{folder}/report"
        asked = ["--child", report, "--seed", first, "--count", count, "--seconds", seconds]
        command = [sys.executable, "-m", "tests.fuzz", door, *map(str, asked)]
        threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
        environment = {**os.environ, **threads, "TMPDIR": folder}
        with open(f"{folder}/said", "w+", errors="replace") as said:
            code = subprocess.run(command, cwd=ROOT, stdout=said, stderr=said, env=environment, check=False).returncode
            said.seek(0)
            words = said.read()[-20000:]
        if not os.path.exists(f"{report}.progress"):
            raise RuntimeError(f"the process for {door} did not start:\n{words}")
        reached, *counts = _COUNTS.unpack(Path(f"{report}.progress").read_bytes())
        defects = [json.loads(text) for text in Path(f"{report}.defects").read_text().splitlines()]
    for name, number in zip(SANE, counts, strict=True):
        tally.counts[name] += number
    for defect in defects:
        tally.add(defect.pop("verdict"), **defect)
    tally.inputs += sum(counts) + len(defects)
    return reached, code, words


def _place(words):
    """The innermost of our own lines in what a dying process said of itself."""
    found = [text.strip() for text in words.splitlines() if "/hopscale/" in text]
    return found[0].rpartition("/hopscale/")[2] if found else ""


def _shown(door, seed):
    command = [sys.executable, "-m", "tests.fuzz", door, "--seed", str(seed), "--show"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()[:20000]


def fuzz_all(doors, first, minutes, jobs):
    """All doors, a like share of the time for each, in rounds of about half a minute."""
    tallies = {door: Tally() for door in doors}
    share = minutes * 60 * jobs / len(doors)
    slice_ = min(30.0, share)
    rounds = max(1, round(share / slice_))
    stride = 1 << 24  # numbers that a slice has for itself

    def work(task):
        door, part = task
        tally = Tally()
        fuzz(door, first + part * stride, stride, slice_, tally)
        return door, tally

    seen = set()
    with ThreadPoolExecutor(jobs) as pool:
        for door, found in pool.map(work, [(door, part) for part in range(rounds) for door in doors]):
            total = tallies[door]
            total.inputs += found.inputs
            total.counts += found.counts
            for defect in found.defects:
                total.defects.append(defect)
                if (door, defect["place"]) not in seen:
                    seen.add((door, defect["place"]))
                    print(f"{defect['verdict']}: {door} --seed {defect['seed']}: {defect['place']}", flush=True)
                    print(f"    {defect['input'][:300]}", flush=True)
    return tallies


COLUMNS = ("door", "inputs", "accepted", "refused", "crashes", "hangs", "foreign exceptions", "not finite")


def table(tallies):
    """The summary, as Markdown."""
    rows = []
    for door, tally in tallies.items():
        c = tally.counts
        rows.append(
            [
                door.replace("_", " "),
                tally.inputs - c["unmade"],
                c["accepted"],
                c["refused"],
                c["crash"],
                c["hang"],
                c["foreign"],
                c["not finite"],
            ]
        )
    rows.append(["all", *(sum(column) for column in list(zip(*rows, strict=True))[1:])])
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{' --- |' * len(COLUMNS)}"]
    return "\n".join(lines + [f"| {row[0]} | {' | '.join(f'{n:,}' for n in row[1:])} |" for row in rows]) + "\n"


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Random inputs for every door.")
    parser.add_argument("doors", nargs="*", help="all of them by default")
    parser.add_argument("--seed", type=int, help="run this one input; with --minutes, begin here")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--jobs", type=lambda text: os.cpu_count() if text == "auto" else int(text), default="auto")
    parser.add_argument("--show", action="store_true", help="show the input and do not run it")
    parser.add_argument("--report", help="write all defects to this file, as lines of JSON")
    parser.add_argument("--table", help="write the summary to this file")
    for name, kind in (("--child", str), ("--count", int), ("--seconds", float)):
        parser.add_argument(name, type=kind, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        evaluate_all(options.doors[0], options.seed, options.count, options.seconds, options.child)
    elif options.minutes is None:
        _one(options.doors[0], options.seed, options.show)
    else:
        from fuzz.doors import DOORS

        unknown = set(options.doors) - set(DOORS)
        if unknown:
            sys.exit(f"no such door: {', '.join(unknown)}; there are {', '.join(DOORS)}")
        tallies = fuzz_all(options.doors or list(DOORS), options.seed or 0, options.minutes, options.jobs)
        text = table(tallies)
        print(text)
        if options.table:
            Path(options.table).write_text(text)
        if options.report:
            Path(options.report).parent.mkdir(exist_ok=True)
            with open(options.report, "w") as file:
                for door, tally in tallies.items():
                    file.writelines(json.dumps({"door": door, **defect}) + "\n" for defect in tally.defects)
        sys.exit(any(tally.defects for tally in tallies.values()))


def _one(door, seed, show):
    from fuzz.doors import line

    text = line(door, seed)
    print(text)
    if not show:
        kind, _, trace = verdict(text)
        print(trace + kind)
