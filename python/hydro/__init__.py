"""The Python side of Hydro: turns a PyTorch model into an archive that the C++ side reads."""

__version__ = "0.1.0"
