"""What visitors of this server may do: decided once at its start, checked where a value is used."""
