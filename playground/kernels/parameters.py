"""Parameters of the kernel factories, refused where they make no kernel or another one than they say."""

from playground.errors import Refusal


def check_whole(kernel: str, **parameters) -> None:
    """Refuse what is not an int: 32.0 would compile to other machine code than 32."""
    for name, value in parameters.items():
        if type(value) is not int:
            raise Refusal(f"{kernel}: {name} = {value!r} is of type {type(value).__name__}, not int")


def check_choice(kernel: str, name: str, value, known: tuple) -> None:
    """Refuse a parameter that is not one of those known."""
    if not any(type(value) is type(one) and value == one for one in known):
        raise Refusal(f"{kernel}: {name} = {value!r} is not one of {', '.join(map(str, known))}")
