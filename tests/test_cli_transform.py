"""``hopscale transform``: nodes of another graph by a saved model."""

import numpy as np
from command_line import answer, refused, run, succeeded, vectors_in

from hopscale import MUSAE, DeepWalk, load_model
from hopscale.datasets import figure1, planted_blocks


class TestTransform:
    def test_vectors_are_those_of_the_model(self, tmp_path, inputs, blocks):
        model = MUSAE(16).fit(planted_blocks(n_nodes=60, n_features=30, random_state=3))
        model.save(tmp_path / "m")
        document = answer("transform", tmp_path / "m", *inputs, "-o", tmp_path / "v.csv")
        assert document["nodes"] == 90
        np.testing.assert_array_equal(
            vectors_in(tmp_path / "v.csv")[1], load_model(tmp_path / "m").transform(blocks / "graph.npz")
        )

    def test_unknown_features_are_a_one_line_warning(self, tmp_path, inputs):
        MUSAE(16).fit(planted_blocks(n_nodes=60, n_features=20, random_state=3)).save(tmp_path / "m")
        result = succeeded("transform", tmp_path / "m", *inputs, "-o", tmp_path / "v.csv", "-q")
        assert result.stderr.count("\n") == 1
        assert result.stderr.startswith("hopscale: warning: 10 feature(s)")

    def test_what_is_no_model(self, tmp_path, inputs, blocks):
        for command in (
            ["transform", blocks / "labels.csv", *inputs, "-o", tmp_path / "v.csv"],
            ["explain", blocks / "labels.csv", 1],
        ):
            assert "labels.csv is no hopscale model; embed --save writes one" in refused(*command)

    def test_model_that_cannot(self, tmp_path, inputs):
        DeepWalk(8).fit(figure1()).save(tmp_path / "m")
        result = run("transform", tmp_path / "m", *inputs, "-o", tmp_path / "v.csv", "-q")
        assert result.exit_code == 1
        assert "cannot embed other nodes" in result.stderr
        assert "AE and MUSAE with --no-ego can" in result.stderr
        assert not (tmp_path / "v.csv").exists()
