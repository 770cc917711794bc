"""Progress bars: one goes through all stages of a fit, and the time that it shows is that which is left."""

import warnings

import pytest

from hopscale import AE, MUSAE, PMI, DeepWalk
from hopscale.compute import Threads, progress
from hopscale.exceptions import HopscaleWarning
from hopscale.solvers import forms, targets
from hopscale.walks import panels
from reference import random_graph


class Clock:
    """Time that passes when it is told to."""

    def __init__(self):
        self.now = 100.0

    def perf_counter(self):
        return self.now


class Bar:
    """What is drawn, without drawing it."""

    made: list = []  # noqa: RUF012

    def __init__(self, total, **settings):
        self.total, self.n, self.settings = total, 0.0, settings
        Bar.made.append(self)

    def set_description_str(self, text):
        pass

    def update(self, n=1):
        self.n += n

    def refresh(self):
        pass

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


@pytest.fixture
def bars(monkeypatch):
    monkeypatch.setattr(Bar, "made", [])
    monkeypatch.setattr(progress, "tqdm", Bar)
    return Bar.made


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def run(engine, clock, seconds, steps):
    """A stage of so many steps that take so many seconds each; yields after every step."""
    with engine.bar(steps, "stage", "step") as bar:
        for _ in range(steps):
            clock.now += seconds
            bar.update(1)
            yield


def left(bar):
    return bar.total - bar.n


def test_costs_that_are_right_tell_the_time(bars, clock):
    engine = Threads(1)
    engine.expect([10, 30, 60])
    times = [left(bars[0]) for steps in (5, 10, 4) for _ in run(engine, clock, 2 * {5: 2, 10: 3, 4: 15}[steps], steps)]
    ends = (
        [200 - 4 * k for k in range(1, 6)] + [180 - 6 * k for k in range(1, 11)] + [120 - 30 * k for k in range(1, 5)]
    )
    assert times == pytest.approx(ends, abs=1e-6)
    assert len(bars) == 1


def test_a_stage_that_is_slower_than_its_cost_is_found_out_once_it_runs(bars, clock):
    engine = Threads(1)
    engine.expect([50, 50])
    *_, last = (left(bars[0]) for _ in run(engine, clock, 1, 10))
    assert last == pytest.approx(10)
    times = [left(bars[0]) for _ in run(engine, clock, 9, 20)]  # 180 seconds instead of 10
    for done, shown in enumerate(times, start=1):
        if done >= 20 * progress.KNOWN:
            assert shown == pytest.approx(180 - 9 * done, abs=1e-6)


def test_what_turns_out_on_the_way_counts(bars, clock):
    engine = Threads(1)
    engine.expect([10, 1])
    stage = run(engine, clock, 1, 10)
    next(stage)
    engine.expect([90])  # the next stage will take nine times as long
    next(stage)
    assert left(bars[0]) == pytest.approx(8 + 90)
    stage.close()  # given up: what was to come does not come
    engine.expect([4])
    assert [left(bars[0]) for _ in run(engine, clock, 1, 4)][1:] == pytest.approx([2, 1, 0])


def test_without_costs_each_stage_has_a_bar(bars, clock):
    engine = Threads(1)
    for _ in range(2):
        assert len(list(run(engine, clock, 1, 3))) == 3
    assert [bar.n for bar in bars] == [3, 3]


FITS = {
    "held together": (MUSAE, PMI(), {}),
    "held, pooled": (AE, PMI(), {}),
    "held, one by one": (MUSAE, PMI(rows="exact"), {"TOGETHER": False}),
    "streamed": (MUSAE, PMI(), {"HELD": False}),
    "streamed, pooled": (AE, PMI(), {"HELD": False}),
    "sampled": (MUSAE, PMI(rows="sampled"), {}),
    "nodes": (DeepWalk, PMI(), {}),
    "too large, as the first panels tell": (MUSAE, PMI(), {"FITS": False}),
}


@pytest.mark.parametrize("fit", FITS)
def test_one_bar_goes_through_all_stages_of_a_fit(bars, monkeypatch, fit):
    model, solver, changes = FITS[fit]
    exact = targets.Targets._exact
    if "TOGETHER" in changes:
        monkeypatch.setattr(
            targets.Targets,
            "_exact",
            lambda self, scales, *rest, **more: exact(self, scales, *rest, **more) if len(scales) == 1 else None,
        )
    if "HELD" in changes:
        monkeypatch.setattr(targets.Targets, "_exact", lambda *given, **more: None)
        monkeypatch.setattr(forms.Forms, "_is_streamed", lambda *given: True)
    if "FITS" in changes:
        monkeypatch.setattr(panels.Panel, "nbytes", property(lambda panel: 2**40))
    counted = []
    close = progress.Progress.close
    monkeypatch.setattr(progress.Progress, "close", lambda self: (counted.append(list(self._later)), close(self))[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HopscaleWarning)
        model(8, solver=solver).fit(random_graph(60, 70, seed=3))
    assert len(bars) == 1
    assert counted == [[]]  # every stage that was expected has come
