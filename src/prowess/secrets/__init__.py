"""Where the secrets of servers and capabilities live, and how they are looked up."""
