"""What BertScope shows: pages, one folder each, over the rooms that they share."""
