"""How schemathesis writes bodies of media types that it does not know."""

import json

import schemathesis


@schemathesis.serializer("application/x-ndjson", "application/zip", "application/x-tar", "application/gzip")
def write(context, value):
    if isinstance(value, bytes):
        return value
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode("utf-8", "replace")
