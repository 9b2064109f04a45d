"""What of a page is left out: by a teacher's link, or by the step of a lesson."""
