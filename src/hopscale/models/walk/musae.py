"""MUSAE: embedding of attributed nodes, a scale for each number of hops."""

from __future__ import annotations

from dataclasses import dataclass

from hopscale.models.walk.attributed import AttributedWalk

__all__ = ["MUSAE"]


@dataclass(eq=False, repr=False)
class MUSAE(AttributedWalk):
    """Multi-scale attributed node embedding.

    Each number of hops r = 1..t has a block of dimensions of its own, in which the product of a node's and a
    feature's vector estimates

    .. math:: \\log(c\\, P^r F E^{-1}) - \\log b

    with A the adjacency matrix, D the degrees, c = ΣA, P = D⁻¹A, F the node-feature matrix and
    E = diag(1ᵀDF): the pointwise mutual information of standing at a node and seeing a feature r steps on.

    Parameters
    ----------
    dimensions : int, default=128
        Length of the vectors, all scales together, shared out as evenly as possible.
    window : int, default=3
        Largest number of hops, t.
    self_scale : bool, default=True
        Add a scale 0, the node's own features. The paper's text has none, but the vectors behind its tables
        do, and much of their quality comes from it. False gives the text's model.
    ego : bool, default=False
        Make every node a feature of its own as well, [F; I]: the EGO variant. Not inductive. :class:`SGNS` meets a
        feature of value 1 as often as a node, so that here the unit of the features matters, as it does nowhere else.
    solver : {"pmi", "sgns"} or Solver, default="pmi"
        Factorise the matrix, or train on sampled walks. :class:`PMI` factorises the matrix above directly
        (deterministic, fast); :class:`SGNS` samples walks and trains by skip-gram with negative sampling, as the paper
        does. A solver with settings of its own is a value: ``solver=PMI(rows="exact")``, ``solver=SGNS(epochs=1)``.
    keep_graph : bool, default=False
        Keep the graph in ``graph_`` and in the model's file. ``extend`` needs it, and ``explain`` is exact with it.
    device : {"cuda", "cuda:0", ..., "torch-cpu"}, optional
        Learn on a GPU, with PyTorch (``pip install "hopscale[torch]"``). By default threads of the processor do the
        work. What runs there, and how close vectors are to the processor's, is in docs/gpu.md; a file does not keep it.
    n_jobs : int, default=-1
        Threads; negative counts back from the number of cores. The result has the same bits for any number.
    random_state : int, RandomState, Generator or None, default=0
        Seed.
    verbose : bool, default=False
        Say what is being done, with progress bars, on the error stream.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, dimensions)
        Vectors of the nodes, G. A node that walks tell nothing about has zeros.
    feature_embedding_ : ndarray of shape (q, dimensions)
        Vectors of the features, H, in the same space.
    scale_columns_ : dict of str to slice
        Columns of each scale, by label: ``model.embedding_[:, model.scale_columns_["2"]]``.
    node_ids_, feature_names_ : ndarray
    solutions_ : list of Solution
        What each scale learnt; its vectors are columns of the embeddings.
    solver_ : Solver
        The solver as it was when the model was fitted.
    singular_values_ : ndarray of shape (dimensions,), or None
        Of :class:`PMI`.
    feature_probability_ : ndarray of shape (scales, q)
        p(f) as ``fit`` saw it.
    rows_ : dict of str to str
        What each scale was learnt from, in words.
    parameters_ : dict
        The parameters as they were when the model was fitted, which are those that ``save`` keeps.
    graph_ : AttributedGraph
        The graph of the fit, if ``keep_graph``; without its labels, if the model comes from a file.

    See Also
    --------
    AE : all hops pooled into one scale.
    Walklets : the same without features.

    Notes
    -----
    The formula is the paper's, and holds for :class:`SGNS` where walks from all nodes meet equally many features. In
    general the paper's corpus counts a node once for each feature that it meets, and the optimum of its algorithm
    is

    .. math:: \\log(c\\, P^r F E^{-1}) - \\log b - \\log(s_v / \\bar s)

    with s_v the mean number of features met r steps from node v, the row sum of PʳF, and s̄ its mean over the
    walks: a constant per node. :class:`PMI` has no such term; it has ``shift`` in the place of b, and negative entries
    are cut to zero.

    References
    ----------
    B. Rozemberczki, C. Allen and R. Sarkar, "Multi-Scale Attributed Node Embedding", Journal of Complex
    Networks 9(2), 2021. Algorithm 2 and Theorem 1.

    Examples
    --------
    >>> from hopscale import MUSAE, datasets
    >>> graph = datasets.figure1()
    >>> model = MUSAE(dimensions=16).fit(graph)
    >>> model.embedding_.shape
    (11, 16)
    >>> list(model.scale_columns_)
    ['0', '1', '2', '3']
    >>> feature, score = model.explain("D")["0"][0]
    >>> feature
    'heart'
    """

    pooled = False
