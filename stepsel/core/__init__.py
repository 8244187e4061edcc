"""Arrays in, arrays out: terms, engines, criteria and the search. numpy and scipy only."""
