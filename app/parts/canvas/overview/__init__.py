"""All heads of all layers as small pictures."""
