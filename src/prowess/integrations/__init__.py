"""prowess in the frameworks that agents are written with: a file for each, over call and conversation.

Above: user code. Below: the engine. Each needs the extra of its framework, and nothing else imports it.
"""
