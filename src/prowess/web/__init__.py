"""The browser face and the HTTP API: what agents can do, for a person to see and act on."""
