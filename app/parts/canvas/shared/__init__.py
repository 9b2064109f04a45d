"""What all attention views share: transport, options, drawing, files."""
