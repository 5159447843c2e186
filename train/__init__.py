"""How the shipped encoder is made: data, pairs, training, distillation, conversion, report.

Nothing in `prowess` imports this package; see README.md for the order of the commands.
"""
