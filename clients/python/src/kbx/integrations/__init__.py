"""Adapters for training libraries, each of which its module alone imports."""
