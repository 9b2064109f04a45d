"""What pretraining minimises."""
