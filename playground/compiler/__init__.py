"""From a Kernel to machine code and its ledger, for any known architecture, without a GPU."""
