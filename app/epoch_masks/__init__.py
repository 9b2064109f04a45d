"""Static and dynamic masks over the epochs of a run, a picture of two pages."""
