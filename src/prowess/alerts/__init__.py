"""Alerts: what people are told without looking."""
