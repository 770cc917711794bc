"""What judges the claims of the paper: differences and counts, by its own figures and by records."""
