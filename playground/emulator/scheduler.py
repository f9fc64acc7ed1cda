"""Who runs next: lanes of a group go together until a branch parts them, and then so that they meet again soonest.

A group of many blocks whose blocks disagree as wholes is split, and each part goes on together. All groups run until
every lane waits or has ended; then the barriers that are complete let their lanes go.
"""

import numpy as np

from playground.emulator import async_copy, barriers
from playground.emulator.errors import BudgetExceeded
from playground.emulator.group import ENDED, WAITING, Group

CHECK_EVERY = 1024


def run(chunk, groups: list[Group]):
    """Run a chunk's groups to their end."""
    while groups:
        blocked = []
        while groups:
            group = groups.pop()
            _Advance(group, groups).run()
            blocked.append(group)
        for group in blocked:
            if np.all(group.ended):
                async_copy.report_lost(group)
        groups = barriers.release(chunk, [group for group in blocked if not np.all(group.ended)])
        for group in groups:
            check_budget(group)
    chunk.settle()


def check_budget(group: Group):
    """Raise BudgetExceeded if a warp of the group has executed more instructions than the launch's budget."""
    launch, blocks = group.launch, group.launch.program.blocks
    worst = int(group.clock.argmax())
    if group.clock[worst] <= launch.budget:
        return
    pc = group.pc if isinstance(group.pc, int) else int(group.pc[32 * worst : 32 * worst + 32].min())
    spinning = blocks[pc % WAITING].last - 1 if pc != ENDED else blocks[-1].last - 1
    instruction = launch.instructions[spinning]
    raise BudgetExceeded(
        f"{instruction.where}: warp {group.warp_in_block[32 * worst]} of block {group.blocks[32 * worst]}"
        f" ran more than {launch.budget:,} instructions, and was last spinning here: {instruction.text}"
    )


class _Advance:
    """Runs one group until all of its lanes wait or have ended; parts that split off are added to `others`."""

    def __init__(self, group: Group, others: list[Group]):
        self.group = group
        self.others = others
        self.blocks = group.launch.program.blocks
        self.code = group.launch.program.code
        self.post_dominators = group.launch.program.post_dominators
        self.counts = group.launch.counts
        self.steps = 0

    def run(self):
        while True:
            if isinstance(self.group.pc, int):
                if self.group.pc >= WAITING:
                    return
                self.together()
            else:
                places = np.unique(self.group.pc)
                if len(places) == 1:
                    self.group.pc = int(places[0])
                elif places[0] >= WAITING:
                    return
                else:
                    places = places[places < WAITING]
                    self.apart(int(places[np.argmax(self.post_dominators[places])]))
            self.steps += 1
            if self.steps % CHECK_EVERY == 0:
                check_budget(self.group)

    def together(self):
        """Run the block that all lanes are at."""
        group, pc = self.group, self.group.pc
        block = self.blocks[pc]
        group.block_start = block.first
        predicate = self.code[pc].full(group, group.registers, group.special)
        self.counts.executed[pc] += len(group.clock)
        self.counts.threads[pc] += group.size
        group.clock = group.clock + block.length
        there = self.destination(block, pc)
        if not block.ending.conditional:
            self.arrive(block, slice(None))
            group.pc = there
            return
        taken = int(np.count_nonzero(predicate)) if np.ndim(predicate) else int(predicate) * group.size
        if taken in (0, group.size):
            if taken:
                self.arrive(block, slice(None))
            group.pc = there if taken else self.following(pc)
        else:
            self.part(block, predicate, there, self.following(pc))

    def apart(self, pc: int):
        """Run a block that some lanes are at, for those."""
        group = self.group
        block = self.blocks[pc]
        mask = group.pc == pc
        warps = mask.reshape(-1, 32).any(1)
        group.block_start = block.first
        predicate = self.code[pc].masked(group, group.registers, group.special, mask)
        self.counts.executed[pc] += int(np.count_nonzero(warps))
        self.counts.threads[pc] += int(np.count_nonzero(mask))
        group.clock = group.clock + block.length * warps
        there = self.destination(block, pc)
        taken = mask & predicate if block.ending.conditional else mask
        if block.ending.conditional:
            self.count_divergence(block, taken, mask)
        self.arrive(block, taken)
        group.pc = np.where(taken, there, np.where(mask, self.following(pc), group.pc))

    def destination(self, block, pc: int) -> int:
        """Where lanes go that take the block's ending."""
        ending = block.ending
        if ending.kind == "exit":
            return ENDED
        if ending.kind == "jump":
            return ending.target if ending.target < len(self.blocks) else ENDED
        if ending.kind == "barrier" and ending.barrier.how != "arrive":
            return self.following(pc) + WAITING
        return self.following(pc)

    def following(self, pc: int) -> int:
        return pc + 1 if pc + 1 < len(self.blocks) else ENDED

    def arrive(self, block, lanes):
        """Note who has reached a barrier."""
        if block.ending.kind == "barrier":
            barriers.arrive(self.group, block, lanes)

    def part(self, block, predicate, there: int, following: int):
        """A branch that only some lanes take: blocks that agree as wholes go their ways as groups of their own."""
        group = self.group
        self.count_divergence(block, predicate, np.ones(group.size, bool))
        per_block = group.chunk.lanes_per_block
        if group.size > per_block:
            by_block = predicate.reshape(-1, per_block)
            every, some = by_block.all(1), by_block.any(1)
            whole = {there: every, following: ~some}
            for destination, blocks in whole.items():
                if blocks.any() and not blocks.all():
                    self.leave(np.repeat(blocks, per_block), block, destination, destination == there)
                    predicate = predicate[np.repeat(~blocks, per_block)]
                    return self.part_rest(block, predicate, there, following)
        self.part_lanes(block, predicate, there, following)

    def part_rest(self, block, predicate, there: int, following: int):
        taken = int(np.count_nonzero(predicate))
        if taken == 0:
            self.group.pc = following
        elif taken == len(predicate):
            self.arrive(block, slice(None))
            self.group.pc = there
        else:
            per_block = self.group.chunk.lanes_per_block
            by_block = predicate.reshape(-1, per_block)
            untouched = ~by_block.any(1)
            if untouched.any():
                self.leave(np.repeat(untouched, per_block), block, following, False)
                predicate = predicate[np.repeat(~untouched, per_block)]
            self.part_lanes(block, predicate, there, following)

    def part_lanes(self, block, predicate, there: int, following: int):
        self.arrive(block, predicate)
        self.group.pc = np.where(predicate, there, following)

    def leave(self, chosen, block, destination: int, taken: bool):
        """Split the chosen lanes off; they will run after this group."""
        other = self.group.split(chosen)
        other.pc = destination
        if taken and block.ending.kind == "barrier":
            barriers.arrive(other, block, slice(None))
        self.others.append(other)

    def count_divergence(self, block, taken, mask):
        taken, mask = taken.reshape(-1, 32), mask.reshape(-1, 32)
        parted = taken.any(1) & (mask & ~taken).any(1)
        self.counts.table["branch_divergent"][block.last - 1] += int(np.count_nonzero(parted))
