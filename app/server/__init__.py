"""What visitors of this server may do: decided once at startup, checked where a value is used."""
