"""The pages of the dashboard, one module each; a module's `ROUTES` are what the app serves."""
