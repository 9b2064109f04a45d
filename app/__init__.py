"""The app's frame and shared parts: state, caches, figures and browser components."""
