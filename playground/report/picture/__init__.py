"""The picture of a probe in pieces: the page, who is compared, and one file per panel."""
