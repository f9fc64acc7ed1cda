"""`python -m experiments`: the probes, with claim and latest verdict per GPU."""

import sys

from playground.__main__ import main

if __name__ == "__main__":
    sys.exit(main(["list", *sys.argv[1:]]))
