"""Train the small model on bytes of Python's own library, and leave it as a Qwen2.5 directory.  Needs torch.

The same seed and text give the same batches; the order of atomic additions on a GPU still moves the last bits.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from playground.command import Parser, refusing, seed
from playground.errors import Refusal
from playground.prefill.small import DIRECTORY


@refusing
def main(arguments: Sequence[str] | None = None) -> int:
    parser = Parser(prog="python -m playground.prefill.small.train", description=__doc__)
    parser.add_argument("--to", type=Path, default=DIRECTORY, metavar="DIR", help="default: beside this module")
    parser.add_argument("--steps", type=int, default=3000, help="default: 3000")
    parser.add_argument("--batch", type=int, default=64, help="sequences per step; default: 64")
    parser.add_argument("--seed", type=seed, default=0, help="default: 0")
    options = parser.parse_args(arguments)
    if options.steps < 1 or options.batch < 1:
        raise Refusal(f"{options.steps} steps of {options.batch} sequences: both must be at least 1")
    try:
        from playground.prefill.small.training import train
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise Refusal("training needs torch, which is not installed (pip install torch)") from error
    train(options.to, options.steps, options.batch, options.seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
