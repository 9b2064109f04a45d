"""Work that takes longer than a page may: one line for all visitors, and what a page shows."""
