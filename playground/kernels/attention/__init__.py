"""The flash-attention prefill kernel in pieces: queries, scores, softmax, values, output; fa_prefill composes them."""
