"""Some tests look through a real browser."""

from tests.support.browser import browser as browser
