"""The terms of a formula: read, related to each other, evaluated on data and coded. Built on formulaic."""
