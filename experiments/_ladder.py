"""The attention ladder: its rungs, the probes that compare them, and what the source measured of each."""

from playground.report.ladder import Rung

RUNGS = (
    Rung("8n", "P · V by scalar FMA, softmax in 64 serial chains", source_ms=(None, 10.06)),
    Rung("P5·0", "P · V on tensor cores", "fa_pv_tensor_cores", "8n", (10.06, 4.24)),
    Rung("P5·3, first cut", "softmax by one warp per row", "fa_parallel_softmax", "P5·0"),
    Rung("P5·3", "rows of 272 bytes instead of 256", "fa_padded_rows", "P5·3, first cut", (4.25, 1.92)),
    Rung("FAP1", "tiles of 32 keys, padded S and P", "fa_fap1", "P5·3", (5.16, 4.58), seed="001"),
    Rung("FAP2", "softmax on fragments, P built in registers", "fa_register_softmax", "P5·3", (5.16, 2.12), seed="001"),
)
