"""Model files as others may leave them: any changed byte is found, and no false content gets past the checks."""

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from model_files import refusal, spoilt, words_of
from safetensors.numpy import load_file, save_file

from hopscale import HOPE, MUSAE, PMI, SGNS, AttributedGraph, load_model
from hopscale.datasets import figure1
from hopscale.exceptions import FileFormatError, HopscaleError, ParameterError

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")

FITS = {
    "pmi": lambda: MUSAE(8),
    "sgns": lambda: MUSAE(8, solver=SGNS(epochs=1, walk_length=8, walks_per_node=1)),
    "hope": lambda: HOPE(4),
}


@pytest.fixture(scope="module", params=FITS)
def good(request, tmp_path_factory):
    """A file of each kind of model."""
    path = tmp_path_factory.mktemp("models") / f"{request.param}.safetensors"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        FITS[request.param]().fit(figure1()).save(path)
    return path


@pytest.fixture
def copied(good, tmp_path):
    path = tmp_path / good.name
    path.write_bytes(good.read_bytes())
    return path


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "m.safetensors"
    MUSAE(8, solver=SGNS(epochs=1, walk_length=8, walks_per_node=1)).fit(figure1()).save(path)
    return path


class TestBytes:
    def test_are_the_same_at_each_save(self, good, tmp_path):
        model = load_model(good)
        for name in ("again", "and again"):
            model.save(tmp_path / name)
            assert (tmp_path / name).read_bytes() == good.read_bytes()

    def test_are_the_same_in_every_process(self, tmp_path):
        program = (
            "import sys, hopscale; model = hopscale.MUSAE(8, solver=hopscale.PMI(shift=2.0));"
            "model.fit(hopscale.load('figure1')).save(sys.argv[1])"
        )
        for seed in ("0", "1", "random"):
            command = [sys.executable, "-W", "ignore", "-c", program, str(tmp_path / seed)]
            subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": seed})
        assert len({(tmp_path / seed).read_bytes() for seed in ("0", "1", "random")}) == 1

    def test_are_read_by_the_library_of_the_format(self, good):
        assert load_file(good)["embedding"].shape == load_model(good).embedding_.shape


class TestDamage:
    def test_any_changed_byte_is_refused(self, good, copied):
        whole, random = good.read_bytes(), np.random.default_rng(0)
        header = 8 + int.from_bytes(whole[:8], "little")
        positions = [*random.integers(header, size=150), *random.integers(len(whole), size=150), header - 1, -1]
        for position in positions:
            changed = bytearray(whole)
            changed[position] ^= 1 << int(random.integers(8))
            copied.write_bytes(changed)
            refusal(copied)

    @pytest.mark.parametrize("change", ["cut", "longer", "swapped"])
    def test_other_lengths_and_orders(self, good, copied, change):
        whole = good.read_bytes()
        middle = len(whole) // 2
        changed = {"cut": whole[:-4], "longer": whole + bytes(4), "swapped": whole[:middle] + whole[: -middle - 1 : -1]}
        copied.write_bytes(changed[change])
        refusal(copied)

    def test_without_its_digest(self, saved):
        words = words_of(saved)
        save_file(load_file(saved), saved, metadata={name: text for name, text in words.items() if name != "sha256"})
        assert "damaged" in refusal(saved)

    def test_that_makes_it_an_older_file(self, saved):
        """One flipped bit makes a 3 a 2, whose files had no digest."""
        saved.write_bytes(saved.read_bytes().replace(b'"format_version":"3"', b'"format_version":"2"'))
        assert "damaged" in refusal(saved)

    def test_format_2_had_no_digest(self, saved):
        words = {**words_of(saved), "format_version": "2"}
        before = load_model(saved)
        save_file(load_file(saved), saved, metadata={name: text for name, text in words.items() if name != "sha256"})
        np.testing.assert_array_equal(load_model(saved).embedding_, before.embedding_)


class TestFalseContent:
    """With a digest that is right."""

    @pytest.mark.parametrize("where", ["parameters", "solver"])
    @pytest.mark.parametrize(
        "wrong",
        [
            {"walk_length": 2**62},
            {"walk_length": 3},  # no longer than the window
            {"walks_per_node": "x"},
            {"walks_per_node": 2**31},
            {"epochs": 10**400},
            {"epochs": None},
            {"negatives": 10**6},
            {"learning_rate": float("nan")},
            {"learning_rate": -1.0},
            {"noise_exponent": float("inf")},
            {"share_negatives": "yes"},
            {"start": "anywhere"},
        ],
        ids=lambda wrong: next(iter(wrong)),
    )
    def test_settings_of_a_solver(self, saved, where, wrong):
        found = json.loads(words_of(saved)[where])
        (found["solver"] if where == "parameters" else found).update(wrong)
        assert next(iter(wrong)) in refusal(spoilt(saved, **{where: json.dumps(found)}))

    def test_numbers_of_thousands_of_digits(self, saved):
        solver = words_of(saved)["solver"].replace('"epochs": 1', f'"epochs": {"9" * 5000}')
        assert "not JSON" in refusal(spoilt(saved, solver=solver))

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("embedding", np.nan),
            ("feature_embedding", np.inf),
            ("feature_probability", -0.5),
            ("singular_values", -1.0),
        ],
    )
    def test_numbers_that_cannot_be(self, tmp_path, name, value):
        path = tmp_path / "m"
        MUSAE(8).fit(figure1()).save(path)
        array = load_file(path)[name].copy()
        array.flat[3] = value
        assert f"the tensor {name!r} has values" in refusal(spoilt(path, tensors={name: array}))

    def test_no_nodes(self, saved):
        empty = {"node_ids": np.zeros(0, np.int64), "embedding": np.zeros((0, 8), np.float32)}
        assert "no nodes" in refusal(spoilt(saved, tensors=empty))

    def test_no_context(self, saved):
        none = {
            "feature_names": np.zeros(0, np.int64),
            "feature_embedding": np.zeros((0, 8), np.float32),
            "feature_probability": np.zeros((4, 0)),
        }
        assert "'feature_names' is empty" in refusal(spoilt(saved, tensors=none))

    def test_blocks_without_a_name(self, tmp_path):
        HOPE(4).fit(figure1()).save(tmp_path / "m")
        for blocks in ('{"": 4}', "{}", "[4]", "4", '{"all": 4.0}', '{"all": 5}'):
            assert "'blocks'" in refusal(spoilt(tmp_path / "m", blocks=blocks))

    @pytest.mark.parametrize("depth", [33, 900, 5000])
    def test_names_in_names_in_names(self, saved, depth):
        names = np.frombuffer(("[" + "[" * depth + "]" * depth + ', "a"]').encode(), np.uint8)
        refusal(spoilt(saved, tensors={"feature_names": names}))

    def test_a_permission_that_is_missing(self, saved, monkeypatch):
        def forbid(*_, **__):
            raise PermissionError(13, "Permission denied", str(saved))

        monkeypatch.setattr(
            "hopscale.models.files.safe_open", forbid
        )  # root, who runs many a test, may read everything
        assert "cannot be read: Permission denied" in refusal(saved)

    def test_header_edits_end_in_an_error_or_in_finite_vectors(self, good, copied):
        whole, random = good.read_bytes(), np.random.default_rng(1)
        words = ["-1", "0", "1e308", "NaN", "null", "true", str(2**62), '"x"', "[]", "{}", "1e-320", "9" * 400]
        header = 8 + int.from_bytes(whole[:8], "little")
        graph, loaded = figure1(), 0
        for _ in range(150):
            entries = json.loads(whole[8:header])
            facts = entries["__metadata__"]
            name = str(random.choice(sorted(set(facts) - {"sha256", "format", "format_version"})))
            numbers = [at for at, sign in enumerate(facts[name]) if sign.isdigit()] or [0]
            at = int(random.choice(numbers))
            facts[name] = facts[name][:at] + str(random.choice(words)) + facts[name][at + 1 :]
            copied.write_bytes(signed(entries, whole[header:]))
            try:
                model = load_model(copied)
            except FileFormatError:
                continue
            loaded += 1
            assert np.isfinite(model.embedding_).all()
            with contextlib.suppress(HopscaleError):
                assert np.isfinite(model.transform(graph)).all()
        assert loaded  # some edits are harmless, or the digest was never right


def signed(entries, content):
    """A file with these entries in its header, and a digest that is right."""
    entries["__metadata__"]["sha256"] = "0" * 64
    header = json.dumps(entries).encode()
    start = len(header).to_bytes(8, "little")
    digest = hashlib.sha256(start + header + content).hexdigest()
    return start + header.replace(b"0" * 64, digest.encode(), 1) + content


class TestSaving:
    def test_path_that_is_none(self, saved):
        for path in (5, None, ["m"]):
            with pytest.raises(HopscaleError, match="path"):
                load_model(saved).save(path)
            with pytest.raises(HopscaleError, match="path"):
                load_model(path)

    def test_names_nested_too_deeply(self, tmp_path):
        name = ()
        for _ in range(40):
            name = (name,)
        ring = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
        model = MUSAE(4, window=1, solver=PMI()).fit(AttributedGraph(ring, np.eye(3), node_ids=[name, 1, 2]))
        with pytest.raises(ParameterError, match="at most 32 deep"):
            model.save(tmp_path / "m")
