"""Ask the service as two customers, who do not see what the other has: `python -m examples.customers`."""

import os
from tempfile import TemporaryDirectory

from starlette.testclient import TestClient

from examples.customers.service import CUSTOMERS, app


def run() -> None:
    """The same two requests from everybody."""
    with TestClient(app) as client:
        for customer in (*CUSTOMERS, "nobody"):
            for request in ("book a meeting room", "ship a parcel to Rome"):
                answer = client.get(f"/{customer}/offer", params={"request": request}).json()
                print(f"{customer}, {request!r}:", *answer.get("tools", [answer.get("error")]))


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        os.environ.setdefault("PROWESS_STORE", f"{folder}/customers.db")
        run()
