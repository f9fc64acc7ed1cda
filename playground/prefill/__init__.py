"""The whole model, made of the kernels: its weights, which variant each pass uses, its passes, its wall."""
