"""Names of devices, PyTorch that is not there, and settings of libraries that stay the caller's."""

import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from hopscale import MUSAE, datasets
from hopscale.cli.commands import hopscale as main
from hopscale.compute import Threads
from hopscale.exceptions import DeviceError, ParameterError

torch = pytest.importorskip("torch")

from devices import uneven_graph  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")


@pytest.fixture(scope="module")
def graph():
    return uneven_graph()


class TestDevices:
    @pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:x", "mps", "torch", 0, ["cuda"], ""])
    def test_names_that_mean_nothing(self, name):
        with pytest.raises(ParameterError, match=r"device must be 'cuda', 'cuda:0'.* or None"):
            MUSAE(device=name).fit(datasets.figure1())

    def test_the_processor_by_name_is_the_processor(self):
        assert isinstance(MUSAE(device="cpu")._engine(), Threads)
        assert isinstance(MUSAE()._engine(), Threads)

    def test_one_that_is_not_there_is_an_error_before_a_graph_is_read(self, tmp_path):
        beyond = f"cuda:{torch.cuda.device_count()}"
        with pytest.raises(DeviceError, match=f"device='{beyond}' is not there: PyTorch .* sees .*leave device out"):
            MUSAE(device=beyond).fit(tmp_path / "no-such-graph")
        vectors = tmp_path / "vectors.csv"
        done = CliRunner().invoke(main, ["embed", "--graph", "cora.npz", "--device", beyond, "-o", str(vectors)])
        assert done.exit_code == 1
        assert f"--device {beyond} is not there" in done.stderr
        assert "Traceback" not in done.stderr
        assert not list(tmp_path.iterdir())

    def test_without_pytorch_the_extra_is_named(self):
        code = (
            "import sys\n"
            "class Missing:\n"
            "    def find_spec(self, name, *_):\n"
            "        if name == 'torch': raise ModuleNotFoundError('No module named torch')\n"
            "sys.meta_path.insert(0, Missing())\n"
            "from hopscale import MUSAE, datasets\n"
            "try: MUSAE(device='cuda').fit('no-such-graph')\n"
            "except ImportError as error: print(error)\n"
            "print(MUSAE(8).fit_transform(datasets.figure1()).shape)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert 'pip install "hopscale[torch]"' in done.stdout
        assert done.stdout.endswith("(11, 8)\n")

    def test_nobody_imports_pytorch_who_does_not_ask_for_it(self):
        code = (
            "import sys\n"
            "from hopscale import MUSAE, HOPE, datasets\n"
            "graph = datasets.figure1()\n"
            "for kind in (MUSAE, HOPE):\n"
            "    model = kind(8).fit(graph)\n"
            "model = MUSAE(8).fit(graph); model.transform(graph)\n"
            "assert not {'torch', 'triton'} & set(sys.modules), sorted(sys.modules)\n"
            "MUSAE(8, device='torch-cpu').fit(graph)\n"
            "assert 'torch' in sys.modules and 'triton' not in sys.modules"
        )
        subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)

    def test_an_array_is_no_name(self):
        with pytest.raises(ParameterError, match="device must be"):
            MUSAE(device=np.array(["cuda", "cpu"])).fit(datasets.figure1())

    @pytest.mark.skipif(not hasattr(torch.backends.cuda.matmul, "fp32_precision"), reason="before PyTorch 2.9")
    def test_settings_of_single_libraries_are_the_callers_again(self, graph):
        libraries = torch.backends.cuda.matmul, torch.backends.mkldnn.matmul
        expected = MUSAE(8, device="torch-cpu").fit(graph).embedding_
        before = [library.fp32_precision for library in libraries]
        try:
            for library in libraries:
                library.fp32_precision = "bf16" if library is torch.backends.mkldnn.matmul else "tf32"
            found = MUSAE(8, device="torch-cpu").fit(graph).embedding_
            assert [library.fp32_precision for library in libraries] == ["tf32", "bf16"]
        finally:
            for library, precision in zip(libraries, before, strict=True):
                library.fp32_precision = precision
        np.testing.assert_array_equal(found, expected)

    def test_settings_of_pytorch_are_the_callers_again(self, graph):
        torch.set_float32_matmul_precision("high")
        try:
            MUSAE(8, device="torch-cpu").fit(graph)
            assert torch.get_float32_matmul_precision() == "high"
            assert not torch.is_inference_mode_enabled()
        finally:
            torch.set_float32_matmul_precision("highest")

    def test_the_command_line_takes_it(self, tmp_path):
        graph = str(tmp_path / "graph.npz")
        datasets.figure1().save(graph)
        for how in ((), ("--device", "torch-cpu")):
            vectors = str(tmp_path / f"{len(how)}.csv")
            done = CliRunner().invoke(main, ["embed", "--graph", graph, *how, "--dimensions", "8", "-o", vectors])
            assert done.exit_code == 0, done.stderr
        here, there = (np.genfromtxt(tmp_path / f"{k}.csv", delimiter=",", skip_header=1)[:, 1:] for k in (0, 2))
        np.testing.assert_allclose(there, here, atol=1e-4)
