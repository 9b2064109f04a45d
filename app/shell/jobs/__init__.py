"""Work that takes longer than a page may: one queue for all visitors, and what a page shows."""
