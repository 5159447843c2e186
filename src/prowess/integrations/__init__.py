"""prowess in the frameworks that agents are written with: one file for each, over the call and the conversation.

Above: user code. Below: the engine. Each needs the extra of its framework, and nothing else imports it.
"""
