"""A view as one HTML file that needs no server and no network: for mail, slides, notebooks."""
