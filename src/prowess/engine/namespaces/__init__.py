"""What people decide and look up between turns, one noun each: `engine.providers`, `engine.agents` ..."""
