"""Is it right, how fast is it, and is the difference real."""
