"""What pages, notebooks and files draw with: browser components, views of attention, HTML files."""
