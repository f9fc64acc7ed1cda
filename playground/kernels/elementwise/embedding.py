"""embedding: X[t] f32 = E[tokens[t]] f16, the rows that a prompt picks from the vocabulary's."""

from numba import cuda

from playground.kernels.contract import Contract, Tensor
from playground.kernels.elementwise.geometry import THREADS, row_grid, too_long
from playground.kernels.kernel import Kernel
from playground.ptx.convert import from_f16
from playground.ptx.memory import load_global_s32, load_global_u16, store_global_f32

FLOAT, HALF, INT = 4, 2, 4


def _complaint_about_tokens(inputs) -> str | None:
    low, high, vocabulary = int(inputs["tokens"].min()), int(inputs["tokens"].max()), len(inputs["E"])
    if low >= 0 and high < vocabulary:
        return None
    return f"tokens {low} to {high} are not all inside the vocabulary of {vocabulary}"


EMBEDDING = Contract(
    name="embedding",
    tensors=(
        Tensor("tokens", "int32", ("nt",)),
        Tensor("E", "float16", ("vocabulary", "id")),
        Tensor("X", "float32", ("nt", "id"), written=True),
    ),
    dimensions=("nt", "id", "vocabulary"),
    emulated=({"nt": 3, "id": 257, "vocabulary": 11}, {"nt": 8, "id": 512, "vocabulary": 64}),
    complaint=lambda nt, id, vocabulary: too_long(THREADS, id=id),
    complaint_about_values=_complaint_about_tokens,
    rate="GB/s",
    traffic=lambda nt, id, vocabulary: nt * (id * (HALF + FLOAT) + INT),
)


def embedding() -> Kernel:
    """X[nt, id] f32 = E[tokens[nt] int32] for E [vocabulary, id] f16; a token may come more than once."""

    def embedding(tokens, E, X, nt, id, vocabulary):
        column = cuda.blockIdx.y * THREADS + cuda.threadIdx.x
        if column < id:
            token = load_global_s32(tokens + cuda.blockIdx.x * INT)
            value = from_f16(load_global_u16(E + (token * id + column) * HALF))
            store_global_f32(X + (cuda.blockIdx.x * id + column) * FLOAT, value)

    return Kernel(
        name="embedding",
        contract=EMBEDDING,
        function=embedding,
        threads=THREADS,
        grid=lambda nt, id, vocabulary: row_grid(nt, id, THREADS),
    )
