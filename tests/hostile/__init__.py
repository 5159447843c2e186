"""Hostile input, one test for each way in: what a stranger may try, and what comes of it."""
