"""The guide of a lesson: beside the page, one idea and one question, and the model's answer."""
