"""Graphs of PyTorch Geometric and DGL: stand-ins that have what the doors use, and the real ones if installed."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import hopscale
from hopscale import AttributedGraph, DeepWalk
from hopscale.exceptions import GraphError, HopscaleWarning
from hopscale.io import as_graph, from_dgl, from_pyg, to_dgl, to_pyg
from hopscale.io.torch_arrays import arrays_of, vectors_of

PAIRS = np.array([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]])
X = np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0], [1.0, 1.0]])
WEIGHTS = np.array([1.0, 1.0, 2.0, 2.0, 0.0, 0.0])


class Tensor:
    """The part of a tensor that the doors use."""

    def __init__(self, array, layout="torch.strided", **parts):
        self.array, self.layout, self.parts, self.shape = np.asarray(array), layout, parts, np.shape(array)

    def detach(self):
        return self

    cpu = coalesce = detach

    def numpy(self):
        assert self.layout == "torch.strided"
        return self.array

    def __getattr__(self, name):
        if name not in self.__dict__.get("parts", {}):
            raise AttributeError(name)
        return lambda: Tensor(self.parts[name])


def sparse(layout):
    coo, csr, csc = sp.coo_array(X), sp.csr_array(X), sp.csc_array(X)
    return {
        "torch.strided": Tensor(X),
        "torch.sparse_coo": Tensor(X, layout, indices=np.stack(coo.coords), values=coo.data),
        "torch.sparse_csr": Tensor(X, layout, crow_indices=csr.indptr, col_indices=csr.indices, values=csr.data),
        "torch.sparse_csc": Tensor(X, layout, ccol_indices=csc.indptr, row_indices=csc.indices, values=csc.data),
        "SparseTensor": SimpleNamespace(
            coo=lambda: (Tensor(coo.coords[0]), Tensor(coo.coords[1]), Tensor(coo.data)), sparse_sizes=lambda: X.shape
        ),
    }[layout]


LAYOUTS = ["torch.strided", "torch.sparse_coo", "torch.sparse_csr", "torch.sparse_csc", "SparseTensor"]


def data(**parts):
    """Stand-in for torch_geometric's Data."""
    return SimpleNamespace(**{"edge_index": Tensor(PAIRS), "num_nodes": 4, **parts})


class DGLGraph:
    """Stand-in for dgl's DGLGraph, which has the attributes of networkx' graphs as well."""

    nodes = adj = None
    ntypes, etypes = ["_N"], ["_E"]

    def __init__(self, ndata=None, edata=None, pairs=PAIRS):
        self.ndata, self.edata, self.pairs = ndata or {}, edata or {}, pairs

    def edges(self):
        return Tensor(self.pairs[0]), Tensor(self.pairs[1])

    def num_nodes(self):
        return 4


TRIANGLE = [[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]]


class TestReading:
    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_features_of_any_layout(self, layout):
        for graph in (from_pyg(data(x=sparse(layout))), from_dgl(DGLGraph({"feat": sparse(layout)}))):
            np.testing.assert_array_equal(graph.features.toarray(), X)
            np.testing.assert_array_equal(graph.adjacency.toarray(), TRIANGLE)
            assert graph.node_ids.tolist() == [0, 1, 2, 3]

    def test_weights_of_zero_are_no_edges_and_their_nodes_stay(self):
        for graph in (
            from_pyg(data(edge_weight=Tensor(WEIGHTS))),
            from_pyg(data(edge_attr=Tensor(WEIGHTS[:, None])), weight="edge_attr"),
            from_dgl(DGLGraph(edata={"weight": Tensor(WEIGHTS)})),
            from_dgl(DGLGraph(edata={"w": Tensor(WEIGHTS)}), weight="w"),
        ):
            np.testing.assert_array_equal(
                graph.adjacency.toarray(), [[0, 1, 0, 0], [1, 0, 2, 0], [0, 2, 0, 0], [0, 0, 0, 0]]
            )

    def test_labels(self):
        for labels in ([3, 1, 0, 2], [[3], [1], [0], [2]]):
            assert from_pyg(data(y=Tensor(labels))).labels.tolist() == [3, 1, 0, 2]
            assert from_dgl(DGLGraph({"label": Tensor(labels)})).labels.tolist() == [3, 1, 0, 2]
        assert from_pyg(data(y=Tensor([3, 1, 0, 2])), label=None).labels is None
        with pytest.warns(HopscaleWarning, match="no label of nodes"):
            assert from_pyg(data(y=Tensor([1]))).labels is None

    def test_what_is_not_used_is_named(self):
        with pytest.warns(HopscaleWarning, match="weight='edge_attr'"):
            from_pyg(data(edge_attr=Tensor(WEIGHTS)))
        with pytest.warns(HopscaleWarning, match="weight='w'"):
            from_dgl(DGLGraph(edata={"w": Tensor(WEIGHTS)}))

    def test_straight_into_a_model(self):
        for source in (data(), DGLGraph()):
            assert DeepWalk(2).fit(source).embedding_.shape == (4, 2)

    def test_number_of_nodes_where_none_is_said(self):
        assert from_pyg(data(num_nodes=None)).n_nodes == 3
        assert from_pyg(data(num_nodes=None, x=Tensor(X))).n_nodes == 4

    def test_names_go_there_and_back(self):
        named = data(x=Tensor(X), node_ids=["d", "c", "b", "a"], feature_names=["tea", "go"])
        graph = from_pyg(named)
        assert graph.node_ids.tolist() == ["d", "c", "b", "a"]
        assert graph.feature_names.tolist() == ["tea", "go"]

    def test_negative_features(self):
        negative = Tensor(X - 0.5)
        for make in (lambda: from_pyg(data(x=negative)), lambda: from_dgl(DGLGraph({"feat": negative}))):
            with pytest.raises(GraphError, match=r"-0.5.*dense='signed'.*dense='binned'"):
                make()
        graph = from_pyg(data(x=negative), dense="signed")
        assert graph.n_features == 4
        np.testing.assert_array_equal(graph.features.toarray()[:, 1::2], np.maximum(0.5 - X, 0))
        assert graph.feature_names.tolist() == ["x=0+", "x=0-", "x=1+", "x=1-"]
        binned = from_dgl(DGLGraph({"feat": negative}), dense="binned")
        assert binned.features.toarray().sum() == 8
        moved = from_dgl(DGLGraph({"feat": Tensor(X + 5)}), encoder=binned.encoder)
        assert moved.feature_names.tolist() == binned.feature_names.tolist()
        assert (moved.features.toarray().sum(axis=0) > 0).sum() == 2  # all in the last bin of each column

    @pytest.mark.parametrize(
        ("parts", "message"),
        [
            ({"edge_index": None}, "adj_t"),
            ({"edge_index": Tensor(PAIRS.T)}, r"\(2, E\)"),
            ({"edge_index": Tensor(PAIRS * 1.0)}, "whole numbers"),
            ({"num_nodes": 2}, "count into 2 nodes"),
            ({"edge_index": Tensor(-PAIRS)}, "count into 4 nodes"),
            ({"x": Tensor(X[:3])}, "3 rows"),
            ({"x": Tensor([[[1.0]]])}, "row of features"),
            ({"x": Tensor(X, "torch.sparse_bsr")}, "sparse_bsr"),
            ({"edge_weight": Tensor(WEIGHTS[:3])}, "3 weights for 6 edges"),
            ({"edge_weight": Tensor(-WEIGHTS)}, "edge 0 is -1"),
            ({"edge_weight": Tensor(np.ones((6, 2)))}, "one weight"),
            ({"edge_index": Tensor(PAIRS[:, :1])}, "directed='symmetrize'"),
            ({"node_types": ["a", "b"], "edge_types": []}, "to_homogeneous"),
        ],
    )
    def test_refuses(self, parts, message):
        with pytest.raises(GraphError, match=message):
            from_pyg(data(**parts))
        with pytest.raises(GraphError, match=message):
            as_graph(data(**parts))

    def test_refuses_names_that_are_not_there(self):
        for make in (
            lambda: from_pyg(data(), features="feat"),
            lambda: from_pyg(data(), weight="edge_attr"),
            lambda: from_pyg(data(), label="club"),
            lambda: from_dgl(DGLGraph(), features="x"),
            lambda: from_dgl(DGLGraph({"a": 1}), label="y"),
            lambda: from_pyg([]),
            lambda: from_dgl([]),
        ):
            with pytest.raises(GraphError):
                make()

    def test_several_types(self):
        several = DGLGraph()
        several.ntypes = ["user", "item"]
        with pytest.raises(GraphError, match="to_homogeneous"):
            from_dgl(several)

    def test_directed_graphs(self):
        one_way = DGLGraph(pairs=PAIRS[:, :1])
        with pytest.raises(GraphError, match="symmetrize"):
            from_dgl(one_way)
        assert from_dgl(one_way, directed="symmetrize").n_edges == 1


@pytest.fixture
def graph():
    ring = np.roll(np.eye(5), 1, axis=1) * [1, 2, 3, 4, 5]
    return AttributedGraph(
        ring + ring.T,
        np.eye(5)[:, :3],
        node_ids=["e", "d", "c", "b", "a"],
        feature_names=["x", "y", "z"],
        labels=["red", None, "blue", "red", "blue"],
    )


class TestWriting:
    @pytest.mark.filterwarnings("ignore:1 of 5 vectors belong to no node")
    def test_vectors_land_on_their_nodes(self, graph):
        order = [3, 1, 4, 0, 2]
        turned = AttributedGraph(graph.adjacency[order][:, order], node_ids=graph.node_ids[order])
        model = DeepWalk(4).fit(turned)
        table = model.to_frame().sample(frac=1, random_state=0)
        expected = model[graph.node_ids.tolist()]
        np.testing.assert_array_equal(vectors_of(model, graph), expected)
        np.testing.assert_array_equal(vectors_of(table, graph), expected)
        np.testing.assert_array_equal(vectors_of(expected, graph), expected)
        for wrong in (table.iloc[:3], table.rename(index={"a": "q"}), expected[:3], pd.DataFrame(expected)):
            with pytest.raises(GraphError):
                vectors_of(wrong, graph)
        other = hopscale.from_edges([("a", "zoe")])
        with pytest.raises(GraphError, match="'zoe'"):
            vectors_of(model, other)

    def test_arrays_make_the_same_graph(self, graph):
        parts = arrays_of(graph, None, sparse=False)
        assert parts["y"].tolist() == [0, -1, 1, 0, 1]
        assert parts["class_names"] == ["red", "blue"]
        again = from_pyg(
            SimpleNamespace(
                edge_index=parts["edges"],
                num_nodes=5,
                x=parts["x"],
                edge_weight=parts["weights"],
                node_ids=list("edcba"),
            )
        )
        assert (again.adjacency != graph.adjacency).nnz == 0
        assert (again.features != graph.features).nnz == 0
        assert again.node_ids.tolist() == graph.node_ids.tolist()

    def test_a_missing_package_is_named(self):
        code = (
            "import sys; sys.modules['torch_geometric'] = sys.modules['dgl'] = None; import hopscale\n"
            "for to in (hopscale.io.to_pyg, hopscale.io.to_dgl):\n"
            "    try: to(hopscale.load('figure1'))\n"
            "    except ImportError as error: print(type(error).__mro__[1].__name__, error)\n"
        )
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert found.count("HopscaleError") == 2
        assert "hopscale[pyg]" in found


class TestTorchGeometric:
    @pytest.fixture
    def torch(self):
        pytest.importorskip("torch_geometric")
        return pytest.importorskip("torch")

    @pytest.mark.parametrize("sparse_x", [False, True])
    def test_there_and_back(self, torch, graph, sparse_x):
        there = to_pyg(graph, sparse=sparse_x)
        assert there.validate()
        assert there.is_undirected()
        assert there.y.tolist() == [0, -1, 1, 0, 1]
        again = from_pyg(there)
        assert (again.adjacency != graph.adjacency).nnz == 0
        assert (again.features != graph.features).nnz == 0
        assert again.node_ids.tolist() == graph.node_ids.tolist()
        assert again.feature_names.tolist() == graph.feature_names.tolist()

    def test_vectors_as_x(self, torch, graph):
        model = DeepWalk(4).fit(graph)
        np.testing.assert_array_equal(to_pyg(graph, model).x.numpy(), model.embedding_)

    def test_real_data(self, torch):
        from torch_geometric.data import Data, HeteroData

        for x in (torch.tensor(X), torch.tensor(X).to_sparse(), torch.tensor(X).to_sparse_csr()):
            ours = as_graph(Data(x=x, edge_index=torch.tensor(PAIRS), y=torch.tensor([0, 1, 1, 0])))
            np.testing.assert_array_equal(ours.features.toarray(), X)
            assert ours.labels.tolist() == [0, 1, 1, 0]
        half = Data(x=torch.tensor(X).bfloat16().requires_grad_(), edge_index=torch.tensor(PAIRS))
        np.testing.assert_array_equal(from_pyg(half).features.toarray(), X)
        several = HeteroData()
        several["user"].x = torch.tensor(X)
        with pytest.raises(GraphError, match="to_homogeneous"):
            as_graph(several)


class TestDgl:
    def test_there_and_back(self, graph):
        try:
            import dgl  # noqa: F401
        except Exception as error:  # its libraries fit few versions of PyTorch
            pytest.skip(f"DGL cannot be imported: {error}")
        model = DeepWalk(4).fit(graph)
        again = as_graph(to_dgl(graph, np.abs(model.embedding_)))
        assert (again.adjacency != graph.adjacency).nnz == 0
        np.testing.assert_allclose(again.features.toarray(), np.abs(model.embedding_), atol=1e-6)
        assert again.labels.tolist() == [0, -1, 1, 0, 1]
