"""Names of hidden states: where each one stands. Layers and heads count from 0, as in the code."""


def state_name(state: int) -> str:
    """Return the name of `hidden_states[state]`.

    >>> [state_name(state) for state in range(3)]
    ['input', 'after layer 0', 'after layer 1']
    """
    return f"after layer {state - 1}" if state else "input"


def after_layers(num_layers: int) -> list[str]:
    """Return the name of the hidden state after each layer."""
    return state_names(num_layers + 1)[1:]


def state_names(num_states: int) -> list[str]:
    """Return the name of each of L+1 hidden states."""
    return [state_name(state) for state in range(num_states)]
