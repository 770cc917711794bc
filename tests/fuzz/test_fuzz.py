"""A short run of the fuzzer with fixed inputs, and every input that has ever broken something."""

from pathlib import Path

import pytest

from fuzz.doors import DOORS
from fuzz.runner import SANE, Tally, fuzz, verdict

CORPUS = [
    pytest.param(text, id=f"{file.stem}:{number}")
    for file in sorted(Path(__file__).with_name("corpus").glob("*.txt"))
    for number, text in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
    if text and not text.startswith("#")
]


@pytest.mark.parametrize("text", CORPUS)
def test_what_broke_once_is_answered(text):
    kind, _, trace = verdict(text)
    assert kind in SANE[:2], trace


@pytest.mark.parametrize("door", DOORS)
def test_random_inputs_are_answered(door):
    tally = Tally()
    fuzz(door, 0, DOORS[door][1], 600, tally)
    assert tally.counts["accepted"], "nothing was accepted: the inputs are too odd to test anything"
    assert tally.counts["refused"]
    assert not tally.defects, "\n".join(
        f"{each['verdict']}: python -m tests.fuzz {door} --seed {each['seed']}: {each['place']}"
        for each in tally.defects
    )
