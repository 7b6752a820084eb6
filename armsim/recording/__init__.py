"""Recordings, and models held against them."""
