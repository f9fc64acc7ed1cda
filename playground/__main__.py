"""`python -m playground <command>`: the tools around the probes."""

import sys

from playground.command import Parser, refusing
from playground.commands.crosscheck import add_agree, add_sanitize
from playground.commands.floors import add_floors
from playground.commands.kernel import add_check, add_ledger
from playground.commands.prefill import add_bound, add_wall
from playground.commands.records import add_ladder, add_list, add_plots
from playground.commands.run import add_run
from playground.errors import Refusal

COMMANDS = (
    add_list,
    add_run,
    add_plots,
    add_ladder,
    add_bound,
    add_wall,
    add_ledger,
    add_check,
    add_floors,
    add_agree,
    add_sanitize,
)


@refusing
def main(arguments: list[str]) -> int:
    parser = Parser(prog="python -m playground", description=__doc__)
    commands = parser.add_subparsers(metavar="command", required=True, parser_class=Parser)
    for add in COMMANDS:
        add(commands)
    if not arguments:
        raise Refusal(f"no command: there are {', '.join(commands.choices)}")
    options = parser.parse_args(arguments)
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
