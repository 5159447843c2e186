"""Tests of pages look through a real browser."""

from tests.support.browser import browser as browser
from tests.support.browser import visit as visit
