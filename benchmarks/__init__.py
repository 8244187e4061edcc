"""Speed and accuracy of stepsel beside its peers: ``python -m benchmarks.run``."""
