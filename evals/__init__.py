"""Evaluation scripts: quality, measured on data that is given as an argument."""
