"""Every operation, declared once: the command line, HTTP, its document and the remote client read this."""
