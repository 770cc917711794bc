"""Heads: what predicts from the vectors and features of a node."""
