"""What acts in the browser beside the page, and the choices that it keeps."""
