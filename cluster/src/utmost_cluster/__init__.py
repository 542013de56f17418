"""Runs the shards of an `utmost compare` study on a Dask cluster, and merges them."""

from utmost_cluster.study import Outcome, Study, StudyFailed, run_study

__all__ = ["Outcome", "Study", "StudyFailed", "run_study"]
