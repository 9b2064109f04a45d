"""Files of visitors: the boxes, the queue in which they are read, their copies on the disk."""
