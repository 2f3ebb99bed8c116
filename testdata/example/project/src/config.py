"""Settings of the weather station."""

DEFAULT_PORT = 8080
RETRIES = 3


def address(host, port=DEFAULT_PORT):
    return f"http://{host}:{port}"
