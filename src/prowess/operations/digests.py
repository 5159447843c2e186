"""What happened in the last days, to read or to send."""

from typing import Annotated

import msgspec

from prowess.alerts.service import AlertService
from prowess.engine.digest import Digest, digest
from prowess.errors import AlertNotSent, ConfigError
from prowess.operations.operation import Call, Done, RequestParams, operation


class DigestQuery(RequestParams, frozen=True, kw_only=True):
    days: Annotated[int, msgspec.Meta(ge=1, le=31)] = 7


@operation("digest.show", "GET /digest", quotes=True)
def show_digest(call: Call[DigestQuery]) -> Digest:
    """What happened in the last days: use, what was wrong, what changed, what was found in vain."""
    return digest(call.engine.internals, call.params.days)


@operation("digest.send", "POST /digest", role="admin", slow=True, errors=(ConfigError, AlertNotSent))
def send_digest(call: Call[DigestQuery]) -> Done:
    """Send it by mail to those whom [alerts.mail] names."""
    AlertService(call.engine.internals).send_digest(digest(call.engine.internals, call.params.days))
    return Done()
