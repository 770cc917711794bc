"""Groups of nodes whose vectors point the same way."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from hopscale.checks import seed_of, whole
from hopscale.compute.chunks import TALL_CHUNK, ranges
from hopscale.exceptions import ParameterError, warn
from hopscale.models.queries import VectorQueries

__all__ = ["Clusters"]

_MANY = 20_000  # nodes from which centres are learnt from batches
_BATCH = 4096


class Clusters(VectorQueries):
    """Clustering of nodes by their vectors."""

    def clusters(self, n_clusters: int, *, scale: int | str | None = None, random_state: int = 0) -> NDArray[np.int64]:
        """Clusters of the nodes: k-means on vectors of length one, so that cosines count.

        The number of clusters is yours to choose: no criterion that we know of finds the right one.

        Parameters
        ----------
        n_clusters : int
            Number of clusters.
        scale : int or str, optional
            Compare vectors at one scale only: a number of hops, or a label as in ``scale_columns_``.
        random_state : int, default=0
            Seed of the first centres.

        Returns
        -------
        ndarray of shape (n,)
            Number of each node's cluster, in the order of ``node_ids_``: clusters are numbered from the largest, 0, to
            the smallest. -1 where a node's vector is zero: nothing is known of it.

        Notes
        -----
        scikit-learn's ``KMeans``, or ``MiniBatchKMeans`` for more than 20,000 nodes, with a single thread: the result
        is the same for any number of them.

        Examples
        --------
        >>> import numpy as np
        >>> from hopscale import MUSAE, datasets
        >>> graph = datasets.digits()
        >>> clusters = MUSAE().fit(graph).clusters(10)
        >>> own = [np.bincount(graph.labels[clusters == each]).max() for each in range(10)]
        >>> bool(sum(own) > 0.8 * len(clusters))  # nodes whose digit is the commonest one of their cluster
        True
        """
        from sklearn.cluster import KMeans, MiniBatchKMeans  # which take long to import

        vectors = self.node_vectors(scale)
        known = np.flatnonzero(vectors.any(axis=1))
        if whole("n_clusters", n_clusters, least=1) > len(known):
            raise ParameterError(
                f"must be at most {len(known)}, the number of nodes of which something is known, not {n_clusters}",
                parameter="n_clusters",
            )
        units = np.empty((len(known), vectors.shape[1]), dtype=np.float32)
        for begin, end in ranges(len(known), TALL_CHUNK):
            rows = vectors[known[begin:end]].astype(np.float64)
            units[begin:end] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        settings = {"n_clusters": int(n_clusters), "n_init": 4, "random_state": seed_of(random_state) % 2**32}
        means = KMeans(**settings) if len(known) <= _MANY else MiniBatchKMeans(**settings, batch_size=_BATCH)
        with threadpool_limits(limits=1), warnings.catch_warnings():  # sums depend on the number of threads
            warnings.simplefilter("ignore", ConvergenceWarning)  # of clusters that are empty, see below
            found = means.fit_predict(units)
        sizes = np.bincount(found, minlength=n_clusters)
        if not sizes.all():
            warn(f"only {np.count_nonzero(sizes)} of {n_clusters} clusters have nodes: vectors differ too little")
        rank = np.empty(len(sizes), dtype=np.int64)
        rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
        clusters = np.full(len(vectors), -1, dtype=np.int64)
        clusters[known] = rank[found]
        return clusters
