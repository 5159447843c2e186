"""What is run while developing prowess."""
