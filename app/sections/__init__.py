"""Parts of a page that stand by themselves: controls, picture and caption together."""
