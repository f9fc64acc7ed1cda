"""The picture of the ladder: the page, what its panels share, and one file per panel."""
