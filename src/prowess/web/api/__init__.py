"""What the API can do, one file for each resource."""
