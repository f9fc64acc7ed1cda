"""A checkpoint's logits by Hugging Face's transformers, in f32 on the CPU: a source independent of all that is here."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from playground.errors import Refusal
from playground.measure.references.expected import Expected
from playground.prefill.reference import rounding, within
from playground.shapes import Model


def expected(directory: Path, model: Model, prompts: Sequence[Sequence[int]]) -> Iterator[dict[str, Expected]]:
    """Of each prompt's last token, with the tolerance of reference.rounding."""
    try:
        import torch
        from transformers import Qwen2ForCausalLM
    except ImportError as error:
        raise Refusal(f"the check needs transformers and torch: {error}") from error
    transformer = Qwen2ForCausalLM.from_pretrained(directory, local_files_only=True, attn_implementation="eager")
    transformer = transformer.float().eval()
    relative = rounding(model)
    source = f"{relative:.1e} of the root mean square of transformers' logits"
    for prompt in prompts:
        with torch.inference_mode():
            logits = transformer(torch.tensor([prompt])).logits[0, -1].double().numpy()
        yield within(logits, relative, source)
